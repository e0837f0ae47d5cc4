#include "phases/tree/timeline.h"

#include "report/view/view_pass.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <math.h>

static struct arena arena;
static struct err err;

enum { MAIN, READ, PARSE, CHECK_TYPES, METHODS };
enum { APP, OTHER, SILENT, GC, C2, THREADS };

#define N_ROWS 2 /* READ and PARSE; CHECK_TYPES is its caller's */

static const uint32_t row_of[METHODS] = { CALLTREE_NONE, 0, 1, CALLTREE_NONE };

static void begin(struct maker *m, const char *name)
{
    static const char *const names[] = { "main", "read", "parse", "check" };
    static const char *const threads[] = { "main", "worker", "silent", "GC Thread#0", "C2 CompilerThre" };
    maker_open_scaled(m, name, 1000);
    maker_info(m, "offcpu", "perf");
    for (uint32_t i = 0; i < THREADS; i++)
        maker_thread(m, i, threads[i], i < SILENT);
    for (uint32_t i = 0; i < METHODS; i++)
        maker_method(m, i, "a/Parser", names[i], "()V");
}

/* One reading of a trace, as the report does it. */
struct both {
    struct calltree tree;
    struct timeline *timeline;
};

static int read_trace(struct maker *m, double step_ns, struct both *both)
{
    struct trace_reader *reader;
    maker_must(m, trace_outline(&reader, m->path, false, &m->err));
    struct timeline_options line = timeline_options_of(reader);
    trace_close(reader);
    line.step_ns = step_ns;
    if (timeline_open(&both->timeline, &line, &err) < 0)
        return -1;
    struct calltree_observer observer = timeline_observer(both->timeline);
    const struct calltree_options options = { .observer = &observer };
    reader = maker_read(m);
    maker_must(m, calltree_build(reader, &options, &both->tree, &m->err));
    maker_must(m, timeline_rows(both->timeline, &both->tree, row_of, METHODS, N_ROWS, &m->err));
    trace_close(reader);
    return 0;
}

static void close_both(struct both *both)
{
    timeline_close(both->timeline);
    calltree_free(&both->tree);
}

static uint64_t cpu(const struct both *both, enum vm_part part, uint32_t step)
{
    return timeline_cell(both->timeline, part, step).cpu_ticks;
}

/* ---- a small trace whose steps are known ---- */

