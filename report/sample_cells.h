/*
 * Cells of tables of stack samples: shares and ratios with their 95 % intervals.
 */
#ifndef REPORT_SAMPLE_CELLS_H
#define REPORT_SAMPLE_CELLS_H

#include "phases/samples/sample_profile.h"
#include "report/sample_ratios.h"
#include "report/format/table.h"

/* A row's cells are put in the order of the columns. */
struct sample_cells {
    struct table *table;
    struct table_cell *next;
};

void sample_cells_put(struct sample_cells *to, struct table_cell cell);

/* "12.34 ±0.56", in per cent. */
struct table_cell sample_cells_share(const struct sample_share *share, struct arena *arena);
struct table_cell sample_cells_error(double error);

/* A column that text does not have. */
void sample_cells_hide(struct table *table, const char *key, enum table_unit unit);

/* Where the profile's samples decay: columns of how hot a row is; and its cells, of a share of all heat. */
void sample_cells_heat_columns(const struct sample_profile *profile, struct table *table);
void sample_cells_put_heat(const struct sample_profile *profile, double share, struct sample_cells *to);

/* Columns of n ratios and of their errors, of own time, too: text has the one or the other; and a row's cells. */
void sample_cells_ratio_columns(const struct sample_ratio_kind *kinds, uint32_t n, bool by_own, struct table *table);
void sample_cells_put_ratios(const struct sample_profile *profile, const struct sample_row *row, bool is_method,
                             const struct sample_ratio_kind *kinds, uint32_t n, struct sample_cells *to);

#endif
