/*
 * Objects that one change of the program would save together: those of one class that one line creates and one line
 * uses last, both called from one method, the lowest common caller (thesis §A.4).
 */
#ifndef REPORT_VIEW_LAST_USES_H
#define REPORT_VIEW_LAST_USES_H

#include "report/folding.h"
#include "report/format/table.h"
#include "report/view/memtrace_names.h"

struct last_uses_cluster {
    uint32_t class_number;
    uint32_t created, used;     /* locations; NO_NUMBER: not known, or not used */
    uint32_t common;            /* a method; NO_NUMBER: not known, not used, or another thread */
    bool is_used, is_elsewhere; /* used last by another thread than created it */
    bool is_library;            /* the common caller is no method of the program's own: last_uses_fold */
    double n, n_bytes;          /* of all objects that those in the trace stand for, as below */
    double n_short_bytes;       /* of those that were used for less than LAST_USES_SHORT */
    double n_since;             /* created since C2 has compiled the common caller, or else the creating method */
    double n_c2_bytes;          /* created by code of C2 */
    uint64_t longest;
    double buckets[65]; /* lifetimes of so many bits */
};

#define LAST_USES_SHORT (UINT64_C(1) << 16) /* accesses */

struct last_uses {
    struct memtrace_names names;
    struct memtrace_list compiled; /* of uint64_t, by method: the time when C2 had compiled it first, plus 1 */
    struct arena arena;            /* keys */
    struct last_uses_cluster *all; /* owned: those of most short-lived bytes first */
    uint32_t n, room;
    double n_objects, n_bytes;
    uint64_t time, interval_bytes; /* interval: one object in so many bytes was followed; 0: all were */
    bool is_recorded;              /* the trace has last uses */
};

/* Of a whole trace.  Returns 0, or -1 with *err set: damaged, or without last uses. */
int last_uses_read(struct last_uses *uses, struct memtrace_reader *reader, const char *path, struct err *err);

/* The same of a file by its path. */
int last_uses_file(struct last_uses *uses, const char *path, struct err *err);
void last_uses_free(struct last_uses *uses);

/* Mark what is passed on within the JDK or a framework: no change of the program replaces that. */
void last_uses_fold(struct last_uses *uses, const struct folding_list *libraries);

/* Is it of objects that C2 does not create any more, though it has compiled the code long before the end? */
bool last_uses_is_removed(const struct last_uses *uses, const struct last_uses_cluster *cluster);

/* More than half of the cluster's objects were used for less than this, a power of two. */
uint64_t last_uses_median(const struct last_uses_cluster *cluster);

/* The common caller, as people read it. */
const char *last_uses_common(const struct last_uses *uses, const struct last_uses_cluster *cluster,
                             struct arena *arena);
const char *last_uses_line(const struct last_uses *uses, uint32_t location, struct arena *arena);

/* At most top rows (0: all); what is folded has one for all. */
void last_uses_table(const struct last_uses *uses, const char *path, uint64_t top, struct arena *arena,
                     struct table *table);

#endif
