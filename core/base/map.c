#include "core/base/map.h"

#include <stdlib.h>
#include <string.h>

struct map_slot {
    const void *key; /* the arena's; NULL when free */
    size_t n;
    uint32_t hash, value;
};

/* FNV-1a: keys are short names. */
static uint32_t hash_of(const void *key, size_t n)
{
    const unsigned char *bytes = key;
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

static struct map_slot *find_bytes(struct map_slot *slots, size_t n_slots, const void *key, size_t n, uint32_t hash)
{
    size_t i = hash & (n_slots - 1);
    while (slots[i].key != NULL &&
           (slots[i].hash != hash || slots[i].n != n || (n > 0 && memcmp(slots[i].key, key, n) != 0)))
        i = (i + 1) & (n_slots - 1);
    return &slots[i];
}

static int grow(struct map *map)
{
    size_t n_slots = map->n_slots == 0 ? 64 : map->n_slots * 2;
    struct map_slot *slots = calloc(n_slots, sizeof *slots);
    if (slots == NULL)
        return -1;
    for (size_t i = 0; i < map->n_slots; i++)
        if (map->slots[i].key != NULL)
            *find_bytes(slots, n_slots, map->slots[i].key, map->slots[i].n, map->slots[i].hash) = map->slots[i];
    free(map->slots);
    map->slots = slots;
    map->n_slots = n_slots;
    return 0;
}

uint32_t *map_get(const struct map *map, const void *key, size_t n)
{
    if (map->n_slots == 0)
        return NULL;
    struct map_slot *slot = find_bytes(map->slots, map->n_slots, key, n, hash_of(key, n));
    return slot->key == NULL ? NULL : &slot->value;
}

int map_put(struct map *map, const void *key, size_t n, uint32_t value)
{
    if (map->n_used * 4 >= map->n_slots * 3 && grow(map) < 0)
        return -1;
    uint32_t hash = hash_of(key, n);
    struct map_slot *slot = find_bytes(map->slots, map->n_slots, key, n, hash);
    if (slot->key == NULL) {
        slot->key = arena_text(map->arena, key, n);
        if (slot->key == NULL)
            return -1;
        slot->n = n;
        slot->hash = hash;
        map->n_used++;
    }
    slot->value = value;
    return 0;
}

void map_free(struct map *map)
{
    free(map->slots);
    map->slots = NULL;
    map->n_slots = map->n_used = 0;
}
