/*
 * Where in the program a thread waits, by the methods on its stack: the innermost method of the program's own, and what
 * this calls; and whether it waits for work.
 */
#ifndef PHASES_SAMPLES_WAIT_SEARCH_H
#define PHASES_SAMPLES_WAIT_SEARCH_H

#include "core/base/method_name.h"

/* What a method is, by its names. */
enum wait_method_kind {
    WAIT_OF_JDK = 1,
    WAIT_OF_LIBRARY = 2,      /* not the program's own; for the caller to say */
    WAIT_FOR_WORK = 4,        /* who is in it waits for work; */
    WAIT_FOR_WORK_INSIDE = 8, /* if no method of the program's own is inside of it */
    WAIT_RUNNER = 16,         /* runs tasks: nobody waits in it */
    WAIT_OF_POOL = 32         /* what a pool's thread is in, whatever its task does */
};

unsigned wait_method_kinds(const struct method_name *method);

struct wait_site {
    struct method_name where;  /* the program's own, or of a library where it has none on the stack; NULL: none */
    struct method_name called; /* what that calls, or where there is none, what the thread is in */
    bool is_idle; /* it waits for work: a pool's thread for a task, a server's for a connection, one of the JDK's own */
    bool in_pool; /* in a pool's thread */
    /* Does the first method of the program's own, or what that calls, wait?  Such a thread waits for what comes, not
     * for an answer, if it is none that a pool gives one task after the other; main is none. */
    bool is_shallow;
};

/* Of one stack; all zero at first. */
struct wait_search {
    struct wait_site own, library, jdk;
    struct method_name inside;
    bool is_idle, in_pool, own_is_outermost, in_main;
    uint32_t n_own;
};

/* The next method, from the innermost one on.  Names are borrowed. */
void wait_search_see(struct wait_search *search, const struct method_name *method, unsigned kinds);

/* Behind the outermost one. */
struct wait_site wait_search_end(const struct wait_search *search);

#endif
