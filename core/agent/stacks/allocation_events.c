#include "core/agent/stacks/stacks.h"

#include "core/base/ticks.h"
#include "core/agent/control/jvmti_env.h"
#include "core/agent/control/method_ids.h"
#include "core/agent/codecache/own_vm.h"
#include "core/hotspot/vm_threads.h"

#include <semaphore.h>

#define JVM_INTERVAL   (512 * 1024) /* the JVM's own, which it has before and after */
#define INTERVAL_MIN   (64 * 1024)
#define INTERVAL_MAX   (1 << 30)
#define SAMPLES_MAX    100u /* so many within a second make the interval twice as long */
#define SAMPLES_FEW    40u  /* less in a second, and it gets half as long, if that costs no more than it may */
#define SAMPLES_ALWAYS 5u   /* whatever they cost */
#define TIMED_ONE_IN   4u   /* the thread's clock takes a microsecond in virtual machines */
#define SLOTS_TO_WAKE  64u
#define SLOTS_TRIED    8u
#define ROOM_BYTES     ((size_t)64 << 10) /* of the thread's stack, for the JVM's walk */
#define END_STEP_NS    100000
#define END_STEPS      5000

static struct allocation_events_state *const events = &stacks.events;

/* What the JVM has drawn for this thread's next sample: with which interval, after an object of how many bytes. */
static _Thread_local struct {
    uint32_t interval; /* 0: the JVM's own */
    uint64_t before_bytes;
} drawn;

struct allocation_slot *allocation_slots(void)
{
    return events->slots;
}

/* ---- the interval ---- */

static void set_interval(jvmtiEnv *jvmti, uint32_t interval)
{
    if ((*jvmti)->SetHeapSamplingInterval(jvmti, (jint)interval) == JVMTI_ERROR_NONE)
        atomic_store(&events->interval, interval);
}

/* A burst of allocations must not cost what a second of them may. */
static void count_sample(jvmtiEnv *jvmti)
{
    uint32_t n = atomic_fetch_add(&events->n_of_second, 1) + 1, interval = atomic_load(&events->interval);
    if (n % SAMPLES_MAX == 0 && interval <= INTERVAL_MAX / 2)
        set_interval(jvmti, interval * 2);
}

/*
 * What a start of many samples cost too much is saved over time: while the latest second had less than half of what is
 * paid for, the interval stays.  If it grew until that was saved, most bytes would have hardly a sample.
 */
void allocation_events_adjust(jvmtiEnv *jvmti, double part)
{
    uint32_t n = atomic_exchange(&events->n_of_second, 0), interval = atomic_load(&events->interval);
    double most_ns = part * (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - events->start_cpu_ns);
    double ns = (double)atomic_load(&events->cost_ns);
    uint32_t n_all = atomic_load(&events->ticket) - events->first_ticket;
    double paid = ns > 0 ? n_all * most_ns / ns / ++events->n_seconds : 0; /* a second */
    if (ns > most_ns && n > SAMPLES_ALWAYS && n > paid / 2 && interval <= INTERVAL_MAX / 2)
        set_interval(jvmti, interval * 2);
    else if (n < SAMPLES_FEW && (1.5 * ns < most_ns || n < SAMPLES_ALWAYS / 2) && interval / 2 >= INTERVAL_MIN)
        set_interval(jvmti, interval / 2);
}

/* ---- one sample ---- */

static struct allocation_slot *take_slot(void)
{
    uint32_t ticket = atomic_fetch_add(&events->ticket, 1);
    for (uint32_t i = 0; i < SLOTS_TRIED; i++) {
        struct allocation_slot *slot = &events->slots[(ticket + i) % ALLOCATION_SLOTS];
        int is_free = ALLOCATION_FREE;
        if (atomic_compare_exchange_strong(&slot->state, &is_free, ALLOCATION_TAKEN))
            return slot;
    }
    atomic_fetch_add(&events->n_lost, 1);
    return NULL;
}

