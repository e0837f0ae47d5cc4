/*
 * What the agent in an emulated JVM tells the plugin that runs tools (core/emu/tool), by system calls that no kernel
 * has: simulated_tell(what, argument).  Besides these, SIM_TELL_TABLES, _MOVE, _MOVED and _END of
 * core/emu/model/sim_slots.h.
 */
#ifndef CORE_WIRE_FOLLOWED_H
#define CORE_WIRE_FOLLOWED_H

#include <stdint.h>

/* Where the calling thread is paused: a uint64_t * that becomes the address of an _Atomic uint32_t. */
#define FOLLOWED_ASK_PAUSE UINT64_C(0x736c6f7400000011)

/* A struct followed_place; before an object names it. */
#define FOLLOWED_TELL_PLACE UINT64_C(0x736c6f7400000012)

/* A struct followed_object, which is there now. */
#define FOLLOWED_TELL_OBJECT UINT64_C(0x736c6f7400000013)

/* A uint64_t: the descriptor of the log of code (core/wire/code_log.h). */
#define FOLLOWED_TELL_CODE UINT64_C(0x736c6f7400000014)

/* Main is about to be called: accesses are of interest from now on. */
#define FOLLOWED_TELL_START UINT64_C(0x736c6f7400000015)

#define FOLLOWED_TEXT_BYTES 512
#define FOLLOWED_NO_PLACE   UINT32_MAX
#define FOLLOWED_GONE_MAX   16

struct followed_place {
    uint32_t number, line; /* numbers ascend from 0; line 0: not known */
    char class_name[FOLLOWED_TEXT_BYTES], name[FOLLOWED_TEXT_BYTES], descriptor[FOLLOWED_TEXT_BYTES],
        source[FOLLOWED_TEXT_BYTES];
};

struct followed_object {
    uint64_t address;
    /*
     * A weak global reference: what it points to, without its lowest bits, the JVM's collectors keep right, whichever
     * they are, and clear when the object is dead.
     */
    uint64_t reference;
    uint32_t place, n_gone;
    uint64_t gone[FOLLOWED_GONE_MAX]; /* answered: n_gone references of dead objects, to be deleted */
};

#endif
