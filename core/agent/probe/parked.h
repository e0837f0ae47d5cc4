/*
 * The calls that virtual threads left open when they left their carriers.
 *
 * Carriers put them away and fetch them without locks and without malloc: in blocks of one mapping that costs what was
 * used of it.
 */
#ifndef CORE_AGENT_PARKED_H
#define CORE_AGENT_PARKED_H

#include <stdint.h>

#define PARKED_BLOCKS 262144u /* of 29 calls; 0 is none */

/* Forget all calls; handles from before are not to be used.  Without memory nothing is kept. */
void parked_begin(void);

/*
 * Keep n calls, their methods from the outermost on.  *handle is 0 or that of calls of the same virtual thread that
 * were fetched; it receives the handle of these.
 *
 * Returns their ticket, unique among all that have not been fetched, or 0: there is no room for them, and *handle is 0.
 */
uint32_t parked_put(uint32_t *handle, const uint32_t *methods, uint32_t n);

uint32_t parked_n(uint32_t handle);

/* Fetch at most n methods.  Returns the ticket.  The handle stays valid until parked_drop. */
uint32_t parked_fetch(uint32_t handle, uint32_t *methods, uint32_t n);
void parked_drop(uint32_t handle);

#endif
