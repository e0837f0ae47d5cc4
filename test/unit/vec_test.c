/* Growing arrays: room, what is in them, zeros, and what they refuse. */
#include "test/unit/tap.h"

#include "core/base/vec.h"

struct item {
    uint64_t key, value;
};

static void test_growing(void)
{
    struct item *items = NULL;
    uint32_t room = 0, n = 0;
    bool is_same = true;
    for (; n < 1000 && vec_reserve(items, room, (size_t)n + 1) == 0; n++)
        items[n] = (struct item){ n, n * UINT64_C(3) };
    for (uint32_t i = 0; i < n; i++)
        is_same = is_same && items[i].key == i && items[i].value == i * UINT64_C(3);
    CHECK("a thousand elements are taken one by one", n == 1000 && room >= n);
    CHECK("and are what they were", is_same);
    CHECK("the room doubles", room == 1024);
    const struct item *before = items;
    CHECK("where there is room nothing moves", vec_reserve(items, room, 1024) == 0 && items == before && room == 1024);
    free(items);
}

static void test_zeros(void)
{
    uint64_t *numbers = NULL;
    size_t room = 0;
    bool is_zero = vec_reserve_zeroed(numbers, room, 5) == 0;
    for (size_t i = 0; is_zero && i < room; i++)
        numbers[i] = 7;
    size_t old = room;
    is_zero = is_zero && vec_reserve_zeroed(numbers, room, 5000) == 0;
    for (size_t i = 0; is_zero && i < room; i++)
        is_zero = numbers[i] == (i < old ? 7 : 0);
    CHECK("new elements are zero, old ones stay", is_zero);
    free(numbers);
}

static void test_refusals(void)
{
    struct item *items = NULL;
    uint32_t room = 0;
    size_t wide = 0;
    CHECK("more than there is memory for is refused", vec_reserve(items, wide, SIZE_MAX / 8) < 0);
    CHECK("more than the room can say, too", vec_reserve(items, room, (size_t)UINT32_MAX + 1) < 0);
    CHECK("and the array is as it was", items == NULL && room == 0 && wide == 0);
}

int main(void)
{
    test_growing();
    test_zeros();
    test_refusals();
    return tap_done();
}
