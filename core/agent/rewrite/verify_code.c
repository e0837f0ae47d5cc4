/*
 * The instructions of a rewritten method: those of the original in the same order, with the same operands and targets,
 * and between them the probes.
 */
#include "core/agent/rewrite/rewrite_parts.h"
#include "core/agent/rewrite/verify_parts.h"
#include "core/base/vec.h"

/* ---- what was added ---- */

static struct cursor constant(const struct classfile *file, uint16_t index, uint8_t tag)
{
    struct cursor c = { file->bytes.at, file->bytes.at, true };
    if (index > 0 && index < file->n_constants && file->constants[index] != 0)
        c = cursor_over(file->bytes.at + file->constants[index], file->bytes.n - file->constants[index]);
    c.bad |= cursor_u8(&c) != tag;
    return c;
}

/* Whether a constant refers to a class' member. */
static bool member_is(const struct classfile *file, uint16_t index, uint8_t tag, const char *class_name,
                      const char *name, const char *descriptor)
{
    struct cursor c = constant(file, index, tag);
    struct span its_name, its_descriptor;
    return !c.bad && span_is(classfile_class_name(file, cursor_u16be(&c)), class_name) &&
           classfile_member(file, index, &its_name, &its_descriptor) && span_is(its_name, name) &&
           span_is(its_descriptor, descriptor);
}

/* The next instruction, at *at, has an opcode and a local variable, in its shortest form. */
static bool take_local(const struct verify *v, size_t *at, uint8_t opcode, uint16_t local)
{
    bool is_load = opcode < OP_ISTORE;
    uint8_t bytes[4] = { (uint8_t)((is_load ? OP_ILOAD_0 : OP_ISTORE_0) +
                                   4 * (opcode - (is_load ? OP_ILOAD : OP_ISTORE)) + local) };
    size_t n = 1;
    if (local > UINT8_MAX) {
        bytes[0] = OP_WIDE, bytes[1] = opcode, bytes[2] = (uint8_t)(local >> 8), bytes[3] = (uint8_t)local;
        n = 4;
    } else if (local > 3) {
        bytes[0] = opcode, bytes[1] = (uint8_t)local;
        n = 2;
    }
    if (n > v->made.bytes.n - *at || memcmp(v->made.bytes.at + *at, bytes, n) != 0)
        return false;
    *at += n;
    return true;
}

static bool take_op(const struct verify *v, size_t *at, uint8_t opcode)
{
    if (*at >= v->made.bytes.n || v->made.bytes.at[*at] != opcode)
        return false;
    ++*at;
    return true;
}

static bool take_u16(const struct verify *v, size_t *at, uint16_t *number)
{
    if (v->made.bytes.n - *at < 2)
        return false;
    *number = (uint16_t)(v->made.bytes.at[*at] << 8 | v->made.bytes.at[*at + 1]);
    *at += 2;
    return true;
}

/* A call of a probe. */
static bool take_call(struct verify *v, size_t *at, const char *name, const char *descriptor)
{
    struct verify_call call = { name, 0 }, *known = v->calls;
    if (!take_op(v, at, OP_INVOKESTATIC) || !take_u16(v, at, &call.index))
        return false;
    for (; known < v->calls + sizeof v->calls / sizeof *v->calls && known->name != NULL; known++)
        if (known->name == name && known->index == call.index)
            return true;
    if (!member_is(&v->made_file, call.index, CONSTANT_METHOD, v->expected->probe_class, name, descriptor))
        return false;
    if (known < v->calls + sizeof v->calls / sizeof *v->calls)
        *known = call;
    return true;
}

static bool take_probe(struct verify *v, size_t *at, const char *name)
{
    return take_local(v, at, OP_ILOAD, v->local) && take_call(v, at, name, "(I)V");
}

/* The letter of the argument that the entry's probe is given, and its variable; 0: it has none. */
static char given_argument(const struct verify *v, uint16_t *local)
{
    struct cursor c = span_cursor(v->old_method.descriptor);
    bool is_static = (v->old_method.access_flags & ACC_STATIC) != 0;
    int wanted = v->flag->argument;
    *local = is_static ? 0 : 1;
    if (wanted == 0) {
        *local = 0;
        return is_static || v->is_constructor ? 0 : 'L';
    }
    cursor_u8(&c);
    for (int i = 1; i <= wanted && cursor_left(&c) > 0 && *c.at != ')'; i++) {
        size_t n = classfile_type_bytes(c);
        if (n == 0)
            return 0;
        if (i == wanted)
            return *c.at == '[' ? 'L' : (char)*c.at;
        *local = (uint16_t)(*local + (*c.at == 'J' || *c.at == 'D' ? 2 : 1));
        cursor_bytes(&c, n);
    }
    return 0;
}

