#include "cmd/sample_options.h"

#include "cmd/output_file.h"
#include "cmd/tables_page.h"
#include "core/perf/perf_rings.h"
#include "report/view/bytecode_names.h"

#include <inttypes.h>
#include <string.h>

#define UNSET         UINT64_MAX
#define FREQUENCY     99
#define FREQUENCY_MAX 10000u
#define STACK_BYTES   32768u /* javac's deepest stacks */
#define TREE_BYTES    (UINT64_C(64) << 20)
#define SECONDS       10.0

static int check_target(struct sample_options *o, struct err *err)
{
    if (target_argument_find(&o->target, "sample", err) < 0)
        return -1;
    o->pid = (uint64_t)o->target.pid;
    o->command = o->target.command;
    if (o->command == NULL && o->seconds <= 0)
        o->seconds = SECONDS;
    return 0;
}

static int name_file(const char **name, const char *option, pid_t pid, char to[PATH_MAX], struct err *err)
{
    if (*name == NULL)
        return 0;
    if (output_file_name(*name, option, pid, to, err) < 0)
        return -1;
    *name = to;
    return 0;
}

static int check_period(struct sample_options *o, struct err *err)
{
    if (o->period != 0 && (o->events == NULL || o->frequency != UNSET)) {
        err_set(err,
                o->events == NULL ? "-c is a number of events, and no event is given"
                                  : "-c %" PRIu64 " and -F %" PRIu64 " both set how often to sample",
                o->period, o->frequency);
        return err_next(err, o->events == NULL ? "name the event with -e, such as -e cycles" : "give one of them");
    }
    o->frequency = o->frequency == UNSET ? FREQUENCY : o->frequency;
    if (o->frequency == 0 || o->frequency > FREQUENCY_MAX) {
        err_set(err, "%" PRIu64 " samples a second are not possible", o->frequency);
        return err_next(err, "give a frequency of 1 to %u, such as -F 100", FREQUENCY_MAX);
    }
    return 0;
}

static int check_mechanism(struct sample_options *o, struct err *err)
{
    o->is_polled = o->mechanism != NULL && strcmp(o->mechanism, "polling") == 0;
    if (o->mechanism != NULL && !o->is_polled && strcmp(o->mechanism, "perf") != 0) {
        err_set(err, "stacks are not sampled by '%s'", o->mechanism);
        return err_next(err, "give --mechanism perf (from outside), or polling (in the JVM, at safepoints)");
    }
    if (o->is_polled && o->budget > 0) {
        err_set(err, "--mechanism polling limits its own cost; --budget is for perf");
        return err_next(err, "remove one of them");
    }
    if (o->is_polled && (o->is_wall || o->events != NULL)) {
        err_set(err, "--mechanism polling samples running threads by time; %s needs perf",
                o->is_wall ? "--wall" : "-e");
        return err_next(err, "remove it, or --mechanism polling");
    }
    return 0;
}

/* The table in place of the methods. */
static int check_table(struct sample_options *o, struct err *err)
{
    if (o->fields != NULL && fields_way(o->fields, "--fields", &o->by_class, err) < 0)
        return -1;
    if (o->fields != NULL && (o->by_bytecode || o->is_polled)) {
        err_set(err, o->is_polled ? "polled samples have no fields: --fields needs --mechanism perf"
                                  : "--fields and --bytecodes are two tables");
        return err_next(err, "remove one of them");
    }
    if (o->tree && o->html != NULL) {
        err_set(err, "--html has a table, not the contexts of --tree");
        return err_next(err, "write a trace with -o FILE, and run 'mmprof report --html PAGE FILE' for its tree");
    }
    if (o->tree && o->decay_s > 0) {
        err_set(err, "contexts have no heat: --decay is for tables");
        return err_next(err, "remove --tree, or --decay");
    }
    return tables_page_check(o->html, o->csv, o->json, err);
}

static int check(struct sample_options *o, struct err *err)
{
    if (check_mechanism(o, err) < 0 || check_table(o, err) < 0)
        return -1;
    if (o->is_wall && (o->events != NULL || o->period != 0)) {
        err_set(err, "--wall samples by time, -e and -c by events");
        return err_next(err, "remove --wall, or give a frequency with -F");
    }
    if (check_target(o, err) < 0)
        return -1;
    if (check_period(o, err) < 0 || name_file(&o->output, "-o", o->target.pid, o->output_name, err) < 0 ||
        name_file(&o->folded, "--folded", o->target.pid, o->folded_name, err) < 0)
        return -1;
    o->display.pages = o->tree;
    o->stack_bytes -= o->stack_bytes % 8;
    if (o->stack_bytes < 1024 || o->stack_bytes > KERNEL_STACK_MAX_BYTES) {
        err_set(err, "%" PRIu64 " bytes of each stack cannot be copied", o->stack_bytes);
        return err_next(err, "give 1K to 63K, such as --stack-size 32K");
    }
    if (o->csv && o->json) {
        err_set(err, "--csv and --json are two formats");
        return err_next(err, "give one of them");
    }
    return 0;
}

