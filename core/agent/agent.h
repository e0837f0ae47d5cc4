/*
 * The agent: what runs inside the target.  It is a guest: it never exits, aborts or prints; a probe takes no lock,
 * allocates nothing and makes no system call, but for one when its thread's ring fills while the recorder waits; on
 * trouble it stops and says why over the control connection.
 *
 * Files: agent.c the library's entry points and the session's thread; control.c the connection; commands.c what the
 * recorder asks for; probe*.c the native side of the probes; counting.c their counters; open_calls.c and stack.c the
 * calls that were under way before; virtual.c and parked.c virtual threads and the calls that they leave open;
 * classes.c, class_bytes.c the classes that rewritten code refers to, loaders.c and loader_define.c those of class
 * loaders that need not find these; methods.c, kept.c which methods get probes; instrument.c, event_class.c,
 * retransform.c, batch.c, busy.c, compiling.c, own_threads.c and hurry.c the way they get them; sample.c stacks;
 * calibrate.c what a probe costs; jit_log.c, code_events.c, code_asked.c, code_dependents.c, code_out.c and perf_map.c,
 * perf_file.c what the JIT compiler makes; nmethod.c, code_heaps.c, vm_*.c what HotSpot's own structures say of it,
 * code_check.c whether that is true; rewrite*.c the class files; emulated.c and follow.c what it does in an emulator.
 */
#ifndef CORE_AGENT_AGENT_H
#define CORE_AGENT_AGENT_H

#include "core/agent/counting.h"
#include "core/agent/open_calls.h"
#include "core/agent/rewrite.h"
#include "core/base/err.h"
#include "core/base/pattern.h"
#include "core/trace/ring.h"

#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define AGENT_PROBE_CLASS "java/lang/MmprofProbe"
#define AGENT_GATE_CLASS  "java/lang/MmprofGate" /* and a number */
#define AGENT_CLASS_START "java/lang/Mmprof"     /* what all of them begin with */

/* The same for class loaders that need not find those (loaders.h). */
#define AGENT_OWN_PROBE_CLASS "mmprof/Probe"
#define AGENT_OWN_GATES_CLASS "mmprof/Gates" /* and a number */
#define AGENT_OWN_GATES_FIELD "g"
#define AGENT_OWN_CLASS_START "mmprof/"

/*
 * A token tells a method and a session: id in the low bits, epoch above; 0 is 'disarmed'.  Sessions take the epochs
 * 1..AGENT_EPOCH_MAX - 1 in turn, calibration the last one.
 */
#define AGENT_EPOCH_MAX 2047u

static inline uint32_t agent_token(uint32_t epoch, uint32_t method)
{
    return epoch << RING_METHOD_BITS | method;
}

/* ---- config.c ---- */

struct agent_phase {
    char *class_name, *name, *descriptor; /* owned by the configuration */
};

struct agent_config {
    char *text; /* owned */
    uint32_t min_bytecodes;
    struct pattern *includes, *excludes; /* owned */
    size_t n_includes, n_excludes;
    bool is_live;      /* nothing is instrumented at the start */
    bool begins_later; /* probes record nothing before the recorder says so */
    bool wants_perf_map, wants_code_map;
    bool asks_for_code;         /* only of code that is asked for, if that can be read */
    struct agent_phase *phases; /* owned, sorted by class name */
    size_t n_phases;
    struct agent_phase *loops; /* owned: methods whose loops are under way */
    size_t n_loops;
    struct counting_plan counting;
};

/* Read the configuration from a descriptor.  Returns 0, or -1 with *err set. */
int config_read(struct agent_config *config, int fd, struct err *err);
void config_free(struct agent_config *config);

/* May a class be changed at all (name in internal form)?  May it have methods to instrument? */
bool config_may_change_class(const char *name, size_t n);
bool config_wants_class(const struct agent_config *config, const char *name, size_t n);
bool config_wants_method(const struct agent_config *config, const struct rewrite_method *method);

/* Are the classes that it wants named, by phases or patterns? */
bool config_names_classes(const struct agent_config *config);

/* ---- included.c ---- */

/* Where to tell which patterns of --include match; NULL: nowhere any more. */
void included_begin(struct segment *segment);

/* What was compared with pattern i; of a method only if its class matches.  wanted: it gets probes. */
void included_class(const struct pattern *pattern, size_t i, const char *name, size_t n, bool matches);
void included_method(const struct pattern *pattern, size_t i, const struct rewrite_method *method, bool matches,
                     bool wanted);

/* ---- control.c ---- */

struct control {
    int socket; /* -1 when not connected */
    int segment_fd, methods_fd, config_fd, code_fd;
    int wake_fd; /* an eventfd: readable when no packet is to be waited for any more */
};

#define CONTROL_PACKET_BYTES 4096

