#include "core/recorder/wait_sampler.h"

#include "core/base/hash.h"
#include "core/base/ticks.h"
#include "core/base/xalloc.h"
#include "core/perf/perf_rings.h"
#include "core/hotspot/vm.h"
#include "core/jvm/process.h"

#include <fcntl.h>

#define AT_ONCE     256u
#define FIRST_BYTES 8192u  /* of a stack: most are whole then */
#define READ_BYTES  32768u /* at once: vm_read_some */

/* What schedstat tells: time on a CPU, time ready to run without one, and how often it got one. */
struct runs {
    uint64_t cpu_ns, ready_ns, n;
};

struct waiting_thread {
    int32_t tid;
    int schedstat;    /* -1: it has ended */
    int syscall;      /* the same file of where it waits; -1: it is opened when it is read */
    uint64_t last_ns; /* the visit before */
    struct runs runs; /* at that */
    bool has_state;   /* it waited then, and was handed out */
    void *kept;       /* owned */
};

struct wait_sampler {
    struct vm *vm; /* borrowed */
    pid_t pid;
    struct hash_set by_tid;
    struct waiting_thread *threads; /* owned */
    uint32_t n, room, next;
    uint32_t *free; /* owned: indexes of threads that have ended, for others; room for all */
    uint32_t n_free;
    struct wait_sampler_state state;
    uint64_t now_ns;   /* of this visit */
    uint64_t round_ns; /* of the visit at which the latest round of all threads began; 0: none has */
    uint32_t stack_bytes;
    uint8_t *stack; /* owned */
};

/* ---- one thread ---- */

static int open_schedstat(const struct wait_sampler *waits, int32_t tid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)waits->pid, (int)tid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool read_runs(const struct waiting_thread *thread, struct runs *runs)
{
    char text[96], *at = text;
    ssize_t n = pread(thread->schedstat, text, sizeof text - 1, 0);
    if (n <= 0)
        return false;
    text[n] = '\0';
    runs->cpu_ns = strtoull(at, &at, 10);
    runs->ready_ns = strtoull(at, &at, 10);
    runs->n = strtoull(at, &at, 10);
    return true;
}

/* What a descriptor is: "socket:[4711]", or another file. */
static enum wait_descriptor find_descriptor(const struct wait_sampler *waits, unsigned long descriptor)
{
    char path[64], target[16] = "";
    snprintf(path, sizeof path, "/proc/%d/fd/%lu", (int)waits->pid, descriptor);
    return readlink(path, target, sizeof target - 1) > 0 && strncmp(target, "socket:", 7) == 0 ? WAIT_SOCKET
                                                                                               : WAIT_FILE;
}

static bool read_syscall_text(const struct wait_sampler *waits, struct waiting_thread *thread, char *text, size_t n)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)waits->pid, (int)thread->tid);
    if (waits->n > AT_ONCE)
        return jvm_read_file(path, text, n) > 0;
    if (thread->syscall < 0)
        thread->syscall = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = thread->syscall < 0 ? -1 : pread(thread->syscall, text, n - 1, 0);
    text[got < 0 ? 0 : got] = '\0';
    return got > 0;
}

/*
 * "202 0x7f.. 0x80 0x0 0x0 0x0 0xffffffff 0xSP 0xPC"; "-1 0xSP 0xPC": it waits in no system call; "running": it has a
 * CPU, or is ready to run.
 */
static bool read_syscall(const struct wait_sampler *waits, struct waiting_thread *thread, struct thread_wait *wait)
{
    struct thread_state *state = &wait->state;
    char text[256];
    if (!read_syscall_text(waits, thread, text, sizeof text))
        return false;
    char *pc = strrchr(text, ' ');
    if (pc == NULL)
        return false;
    *pc = '\0';
    const char *sp = strrchr(text, ' ');
    if (sp == NULL)
        return false;
    state->pc = strtoull(pc + 1, NULL, 16);
    state->sp = strtoull(sp + 1, NULL, 16);
    char *arguments;
    wait->call = strtol(text, &arguments, 10);
    if (wait_cause_has_descriptor(wait->call))
        wait->descriptor = find_descriptor(waits, strtoul(arguments, NULL, 16));
    return state->sp != 0;
}

