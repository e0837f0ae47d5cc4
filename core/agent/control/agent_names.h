/* Names of the classes that the agent defines; tokens. */
#ifndef CORE_AGENT_AGENT_NAMES_H
#define CORE_AGENT_AGENT_NAMES_H

#include "core/wire/ring.h"

#define AGENT_PROBE_CLASS "java/lang/MmprofProbe"
#define AGENT_FLAG_CLASS  "java/lang/MmprofFlags" /* and a number */
#define AGENT_CLASS_START "java/lang/Mmprof"      /* what all of them begin with */

/* The same for class loaders that need not find those (loaders.h). */
#define AGENT_OWN_PROBE_CLASS "mmprof/Probe"
#define AGENT_OWN_FLAGS_CLASS "mmprof/Flags" /* and a number */
#define AGENT_OWN_FLAGS_FIELD "g"
#define AGENT_OWN_CLASS_START "mmprof/"

/*
 * A token tells a method and a session: the method's id in the low bits, above it the low bits of the session's epoch;
 * 0 is 'disabled'.  Each session has an epoch that no session before had.  In a token two epochs may be the same: a
 * thread's latest session is compared by all bits (probe.c).  Calibration has the epoch AGENT_EPOCH_MAX.
 */
#define AGENT_EPOCH_MAX 2047u /* in a token */

static inline uint32_t agent_token(uint32_t epoch, uint32_t method)
{
    return (epoch & AGENT_EPOCH_MAX) << RING_METHOD_BITS | method;
}

/* In tokens it is neither 0 nor calibration's. */
static inline uint32_t agent_next_epoch(uint32_t epoch)
{
    do
        epoch++;
    while ((epoch & AGENT_EPOCH_MAX) == 0 || (epoch & AGENT_EPOCH_MAX) == AGENT_EPOCH_MAX);
    return epoch;
}

#endif