/*
 * Connect to the recorder and say hello, in the name of a JVM; does not wait.  Returns 0, or -1 with *err set and
 * nothing left open.
 */
int control_connect(struct control *control, const char *path, const char *jvm, struct err *err);

/* Wait for the session's descriptors.  Returns 0, or -1 with *err set. */
int control_handshake(struct control *control, struct err *err);
int control_send(const struct control *control, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Wait for a packet.  *fd is the descriptor that came with it, the caller's to close, or -1.  Returns false at the end
 * of the connection, or after control_wake.
 */
bool control_receive(const struct control *control, char packet[CONTROL_PACKET_BYTES], int *fd);

/* Let the thread that waits for packets go on without one; from any thread. */
void control_wake(const struct control *control);

/* Is "stop" or the end of the connection what comes next? */
bool control_has_stop(const struct control *control);
void control_close(struct control *control);

/* ---- probe.c ---- */

/*
 * Let probes with this epoch's tokens record into the segment (borrowed, stays mapped for ever), and hand their
 * counters over to the socket (borrowed until probe_stop; -1: to nobody).
 */
void probe_start(struct segment *segment, const struct agent_config *config, jvmtiEnv *jvmti, int socket);

/*
 * Methods have got probes, or lost them: each thread looks for calls under way at its next entry.  find: how; once,
 * before probe_start (NULL: it does not).
 */
void probe_find_with(open_calls_find_fn *find);
void probe_find_open(void);

/* From now on entries record nothing, and exits of earlier entries neither, and no probe uses the socket. */
void probe_stop(void);

/* The current thread ends: give its ring back. */
void probe_thread_ended(void);

/*
 * A virtual thread comes to the current thread, with calls that it left open (a handle of parked.h, or 0).  It goes:
 * returns the handle of the calls that it leaves open, or 0.
 */
void probe_mount(uint32_t handle);
uint32_t probe_unmount(void);

/*
 * For calibration: let the current thread's probes write into n_words (a power of two) at words, over and over, until
 * probe_leave_private; tokens must have the given epoch.  They read the configuration's counters, as they will in the
 * session.
 *
 * Returns 0, or -1 with *failure set: the counters do not open, and records hold RING_NOT_COUNTED.
 */
int probe_enter_private(struct ring *ring, uint64_t *words, uint32_t n_words, uint32_t epoch,
                        const struct agent_config *config, struct counters_failure *failure);
void probe_leave_private(void);

/* ---- classes.c ---- */

#define CLASSES_GATES_PER_CLASS 256u
#define CLASSES_GATES_PER_BLOCK 32768u /* that an instruction 'sipush' reaches */

/* Define the probe class (once in the life of a JVM).  Returns 0, or -1 with *err set. */
int classes_define_probe(JNIEnv *jni, struct err *err);
jclass classes_probe(void);

/* The gate of a method id, made when it is not there yet.  Returns 0, or -1.  Any thread. */
int classes_gate(JNIEnv *jni, uint32_t id, struct rewrite_gate *gate);

/*
 * Link the native methods of a class of probes now, in the calling thread, before the application calls them.  Returns
 * false, maybe with an exception, when the JVM does not find them.
 */
bool classes_link_natives(JNIEnv *jni, jclass probe);

/* The gates of the ids from block * CLASSES_GATES_PER_BLOCK on: a global reference, or NULL.  Any thread. */
jintArray classes_gates(JNIEnv *jni, uint32_t block);

/* Arm all gates with tokens of an epoch, now and as more are made; epoch 0 disarms all. */
void classes_arm_all(JNIEnv *jni, uint32_t epoch);

/* Arm or disarm one gate, if it is there. */
void classes_arm(JNIEnv *jni, uint32_t id, bool armed);

/* Was it not disarmed last, since all were armed?  Any thread. */
bool classes_is_armed(uint32_t id);

/* ---- calibrate.c ---- */

/* This thread is about to: the recorder must leave it the counters. */
void calibrate_soon(struct segment *segment);

/*
 * Measure what a pair of probes costs between its timestamps and outside of them, in ticks and in each counter's
 * events, and publish it in the segment.  Returns 0, or -1 with *err set.
 */
int calibrate(jvmtiEnv *jvmti, JNIEnv *jni, const struct agent_config *config, struct segment *segment,
              struct err *err);

/* ---- methods.c ---- */

/*
 * Begin a session: its methods are those that the configuration wants (in live mode: none), those added, and not those
 * removed.  Both are borrowed.
 */
void methods_begin(const struct agent_config *config, const struct control *control);

/* From now on no method is chosen.  No code is left that reads a gate: ids may be given again when they run short. */
void methods_end(void);
void methods_forget_ids(void);

/* Does the session want any method from the start? */
bool methods_want_any(void);

/* May a class have methods of the session (name in internal form)?  Does it have one of those added or removed last? */
bool methods_want_class(const char *name, size_t n);
bool methods_changed_class(const char *name, size_t n);
bool methods_changed_key(uint64_t class_key); /* the hash of its name */
uint32_t methods_n_changed(void);             /* such classes */

/* Is it one of the session's?  Would it be one if the session were not live: do the configuration's rules let it? */
bool methods_want(const struct rewrite_method *method);
bool methods_may_want_class(const char *name, size_t n);
bool methods_may_want(const struct rewrite_method *method);

/* The id of a method of the session, which the recorder knows then; 0: it is none, or there is no room. */
uint32_t methods_choose(const struct rewrite_method *method);

/*
 * Add the phases of a configuration; their gates are armed.  Remove methods by their ids; those that no method has are
 * counted.  Both return 0, or -1 with *err set.
 */
int methods_add(JNIEnv *jni, const struct agent_config *phases, struct err *err);
uint32_t methods_count(const struct agent_config *phases); /* of them that have probes */

/*
 * A phase's class may not be changed now: the recorder is told of it, by an id without code, and it gets its probes as
 * soon as another 'add' comes and the class may be changed.
 */
void methods_hold(const struct agent_phase *phase);
int methods_remove(const uint32_t *ids, size_t n, uint32_t *n_unknown, struct err *err);

/* Does the recorder know this id? */
bool methods_has_id(uint32_t id);

/* The id of a method that has probes, else 0.  Any thread. */
uint32_t methods_id(struct rewrite_text class_name, struct rewrite_text name, struct rewrite_text descriptor);

/* ---- instrument.c ---- */

/* Of the session so far. */
struct instrument_counts {
    uint32_t n_classes, n_methods, n_skipped_too_large, n_skipped_limits, n_skipped_unusual, n_failed_classes,
        n_left_classes, n_no_room_classes, n_event_classes, n_late_classes, n_loader_classes;
};

void instrument_begin(void);
void instrument_end(void);
void instrument_failed(uint32_t n_classes);

/*
 * A class is left alone: its versions would be kept, or there is no metaspace for it (kept.c), or no way from its class
 * loader to the probes (loaders.h).
 */
enum instrument_left { INSTRUMENT_LEFT_NATIVES, INSTRUMENT_LEFT_METASPACE, INSTRUMENT_LEFT_LOADER };
void instrument_left_alone(enum instrument_left why);

/* A class is left alone because it is one of JFR's events: each is counted once. */
void instrument_left_event(const char *name, size_t n);
/* So many classes are left alone, for the recorder has said that it is enough. */
void instrument_left_late(uint32_t n_classes);
bool instrument_is_enough(void);

void instrument_counts(struct instrument_counts *counts);

/* Keep the recorder informed, from now on, by these counts in the segment; NULL: no more. */
void instrument_publish(struct segment *segment);

/* Is no thread in the hook? */
bool instrument_is_idle(void);

/* When the hook was last shown a class that was loaded already, in ticks. */
uint64_t instrument_latest_ticks(void);

/* Does a class have probes (name in internal form)?  It is about to lose them; the hook will see those that it keeps.
 */
bool instrument_has_probes(const char *name, size_t n);
void instrument_loses_probes(const char *name, size_t n);

void JNICALL instrument_class_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader, const char *name,
                                   jobject domain, jint n_bytes, const unsigned char *bytes, jint *n_out,
                                   unsigned char **out);

