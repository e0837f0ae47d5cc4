/*
 * Which bytecode an instruction of compiled code is from, by the debug information of the code that is at its address
 * when it is looked up.  The recorder compares it with what the JVM has told of the code that was there when the
 * instruction was executed.
 */
#ifndef CORE_EMU_PLUGIN_SIM_BYTECODES_H
#define CORE_EMU_PLUGIN_SIM_BYTECODES_H

#include "core/emu/plugin/owners.h"
#include "core/hotspot/nmethod.h"

/* What is known of an address. */
struct sim_bytecode {
    uint64_t address, header; /* header: of the code; 0: there was none */
    uint32_t compilation;
    uint32_t number; /* OWNERS_NONE: not known */
    uint64_t look;   /* it was the same code last in this one */
};

struct sim_bytecodes {
    struct owners *owners; /* borrowed */
    struct vm_table known;
    struct nmethod code; /* the last one that was read */
    struct scopes_walk walk;
    uint64_t look;
};

/* Returns 0, or -1: no memory. */
int sim_bytecodes_open(struct sim_bytecodes *bytecodes, struct owners *owners);

/* Code may have changed from now on. */
void sim_bytecodes_look(struct sim_bytecodes *bytecodes);

/* The number of an address' bytecode (owners_bytecode), or OWNERS_NONE: none is known. */
uint32_t sim_bytecodes_find(struct sim_bytecodes *bytecodes, uint64_t address);

#endif
