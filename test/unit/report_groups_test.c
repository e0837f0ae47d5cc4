/*
 * The report of a session whose groups of counters took turns, of threads that were read from outside, and of sessions
 * of one group each.
 */
#include "report/view/phase_report.h"

#include "test/unit/table_printed.h"
#include "test/unit/tap.h"
#include "test/unit/trace_made.h"

#include <math.h>

enum { RUN, SORT, RARE };

#define N_TURNS 400
#define TURN_NS 1000000

static struct arena arena;
static struct err err;

struct made {
    struct trace_made trace;
    struct table table;
};

static void make_table(struct maker *m, struct made *made, uint64_t end_ticks)
{
    struct report_row_options options = { .sort = "time", .min_share = 0, .all = true };
    trace_made_open(&made->trace, m, end_ticks, &arena);
    maker_must(
        m, report_make(&made->trace.source, made->trace.totals, made->trace.n_totals, &options, &made->table, &m->err));
}

static size_t column(const struct table *table, const char *key)
{
    for (size_t c = 0; c < table->n_columns; c++)
        if (strcmp(table->columns[c].key, key) == 0)
            return c;
    printf("# no column '%s'\n", key);
    return 0;
}

static const struct table_cell *cell(const struct made *made, const char *label, const char *key)
{
    size_t c = column(&made->table, key);
    for (size_t r = 0; r < made->table.n_rows; r++)
        if (strcmp(made->table.rows[r].cells[0].words, label) == 0)
            return &made->table.rows[r].cells[c];
    static const struct table_cell missing;
    printf("# no row '%s'\n", label);
    return &missing;
}

static double number(const struct made *made, const char *label, const char *key)
{
    const struct table_cell *found = cell(made, label, key);
    return found->value == TABLE_NUMBER ? found->number : NAN;
}

static bool has_note(const struct made *made, const char *text)
{
    for (size_t i = 0; i < made->table.n_notes; i++)
        if (strstr(made->table.notes[i], text) != NULL)
            return true;
    return false;
}

/* ---- a program whose counters take turns ---- */

/* Columns: cycles, instructions and a miss of each of two groups, two times, the thread's. */
struct counted {
    uint64_t columns[9], truth[4]; /* truth: cycles, instructions, both misses, whoever counts */
};

/* A turn of group g: 1 ms with so many misses of the first and the second kind. */
static void turn(struct counted *counted, uint32_t g, uint64_t cycles, const uint64_t *misses)
{
    counted->columns[3 * g] += cycles;
    counted->columns[3 * g + 1] += 1000000;
    counted->columns[3 * g + 2] += misses[g];
    counted->columns[6 + g] += TURN_NS;
    counted->columns[8] += TURN_NS;
    counted->truth[0] += cycles;
    counted->truth[1] += 1000000;
    counted->truth[2] += misses[0];
    counted->truth[3] += misses[1];
}

static void put(struct maker *m, enum ring_kind kind, uint32_t method, uint64_t ticks, const struct counted *counted)
{
    struct step step = { .kind = kind, .method = method, .ticks = ticks };
    memcpy(step.counters, counted->columns, sizeof counted->columns);
    maker_steps(m, 0, &step, 1);
}

static uint64_t random_below(uint64_t n)
{
    static uint64_t state = UINT64_C(88172645463325252);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % n;
}

