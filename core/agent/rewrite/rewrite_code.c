/* The new Code attribute. */
#include "core/agent/rewrite/rewrite_parts.h"

#define MAX_CODE_BYTES 65535

/* HotSpot compiles no method with more (HugeMethodLimit): one that passes it would be slower by an order. */
#define MAX_COMPILED_BYTES 8000

struct references {
    uint16_t code, flag, argument, enter, exit, unwind, caught;
};

static struct references add_references(struct rewrite_job *job)
{
    struct rewrite_pool *pool = job->pool;
    struct references r;
    r.code = pool_utf8(pool, (struct span){ (const uint8_t *)"Code", 4 });
    r.flag = pool_member(pool, CONSTANT_FIELD, job->flag->class_name, job->flag->field_name,
                         job->flag->index == REWRITE_FLAG_FIELD ? "I" : "[I");
    const struct rewrite_argument *given = &job->argument;
    r.argument = given->probe == NULL
                     ? 0
                     : pool_member(pool, CONSTANT_METHOD, job->probe_class, given->probe, given->descriptor);
    r.enter = pool_member(pool, CONSTANT_METHOD, job->probe_class, "enter", "(I)I");
    r.exit = pool_member(pool, CONSTANT_METHOD, job->probe_class, "exit", "(I)V");
    r.unwind = pool_member(pool, CONSTANT_METHOD, job->probe_class, "unwind", "(I)V");
    r.caught = job->has_catches ? pool_member(pool, CONSTANT_METHOD, job->probe_class, "caught", "(I)V") : 0;
    return r;
}

/* A load (iload and up) or store (istore) of a local variable in its shortest form. */
static void put_local(struct rewrite_job *job, uint8_t opcode, uint16_t local)
{
    uint8_t short_form =
        (uint8_t)(opcode < OP_ISTORE ? OP_ILOAD_0 + 4 * (opcode - OP_ILOAD) : OP_ISTORE_0 + 4 * (opcode - OP_ISTORE));
    if (local < 4) {
        buffer_big(job->out, short_form + local, 1);
    } else if (local < 256) {
        buffer_big(job->out, opcode, 1);
        buffer_big(job->out, local, 1);
    } else {
        buffer_big(job->out, OP_WIDE, 1);
        buffer_big(job->out, opcode, 1);
        buffer_big(job->out, local, 2);
    }
}

static void put_reference(struct rewrite_job *job, uint8_t opcode, uint16_t reference)
{
    buffer_big(job->out, opcode, 1);
    buffer_big(job->out, reference, 2);
}

static void put_probe(struct rewrite_job *job, uint16_t probe)
{
    put_local(job, OP_ILOAD, job->local);
    put_reference(job, OP_INVOKESTATIC, probe);
}

/* Overwrite the branch offsets of the instruction that was copied to 'copy'; its operands moved by 'shift'. */
static enum rewrite_outcome put_targets(struct rewrite_job *job, uint32_t at, size_t copy, size_t shift)
{
    struct span code = job->old->bytes;
    struct bytecode_targets t = bytecode_targets(code, at);
    for (uint32_t i = 0; i < t.n; i++) {
        int64_t delta = (int64_t)job->to[bytecode_target(code, at, &t, i)] - job_offset(job, at);
        if (t.n_bytes == 2 && (delta < INT16_MIN || delta > INT16_MAX))
            return REWRITE_TOO_LARGE;
        buffer_set(job->out, copy + bytecode_target_at(&t, i) + shift, (uint64_t)delta, t.n_bytes);
    }
    return REWRITE_DONE;
}

/* A switch: the padding differs from the old one's. */
static enum rewrite_outcome put_switch(struct rewrite_job *job, uint32_t at, size_t n)
{
    const uint8_t *old = job->old->bytes.at + at;
    size_t old_padding = 3 - at % 4, new_padding = 3 - job_offset(job, at) % 4, copy = job->out->n;
    buffer_bytes(job->out, old, 1);
    buffer_fill(job->out, 0, new_padding);
    buffer_bytes(job->out, old + 1 + old_padding, n - 1 - old_padding);
    return put_targets(job, at, copy, new_padding - old_padding);
}

static enum rewrite_outcome put_instruction(struct rewrite_job *job, uint32_t at, size_t n, const struct references *r)
{
    const uint8_t *old = job->old->bytes.at + at;
    uint8_t kind = bytecodes[*old].kind;
    if ((job->starts[at] & STARTS_CATCH) != 0)
        put_probe(job, r->caught);
    size_t copy = job->out->n;
    if (kind == BYTECODE_TABLE || kind == BYTECODE_LOOKUP)
        return put_switch(job, at, n);
    if (kind == BYTECODE_RETURN)
        put_probe(job, r->exit);
    buffer_bytes(job->out, old, n);
    return kind == BYTECODE_BRANCH || kind == BYTECODE_BRANCH_WIDE ? put_targets(job, at, copy, 0) : REWRITE_DONE;
}

static void put_handler(struct rewrite_job *job, const struct references *r)
{
    put_probe(job, r->unwind);
    buffer_big(job->out, OP_ATHROW, 1);
}

