/*
 * What stack samples found, as a table: methods by their part of the time, the JVM's own threads below them; and as
 * folded stacks.
 */
#ifndef REPORT_SAMPLES_TABLE_H
#define REPORT_SAMPLES_TABLE_H

#include "phases/samples/sample_profile.h"
#include "report/sample_cells.h"
#include "report/format/table.h"
#include "symbolize/java_names.h"

/* All borrowed. */
struct samples_source {
    struct sample_profile *profile;  /* groups: enum vm_part; totals of its contexts are set here */
    const struct method_name *names; /* by method */
    uint32_t n_names;
    const char *program;
    uint64_t period_ns; /* of CPU time, that a sample stands for; 0: another event takes samples */
    const char *event;  /* its name */
    uint64_t period;    /* of that event, or 0: as many as it takes for */
    uint64_t hz;        /* samples a second */
    uint64_t cpu_ns;    /* CPU time of the process meanwhile; 0: not known */
    bool knows_calls;   /* the profile was told which calls are new ones */
    bool is_wall;       /* threads that wait are sampled, too */
    bool is_polled;     /* at safepoints, by the agent */
    const struct sample_ratio_kind *ratios;
    uint32_t n_ratios;
};

struct samples_options {
    double min_share; /* of all time: smaller rows are left out */
    uint64_t top;     /* rows of methods at most; 0: all */
    bool by_self;     /* sort by own time */
    bool call_sites;  /* of the tree: a context for each of them in its caller */
    bool is_text;     /* of the tree: names are indented */
};

/* The caller adds notes. */
void samples_table_make(const struct samples_source *source, const struct samples_options *options, struct arena *arena,
                        struct table *table);

/* Which of the columns of report/sample_cells.h there are. */
unsigned samples_conditions(const struct samples_source *source);

/*
 * The CPU time without a sample in ns, where it is more than 5 % and more than chance, else 0: of n samples at random
 * moments, three times the square root may be missing.  And how a note says it.
 */
double samples_missing(double cpu_ns, double sampled_ns, double period_ns);
enum samples_way { SAMPLES_OF_THREADS, SAMPLES_OF_CPUS, SAMPLES_POLLED };
const char *samples_missing_words(double cpu_ns, double missing_ns, enum samples_way way, struct arena *arena);

/* The same of a profile: a note, and its metadata. */
void samples_tell_coverage(const struct samples_source *source, struct table *table);

/*
 * "A.main;A.run;B.work 17": a line for each calling context that samples ended in, with their number, of wall time with
 * microseconds.  Returns 0, or -1 with *err set.
 */
int samples_write_folded(const struct samples_source *source, struct arena *arena, FILE *out, struct err *err);

/* The calling contexts with at least min_share of all time, callees below their callers.  As samples_table_make. */
void samples_tree_table(const struct samples_source *source, const struct samples_options *options, struct arena *arena,
                        struct table *table);

#endif
