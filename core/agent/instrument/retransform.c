/*
 * Passes over the loaded classes: those in which something is to change are shown to the hook again, in batches.
 *
 * RetransformClasses does most of its work while the application runs; then it stops the application, changes all
 * classes of the batch and throws away the compiled code that depends on them.  A class in which nothing changes would
 * cost as much as one in which something does, and leave memory behind: it is never named.
 */
#include "core/agent/instrument/retransform.h"

#include "core/agent/control/method_ids.h"
#include "core/wire/batch.h"
#include "core/agent/instrument/class_check.h"
#include "core/agent/instrument/instrument_state.h"
#include "core/agent/instrument/classes.h"
#include "core/agent/instrument/methods.h"
#include "core/agent/rewrite/classfile.h"
#include "core/base/ticks.h"

#include <sys/mman.h>

enum purpose { FIRST, CHANGED, LAST };

struct work {
    jvmtiEnv *jvmti;
    JNIEnv *jni;
    const struct control *control;
    const _Atomic bool *stopping; /* or NULL: the control says so */
    enum purpose purpose;
    bool names_classes; /* the classes that are wanted */
    struct retransform_pass *pass;
    struct class_batch *batch;
    const struct hash_set *active; /* classes that may not change now, or NULL */
};

/* ---- which classes ---- */

static bool has_loop(const uint8_t *code, size_t n)
{
    struct span span = { code, n };
    for (size_t at = 0, length; at < n && (length = bytecode_length(span, at)) > 0; at += length) {
        struct bytecode_targets targets = bytecode_targets(span, at);
        for (uint32_t i = 0; i < targets.n; i++)
            if (bytecode_target(span, at, &targets, i) <= (int64_t)at)
                return true;
    }
    return false;
}

static bool wants_method(jvmtiEnv *jvmti, struct wire_text class_name, jmethodID id)
{
    char *name = NULL, *descriptor = NULL;
    unsigned char *code = NULL;
    jint n_code = 0;
    bool wanted = false;
    if ((*jvmti)->GetMethodName(jvmti, id, &name, &descriptor, NULL) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetBytecodes(jvmti, id, &n_code, &code) == JVMTI_ERROR_NONE && n_code > 0) {
        struct protocol_method method = { .class_name = class_name,
                                          .name = wire_text(name),
                                          .descriptor = wire_text(descriptor),
                                          .code_bytes = (uint32_t)n_code,
                                          .has_loop = has_loop(code, (size_t)n_code) };
        wanted = methods_want(&method);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)descriptor);
    (*jvmti)->Deallocate(jvmti, code);
    return wanted;
}

static bool wants_a_method(jvmtiEnv *jvmti, jclass class_ref, struct wire_text class_name)
{
    jmethodID *methods = NULL;
    jint n = 0;
    bool wanted = false;
    if ((*jvmti)->GetClassMethods(jvmti, class_ref, &n, &methods) != JVMTI_ERROR_NONE)
        return false;
    for (jint i = 0; i < n && !wanted; i++)
        wanted = wants_method(jvmti, class_name, methods[i]);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
    return wanted;
}

/* A class that is not linked yet would be linked now: earlier than the program asks for. */
static bool may_change(jvmtiEnv *jvmti, jclass class_ref, bool linked_only)
{
    jboolean modifiable = JNI_FALSE;
    jint status = 0;
    return (*jvmti)->IsModifiableClass(jvmti, class_ref, &modifiable) == JVMTI_ERROR_NONE && modifiable &&
           (*jvmti)->GetClassStatus(jvmti, class_ref, &status) == JVMTI_ERROR_NONE &&
           (status & JVMTI_CLASS_STATUS_ERROR) == 0 && (!linked_only || (status & JVMTI_CLASS_STATUS_PREPARED) != 0);
}

static bool is_event(const struct work *work, jclass class_ref, struct wire_text name)
{
    bool is = event_class_is(work->jvmti, work->jni, class_ref);
    if (is)
        instrument_left_event(name.at, name.n);
    return is;
}