/* ---- hurry.c ---- */

/*
 * The JVM changes the classes of a batch in its VM thread, while the application stands still.  After the last of n
 * classes was shown to the hook, that thread and the calling one go before all others until the end, where the system
 * allows it (root, CAP_SYS_NICE or a limit on niceness).  With three busy threads for each CPU stops took a third of
 * the time then (javac: 12 to 25 ms, not 21 to 104).
 *
 * Before that, the moment is waited for at which the change costs the JIT compiler least (compiling.h).
 */
struct hurry {
    uint32_t n_left;                      /* classes to be shown */
    uint32_t wait_ms;                     /* for that moment at most; given before hurry_begin, as the next two are */
    bool (*is_over)(const void *context); /* whether to wait no more; or NULL */
    const void *context;
    double waited_ms;
    pid_t tids[2]; /* the VM thread and the calling one; 0: it is as it was */
    int niceness[2];
};

void hurry_begin(struct hurry *hurry, uint32_t n_classes);
void hurry_class_shown(void); /* in the thread that began, else it does nothing */
void hurry_end(struct hurry *hurry);

/* ---- kept.c ---- */

/* A session begins, which may take so much metaspace (UINT64_MAX: any). */
void kept_begin(uint64_t metaspace_bytes);

/*
 * May a loaded class get probes, or would the JVM keep too much of its versions, or have too little metaspace then?
 * Named: the user, or what it was told, wants this very class.  What is refused is counted.
 */
