/*
 * A set of 64-bit hashes with a few numbers each.  Two names of one hash would be taken for one: among a million names
 * that happens once in 40 million sessions.
 */
#ifndef CORE_BASE_HASH_H
#define CORE_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

struct hash_slot {
    uint64_t key;                  /* 0: free */
    uint32_t value, second, flags; /* what they mean is the owner's; 0 in a new slot */
};

struct hash_set {
    struct hash_slot *slots; /* owned */
    size_t n_slots, n_used;
};

/* The hash of a text behind that of what comes before it: "ab" "c" is not "a" "bc". */
uint64_t hash_text(uint64_t hash, const char *at, size_t n);

/* A key for an address. */
uint64_t hash_address(uint64_t address);

/* The slot of a key, or NULL; until the next hash_put. */
struct hash_slot *hash_get(const struct hash_set *set, uint64_t key);

/* The slot of a key, made if need be; NULL when there is no memory. */
struct hash_slot *hash_put(struct hash_set *set, uint64_t key);
void hash_free(struct hash_set *set);

#endif
