#include "core/agent/rewrite/rewrite_parts.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CONSTANTS 65535

/*
 * A look-up stops after so many slots: a class file made of colliding constants costs some duplicates, not quadratic
 * time.  For the same reason nothing may rely on a constant being found.
 */
#define MAX_PROBES 16

static struct span constant_at(const struct rewrite_pool *pool, uint32_t at)
{
    size_t n_file = pool->file->bytes.n;
    struct cursor c = at < n_file ? cursor_over(pool->file->bytes.at + at, n_file - at)
                                  : cursor_over(pool->added.at + (at - n_file), pool->added.n - (at - n_file));
    return (struct span){ c.at, classfile_constant_bytes(c) };
}

static uint64_t hash(struct span constant)
{
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < constant.n; i++)
        h = (h ^ constant.at[i]) * 0x100000001b3;
    return h ^ h >> 29;
}

/* The slot that holds a constant, else a free one, else NULL. */
static struct pool_slot *find_constant(const struct rewrite_pool *pool, struct span constant)
{
    struct pool_slot *free_slot = NULL;
    uint64_t h = hash(constant);
    for (unsigned i = 0; i < MAX_PROBES; i++) {
        struct pool_slot *slot = &pool->slots[(h + i) & (pool->n_slots - 1)];
        if (slot->index == 0) {
            free_slot = free_slot == NULL ? slot : free_slot;
            continue;
        }
        struct span present = constant_at(pool, slot->at);
        if (present.n == constant.n && memcmp(present.at, constant.at, present.n) == 0)
            return slot;
    }
    return free_slot;
}

int pool_open(struct rewrite_pool *pool, const struct classfile *file)
{
    *pool = (struct rewrite_pool){ .file = file, .n = file->n_constants, .n_slots = 256 };
    while (pool->n_slots < 4 * (size_t)file->n_constants)
        pool->n_slots *= 2;
    pool->slots = calloc(pool->n_slots, sizeof *pool->slots);
    if (pool->slots == NULL)
        return -1;
    for (unsigned i = 1; i < file->n_constants; i++) {
        if (file->constants[i] == 0)
            continue;
        struct pool_slot *slot = find_constant(pool, constant_at(pool, file->constants[i]));
        if (slot != NULL && slot->index == 0)
            *slot = (struct pool_slot){ file->constants[i], (uint16_t)i };
    }
    return 0;
}

void pool_close(struct rewrite_pool *pool)
{
    free(pool->slots);
    pool->slots = NULL;
    buffer_free(&pool->added);
}

struct pool_mark pool_mark(const struct rewrite_pool *pool)
{
    return (struct pool_mark){ pool->n, pool->added.n };
}

void pool_rollback(struct rewrite_pool *pool, struct pool_mark mark)
{
    size_t at = mark.n_added;
    while (at < pool->added.n && !pool->added.failed) {
        struct span constant = constant_at(pool, (uint32_t)(pool->file->bytes.n + at));
        struct pool_slot *slot = find_constant(pool, constant);
        if (slot != NULL && slot->index >= mark.n)
            slot->index = 0;
        at += constant.n;
    }
    pool->added.n = mark.n_added;
    pool->n = mark.n;
    pool->full = false;
}

/* Keep the constant that was just appended at 'start', unless it is already there. */
static uint16_t intern(struct rewrite_pool *pool, size_t start)
{
    if (pool->added.failed || pool->full)
        return 0;
    struct span constant = { pool->added.at + start, pool->added.n - start };
    struct pool_slot *slot = find_constant(pool, constant);
    if (slot != NULL && slot->index != 0) {
        pool->added.n = start;
        return slot->index;
    }
    if (pool->n >= MAX_CONSTANTS) {
        pool->added.n = start;
        pool->full = true;
        return 0;
    }
    uint16_t index = (uint16_t)pool->n++;
    if (slot != NULL)
        *slot = (struct pool_slot){ (uint32_t)(pool->file->bytes.n + start), index };
    return index;
}

uint16_t pool_utf8(struct rewrite_pool *pool, struct span text)
{
    size_t start = pool->added.n;
    buffer_big(&pool->added, CONSTANT_UTF8, 1);
    buffer_big(&pool->added, text.n, 2);
    buffer_span(&pool->added, text);
    return intern(pool, start);
}

static uint16_t refer(struct rewrite_pool *pool, uint8_t tag, uint16_t first, uint16_t second)
{
    size_t start = pool->added.n;
    buffer_big(&pool->added, tag, 1);
    buffer_big(&pool->added, first, 2);
    if (tag != CONSTANT_CLASS)
        buffer_big(&pool->added, second, 2);
    return intern(pool, start);
}

uint16_t pool_class(struct rewrite_pool *pool, struct span name)
{
    return refer(pool, CONSTANT_CLASS, pool_utf8(pool, name), 0);
}

static struct span text_span(const char *text)
{
    return (struct span){ (const uint8_t *)text, strlen(text) };
}

uint16_t pool_member(struct rewrite_pool *pool, uint8_t tag, const char *class_name, const char *name,
                     const char *descriptor)
{
    uint16_t owner = pool_class(pool, text_span(class_name));
    uint16_t n = pool_utf8(pool, text_span(name)), d = pool_utf8(pool, text_span(descriptor));
    return refer(pool, tag, owner, refer(pool, CONSTANT_NAME_AND_TYPE, n, d));
}
