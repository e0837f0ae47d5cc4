/*
 * The StackMapTable: reading the old one, writing the new one.
 *
 * The new local variable lies behind all others, so a frame that names its locals must name all of them: it becomes
 * a full_frame, padded with Top.  A frame that has the locals of the one before stays what it is.
 *
 * Source: The Java Virtual Machine Specification, §4.7.4.
 */
#include "core/agent/rewrite/rewrite_parts.h"
#include "core/base/vec.h"

enum {
    FRAME_SAME_MAX = 63,
    FRAME_STACK_1 = 64,
    FRAME_STACK_1_MAX = 127,
    FRAME_STACK_1_FAR = 247,
    FRAME_CHOP = 248,
    FRAME_SAME_FAR = 251,
    FRAME_APPEND_MAX = 254,
    FRAME_FULL = 255
};

/* Many frames with many locals each: no class comes near, but the product is not bounded by the class file's size. */
#define MAX_GROWTH_BYTES (64u << 20)

/* --- Reading. --- */

static enum rewrite_outcome list_add(struct frame_list *list, uint8_t tag, uint16_t data)
{
    size_t slots = tag == TYPE_LONG || tag == TYPE_DOUBLE ? 2 : 1;
    if (slots > list->max_slots - list->n_slots)
        return REWRITE_UNUSUAL;
    if (vec_reserve(list->at, list->room, list->n + 1) < 0)
        return REWRITE_NO_MEMORY;
    list->at[list->n++] = (struct frame_type){ data, tag };
    list->n_slots += slots;
    return REWRITE_DONE;
}

static void list_drop(struct frame_list *list)
{
    uint8_t tag = list->at[--list->n].tag;
    list->n_slots -= tag == TYPE_LONG || tag == TYPE_DOUBLE ? 2 : 1;
}

static void list_clear(struct frame_list *list)
{
    list->n = list->n_slots = 0;
}

static enum rewrite_outcome add_argument(struct frame_list *list, struct span type, struct rewrite_pool *pool)
{
    static const uint8_t tags[] = {
        ['B'] = 1, ['C'] = 1, ['D'] = 3, ['F'] = 2, ['I'] = 1, ['J'] = 4, ['S'] = 1, ['Z'] = 1
    };
    if (*type.at != 'L' && *type.at != '[')
        return list_add(list, tags[*type.at], 0);
    struct span name = *type.at == 'L' ? (struct span){ type.at + 1, type.n - 2 } : type;
    return list_add(list, TYPE_OBJECT, pool == NULL ? 0 : pool_class(pool, name));
}

static enum rewrite_outcome add_arguments(struct frames *f, struct rewrite_pool *pool)
{
    const struct rewrite_job *job = f->job;
    struct cursor c = span_cursor(job->method->descriptor);
    enum rewrite_outcome outcome = REWRITE_DONE;
    if (job->constructor)
        outcome = list_add(&f->locals, TYPE_UNINIT_THIS, 0);
    else if (!(job->method->access_flags & ACC_STATIC))
        outcome = list_add(&f->locals, TYPE_OBJECT, job->file->this_class);
    if (cursor_u8(&c) != '(')
        return REWRITE_UNUSUAL;
    while (outcome == REWRITE_DONE && cursor_left(&c) > 0 && *c.at != ')') {
        struct span type = { c.at, classfile_type_bytes(c) };
        if (type.n == 0)
            return REWRITE_UNUSUAL;
        outcome = add_argument(&f->locals, type, pool);
        cursor_bytes(&c, type.n);
    }
    return outcome;
}

enum rewrite_outcome frames_open(struct frames *f, const struct rewrite_job *job, struct rewrite_pool *pool)
{
    *f = (struct frames){ .job = job, .first = true, .at = span_cursor(job->frames) };
    f->locals.max_slots = job->old->max_locals;
    f->stack.max_slots = job->old->max_stack;
    f->n = f->left = cursor_u16be(&f->at);
    return f->at.bad ? REWRITE_UNUSUAL : add_arguments(f, pool);
}

void frames_close(struct frames *f)
{
    free(f->locals.at);
    free(f->stack.at);
}

static enum rewrite_outcome read_types(struct frames *f, struct frame_list *list, unsigned n)
{
    enum rewrite_outcome outcome = REWRITE_DONE;
    for (unsigned i = 0; i < n && outcome == REWRITE_DONE; i++) {
        uint8_t tag = cursor_u8(&f->at);
        uint16_t data = tag == TYPE_OBJECT || tag == TYPE_UNINIT ? cursor_u16be(&f->at) : 0;
        if (f->at.bad || tag > TYPE_UNINIT || (tag == TYPE_UNINIT && !job_is_start(f->job, data)))
            return REWRITE_UNUSUAL;
        outcome = list_add(list, tag, data);
    }
    return outcome;
}

static enum rewrite_outcome read_full(struct frames *f)
{
    list_clear(&f->locals);
    enum rewrite_outcome outcome = read_types(f, &f->locals, cursor_u16be(&f->at));
    return outcome == REWRITE_DONE ? read_types(f, &f->stack, cursor_u16be(&f->at)) : outcome;
}

static enum rewrite_outcome read_frame(struct frames *f, uint8_t tag)
{
    f->same_locals = tag <= FRAME_STACK_1_FAR || tag == FRAME_SAME_FAR;
    if (tag == FRAME_FULL)
        return read_full(f);
    if (tag > FRAME_SAME_FAR)
        return read_types(f, &f->locals, (unsigned)tag - FRAME_SAME_FAR);
    for (; tag >= FRAME_CHOP && tag < FRAME_SAME_FAR; tag++) {
        if (f->locals.n == 0)
            return REWRITE_UNUSUAL;
        list_drop(&f->locals);
    }
    if (tag >= FRAME_STACK_1 && tag <= FRAME_STACK_1_FAR)
        return read_types(f, &f->stack, 1);
    return REWRITE_DONE;
}

