#include "core/agent/rewrite/rewrite_parts.h"

#define MAX_CONSTANTS 65535

static struct span constant_at(const struct rewrite_pool *pool, uint32_t at)
{
    size_t n_file = pool->file->bytes.n;
    struct cursor c = at < n_file ? cursor_over(pool->file->bytes.at + at, n_file - at)
                                  : cursor_over(pool->added.at + (at - n_file), pool->added.n - (at - n_file));
    return (struct span){ c.at, classfile_constant_bytes(c) };
}

/*
 * The slot of a constant; its value is 0 when it is not there, and that is where it goes.  NULL: there is no room, for
 * the table does not grow.  A class file made of colliding constants costs some duplicates, not quadratic time, and
 * nothing may rely on a constant being found.
 */
static struct hash_slot *find_constant(struct rewrite_pool *pool, struct span constant)
{
    struct hash_slot *slot = hash_put(&pool->hashes, hash_text(HASH_START, (const char *)constant.at, constant.n));
    if (slot == NULL || slot->value == 0)
        return slot;
    struct span present = constant_at(pool, slot->second);
    return present.n == constant.n && memcmp(present.at, constant.at, present.n) == 0 ? slot : NULL;
}

static void keep_constant(struct hash_slot *slot, uint32_t index, size_t at)
{
    if (slot == NULL)
        return;
    slot->value = index;
    slot->second = (uint32_t)at;
}

int pool_open(struct rewrite_pool *pool, const struct classfile *file)
{
    size_t n_slots = 256;
    while (n_slots < 2 * (size_t)file->n_constants)
        n_slots *= 2;
    struct hash_slot *slots = calloc(n_slots, sizeof *slots);
    *pool = (struct rewrite_pool){ .file = file, .n = file->n_constants };
    if (slots == NULL)
        return -1;
    pool->hashes = hash_over(slots, n_slots);
    for (unsigned i = 1; i < file->n_constants; i++) {
        if (file->constants[i] == 0)
            continue;
        struct hash_slot *slot = find_constant(pool, constant_at(pool, file->constants[i]));
        if (slot != NULL && slot->value == 0)
            keep_constant(slot, i, file->constants[i]);
    }
    return 0;
}

void pool_close(struct rewrite_pool *pool)
{
    free(pool->hashes.slots);
    hash_free(&pool->hashes);
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
        struct hash_slot *slot = find_constant(pool, constant);
        if (slot != NULL && slot->value >= mark.n)
            slot->value = 0;
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
    struct hash_slot *slot = find_constant(pool, constant);
    if (slot != NULL && slot->value != 0) {
        pool->added.n = start;
        return (uint16_t)slot->value;
    }
    if (pool->n >= MAX_CONSTANTS) {
        pool->added.n = start;
        pool->full = true;
        return 0;
    }
    keep_constant(slot, pool->n, pool->file->bytes.n + start);
    return (uint16_t)pool->n++;
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
