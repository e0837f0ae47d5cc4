/*
 * Counters read by system call, with the kernel played by functions: which descriptors are opened, kept and closed,
 * and what becomes of a reading.
 */
#include "core/pmu/outside.h"

#include "test/unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define FILES_MAX 256
#define TID       4711

static struct {
    int leaders[FILES_MAX]; /* of each file: its group's, -1 its own */
    uint64_t n[FILES_MAX];  /* of a leader: events in its group */
    pid_t pids[FILES_MAX];
    uint64_t configs[FILES_MAX];
    int n_opened, n_allowed, error;
    uint64_t missed_ns;
    int broken; /* this leader cannot be read */
} kernel;

static int kernel_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    (void)cpu, (void)flags;
    errno = kernel.error;
    int fd = kernel.n_opened < kernel.n_allowed ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0 || fd >= FILES_MAX)
        return -1;
    kernel.n_opened++;
    kernel.leaders[fd] = group_fd;
    kernel.pids[fd] = pid;
    kernel.configs[fd] = attr->config;
    kernel.n[fd] = 1;
    if (group_fd >= 0)
        kernel.n[group_fd]++;
    return fd;
}

/* An event's value is 100 times its group's descriptor, and its place; the group ran 10 times that long. */
static bool kernel_read(int leader_fd, struct counters_reading *reading)
{
    if (leader_fd == kernel.broken)
        return false;
    reading->n = kernel.n[leader_fd];
    reading->running_ns = 1000 * (uint64_t)leader_fd;
    reading->enabled_ns = 1000 * (uint64_t)leader_fd + kernel.missed_ns;
    for (uint64_t i = 0; i < reading->n; i++)
        reading->values[i] = 100 * (uint64_t)leader_fd + i;
    return true;
}

static void reset(int n_allowed, int error)
{
    memset(&kernel, 0, sizeof kernel);
    kernel.n_allowed = n_allowed;
    kernel.error = error;
    kernel.broken = -1;
    counters_perf_open_replace(kernel_open);
    counters_perf_read_replace(kernel_read);
}

