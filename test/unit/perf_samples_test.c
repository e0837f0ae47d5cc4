/*
 * What the kernel is asked for, and refuses; samples of where threads are, their triggers and values.
 */
#include "core/perf/perf_rings.h"

#include "core/pmu/perf_open.h"
#include "test/unit/tap.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- refusals ---- */

static int refusal;
static struct perf_event_attr last_attr;
static pid_t last_pid;

static int refuse_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    (void)cpu, (void)group_fd, (void)flags;
    last_attr = *attr;
    last_pid = pid;
    errno = refusal;
    return -1;
}

static const struct {
    const char *claim;
    int error;
    const char *text;
} refusals[] = {
    { "EACCES names perf_event_paranoid", EACCES, "Permission denied (perf_event_paranoid is " },
    { "EPERM too", EPERM, "Operation not permitted (perf_event_paranoid is " },
    { "EMFILE names the limit", EMFILE, "Too many open files (the limit is " },
    { "ENOSYS names the kernel", ENOSYS, "this kernel has no perf events (CONFIG_PERF_EVENTS)" },
    { "a thread that ends is passed over", ESRCH, "ended before its threads could be recorded" },
};

static void test_refusals(void)
{
    counters_perf_open_replace(refuse_open);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct perf_rings *rings;
        struct err err = { "" };
        refusal = refusals[i].error;
        int rc = perf_rings_open(&rings, getpid(), &(struct perf_rings_options){ .fault_period = 1 }, &err);
        if (!CHECK(refusals[i].claim, rc == -1 && rings == NULL && strstr(err.text, refusals[i].text) != NULL &&
                                          strstr(err.text, "\n  next: ") != NULL))
            printf("# is '%s'\n", err.text);
    }
    CHECK("the event is what perf_event_paranoid 2 allows",
          last_attr.exclude_kernel == 1 && last_attr.config == PERF_COUNT_SW_PAGE_FAULTS &&
              last_attr.sample_period == 1 && last_attr.context_switch == 1 && last_attr.task == 1 &&
              last_attr.comm == 1 && last_attr.sample_id_all == 1 && last_attr.inherit == 1 &&
              last_attr.use_clockid == 1 && last_attr.clockid == CLOCK_MONOTONIC_RAW &&
              last_attr.sample_type == KERNEL_SAMPLE_TYPE && last_pid == getpid());
    struct perf_rings *rings;
    struct err err = { "" };
    perf_rings_open(&rings, getpid(), &(struct perf_rings_options){ 0 }, &err);
    CHECK("without page faults it is the dummy event",
          last_attr.config == PERF_COUNT_SW_DUMMY && last_attr.sample_period == 0 && last_attr.context_switch == 1);
    counters_perf_open_replace(NULL);
    CHECK("a process that is not there is named",
          perf_rings_open(&rings, 0x3ffffff, &(struct perf_rings_options){ 0 }, &err) == -1 &&
              strstr(err.text, "there is no process 67108863\n  next: ") == err.text);
}

/* ---- where threads are ---- */

/* As the kernel does at perf_event_paranoid 2, or (with refusal) one that has no such clock. */
static int refuse_kernel_ip_samples(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    if (attr->config == PERF_COUNT_SW_CPU_CLOCK) {
        last_attr = *attr;
        errno = refusal != 0 ? refusal : EACCES;
        if (refusal != 0 || !attr->exclude_kernel)
            return -1;
    }
    attr->exclude_kernel = 1;
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
}

struct seen_ip_samples {
    uint64_t n, n_in_spin, n_in_kernel, n_no_address;
};

static void spin_here(void);

static int take_ip_sample(const struct kernel_event *event, void *context)
{
    struct seen_ip_samples *seen = context;
    uint64_t start = (uint64_t)(uintptr_t)spin_here;
    if (event->kind != KERNEL_IP_SAMPLE)
        return 0;
    seen->n++;
    seen->n_in_kernel += event->in_kernel;
    seen->n_in_spin += event->count - start < 4096;
    seen->n_no_address += event->count == KERNEL_UNKNOWN;
    return 0;
}

