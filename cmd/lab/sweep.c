/*
 * mmprof sweep: a program with several heap sizes, and what collections cost it with each (thesis §3.3.2).
 *
 *     Heap  Runs  Wall time  CPU time  Collections    Pauses  CoV (%)  Pauses (%)  Plot
 *     ----------------------------------------------------------------------------------------------------------------
 *     32m      3     2.31 s    3.10 s          214    612 ms     4.10       26.49  ##############################
 *     128m     3     1.72 s    2.20 s           48    102 ms     2.84        5.93  #####
 */
#include "cmd/diff_parts.h"
#include "cmd/lab/lab_command.h"
#include "core/base/options.h"
#include "core/trace/recording_info.h"
#include "phases/samples/significance.h"

#define SIZES_MAX  16
#define RUNS_MOST  100
#define COLLECTORS 4
#define BAR_WIDE   30

struct sweep_size {
    const char *name; /* "64m"; the arena's */
    struct moments wall_ns, cpu_ns, collections, pause_ns;
    const char *failed; /* why the program did not run with it; NULL: it did; the arena's */
};

struct heap_sweep {
    struct arena arena;
    struct lab_output output;
    const char *heap, *directory;
    uint64_t n_runs;
    struct sweep_size sizes[SIZES_MAX];
    size_t n_sizes;
    char **command;
};

/* ---- options ---- */

static const char usage[] = "sweep [OPTIONS] -- java ...";
static const char purpose[] =
    "Runs a program with several heap sizes in turns, and prints what its garbage collections\n"
    "cost with each: a table with a plot, means over the runs.";

static int take_sizes(struct heap_sweep *s, struct err *err)
{
    for (const char *at = s->heap; *at != '\0'; at += strspn(at, ",")) {
        size_t n = strcspn(at, ","), n_digits = strspn(at, "0123456789");
        bool is_size = n_digits > 0 && (n == n_digits || (n == n_digits + 1 && strchr("kKmMgG", at[n_digits]) != NULL));
        if (!is_size || s->n_sizes == SIZES_MAX) {
            err_set(err, "malformed heap sizes '%s'", s->heap);
            return err_next(err, "give %d at most, as -Xmx takes them: --heap 64m,128m,1g", SIZES_MAX);
        }
        s->sizes[s->n_sizes++].name = arena_text(&s->arena, at, n);
        at += n;
    }
    if (s->n_sizes > 0)
        return 0;
    err_set(err, "no heap size is given");
    return err_next(err, "--heap 64m,128m,1g has three");
}

static int check_command(const struct heap_sweep *s, struct err *err)
{
    const char *slash = strrchr(s->command[0], '/');
    if (strcmp(slash == NULL ? s->command[0] : slash + 1, "java") != 0) {
        err_set(err, "'%s' is not java", s->command[0]);
        return err_next(err, "name the JVM itself: its option -Xmx is added");
    }
    for (size_t i = 1; s->command[i] != NULL; i++)
        if (strncmp(s->command[i], "-Xmx", 4) == 0) {
            err_set(err, "'%s' sets the heap's size", s->command[i]);
            return err_next(err, "remove it: --heap has the sizes");
        }
    return 0;
}

static int parse(int argc, char **argv, struct heap_sweep *s, bool *done, struct err *err)
{
    const struct options_row rows[] = {
        { 0, "heap", "SIZES", OPTION_TEXT, &s->heap, "sizes of the heap, as -Xmx takes them (64m,128m,256m,512m)" },
        { 0, "runs", "N", OPTION_NUMBER, &s->n_runs, "runs with each size (3)" },
        { 'o', "output", "DIR", OPTION_TEXT, &s->directory, "where the traces of the runs go (mmprof-sweep)" },
        LAB_OUTPUT_ROWS(&s->output),
        { 0 },
    };
    int i;
    if (command_parse(usage, purpose, rows, argc, argv, &i, done, err) < 0 || *done)
        return *done ? 0 : -1;
    s->command = argv + i;
    if (s->n_runs == 0 || s->n_runs > RUNS_MOST) {
        err_set(err, "--runs is %" PRIu64, s->n_runs);
        return err_next(err, "give 1 to %d: --runs 3", RUNS_MOST);
    }
    if (lab_need_command("sweep", argc, argv, i, err) < 0 || check_command(s, err) < 0 || take_sizes(s, err) < 0)
        return -1;
    return tables_page_check(s->output.html, s->output.csv, s->output.json, err);
}

/* ---- runs ---- */

/* The command with that heap, as a shell takes it. */
static const char *command_of(struct heap_sweep *s, const struct sweep_size *size)
{
    const char *line =
        arena_printf(&s->arena, "exec %s -Xmx%s", diff_record_quoted(&s->arena, s->command[0]), size->name);
    for (size_t i = 1; s->command[i] != NULL; i++)
        line = arena_printf(&s->arena, "%s %s", line, diff_record_quoted(&s->arena, s->command[i]));
    return line;
}

static int take_run(struct heap_sweep *s, struct sweep_size *size, const char *path, double wall_ns, struct err *err)
{
    struct trace_reader *outline;
    double n = 0, ns = 0;
    if (trace_outline(&outline, path, false, err) < 0)
        return -1;
    for (uint32_t i = 0; i < COLLECTORS; i++) {
        struct info_collector told;
        if (info_read(outline, INFO_PAUSES_GC, i, &s->arena, &told) < 3)
            continue;
        n += (double)told.n;
        ns += (double)told.ns;
    }
    bool is_known = info_text(outline, INFO_PAUSES_FAILED) == NULL;
    double cpu_ns = info_number(outline, INFO_PROCESS_CPU_NS);
    trace_close(outline);
    moments_add(&size->wall_ns, wall_ns);
    if (cpu_ns >= 0)
        moments_add(&size->cpu_ns, cpu_ns);
    if (is_known) {
        moments_add(&size->collections, n);
        moments_add(&size->pause_ns, ns);
    }
    return 0;
}

