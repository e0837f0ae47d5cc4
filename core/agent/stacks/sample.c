#include "core/agent/stacks/sample_parts.h"

#include "core/agent/codecache/vm_structs.h"
#include "core/agent/control/method_ids.h"
#include "core/agent/instrument/busy.h"
#include "core/agent/probe/virtual.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS         UINT64_C(1000000)
#define REFRESH_NS        (20 * NS_PER_MS) /* how often the JVM is asked for its threads */
#define MAX_STACKS        16               /* per round; the other threads' turn comes in the next ones */
#define ONE_TO_REST       20               /* what the rounds may cost: a twentieth of the time */
#define START_NS          (200 * NS_PER_MS)
#define MAX_PUT_OFF_NS    (200 * NS_PER_MS)
#define FRAMES_OF_A_STOP  8                 /* stopping and starting a thread takes as long as walking so many */
#define SAMPLES_OF_A_LOOP 2                 /* a loop that only calls others is on top once in a while, too */
#define PARTS_OF_A_LOOP   64                /* a loop is hot with one of so many parts of its thread's samples */
#define SAMPLES_OF_A_CALL 2                 /* a call of it goes on for long: for so many samples, on the average, */
#define LONG_CALL_NS      (160 * NS_PER_MS) /* and for so long */
#define CALLS_OF_A_LOOP   50                /* a method that was called so often ends soon */
#define BUFFER_BYTES      ((size_t)1 << 20)
#define END_BYTES         ((size_t)256) /* kept for the end's entry */
#define STACK_ENTRY_BYTES (64 + (size_t)5 * SAMPLES_MAX_FRAMES)

struct sampler {
    jvmtiEnv *jvmti;
    JNIEnv *jni;
    int log_fd; /* borrowed */
    uint32_t period_ms, n_rounds;
    const _Atomic bool *stopping; /* borrowed */
    struct sample_threads threads;
    struct sample_methods methods;
    struct sample_totals totals;
    uint8_t *buffer; /* owned */
    struct sink out; /* into it */
    size_t n_logged;
    bool is_over, is_single_cpu;
    uint64_t start_ns, refreshed_ns;
    uint32_t turn;                                /* the thread that is looked at first */
    uint64_t random, best_rate;                   /* ns per frame */
    jvmtiFrameInfo stack[SAMPLES_MAX_FRAMES + 1]; /* as the JVM tells it: innermost first */
    struct sample_frame frames[SAMPLES_MAX_FRAMES];
    uint32_t numbers[SAMPLES_MAX_FRAMES]; /* of the methods of frames */
};

static uint64_t clock_now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- the log ---- */

/* Only whole entries are written. */
static int flush(struct sampler *s)
{
    size_t n = (size_t)(s->out.at - s->buffer), done = 0;
    if (s->out.full || s->n_logged + n > SAMPLES_LOG_BYTES - (s->is_over ? 0 : END_BYTES))
        return -1;
    while (done < n) {
        ssize_t wrote = write(s->log_fd, s->buffer + done, n - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return -1;
        done += (size_t)wrote;
    }
    s->n_logged += n;
    s->out = sink_into(s->buffer, BUFFER_BYTES);
    return 0;
}

static int room_for(struct sampler *s, size_t n)
{
    return (size_t)(s->out.end - s->out.at) >= n ? 0 : flush(s);
}

/* ---- one stack ---- */

/*
 * Frames from outside on that may be the same calls as before: the first other method ends them, and what is within
 * a frame that has moved on to another place is another call.  A frame that has moved back without a loop is another
 * call itself.
 */
static uint32_t count_same(const struct sample_thread *thread, const struct sample_frame *frames, uint32_t n)
{
    for (uint32_t i = 0; i < n && i < thread->n_frames; i++) {
        const struct sample_frame *old = &thread->frames[i], *now = &frames[i];
        if (now->method != old->method || (now->is_straight && now->location < old->location))
            return i;
        if (now->location != old->location)
            return i + 1;
    }
    return n < thread->n_frames ? n : thread->n_frames;
}

/* The JVM's innermost n frames, outermost first, with their methods' numbers. */
static int name_frames(struct sampler *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const jvmtiFrameInfo *from = &s->stack[n - 1 - i];
        if (room_for(s, SAMPLES_ENTRY_BYTES) < 0)
            return -1;
        int number = sample_methods_number(&s->methods, s->jvmti, s->jni, from->method, &s->out, &s->frames[i]);
        if (number < 0)
            return -1;
        s->numbers[i] = (uint32_t)number;
        s->frames[i].location = from->location;
    }
    return 0;
}