/* 300 ms of this thread's time. */
__attribute__((noinline)) static void spin_here(void)
{
    struct timespec now = { 0, 0 };
    volatile uint64_t sum = 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    int64_t end_ms = now.tv_sec * 1000 + now.tv_nsec / 1000000 + 300;
    while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < end_ms) {
        for (uint64_t i = 0; i < 2000000; i++)
            sum = sum + i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    }
}

static void test_ip_samples(void)
{
    const struct perf_rings_options options = { .ip_samples_hz = 1000 };
    struct perf_rings *rings;
    struct perf_rings_state state;
    struct seen_ip_samples seen = { .n = 0 };
    struct err err = { "" };
    if (perf_rings_open(&rings, getpid(), &options, &err) < 0) {
        SKIP("where threads are", "no perf events here");
        return;
    }
    perf_rings_state(rings, &state);
    spin_here();
    perf_rings_drain(rings, KERNEL_UNKNOWN, take_ip_sample, &seen);
    perf_rings_close(rings);
    printf("# %" PRIu64 " IP samples, %" PRIu64 " in the function, %" PRIu64 " in the kernel\n", seen.n, seen.n_in_spin,
           seen.n_in_kernel);
    if (!state.has_ip_samples) {
        SKIP("300 ms of a thread are about 300 IP samples", state.why_no_ip_samples);
        return;
    }
    /* Where the host takes the CPU away meanwhile, some periods are one IP sample; there are never more. */
    CHECK("300 ms of a thread are 300 IP samples at most, and most of them where the CPU is its own",
          seen.n > 60 && seen.n < 360);
    CHECK("nine tenths of them in the function that takes the time",
          seen.n_in_spin + (state.has_kernel_ip_samples ? 0 : 30) > seen.n * 9 / 10 && seen.n_no_address == 0);
}

/* ---- short threads ---- */

static int count_stack(const struct kernel_event *event, void *context)
{
    *(uint64_t *)context += event->tid != getpid();
    return 0;
}

static int no_event(const struct kernel_event *event, void *context)
{
    (void)event;
    (void)context;
    return 0;
}

/* A tenth of a period. */
static void *spin_shortly(void *context)
{
    struct timespec now = { 0, 0 };
    while (now.tv_nsec < 1000000 && now.tv_sec == 0)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return context;
}

static void test_short_threads(void)
{
    uint64_t n = 0;
    const struct perf_rings_options options = { .ip_samples_hz = 100,
                                                .no_switches = true,
                                                .prefers_cpus = true,
                                                .stack_bytes = 1024,
                                                .stack_fn = count_stack,
                                                .stack_context = &n };
    struct perf_rings *rings;
    struct perf_rings_state state = { .has_cpus = false };
    struct err err = { "" };
    if (perf_rings_open(&rings, getpid(), &options, &err) == 0) {
        perf_rings_state(rings, &state);
        for (int i = 0; i < 500; i++) {
            pthread_t thread;
            if (pthread_create(&thread, NULL, spin_shortly, NULL) == 0)
                pthread_join(thread, NULL);
            if (i % 20 == 19) /* on a busy machine most samples are of other processes, and fill the rings */
                perf_rings_drain(rings, KERNEL_UNKNOWN, no_event, NULL);
        }
        perf_rings_close(rings);
    }
    printf("# %" PRIu64 " samples in threads\n", n);
    if (!state.has_cpus)
        SKIP("threads that use a tenth of a period have samples", "this user has no events of whole CPUs");
    else /* 0.5 s are 30 to 91, as the periods are drawn; where the host takes the CPU away meanwhile, fewer */
        CHECK("threads that use a tenth of a period have samples, and other processes none", n > 10 && n < 110);
}

