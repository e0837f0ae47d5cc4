/*
 * Where in the program a thread waits: the innermost method of the application on its stack, and the method of the JDK
 * that this calls; and whether it waits for work.
 */
#ifndef REPORT_VIEW_WAIT_SITES_H
#define REPORT_VIEW_WAIT_SITES_H

#include "core/trace/trace.h"

#include <stdbool.h>
#include <stdint.h>

struct wait_site {
    struct method_name where; /* of the application; its class is NULL where there is none.  The reader's */
    struct method_name jdk;   /* what it calls, or what the thread is in; the same */
    bool is_idle; /* it waits for work: a pool's thread for a task, a server's for a connection, one of the JDK's own */
};

/* context: number of a calling context, the innermost call; 0: none. */
struct wait_site wait_site_of(const struct trace_reader *reader, uint32_t context);

/* Is a class one of the JDK's: of packages java, jdk or sun? */
bool wait_site_is_jdk(const char *class_name);

#endif
