/*
 * What code the JVM has: compiled methods with the lines that each piece of their code is from, the interpreter, stubs;
 * for the recorder, which knows only the addresses at which threads are.
 *
 * HotSpot posts compiled methods from a thread of its own, after the compilation: no thread of the application waits
 * for it.  Stubs are told by the thread that needs one.  While the event is on, compilers keep more debug information
 * (DebugNonSafepoints), in code compiled from then on.
 */
#include "core/agent/codecache/code_out.h"

#include "core/agent/codecache/code_check.h"
#include "core/agent/codecache/compiling.h"
#include "core/agent/control/jvmti_env.h"
#include "core/agent/control/method_names.h"
#include "core/base/hash.h"
#include "core/base/ticks.h"
#include "core/agent/codecache/own_vm.h"
#include "core/hotspot/nmethod.h"
#include "core/hotspot/vm_methods.h"
#include "core/hotspot/vm.h"
#include "core/wire/code_log.h"

#include <jvmticmlr.h>

#define NO_NUMBER UINT32_MAX

static struct code_events_state *const state = &codecache.events;

static _Thread_local struct {
    bool asking; /* the agent asks what there is: the events come in its own thread, and are written in large pieces */
    /*
     * A thread of the JVM's that tells of code does little else: two thirds of its CPU time are the JVM's own work for
     * the next event.  Its CPU time at the end of the last one, and in which session that was.
     */
    uint64_t told_ns;
    uint32_t told_in;
} own;

/* ---- methods ---- */

static uint32_t take_lines(jvmtiEnv *jvmti, jmethodID method)
{
    jvmtiLineNumberEntry *table = NULL;
    jint n = 0;
    uint32_t n_lines = 0;
    if ((*jvmti)->GetLineNumberTable(jvmti, method, &n, &table) != JVMTI_ERROR_NONE)
        return 0;
    for (jint i = 0; i < n && n_lines < CODE_LINES_MAX; i++)
        if (table[i].start_location >= 0 && table[i].line_number >= 0)
            state->lines[n_lines++] =
                (struct code_line){ (uint32_t)table[i].start_location, (uint32_t)table[i].line_number };
    (*jvmti)->Deallocate(jvmti, (unsigned char *)table);
    return n_lines;
}

static void describe(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method, uint32_t number)
{
    struct method_names names;
    char *source = NULL;
    if (method_names_get(jvmti, method, &names)) {
        struct code_entry entry = { .kind = CODE_METHOD,
                                    .method = number,
                                    .class_name = names.class_name,
                                    .name = wire_text(names.name),
                                    .descriptor = wire_text(names.descriptor),
                                    .n_lines = take_lines(jvmti, method),
                                    .lines = state->lines };
        if ((*jvmti)->GetSourceFileName(jvmti, names.class_ref, &source) == JVMTI_ERROR_NONE)
            entry.source = wire_text(source);
        method_names_take_calls(names.class_ref, source, state->lines, entry.n_lines);
        code_out_put(&entry);
        code_check_method(&entry);
    }
    method_names_free(jvmti, jni, &names);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)source);
}

/* A method's number, described when it is new; NO_NUMBER: there is no room. */
static uint32_t number_of(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method)
{
    uint64_t key = method_names_id_key(method);
    struct hash_slot *slot = state->n_numbers + 1 < CODE_NUMBERS_MAX ? hash_put(&state->numbers, key) : NULL;
    if (slot == NULL)
        return NO_NUMBER;
    if (slot->value == 0) {
        slot->value = ++state->n_numbers;
        describe(jvmti, jni, method, state->n_numbers - 1);
        return state->n_numbers - 1;
    }
    return slot->value - 1;
}

/* ---- compiled code ---- */

/* The frames of a point, from the outermost on; of more than there may be, the innermost. */
static uint32_t take_frames(jvmtiEnv *jvmti, JNIEnv *jni, const PCStackInfo *info, struct code_frame *frames)
{
    jint n = info->numstackframes < (jint)CODE_FRAMES_MAX ? info->numstackframes : (jint)CODE_FRAMES_MAX;
    for (jint i = 0; i < n; i++) {
        uint32_t number = number_of(jvmti, jni, info->methods[n - 1 - i]);
        if (number == NO_NUMBER)
            return 0;
        frames[i] = (struct code_frame){ number, info->bcis[n - 1 - i] };
    }
    return n < 0 ? 0 : (uint32_t)n;
}

