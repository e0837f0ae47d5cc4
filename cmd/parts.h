/*
 * The parts of commands that not every program has: of mmprof's own commands, mmprof-lab has those of the emulator, and
 * mmprof-fleet those of tables of many runs.  A program has one 'parts'.  Where a part is NULL, the command becomes the
 * program that has it (program.h), with the same words.
 */
#ifndef CMD_PARTS_H
#define CMD_PARTS_H

#include "core/base/err.h"
#include "core/base/options.h"

struct advice_memory;
struct arena;
struct folding_list;
struct recorder_plan;
struct recording;
struct recording_counters;
struct report_run;
struct table;

struct export_parquet_options {
    const char *const *paths; /* borrowed */
    size_t n_paths;
    const struct options_list *labels; /* KEY=VALUE; borrowed */
    double bucket_s, min_share;        /* negative: not given */
    bool salvage;
};

struct program_parts {
    /* mmprof-lab: the plan's simulation and counters, of --simulate; the arena's.  Returns 0, or -1 with *err set. */
    int (*simulate)(const struct recording *recording, struct recorder_plan *plan, struct arena *arena,
                    struct recording_counters *counters, struct err *err);

    /* Print all processors that can be simulated, and one by its name, or NULL.  Returns 0, or -1 with *err set. */
    int (*models)(bool all, const char *model, struct err *err);

    /* Tables of a simulated trace: 'report --view misses' and fields, and that of a page.  Return 0, or -1. */
    int (*misses_view)(struct report_run *run, struct table *table, struct err *err);
    int (*fields_view)(struct report_run *run, struct table *table, struct err *err);
    int (*fields_of_page)(struct report_run *run, struct table *table);

    /* Read an address trace and print with it.  Returns what 'print' returns, or -1 with *err set. */
    int (*advise_memory)(const char *memtrace, const struct folding_list *libraries,
                         int (*print)(void *context, const struct advice_memory *memory, struct err *err),
                         void *context, struct err *err);

    /* mmprof-fleet: write the rows of all traces.  Returns 0, or -1 with *err set. */
    int (*export_parquet)(const struct export_parquet_options *options, FILE *out, struct err *err);
};

extern const struct program_parts parts;

#endif