/* Has the call of a method that the sample before found ended since: is it gone, or what is outside of it elsewhere? */
static bool has_ended(const struct sampler *s, uint32_t n, uint32_t n_same, uint32_t method)
{
    for (uint32_t i = 0; i < n && i < n_same; i++)
        if (s->frames[i].method == method)
            return false;
    return true;
}

/*
 * Where a thread is in a loop, itself or in small code that it calls: the innermost such frame.  Only of a method that
 * is called seldom: a call of any other one ends soon.
 */
static void note_loop(const struct sampler *s, struct sample_thread *thread, uint32_t n)
{
    uint32_t i = n;
    while (i > 0 && s->frames[i - 1].is_small)
        i--;
    if (i == 0 || !s->frames[i - 1].has_loop)
        return;
    const struct sample_frame *frame = &s->frames[i - 1];
    jmethodID id = s->stack[n - i].method;
    uint32_t k = 0;
    while (k < thread->n_loops && thread->loops[k].method != frame->method)
        k++;
    if (k == thread->n_loops) {
        if (k == SAMPLE_LOOPS || vm_structs_calls(id, frame->code_bytes) >= CALLS_OF_A_LOOP)
            return;
        thread->loops[thread->n_loops++] = (struct sample_loop){ .method = frame->method,
                                                                 .code_bytes = frame->code_bytes,
                                                                 .id = id,
                                                                 .class_key = frame->class_key,
                                                                 .since_ns = clock_now(CLOCK_MONOTONIC) };
    }
    thread->loops[k].n_samples++;
}

static void note_loops(const struct sampler *s, struct sample_thread *thread, uint32_t n, uint32_t n_same)
{
    thread->n_samples++;
    for (uint32_t i = 0; i < thread->n_loops; i++) {
        thread->loops[i].n_since++;
        thread->loops[i].n_ended += has_ended(s, n, n_same, thread->loops[i].method);
    }
    note_loop(s, thread, n);
}

static int remember(struct sampler *s, struct sample_thread *thread, uint32_t n)
{
    if (thread->frames == NULL)
        thread->frames = malloc(SAMPLES_MAX_FRAMES * sizeof *thread->frames);
    if (thread->frames == NULL)
        return -1;
    memcpy(thread->frames, s->frames, n * sizeof *thread->frames);
    thread->n_frames = n;
    return 0;
}

static int put_stack(struct sampler *s, struct sample_thread *thread, uint32_t n, bool is_cut, uint64_t at_ns)
{
    if (name_frames(s, n) < 0)
        return -1;
    struct sample_stack stack = { .thread = thread->number,
                                  .at_ns = at_ns - s->start_ns,
                                  .cpu_ns = thread->now_ns - thread->counted_ns,
                                  .is_cut = is_cut,
                                  .n_frames = n,
                                  .n_same = is_cut ? 0 : count_same(thread, s->frames, n),
                                  .methods = s->numbers };
    if (!is_cut)
        note_loops(s, thread, n, stack.n_same);
    if (room_for(s, STACK_ENTRY_BYTES) < 0 || remember(s, thread, is_cut ? 0 : n) < 0)
        return -1;
    samples_put_stack(&s->out, &stack);
    thread->counted_ns = thread->now_ns;
    s->totals.n_samples++;
    s->totals.n_no_frames += n == 0;
    return 0;
}

/*
 * For how long a thread was held: no longer than the walk seemed to take here, nor than the thread used the CPU
 * meanwhile.  On a busy machine the two of them wait for each other, and both say too much: a stack of so many frames
 * takes no more than a few times what the fastest one took.
 */
static uint64_t held_ns(struct sampler *s, uint64_t took_ns, uint64_t used_ns, uint32_t n_frames)
{
    uint64_t most = took_ns < used_ns ? took_ns : used_ns, rate = most / (n_frames + FRAMES_OF_A_STOP);
    if (most > s->totals.longest_ns)
        s->totals.longest_ns = most;
    if (rate > 0 && (s->best_rate == 0 || rate < s->best_rate))
        s->best_rate = rate;
    uint64_t likely = 4 * s->best_rate * (n_frames + FRAMES_OF_A_STOP);
    return most < likely ? most : likely;
}

/* Of a carrier, the stack of the virtual thread that it has, or its own; the frames before are of the same one, or
 * none.
 */
