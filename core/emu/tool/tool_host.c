#include "core/emu/tool/tool_host.h"

#include "core/base/sampled_objects.h"
#include "core/base/xalloc.h"
#include "core/emu/plugin/qemu_api.h"
#include "core/emu/model/sim_slots.h"
#include "core/wire/tracked.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#define NAME_BYTES 16
#define PATH_BYTES 1024

struct tool_wanted tool_wanted;

static struct {
    pthread_mutex_t lock;     /* for all below */
    struct mmprof_tool *tool; /* NULL: none, or it has ended */
    struct tool_thread *threads;
    struct tool_jvm jvm;
    struct tool_objects objects;
    struct tool_stack stack;
    uint64_t ended_time;          /* of threads that are gone */
    uint64_t interval_bytes;      /* one object in so many is told; 0: all are */
    uint32_t n_threads, n_pieces; /* n_pieces: of code that was looked at for stubs */
    bool has_jvm, has_started;
    char why[512];
} host = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- loading ---- */

static const char *refuse(const char *what, const char *subject, const char *why)
{
    snprintf(host.why, sizeof host.why, "%s '%.200s': %.200s", what, subject, why);
    return host.why;
}

static const char *begin(struct mmprof_tool *tool, const char *library, const char *argument, const char *out)
{
    if (tool == NULL || tool->version != MMPROF_TOOL_VERSION || tool->out == NULL)
        return refuse("no tool for this mmprof:", library, "it has no MMPROF_TOOL of mmprof_tool.h's version");
    if (tool->model != NULL)
        *tool->model = &tool_model;
    *tool->out = out == NULL ? stdout : fopen(out, "we");
    if (*tool->out == NULL)
        return refuse("cannot write", out, strerror(errno));
    const char *why = tool->begin == NULL ? NULL : tool->begin(argument);
    return why == NULL ? NULL : refuse("the tool cannot begin,", library, why);
}

const char *tool_host_open(const char *library, const char *argument, const char *out, uint64_t interval_bytes)
{
    host.interval_bytes = interval_bytes;
    void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (loaded == NULL) {
        const char *error = dlerror();
        return refuse("cannot load the tool", library, error == NULL ? "" : error);
    }
    struct mmprof_tool *tool = dlsym(loaded, "mmprof_tool");
    const char *why = begin(tool, library, argument, out);
    if (why != NULL) {
        dlclose(loaded);
        return why;
    }
    tool_jvm_init(&host.jvm);
    tool_wanted.vm_threads = tool->want_vm_threads;
    tool_wanted.accesses = tool->access != NULL;
    tool_wanted.callers = tool->want_callers;
    host.tool = tool;
    /* cppcheck-suppress resourceLeak */
    return NULL;
}

/* ---- telling ---- */

static void tell_moved(struct mmprof_object *object, uint64_t from)
{
    if (host.tool->object_moved != NULL)
        host.tool->object_moved(object, from);
}

static void tell_died(struct mmprof_object *object, bool has_died)
{
    tool_uses_end(&host.jvm, (struct tool_object *)(void *)object);
    if (host.tool->object_died != NULL)
        host.tool->object_died(object, has_died);
}

static const struct tool_objects_listener listener = { tell_moved, tell_died };

static void tell_thread(struct tool_thread *thread)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", (int)thread->thread->tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, (char *)(thread->thread + 1), NAME_BYTES - 1);
    if (n > 0)
        ((char *)(thread->thread + 1))[n - 1] = '\0'; /* the end of the line */
    if (fd >= 0)
        close(fd);
    thread->has_begun = true;
    thread->thread->number = host.n_threads++;
    if (host.tool->thread_began != NULL)
        host.tool->thread_began(thread->thread);
}

/* How much time has passed in other threads. */
static uint64_t time_of_others(const struct tool_thread *thread)
{
    uint64_t sum = host.ended_time;
    for (const struct tool_thread *other = host.threads; other != NULL; other = other->next)
        sum += other == thread ? 0 : __atomic_load_n(&other->time, __ATOMIC_RELAXED);
    return sum;
}

static uint64_t time_now(void)
{
    return time_of_others(NULL);
}

