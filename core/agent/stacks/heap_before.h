/*
 * How much of the heap is in use when a collection begins: the JVM says when (GarbageCollectionStart), in a thread of
 * its own and with all threads stopped; its structures say how much.  A system call for each collection.
 */
#ifndef CORE_AGENT_HEAP_BEFORE_H
#define CORE_AGENT_HEAP_BEFORE_H

#include "core/agent/stacks/sample_out.h"

#include <jvmti.h>

/* Begin, where the JVM says when and how much; else nothing is told. */
void heap_before_begin(jvmtiEnv *jvmti);
void heap_before_end(jvmtiEnv *jvmti);

/* Append what there is to a log.  Returns 0, or -1: it cannot be written. */
int heap_before_put(struct sample_out *out);

/* The JVM's event. */
void heap_before_collection(void);

#endif
