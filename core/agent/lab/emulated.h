/*
 * What the agent does for a JVM that runs in an emulator (mmprof record --simulate).
 */
#ifndef CORE_AGENT_LAB_EMULATED_H
#define CORE_AGENT_LAB_EMULATED_H

#include <jvmti.h>

/*
 * Put a function in front of each signal handler that there is now, which gives it a stack as the ABI wants it.  May be
 * called again when there are more.
 */
void emulated_align_handlers(void);

/* Tell the simulator where the JVM's tables are: it reads them, and so finds what memory belongs to what. */
void emulated_tell_tables(void);

/* Tell the simulator where the agent's own code is: it is left out of the simulated caches. */
void emulated_tell_own(void);

/* Events of collections: objects are about to move, and have moved. */
void JNICALL emulated_collection_start(jvmtiEnv *jvmti);
void JNICALL emulated_collection_end(jvmtiEnv *jvmti);

/* The JVM is about to end. */
void emulated_tell_end(void);

#endif