/* While classes are changed there is no stack to be had: method_ids.h. */
static void take_stack(jvmtiEnv *jvmti, struct allocation_slot *slot)
{
    jint n = 0;
    slot->n_frames = 0;
    if (!stack_has_room(ROOM_BYTES) || !method_ids_enter())
        return;
    if ((*jvmti)->GetStackTrace(jvmti, NULL, 0, ALLOCATION_FRAMES_MAX + 1, slot->frames, &n) == JVMTI_ERROR_NONE)
        slot->n_frames = n;
    method_ids_leave();
}

static void take_sample(jvmtiEnv *jvmti, JNIEnv *jni, jobject object, jclass class_ref, uint64_t size_bytes)
{
    struct allocation_slot *slot = take_slot();
    if (slot == NULL)
        return;
    slot->tid = gettid();
    slot->time_ns = clock_ns(CLOCK_MONOTONIC_RAW);
    slot->size_bytes = size_bytes;
    slot->interval_bytes = drawn.interval == 0 ? JVM_INTERVAL : drawn.interval;
    slot->before_bytes = drawn.before_bytes;
    if ((*jvmti)->GetClassSignature(jvmti, class_ref, &slot->signature, NULL) != JVMTI_ERROR_NONE)
        slot->signature = NULL;
    slot->ref = atomic_load(&events->is_tracking) ? (*jni)->NewWeakGlobalRef(jni, object) : NULL;
    take_stack(jvmti, slot);
    atomic_store(&slot->state, ALLOCATION_READY);
    if (atomic_load(&events->ticket) % SLOTS_TO_WAKE == 0)
        sem_post(&events->wake);
}

void JNICALL allocation_sampled(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object, jclass class_ref,
                                jlong size_bytes)
{
    (void)thread;
    atomic_fetch_add(&events->n_inside, 1);
    if (atomic_load(&events->is_on)) {
        bool is_timed = atomic_load(&events->ticket) % TIMED_ONE_IN == 0;
        uint64_t start_ns = is_timed ? clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
        take_sample(jvmti, jni, object, class_ref, (uint64_t)size_bytes);
        count_sample(jvmti);
        drawn.interval = atomic_load(&events->interval);
        drawn.before_bytes = (uint64_t)size_bytes;
        if (is_timed)
            atomic_fetch_add(&events->cost_ns, TIMED_ONE_IN * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns));
    }
    atomic_fetch_sub(&events->n_inside, 1);
}

/* ---- threads ---- */

void JNICALL allocation_thread_started(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    if (!atomic_load(&events->is_on))
        return;
    drawn.interval = atomic_load(&events->interval);
    uint64_t native = allocation_native_thread(jni, thread); /* may be where an ended one was */
    for (uint32_t i = 0; native != 0 && i < ALLOCATION_ENDED_KEPT; i++)
        if (atomic_load(&events->ended[i]) == native)
            atomic_store(&events->ended[i], 0);
}

bool allocation_events_has_ended(uint64_t native)
{
    for (uint32_t i = 0; i < ALLOCATION_ENDED_KEPT; i++)
        if (atomic_load(&events->ended[i]) == native)
            return true;
    return false;
}

uint64_t allocation_native_thread(JNIEnv *jni, jthread thread)
{
    jfieldID native = atomic_load(&events->native);
    if (native == NULL) {
        jclass base = (*jni)->FindClass(jni, "java/lang/Thread");
        native = base == NULL ? NULL : (*jni)->GetFieldID(jni, base, "eetop", "J");
        (*jni)->ExceptionClear(jni);
        (*jni)->DeleteLocalRef(jni, base);
        atomic_store(&events->native, native);
    }
    return native == NULL ? 0 : (uint64_t)(*jni)->GetLongField(jni, thread, native);
}

