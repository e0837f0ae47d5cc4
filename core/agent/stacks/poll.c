#include "core/agent/stacks/stacks.h"

#include "core/base/ticks.h"
#include "core/agent/control/jvmti_env.h"
#include "core/agent/control/method_ids.h"
#include "core/agent/probe/probe.h"
#include "core/agent/stacks/sample_out.h"
#include "core/base/hash.h"

#include <sched.h>

#define REFRESH_NS       UINT64_C(100000000) /* how often the JVM is asked for its threads */
#define STACKS_MAX       16                  /* per round; the other threads' turn comes in the next ones */
#define INTERVAL_MAX_NS  UINT64_C(1000000000)
#define ROUNDS_AT_FIRST  50  /* as they come: all methods are new, which says nothing of those that follow */
#define SHARE_OF_LATEST  0.1 /* of a round's cost in what the next ones are expected to cost */
#define FRAMES_OF_A_STOP 8   /* stopping and starting a thread takes as long as walking so many */

struct poll {
    jvmtiEnv *jvmti;
    JNIEnv *jni;
    uint64_t period_ns;
    double part;
    struct poll_threads threads;
    struct poll_methods methods;
    struct poll_state state;
    bool is_single_cpu;
    uint64_t start_ns, start_cpu_ns, refreshed_ns, n_rounds;
    double round_ns;                           /* what the next round is expected to cost */
    uint32_t turn;                             /* the thread that comes first */
    uint64_t random, best_rate;                /* ns per frame */
    jvmtiFrameInfo stack[POLL_FRAMES_MAX + 1]; /* as the JVM tells it: innermost first */
    struct poll_frame frames[POLL_FRAMES_MAX];
    struct sample_out out;
};

/* ---- one stack ---- */

/* The JVM's innermost n frames, outermost first, with their methods' numbers. */
static int number_frames(struct poll *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const jvmtiFrameInfo *from = &p->stack[n - 1 - i];
        if (sample_out_room(&p->out, POLL_ENTRY_BYTES) < 0)
            return -1;
        int number = poll_methods_number(&p->methods, p->jvmti, p->jni, from->method, &p->out.s);
        if (number < 0)
            return -1;
        p->frames[i] =
            (struct poll_frame){ (uint32_t)number,
                                 from->location < 0 || from->location > 65535 ? -1 : (int32_t)from->location };
    }
    return 0;
}

/* What a thread is called now, if that is another name than before; else empty.  *text: to be given back to JVMTI. */
static struct wire_text new_name(struct poll *p, struct poll_thread *thread, char **text)
{
    jvmtiThreadInfo info;
    memset(&info, 0, sizeof info);
    if ((*p->jvmti)->GetThreadInfo(p->jvmti, thread->ref, &info) != JVMTI_ERROR_NONE)
        return (struct wire_text){ "", 0 };
    if (info.thread_group != NULL)
        (*p->jni)->DeleteLocalRef(p->jni, info.thread_group);
    if (info.context_class_loader != NULL)
        (*p->jni)->DeleteLocalRef(p->jni, info.context_class_loader);
    *text = info.name;
    size_t n = info.name == NULL ? 0 : strnlen(info.name, POLL_NAME_BYTES);
    uint64_t hash = n == 0 ? 0 : hash_text(HASH_START, info.name, n);
    bool is_new = n > 0 && hash != thread->name;
    thread->name = hash;
    return is_new ? (struct wire_text){ info.name, n } : (struct wire_text){ "", 0 };
}

