/* The views 'waits' and 'locks' of a trace: what visits found, added up by cause and method. */
#include "report/view/tables.h"

#include "report/view/view_pass.h"
#include "test/unit/table_printed.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <unistd.h>

#define TICKS  UINT64_C(1000000) /* between two visits: 1 ns each */
#define VISITS 40u

#define HAS(claim, text, part) CHECK(claim, strstr(text, part) != NULL)

static struct arena arena;
static struct err err;

/* Methods by number; contexts 1 to 8 are the frames from the outermost one on. */
static const struct trace_sampled_method methods[] = {
    { { "java/lang/Thread", "run", "()V" }, "", 0, NULL, 0, NULL },
    { { "shop/Prices", "quote", "()V" }, "", 0, NULL, 0, NULL },
    { { "shop/Prices", "compute", "()V" }, "", 0, NULL, 0, NULL },
    { { "java/lang/Thread", "sleep", "(J)V" }, "", 0, NULL, 0, NULL },
    { { "java/util/concurrent/ThreadPoolExecutor", "getTask", "()V" }, "", 0, NULL, 0, NULL },
    { { "java/util/concurrent/LinkedBlockingQueue", "take", "()V" }, "", 0, NULL, 0, NULL },
    { { "jdk/internal/misc/Unsafe", "park", "()V" }, "", 0, NULL, 0, NULL },
};

enum { RUN = 1, QUOTE, COMPUTE, SLEEP, GET_TASK, TAKE, PARK };

static void write_contexts(struct maker *m)
{
    static const struct {
        uint32_t parent, method;
    } nodes[] = { { 0, 0 }, { RUN, 1 }, { QUOTE, 2 }, { COMPUTE, 3 }, { RUN, 4 }, { GET_TASK, 5 }, { TAKE, 6 } };
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        maker_stack(m, nodes[i].parent, -1, nodes[i].method, &methods[nodes[i].method], 0, 0);
}

static void write_wait(struct maker *m, const struct trace_wait *wait)
{
    maker_must(m, trace_write_wait(m->writer, wait, &m->err));
}

/* At two looks, 1,000 and 2,000 virtual threads sleep, and a tenth as many have no carrier. */
static void write_virtual(struct maker *m, uint64_t ticks, uint32_t number)
{
    struct trace_virtual_wait wait = { .ticks = ticks,
                                       .cause = TRACE_CAUSE_SLEEP,
                                       .context = SLEEP,
                                       .index = -1,
                                       .n = 1000 * number,
                                       .weight_ns = 20 * TICKS,
                                       .lock_class = "" };
    maker_must(m, trace_write_virtual_wait(m->writer, &wait, &m->err));
    wait.cause = TRACE_CAUSE_READY;
    wait.context = 0;
    wait.n = 100 * number;
    maker_must(m, trace_write_virtual_wait(m->writer, &wait, &m->err));
}

/*
 * At each visit: thread 1 holds the cache and sleeps, 2 waits for it; every other time 3 does, too, and else runs.  4
 * is idle, told every tenth time.  5 is the collector's.
 */
static void write_waits(struct maker *m)
{
    for (uint32_t i = 1; i <= VISITS; i++) {
        struct trace_wait wait = {
            .ticks = i * TICKS, .index = -1, .n = 1, .weight_ns = TICKS, .lock_class = "", .owner = TRACE_NO_THREAD
        };
        struct trace_wait holder = wait, waiter = wait, other = wait, idle = wait, gc = wait;
        holder.thread = 1, holder.cause = TRACE_CAUSE_SLEEP, holder.context = SLEEP;
        waiter.thread = 2, waiter.cause = TRACE_CAUSE_MONITOR, waiter.context = QUOTE, waiter.owner = 1;
        waiter.owner_context = SLEEP, waiter.lock_class = "java/util/LinkedHashMap";
        other.thread = 3, other.cause = TRACE_CAUSE_ON_CPU;
        gc.thread = 5, gc.cause = TRACE_CAUSE_UNKNOWN;
        write_wait(m, &holder);
        write_wait(m, &waiter);
        waiter.thread = 3;
        write_wait(m, i % 2 == 0 ? &waiter : &other);
        write_wait(m, &gc);
        idle.thread = 4, idle.cause = TRACE_CAUSE_PARK, idle.context = PARK, idle.n = 10, idle.weight_ns = 10 * TICKS;
        if (i % 10 == 0)
            write_wait(m, &idle);
        if (i % 20 == 0)
            write_virtual(m, i * TICKS, i / 20);
    }
}

