/*
 * A recording in several files of a program that starts threads all the time: what was kept of those that have ended is
 * given back, their numbers are for others, and what they did is not forgotten.
 */
#include "core/recorder/threads.h"
#include "phases/live/live_parts.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <malloc.h>

#define N_THREADS   10000u
#define OF_A_FILE   100u
#define STEP_TICKS  (UINT64_C(1) << 20)
#define ALL_METHODS 3

/* Method 1 has an exit; 2 has none, as where the thread was killed in it. */
enum { MAIN_METHOD = 0, ENDED = 1, OPEN = 2 };

struct churn {
    struct maker maker;
    struct threads threads;
    struct live_tree *tree;
    uint64_t ticks, file_start;
    uint32_t n_files, most;
    size_t bytes; /* in use after a fifth of the threads */
};

static struct err err;

static void forget(void *context, uint32_t index)
{
    struct churn *c = context;
    trace_writer_forget_thread(c->maker.writer, index);
    live_tree_forget(c->tree, index);
}

static void tell(struct churn *c, uint32_t thread, enum trace_kind kind)
{
    const struct trace_event event = { .kind = kind, .thread = thread, .ticks = c->ticks };
    maker_must(&c->maker, trace_write_kernel(c->maker.writer, &event, 1, &c->maker.err));
    live_tree_kernel(c->tree, &event, 1);
}

static void record(struct churn *c, uint32_t thread, enum ring_kind kind, uint32_t method)
{
    const uint64_t word = ring_word(kind, method, c->ticks);
    maker_must(&c->maker, trace_write_records(c->maker.writer, thread, &word, 1, c->ticks + 1, &c->maker.err));
    live_tree_records(c->tree, thread, &word, 1, c->ticks + 1);
}

/* Thread ids come again, as the kernel's do. */
static void live(struct churn *c, uint32_t n)
{
    struct recorder_thread *thread = threads_add(&c->threads, 1000 + (int32_t)(n % 5000), c->ticks);
    threads_set_comm(thread, "churn");
    maker_must(&c->maker, threads_write(&c->threads, c->maker.writer, &c->maker.err));
    tell(c, thread->info.index, TRACE_CPU_IN);
    record(c, thread->info.index, RING_ENTER, ENDED);
    c->ticks += 10;
    record(c, thread->info.index, RING_EXIT, ENDED);
    record(c, thread->info.index, RING_ENTER, OPEN);
    c->ticks += 5;
    tell(c, thread->info.index, TRACE_THREAD_END);
    thread->info.end_ticks = c->ticks;
    thread->changed = true;
    c->ticks += STEP_TICKS;
    if (thread->info.index > c->most)
        c->most = thread->info.index;
}

static void next_file(struct churn *c)
{
    const uint64_t clock[3] = { c->ticks, c->ticks, c->ticks };
    struct err why;
    maker_must(&c->maker, threads_write(&c->threads, c->maker.writer, &c->maker.err));
    maker_must(&c->maker, trace_writer_rotate(c->maker.writer, c->maker.path, clock, &why, &c->maker.err));
    threads_recycle(&c->threads, c->file_start, forget, c);
    c->file_start = c->ticks;
    c->n_files++;
}

static void run(struct churn *c)
{
    struct recorder_thread *first = threads_add(&c->threads, 1, c->ticks);
    threads_set_comm(first, "main");
    maker_must(&c->maker, threads_write(&c->threads, c->maker.writer, &c->maker.err));
    tell(c, first->info.index, TRACE_CPU_IN);
    record(c, first->info.index, RING_ENTER, MAIN_METHOD);
    for (uint32_t n = 0; n < N_THREADS; n++) {
        live(c, n);
        if (n % OF_A_FILE == OF_A_FILE - 1)
            next_file(c);
        if (n == N_THREADS / 5)
            c->bytes = mallinfo2().uordblks;
    }
    live(c, N_THREADS);
}