/* depth: of the stack. */
static bool take_argument(struct verify *v, size_t *at, unsigned *depth)
{
    uint16_t local;
    char letter = v->flag->argument == REWRITE_NO_ARGUMENT ? 0 : given_argument(v, &local);
    if (letter != 0)
        *depth = 3; /* the token, and an object, a long or a double: all have room */
    switch (letter) {
    case 0:
        return true;
    case 'J':
        return take_local(v, at, OP_LLOAD, local) && take_call(v, at, "integer", "(IJ)I");
    case 'F':
        return take_local(v, at, OP_FLOAD, local) && take_op(v, at, OP_F2D) && take_call(v, at, "real", "(ID)I");
    case 'D':
        return take_local(v, at, OP_DLOAD, local) && take_call(v, at, "real", "(ID)I");
    case 'L':
        return take_local(v, at, OP_ALOAD, local) && take_call(v, at, "object", "(ILjava/lang/Object;)I");
    default:
        return take_local(v, at, OP_ILOAD, local) && take_op(v, at, OP_I2L) && take_call(v, at, "integer", "(IJ)I");
    }
}

static bool take_entry(struct verify *v, size_t *at, unsigned *depth)
{
    bool is_element = v->flag->index != REWRITE_FLAG_FIELD;
    uint16_t index, element;
    if (!take_op(v, at, OP_GETSTATIC) || !take_u16(v, at, &index) ||
        !member_is(&v->made_file, index, CONSTANT_FIELD, v->flag->class_name, v->flag->field_name,
                   is_element ? "[I" : "I"))
        return false;
    if (is_element && (!take_op(v, at, OP_SIPUSH) || !take_u16(v, at, &element) || (int16_t)element != v->flag->index ||
                       !take_op(v, at, OP_IALOAD)))
        return false;
    *depth = 2; /* the array, and the element's number; a handler has an exception, and the token */
    return take_argument(v, at, depth) && take_call(v, at, "enter", "(I)I") && take_local(v, at, OP_ISTORE, v->local);
}

/* ---- what is the same ---- */

/* A probe belongs where a type of exceptions is caught, and nothing else; never in the middle of what it is for. */
static bool mark_handlers(struct verify *v)
{
    struct cursor c = span_cursor(v->old.handlers);
    while (cursor_left(&c) > 0) {
        uint16_t start = cursor_u16be(&c), end = cursor_u16be(&c), handler = cursor_u16be(&c);
        bool is_typed = cursor_u16be(&c) != 0;
        if (handler >= v->old.bytes.n || start >= end || end > v->old.bytes.n)
            return verify_doubt(v, "the exception table of the original");
        v->marks[handler] |= VERIFY_HANDLER | (is_typed ? VERIFY_CATCH : VERIFY_NO_CATCH);
        if (start < handler && handler < end)
            v->marks[handler] |= VERIFY_NO_CATCH;
    }
    return true;
}

/* Operands of a switch that are no targets: tableswitch has two numbers, lookupswitch one, and one for each target. */
static bool same_switch(const struct verify *v, size_t at, size_t now)
{
    const uint8_t *old = v->old.bytes.at, *made = v->made.bytes.at;
    struct bytecode_targets a = bytecode_targets(v->old.bytes, at), b = bytecode_targets(v->made.bytes, now);
    if (a.n != b.n)
        return false;
    for (size_t i = 1; i < b.first; i++)
        if (made[now + i] != 0)
            return false;
    bool is_table = bytecodes[old[at]].kind == BYTECODE_TABLE;
    if (memcmp(old + at + a.first + 4, made + now + b.first + 4, is_table ? 8 : 4) != 0)
        return false;
    for (uint32_t i = 1; i < a.n && !is_table; i++)
        if (memcmp(old + at + bytecode_target_at(&a, i) - 4, made + now + bytecode_target_at(&b, i) - 4, 4) != 0)
            return false;
    return true;
}

/* Returns the length of the new instruction; 0: it is another one. */
static size_t same_instruction(const struct verify *v, size_t at, size_t n, size_t now)
{
    const uint8_t *old = v->old.bytes.at + at, *made = v->made.bytes.at + now;
    size_t n_made = bytecode_length(v->made.bytes, now);
    if (n_made == 0 || *old != *made)
        return 0;
    switch (bytecodes[*old].kind) {
    case BYTECODE_TABLE:
    case BYTECODE_LOOKUP:
        return same_switch(v, at, now) ? n_made : 0;
    case BYTECODE_BRANCH:
    case BYTECODE_BRANCH_WIDE:
        return n_made;
    default:
        return n_made == n && memcmp(old, made, n) == 0 ? n : 0;
    }
}

