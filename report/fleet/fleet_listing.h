/*
 * The files *.parquet of a directory and those below it, and what their footers say.
 */
#ifndef REPORT_FLEET_FLEET_LISTING_H
#define REPORT_FLEET_FLEET_LISTING_H

#include "report/fleet/fleet_engine.h"

#include <stdio.h>

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

/* Returns 0, or -1 with *err set: the directory cannot be read, no memory. */
int fleet_listing_read(struct fleet_engine *engine, const char *directory, struct arena *arena,
                       struct fleet_listing *listing, struct err *err);

/*
 * Read each value of each file; one of which some cannot be read gets a fault.  Without it footers alone are looked at.
 * Returns 0, or -1 with *err set: no memory.
 */
int fleet_listing_check_values(struct fleet_engine *engine, struct arena *arena, struct fleet_listing *listing,
                               struct err *err);

/* Whether a query failed as it does where a file is damaged. */
bool fleet_listing_may_be_damaged(const struct err *err);

/* The same of one file, wherever it is, with its values.  Returns 0, or -1 with *err set: no memory. */
int fleet_listing_one(struct fleet_engine *engine, const char *path, struct arena *arena, struct fleet_listing *listing,
                      struct err *err);
void fleet_listing_free(struct fleet_listing *listing);

/* The names of files of which some row is used, with commas between them, as a list of SQL's; NULL: no memory. */
const char *fleet_listing_sql(const struct fleet_listing *listing, struct arena *arena);
bool fleet_file_is_used(const struct fleet_file *file);

#endif