static void test_steps(void)
{
    struct maker m;
    struct both both;
    begin(&m, "steps.dat");
    /* main has the CPU in 0..25 and 31..40: it was preempted; the collector in 12..18 and, after waiting, 22..24. */
    KERNEL(&m, AT(TRACE_CPU_IN, APP, 0), AT(TRACE_CPU_IN, GC, 12), AT(TRACE_PAGE_FAULT, APP, 13),
           AT(TRACE_CPU_OUT, GC, 18), AT(TRACE_CPU_IN, GC, 22), AT(TRACE_CPU_OUT, GC, 24),
           AT(TRACE_CPU_PREEMPTED, APP, 25), AT(TRACE_CPU_IN, APP, 31));
    STEPS(&m, APP, ENTER(MAIN, 0), ENTER(READ, 2), EXIT(READ, 8), ENTER(PARSE, 9), ENTER(CHECK_TYPES, 14),
          EXIT(CHECK_TYPES, 35), EXIT(PARSE, 38), EXIT(MAIN, 40));
    maker_close(&m, 42);
    CHECK("a trace is read with steps of 10 us", read_trace(&m, 10e3, &both) == 0);
    const struct timeline *tl = both.timeline;
    CHECK("five steps are 42 us", timeline_n_steps(tl) == 5 && timeline_step_ns(tl) == 10e3);
    CHECK("they begin every 10 us, the last one ends with the recording",
          timeline_start_ns(tl, 3) == 30e3 && timeline_start_ns(tl, 5) == 42e3);
    CHECK("the application's CPU time in each",
          cpu(&both, VM_PART_APPLICATION, 0) == 10 && cpu(&both, VM_PART_APPLICATION, 1) == 10 &&
              cpu(&both, VM_PART_APPLICATION, 2) == 5 && cpu(&both, VM_PART_APPLICATION, 3) == 9);
    CHECK("the collector's", cpu(&both, VM_PART_GC, 0) == 0 && cpu(&both, VM_PART_GC, 1) == 6 &&
                                 cpu(&both, VM_PART_GC, 2) == 2 && cpu(&both, VM_PART_GC, 3) == 0);
    CHECK("a part that was not there", !timeline_has_part(tl, VM_PART_C1) && cpu(&both, VM_PART_C1, 0) == 0);
    CHECK("who was preempted waits for a CPU", timeline_cell(tl, VM_PART_APPLICATION, 2).runnable_ticks == 5 &&
                                                   timeline_cell(tl, VM_PART_APPLICATION, 3).runnable_ticks == 1);
    CHECK("who left it does not",
          timeline_cell(tl, VM_PART_GC, 1).runnable_ticks == 0 && timeline_cell(tl, VM_PART_GC, 2).runnable_ticks == 0);
    CHECK("a fault is in its step", timeline_cell(tl, VM_PART_APPLICATION, 1).metrics[CALLTREE_FAULTS] == 1 &&
                                        timeline_cell(tl, VM_PART_APPLICATION, 0).metrics[CALLTREE_FAULTS] == 0);
    CHECK("so is a switch", timeline_cell(tl, VM_PART_APPLICATION, 2).metrics[CALLTREE_SWITCHES] == 1);
    CHECK("a row's time", timeline_row_ticks(tl, 0, 0) == 6 && timeline_row_ticks(tl, 0, 1) == 0);
    CHECK("what a row calls is its own where that is none",
          timeline_row_ticks(tl, 1, 0) == 1 && timeline_row_ticks(tl, 1, 1) == 10 && timeline_row_ticks(tl, 1, 3) == 7);
    CHECK("what is in no row", timeline_row_ticks(tl, N_ROWS, 0) == 3 && timeline_row_ticks(tl, N_ROWS, 3) == 2);
    close_both(&both);
}

static void test_choice(void)
{
    static const struct {
        double seconds;
        uint32_t max;
        double step_ns;
        uint32_t n;
    } rows[] = { { 0, 0, 1e6, 1 },        { 0.05, 0, 1e6, 50 },   { 0.101, 0, 2e6, 51 },
                 { 20, 0, 200e6, 100 },   { 20.1, 0, 500e6, 41 }, { 20, 500, 50e6, 400 },
                 { 3600, 100, 50e9, 72 }, { 1, 1000, 1e6, 1000 }, { 60, 0, 1e9, 60 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct timeline_options options = { 7, 7 + (uint64_t)(rows[i].seconds * 1e8), 10, 0, rows[i].max, 0 };
        struct timeline *tl;
        char claim[80];
        snprintf(claim, sizeof claim, "%g s have %u steps of %g ms", rows[i].seconds, rows[i].n, rows[i].step_ns / 1e6);
        CHECK(claim, timeline_open(&tl, &options, &err) == 0 && timeline_n_steps(tl) == rows[i].n &&
                         fabs(timeline_step_ns(tl) - rows[i].step_ns) < 1e-3);
        timeline_close(tl);
    }
    struct timeline_options short_steps = { 0, 1000000000, 1, 1e3, 0, 0 };
    struct timeline *tl;
    CHECK("a million steps are refused", timeline_open(&tl, &short_steps, &err) < 0 && tl == NULL &&
                                             strstr(err.text, "next: take longer ones") != NULL);
}

/* ---- sums are the tree's ---- */

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(random_state >> 8) * n >> 24);
}

/* What a made thread is like now. */
struct made {
    bool is_on;
    uint32_t stack[8], depth;
    uint64_t values[TRACE_COLUMNS_MAX];
};

static void count_on(struct maker *m, struct made *t)
{
    for (size_t i = 0; i < m->n_counters; i++)
        t->values[i] += random_below(5000);
}

