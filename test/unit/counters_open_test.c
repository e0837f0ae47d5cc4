/*
 * Opening groups of counters, with the kernel played by a function; and the real thing, where there is a PMU.
 */
#include "core/base/ticks.h"
#include "core/pmu/layout.h"
#include "core/pmu/outside.h"
#include "core/pmu/read.h"
#include "test/unit/open_files.h"
#include "test/unit/tap.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAY_READ UINT64_C(4) /* cap_user_rdpmc */

/* ---- opening a group ---- */

#define KERNEL_MAX 8

static struct {
    struct perf_event_attr attrs[KERNEL_MAX];
    pid_t pids[KERNEL_MAX];
    int cpus[KERNEL_MAX], leaders[KERNEL_MAX], fds[KERNEL_MAX];
    unsigned long flags[KERNEL_MAX];
    int n, n_counters, error; /* more than n_counters: error */
    bool mappable;
    struct perf_event_mmap_page page; /* what it maps of each event */
    uint64_t now_ns;
    uint32_t n_reads;
} kernel;

static int kernel_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    if (kernel.n >= kernel.n_counters) {
        errno = kernel.error;
        return -1;
    }
    int i = kernel.n++, pipe_fds[2];
    kernel.attrs[i] = *attr;
    kernel.pids[i] = pid;
    kernel.cpus[i] = cpu;
    kernel.leaders[i] = group_fd;
    kernel.flags[i] = flags;
    if (kernel.mappable) {
        kernel.fds[i] = memfd_create("page", MFD_CLOEXEC);
        if (ftruncate(kernel.fds[i], sysconf(_SC_PAGESIZE)) < 0 ||
            pwrite(kernel.fds[i], &kernel.page, sizeof kernel.page, 0) < 0)
            return -1;
    } else {
        if (pipe(pipe_fds) < 0)
            return -1;
        close(pipe_fds[1]);
        kernel.fds[i] = pipe_fds[0];
    }
    return kernel.fds[i];
}

/* All zero: a page that allows no reads. */
static void kernel_reset(int n_counters, int error, bool mappable)
{
    memset(&kernel, 0, sizeof kernel);
    kernel.n_counters = n_counters;
    kernel.error = error;
    kernel.mappable = mappable;
    counters_perf_open_replace(kernel_open);
}

static const struct counter_code codes[4] = {
    { .type = PERF_TYPE_HARDWARE, .exclude = COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR, .config = 0 },
    { .type = PERF_TYPE_HARDWARE, .exclude = COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR, .config = 1 },
    { .type = PERF_TYPE_RAW, .exclude = COUNTER_NO_USER, .config = 0x1c2, .config1 = 0x40, .config2 = 3 },
    { .type = PERF_TYPE_HW_CACHE, .config = 0x10000 },
};

/* The first n of them in each of so many groups. */
static int open_groups(struct counters_thread *thread, uint32_t n_groups, uint32_t n, struct counters_failure *failure)
{
    static const uint8_t events[4] = { 0, 1, 2, 3 };
    struct counter_layout layout = { .n_groups = 0 };
    for (uint32_t g = 0; g < n_groups; g++)
        counter_layout_add(&layout, codes, events, n);
    return counters_thread_open(thread, &layout, NULL, failure);
}

static int open_codes(struct counters_thread *thread, uint32_t n, struct counters_failure *failure)
{
    return open_groups(thread, 1, n, failure);
}

