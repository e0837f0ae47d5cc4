#include "core/agent/stacks/stacks.h"

#include "core/base/ticks.h"
#include "core/agent/control/jvmti_env.h"
#include "core/agent/stacks/sample_out.h"
#include "core/base/hash.h"
#include "core/agent/codecache/own_vm.h"
#include "core/hotspot/vm_threads.h"

#define ROUND_MS     1000u
#define SECOND_NS    UINT64_C(1000000000)
#define MANY_NS      (5 * SECOND_NS)
#define THREADS_FEW  100 /* more threads' counters are read so rarely */
#define UNKNOWN_NAME "?"

struct allocation_log {
    jvmtiEnv *jvmti;
    JNIEnv *jni;
    struct poll_methods methods;
    struct hash_set classes; /* by name: the number, plus 1 */
    uint32_t n_classes;
    struct poll_allocated state;
    struct weak_objects live;
    uint64_t start_ns, adjusted_ns, counted_ns, own_start_ns;
    uint64_t before_bytes; /* of all threads, when it began */
    uint64_t *natives;     /* owned: threads whose counters are read */
    size_t natives_room;
    struct poll_frame frames[ALLOCATION_FRAMES_MAX];
    struct sample_out out;
};

/* ---- what the JVM counts ---- */

static uint64_t sum_of(struct allocation_log *log, const jthread *threads, jint n)
{
    if ((size_t)n > log->natives_room) {
        uint64_t *grown = realloc(log->natives, (size_t)n * sizeof *grown);
        if (grown == NULL)
            return 0;
        log->natives = grown;
        log->natives_room = (size_t)n;
    }
    size_t n_natives = 0;
    for (jint i = 0; i < n; i++) {
        uint64_t native = allocation_native_thread(log->jni, threads[i]);
        if (native != 0 && !allocation_events_has_ended(native))
            log->natives[n_natives++] = native;
    }
    return vm_allocated_bytes(own_vm(), log->natives, n_natives);
}

/* Bytes of all threads, of those that have ended since the beginning, too. */
static uint64_t count_bytes(struct allocation_log *log, jint *n)
{
    jthread *threads = NULL;
    *n = 0;
    if ((*log->jvmti)->GetAllThreads(log->jvmti, n, &threads) != JVMTI_ERROR_NONE)
        return 0;
    uint64_t ended_bytes = allocation_events_ended_bytes(); /* read first: no thread is in both */
    uint64_t sum = ended_bytes + sum_of(log, threads, *n);
    for (jint i = 0; i < *n; i++)
        (*log->jni)->DeleteLocalRef(log->jni, threads[i]);
    (*log->jvmti)->Deallocate(log->jvmti, (unsigned char *)threads);
    return sum;
}

/* What there is to say by now: of very many threads, each five seconds. */
static int put_state(struct allocation_log *log)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    jint n = 0;
    if (now_ns < log->counted_ns)
        return sample_out_flush(&log->out);
    uint64_t bytes = count_bytes(log, &n);
    log->counted_ns = n > THREADS_FEW ? now_ns + MANY_NS : 0;
    if (vm_allocated_is_known(own_vm()) &&
        bytes >= log->before_bytes + log->state.jvm_bytes) { /* one that ends tells nothing */
        log->state.is_counted = true;
        log->state.jvm_bytes = bytes - log->before_bytes;
    }
    log->state.ns = now_ns - log->start_ns;
    log->state.n_lost = allocation_events_lost();
    log->state.cost_ns = allocation_events_cost_ns();
    log->state.agent_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - log->own_start_ns;
    if (sample_out_room(&log->out, SAMPLE_OUT_STACK_BYTES) < 0)
        return -1;
    poll_log_put_allocated(&log->out.s, &log->state);
    return sample_out_flush(&log->out);
}

/* ---- one sample ---- */

/* "java/lang/String" of "Ljava/lang/String;", "[B" of itself. */
static struct wire_text class_name(const char *signature)
{
    size_t n = signature == NULL ? 0 : strlen(signature);
    if (n == 0)
        return wire_text(UNKNOWN_NAME);
    return signature[0] == 'L' && n > 2 ? (struct wire_text){ signature + 1, n - 2 }
                                        : (struct wire_text){ signature, n };
}

/* Returns -1: no memory, or no number is left. */
static int class_number(struct allocation_log *log, const char *signature)
{
    struct wire_text name = class_name(signature);
    struct hash_slot *slot = hash_put(&log->classes, hash_text(HASH_START, name.at, name.n));
    if (slot == NULL || (slot->value == 0 && log->n_classes == POLL_CLASSES_MAX) ||
        sample_out_room(&log->out, POLL_ENTRY_BYTES) < 0)
        return -1;
    if (slot->value == 0) {
        slot->value = ++log->n_classes;
        poll_log_put_class(&log->out.s, &(struct poll_class){ slot->value - 1, name });
    }
    return (int)slot->value - 1;
}