/* Stubs by which C1's and C2's code asks the JVM for an object: the JVM's work, though in the code cache. */
static void add_stub(const struct code_piece *piece)
{
    static const char *const names[] = { "new_instance",   "new_array",        "newarray",
                                         "new_type_array", "new_object_array", "new_multi_array" };
    struct tool_wanted *w = &tool_wanted;
    size_t i = 0, n_names = sizeof names / sizeof *names;
    uint32_t n = w->n_stubs;
    while (i < n_names && strstr(piece->name, names[i]) == NULL)
        i++;
    if (i == n_names || n == TOOL_STUBS_MAX)
        return;
    w->stubs[n] = (struct tool_library){ piece->start, piece->end, TOOL_VM };
    atomic_store_explicit(&w->n_stubs, n + 1, memory_order_release);
    if (n == 0 || piece->start < w->stubs_start)
        atomic_store(&w->stubs_start, piece->start);
    if (piece->end > w->stubs_end)
        atomic_store(&w->stubs_end, piece->end);
}

static void tell_code(void)
{
    tool_jvm_read_code(&host.jvm);
    for (; host.n_pieces < host.jvm.code.n_pieces; host.n_pieces++)
        if (host.jvm.code.pieces[host.n_pieces].name != NULL)
            add_stub(&host.jvm.code.pieces[host.n_pieces]);
    if (tool_jvm_tell_code(&host.jvm, host.tool, time_now))
        tool_stack_round(&host.stack);
}

static void tell_call(const struct tool_call *call, uint32_t depth, uint64_t time, void *context)
{
    const struct tool_thread *thread = context;
    const struct mmprof_call told = { call->method, thread->thread, depth, call->began, time, call->n_bytes };
    if (host.tool != NULL && host.tool->call_ended != NULL)
        host.tool->call_ended(&told);
}

static void tell_access(struct tool_thread *thread, const struct tool_kept *kept)
{
    struct mmprof_access access = {
        .instruction = kept->instruction,
        .address = kept->address,
        .bytes = 1u << qemu_plugin_mem_size_shift(kept->info),
        .is_store = qemu_plugin_mem_is_store(kept->info),
        .is_java = kept->code == TOOL_JAVA,
        .is_vm = kept->code == TOOL_VM,
        .is_collecting = kept->is_collecting,
        .is_heap = kept->address >= host.jvm.heap && kept->address < host.jvm.heap_end,
        .time = kept->time,
        .thread = thread->thread,
    };
    if (access.is_heap && !access.is_collecting)
        access.object = tool_objects_find(&host.objects, access.address);
    if (access.object != NULL && thread->thread->is_java) {
        access.object->last_used = kept->time > access.object->created ? kept->time : access.object->created;
        access.object->n_uses++;
        if (tool_wanted.callers)
            tool_uses_take(&host.jvm, thread, kept, (struct tool_object *)(void *)access.object);
    }
    if (host.tool->want_locations && access.is_java)
        access.location = tool_jvm_location(&host.jvm, kept->instruction, kept->bytecode);
    if (host.tool->access != NULL)
        host.tool->access(&access);
}

static void tell_kept(struct tool_thread *thread, const struct tool_kept *kept)
{
    const struct tool_calls_listener calls = { tell_call, thread };
    if (kept->code == TOOL_CALLS_OVER)
        tool_calls_leave(&thread->calls, kept->info, kept->time, &calls);
    else
        tell_access(thread, kept);
}

static void hold(struct tool_thread *thread)
{
    while (atomic_exchange_explicit(&thread->is_locked, true, memory_order_acquire))
        sched_yield();
}

static void release(struct tool_thread *thread)
{
    atomic_store_explicit(&thread->is_locked, false, memory_order_release);
}

/* How many of a thread's latest accesses may be of telling of an object. */
static uint32_t tail_of(const struct tool_thread *thread)
{
    uint32_t n = 0;
    while (n < thread->n && n < TOOL_BEFORE && tool_is_library(thread->kept[thread->n - 1 - n].code))
        n++;
    return n;
}

