/* Shared by the files that make the report. */
#ifndef REPORT_VIEW_REPORT_INTERNAL_H
#define REPORT_VIEW_REPORT_INTERNAL_H

#include "core/pmu/topdown.h"
#include "phases/tree/calltree.h"
#include "report/estimates.h"
#include "report/view/phase_report.h"
#include "report/sampled_tree.h"
#include "report/shares.h"

/* What a row is of. */
enum row_kind { ROW_PHASE, ROW_SAMPLED, ROW_OUTSIDE, ROW_PART, ROW_MMPROF, ROW_TOTAL, ROW_OF_TIME };

struct row_id {
    enum row_kind kind;
    size_t index; /* of a phase, or a method known by samples: into rows; of a part: enum vm_part */
};

#define REPORT_NO_TICKS (-1.0)

/* One row's values before any division. */
struct values {
    const char *label, *kind;
    struct row_id id;
    struct method_name name;
    /* Or REPORT_NO_TICKS: not applicable; others are negative in a row of switches only. */
    double time_ticks, self_ticks;
    double probe_ticks;   /* of time_ticks, what probes measured: what calls took */
    double cpu_ticks;     /* inclusive: what faults and switches are divided by */
    double off_cpu_ticks; /* inclusive; negative: not known */
    double calls;         /* negative: not applicable */
    struct calltree_whole whole;
    double unwinds, n_open;
    struct recorded recorded; /* of a phase: its shares are of what ran then; of others: of all */
    const uint64_t *metrics;  /* the tree's; NULL: not known */
};

/* A row as it is printed, by column. */
struct report_line {
    struct table_cell label, time, self, region, recorded, known_by, calls, per_call, cpi, rates[EVENT_COLUMNS_MAX];
    struct table_cell off_cpu, faults, switches, allocated, reason, time_error, self_error, raw[EVENT_COLUMNS_MAX];
    struct table_cell counted, time_ns, self_ns, recorded_share, unwinds, open_calls, p50, p99, longest, folded;
    struct table_cell class_name, method, descriptor, shape, throttled, throttled_ns;
    /* Of groups that take turns. */
    struct table_cell cpi_ends[2], rates_ends[EVENT_COLUMNS_MAX][2], raw_ends[EVENT_COLUMNS_MAX][2];
    struct table_cell scaling[EVENT_COLUMNS_MAX];
    struct table_cell parts[TOPDOWN_PARTS], parts_ends[TOPDOWN_PARTS][2];
};

/* Where an event of the report was measured. */
struct event_origin {
    uint8_t trace; /* 0: the first one, else others[trace - 1] */
    uint8_t event; /* among that trace's own events */
};

/* The rows that one row stands for, besides its own. */
struct report_fold {
    uint32_t n, outermost; /* outermost: the method of the program that calls the others, or the row's own */
    const char *names;     /* "com.acme.Shop.handle com.acme.Shop.price"; NULL: none */
};

struct making {
    const struct report_source *source;
    const struct report_row_options *options;
    struct table *table;
    struct shares shares;
    struct event_column own[EVENT_COLUMNS_MAX];       /* the trace's events */
    struct estimates_basis basis;                     /* of them */
    const struct event_column *cycles, *instructions; /* of them, measured, or NULL */
    struct event_column events[EVENT_COLUMNS_MAX];    /* those of the report: of other traces, too */
    struct event_origin origins[EVENT_COLUMNS_MAX];
    size_t n_events;
    const struct topdown_cpu *topdown; /* whose formulas apply, or NULL */
    struct making *others;             /* of traces that are joined to this one; the arena's */
    size_t n_others;
    bool take_turns;      /* groups of counters do, in some trace */
    bool shows_faults;    /* text has a column of them */
    const char **reasons; /* by row: why it has no probes; NULL: it has; the arena's */
    /* What probes measured; the arena's; NULL: joined trace without calls of that phase.  Without calls: samples only.
     */
    const struct calltree_total **rows;
    const struct calltree_total **measured; /* by method: what probes measured, or NULL; with samples only, as: */
    double *method_ticks, *method_own;      /* by method: its time, with and without what it calls; the arena's */
    double *ticks;                          /* by row: its time, with what samples say; the arena's */
    double *time_errors; /* by row: of its share; NAN: it was measured, or it is not known; the arena's, or NULL */
    double *self_errors; /* the same of its own */
    struct report_fold *folds; /* by method: what was folded into its row; the arena's, or NULL */
    uint32_t *folded;          /* the methods of all these; the arena's, or NULL */
    size_t n_all_folded;
    size_t n_rows, n_more;               /* printed; not printed, with less time, which stand behind those */
    bool is_partly;                      /* some row was recorded for a part of the time */
    bool has_hardware;                   /* some hardware event was measured */
    bool has_counts;                     /* some counter was: hardware, or a software event */
    bool has_readings;                   /* threads without probes were counted, too */
    const char *partly;                  /* the rows that were counted in part of their time: the arena's, or NULL */
    const char *too_few;                 /* those of which too little was counted */
    const struct sampled_shapes *shapes; /* as samples tell; NULL: none lost a call that was inlined; the arena's */
    const char *shaped; /* those whose compiled code has another shape with probes, and how; the arena's, or NULL */
};