int sample_options_parse(struct sample_options *o, int argc, char **argv, bool *done, struct err *err)
{
    *o = (struct sample_options){ .display = DISPLAY_PLAIN,
                                  .frequency = UNSET,
                                  .stack_bytes = STACK_BYTES,
                                  .tree_bytes = TREE_BYTES,
                                  .top = 40,
                                  .min_share = 0.01 };
    struct options_row rows[] = {
        { 'p', "pid", "JVM", OPTION_TEXT, &o->target.name, TARGET_ARGUMENT_HELP },
        { 'd', "duration", "TIME", OPTION_SECONDS, &o->seconds,
          "stop after this time, or at Ctrl-C (10; a command: at its end)" },
        { 'F', "frequency", "HZ", OPTION_NUMBER, &o->frequency, "samples per second of a thread's CPU time (99)" },
        { 'e', "events", "LIST", OPTION_TEXT, &o->events,
          "the first event takes the samples; the others are read with each sample" },
        { 'c', "period", "N", OPTION_NUMBER, &o->period, "one sample per N events" },
        { 0, "wall", NULL, OPTION_FLAG, &o->is_wall, "sample waiting threads, too, by wall time" },
        { 0, "budget", "SHARE", OPTION_FRACTION, &o->budget,
          "take fewer samples while they cost more than this share of the JVM's CPU time" },
        { 0, "top", "N", OPTION_NUMBER, &o->top, "print at most N methods (40; 0: all)" },
        { 0, "min-share", "SHARE", OPTION_FRACTION, &o->min_share, "leave out what has less of the time (1%)" },
        { 0, "self", NULL, OPTION_FLAG, &o->by_self, "sort by self time, without callees" },
        { 0, "tree", NULL, OPTION_FLAG, &o->tree, "print the calling contexts, callees below their callers" },
        { 'o', "output", "FILE", OPTION_TEXT, &o->output, "also write the samples to a trace, FILE" },
        { 0, "folded", "FILE", OPTION_TEXT, &o->folded, "also write folded stacks (flame graphs) to FILE" },
        { 0, "html", "FILE", OPTION_TEXT, &o->html, "write the table as a page for a browser" },
        { 0, "csv", NULL, OPTION_FLAG, &o->csv, "print the table as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &o->json, "print the table as JSON" },
        DISPLAY_ROW(&o->display),
        DISPLAY_PAGER_ROW(&o->display),
        OPTIONS_RARE,
        { 0, "name", "JVM", OPTION_TEXT, &o->target.among, TARGET_ARGUMENT_AMONG_HELP },
        { 0, "mechanism", "NAME", OPTION_TEXT, &o->mechanism,
          "perf, from outside; or polling: an agent in the JVM, at safepoints (perf if it can)" },
        { 0, "call-sites", NULL, OPTION_FLAG, &o->call_sites, "with --tree: one context per call site" },
        { 0, "bytecodes", NULL, OPTION_FLAG, &o->by_bytecode, "print kinds of bytecode in place of methods" },
        { 0, "fields", "BY", OPTION_MAYBE_TEXT, &o->fields,
          "print the fields that bytecodes name in place of methods; BY class: their classes" },
        { 0, "decay", "TIME", OPTION_SECONDS, &o->decay_s, "sort by heat: a sample counts half after this time" },
        { 0, "stack-size", "SIZE", OPTION_SIZE, &o->stack_bytes, "bytes to copy of each stack, up to 63K (32K)" },
        { 0, "tree-size", "SIZE", OPTION_SIZE, &o->tree_bytes, "memory for calling contexts, 64K or more (64M)" },
        { 0 },
    };
    if (target_argument_parse(
            "sample [OPTIONS] JVM | [OPTIONS] -- COMMAND ...",
            "Samples the stacks of a running JVM, or of one that COMMAND starts, from outside: nothing is\n"
            "loaded into it, nothing in it is changed or stopped. Prints the methods by CPU time, by events\n"
            "(-e), or by wall time (--wall).",
            rows, argc, argv, &o->target, done, err) < 0)
        return -1;
    return *done ? 0 : check(o, err);
}

bool sample_options_may_poll(const struct sample_options *o)
{
    return o->mechanism == NULL && o->budget <= 0 && !o->is_wall && o->events == NULL && o->fields == NULL;
}