static bool has_way(const struct work *work, jclass class_ref, struct wire_text name)
{
    struct loaders_class about = { NULL, name, { NULL, 0 } };
    bool has = (*work->jvmti)->GetClassLoader(work->jvmti, class_ref, &about.loader) == JVMTI_ERROR_NONE &&
               loaders_way(work->jvmti, work->jni, &about) != LOADERS_NONE;
    (*work->jni)->DeleteLocalRef(work->jni, about.loader);
    if (!has)
        instrument_count(SEGMENT_LEFT_LOADERS, 1);
    return has;
}

static bool may_be_retained(const struct work *work, jclass class_ref)
{
    enum segment_count refusal = retained_refusal(work->jvmti, class_ref, work->names_classes);
    if (refusal != SEGMENT_N_COUNTS)
        instrument_count(refusal, 1);
    return refusal == SEGMENT_N_COUNTS;
}

static bool is_wanted(const struct work *work, jclass class_ref, struct wire_text name)
{
    bool has_probes = instrument_has_probes(name.at, name.n);
    if (work->purpose == LAST && has_probes && event_class_is(work->jvmti, work->jni, class_ref)) {
        instrument_count(SEGMENT_FAILED, 1); /* not seen when it was loaded: its probes stay, switched off */
        return false;
    }
    if (work->purpose == LAST)
        return has_probes && may_change(work->jvmti, class_ref, false);
    bool named = work->purpose == FIRST ? methods_want_class(name.at, name.n) : methods_changed_class(name.at, name.n);
    if (named && work->active != NULL && active_loops_include(work->active, name.at, name.n))
        return false;
    return named && may_change(work->jvmti, class_ref, true) &&
           (has_probes || wants_a_method(work->jvmti, class_ref, name)) && !is_event(work, class_ref, name) &&
           has_way(work, class_ref, name) && (has_probes || may_be_retained(work, class_ref));
}

/* Is the next thing to change it?  Its probes and its breakpoints are looked at in the last moment. */
static bool may_change_now(const struct work *work, jclass class_ref, struct wire_text name)
{
    bool is_last = work->purpose == LAST, has_no_room = is_last && instrument_changes() == SEGMENT_CHANGES_NONE;
    if (has_no_room || breakpoints_are_in(class_ref, name)) {
        instrument_count(has_no_room ? SEGMENT_KEPT_MEMORY
                         : is_last   ? SEGMENT_KEPT_BREAKPOINTS
                                     : SEGMENT_LEFT_BREAKPOINTS,
                         1);
        if (is_last)
            instrument_keeps_probes(name.at, name.n);
        return false;
    }
    if (work->purpose == CHANGED)
        instrument_loses_probes(name.at, name.n);
    return true;
}

typedef bool check_fn(const struct work *work, jclass class_ref, struct wire_text name);

static bool check_named(const struct work *work, jclass class_ref, check_fn *check)
{
    char *signature = NULL;
    if ((*work->jvmti)->GetClassSignature(work->jvmti, class_ref, &signature, NULL) != JVMTI_ERROR_NONE)
        return false;
    size_t n = signature == NULL ? 0 : strlen(signature);
    bool holds = n > 2 && signature[0] == 'L' && check(work, class_ref, (struct wire_text){ signature + 1, n - 2 });
    (*work->jvmti)->Deallocate(work->jvmti, (unsigned char *)signature);
    return holds;
}

static bool is_candidate(const struct work *work, jclass class_ref)
{
    return check_named(work, class_ref, is_wanted);
}

/* ---- batches ---- */

/*
 * The application's stop lies between the last class that the hook was shown and the end of RetransformClasses; the
 * JVM checks and links that class first, so it is shorter, by some 0.1 ms.
 *
 * start, end  of the call, which took ms, in ticks; for waited_ms of it the change was put off.  Returns the stop in
 * ms.
 */
