#include "core/base/map.h"

#include "core/base/xalloc.h"

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

void map_put(struct map *map, const void *key, size_t n, uint32_t value)
{
    uint64_t hash;
    struct hash_slot *slot = find_bytes(map, key, n, &hash);
    if (slot == NULL) {
        slot = xhash_put(&map->set, hash);
        slot->second = map->n_keys;
        *xpush(map->keys, map->keys_room, map->n_keys) = (struct map_key){ arena_text(map->arena, key, n), n };
    }
    slot->value = value;
}

void map_free(struct map *map)
{
    hash_free(&map->set);
    free(map->keys);
    *map = (struct map){ .arena = map->arena };
}
