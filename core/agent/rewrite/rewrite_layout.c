/*
 * Where each instruction goes.  One pass is enough: no branch is widened, so a length depends only on what comes
 * before (the padding of switches does).
 */
#include "core/agent/rewrite/rewrite_parts.h"

static bool targets_fit(struct span code, const uint8_t *starts, size_t at, bool *has_loop)
{
    struct bytecode_targets t = bytecode_targets(code, at);
    uint8_t opcode = code.at[at];
    bool call = opcode == OP_JSR || opcode == OP_JSR_W;
    for (uint32_t i = 0; i < t.n; i++) {
        int64_t target = bytecode_target(code, at, &t, i);
        if (target < 0 || (uint64_t)target >= code.n || !starts[target])
            return false;
        if (target <= (int64_t)at && !call)
            *has_loop = true;
    }
    return true;
}

enum rewrite_outcome layout_scan(struct span code, uint8_t *starts, bool *has_loop)
{
    *has_loop = false;
    for (size_t at = 0, n; at < code.n; at += n) {
        n = bytecode_length(code, at);
        if (n == 0)
            return REWRITE_UNUSUAL;
        starts[at] = STARTS_INSTRUCTION;
    }
    for (size_t at = 0; at < code.n; at += bytecode_length(code, at))
        if (!targets_fit(code, starts, at, has_loop))
            return REWRITE_UNUSUAL;
    return REWRITE_DONE;
}

static struct rewrite_sizes sizes_for(const struct rewrite_job *job)
{
    const struct rewrite_argument *argument = &job->argument;
    unsigned element = job->flag->index == REWRITE_FLAG_FIELD ? 0 : 3 + 1, variable = variable_bytes(job->local);
    unsigned given = argument->probe == NULL ? 0 : variable_bytes(argument->local) + (argument->convert != 0) + 3;
    return (struct rewrite_sizes){ .entry = 3 + element + given + 3 + variable,
                                   .exit = variable + 3,
                                   .handler = variable + 3 + 1 };
}

/* A switch's padding: its operands begin at a multiple of four. */
static uint32_t padding(uint32_t at)
{
    return 3 - at % 4;
}

/*
 * Catches are the handlers of typed entries; not those that handle anything, and not one that lies in the middle of
 * what it handles: a probe that has no stack left there would come back to itself for ever.
 */
static void find_catches(struct rewrite_job *job)
{
    for (int pass = 0; pass < 2; pass++) {
        struct cursor c = span_cursor(job->old->handlers);
        while (cursor_left(&c) > 0) {
            uint16_t start = cursor_u16be(&c), end = cursor_u16be(&c), handler = cursor_u16be(&c);
            bool typed = cursor_u16be(&c) != 0;
            if (!job_is_start(job, handler))
                continue;
            if (pass == 0 && typed)
                job->starts[handler] |= STARTS_CATCH;
            if (pass == 1 && (!typed || (start < handler && handler < end)))
                job->starts[handler] = STARTS_INSTRUCTION;
            job->has_catches |= pass == 1 && (job->starts[handler] & STARTS_CATCH) != 0;
        }
    }
}

void layout_assign(struct rewrite_job *job)
{
    struct span code = job->old->bytes;
    find_catches(job);
    argument_find(job);
    job->sizes = sizes_for(job);
    uint32_t now = job->sizes.entry;
    for (uint32_t at = 0, n; at < code.n; at += n) {
        uint8_t kind = bytecodes[code.at[at]].kind;
        n = (uint32_t)bytecode_length(code, at);
        for (uint32_t i = 0; i < n; i++)
            job->to[at + i] = now;
        now += (job->starts[at] & STARTS_CATCH) != 0 ? job->sizes.exit : 0;
        now += n;
        if (kind == BYTECODE_RETURN)
            now += job->sizes.exit;
        else if (kind == BYTECODE_TABLE || kind == BYTECODE_LOOKUP)
            now += padding(job_offset(job, at)) - padding(at);
    }
    job->to[code.n] = job->n_body = now;
}
