/*
 * A session of the agent without a JVM, at full speed: threads that come, call and go while the recorder gives commands
 * over the real connection, flags are switched, methods are chosen and removed, and rings are drained; session after
 * session, under threads that are in the middle of calls.  Made for ThreadSanitizer.
 *
 * The JVM's part is played by this file: flags are atomics, a class is changed by choosing its methods again.
 */
#include "test/unit/jvmti_stand_in.h"
#include "test/unit/tap.h"

#include "core/agent/agent.h"
#include "core/agent/codecache/codecache.h"
#include "core/wire/config.h"
#include "core/agent/control/control.h"
#include "core/agent/control/jvmti_env.h"
#include "core/agent/instrument/retransform.h"
#include "core/agent/instrument/classes.h"
#include "core/agent/instrument/instrument_state.h"
#include "core/agent/instrument/methods.h"
#include "core/agent/probe/probe_parts.h"
#include "core/agent/probe/probe.h"
#include "core/agent/stacks/stacks.h"
#include "core/base/ticks.h"
#include "core/recorder/drain.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

jint JNICALL Java_java_lang_MmprofProbe_enter0(JNIEnv *jni, jclass probe, jint token);
void JNICALL Java_java_lang_MmprofProbe_exit0(JNIEnv *jni, jclass probe, jint token);
void JNICALL Java_java_lang_MmprofProbe_unwind0(JNIEnv *jni, jclass probe, jint token);

#define N_SESSIONS  4u
#define N_CALLERS   3
#define N_LOADERS   2
#define N_CLASSES   40u
#define N_COMMANDS  1000u /* in each session */
#define N_ON_WAY    4u    /* commands without an answer */
#define CALLS_MAX   2000u /* of a thread's life */
#define DEPTH_MAX   30
#define IDS_MAX     (N_CLASSES + 2) /* the last of them nobody has */
#define CALLS_LEAST 100u            /* that a session records */
#define ROUNDS_MAX  300

/* ---- the JVM's part ---- */

static char class_names[N_CLASSES][8];
static _Atomic uint32_t flags[IDS_MAX], ids[N_CLASSES]; /* a token or 0; a class' method, or 0 */
static _Atomic uint32_t epoch;
static _Atomic uint64_t n_recorded[N_SESSIONS + 1], n_lives;
static _Atomic bool is_over;
static pthread_rwlock_t loading = PTHREAD_RWLOCK_INITIALIZER; /* no class is loaded between sessions */

static struct protocol_method method_of(uint32_t i)
{
    return (struct protocol_method){ .class_name = { class_names[i], strlen(class_names[i]) },
                                     .name = { "m", 1 },
                                     .descriptor = { "()V", 3 },
                                     .source = { "C.java", 6 } };
}

void classes_enable(JNIEnv *jni, uint32_t id, bool enabled)
{
    (void)jni;
    if (id < IDS_MAX)
        atomic_store(&flags[id], enabled ? agent_token(atomic_load(&epoch), id) : 0);
}

/* As the hook does when a class is loaded, or changed. */
static void change_class(uint32_t i)
{
    const struct protocol_method method = method_of(i);
    int16_t argument;
    uint32_t id = methods_want_class(class_names[i], strlen(class_names[i])) ? methods_choose(&method, &argument) : 0;
    if (id != 0)
        classes_enable(NULL, id, true);
    atomic_store(&ids[i], id);
}

int retransform_changed(jvmtiEnv *env, JNIEnv *jni, const struct control *control, const _Atomic bool *stopping,
                        const struct agent_config *phases, struct retransform_pass *pass, struct err *err)
{
    (void)env;
    (void)jni;
    (void)control;
    (void)err;
    memset(pass, 0, sizeof *pass);
    for (uint32_t i = 0; i < N_CLASSES && !atomic_load(stopping); i++)
        if (methods_changed_class(class_names[i], strlen(class_names[i]))) {
            change_class(i);
            pass->n_classes++;
        }
    for (size_t i = 0; phases != NULL && i < phases->n_phases; i += 5)
        methods_defer(&phases->phases[i]);
    return 0;
}

void active_loops_note(const struct agent_phase *loops, size_t n)
{
    (void)loops;
    (void)n;
}

int poll_start(jvmtiEnv *env, JNIEnv *jni, int fd, uint32_t period_us, uint32_t part_ppm, struct err *err)
{
    (void)env;
    (void)jni;
    (void)period_us;
    (void)part_ppm;
    (void)err;
    close(fd);
    return 0;
}

void poll_stop(void)
{
}

int allocation_log_start(jvmtiEnv *env, JNIEnv *jni, int fd, uint32_t part_ppm, bool is_tracking, struct err *err)
{
    (void)part_ppm;
    (void)is_tracking;
    (void)env;
    (void)jni;
    (void)err;
    close(fd);
    return 0;
}

