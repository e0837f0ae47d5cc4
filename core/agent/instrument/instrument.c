/* The class file hook: what it is shown gets probes, whether it is being loaded or retransform.c shows it again. */
#include "core/agent/instrument/instrument_state.h"

#include "core/agent/codecache/compiling.h"
#include "core/agent/instrument/class_check.h"
#include "core/agent/instrument/classes.h"
#include "core/agent/instrument/methods.h"
#include "core/agent/rewrite/classfile.h"
#include "core/base/hash.h"
#include "core/base/ticks.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* ---- priority ---- */

#define FIRST_OF_ALL (-20)
#define POLL_MS      10 /* between two polls of the compilers, at most */

enum { VM_THREAD, CALLER };

static _Thread_local struct priority_boost *mine; /* between begin and end */

static void raise_thread(struct priority_boost *boost, size_t which, pid_t tid)
{
    errno = 0;
    int niceness = getpriority(PRIO_PROCESS, (id_t)tid);
    if (tid == 0 || errno != 0 || setpriority(PRIO_PROCESS, (id_t)tid, FIRST_OF_ALL) < 0)
        return;
    boost->tids[which] = tid;
    boost->niceness[which] = niceness;
}

/* The kernel's clock of a thread's CPU time: as pthread_getcpuclockid, for threads of which only the number is known.
 */
static double thread_cpu_ms(pid_t tid)
{
    return clock_ms((clockid_t)(~(uint32_t)tid << 3 | 6));
}

void priority_boost_begin(struct priority_boost *boost, uint32_t n_classes)
{
    boost->n_left = n_classes;
    mine = boost;
}

/* In the thread that began; else it does nothing. */
static void priority_boost_class_shown(void)
{
    if (mine == NULL || mine->n_left == 0 || --mine->n_left > 0)
        return;
    mine->waited_ms = compiling_wait((struct compiling_patience){ .limit = mine->wait_ms, .interval = POLL_MS },
                                     mine->is_over, mine->context);
    if (own_threads_find("VM Thread", &mine->vm_thread, 1) > 0)
        mine->vm_ms = -thread_cpu_ms(mine->vm_thread);
    raise_thread(mine, VM_THREAD, mine->vm_thread);
    raise_thread(mine, CALLER, (pid_t)syscall(SYS_gettid));
}

void priority_boost_end(struct priority_boost *boost)
{
    for (size_t i = 0; i < 2; i++)
        if (boost->tids[i] != 0)
            setpriority(PRIO_PROCESS, (id_t)boost->tids[i], boost->niceness[i]);
    if (boost->vm_thread != 0)
        boost->vm_ms += thread_cpu_ms(boost->vm_thread);
    mine = NULL;
}

/* ---- the hook ---- */

/* Flags of a class. */
#define IS_LEFT    1u /* it was counted as left alone */
#define IS_KEPT    2u /* it keeps its probes */
#define IS_UNSURE  4u
#define IS_REFUSED 8u
#define IS_SHARED  16u /* classes of several loaders have its name */

#define LOADER_SHIFT 8u /* behind them the first one's loader, or 0 */

static struct instrument_state *const state = &instrumenting.hook;

/* The counts go to the recorder at once: the target may end at any time.  Called with the lock. */
static void count(enum segment_count which, uint32_t n)
{
    state->counts[which] += n;
    if (state->segment != NULL)
        atomic_store_explicit(&state->segment->counts[which], state->counts[which], memory_order_relaxed);
}

void instrument_count(enum segment_count which, uint32_t n)
{
    pthread_mutex_lock(&state->lock);
    count(which, n);
    pthread_mutex_unlock(&state->lock);
}

uint32_t instrument_counted(enum segment_count which)
{
    pthread_mutex_lock(&state->lock);
    uint32_t n = state->counts[which];
    pthread_mutex_unlock(&state->lock);
    return n;
}

/* The same for a class, once in a session.  Called with the lock.  Returns whether it is the first time. */
static bool count_once(enum segment_count which, struct wire_text name, uint32_t flag)
{
    struct hash_slot *slot = hash_put(&state->classes, hash_text(HASH_START, name.at, name.n));
    if (slot == NULL || (slot->flags & flag) != 0)
        return false;
    slot->flags |= flag;
    count(which, 1);
    return true;
}