/* The frames outermost first, with their methods' numbers. */
static int number_frames(struct allocation_log *log, const struct allocation_slot *slot, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const jvmtiFrameInfo *from = &slot->frames[n - 1 - i];
        if (sample_out_room(&log->out, POLL_ENTRY_BYTES) < 0)
            return -1;
        int number = poll_methods_number(&log->methods, log->jvmti, log->jni, from->method, &log->out.s);
        if (number < 0)
            return -1;
        bool is_known = from->location >= 0 && from->location <= 65535;
        log->frames[i] = (struct poll_frame){ (uint32_t)number, is_known ? (int32_t)from->location : -1 };
    }
    return 0;
}

static int put_sample(struct allocation_log *log, struct allocation_slot *slot)
{
    bool is_cut = slot->n_frames > ALLOCATION_FRAMES_MAX;
    uint32_t n = is_cut ? ALLOCATION_FRAMES_MAX : (uint32_t)slot->n_frames;
    int number = class_number(log, slot->signature);
    if (number < 0 || number_frames(log, slot, n) < 0 || sample_out_room(&log->out, SAMPLE_OUT_STACK_BYTES) < 0)
        return -1;
    const struct poll_allocation allocation = { .tid = slot->tid,
                                                .time_ns = slot->time_ns,
                                                .class_number = (uint32_t)number,
                                                .size_bytes = slot->size_bytes,
                                                .interval_bytes = slot->interval_bytes,
                                                .before_bytes = slot->before_bytes,
                                                .is_cut = is_cut,
                                                .n_frames = n,
                                                .frames = log->frames };
    poll_log_put_allocation(&log->out.s, &allocation);
    jweak ref = slot->ref;
    slot->ref = NULL;
    return weak_objects_add(&log->live, log->jni, ref, (uint32_t)log->state.n_samples++, &log->out);
}

/* ---- rounds ---- */

/* All that is ready.  Where the recorder does not read, samples wait, and what finds no slot then is counted. */
static int put_samples(struct allocation_log *log)
{
    struct allocation_slot *slots = allocation_slots();
    int rc = 0;
    for (uint32_t i = 0; i < ALLOCATION_SLOTS; i++) {
        if (atomic_load(&slots[i].state) != ALLOCATION_READY)
            continue;
        if (sample_out_is_full(&log->out))
            break;
        rc = rc == 0 ? put_sample(log, &slots[i]) : rc;
        if (slots[i].ref != NULL)
            (*log->jni)->DeleteWeakGlobalRef(log->jni, slots[i].ref);
        (*log->jvmti)->Deallocate(log->jvmti, (unsigned char *)slots[i].signature);
        atomic_store(&slots[i].state, ALLOCATION_FREE);
    }
    return rc;
}

static int run_round(struct allocation_log *log)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    allocation_events_wait(ROUND_MS);
    if (put_samples(log) < 0 || heap_before_put(&log->out) < 0)
        return -1;
    if (now_ns - log->adjusted_ns >= SECOND_NS) {
        log->adjusted_ns = now_ns;
        if (weak_objects_check(&log->live, log->jni, &log->out) < 0)
            return -1;
        allocation_events_adjust(log->jvmti, stacks.log.part_ppm / 1e6);
    }
    return put_state(log);
}

static void run_log(jvmtiEnv *jvmti, JNIEnv *jni, int fd)
{
    struct allocation_log *log = malloc(sizeof *log);
    jint n;
    if (log == NULL)
        return;
    memset(log, 0, offsetof(struct allocation_log, frames)); /* not megabytes, most of which are never written */
    log->jvmti = jvmti;
    log->jni = jni;
    sample_out_begin(&log->out, fd);
    if (stacks.log.is_tracking)
        weak_objects_begin(&log->live);
    log->own_start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    log->before_bytes = count_bytes(log, &n);
    heap_before_begin(jvmti);
    log->start_ns = log->adjusted_ns = clock_ns(CLOCK_MONOTONIC);
    while (!agent_thread_is_ending(&stacks.log.thread) && run_round(log) == 0)
        continue;
    allocation_events_end(jvmti);
    heap_before_end(jvmti);
    log->counted_ns = 0;
    if (put_samples(log) == 0 && heap_before_put(&log->out) == 0 && weak_objects_check(&log->live, jni, &log->out) == 0)
        put_state(log);
    weak_objects_end(&log->live, jni);
    poll_methods_free(&log->methods);
    hash_free(&log->classes);
    free(log->natives);
    free(log);
}

/* ---- from its start to its end ---- */

int allocation_log_start(jvmtiEnv *jvmti, JNIEnv *jni, int fd, uint32_t part_ppm, bool is_tracking, struct err *err)
{
    bool runs = agent_thread_is_running(&stacks.log.thread);
    if (runs || allocation_events_begin(jvmti, is_tracking, err) < 0) {
        close(fd);
        return runs ? err_set(err, "allocations are sampled already") : -1;
    }
    poll_methods_prepare(jvmti);
    stacks.log.part_ppm = part_ppm;
    stacks.log.is_tracking = is_tracking;
    if (agent_thread_start(&stacks.log.thread, run_log, jni, fd, err) == 0)
        return 0;
    allocation_events_end(jvmti);
    close(fd);
    return -1;
}

void allocation_log_stop(void)
{
    agent_thread_stop(&stacks.log.thread, allocation_events_wake);
}
