/*
 * A directory of Parquet files as one table.
 */
#ifndef REPORT_FLEET_FLEET_FILES_H
#define REPORT_FLEET_FLEET_FILES_H

#include "report/fleet/fleet_listing.h"

#include <stdint.h>

/* What became of files, and of rows of those that are used. */
struct fleet_count {
    size_t n_used, n_skipped;
    double n_rows_skipped;
};

/*
 * Make the view 'phases' of all files *.parquet of a directory and those below it that mmprof wrote; each other one is
 * named, with the reason: it is cut, foreign, of a newer schema, or has rows that another file has.  Of the others rows
 * are skipped, and counted, where a clock was wrong: they begin before their run did, or in the future; and those of
 * runs that an earlier file has in the same time.
 *
 * checks_values  read each value first, so that a file is skipped whose footer is whole and whose values are not.
 * said           where that is printed.
 *
 * Returns 0, or -1 with *err set: the directory cannot be read, none is left.
 */
int fleet_files_view(struct fleet_engine *engine, const char *directory, bool checks_values, FILE *said,
                     struct fleet_count *count, struct err *err);

/*
 * The same view of a list of files, with the column filename, and ts as it is in the files; files of which rows are
 * skipped are marked (has_wrong).
 */
int fleet_files_raw_view(struct fleet_engine *engine, struct arena *arena, struct fleet_listing *listing, FILE *said,
                         struct fleet_count *count, struct err *err);

#endif