/* A round: 400 us of kernel events and readings, then the records of that time. */
static void make_round(struct maker *m, struct made *threads, uint64_t start, bool has_switches)
{
    for (uint64_t now = start; has_switches && now < start + 400; now += 1 + random_below(30)) {
        uint32_t i = random_below(THREADS);
        enum trace_kind leave = random_below(2) == 0 ? TRACE_CPU_OUT : TRACE_CPU_PREEMPTED;
        enum trace_kind kind = random_below(4) == 0 ? TRACE_PAGE_FAULT : threads[i].is_on ? leave : TRACE_CPU_IN;
        KERNEL(m, AT(kind, i, now));
        threads[i].is_on = kind == TRACE_PAGE_FAULT ? threads[i].is_on : !threads[i].is_on;
    }
    for (uint32_t i = SILENT; m->n_counters > 0 && i < THREADS; i++) {
        count_on(m, &threads[i]);
        maker_must(m, trace_write_counts(m->writer, i, 0, start + 50 + random_below(300), threads[i].values, &m->err));
    }
    for (uint32_t i = 0; i < SILENT; i++)
        for (uint64_t now = start + random_below(40); now < start + 400; now += 1 + random_below(150)) {
            struct made *t = &threads[i];
            bool enters = t->depth == 0 || (t->depth < 8 && random_below(2) == 0);
            struct step step = { enters ? RING_ENTER : RING_EXIT, 0, now, { 0 } };
            if (enters)
                t->stack[t->depth++] = random_below(METHODS);
            step.method = t->stack[enters ? t->depth - 1 : --t->depth];
            count_on(m, t);
            memcpy(step.counters, t->values, sizeof t->values);
            if (random_below(20) == 0 && m->n_counters > 0)
                step.counters[0] = TRACE_NOT_COUNTED;
            maker_steps(m, i, &step, 1);
        }
}

static void make_random(struct maker *m, uint32_t seed, bool has_counters, bool has_switches)
{
    struct made threads[THREADS] = { { .is_on = false } };
    random_state = seed;
    begin(m, "random.dat");
    if (has_counters)
        GROUPS(m, "cycles instructions");
    if (!has_switches)
        maker_info(m, "offcpu", "none: not allowed");
    maker_info(m, "probe.inside_ticks", "1.25");
    maker_info(m, "probe.outside_ticks", "0.5");
    maker_info(m, "probe.inside_counters", "100 50");
    maker_info(m, "probe.outside_counters", "30.5 7");
    for (uint64_t round = 0; round < 20; round++)
        make_round(m, threads, round * 400, has_switches);
    maker_close(m, 20 * 400 + random_below(100));
}

/* Whether each part's sums are those of the tree's threads and roots; *what says of what they are not. */
static bool parts_agree(const struct both *both, const char **what)
{
    const struct calltree *tree = &both->tree;
    uint64_t ticks[VM_PARTS] = { 0 };
    for (uint32_t i = 0; i < tree->n_threads; i++) {
        ticks[tree->threads[i].part] += tree->threads[i].cpu_ticks - tree->threads[i].probe_ticks;
        ticks[VM_PART_MMPROF] += tree->threads[i].probe_ticks;
    }
    for (enum vm_part p = 0; p < VM_PARTS; p++) {
        uint64_t sum = 0, metrics[8] = { 0 };
        for (uint32_t s = 0; s < timeline_n_steps(both->timeline); s++) {
            struct timeline_cell cell = timeline_cell(both->timeline, p, s);
            sum += cell.cpu_ticks;
            for (size_t i = 0; i < tree->n_metrics; i++)
                metrics[i] += cell.metrics[i];
        }
        for (uint32_t r = 0; r < tree->n_roots; r++)
            for (size_t i = 0; tree->roots[r].part == p && i < tree->n_metrics; i++)
                metrics[i] -= calltree_total_metrics(tree, tree->roots[r].node)[i];
        *what = sum != ticks[p] ? "CPU time" : NULL;
        for (size_t i = 0; *what == NULL && i < tree->n_metrics; i++)
            *what = metrics[i] != 0 ? i < CALLTREE_COUNTERS ? "metrics" : "counters" : NULL;
        if (*what != NULL)
            return false;
    }
    return true;
}