enum rewrite_outcome frames_next(struct frames *f)
{
    uint8_t tag = cursor_u8(&f->at);
    uint32_t delta = tag & 63;
    if (tag > FRAME_STACK_1_MAX && tag < FRAME_STACK_1_FAR)
        return REWRITE_UNUSUAL;
    if (tag >= FRAME_STACK_1_FAR)
        delta = cursor_u16be(&f->at);
    f->first = f->left-- == f->n;
    f->offset = f->first ? delta : f->offset + delta + 1;
    list_clear(&f->stack);
    enum rewrite_outcome outcome = read_frame(f, tag);
    return f->at.bad || !job_is_start(f->job, f->offset) ? REWRITE_UNUSUAL : outcome;
}

/* --- Writing. --- */

static void write_types(struct rewrite_job *job, const struct frame_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        buffer_big(job->out, list->at[i].tag, 1);
        if (list->at[i].tag == TYPE_OBJECT)
            buffer_big(job->out, list->at[i].data, 2);
        else if (list->at[i].tag == TYPE_UNINIT)
            buffer_big(job->out, job_offset(job, list->at[i].data), 2);
    }
}

static void write_full(struct rewrite_job *job, uint32_t delta, const struct frame_list *locals)
{
    size_t n_top = job->local - locals->n_slots;
    buffer_big(job->out, FRAME_FULL, 1);
    buffer_big(job->out, delta, 2);
    buffer_big(job->out, locals->n + n_top + 1, 2);
    write_types(job, locals);
    buffer_fill(job->out, TYPE_TOP, n_top);
    buffer_big(job->out, TYPE_INTEGER, 1);
}

static void write_frame(struct rewrite_job *job, const struct frames *f, uint32_t delta)
{
    if (f->first || !f->same_locals) {
        write_full(job, delta, &f->locals);
        buffer_big(job->out, f->stack.n, 2);
    } else if (delta <= FRAME_SAME_MAX) {
        buffer_big(job->out, delta + (f->stack.n > 0 ? FRAME_STACK_1 : 0), 1);
    } else {
        buffer_big(job->out, f->stack.n > 0 ? FRAME_STACK_1_FAR : FRAME_SAME_FAR, 1);
        buffer_big(job->out, delta, 2);
    }
    write_types(job, &f->stack);
}

static enum rewrite_outcome write_old(struct rewrite_job *job, struct frames *f, int64_t *last)
{
    while (f->left > 0) {
        enum rewrite_outcome outcome = frames_next(f);
        if (outcome != REWRITE_DONE)
            return outcome;
        write_frame(job, f, (uint32_t)(job->to[f->offset] - *last - 1));
        *last = job->to[f->offset];
        if (job->out->n > MAX_GROWTH_BYTES + job->file->bytes.n)
            return REWRITE_LIMITS;
    }
    return cursor_left(&f->at) == 0 ? REWRITE_DONE : REWRITE_UNUSUAL;
}

/* All locals Top but the new one; before this(...) or super(...), 'this' is still uninitialized. */
static void write_handler(struct rewrite_job *job, uint32_t at, bool before, uint16_t throwable, int64_t *last)
{
    struct frame_type this_type = { 0, TYPE_UNINIT_THIS }, caught = { throwable, TYPE_OBJECT };
    struct frame_list locals = { .at = &this_type, .n = before, .n_slots = before };
    write_full(job, (uint32_t)(at - *last - 1), &locals);
    buffer_big(job->out, 1, 2);
    write_types(job, &(struct frame_list){ .at = &caught, .n = 1 });
    *last = at;
}

static enum rewrite_outcome write_all(struct rewrite_job *job, unsigned *n_frames)
{
    int64_t last = -1;
    static const uint8_t throwable[] = "java/lang/Throwable";
    uint16_t caught = pool_class(job->pool, (struct span){ throwable, sizeof throwable - 1 });
    if (job->frames.at != NULL) {
        struct frames f;
        /* Only a first frame that is no full_frame needs the types of the arguments. */
        bool needs_types = job->frames.n > 2 && job->frames.at[2] != FRAME_FULL;
        enum rewrite_outcome outcome = frames_open(&f, job, needs_types ? job->pool : NULL);
        *n_frames = f.n;
        if (outcome == REWRITE_DONE)
            outcome = write_old(job, &f, &last);
        frames_close(&f);
        if (outcome != REWRITE_DONE)
            return outcome;
    }
    if (job->has_after)
        write_handler(job, job->handler_after, false, caught, &last);
    if (job->has_before)
        write_handler(job, job->handler_before, true, caught, &last);
    return REWRITE_DONE;
}

enum rewrite_outcome frames_write(struct rewrite_job *job)
{
    static const uint8_t name[] = "StackMapTable";
    buffer_big(job->out, pool_utf8(job->pool, (struct span){ name, sizeof name - 1 }), 2);
    size_t start = job->out->n;
    unsigned n_frames = 0;
    buffer_big(job->out, 0, 4);
    buffer_big(job->out, 0, 2);
    enum rewrite_outcome outcome = write_all(job, &n_frames);
    n_frames += job->has_after + job->has_before;
    buffer_set(job->out, start, job->out->n - start - 4, 4);
    buffer_set(job->out, start + 4, n_frames, 2);
    return n_frames > UINT16_MAX && outcome == REWRITE_DONE ? REWRITE_LIMITS : outcome;
}
