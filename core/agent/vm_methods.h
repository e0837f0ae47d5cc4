/*
 * What a method is called, where its source is, and its line numbers: read from HotSpot's own structures by the
 * method's address.  JVMTI would make a jmethodID for it, which stays for ever.
 *
 * The class may be unloaded meanwhile: whoever asks, knows something that keeps it, and that it was there before and
 * after (nmethod_is_there).
 */
#ifndef CORE_AGENT_VM_METHODS_H
#define CORE_AGENT_VM_METHODS_H

#include "core/trace/code_log.h"

struct vm_method {
    char class_name[PLACE_TEXT_BYTES], name[PLACE_TEXT_BYTES], descriptor[PLACE_TEXT_BYTES], source[PLACE_TEXT_BYTES];
    size_t n_class_name, n_name, n_descriptor, n_source; /* of longer ones, the end is left out */
    struct code_line lines[CODE_LINES_MAX];
    uint32_t n_lines;
};

/* Why none can be read in this JVM; NULL: they can. */
const char *vm_methods_why_not(void);

/* Read the one with an address.  Returns false when there is none. */
bool vm_method_read(struct vm_method *method, uint64_t address);

/* The entry of a code log that describes it; it points into *method. */
struct code_entry vm_method_entry(const struct vm_method *method, uint32_t number);

#endif
