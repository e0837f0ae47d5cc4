/*
 * mmprof jit: what the JIT compilers leave of a program's allocations and calls, and of which classes receivers of its
 * calls are.
 *
 *     Allocated by        Class  In bytecode  On the heap  Removed (%)  Bytes in bytecode  Bytes removed    (%)
 *     ---------------------------------------------------------------------------------------------------------
 *     PriceList.total:31  Point      400,000       12,040        96.99             9.6 MB        9.31 MB  96.99
 */
#include "cmd/commands.h"
#include "cmd/lab/lab_command.h"
#include "cmd/tables_page.h"
#include "core/base/pattern.h"
#include "core/emu/run/simulation_run.h"
#include "core/recorder/recorder.h"
#include "report/jit/call_counts.h"

#define FILE_BYTES_MAX   ((size_t)1 << 30)
#define INTERVAL         100 /* of receivers */
#define CALLS_INTERVAL   1000
#define INTERVAL_MAX     1000000
#define NOTHING_INTERVAL 0

struct jit_options {
    struct lab_output output;
    uint64_t top, interval, nth;
    bool receivers, calls, quiet;
    char agent[PATH_MAX];
    char *const *argv;
    const char *in, *count, *command; /* count, command: as text */
    struct arena arena;
    int status; /* of the command's last run that did not end with 0 */
};

static const char *const interpreted[] = { "-Xint", NULL };

static int parse(int argc, char **argv, struct jit_options *o, int *n_parsed, bool *done, struct err *err)
{
    const struct options_row rows[] = {
        { 0, "receivers", NULL, OPTION_FLAG, &o->receivers,
          "instead: classes of the receivers of calls, by call site and calling context" },
        { 0, "calls", NULL, OPTION_FLAG, &o->calls,
          "instead: calls that are not inlined, as it runs and with probes in all methods" },
        { 'c', "period", "N", OPTION_NUMBER, &o->interval,
          "of these: one call in N on average; 1: all (receivers 100, calls 1000)" },
        OPTIONS_OLD("interval", "period"),
        { 0, "count", "COMMAND", OPTION_TEXT, &o->count,
          "with --calls: count them in a run of this instead, as with fewer iterations" },
        { 0, "in", "METHOD", OPTION_TEXT, &o->in, "count objects only in one call of METHOD, such as an iteration" },
        { 0, "nth", "N", OPTION_NUMBER, &o->nth, "with --in: in call N of it (1)" },
        { 0, "top", "N", OPTION_NUMBER, &o->top, "print only the N first rows; 0: all (20)" },
        { 'q', "quiet", NULL, OPTION_FLAG, &o->quiet, "do not say which run is made" },
        LAB_OUTPUT_ROWS(&o->output),
        { 0 },
    };
    return command_parse(
        "jit [OPTIONS] -- COMMAND",
        "Runs a Java program twice, interpreted and compiled, and shows which of the allocations in its\n"
        "bytecode the JIT compilers remove.",
        rows, argc, argv, n_parsed, done, err);
}

static int check_window(const struct jit_options *o, struct err *err)
{
    struct pattern pattern;
    if ((o->in != NULL && (o->receivers || o->calls)) || (o->in == NULL && o->nth != 1)) {
        err_set(err, "%s", o->in == NULL ? "--nth belongs to --in" : "--in counts objects, not calls");
        return err_next(err, o->in == NULL ? "add --in METHOD" : "remove it");
    }
    if (o->in != NULL && (pattern_parse(&pattern, o->in) < 0 || !pattern.names_methods)) {
        err_set(err, "'%s' names no method", o->in);
        return err_next(err, "write it as 'com/example/Main.iterate', '*' for any characters");
    }
    if (o->nth < 1 || o->nth > INTERVAL_MAX) {
        err_set(err, "there is no call %llu", (unsigned long long)o->nth);
        return err_next(err, "give --nth 1 to %d", INTERVAL_MAX);
    }
    return 0;
}

static int check(const struct jit_options *o, struct err *err)
{
    if (o->receivers && o->calls) {
        err_set(err, "--receivers and --calls are different tables");
        return err_next(err, "give one of them");
    }
    if (o->interval != NOTHING_INTERVAL && !o->receivers && !o->calls) {
        err_set(err, "--period needs --receivers or --calls: all objects are counted");
        return err_next(err, "remove it, or add one of them");
    }
    if (o->count != NULL && !o->calls) {
        err_set(err, "--count belongs to --calls");
        return err_next(err, "remove it: both runs must use the same command");
    }
    if (o->interval > INTERVAL_MAX) {
        err_set(err, "one call in %llu is too few", (unsigned long long)o->interval);
        return err_next(err, "give --period 1 to %d", INTERVAL_MAX);
    }
    return check_window(o, err) < 0 ? -1 : tables_page_check(o->output.html, o->output.csv, o->output.json, err);
}

/* ---- runs ---- */

/* What a JVM has counted; NULL with *err set: there was none. */
static char *read_text(struct jit_options *o, const struct memory_file *file, size_t *n, struct err *err)
{
    char *text = memory_file_read(file, FILE_BYTES_MAX, &o->arena, n, o->argv[0], "no JVM has counted anything", err);
    if (text == NULL)
        err_next(err, "give a command that starts a HotSpot JVM (JDK 8 or later)");
    return text;
}

static void say_run(const struct jit_options *o, const char *what)
{
    if (!o->quiet)
        fprintf(stderr, "mmprof: a run %s\n", what);
}

