/* What 'mmprof phases' does once its words are read; 'mmprof profile' has the phases selected by it. */
#ifndef CMD_PHASES_RUN_H
#define CMD_PHASES_RUN_H

#include "cmd/display.h"

/* Names are of files, as they are: what a % stands for in them was put there. */
struct phases_options {
    struct display *display;
    const char *path, *output, *clock;
    double weight, grain, budget, min_share; /* weight and grain: -1: to be chosen within the budget */
    uint64_t read_cost_ns;                   /* of a recorded call's counters */
    bool tree, per_thread, all, sweep, csv, json, salvage, quiet, progress;
};

/* clang-format off */
#define PHASES_OPTIONS(of_display) \
    { .display = (of_display), .output = "phases.json", .clock = "cpu", \
      .weight = -1, .grain = -1, .budget = 0.01, .min_share = -1 }
/* clang-format on */

/* Select the phases of the trace, write them to output, and print them unless quiet.  Returns 0, or -1 with *err set.
 */
int phases_run(const struct phases_options *options, struct err *err);

#endif
