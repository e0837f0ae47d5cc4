#include "core/recorder/last_stacks.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES     (UINT64_C(32) << 20)
#define STACKS_FIRST  64u
#define FRAMES_FIRST  64u
#define ALIGNED_BYTES 16u /* a frame that is replaced may be moved by less */

struct last_frame {
    uint64_t sp, return_pc;
    uint32_t method;
    int32_t index;
    bool is_interpreted;
};

struct last_stack {
    struct last_frame *frames; /* owned; outermost first */
    uint32_t n, room;
    uint32_t n_sure; /* without those that a guess has inlined */
    bool is_guess;   /* there may be more of them, or others */
    bool is_known;   /* or it was forgotten */
    uint64_t time_ns;
};

static void forget_all(struct last_stacks *last)
{
    for (uint32_t i = 0; i < last->n; i++) {
        free(last->stacks[i].frames);
        last->stacks[i] = (struct last_stack){ .time_ns = last->stacks[i].time_ns };
    }
    last->bytes = 0;
}

void last_stacks_free(struct last_stacks *last)
{
    forget_all(last);
    free(last->stacks);
    hash_free(&last->by_tid);
    memset(last, 0, sizeof *last);
}

/* The stack of a thread; *is_first: it had none ever. */
static struct last_stack *stack_of(struct last_stacks *last, int32_t tid, bool *is_first)
{
    struct hash_slot *slot = hash_put(&last->by_tid, hash_address((uint64_t)(uint32_t)tid));
    *is_first = slot != NULL && slot->second == 0;
    if (slot == NULL || !*is_first)
        return slot == NULL ? NULL : &last->stacks[slot->value];
    if (last->n == last->room) {
        uint32_t room = last->room == 0 ? STACKS_FIRST : last->room * 2;
        struct last_stack *stacks = realloc(last->stacks, room * sizeof *stacks);
        if (stacks == NULL)
            return NULL;
        last->stacks = stacks;
        last->room = room;
    }
    slot->second = 1;
    slot->value = last->n;
    last->stacks[last->n] = (struct last_stack){ .frames = NULL };
    return &last->stacks[last->n++];
}

static bool has_room(struct last_stacks *last, struct last_stack *stack, uint32_t n)
{
    if (n <= stack->room)
        return true;
    uint32_t room = stack->room == 0 ? FRAMES_FIRST : stack->room;
    while (room < n)
        room *= 2;
    if (last->bytes + (room - stack->room) * sizeof *stack->frames >
        (last->max_bytes > 0 ? last->max_bytes : MAX_BYTES))
        forget_all(last);
    struct last_frame *frames = realloc(stack->frames, room * sizeof *frames);
    if (frames == NULL)
        return false;
    last->bytes += (room - stack->room) * sizeof *frames;
    stack->frames = frames;
    stack->room = room;
    return true;
}

/* ---- comparing ---- */

static bool is_elsewhere(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) >= ALIGNED_BYTES;
}

/* Is it another call, though of the same method from the same place? */
static bool is_another(const struct last_frame *old, const struct java_frame *new)
{
    if (old->sp == 0 || new->sp == 0 || old->is_interpreted != (new->kind == FRAME_INTERPRETED))
        return false;
    return is_elsewhere(old->sp, new->sp) || old->return_pc != new->return_pc;
}

static const struct java_frame *frame_at(const struct new_stack *stack, uint32_t i)
{
    return &stack->frames[stack->n - 1 - i];
}

static uint32_t method_at(const struct new_stack *stack, uint32_t i)
{
    return stack->methods[stack->n - 1 - i];
}

static uint32_t count_same(const struct last_stack *old, const struct new_stack *new)
{
    uint32_t i = 0;
    while (i < old->n && i < new->n && old->frames[i].method == method_at(new, i) &&
           (i == 0 || old->frames[i - 1].index == frame_at(new, i - 1)->index))
        i++;
    return i;
}

static bool is_other_site(const struct last_stack *old, const struct new_stack *new, uint32_t i)
{
    if (i == 0)
        return false;
    int32_t a = old->frames[i - 1].index, b = frame_at(new, i - 1)->index;
    return a >= 0 && b >= 0 && a != b;
}

/* The outermost frame that is surely a new call; all inside of it are, too. */
static uint32_t first_new(const struct last_stack *old, const struct new_stack *new)
{
    uint32_t i = 0;
    for (; i < old->n_sure && i < new->n; i++)
        if (old->frames[i].method != method_at(new, i) || is_other_site(old, new, i) ||
            is_another(&old->frames[i], frame_at(new, i)))
            return i;
    while (old->is_guess && i < new->n &&frame_at(new, i)->kind == FRAME_INLINED)
        i++;
    return i;
}

static uint32_t count_guessed(const struct new_stack *new)
{
    uint32_t n = 0;
    while (new->is_in_java && n < new->n &&new->frames[n].kind == FRAME_INLINED)
        n++;
    return n;
}

static void keep(struct last_stack *old, const struct new_stack *new, uint32_t n_guessed)
{
    for (uint32_t i = 0; i < new->n; i++) {
        const struct java_frame *frame = frame_at(new, i);
        old->frames[i] = (struct last_frame){ frame->sp, frame->return_pc, method_at(new, i), frame->index,
                                              frame->kind == FRAME_INTERPRETED };
    }
    old->n = new->n;
    old->n_sure = new->n - n_guessed;
    old->is_guess = n_guessed > 0 || (new->is_in_java &&new->n > 0 && new->frames[0].kind == FRAME_COMPILED);
    old->time_ns = new->time_ns;
    old->is_known = true;
}

int last_stacks_compare(struct last_stacks *last, const struct new_stack *new, struct stack_change *change)
{
    bool is_first;
    struct last_stack *old = stack_of(last, new->tid, &is_first);
    *change = (struct stack_change){ 0, 0, 0 };
    if (old == NULL)
        return -1;
    if (!is_first && new->time_ns < old->time_ns)
        return 1;
    if (!has_room(last, old, new->n))
        return -1;
    uint32_t n_guessed = count_guessed(new), n_unsure = n_guessed > new->n_movable ? n_guessed : new->n_movable;
    change->n_same = old->is_known ? count_same(old, new) : 0;
    change->new_first = old->is_known ? first_new(old, new) : is_first ? 0 : new->n;
    change->new_after = new->n - n_unsure;
    keep(old, new, n_guessed);
    return 0;
}