static void take_points(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiCompiledMethodLoadInlineRecord *record,
                        const char *code, jint n_bytes, struct sink *s)
{
    struct code_frame frames[2][CODE_FRAMES_MAX];
    uint32_t n_before = 0;
    uint64_t before = 0;
    unsigned now = 0;
    for (jint i = 0; i < record->numpcs; i++) {
        const PCStackInfo *info = &record->pcinfo[i];
        uint64_t end = (uint64_t)((const char *)info->pc - code);
        if (end < before || end > (uint64_t)n_bytes)
            continue;
        uint32_t n = take_frames(jvmti, jni, info, frames[now]);
        struct sink last = *s;
        code_log_put_point(s, end - before, frames[now], n, frames[1 - now], n_before);
        if (s->full) {
            *s = last;
            return;
        }
        before = end;
        n_before = n;
        now = 1 - now;
    }
}

/*
 * What the JVM compiles while nobody listens to its compilers, it knows at calls and loops only, unless it was started
 * with -XX:+DebugNonSafepoints.  Code at the address of such code may be newer: then less is said than is known.
 */
static bool is_coarse(const void *code)
{
    uint64_t key = hash_address((uint64_t)(uintptr_t)code);
    if (!own.asking || state->has_all_points)
        return false;
    if (!state->knows_coarse)
        hash_put(&state->coarse, key);
    return !state->knows_coarse || hash_get(&state->coarse, key) != NULL;
}

/* The tier of the compiled method at an address, which is in use now; 0: not known. */
static uint32_t tier_of(const void *code)
{
    uint64_t blob = code_heaps_find(own_vm(), (uint64_t)(uintptr_t)code);
    uint32_t tier = blob == 0 ? VM_TIER_UNKNOWN : vm_code_tier(own_vm(), blob);
    return tier == VM_TIER_UNKNOWN ? 0 : tier;
}

static struct code_entry log_compiled(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method, const void *code, jint n_bytes,
                                      const jvmtiCompiledMethodLoadRecordHeader *header)
{
    struct sink s = sink_into(state->points, sizeof state->points - 256);
    for (; header != NULL; header = header->next)
        if (header->kind == JVMTI_CMLR_INLINE_INFO && header->majorinfoversion == JVMTI_CMLR_MAJOR_VERSION_1) {
            take_points(jvmti, jni, (const void *)header, code, n_bytes, &s);
            break;
        }
    struct code_entry entry = { .kind = CODE_COMPILED,
                                .ticks = ticks_now(),
                                .address = (uint64_t)(uintptr_t)code,
                                .n_bytes = (uint64_t)n_bytes,
                                .method = number_of(jvmti, jni, method),
                                .tier = tier_of(code),
                                .is_coarse = is_coarse(code),
                                .spent_ns = state->spent_ns,
                                .points = state->points,
                                .n_points_bytes = (size_t)(s.at - state->points) };
    if (!own.asking)
        compiling_note(entry.tier);
    state->spent_ns = 0;
    if (entry.method != NO_NUMBER)
        code_out_put(&entry);
    return entry;
}

/* With the lock. */
static void count_cost(uint64_t start_ns, uint64_t end_ns)
{
    state->spent_ns += end_ns - (own.told_in == state->n_sessions ? own.told_ns : start_ns);
    own.told_ns = end_ns;
    own.told_in = state->n_sessions;
}

static void JNICALL on_compiled(jvmtiEnv *jvmti, jmethodID method, jint n_bytes, const void *code, jint n_map,
                                const jvmtiAddrLocationMap *map, const void *compile_info)
{
    JNIEnv *jni;
    (void)n_map, (void)map;
    if (!code_out_is_open() || n_bytes <= 0 ||
        (*state->env.vm)->GetEnv(state->env.vm, (void **)&jni, JNI_VERSION_1_8) != JNI_OK)
        return;
    uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    code_out_lock();
    if (code_out_is_open()) {
        struct code_entry entry = log_compiled(jvmti, jni, method, code, n_bytes, compile_info);
        if (!own.asking)
            code_out_flush();
        uint64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        if (!own.asking)
            count_cost(start_ns, end_ns);
        code_check_compiled(&entry, end_ns - start_ns);
    }
    code_out_unlock();
}

