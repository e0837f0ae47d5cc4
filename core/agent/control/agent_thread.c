#include "core/agent/control/agent_thread.h"

#include "core/agent/control/jvmti_env.h"

#include <errno.h>
#include <unistd.h>

static void prepare(struct agent_thread *thread)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&thread->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    thread->is_prepared = true;
}

static void has_ended(struct agent_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    thread->runs = false;
    pthread_cond_broadcast(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
}

static void JNICALL run(jvmtiEnv *jvmti, JNIEnv *jni, void *argument)
{
    struct agent_thread *thread = argument;
    thread->function(jvmti, jni, thread->fd);
    close(thread->fd);
    has_ended(thread);
}

int agent_thread_start(struct agent_thread *thread, JNIEnv *jni, int fd, struct err *err)
{
    pthread_mutex_lock(&thread->lock);
    if (!thread->is_prepared)
        prepare(thread);
    thread->fd = fd;
    thread->ends = false;
    thread->runs = true;
    pthread_mutex_unlock(&thread->lock);
    if (jvmti_env_run_thread(jni, run, thread) == 0)
        return 0;
    has_ended(thread);
    return err_set(err, "the JVM has no thread for it");
}

bool agent_thread_is_running(struct agent_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    bool runs = thread->runs;
    pthread_mutex_unlock(&thread->lock);
    return runs;
}

bool agent_thread_is_ending(struct agent_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    bool ends = thread->ends;
    pthread_mutex_unlock(&thread->lock);
    return ends;
}

bool agent_thread_sleep_until(struct agent_thread *thread, uint64_t ns)
{
    const struct timespec until = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
    pthread_mutex_lock(&thread->lock);
    while (!thread->ends && pthread_cond_timedwait(&thread->changed, &thread->lock, &until) != ETIMEDOUT)
        continue;
    bool goes_on = !thread->ends;
    pthread_mutex_unlock(&thread->lock);
    return goes_on;
}

void agent_thread_stop(struct agent_thread *thread, void (*wake)(void))
{
    pthread_mutex_lock(&thread->lock);
    thread->ends = true;
    if (thread->runs) {
        pthread_cond_broadcast(&thread->changed);
        if (wake != NULL)
            wake();
    }
    while (thread->runs)
        pthread_cond_wait(&thread->changed, &thread->lock);
    pthread_mutex_unlock(&thread->lock);
}
