#include "core/recorder/readings_parts.h"

#include "core/base/ticks.h"
#include "core/base/xalloc.h"
#include "core/perf/perf_rings.h"
#include "core/recorder/simulation.h"

#include <sys/ioctl.h>
#include <sys/resource.h>

#define STEP_NS          10000000u
#define IDLE_MAX         7   /* an idle thread is read after 1, 2, 4, ... 128 steps, if nobody tells that it has run */
#define CPU_SHARE        200 /* one part of so many of a CPU's time */
#define READINGS_PER_S   2000
#define CREDIT_MAX_NS    2000000
#define CREDIT_MAX_X1000 100000
#define OPENING_NS       5000000u /* in one round: records wait meanwhile */
#define RESERVED_FDS     64
#define DIFFERENCE_TRIES 3

enum reading_state {
    READING_NEW,
    READING_OWN,  /* through events of ours */
    READING_RING, /* through those that the probes read, if they were handed over */
    READING_DONE  /* no more */
};

struct reading_thread {
    enum reading_state state;
    enum readings_series series;
    uint64_t read_ns, read_ticks; /* the latest reading's */
    bool has_last;
    uint32_t n_idle; /* readings that said nothing new */
    struct counters_outside own;
    uint64_t last[]; /* n_columns: the values of the latest reading of the series */
};

/* ---- a thread's counters that the recorder reads: events that it opens, or the simulator's ---- */

/*
 * Open what counts a thread from now on.  Returns 0, or -1 with *failure set; EAGAIN: the simulator has not seen the
 * thread yet.
 */
static int open_own(const struct readings *readings, struct counters_outside *own, pid_t tid,
                    struct counters_failure *failure)
{
    struct simulated_thread thread;
    if (readings->plan.simulation == NULL)
        return counters_outside_open(own, readings->plan.layout, tid, failure);
    *failure = (struct counters_failure){ .error = EAGAIN, .step = COUNTERS_OPEN };
    if (!readings->plan.simulation->find(readings->plan.simulation->context, tid, &thread))
        return -1;
    counters_outside_simulated(own, readings->plan.layout, &thread, false);
    return 0;
}

/* Of a thread with a ring, the simulated counters as its probes read them; NULL: there are none. */
static struct counters_outside *simulated_probes(struct readings *readings, const struct recorder_thread *thread)
{
    struct readings_handed *handed = &readings->handed[thread->ring];
    int32_t tid = session_ring(readings->session, (uint32_t)thread->ring)->tid;
    struct simulated_thread simulated;
    if (handed->outside.n_slots > 0 && handed->tid == tid)
        return &handed->outside;
    if (!readings->plan.simulation->find(readings->plan.simulation->context, tid, &simulated))
        return NULL;
    handed->tid = tid;
    counters_outside_simulated(&handed->outside, readings->plan.layout, &simulated, true);
    return &handed->outside;
}

/* Is a descriptor that came from outside an event?  Reading anything else could wait for ever. */
static bool is_event(int fd)
{
    char path[32], target[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0)
        return false;
    target[n] = '\0';
    return strcmp(target, "anon_inode:[perf_event]") == 0;
}

/* Own events leave some descriptors for all else that the recorder opens. */
static int highest_fd(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > INT_MAX)
        return INT_MAX;
    return (int)limit.rlim_cur - RESERVED_FDS;
}

void readings_init(struct readings *readings, const struct readings_plan *plan, struct session *session,
                   struct threads *threads)
{
    *readings = (struct readings){ .plan = *plan };
    readings->session = session;
    readings->threads = threads;
    readings->n_columns = counter_layout_columns(plan->layout);
    readings->highest_fd = highest_fd();
    if (readings->n_columns > 0)
        readings->handed = xcalloc(session->n_rings, sizeof *readings->handed);
}

bool readings_are_active(const struct readings *readings)
{
    return readings->handed != NULL;
}

