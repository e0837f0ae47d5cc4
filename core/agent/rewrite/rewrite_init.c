/*
 * What a constructor has done so far at each instruction: called this(...) or super(...), or not yet.
 *
 * An abstract interpretation with one bit per local variable and stack slot: does it hold the uninitialized 'this'.
 * With a StackMapTable one pass in the order of the code is enough, as for the JVM's own verifier: it says what holds
 * wherever two ways meet.  Without one (classes before Java 6, or straight code) a work list finds it.
 *
 * The call of this(...) or super(...) itself stays without a handler.  HotSpot (8 to 25) compares the handler's frame
 * both with the locals before the call, where 'this' is uninitialized, and with those after it, where it is not, and
 * wants the flag 'uninitialized' in it both times, which only an uninitialized local gives: no frame passes.
 *
 * Source: The Java Virtual Machine Specification, §4.10.1.9 (invokespecial) and §4.10.2.4; HotSpot's verifier.cpp,
 * ClassVerifier::verify_invoke_init.
 */
#include "core/agent/rewrite/rewrite_parts.h"

/* Limits on time and memory; what javac makes is below a hundredth of them. */
#define MAX_WORK        (1u << 22)
#define MAX_STATE_BYTES (1u << 22)

struct state {
    uint8_t phase; /* 0: not reached */
    uint32_t depth;
    uint8_t *slots; /* owned by someone else; the locals, then the stack */
};

struct walk {
    const struct rewrite_job *job;
    struct span code;
    uint32_t n_locals, n_slots;
    uint8_t *phases; /* borrowed; per offset */
    struct state now;
    uint8_t *now_slots; /* owned */
    uint64_t work;
    /* Only without frames: */
    uint32_t *leaders;    /* owned; per offset: 0, or the state's number from 1 */
    struct state *states; /* owned */
    uint8_t *state_slots; /* owned */
    uint32_t *todo;       /* owned; offsets */
    uint8_t *queued;      /* owned; per state */
    uint32_t n_states, n_todo;
};

static bool pop(struct walk *w, uint32_t n)
{
    if (w->now.depth < n)
        return false;
    w->now.depth -= n;
    return true;
}

static bool push(struct walk *w, uint32_t n, uint8_t bit)
{
    if (n > w->n_slots - w->n_locals - w->now.depth)
        return false;
    memset(w->now.slots + w->n_locals + w->now.depth, bit, n);
    w->now.depth += n;
    return true;
}

static bool step_local(struct walk *w, const uint8_t *instruction)
{
    uint32_t local = bytecode_local(instruction);
    uint8_t opcode = instruction[0] == OP_WIDE ? instruction[1] : instruction[0];
    const struct bytecode *b = &bytecodes[opcode];
    uint32_t width = b->pops + b->pushes == 2 ? 2 : 1;
    if (local + width > w->n_locals)
        return false;
    if (opcode == OP_ALOAD || (opcode >= OP_ALOAD_0 && opcode <= OP_ALOAD_3))
        return push(w, 1, w->now.slots[local]);
    if (b->pushes > 0)
        return push(w, b->pushes, 0);
    if (b->pops == 0)
        return true;
    if (!pop(w, b->pops))
        return false;
    bool reference = opcode == OP_ASTORE || (opcode >= OP_ASTORE_0 && opcode <= OP_ASTORE_3);
    uint8_t bit = reference ? w->now.slots[w->n_locals + w->now.depth] : 0;
    memset(w->now.slots + local, 0, width);
    w->now.slots[local] = bit;
    return true;
}

/* dup and its relatives: copy the top n slots below the 'under' slots that lie under them. */
static bool step_stack(struct walk *w, uint8_t opcode)
{
    unsigned n = opcode < OP_DUP + 3 ? 1 : 2, under = (opcode - (unsigned)OP_DUP) % 3;
    uint8_t *top = w->now.slots + w->n_locals + w->now.depth;
    if (opcode == OP_SWAP) {
        if (w->now.depth < 2)
            return false;
        uint8_t bit = top[-1];
        top[-1] = top[-2];
        top[-2] = bit;
        return true;
    }
    if (w->now.depth < n + under || !push(w, n, 0))
        return false;
    memmove(top + n - (n + under), top - (n + under), n + under);
    memcpy(top - (n + under), top + n - n, n);
    return true;
}

static void initialized(struct walk *w)
{
    memset(w->now.slots, 0, w->n_slots);
    w->now.phase = INIT_AFTER;
    w->work += w->n_slots / 64;
}