static void tell_reason(struct segment_reason *reason, struct wire_text name, const char *why)
{
    if (atomic_load(&reason->is_set) != 0)
        return;
    int n = snprintf(reason->text, sizeof reason->text, "%.*s", (int)(name.n < 160 ? name.n : 160), name.at);
    for (int i = 0; i < n; i++)
        if (reason->text[i] == '/')
            reason->text[i] = '.';
    snprintf(reason->text + n, sizeof reason->text - (size_t)n, ": %s", why);
    atomic_store(&reason->is_set, 1);
}

void instrument_leave(enum segment_count which, struct wire_text name, const char *why)
{
    bool is_unsure = which == SEGMENT_UNSURE;
    pthread_mutex_lock(&state->lock);
    if (count_once(which, name, is_unsure ? IS_UNSURE : IS_REFUSED) && state->segment != NULL)
        tell_reason(is_unsure ? &state->segment->unsure : &state->segment->refused, name, why);
    pthread_mutex_unlock(&state->lock);
}

void instrument_left_event(const char *name, size_t n)
{
    pthread_mutex_lock(&state->lock);
    count_once(SEGMENT_LEFT_EVENTS, (struct wire_text){ name, n }, IS_LEFT);
    pthread_mutex_unlock(&state->lock);
}

/* A class on its way through the hook. */
struct shown {
    jvmtiEnv *jvmti;
    JNIEnv *jni;
    struct loaders_class about;
    bool has_way; /* the next is known */
    enum loaders_way way;
    struct rewrite_policy policy;
};

/* A loader gets no class of ours for one in which no method is wanted. */
static enum loaders_way find_way(struct shown *shown)
{
    if (!shown->has_way) {
        shown->way = loaders_way(shown->jvmti, shown->jni, &shown->about);
        shown->policy.probe_class = shown->way == LOADERS_OWN ? AGENT_OWN_PROBE_CLASS : AGENT_PROBE_CLASS;
        if (shown->way == LOADERS_NONE)
            instrument_count(SEGMENT_LEFT_LOADERS, 1);
    }
    shown->has_way = true;
    return shown->way;
}

static bool choose(void *context, const struct protocol_method *method, struct rewrite_flag *flag)
{
    struct shown *shown = context;
    if (!methods_want(method))
        return false;
    if (event_class_is_base(method->super_name.at, method->super_name.n)) {
        instrument_left_event(method->class_name.at, method->class_name.n);
        return false;
    }
    if (find_way(shown) == LOADERS_NONE)
        return false;
    uint32_t id = methods_choose(method, &flag->argument);
    if (id == 0)
        return false;
    return shown->way == LOADERS_OWN ? loaders_flag(shown->jvmti, shown->jni, &shown->about, id, flag) == 0
                                     : classes_flag(shown->jni, id, flag) == 0;
}

static void skipped(void *context, const struct protocol_method *method, const struct rewrite_flag *flag,
                    enum rewrite_skip why)
{
    static const enum segment_count which[] = { [REWRITE_SKIP_TOO_LARGE] = SEGMENT_TOO_LARGE,
                                                [REWRITE_SKIP_LIMITS] = SEGMENT_LIMITS,
                                                [REWRITE_SKIP_UNUSUAL] = SEGMENT_UNUSUAL };
    (void)context, (void)method, (void)flag;
    instrument_count(which[why], 1);
}

/* Returns the number of methods, or -1; *out is the JVM's to free. */
static int rewrite(struct shown *shown, const unsigned char *bytes, jint n_bytes, unsigned char **out, jint *n_out)
{
    jvmtiEnv *jvmti = shown->jvmti;
    struct err err;
    uint8_t *made = NULL;
    size_t n_made = 0;
    int n = rewrite_class(bytes, (size_t)n_bytes, &shown->policy, &made, &n_made, &err);
    unsigned char *copy = NULL;
    if (n > 0 && (n_made > INT32_MAX || (*jvmti)->Allocate(jvmti, (jlong)n_made, &copy) != JVMTI_ERROR_NONE))
        n = -1;
    if (n > 0) {
        memcpy(copy, made, n_made);
        *out = copy;
        *n_out = (jint)n_made;
    }
    free(made);
    if (n == REWRITE_UNSURE)
        instrument_leave(SEGMENT_UNSURE, shown->about.name, err.text);
    return n == REWRITE_UNSURE ? 0 : n;
}