/* Whether the rows' sums are those of the tree's nodes, and each step's the application's. */
static bool rows_agree(const struct both *both)
{
    const struct calltree *tree = &both->tree;
    uint64_t sums[N_ROWS + 1] = { 0 };
    for (uint32_t r = 0; r < tree->n_roots; r++) {
        struct calltree_walk walk = calltree_walk_from(tree, tree->roots[r].node);
        while (tree->roots[r].part == VM_PART_APPLICATION && calltree_walk(&walk)) {
            uint32_t node = walk.node;
            while (tree->nodes[node].parent != node && row_of[tree->nodes[node].method] == CALLTREE_NONE)
                node = tree->nodes[node].parent;
            bool is_root = tree->nodes[node].parent == node;
            if (!walk.is_leaving)
                sums[is_root ? N_ROWS : row_of[tree->nodes[node].method]] += tree->nodes[walk.node].cpu_ticks;
        }
    }
    for (uint32_t s = 0; s < timeline_n_steps(both->timeline); s++) {
        uint64_t in_step = 0;
        for (uint32_t row = 0; row <= N_ROWS; row++) {
            in_step += timeline_row_ticks(both->timeline, row, s);
            sums[row] -= timeline_row_ticks(both->timeline, row, s);
        }
        if (in_step != cpu(both, VM_PART_APPLICATION, s))
            return false;
    }
    return sums[0] == 0 && sums[1] == 0 && sums[N_ROWS] == 0;
}

/* No thread has more time in a step than it is long. */
static bool steps_have_room(const struct both *both)
{
    for (uint32_t s = 0; s < timeline_n_steps(both->timeline); s++) {
        double ns = timeline_start_ns(both->timeline, s + 1) - timeline_start_ns(both->timeline, s);
        struct timeline_cell gc = timeline_cell(both->timeline, VM_PART_GC, s);
        if (timeline_ns(both->timeline, gc.cpu_ticks + gc.runnable_ticks) > ns + 2000)
            return false;
    }
    return true;
}

static void test_sums(void)
{
    static const struct {
        const char *claim;
        bool has_counters, has_switches;
    } rows[] = { { "with the kernel's events", false, true },
                 { "with counters and readings", true, true },
                 { "with neither", false, false },
                 { "with counters only", true, false } };
    static const double steps_ns[] = { 7e3, 100e3, 1234.5e3, 100e6 };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char claim[120];
        const char *what = NULL;
        bool all = true, all_rows = true, all_room = true;
        for (uint32_t n = 0; all && n < 24; n++) {
            struct maker m;
            struct both both;
            make_random(&m, n + 1, rows[i].has_counters, rows[i].has_switches);
            all = read_trace(&m, steps_ns[n % 4], &both) == 0 && parts_agree(&both, &what);
            all_rows = all_rows && rows_agree(&both);
            all_room = all_room && steps_have_room(&both);
            close_both(&both);
        }
        snprintf(claim, sizeof claim, "sums over steps are the tree's, %s", rows[i].claim);
        CHECK(claim, all);
        if (what != NULL)
            printf("# not its %s\n", what);
        snprintf(claim, sizeof claim, "and those of rows, %s", rows[i].claim);
        CHECK(claim, all_rows);
        snprintf(claim, sizeof claim, "no step has more than its time, %s", rows[i].claim);
        CHECK(claim, all_room);
    }
}

/* ---- regions ---- */

/* For so many us one of: a method alone with a CPI, or nothing but the collector, or nothing. */
struct stretch {
    uint32_t method; /* METHODS: the collector; above: nothing */
    uint64_t us, cpi;
};

