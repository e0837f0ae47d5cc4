/*
 * What differs between two versions of a program, each recorded once or several times (thesis, appendix A.1).
 *
 * Rows are phases, matched by class, method and descriptor; the JVM's parts; and the process.  Of each metric of a row
 * the difference of the means is compared by Welch's t:
 *
 *     t = (A - B) / sqrt(V(A) + V(B))       df = (V(A) + V(B))^2 / (V(A)^2 / df(A) + V(B)^2 / df(B)) (Satterthwaite)
 *
 * Several traces on each side: a run is one observation, V = variance / n.  Only this tells what differs from run to
 * run: where the JIT compiles, how memory is laid out, what else the machine does. One trace on each side: a batch of
 * calls is one observation (phases/statistics.h); the number of calls is taken as given, and so is what the rest of the
 * program takes.  What has fewer than five calls, and the JVM's parts, have no interval.
 *
 * A method that a live recording switched off has no time, share and calls there, but time per call and rates.
 *
 * With many rows some differ by chance: Holm's method corrects the p of all rows of a metric.  A difference is told
 * where the corrected p is below 0.05.
 *
 * Sources: Georges, Buytaert & Eeckhout, Statistically Rigorous Java Performance Evaluation, OOPSLA 2007; Welch,
 * Biometrika 34, 1947; Holm, Scandinavian Journal of Statistics 6, 1979.
 */
#ifndef REPORT_DIFF_H
#define REPORT_DIFF_H

#include "phases/select.h"
#include "report/table.h"

#define DIFF_SIGNIFICANCE 0.05
#define DIFF_METRICS_MAX  72
#define DIFF_TRACES_MAX   64 /* on a side */

enum diff_side { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

enum diff_role { DIFF_TIME, DIFF_SHARE, DIFF_CALLS, DIFF_PER_CALL, DIFF_RATE };

struct diff_metric {
    const char *name; /* "time", "share", "calls", "time/call", "CPI", or an event's heading */
    const char *key;  /* the report's column */
    enum table_unit unit;
    enum diff_role role;
};

/* What one trace says of a row. */
struct diff_value {
    double value;        /* NAN: nothing */
    double variance, df; /* of it, by batches of calls; NAN: not known */
    bool is_partial;     /* a live recording switched its probes off: there is no value, and it is not 0 */
};

enum diff_verdict {
    DIFF_UNKNOWN, /* there is no interval */
    DIFF_NONE,    /* chance makes such a difference */
    DIFF_HIGHER,
    DIFF_LOWER,
    DIFF_NEW, /* nothing of it is known before */
    DIFF_GONE /* or after */
};

struct diff_result {
    double mean[DIFF_SIDES]; /* NAN: not known */
    double change;           /* of the mean before, 0.05: 5 % more; NAN where that is 0 */
    double low, high;        /* of the difference, in the metric's unit: the interval of 95 %; NAN: there is none */
    double p, p_corrected;   /* NAN: not tested */
    bool is_partial;         /* of some trace, the value is not known though the row is there */
    enum diff_verdict verdict;
};

struct diff_row {
    const char *kind, *label, *class_name, *method, *descriptor; /* the arena's; the last three may be "" */
    bool is_phase;
    size_t order;                          /* in which rows were met */
    struct diff_value *values[DIFF_SIDES]; /* by trace, then metric; the arena's */
    struct diff_result *results;           /* by metric; the arena's, set by diff_compare */
};

struct diff_wish {
    const char *const *paths[DIFF_SIDES]; /* borrowed */
    size_t n_traces[DIFF_SIDES];
    enum phases_clock clock;
    bool salvage;
    bool all;         /* rows for methods that are no phases, too */
    double min_share; /* of the time that a method needs on one of the sides */
};

struct diff {
    struct arena *arena; /* borrowed */
    const struct diff_wish *wish;
    struct diff_metric metrics[DIFF_METRICS_MAX];
    size_t n_metrics;
    struct diff_row *rows; /* sorted by diff_compare: phases by time, then the rest as the report has it */
    size_t n_rows, rows_room;
    const char *modes[DIFF_SIDES]; /* "all", "phases" or "live", or NULL when a side's traces differ */
    bool has_live;                 /* some are */
    bool has_simulated, has_real;  /* some are of a simulated processor; of a real one */
    enum phases_clock clock;       /* wall where CPU time is not known of one of the traces */
    bool clocks_differ;
};

/* Read all traces.  Returns 0, or -1 with *err set: one against several, cannot be read, no memory. */
int diff_read(struct diff *diff, const struct diff_wish *wish, struct arena *arena, struct err *err);

/* Compare what was read.  Returns 0, or -1 with *err set: no memory. */
int diff_compare(struct diff *diff, struct err *err);

/* p corrected for n tests by Holm's method, in place; NANs are no tests.  Returns 0, or -1: no memory. */
int diff_correct(double *p, size_t n);

/* ---- a gate ---- */

/* "time>5%": rows whose time has significantly risen by more than 5 %; "<": fallen. */
struct diff_limit {
    const char *text; /* borrowed */
    size_t metric;
    bool is_below;
    double change; /* a fraction, not negative */
};

/* Returns 0, or -1 with *err set: malformed, no such metric. */
int diff_limit_parse(const struct diff *diff, const char *text, struct diff_limit *limit, struct err *err);

/* Whether a row breaks it. */
bool diff_breaks(const struct diff_limit *limit, const struct diff_row *row);

/*
 * The table: a row for each row and metric.  Text has the time of each row, and other metrics where they differ, unless
 * wish->all.  Returns 0, or -1 with *err set: no memory.
 */
int diff_table(const struct diff *diff, bool is_text, struct table *table, struct err *err);

/* "rose by 12.3 % (p = 0.0012)" */
const char *diff_words(struct arena *arena, const struct diff_result *result);

#endif
