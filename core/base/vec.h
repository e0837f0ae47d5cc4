/*
 * Growing arrays: a pointer to the elements, which its owner frees, and how many there is room for (uint32_t or
 * size_t).  Both are zero at first.
 *
 *     if (vec_reserve(list->items, list->room, list->n + 1) < 0)
 *         return err_set(err, "out of memory");
 *     list->items[list->n++] = item;
 */
#ifndef CORE_BASE_VEC_H
#define CORE_BASE_VEC_H

#include "core/base/std.h"

/* Make room for n elements; the room doubles.  Returns 0, or -1: no memory, and the array is as it was. */
#define vec_reserve(array, room, n) vec_make_room(&(array), sizeof *(array), &(room), sizeof(room), n, false)

/* The same; new elements are zero. */
#define vec_reserve_zeroed(array, room, n) vec_make_room(&(array), sizeof *(array), &(room), sizeof(room), n, true)

/* The same for elements whose size is known when the program runs. */
static inline int vec_make_room(void *array, size_t element_bytes, void *room, size_t room_bytes, size_t n,
                                bool is_zeroed)
{
    uint32_t room32 = 0;
    size_t has = 0, wants;
    void *old, *grown;
    memcpy(room_bytes == sizeof room32 ? (void *)&room32 : &has, room, room_bytes);
    has += room32;
    if (n <= has)
        return 0;
    for (wants = has < 16 ? 16 : has * 2; wants < n; wants *= 2)
        if (wants > SIZE_MAX / 4)
            return -1;
    if (wants > SIZE_MAX / element_bytes || (room_bytes == sizeof room32 && wants > UINT32_MAX))
        return -1;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, wants * element_bytes);
    if (grown == NULL)
        return -1;
    if (is_zeroed)
        memset((char *)grown + has * element_bytes, 0, (wants - has) * element_bytes);
    memcpy(array, &grown, sizeof grown);
    room32 = (uint32_t)wants;
    memcpy(room, room_bytes == sizeof room32 ? (void *)&room32 : &wants, room_bytes);
    return 0;
}

#endif
