/*
 * A directory of Parquet files as one table, and how files come into it.
 */
#ifndef REPORT_FLEET_FLEET_FILES_H
#define REPORT_FLEET_FLEET_FILES_H

#include "report/fleet/fleet_engine.h"

#include <stdint.h>
#include <stdio.h>

/* What became of files. */
struct fleet_count {
    size_t n_used, n_skipped;
};

/*
 * Make the view 'phases' of all files *.parquet of a directory and those below it that mmprof wrote; each other one is
 * named, with the reason: it is cut, foreign, of a newer schema, or has rows that another file has.
 *
 * said  where that is printed.
 *
 * Returns 0, or -1 with *err set: the directory cannot be read, none is left.
 */
int fleet_files_view(struct fleet_engine *engine, const char *directory, FILE *said, struct fleet_count *count,
                     struct err *err);

/* Is it whole, and one that mmprof wrote in a schema that is known?  Returns NULL, or why not, the arena's. */
const char *fleet_file_fault(struct fleet_engine *engine, struct arena *arena, const char *path);

/*
 * Copy a file into a directory, under a name that its content makes: a file that is there already is left.  Written
 * beside and renamed, so that no half file is ever there.
 *
 * Returns 1, 0: it was there, or -1 with *err set.
 */
int fleet_file_add(const char *directory, const char *path, struct err *err);

#endif
