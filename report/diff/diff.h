/*
 * What differs between two versions of a program, each recorded once or several times (thesis, appendix A.1).
 *
 * Rows are the process, phases and other methods with much own time, matched by class, method and descriptor, and the
 * JVM's parts.  Times vary by factors, so logarithms are compared: a change is the difference of the means of the
 * logarithms, y, and
 *
 *     t = (y(A) - y(B)) / sqrt(V(A) + V(B))      df = (V(A) + V(B))^2 / (V(A)^2 / df(A) + V(B)^2 / df(B))
 * (Satterthwaite)
 *
 * Several traces on each side: a run is one observation, V = variance / n.  Only this tells what differs from run to
 * run: where the JIT compiles, how memory is laid out, what else the machine does.  Five runs tell little of a
 * variance, but many rows do: it is moved towards what is usual among them (diff_prior_fit). One trace on each side: a
 * batch of calls is one observation (phases/select/statistics.h); the number of calls is taken as given, and so is what
 * the rest of the program takes.  What has fewer than five calls, and the JVM's parts, have no interval.
 *
 * Runs recorded in turns may share what the machine did: where the two of a pair are alike, it is their differences
 * that vary.
 *
 * Much of what varies from run to run is the same in all rows: the machine was faster or slower.  So own times are
 * tested twice: as they are, and adjusted for the factor that all of a run have in common, the median of the others' in
 * units of their means (analysis of covariance; each row has a slope of its own, for memory-bound code suffers more).
 *
 * Which of many rows differ by more than chance is told by false discovery rate, see diff_correct().  Where most of a
 * caller's change comes from what it calls, it follows from that (diff_fold).
 *
 * A method that had probes for a part of a live recording has no time and calls there, but a share of what ran
 * meanwhile, time per call and rates.
 *
 * Sources: Georges, Buytaert & Eeckhout, Statistically Rigorous Java Performance Evaluation, OOPSLA 2007; Welch,
 * Biometrika 34, 1947; Smyth, Linear models and empirical Bayes methods, SAGMB 3, 2004; Benjamini & Hochberg, JRSS B
 * 57, 1995; Genovese, Roeder & Wasserman, False discovery control with p-value weighting, Biometrika 93, 2006.
 */
#ifndef REPORT_DIFF_DIFF_H
#define REPORT_DIFF_DIFF_H

#include "core/base/method_name.h"
#include "phases/select/select.h"
#include "report/format/table.h"

#define DIFF_SIGNIFICANCE 0.05
#define DIFF_POWER        0.8 /* of the smallest change that could have been shown */
#define DIFF_METRICS_MAX  72
#define DIFF_TRACES_MAX   64 /* on a side */