void allocation_log_stop(void)
{
}

int jit_log_start(jvmtiEnv *env, JNIEnv *jni, int fd, struct err *err)
{
    (void)env;
    (void)jni;
    close(fd);
    return err_set(err, "there is no JVM");
}

static const struct counting_plan no_counters;

struct instrumenting instrumenting;

int calibrate_once(jvmtiEnv *env, JNIEnv *jni, const struct counting_plan *plan, struct segment *segment,
                   struct err *err)
{
    (void)env, (void)jni, (void)plan, (void)segment, (void)err;
    return 0;
}

void jit_log_watch(jvmtiEnv *env, const struct agent_config *methods)
{
    (void)env;
    (void)methods;
}

struct stress_thread {
    jvmtiStartFunction function;
    void *argument;
};

static void *run_agent_thread(void *argument)
{
    struct stress_thread thread = *(struct stress_thread *)argument;
    free(argument);
    thread.function(&jvmti, NULL, thread.argument);
    return NULL;
}

void classes_enable_all(JNIEnv *jni, uint32_t all)
{
    (void)jni; /* its sessions record at once */
    (void)all;
}

int jvmti_env_run_thread(JNIEnv *jni, jvmtiStartFunction function, void *argument)
{
    pthread_t thread;
    struct stress_thread *start = malloc(sizeof *start);
    (void)jni;
    if (start == NULL)
        return -1;
    *start = (struct stress_thread){ function, argument };
    if (pthread_create(&thread, NULL, run_agent_thread, start) != 0) {
        free(start);
        return -1;
    }
    pthread_detach(thread);
    return 0;
}

/* ---- the program ---- */

struct random {
    uint32_t state;
};

static uint32_t next(struct random *r, uint32_t n)
{
    r->state = r->state * 1664525u + 1013904223u;
    return (r->state >> 16) % n;
}

static void call(struct random *r, uint32_t *n_left, int depth)
{
    uint32_t id = atomic_load_explicit(&ids[next(r, N_CLASSES)], memory_order_relaxed);
    uint32_t token = atomic_load_explicit(&flags[id], memory_order_relaxed);
    jint entered = token == 0 ? 0 : Java_java_lang_MmprofProbe_enter0(NULL, NULL, (jint)token);
    if (entered != 0)
        atomic_fetch_add_explicit(&n_recorded[(uint32_t)entered >> RING_METHOD_BITS], 1, memory_order_relaxed);
    while (*n_left > 0 && depth < DEPTH_MAX && next(r, 2) == 0) {
        --*n_left;
        call(r, n_left, depth + 1);
    }
    if (entered != 0 && next(r, 8) == 0)
        Java_java_lang_MmprofProbe_unwind0(NULL, NULL, entered);
    else if (entered != 0)
        Java_java_lang_MmprofProbe_exit0(NULL, NULL, entered);
}

static void *run_thread(void *argument)
{
    uint32_t n_left = CALLS_MAX;
    while (n_left > 0) {
        n_left--;
        call(argument, &n_left, 0);
    }
    probe_thread_ended();
    return NULL;
}

/* Threads that start and end all the time. */
static void *run_caller(void *argument)
{
    struct random random = { (uint32_t)(uintptr_t)argument };
    pthread_t thread;
    while (!atomic_load(&is_over) && pthread_create(&thread, NULL, run_thread, &random) == 0) {
        pthread_join(thread, NULL);
        atomic_fetch_add(&n_lives, 1);
    }
    return NULL;
}

/* Classes are loaded, and agents of others ask. */
static void *run_loader(void *argument)
{
    struct random random = { (uint32_t)(uintptr_t)argument };
    while (!atomic_load(&is_over)) {
        uint32_t i = next(&random, N_CLASSES);
        const struct protocol_method method = method_of(i);
        pthread_rwlock_rdlock(&loading);
        if (next(&random, 4) == 0)
            change_class(i);
        else
            methods_has_id(methods_id(method.class_name, method.name, method.descriptor));
        pthread_rwlock_unlock(&loading);
        usleep(50);
    }
    return NULL;
}

/* ---- the recorder ---- */

struct world {
    struct session session;
    struct threads threads;
    struct drain drain;
    struct trace_writer *writer;
    struct control control;
    struct agent_config config;
    char path[64];
    _Atomic bool is_ending;
    bool drained;
};

static bool drain_once(struct world *w)
{
    struct err err = { "" };
    drain_snapshot(&w->drain);
    drain_threads(&w->drain);
    if (threads_write(&w->threads, w->writer, &err) == 0 && drain_methods(&w->drain, w->writer, &err) == 0 &&
        drain_records(&w->drain, w->writer, ticks_now(), &err) == 0)
        return true;
    printf("# %s\n", err.text);
    return false;
}

