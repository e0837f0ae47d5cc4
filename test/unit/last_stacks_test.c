/* Old against new frames: what of a thread's stack is surely a new call. */
#include "core/recorder/last_stacks.h"

#include "test/unit/tap.h"

#define FRAMES_MAX 201u

static struct last_stacks last;
static struct java_stack made_stack;
static uint32_t methods[FRAMES_MAX];
static struct frame_traits traits[FRAMES_MAX];
static uint64_t now_ns, n_collections;
static uint64_t words[0x400]; /* on the stack, from STACK_LOW on */

#define STACK_LOW 0x7000u

/* A frame: its method, where it stands, the bytecode that calls or runs. */
struct made {
    uint32_t method;
    uint64_t sp;
    int32_t index;
    enum frame_kind kind;
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/*
 * Outermost first; each call returns to where its caller's bytecode says.  Where the thread is not in Java, it is in a
 * native method that the innermost one calls, which is not in the results.
 */
static int take_at(uint64_t time_ns, int32_t tid, bool is_in_java, uint32_t n_movable, const struct made *made,
                   uint32_t n, struct stack_change *change)
{
    uint32_t n_all = n + !is_in_java;
    made_stack.n = n_all;
    made_stack.is_in_java = is_in_java;
    made_stack.frames[0] = (struct java_frame){ .kind = FRAME_NATIVE };
    methods[0] = 99;
    traits[0] = (struct frame_traits){ 0, false };
    for (uint32_t i = 0; i < n; i++) {
        struct java_frame *frame = &made_stack.frames[n_all - 1 - i];
        *frame = (struct java_frame){ .index = made[i].index,
                                      .kind = made[i].kind,
                                      .sp = made[i].sp,
                                      .return_pc = i == 0 ? 1 : 0x1000 + (uint64_t)made[i - 1].index };
        /* Up to the return address, which is as constant as the rest. */
        frame->own_begin = i + 1 < n ? (made[i + 1].sp + 15) / 16 * 16 : made[i].sp - 32;
        frame->own_end = made[i].sp - 16;
        methods[n_all - 1 - i] = made[i].method;
        traits[n_all - 1 - i] = (struct frame_traits){ 1, n_movable > 0 && n - i == n_movable + 1 };
    }
    const struct thread_state thread = { .sp = STACK_LOW, .stack = (const uint8_t *)words, .n_bytes = sizeof words };
    const struct new_stack stack = { .tid = tid,
                                     .time_ns = time_ns,
                                     .stack = &made_stack,
                                     .methods = methods,
                                     .traits = traits,
                                     .thread = &thread,
                                     .collections_before = n_collections,
                                     .collections_after = n_collections };
    int rc = last_stacks_compare(&last, &stack, change);
    change->n_same = least(change->n_same, n);
    change->new_first = least(change->new_first, n);
    change->new_after = least(change->new_after, n);
    return rc;
}

/* "same/first/after" of the next sample of thread 1. */
static const char *take(bool is_in_java, uint32_t n_movable, const struct made *made, uint32_t n)
{
    static char text[64];
    struct stack_change change;
    int rc = take_at(++now_ns, 1, is_in_java, n_movable, made, n, &change);
    snprintf(text, sizeof text, "%s%u/%u/%u", rc == 0 ? "" : "?", change.n_same, change.new_first, change.new_after);
    return text;
}

#define TAKE(is_in_java, n_movable, ...)                              \
    take(is_in_java, n_movable, (const struct made[]){ __VA_ARGS__ }, \
         sizeof((const struct made[]){ __VA_ARGS__ }) / sizeof(struct made))

#define MAIN(index)                      \
    {                                    \
        0, 0x9000, index, FRAME_COMPILED \
    }
#define A(sp, index)                 \
    {                                \
        1, sp, index, FRAME_COMPILED \
    }
#define B(sp, index)                 \
    {                                \
        2, sp, index, FRAME_COMPILED \
    }
#define INLINED(m, sp, index)       \
    {                               \
        m, sp, index, FRAME_INLINED \
    }
#define SLOW(sp, index)                 \
    {                                   \
        1, sp, index, FRAME_INTERPRETED \
    }

static void begin(void)
{
    last_stacks_free(&last);
    now_ns = 0;
}

/* PCCT §5.1: the last three samples of Figure 6 may have come from one call of C, or from three. */
static void test_calls(void)
{
    begin();
    CHECK_TEXT("all calls of a thread's first sample are new", TAKE(false, 0, MAIN(3), A(0x8000, 5)), "0/0/2");
    CHECK_TEXT("equal frames prove nothing", TAKE(false, 0, MAIN(3), A(0x8000, 5)), "2/2/2");
    CHECK_TEXT("nor do they where the call goes on", TAKE(false, 0, MAIN(3), A(0x8000, 7)), "2/2/2");
    CHECK_TEXT("a deeper frame is new", TAKE(false, 0, MAIN(3), A(0x8000, 5), B(0x7000, 1)), "2/2/3");
    CHECK_TEXT("another call site is a new call", TAKE(false, 0, MAIN(3), A(0x8000, 6), B(0x7000, 1)), "2/2/3");
    CHECK_TEXT("so is another address on the stack", TAKE(false, 0, MAIN(3), A(0x8000, 6), B(0x6f00, 1)), "3/2/3");
    CHECK_TEXT("all that a new call calls is new", TAKE(false, 0, MAIN(3), A(0x7f00, 6), B(0x6f00, 1)), "3/1/3");
    CHECK_TEXT("another method is a new call", TAKE(false, 0, MAIN(3), B(0x7f00, 6), B(0x6f00, 1)), "1/1/3");
    CHECK_TEXT("what a call has returned to is not", TAKE(false, 0, MAIN(4)), "1/1/1");
    CHECK_TEXT("an empty stack has none", take(false, 0, NULL, 0), "0/0/0");
}

/* The JVM may replace a frame in the middle of a call. */
static void test_replaced(void)
{
    begin();
    TAKE(false, 0, MAIN(3), A(0x8000, 5));
    CHECK_TEXT("a deoptimized call is no new one", TAKE(false, 0, MAIN(3), SLOW(0x7f80, 5)), "2/2/2");
    CHECK_TEXT("nor is one that is compiled on the stack", TAKE(false, 0, MAIN(3), A(0x7f78, 9)), "2/2/2");
    CHECK_TEXT("frames are aligned when they are replaced", TAKE(false, 0, MAIN(3), A(0x7f80, 9)), "2/2/2");
    CHECK_TEXT("a call that it makes is new", TAKE(false, 0, MAIN(3), SLOW(0x8000, 5), B(0x7000, 1)), "2/2/3");
}

/* In compiled code which methods are inlined is a guess. */
static void test_inlined(void)
{
    begin();
    CHECK_TEXT("a guess is not counted", TAKE(true, 0, MAIN(3), INLINED(1, 0x9000, 4)), "0/0/1");
    CHECK_TEXT("nor proves anything", TAKE(true, 0, MAIN(8), INLINED(2, 0x9000, 4)), "1/2/1");
    CHECK_TEXT("a call from there is new, though not what is inlined around it",
               TAKE(false, 0, MAIN(3), INLINED(1, 0x9000, 4), B(0x7000, 1)), "1/2/3");
    CHECK_TEXT("at calls it is known what is inlined", TAKE(false, 0, MAIN(8), INLINED(1, 0x9000, 4), B(0x7000, 1)),
               "1/1/3");
    CHECK_TEXT("where nothing seems inlined, something may be", TAKE(true, 0, MAIN(8)), "1/1/1");
    CHECK_TEXT("so that it is no new call", TAKE(false, 0, MAIN(8), INLINED(1, 0x9000, 4), B(0x7000, 1)), "1/2/3");
}

static void test_virtual(void)
{
    begin();
    TAKE(false, 1, MAIN(3), A(0x8000, 5));
    CHECK_TEXT("another virtual thread's calls may be old ones", TAKE(false, 1, MAIN(3), B(0x8100, 5)), "1/1/1");
    CHECK_TEXT("those of its carrier are known", TAKE(false, 1, A(0x9000, 3), B(0x8100, 5)), "0/0/1");
}

static uint64_t *word(uint64_t address)
{
    return &words[(address - STACK_LOW) / 8];
}

/* While a call goes on, nothing changes in its caller's frame but for the call's arguments. */
static void test_callers(void)
{
    begin();
    TAKE(false, 0, MAIN(3), A(0x8000, 5), B(0x7800, 1));
    CHECK_TEXT("the same values prove nothing", TAKE(false, 0, MAIN(3), A(0x8000, 5), B(0x7800, 1)), "3/3/3");
    *word(0x7810) = 7;
    CHECK_TEXT("other values in the caller are a new call", TAKE(false, 0, MAIN(3), A(0x8000, 5), B(0x7800, 1)),
               "3/2/3");
    *word(0x8010) = 7;
    CHECK_TEXT("with all that it calls", TAKE(false, 0, MAIN(3), A(0x8000, 5), B(0x7800, 1)), "3/1/3");
    *word(0x7800) = 7;
    CHECK_TEXT("but for its arguments", TAKE(false, 0, MAIN(3), A(0x8000, 5), B(0x7800, 1)), "3/3/3");
    *word(0x7700) = 7;
    CHECK_TEXT("and its own values", TAKE(false, 0, MAIN(3), A(0x8000, 5), B(0x7800, 1)), "3/3/3");
    *word(0x7810) = 8;
    n_collections = 1;
    CHECK_TEXT("a collection may have changed them", TAKE(false, 0, MAIN(3), A(0x8000, 5), B(0x7800, 1)), "3/3/3");
    *word(0x7810) = 9;
    CHECK_TEXT("the next change is the program's", TAKE(false, 0, MAIN(3), A(0x8000, 5), B(0x7800, 1)), "3/2/3");
    *word(0x7810) = 10;
    n_collections = VM_COLLECTIONS_UNKNOWN;
    CHECK_TEXT("as it is not where collections are not known", TAKE(false, 0, MAIN(3), A(0x8000, 5), B(0x7800, 1)),
               "3/3/3");
    n_collections = 0;
    TAKE(false, 0, MAIN(3), A(0x8000, 5), INLINED(2, 0x8000, 1));
    *word(0x7810) = 11;
    CHECK_TEXT("what is inlined has no frame of its own", TAKE(false, 0, MAIN(3), A(0x8000, 5), INLINED(2, 0x8000, 1)),
               "3/3/3");
}

/* Without a native method that is the innermost frame, it was looked for on the stack. */
static void test_searched(void)
{
    static const struct made one[] = { MAIN(3), A(0x8000, 5) }, stub[] = { MAIN(3), { 7, 0x7f00, -1, FRAME_STUB } };
    struct stack_change change;
    begin();
    CHECK("a stub's stack proves nothing",
          take_at(1, 1, true, 0, stub, 2, &change) == 1 && change.new_first == change.new_after);
    CHECK("and is not compared with", take_at(2, 1, true, 0, one, 2, &change) == 0 && change.new_first == 0 &&
                                          take_at(3, 1, true, 0, stub, 2, &change) == 1 &&
                                          take_at(4, 1, true, 0, one, 2, &change) == 0 && change.new_first == 2);
    const struct new_stack searched = {
        .tid = 1, .time_ns = 5, .stack = &made_stack, .methods = methods, .traits = traits
    };
    made_stack.is_in_java = false;
    CHECK("nor does one of native code", last_stacks_compare(&last, &searched, &change) == 1);
    made_stack.end = STACK_CUT;
    CHECK("nor does one that is not whole", take_at(6, 1, true, 0, one, 2, &change) == 1);
    made_stack.end = STACK_WHOLE;
}

static void test_metadata(void)
{
    CHECK_NUMBER("arguments of no method are three, for what nobody declares", frame_traits_of("A", "()V").n_arguments,
                 3);
    CHECK_NUMBER("longs and doubles have two words",
                 frame_traits_of("A", "(IJDLjava/lang/String;[J[[LJack;Z)D").n_arguments,
                 3 + 1 + 2 + 2 + 1 + 1 + 1 + 1);
    CHECK_NUMBER("a damaged descriptor has an end", frame_traits_of("A", "(L").n_arguments, 4);
    CHECK("virtual threads begin in Continuation",
          frame_traits_of("jdk/internal/vm/Continuation", "()V").is_continuation &&
              !frame_traits_of("A", "()V").is_continuation);
}

static void test_order(void)
{
    struct stack_change change;
    static const struct made one[] = { MAIN(3), A(0x8000, 5) }, other[] = { MAIN(3), B(0x8000, 5) };
    begin();
    take_at(10, 1, false, 0, one, 2, &change);
    take_at(30, 1, false, 0, other, 2, &change);
    CHECK("a sample that comes late proves nothing",
          take_at(20, 1, false, 0, one, 2, &change) == 1 && change.n_same == 0 && change.new_after == change.new_first);
    CHECK("and is not what the next is compared with",
          take_at(40, 1, false, 0, other, 2, &change) == 0 && change.n_same == 2 && change.new_first == 2);
    CHECK("each thread has its own", take_at(5, 2, false, 0, one, 2, &change) == 0 && change.new_first == 0 &&
                                         take_at(6, 2, false, 0, one, 2, &change) == 0 && change.new_first == 2);
}

static void test_memory(void)
{
    struct made many[FRAMES_MAX - 1];
    struct stack_change change;
    for (uint32_t i = 0; i < FRAMES_MAX - 1; i++)
        many[i] = (struct made){ i, 0x9000 - 0x20 * i, 1, FRAME_COMPILED };
    begin();
    take_at(1, 1, false, 0, many, 5, &change);
    take_at(2, 1, false, 0, many, FRAMES_MAX - 1, &change);
    uint64_t n_bytes = last.bytes;
    take_at(2, 2, false, 0, many, FRAMES_MAX - 1, &change);
    CHECK_NUMBER("a stack that has grown takes as much as one that was large at once", last.bytes, 2 * n_bytes);
    begin();
    last.max_bytes = 32768;
    bool is_fine = true;
    for (int32_t tid = 1; tid <= 20; tid++)
        is_fine = is_fine && take_at(1, tid, false, 0, many, FRAMES_MAX - 1, &change) == 0 && change.new_first == 0 &&
                  last.bytes <= last.max_bytes;
    CHECK("memory is bounded", is_fine);
    CHECK("a thread whose last stack was forgotten proves nothing",
          take_at(2, 1, false, 0, many, 9, &change) == 0 && change.n_same == 0 && change.new_first == 9);
    CHECK("the next time it does", take_at(3, 1, false, 0, many, 12, &change) == 0 && change.n_same == 9 &&
                                       change.new_first == 9 && change.new_after == 12);
}

/* The stack of MAIN and A as it is now: A's return address is there, with a signature, and another one than B's. */
static bool read_now(struct vm *vm, uint64_t address, uint64_t *value)
{
    (void)vm;
    *value = address == 0x8000 - 8 ? UINT64_C(0x12ab000000001003) : 0x1111;
    return true;
}

static bool read_nothing(struct vm *vm, uint64_t address, uint64_t *value)
{
    (void)vm;
    (void)address;
    *value = 0;
    return false;
}

/* How the stack of two methods ends, of which up to 'end' was copied; "N:" and its methods, the outermost first. */
static const char *complete(int32_t tid, uint64_t sp, uint64_t end,
                            bool (*read)(struct vm *vm, uint64_t address, uint64_t *value), enum stack_end *how)
{
    static char text[64];
    const struct thread_state thread = { .sp = STACK_LOW, .n_bytes = end - STACK_LOW };
    made_stack.n = 2;
    made_stack.end = STACK_CUT;
    made_stack.frames[0] = (struct java_frame){ .kind = FRAME_COMPILED, .sp = sp - 0x100, .return_pc = 0x1007 };
    made_stack.frames[1] = (struct java_frame){ .kind = FRAME_COMPILED, .sp = sp, .return_pc = 0x1005 };
    methods[0] = 4;
    methods[1] = 2;
    *how = last_stacks_complete(&last, &(struct cut_stack){ tid, &thread, &made_stack, methods, NULL, read });
    size_t n = (size_t)snprintf(text, sizeof text, "%u:", made_stack.n);
    for (uint32_t i = made_stack.n; i-- > 0 && n < sizeof text;)
        n += (size_t)snprintf(text + n, sizeof text - n, " %u", methods[i]);
    made_stack.end = STACK_WHOLE;
    return text;
}

static void test_cut(void)
{
    static const struct made whole[] = { MAIN(3), A(0x8000, 5), B(0x7e00, 7) };
    struct stack_change change;
    enum stack_end end;
    begin();
    take_at(1, 1, true, 0, whole, 3, &change);
    CHECK_TEXT("a stack that was cut goes on as the last one, from a frame that is the same",
               complete(1, 0x7e00, 0x7f00, read_nothing, &end), "4: 0 1 2 4");
    CHECK("and is whole", end == STACK_WHOLE);
    CHECK_TEXT("where none is, with those outside of what was copied that are still there",
               complete(1, 0x7d00, 0x7d80, read_now, &end), "4: 0 1 2 4");
    CHECK("but what is between is not known", end == STACK_CUT);
    CHECK_TEXT("a frame that was copied is not taken from the last stack", complete(1, 0x7d00, 0x8000, read_now, &end),
               "2: 2 4");
    CHECK_TEXT("nor one that may be another by now", complete(1, 0x7d00, 0x7d80, read_nothing, &end), "2: 2 4");
    CHECK_TEXT("nor another thread's", complete(2, 0x7e00, 0x7f00, read_now, &end), "2: 2 4");
}

int main(void)
{
    test_cut();
    test_calls();
    test_replaced();
    test_inlined();
    test_virtual();
    test_callers();
    test_searched();
    test_metadata();
    test_order();
    test_memory();
    last_stacks_free(&last);
    return tap_done();
}