static double tell_pause(const struct work *work, uint64_t start, uint64_t end, double ms, double waited_ms,
                         jint n_classes)
{
    uint64_t shown = instrument_latest_ticks(), since = shown > start && shown < end ? shown : start;
    double pause_ms = end == start ? ms : ms * (double)(end - since) / (double)(end - start);
    if (pause_ms > work->pass->longest_pause_ms)
        work->pass->longest_pause_ms = pause_ms;
    control_send(work->control, &(struct wire_message){ .kind = WIRE_PAUSE,
                                                        .ticks = since,
                                                        .pause_ns = (uint64_t)(pause_ms * 1e6),
                                                        .n_classes = (uint32_t)n_classes,
                                                        .call_ms = ms - waited_ms });
    return pause_ms;
}

static bool is_to_stop(const struct work *work)
{
    if (work->purpose == LAST)
        return false;
    return work->stopping != NULL ? atomic_load(work->stopping) : control_has_stop(work->control);
}

static uint32_t whole_ms(double ms)
{
    return ms <= 0 ? 0 : (uint32_t)ms;
}

static bool is_over(const void *context)
{
    return is_to_stop(context);
}

static void swap(jclass *a, jclass *b)
{
    jclass other = *a;
    *a = *b;
    *b = other;
}

/* Moves the classes that may be changed to the front.  Returns how many these are. */
static jint keep_changeable(const struct work *work, jclass *classes, jint n)
{
    jint n_kept = 0;
    for (jint i = 0; i < n; i++)
        if (check_named(work, classes[i], may_change_now))
            swap(&classes[n_kept++], &classes[i]);
    return n_kept;
}

/*
 * The application's stop counts twice as much on a busy machine if the JVM's thread, or ours behind it, has to wait.
 * Returns the JVM's answer: of *n classes at most, *n of them now.
 */
static jvmtiError call(const struct work *work, jclass *classes, jint *n, struct priority_boost *boost)
{
    *boost = (struct priority_boost){ .wait_ms = work->purpose == LAST ? 0 : whole_ms(work->batch->wait_ms),
                                      .is_over = is_over,
                                      .context = work };
    priority_boost_begin(boost, (uint32_t)*n); /* may wait for seconds, in which stacks are asked for */
    *n = keep_changeable(work, classes, *n);
    method_ids_block(work->jvmti);
    jvmtiError error = *n == 0 ? JVMTI_ERROR_NONE : (*work->jvmti)->RetransformClasses(work->jvmti, *n, classes);
    method_ids_make(work->jvmti, work->jni);
    priority_boost_end(boost);
    method_ids_unblock();
    (*work->jni)->ExceptionClear(work->jni);
    return error;
}

/* For whoever inspects the process, now and later: a page that is named in its maps. */
static void mark_changed(void)
{
    if (instrumenting.changed_page != NULL && instrumenting.changed_page != MAP_FAILED)
        return;
    int fd = memfd_create(RING_CHANGED, MFD_CLOEXEC);
    if (fd < 0)
        return;
    /* Where there is no room for it, the next mmprof only says once more what a first change costs. */
    instrumenting.changed_page = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE, fd, 0);
    close(fd);
}

static void rest(const struct work *work, double ms)
{
    const struct timespec time = { 0, (long)(ms < 900 ? ms * 1e6 : 9e8) };
    if (work->purpose != LAST)
        nanosleep(&time, NULL);
}

/* A class that had no probes has none then, though the hook gave it some. */
static void leave_refused(const struct work *work, jclass class_ref, jvmtiError error)
{
    static const char prefix[] = "JVMTI_ERROR_";
    jvmtiEnv *jvmti = work->jvmti;
    char *signature = NULL, *text = NULL;
    work->pass->n_refused++;
    if ((*jvmti)->GetClassSignature(jvmti, class_ref, &signature, NULL) == JVMTI_ERROR_NONE && signature[0] == 'L' &&
        (*jvmti)->GetErrorName(jvmti, error, &text) == JVMTI_ERROR_NONE) {
        const char *why = strncmp(text, prefix, sizeof prefix - 1) == 0 ? text + sizeof prefix - 1 : text;
        struct wire_text name = { signature + 1, strlen(signature) - 2 };
        instrument_leave(SEGMENT_REFUSED, name, why);
        if (work->purpose == FIRST)
            instrument_loses_probes(name.at, name.n);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)text);
}

