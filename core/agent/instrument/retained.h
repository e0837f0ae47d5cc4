/* Classes whose versions the JVM would retain. */
#ifndef CORE_AGENT_RETAINED_H
#define CORE_AGENT_RETAINED_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* A session begins, which may take so much metaspace (UINT64_MAX: any). */
void retained_begin(uint64_t metaspace_bytes);

/*
 * May a loaded class get probes, or would the JVM retain too much of its versions, or have too little metaspace then?
 * Named: the user, or what it was told, wants this very class.  What is refused is counted.
 */
bool retained_allows(jvmtiEnv *jvmti, jclass class_ref, bool is_named);

#endif