static int run_size(struct heap_sweep *s, struct sweep_size *size, size_t run, struct err *err)
{
    struct measured_run measured;
    struct err why;
    const char *path = diff_record_path(&s->arena, s->directory, size->name, run);
    if (size->failed != NULL)
        return 0;
    if (measured_run(diff_record_command(&s->arena, path, command_of(s, size)), NULL, &measured, &why) < 0) {
        const char *at = strstr(why.text, "' failed"), *said = at == NULL ? why.text : at + 2;
        size->failed = arena_text(&s->arena, said, strcspn(said, "\n"));
        return 0;
    }
    measured_run_free(&measured);
    return take_run(s, size, path, measured.wall_ns, err);
}

static int run_all(struct heap_sweep *s, struct err *err)
{
    if (diff_record_begin(s->directory, err) < 0)
        return -1;
    for (size_t run = 1; run <= s->n_runs; run++)
        for (size_t i = 0; i < s->n_sizes; i++)
            if (run_size(s, &s->sizes[i], run, err) < 0)
                return -1;
    for (size_t i = 0; i < s->n_sizes; i++)
        if (s->sizes[i].failed == NULL)
            return 0;
    err_set(err, "the program ran with none of the heap sizes '%s'", s->heap);
    return err_next(err, "try it without mmprof, or larger sizes: --heap 256m,1g");
}

/* ---- the table ---- */

struct heap_line {
    const char *heap, *bar;
    uint64_t n;
    double wall_ns, cpu_ns, collections, pause_ns, cov, share;
};

#define LINE(member) FROM(struct heap_line, member)

static const struct table_column columns[] = {
    { "heap", "Heap", TABLE_TEXT, LINE(heap) },
    { "runs", "Runs", TABLE_COUNT, LINE(n) },
    { "wall_ns", "Wall time", TABLE_NS, LINE(wall_ns) },
    { "cpu_ns", "CPU time", TABLE_NS, LINE(cpu_ns) },
    { "collections", "Collections", TABLE_COUNT, LINE(collections) },
    { "pause_ns", "Pauses", TABLE_NS, LINE(pause_ns) },
    { "pause_cov", "CoV (%)", TABLE_SHARE, LINE(cov) },
    { "pause_share", "Pauses (%)", TABLE_SHARE, LINE(share) },
    { "plot", "Plot", TABLE_TEXT, LINE(bar) },
};

static double mean_of(const struct moments *m)
{
    return m->n == 0 ? NAN : m->mean;
}

static void add_size(const struct sweep_size *size, double largest_ns, struct table *table)
{
    static const char bar[BAR_WIDE + 1] = "##############################";
    double pause_ns = mean_of(&size->pause_ns), part = largest_ns > 0 && pause_ns > 0 ? pause_ns / largest_ns : 0;
    size_t n = (size_t)lround(part * BAR_WIDE);
    const struct heap_line line = { .heap = size->name,
                                    .bar = arena_text(table->arena, bar, n),
                                    .n = size->wall_ns.n,
                                    .wall_ns = mean_of(&size->wall_ns),
                                    .cpu_ns = mean_of(&size->cpu_ns),
                                    .collections = mean_of(&size->collections),
                                    .pause_ns = pause_ns,
                                    .cov = moments_cov(&size->pause_ns),
                                    .share = pause_ns / mean_of(&size->wall_ns) };
    table_add(table, "heap", &line);
    if (size->failed != NULL)
        table_doubt(table, arena_printf(table->arena, "%s: %s", size->name, size->failed));
}

static int print(struct heap_sweep *s, struct err *err)
{
    static const struct html_part part = { HTML_PART_TABLE,
                                           "heap",
                                           "What collections cost by the heap's size",
                                           "Means over the runs with each size.",
                                           "the program did not run, or the JVM does not tell",
                                           NULL };
    struct table *table = arena_alloc(&s->arena, sizeof *table);
    double largest_ns = 0;
    table_begin(table, &s->arena);
    TABLE_COLUMNS(table, columns, 0);
    for (size_t i = 0; i < s->n_sizes; i++)
        largest_ns = fmax(largest_ns, mean_of(&s->sizes[i].pause_ns));
    for (size_t i = 0; i < s->n_sizes; i++)
        add_size(&s->sizes[i], largest_ns, table);
    table_note(table,
               "Pauses are those of all collections of a run, and Plot draws them; times include the recording's");
    return lab_print(&s->output, table, "Heap sizes", tables_page_command(&s->arena, s->command), &part, err);
}

int command_sweep(int argc, char **argv, struct err *err)
{
    struct heap_sweep s = {
        .output.display = DISPLAY_PLAIN, .heap = "64m,128m,256m,512m", .directory = "mmprof-sweep", .n_runs = 3
    };
    bool done = false;
    int rc = parse(argc, argv, &s, &done, err);
    if (rc == 0 && !done)
        rc = run_all(&s, err) < 0 ? -1 : print(&s, err);
    arena_free(&s.arena);
    return rc;
}