static void *run_drain(void *argument)
{
    struct world *w = argument;
    bool ok = true;
    while (ok && !atomic_load(&w->is_ending))
        ok = drain_once(w);
    w->drained = ok;
    return NULL;
}

static void *run_commands(void *argument)
{
    struct world *w = argument;
    const struct commands_session session = { &w->control, &no_counters, NULL, atomic_load(&epoch) };
    commands_run(&jvmti, NULL, &session);
    return NULL;
}

/* A configuration with some of the methods. */
static int config_with_phases(struct random *r)
{
    int fd = memfd_create("config", MFD_CLOEXEC);
    dprintf(fd, "live\n");
    for (uint32_t i = next(r, 4); i < N_CLASSES; i += 1 + next(r, 8))
        dprintf(fd, "phase a/C%u m ()V\n", i);
    return fd;
}

static bool send_command(struct world *w, struct random *r)
{
    static const char *const words[] = { "enable", "disable", "remove", "enable", "disable" };
    char packet[256];
    uint32_t kind = next(r, 9);
    int fd = -1;
    if (kind < 5) {
        int n = snprintf(packet, sizeof packet, "%s", words[kind]);
        for (uint32_t i = 1 + next(r, kind == 2 ? 3 : 8); i > 0; i--)
            n += snprintf(packet + n, sizeof packet - (size_t)n, " %u", next(r, IDS_MAX));
    } else {
        snprintf(packet, sizeof packet, "%s", kind < 7 ? "instrument" : kind == 7 ? "poll 1000 3" : "dance");
        fd = kind < 7 ? config_with_phases(r) : kind == 7 ? memfd_create("samples", MFD_CLOEXEC) : -1;
    }
    int rc = session_send_with(&w->session, packet, fd);
    if (fd >= 0)
        close(fd);
    return rc == 0;
}

static bool is_answer(const struct wire_message *told)
{
    bool is = told->kind >= WIRE_ENABLED && told->kind <= WIRE_REFUSED;
    if (!is)
        printf("# %s\n", wire_name(told->kind));
    return is;
}

/* Returns how many were answered. */
static uint32_t give_commands(struct world *w, struct random *r)
{
    struct wire_message told;
    uint32_t n_sent = 0, n_answered = 0;
    while (n_answered < N_COMMANDS) {
        struct pollfd peer = { .fd = session_fd(&w->session), .events = POLLIN };
        while (n_sent < N_COMMANDS && n_sent - n_answered < N_ON_WAY && send_command(w, r))
            n_sent++;
        if (poll(&peer, 1, 60000) <= 0 || session_receive(&w->session, &told) <= 0 || !is_answer(&told))
            break;
        n_answered++;
    }
    return n_answered;
}

static bool open_world(struct world *w, uint32_t number)
{
    struct err err = { "" };
    const struct session_plan plan = { .ring_bytes = 8192,
                                       .memory = { 0, UINT64_MAX, UINT64_MAX },
                                       .config = "live\n" };
    memset(w, 0, sizeof *w);
    snprintf(w->path, sizeof w->path, "/tmp/mmprof-stress-test.%d", (int)getpid());
    threads_init(&w->threads);
    if (session_open(&w->session, &plan, &err) < 0 || (drain_init(&w->drain, &w->session, &w->threads), false) ||
        trace_writer_open(&w->writer, w->path, &err) < 0 ||
        control_connect(&w->control, w->session.socket_path, "a test", &err) < 0 ||
        session_accept(&w->session, &err) != 1 || control_handshake(&w->control, &err) < 0 ||
        config_read(&w->config, w->control.config_fd, &err) < 0) {
        printf("# %s\n", err.text);
        return false;
    }
    /* Never unmapped, as in a JVM: a thread may be in the middle of a probe. */
    struct segment *segment =
        mmap(NULL, w->session.segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, w->control.segment_fd, 0);
    if (segment == MAP_FAILED)
        return false;
    segment->epoch = number;
    atomic_store(&epoch, number);
    pthread_rwlock_wrlock(&loading);
    probe_start(segment, &no_counters, &jvmti, w->control.socket);
    methods_begin(&w->config, &w->control);
    pthread_rwlock_unlock(&loading);
    return true;
}

static void end_recording(struct world *w)
{
    probe_stop();
    for (uint32_t id = 0; id < IDS_MAX; id++)
        atomic_store(&flags[id], 0);
    pthread_rwlock_wrlock(&loading);
    methods_end();
    pthread_rwlock_unlock(&loading);
    control_send(&w->control, &(struct wire_message){ .kind = WIRE_STOPPED });
}

