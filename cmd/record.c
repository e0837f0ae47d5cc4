#include "cmd/output_file.h"
#include "cmd/program.h"
#include "cmd/record_parts.h"

struct record_choice {
    bool all_methods, live; /* as the user said */
};

/* A running service is not to notice: without a word of the user's on methods it is the recording with a budget. */
static bool is_live(const struct recording *recording, const struct record_choice *choice)
{
    bool names_methods = recording->phases != NULL || recording->includes.n > 0;
    return choice->live || (!choice->all_methods && !names_methods && recording->simulate == NULL);
}

static int check_choice(const struct recording *recording, const struct record_choice *choice, struct err *err)
{
    if (choice->live && choice->all_methods) {
        err_set(err, "--live records few methods, --all-methods all of them");
        return err_next(err, "give one of them");
    }
    if (recording->phases != NULL && (choice->live || choice->all_methods)) {
        err_set(err, "--phases names the methods, and --%s chooses others", choice->live ? "live" : "all-methods");
        return err_next(err, "give one of them");
    }
    return 0;
}

/* What belongs to a live recording, and what does not go with it. */
static int check_live(const struct recording *recording, bool live, bool logs_jit, const struct live_options *options,
                      struct err *err)
{
    bool is_changed = options->budget != LIVE_BUDGET || options->weight != LIVE_WEIGHT || options->grain != LIVE_GRAIN;
    if (!live && (is_changed || logs_jit)) {
        err_set(err, logs_jit ? "--jit-log belongs to --live: it compares code before and after a method gets probes"
                              : "--budget, --weight and --grain belong to --live");
        return err_next(err, recording->includes.n > 0 && recording->phases == NULL
                                 ? "add --live: --include alone records all methods that match"
                                 : "remove --all-methods, --phases and --simulate");
    }
    if (live && strcmp(recording->groups, "separate") == 0) {
        err_set(err, "--groups separate needs several recordings, and a live recording is only one");
        return err_next(err, "remove --groups, or record the phases it selects with --phases, or add --all-methods");
    }
    if (live && options->budget <= 0) {
        err_set(err, "a budget of 0 allows no probes");
        return err_next(err, "give a share of the program's CPU time, such as --budget 1%%");
    }
    return 0;
}

/* What goes on in several files, and what does not. */
static int check_files(const struct recording *recording, const struct record_files *files, struct err *err)
{
    const char *name = recording->target.among;
    if (name != NULL && files->every_s == 0 && recording->target.command == NULL) {
        err_set(err, "--name records one JVM after the other, and each needs its own file");
        return err_next(err, "add --every 60s -o DIR, or name a JVM that runs with -p");
    }
    if (name != NULL && recording->target.name != NULL) {
        err_set(err, "--name '%s' names a JVM, and so does '%s'", name, recording->target.name);
        return err_next(err, "give one of them");
    }
    if (files->every_s > 0 && (recording->simulate != NULL || strcmp(recording->groups, "separate") == 0)) {
        err_set(err, "--every does not go with %s", recording->simulate != NULL ? "--simulate" : "--groups separate");
        return err_next(err, "remove one of them");
    }
    return 0;
}

/* One recording of those that a command may be. */
struct record_run {
    struct recording *recording; /* borrowed, as all else */
    const struct record_choice *choice;
    const struct live_options *live;
    bool logs_jit;
    int status; /* of a command */
};

static int run(struct record_run *run, struct recorder_summary *summary, struct err *err)
{
    struct live_session session;
    live_session_init(&session, run->live);
    session.logs_jit = run->logs_jit;
    run->recording->live = is_live(run->recording, run->choice) ? &session : NULL;
    int rc = recording_run(run->recording, summary, err);
    live_session_free(&session);
    if (rc == 0)
        run->status = recording_wait(run->recording, summary, NULL);
    return rc;
}

/* As struct record_follow has it. */
static int run_next(void *context, const struct jvm_running *jvm, bool *is_over, struct err *err)
{
    struct record_run *next = context;
    struct recorder_summary summary;
    next->recording->pid = (uint64_t)jvm->pid;
    next->recording->target.start_ticks = jvm->start_ticks;
    if (run(next, &summary, err) < 0)
        return -1;
    *is_over = summary.end != RECORDER_ENDED_WITH_TARGET;
    return 0;
}

static int run_all(struct record_run *all, struct err *err)
{
    struct recorder_summary summary;
    struct recording *recording = all->recording;
    const char *name = recording->target.among;
    if (name != NULL && recording->target.command == NULL)
        return record_follow(&(struct record_follow){ name, all, run_next }, err);
    if (recording_target(recording, "record", err) < 0)
        return -1;
    char output[PATH_MAX];
    if (recording->files == NULL) {
        if (output_file_name(recording->output, "-o", recording->target.pid, output, err) < 0)
            return -1;
        recording->output = output;
    }
    return run(all, &summary, err);
}

