/*
 * The hash table, growing and in memory of its own, and the map of byte strings over it.
 */
#include "core/base/hash.h"
#include "core/base/map.h"
#include "test/unit/tap.h"

#define N 10000u

static void test_growing(void)
{
    struct hash_set set = { NULL, 0, 0, false };
    uint32_t n_right = 0;
    CHECK("an empty table has nothing", hash_get(&set, 7) == NULL);
    for (uint32_t i = 0; i < N; i++) {
        struct hash_slot *slot = hash_put(&set, hash_address(i));
        if (slot != NULL && slot->value == 0)
            slot->value = i + 1;
    }
    for (uint32_t i = 0; i < N; i++) {
        const struct hash_slot *slot = hash_get(&set, hash_address(i));
        n_right += slot != NULL && slot->value == i + 1 && slot->second == 0;
    }
    CHECK_NUMBER("it grows, and each key keeps its numbers", n_right, N);
    CHECK("another one has none", hash_get(&set, hash_address(N)) == NULL && set.n_used == N);
    CHECK("a key that is there gets no second slot", hash_put(&set, hash_address(5))->value == 6 && set.n_used == N);
    hash_clear(&set);
    CHECK("cleared it is empty", set.n_used == 0 && hash_get(&set, hash_address(5)) == NULL);
    hash_free(&set);
}

/* Numbers come and go, a hundred at a time, in a table that does not grow. */
static void test_removing(void)
{
    struct hash_set set = { NULL, 0, 0, false };
    uint32_t n_right = 0;
    for (uint32_t i = 0; i < N; i++) {
        if (i >= 100)
            hash_remove(&set, i - 100);
        if (hash_store(&set, i, i) < 0)
            break;
        for (uint32_t k = i < 99 ? 0 : i - 99; k <= i; k++)
            n_right += hash_find(&set, k) != NULL && *hash_find(&set, k) == k;
    }
    CHECK_NUMBER("those that are not removed are found", n_right, 100 * N - 99 * 100 / 2);
    CHECK("those that are removed are not", hash_find(&set, N - 101) == NULL && set.n_used == 100);
    CHECK_NUMBER("their slots are for others", set.n_slots, 256);
    hash_remove(&set, N);
    CHECK_NUMBER("what is not there is not removed", set.n_used, 100);
    hash_free(&set);
    hash_remove(&set, 1);
}

/* Keys that all belong into one slot: as an attacker could choose them. */
static void test_fixed(void)
{
    struct hash_slot slots[256] = { { .key = 0 } };
    struct hash_set set = hash_over(slots, 256);
    uint32_t n = 0;
    for (uint64_t i = 1; i < 100; i++)
        n += hash_put(&set, i << 20) != NULL;
    CHECK_NUMBER("keys that collide have as much room as is looked through", n, HASH_PROBES);
    CHECK("the first of them are found, the others not",
          hash_get(&set, UINT64_C(1) << 20) != NULL && hash_get(&set, UINT64_C(99) << 20) == NULL);
    CHECK("others have room", hash_put(&set, 128) != NULL && set.n_slots == 256);
    hash_free(&set);
    CHECK("its memory is its owner's", slots[1].key != 0 && set.n_slots == 0);
}

static void test_map(struct arena *arena)
{
    struct map map = { .arena = arena };
    char key[16] = "key";
    uint32_t n_right = 0;
    CHECK("an empty map has nothing", map_get(&map, "a", 1) == NULL);
    for (uint32_t i = 0; i < N; i++) {
        int n = snprintf(key, sizeof key, "%u", i);
        map_put(&map, key, (size_t)n, i);
    }
    for (uint32_t i = 0; i < N; i++) {
        int n = snprintf(key, sizeof key, "%u", i);
        const uint32_t *value = map_get(&map, key, (size_t)n);
        n_right += value != NULL && *value == i;
    }
    CHECK_NUMBER("keys are copied, and each keeps its value", n_right, N);
    map_put(&map, "", 0, 77);
    map_put(&map, "9", 1, 4);
    CHECK_NUMBER("so does the empty one", *map_get(&map, NULL, 0), 77);
    CHECK("a value may change", *map_get(&map, "9", 1) == 4 && map.n_keys == N + 1);
    /* As if "9" had the hash of "a": no two texts of one hash are known. */
    hash_put(&map.set, hash_text(HASH_START, "a", 1))->second = 9;
    CHECK("another key of the same hash is another key", map_get(&map, "a", 1) == NULL);
    map_put(&map, "a", 1, 5);
    CHECK("and has its own value", *map_get(&map, "a", 1) == 5 && *map_get(&map, "9", 1) == 4);
    map_put(&map, "a", 1, 6);
    CHECK("which may change", *map_get(&map, "a", 1) == 6 && map.n_keys == N + 2);
    map_free(&map);
    CHECK("what is freed is empty", map_get(&map, "9", 1) == NULL);
    map_put(&map, "9", 1, 1);
    CHECK("and may be used again", *map_get(&map, "9", 1) == 1);
    map_free(&map);
}

int main(void)
{
    struct arena arena = { NULL, 0 };
    test_growing();
    test_removing();
    test_fixed();
    test_map(&arena);
    arena_free(&arena);
    return tap_done();
}
