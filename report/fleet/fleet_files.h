/* A directory of Parquet files as one table. */
#ifndef REPORT_FLEET_FLEET_FILES_H
#define REPORT_FLEET_FLEET_FILES_H

#include "report/fleet/fleet_engine.h"

/* ---- The files *.parquet of a directory and those below it, and what their footers say ---- */

#define FLEET_SUFFIX       ".parquet"
#define FLEET_COMPACTED    "compacted-"      /* so begin the directories of compacted files */
#define FLEET_REPLACES_KEY "mmprof.replaces" /* in a footer: the files that it has the rows of, a name a line */

struct fleet_file {
    const char *path;     /* absolute; all texts are the arena's */
    const char *name;     /* below the directory */
    const char *fault;    /* why it is not used; NULL: it is */
    const char *replaces; /* of a compacted file; NULL: it is none */
    double bucket_ns;
    bool is_replaced; /* a compacted file has its rows: a compaction was killed before it removed the file */
    bool has_wrong;   /* rows of it are skipped */
};

struct fleet_listing {
    const char *root;         /* the directory, absolute; the arena's */
    struct fleet_file *files; /* by name; owned */
    size_t n, room;
};

/* Returns 0, or -1 with *err set: the directory cannot be read, or takes too long. */
int fleet_listing_read(struct fleet_engine *engine, const char *directory, struct arena *arena,
                       struct fleet_listing *listing, struct err *err);

/*
 * Read each value of each file; one of which some cannot be read gets a fault.  Without it footers alone are looked at.
 * Returns 0, or -1 with *err set: it takes too long.
 */
int fleet_listing_check_values(struct fleet_engine *engine, struct arena *arena, struct fleet_listing *listing,
                               struct err *err);

/* Whether a query failed as it does where a file is damaged. */
bool fleet_listing_may_be_damaged(const struct err *err);

/* The same of one file, wherever it is, with its values.  Returns as above. */
int fleet_listing_one(struct fleet_engine *engine, const char *path, struct arena *arena, struct fleet_listing *listing,
                      struct err *err);
void fleet_listing_free(struct fleet_listing *listing);

/* The names of files of which some row is used, with commas between them, as a list of SQL's. */
const char *fleet_listing_sql(const struct fleet_listing *listing, struct arena *arena);
bool fleet_file_is_used(const struct fleet_file *file);

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

/* ---- How files come into the directory of a fleet ---- */

/*
 * Copy a file into a directory, under a name that its content makes: a file that is there already is left, and so is
 * one whose rows a compacted file has.  Written beside, brought to the disk and renamed, so that no half file is ever
 * there.
 *
 * there  what the directory had before; NULL: nothing was compacted in it
 *
 * Returns 1, 0: it was there, or -1 with *err set.
 */
int fleet_file_add(const char *directory, const char *path, const struct fleet_listing *there, struct err *err);

/* Remove what copies left behind in the directory that were killed, an hour ago or more. */
void fleet_add_tidy(const char *directory);

/*
 * Many small files of a fleet become a sorted one for each day, and old days go.
 *
 * Nothing that is whole is ever lost: new files are written beside, brought to the disk, and renamed at once, as a
 * directory "compacted-..."; each names the files that it has the rows of, which are not read from then on, and then
 * they are removed.  What is killed in between leaves those files, and the next compaction removes them.  Files of
 * which a row is skipped, and those that cannot be read, stay as they are.
 */

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
 * Returns 0, or -1 with *err set: another compaction of the directory runs, a file cannot be written.
 */
int fleet_compact(struct fleet_engine *engine, const char *directory, double keep_s, bool checks_values, FILE *said,
                  struct fleet_count *count, struct fleet_compacted *compacted, struct err *err);

#endif
