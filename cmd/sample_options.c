#include "cmd/sample_run.h"

#include "cmd/output_file.h"
#include "core/perf/perf_rings.h"
#include "report/view/bytecode_names.h"

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
    if (o->command == NULL && o->seconds <= 0 && o->until <= 0)
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

/* Options of which one has no effect with the other. */
static int check_pairs(const struct sample_options *o, struct err *err)
{
    const bool in_place = o->by_bytecode || o->fields != NULL, has_top = o->top != UNSET, decays = o->decay_s > 0;
    const struct {
        bool are_given;
        const char *option, *with;
    } pairs[] = {
        { o->is_wall && o->events != NULL, "--events", "--wall" },
        { o->is_wall && o->period != 0, "--period", "--wall" },
        { o->period != 0 && o->frequency != UNSET, "--frequency", "--period" },
        { o->is_polled && o->is_wall, "--wall", "--mechanism polling" },
        { o->is_polled && o->events != NULL, "--events", "--mechanism polling" },
        { o->is_polled && o->budget > 0, "--budget", "--mechanism polling" },
        { o->is_polled && o->fields != NULL, "--fields", "--mechanism polling" },
        { o->is_polled && o->stack_bytes != UNSET, "--stack-size", "--mechanism polling" },
        { o->fields != NULL && o->by_bytecode, "--bytecodes", "--fields" },
        { in_place && o->by_self, "--self", o->by_bytecode ? "--bytecodes" : "--fields" },
        { o->by_bytecode && has_top, "--top", "--bytecodes" },
        { o->by_bytecode && o->min_share >= 0, "--min-share", "--bytecodes" },
        { o->is_polled && o->until > 0, "--until", "--mechanism polling" },
        { in_place && o->until > 0, "--until", o->by_bytecode ? "--bytecodes" : "--fields" },
        { o->tree && has_top, "--top", "--tree" },
        { o->tree && o->by_self, "--self", "--tree" },
        { o->tree && in_place, o->by_bytecode ? "--bytecodes" : "--fields", "--tree" },
        { o->tree && decays, "--decay", "--tree" },
        { o->html != NULL && o->csv, "--csv", "--html" },
        { o->html != NULL && o->json, "--json", "--html" },
        { o->csv && o->json, "--csv", "--json" },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].are_given) {
            err_set(err, "%s has no effect with %s", pairs[i].option, pairs[i].with);
            return err_next(err, "remove one of them");
        }
    return 0;
}

static int check_rate(struct sample_options *o, struct err *err)
{
    if (o->period != 0 && o->events == NULL) {
        err_set(err, "--period is a number of events, and no event is given");
        return err_next(err, "name the event with -e, such as -e cycles");
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
    if (o->mechanism == NULL || o->is_polled || strcmp(o->mechanism, "perf") == 0)
        return 0;
    err_set(err, "stacks are not sampled by '%s'", o->mechanism);
    return err_next(err, "give --mechanism perf (from outside), or polling (in the JVM, at safepoints)");
}

/* Of what was not given. */
static void set_defaults(struct sample_options *o)
{
    o->top = o->top == UNSET ? 40 : o->top;
    o->min_share = o->min_share < 0 ? 0.01 : o->min_share;
    o->stack_bytes = o->stack_bytes == UNSET ? STACK_BYTES : o->stack_bytes - o->stack_bytes % 8;
    o->display.pages = o->tree;
}

static int check(struct sample_options *o, struct err *err)
{
    if (check_mechanism(o, err) < 0 || check_pairs(o, err) < 0 ||
        (o->fields != NULL && fields_way(o->fields, "--fields", &o->by_class, err) < 0))
        return -1;
    if (o->call_sites && !o->tree) {
        err_set(err, "--call-sites has no effect without --tree");
        return err_next(err, "add --tree");
    }
    if (o->depth == 0 || o->depth > STACK_FRAMES_MAX) {
        err_set(err, "stacks of %" PRIu64 " frames are not possible", o->depth);
        return err_next(err, "give a --depth of 1 to %u", STACK_FRAMES_MAX);
    }
    if (check_target(o, err) < 0 || check_rate(o, err) < 0 ||
        name_file(&o->output, "-o", o->target.pid, o->output_name, err) < 0 ||
        name_file(&o->folded, "--folded", o->target.pid, o->folded_name, err) < 0)
        return -1;
    set_defaults(o);
    if (o->stack_bytes < 1024 || o->stack_bytes > KERNEL_STACK_MAX_BYTES) {
        err_set(err, "%" PRIu64 " bytes of each stack cannot be copied", o->stack_bytes);
        return err_next(err, "give 1K to 63K, such as --stack-size 32K");
    }
    return 0;
}

int sample_options_parse(struct sample_options *o, int argc, char **argv, bool *done, struct err *err)
{
    *o = (struct sample_options){ .display = DISPLAY_PLAIN,
                                  .frequency = UNSET,
                                  .stack_bytes = UNSET,
                                  .tree_bytes = TREE_BYTES,
                                  .top = UNSET,
                                  .depth = STACK_FRAMES_MAX,
                                  .min_share = -1 };
    struct options_row rows[] = {
        { 'p', "pid", "JVM", OPTION_TEXT, &o->target.name, TARGET_ARGUMENT_HELP },
        { 'd', "duration", "TIME", OPTION_SECONDS, &o->seconds,
          "stop after this time, or at Ctrl-C (10; a command: at its end)" },
        { 'F', "frequency", "HZ", OPTION_NUMBER, &o->frequency, "samples per second of a thread's CPU time (99)" },
        { 'e', "events", "LIST", OPTION_TEXT, &o->events,
          "the first event takes the samples; the others are read with each sample" },
        { 'c', "period", "N", OPTION_NUMBER, &o->period, "one sample per N events" },
        { 0, "until", "SHARE", OPTION_FRACTION, &o->until,
          "stop when each interval in the table is within SHARE: 2% (-d is the limit)" },
        { 't', "thread", "NAME", OPTION_TEXT, &o->thread, "only threads of that name; '*' matches any characters" },
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
        { 0, "depth", "N", OPTION_NUMBER, &o->depth, "keep only the N innermost frames of each stack" },
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
    return o->mechanism == NULL && o->budget <= 0 && o->until <= 0 && !o->is_wall && o->events == NULL &&
           o->fields == NULL;
}
