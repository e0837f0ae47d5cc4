/*
 * Many small files of a fleet become a sorted one for each day, and old days go.
 *
 * Nothing that is whole is ever lost: new files are written beside, brought to the disk, and renamed at once, as a
 * directory "compacted-..."; each names the files that it has the rows of, which are not read from then on, and then
 * they are removed.  What is killed in between leaves those files, and the next compaction removes them.  Files of
 * which a row is skipped, and those that cannot be read, stay as they are.
 */
#ifndef REPORT_FLEET_FLEET_COMPACT_H
#define REPORT_FLEET_FLEET_COMPACT_H

#include "report/fleet/fleet_files.h"

struct fleet_compacted {
    size_t n_before, n_after; /* files that became others, and those */
    size_t n_removed;         /* files of days that are too old */
    double n_rows;
};

/*
 * keep_s         remove rows of days (UTC) that ended longer ago; 0: none
 * checks_values  as of fleet_files_view
 * said           where files that are skipped are named
 *
 * Returns 0, or -1 with *err set: another compaction of the directory runs, a file cannot be written, no memory.
 */
int fleet_compact(struct fleet_engine *engine, const char *directory, double keep_s, bool checks_values, FILE *said,
                  struct fleet_count *count, struct fleet_compacted *compacted, struct err *err);

#endif
