#include "core/base/hash.h"

#include <stdlib.h>
#include <string.h>

uint64_t hash_text(uint64_t hash, const char *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (uint8_t)at[i]) * UINT64_C(0x100000001b3);
    hash = (hash ^ 0xff) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 29;
}

uint64_t hash_address(uint64_t address)
{
    uint64_t key = address * UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 32;
}

static struct hash_slot *find_key(struct hash_slot *slots, size_t n_slots, uint64_t key)
{
    size_t i = key & (n_slots - 1);
    while (slots[i].key != 0 && slots[i].key != key)
        i = (i + 1) & (n_slots - 1);
    return &slots[i];
}

struct hash_slot *hash_get(const struct hash_set *set, uint64_t key)
{
    struct hash_slot *slot = set->n_slots == 0 ? NULL : find_key(set->slots, set->n_slots, key | 1);
    return slot == NULL || slot->key == 0 ? NULL : slot;
}

struct hash_slot *hash_put(struct hash_set *set, uint64_t key)
{
    key |= 1;
    if (set->n_used * 2 >= set->n_slots) {
        size_t n_slots = set->n_slots == 0 ? 1024 : set->n_slots * 2;
        struct hash_slot *slots = calloc(n_slots, sizeof *slots);
        if (slots == NULL)
            return NULL;
        for (size_t i = 0; i < set->n_slots; i++)
            if (set->slots[i].key != 0)
                *find_key(slots, n_slots, set->slots[i].key) = set->slots[i];
        free(set->slots);
        set->slots = slots;
        set->n_slots = n_slots;
    }
    struct hash_slot *slot = find_key(set->slots, set->n_slots, key);
    set->n_used += slot->key == 0;
    slot->key = key;
    return slot;
}

void hash_free(struct hash_set *set)
{
    free(set->slots);
    memset(set, 0, sizeof *set);
}
