#include "core/agent/probe/probe_parts.h"

#include "core/agent/control/agent_lab.h"

#include "core/wire/message.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* What reads by system call need; too large for thread-local memory, of which a library loaded late has little. */
struct counting_calls {
    struct counter_layout layout;
    struct counters_outside outside;
};

/*
 * Before it knows of a thread's ring, the recorder counts the thread itself, and may hold all counters.  It lets them
 * go within some ms: tries after 2, 4, 8, ... 512 ms.
 */
#define TRIES_MAX    9
#define FIRST_TRY_MS 2

struct probe_session probe_session;

static struct counting_session *const session = &probe_session.counting;

/* Returns false: there is none. */
static bool use_session(void)
{
    atomic_fetch_add(&session->n_users, 1);
    if (atomic_load(&session->is_open))
        return true;
    atomic_fetch_sub(&session->n_users, 1);
    return false;
}

static void leave_session(void)
{
    atomic_fetch_sub(&session->n_users, 1);
}

static uint32_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint32_t)now.tv_sec * 1000u + (uint32_t)(now.tv_nsec / 1000000);
}

int counting_plan_make(struct counting_plan *plan, const struct agent_config *config, struct err *err)
{
    struct counter_layout *layout = &plan->layout;
    *plan = (struct counting_plan){ .by_call = config->reads_by_call };
    for (size_t i = 0; i < config->n_events; i++) {
        const struct setting_event *event = &config->events[i];
        if (i == COUNTERS_SLOTS_MAX || event->group >= COUNTERS_GROUPS_MAX)
            return err_set(err, "too many events in the configuration");
        layout->n_groups = event->group + 1;
        layout->first[layout->n_groups] = layout->n_slots = (uint32_t)i + 1;
        layout->codes[i] = (struct counter_code){ .type = event->type,
                                                  .config = event->config,
                                                  .config1 = event->config1,
                                                  .config2 = event->config2,
                                                  .exclude = event->exclude };
        if (!counter_layout_valid(layout))
            return err_set(err, "too large a group of events in the configuration");
    }
    return 0;
}

/* ---- opening ---- */

static int open_calls(struct counting_thread *counting, const struct counting_plan *plan,
                      struct counters_failure *failure)
{
    /* cppcheck-suppress invalidFunctionArg */
    void *at = mmap(NULL, sizeof *counting->calls, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *failure = (struct counters_failure){ .error = ENOMEM, .step = COUNTERS_MAP };
    if (at == MAP_FAILED)
        return -1;
    struct counting_calls *calls = at;
    calls->layout = plan->layout;
    if (counters_outside_open(&calls->outside, &calls->layout, 0, failure) < 0) {
        munmap(calls, sizeof *calls);
        return -1;
    }
    counting->calls = calls;
    return 0;
}

/* leaders: NULL: for nobody but the agent. */
static int open_any(struct counting_thread *counting, const struct counting_plan *plan, int *leaders,
                    struct counters_failure *failure)
{
    if (counter_layout_is_simulated(&plan->layout)) {
        *failure = (struct counters_failure){ .step = COUNTERS_OPEN };
        failure->error =
            agent_lab.open_counters == NULL ? ENOSYS : agent_lab.open_counters(&counting->simulated, leaders == NULL);
        counting->layout = &plan->layout;
        return failure->error == 0 ? 0 : -1;
    }
    if (!plan->by_call)
        return counters_thread_open(&counting->pages, &plan->layout, leaders, failure);
    if (open_calls(counting, plan, failure) < 0)
        return -1;
    for (uint32_t g = 0; leaders != NULL && g < plan->layout.n_groups; g++)
        leaders[g] = counting->calls->outside.fds[plan->layout.first[g]];
    return 0;
}

int counting_open_private(struct counting_thread *counting, const struct counting_plan *plan,
                          struct counters_failure *failure)
{
    counting_close(counting);
    counting->n_tries = 0;
    return open_any(counting, plan, NULL, failure);
}

/* ---- handing over ---- */

/*
 * Never waits: a recorder that is stopped must not stop the target.  What is not sent is not read from outside: returns
 * whether it was.
 */
static bool send_leaders(int socket, uint32_t number, const int *leaders, uint32_t n)
{
    char text[64];
    union {
        char bytes[CMSG_SPACE(sizeof(int) * COUNTERS_GROUPS_MAX)];
        struct cmsghdr align;
    } control;
    const struct wire_message told = { .kind = WIRE_COUNTERS, .tid = (uint32_t)syscall(SYS_gettid), .ring = number };
    struct iovec part = { text, wire_encode(&told, text, sizeof text) };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = CMSG_SPACE(sizeof(int) * n)
    };
    memset(&control, 0, sizeof control);
    struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(sizeof(int) * n);
    memcpy(CMSG_DATA(first), leaders, sizeof(int) * n);
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)part.iov_len;
}