/* main: run calls sort in every other pair of turns, and rare four times; a collector is read from outside. */
static void make_program(struct maker *m, struct counted *main_thread, struct counted *gc)
{
    maker_open(m, "groups.dat");
    maker_info(m, "recording.mode", "phases");
    maker_info(m, "offcpu", "perf");
    maker_info(m, "counters.kernel", "excluded");
    GROUPS(m, "cycles:u instructions:u L1-dcache-load-misses:u", "cycles:u instructions:u LLC-load-misses:u");
    maker_thread(m, 0, "main", true);
    maker_thread(m, 1, "GC Thread#0", false);
    maker_method(m, RUN, "a/Sort", "run", "()V");
    maker_method(m, SORT, "a/Sort", "sort", "()V");
    maker_method(m, RARE, "a/Sort", "rare", "()V");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_IN, 1, 0));
    maker_must(m, trace_write_counts(m->writer, 1, 0, 0, gc->columns, &m->err));
    put(m, RING_ENTER, RUN, 0, main_thread);
    for (uint32_t i = 0; i < N_TURNS; i++) {
        bool sorts = i % 4 < 2;
        uint32_t method = !sorts ? RUN : i == 1 || i == 64 || i == 161 || i == 224 ? RARE : SORT;
        uint64_t misses[2] = { 5000 + random_below(10000), 400 + random_below(200) };
        if (method != RUN)
            put(m, RING_ENTER, method, i * UINT64_C(1000), main_thread);
        turn(main_thread, i % 2, method == RUN ? 1500000 : 2500000, misses);
        turn(gc, i % 2, 3000000, (const uint64_t[]){ 2000, 1000 });
        if (method != RUN)
            put(m, RING_EXIT, method, (i + 1) * UINT64_C(1000), main_thread);
        maker_must(m, trace_write_counts(m->writer, 1, 0, (i + 1) * UINT64_C(1000), gc->columns, &m->err));
    }
    put(m, RING_EXIT, RUN, N_TURNS * 1000, main_thread);
}

static void test_turns(void)
{
    struct maker m;
    struct made made;
    struct counted main_thread = { { 0 }, { 0 } }, gc = { { 0 }, { 0 } };
    make_program(&m, &main_thread, &gc);
    make_table(&m, &made, N_TURNS * 1000);
    double low = number(&made, "Sort.run", "L1-dcache-load-misses:u_low"),
           high = number(&made, "Sort.run", "L1-dcache-load-misses:u_high"),
           count = number(&made, "Sort.run", "L1-dcache-load-misses:u"), truth = (double)main_thread.truth[2];
    CHECK("an event that was counted half the time is estimated for all of it", fabs(count / truth - 1) < 0.1);
    CHECK("within an interval that has the truth", low < count && count < high && low < truth && truth < high);
    CHECK("and is narrow", high - low < 0.2 * truth);
    CHECK("the rate has one, too",
          number(&made, "Sort.run", "L1-dcache-load-misses:u_per_1000_instructions_low") < truth / 400e3 &&
              number(&made, "Sort.run", "L1-dcache-load-misses:u_per_1000_instructions_high") > truth / 400e3);
    CHECK("the share of the time is told", number(&made, "Sort.run", "L1-dcache-load-misses:u_scaling") == 0.5 &&
                                               number(&made, "Sort.run", "cycles:u_scaling") == 1);
    CHECK("all groups count cycles and instructions: CPI is no estimate",
          fabs(number(&made, "Sort.sort", "cpi") - 2.5) < 1e-9 &&
              number(&made, "Sort.sort", "cpi_low") == number(&made, "Sort.sort", "cpi_high"));
    CHECK("their counts are exact", number(&made, "Sort.run", "cycles:u") == (double)main_thread.truth[0] &&
                                        number(&made, "Sort.run", "instructions:u") == (double)main_thread.truth[1]);
    CHECK("threads without probes have their own",
          number(&made, "garbage collector", "cpi") == 3 &&
              number(&made, "garbage collector", "LLC-load-misses:u") == 400e3);
    CHECK("the total is that of all threads",
          number(&made, "whole process", "cycles:u") == (double)(main_thread.truth[0] + gc.truth[0]) &&
              fabs(number(&made, "whole process", "L1-dcache-load-misses:u") / (count + 800e3) - 1) < 1e-12);
    CHECK("with an interval", number(&made, "whole process", "L1-dcache-load-misses:u_high") >
                                  number(&made, "whole process", "L1-dcache-load-misses:u"));
    CHECK("of less than five turns there is no rate",
          cell(&made, "Sort.rare", "LLC-load-misses:u_per_1000_instructions")->value == TABLE_UNMEASURED);
    CHECK("but CPI", number(&made, "Sort.rare", "cpi") == 2.5);
    CHECK("and a note", has_note(&made, "because too few events were counted: Sort.rare"));
    CHECK("a note tells who was counted when", has_note(&made, "share of the time: L1-D in 50 %; LLC in 50 %"));
    CHECK("and that the kernel's part is missing", has_note(&made, "counted in user space only: "));
    CHECK("nothing says that the VM's threads were not counted", !has_note(&made, "run no probes"));
    CHECK("text has half the interval beside the rate",
          strstr(printed(&made.table, TEXT, &arena), " \xc2\xb1") != NULL);
    trace_made_close(&made.trace);
}

