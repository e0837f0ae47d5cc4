#include "core/base/map.h"

#include "core/base/vec.h"

struct map_key {
    const void *bytes; /* the arena's */
    size_t n;
};

/* The slot of a key; NULL: it has none, and *hash is free for it.  Another key of its hash moves it to another one. */
static struct hash_slot *find_bytes(const struct map *map, const void *key, size_t n, uint64_t *hash)
{
    struct hash_slot *slot;
    *hash = hash_text(HASH_START, key, n);
    while ((slot = hash_get(&map->set, *hash)) != NULL) {
        const struct map_key *known = &map->keys[slot->second];
        if (known->n == n && (n == 0 || memcmp(known->bytes, key, n) == 0))
            break;
        *hash += 2;
    }
    return slot;
}

uint32_t *map_get(const struct map *map, const void *key, size_t n)
{
    uint64_t hash;
    struct hash_slot *slot = find_bytes(map, key, n, &hash);
    return slot == NULL ? NULL : &slot->value;
}

int map_put(struct map *map, const void *key, size_t n, uint32_t value)
{
    uint64_t hash;
    struct hash_slot *slot = find_bytes(map, key, n, &hash);
    if (slot == NULL) {
        const void *copy = arena_text(map->arena, key, n);
        if (copy == NULL || vec_reserve(map->keys, map->keys_room, (size_t)map->n_keys + 1) < 0 ||
            (slot = hash_put(&map->set, hash)) == NULL)
            return -1;
        slot->second = map->n_keys;
        map->keys[map->n_keys++] = (struct map_key){ copy, n };
    }
    slot->value = value;
    return 0;
}

void map_free(struct map *map)
{
    hash_free(&map->set);
    free(map->keys);
    *map = (struct map){ .arena = map->arena };
}