/* number: as counted_run_plan has it.  Returns what was counted, n bytes; or NULL with *err set. */
static char *run(struct jit_options *o, enum counted_kind what, const char *const *flags, uint32_t number, size_t *n,
                 struct err *err)
{
    int status = 0;
    char *text = NULL;
    struct memory_file file;
    int rc = memory_file_open(&file, "mmprof-jit", &o->arena, err);
    char *const shell[] = { (char[]){ "sh" }, (char[]){ "-c" }, (char *)(uintptr_t)o->count, NULL };
    char *const *argv = o->count == NULL ? o->argv : shell;
    const struct counted_run_plan plan = { .argv = argv,
                                           .agent = o->agent,
                                           .path = file.path,
                                           .flags = flags,
                                           .what = what,
                                           .number = number,
                                           .method = o->in };
    say_run(o, flags == NULL ? "as it is" : "interpreted (-Xint)");
    if (rc == 0 && counted_run(&plan, &status, err) == 0)
        text = read_text(o, &file, n, err);
    memory_file_close(&file);
    if (status != 0)
        fprintf(stderr, "mmprof: the command ended with status %d\n", status);
    o->status = status != 0 ? status : o->status;
    return text;
}

/* title, words: of the page. */
static int print(struct jit_options *o, const struct table *table, const char *title, const char *words,
                 struct err *err)
{
    const struct html_part part = { HTML_PART_TABLE, "rows", title, words, "not applicable, or unknown", NULL };
    return lab_print(&o->output, table, title, o->command, &part, err);
}

static int refuse_empty(const struct jit_options *o, struct err *err)
{
    err_set(err, "there is no object in call %llu of '%s'", (unsigned long long)o->nth, o->in);
    return err_next(err, "see whether the program calls a method of this name so often");
}

static int count_objects(struct jit_options *o, struct err *err)
{
    struct object_counts counts;
    struct table table;
    int rc = 0;
    object_counts_init(&counts, &o->arena);
    if (o->in != NULL)
        counts.window = arena_printf(&o->arena, "call %llu of %s", (unsigned long long)o->nth, o->in);
    for (int i = 0; rc == 0 && i < OBJECTS_RUNS; i++) {
        size_t n;
        char *text = run(o, COUNT_OBJECTS, i == OBJECTS_IN_BYTECODE ? interpreted : NULL, (uint32_t)o->nth, &n, err);
        rc = text == NULL ? -1 : object_counts_read(&counts, (enum object_run)i, text, n, o->argv[0], err);
        if (rc == 0 && o->in != NULL && counts.n[i] == 0)
            rc = refuse_empty(o, err);
    }
    if (rc == 0) {
        object_counts_table(&counts, o->command, o->top, &table);
        rc = print(o, &table, "Allocations that the JIT compilers remove",
                   "What the bytecode allocates, as an interpreted run has it, and what the heap gets.", err);
    }
    object_counts_free(&counts);
    return rc;
}

static int count_receivers(struct jit_options *o, struct err *err)
{
    uint32_t interval = o->interval == NOTHING_INTERVAL ? INTERVAL : (uint32_t)o->interval;
    struct receiver_counts counts;
    struct table table;
    size_t n;
    receiver_counts_init(&counts, &o->arena, interval);
    char *text = run(o, COUNT_RECEIVERS, interpreted, interval, &n, err);
    int rc = text == NULL ? -1 : receiver_counts_read(&counts, text, n, o->argv[0], err);
    if (rc == 0) {
        receiver_counts_table(&counts, o->command, o->top, &table);
        rc = print(o, &table, "Receivers of calls by calling context",
                   "Calls whose receivers all have one type, with the call site alone and with its callers.", err);
    }
    receiver_counts_free(&counts);
    return rc;
}

static int run_compiled(struct jit_options *o, struct call_counts *counts, enum call_run run, struct err *err)
{
    int status = 0;
    say_run(o, run == CALLS_AS_IT_RUNS ? "as it is" : "with a probe in each method");
    int rc = jit_calls_run(counts, run, o->argv, &status, err);
    o->status = status != 0 ? status : o->status;
    return rc;
}

static int count_calls(struct jit_options *o, struct err *err)
{
    uint32_t interval = o->interval == NOTHING_INTERVAL ? CALLS_INTERVAL : (uint32_t)o->interval;
    struct call_counts counts;
    struct table table;
    size_t n;
    call_counts_init(&counts, &o->arena, interval);
    char *text = run(o, COUNT_CALLS, interpreted, interval, &n, err);
    int rc = text == NULL ? -1 : call_counts_read(&counts, text, n, o->argv[0], err);
    for (int i = 0; rc == 0 && i < CALL_RUNS; i++)
        rc = run_compiled(o, &counts, (enum call_run)i, err);
    if (rc == 0) {
        call_counts_table(&counts, o->command, o->top, &table);
        rc = print(o, &table, "Calls that are not inlined",
                   "From the compiled code at the end of two runs: without probes, and with a probe in each method.",
                   err);
    }
    call_counts_free(&counts);
    return rc;
}

static int find_command(struct jit_options *o, char *const *argv, struct err *err)
{
    o->argv = argv;
    o->command = tables_page_command(&o->arena, argv);
    return recorder_find_lab_agent(o->agent, sizeof o->agent, err);
}

int command_jit(int argc, char **argv, struct err *err)
{
    struct jit_options o = { .output.display = DISPLAY_PLAIN, .top = 20, .interval = NOTHING_INTERVAL, .nth = 1 };
    bool done;
    int i;
    if (parse(argc, argv, &o, &i, &done, err) < 0 || done)
        return done ? 0 : -1;
    if (lab_need_command("jit", argc, argv, i, err) < 0)
        return -1;
    int rc = check(&o, err) < 0 || find_command(&o, argv + i, err) < 0 ? -1
             : o.receivers                                             ? count_receivers(&o, err)
             : o.calls                                                 ? count_calls(&o, err)
                                                                       : count_objects(&o, err);
    arena_free(&o.arena);
    return rc < 0 ? -1 : o.status;
}