static void test_refused_ip_samples(void)
{
    const struct perf_rings_options options = { .ip_samples_hz = 100 };
    struct perf_rings *rings;
    struct perf_rings_state state;
    struct err err = { "" };
    counters_perf_open_replace(refuse_kernel_ip_samples);
    refusal = 0;
    if (perf_rings_open(&rings, getpid(), &options, &err) == 0) {
        perf_rings_state(rings, &state);
        CHECK("where the kernel may not be looked into, IP samples are of user space",
              state.has_ip_samples && !state.has_kernel_ip_samples && last_attr.exclude_kernel == 1);
        CHECK("so many ns of a CPU apart, with the instruction pointer",
              last_attr.sample_period == 10000000 && last_attr.sample_type == KERNEL_IP_SAMPLE_TYPE &&
                  last_attr.sample_regs_user == KERNEL_IP_SAMPLE_REGISTERS && last_attr.inherit == 1);
        perf_rings_close(rings);
    } else {
        SKIP("IP samples of user space", "no perf events here");
    }
    refusal = ENOENT;
    if (perf_rings_open(&rings, getpid(), &options, &err) == 0) {
        perf_rings_state(rings, &state);
        CHECK("where there are none, the rest is recorded, and it is said why",
              !state.has_ip_samples && state.why_no_ip_samples != NULL &&
                  strstr(state.why_no_ip_samples, "cannot sample where") != NULL);
        perf_rings_close(rings);
    } else {
        SKIP("a recording without IP samples", "no perf events here");
    }
    counters_perf_open_replace(NULL);
}

/* ---- what else takes IP samples ---- */

static struct perf_event_attr attrs[8];
static uint32_t n_attrs, n_members, n_refused, wanted_type = PERF_TYPE_HARDWARE;

/* IP samples and what is read with them are taken down; not those that the kernel refuses (groups, before Linux 6.12).
 */
static int take_down(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    bool is_ip_samples = attr->type == wanted_type && attr->config != PERF_COUNT_SW_DUMMY;
    if (is_ip_samples && n_attrs < 8)
        attrs[n_attrs++] = *attr;
    n_members += group_fd >= 0;
    if (is_ip_samples) {
        attr->type = PERF_TYPE_SOFTWARE;
        attr->config = PERF_COUNT_SW_DUMMY;
        attr->precise_ip = 0;
        attr->freq = 0;
    }
    int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
    n_refused += is_ip_samples && fd < 0;
    n_attrs -= is_ip_samples && fd < 0 && n_attrs > 0;
    return fd;
}

static void test_triggers(void)
{
    struct perf_rings_options options = {
        .ip_samples_hz = 100,
        .no_switches = true,
        .stack_bytes = 1024,
        .trigger = { .n = 2,
                     .precise = 2,
                     .period = 9000000,
                     .codes = { { .type = PERF_TYPE_HARDWARE, .exclude = COUNTER_NO_KERNEL, .config = 0 },
                                { .type = PERF_TYPE_HARDWARE, .exclude = COUNTER_NO_KERNEL, .config = 1 } } }
    };
    struct perf_rings *rings;
    struct err err = { "" };
    counters_perf_open_replace(take_down);
    if (perf_rings_open(&rings, getpid(), &options, &err) < 0) {
        SKIP("events that take samples", "no perf events here");
        counters_perf_open_replace(NULL);
        return;
    }
    perf_rings_close(rings);
    CHECK("an event takes a sample after so many of it, from half to twice as many, as precisely as wanted",
          attrs[0].sample_period >= 4860000 && attrs[0].sample_period <= 19500000 && attrs[0].freq == 0 &&
              attrs[0].precise_ip == 2 && attrs[0].exclude_kernel == 1 && attrs[0].inherit == (n_refused == 0));
    CHECK("with a stack and what the group has counted",
          attrs[0].sample_type == (KERNEL_STACK_TYPE | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ) &&
              attrs[0].read_format == KERNEL_READ_FORMAT);
    CHECK("the others count, in its group",
          attrs[1].config == 1 && attrs[1].sample_period == 0 && attrs[1].inherit == attrs[0].inherit && n_members > 0);
    n_attrs = 0;
    options.trigger.period = 0;
    options.trigger.n = 1;
    if (perf_rings_open(&rings, getpid(), &options, &err) == 0)
        perf_rings_close(rings);
    CHECK("without a period the kernel finds one for so many samples a second",
          attrs[0].freq == 1 && attrs[0].sample_freq >= 87 && attrs[0].sample_freq <= 113 &&
              attrs[0].sample_type == (KERNEL_STACK_TYPE | PERF_SAMPLE_PERIOD));
    n_attrs = 0;
    wanted_type = PERF_TYPE_SOFTWARE;
    options.trigger.period = 100;
    options.trigger.codes[0] = (struct counter_code){ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS };
    if (perf_rings_open(&rings, getpid(), &options, &err) == 0)
        perf_rings_close(rings);
    CHECK("of one that the kernel counts in software the period is not told, or each would be a sample",
          attrs[0].sample_period >= 54 && attrs[0].sample_period <= 216 && attrs[0].sample_type == KERNEL_STACK_TYPE);
    counters_perf_open_replace(NULL);
}