static int put_stack(struct poll *p, struct poll_thread *thread, uint32_t n, bool is_cut)
{
    char *name = NULL;
    struct poll_stack stack = { .thread = thread->number,
                                .tid = thread->tid,
                                .time_ns = clock_ns(CLOCK_MONOTONIC_RAW),
                                .cpu_ns = thread->now_ns - thread->counted_ns,
                                .is_cut = is_cut,
                                .n_frames = n,
                                .frames = p->frames };
    if (number_frames(p, n) < 0 || sample_out_room(&p->out, SAMPLE_OUT_STACK_BYTES) < 0)
        return -1;
    stack.name = new_name(p, thread, &name);
    poll_log_put_stack(&p->out.s, &stack);
    if (name != NULL)
        (*p->jvmti)->Deallocate(p->jvmti, (unsigned char *)name);
    thread->counted_ns = thread->now_ns;
    p->state.n_samples++;
    return 0;
}

/*
 * For how long a thread was stopped: no longer than the walk seemed to take here, nor than the thread used the CPU
 * meanwhile.  On a busy machine the two of them wait for each other, and both say too much: a stack of so many frames
 * takes no more than a few times what the fastest one took.
 */
static uint64_t stopped_ns(struct poll *p, uint64_t took_ns, uint64_t used_ns, uint32_t n_frames)
{
    uint64_t most = took_ns < used_ns ? took_ns : used_ns, rate = most / (n_frames + FRAMES_OF_A_STOP);
    if (most > p->state.longest_ns)
        p->state.longest_ns = most;
    if (rate > 0 && (p->best_rate == 0 || rate < p->best_rate))
        p->best_rate = rate;
    uint64_t likely = 4 * p->best_rate * (n_frames + FRAMES_OF_A_STOP);
    return most < likely ? most : likely;
}

/* Of a carrier, the stack of the virtual thread that it has, or its own. */
static jvmtiError walk(struct poll *p, const struct poll_thread *thread, jint *n)
{
    jthread mounted = virtual_mounted(p->jvmti, thread->ref);
    jvmtiError rc = JVMTI_ERROR_NOT_AVAILABLE;
    if (method_ids_enter()) {
        rc = (*p->jvmti)->GetStackTrace(p->jvmti, mounted == NULL ? thread->ref : mounted, 0, POLL_FRAMES_MAX + 1,
                                        p->stack, n);
        method_ids_leave();
    }
    if (mounted != NULL)
        (*p->jni)->DeleteLocalRef(p->jni, mounted);
    return rc;
}

/* Stop a thread and walk its stack. */
static int take_stack(struct poll *p, struct poll_thread *thread)
{
    jint n = 0;
    jlong after = 0;
    uint64_t before = thread->now_ns, start = clock_ns(CLOCK_MONOTONIC);
    if (walk(p, thread, &n) != JVMTI_ERROR_NONE)
        return 0; /* it has ended, or classes are being changed */
    uint64_t took = clock_ns(CLOCK_MONOTONIC) - start;
    if ((*p->jvmti)->GetThreadCpuTime(p->jvmti, thread->ref, &after) == JVMTI_ERROR_NONE && (uint64_t)after > before)
        thread->now_ns = (uint64_t)after;
    p->state.cost_ns += stopped_ns(p, took, thread->now_ns - before, (uint32_t)n);
    bool is_cut = n > (jint)POLL_FRAMES_MAX;
    return put_stack(p, thread, is_cut ? POLL_FRAMES_MAX : (uint32_t)n, is_cut);
}

/* ---- rounds ---- */

static int take_stacks(struct poll *p)
{
    uint32_t n_taken = 0, i = 0;
    poll_threads_read(&p->threads, p->jvmti);
    for (; i < p->threads.n && n_taken < STACKS_MAX; i++) {
        struct poll_thread *thread = &p->threads.all[(p->turn + i) % p->threads.n];
        if (!thread->has_run || !poll_thread_runs(thread, p->jvmti, p->is_single_cpu))
            continue;
        n_taken++;
        if (take_stack(p, thread) < 0)
            return -1;
    }
    p->turn = p->threads.n == 0 ? 0 : (p->turn + i) % p->threads.n;
    return 0;
}

