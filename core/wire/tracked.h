/*
 * What the agent in an emulated JVM tells the plugin that runs tools (core/emu/tool), by system calls that no kernel
 * has: simulated_tell(what, argument).  Besides these, SIM_TELL_TABLES, _MOVE, _MOVED and _END of
 * core/emu/model/sim_slots.h.
 */
#ifndef CORE_WIRE_TRACKED_H
#define CORE_WIRE_TRACKED_H

#include "core/base/std.h"

/* Where the calling thread is paused: a uint64_t * that becomes the address of an _Atomic uint32_t. */
#define TRACKED_ASK_PAUSE UINT64_C(0x736c6f7400000011)

/* A struct tracked_location; before an object names it. */
#define TRACKED_TELL_LOCATION UINT64_C(0x736c6f7400000012)

/* A struct tracked_object, which is there now. */
#define TRACKED_TELL_OBJECT UINT64_C(0x736c6f7400000013)

/* A uint64_t: the descriptor of the log of code (core/wire/code_log.h). */
#define TRACKED_TELL_CODE UINT64_C(0x736c6f7400000014)

/* Main is about to be called: accesses are of interest from now on. */
#define TRACKED_TELL_START UINT64_C(0x736c6f7400000015)

/* A char[TRACKED_TEXT_BYTES]: the calling thread has linked a class of that name, "java/lang/String". */
#define TRACKED_TELL_CLASS UINT64_C(0x736c6f7400000016)

#define TRACKED_TEXT_BYTES  512
#define TRACKED_NO_LOCATION UINT32_MAX
#define TRACKED_GONE_MAX    16

struct tracked_location {
    uint32_t number, line; /* numbers ascend from 0; line 0: not known */
    char class_name[TRACKED_TEXT_BYTES], name[TRACKED_TEXT_BYTES], descriptor[TRACKED_TEXT_BYTES],
        source[TRACKED_TEXT_BYTES];
};

struct tracked_object {
    uint64_t address;
    /*
     * A weak global reference: what it points to, without its lowest bits, the JVM's collectors keep right, whichever
     * they are, and clear when the object is dead.
     */
    uint64_t reference;
    uint32_t location, n_gone;
    uint64_t gone[TRACKED_GONE_MAX]; /* answered: n_gone references of dead objects, to be deleted */
};

#endif