static void make_stretches(struct maker *m, const char *name, const struct stretch *stretches, size_t n)
{
    uint64_t now = 0, values[2] = { 0, 0 };
    begin(m, name);
    GROUPS(m, "cycles instructions");
    for (size_t i = 0; i < n; i++) {
        uint64_t end = now + stretches[i].us;
        uint32_t method = stretches[i].method;
        if (method == METHODS)
            KERNEL(m, AT(TRACE_CPU_IN, GC, now), AT(TRACE_CPU_OUT, GC, end));
        if (method < METHODS) {
            KERNEL(m, AT(TRACE_CPU_IN, APP, now), AT(TRACE_CPU_OUT, APP, end));
            STEPS(m, APP, ENTER(method, now, values[0], values[1]));
            values[0] += stretches[i].us * stretches[i].cpi * 100;
            values[1] += stretches[i].us * 100;
            STEPS(m, APP, EXIT(method, end, values[0], values[1]));
        }
        now = end;
    }
    maker_close(m, now);
}

static bool regions_are(const struct timeline_regions *regions, const char *expected)
{
    for (size_t i = 0; i < strlen(expected); i++)
        if (regions->of_step[i] != (uint32_t)(expected[i] - '0'))
            return false;
    return true;
}

static void test_regions(void)
{
    static const struct stretch stretches[] = { { READ, 300, 1 },  { METHODS, 100, 0 }, { PARSE, 200, 1 },
                                                { READ, 200, 1 },  { METHODS, 100, 0 }, { METHODS + 1, 100, 0 },
                                                { PARSE, 200, 1 }, { PARSE, 200, 3 } };
    /* The second one is not in this trace. */
    static const uint8_t cycles[] = { CALLTREE_COUNTERS, CALLTREE_COUNTERS + 2 },
                         instructions[] = { CALLTREE_COUNTERS + 1 };
    struct maker m;
    struct both both;
    struct timeline_regions regions;
    make_stretches(&m, "regions.dat", stretches, sizeof stretches / sizeof stretches[0]);
    CHECK("a program with stretches of its own is read", read_trace(&m, 100e3, &both) == 0);
    struct timeline_regions_options code = { .distance = 0 }, with_cpi = { cycles, instructions, 2, 1, 0 };
    timeline_find_regions(both.timeline, &code, &arena, &regions);
    CHECK("the collector's is the first, others as they come, and come again", regions_are(&regions, "22213322103333"));
    CHECK("there are three", regions.n == 3 && regions.regions[1].is_gc && !regions.regions[2].is_gc);
    CHECK("the second comes twice, the collector's too",
          regions.regions[2].n_times == 2 && regions.regions[2].n_steps == 5 && regions.regions[1].n_times == 2);
    CHECK("a row is where its time is", regions.of_row[0] == 2 && regions.of_row[1] == 3);
    CHECK("idle steps are none", regions.regions[TIMELINE_IDLE].n_steps == 1);
    timeline_find_regions(both.timeline, &with_cpi, &arena, &regions);
    CHECK("with counters, the same code at another CPI is another region",
          regions.n == 4 && regions_are(&regions, "22213322103344"));
    struct timeline_regions_options wide = { .distance = 2 };
    timeline_find_regions(both.timeline, &wide, &arena, &regions);
    CHECK("how far apart they are is the caller's choice", regions.n == 2);
    close_both(&both);
}

/* Without threads of the collector the VM thread collects, but not in each of its moments. */
static void test_serial(void)
{
    struct maker m;
    struct both both;
    struct timeline_regions regions;
    begin(&m, "serial.dat");
    maker_thread(&m, GC, "VM Thread", false);
    KERNEL(&m, AT(TRACE_CPU_IN, APP, 0), AT(TRACE_CPU_OUT, APP, 100), AT(TRACE_CPU_IN, GC, 100),
           AT(TRACE_CPU_OUT, GC, 150), AT(TRACE_CPU_IN, GC, 220), AT(TRACE_CPU_OUT, GC, 225));
    STEPS(&m, APP, ENTER(READ, 0), EXIT(READ, 100));
    maker_close(&m, 300);
    struct timeline_regions_options options = { .distance = 0 };
    CHECK("a trace of the serial collector is read", read_trace(&m, 100e3, &both) == 0);
    timeline_find_regions(both.timeline, &options, &arena, &regions);
    CHECK("half a step of the VM thread is a collection, a twentieth is none",
          regions_are(&regions, "210") && regions.regions[1].is_gc);
    close_both(&both);
}