/* From the n-th byte on, up to 'most'.  Returns how many there are then. */
static size_t read_stack(const struct wait_sampler *waits, uint64_t sp, size_t n, size_t most)
{
    while (n < most) {
        size_t left = most - n, piece = left < READ_BYTES ? left : READ_BYTES;
        size_t got = vm_read_some(waits->vm, sp + n, waits->stack + n, piece);
        n += got;
        if (got < piece)
            break;
    }
    return n;
}

static bool has_moved(const struct waiting_thread *thread)
{
    struct runs after;
    return !read_runs(thread, &after) || after.n != thread->runs.n || after.cpu_ns != thread->runs.cpu_ns;
}

/* NULL: it is not known, or has ended. */
static struct waiting_thread *find_thread(const struct wait_sampler *waits, int32_t tid)
{
    const uint32_t *known = hash_find(&waits->by_tid, (uint32_t)tid);
    return known == NULL || waits->threads[*known].tid != tid ? NULL : &waits->threads[*known];
}

bool wait_sampler_read_rest(struct wait_sampler *waits, struct thread_wait *wait)
{
    const struct waiting_thread *thread = find_thread(waits, wait->tid);
    size_t n = wait->state.n_bytes;
    if (thread == NULL || n >= waits->stack_bytes)
        return false;
    wait->state.n_bytes = read_stack(waits, wait->state.sp, n, waits->stack_bytes);
    if (has_moved(thread))
        wait->state.n_bytes = n;
    return wait->state.n_bytes > n;
}

bool wait_sampler_read_from(struct wait_sampler *waits, struct thread_wait *wait, uint64_t sp)
{
    const struct waiting_thread *thread = find_thread(waits, wait->tid);
    wait->state.sp = sp;
    wait->state.n_bytes = read_stack(waits, sp, 0, waits->stack_bytes);
    return thread != NULL && !has_moved(thread);
}

/* Does it wait, and did it while this was read? */
static bool find_state(struct wait_sampler *waits, struct waiting_thread *thread, struct thread_wait *wait)
{
    struct thread_state *state = &wait->state;
    if (!read_syscall(waits, thread, wait))
        return false;
    state->stack = waits->stack;
    state->n_bytes =
        read_stack(waits, state->sp, 0, waits->stack_bytes < FIRST_BYTES ? waits->stack_bytes : FIRST_BYTES);
    bool is_still = !has_moved(thread);
    waits->state.n_moved += !is_still;
    return is_still;
}

static void close_files(struct waiting_thread *thread)
{
    if (thread->schedstat >= 0)
        close(thread->schedstat);
    if (thread->syscall >= 0)
        close(thread->syscall);
    free(thread->kept);
    thread->schedstat = thread->syscall = -1;
    thread->kept = NULL;
}

/* Its place is for another one. */
static void end(struct wait_sampler *waits, struct waiting_thread *thread)
{
    close_files(thread);
    thread->tid = 0;
    waits->free[waits->n_free++] = (uint32_t)(thread - waits->threads);
}

/* Returns 0, or -1: fn said so. */
static int visit(struct wait_sampler *waits, struct waiting_thread *thread, thread_wait_fn *fn, void *context)
{
    struct runs before = thread->runs;
    uint64_t now_ns = kernel_now_ns(), last_ns = thread->last_ns;
    if (!read_runs(thread, &thread->runs)) {
        end(waits, thread);
        return 0;
    }
    waits->state.n_visited++;
    thread->last_ns = now_ns;
    struct thread_wait wait = { .tid = thread->tid,
                                .time_ns = waits->now_ns,
                                .weight_ns = now_ns - last_ns,
                                .ready_ns = thread->runs.ready_ns - before.ready_ns,
                                .call = WAIT_NO_CALL,
                                .kept = &thread->kept };
    if (last_ns == 0) /* what it did before is not known */
        return 0;
    waits->state.ready_ns += wait.ready_ns;
    wait.is_same = thread->has_state && before.n == thread->runs.n && before.cpu_ns == thread->runs.cpu_ns;
    waits->state.n_same += wait.is_same;
    thread->has_state = wait.is_waiting = wait.is_same || find_state(waits, thread, &wait);
    int rc = fn(&wait, context);
    if (rc > 0) /* its place stays: it is known */
        close_files(thread);
    return rc < 0 ? -1 : 0;
}