/* The lock is held.  n_tail: of the latest accesses so many stay. */
static void flush(struct tool_thread *thread, uint32_t n_tail)
{
    uint32_t n = thread->n - n_tail;
    if (host.tool != NULL && n > 0) {
        tell_code();
        if (!thread->has_begun)
            tell_thread(thread);
        for (uint32_t i = 0; i < n; i++)
            tell_kept(thread, &thread->kept[i]);
    }
    memmove(thread->kept, thread->kept + n, n_tail * sizeof *thread->kept);
    thread->n = n_tail;
    thread->others = time_of_others(thread);
}

static void flush_all(void)
{
    for (struct tool_thread *thread = host.threads; thread != NULL; thread = thread->next) {
        hold(thread);
        flush(thread, 0);
        release(thread);
    }
}

bool tool_host_runs_java(struct tool_thread *thread, uint64_t instruction)
{
    pthread_mutex_lock(&host.lock);
    if (instruction >= host.jvm.interpreter && instruction < host.jvm.interpreter_end) {
        thread->thread->is_java = true;
    } else {
        tool_jvm_read_code(&host.jvm);
        thread->thread->is_java = tool_jvm_is_compiled(&host.jvm, instruction);
    }
    pthread_mutex_unlock(&host.lock);
    return thread->thread->is_java;
}

void tool_host_flush(struct tool_thread *thread)
{
    pthread_mutex_lock(&host.lock);
    hold(thread);
    flush(thread, tail_of(thread));
    release(thread);
    pthread_mutex_unlock(&host.lock);
}

void tool_host_leave(struct tool_thread *thread, uint64_t sp)
{
    tool_uses_leave(thread, sp);
    const struct tool_kept kept = { .code = TOOL_CALLS_OVER, .info = thread->n_frames };
    if (tool_host_keep(thread, &kept))
        tool_host_flush(thread);
}

/* ---- threads ---- */

void tool_host_begin(struct tool_thread *thread)
{
    thread->thread = xcalloc(1, sizeof *thread->thread + NAME_BYTES); /* its name is behind it */
    thread->thread->tid = (int32_t)syscall(SYS_gettid);
    thread->thread->name = (const char *)(thread->thread + 1);
    pthread_mutex_lock(&host.lock);
    thread->others = time_now();
    thread->next = host.threads;
    if (thread->next != NULL)
        thread->next->before = thread;
    host.threads = thread;
    pthread_mutex_unlock(&host.lock);
}

void tool_host_end(struct tool_thread *thread)
{
    pthread_mutex_lock(&host.lock);
    flush(thread, 0);
    if (host.tool != NULL && thread->has_begun && host.tool->thread_ended != NULL)
        host.tool->thread_ended(thread->thread);
    tool_calls_free(&thread->calls, thread->time + thread->others, &(struct tool_calls_listener){ tell_call, thread });
    free(thread->frames);
    host.ended_time += thread->time;
    if (thread->before != NULL)
        thread->before->next = thread->next;
    else
        host.threads = thread->next;
    if (thread->next != NULL)
        thread->next->before = thread->before;
    pthread_mutex_unlock(&host.lock);
}

/* ---- what the agent tells ---- */

/* The next mapping of a file.  Returns whether there is one. */
static bool next_map(FILE *maps, uint64_t *start, uint64_t *end, char path[PATH_BYTES])
{
    char line[PATH_BYTES + 128];
    while (fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %1023[^\n]", start, end, path) == 3)
            return true;
    return false;
}

/* All mappings of files whose path ends so are added to wanted->libraries, as long as there is room. */
static void find_libraries(struct tool_wanted *wanted, const char *suffix, enum tool_code code)
{
    char path[PATH_BYTES];
    size_t n = strlen(suffix);
    uint64_t start, end;
    struct tool_library *last = NULL;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && next_map(maps, &start, &end, path)) {
        if (strlen(path) < n || strcmp(path + strlen(path) - n, suffix) != 0)
            last = NULL;
        else if (last != NULL && last->end == start)
            last->end = end;
        else if (wanted->n_libraries < TOOL_LIBRARIES_MAX)
            *(last = &wanted->libraries[wanted->n_libraries++]) = (struct tool_library){ start, end, code };
    }
    if (maps != NULL)
        fclose(maps);
}

