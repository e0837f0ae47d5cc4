/* What reading a thread's counters costs here, measured on this thread. */
#include "core/base/ticks.h"
#include "core/pmu/outside.h"
#include "core/pmu/selftest.h"

#define N_BATCHES       8
#define READS_PER_BATCH 64

struct subject {
    struct counters_thread thread;
    struct counters_outside outside;
    const struct counter_layout *layout;
};

static void read_user(struct subject *s, uint64_t *columns)
{
    counters_thread_read(&s->thread, ticks_now(), columns);
}

static void read_syscall(struct subject *s, uint64_t *columns)
{
    counters_outside_read(&s->outside, s->layout, columns);
}

/* Of the fastest batch: the others were disturbed. */
static double cheapest_ns(struct subject *s, void (*read_once)(struct subject *, uint64_t *))
{
    uint64_t columns[COUNTERS_COLUMNS_MAX];
    double best = 0;
    for (int batch = 0; batch < N_BATCHES; batch++) {
        double start = (double)clock_ns(CLOCK_MONOTONIC);
        for (int i = 0; i < READS_PER_BATCH; i++)
            read_once(s, columns);
        double each = ((double)clock_ns(CLOCK_MONOTONIC) - start) / READS_PER_BATCH;
        best = batch == 0 || each < best ? each : best;
    }
    return best;
}

int selftest_read_ns(const struct counter_layout *layout, double *user_ns, double *syscall_ns)
{
    struct subject s = { .layout = layout };
    struct counters_failure failure;
    *user_ns = *syscall_ns = SELFTEST_NO_COST;
    if (counters_thread_open(&s.thread, layout, NULL, &failure) == 0) {
        *user_ns = cheapest_ns(&s, read_user);
        counters_thread_close(&s.thread);
    }
    if (counters_outside_open(&s.outside, layout, 0, &failure) < 0)
        return -1;
    *syscall_ns = cheapest_ns(&s, read_syscall);
    counters_outside_close(&s.outside);
    return 0;
}