static bool step_invoke(struct walk *w, uint8_t opcode, struct span name, struct span descriptor)
{
    unsigned arguments, result;
    bool object = opcode != OP_INVOKESTATIC && opcode != OP_INVOKEDYNAMIC;
    if (!classfile_method_slots(descriptor, &arguments, &result) || !pop(w, arguments + object))
        return false;
    if (opcode == OP_INVOKESPECIAL && w->now.slots[w->n_locals + w->now.depth] && span_is(name, "<init>"))
        initialized(w);
    return push(w, result, 0);
}

static bool step_member(struct walk *w, const uint8_t *instruction)
{
    uint8_t opcode = instruction[0];
    if (opcode == OP_MULTIANEWARRAY)
        return pop(w, instruction[3]) && push(w, 1, 0);
    struct span name, descriptor;
    if (!classfile_member(w->job->file, (uint16_t)(instruction[1] << 8 | instruction[2]), &name, &descriptor))
        return false;
    w->work += descriptor.n / 64;
    if (opcode >= OP_INVOKEVIRTUAL)
        return step_invoke(w, opcode, name, descriptor);
    unsigned value;
    bool object = opcode == OP_GETFIELD || opcode == OP_PUTFIELD, put = opcode == OP_PUTSTATIC || opcode == OP_PUTFIELD;
    if (!classfile_field_slots(descriptor, &value))
        return false;
    return put ? pop(w, value + object) : pop(w, object) && push(w, value, 0);
}

static bool step_instruction(struct walk *w, const uint8_t *instruction)
{
    const struct bytecode *b = &bytecodes[*instruction];
    switch (b->kind) {
    case BYTECODE_LOCAL:
        return *instruction == OP_WIDE && instruction[1] == OP_RET ? false : step_local(w, instruction);
    case BYTECODE_STACK:
        return step_stack(w, *instruction);
    case BYTECODE_MEMBER:
        return step_member(w, instruction);
    case BYTECODE_RET:
        return false;
    default:
        return *instruction != OP_JSR && *instruction != OP_JSR_W && pop(w, b->pops) && push(w, b->pushes, 0);
    }
}

/* What one instruction does to w->now; false when it is none that a verifier would pass. */
static bool step(struct walk *w, uint32_t at)
{
    uint8_t phase = w->now.phase;
    w->work++;
    /* The handler's frame has it in local 0, where every compiler keeps it. */
    bool ok = (phase != INIT_BEFORE || w->now.slots[0]) && step_instruction(w, w->code.at + at);
    w->phases[at] |= phase == INIT_BEFORE && w->now.phase == INIT_AFTER ? INIT_BEFORE | INIT_CALL : phase;
    return ok;
}

static void enter(struct walk *w)
{
    memset(w->now_slots, 0, w->n_slots);
    w->now = (struct state){ .phase = INIT_BEFORE, .slots = w->now_slots };
    w->now.slots[0] = 1;
}

/* --- With frames. --- */

static bool put_types(struct state *s, uint8_t *slots, size_t room, const struct frame_list *list)
{
    size_t at = 0;
    for (size_t i = 0; i < list->n; i++) {
        bool wide = list->at[i].tag == TYPE_LONG || list->at[i].tag == TYPE_DOUBLE;
        if (at + 1 + wide > room)
            return false;
        if (list->at[i].tag == TYPE_UNINIT_THIS) {
            slots[at] = 1;
            s->phase = INIT_BEFORE;
        }
        at += 1u + wide;
    }
    return true;
}

static bool load_frame(struct walk *w, const struct frames *f)
{
    size_t n_stack = w->n_slots - w->n_locals;
    w->now.phase = INIT_AFTER;
    w->now.depth = (uint32_t)f->stack.n_slots;
    memset(w->now.slots, 0, w->n_slots);
    w->work += w->n_slots / 64;
    return w->work <= MAX_WORK && f->stack.n_slots <= n_stack &&
           put_types(&w->now, w->now.slots, w->n_locals, &f->locals) &&
           put_types(&w->now, w->now.slots + w->n_locals, n_stack, &f->stack);
}

static enum rewrite_outcome walk_code(struct walk *w, struct frames *f, enum rewrite_outcome outcome)
{
    bool reached = true;
    bool pending = f->left > 0;
    if (pending)
        outcome = frames_next(f);
    for (uint32_t at = 0; at < w->code.n && outcome == REWRITE_DONE; at += (uint32_t)bytecode_length(w->code, at)) {
        if (pending && f->offset == at) {
            if (!load_frame(w, f))
                return REWRITE_UNUSUAL;
            reached = true;
            pending = f->left > 0;
            if (pending)
                outcome = frames_next(f);
        }
        if (reached && outcome == REWRITE_DONE && !step(w, at))
            return REWRITE_UNUSUAL;
        if (bytecode_ends(w->code.at[at]))
            reached = false;
    }
    return outcome;
}

