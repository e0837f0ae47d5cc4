/*
 * The check of a rewritten class before the JVM gets it: all that was not to change is the same, and all that was
 * added is what rewrite.h says.  So the JVM's verifier passes the rewritten class if it passes the original; classes of
 * the boot loader, which it does not verify, are safe as well.
 *
 * Each changed method is read again next to its original, with nothing that the writer knew: its instructions, branch
 * targets, exception table, StackMapTable, line and variable tables.  In constructors the state of 'this' is found
 * again, in the new code.
 */
#ifndef CORE_AGENT_VERIFY_H
#define CORE_AGENT_VERIFY_H

#include "core/agent/rewrite/classfile.h"
#include "core/agent/rewrite/rewrite.h"

/* What the class was rewritten for. */
struct verify_expected {
    const char *probe_class;
    const struct rewrite_flag *flags; /* of the changed methods, in the order of the class file; borrowed */
    size_t n_flags;
};

/*
 * Returns 0, or -1 with *err set: "METHODDESCRIPTOR: why".
 *
 * old, made   the original and the rewritten class file; borrowed.
 */
int verify_class(const struct classfile *old, struct span made, const struct verify_expected *expected,
                 struct err *err);

#endif
