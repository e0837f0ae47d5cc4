/*
 * A JVM for the agent's code that asks it for threads' names only: it has none.
 */
#ifndef TEST_UNIT_JVMTI_STAND_IN_H
#define TEST_UNIT_JVMTI_STAND_IN_H

#include <jvmti.h>

static inline jvmtiError JNICALL no_thread_info(jvmtiEnv *env, jthread thread, jvmtiThreadInfo *info)
{
    (void)env, (void)thread, (void)info;
    return JVMTI_ERROR_WRONG_PHASE;
}

static struct jvmtiInterface_1_ functions = { .GetThreadInfo = no_thread_info };
static jvmtiEnv jvmti = &functions;

#endif
