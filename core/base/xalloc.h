/*
 * Memory for programs.  Where there is none left, these functions end the program with one message and status 1: no
 * caller checks them.  What a recording wrote stays readable up to its last chunk.
 *
 * The agent runs inside somebody's JVM and never ends it: what is linked into it uses vec.h and hash_put.  A size or a
 * number that a trace or a JVM names is checked before, so that it cannot end the program.
 */
#ifndef CORE_BASE_XALLOC_H
#define CORE_BASE_XALLOC_H

#include "core/base/hash.h"
#include "core/base/vec.h"

/* As malloc and its kin; the caller frees.  xrealloc of NULL allocates; 0 bytes are a pointer that can be freed. */
void *xmalloc(size_t n_bytes) __attribute__((malloc, alloc_size(1), returns_nonnull));
void *xcalloc(size_t n, size_t n_bytes) __attribute__((malloc, alloc_size(1, 2), returns_nonnull));
void *xrealloc(void *old, size_t n_bytes) __attribute__((alloc_size(2), returns_nonnull));
void *xreallocarray(void *old, size_t n, size_t n_bytes) __attribute__((alloc_size(2, 3), returns_nonnull));
char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *text, size_t n) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2), returns_nonnull));

/* As open_memstream; and its fclose, after which *text is there.  The caller frees it. */
FILE *xopen_memstream(char **text, size_t *n) __attribute__((returns_nonnull));
void xclose_memstream(FILE *out);

/*
 * Growing arrays, as in vec.h: a pointer to the elements, which its owner frees, and how many there is room for
 * (uint32_t or size_t); both are zero at first.
 *
 *     *xpush(list->items, list->room, list->n) = item;
 *
 * xgrow makes room for n elements; new elements of xgrow_zeroed are zero; xpush appends one, adds 1 to n, and is a
 * pointer to the new element, whose content is undefined.  xgrow_bytes is xgrow for elements of n_bytes each.
 */
#define xgrow(array, room, n)                xgrow_room(&(array), sizeof *(array), &(room), sizeof(room), n, false)
#define xgrow_zeroed(array, room, n)         xgrow_room(&(array), sizeof *(array), &(room), sizeof(room), n, true)
#define xgrow_bytes(array, room, n, n_bytes) xgrow_room(&(array), n_bytes, &(room), sizeof(room), n, false)
#define xpush(array, room, n)                (xgrow(array, room, (size_t)(n) + 1), &(array)[(n)++])

void xgrow_room(void *array, size_t element_bytes, void *room, size_t room_bytes, size_t n, bool is_zeroed);

/* As hash_put, for a table that grows (not after hash_over); and set the value of a number. */
struct hash_slot *xhash_put(struct hash_set *set, uint64_t key) __attribute__((returns_nonnull));
void xhash_store(struct hash_set *set, uint64_t number, uint32_t value);

/*
 * So much of the heap is there before it is needed: a page that is touched first takes 8 times as long as one of many
 * that are asked for at once.  What is large and zeroed is still touched only where it is used.
 */
void xalloc_warm(size_t n_bytes);

/* What they do in the end; and what it says to do next, where that is known: a text that stays; NULL: nothing special.
 */
void out_of_memory(void) __attribute__((noreturn, cold));
void out_of_memory_next(const char *next);

#endif
