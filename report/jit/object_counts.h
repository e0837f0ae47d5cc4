/*
 * How many objects of each class a JVM created at each site, as an agent counted them (core/agent/lab/count_objects.h);
 * and two such counts of a program side by side: what its bytecode allocates, and what its compiled code creates in the
 * heap.
 */
#ifndef REPORT_JIT_OBJECT_COUNTS_H
#define REPORT_JIT_OBJECT_COUNTS_H

#include "core/base/map.h"
#include "core/base/method_name.h"
#include "report/format/table.h"

/* What two runs are: the first allocates whatever its bytecode does. */
enum object_run { OBJECTS_IN_BYTECODE, OBJECTS_ON_HEAP, OBJECTS_RUNS };

struct object_site {
    const char *class_name;    /* internal */
    struct method_name method; /* class_name NULL: not known */
    int32_t index;             /* of the bytecode; -1: not known */
    uint32_t line;             /* 0: not known */
    uint64_t n[OBJECTS_RUNS], n_bytes[OBJECTS_RUNS];
};

/* Texts are the arena's. */
struct object_counts {
    struct arena *arena;       /* borrowed */
    struct object_site *sites; /* owned */
    uint32_t n_sites, room;
    struct map by_site;
    uint64_t n[OBJECTS_RUNS], n_bytes[OBJECTS_RUNS]; /* of all objects */
    const char *window;                              /* which part of the runs that is; NULL: all of it; borrowed */
};

void object_counts_init(struct object_counts *counts, struct arena *arena);
void object_counts_free(struct object_counts *counts);

/*
 * Add n bytes of a run's text, which is cut up; behind it there is a NUL.  name: of it, for messages.  Hidden classes
 * have numbers and addresses that change from run to run: those of lambdas of one class count as one.
 *
 * Returns 0, or -1 with *err set: it is damaged or cut, or no memory.
 */
int object_counts_read(struct object_counts *counts, enum object_run run, char *text, size_t n, const char *name,
                       struct err *err);

/*
 * A row for each site and class, those first of which most bytes are not created (Zheng, Table 3: per site, and in
 * all). top: so many rows, 0: all; the rest are one.  Sites are put in order.  Returns 0, or -1 with *err set: no
 * memory.
 */
int object_counts_table(struct object_counts *counts, const char *command, uint64_t top, struct table *table,
                        struct err *err);

#endif