static void check_memory(const struct churn *c)
{
    size_t bytes = mallinfo2().uordblks;
    printf("# %zu bytes after %u threads, %zu after %u\n", c->bytes, N_THREADS / 5, bytes, N_THREADS);
    CHECK("memory is no more after 10,000 threads than after 2,000", bytes <= c->bytes + c->bytes / 50);
    CHECK("numbers are those of the threads of two files", c->most <= 2 * OF_A_FILE + 1 && c->n_files == 100);
    CHECK("a thread that has not ended keeps its number", threads_find(&c->threads, 1) == c->threads.all[0]);
    CHECK("one that was given back is not found by its id", threads_find(&c->threads, 1000 + 4000) == NULL);
    CHECK("the latest of an id is", threads_find(&c->threads, 1000 + N_THREADS % 5000)->info.end_ticks > c->file_start);
}

static void check_account(struct churn *c)
{
    struct live_account accounts[16] = { { 0 } };
    CHECK("there is room", live_tree_n_accounts(c->tree) <= 16);
    c->ticks += 4 * STEP_TICKS; /* the ends of the latest threads count by then */
    live_tree_accounts(c->tree, c->ticks, accounts);
    CHECK_NUMBER("calls of threads that ended are counted", accounts[ENDED].calls, N_THREADS + 1);
    CHECK_NUMBER("with their time", accounts[ENDED].cpu_ticks, 10 * (N_THREADS + 1));
    CHECK_NUMBER("also of those that had no exit", accounts[OPEN].cpu_ticks, 5 * (N_THREADS + 1));
    CHECK_NUMBER("a call that goes on does", accounts[MAIN_METHOD].wall_ticks, c->ticks);
}

/* The last file has one thread of the churn, whatever its number had been before. */
static void check_file(const struct churn *c)
{
    struct trace_reader *reader;
    int n_named = 0;
    if (trace_outline(&reader, c->maker.path, false, &err) < 0) {
        CHECK_TEXT("a file is read alone", err.text, "");
        return;
    }
    for (uint32_t i = 0; i < trace_n_threads(reader); i++)
        n_named += trace_thread(reader, i) != NULL && trace_thread(reader, i)->tid >= 1000;
    CHECK_NUMBER("a file has the threads that were in it", n_named, 1);
    CHECK_TEXT("a thread that goes on is in each", trace_thread(reader, 0)->comm, "main");
    trace_close(reader);
}

static bool is_even(void *context, int32_t tid)
{
    (void)context;
    return tid % 2 == 0;
}

static void count(void *context, uint32_t index)
{
    (void)index;
    ++*(int *)context;
}

/* Without the kernel's events nobody tells of threads that have no ring. */
static void check_missed(void)
{
    struct threads threads;
    int n = 0;
    threads_init(&threads);
    for (int32_t tid = 1; tid <= 6; tid++)
        threads_add(&threads, tid, 0);
    threads_find(&threads, 5)->ring = 0;
    threads_miss(&threads, 10, is_even, NULL);
    CHECK("of a thread that was missed no end is told", threads_find(&threads, 1)->info.end_ticks == TRACE_UNKNOWN);
    CHECK("what comes with its number later is another's",
          threads_get(&threads, 3, 10 + (UINT64_C(1) << 25)) != threads.all[2]);
    CHECK("it is forgotten when a file has begun since",
          (threads_recycle(&threads, 10, count, &n), n == 0) && (threads_recycle(&threads, 11, count, &n), true));
    CHECK_NUMBER("one with a ring is not, nor are those that are there", n, 2);
    threads_free(&threads);
}

int main(void)
{
    struct churn c = { .n_files = 0 };
    maker_open(&c.maker, "recycled.dat");
    trace_writer_keep(c.maker.writer);
    for (uint32_t i = 0; i < ALL_METHODS; i++)
        maker_method(&c.maker, i, "some/Class", (const char[]){ (char)('a' + i), '\0' }, "()V");
    threads_init(&c.threads);
    c.tree = live_tree_open(&(struct live_tree_options){ 0 });
    run(&c);
    check_memory(&c);
    check_account(&c);
    maker_must(&c.maker, threads_write(&c.threads, c.maker.writer, &c.maker.err));
    maker_must(&c.maker, trace_writer_close(c.maker.writer, c.ticks, &c.maker.err));
    check_file(&c);
    check_missed();
    live_tree_close(c.tree);
    threads_free(&c.threads);
    unlink(c.maker.path);
    return tap_done();
}
