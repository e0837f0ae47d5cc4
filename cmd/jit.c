/*
 * mmprof jit: what the JIT compilers leave of a program's allocations.
 *
 *     Allocated by        Class  In bytecode  On the heap  Removed (%)  Bytes in bytecode  Bytes removed    (%)
 *     ---------------------------------------------------------------------------------------------------------
 *     PriceList.total:31  Point      400,000       12,040        96.99             9.6 MB        9.31 MB  96.99
 */
#include "cmd/commands.h"
#include "cmd/output_file.h"
#include "cmd/trace_argument.h"
#include "core/base/text.h"
#include "core/recorder/objects_run.h"
#include "core/recorder/recorder.h"
#include "report/jit/object_counts.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX ((off_t)1 << 30)

struct jit_options {
    struct display display;
    uint64_t top;
    bool quiet, csv, json;
    char agent[PATH_MAX];
    char *const *argv;
    struct arena arena;
    struct object_counts counts;
    int status; /* of the command's last run that did not end with 0 */
};

static int parse(int argc, char **argv, struct jit_options *o, int *n_parsed, bool *done, struct err *err)
{
    const struct options_row rows[] = {
        { 0, "top", "N", OPTION_NUMBER, &o->top, "print only the N first rows; 0: all (20)" },
        { 'q', "quiet", NULL, OPTION_FLAG, &o->quiet, "do not say which run is made" },
        { 0, "csv", NULL, OPTION_FLAG, &o->csv, "print the table as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &o->json, "print the table as JSON" },
        DISPLAY_ROW(&o->display),
        { 0 },
    };
    return command_parse("jit [OPTIONS] -- COMMAND",
                         "Runs a Java program twice, interpreted and as it is, and says which of the objects that its\n"
                         "bytecode allocates the JIT compilers remove.",
                         rows, argc, argv, n_parsed, done, err);
}

static int read_counts(struct jit_options *o, enum object_run run, int fd, struct err *err)
{
    struct stat status;
    off_t n = fstat(fd, &status) == 0 && status.st_size < FILE_BYTES_MAX ? status.st_size : 0;
    char *text = n == 0 ? NULL : arena_alloc(&o->arena, (size_t)n + 1);
    if (text != NULL && pread(fd, text, (size_t)n, 0) == (ssize_t)n)
        return object_counts_read(&o->counts, run, text, (size_t)n, o->argv[0], err);
    err_set(err, "'%s' ended, and no JVM has counted its objects", o->argv[0]);
    return err_next(err, "give a command that starts a JVM (HotSpot 17 to 25), and no agent that samples allocations");
}

static int count(struct jit_options *o, enum object_run run, struct err *err)
{
    static const char *const names[OBJECTS_RUNS] = { "interpreted (-Xint)", "as it is" };
    static const char *const interpreted[] = { "-Xint", NULL };
    int fd = memfd_create("mmprof-objects", MFD_CLOEXEC), status = 0;
    const char *path = fd < 0 ? NULL : arena_printf(&o->arena, "/proc/%d/fd/%d", (int)getpid(), fd);
    if (path == NULL)
        return err_set(err, "cannot make a file in memory: %s", strerror(errno));
    if (!o->quiet)
        fprintf(stderr, "mmprof: a run %s\n", names[run]);
    const char *const *flags = run == OBJECTS_IN_BYTECODE ? interpreted : NULL;
    int rc = objects_run(o->argv, o->agent, path, flags, &status, err);
    if (rc == 0)
        rc = read_counts(o, run, fd, err);
    o->status = status != 0 ? status : o->status;
    close(fd);
    return rc;
}

static int print_counts(struct jit_options *o, struct err *err)
{
    struct table table;
    size_t n = 0;
    while (o->argv[n] != NULL)
        n++;
    const char *command = text_words(&o->arena, (const char *const *)o->argv, n);
    if (command == NULL)
        return err_set(err, "out of memory");
    if (object_counts_table(&o->counts, command, o->top, &table, err) < 0)
        return -1;
    return command_print_table(&table, o->csv, o->json, &o->display, err);
}

int command_jit(int argc, char **argv, struct err *err)
{
    struct jit_options o = { .display = DISPLAY_PLAIN, .top = 20 };
    bool done;
    int i;
    if (parse(argc, argv, &o, &i, &done, err) < 0 || done)
        return done ? 0 : -1;
    if (i >= argc || strcmp(argv[i - 1], "--") != 0) {
        err_set(err, "no command to run is given");
        return err_next(err, "give it behind '--': mmprof jit -- java ...");
    }
    o.argv = argv + i;
    object_counts_init(&o.counts, &o.arena);
    int rc = recorder_find_agent(o.agent, sizeof o.agent, err);
    for (int run = 0; rc == 0 && run < OBJECTS_RUNS; run++)
        rc = count(&o, (enum object_run)run, err);
    if (rc == 0)
        rc = print_counts(&o, err);
    object_counts_free(&o.counts);
    arena_free(&o.arena);
    return rc < 0 ? -1 : o.status;
}