static void hear_tables(uint64_t argument)
{
    /* libc: the emulator's own, too, whose code the program never runs. */
    static const char *const helpers[] = { "/libmmprof-lab-agent.so", "/libc.so.6", "/ld-linux-x86-64.so.2",
                                           "/ld-linux-aarch64.so.1" };
    uint64_t symbols[SIM_N_SYMBOLS];
    if (host.has_jvm || !qemu_read(argument, symbols, sizeof symbols) || tool_jvm_open(&host.jvm, symbols) < 0)
        return;
    find_libraries(&tool_wanted, "/libjvm.so", TOOL_VM);
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
        find_libraries(&tool_wanted, helpers[i], TOOL_LIBC);
    tool_objects_open(&host.objects, host.jvm.heap, host.jvm.heap_end);
    host.has_jvm = true;
    if (tool_wanted.callers && tool_stack_open(&host.stack, &host.jvm.names) < 0)
        fprintf(stderr, "mmprof: callers are not known: the layout of this JVM's stacks is not\n");
}

static void hear_start(void)
{
    if (!host.has_jvm)
        return;
    host.has_started = true;
    tool_wanted.heap = host.jvm.heap;
    tool_wanted.heap_bytes = host.jvm.heap_end - host.jvm.heap;
    tool_wanted.interpreter = host.jvm.interpreter;
    tool_wanted.interpreter_bytes = host.jvm.interpreter_end - host.jvm.interpreter;
    atomic_store(&tool_wanted.java, host.jvm.java);
    atomic_store(&tool_wanted.java_bytes, host.jvm.java_end - host.jvm.java);
}

static void hear_location(uint64_t argument)
{
    struct tracked_location location;
    if (!qemu_read(argument, &location, sizeof location))
        return;
    location.class_name[TRACKED_TEXT_BYTES - 1] = location.name[TRACKED_TEXT_BYTES - 1] = '\0';
    location.descriptor[TRACKED_TEXT_BYTES - 1] = location.source[TRACKED_TEXT_BYTES - 1] = '\0';
    const struct tool_method_text text = { location.class_name, location.name, location.descriptor, location.source };
    tool_jvm_site(&host.jvm, location.number, &text, location.line);
}

static void begin_object(struct tool_thread *thread, struct mmprof_object *object, struct mmprof_class *class_of,
                         uint32_t location)
{
    if (!thread->has_begun)
        tell_thread(thread);
    object->class_of = class_of;
    object->site = location < host.jvm.n_sites ? host.jvm.sites[location] : NULL;
    object->thread = thread->thread;
    object->stands_for = sampled_objects((double)object->bytes, (double)host.interval_bytes);
    object->created = object->last_used = thread->time + thread->others;
    if (tool_wanted.callers)
        tool_uses_begin(&host.stack, thread, (struct tool_object *)(void *)object,
                        &(struct tool_calls_listener){ tell_call, thread });
    if (host.tool->object_created != NULL)
        host.tool->object_created(object);
}

static void hear_object(struct tool_thread *thread, uint64_t argument)
{
    struct tracked_object told;
    uint64_t bytes;
    if (!host.has_jvm || !qemu_read(argument, &told, sizeof told) || told.reference == 0)
        return;
    hold(thread);
    thread->n -= tail_of(thread);
    thread->left_out = TOOL_BEHIND;
    flush(thread, 0);
    release(thread);
    uint64_t address = vm_pointer(told.reference & ~UINT64_C(7));
    struct mmprof_class *class_of =
        address < host.jvm.heap || address >= host.jvm.heap_end ? NULL : tool_jvm_class(&host.jvm, address, &bytes);
    bool is_wanted = class_of != NULL && host.has_started;
    if (is_wanted) {
        struct mmprof_object *object = tool_objects_add(&host.objects, told.reference, address, bytes, &listener);
        if (object != NULL)
            begin_object(thread, object, class_of, told.location);
    }
    told.n_gone = tool_objects_take_gone(&host.objects, told.gone, TRACKED_GONE_MAX - 1);
    if (!is_wanted)
        told.gone[told.n_gone++] = told.reference;
    qemu_write(argument, &told, sizeof told);
}

