/* How far the times of a table's rows may be off where stack samples divide the time. */
#ifndef REPORT_SAMPLE_ROWS_H
#define REPORT_SAMPLE_ROWS_H

#include "report/sampled_tree.h"

/*
 * The samples of a source's tree, which has some, as a profile of rows: a sample is in the rows of all methods on its
 * stack, and the own time of that of the innermost one.
 *
 * row_of   by method: its row, or CALLTREE_NONE; several methods may have one
 * profile  for sample_profile_free
 */
void sample_rows_profile(const struct report_source *source, const uint32_t *row_of, struct sample_profile *profile);

/* The same a sample at a time, of rows that are no method's: the i-th kept one in n of them, the innermost first. */
void sample_rows_open(const struct report_source *source, struct sample_profile *profile);
void sample_rows_add(const struct report_source *source, size_t i, const uint32_t *rows, uint32_t n,
                     struct sample_profile *profile);

/* Half of the 95 % interval around a share of all time, of which so many ticks are told by these samples; NAN: it is
 * not known. */
double sample_rows_error(const struct sample_share *share, double ticks, double all_ticks);

#endif
