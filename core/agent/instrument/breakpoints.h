/* Classes in which a debugger has breakpoints. */
#ifndef CORE_AGENT_BREAKPOINTS_H
#define CORE_AGENT_BREAKPOINTS_H

#include "core/wire/wire_text.h"

#include <jvmti.h>
#include <stdbool.h>

/*
 * Has a class breakpoints?  class_ref: a local reference; name: in internal form.  Where the JVM's structures cannot be
 * read, each class counts as one that has, if a debugger's agent (libjdwp.so) is loaded.
 */
bool breakpoints_are_in(jclass class_ref, struct wire_text name);

#endif
