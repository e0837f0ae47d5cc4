/*
 * Live bytes against allocated bytes, and where in the program few are live: favourable points for collections
 * (thesis §A.3, Figure A.1).
 *
 * How long an object is live nobody tells.  It is at least until its last use (the lower bound), and at most until a
 * collection finds it dead (the upper bound).
 */
#ifndef REPORT_VIEW_LIVE_BYTES_H
#define REPORT_VIEW_LIVE_BYTES_H

#include "report/format/table.h"
#include "report/view/memtrace_names.h"

struct live_object {
    uint64_t created, last_used, dead; /* times; dead: of the collection that found it, or UINT64_MAX */
    uint64_t bytes;                    /* of all objects that it stands for */
};

/* A call that is over, in which many bytes were created. */
struct live_call {
    uint32_t method; /* MEMTRACE_NO_NUMBER: not known */
    uint64_t began, ended, bytes;
};

/* What has gone by a time: steps in the order of time, each with all bytes up to it. */
struct live_step {
    uint64_t time, bytes;
};

struct live_bytes {
    struct memtrace_names names;
    struct live_object *objects;               /* owned, as the others: in the order of creation */
    struct live_call *calls;                   /* in the order of their ends */
    uint64_t *collections;                     /* times */
    struct live_step *created, *unused, *dead; /* n_objects of each */
    uint32_t n_objects, objects_room, n_calls, calls_room, n_collections, collections_room;
    uint64_t time;           /* the end */
    uint64_t interval_bytes; /* one object in so many was followed; 0: all were */
};

/* Of a whole trace, of last uses or of accesses.  Returns 0, or -1 with *err set: damaged. */
int live_bytes_read(struct live_bytes *live, struct memtrace_reader *reader, struct err *err);

/* The same of a file by its path. */
int live_bytes_file(struct live_bytes *live, const char *path, struct err *err);

/* When objects, calls and collections are there, in any order: what the questions below need. */
void live_bytes_sort(struct live_bytes *live);
void live_bytes_free(struct live_bytes *live);

/* ---- at a time, what happens then included ---- */

uint64_t live_bytes_allocated(const struct live_bytes *live, uint64_t time);
uint64_t live_bytes_least(const struct live_bytes *live, uint64_t time);
uint64_t live_bytes_most(const struct live_bytes *live, uint64_t time);

/* The time at which so many bytes had been allocated. */
uint64_t live_bytes_time(const struct live_bytes *live, uint64_t bytes);

/* Of the bytes created after one time, up to another: those that are used after that; or that are not found dead. */
uint64_t live_bytes_kept(const struct live_bytes *live, uint64_t after, uint64_t up_to, bool is_least);

/* What a young collection copies, on average, anywhere between two times, with so many bytes between two of them. */
struct live_copies {
    double least, most;
};

struct live_copies live_bytes_copies(const struct live_bytes *live, uint64_t from, uint64_t to, uint64_t young_bytes);

/* ---- favourable points ---- */

/*
 * YOUNG: less is copied there than elsewhere.  FULL: young collections on the way leave much that is dead by the end,
 * which a young one there would not free.
 */
enum live_collecting { LIVE_NO_COLLECTION, LIVE_YOUNG, LIVE_FULL };

/* The ends of a method's calls. */
struct live_point {
    uint32_t method;
    uint32_t n_calls;
    double call_bytes;      /* created from one end to the next, on average, as all below */
    double live, live_cov;  /* live at the ends, at least; their coefficient of variation */
    double live_mean;       /* live on the way */
    double minima;          /* the part of the ends that are local minima */
    double kept, kept_mean; /* what a young collection at each end copies; and as many at any other time: at least */
    double kept_most;       /* at any other time, at most */
    double old_dead;        /* bytes that the run's own collections have copied, and that died by the end */
    enum live_collecting choice;
    uint64_t inside; /* the time in all its calls together */
    double saved;    /* bytes that such collections copy less than as many, of that kind, at other times */
};

struct live_points {
    struct live_point *all; /* owned: those that pay first, by how often they are minima, then by what they save */
    uint32_t n, n_folded;   /* left out: methods that end where another one does that called them */
};

#define LIVE_FOLLOWED_LEAST 32u  /* objects from one end to the next: of fewer, chance decides what is live there */
#define LIVE_CALLS_LEAST    4u   /* fewer say nothing of whether it is so in each */
#define LIVE_BYTES_LEAST    0.1  /* of all bytes are created from one end to the next, in all calls */
#define LIVE_MINIMA_LEAST   0.8  /* of the ends are local minima */
#define LIVE_ALIKE          0.01 /* figures of two methods that end together differ by no more */
#define LIVE_SAVED_LEAST    0.1  /* of what collections at other times copy is saved */

/* Of all methods whose calls create many bytes. */
void live_points_find(const struct live_bytes *live, struct live_points *points);
void live_points_free(struct live_points *points);

/* ---- tables ---- */

/* n points of the curve, and all collections. */
void live_bytes_table(const struct live_bytes *live, const char *path, uint64_t n, struct arena *arena,
                      struct table *table);

/* At most top rows (0: all). */
void live_points_table(const struct live_bytes *live, const struct live_points *points, const char *path, uint64_t top,
                       struct arena *arena, struct table *table);

#endif
