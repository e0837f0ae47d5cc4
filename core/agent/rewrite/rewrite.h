/*
 * Rewriting class files: a probe at a method's entry, before every return, on exceptional exit, and
 * where it catches.
 *
 * The code that is added, with L a new local variable behind all others and G the method's flag:
 *
 *     getstatic G I; invokestatic PROBE.enter(I)I; istore L       at the entry (or: getstatic G [I; sipush N; iaload)
 *     getstatic G I; xload N; invokestatic PROBE.object(ILjava/lang/Object;)I; invokestatic PROBE.enter(I)I; istore L
 *                                                                 the same, where the N-th argument tells calls apart
 *     iload L; invokestatic PROBE.exit(I)V                        before each return
 *     iload L; invokestatic PROBE.unwind(I)V; athrow              the handler, at the end
 *     iload L; invokestatic PROBE.caught(I)V                      at the start of each 'catch'
 *
 * The flag holds the method's token, or 0 while it is disabled; L keeps what the entry decided (the token, or 0).  No
 * branch is added, so frames are only needed for the handlers; all other frames gain L.  The handlers come last in
 * the exception table and cover everything behind the entry probe; a constructor has one for the code before and one
 * for the code after its this(...) or super(...) call, since 'this' has another type there.
 *
 * The this(...) or super(...) call itself cannot be covered: the JVM's verifier passes no handler for it.  A
 * constructor that is left by an exception out of that call has an 'enter' without 'exit' or 'unwind': such an entry
 * has ended when an outer method, by its token, catches, exits or unwinds.
 *
 * Handlers of 'finally' and 'synchronized' get no probe: if it had no stack left, a monitor would stay locked.
 *
 * Pure functions over bytes: no JVM, no globals; what they are given is untrusted.
 */
#ifndef CORE_AGENT_REWRITE_H
#define CORE_AGENT_REWRITE_H

#include "core/base/err.h"
#include "core/wire/protocol.h"

#define REWRITE_NAME_BYTES 64

#define REWRITE_FLAG_FIELD  (-1)
#define REWRITE_NO_ARGUMENT (-1)

/* Where a method's flag is: a static int field, or an element of one that is an int array. */
struct rewrite_flag {
    char class_name[REWRITE_NAME_BYTES]; /* internal form */
    char field_name[REWRITE_NAME_BYTES];
    int16_t index;    /* of the element, or REWRITE_FLAG_FIELD */
    int16_t argument; /* that the entry's probe is given: from 1 on, 0: 'this'; REWRITE_NO_ARGUMENT: none */
};

enum rewrite_skip {
    REWRITE_SKIP_TOO_LARGE, /* would pass 64 KB of code, or the 8000 bytes that HotSpot compiles, or a branch its 16
                               bits */
    REWRITE_SKIP_LIMITS,    /* no room for a local variable, stack, exception table or constant pool entry */
    REWRITE_SKIP_UNUSUAL    /* code that this rewriter does not understand */
};

struct rewrite_policy {
    const char *probe_class; /* internal form, e.g. java/lang/MmprofProbe */
    /*
     * Asked for each method with code, in the order of the class file.  Returns true and fills *flag (index and
     * argument stand at none) to have it instrumented.  Never asked for Object.<init> and for a finalize() that does
     * nothing: HotSpot treats both specially.  The texts live as long as the class file's bytes.
     */
    bool (*choose)(void *context, const struct protocol_method *method, struct rewrite_flag *flag);
    /* May be NULL.  Told when a chosen method is left as it was after all, before choose() is asked again. */
    void (*skipped)(void *context, const struct protocol_method *method, const struct rewrite_flag *flag,
                    enum rewrite_skip why);
    void *context;
};

/*
 * Rewrite one class file.
 *
 * bytes     the class file, n_bytes long; borrowed.
 * out       the new class file, *n_out long, from malloc, the caller frees it; NULL when no method was chosen.
 *
 * Returns the number of methods instrumented (0 or more); -1 with *err set when this is no well-formed class file or
 * there is no memory; or REWRITE_UNSURE with *err set, "METHODDESCRIPTOR: why", when the result did not pass the check
 * (rewrite_parts.h).  The class is to be left as it is then.
 */
#define REWRITE_UNSURE (-2)

int rewrite_class(const uint8_t *bytes, size_t n_bytes, const struct rewrite_policy *policy, uint8_t **out,
                  size_t *n_out, struct err *err);

/* The type of a method's n-th argument, 0: 'this': the letter of a primitive one, or 'L'; 0: it has no such. */
char rewrite_argument_type(const struct protocol_method *method, unsigned n);

#endif