/* A class that the JVM refuses (its message names none) is found by halving; it stays as it is. */
static void retransform(const struct work *work, jclass *classes, jint n)
{
    struct retransform_pass *pass = work->pass;
    if (n == 0)
        return;
    rest(work, work->batch->rest_ms);
    struct priority_boost boost;
    double start = clock_ms(CLOCK_MONOTONIC);
    uint64_t start_ticks = ticks_now();
    jvmtiError error = call(work, classes, &n, &boost);
    if (n == 0)
        return;
    double took = clock_ms(CLOCK_MONOTONIC) - start;
    double pause_ms = tell_pause(work, start_ticks, ticks_now(), took, boost.waited_ms, n);
    took -= boost.waited_ms;
    work->batch->wait_ms -= boost.waited_ms;
    pass->cpu_ms += boost.vm_thread == 0 ? pause_ms : boost.vm_ms;
    pass->n_batches++;
    if (took > pass->longest_batch_ms)
        pass->longest_batch_ms = took;
    batch_learn(work->batch, (uint32_t)n, took, pause_ms);
    if (error == JVMTI_ERROR_NONE) {
        pass->n_classes += (uint32_t)n;
        mark_changed();
    }
    if (error == JVMTI_ERROR_NONE || error == JVMTI_ERROR_WRONG_PHASE)
        return;
    if (n == 1) {
        leave_refused(work, classes[0], error);
        return;
    }
    retransform(work, classes, n / 2);
    retransform(work, classes + n / 2, n - n / 2);
}

/* The classes of the JDK itself: those of the application come first, for who is not patient enough for all. */
static bool is_of_jdk(const struct work *work, jclass class_ref)
{
    jobject loader = NULL;
    if ((*work->jvmti)->GetClassLoader(work->jvmti, class_ref, &loader) != JVMTI_ERROR_NONE || loader == NULL)
        return true;
    (*work->jni)->DeleteLocalRef(work->jni, loader);
    return false;
}

/* Moves the classes that are wanted to the front.  Returns how many these are. */
static jint choose_first(const struct work *work, jclass *classes, jint n)
{
    jint n_chosen = 0, n_own = 0;
    for (jint i = 0; i < n && !is_to_stop(work); i++)
        if (is_candidate(work, classes[i]))
            swap(&classes[n_chosen++], &classes[i]);
    for (jint i = 0; i < n_chosen; i++)
        if (!is_of_jdk(work, classes[i]))
            swap(&classes[n_own++], &classes[i]);
    control_send(work->control, &(struct wire_message){ .kind = WIRE_CHANGING, .n_classes = (uint32_t)n_chosen });
    return n_chosen;
}

static bool is_enough(const struct work *work)
{
    return work->purpose == FIRST && instrument_changes() != SEGMENT_CHANGES_ALL;
}

static void change(const struct work *work, jclass *classes, jint n)
{
    jclass batch[BATCH_MAX];
    jint n_batch = 0, n_chosen = work->purpose == FIRST ? choose_first(work, classes, n) : 0;
    jint n_examined = work->purpose == FIRST ? n_chosen : n;
    for (jint i = 0; i < n_examined; i++) {
        if (i < n_chosen || is_candidate(work, classes[i]))
            batch[n_batch++] = classes[i];
        if (n_batch != (jint)work->batch->n_classes && i + 1 != n_examined)
            continue;
        retransform(work, batch, n_batch);
        n_batch = 0;
        if (is_enough(work))
            instrument_count(SEGMENT_LEFT_LATE, (uint32_t)(n_examined - i - 1));
        if (is_to_stop(work) || is_enough(work))
            return;
    }
}

static int run(const struct work *work)
{
    jvmtiEnv *jvmti = work->jvmti;
    jint n = 0;
    jclass *classes = NULL;
    double start = clock_ms(CLOCK_MONOTONIC), cpu_start = clock_ms(CLOCK_THREAD_CPUTIME_ID);
    memset(work->pass, 0, sizeof *work->pass);
    if ((*jvmti)->GetLoadedClasses(jvmti, &n, &classes) != JVMTI_ERROR_NONE)
        return -1;
    change(work, classes, n);
    for (jint i = 0; i < n; i++)
        (*work->jni)->DeleteLocalRef(work->jni, classes[i]);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
    work->pass->total_ms = clock_ms(CLOCK_MONOTONIC) - start;
    work->pass->cpu_ms += clock_ms(CLOCK_THREAD_CPUTIME_ID) - cpu_start;
    return 0;
}