static jvmtiError walk(struct sampler *s, struct sample_thread *thread, jint *n)
{
    jthread mounted = virtual_mounted(s->jvmti, thread->ref);
    if (!(*s->jni)->IsSameObject(s->jni, mounted, thread->mounted)) {
        thread->n_frames = 0;
        if (thread->mounted != NULL)
            (*s->jni)->DeleteWeakGlobalRef(s->jni, thread->mounted);
        thread->mounted = mounted == NULL ? NULL : (*s->jni)->NewWeakGlobalRef(s->jni, mounted);
    }
    jvmtiError rc = JVMTI_ERROR_NOT_AVAILABLE;
    if (method_ids_enter()) {
        rc = (*s->jvmti)->GetStackTrace(s->jvmti, mounted == NULL ? thread->ref : mounted, 0, SAMPLES_MAX_FRAMES + 1,
                                        s->stack, n);
        method_ids_leave();
    }
    if (mounted != NULL)
        (*s->jni)->DeleteLocalRef(s->jni, mounted);
    return rc;
}

/* Hold a thread and walk its stack. */
static int take_stack(struct sampler *s, struct sample_thread *thread)
{
    jint n = 0;
    jlong after = 0;
    uint64_t before = thread->now_ns, start = clock_now(CLOCK_MONOTONIC);
    if (walk(s, thread, &n) != JVMTI_ERROR_NONE)
        return 0; /* it has ended, or classes are being changed */
    uint64_t took = clock_now(CLOCK_MONOTONIC) - start;
    if ((*s->jvmti)->GetThreadCpuTime(s->jvmti, thread->ref, &after) == JVMTI_ERROR_NONE && (uint64_t)after > before)
        thread->now_ns = (uint64_t)after;
    s->totals.cost_ns += held_ns(s, took, thread->now_ns - before, (uint32_t)n);
    bool is_cut = n > (jint)SAMPLES_MAX_FRAMES;
    return put_stack(s, thread, is_cut ? SAMPLES_MAX_FRAMES : (uint32_t)n, is_cut, start);
}

/* ---- rounds ---- */

static int take_round(struct sampler *s)
{
    uint64_t now = clock_now(CLOCK_MONOTONIC);
    if (now - s->refreshed_ns >= REFRESH_NS) {
        s->refreshed_ns = now;
        if (sample_threads_refresh(&s->threads, s->jvmti, s->jni) < 0)
            return -1;
    }
    sample_threads_read(&s->threads, s->jvmti);
    s->totals.n_rounds++;
    uint32_t n_taken = 0, i = 0;
    for (; i < s->threads.n && n_taken < MAX_STACKS; i++) {
        struct sample_thread *thread = &s->threads.all[(s->turn + i) % s->threads.n];
        if (!thread->has_run || !sample_thread_runs(thread, s->jvmti, s->is_single_cpu))
            continue;
        n_taken++;
        if (take_stack(s, thread) < 0)
            return -1;
    }
    s->turn = s->threads.n == 0 ? 0 : (s->turn + i) % s->threads.n;
    return flush(s);
}

/* Between half and one and a half times the interval: a program with a rhythm of its own must not run in step. */
static uint64_t spread(struct sampler *s, uint64_t interval_ns)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return interval_ns / 2 + s->random % (interval_ns + 1);
}

static void sleep_until(uint64_t ns)
{
    struct timespec t = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        continue;
}

/*
 * The whole may cost a twentieth of the time so far, and some more at the start, when all methods are new: the first
 * rounds take milliseconds.
 */
static uint64_t next_round(struct sampler *s)
{
    uint64_t now = clock_now(CLOCK_MONOTONIC), next = now + spread(s, s->period_ms * NS_PER_MS);
    uint64_t least = s->start_ns + s->totals.cost_ns * ONE_TO_REST - START_NS;
    if (s->totals.cost_ns * ONE_TO_REST <= START_NS || least <= next)
        return next;
    s->totals.n_late++;
    return least < now + MAX_PUT_OFF_NS ? least : now + MAX_PUT_OFF_NS;
}

static int take_rounds(struct sampler *s)
{
    uint64_t end_ns = s->start_ns + s->period_ms * NS_PER_MS * s->n_rounds;
    uint64_t next = s->start_ns;
    while (s->totals.n_rounds < s->n_rounds && next < end_ns) {
        sleep_until(next);
        if (atomic_load(s->stopping))
            return -1;
        uint64_t own = clock_now(CLOCK_THREAD_CPUTIME_ID);
        if (take_round(s) < 0)
            return -1;
        s->totals.cost_ns += clock_now(CLOCK_THREAD_CPUTIME_ID) - own;
        next = next_round(s);
    }
    return 0;
}

