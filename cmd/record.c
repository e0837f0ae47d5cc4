#include "cmd/recording.h"

#include <stdbool.h>

int command_record(int argc, char **argv, struct err *err)
{
    struct recording recording = RECORDING_DEFAULTS;
    const struct options_row rows[] = {
        RECORDING_ROWS(recording),
        { 'o', "output", "FILE", OPTION_TEXT, &recording.output, "write the trace to FILE (trace.dat)" },
        { 0, "phases", "FILE", OPTION_TEXT, &recording.phases, "instrument only the methods that FILE selects" },
        { 0 },
    };
    struct recorder_summary summary;
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
        recording_run(&recording, &summary, err) < 0)
        return -1;
    return summary.command_status;
}
