/* Tables of views, each made of what its reading found. */
#ifndef REPORT_VIEW_TABLES_H
#define REPORT_VIEW_TABLES_H

#include "phases/select/phases_file.h"
#include "phases/select/select.h"
#include "report/call_metrics.h"
#include "report/source.h"
#include "report/tree_view.h"
#include "report/view/phase_report.h"
#include "report/view/view_pass.h"
#include "report/view/waits.h"

/* The tables of 'mmprof phases': methods, threads, and the grid of --sweep; and phases.json. */

struct phases_report {
    const struct report_source *source;
    const struct calltree_total *totals; /* of the application's methods */
    size_t n_totals;
    uint64_t all_ticks; /* 100 % */
    const struct phases_criteria *options;
    const struct phases_choice *choice;
    double pair_ns;
    bool all;         /* not only the selected methods */
    double min_share; /* of a method */
};

/* Method, total, per call, calls, share; sorted by total. */
void phases_table(const struct phases_report *report, struct table *table);

/* What is written to phases.json, sorted by total; lives in the arena. */
void phases_rows(const struct phases_report *report, struct phases_file *file);

/* One row per thread: part of the VM, CPU and wall time, probe time, calls lost. */
void phases_threads(const struct phases_report *report, struct table *table);

/* A row for each pair of thresholds: phases, their calls, the estimates of the overhead (thesis Figures 3.4 and 3.5).
 */
void sweep_table(const struct report_source *source, const struct sweep *sweep, const struct budget_base *base,
                 struct table *table);

/*
 * The call tree as a table, a row for each context: callees below their callers, or callers below the method that they
 * call.  Its values are those of the report.
 */

struct tree_table_options {
    enum tree_view_kind kind;
    const char *method; /* of views of callees and callers: as 'mmprof annotate' takes it */
    double min_share;   /* rows with less of the time are left out */
    bool is_text;       /* names are indented */
};

/*
 * source  with what samples saw in its tree.
 *
 * Shares are as in the report: of all the time; of one method that was recorded for a part of it, and of which no
 * samples tell the rest, of that part.
 *
 * Returns 0, or -1 with *err set: no such method.
 */
int tree_table(const struct report_source *source, const struct tree_table_options *options, struct table *table,
               struct err *err);

/*
 * The table of 'mmprof report --view stats': how much the calls of each phase vary, and whether the phases differ more
 * from each other than within (thesis §3.2.3).
 */

/* Differences that chance makes more seldom than this are called differences. */
#define STATS_SIGNIFICANCE 0.05

/*
 * For each phase and metric the mean of its calls and their coefficient of variation; then, per metric, the variation
 * within and between phases, and the analysis of variance.
 *
 * statistics   of the calls of source's trace, by metrics->options.
 *
 * Returns 0, or -1 with *err set.
 */
int stats_table(const struct report_source *source, const struct calltree_total *totals, size_t n_totals,
                const struct report_row_options *options, const struct call_metrics *metrics,
                const struct statistics *statistics, struct table *table, struct err *err);

/*
 * The views 'waits' and 'locks': why and where the application's threads were off the CPU, and who held what they
 * waited for.
 */

struct waits_table_options {
    double min_share; /* of all threads' wall time: smaller rows are left out; not those of locks */
    uint64_t top;     /* rows at most; 0: all */
};

/*
 * A row for each cause and method that waited; those that wait for work behind the others, then the time on a CPU.
 *
 * Returns 0, or -1 with *err set: the trace does not say what threads waited for.
 */
int waits_table(const struct report_source *source, const struct waits *waits,
                const struct waits_table_options *options, struct table *table, struct err *err);

/*
 * The same of virtual threads alone: a row for each cause and method that at least 'min_share' of them waited in.
 * whole: what the looks were at, in words.  Returns whether there are rows.
 */
int virtual_waits_table(const struct virtual_waits *waits, double min_share, const char *whole, struct arena *arena,
                        struct table *table);

/* A row for each class of monitors and locks, and method that waited for one.  As above. */
int locks_table(const struct report_source *source, const struct waits *waits,
                const struct waits_table_options *options, struct table *table, struct err *err);

/*
 * Where the time of a JVM's start went, of a recording that began with it: what the JVM counts of its classes and its
 * compilers, and CPU time of samples, by initializer (top: classes; 0: ten).
 *
 * Returns 0, or -1 with *err set: the recording did not begin with the JVM.
 */
int startup_table(const struct view_pass *pass, uint64_t top, struct table *table, struct err *err);

/*
 * Garbage collections, by kind of pause and one by one, safepoints, and class loading, as the JVM itself counted them.
 */

/* "gc_young", "gc_full", "gc_concurrent", or "gc", by the JVM's own name of a kind of pause. */
const char *pause_kind(const char *name);

/*
 * A row for each kind: how often, how long in all, its share of the recording's time.  Returns 0, or -1 with *err set:
 * the trace does not tell.
 */
int pauses_table(const struct report_source *source, struct table *table, struct err *err);

/*
 * A row for each collection that was seen; of a pass with VIEW_PASS_HEAP.  Returns 0, or -1 with *err set: the trace
 * has none, and why.
 */
int collections_table(const struct view_pass *pass, struct table *table, struct err *err);

/* The application against the VM's parts, for each thing that was measured (thesis Figure 3.6). */

/*
 * A row for the time and for each event: which share of all of it each part has.  The columns after "of" are the parts
 * that the trace knows.  A row whose shares are not known, because a part's threads were not counted, says so in a
 * note.
 */
void parts_table(const struct report_source *source, struct table *table);

/*
 * Calls that the JIT compilers inlined, and those that they did not, by what stack samples found the callee's own code
 * in: its caller's, or its own.
 *
 * The samples are taken from outside, so that the code is what runs without mmprof; where the trace has the JIT
 * compilers' events, they say beside it what probes changed.
 */

struct inlining_options {
    double min_share; /* of all time: smaller rows are left out */
    uint64_t top;     /* rows; 0: all */
};

/*
 * A row for each method, place that calls it and method that is inlined or called there, by the callee's own time.
 *
 * Returns 0, or -1 with *err set: the trace's samples do not say it.
 */
int inlining_table(const struct view_pass *pass, const struct inlining_options *options, struct table *table,
                   struct err *err);

#endif
