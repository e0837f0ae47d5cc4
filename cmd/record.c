#include "cmd/recording.h"

#include <stdbool.h>
#include <string.h>

/* What belongs to --live, and what does not go with it. */
static int check_live(const struct recording *recording, bool is_live, bool logs_jit,
                      const struct live_options *options, struct err *err)
{
    bool is_changed = options->budget != LIVE_BUDGET || options->weight != LIVE_WEIGHT ||
                      options->grain != LIVE_GRAIN || options->recompile_s != LIVE_RECOMPILE_S;
    if (!is_live && is_changed) {
        err_set(err, "--budget, --weight, --grain and --recompile belong to --live");
        return err_next(err, "add --live, or select phases of a recording with 'mmprof phases'");
    }
    if (!is_live && logs_jit) {
        err_set(err, "--jit-log belongs to --live: it compares code before and after a method gets probes");
        return err_next(err, "add --live");
    }
    if (is_live && recording->phases != NULL) {
        err_set(err, "--live finds the methods itself, --phases names them");
        return err_next(err, "give one of them");
    }
    if (is_live && strcmp(recording->groups, "separate") == 0) {
        err_set(err, "--live is one session, --groups separate needs several");
        return err_next(err, "leave --groups away, or record the phases that it finds with --phases");
    }
    if (is_live && options->budget <= 0) {
        err_set(err, "a budget of 0 allows no probes");
        return err_next(err, "give a share of the program's CPU time, such as --budget 1%%");
    }
    return 0;
}

int command_record(int argc, char **argv, struct err *err)
{
    struct recording recording = RECORDING_DEFAULTS;
    struct live_options live = LIVE_OPTIONS;
    bool is_live = false, logs_jit = false;
    const struct options_row rows[] = {
        RECORDING_ROWS(recording),
        { 'o', "output", "FILE", OPTION_TEXT, &recording.output, "write the trace to FILE (trace.dat)" },
        { 0, "phases", "FILE", OPTION_TEXT, &recording.phases, "instrument only the methods that FILE selects" },
        { 0, "live", NULL, OPTION_FLAG, &is_live, "find the phases while recording: one run, bounded overhead" },
        { 0, "budget", "SHARE", OPTION_FRACTION, &live.budget, "with --live: of the CPU time, for mmprof (1%)" },
        { 0, "weight", "SHARE", OPTION_FRACTION, &live.weight, "with --live: least share of a phase's time (1%)" },
        { 0, "grain", "SHARE", OPTION_FRACTION, &live.grain, "with --live: least share of one call's time (0.0001%)" },
        { 0, "recompile", "SECONDS", OPTION_SECONDS, &live.recompile_s,
          "with --live: most CPU time of compilers to be thrown away (30)" },
        { 0, "jit-log", NULL, OPTION_FLAG, &logs_jit,
          "with --live: record what the JIT compiler makes of the methods" },
        { 0 },
    };
    struct recorder_summary summary;
    struct live_session session;
    int n_parsed;
    bool done;
    if (command_parse(
            "record [OPTIONS] -p PID | [OPTIONS] -- COMMAND ...",
            "Records entries and exits of a JVM's methods into a trace: of a running one until Ctrl-C, or of\n"
            "one that COMMAND starts until it ends.",
            rows, argc, argv, &n_parsed, &done, err) < 0)
        return -1;
    if (done)
        return 0;
    if (recording_target(&recording, argc, argv, n_parsed, "record", err) < 0 ||
        check_live(&recording, is_live, logs_jit, &live, err) < 0)
        return -1;
    live_session_init(&session, &live);
    session.logs_jit = logs_jit;
    recording.live = is_live ? &session : NULL;
    int rc = recording_run(&recording, &summary, err);
    live_session_free(&session);
    return rc < 0 ? -1 : recording_wait(&recording, &summary, NULL);
}
