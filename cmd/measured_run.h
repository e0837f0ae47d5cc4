/*
 * A command that is run and measured: CPU time, wall time, and the times of iterations that it prints.
 */
#ifndef CMD_MEASURED_RUN_H
#define CMD_MEASURED_RUN_H

#include "core/base/std.h"
#include "core/base/err.h"

#include <regex.h>

struct measured_run {
    double cpu_ns, wall_ns; /* of the command, and of those processes that it waited for */
    double *iterations;     /* what the expression matches in its output, in the order printed; owned */
    size_t n_iterations;
};

/*
 * Run a command in a shell, without input; its output is kept only for iterations and errors.
 *
 * iterations  a compiled extended regular expression whose first parentheses match a number, or NULL.
 *
 * Returns 0, to be freed by measured_run_free; or -1 with *err set: it cannot be run, or fails.
 */
int measured_run(const char *command, const regex_t *iterations, struct measured_run *run, struct err *err);

void measured_run_free(struct measured_run *run);

#endif
