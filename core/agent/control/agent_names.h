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
 * A token tells a method and a session: id in the low bits, epoch above; 0 is 'disabled'.  Sessions take the epochs
 * 1..AGENT_EPOCH_MAX - 1 in turn, calibration the last one.
 */
#define AGENT_EPOCH_MAX 2047u

static inline uint32_t agent_token(uint32_t epoch, uint32_t method)
{
    return epoch << RING_METHOD_BITS | method;
}

#endif