void counting_say_full(void)
{
    const char *full = wire_name(WIRE_FULL);
    if (!use_session())
        return;
    int socket = atomic_load(&session->socket);
    if (socket >= 0)
        send(socket, full, strlen(full), MSG_NOSIGNAL | MSG_DONTWAIT);
    leave_session();
}

/* The session's thread closes the socket when there are no users: its number may be another file's then. */
static bool open_in_session(struct counting_thread *counting, struct ring *ring, uint32_t number)
{
    struct counters_failure failure;
    int leaders[COUNTERS_GROUPS_MAX];
    uint32_t n = session->plan.layout.n_groups;
    counting->n_tries++;
    counting->tried_ms = now_ms();
    if (open_any(counting, &session->plan, leaders, &failure) < 0) {
        if (failure.step != COUNTERS_FIRST_READ || failure.error != 0)
            counting->n_tries = TRIES_MAX;
        if (counting->n_tries == TRIES_MAX)
            atomic_store_explicit(&ring->counters, RING_COUNTERS_FAILED, memory_order_release);
        return false;
    }
    /* The recorder has simulated counters in its own memory. */
    bool is_simulated = counting->simulated.slot != NULL;
    int socket = atomic_load(&session->socket);
    bool is_handed_over = is_simulated || (socket >= 0 && send_leaders(socket, number, leaders, n));
    for (uint32_t g = 0; g < n && !session->plan.by_call && !is_simulated; g++)
        close(leaders[g]);
    atomic_store_explicit(&ring->counters, is_handed_over ? RING_COUNTERS_OPEN : RING_COUNTERS_ALONE,
                          memory_order_release);
    return true;
}

static bool try_to_open(struct counting_thread *counting, struct ring *ring, uint32_t number)
{
    if (!use_session())
        return false;
    bool is_open = session->plan.layout.n_groups > 0 && open_in_session(counting, ring, number);
    leave_session();
    return is_open;
}

void counting_open(struct counting_thread *counting, struct ring *ring, uint32_t number)
{
    counting_close(counting);
    counting->n_tries = 0;
    atomic_store_explicit(&ring->counters, RING_COUNTERS_NONE, memory_order_relaxed);
    try_to_open(counting, ring, number);
}

/* ---- reading ---- */

static __attribute__((noinline)) bool retry(struct counting_thread *counting, struct ring *ring, uint32_t number)
{
    if (counting->n_tries == 0 || counting->n_tries >= TRIES_MAX ||
        now_ms() - counting->tried_ms < (uint32_t)FIRST_TRY_MS << (counting->n_tries - 1))
        return false;
    return try_to_open(counting, ring, number);
}

bool counting_read(struct counting_thread *counting, struct ring *ring, uint32_t number, uint64_t ticks,
                   uint64_t *values)
{
    if (counting->simulated.slot != NULL) {
        counting->simulated.read(&counting->simulated, counting->layout, values);
        return true;
    }
    if (counters_thread_read(&counting->pages, ticks, values))
        return true;
    if (counting->calls != NULL)
        return counters_outside_read(&counting->calls->outside, &counting->calls->layout, values);
    /* Read in the next record: the timestamp of this one is before the opening. */
    if (counting->pages.pages == NULL)
        retry(counting, ring, number);
    return false;
}

void counting_close(struct counting_thread *counting)
{
    counters_thread_close(&counting->pages);
    if (counting->simulated.slot != NULL)
        counting->simulated.close(&counting->simulated);
    if (counting->calls == NULL)
        return;
    counters_outside_close(&counting->calls->outside);
    munmap(counting->calls, sizeof *counting->calls);
    counting->calls = NULL;
}

/* ---- the session ---- */

void counting_begin(const struct counting_plan *plan, int socket)
{
    session->plan = *plan;
    atomic_store(&session->socket, socket);
    atomic_store(&session->is_open, true);
}

void counting_end(void)
{
    atomic_store(&session->is_open, false);
    atomic_store(&session->socket, -1);
    while (atomic_load(&session->n_users) > 0)
        sched_yield();
}
