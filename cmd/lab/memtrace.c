/*
 * mmprof memtrace: a Java program's memory accesses and objects, from beneath the JVM: recorded, read, or given to a
 * tool.
 */
#include "cmd/commands.h"
#include "cmd/lab/lab_command.h"
#include "cmd/output_file.h"
#include "cmd/tables_page.h"
#include "cmd/trace_argument.h"

#include "core/recorder/recorder.h"
#include "core/emu/run/simulation_run.h"
#include "report/view/last_uses.h"
#include "report/view/lifetimes.h"
#include "report/view/live_bytes.h"

#include <sys/stat.h>

#define DEFAULT_FILE "memtrace.dat"
#define EMPTY_BYTES  100 /* nothing but a begin and an end */

struct memtrace_options {
    struct display *display;
    const char *output, *tool, *html, *lifetimes; /* lifetimes: by what, or NULL */
    uint64_t interval_bytes, top;
    bool print, objects_only, last_uses, no_fold, live_bytes, points, all_threads, quiet, csv, json;
};

static int parse(int argc, char **argv, struct memtrace_options *o, int *n_parsed, bool *done, struct err *err)
{
    const struct options_row rows[] = {
        { 'o', "output", "FILE", OPTION_TEXT, &o->output, "write to FILE (memtrace.dat)" },
        { 0, "objects-only", NULL, OPTION_FLAG, &o->objects_only, "record objects and their lifetimes, no accesses" },
        { 0, "last-uses", NULL, OPTION_FLAG, &o->last_uses,
          "record objects and where each was used last; of a file, print what could be replaced" },
        { 0, "all-threads", NULL, OPTION_FLAG, &o->all_threads,
          "also record accesses by garbage collector and JIT compiler threads" },
        { 'c', "period", "BYTES", OPTION_SIZE, &o->interval_bytes,
          "sample one object per BYTES allocated; 0: all (0)" },
        OPTIONS_OLD("interval", "period"),
        { 0, "tool", "LIBRARY", OPTION_TEXT, &o->tool,
          "pass accesses and objects to this library instead; its argument follows a comma" },
        { 'q', "quiet", NULL, OPTION_FLAG, &o->quiet, "do not say what was recorded" },
        { 0, "print", NULL, OPTION_FLAG, &o->print, "print FILE as text: a line for each access" },
        { 0, "lifetimes", "BY", OPTION_MAYBE_TEXT, &o->lifetimes,
          "how long objects were used, by class, site, or as a distribution (class)" },
        { 0, "live-bytes", NULL, OPTION_FLAG, &o->live_bytes, "live bytes against allocated bytes, with collections" },
        { 0, "collection-points", NULL, OPTION_FLAG, &o->points,
          "where in the program few bytes are live, call for call" },
        { 0, "no-fold", NULL, OPTION_FLAG, &o->no_fold,
          "with --last-uses: also rows for objects passed on within the JDK and frameworks" },
        { 0, "top", "N", OPTION_NUMBER, &o->top,
          "print only the N first rows, or N points of --live-bytes; 0: all (20)" },
        { 0, "html", "FILE", OPTION_TEXT, &o->html, "write all tables of a file as one page for a browser" },
        { 0, "csv", NULL, OPTION_FLAG, &o->csv, "print the table as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &o->json, "print the table as JSON" },
        DISPLAY_ROW(o->display),
        DISPLAY_PAGER_ROW(o->display),
        { 0 },
    };
    return command_parse("memtrace [OPTIONS] -- COMMAND ... | [OPTIONS] [FILE]",
                         "Records the memory accesses and objects of a Java program, which runs in an emulator, as an\n"
                         "address trace; or says what is in one.",
                         rows, argc, argv, n_parsed, done, err);
}

/* ---- reading ---- */

static int print_lifetimes(const struct memtrace_options *o, struct memtrace_reader *reader, const char *path,
                           struct err *err)
{
    struct arena arena = { 0 };
    struct lifetimes *lifetimes = NULL;
    struct table table;
    enum lifetimes_by by;
    int rc = -1;
    if (lifetimes_by_parse(o->lifetimes, &by, err) == 0 && lifetimes_read(&lifetimes, reader, err) == 0) {
        lifetimes_table(lifetimes, path, by, o->top, &arena, &table);
        rc = command_print_table(&table, o->csv, o->json, o->display, err);
    }
    lifetimes_free(lifetimes);
    arena_free(&arena);
    return rc;
}

static int print_last_uses(const struct memtrace_options *o, struct memtrace_reader *reader, const char *path,
                           struct err *err)
{
    struct arena arena = { 0 };
    struct last_uses uses;
    struct table table;
    const struct folding_list *libraries = folding_read(NULL, &arena, err);
    if (libraries == NULL || last_uses_read(&uses, reader, path, err) < 0) {
        arena_free(&arena);
        return -1;
    }
    if (!o->no_fold)
        last_uses_fold(&uses, libraries);
    last_uses_table(&uses, path, o->top, &arena, &table);
    int rc = command_print_table(&table, o->csv, o->json, o->display, err);
    last_uses_free(&uses);
    arena_free(&arena);
    return rc;
}

static int print_live(const struct memtrace_options *o, struct memtrace_reader *reader, const char *path,
                      struct err *err)
{
    struct arena arena = { 0 };
    struct live_bytes live;
    struct live_points points = { NULL, 0, 0 };
    struct table table;
    if (live_bytes_read(&live, reader, err) < 0)
        return -1;
    if (o->live_bytes) {
        live_bytes_table(&live, path, o->top, &arena, &table);
    } else {
        live_points_find(&live, &points);
        live_points_table(&live, &points, path, o->top, &arena, &table);
    }
    int rc = command_print_table(&table, o->csv, o->json, o->display, err);
    live_points_free(&points);
    live_bytes_free(&live);
    arena_free(&arena);
    return rc;
}

static int check_page(const struct memtrace_options *o, struct err *err)
{
    if (!o->print && o->lifetimes == NULL && !o->last_uses && !o->live_bytes && !o->points)
        return tables_page_check(o->html, o->csv, o->json, err);
    err_set(err, "--html writes all tables, so it takes no option for one of them");
    return err_next(err, "run 'mmprof memtrace' once for each");
}

static int read_trace(const struct memtrace_options *o, const char *path, struct err *err)
{
    struct memtrace_reader *reader;
    if (o->html != NULL)
        return check_page(o, err) < 0 ? -1 : memtrace_page_write(path, o->html, o->top, err);
    if (memtrace_open(&reader, path, err) < 0)
        return -1;
    int rc = o->lifetimes != NULL                ? print_lifetimes(o, reader, path, err)
             : o->last_uses                      ? print_last_uses(o, reader, path, err)
             : o->live_bytes || o->points        ? print_live(o, reader, path, err)
             : !o->print                         ? memtrace_summarize(stdout, reader, path, err)
             : display_open(o->display, err) < 0 ? -1
                                                 : memtrace_print(stdout, reader, err);
    memtrace_close(reader);
    return rc;
}

/* ---- recording ---- */

/* The writer's argument. */
static const char *writer_argument(const struct memtrace_options *o, char text[PATH_MAX])
{
    size_t n = (size_t)snprintf(text, PATH_MAX, "%s%s",
                                o->last_uses      ? "last-uses,"
                                : o->objects_only ? "objects,"
                                                  : "",
                                o->all_threads ? "all-threads," : "");
    if (o->interval_bytes > 0)
        snprintf(text + n, PATH_MAX - n, "interval=%" PRIu64, o->interval_bytes);
    return text;
}

/* The library and what stands behind its comma, in text. */
static const char *split_tool(const struct memtrace_options *o, char text[PATH_MAX], const char **argument)
{
    if (o->tool == NULL) {
        *argument = writer_argument(o, text);
        return NULL;
    }
    snprintf(text, PATH_MAX, "%s", o->tool);
    char *comma = strchr(text, ',');
    *argument = comma == NULL ? "" : comma + 1;
    if (comma != NULL)
        *comma = '\0';
    return text;
}

#if defined __aarch64__
#define KNOWS_LAST_USES false
#else
#define KNOWS_LAST_USES true
#endif

static int check(const struct memtrace_options *o, struct err *err)
{
    if (o->last_uses && !KNOWS_LAST_USES) {
        err_set(err, "--last-uses follows calls by the return addresses on the stack, which aarch64 has in a register");
        return err_next(err, "record lifetimes and live bytes here with --objects-only; last uses on x86-64");
    }
    if (o->print || o->lifetimes != NULL || o->live_bytes || o->points || o->html != NULL) {
        err_set(err, "--print, --lifetimes, --live-bytes, --collection-points and --html read a file and run no "
                     "command");
        return err_next(err, "record first: 'mmprof memtrace -o FILE -- java ...'");
    }
    if (o->last_uses && o->all_threads) {
        err_set(err, "--last-uses records no accesses, and --all-threads asks for more of them");
        return err_next(err, "remove one of them");
    }
    if (o->tool != NULL && (o->objects_only || o->all_threads || o->last_uses)) {
        err_set(err,
                "--tool writes no address trace, so it does not take --objects-only, --last-uses or --all-threads");
        return err_next(err, "remove them, or remove --tool");
    }
    if (o->interval_bytes > INT_MAX) {
        err_set(err, "an interval of more than 2 GB is too long");
        return err_next(err, "give --period 512K, or 0 for all objects");
    }
    return 0;
}

static int record(const struct memtrace_options *o, char *const *argv, struct err *err)
{
    char agent[PATH_MAX], text[PATH_MAX], name[PATH_MAX];
    const char *argument, *tool = split_tool(o, text, &argument);
    const char *output = tool == NULL || o->output != NULL ? name : NULL;
    int status = 0;
    struct tool_run_plan plan = { .argv = argv,
                                  .agent = agent,
                                  .tool = tool,
                                  .argument = argument,
                                  .output = output,
                                  .interval_bytes = o->interval_bytes };
    if (output_file_name(o->output == NULL ? DEFAULT_FILE : o->output, "-o", 0, name, err) < 0 || check(o, err) < 0 ||
        recorder_find_lab_agent(agent, sizeof agent, err) < 0)
        return -1;
    if (tool == NULL)
        remove(output); /* what an earlier run left is not taken for this one's */
    if (tool_run(&plan, &status, err) < 0)
        return -1;
    struct stat file;
    if (tool == NULL && (stat(output, &file) < 0 || file.st_size < EMPTY_BYTES)) {
        err_set(err, "'%s' ended, and nothing of a JVM was recorded", argv[0]);
        return err_next(err, "see the messages above; give a command that starts a JVM (HotSpot 17 to 26)");
    }
    if (tool == NULL && !o->quiet)
        fprintf(stderr, "mmprof: '%s' has %.1f MB: 'mmprof memtrace %s' says what is in it\n", output,
                (double)file.st_size / 1e6, output);
    return status;
}

/* Options before and after a trace's name: *path, or NULL; and *command, what is behind "--", or NULL. */
static int parse_words(int argc, char **argv, struct memtrace_options *o, const char **path, char ***command,
                       bool *done, struct err *err)
{
    *path = NULL;
    *command = NULL;
    for (int i = 0;; argc -= i, argv += i) {
        if (i > 0)
            *path = argv[0];
        if (parse(argc, argv, o, &i, done, err) < 0)
            return -1;
        if (*done || i >= argc)
            return 0;
        if (strcmp(argv[i - 1], "--") == 0)
            *command = argv + i;
        if (*path != NULL) {
            err_set(err, "one thing at a time, not '%s' and '%s'", *path, argv[i]);
            return err_next(err, "a command to record stands behind '--': mmprof memtrace -o FILE -- java ...");
        }
        if (*command != NULL)
            return 0;
    }
}

int command_memtrace(int argc, char **argv, struct err *err)
{
    struct display display = DISPLAY_OF_PAGES;
    struct memtrace_options options = { .display = &display, .top = 20 };
    const char *path;
    char **command;
    bool done;
    if (parse_words(argc, argv, &options, &path, &command, &done, err) < 0)
        return -1;
    if (done)
        return 0;
    if (command != NULL)
        return record(&options, command, err);
    if (options.output != NULL || options.tool != NULL || options.objects_only || options.all_threads) {
        err_set(err, "no command to record is given");
        return err_next(err, "give it behind '--': mmprof memtrace -o FILE -- java ...");
    }
    return display_close(&display, read_trace(&options, path != NULL ? path : DEFAULT_FILE, err), err);
}
