/*
 * Where in the program a thread waits: the innermost method of the program's own on its stack, and what this calls; and
 * whether it waits for work.
 */
#ifndef REPORT_VIEW_WAIT_SITES_H
#define REPORT_VIEW_WAIT_SITES_H

#include "core/trace/trace.h"
#include "report/folding.h"

#include <stdbool.h>
#include <stdint.h>

struct wait_site {
    struct method_name
        where; /* the program's own, or of a framework where it has none on the stack; its class is NULL: */
    struct method_name
        called;   /* what that calls, or where there is none, what the thread is in          there is none */
    bool is_idle; /* it waits for work: a pool's thread for a task, a server's for a connection, one of the JDK's own */
};

/*
 * libraries  classes that are not the program's own (report/folding.h); NULL: only the JDK's are not
 * context    number of a calling context, the innermost call; 0: none
 *
 * The names are the reader's.
 */
struct wait_site wait_site_of(const struct trace_reader *reader, const struct folding_list *libraries,
                              uint32_t context);

/* Nobody waits for work by what stops a thread that has some. */
static inline bool wait_may_be_idle(enum trace_cause cause)
{
    return cause != TRACE_CAUSE_MONITOR && cause != TRACE_CAUSE_LOCK && cause != TRACE_CAUSE_PAGE &&
           cause != TRACE_CAUSE_JVM;
}

#endif