/* ---- all of them ---- */

int wait_sampler_visit(struct wait_sampler *waits, thread_wait_fn *fn, void *context)
{
    int rc = 0;
    waits->now_ns = kernel_now_ns();
    waits->state.n_visits++;
    for (uint32_t seen = 0, i = 0; rc == 0 && i < waits->n && seen < AT_ONCE; i++) {
        waits->next = waits->next + 1 < waits->n ? waits->next + 1 : 0;
        waits->round_ns = waits->next == 0 ? waits->now_ns : waits->round_ns;
        struct waiting_thread *thread = &waits->threads[waits->next];
        if (thread->schedstat < 0)
            continue;
        rc = visit(waits, thread, fn, context);
        seen++;
    }
    return rc;
}

/* A place for a thread. */
static struct waiting_thread *place(struct wait_sampler *waits)
{
    uint32_t room = waits->room;
    if (waits->n_free > 0)
        return &waits->threads[waits->free[--waits->n_free]];
    xgrow(waits->free, room, waits->n + 1);
    return xpush(waits->threads, waits->room, waits->n);
}

void wait_sampler_add(struct wait_sampler *waits, int32_t tid)
{
    struct waiting_thread *thread = find_thread(waits, tid);
    if (thread != NULL && thread->schedstat >= 0)
        return;
    if (thread == NULL)
        thread = place(waits);
    xhash_store(&waits->by_tid, (uint32_t)tid, (uint32_t)(thread - waits->threads));
    *thread = (struct waiting_thread){
        .tid = tid, .schedstat = open_schedstat(waits, tid), .syscall = -1, .last_ns = waits->round_ns
    };
    if (thread->schedstat < 0)
        end(waits, thread);
}

void wait_sampler_meet(struct wait_sampler *waits, int32_t tid)
{
    if (find_thread(waits, tid) == NULL)
        wait_sampler_add(waits, tid);
}

static void add_all(struct wait_sampler *waits)
{
    int n = jvm_process_threads(waits->pid, NULL, 0);
    pid_t *tids = n <= 0 ? NULL : xcalloc((size_t)n, sizeof *tids);
    int n_now = tids == NULL ? 0 : jvm_process_threads(waits->pid, tids, n);
    for (int i = 0; i < n && i < n_now; i++)
        wait_sampler_add(waits, tids[i]);
    free(tids);
}

static int check_kernel(pid_t pid, struct err *err)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%d/syscall", (int)pid);
    if (jvm_read_file(path, text, sizeof text) > 0)
        return 0;
    err_set(err, "cannot see where threads wait: '%s': %s", path, strerror(errno));
    return err_next(err, errno == ENOENT ? "use a kernel with CONFIG_HAVE_ARCH_TRACEHOOK, or sample without --wall"
                                         : "run this as root, or sample without --wall");
}

int wait_sampler_open(struct wait_sampler **out, struct vm *vm, uint32_t stack_bytes, struct err *err)
{
    *out = NULL;
    if (check_kernel(vm_pid(vm), err) < 0)
        return -1;
    struct wait_sampler *waits = xcalloc(1, sizeof *waits);
    waits->stack = xmalloc(stack_bytes);
    waits->vm = vm;
    waits->pid = vm_pid(vm);
    waits->stack_bytes = stack_bytes;
    add_all(waits);
    *out = waits;
    return 0;
}

void wait_sampler_state(const struct wait_sampler *waits, struct wait_sampler_state *state)
{
    *state = waits->state;
}

void wait_sampler_close(struct wait_sampler *waits)
{
    if (waits == NULL)
        return;
    for (uint32_t i = 0; i < waits->n; i++)
        if (waits->threads[i].schedstat >= 0)
            close_files(&waits->threads[i]);
    hash_free(&waits->by_tid);
    free(waits->threads);
    free(waits->free);
    free(waits->stack);
    free(waits);
}