static void test_opening(void)
{
    struct counters_thread thread;
    struct counters_failure failure;
    size_t before = n_open_files();
    kernel_reset(8, 0, true);
    int rc = open_codes(&thread, 3, &failure);
    CHECK("a group without reads in user space is refused", rc == -1 && thread.pages == NULL && failure.error == 0 &&
                                                                failure.step == COUNTERS_FIRST_READ && failure.i == 0);
    CHECK_NUMBER("all three events were opened", kernel.n, 3);
    CHECK("the first leads, the others follow it",
          kernel.leaders[0] == -1 && kernel.leaders[1] == kernel.fds[0] && kernel.leaders[2] == kernel.fds[0]);
    CHECK("they count the calling thread on any CPU", kernel.pids[2] == 0 && kernel.cpus[2] == -1);
    CHECK("children of the target do not inherit the files", kernel.flags[0] == PERF_FLAG_FD_CLOEXEC);
    const struct perf_event_attr *attr = &kernel.attrs[2];
    uint64_t user_read = attr->config1 & ~UINT64_C(0x40);
    CHECK("a raw event's attributes are those of its code",
          attr->type == PERF_TYPE_RAW && attr->config == 0x1c2 && attr->config2 == 3 && attr->exclude_user == 1 &&
              attr->exclude_kernel == 0 && attr->exclude_hv == 0 && attr->inherit == 0 && attr->disabled == 0);
#if defined(__aarch64__)
    CHECK_NUMBER("aarch64 asks for reads in user space", user_read, 2);
#else
    CHECK_NUMBER("config1 is left alone", user_read, 0);
#endif
    CHECK_NUMBER("no file stays open", n_open_files(), before);
}

static void test_opening_fails(void)
{
    static const int errors[] = { EACCES, ENOENT, EMFILE, ENOSPC, EINVAL };
    struct counters_thread thread;
    struct counters_failure failure;
    size_t before = n_open_files();
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        kernel_reset(2, errors[i], true);
        int rc = open_codes(&thread, 4, &failure);
        CHECK("a refused event is named with its error", rc == -1 && thread.pages == NULL && failure.i == 2 &&
                                                             failure.error == errors[i] &&
                                                             failure.step == COUNTERS_OPEN);
    }
    kernel_reset(8, 0, false);
    int rc = open_codes(&thread, 2, &failure);
    CHECK("a page that cannot be mapped is an error",
          rc == -1 && thread.pages == NULL && failure.step == COUNTERS_MAP && failure.error != 0 && failure.i == 0);
    CHECK("no event at all is refused", open_codes(&thread, 0, &failure) == -1);
    uint64_t values[COUNTERS_GROUP_MAX];
    CHECK("a thread that is not open has no values", !counters_thread_read(&thread, 0, values));
    counters_thread_close(&thread);
    CHECK_NUMBER("no file stays open after failures", n_open_files(), before);
    counters_perf_open_replace(NULL);
}

/* What a page must say for its group to be read. */
static void test_first_read(void)
{
    static const struct {
        const char *claim;
        uint32_t n_groups, index;
        uint64_t capabilities;
        int rc;
        enum counters_step step;
    } rows[] = {
        { "one that does not count now is refused", 1, 0, COUNTERS_MAY_READ, -1, COUNTERS_FIRST_READ },
        { "groups that take turns are open", 2, 0, COUNTERS_MAY_READ | COUNTERS_HAS_TIME, 0, 0 },
        { "not where the clock cannot be read", 2, 1, COUNTERS_MAY_READ, -1, COUNTERS_TIME },
        { "nor where the counters cannot be", 2, 1, COUNTERS_HAS_TIME, -1, COUNTERS_FIRST_READ },
    };
    struct counters_thread thread;
    struct counters_failure failure;
    size_t before = n_open_files();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kernel_reset(8, 0, true);
        kernel.page.capabilities = rows[i].capabilities;
        kernel.page.index = rows[i].index;
        kernel.page.pmc_width = 48;
        failure.step = 0;
        int rc = open_groups(&thread, rows[i].n_groups, 2, &failure);
        CHECK(rows[i].claim, rc == rows[i].rc && failure.step == rows[i].step && (thread.pages != NULL) == (rc == 0));
        counters_thread_close(&thread);
    }
    CHECK_NUMBER("no file stays open in any case", n_open_files(), before);
    counters_perf_open_replace(NULL);
}