/* Of a class' loader: never 0, and nearly never that of another one. */
static uint32_t loader_number(const struct shown *shown)
{
    jint hash = 0;
    if (shown->about.loader != NULL)
        (*shown->jvmti)->GetObjectHashCode(shown->jvmti, shown->about.loader, &hash);
    return ((uint32_t)hash << 1 | 1) & (UINT32_MAX >> LOADER_SHIFT);
}

/* Methods go by their names, whatever the loader: that several have a class is for the report to say. */
static void note_loader(struct hash_slot *slot, uint32_t loader)
{
    uint32_t first = slot->flags >> LOADER_SHIFT;
    if (first == 0)
        slot->flags |= loader << LOADER_SHIFT;
    else if (first != loader && (slot->flags & IS_SHARED) == 0) {
        slot->flags |= IS_SHARED;
        count(SEGMENT_SHARED_NAMES, 1);
    }
}

/* Remember what was done, before the JVM sees the new class: a stop from now on will find it. */
static bool remember(const struct shown *shown, const char *name, int n_methods)
{
    uint32_t loader = n_methods > 0 ? loader_number(shown) : 0;
    pthread_mutex_lock(&state->lock);
    struct hash_slot *slot =
        n_methods > 0 ? hash_put(&state->classes, hash_text(HASH_START, name, strlen(name))) : NULL;
    count(SEGMENT_FAILED, n_methods < 0);
    if (slot != NULL) {
        uint32_t n = (uint32_t)n_methods;
        note_loader(slot, loader);
        count(SEGMENT_CLASSES, slot->second == 0);
        count(SEGMENT_METHODS, n > slot->second ? n - slot->second : 0);
        slot->value = n > slot->value ? n : slot->value;
        slot->second = n > slot->second ? n : slot->second;
    }
    pthread_mutex_unlock(&state->lock);
    return slot != NULL;
}

/* Returns whether *out is a class with probes. */
static bool instrument(struct shown *shown, const char *name, const unsigned char *bytes, jint n_bytes, jint *n_out,
                       unsigned char **out)
{
    jvmtiEnv *jvmti = shown->jvmti;
    unsigned char *made = NULL;
    jint n_made = 0;
    if (!remember(shown, name, rewrite(shown, bytes, n_bytes, &made, &n_made))) {
        if (made != NULL)
            (*jvmti)->Deallocate(jvmti, made);
        return false;
    }
    *out = made;
    *n_out = n_made;
    return true;
}

/*
 * HotSpot merges the constants of a class' old and new version, and finds no NaN equal to another: each
 * retransformation doubles them (java.lang.Math passed 65535 in the 11th session, and took a minute).  For a class that
 * an agent changed it keeps the bytes from before, and merges those again: then there are a few more each time.  So
 * such a class is changed, into itself.
 */
static void keep_small(jvmtiEnv *jvmti, const unsigned char *bytes, jint n_bytes, jint *n_out, unsigned char **out)
{
    unsigned char *copy = NULL;
    if (!classfile_has_nan(bytes, (size_t)n_bytes) || (*jvmti)->Allocate(jvmti, n_bytes, &copy) != JVMTI_ERROR_NONE)
        return;
    memcpy(copy, bytes, (size_t)n_bytes);
    *out = copy;
    *n_out = n_bytes;
}

/* A program may define a class without saying its name (ClassLoader.defineClass): from malloc, or NULL. */
static char *name_in(const unsigned char *bytes, jint n_bytes)
{
    struct classfile file;
    struct err err;
    char *name = NULL;
    if (classfile_open(&file, bytes, (size_t)n_bytes, &err) == 0) {
        struct span span = classfile_class_name(&file, file.this_class);
        name = strndup((const char *)span.at, span.n);
    }
    classfile_free(&file);
    return name;
}

