/*
 * The JVM's flags (-XX:), read from HotSpot's own structures.
 */
#ifndef CORE_HOTSPOT_VM_FLAGS_H
#define CORE_HOTSPOT_VM_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Which of some flags are true now; one that this JVM does not have is not.  Returns false when flags cannot be read.
 */
bool vm_flags_are_set(const char *const *names, size_t n_names, bool *are_set);

/* Does this JVM have that flag? */
bool vm_flag_is_there(const char *flag);

/* Whether a flag of the JVM is true since its start, because somebody said so; false where it is not known. */
bool vm_flag_is_asked_for(const char *flag);

/* The value of a flag that is a text, cut at n - 1 bytes; false: it has none, or it is not known. */
bool vm_flag_text(const char *flag, char *text, size_t n);

#endif