/* As the kernel before Linux 6.12. */
static int refuse_inherited_groups(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    if (attr->inherit && (attr->sample_type & PERF_SAMPLE_READ) != 0) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
}

static _Atomic int32_t late_tid;

static int take_values(const struct kernel_event *event, void *context)
{
    struct kernel_values values;
    uint32_t *n = context;
    *n += event->kind == KERNEL_IP_SAMPLE && event->tid == late_tid && kernel_values(&event->stack, &values) &&
          values.n == 2 && values.values[0] > 0;
    return 0;
}

static int take_nothing(const struct kernel_event *event, void *context)
{
    (void)event, (void)context;
    return 0;
}

static void *spin_late(void *seen_by)
{
    late_tid = (int32_t)syscall(SYS_gettid);
    while (*(_Atomic bool *)seen_by == false)
        continue;
    spin_here();
    return NULL;
}

/* A thread that starts later is found by the next drain. */
static void test_old_kernel(void)
{
    uint32_t n = 0;
    const struct perf_rings_options options = {
        .ip_samples_hz = 1000,
        .no_switches = true,
        .stack_bytes = 1024,
        .stack_fn = take_values,
        .stack_context = &n,
        .trigger = { .n = 2,
                     .is_clock = true,
                     .codes = { { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK },
                                { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS } } }
    };
    struct perf_rings *rings;
    struct perf_rings_state state;
    struct err err = { "" };
    _Atomic bool is_seen = false;
    pthread_t thread;
    counters_perf_open_replace(refuse_inherited_groups);
    if (perf_rings_open(&rings, getpid(), &options, &err) < 0 ||
        (perf_rings_state(rings, &state), !state.has_ip_samples)) {
        SKIP("groups of threads that start later, on an old kernel", "no perf events here");
        counters_perf_open_replace(NULL);
        return;
    }
    pthread_create(&thread, NULL, spin_late, &is_seen);
    while (late_tid == 0)
        continue;
    perf_rings_drain(rings, KERNEL_UNKNOWN, take_nothing, NULL);
    is_seen = true;
    pthread_join(thread, NULL);
    perf_rings_drain(rings, KERNEL_UNKNOWN, take_nothing, NULL);
    perf_rings_close(rings);
    counters_perf_open_replace(NULL);
    printf("# %u samples with values\n", n);
    CHECK("where the kernel gives new threads no groups, they get their own with the next drain",
          state.finds_threads_late && n > 60);
}

int main(void)
{
    test_refusals();
    test_short_threads();
    test_refused_ip_samples();
    test_ip_samples();
    test_triggers();
    test_old_kernel();
    return tap_done();
}