static void write_trace(struct maker *m, bool has_waits)
{
    maker_open(m, "waits");
    maker_thread(m, 1, "http-1", false);
    maker_thread(m, 2, "http-2", false);
    maker_thread(m, 3, "http-3", false);
    maker_thread(m, 4, "pool-1", false);
    maker_thread(m, 5, "GC Thread#0", false);
    write_contexts(m);
    if (has_waits)
        write_waits(m);
    maker_thread(m, 2, "late-2", false);
    maker_must(m, trace_writer_close(m->writer, VISITS * TICKS, &m->err));
}

static void read_trace(const struct maker *m, const char *threads, struct view_pass *pass)
{
    const struct view_pass_options options = {
        .path = m->path, .parts = VIEW_PASS_WAITS, .per_thread = threads != NULL, .only_threads = threads
    };
    if (view_pass_read(&options, &arena, pass, &err) < 0)
        printf("Bail out! %s\n", err.text);
}

static const struct wait_row *row_of(const struct waits *waits, enum trace_cause cause)
{
    for (size_t i = 0; i < waits->n; i++)
        if (waits->rows[i].cause == cause)
            return &waits->rows[i];
    static const struct wait_row none;
    return &none;
}

static void test_rows(void)
{
    struct maker m;
    struct view_pass pass;
    write_trace(&m, true);
    read_trace(&m, NULL, &pass);
    const struct waits *waits = &pass.waits;
    const struct wait_row *monitor = row_of(waits, TRACE_CAUSE_MONITOR), *sleep = row_of(waits, TRACE_CAUSE_SLEEP),
                          *park = row_of(waits, TRACE_CAUSE_PARK);
    CHECK("a wait is where the application called", strcmp(monitor->where.method, "quote") == 0);
    CHECK("and what it called is told", sleep->called.class_name != NULL &&
                                            strcmp(sleep->called.method, "sleep") == 0 &&
                                            strcmp(sleep->where.method, "compute") == 0);
    CHECK("times add up", monitor->ns == VISITS * TICKS * 3 / 2 && sleep->ns == VISITS * TICKS);
    CHECK("the sum of all rows is the threads' time", waits->wall_ns == 4 * VISITS * TICKS && waits->n == 4);
    CHECK("shares are of that", monitor->share > 0.3749 && monitor->share < 0.3751);
    CHECK("the JVM's own threads are left out", waits->n_threads == 4 && waits->n_visits == VISITS);
    CHECK("a pool's thread without work is idle",
          park->is_idle && !monitor->is_idle && strcmp(park->called.method, "take") == 0);
    CHECK("which is no time waited", waits->waited_ns == VISITS * TICKS * 5 / 2);
    CHECK("idle rows come last", waits->rows[0].cause == TRACE_CAUSE_MONITOR && waits->rows[2].ns <= park->ns &&
                                     (waits->rows[2].is_idle || waits->rows[3].is_idle));
    CHECK("a lock's owner is told by where it is",
          strcmp(monitor->holder.method, "compute") == 0 && monitor->holder_share > 0.999);
    CHECK("and its class", strcmp(monitor->lock_class, "java.util.LinkedHashMap") == 0);
    CHECK("threads that wait at a time are counted", monitor->n_threads == 2 && monitor->max_waiting == 2 &&
                                                         monitor->mean_waiting > 1.49 && monitor->mean_waiting < 1.51);
    const struct virtual_waits *virtuals = &waits->virtuals;
    CHECK("virtual threads have rows of their own", virtuals->n == 2 && virtuals->n_looks == 2);
    CHECK("with their mean number, and the time of all of them",
          virtuals->rows[0].cause == TRACE_CAUSE_SLEEP && virtuals->rows[0].mean_threads == 1500 &&
              virtuals->rows[0].ns == 1500.0 * VISITS * TICKS && virtuals->rows[1].mean_threads == 150);
    CHECK("where the application called", strcmp(virtuals->rows[0].where.method, "compute") == 0);
    CHECK("what is the same in all blocks of time has no error", sleep->error < 1e-9);
    view_pass_close(&pass);
    read_trace(&m, "*-3", &pass);
    CHECK("some threads' waits are theirs alone",
          pass.waits.n_threads == 1 && row_of(&pass.waits, TRACE_CAUSE_MONITOR)->ns == VISITS * TICKS / 2);
    view_pass_close(&pass);
    read_trace(&m, "late-*", &pass);
    CHECK("by names that came later, too", row_of(&pass.waits, TRACE_CAUSE_MONITOR)->ns == VISITS * TICKS);
    view_pass_close(&pass);
    unlink(m.path);
}

