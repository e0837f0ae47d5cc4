/*
 * The class files of mmprof's own classes, made here: those of the bootstrap loader, and their like for a class loader
 * that need not find these (loaders.h).
 */
#ifndef CORE_AGENT_CLASS_BYTES_H
#define CORE_AGENT_CLASS_BYTES_H

#include "core/wire/config.h"

#include <stddef.h>
#include <stdint.h>

#define AGENT_PROBE_CLASS CONFIG_OWN_BOOT "Probe"
#define AGENT_FLAG_CLASS  CONFIG_OWN_BOOT "Flags" /* and a number */

/* The same for class loaders that need not find those (loaders.h). */
#define AGENT_OWN_PROBE_CLASS CONFIG_OWN_LOADER "Probe"
#define AGENT_OWN_FLAGS_CLASS CONFIG_OWN_LOADER "Flags" /* and a number */
#define AGENT_OWN_FLAGS_FIELD "g"

#define CLASS_BYTES_MAX 16384

/* Each writes a class file to out (CLASS_BYTES_MAX bytes).  Returns its length, or 0 when there is no memory. */
size_t class_bytes_probe(uint8_t *out);
size_t class_bytes_flags(const char *name, uint8_t *out);

/* super_name  of the class' superclass, internal form. */
size_t class_bytes_own_probe(const char *super_name, uint8_t *out);
size_t class_bytes_own_flags(const char *name, uint32_t block, uint8_t *out);

#endif