/* The probe that comes before an instruction, if any. */
static bool take_before(struct verify *v, size_t at, size_t *now)
{
    size_t behind = *now;
    if ((v->marks[at] & VERIFY_HANDLER) != 0 && take_probe(v, &behind, "caught")) {
        if ((v->marks[at] & VERIFY_CATCH) == 0 || (v->marks[at] & VERIFY_NO_CATCH) != 0)
            return verify_doubt(v, "a probe in a handler");
        *now = behind;
    }
    if (bytecodes[v->old.bytes.at[at]].kind == BYTECODE_RETURN && !take_probe(v, now, "exit"))
        return verify_doubt(v, "the probe before a return");
    return true;
}

static bool take_body(struct verify *v, size_t *now, bool *branches)
{
    for (size_t at = 0, n, n_made; at < v->old.bytes.n; at += n, *now += n_made) {
        n = bytecode_length(v->old.bytes, at);
        if (n == 0)
            return verify_doubt(v, "an instruction of the original");
        v->marks[at] |= VERIFY_START;
        for (size_t i = 0; i < n; i++)
            v->to[at + i] = (uint16_t)*now;
        if (!take_before(v, at, now))
            return false;
        v->self[at] = (uint16_t)*now;
        n_made = same_instruction(v, at, n, *now);
        if (n_made == 0)
            return verify_doubt(v, "an instruction");
        uint8_t kind = bytecodes[v->old.bytes.at[at]].kind;
        *branches |= kind >= BYTECODE_BRANCH && kind <= BYTECODE_LOOKUP;
    }
    v->to[v->old.bytes.n] = (uint16_t)*now;
    v->n_body = (uint32_t)*now;
    return true;
}

static bool same_targets(struct verify *v)
{
    struct span old = v->old.bytes, made = v->made.bytes;
    for (size_t at = 0; at < old.n; at += bytecode_length(old, at)) {
        struct bytecode_targets a = bytecode_targets(old, at), b = bytecode_targets(made, v->self[at]);
        for (uint32_t i = 0; i < a.n; i++) {
            int64_t target = bytecode_target(old, at, &a, i);
            if (target < 0 || target >= (int64_t)old.n || (v->marks[target] & VERIFY_START) == 0 ||
                bytecode_target(made, v->self[at], &b, i) != v->to[target])
                return verify_doubt(v, "a branch target");
        }
    }
    return true;
}

static bool take_handlers(struct verify *v, size_t now)
{
    v->n_handlers = 0;
    while (now < v->made.bytes.n) {
        if (v->n_handlers == VERIFY_HANDLERS)
            return verify_doubt(v, "code at the end");
        v->is_before[v->n_handlers] = false;
        v->handlers[v->n_handlers++] = (uint32_t)now;
        if (!take_probe(v, &now, "unwind") || !take_op(v, &now, OP_ATHROW))
            return verify_doubt(v, "the added handler");
    }
    return true;
}

bool verify_instructions(struct verify *v)
{
    size_t now = 0, n = v->old.bytes.n;
    bool branches = false;
    unsigned depth = 0;
    if (vec_reserve(v->marks, v->room, n) < 0 || vec_reserve(v->to, v->room_to, n + 1) < 0 ||
        vec_reserve(v->self, v->room_self, n) < 0)
        return verify_doubt(v, "out of memory");
    memset(v->marks, 0, n);
    if (!mark_handlers(v))
        return false;
    if (!take_entry(v, &now, &depth))
        return verify_doubt(v, "the probe at the entry");
    if (v->made.max_stack < depth || v->made.max_stack < v->old.max_stack + 1u)
        return verify_doubt(v, "the size of its stack");
    return take_body(v, &now, &branches) && (!branches || same_targets(v)) && take_handlers(v, now);
}

/* ---- the exception table ---- */

/* A range of the added handlers: its new offsets, and which handler. */
struct range {
    uint32_t start, end, handler;
};

static bool same_entries(struct verify *v, struct cursor *made)
{
    struct cursor c = span_cursor(v->old.handlers);
    while (cursor_left(&c) > 0) {
        uint16_t start = cursor_u16be(&c), end = cursor_u16be(&c), handler = cursor_u16be(&c), type = cursor_u16be(&c);
        uint16_t begin = start == handler ? v->self[start] : v->to[start];
        if ((v->marks[start] & v->marks[handler] & VERIFY_START) == 0 ||
            (end < v->old.bytes.n && (v->marks[end] & VERIFY_START) == 0))
            return verify_doubt(v, "the exception table of the original");
        if (cursor_u16be(made) != begin || cursor_u16be(made) != v->to[end] || cursor_u16be(made) != v->to[handler] ||
            cursor_u16be(made) != type)
            return verify_doubt(v, "the exception table");
    }
    return true;
}