static enum rewrite_outcome walk_frames(struct walk *w)
{
    struct frames f;
    enum rewrite_outcome outcome = frames_open(&f, w->job, NULL);
    if (outcome == REWRITE_DONE)
        outcome = walk_code(w, &f, outcome);
    frames_close(&f);
    return outcome;
}

/* --- Without frames. --- */

static void mark_leader(struct walk *w, uint32_t at)
{
    if (w->leaders[at] == 0)
        w->leaders[at] = ++w->n_states;
}

static bool mark_leaders(struct walk *w)
{
    mark_leader(w, 0);
    for (uint32_t at = 0; at < w->code.n; at += (uint32_t)bytecode_length(w->code, at)) {
        struct bytecode_targets t = bytecode_targets(w->code, at);
        for (uint32_t i = 0; i < t.n; i++)
            mark_leader(w, (uint32_t)bytecode_target(w->code, at, &t, i));
    }
    struct cursor c = span_cursor(w->job->old->handlers);
    while (cursor_left(&c) > 0) {
        cursor_u32be(&c);
        uint16_t handler = cursor_u16be(&c);
        cursor_u16be(&c);
        if (!job_is_start(w->job, handler))
            return false;
        mark_leader(w, handler);
    }
    return (uint64_t)w->n_states * w->n_slots <= MAX_STATE_BYTES;
}

static void queue(struct walk *w, uint32_t at)
{
    uint32_t number = w->leaders[at] - 1;
    if (!w->queued[number])
        w->todo[w->n_todo++] = at;
    w->queued[number] = 1;
}

/* Let w->now, with this depth of its stack, reach a leader. */
static bool reach(struct walk *w, uint32_t at, uint32_t depth)
{
    struct state *s = &w->states[w->leaders[at] - 1];
    uint32_t n = w->n_locals + depth;
    w->work += 1 + n / 64;
    if (s->phase == 0) {
        memcpy(s->slots, w->now.slots, n);
        s->depth = depth;
    }
    bool changed = (s->phase | w->now.phase) != s->phase;
    s->phase |= w->now.phase;
    for (uint32_t i = 0; i < n && s->depth == depth; i++) {
        changed |= s->slots[i] > w->now.slots[i];
        s->slots[i] &= w->now.slots[i];
    }
    if (changed)
        queue(w, at);
    return s->depth == depth;
}

/* An exception may leave with the locals as they are before the instruction. */
static bool reach_handlers(struct walk *w, uint32_t at)
{
    struct cursor c = span_cursor(w->job->old->handlers);
    while (cursor_left(&c) > 0) {
        uint16_t start = cursor_u16be(&c), end = cursor_u16be(&c), handler = cursor_u16be(&c);
        cursor_u16be(&c);
        w->work++;
        if (at < start || at >= end)
            continue;
        if (w->n_slots == w->n_locals)
            return false;
        uint8_t saved = w->now.slots[w->n_locals];
        w->now.slots[w->n_locals] = 0;
        bool ok = reach(w, handler, 1);
        w->now.slots[w->n_locals] = saved;
        if (!ok)
            return false;
    }
    return true;
}

/* From a leader to the next one, or to where the code ends. */
static bool walk_block(struct walk *w, uint32_t at)
{
    struct state *s = &w->states[w->leaders[at] - 1];
    memcpy(w->now_slots, s->slots, w->n_locals + s->depth);
    w->now = (struct state){ s->phase, s->depth, w->now_slots };
    for (;;) {
        if (w->work > MAX_WORK || !reach_handlers(w, at) || !step(w, at))
            return false;
        struct bytecode_targets t = bytecode_targets(w->code, at);
        for (uint32_t i = 0; i < t.n; i++)
            if (!reach(w, (uint32_t)bytecode_target(w->code, at, &t, i), w->now.depth))
                return false;
        if (bytecode_ends(w->code.at[at]))
            return true;
        at += (uint32_t)bytecode_length(w->code, at);
        if (at >= w->code.n)
            return false;
        if (w->leaders[at] != 0)
            return reach(w, at, w->now.depth);
    }
}