/* Others' accesses may come later; the thread's own before it come before. */
static void hear_class(struct tool_thread *thread, uint64_t argument)
{
    char name[TRACKED_TEXT_BYTES];
    if (!host.has_started || host.tool->class_loaded == NULL || !qemu_read(argument, name, sizeof name))
        return;
    name[sizeof name - 1] = '\0';
    hold(thread);
    flush(thread, 0);
    release(thread);
    if (!thread->has_begun)
        tell_thread(thread);
    host.tool->class_loaded(tool_names_class(&host.jvm.names, name), thread->thread, thread->time + thread->others);
}

static void hear_collection(bool has_ended)
{
    if (!host.has_jvm)
        return;
    flush_all();
    if (!has_ended && host.has_started && host.tool->collection_began != NULL)
        host.tool->collection_began(time_now());
    if (has_ended) {
        tool_jvm_forget(&host.jvm);
        tool_stack_round(&host.stack);
        if (host.tool->collection_ended != NULL)
            host.tool->collection_ended(time_now());
        tool_objects_collect(&host.objects, &listener);
    }
    atomic_store(&tool_wanted.is_collecting, !has_ended);
}

static void finish(void)
{
    if (host.tool == NULL)
        return;
    flush_all();
    tell_code();
    if (host.has_jvm)
        tool_objects_end(&host.objects, &listener);
    if (!host.has_started)
        fprintf(stderr, "mmprof: no access was seen: %s\n",
                host.jvm.why != NULL ? host.jvm.why : "the program ended before a JVM of it called main");
    struct mmprof_tool *tool = host.tool;
    host.tool = NULL;
    atomic_store(&tool_wanted.java_bytes, 0);
    if (tool->end != NULL)
        tool->end(time_now());
    /* QEMU ends without flushing what this library has open. */
    if ((*tool->out == stdout ? fflush(stdout) : fclose(*tool->out)) != 0)
        fprintf(stderr, "mmprof: the tool's output is not whole: %s\n", strerror(errno));
}

static void hear_with_lock(struct tool_thread *thread, uint64_t what, uint64_t argument)
{
    uint64_t value;
    switch (what) {
    case SIM_TELL_TABLES:
        hear_tables(argument);
        break;
    case SIM_TELL_MOVE:
    case SIM_TELL_MOVED:
        hear_collection(what == SIM_TELL_MOVED);
        break;
    case TRACKED_ASK_PAUSE:
        value = (uint64_t)(uintptr_t)&thread->is_paused;
        qemu_write(argument, &value, sizeof value);
        break;
    case TRACKED_TELL_LOCATION:
        hear_location(argument);
        break;
    case TRACKED_TELL_OBJECT:
        hear_object(thread, argument);
        break;
    case TRACKED_TELL_CLASS:
        hear_class(thread, argument);
        break;
    case TRACKED_TELL_CODE:
        if (qemu_read(argument, &value, sizeof value))
            tool_jvm_log(&host.jvm, (int)value);
        break;
    case TRACKED_TELL_START:
        hear_start();
        break;
    }
}

void tool_host_hear(struct tool_thread *thread, uint64_t what, uint64_t argument)
{
    pthread_mutex_lock(&host.lock);
    if (what == SIM_TELL_END)
        finish();
    else if (host.tool != NULL)
        hear_with_lock(thread, what, argument);
    pthread_mutex_unlock(&host.lock);
}

void tool_host_finish(void)
{
    pthread_mutex_lock(&host.lock);
    finish();
    pthread_mutex_unlock(&host.lock);
}

/* ---- children ---- */

void tool_host_before_fork(void)
{
    pthread_mutex_lock(&host.lock);
}

void tool_host_in_parent(void)
{
    pthread_mutex_unlock(&host.lock);
}

void tool_host_in_child(void)
{
    host.tool = NULL;
    atomic_store(&tool_wanted.java_bytes, 0);
    pthread_mutex_unlock(&host.lock);
}