/* With --every, -o was the pattern of names in the directory of --to. */
static const char *directory_of_to(const char *to, const char *output, char pattern[PATH_MAX])
{
    fprintf(stderr, "mmprof: option --to is now -o DIR/NAME; the old name goes with the next version\n");
    snprintf(pattern, PATH_MAX, "%s/%s", to, output == NULL ? RECORD_FILES_PATTERN : output);
    return pattern;
}

int command_record(int argc, char **argv, struct err *err)
{
    struct recording recording = RECORDING_DEFAULTS;
    struct live_options live = LIVE_OPTIONS;
    struct record_choice choice = { false, false };
    struct record_files files = { .every_s = 0 };
    const char *output = NULL, *to = NULL;
    bool logs_jit = false;
    char pattern[PATH_MAX];
    struct recording_rows common;
    const struct options_row rows[] = {
        OPTIONS_GROUP("Target, duration"),
        OPTIONS_ROWS(common.target),
        OPTIONS_GROUP("Methods"),
        { 0, "live", NULL, OPTION_FLAG, &choice.live,
          "find the phases while recording, within a budget (default without --include)" },
        { 0, "all-methods", NULL, OPTION_FLAG, &choice.all_methods,
          "record the calls of all methods, with no limit on overhead" },
        { 0, "phases", "FILE", OPTION_TEXT, &recording.phases, "instrument only the methods that FILE selects" },
        OPTIONS_ROWS(common.methods),
        OPTIONS_GROUP("With --live"),
        { 0, "budget", "SHARE", OPTION_FRACTION, &live.budget,
          "limit on overhead, a share of the program's CPU time (1%)" },
        { 0, "weight", "SHARE", OPTION_FRACTION, &live.weight, "a phase has at least this share of the time (1%)" },
        { 0, "grain", "SHARE", OPTION_FRACTION, &live.grain,
          "one call of a phase has at least this share of the time (0.0001%)" },
        OPTIONS_RARE,
        { 0, "recompile", "TIME", OPTION_SECONDS, &recording.recompile_s,
          "let the JVM discard its code if compiling it took less than TIME (the budget)" },
        { 0, "jit-log", NULL, OPTION_FLAG, &logs_jit,
          "record the JIT compiler's decisions about the methods (inlining)" },
        OPTIONS_GROUP("Counters"),
        OPTIONS_ROWS(common.counters),
        OPTIONS_GROUP("Samples"),
        OPTIONS_ROWS(common.samples),
        OPTIONS_GROUP("Simulation"),
        OPTIONS_ROWS(common.simulation),
        OPTIONS_GROUP("Output"),
        { 'o', "output", "FILE", OPTION_TEXT, &output,
          "write the trace to FILE (trace.dat; with --every to DIR, or DIR/" RECORD_FILES_PATTERN ")" },
        { 0, "every", "TIME", OPTION_SECONDS, &files.every_s, "begin a new trace each TIME, such as 60s" },
        { 0, "to", "DIR", OPTION_TEXT, &to, NULL }, /* what -o was with --every */
        { 0, "keep", "LIMIT", OPTION_TEXT, &files.keep,
          "with --every: remove the oldest traces beyond an age (24h), a number (100) or a size (2G)" },
        OPTIONS_ROWS(common.output),
        OPTIONS_RARE,
        { 0, "metrics", "FILE", OPTION_TEXT, &files.metrics,
          "with --every: write totals for Prometheus' node exporter to FILE with each trace" },
        { 0, "label", "KEY=NAME", OPTION_LIST, &files.labels,
          "with --metrics: service, version or host of all of them" },
        { 0 },
    };
    bool done;
    recording_rows(&recording, &common);
    if (target_argument_parse(
            "record [OPTIONS] JVM | [OPTIONS] -- COMMAND ...",
            "Records a JVM's methods into a trace: a running JVM until Ctrl-C, or the one that COMMAND\n"
            "starts until it ends. By default it finds the phases and keeps a budget (--live);\n"
            "--all-methods, --include, --phases and --simulate record all methods that they select.",
            rows, argc, argv, &recording.target, &done, err) < 0)
        return -1;
    if (done)
        return 0;
    if (recording_is_elsewhere(&recording))
        return program_become("lab", argc, argv, err);
    live.recompile_s = recording.recompile_s;
    recording.output = output != NULL ? output : recording.output;
    files.output = to == NULL ? output : directory_of_to(to, output, pattern);
    files.quiet = recording.quiet;
    recording.command = recording.target.command; /* for the checks */
    struct record_run all = { &recording, &choice, &live, logs_jit, 0 };
    int rc = -1;
    if (check_choice(&recording, &choice, err) == 0 &&
        check_live(&recording, is_live(&recording, &choice), logs_jit, &live, err) == 0 &&
        check_files(&recording, &files, err) == 0 && record_files_open(&files, err) == 0) {
        recording.files = files.every_s > 0 ? &files.files : NULL;
        recording.output = files.every_s > 0 ? files.directory : recording.output;
        rc = run_all(&all, err);
    }
    record_files_close(&files);
    return rc < 0 ? -1 : all.status;
}
