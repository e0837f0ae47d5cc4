/*
 * What the agent of the laboratory (libmmprof-lab-agent.so) does besides: it runs in an emulator, tracks objects, and
 * counts calls and allocations.  core/agent/lab has it; in the agent for production, libmmprof-agent.so, all is NULL.
 */
#ifndef CORE_AGENT_AGENT_LAB_H
#define CORE_AGENT_AGENT_LAB_H

#include "core/pmu/simulated.h"
#include "core/wire/setting.h"

#include <jvmti.h>

struct agent_lab {
    /*
     * At the JVM's start, first of all: become the emulator, where that is asked for.  Returns false: this JVM is to be
     * left alone.
     */
    bool (*enter)(void);

    /* Then: an option that is not for a recorder.  text, name and number are those of the setting. */
    void (*load)(JavaVM *vm, const struct setting *option);

    /* The calling thread's simulated counters.  Returns 0, or an errno. */
    int (*open_counters)(struct simulated_thread *thread, bool is_aside);

    /* In an emulated JVM: signal handlers that there are now; the JVM's events. */
    void (*align_handlers)(void);
    void (*vm_started)(void);
    void (*vm_ends)(void);
    void (*collection_started)(jvmtiEnv *jvmti);
    void(JNICALL *collection_ended)(jvmtiEnv *jvmti);
};

extern const struct agent_lab agent_lab;

#endif
