#include "core/base/hash.h"

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

struct hash_set hash_over(struct hash_slot *slots, size_t n_slots)
{
    return (struct hash_set){ slots, n_slots, 0, true };
}

/* The slot of a key, or that where it is to be; NULL: there is none among the first n. */
static struct hash_slot *find_key(struct hash_slot *slots, size_t n_slots, uint64_t key, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct hash_slot *slot = &slots[(key + i) & (n_slots - 1)];
        if (slot->key == key || slot->key == 0)
            return slot;
    }
    return NULL;
}

static size_t n_probes(const struct hash_set *set)
{
    return set->is_fixed && set->n_slots > HASH_PROBES ? HASH_PROBES : set->n_slots;
}

struct hash_slot *hash_get(const struct hash_set *set, uint64_t key)
{
    struct hash_slot *slot = find_key(set->slots, set->n_slots, key | 1, n_probes(set));
    return slot == NULL || slot->key == 0 ? NULL : slot;
}

static int grow(struct hash_set *set)
{
    size_t n_slots = set->n_slots == 0 ? 64 : set->n_slots * 2;
    struct hash_slot *slots = calloc(n_slots, sizeof *slots);
    if (slots == NULL)
        return -1;
    for (size_t i = 0; i < set->n_slots; i++)
        if (set->slots[i].key != 0)
            *find_key(slots, n_slots, set->slots[i].key, n_slots) = set->slots[i];
    free(set->slots);
    set->slots = slots;
    set->n_slots = n_slots;
    return 0;
}

struct hash_slot *hash_put(struct hash_set *set, uint64_t key)
{
    if (!set->is_fixed && set->n_used * 2 >= set->n_slots && grow(set) < 0)
        return NULL;
    struct hash_slot *slot = find_key(set->slots, set->n_slots, key | 1, n_probes(set));
    if (slot != NULL && slot->key == 0) {
        slot->key = key | 1;
        set->n_used++;
    }
    return slot;
}

uint32_t *hash_find(const struct hash_set *set, uint64_t number)
{
    struct hash_slot *slot = hash_get(set, hash_address(number));
    return slot == NULL ? NULL : &slot->value;
}

int hash_store(struct hash_set *set, uint64_t number, uint32_t value)
{
    struct hash_slot *slot = hash_put(set, hash_address(number));
    if (slot == NULL)
        return -1;
    slot->value = value;
    return 0;
}

/* Those behind it that its slot kept from their own come nearer to that. */
void hash_remove(struct hash_set *set, uint64_t number)
{
    struct hash_slot *slot = hash_get(set, hash_address(number));
    size_t mask = set->n_slots - 1, start = slot == NULL ? 0 : (size_t)(slot - set->slots), empty = start;
    if (slot == NULL)
        return;
    for (size_t i = (start + 1) & mask; i != start && set->slots[i].key != 0; i = (i + 1) & mask) {
        if (((i - set->slots[i].key) & mask) < ((i - empty) & mask))
            continue;
        set->slots[empty] = set->slots[i];
        empty = i;
    }
    set->slots[empty] = (struct hash_slot){ .key = 0 };
    set->n_used--;
}

void hash_clear(struct hash_set *set)
{
    if (set->n_used > 0)
        memset(set->slots, 0, set->n_slots * sizeof *set->slots);
    set->n_used = 0;
}

void hash_free(struct hash_set *set)
{
    if (!set->is_fixed)
        free(set->slots);
    memset(set, 0, sizeof *set);
}
