/* What virtual threads did, by looks at all of them or at some: of the trace's VIRTUAL_WAITS. */
#ifndef REPORT_VIEW_VIRTUAL_WAITS_H
#define REPORT_VIEW_VIRTUAL_WAITS_H

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/trace/trace.h"
#include "phases/samples/wait_search.h"

/* A cause, and a method that waited. */
struct virtual_wait_row {
    enum trace_cause cause; /* as of struct trace_virtual_wait */
    bool is_idle;
    struct method_name where, called; /* as of struct wait_row */
    const char *lock_class;           /* "java.util.HashMap"; NULL: not known */
    double mean_threads, share;       /* of all looks; of all threads, 0..1 */
    double ns;                        /* that all threads together waited so: by these */
    uint64_t n;                       /* looks that met it */
};

/* All of it lives in the arena. */
struct virtual_waits {
    struct virtual_wait_row *rows; /* the longest first */
    size_t n;
    uint64_t n_looks;    /* 0: the trace has none */
    double mean_threads; /* of all rows */
};

/* All zero at first. */
struct virtual_waits_reading {
    struct virtual_sum *rows; /* owned */
    uint32_t n, room;
    struct hash_set by_key;
    uint64_t n_looks, latest_ticks;
};

/* site: where it waits, NULL: not known; all names are borrowed until the end, and lock_class of the wait. */
void virtual_waits_hear(struct virtual_waits_reading *reading, const struct wait_site *site,
                        const struct trace_virtual_wait *wait);

/* duration_ns: of the recording. */
void virtual_waits_end(const struct virtual_waits_reading *reading, double duration_ns, struct arena *arena,
                       struct virtual_waits *waits);
void virtual_waits_free(struct virtual_waits_reading *reading);

#endif