static void add_up(struct sampler *s)
{
    s->totals.total_ns = clock_now(CLOCK_MONOTONIC) - s->start_ns;
    s->totals.cpu_ns = s->threads.ended_cpu_ns;
    s->totals.unseen_cpu_ns = s->threads.ended_unseen_ns;
    for (uint32_t i = 0; i < s->threads.n; i++) {
        s->totals.cpu_ns += s->threads.all[i].now_ns - s->threads.all[i].base_ns;
        s->totals.unseen_cpu_ns += s->threads.all[i].now_ns - s->threads.all[i].counted_ns;
    }
}

/* The JVM has these at any time, at no cost. */
static int want_capabilities(jvmtiEnv *jvmti, struct err *err)
{
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.can_get_bytecodes = 1;
    (*jvmti)->AddCapabilities(jvmti, &wanted); /* without it a method counts as one with loops and calls */
    memset(&wanted, 0, sizeof wanted);
    wanted.can_get_thread_cpu_time = 1;
    if ((*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE)
        return 0;
    return err_set(err, "the JVM does not report its threads' CPU times (JVMTI)");
}

static bool is_single_cpu(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1;
}

static int sample(struct sampler *s, struct err *err)
{
    s->buffer = malloc(BUFFER_BYTES);
    if (s->buffer == NULL)
        return err_set(err, "out of memory in the target");
    s->out = sink_into(s->buffer, BUFFER_BYTES);
    s->start_ns = s->random = clock_now(CLOCK_MONOTONIC);
    if (sample_threads_refresh(&s->threads, s->jvmti, s->jni) < 0)
        return err_set(err, "the JVM does not list its threads (JVMTI)");
    s->refreshed_ns = s->start_ns;
    s->totals.is_cut_short = take_rounds(s) < 0;
    s->is_over = true;
    add_up(s);
    if (s->totals.is_cut_short) /* what found no room: the end still does */
        s->out = sink_into(s->buffer, BUFFER_BYTES);
    if (room_for(s, SAMPLES_ENTRY_BYTES) == 0)
        samples_put_totals(&s->out, &s->totals);
    return flush(s) < 0 ? err_set(err, "the samples' log is full") : 0;
}

/* It runs hot: slowed down ten to fifty times, it would be felt. */
static bool is_hot(const struct sample_thread *thread, const struct sample_loop *loop)
{
    return loop->n_samples >= SAMPLES_OF_A_LOOP && loop->n_samples >= thread->n_samples / PARTS_OF_A_LOOP;
}

/*
 * A call of it goes on for long: its calls are known to end seldom, and were not so many that they end soon.  A loop
 * whose caller goes on to another place while it is on the stack each time (alternating phases) has many calls.
 */
static bool is_long(const struct sample_loop *loop)
{
    uint64_t ns = clock_now(CLOCK_MONOTONIC) - loop->since_ns;
    return loop->n_ended * SAMPLES_OF_A_CALL <= loop->n_since && loop->n_ended * LONG_CALL_NS <= ns &&
           vm_structs_calls(loop->id, loop->code_bytes) < CALLS_OF_A_LOOP;
}

/* Such a loop's class had better not be changed while it is under way. */
static void tell_loops(const struct sample_thread *thread)
{
    for (uint32_t i = 0; i < thread->n_loops; i++)
        if (is_hot(thread, &thread->loops[i]) && is_long(&thread->loops[i]))
            busy_note(thread->loops[i].id, thread->loops[i].class_key);
}

int sample_run(jvmtiEnv *jvmti, JNIEnv *jni, int log_fd, uint32_t period_ms, uint32_t n, const _Atomic bool *stopping,
               struct err *err)
{
    struct sampler *s = calloc(1, sizeof *s);
    if (s == NULL)
        return err_set(err, "out of memory in the target");
    s->jvmti = jvmti;
    s->jni = jni;
    s->log_fd = log_fd;
    s->period_ms = period_ms;
    s->n_rounds = n;
    s->stopping = stopping;
    s->is_single_cpu = is_single_cpu();
    int rc = want_capabilities(jvmti, err) < 0 ? -1 : sample(s, err);
    if (rc == 0)
        rc = (int)s->totals.n_samples;
    busy_forget();
    for (uint32_t i = 0; i < s->threads.n; i++)
        tell_loops(&s->threads.all[i]);
    sample_threads_free(&s->threads, jni);
    sample_methods_free(&s->methods);
    free(s->buffer);
    free(s);
    return rc;
}
