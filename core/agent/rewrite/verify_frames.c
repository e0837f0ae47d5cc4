/*
 * The StackMapTable of a rewritten method: each frame of the original where its instruction is now, with the added
 * variable behind all others; then those of the added handlers.
 */
#include "core/agent/rewrite/rewrite_parts.h"
#include "core/agent/rewrite/verify_parts.h"
#include "core/base/vec.h"

enum { SAME_END = 64, STACK_1_END = 128, STACK_1_FAR = 247, CHOP_FIRST = 248, SAME_FAR = 251, FULL = 255 };

#define TYPE_ARGUMENT 9 /* an object as the descriptor has it; data: its offset in there */

struct types {
    struct frame_type *at; /* owned */
    size_t n, room, n_slots, max_slots;
};

/* A table being read: the latest frame. */
struct frame_reader {
    struct cursor at;
    unsigned left;
    int64_t offset;
    bool is_full, has_other_locals; /* than the frame before */
    struct types locals, stack;
};

static bool is_wide(uint8_t tag)
{
    return tag == TYPE_LONG || tag == TYPE_DOUBLE;
}

static bool add_type(struct types *types, uint8_t tag, uint16_t data)
{
    types->n_slots += is_wide(tag) ? 2 : 1;
    if (types->n_slots > types->max_slots || vec_reserve(types->at, types->room, types->n + 1) < 0)
        return false;
    types->at[types->n++] = (struct frame_type){ data, tag };
    return true;
}

static bool take_types(struct frame_reader *r, struct types *types, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint8_t tag = cursor_u8(&r->at);
        bool has_data = tag == TYPE_OBJECT || tag == TYPE_UNINIT;
        if (tag > TYPE_UNINIT || r->at.bad || !add_type(types, tag, has_data ? cursor_u16be(&r->at) : 0))
            return false;
    }
    return !r->at.bad;
}

static bool take_full(struct frame_reader *r)
{
    r->locals.n = r->locals.n_slots = 0;
    return take_types(r, &r->locals, cursor_u16be(&r->at)) && take_types(r, &r->stack, cursor_u16be(&r->at));
}

static bool chop(struct types *types, unsigned n)
{
    for (; n > 0; n--) {
        if (types->n == 0)
            return false;
        types->n_slots -= is_wide(types->at[--types->n].tag) ? 2 : 1;
    }
    return true;
}

static bool take_frame(struct frame_reader *r)
{
    uint8_t tag = cursor_u8(&r->at);
    if (r->left-- == 0 || (tag >= STACK_1_END && tag < STACK_1_FAR))
        return false;
    r->offset += 1 + (tag >= STACK_1_FAR ? cursor_u16be(&r->at) : tag % 64);
    r->is_full = tag == FULL;
    r->has_other_locals = tag >= CHOP_FIRST && tag != SAME_FAR;
    r->stack.n = r->stack.n_slots = 0;
    if (tag < SAME_END || tag == SAME_FAR)
        return !r->at.bad;
    if (tag <= STACK_1_FAR)
        return take_types(r, &r->stack, 1);
    if (tag < SAME_FAR)
        return chop(&r->locals, SAME_FAR - (unsigned)tag);
    return tag == FULL ? take_full(r) : take_types(r, &r->locals, (unsigned)tag - SAME_FAR);
}

/* What the arguments are at the method's begin. */
static bool add_arguments(const struct verify *v, struct types *locals)
{
    struct span descriptor = v->old_method.descriptor;
    struct cursor c = span_cursor(descriptor);
    if ((v->old_method.access_flags & ACC_STATIC) == 0 &&
        !add_type(locals, v->is_constructor ? TYPE_UNINIT_THIS : TYPE_OBJECT,
                  v->is_constructor ? 0 : v->old_file.this_class))
        return false;
    cursor_u8(&c);
    for (size_t n; cursor_left(&c) > 0 && *c.at != ')'; cursor_bytes(&c, n)) {
        uint8_t letter = *c.at;
        uint8_t tag = letter == 'J'   ? TYPE_LONG
                      : letter == 'D' ? TYPE_DOUBLE
                      : letter == 'F' ? TYPE_FLOAT
                                      : TYPE_INTEGER;
        n = classfile_type_bytes(c);
        if (letter == 'L' || letter == '[')
            tag = TYPE_ARGUMENT;
        if (n == 0 || !add_type(locals, tag, tag == TYPE_ARGUMENT ? (uint16_t)(c.at - descriptor.at) : 0))
            return false;
    }
    return true;
}