/* ---- events that stay 0 ---- */

/* Instructions and two misses: both 0 in the self-test, and the second one in the program, too. */
static void make_silent(struct maker *m, const char *silent)
{
    maker_open(m, "silent.dat");
    maker_info(m, "offcpu", "perf");
    if (silent != NULL)
        maker_info(m, "counters.silent", silent);
    GROUPS(m, "cycles:u instructions:k r12 r1234");
    maker_thread(m, 0, "main", true);
    maker_method(m, RUN, "a/Sort", "run", "()V");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0));
    STEPS(m, 0, ENTER(RUN, 50, 1000, 500, 0, 0), EXIT(RUN, 90000, 900000, 450000, 900, 0));
}

static void test_silent(void)
{
    static const char why[] = "not measured: r1234: it was 0 in mmprof's test loop and in the whole recording";
    struct maker m;
    struct made made;
    make_silent(&m, "r12 r1234");
    make_table(&m, &made, 100000);
    CHECK("an event that stays 0 in the self-test and in the program is not called 0",
          cell(&made, "Sort.run", "r1234_per_1000_instructions")->value == TABLE_UNMEASURED &&
              cell(&made, "Sort.run", "r1234")->value == TABLE_UNMEASURED);
    CHECK("a note says so", has_note(&made, why));
    CHECK("a rare one, which counted in the program, has its figures", number(&made, "Sort.run", "r12") == 900);
    CHECK("cycles by instructions of another mode are told of",
          has_note(&made, "CPI is 'cycles:u' divided by 'instructions:k', which count different modes (user, kernel)"));
    trace_made_close(&made.trace);
    make_silent(&m, "r12345 r123");
    make_table(&m, &made, 100000);
    CHECK("one that counted in the self-test may be 0 in the program",
          number(&made, "Sort.run", "r1234") == 0 && !has_note(&made, why));
    trace_made_close(&made.trace);
}

/* ---- other notes, and the layout ---- */

static void test_exact(void)
{
    struct maker m;
    struct made made;
    maker_open(&m, "exact.dat");
    maker_info(&m, "offcpu", "perf");
    GROUPS(&m, "cycles:u instructions:u");
    maker_info(&m, "probe.inside_counters", "100 50");
    maker_thread(&m, 0, "main", true);
    maker_thread(&m, 1, "C2 CompilerThre", false);
    maker_method(&m, RUN, "a/Sort", "run", "()V");
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_IN, 1, 0));
    READING(&m, 0, 1, 1, 0, 0);
    READING(&m, 1, 0, 1, 0, 0);
    READING(&m, 0, 1, 100000, 1000000, 500000);
    READING(&m, 1, 0, 100000, 3000000, 1000000);
    STEPS(&m, 0, ENTER(RUN, 50, 1000, 500), EXIT(RUN, 90000, 900000, 450000));
    make_table(&m, &made, 100000);
    CHECK("one group has no intervals", cell(&made, "Sort.run", "cpi")->words == NULL);
    CHECK("the total has all that was counted, the probes' own too",
          number(&made, "whole process", "cycles:u") == 4000000 &&
              number(&made, "whole process", "instructions:u") == 1500000);
    CHECK("a phase has not", number(&made, "Sort.run", "cycles:u") == 899000 - 100);
    CHECK("mmprof's own row has them",
          number(&made, "mmprof itself", "cycles:u") == 100 && number(&made, "mmprof itself", "instructions:u") == 50);
    CHECK("events with ':u' leave out the kernel, and the report says so",
          has_note(&made, "counted in user space only: "));
    trace_made_close(&made.trace);
}