bool kept_allows(jvmtiEnv *jvmti, jclass class_ref, bool is_named);

/* ---- retransform.c ---- */

/* One pass over the loaded classes. */
struct retransform_pass {
    uint32_t n_classes, n_batches;
    double longest_batch_ms; /* RetransformClasses; the application runs most of the time */
    double longest_pause_ms; /* its stop, at most */
    double total_ms, cpu_ms; /* of the whole; of it, what a CPU worked: this thread, and the JVM's in the stops */
};

/*
 * Rewrite the loaded classes that the session wants, and from now on those being loaded.  A stop that the control
 * brings meanwhile leaves the rest of the classes alone.  Returns 0, or -1 with *err set.
 */
int retransform_first(jvmtiEnv *jvmti, JNIEnv *jni, const struct control *control, bool names_classes,
                      struct retransform_pass *pass, struct err *err);

/*
 * Rewrite the loaded classes in which methods were added (or removed) last, but for those with a hot loop under way:
 * of these the phases (those that were added, or NULL) are held.  Ends early when *stopping.  Returns 0, or -1 with
 * *err set.
 */
int retransform_changed(jvmtiEnv *jvmti, JNIEnv *jni, const struct control *control, const _Atomic bool *stopping,
                        const struct agent_config *phases, struct retransform_pass *pass, struct err *err);

/* Give all classes their own code back.  The gates are closed already. */
void retransform_last(jvmtiEnv *jvmti, JNIEnv *jni, const struct control *control, struct retransform_pass *pass);

/* ---- sample.c: a first look that leaves the program's code alone ---- */

/*
 * Take stack samples: up to n rounds, about one every period_ms, in the calling thread, until the rounds are over or
 * their time (period times rounds) is, or *stopping; they are appended to a file (borrowed) as core/trace/samples.h
 * says.  What a round costs is measured: the next one is put off when that is over a twentieth of the time.
 *
 * A thread is held only while its own stack is walked (JDK 11: all are), and only if it uses a CPU.  A carrier's stack
 * is that of the virtual thread on it.
 *
 * Returns the number of samples, or -1 with *err set: the JVM tells no CPU times, or there is no memory.
 */
int sample_run(jvmtiEnv *jvmti, JNIEnv *jni, int log_fd, uint32_t period_ms, uint32_t n, const _Atomic bool *stopping,
               struct err *err);

/* ---- jit_log.c ---- */

/*
 * From now on append what the JIT compiler does with watched methods to a memory file (taken over), as
 * core/trace/jit_events.h says; none is watched yet.  Returns 0, or -1 with *err set.
 */
int jit_log_start(jvmtiEnv *jvmti, JNIEnv *jni, int fd, struct err *err);

/* Watch the phases of a configuration, too, and log what code there is of them: before they get probes. */
void jit_log_watch(jvmtiEnv *jvmti, const struct agent_config *methods);
void jit_log_stop(jvmtiEnv *jvmti);

void JNICALL jit_log_compiled(jvmtiEnv *jvmti, jmethodID method, jint code_bytes, const void *code, jint n_map,
                              const jvmtiAddrLocationMap *map, const void *compile_info);
void JNICALL jit_log_discarded(jvmtiEnv *jvmti, jmethodID method, const void *code);

/* ---- perf_map.c ---- */

/*
 * From now on write the names of what the JVM compiles into /tmp/perf-PID.map for perf, beginning with what there is.
 * The recorder hears over the control connection (borrowed until perf_map_stop) where the file is, or why there is
 * none, or no more lines in it.  The file stays when it ends.
 */
void perf_map_start(JNIEnv *jni, const struct control *control);
void perf_map_stop(void);

/* ---- code_events.c ---- */

/*
 * From now on append what code the JVM makes, beginning with what there is, to a memory file (borrowed until
 * code_events_stop), as core/trace/code_log.h says; only_generated: not what it compiles.  Returns 0, or -1 with *err
 * set.
 */
int code_events_start(JNIEnv *jni, int fd, bool only_generated, struct err *err);
void code_events_stop(void);

/* ---- commands.c ---- */

/*
 * Do what the recorder asks for, until it says stop or the connection ends; whatever was under way has ended then.
 */
void commands_run(jvmtiEnv *jvmti, JNIEnv *jni, struct control *control);

/* ---- agent.c ---- */

jvmtiEnv *agent_jvmti(void);

/* Let the probes record, where the session begins later. */
void agent_begin(JNIEnv *jni);

/* Run a function in a new thread that no program sees as its own.  argument: its third.  Returns 0, or -1. */
int agent_run_thread(JNIEnv *jni, jvmtiStartFunction function, void *argument);

#endif
