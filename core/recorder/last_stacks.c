#include "core/recorder/last_stacks.h"

#include "core/base/xalloc.h"

#define MAX_BYTES     (UINT64_C(32) << 20)
#define FRAMES_FIRST  64u
#define ADDRESS_BITS  UINT64_C(0xffffffffffff) /* of a return address on the stack: others may sign it */
#define ALIGNED_BYTES 16u                      /* a frame that is replaced may be moved by less */

struct last_frame {
    uint64_t sp, return_pc, own_begin, own_end; /* as in struct java_frame */
    uint64_t around;                            /* a hash of what its caller has in its own frame; 0: not known */
    uint32_t method;
    int32_t index;
    enum frame_kind kind;
    uint8_t tier;
};

struct last_stack {
    int32_t tid;
    struct last_frame *frames; /* owned; outermost first */
    uint32_t n, room;
    uint32_t n_sure; /* without the innermost ones that are a guess */
    bool is_guess;   /* there may be others that are inlined */
    bool is_known;   /* or it was forgotten */
    uint64_t time_ns;
    uint64_t collections; /* that had begun before */
};

static void forget_all(struct last_stacks *last)
{
    for (uint32_t i = 0; i < last->n; i++) {
        free(last->stacks[i].frames);
        last->stacks[i] = (struct last_stack){ .tid = last->stacks[i].tid, .time_ns = last->stacks[i].time_ns };
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

/* The latest thread's stack gets its place. */
void last_stacks_forget(struct last_stacks *last, int32_t tid)
{
    const uint32_t *known = hash_find(&last->by_tid, (uint32_t)tid);
    if (known == NULL)
        return;
    struct last_stack *place = &last->stacks[*known], *latest = &last->stacks[--last->n];
    last->bytes -= place->room * sizeof *place->frames;
    free(place->frames);
    *hash_find(&last->by_tid, (uint32_t)latest->tid) = *known;
    *place = *latest;
    hash_remove(&last->by_tid, (uint32_t)tid);
}

/* The stack of a thread; *is_first: it had none ever. */
static struct last_stack *stack_of(struct last_stacks *last, int32_t tid, bool *is_first)
{
    struct hash_slot *slot = xhash_put(&last->by_tid, hash_address((uint64_t)(uint32_t)tid));
    *is_first = slot->second == 0;
    if (!*is_first)
        return &last->stacks[slot->value];
    slot->second = 1;
    slot->value = last->n;
    *xpush(last->stacks, last->room, last->n) = (struct last_stack){ .tid = tid };
    return &last->stacks[slot->value];
}

static void make_room(struct last_stacks *last, struct last_stack *stack, uint32_t n)
{
    if (n <= stack->room)
        return;
    uint32_t room = stack->room == 0 ? FRAMES_FIRST : stack->room;
    while (room < n)
        room *= 2;
    if (last->bytes + (room - stack->room) * sizeof *stack->frames >
        (last->max_bytes > 0 ? last->max_bytes : MAX_BYTES))
        forget_all(last);
    stack->frames = xreallocarray(stack->frames, room, sizeof *stack->frames);
    last->bytes += (room - stack->room) * sizeof *stack->frames;
    stack->room = room;
}

/* ---- what is known of methods ---- */

/* A long or double has two words; the receiver, and what method handles append, are three more at most. */
static uint16_t count_arguments(const char *descriptor)
{
    uint16_t n = 3;
    for (const char *at = descriptor + (*descriptor == '('); *at != ')' && *at != '\0'; at++) {
        bool is_array = *at == '[';
        while (*at == '[')
            at++;
        n = (uint16_t)(n + (!is_array && (*at == 'J' || *at == 'D') ? 2 : 1));
        if (*at == 'L')
            at += strcspn(at, ";");
        if (*at == '\0')
            break;
    }
    return n;
}

struct frame_traits frame_traits_of(const char *class_name, const char *descriptor)
{
    return (struct frame_traits){ count_arguments(descriptor),
                                  strcmp(class_name, "jdk/internal/vm/Continuation") == 0 };
}

/* ---- comparing ---- */

static bool is_elsewhere(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) >= ALIGNED_BYTES;
}

static bool is_alike(const struct last_frame *old, const struct java_frame *next)
{
    return (old->kind == FRAME_INTERPRETED) == (next->kind == FRAME_INTERPRETED);
}

/* Is it another call, though of the same method from the same place? */
static bool is_another(const struct last_frame *old, const struct java_frame *next)
{
    if (old->sp == 0 || next->sp == 0 || !is_alike(old, next))
        return false;
    return is_elsewhere(old->sp, next->sp) || old->return_pc != next->return_pc;
}

static const struct java_frame *frame_at(const struct new_stack *next, uint32_t i)
{
    return &next->stack->frames[next->stack->n - 1 - i];
}

static uint32_t method_at(const struct new_stack *next, uint32_t i)
{
    return next->methods[next->stack->n - 1 - i];
}

/* Nobody writes to them while the i-th frame is there, but for its arguments. */
static uint64_t hash_around(const struct new_stack *next, uint32_t i)
{
    const struct thread_state *thread = next->thread;
    if (i == 0 || thread == NULL || frame_at(next, i)->kind == FRAME_INLINED)
        return 0;
    const struct java_frame *caller = frame_at(next, i - 1);
    uint64_t begin = caller->own_begin, end = caller->own_end, hash = HASH_START;
    if (caller->kind != FRAME_INTERPRETED)
        begin += 8u * (uint64_t)next->traits[next->stack->n - 1 - i].n_arguments;
    if (begin >= end || begin < thread->sp || begin % 8 != 0 || end - thread->sp > thread->n_bytes)
        return 0;
    for (uint64_t at = begin; at + 8 <= end; at += 8) {
        uint64_t word;
        memcpy(&word, thread->stack + (at - thread->sp), sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash == 0 ? 1 : hash;
}

static uint32_t count_same(const struct last_stack *old, const struct new_stack *next)
{
    uint32_t i = 0;
    while (i < old->n && i < next->stack->n && old->frames[i].method == method_at(next, i) &&
           (i == 0 || old->frames[i - 1].index == frame_at(next, i - 1)->index))
        i++;
    return i;
}

static bool is_other_site(const struct last_stack *old, const struct new_stack *next, uint32_t i)
{
    if (i == 0)
        return false;
    int32_t a = old->frames[i - 1].index, b = frame_at(next, i - 1)->index;
    return a >= 0 && b >= 0 && a != b;
}

/* Has the caller gone on since?  It has other values, which no collection gave it. */
static bool has_gone_on(const struct last_stack *old, const struct new_stack *next, uint64_t around, uint32_t i)
{
    uint64_t collections = old->collections;
    if (collections == VM_COLLECTIONS_UNKNOWN || collections != next->collections_after || old->frames[i].around == 0)
        return false;
    return is_alike(&old->frames[i], frame_at(next, i)) && around != 0 && around != old->frames[i].around;
}

/* The outermost frame that is surely a new call; all inside of it are, too. */
static uint32_t first_new(const struct last_stack *old, const struct new_stack *next, const uint64_t *around)
{
    uint32_t i = 0;
    for (; i < old->n_sure && i < next->stack->n; i++)
        if (old->frames[i].method != method_at(next, i) || is_other_site(old, next, i) ||
            is_another(&old->frames[i], frame_at(next, i)) || has_gone_on(old, next, around[i], i))
            return i;
    if (old->is_guess)
        while (i < next->stack->n && (frame_at(next, i)->kind == FRAME_INLINED))
            i++;
    return i;
}

/* Was the innermost frame looked for on the stack, where others may be left over from calls before? */
static bool is_searched(const struct java_stack *stack)
{
    return stack->n > 0 &&
           (stack->frames[0].kind == FRAME_STUB || (!stack->is_in_java && stack->frames[0].kind != FRAME_NATIVE));
}

static uint32_t count_guessed(const struct new_stack *next)
{
    uint32_t n = 0;
    while (next->stack->is_in_java && n < next->stack->n && next->stack->frames[n].kind == FRAME_INLINED)
        n++;
    return n;
}

/* Innermost frames of a virtual thread, which is moved to the thread's stack and away with its calls. */
static uint32_t count_movable(const struct new_stack *next)
{
    uint32_t n = next->stack->n;
    while (n > 0 && !next->traits[n - 1].is_continuation)
        n--;
    return n == 0 ? 0 : n - 1;
}

static void keep(struct last_stack *old, const struct new_stack *next, const uint64_t *around, uint32_t n_guessed)
{
    for (uint32_t i = 0; i < next->stack->n; i++) {
        const struct java_frame *frame = frame_at(next, i);
        old->frames[i] = (struct last_frame){ .sp = frame->sp,
                                              .return_pc = frame->return_pc,
                                              .own_begin = frame->own_begin,
                                              .own_end = frame->own_end,
                                              .around = around[i],
                                              .method = method_at(next, i),
                                              .index = frame->index,
                                              .kind = frame->kind,
                                              .tier = frame->tier };
    }
    old->n = next->stack->n;
    old->n_sure = next->stack->n - n_guessed;
    old->is_guess = n_guessed > 0 ||
                    (next->stack->is_in_java && next->stack->n > 0 && next->stack->frames[0].kind == FRAME_COMPILED);
    old->time_ns = next->time_ns;
    old->collections = next->collections_before;
    old->is_known = true;
}

/* ---- stacks that are cut ---- */

/* The frame of the thread's last stack that this one is; old->n: there is none. */
static uint32_t find_same_frame(const struct last_stack *old, const struct java_frame *frame, uint32_t method)
{
    uint32_t i = 0;
    while (i < old->n && (old->frames[i].method != method || old->frames[i].sp != frame->sp ||
                          old->frames[i].return_pc != frame->return_pc || !is_alike(&old->frames[i], frame)))
        i++;
    return i;
}

/* The n outermost frames of the old stack stand behind n_inner ones. */
static void append_outer(const struct last_stack *old, uint32_t n, uint32_t n_inner, const struct cut_stack *cut)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct last_frame *frame = &old->frames[n - 1 - i];
        cut->stack->frames[n_inner + i] = (struct java_frame){ .index = frame->index,
                                                               .kind = frame->kind,
                                                               .tier = frame->tier,
                                                               .sp = frame->sp,
                                                               .return_pc = frame->return_pc,
                                                               .own_begin = frame->own_begin,
                                                               .own_end = frame->own_end };
        cut->methods[n_inner + i] = frame->method;
    }
    cut->stack->n = n_inner + n;
}

/* Where its return address stands; 0: not known. */
static uint64_t return_at(const struct last_frame *frame)
{
    return frame->sp == 0 ? 0 : (frame->kind == FRAME_INTERPRETED ? frame->own_begin : frame->sp) - 8;
}

/* Frames of which none was copied, and that are there now as they were: they were there meanwhile, too. */
static uint32_t count_outside(const struct last_stack *old, const struct cut_stack *cut)
{
    uint64_t word, end = cut->thread->sp + cut->thread->n_bytes;
    uint32_t n = old->n;
    for (; n > 0; n--) {
        uint64_t at = return_at(&old->frames[n - 1]);
        if (at >= end && cut->read(cut->vm, at, &word) && ((word ^ old->frames[n - 1].return_pc) & ADDRESS_BITS) == 0)
            break;
    }
    return n;
}

enum stack_end last_stacks_complete(const struct last_stacks *last, const struct cut_stack *cut)
{
    const struct hash_slot *slot = hash_get(&last->by_tid, hash_address((uint64_t)(uint32_t)cut->tid));
    struct java_stack *stack = cut->stack;
    if (stack->end != STACK_CUT || slot == NULL || slot->second == 0)
        return stack->end;
    const struct last_stack *old = &last->stacks[slot->value];
    for (uint32_t i = stack->n; i-- > 0;) {
        uint32_t at = stack->frames[i].sp == 0 ? old->n : find_same_frame(old, &stack->frames[i], cut->methods[i]);
        if (at == old->n || i + 1 + at > STACK_FRAMES_MAX)
            continue;
        append_outer(old, at, i + 1, cut);
        return STACK_WHOLE;
    }
    uint32_t n = count_outside(old, cut);
    if (stack->n + n <= STACK_FRAMES_MAX)
        append_outer(old, n, stack->n, cut);
    return STACK_CUT;
}

/* ---- all of it ---- */

int last_stacks_compare(struct last_stacks *last, const struct new_stack *next, struct stack_change *change)
{
    bool is_first;
    *change = (struct stack_change){ 0, 0, 0 };
    if (next->stack->end != STACK_WHOLE || is_searched(next->stack))
        return 1;
    struct last_stack *old = stack_of(last, next->tid, &is_first);
    if (!is_first && next->time_ns < old->time_ns)
        return 1;
    make_room(last, old, next->stack->n);
    for (uint32_t i = 0; i < next->stack->n; i++)
        last->around[i] = hash_around(next, i);
    uint32_t n_guessed = count_guessed(next), n_movable = count_movable(next);
    change->n_same = old->is_known ? count_same(old, next) : 0;
    change->new_first = old->is_known ? first_new(old, next, last->around) : is_first ? 0 : next->stack->n;
    change->new_after = next->stack->n - (n_guessed > n_movable ? n_guessed : n_movable);
    keep(old, next, last->around, n_guessed);
    return 0;
}