static void test_partly(void)
{
    struct maker m;
    struct made made;
    maker_open(&m, "partly.dat");
    maker_info(&m, "offcpu", "perf");
    maker_info(&m, "readings", "3");
    maker_info(&m, "probe.read", "none: perf_user_access is 0");
    GROUPS(&m, "cycles instructions");
    maker_thread(&m, 0, "main", true);
    maker_method(&m, RUN, "a/Sort", "run", "()V");
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0));
    const uint64_t none = RING_NOT_COUNTED;
    READING(&m, 0, 1, 50, 0, 0);
    READING(&m, 0, 1, 500, 900, 450);
    READING(&m, 0, 1, 950, 1800, 900);
    STEPS(&m, 0, ENTER(RUN, 0, none, none), EXIT(RUN, 1000, none, none));
    make_table(&m, &made, 1000);
    CHECK("what was counted most of the time is scaled up",
          number(&made, "Sort.run", "cycles") == 1800 / 0.9 && number(&made, "Sort.run", "counted_share") == 0.9);
    CHECK("a note says of how much", has_note(&made, "share of the row's time: Sort.run in 90 %"));
    CHECK("and another that no probe read them, and why",
          has_note(&made, "probes cannot read the counters (perf_user_access is 0)"));
    CHECK("the kernel's share is in these", !has_note(&made, "counted in user space only: "));
    trace_made_close(&made.trace);
}

/* Front-end and back-end stalls, together or in groups that take turns. */
static void make_stalls(struct maker *m, struct made *made, const char *groups)
{
    maker_open(m, "stalls.dat");
    maker_info(m, "offcpu", "perf");
    maker_info(m, "counters.topdown", "Arm Neoverse N1");
    GROUPS(m, groups);
    maker_thread(m, 0, "main", true);
    maker_method(m, RUN, "a/Sort", "run", "()V");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0));
    STEPS(m, 0, ENTER(RUN, 50, 1000, 500, 0, 0), EXIT(RUN, 90000, 101000, 50500, 25000, 40000));
    make_table(m, made, 100000);
}

static void test_topdown(void)
{
    struct maker m;
    struct made made;
    make_stalls(&m, &made, "cycles instructions STALL_FRONTEND STALL_BACKEND");
    CHECK("top-down parts are the formulas over the counts",
          number(&made, "Sort.run", "frontend_bound_share") == 0.25 &&
              number(&made, "Sort.run", "backend_bound_share") == 0.4 && number(&made, "Sort.run", "cycles") == 100000);
    CHECK("one that has no formula is '-'", cell(&made, "Sort.run", "retiring_share")->value == TABLE_UNMEASURED);
    CHECK("a note says why", has_note(&made, "without a figure: Neoverse N1 counts stalled cycles, not slots"));
    CHECK("and whose formulas they are, and that nobody has tried them there",
          has_note(&made, "by the formulas of Arm Neoverse N1 (Arm Telemetry Solution, Topdown_L1): mmprof has not"));
    CHECK("their events have counts", number(&made, "Sort.run", "STALL_BACKEND") == 40000);
    CHECK("and no rates",
          table_find_column(&made.table, "STALL_BACKEND_per_1000_instructions", &err) == made.table.n_columns);
    trace_made_close(&made.trace);
    make_stalls(&m, &made, "cycles instructions STALL_FRONTEND r24");
    CHECK("without its event a part is '-'",
          cell(&made, "Sort.run", "backend_bound_share")->value == TABLE_UNMEASURED &&
              number(&made, "Sort.run", "frontend_bound_share") == 0.25);
    trace_made_close(&made.trace);
}

/* ---- recordings of one group each ---- */

