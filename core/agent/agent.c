/*
 * The library's entry points, and the thread that runs a session in the target.
 *
 * Attached late: Agent_OnAttach connects and starts the thread, which does all the rest.  Started with the JVM:
 * Agent_OnLoad connects, the VMInit event starts the thread, and main is called when it has instrumented.
 */
#include "core/agent/agent.h"

#include "core/agent/codecache/codecache.h"
#include "core/agent/codecache/code_check.h"
#include "core/agent/control/agent_lab.h"
#include "core/agent/control/jvmti_env.h"
#include "core/agent/instrument/retransform.h"
#include "core/agent/instrument/class_check.h"
#include "core/agent/instrument/classes.h"
#include "core/agent/instrument/instrument.h"
#include "core/agent/instrument/methods.h"
#include "core/agent/probe/argument_ids.h"
#include "core/agent/stacks/stacks.h"

#include <semaphore.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum phase { IDLE, STARTING, RUNNING, STOPPING };

static struct agent_state {
    _Atomic int phase;
    pthread_mutex_t closing; /* guards the socket of a session that ends */
    jvmtiEnv *jvmti;         /* jvmti_env() */
    struct control control;
    struct agent_config config;
    struct config_told told; /* of it */
    struct counting_plan plan;
    struct segment *segment;
    void *mapped; /* the address range of all sessions' segments */
    size_t mapped_bytes;
    uint32_t epoch; /* of the latest session */
    bool is_emulated;
    struct retransform_pass pass; /* the first or the last one */
    jrawMonitorID end;            /* of the JVM: who waits for it is not in native code */
    _Atomic bool is_jvm_ending;
} agent = { .closing = PTHREAD_MUTEX_INITIALIZER, .told.lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- the segment ---- */

static bool is_whole(const struct segment *segment, size_t n)
{
    return segment->magic == SEGMENT_MAGIC && segment->version == SEGMENT_VERSION && segment->size_bytes == n &&
           segment->ring_words >= 64 && (segment->ring_words & (segment->ring_words - 1)) == 0 &&
           segment->rings_offset >= sizeof *segment && segment->rings_offset <= n && segment->words_offset <= n &&
           segment->n_rings <= (segment->words_offset - segment->rings_offset) / sizeof(struct ring) &&
           segment->n_rings <= (n - segment->words_offset) / 8 / segment->ring_words && segment->stacks_offset <= n &&
           segment->n_rings <= (n - segment->stacks_offset) / 4 / ring_stack_words(segment->ring_words);
}

/*
 * Map the segment.  The range of the session before is used again where it is large enough; it is never unmapped,
 * since a thread may be in the middle of a probe.
 */
static int map_segment(int fd, struct err *err)
{
    struct stat status;
    if (fstat(fd, &status) < 0 || status.st_size < (off_t)sizeof(struct segment))
        return err_set(err, "the recorder's memory cannot be used");
    size_t n = (size_t)status.st_size;
    bool again = agent.mapped != NULL && n <= agent.mapped_bytes;
    void *at =
        mmap(again ? agent.mapped : NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | (again ? MAP_FIXED : 0), fd, 0);
    if (at == MAP_FAILED)
        return err_set(err, "the recorder's memory (%zu MB) cannot be mapped in the target", n >> 20);
    if (!again) {
        agent.mapped = at;
        agent.mapped_bytes = n;
    }
    agent.segment = at;
    return is_whole(agent.segment, n) ? 0 : err_set(err, "the recorder's memory has another layout");
}

/*
 * Replace the segment by private memory: late writers reach nothing, the recorder's memory is freed.  Where that may be
 * refused, which would leave a hole, the segment stays until the next session: all of it that late writers reach was
 * allocated.
 */
static void unmap_segment(void)
{
    if (agent.mapped != NULL && !segment_memory_is_strict() &&
        mmap(agent.mapped, agent.mapped_bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        agent.mapped = NULL; /* the next session takes another range */
    agent.segment = NULL;
}

/* ---- a session ---- */

/* A session goes on without it. */
static void start_code_events(JNIEnv *jni)
{
    struct err err;
    const char *why_not = agent.config.asks_for_code ? code_asked_why_not() : NULL;
    bool is_asked = agent.config.asks_for_code && why_not == NULL && !code_check_is_wanted();
    if (!agent.config.wants_code_map)
        return;
    if (is_asked)
        code_asked_start();
    if (is_asked && agent.config.is_live)
        code_dependents_start();
    if (code_events_start(jni, agent.control.code_fd, is_asked, &err) < 0)
        control_send_text(&agent.control, WIRE_CODE_MAP_FAILED, err.text);
    else if (why_not != NULL)
        control_send_text(&agent.control, WIRE_CODE_MAP_ALL, why_not);
}

/*
 * Of a JVM that writes its classes into an archive nothing is changed: without probes there are samples only.  What a
 * live session costs before its first batch, of which there may be none, is a good part of a short one.
 */
static int make_first_probes(JNIEnv *jni, struct err *err)
{
    const char *option = class_archive_option();
    bool may_come_later = agent.config.is_live && agent.config.n_arguments == 0;
    if (option != NULL) {
        control_send_text(&agent.control, WIRE_ARCHIVE, option);
        return agent.config.is_live ? 0 : err_set(err, "it writes a class archive (%s)", option);
    }
    return may_come_later ? 0 : calibrate_once(agent.jvmti, jni, &agent.plan, agent.segment, err);
}

static int begin_session(JNIEnv *jni, struct err *err)
{
    if (control_handshake(&agent.control, err) < 0 || config_read(&agent.config, agent.control.config_fd, err) < 0 ||
        counting_plan_make(&agent.plan, &agent.config, err) < 0 || map_segment(agent.control.segment_fd, err) < 0 ||
        make_first_probes(jni, err) < 0)
        return -1;
    if (agent.config.wants_perf_map)
        perf_map_start(jni, &agent.control);
    start_code_events(jni);
    agent.epoch = agent_next_epoch(agent.epoch);
    agent.segment->epoch = agent.epoch;
    if (agent.config.n_arguments > 0 &&
        argument_ids_begin(agent.jvmti, jni, agent.epoch, agent.control.methods_fd, err) < 0)
        return -1;
    probe_virtual_listen(agent.jvmti, agent.epoch);
    probe_find_with(stack_find);
    probe_start(agent.segment, &agent.plan, agent.jvmti, agent.control.socket);
    if (!agent.config.begins_later)
        classes_enable_all(jni, agent.epoch);
    agent.told.segment = agent.segment;
    agent.config.told = &agent.told;
    instrument_begin(agent.segment);
    active_loops_forget();
    retained_begin(agent.segment->metaspace_bytes);
    methods_begin(&agent.config, &agent.control);
    int rc = retransform_first(agent.jvmti, jni, &agent.control, config_names_classes(&agent.config), &agent.pass, err);
    if (agent.pass.n_classes > 0 && !agent.config.begins_later)
        probe_find_open();
    return rc;
}

static void end_session(JNIEnv *jni)
{
    probe_stop();
    argument_ids_end();
    jit_log_stop(agent.jvmti);
    perf_map_stop();
    code_asked_stop();
    code_dependents_stop();
    code_events_stop();
    probe_virtual_listen(agent.jvmti, 0);
    classes_enable_all(jni, 0);
    methods_end();
    retransform_last(agent.jvmti, jni, &agent.control, &agent.pass);
    unmap_segment();
    config_free(&agent.config);
}

static int start(JNIEnv *jni)
{
    struct err err = { "" };
    int rc = begin_session(jni, &err);
    const struct wire_message ready = { .kind = WIRE_READY,
                                        .longest_ms = agent.pass.longest_batch_ms,
                                        .total_ms = agent.pass.total_ms };
    if (rc == 0)
        control_send(&agent.control, &ready);
    else
        control_send_text(&agent.control, WIRE_FAILED, err.text);
    return rc;
}

static void stop(JNIEnv *jni)
{
    atomic_store(&agent.phase, STOPPING);
    end_session(jni);
    /* Whoever hears "stopped" may attach again at once. */
    pthread_mutex_lock(&agent.closing);
    struct control last = agent.control;
    atomic_store(&agent.phase, IDLE);
    pthread_mutex_unlock(&agent.closing);
    control_send(&last, &(struct wire_message){ .kind = WIRE_STOPPED });
    control_close(&last);
}

/* ---- the thread ---- */

/*
 * A JVM that ends waits 0.3 s for threads that are in native code (JDK 17 and 25, wait_for_threads_in_native_to_block):
 * this one then waits in the JVM, and its session stays as it is, for the recorder to read up to the process' end.
 */
static void serve(JNIEnv *jni, bool has_started)
{
    if (has_started)
        commands_run(agent.jvmti, jni,
                     &(struct commands_session){ &agent.control, &agent.plan, agent.segment, agent.epoch });
    if (!atomic_load(&agent.is_jvm_ending)) {
        stop(jni);
        return;
    }
    (*agent.jvmti)->RawMonitorEnter(agent.jvmti, agent.end);
    while ((*agent.jvmti)->RawMonitorWait(agent.jvmti, agent.end, 0) == JVMTI_ERROR_NONE)
        continue;
    (*agent.jvmti)->RawMonitorExit(agent.jvmti, agent.end);
}

static void JNICALL run_attached(jvmtiEnv *jvmti, JNIEnv *jni, void *argument)
{
    (void)jvmti, (void)argument;
    serve(jni, start(jni) == 0);
}

static void JNICALL run_started(jvmtiEnv *jvmti, JNIEnv *jni, void *argument)
{
    sem_t *is_ready = argument;
    (void)jvmti;
    int rc = start(jni);
    sem_post(is_ready); /* which is gone then */
    serve(jni, rc == 0);
}

/* ---- events ---- */

/*
 * The simulator tracks objects; without the events it would take those of before a collection for others.  It hears of
 * the heap and of methods when the JVM begins to run Java code: a third of a short run's misses in the interpreter come
 * before VMInit.
 */
static void watch_memory(void)
{
    const jvmtiEvent events[] = { JVMTI_EVENT_GARBAGE_COLLECTION_START, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
                                  JVMTI_EVENT_VM_START };
    const jvmtiCapabilities capabilities = {
        .can_generate_garbage_collection_events = 1,
        .can_generate_early_vmstart = 1 /* before the module system is made, in Java */
    };
    if ((*agent.jvmti)->AddCapabilities(agent.jvmti, &capabilities) == JVMTI_ERROR_NONE)
        jvmti_env_switch(agent.jvmti, JVMTI_ENABLE, events, sizeof events / sizeof *events);
}

/* In an emulator only. */
static void JNICALL on_vm_start(jvmtiEnv *jvmti, JNIEnv *jni)
{
    (void)jvmti, (void)jni;
    agent_lab.vm_started();
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    sem_t is_ready;
    (void)jvmti, (void)thread;
    if (atomic_load(&agent.phase) != STARTING)
        return;
    atomic_store(&agent.phase, RUNNING);
    if (agent.is_emulated)
        agent_lab.align_handlers(); /* those that came since the library was loaded */
    sem_init(&is_ready, 0, 0);
    if (jvmti_env_run_thread(jni, run_started, &is_ready) < 0)
        stop(jni);
    else
        while (sem_wait(&is_ready) < 0) /* main must not be called before */
            continue;
    sem_destroy(&is_ready);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    (void)jvmti, (void)jni;
    atomic_store(&agent.is_jvm_ending, true);
    allocation_log_stop(); /* later the JVM tells of no threads any more */
    if (agent.is_emulated)
        agent_lab.vm_ends();
    pthread_mutex_lock(&agent.closing);
    if (atomic_load(&agent.phase) == RUNNING)
        control_wake(&agent.control);
    pthread_mutex_unlock(&agent.closing);
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    allocation_thread_ended(jni, thread);
    probe_thread_ended();
}

static void JNICALL on_collection_start(jvmtiEnv *jvmti)
{
    if (agent.is_emulated)
        agent_lab.collection_started(jvmti);
    heap_before_collection();
}

/* ---- entry points ---- */

/*
 * JDK 17 loads agents before it has started up (the live phase), and gives them no environment then: wait for it.  The
 * thread is the attach listener's, nobody waits for it.
 */
static int get_env(JavaVM *vm)
{
    const struct timespec pause = { 0, 10000000 };
    for (int waited_ms = 0; waited_ms < 5000; waited_ms += 10) {
        jint rc = (*vm)->GetEnv(vm, (void **)&agent.jvmti, JVMTI_VERSION_1_2);
        if (rc != JNI_EDETACHED)
            return rc == JNI_OK ? 0 : -1;
        nanosleep(&pause, NULL);
    }
    return -1;
}

/*
 * A JVM keeps the SourceDebugExtension of classes (Kotlin's lines: core/wire/code_log.h) only if it is asked to before
 * any is loaded; later it refuses, which is no trouble.
 */
static void keep_source_maps(void)
{
    const jvmtiCapabilities capabilities = { .can_get_source_debug_extension = 1 };
    (*agent.jvmti)->AddCapabilities(agent.jvmti, &capabilities);
}

static int make_env(JavaVM *vm)
{
    const jvmtiEvent ends[] = { JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_THREAD_END };
    if (agent.jvmti != NULL)
        return 0;
    if (get_env(vm) < 0)
        return -1;
    const jvmtiCapabilities capabilities = {
        .can_retransform_classes = 1, .can_retransform_any_class = 1, .can_get_bytecodes = 1, .can_tag_objects = 1
    };
    const jvmtiEventCallbacks callbacks = { .VMStart = on_vm_start,
                                            .VMInit = on_vm_init,
                                            .VMDeath = on_vm_death,
                                            .ThreadStart = allocation_thread_started,
                                            .ThreadEnd = on_thread_end,
                                            .SampledObjectAlloc = allocation_sampled,
                                            .ClassFileLoadHook = instrument_class_file,
                                            .CompiledMethodLoad = jit_log_compiled,
                                            .CompiledMethodUnload = jit_log_discarded,
                                            .GarbageCollectionStart = on_collection_start,
                                            .GarbageCollectionFinish = agent_lab.collection_ended };
    if ((*agent.jvmti)->AddCapabilities(agent.jvmti, &capabilities) == JVMTI_ERROR_NONE &&
        (*agent.jvmti)->SetEventCallbacks(agent.jvmti, &callbacks, (jint)sizeof callbacks) == JVMTI_ERROR_NONE &&
        (*agent.jvmti)->CreateRawMonitor(agent.jvmti, "mmprof: the end", &agent.end) == JVMTI_ERROR_NONE &&
        jvmti_env_switch(agent.jvmti, JVMTI_ENABLE, ends, sizeof ends / sizeof *ends) == 0) {
        jvmti_env_set(agent.jvmti);
        keep_source_maps();
        probe_virtual_init(agent.jvmti);
        return 0;
    }
    (*agent.jvmti)->DisposeEnvironment(agent.jvmti);
    agent.jvmti = NULL;
    return -1;
}

/* "OpenJDK 64-Bit Server VM 17.0.15+6" */
static void name_jvm(char *text, size_t n)
{
    char *name = NULL, *version = NULL;
    (*agent.jvmti)->GetSystemProperty(agent.jvmti, "java.vm.name", &name);
    (*agent.jvmti)->GetSystemProperty(agent.jvmti, "java.vm.version", &version);
    snprintf(text, n, "%s %s", name == NULL ? "unknown JVM" : name, version == NULL ? "" : version);
    (*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name);
    (*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)version);
}

/* There is a session: whose recorder has gone, or said stop, is about to end. */
static jint is_in_the_way(void)
{
    pthread_mutex_lock(&agent.closing);
    int phase = atomic_load(&agent.phase);
    bool ends = phase == IDLE || phase == STOPPING || (phase == RUNNING && control_has_stop(&agent.control));
    pthread_mutex_unlock(&agent.closing);
    return ends ? PROTOCOL_ENDING : PROTOCOL_BUSY;
}

/* Returns 0 with the session's connection made and the phase STARTING, or what the entry point returns. */
static jint open_session(JavaVM *vm, const char *path)
{
    struct err err = { "" };
    int idle = IDLE;
    if (access(path, F_OK) < 0) /* another JVM of the command is recorded */
        return PROTOCOL_NO_PEER;
    if (!atomic_compare_exchange_strong(&agent.phase, &idle, STARTING))
        return is_in_the_way();
    jint rc = PROTOCOL_NO_JVMTI;
    char jvm[160];
    if (make_env(vm) == 0) {
        name_jvm(jvm, sizeof jvm);
        rc = control_connect(&agent.control, path, jvm, &err) < 0 ? PROTOCOL_NO_PEER : 0;
    }
    if (rc != 0)
        atomic_store(&agent.phase, IDLE);
    return rc;
}

/* The option is cut up in text, and stays as it is: the JVM shows it. */
static bool read_option(const char *option, char text[SETTING_OPTION_BYTES], struct setting *setting)
{
    int n = snprintf(text, SETTING_OPTION_BYTES, "%s", option == NULL ? "" : option);
    return n < SETTING_OPTION_BYTES && setting_decode(text, setting) == 0;
}

__attribute__((visibility("default"))) JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    JNIEnv *jni;
    struct setting option;
    char text[SETTING_OPTION_BYTES];
    if (!read_option(options, text, &option) || option.kind != SETTING_RECORDER)
        return PROTOCOL_NO_PEER;
    jint rc = open_session(vm, option.text);
    if (rc != 0)
        return rc;
    atomic_store(&agent.phase, RUNNING);
    if ((*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_1_8) == JNI_OK &&
        jvmti_env_run_thread(jni, run_attached, NULL) == 0)
        return 0;
    control_close(&agent.control);
    atomic_store(&agent.phase, IDLE);
    return PROTOCOL_NO_JVMTI;
}

/*
 * A recorder that cannot be reached is no reason to keep a program from starting: all JVMs of a launched command come
 * here, and only the first one is recorded.
 */
__attribute__((visibility("default"))) JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    struct setting option;
    char text[SETTING_OPTION_BYTES];
    if ((agent_lab.enter != NULL && !agent_lab.enter()) || !read_option(options, text, &option))
        return 0;
    if (agent_lab.load != NULL)
        agent_lab.load(vm, &option);
    /*
     * Before JDK 23 the JVM discards all compiled code at the first change of a class, unless an agent could change
     * classes from the start: JvmtiExport::all_dependencies_are_recorded.
     */
    if (option.kind == SETTING_PREPARE)
        make_env(vm);
    agent.is_emulated = option.kind == SETTING_SIMULATED && agent_lab.load != NULL;
    if (option.kind != SETTING_RECORDER && !agent.is_emulated)
        return 0;
    if (agent.is_emulated)
        agent_lab.align_handlers();
    if (open_session(vm, option.text) != 0)
        return 0;
    (*agent.jvmti)->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
    if (agent.is_emulated)
        watch_memory();
    return 0;
}