/* Returns whether *out is a class with probes. */
static bool show(struct shown *shown, jint n_bytes, const unsigned char *bytes, jint *n_out, unsigned char **out)
{
    const char *name = shown->about.name.at;
    shown->about.name.n = strlen(name);
    return methods_want_class(name, strlen(name)) && instrument(shown, name, bytes, n_bytes, n_out, out);
}

void JNICALL instrument_class_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader, const char *name,
                                   jobject domain, jint n_bytes, const unsigned char *bytes, jint *n_out,
                                   unsigned char **out)
{
    (void)domain;
    if (jni == NULL)
        return;
    struct shown shown = { .jvmti = jvmti, .jni = jni, .about = { .loader = loader } };
    shown.policy = (struct rewrite_policy){ AGENT_PROBE_CLASS, choose, skipped, &shown };
    if (redefined == NULL)
        shown.about.bytes = (struct wire_text){ (const char *)bytes, (size_t)n_bytes };
    atomic_fetch_add(&state->n_hooks, 1);
    char *found = name == NULL ? name_in(bytes, n_bytes) : NULL;
    shown.about.name.at = found != NULL ? found : name;
    /* JFR retransforms classes of events, too, while it is recording. */
    bool may = shown.about.name.at != NULL && (redefined == NULL || !event_class_is(jvmti, jni, redefined));
    bool done = may && show(&shown, n_bytes, bytes, n_out, out);
    free(found);
    atomic_fetch_sub(&state->n_hooks, 1);
    if (!done && redefined != NULL)
        keep_small(jvmti, bytes, n_bytes, n_out, out);
    if (redefined != NULL) {
        priority_boost_class_shown();
        atomic_store(&state->latest_ticks, ticks_now());
    }
}

uint64_t instrument_latest_ticks(void)
{
    return atomic_load(&state->latest_ticks);
}

/* ---- what has probes ---- */

bool instrument_had_probes(void)
{
    pthread_mutex_lock(&state->lock);
    bool had = state->classes.n_used > 0;
    pthread_mutex_unlock(&state->lock);
    return had;
}

bool instrument_has_probes(const char *name, size_t n)
{
    pthread_mutex_lock(&state->lock);
    const struct hash_slot *slot = hash_get(&state->classes, hash_text(HASH_START, name, n));
    bool has = slot != NULL && slot->value > 0;
    pthread_mutex_unlock(&state->lock);
    return has;
}

void instrument_loses_probes(const char *name, size_t n)
{
    pthread_mutex_lock(&state->lock);
    struct hash_slot *slot = hash_get(&state->classes, hash_text(HASH_START, name, n));
    if (slot != NULL)
        slot->value = 0;
    pthread_mutex_unlock(&state->lock);
}

void instrument_keeps_probes(const char *name, size_t n)
{
    pthread_mutex_lock(&state->lock);
    struct hash_slot *slot = hash_get(&state->classes, hash_text(HASH_START, name, n));
    if (slot != NULL)
        slot->flags |= IS_KEPT;
    pthread_mutex_unlock(&state->lock);
}

void instrument_begin(struct segment *segment)
{
    pthread_mutex_lock(&state->lock);
    memset(state->counts, 0, sizeof state->counts);
    state->segment = segment;
    pthread_mutex_unlock(&state->lock);
}

bool instrument_is_idle(void)
{
    return atomic_load(&state->n_hooks) == 0;
}

void instrument_end(void)
{
    struct hash_set kept = { .slots = NULL };
    pthread_mutex_lock(&state->lock);
    for (size_t i = 0; i < state->classes.n_slots; i++) {
        const struct hash_slot *old = &state->classes.slots[i];
        struct hash_slot *slot = (old->flags & IS_KEPT) != 0 ? hash_put(&kept, old->key) : NULL;
        if (slot != NULL)
            slot->value = old->value;
    }
    hash_free(&state->classes);
    state->classes = kept;
    state->segment = NULL;
    pthread_mutex_unlock(&state->lock);
}

enum segment_changes instrument_changes(void)
{
    pthread_mutex_lock(&state->lock);
    uint32_t changes = state->segment != NULL ? atomic_load(&state->segment->changes) : SEGMENT_CHANGES_ALL;
    pthread_mutex_unlock(&state->lock);
    return (enum segment_changes)changes;
}
