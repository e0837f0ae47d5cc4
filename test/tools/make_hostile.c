/*
 * Traces that cost their reader more than others of their size, if anything about it is worse than linear:
 *
 *     make_hostile SHAPE N FILE
 *
 * Each has N of something; make_hostile alone lists the shapes.
 */
#include "test/unit/trace_maker.h"

#define DEPTH   2000u /* of deep stacks that a recorder may have seen */
#define METHODS 1000u
#define NS      10000000

static const char *text(const char *word, uint32_t number)
{
    static char texts[4][64];
    static uint32_t next;
    char *to = texts[next++ % 4];
    snprintf(to, sizeof texts[0], "%s%u", word, number);
    return to;
}

/* A node, whose method is named when it comes first. */
static uint32_t context(struct maker *m, uint32_t parent, uint32_t site, uint32_t method)
{
    static uint32_t n_named;
    const struct trace_sampled_method named = { .names = { text("a/B", method), "run", "()V" }, .source = "B.java" };
    struct trace_context made = { .parent = parent, .call_site = (int32_t)(site % 60000), .method = method };
    made.named = method == n_named ? &named : NULL;
    n_named += method == n_named;
    maker_must(m, trace_write_context(m->writer, &made, &m->err));
    return ++m->n_contexts;
}

static void sample(struct maker *m, uint32_t thread, uint32_t in)
{
    static uint64_t ticks = 2;
    const struct trace_sample made = { .ticks = ticks++,
                                       .thread = thread,
                                       .context = in,
                                       .frame = TRACE_FRAME_COMPILED,
                                       .tier = 4,
                                       .n = 1,
                                       .weight_ns = NS };
    maker_must(m, trace_write_sample(m->writer, &made, &m->err));
}

static void thread(struct maker *m, uint32_t index, bool has_ring)
{
    maker_thread(m, index, text("worker-", index), has_ring);
}

static void record(struct maker *m, uint32_t of, enum ring_kind kind, uint32_t method)
{
    static uint64_t ticks;
    const uint64_t word = ring_word(kind, method, ++ticks);
    maker_must(m, trace_write_records(m->writer, of, &word, 1, ticks, &m->err));
}

static void methods(struct maker *m, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        maker_method(m, i, text("a/B", i), "run", "()V");
}

/* ---- shapes ---- */

static void chain(struct maker *m, uint32_t n)
{
    thread(m, 0, false);
    for (uint32_t i = 0; i < n; i++)
        sample(m, 0, context(m, i, i, 0));
}

static void chains(struct maker *m, uint32_t n)
{
    thread(m, 0, false);
    for (uint32_t i = 0; i < n; i++)
        sample(m, 0, context(m, i % DEPTH == 0 ? 0 : i, i, i % METHODS));
}

static void turns(struct maker *m, uint32_t n)
{
    thread(m, 0, false);
    for (uint32_t i = 0; i < 2 * DEPTH; i++)
        context(m, i % DEPTH == 0 ? 0 : i, i, i % METHODS);
    for (uint32_t i = 0; i < n; i++)
        sample(m, 0, i % 2 == 0 ? DEPTH : 2 * DEPTH);
}

static void fan(struct maker *m, uint32_t n)
{
    uint32_t root;
    thread(m, 0, false);
    root = context(m, 0, 0, 0);
    for (uint32_t i = 1; i < n; i++)
        sample(m, 0, context(m, root, i, i));
}

static void threads(struct maker *m, uint32_t n)
{
    uint32_t root;
    methods(m, 1);
    for (uint32_t i = 0; i < n; i++)
        thread(m, i, true);
    root = context(m, 0, 0, 0);
    for (uint32_t i = 0; i < n; i++) {
        const struct trace_wait wait = {
            .ticks = i + 2, .thread = i, .cause = TRACE_CAUSE_SOCKET, .context = root, .n = 1, .weight_ns = NS
        };
        sample(m, i, root);
        record(m, i, RING_ENTER, 0);
        record(m, i, RING_EXIT, 0);
        maker_must(m, trace_write_wait(m->writer, &wait, &m->err));
    }
}

static void nested(struct maker *m, uint32_t n)
{
    methods(m, METHODS);
    thread(m, 0, true);
    for (uint32_t i = 0; i < n; i++)
        record(m, 0, RING_ENTER, i % METHODS);
    for (uint32_t i = n; i > 0; i--)
        record(m, 0, RING_EXIT, (i - 1) % METHODS);
}

static void wide(struct maker *m, uint32_t n)
{
    methods(m, n);
    thread(m, 0, true);
    record(m, 0, RING_ENTER, 0);
    for (uint32_t i = 1; i < n; i++) {
        record(m, 0, RING_ENTER, i);
        record(m, 0, RING_EXIT, i);
    }
    record(m, 0, RING_EXIT, 0);
}

/* Calls and samples in turn, in deep stacks. */
static void mixed(struct maker *m, uint32_t n)
{
    methods(m, METHODS);
    thread(m, 0, true);
    for (uint32_t i = 0; i < n; i++) {
        if (i % DEPTH == 0 && i > 0)
            for (uint32_t j = i; j > i - DEPTH; j--)
                record(m, 0, RING_EXIT, (j - 1) % METHODS);
        record(m, 0, RING_ENTER, i % METHODS);
        sample(m, 0, context(m, i % DEPTH == 0 ? 0 : i, i, i % METHODS));
    }
}

