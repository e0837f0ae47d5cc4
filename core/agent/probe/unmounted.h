/*
 * The calls that virtual threads left open when they left their carriers.
 *
 * Carriers store and fetch them without locks and without malloc: in blocks of one mapping that costs what was
 * used of it.
 */
#ifndef CORE_AGENT_UNMOUNTED_H
#define CORE_AGENT_UNMOUNTED_H

#include <stdint.h>

#define UNMOUNTED_BLOCKS 262144u /* of 29 calls; 0 is none */

/* Forget all calls; handles from before are not to be used.  Without memory none are stored. */
void unmounted_begin(void);

/*
 * Store n calls, their methods from the outermost on.  *handle is 0 or that of calls of the same virtual thread that
 * were fetched; it receives the handle of these.
 *
 * Returns their ticket, unique among all that have not been fetched, or 0: there is no room for them, and *handle is 0.
 */
uint32_t unmounted_put(uint32_t *handle, const uint32_t *methods, uint32_t n);

uint32_t unmounted_n(uint32_t handle);

/* Fetch at most n methods.  Returns the ticket.  The handle stays valid until unmounted_drop. */
uint32_t unmounted_fetch(uint32_t handle, uint32_t *methods, uint32_t n);
void unmounted_drop(uint32_t handle);

#endif
