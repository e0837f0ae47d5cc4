/*
 * What code the JVM has compiled, told only of what is asked for: it is read in place (nmethod.h), and appended to the
 * session's log (code_out.h).  Most compiled code is never asked for, and costs nothing then.
 *
 * While nobody listens to the JVM's compilers they keep less debug information (code_events.c): of such code its method
 * is known, and at calls and loops what is inlined there.
 */
#ifndef CORE_AGENT_CODE_ASKED_H
#define CORE_AGENT_CODE_ASKED_H

#include <stddef.h>
#include <stdint.h>

/* Why it cannot be read in this JVM; NULL: it can. */
const char *code_asked_why_not(void);

/* A session begins, or ends: nothing was told in it. */
void code_asked_start(void);
void code_asked_stop(void);

/*
 * Tell of the code at these addresses, unless it was told already; if one is where code that was told begins, and that
 * is gone, of that.  Returns how many are in compiled code.
 */
uint32_t code_asked_tell(const uint64_t *addresses, size_t n);

#endif