static void test_tables(void)
{
    struct maker m;
    struct view_pass pass;
    static struct table table;
    const struct waits_table_options all = { 0, 0 };
    write_trace(&m, true);
    read_trace(&m, NULL, &pass);
    CHECK("there is a table of waits", waits_table(&pass.source, &pass.waits, &all, &table, &err) == 0);
    const char *text = printed(&table, TEXT, &arena);
    HAS("with causes", text, "\nmonitor              Prices.quote");
    HAS("and what is idle", text, "\nidle (park)          -");
    HAS("and virtual threads", text, "\nvirtual, sleep       Prices.compute");
    HAS("those without a carrier, too", text, "\nvirtual, no carrier");
    HAS("as JSON", printed(&table, JSON, &arena), "\"monitor\"");
    CHECK("and one of locks", locks_table(&pass.source, &pass.waits, &all, &table, &err) == 0);
    HAS("with what waits, and what holds", printed(&table, TEXT, &arena),
        "LinkedHashMap  monitor  Prices.quote  Prices.compute    100.00");
    view_pass_close(&pass);
    unlink(m.path);
    write_trace(&m, false);
    read_trace(&m, NULL, &pass);
    CHECK("a trace without visits is refused", waits_table(&pass.source, &pass.waits, &all, &table, &err) < 0 &&
                                                   strstr(err.text, "does not say what threads waited for") != NULL);
    view_pass_close(&pass);
    unlink(m.path);
}

/* Others wait for thread 1, which runs; a CPU sample of it, in compute, is at so many ticks. */
static const struct wait_row *running_owner(uint64_t sample_ticks, struct maker *m, struct view_pass *pass)
{
    struct trace_wait wait = { .index = -1,
                               .n = 1,
                               .thread = 2,
                               .cause = TRACE_CAUSE_MONITOR,
                               .context = QUOTE,
                               .weight_ns = TICKS,
                               .lock_class = "a/Lock",
                               .owner = 1 };
    const struct trace_sample sample = {
        .ticks = sample_ticks, .thread = 1, .context = COMPUTE, .index = -1, .n = 1, .weight_ns = TICKS
    };
    maker_open(m, "running");
    maker_thread(m, 1, "http-1", false);
    maker_thread(m, 2, "http-2", false);
    write_contexts(m);
    for (uint32_t i = 1; i <= VISITS; i++) {
        wait.ticks = i * TICKS;
        write_wait(m, &wait);
    }
    maker_must(m, trace_write_sample(m->writer, &sample, &m->err));
    maker_must(m, trace_writer_close(m->writer, 200 * TICKS, &m->err));
    read_trace(m, NULL, pass);
    return row_of(&pass->waits, TRACE_CAUSE_MONITOR);
}

static void test_running_owner(void)
{
    struct maker m;
    struct view_pass pass;
    const struct wait_row *row = running_owner(VISITS / 2 * TICKS, &m, &pass);
    CHECK("where an owner ran is told by its CPU samples",
          row->holder.method != NULL && strcmp(row->holder.method, "compute") == 0 && row->holder_share > 0.999);
    view_pass_close(&pass);
    unlink(m.path);
    row = running_owner((VISITS / 2 + 50) * TICKS, &m, &pass);
    CHECK("of visits that are near them", row->holder_share > 0.5 && row->holder_share < 0.53);
    view_pass_close(&pass);
    unlink(m.path);
    row = running_owner(2 * (VISITS + 50) * TICKS, &m, &pass);
    CHECK("others tell nothing of it", row->holder.class_name == NULL);
    view_pass_close(&pass);
    unlink(m.path);
}

int main(void)
{
    test_rows();
    test_running_owner();
    test_tables();
    arena_free(&arena);
    return tap_done();
}
