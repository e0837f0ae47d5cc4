/*
 * Memory that is freed at once: one arena per command, results live in the caller's arena.  Where there is none left,
 * the program ends (xalloc.h): nothing here returns NULL.
 */
#ifndef CORE_BASE_ARENA_H
#define CORE_BASE_ARENA_H

#include "core/base/std.h"

struct arena_block;

struct arena {
    struct arena_block *newest; /* owned */
    size_t used_bytes;          /* in the newest block */
};

/* Zeroed memory, aligned to 16 bytes, that lives until arena_free. */
void *arena_alloc(struct arena *arena, size_t size_bytes);

/* A copy of n bytes of text with a closing NUL. */
char *arena_text(struct arena *arena, const char *text, size_t n);

/* printf into the arena. */
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Free everything; the arena may be used again. */
void arena_free(struct arena *arena);

#endif