static void release(struct readings_handed *handed, const struct counter_layout *layout)
{
    bool is_open = handed->outside.n_slots > 0 && handed->outside.simulated.slot == NULL;
    for (uint32_t g = 0; is_open && g < layout->n_groups; g++)
        ioctl(handed->outside.fds[layout->first[g]], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
    counters_outside_close(&handed->outside);
}

void readings_close(struct readings *readings)
{
    for (uint32_t i = 0; readings_are_active(readings) && i < readings->session->n_rings; i++)
        release(&readings->handed[i], readings->plan.layout);
    for (uint32_t i = 0; i < readings->n_all; i++) {
        if (readings->all[i] != NULL)
            counters_outside_close(&readings->all[i]->own);
        free(readings->all[i]);
    }
    free(readings->all);
    free(readings->handed);
    readings_pending_free(readings);
    memset(readings, 0, sizeof *readings);
}

/* ---- what threads hand over ---- */

void readings_hand_over(struct readings *readings, const struct wire_message *told, const int *fds, size_t n_fds)
{
    bool good = readings_are_active(readings) && told->kind == WIRE_COUNTERS &&
                told->ring < readings->session->n_rings && n_fds == readings->plan.layout->n_groups;
    for (size_t i = 0; i < n_fds; i++)
        good = good && is_event(fds[i]);
    for (size_t i = 0; i < n_fds && !good; i++)
        close(fds[i]);
    if (!good)
        return;
    struct readings_handed *handed = &readings->handed[told->ring];
    release(handed, readings->plan.layout);
    handed->tid = (pid_t)told->tid;
    counters_outside_adopt(&handed->outside, readings->plan.layout, fds);
}

/* What the owner of a thread's ring handed over, or NULL. */
static struct counters_outside *handed_of(struct readings *readings, const struct recorder_thread *thread)
{
    if (thread->ring < 0)
        return NULL;
    if (readings->plan.simulation != NULL)
        return simulated_probes(readings, thread);
    struct readings_handed *handed = &readings->handed[thread->ring];
    bool is_his =
        handed->outside.n_slots > 0 && handed->tid == session_ring(readings->session, (uint32_t)thread->ring)->tid;
    return is_his ? &handed->outside : NULL;
}

/* ---- one reading ---- */

/* Keep it; one that says nothing new is not written.  Without memory it is lost, and the next one says the same. */
static void keep(struct readings *readings, struct recorder_thread *thread, struct reading_thread *mine, uint64_t ticks,
                 const uint64_t *values)
{
    size_t n_bytes = readings->n_columns * sizeof *values;
    bool is_same = mine->has_last && memcmp(mine->last, values, n_bytes) == 0;
    if (ticks < mine->read_ticks)
        ticks = mine->read_ticks;
    mine->n_idle = is_same ? mine->n_idle + 1 : 0;
    struct pending_reading *reading = is_same ? NULL : readings_pending_new(readings);
    if (reading == NULL)
        return;
    reading->thread = thread->info.index;
    reading->series = mine->series;
    reading->ticks = ticks;
    memcpy(readings->values + reading->values, values, n_bytes);
    memcpy(mine->last, values, n_bytes);
    mine->has_last = true;
    mine->read_ticks = ticks;
}

static uint64_t head_of(const struct readings *readings, const struct recorder_thread *thread)
{
    if (thread->ring < 0)
        return 0;
    return atomic_load_explicit(&session_ring(readings->session, (uint32_t)thread->ring)->head, memory_order_acquire);
}

/* Values between two records, neither of which is known to be before them, would tell nothing. */
static void read_thread(struct readings *readings, struct recorder_thread *thread, struct reading_thread *mine,
                        struct counters_outside *outside)
{
    uint64_t values[COUNTERS_COLUMNS_MAX], head = head_of(readings, thread), before = ticks_now();
    thread->has_run = false;
    bool is_valid = counters_outside_read(outside, readings->plan.layout, values);
    uint64_t after = ticks_now();
    readings->n_read++;
    if (!is_valid)
        return;
    if (head_of(readings, thread) != head)
        readings->n_dropped++;
    else
        keep(readings, thread, mine, before + (after - before) / 2, values);
}

/* ---- whose turn it is ---- */

static struct counters_outside *open_events(struct readings *readings, const struct recorder_thread *thread,
                                            struct reading_thread *mine)
{
    return mine->state == READING_OWN ? &mine->own : mine->state == READING_RING ? handed_of(readings, thread) : NULL;
}

static bool is_due(const struct readings *readings, const struct recorder_thread *thread,
                   const struct reading_thread *mine, uint64_t now_ns)
{
    uint64_t passed_ns = now_ns - mine->read_ns;
    if (thread->info.end_ticks != TRACE_UNKNOWN)
        return false; /* its last values are taken when it is followed */
    if (readings->is_last)
        return true;
    if (thread->has_run)
        return passed_ns >= STEP_NS;
    return !thread->is_off && passed_ns >= (uint64_t)STEP_NS << (mine->n_idle < IDLE_MAX ? mine->n_idle : IDLE_MAX);
}

static void earn(struct readings *readings, uint64_t now_ns)
{
    uint64_t passed_ns = readings->round_ns == 0 ? STEP_NS : now_ns - readings->round_ns;
    readings->round_ns = now_ns;
    readings->credit_ns += (int64_t)(passed_ns / CPU_SHARE);
    readings->credit_x1000 += (int64_t)(passed_ns * READINGS_PER_S / 1000000);
    if (readings->credit_ns > CREDIT_MAX_NS)
        readings->credit_ns = CREDIT_MAX_NS;
    if (readings->credit_x1000 > CREDIT_MAX_X1000)
        readings->credit_x1000 = CREDIT_MAX_X1000;
}

/* What was used since *start_ns, which becomes now. */
static void spend(struct readings *readings, uint64_t *start_ns)
{
    uint64_t now_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    readings->spent_ns += now_ns - *start_ns;
    readings->credit_ns -= (int64_t)(now_ns - *start_ns);
    *start_ns = now_ns;
}

/* The thread's events, if it is due. */
static struct counters_outside *due_events(struct readings *readings, uint32_t i, uint64_t now_ns)
{
    struct reading_thread *mine = readings->all[i];
    const struct recorder_thread *thread = readings->threads->all[i];
    return is_due(readings, thread, mine, now_ns) ? open_events(readings, thread, mine) : NULL;
}

/* In turn, so that all are read when there is not enough time for all. */
void readings_take(struct readings *readings, uint64_t now_ns)
{
    uint64_t start_ns = 0;
    if (!readings_are_active(readings))
        return;
    readings->first_ticks = readings->first_ticks == 0 ? ticks_now() : readings->first_ticks;
    earn(readings, now_ns);
    for (uint32_t n = 0; n < readings->n_all; n++) {
        if (!readings->is_last && (readings->credit_ns <= 0 || readings->credit_x1000 <= 0))
            break;
        uint32_t i = readings->next < readings->n_all ? readings->next : 0;
        readings->next = i + 1;
        struct counters_outside *outside = due_events(readings, i, now_ns);
        if (outside == NULL)
            continue;
        start_ns = start_ns == 0 ? clock_ns(CLOCK_THREAD_CPUTIME_ID) : start_ns;
        read_thread(readings, readings->threads->all[i], readings->all[i], outside);
        readings->all[i]->read_ns = now_ns;
        readings->credit_x1000 -= 1000;
        spend(readings, &start_ns);
    }
}

/* ---- threads that come and go ---- */

static void miss(struct readings *readings, const char *why)
{
    readings->n_without++;
    if (readings->why[0] == '\0')
        snprintf(readings->why, sizeof readings->why, "%s", why);
}

static void refuse(struct readings *readings, struct reading_thread *mine, const char *why)
{
    mine->state = READING_DONE;
    miss(readings, why);
}

/* The simulator has counted it from its beginning. */
static void keep_start(struct readings *readings, struct recorder_thread *thread, struct reading_thread *mine)
{
    const uint64_t none[COUNTERS_COLUMNS_MAX] = { 0 };
    bool is_known = thread->info.start_ticks != TRACE_UNKNOWN;
    if (readings->plan.simulation != NULL)
        keep(readings, thread, mine, is_known ? thread->info.start_ticks : readings->first_ticks, none);
}

static void begin(struct readings *readings, struct recorder_thread *thread, struct reading_thread *mine)
{
    struct counters_failure failure;
    if (open_own(readings, &mine->own, thread->info.tid, &failure) < 0) {
        mine->state = failure.error == EAGAIN ? mine->state : READING_DONE;
        if (failure.error != ESRCH && failure.error != EAGAIN)
            refuse(readings, mine, strerror(failure.error));
        return;
    }
    mine->state = READING_OWN;
    for (uint32_t i = 0; i < mine->own.n_slots; i++)
        if (mine->own.fds[i] > readings->highest_fd) {
            counters_outside_close(&mine->own);
            refuse(readings, mine, "too few file descriptors (ulimit -n)");
            return;
        }
    keep_start(readings, thread, mine);
    read_thread(readings, thread, mine, &mine->own); /* where the series begins, if not there */
}

static void end(struct reading_thread *mine, enum reading_state state)
{
    counters_outside_close(&mine->own);
    mine->state = state;
    mine->has_last = false;
}

/* The last values of a thread that has ended are those of its end. */
static void end_with_thread(struct readings *readings, struct recorder_thread *thread, struct reading_thread *mine)
{
    uint64_t values[COUNTERS_COLUMNS_MAX];
    if (mine->state == READING_NEW && readings->plan.simulation != NULL)
        begin(readings, thread, mine);
    if (mine->state == READING_OWN && counters_outside_read(&mine->own, readings->plan.layout, values))
        keep(readings, thread, mine, thread->info.end_ticks, values);
    end(mine, READING_DONE);
}

static enum ring_counters counters_of(const struct readings *readings, const struct recorder_thread *thread)
{
    const struct ring *ring = session_ring(readings->session, (uint32_t)thread->ring);
    return (enum ring_counters)atomic_load_explicit(&ring->counters, memory_order_acquire);
}

/* Two groups of counters may be more than there are.  (The id is the target's: of a container's, nobody has it.) */
static bool is_calibrating(const struct readings *readings, const struct recorder_thread *thread)
{
    return atomic_load(&readings->session->segment->calibrating_tid) == thread->info.tid;
}

/* Does a thread need events of our own? */
static bool wants_own(const struct readings *readings, const struct recorder_thread *thread)
{
    return readings->plan.without_probes || thread->ring < 0 || counters_of(readings, thread) == RING_COUNTERS_FAILED;
}

/*
 * What we have counted more than the probes until now, read in this order so that it does not become less than what was
 * read before.  The thread goes on meanwhile: of some tries the quickest is the best.
 */
static bool read_difference(struct readings *readings, struct reading_thread *mine, struct counters_outside *handed,
                            uint64_t *more)
{
    uint64_t own[COUNTERS_COLUMNS_MAX], probes[COUNTERS_COLUMNS_MAX], quickest = UINT64_MAX;
    for (int i = 0; i < DIFFERENCE_TRIES; i++) {
        uint64_t start = ticks_now();
        if (!counters_outside_read(handed, readings->plan.layout, probes) ||
            !counters_outside_read(&mine->own, readings->plan.layout, own))
            return false;
        uint64_t took = ticks_now() - start;
        for (uint32_t c = 0; c < readings->n_columns && took < quickest; c++)
            more[c] = own[c] - probes[c];
        quickest = took < quickest ? took : quickest;
    }
    uint64_t negative = 0;
    for (uint32_t c = 0; c < readings->n_columns; c++)
        negative |= more[c] >> 63;
    return negative == 0;
}

/* Where the probes' values begin, ours end.  Groups that take turns do so each in their own time, and differ always. */
static void end_with_probes(struct readings *readings, struct recorder_thread *thread, struct reading_thread *mine)
{
    uint64_t until_probes[COUNTERS_COLUMNS_MAX];
    struct counters_outside *handed = handed_of(readings, thread);
    if (mine->state != READING_OWN || handed == NULL || readings->plan.layout->n_groups != 1 ||
        !read_difference(readings, mine, handed, until_probes))
        return;
    uint64_t start_ticks = session_ring(readings->session, (uint32_t)thread->ring)->start_ticks;
    /* This round's reading may be after them: the probes counted already. */
    struct pending_reading *late = readings_pending_after(readings, thread->info.index, start_ticks);
    if (late == NULL) {
        keep(readings, thread, mine, start_ticks, until_probes);
        return;
    }
    late->ticks = start_ticks;
    memcpy(readings->values + late->values, until_probes, readings->n_columns * sizeof *until_probes);
}

static void follow(struct readings *readings, struct recorder_thread *thread, struct reading_thread *mine)
{
    bool has_ring = thread->ring >= 0;
    if (mine->state == READING_DONE)
        return;
    if (mine->state == READING_OWN && is_calibrating(readings, thread)) {
        end(mine, READING_NEW);
        mine->series = READINGS_OWN_AGAIN;
    } else if (thread->info.end_ticks != TRACE_UNKNOWN) {
        end_with_thread(readings, thread, mine);
    } else if (mine->state == READING_RING && !has_ring) {
        end(mine, READING_DONE);
    } else if (mine->state == READING_RING && wants_own(readings, thread)) {
        mine->series = READINGS_OWN_AGAIN;
        begin(readings, thread, mine);
    } else if (mine->state == READING_NEW && wants_own(readings, thread) && !is_calibrating(readings, thread)) {
        begin(readings, thread, mine);
    } else if (mine->state != READING_RING && !wants_own(readings, thread)) {
        /* The probes' own values have begun already: these would be counted twice. */
        end_with_probes(readings, thread, mine);
        end(mine, READING_RING);
        mine->series = READINGS_PROBES;
        if (counters_of(readings, thread) == RING_COUNTERS_ALONE)
            miss(readings, "the agent's socket to mmprof is full");
    }
}

static void grow(struct readings *readings)
{
    uint32_t n = readings->threads->n;
    if (n <= readings->n_all)
        return;
    readings->all = xreallocarray(readings->all, n, sizeof *readings->all);
    while (readings->n_all < n)
        readings->all[readings->n_all++] =
            xcalloc(1, sizeof(struct reading_thread) + readings->n_columns * sizeof *readings->all[0]->last);
}

/* The rings of threads that have ended are free, or others'. */
static void forget_ended(struct readings *readings)
{
    uint32_t n_seen = atomic_load(&readings->session->segment->n_rings_seen);
    for (uint32_t i = 0; i < n_seen && i < readings->session->n_rings; i++) {
        struct readings_handed *handed = &readings->handed[i];
        const struct ring *ring = session_ring(readings->session, i);
        if (handed->outside.n_slots > 0 && (atomic_load(&ring->state) == RING_FREE || ring->tid != handed->tid))
            release(handed, readings->plan.layout);
    }
}

void readings_forget(struct readings *readings, uint32_t thread)
{
    if (thread >= readings->n_all)
        return;
    counters_outside_close(&readings->all[thread]->own);
    *readings->all[thread] = (struct reading_thread){ .state = READING_NEW };
}

void readings_follow(struct readings *readings)
{
    if (!readings_are_active(readings))
        return;
    grow(readings);
    forget_ended(readings);
    uint64_t start_ns = kernel_now_ns();
    for (uint32_t i = 0; i < readings->n_all; i++) {
        struct reading_thread *mine = readings->all[i];
        bool is_new = mine->state == READING_NEW;
        if (!is_new || kernel_now_ns() - start_ns < OPENING_NS)
            follow(readings, readings->threads->all[i], mine);
    }
}