static int n_open_files(void)
{
    int n = 0;
    for (int fd = 0; fd < FILES_MAX; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Groups of 2, 3, 1 events whose codes are 1 to 6; n of them. */
static struct counter_layout make_layout(uint32_t n)
{
    static const uint32_t sizes[3] = { 2, 3, 1 };
    struct counter_layout layout = { .n_groups = 0 };
    struct counter_code codes[3] = { { .config = 0 } };
    for (uint32_t g = 0; g < n; g++) {
        for (uint32_t i = 0; i < sizes[g]; i++)
            codes[i].config = layout.n_slots + i + 1;
        counter_layout_add(&layout, codes, (const uint8_t[3]){ 0, 1, 2 }, sizes[g]);
    }
    return layout;
}

static void test_several(void)
{
    struct counter_layout layout = make_layout(3);
    struct counters_outside outside;
    struct counters_failure failure;
    uint64_t columns[COUNTERS_COLUMNS_MAX] = { 0 };
    int before = n_open_files();
    reset(6, 0);
    CHECK("three groups are opened", counters_outside_open(&outside, &layout, TID, &failure) == 0);
    const int *fds = outside.fds;
    CHECK("each slot has a file that stays open", n_open_files() == before + 6);
    CHECK("the first of a group leads, the others follow it",
          kernel.leaders[fds[0]] == -1 && kernel.leaders[fds[1]] == fds[0] && kernel.leaders[fds[2]] == -1 &&
              kernel.leaders[fds[3]] == fds[2] && kernel.leaders[fds[4]] == fds[2] && kernel.leaders[fds[5]] == -1);
    CHECK("they are the thread's, with the slots' codes",
          kernel.pids[fds[0]] == TID && kernel.pids[fds[5]] == TID && kernel.configs[fds[4]] == 5);
    kernel.missed_ns = 500;
    CHECK("they are read", counters_outside_read(&outside, &layout, columns));
    uint64_t a = (uint64_t)fds[0], b = (uint64_t)fds[2], c = (uint64_t)fds[5];
    const uint64_t expected[10] = { 100 * a, 100 * a + 1, 100 * b,  100 * b + 1, 100 * b + 2,
                                    100 * c, 1000 * a,    1000 * b, 1000 * c,    1000 * a + 500 };
    CHECK("values, each group's time, the time of all", memcmp(columns, expected, sizeof expected) == 0);
    kernel.broken = fds[2];
    CHECK("a group that cannot be read makes the reading invalid", !counters_outside_read(&outside, &layout, columns));
    kernel.broken = -1;
    kernel.n[fds[2]] = 2;
    CHECK("so does one that has lost a member", !counters_outside_read(&outside, &layout, columns));
    counters_outside_close(&outside);
    CHECK_NUMBER("all are closed", n_open_files(), before);
    CHECK("what is closed cannot be read", !counters_outside_read(&outside, &layout, columns));
    counters_outside_close(&outside);
    CHECK_NUMBER("and closing again does nothing", n_open_files(), before);
}

static void test_one(void)
{
    struct counter_layout layout = make_layout(1);
    struct counters_outside outside;
    struct counters_failure failure;
    uint64_t columns[COUNTERS_COLUMNS_MAX] = { 0 };
    reset(2, 0);
    CHECK("one group is opened", counters_outside_open(&outside, &layout, TID, &failure) == 0);
    kernel.missed_ns = 40;
    columns[2] = 7;
    CHECK("it has its values only", counters_outside_read(&outside, &layout, columns) &&
                                        columns[0] == 100 * (uint64_t)outside.fds[0] && columns[2] == 7);
    CHECK("that it was opened late is no matter", counters_outside_read(&outside, &layout, columns));
    kernel.missed_ns = 41;
    CHECK("but that it had to wait is: its values are too small", !counters_outside_read(&outside, &layout, columns));
    counters_outside_close(&outside);
}

static void test_adopted(void)
{
    struct counter_layout layout = make_layout(2);
    struct counters_outside opened, adopted;
    struct counters_failure failure;
    uint64_t columns[COUNTERS_COLUMNS_MAX] = { 0 };
    int before = n_open_files(), leaders[2];
    reset(5, 0);
    counters_outside_open(&opened, &layout, TID, &failure);
    leaders[0] = opened.fds[0];
    leaders[1] = opened.fds[2];
    for (int i = 1; i < 5; i += i == 1 ? 2 : 1)
        close(opened.fds[i]);
    counters_outside_adopt(&adopted, &layout, leaders);
    CHECK("leaders that somebody else opened read the whole groups",
          counters_outside_read(&adopted, &layout, columns) && columns[4] == 100 * (uint64_t)leaders[1] + 2 &&
              columns[7] == 1000 * (uint64_t)leaders[0]);
    counters_outside_close(&adopted);
    CHECK_NUMBER("and are closed", n_open_files(), before);
}

static void test_failures(void)
{
    static const int errors[] = { EACCES, ENOENT, EMFILE, ENOSPC, ESRCH };
    struct counter_layout layout = make_layout(3), none = { .n_groups = 0 };
    struct counters_outside outside;
    struct counters_failure failure;
    int before = n_open_files();
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        reset(4, errors[i]);
        CHECK("the slot that does not open is named with its error",
              counters_outside_open(&outside, &layout, TID, &failure) == -1 && failure.i == 4 &&
                  failure.error == errors[i] && failure.step == COUNTERS_OPEN && outside.n_slots == 0);
    }
    CHECK_NUMBER("no file stays open after failures", n_open_files(), before);
    CHECK("no group at all is refused", counters_outside_open(&outside, &none, TID, &failure) == -1);
    layout.first[1] = 60;
    CHECK("so is a layout that is not valid", counters_outside_open(&outside, &layout, TID, &failure) == -1);
}

int main(void)
{
    test_several();
    test_one();
    test_adopted();
    test_failures();
    return tap_done();
}