/* A run of a program: one phase with so many instructions, events per 1,000 of them, method id first + RUN. */
struct one_run {
    const char *path, *command, *events, *method;
    uint32_t first_id;
    uint64_t instructions, rate;
};

static void record(const struct one_run *run, struct maker *m)
{
    uint64_t n = run->instructions, events = n / 1000 * run->rate;
    maker_open(m, run->path);
    maker_info(m, "jvm.command", run->command);
    maker_info(m, "recording.mode", "phases");
    maker_info(m, "offcpu", "perf");
    GROUPS(m, run->events);
    maker_thread(m, 0, "main", true);
    maker_method(m, run->first_id, "a/Sort", run->method, "()V");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0));
    STEPS(m, 0, ENTER(run->first_id, 0, 0, 0, 0), EXIT(run->first_id, 1000, 2 * n, n, events));
    maker_close(m, 1000);
}

struct joined {
    struct trace_reader *readers[3];
    struct calltree trees[3];
    struct report_source sources[3];
    struct report_trace traces[3];
};

/* Returns what report_make_joined does. */
static int join(const struct one_run *runs, size_t n, struct joined *joined, struct table *table)
{
    struct report_row_options options = { .sort = "time", .min_share = 0, .all = true };
    for (size_t i = 0; i < n; i++) {
        struct maker m;
        struct calltree_total *totals;
        record(&runs[i], &m);
        joined->readers[i] = maker_read(&m);
        maker_must(&m, calltree_build(joined->readers[i], &(struct calltree_options){ 0 }, &joined->trees[i], &m.err));
        calltree_totals(&joined->trees[i], VM_PART_APPLICATION, &arena, &totals, &joined->traces[i].n_totals);
        joined->sources[i] = (struct report_source){ .path = runs[i].path,
                                                     .reader = joined->readers[i],
                                                     .tree = &joined->trees[i],
                                                     .clock = PHASES_CPU,
                                                     .arena = &arena };
        joined->traces[i].source = &joined->sources[i];
        joined->traces[i].totals = totals;
    }
    int rc = report_make_joined(joined->traces, n, &options, table, &err);
    return rc;
}

static void end_join(struct joined *joined, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        calltree_free(&joined->trees[i]);
        trace_close(joined->readers[i]);
    }
    arena_free(&arena);
}

static void test_joined(void)
{
    static const struct one_run runs[] = {
        { "a.1.dat", "java Sort", "cycles instructions L1-dcache-load-misses", "run", 3, 1000000, 7 },
        { "a.2.dat", "java Sort", "cycles instructions LLC-load-misses", "run", 0, 2000000, 3 },
        { "a.3.dat", "java Sort", "cycles instructions branch-misses", "run", 5, 500000, 11 },
    };
    struct joined joined;
    struct made made;
    CHECK("recordings of one group each make one report", join(runs, 3, &joined, &made.table) == 0);
    CHECK("with the first one's counts",
          number(&made, "Sort.run", "cycles") == 2000000 && number(&made, "Sort.run", "L1-dcache-load-misses") == 7000);
    CHECK("and rates of whoever has the event, under the method's name",
          number(&made, "Sort.run", "LLC-load-misses_per_1000_instructions") == 3 &&
              number(&made, "Sort.run", "branch-misses_per_1000_instructions") == 11);
    CHECK("which make counts of the first one's instructions",
          number(&made, "Sort.run", "LLC-load-misses") == 3000 &&
              number(&made, "whole process", "branch-misses") == 11000);
    CHECK("nothing is estimated there", cell(&made, "Sort.run", "LLC-load-misses")->words == NULL);
    CHECK("notes say where each is from", has_note(&made, "times, calls and CPI come from 'a.1.dat'") &&
                                              has_note(&made, "from 'a.2.dat', ") &&
                                              has_note(&made, "of CPU time: Branches mispredicted"));
    end_join(&joined, 3);
}

