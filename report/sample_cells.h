/* Columns of tables of stack samples: shares and ratios with their 95 % intervals. */
#ifndef REPORT_SAMPLE_CELLS_H
#define REPORT_SAMPLE_CELLS_H

#include "core/base/arena.h"
#include "core/trace/trace.h"
#include "phases/samples/sample_profile.h"
#include "report/format/table.h"

/*
 * What events that are read with stack samples say of a method, as ratios: cycles per instruction, misses per 1,000
 * instructions, page faults per second.
 */

/* numerator / denominator * scale; they are events' numbers. */
struct sample_ratio_kind {
    const char *heading, *key;
    uint32_t numerator, denominator;
    double scale;
};

/*
 * The ratios of some events: cycles per instruction, other hardware events per 1,000 instructions; page faults and
 * switches per second, if there is a clock; without instructions or a clock, per event that takes the samples, which is
 * the first one.
 *
 * events  names, n of them
 * kinds   room for n; their texts are the arena's
 *
 * Returns how many there are.
 */
int sample_ratio_kinds(const char *const *events, uint32_t n, struct arena *arena, struct sample_ratio_kind *kinds);

#define SAMPLE_RATIOS_MAX (TRACE_SAMPLE_COUNTERS_MAX + 1)

/* What the columns are made from: the first member of a table's rows. */
struct sample_cells {
    const char *label;
    struct sample_share total, self, waiting;
    double heat; /* a share of all heat */
    double ratios[SAMPLE_RATIOS_MAX], ratio_errors[SAMPLE_RATIOS_MAX];
    double self_ratios[SAMPLE_RATIOS_MAX], self_ratio_errors[SAMPLE_RATIOS_MAX];
};

/* Conditions: what a sample stands for; samples decay; threads that wait are sampled. */
enum { SAMPLES_TIME = 1, SAMPLES_EVENT = 2, SAMPLES_DECAY = 4, SAMPLES_WAIT = 8 };

/*
 * The columns from the label to the errors of shares.  Of n ratios and of their errors there are two of each, one of
 * own time: text has the one or the other.
 */
void sample_cells_columns(const char *key, const char *heading, unsigned conditions,
                          const struct sample_ratio_kind *kinds, uint32_t n, bool by_own, struct table *table);
void sample_cells_ratio_columns(const struct sample_ratio_kind *kinds, uint32_t n, bool by_own, struct table *table);

/* A row's ratios; is_method: it has own time. */
void sample_cells_ratios(const struct sample_profile *profile, const struct sample_row *row, bool is_method,
                         const struct sample_ratio_kind *kinds, uint32_t n, struct sample_cells *to);

#endif
