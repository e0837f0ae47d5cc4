/*
 * Of which classes the receivers of calls were, at each call site, and whether the call sites around it tell: as an
 * agent counted them (core/agent/lab/count_receivers.h).
 */
#ifndef REPORT_JIT_RECEIVER_COUNTS_H
#define REPORT_JIT_RECEIVER_COUNTS_H

#include "core/base/map.h"
#include "core/base/method_name.h"
#include "report/format/table.h"

#define RECEIVER_LEVELS 4 /* of calling context: 0 to 3 */

/* A virtual call, or one of an interface, in a method's bytecode.  Texts are the arena's. */
struct receiver_site {
    struct method_name method, called; /* called: its class is not known */
    int32_t index;
    uint32_t line;
    uint64_t n; /* calls that were counted */
    uint32_t n_types;
    /* With so many levels: calls whose contexts have one class of receivers; and bits that are left to know which. */
    uint64_t n_resolved[RECEIVER_LEVELS];
    double bits[RECEIVER_LEVELS];
};

struct receiver_record;

struct receiver_counts {
    struct arena *arena;             /* borrowed */
    struct receiver_site *sites;     /* owned */
    struct receiver_record *records; /* owned */
    uint32_t n_sites, sites_room, n_records, records_room, n_types;
    struct map by_site, by_type;
    uint64_t n_seen, n_taken; /* calls in all, of any kind; of these kinds, counted */
    uint32_t interval;
};

/* interval: about one call in so many was counted; 1: all. */
void receiver_counts_init(struct receiver_counts *counts, struct arena *arena, uint32_t interval);
void receiver_counts_free(struct receiver_counts *counts);

/* As object_counts_read. */
int receiver_counts_read(struct receiver_counts *counts, char *text, size_t n, const char *name, struct err *err);

/*
 * A row for each call site with receivers of several classes, those with most calls first (Zheng, section 5.2 and
 * Figure 8).  Where not all calls were counted, what was seen only once or twice in a context says nothing, and is not
 * resolved.
 */
int receiver_counts_table(struct receiver_counts *counts, const char *command, uint64_t top, struct table *table,
                          struct err *err);

#endif
