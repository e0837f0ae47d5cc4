/* The hash table (hash.h) from byte strings to 32-bit numbers; keys are copied into the caller's arena. */
#ifndef CORE_BASE_MAP_H
#define CORE_BASE_MAP_H

#include "core/base/arena.h"
#include "core/base/hash.h"

struct map_key;

struct map {
    struct arena *arena;  /* keys; borrowed, must outlive the map */
    struct hash_set set;  /* second: the index of its key */
    struct map_key *keys; /* owned */
    uint32_t n_keys, keys_room;
};

/* The value under a key, or NULL; valid until the next map_put. */
uint32_t *map_get(const struct map *map, const void *key, size_t n);

/* Set the value under a key. */
void map_put(struct map *map, const void *key, size_t n, uint32_t value);

/* Free all but the keys' bytes, which are the arena's. */
void map_free(struct map *map);

#endif
