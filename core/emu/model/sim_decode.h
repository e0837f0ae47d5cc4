/*
 * The little that the simulator needs to know of an instruction: whether it is a branch, and of which kind.
 */
#ifndef CORE_EMU_MODEL_SIM_DECODE_H
#define CORE_EMU_MODEL_SIM_DECODE_H

#include "core/emu/model/sim_machine.h"

/* The kind of branch that n bytes of one instruction are; cut or unknown ones are SIM_NO_BRANCH. */
enum sim_branch_kind sim_decode_x86(const uint8_t *bytes, size_t n);
enum sim_branch_kind sim_decode_arm64(const uint8_t *bytes, size_t n);

/* Does it only go elsewhere, always to the same place? */
bool sim_decode_is_jump_x86(const uint8_t *bytes, size_t n);
bool sim_decode_is_jump_arm64(const uint8_t *bytes, size_t n);

/* Does it take a word off the stack, into a register: pop, leave? */
bool sim_decode_is_pop_x86(const uint8_t *bytes, size_t n);

/*
 * Does HotSpot's interpreter (x86-64, JDK 17 to 25) fetch a bytecode by it?  It loads a byte at an offset from r13,
 * where it keeps the bytecode's address, into rbx: of what is executed next, just before it is executed.  Other code
 * may do so, too.
 */
bool sim_decode_is_dispatch(const uint8_t *bytes, size_t n);

#endif
