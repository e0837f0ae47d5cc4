/*
 * The methods that stacks have, by the addresses of their Methods; kept for the next stack.
 *
 * A class may be unloaded at any time, and another method take the address.  So what is kept here and in code_blobs.h
 * follows one rule: it counts in a round only if it was compared in that round with what the JVM has there now.  The
 * rounds are one for each time that samples are taken out of the rings (stack_walker_round).  What was asked for in the
 * rounds before is compared when a round begins, all of it together; the rest when it is asked for.
 */
#ifndef CORE_HOTSPOT_KNOWN_METHODS_H
#define CORE_HOTSPOT_KNOWN_METHODS_H

#include "core/hotspot/vm_methods.h"

struct vm;

/* So many rounds after it was asked for last, what is kept is compared together with the rest. */
#define RECENT_ROUNDS 3u

struct code_blob;

struct known_method {
    uint64_t address;
    uint64_t key; /* vm_methods_keys; 0: there is no Method any more */
    struct vm_method_parts parts;
    bool is_asked, is_run;    /* whether it is Continuation.run */
    uint64_t compared, asked; /* in which round, last */
    bool is_recent;
    /* The code that keeps it, and what that was then: code_blobs.c. */
    const struct code_blob *holder;
    uint32_t holder_life;
    /* The user's; false when this is another method than before. */
    bool is_numbered;
    uint32_t number;
};

struct known_methods;

/* NULL: no memory. */
struct known_methods *known_methods_open(struct vm *vm);
void known_methods_close(struct known_methods *methods); /* NULL is fine */

/* Classes may have been unloaded from now on. */
void known_methods_round(struct known_methods *methods);

/* The one at an address now; NULL: there is none.  It stays where it is until known_methods_close. */
struct known_method *known_methods_get(struct known_methods *methods, uint64_t address);

/* The one that was there when it was compared last; NULL: there was none, or it was never asked for. */
struct known_method *known_methods_last(const struct known_methods *methods, uint64_t address);

/* Compare those at n addresses (KNOWN_AT_ONCE at most), by few system calls. */
#define KNOWN_AT_ONCE 128u

void known_methods_compare(struct known_methods *methods, const uint64_t *addresses, size_t n);

/* What is known of the code that keeps them is forgotten. */
void known_methods_let_go(struct known_methods *methods);

#endif
