/*
 * The parts of commands that not every program has: of mmprof's own commands, mmprof-lab has those of the emulator, and
 * mmprof-fleet those of tables of many runs.  A program has one 'parts'.  Where a part is NULL, the command becomes the
 * program that has it (program.h), with the same words.
 */
#ifndef CMD_PARTS_H
#define CMD_PARTS_H

#include "core/base/err.h"
#include "core/base/options.h"

#include <stdbool.h>
#include <stdio.h>

struct export_parquet_options {
    const char *const *paths; /* borrowed */
    size_t n_paths;
    const struct options_list *labels; /* KEY=VALUE; borrowed */
    double bucket_s, min_share;        /* negative: not given */
    bool salvage;
};

struct parts {
    /* mmprof-fleet: write the rows of all traces.  Returns 0, or -1 with *err set. */
    int (*export_parquet)(const struct export_parquet_options *options, FILE *out, struct err *err);
};

extern const struct parts parts;

#endif