/* Too little of the process' time for a note. */
bool report_is_tiny(const struct making *making, const struct values *v);

bool report_is_hardware(const struct event_column *event);

/*
 * Of the time of a row: more than this share without counters makes its counts and rates estimates from the rest, and
 * more than the second one its counts unknown.
 */
#define REPORT_UNCOUNTED_MAX 0.001
#define REPORT_SCALED_MAX    0.1

#define REPORT_TINY_SHARE 0.001

/* The share of a row's time on the CPU in which the trace's counters are known; negative: they are not at all. */
double report_counted(const struct making *making, struct row_id id);

/* Estimates of the trace's own events in a row.  Returns false: there are none. */
bool report_estimates(const struct making *making, struct row_id id, struct event_estimate *estimates);

/* Find the events of a trace, and make them the report's. */
void report_find_events(struct making *making);

/* What follows from a trace's counts, once its shares are computed. */
void report_find_readings(struct making *making);

/*
 * Join other traces of the same program: their events, and what they say of the same rows.  The first trace's rows are
 * chosen already.  Returns 0, or -1 with *err set: they are of another program.
 */
int report_join(struct making *making, const struct report_trace *others, size_t n_others, struct err *err);

/* Add the columns. */
void report_columns(struct making *making);

/* A row's part of the slots, and in *half how far it may be off; both negative: not known.  estimates: by event. */
double report_topdown(const struct making *making, enum topdown_part part, const struct event_estimate *estimates,
                      double *half);

/* Say by whose formulas, and why parts are missing. */
void report_note_topdown(const struct making *making);

/* Add a row; after_rule: with a rule before it. */
void report_row(struct making *making, const struct values *v, bool after_rule);

/* The labels of the rows, each the only one of its kind; the arena's. */
const char **report_row_labels(const struct making *making);

/* The rows of the phases, sorted.  Returns 0, or -1 with *err set: an unknown key. */
int report_phase_rows(struct making *making, struct err *err);

/* Of methods that were folded into rows: those whose compiled code has another shape with probes, into making->shaped.
 */
void report_folded_shapes(struct making *making);

/* A method that could be a row, its time, and its share of what ran while it was recorded; with samples, of all. */
struct report_ranked {
    const struct calltree_total *total;
    double ticks, share;
    bool is_outer; /* it has nearly all time, or what has calls it: report_fold */
};

/* Each method's time in the source's tree, of which samples are a part. */
void report_find_times(struct making *making, const struct calltree_total *totals, size_t n_totals);

/* Add methods that only samples know: in the arena, with no calls.  There is room for all methods. */
void report_add_sampled(struct making *making, struct report_ranked *ranked, size_t *n_ranked);

/* Leave out rows that tell nothing of their own: making->options->fold. */
void report_fold(struct making *making, struct report_ranked *ranked, size_t *n_ranked);

/* Does a row have calls of which only samples tell the end, and its time on the CPU up to there? */
bool report_is_ended(const struct making *making, size_t row);

/* How far the rows' own times may be off. */
void report_find_errors(struct making *making, const uint32_t *row_of);

/* Find why rows have no probes.  Returns whether any has none. */
bool report_find_reasons(struct making *making);

/* A row's cells of how it is known: the intervals, by what, and why it has no probes. */
void report_fill_known(const struct making *making, size_t row, struct report_line *line);

/* Of the row of what no thread had. */
const char *report_kernel_label(const struct shares *shares);

/* Above the table: whether all CPU time is accounted for, switches, steal time; and all notes below it. */
void report_accounts(const struct making *making);
void report_notes(struct making *making);

/* The application's other code and switches, the parts of the VM, mmprof, the total. */
void report_other_rows(struct making *making);

#endif
