/*
 * Calls that were under way when their methods got probes: main, a server's loop, a long computation.
 *
 * Such a call passed no probe when it began, and passes none when it ends: its frame runs the code without.  So a
 * thread checks its own stack, at its first probe after classes were changed, and from then on at times
 * (core/agent/probe/probe.c); what it finds there and has not recorded is a call under way.
 */
#ifndef CORE_AGENT_OPEN_CALLS_H
#define CORE_AGENT_OPEN_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#define OPEN_CALLS_MAX 1024u /* of methods with probes on a stack; with more, nothing is found */

/* On a thread's stack of open calls: it was under way, no probe will tell its end. */
#define OPEN_CALL (UINT32_C(1) << 31)

struct open_calls {
    uint32_t generation; /* another number when other methods have probes */
    bool is_deferred;    /* nothing was found, for classes are being changed: it is to be tried again */
    /* On the stack, outermost first: methods with probes; with OPEN_CALL those that record now. */
    uint32_t n_found, found[OPEN_CALLS_MAX];
    /* What is to be open: the thread's first n_same calls, then these; is_known: they were open before. */
    uint32_t n, n_same, calls[OPEN_CALLS_MAX];
    bool is_known[OPEN_CALLS_MAX];
};

/*
 * From what was found, and the thread's open calls, outermost first: what is to be open.  Calls that were recorded
 * stay. Returns false when they are not on the stack: nothing can be said then.
 *
 * method_of  the method of a recorded call, which may be told apart by a value
 */
bool open_calls_merge(struct open_calls *calls, const uint32_t *open, uint32_t n_open, uint32_t (*method_of)(uint32_t));

/* Fill in what is found on the calling thread's stack; jni: its JNIEnv.  Returns false: it cannot be walked. */
typedef bool open_calls_find_fn(struct open_calls *calls, void *jni);

#endif