enum diff_side { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

enum diff_role { DIFF_TIME, DIFF_SELF, DIFF_ADJUSTED, DIFF_SHARE, DIFF_CALLS, DIFF_PER_CALL, DIFF_RATE };

/* The first metrics are these, in this order: an index is a role.  Rates follow. */
struct diff_metric {
    const char *name; /* "time", "self", "adjusted", "share", "calls", "time/call", "CPI", or an event's heading */
    const char *key;  /* the report's column */
    enum table_unit unit;
    enum diff_role role;
    bool is_asked; /* a limit is on it: its tests are given more of the 5 %; set before diff_compare */
};

/* What one trace says of a row. */
struct diff_value {
    double value;        /* NAN: nothing */
    double variance, df; /* of it, by batches of calls; NAN: not known */
    bool is_partial;     /* not all of it was recorded: there is no value, and it is not 0 */
};

enum diff_verdict {
    DIFF_UNKNOWN,             /* there is no interval, or it is not tested */
    DIFF_NOT_SHOWN,           /* chance makes such a difference */
    DIFF_SMALL,               /* it is less than the least of interest */
    DIFF_HIGHER,              /* it is not chance */
    DIFF_LOWER,               /* likewise */
    DIFF_FOLLOWS,             /* likewise, but it comes from another row's change */
    DIFF_NEW,                 /* it had probes before, but was not called */
    DIFF_GONE,                /* or after */
    DIFF_NOT_MEASURED_BEFORE, /* it had no probes before */
    DIFF_NOT_MEASURED_AFTER
};

struct diff_result {
    double mean[DIFF_SIDES]; /* NAN: not known; the geometric one where no value is 0 */
    double change;           /* of the mean before, 0.05: 5 % more; NAN where that is 0 */
    double low, high;        /* of the difference, in the metric's unit: the interval of 95 %; NAN: there is none */
    double p, p_corrected;   /* NAN: not tested */
    double detectable;       /* the change (a fraction) that would be found in four of five such comparisons; or NAN */
    bool is_partial;         /* of some trace, the value is not known though the row is there */
    enum diff_verdict verdict;
    const struct diff_row
        *cause; /* DIFF_FOLLOWS: of a time, the row called whose change it is; of calls, the caller's */
};

struct diff_row {
    const char *kind, *label;              /* the arena's */
    struct method_name names;              /* the same; may be "" */
    bool is_phase;                         /* of some trace */
    size_t order;                          /* in which rows were met */
    uint64_t measured[DIFF_SIDES];         /* by trace, a bit: the method had probes there */
    struct diff_value *values[DIFF_SIDES]; /* by trace, then metric; the arena's */
    double slope_error; /* of the adjustment, where the factor differs between the sides: (difference of its means)^2
                           over its spread, which adds to 1/n + 1/n */
    struct diff_result *results; /* by metric; the arena's, set by diff_compare */
};

/* Time of a row on behalf of another, which it was called from, in all traces; with itself: all its time. */
struct diff_pair {
    size_t caller, callee; /* rows, by order */
    double ns;
};

/* Of a trace: when it was recorded, and how much else the machine did. */
struct diff_load {
    uint64_t start_ns;     /* CLOCK_REALTIME; 0: not known */
    double duration_ns;    /* of the recording */
    double on_ns, wait_ns; /* of all threads: on a CPU; off it, though they could run */
    double stolen_ns;      /* kept by the host from all CPUs */
};

struct diff_row_options {
    const char *const *paths[DIFF_SIDES]; /* borrowed */
    size_t n_traces[DIFF_SIDES];
    enum phases_clock clock;
    bool salvage;
    bool all;         /* rows for methods that are no phases, too */
    double min_share; /* of the time that a method needs on one of the sides */
    double least;     /* smaller changes (fractions) are of no interest */
};

struct diff {
    struct arena *arena; /* borrowed */
    const struct diff_row_options *options;
    struct diff_metric metrics[DIFF_METRICS_MAX];
    size_t n_metrics;
    struct diff_row *rows; /* sorted by diff_compare: the process, phases by time, then the rest as the report has it */
    size_t n_rows, rows_room;
    struct diff_pair *pairs; /* the arena's */
    size_t n_pairs, pairs_room;
    struct diff_load loads[DIFF_SIDES][DIFF_TRACES_MAX];
    bool is_paired; /* the k-th runs of both sides, by in_turn, were recorded one after the other, and are alike */
    size_t in_turn[DIFF_SIDES][DIFF_TRACES_MAX];
    const char *modes[DIFF_SIDES]; /* "all", "phases" or "live", or NULL when a side's traces differ */
    uint64_t sampled[DIFF_SIDES];  /* by trace, a bit: stack samples tell of every method, and divide the time */
    bool has_live;                 /* some are */
    bool has_simulated, has_real;  /* some are of a simulated processor; of a real one */
    enum phases_clock clock;       /* wall where CPU time is not known of one of the traces */
    bool clocks_differ;
    double common; /* by how much all own times together changed, a fraction; NAN: too few of them */
};

/* Read all traces; none after: several are runs of one version.  Returns 0, or -1 with *err set: one against several,
 * cannot be read. */
int diff_read(struct diff *diff, const struct diff_row_options *options, struct arena *arena, struct err *err);

/* Compare what was read; of runs of one version, only choose, sort and name the rows. */
void diff_compare(struct diff *diff);

/*
 * The table of two runs or more of one version, the traces before: each row's mean, and how much runs vary.  Returns 0,
 * or -1 with *err set: one run, one cannot be read.
 */
int runs_table(const struct diff_row_options *options, bool is_text, struct arena *arena, struct table *table,
               struct err *err);

/* ---- a gate ---- */

/* "time>5%": rows whose time has significantly risen by more than 5 %; "<": fallen. */
struct diff_limit {
    const char *text; /* borrowed */
    const char *name; /* of the metric; the arena's */
    size_t metric;    /* diff_limit_parse's only */
    bool is_below;
    double change; /* a fraction, not negative */
};

/* The text alone: there may be no such metric.  Returns 0, or -1 with *err set: malformed. */
int diff_limit_read(struct arena *arena, const char *text, struct diff_limit *limit, struct err *err);

/* -1 with *err set: none of the metrics, whose names are listed, is the limit's. */
int diff_limit_refuse(const struct diff_limit *limit, const char *list, struct err *err);

/* Whether a change (a fraction; NAN: from nothing to something) is beyond a limit that is on its side. */
bool diff_limit_is_beyond(const struct diff_limit *limit, double change);

/* Returns 0, or -1 with *err set: malformed, no such metric. */
int diff_limit_parse(const struct diff *diff, const char *text, struct diff_limit *limit, struct err *err);

/* Whether a row breaks it; one that follows from another does only where that one does not. */
bool diff_breaks(const struct diff_limit *limit, const struct diff_row *row);

/* Of the process and its methods that are tested on the limit's metric, how many could have broken it unseen: less than
 * four times of five such a change would be found.  *n_tested: all of them. */
size_t diff_blind(const struct diff *diff, const struct diff_limit *limit, size_t *n_tested);

/*
 * The table: a row for each row and metric.  Text has the time of each row, and other metrics where they differ, unless
 * options->all.
 */
void diff_table(const struct diff *diff, bool is_text, struct table *table);

/* "rose by 12.3 % (p = 0.0012)" */
const char *diff_words(struct arena *arena, const struct diff_result *result);

#endif