static enum rewrite_outcome allocate_states(struct walk *w)
{
    w->states = calloc(w->n_states, sizeof *w->states);
    w->state_slots = calloc(w->n_states, w->n_slots);
    w->todo = calloc(w->n_states, sizeof *w->todo);
    w->queued = calloc(w->n_states, 1);
    if (w->states == NULL || w->state_slots == NULL || w->todo == NULL || w->queued == NULL)
        return REWRITE_NO_MEMORY;
    for (uint32_t i = 0; i < w->n_states; i++)
        w->states[i].slots = w->state_slots + (size_t)i * w->n_slots;
    return REWRITE_DONE;
}

static enum rewrite_outcome walk_work_list(struct walk *w)
{
    w->leaders = calloc(w->code.n, sizeof *w->leaders);
    if (w->leaders == NULL)
        return REWRITE_NO_MEMORY;
    if (!mark_leaders(w))
        return REWRITE_UNUSUAL;
    enum rewrite_outcome outcome = allocate_states(w);
    if (outcome != REWRITE_DONE)
        return outcome;
    if (!reach(w, 0, 0))
        return REWRITE_UNUSUAL;
    while (w->n_todo > 0) {
        uint32_t at = w->todo[--w->n_todo];
        w->queued[w->leaders[at] - 1] = 0;
        if (!walk_block(w, at))
            return REWRITE_UNUSUAL;
    }
    return REWRITE_DONE;
}

/* --- The runs. --- */

static enum rewrite_outcome add_run(struct rewrite_job *job, uint32_t start, uint32_t end, bool before)
{
    struct rewrite_run *last = job->n_runs > 0 ? &job->runs[job->n_runs - 1] : NULL;
    if (last != NULL && last->before == before && last->end == start) {
        last->end = end;
        return REWRITE_DONE;
    }
    /* Room doubles whenever the number of runs is a power of two. */
    if ((job->n_runs & (job->n_runs - 1)) == 0) {
        struct rewrite_run *runs = realloc(job->runs, 2 * ((size_t)job->n_runs + 1) * sizeof *runs);
        if (runs == NULL)
            return REWRITE_NO_MEMORY;
        job->runs = runs;
    }
    job->runs[job->n_runs++] = (struct rewrite_run){ start, end, before };
    job->has_before |= before;
    job->has_after |= !before;
    return REWRITE_DONE;
}

/* Instructions that are never reached join the run before them; the first one is always reached. */
static enum rewrite_outcome make_runs(struct rewrite_job *job, const uint8_t *phases)
{
    enum rewrite_outcome outcome = REWRITE_DONE;
    uint8_t phase = INIT_BEFORE;
    for (uint32_t at = 0, n; at < job->old->bytes.n && outcome == REWRITE_DONE; at += n) {
        n = (uint32_t)bytecode_length(job->old->bytes, at);
        phase = phases[at] != 0 ? phases[at] & (INIT_BEFORE | INIT_AFTER) : phase;
        if (phase == (INIT_BEFORE | INIT_AFTER))
            return REWRITE_UNUSUAL;
        if (!(phases[at] & INIT_CALL))
            outcome = add_run(job, at, at + n, phase == INIT_BEFORE);
    }
    return outcome;
}

enum rewrite_outcome init_find_phases(const struct rewrite_job *job, uint8_t *phases)
{
    struct walk w = { .job = job, .code = job->old->bytes, .n_locals = job->old->max_locals, .phases = phases };
    w.n_slots = w.n_locals + job->old->max_stack;
    if (w.n_locals == 0)
        return REWRITE_UNUSUAL;
    w.now_slots = calloc(w.n_slots, 1);
    if (w.now_slots == NULL)
        return REWRITE_NO_MEMORY;
    enter(&w);
    enum rewrite_outcome outcome = job->frames.at != NULL ? walk_frames(&w) : walk_work_list(&w);
    free(w.now_slots);
    free(w.leaders);
    free(w.states);
    free(w.state_slots);
    free(w.todo);
    free(w.queued);
    return outcome;
}

enum rewrite_outcome init_find_runs(struct rewrite_job *job)
{
    if (!job->constructor)
        return add_run(job, 0, (uint32_t)job->old->bytes.n, false);
    uint8_t *phases = calloc(job->old->bytes.n, 1);
    enum rewrite_outcome outcome = phases == NULL ? REWRITE_NO_MEMORY : init_find_phases(job, phases);
    if (outcome == REWRITE_DONE)
        outcome = make_runs(job, phases);
    free(phases);
    return outcome;
}