static bool next_range(struct verify *v, struct cursor *made, struct range *range)
{
    range->start = cursor_u16be(made), range->end = cursor_u16be(made);
    uint16_t handler = cursor_u16be(made), type = cursor_u16be(made);
    for (range->handler = 0; range->handler < v->n_handlers; range->handler++)
        if (v->handlers[range->handler] == handler && type == 0 && range->start < range->end)
            return true;
    return verify_doubt(v, "an added entry of the exception table");
}

/* In all but constructors the one handler covers all that is behind the entry. */
static bool covers_all(struct verify *v, struct cursor *made)
{
    struct range range;
    if (v->n_handlers != 1 || v->is_before[0] || cursor_left(made) != 8 || !next_range(v, made, &range) ||
        range.start != v->to[0] || range.end != v->n_body)
        return verify_doubt(v, "the range of the added handler");
    return true;
}

/* The call of this(...) or super(...), which no handler may cover. */
static bool is_init_call(const struct verify *v, size_t at)
{
    const uint8_t *code = v->made.bytes.at + at;
    struct span name, descriptor;
    if (*code != OP_INVOKESPECIAL)
        return false;
    uint16_t index = (uint16_t)(code[1] << 8 | code[2]);
    struct cursor c = constant(&v->made_file, index, CONSTANT_METHOD);
    struct span class_name = classfile_class_name(&v->made_file, cursor_u16be(&c)),
                own = classfile_class_name(&v->made_file, v->made_file.this_class),
                super = classfile_class_name(&v->made_file, v->made_file.super_class);
    return !c.bad && class_name.at != NULL && classfile_member(&v->made_file, index, &name, &descriptor) &&
           span_is(name, "<init>") &&
           ((class_name.n == own.n && memcmp(class_name.at, own.at, own.n) == 0) ||
            (super.at != NULL && class_name.n == super.n && memcmp(class_name.at, super.at, super.n) == 0));
}

/* phases: of each offset of the new code. */
static bool covers_phases(struct verify *v, struct cursor *made, const uint8_t *phases)
{
    struct range range = { .end = v->to[0] };
    int phase[VERIFY_HANDLERS] = { 0 }; /* of each handler */
    bool has_range = cursor_left(made) > 0, is_begun = false;
    if (has_range && (!next_range(v, made, &range) || range.start < v->to[0]))
        return verify_doubt(v, "the ranges of the added handlers");
    for (size_t at = v->to[0]; at < v->n_body; at += bytecode_length(v->made.bytes, at)) {
        if (has_range && at >= range.end) {
            uint32_t end = range.end;
            has_range = cursor_left(made) > 0;
            if (at != end || (has_range && (!next_range(v, made, &range) || range.start < end)))
                return verify_doubt(v, "the ranges of the added handlers");
        }
        bool is_covered = has_range && at >= range.start;
        if (is_covered && at > range.start && !is_begun)
            return verify_doubt(v, "the ranges of the added handlers");
        is_begun = is_covered;
        if (!is_covered && (!is_init_call(v, at) || (phases[at] & INIT_CALL) == 0))
            return verify_doubt(v, "an instruction that no handler covers");
        if (!is_covered || phases[at] == 0)
            continue;
        int *its = &phase[range.handler], here = phases[at];
        if ((here != INIT_BEFORE && here != INIT_AFTER) || (*its != 0 && *its != here) ||
            (v->has_frames && v->is_before[range.handler] != (here == INIT_BEFORE)))
            return verify_doubt(v, "a handler that covers 'this' before and after its initialization");
        *its = here;
    }
    return cursor_left(made) == 0 && (!has_range || range.end == v->n_body)
               ? true
               : verify_doubt(v, "the ranges of the added handlers");
}

static bool covers_constructor(struct verify *v, struct cursor *made, struct span frames)
{
    uint8_t *starts = calloc(2, v->made.bytes.n), *phases = starts == NULL ? NULL : starts + v->made.bytes.n;
    struct rewrite_job job = { .file = &v->made_file,
                               .method = &v->made_method,
                               .old = &v->made,
                               .frames = frames,
                               .constructor = true,
                               .starts = starts };
    bool has_loop;
    bool ok = starts != NULL && layout_scan(v->made.bytes, starts, &has_loop) == REWRITE_DONE &&
              init_find_phases(&job, phases) == REWRITE_DONE;
    if (!ok)
        verify_doubt(v, "what the constructor has done so far");
    ok = ok && covers_phases(v, made, phases);
    free(starts);
    return ok;
}

bool verify_exceptions(struct verify *v, struct span frames)
{
    struct cursor made = span_cursor(v->made.handlers);
    if (v->made.n_handlers < v->old.n_handlers || !same_entries(v, &made))
        return verify_doubt(v, "the exception table");
    return v->is_constructor ? covers_constructor(v, &made, frames) : covers_all(v, &made);
}
