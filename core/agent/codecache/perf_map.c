/*
 * /tmp/perf-PID.map, by which perf finds names for the code that the JVM makes: compiled methods, the interpreter,
 * stubs.
 *
 * What there is when a session begins is written by the agent's thread, in pieces of 64 KB (450 lines: 0.4 ms); what
 * comes later by the thread that tells of it, a line at a time (1 us, of a hundred times 4 us once, of 20,000 never
 * over 0.15 ms): for compiled methods one of HotSpot's own, after the compilation, for stubs the thread that needs one.
 */
#include "core/agent/codecache/code_out.h"

#include "core/base/ticks.h"
#include "core/agent/codecache/perf_file.h"
#include "core/agent/control/jvmti_env.h"
#include "core/agent/control/method_names.h"

#include <pthread.h>
#include <stdatomic.h>

static struct perf_map_state *const state = &codecache.perf;

/* The agent asks what there is: the events come in its own thread, and the file is written in pieces. */
static _Thread_local bool asking;

/* ---- lines ---- */

/* No more lines; the recorder hears why.  With the lock. */
static void give_up(const struct err *err)
{
    atomic_store(&state->active, false);
    perf_file_close(&state->file);
    control_send_text(state->control, WIRE_PERF_MAP_FAILED, err->text);
}

static void add_symbol(const void *start, jint n_bytes, const char *name)
{
    struct err err;
    if (n_bytes <= 0)
        return;
    pthread_mutex_lock(&state->lock);
    if (atomic_load(&state->active) &&
        (perf_file_add(&state->file, (uint64_t)(uintptr_t)start, (uint64_t)n_bytes, name, &err) < 0 ||
         (!asking && perf_file_flush(&state->file, &err) < 0)))
        give_up(&err);
    pthread_mutex_unlock(&state->lock);
}

/*
 * "Ljava/lang/String;::hashCode", as other tools write it: those that draw perf's stacks know Java by it.  Returns
 * whether there is such a method any more.
 */
static bool name_method(jvmtiEnv *jvmti, jmethodID method, char *text, size_t n)
{
    JNIEnv *jni;
    struct method_names names;
    if ((*state->env.vm)->GetEnv(state->env.vm, (void **)&jni, JNI_VERSION_1_8) != JNI_OK)
        return false;
    bool is_named = method_names_get(jvmti, method, &names);
    if (is_named)
        snprintf(text, n, "%s::%s", names.signature, names.name);
    method_names_free(jvmti, jni, &names);
    return is_named;
}

static void JNICALL on_compiled(jvmtiEnv *jvmti, jmethodID method, jint n_bytes, const void *code, jint n_map,
                                const jvmtiAddrLocationMap *map, const void *compile_info)
{
    char name[PERF_FILE_LINE_BYTES];
    (void)n_map, (void)map, (void)compile_info;
    if (atomic_load(&state->active) && name_method(jvmti, method, name, sizeof name))
        add_symbol(code, n_bytes, name);
}

static void JNICALL on_generated(jvmtiEnv *jvmti, const char *name, const void *code, jint n_bytes)
{
    (void)jvmti;
    if (atomic_load(&state->active))
        add_symbol(code, n_bytes, name);
}

/* ---- the session ---- */

static const jvmtiEvent events[] = { JVMTI_EVENT_DYNAMIC_CODE_GENERATED, JVMTI_EVENT_COMPILED_METHOD_LOAD };

#define N_EVENTS (sizeof events / sizeof *events)

static int make_env(JNIEnv *jni, struct err *err)
{
    static const jvmtiCapabilities nothing_else = { 0 };
    static const jvmtiEventCallbacks callbacks = { .CompiledMethodLoad = on_compiled,
                                                   .DynamicCodeGenerated = on_generated };
    return events_env_make(&state->env, jni, &nothing_else, &callbacks, err);
}

static int begin(JNIEnv *jni, struct err *err)
{
    char path[PERF_FILE_PATH_BYTES];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid()); /* where perf looks, with the target's own pid */
    if (make_env(jni, err) < 0 || perf_file_open(&state->file, path, err) < 0)
        return -1;
    atomic_store(&state->active, true);
    if (jvmti_env_switch(state->env.jvmti, JVMTI_ENABLE, events, N_EVENTS) == 0)
        return 0;
    return err_set(err, "the JVM does not report what it compiles (JVMTI)");
}

static void write_present(void)
{
    char text[sizeof state->file.path + 80];
    struct err err;
    double start_ms = clock_ms(CLOCK_MONOTONIC);
    asking = true;
    for (size_t i = 0; i < N_EVENTS; i++)
        (*state->env.jvmti)->GenerateEvents(state->env.jvmti, events[i]);
    asking = false;
    pthread_mutex_lock(&state->lock);
    if (atomic_load(&state->active) && perf_file_flush(&state->file, &err) < 0)
        give_up(&err);
    snprintf(text, sizeof text, "%s, with %u lines after %.1f ms", state->file.path, state->file.n_lines,
             clock_ms(CLOCK_MONOTONIC) - start_ms);
    if (atomic_load(&state->active))
        control_send_text(state->control, WIRE_PERF_MAP, text);
    pthread_mutex_unlock(&state->lock);
}

void perf_map_start(JNIEnv *jni, const struct control *control)
{
    struct err err;
    state->file.fd = -1;
    state->control = control; /* nobody else is here while it is not active */
    if (begin(jni, &err) == 0) {
        write_present();
        return;
    }
    pthread_mutex_lock(&state->lock);
    give_up(&err);
    pthread_mutex_unlock(&state->lock);
}

void perf_map_stop(void)
{
    if (state->env.jvmti == NULL)
        return;
    jvmti_env_switch(state->env.jvmti, JVMTI_DISABLE, events, N_EVENTS);
    pthread_mutex_lock(&state->lock);
    atomic_store(&state->active, false);
    perf_file_close(&state->file);
    pthread_mutex_unlock(&state->lock);
}