static bool is_argument(const struct verify *v, struct frame_type type, uint16_t at)
{
    struct span all = v->old_method.descriptor, name = { all.at + at, all.n - at };
    name.n = classfile_type_bytes(span_cursor(name));
    if (*name.at == 'L')
        name = (struct span){ name.at + 1, name.n - 2 };
    struct span its = classfile_class_name(&v->made_file, type.data);
    return type.tag == TYPE_OBJECT && its.at != NULL && its.n == name.n && memcmp(its.at, name.at, name.n) == 0;
}

static bool same_type(const struct verify *v, struct frame_type old, struct frame_type made)
{
    if (old.tag == TYPE_ARGUMENT)
        return is_argument(v, made, old.data);
    if (old.tag == TYPE_UNINIT)
        return made.tag == TYPE_UNINIT && old.data < v->old.bytes.n && (v->marks[old.data] & VERIFY_START) != 0 &&
               made.data == v->self[old.data];
    return made.tag == old.tag && made.data == old.data;
}

static bool same_types(const struct verify *v, const struct types *old, const struct types *made)
{
    for (size_t i = 0; i < old->n; i++)
        if (i >= made->n || !same_type(v, old->at[i], made->at[i]))
            return false;
    return true;
}

/* Behind the first n types, which take n_slots, there is nothing but the added variable. */
static bool ends_with_added(const struct verify *v, const struct types *made, size_t n, size_t n_slots)
{
    size_t n_tops = v->local - n_slots;
    if (made->n != n + n_tops + 1)
        return false;
    for (size_t i = n; i < made->n - 1; i++)
        if (made->at[i].tag != TYPE_TOP)
            return false;
    return made->at[made->n - 1].tag == TYPE_INTEGER;
}

static bool same_frames(struct verify *v, struct frame_reader *old, struct frame_reader *made)
{
    bool is_first = true;
    while (old->left > 0) {
        if (!take_frame(old) || old->offset >= (int64_t)v->old.bytes.n || (v->marks[old->offset] & VERIFY_START) == 0)
            return verify_doubt(v, "the StackMapTable of the original");
        if (!take_frame(made) || made->offset != v->to[old->offset] || (is_first && !made->is_full))
            return verify_doubt(v, "where a frame is");
        if (old->stack.n != made->stack.n || !same_types(v, &old->stack, &made->stack))
            return verify_doubt(v, "the stack of a frame");
        if ((is_first || old->has_other_locals || made->has_other_locals) &&
            (!same_types(v, &old->locals, &made->locals) ||
             !ends_with_added(v, &made->locals, old->locals.n, old->locals.n_slots)))
            return verify_doubt(v, "the variables of a frame");
        is_first = false;
    }
    return cursor_left(&old->at) == 0 ? true : verify_doubt(v, "the StackMapTable of the original");
}

/* The handler takes any exception: of the variables it knows the added one, and an uninitialized 'this'. */
static bool is_handler(struct verify *v, struct frame_reader *made, uint32_t i)
{
    if (!take_frame(made) || !made->is_full || made->offset != v->handlers[i] || made->stack.n != 1 ||
        made->stack.at[0].tag != TYPE_OBJECT ||
        !span_is(classfile_class_name(&v->made_file, made->stack.at[0].data), "java/lang/Throwable"))
        return verify_doubt(v, "the frame of the added handler");
    v->is_before[i] =
        v->is_constructor && v->local > 0 && made->locals.n > 0 && made->locals.at[0].tag == TYPE_UNINIT_THIS;
    return ends_with_added(v, &made->locals, v->is_before[i], v->is_before[i])
               ? true
               : verify_doubt(v, "the frame of the added handler");
}

static bool take_tables(struct verify *v, struct frame_reader *old, struct frame_reader *made)
{
    if (old->at.bad || made->at.bad || made->left != old->left + v->n_handlers)
        return verify_doubt(v, "the number of frames");
    if (old->left > 0 && !add_arguments(v, &old->locals))
        return verify_doubt(v, "the variables at the begin");
    if (!same_frames(v, old, made))
        return false;
    for (uint32_t i = 0; i < v->n_handlers; i++)
        if (!is_handler(v, made, i))
            return false;
    return cursor_left(&made->at) == 0 ? true : verify_doubt(v, "what follows the frames");
}

bool verify_frames(struct verify *v, struct span old, struct span made)
{
    struct frame_reader a = { .offset = -1 }, b = { .at = span_cursor(made), .offset = -1 };
    a.locals.max_slots = v->old.max_locals, a.stack.max_slots = v->old.max_stack;
    b.locals.max_slots = v->made.max_locals, b.stack.max_slots = v->made.max_stack;
    if (old.at != NULL) {
        a.at = span_cursor(old);
        a.left = cursor_u16be(&a.at);
    }
    b.left = cursor_u16be(&b.at);
    bool ok = take_tables(v, &a, &b);
    free(a.locals.at);
    free(a.stack.at);
    free(b.locals.at);
    free(b.stack.at);
    return ok;
}