/* ---- passes ---- */

static int listen(jvmtiEnv *jvmti)
{
    if (class_archive_option() != NULL)
        return -1; /* the recorder was told: it does not ask for it */
    jvmtiError error = (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
    return error == JVMTI_ERROR_NONE ? 0 : -1;
}

/* Where nothing gets probes yet: do the patterns match any class?  To ask for methods would make an id of each. */
static void compare_names(const struct work *work)
{
    jvmtiEnv *jvmti = work->jvmti;
    jint n = 0;
    jclass *classes = NULL;
    if ((*jvmti)->GetLoadedClasses(jvmti, &n, &classes) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < n; i++) {
        char *signature = NULL;
        if ((*jvmti)->GetClassSignature(jvmti, classes[i], &signature, NULL) == JVMTI_ERROR_NONE && signature[0] == 'L')
            methods_may_want_class(signature + 1, strlen(signature) - 2);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
        (*work->jni)->DeleteLocalRef(work->jni, classes[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
}

int retransform_first(jvmtiEnv *jvmti, JNIEnv *jni, const struct control *control, bool names_classes,
                      struct retransform_pass *pass, struct err *err)
{
    struct class_batch batch = BATCH_START;
    const struct work work = { jvmti, jni, control, NULL, FIRST, names_classes, pass, &batch, NULL };
    memset(pass, 0, sizeof *pass);
    if (methods_are_chosen_later() && names_classes)
        compare_names(&work);
    if (!methods_want_any())
        return 0; /* the hook costs each class that is loaded its bytes from the archive */
    if (listen(jvmti) < 0 || run(&work) < 0)
        return err_set(err, "the JVM does not let its classes be instrumented");
    return 0;
}

/* A hook that asked before may choose methods as they were before. */
static void wait_for_hooks(void)
{
    const struct timespec pause = { 0, 1000000 };
    while (!instrument_is_idle())
        nanosleep(&pause, NULL);
}

int retransform_changed(jvmtiEnv *jvmti, JNIEnv *jni, const struct control *control, const _Atomic bool *stopping,
                        const struct agent_config *phases, struct retransform_pass *pass, struct err *err)
{
    struct class_batch batch = BATCH_START;
    struct hash_set active;
    batch.wait_ms = BATCH_WAIT_BESIDE_MS;
    const struct work work = { jvmti, jni, control, stopping, CHANGED, true, pass, &batch, &active };
    wait_for_hooks();
    active_loops_wait(jvmti, jni, stopping, &active);
    int rc = listen(jvmti) < 0 || run(&work) < 0 ? err_set(err, "the JVM does not let its classes be instrumented") : 0;
    for (size_t i = 0; phases != NULL && i < phases->n_phases; i++)
        if (active_loops_include(&active, phases->phases[i].class_name, strlen(phases->phases[i].class_name)))
            methods_defer(&phases->phases[i]);
    hash_free(&active);
    return rc;
}

static uint32_t n_kept(void)
{
    return instrument_counted(SEGMENT_FAILED) + instrument_counted(SEGMENT_KEPT_BREAKPOINTS) +
           instrument_counted(SEGMENT_KEPT_MEMORY);
}

void retransform_last(jvmtiEnv *jvmti, JNIEnv *jni, const struct control *control, struct retransform_pass *pass)
{
    struct class_batch batch = BATCH_START;
    const struct work work = { jvmti, jni, control, NULL, LAST, false, pass, &batch, NULL };
    wait_for_hooks();
    uint32_t n_left = n_kept();
    memset(pass, 0, sizeof *pass);
    if (instrument_had_probes()) /* else the names of all classes would be looked at for nothing */
        run(&work);
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
    instrument_end();
    if (pass->n_refused == 0 && n_kept() == n_left)
        methods_forget_ids();
}