static void close_world(struct world *w)
{
    unlink(w->path);
    control_close(&w->control);
    config_free(&w->config);
    drain_free(&w->drain);
    session_close(&w->session);
    threads_free(&w->threads);
}

/* ---- what the trace says ---- */

struct tally {
    uint64_t n_enters, n_exits, n_unnested;
    struct {
        uint32_t depth, stack[DEPTH_MAX + 8];
    } * threads; /* owned */
};

static void take(struct tally *t, const struct trace_event *event)
{
    uint32_t *depth = &t->threads[event->thread].depth, *stack = t->threads[event->thread].stack;
    if (event->kind == TRACE_ENTER) {
        t->n_enters++;
        if (*depth < DEPTH_MAX + 8)
            stack[(*depth)++] = event->method;
    } else if (event->kind == TRACE_EXIT || event->kind == TRACE_UNWIND) {
        t->n_exits++;
        t->n_unnested += *depth == 0 || stack[--*depth] != event->method;
    }
}

static bool read_trace(const struct world *w, struct tally *t)
{
    struct err err = { "" };
    struct trace_reader *reader;
    struct trace_event event;
    const size_t room = 1 << 16;
    int rc = -1;
    *t = (struct tally){ .threads = calloc(room, sizeof *t->threads) };
    if (t->threads == NULL || trace_open(&reader, w->path, false, &err) < 0)
        return false;
    while ((rc = trace_next(reader, &event, &err)) > 0 && event.thread < room)
        take(t, &event);
    trace_close(reader);
    free(t->threads);
    return rc == 0;
}

/* On a busy machine the callers may have had no turn between two commands: more are given until they had. */
static bool await_calls(struct world *w, struct random *r, uint32_t number)
{
    for (int i = 0; i < ROUNDS_MAX && atomic_load(&n_recorded[number]) < CALLS_LEAST; i++) {
        usleep(1000);
        if (give_commands(w, r) < N_COMMANDS)
            return false;
    }
    return atomic_load(&n_recorded[number]) >= CALLS_LEAST;
}

static void test_session(uint32_t number)
{
    struct world w;
    struct tally t;
    struct err err = { "" };
    struct random random = { number * 77 };
    pthread_t drainer, agent;
    if (!CHECK("a session opens under threads that call", open_world(&w, number)))
        return;
    if (!CHECK("its threads start", pthread_create(&agent, NULL, run_commands, &w) == 0 &&
                                        pthread_create(&drainer, NULL, run_drain, &w) == 0))
        return;
    CHECK_NUMBER("each command has its answer", give_commands(&w, &random), N_COMMANDS);
    CHECK("calls are recorded", await_calls(&w, &random, number));
    CHECK("it is told to stop", session_send(&w.session, WIRE_STOP) == 0);
    pthread_join(agent, NULL);
    end_recording(&w);
    atomic_store(&w.is_ending, true);
    pthread_join(drainer, NULL);
    CHECK("rings were drained meanwhile", w.drained && drain_once(&w));
    CHECK("the trace closes", trace_writer_close(w.writer, ticks_now(), &err) == 0);
    CHECK("and can be read", read_trace(&w, &t));
    uint64_t n = atomic_load(&n_recorded[number]);
    /* A thread that was in the middle of an entry's probe may have written it after the last look. */
    CHECK("what was recorded is there", t.n_enters > 0 && t.n_enters <= n && t.n_enters + N_CALLERS >= n);
    CHECK_NUMBER("well nested", t.n_unnested, 0);
    CHECK("with exits", t.n_exits > 0 && t.n_exits <= t.n_enters);
    printf("# session %u: %" PRIu64 " calls recorded\n", number, n);
    close_world(&w);
}

int main(void)
{
    pthread_t callers[N_CALLERS], loaders[N_LOADERS];
    for (uint32_t i = 0; i < N_CLASSES; i++)
        snprintf(class_names[i], sizeof class_names[i], "a/C%u", i);
    unmounted_begin();
    bool ok = true;
    for (uintptr_t i = 0; i < N_CALLERS; i++)
        ok = pthread_create(&callers[i], NULL, run_caller, (void *)(i + 1)) == 0 && ok;
    for (uintptr_t i = 0; i < N_LOADERS; i++)
        ok = pthread_create(&loaders[i], NULL, run_loader, (void *)(i + 11)) == 0 && ok;
    CHECK("threads start", ok);
    for (uint32_t number = 1; ok && number <= N_SESSIONS; number++)
        test_session(number);
    atomic_store(&is_over, true);
    for (int i = 0; ok && i < N_CALLERS; i++)
        pthread_join(callers[i], NULL);
    for (int i = 0; ok && i < N_LOADERS; i++)
        pthread_join(loaders[i], NULL);
    CHECK("threads came and went", atomic_load(&n_lives) > N_CALLERS);
    return tap_done();
}