static void log_piece(const struct code_entry *entry)
{
    code_out_lock();
    if (code_out_is_open()) {
        code_out_put(entry);
        if (!own.asking)
            code_out_flush();
    }
    code_out_unlock();
}

/* The method may be gone with its class. */
static void JNICALL on_discarded(jvmtiEnv *jvmti, jmethodID method, const void *code)
{
    (void)jvmti, (void)method;
    if (code_out_is_open())
        log_piece(
            &(struct code_entry){ .kind = CODE_DISCARDED, .ticks = ticks_now(), .address = (uint64_t)(uintptr_t)code });
}

static void JNICALL on_generated(jvmtiEnv *jvmti, const char *name, const void *code, jint n_bytes)
{
    (void)jvmti;
    if (code_out_is_open() && n_bytes > 0)
        log_piece(&(struct code_entry){ .kind = CODE_OTHER,
                                        .ticks = ticks_now(),
                                        .address = (uint64_t)(uintptr_t)code,
                                        .n_bytes = (uint64_t)n_bytes,
                                        .name = wire_text(name) });
}

static void stop_checking(void)
{
    code_out_lock();
    code_check_stop();
    code_out_unlock();
}

/* Only where there is something to be checked. */
static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    (void)jvmti, (void)jni;
    stop_checking();
}

/* ---- the session ---- */

static const jvmtiEvent events[] = { JVMTI_EVENT_DYNAMIC_CODE_GENERATED, JVMTI_EVENT_COMPILED_METHOD_LOAD,
                                     JVMTI_EVENT_COMPILED_METHOD_UNLOAD };

#define N_EVENTS (sizeof events / sizeof *events)

static int make_env(JNIEnv *jni, struct err *err)
{
    static const jvmtiCapabilities wanted = { .can_get_line_numbers = 1, .can_get_source_file_name = 1 };
    static const jvmtiEventCallbacks callbacks = { .CompiledMethodLoad = on_compiled,
                                                   .CompiledMethodUnload = on_discarded,
                                                   .DynamicCodeGenerated = on_generated,
                                                   .VMDeath = on_vm_death };
    return events_env_make(&state->env, jni, &wanted, &callbacks, err);
}

int code_events_start(JNIEnv *jni, int fd, bool only_generated, struct err *err)
{
    size_t n_events = only_generated ? 1 : N_EVENTS;
    if (make_env(jni, err) < 0)
        return -1;
    bool has_all_points = vm_flag_is_asked_for(own_vm(), "DebugNonSafepoints");
    code_out_lock();
    state->has_all_points = has_all_points;
    state->spent_ns = 0;
    state->n_sessions++;
    state->n_numbers = 0;
    hash_free(&state->numbers);
    code_check_start();
    code_out_open(fd);
    code_out_unlock();
    if (code_check_is_on())
        (*state->env.jvmti)->SetEventNotificationMode(state->env.jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
    if (jvmti_env_switch(state->env.jvmti, JVMTI_ENABLE, events, n_events) < 0) {
        code_events_stop();
        return err_set(err, "the JVM does not report what it compiles (JVMTI)");
    }
    own.asking = true;
    (*state->env.jvmti)->GenerateEvents(state->env.jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
    if (!only_generated)
        (*state->env.jvmti)->GenerateEvents(state->env.jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD);
    own.asking = false;
    code_out_lock();
    state->knows_coarse = state->knows_coarse || !only_generated;
    code_out_flush();
    code_out_unlock();
    return 0;
}

void code_events_stop(void)
{
    if (state->env.jvmti == NULL)
        return;
    jvmti_env_switch(state->env.jvmti, JVMTI_DISABLE, events, N_EVENTS);
    code_out_lock();
    code_out_close();
    hash_free(&state->numbers);
    code_check_stop();
    code_out_unlock();
}