/* 3000 steps of as many mixtures: there is an end to regions. */
static void test_many_regions(void)
{
    static struct stretch stretches[6000];
    struct maker m;
    struct both both;
    struct timeline_regions regions;
    for (size_t i = 0; i < 6000; i += 2) {
        uint64_t us = 10 + i * 7919 % 80;
        stretches[i] = (struct stretch){ READ, us, 1 + i % 9 };
        stretches[i + 1] = (struct stretch){ PARSE, 100 - us, 1 + i % 7 };
    }
    make_stretches(&m, "many.dat", stretches, 6000);
    CHECK("a trace of 3000 unlike steps is read", read_trace(&m, 100e3, &both) == 0);
    struct timeline_regions_options options = { .distance = 0.001 };
    timeline_find_regions(both.timeline, &options, &arena, &regions);
    CHECK("it has at most 32 regions", regions.n > 8 && regions.n <= 32);
    uint64_t ticks = 0;
    for (uint32_t r = 0; r <= regions.n; r++)
        ticks += regions.regions[r].cpu_ticks;
    CHECK("they have all of the time", ticks == 300000);
    close_both(&both);
}

/* ---- the table ---- */

static double number_in(const struct table *table, const char *kind, size_t row, const char *key)
{
    for (size_t i = 0; i < table->n_rows; i++) {
        if (strcmp(table->rows[i].kind, kind) != 0 || row-- > 0)
            continue;
        for (size_t c = 0; c < table->n_columns; c++)
            if (strcmp(table->columns[c].key, key) == 0)
                return table->rows[i].cells[c].number;
    }
    return NAN;
}

static void test_table(void)
{
    static const struct stretch stretches[] = {
        { READ, 300, 1 }, { METHODS, 100, 0 }, { PARSE, 400, 3 }, { METHODS + 1, 100, 0 }
    };
    struct maker m;
    struct view_pass pass;
    static struct table table;
    make_stretches(&m, "table.dat", stretches, 4);
    const struct view_pass_options of_line = { .path = m.path, .parts = VIEW_PASS_TIMELINE, .step_ns = 100e3 };
    const struct report_row_options options = { .sort = "time", .all = true };
    CHECK("the report reads a time line",
          view_pass_read(&of_line, &arena, &pass, &err) == 0 &&
              timeline_end(&pass.source, pass.totals, pass.n_totals, &options, &pass.line, &err) == 0);
    timeline_table(&pass.source, &pass.line, false, &table);
    CHECK("with its CPI", number_in(&table, "application", 0, "cpi") == 1 &&
                              number_in(&table, "application", 5, "cpi") == 3 &&
                              number_in(&table, "gc", 3, "cpu_ns") == 100e3);
    CHECK("and its counts", number_in(&table, "application", 4, "instructions") == 1e4);
    CHECK("the regions", number_in(&table, "region", 1, "times") == 1 && number_in(&table, "region", 3, "cpi") == 3 &&
                             number_in(&table, "region", 3, "steps") == 4);
    CHECK("and the phases' regions", number_in(&table, "phase", 0, "region") == 3 &&
                                         number_in(&table, "phase", 0, "cpu_ns") == 400e3 &&
                                         number_in(&table, "phase", 1, "region") == 2);
    timeline_table(&pass.source, &pass.line, true, &table);
    CHECK("text has a row for each step", table.n_rows == 9 && number_in(&table, "step", 3, "gc") == 1 &&
                                              number_in(&table, "step", 0, "application") == 1 &&
                                              number_in(&table, "step", 8, "region") == 0);
    view_pass_close(&pass);
}

int main(void)
{
    test_steps();
    test_choice();
    test_sums();
    test_regions();
    test_serial();
    test_many_regions();
    test_table();
    arena_free(&arena);
    return tap_done();
}