static int take_round(struct poll *p)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC), own = clock_ns(CLOCK_THREAD_CPUTIME_ID), before = p->state.cost_ns;
    p->n_rounds++;
    if (sample_out_is_full(&p->out)) {
        p->state.n_put_off++;
        return 0;
    }
    if (p->refreshed_ns == 0 || now - p->refreshed_ns >= REFRESH_NS) {
        p->refreshed_ns = now;
        if (poll_threads_refresh(&p->threads, p->jvmti, p->jni) < 0)
            return -1;
    }
    if (take_stacks(p) < 0 || sample_out_room(&p->out, SAMPLE_OUT_STACK_BYTES) < 0)
        return -1;
    p->state.cost_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - own;
    poll_log_put_state(&p->out.s, &p->state);
    double cost_ns = (double)(p->state.cost_ns - before);
    p->round_ns += (p->round_ns <= 0 ? 1 : SHARE_OF_LATEST) * (cost_ns - p->round_ns);
    return sample_out_flush(&p->out);
}

/*
 * The time to the next round: the period, or what the cost of one allows.  It is half to one and a half times that, for
 * a program with a rhythm of its own must not run in step.
 */
static uint64_t interval_ns(struct poll *p)
{
    double cpu_ns = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - p->start_cpu_ns);
    double elapsed_ns = (double)(clock_ns(CLOCK_MONOTONIC) - p->start_ns), interval = (double)p->period_ns;
    if (p->n_rounds > ROUNDS_AT_FIRST && cpu_ns > 0 && p->round_ns * elapsed_ns > interval * p->part * cpu_ns)
        interval = p->round_ns * elapsed_ns / (p->part * cpu_ns);
    uint64_t ns = interval < (double)INTERVAL_MAX_NS ? (uint64_t)interval : INTERVAL_MAX_NS;
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return ns / 2 + p->random % (ns + 1);
}

static bool is_single_cpu(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1;
}

static void take_rounds(jvmtiEnv *jvmti, JNIEnv *jni, int fd)
{
    struct poll *p = malloc(sizeof *p);
    if (p == NULL)
        return;
    memset(p, 0, offsetof(struct poll, stack)); /* not megabytes, most of which are never written */
    p->jvmti = jvmti;
    p->jni = jni;
    p->period_ns = (uint64_t)stacks.poll.period_us * 1000;
    p->part = stacks.poll.part_ppm / 1e6;
    p->is_single_cpu = is_single_cpu();
    sample_out_begin(&p->out, fd);
    p->start_ns = p->random = clock_ns(CLOCK_MONOTONIC);
    p->start_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    while (take_round(p) == 0 &&
           agent_thread_sleep_until(&stacks.poll.thread, clock_ns(CLOCK_MONOTONIC) + interval_ns(p)))
        continue;
    poll_threads_free(&p->threads, jni);
    poll_methods_free(&p->methods);
    free(p);
}

/* ---- from its start to its end ---- */

/* The JVM has these at any time, at no cost. */
static int want_capabilities(jvmtiEnv *jvmti, struct err *err)
{
    poll_methods_prepare(jvmti);
    const jvmtiCapabilities wanted = { .can_get_thread_cpu_time = 1 };
    if ((*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE)
        return 0;
    return err_set(err, "the JVM does not report its threads' CPU times (JVMTI)");
}

int poll_start(jvmtiEnv *jvmti, JNIEnv *jni, int fd, uint32_t period_us, uint32_t part_ppm, struct err *err)
{
    bool runs = agent_thread_is_running(&stacks.poll.thread);
    if (runs || want_capabilities(jvmti, err) < 0) {
        close(fd);
        return runs ? err_set(err, "stacks are sampled already") : -1;
    }
    stacks.poll.period_us = period_us;
    stacks.poll.part_ppm = part_ppm;
    if (agent_thread_start(&stacks.poll.thread, take_rounds, jni, fd, err) == 0)
        return 0;
    close(fd);
    return -1;
}

void poll_stop(void)
{
    agent_thread_stop(&stacks.poll.thread, NULL);
}