void allocation_thread_ended(JNIEnv *jni, jthread thread)
{
    if (!atomic_load(&events->is_on) || atomic_load(&events->native) == NULL)
        return;
    uint64_t native = allocation_native_thread(jni, thread);
    if (native == 0)
        return;
    atomic_store(&events->ended[atomic_fetch_add(&events->n_ended, 1) % ALLOCATION_ENDED_KEPT], native);
    atomic_fetch_add(&events->ended_bytes, vm_allocated_bytes(own_vm(), &native, 1));
}

/* ---- from its start to its end ---- */

uint64_t allocation_events_lost(void)
{
    return atomic_load(&events->n_lost);
}

uint64_t allocation_events_cost_ns(void)
{
    return atomic_load(&events->cost_ns);
}

uint64_t allocation_events_ended_bytes(void)
{
    return atomic_load(&events->ended_bytes);
}

void allocation_events_wait(uint32_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    uint64_t ns = (uint64_t)until.tv_nsec + (uint64_t)ms * 1000000u;
    until.tv_sec += (time_t)(ns / 1000000000u);
    until.tv_nsec = (long)(ns % 1000000000u);
    sem_timedwait(&events->wake, &until); /* early is as good: a signal, or a wake before */
}

void allocation_events_wake(void)
{
    sem_post(&events->wake);
}

/* One agent of a JVM can have it. */
static int switch_capability(jvmtiEnv *jvmti, bool on)
{
    const jvmtiCapabilities wanted = { .can_generate_sampled_object_alloc_events = 1 };
    jvmtiError rc = on ? (*jvmti)->AddCapabilities(jvmti, &wanted) : (*jvmti)->RelinquishCapabilities(jvmti, &wanted);
    return rc == JVMTI_ERROR_NONE ? 0 : -1;
}

static const jvmtiEvent kinds[] = { JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, JVMTI_EVENT_THREAD_START };
#define N_KINDS (sizeof kinds / sizeof *kinds)

int allocation_events_begin(jvmtiEnv *jvmti, bool is_tracking, struct err *err)
{
    if (events->slots == NULL) {
        sem_init(&events->wake, 0, 0);
        events->slots = calloc(ALLOCATION_SLOTS, sizeof *events->slots);
    }
    if (events->slots == NULL)
        return err_set(err, "out of memory");
    if (switch_capability(jvmti, true) < 0)
        return err_set(err, "the JVM samples no allocations: another agent does, or it is older than JDK 11");
    atomic_store(&events->n_lost, 0);
    atomic_store(&events->cost_ns, 0);
    atomic_store(&events->ended_bytes, 0);
    for (uint32_t i = 0; i < ALLOCATION_ENDED_KEPT; i++)
        atomic_store(&events->ended[i], 0);
    atomic_store(&events->n_of_second, 0);
    atomic_store(&events->is_tracking, is_tracking);
    events->start_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    events->first_ticket = atomic_load(&events->ticket);
    events->n_seconds = 0;
    atomic_store(&events->interval, JVM_INTERVAL);
    set_interval(jvmti, JVM_INTERVAL);
    atomic_store(&events->is_on, true);
    if (jvmti_env_switch(jvmti, JVMTI_ENABLE, kinds, N_KINDS) == 0)
        return 0;
    allocation_events_end(jvmti);
    return err_set(err, "the JVM does not report the allocations that it samples");
}

void allocation_events_end(jvmtiEnv *jvmti)
{
    const struct timespec step = { 0, END_STEP_NS };
    jvmti_env_switch(jvmti, JVMTI_DISABLE, kinds, N_KINDS);
    atomic_store(&events->is_on, false);
    (*jvmti)->SetHeapSamplingInterval(jvmti, JVM_INTERVAL);
    switch_capability(jvmti, false);
    for (int i = 0; atomic_load(&events->n_inside) > 0 && i < END_STEPS; i++)
        nanosleep(&step, NULL);
}
