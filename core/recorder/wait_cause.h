/*
 * Why a thread waits, from what is seen of it from outside: the system call that it is in, what the JVM says of the
 * monitor that it wants, and the innermost methods of its stack.
 */
#ifndef CORE_RECORDER_WAIT_CAUSE_H
#define CORE_RECORDER_WAIT_CAUSE_H

#include "core/base/method_name.h"
#include "core/trace/trace.h"

#define WAIT_NO_CALL (-1L) /* it is in no system call: a page of memory is missing */

/* What the descriptor of a system call is. */
enum wait_descriptor { WAIT_NO_DESCRIPTOR, WAIT_SOCKET, WAIT_FILE };

struct wait_evidence {
    long call; /* number of the system call, or WAIT_NO_CALL */
    enum wait_descriptor descriptor;
    bool is_entering;                 /* a monitor, as the JVM says */
    const struct method_name *frames; /* of its Java methods the innermost ones, that first; borrowed */
    uint32_t n;                       /* more than WAIT_FRAMES tell nothing */
};

#define WAIT_FRAMES 12u

enum trace_cause wait_cause_find(const struct wait_evidence *evidence);

/* Does a system call name a descriptor by its first argument, so that it matters what that is? */
bool wait_cause_has_descriptor(long call);

#endif
