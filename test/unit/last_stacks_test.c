/* Old against new frames: what of a thread's stack is surely a new call. */
#include "core/recorder/last_stacks.h"

#include "test/unit/tap.h"

#define FRAMES_MAX 200u

static struct last_stacks last;
static struct java_frame frames[FRAMES_MAX];
static uint32_t methods[FRAMES_MAX];
static uint64_t now_ns;

/* A frame: its method, where it stands, the bytecode that calls or runs. */
struct made {
    uint32_t method;
    uint64_t sp;
    int32_t index;
    enum frame_kind kind;
};

/* Outermost first; each call returns to where its caller's bytecode says. */
static int take_at(uint64_t time_ns, int32_t tid, bool is_in_java, uint32_t n_movable, const struct made *made,
                   uint32_t n, struct stack_change *change)
{
    for (uint32_t i = 0; i < n; i++) {
        frames[n - 1 - i] = (struct java_frame){ .method = made[i].method + 1,
                                                 .index = made[i].index,
                                                 .kind = made[i].kind,
                                                 .sp = made[i].sp,
                                                 .return_pc = i == 0 ? 1 : 0x1000 + (uint64_t)made[i - 1].index };
        methods[n - 1 - i] = made[i].method;
    }
    const struct new_stack stack = { tid, time_ns, n, n_movable, is_in_java, frames, methods };
    return last_stacks_compare(&last, &stack, change);
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
    CHECK_TEXT("so is another place on the stack", TAKE(false, 0, MAIN(3), A(0x8000, 6), B(0x6f00, 1)), "3/2/3");
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
    struct made many[FRAMES_MAX];
    struct stack_change change;
    for (uint32_t i = 0; i < FRAMES_MAX; i++)
        many[i] = (struct made){ i, 0x9000 - 0x20 * i, 1, FRAME_COMPILED };
    begin();
    last.max_bytes = 32768;
    bool is_fine = true;
    for (int32_t tid = 1; tid <= 20; tid++)
        is_fine = is_fine && take_at(1, tid, false, 0, many, FRAMES_MAX, &change) == 0 && change.new_first == 0 &&
                  last.bytes <= last.max_bytes;
    CHECK("memory is bounded", is_fine);
    CHECK("a thread whose last stack was forgotten proves nothing",
          take_at(2, 1, false, 0, many, 9, &change) == 0 && change.n_same == 0 && change.new_first == 9);
    CHECK("the next time it does", take_at(3, 1, false, 0, many, 12, &change) == 0 && change.n_same == 9 &&
                                       change.new_first == 9 && change.new_after == 12);
}

int main(void)
{
    test_calls();
    test_replaced();
    test_inlined();
    test_virtual();
    test_order();
    test_memory();
    last_stacks_free(&last);
    return tap_done();
}