static void waits(struct maker *m, uint32_t n)
{
    thread(m, 0, false);
    thread(m, 1, false);
    for (uint32_t i = 0; i < n; i++) {
        const char *of = text("a/Lock", i % 60000);
        const struct trace_wait wait = { .ticks = i + 2,
                                         .cause = TRACE_CAUSE_MONITOR,
                                         .context = context(m, i % DEPTH == 0 ? 0 : i, i, i % METHODS),
                                         .n = 1,
                                         .weight_ns = NS,
                                         .lock_class = of,
                                         .owner = 1,
                                         .owner_context = i };
        maker_must(m, trace_write_wait(m->writer, &wait, &m->err));
    }
}

static void objects(struct maker *m, uint32_t n)
{
    thread(m, 0, false);
    for (uint32_t i = 0; i < n; i++) {
        const struct trace_allocation allocation = { .ticks = i + 2,
                                                     .context = context(m, i % DEPTH == 0 ? 0 : i, i, i % METHODS),
                                                     .class_number = i,
                                                     .class_name = text("a/Object", i),
                                                     .size_bytes = 16,
                                                     .mean_bytes = 512 };
        maker_must(m, trace_write_allocation(m->writer, &allocation, &m->err));
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct trace_heap_event freed = { n + i, TRACE_HEAP_FREED, i };
        maker_must(m, trace_write_heap_event(m->writer, &freed, &m->err));
    }
}

static void switches(struct maker *m, uint32_t n)
{
    thread(m, 0, false);
    for (uint32_t i = 0; i < n; i++)
        KERNEL(m, AT(i % 2 == 0 ? TRACE_CPU_IN : TRACE_CPU_OUT, i % 64, i + 1));
}

/* One sample that says that it is as many as it can, and times that are as long. */
static void counts(struct maker *m, uint32_t n)
{
    struct trace_sample many = { .ticks = 5, .n = UINT64_MAX / 2, .weight_ns = UINT64_MAX / 2 };
    methods(m, 1);
    thread(m, 0, true);
    many.context = context(m, 0, 0, 0);
    maker_must(m, trace_write_sample(m->writer, &many, &m->err));
    for (uint32_t i = 0; i < n; i++)
        sample(m, 0, 1);
    record(m, 0, RING_GAP, RING_METHOD_MAX);
}

/* Texts that a target may have, of threads, classes, methods and files, each of which would break some format. */
static void names(struct maker *m, uint32_t n)
{
    static const char *const texts[] = { "a;b",
                                         "c d",
                                         "e\nf",
                                         "g\th",
                                         "</script><!--",
                                         "\"i\"",
                                         "k\033[31ml",
                                         "\xff\xc3(",
                                         "'m\\",
                                         "&lt;",
                                         ("\xe2\x80\xae"
                                          "drow"),
                                         "{}\r",
                                         "=1+1",
                                         "%s%n",
                                         "\x7f\x01" };
    const uint32_t n_texts = sizeof texts / sizeof *texts;
    thread(m, 0, true);
    maker_info(m, "jvm.command", "java </script> \"\033]0;x\007\xff' Main");
    for (uint32_t i = 0; i < n; i++) {
        const char *name = texts[i % n_texts];
        const struct trace_sampled_method named = { .names = { name, name, "()V" }, .source = name };
        const struct trace_context made = {
            .parent = i % 8 == 0 ? 0 : i, .call_site = 1, .method = i, .named = &named
        };
        maker_thread(m, i + 1, name, true);
        maker_method(m, i, name, name, "()V");
        record(m, 0, RING_ENTER, i);
        record(m, 0, RING_EXIT, i);
        maker_must(m, trace_write_context(m->writer, &made, &m->err));
        sample(m, i + 1, ++m->n_contexts);
        sample(m, 0, m->n_contexts);
    }
}

static const struct {
    const char *name, *what;
    void (*write)(struct maker *m, uint32_t n);
    uint64_t end_ticks; /* 0: when all is over */
} shapes[] = {
    { "chain", "contexts, each called by the one before, with a sample in each", chain, 0 },
    { "chains", "the same in chains as deep as a recorder sees", chains, 0 },
    { "turns", "samples, in one deep stack and another in turn", turns, 0 },
    { "fan", "methods that one calls, with a sample in each", fan, 0 },
    { "threads", "threads, with a call and a sample in each", threads, 0 },
    { "nested", "calls, each inside of the one before", nested, 0 },
    { "wide", "methods that one calls, as probes record it", wide, 0 },
    { "mixed", "recorded calls in deep stacks, with a sample in each", mixed, 0 },
    { "waits", "waits for as many locks in deep stacks", waits, 0 },
    { "objects", "objects of as many classes, in deep stacks", objects, 0 },
    { "switches", "context switches", switches, 0 },
    { "names", "names that no format takes as they are", names, 0 },
    { "counts", "samples, and one that stands for 2^63; a time line of 200 years", counts, UINT64_C(6) << 60 },
};

#define SHAPES (sizeof shapes / sizeof *shapes)

int main(int argc, char **argv)
{
    struct maker m = { .n_contexts = 0 };
    uint32_t n = argc == 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    size_t i = 0;
    while (i < SHAPES && (n == 0 || strcmp(argv[1], shapes[i].name) != 0)) {
        if (n == 0)
            printf("%-10s N %s\n", shapes[i].name, shapes[i].what);
        i++;
    }
    if (i == SHAPES)
        return 2;
    maker_must(&m, trace_writer_open(&m.writer, argv[3], &m.err));
    maker_must(&m, trace_write_clock(m.writer, 1, 1, 1, &m.err));
    shapes[i].write(&m, n);
    maker_must(&m, trace_write_clock(m.writer, 1000000000, 1000000000, 1000000000, &m.err));
    maker_close(&m, shapes[i].end_ticks == 0 ? 1000000000 : shapes[i].end_ticks);
    return 0;
}
