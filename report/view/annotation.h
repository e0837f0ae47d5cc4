/*
 * One method of a trace's stack samples, line by line, or bytecode by bytecode: how much of the time was spent there,
 * and how it went.
 */
#ifndef REPORT_VIEW_ANNOTATION_H
#define REPORT_VIEW_ANNOTATION_H

#include "core/base/options.h"
#include "core/trace/trace.h"
#include "phases/samples/sample_profile.h"
#include "report/sample_cells.h"
#include "report/format/table.h"

/* A line of the method, or an instruction; samples of none that is known are of the last one, whose index is -1. */
struct annotation_location {
    uint32_t line; /* 0: not known */
    int32_t index; /* of the first bytecode */
};

struct annotation {
    struct arena *arena;                /* borrowed; the texts' */
    struct trace_sampled_method method; /* lines and code in the arena, too */
    const char *label;
    bool by_bytecode, is_time; /* what samples stand for is CPU time */
    const bool *versions;      /* by the trace's methods: the method, also before or after its class was changed */
    uint32_t n_others;         /* methods that the pattern fits as well */
    const char *other;         /* one of them */
    struct annotation_location *locations;
    uint32_t n_locations;
    uint32_t *location_of; /* by bytecode index, n_indexes of them */
    uint32_t n_indexes;
    struct sample_profile profile; /* rows: 0 is all that the method calls, then the locations */
    struct sample_ratio_kind ratios[TRACE_SAMPLE_COUNTERS_MAX];
    uint32_t n_ratios;
};

struct annotation_options {
    const char *method; /* Class.method, with or without the package, and "(I)V" or "(int)" */
    bool by_bytecode, salvage;
    const struct options_list *sources; /* folders with source files */
};

/*
 * Read a trace's samples of the method that fits best: of several, that with the most time.  Returns 0, or -1 with *err
 * set: no such trace, no samples, no such method.  annotation_free in any case.
 */
int annotation_read(struct annotation *annotation, const char *path, const struct annotation_options *options,
                    struct arena *arena, struct err *err);
void annotation_free(struct annotation *annotation);

void annotation_table(const struct annotation *annotation, const struct annotation_options *options,
                      struct table *table);

#endif
