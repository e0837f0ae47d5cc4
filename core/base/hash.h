/*
 * The hash table: from 64-bit keys to a few numbers each.  Keys are addresses, numbers, or hashes of names, of which
 * two of one hash would be taken for one: among a million names that happens once in 40 million sessions.  (map.h
 * compares the bytes.)
 *
 * One that was given its memory (hash_over) never asks for more, and looks at HASH_PROBES slots at most: for keys that
 * somebody could have made to collide.
 */
#ifndef CORE_BASE_HASH_H
#define CORE_BASE_HASH_H

#include "core/base/std.h"

#define HASH_START  UINT64_C(0xcbf29ce484222325)
#define HASH_PROBES 64

struct hash_slot {
    uint64_t key;                  /* 0: free */
    uint32_t value, second, flags; /* what they mean is the owner's; 0 in a new slot */
};

struct hash_set {
    struct hash_slot *slots; /* owned; after hash_over borrowed */
    size_t n_slots, n_used;  /* n_slots: a power of two, or 0 */
    bool is_fixed;
};

/* The hash of a text behind that of what comes before it: "ab" "c" is not "a" "bc". */
uint64_t hash_text(uint64_t hash, const char *at, size_t n);

/* A key for an address, or another number. */
uint64_t hash_address(uint64_t address);

/* An empty table in the caller's memory: zeros, n_slots of them, a power of two. */
struct hash_set hash_over(struct hash_slot *slots, size_t n_slots);

/* The slot of a key, or NULL; until the next hash_put. */
struct hash_slot *hash_get(const struct hash_set *set, uint64_t key);

/* The slot of a key, made if need be; NULL when there is no memory, or after hash_over no room. */
struct hash_slot *hash_put(struct hash_set *set, uint64_t key);

/* The value of a number, or NULL, as above; and to set it: returns 0, or -1 where hash_put is NULL. */
uint32_t *hash_find(const struct hash_set *set, uint64_t number);
int hash_store(struct hash_set *set, uint64_t number, uint32_t value);

/* Forget one number, if it is there: for others this is as hash_put. */
void hash_remove(struct hash_set *set, uint64_t number);

/* Forget all keys; the memory stays.  And give it back. */
void hash_clear(struct hash_set *set);
void hash_free(struct hash_set *set);

#endif