static void test_not_joined(void)
{
    static const struct {
        const char *claim;
        struct one_run second;
        const char *error;
    } rows[] = {
        { "traces of two programs are refused",
          { "b.dat", "java Other", "cycles instructions LLC-load-misses", "run", 0, 1000000, 3 },
          "'a.dat' and 'b.dat' are of different programs: 'java Sort' and 'java Other'\n" },
        { "so are traces of other phases",
          { "b.dat", "java Sort", "cycles instructions LLC-load-misses", "other", 0, 1000000, 3 },
          "'a.dat' and 'b.dat' have no phase in common\n" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct one_run runs[] = {
            { "a.dat", "java Sort", "cycles instructions L1-dcache-load-misses", "run", 0, 1000000, 7 }, rows[i].second
        };
        struct joined joined;
        struct table table;
        CHECK(rows[i].claim,
              join(runs, 2, &joined, &table) < 0 && strncmp(err.text, rows[i].error, strlen(rows[i].error)) == 0);
        end_join(&joined, 2);
    }
}

static size_t longest_line(const char *text)
{
    size_t longest = 0, n = 0;
    for (; *text != '\0'; text++) {
        n = *text == '\n' ? 0 : n + (((unsigned char)*text & 0xc0) != 0x80);
        longest = n > longest ? n : longest;
    }
    return longest;
}

static void test_wide(void)
{
    struct table table;
    table_begin(&table, &arena);
    table_column(&table, "Phase", "label", TABLE_TEXT);
    table_column(&table, "Time", "time", TABLE_RATE);
    for (int i = 0; i < 30; i++)
        table.columns[table_column(&table, "L1-dcache", "rate", TABLE_RATE)].detail = 2;
    table.columns[table_column(&table, "Off-CPU/call", "off", TABLE_RATE)].detail = 3;
    table.columns[table_column(&table, "No probes because", "reason", TABLE_TEXT)].detail = 1;
    table.details[0] = "Why others have no probes";
    table.details[1] = "Per 1,000 instructions";
    for (int r = 0; r < 2; r++) {
        struct table_cell *cells = table_row(&table, "phase");
        cells[0] = table_words(r == 0 ? "Sort.run" : "mmprof itself");
        cells[1] = table_number(1);
        for (size_t c = 2; r == 0 && c < 32; c++)
            cells[c] = table_number(12.5);
        cells[32] = table_number(3);
        cells[33] = table_words(r == 0 ? "" : "excluded");
    }
    const char *text = printed(&table, TEXT, &arena);
    CHECK("a table too wide for a screen is several", longest_line(text) <= TABLE_TEXT_COLUMNS);
    size_t n_rates = 0, n_rows = 0;
    for (const char *at = text; (at = strstr(at, "12.50")) != NULL; at++)
        n_rates++;
    for (const char *at = text; (at = strstr(at, "mmprof itself")) != NULL; at++)
        n_rows++;
    CHECK_NUMBER("that have everything", n_rates, 30);
    CHECK_NUMBER("but rows without details once", n_rows, 2);
    const char *reasons = strstr(text, "\nWhy others have no probes\n"),
               *rates = strstr(text, "\nPer 1,000 instructions\n");
    CHECK("each kind of details under its heading", reasons != NULL && rates != NULL && reasons < rates);
    CHECK("words are details, too", reasons != NULL && strstr(reasons, "excluded") < rates);
    CHECK("what need not move stays", strstr(text, "Off-CPU/call") < reasons);
    table.details_wide = 1;
    text = printed(&table, TEXT, &arena);
    CHECK("details for wide tables are named only", strstr(text, "\nWhy others have no probes\n") == NULL &&
                                                        strstr(text, "\nmore columns: No probes because (--wide)\n"));
    CHECK("others are printed", strstr(text, "\nPer 1,000 instructions\n") != NULL);
    table.n_columns = 6;
    CHECK("one that fits stays one", strstr(printed(&table, TEXT, &arena), "Per 1,000") == NULL);
    arena_free(&arena);
}

int main(void)
{
    test_silent();
    test_turns();
    test_exact();
    test_partly();
    test_topdown();
    test_joined();
    test_not_joined();
    test_wide();
    return tap_done();
}