/* The second group was opened 700 ns after the first; the reads take some time, the fastest of them equally long. */
static bool kernel_read(int fd, struct counters_reading *reading)
{
    static const uint64_t takes_ns[] = { 50, 40, 400, 100, 30, 30, 20, 9, 90 };
    kernel.now_ns += takes_ns[kernel.n_reads++ % 9];
    *reading = (struct counters_reading){ .n = 2, .enabled_ns = kernel.now_ns - (fd == kernel.fds[0] ? 0 : 700) };
    return true;
}

static void test_begun(void)
{
    struct counters_thread thread;
    struct counters_failure failure;
    kernel_reset(8, 0, true);
    kernel.page.capabilities = COUNTERS_MAY_READ | COUNTERS_HAS_TIME;
    kernel.now_ns = 100000;
    counters_perf_read_replace(kernel_read);
    CHECK("groups are opened one after the other", open_groups(&thread, 2, 2, &failure) == 0);
    CHECK_NUMBER("how long after the first is known from the narrowest of three reads", thread.begun_ns[1], 700);
    CHECK_NUMBER("of the first itself it is 0", thread.begun_ns[0], 0);
    counters_thread_close(&thread);
    counters_perf_read_replace(NULL);
    counters_perf_open_replace(NULL);
}

/* ---- the real thing ---- */

static volatile uint64_t sink;

static void spin(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        sink += i;
}

static void test_hardware(void)
{
    static const char claim[] = "instructions of a loop are counted in user space";
    struct counters_thread thread;
    struct counters_failure failure;
    size_t before = n_open_files();
    if (open_codes(&thread, 2, &failure) < 0) {
        SKIP(claim,
             failure.step == COUNTERS_FIRST_READ ? "no reads of counters in user space here" : strerror(failure.error));
        return;
    }
    CHECK_NUMBER("an open group holds no file", n_open_files(), before);
    uint64_t a[COUNTERS_GROUP_MAX], b[COUNTERS_GROUP_MAX], c[COUNTERS_GROUP_MAX];
    bool valid = counters_thread_read(&thread, 0, a);
    spin(1000000);
    valid &= counters_thread_read(&thread, 0, b);
    spin(2000000);
    valid &= counters_thread_read(&thread, 0, c);
    CHECK("reads are valid", valid);
    uint64_t first = b[1] - a[1], second = c[1] - b[1];
    printf("# instructions: %" PRIu64 " for 1M rounds, %" PRIu64 " for 2M; cycles: %" PRIu64 ", %" PRIu64 "\n", first,
           second, b[0] - a[0], c[0] - b[0]);
    CHECK(claim,
          first >= 3000000 && first < 100000000 && second > first + first * 9 / 10 && second < first * 2 + first / 10);
    CHECK("cycles move", b[0] > a[0] && c[0] > b[0]);
    counters_thread_close(&thread);
    CHECK("a closed group has no values", !counters_thread_read(&thread, 0, a));
}

/* ---- groups that take turns on real counters ---- */

#define N_TURNS   3
#define MOMENT_NS 2000 /* how far apart the clocks of two groups may be */

static const struct counter_code instructions = { .type = PERF_TYPE_HARDWARE,
                                                  .exclude = COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR,
                                                  .config = PERF_COUNT_HW_INSTRUCTIONS };

/* More than fits: three groups, each as large as one can be. */
static struct counter_layout crowd(uint32_t n)
{
    static const uint8_t events[COUNTERS_GROUP_MAX];
    struct counter_layout layout = { .n_groups = 0 };
    struct counter_code same[COUNTERS_GROUP_MAX];
    for (uint32_t i = 0; i < n; i++)
        same[i] = instructions;
    for (uint32_t g = 0; g < N_TURNS; g++)
        counter_layout_add(&layout, same, events, n);
    return layout;
}