static void put_entry(struct rewrite_job *job, const struct references *r)
{
    const struct rewrite_argument *argument = &job->argument;
    put_reference(job, OP_GETSTATIC, r->flag);
    if (job->flag->index != REWRITE_FLAG_FIELD) {
        put_reference(job, OP_SIPUSH, (uint16_t)job->flag->index);
        buffer_big(job->out, OP_IALOAD, 1);
    }
    if (argument->probe != NULL) {
        put_local(job, argument->load, argument->local);
        if (argument->convert != 0)
            buffer_big(job->out, argument->convert, 1);
        put_reference(job, OP_INVOKESTATIC, r->argument);
    }
    put_reference(job, OP_INVOKESTATIC, r->enter);
    put_local(job, OP_ISTORE, job->local);
}

static enum rewrite_outcome put_bytecode(struct rewrite_job *job, const struct references *r)
{
    enum rewrite_outcome outcome = REWRITE_DONE;
    put_entry(job, r);
    struct span code = job->old->bytes;
    for (uint32_t at = 0, n; at < code.n && outcome == REWRITE_DONE; at += n) {
        n = (uint32_t)bytecode_length(code, at);
        outcome = put_instruction(job, at, n, r);
    }
    uint32_t now = job->n_body;
    if (job->has_after) {
        job->handler_after = now;
        now += job->sizes.handler;
        put_handler(job, r);
    }
    if (job->has_before) {
        job->handler_before = now;
        put_handler(job, r);
    }
    return outcome;
}

/* The entry probe is in no range: the new local is not set there, and the method's own handlers are not for it. */
static enum rewrite_outcome put_handlers(struct rewrite_job *job)
{
    struct cursor c = span_cursor(job->old->handlers);
    buffer_big(job->out, (uint64_t)job->old->n_handlers + job->n_runs, 2);
    while (cursor_left(&c) > 0) {
        uint16_t start = cursor_u16be(&c), end = cursor_u16be(&c), handler = cursor_u16be(&c);
        if (start >= end || end > job->old->bytes.n || !job_is_start(job, handler))
            return REWRITE_UNUSUAL;
        /* A handler's own probe is not among what it handles. */
        buffer_big(job->out, start == handler ? job_offset(job, start) : job->to[start], 2);
        buffer_big(job->out, job->to[end], 2);
        buffer_big(job->out, job->to[handler], 2);
        buffer_big(job->out, cursor_u16be(&c), 2);
    }
    for (uint32_t i = 0; i < job->n_runs; i++) {
        const struct rewrite_run *run = &job->runs[i];
        buffer_big(job->out, job->to[run->start], 2);
        buffer_big(job->out, job->to[run->end], 2);
        buffer_big(job->out, run->before ? job->handler_before : job->handler_after, 2);
        buffer_big(job->out, 0, 2);
    }
    return REWRITE_DONE;
}

static enum rewrite_outcome put_attributes(struct rewrite_job *job)
{
    size_t count = job->out->n;
    unsigned n = job->write_frames;
    buffer_big(job->out, 0, 2);
    enum rewrite_outcome outcome = job->write_frames ? frames_write(job) : REWRITE_DONE;
    struct cursor c = span_cursor(job->old->attributes);
    struct classfile_attribute a;
    while (outcome == REWRITE_DONE && classfile_next_attribute(job->file, &c, &a))
        outcome = tables_write(job, &a, &n);
    buffer_set(job->out, count, n, 2);
    return n > UINT16_MAX ? REWRITE_LIMITS : outcome;
}

enum rewrite_outcome code_write(struct rewrite_job *job)
{
    const struct classfile_code *old = job->old;
    uint32_t n_code = job->n_body + (job->has_after + job->has_before) * job->sizes.handler;
    if (n_code > MAX_CODE_BYTES || (n_code > MAX_COMPILED_BYTES && old->bytes.n <= MAX_COMPILED_BYTES))
        return REWRITE_TOO_LARGE;
    if (old->n_handlers + job->n_runs > UINT16_MAX)
        return REWRITE_LIMITS;
    struct references r = add_references(job);
    buffer_big(job->out, r.code, 2);
    size_t start = job->out->n;
    buffer_big(job->out, 0, 4);
    unsigned entry_stack = job->argument.probe == NULL ? 2 : 3; /* a token, and a long or double at most */
    buffer_big(job->out, old->max_stack < entry_stack ? entry_stack : old->max_stack + 1u, 2);
    buffer_big(job->out, old->max_locals + 1u, 2);
    buffer_big(job->out, n_code, 4);
    enum rewrite_outcome outcome = put_bytecode(job, &r);
    if (outcome == REWRITE_DONE)
        outcome = put_handlers(job);
    if (outcome == REWRITE_DONE)
        outcome = put_attributes(job);
    buffer_set(job->out, start, job->out->n - start - 4, 4);
    if (outcome == REWRITE_DONE && job->pool->full)
        outcome = REWRITE_LIMITS;
    return job->pool->added.failed || job->out->failed ? REWRITE_NO_MEMORY : outcome;
}