static bool in_order(const uint64_t *a, const uint64_t *b, uint32_t n)
{
    bool ordered = a[n] <= b[n] + MOMENT_NS; /* the time of all is the last one */
    for (uint32_t i = 0; i < n; i++)
        ordered &= a[i] <= b[i];
    return ordered;
}

/*
 * Read through the pages, by system call, and again: what a page says lies between what the kernel says before and
 * after, whether its group counts at that moment or waits.
 */
static void read_in_turns(struct counters_thread *thread, const struct counter_layout *layout, int *leaders)
{
    uint64_t before[COUNTERS_COLUMNS_MAX], between[COUNTERS_COLUMNS_MAX], after[COUNTERS_COLUMNS_MAX];
    uint32_t n_last = counter_layout_columns(layout) - 1, n_valid = 0, n_ordered = 0, n_within = 0;
    struct counters_outside outside;
    counters_outside_adopt(&outside, layout, leaders);
    for (int i = 0; i < 400; i++) {
        bool valid = counters_outside_read(&outside, layout, before);
        valid &= counters_thread_read(thread, ticks_now(), between);
        valid &= counters_outside_read(&outside, layout, after);
        n_valid += valid;
        n_ordered += valid && in_order(before, between, n_last) && in_order(between, after, n_last);
        uint64_t running_ns = 0;
        for (uint32_t g = 0; g < N_TURNS; g++)
            running_ns += between[layout->n_slots + g];
        n_within += valid && running_ns <= between[n_last] + MOMENT_NS;
        spin(100000);
    }
    printf("# of 400 readings %u valid, %u in order, %u with one group at a time\n", n_valid, n_ordered, n_within);
    CHECK("nearly all readings are valid", n_valid >= 390);
    CHECK("what the pages say lies between what the kernel says before and after", n_ordered == n_valid);
    CHECK("one group counts at a time", n_within == n_valid);
    const uint64_t *running = after + layout->n_slots;
    for (uint32_t g = 0; g < N_TURNS; g++) {
        uint64_t first = after[layout->first[g]];
        printf("# group %u: %" PRIu64 " instructions in %" PRIu64 " of %" PRIu64 " ns: %.4f a ns\n", g, first,
               running[g], after[n_last], (double)first / (double)running[g]);
        CHECK("each group had turns", running[g] > 0 && first > 0);
        double ratio = (double)first / (double)running[g] / ((double)after[0] / (double)running[0]);
        CHECK("and counted at the same rate", ratio > 0.9 && ratio < 1.1);
    }
    counters_outside_close(&outside);
}

static void test_real_turns(void)
{
    static const char claim[] = "groups that take turns are read";
    uint32_t n = layout_group_size(&instructions);
    struct counter_layout layout = crowd(n == 0 ? 1 : n);
    struct counters_thread thread;
    struct counters_failure failure;
    size_t before = n_open_files();
    int leaders[N_TURNS];
    if (n == 0 || counters_thread_open(&thread, &layout, leaders, &failure) < 0) {
        SKIP(claim, n == 0 ? "no counters here" : "user space cannot read the counters and the clock here");
        return;
    }
    CHECK_NUMBER("only the leaders' files stay open", n_open_files(), before + N_TURNS);
    printf("# %d groups of %u events, opened %d and %d ns after the first\n", N_TURNS, n, thread.begun_ns[1],
           thread.begun_ns[2]);
    read_in_turns(&thread, &layout, leaders);
    uint64_t columns[COUNTERS_COLUMNS_MAX];
    CHECK(claim, counters_thread_read(&thread, ticks_now(), columns));
    counters_thread_close(&thread);
    CHECK("and not after they are closed", !counters_thread_read(&thread, ticks_now(), columns));
}

int main(void)
{
    test_opening();
    test_opening_fails();
    test_first_read();
    test_begun();
    test_hardware();
    test_real_turns();
    return tap_done();
}
