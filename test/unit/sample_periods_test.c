/* What events counted since a thread's sample before on the same CPU, of threads that come and go. */
#include "core/recorder/sample_periods.h"

#include "test/unit/tap.h"

#include <malloc.h>

#define N_THREADS 60000
#define FEW       1000
#define LASTING   1 /* the id of a thread that goes on */

static struct sample_periods periods;
static uint64_t words[KERNEL_VALUES_MAX + 3];

/* A sample of a thread on a CPU, when its event has counted so much.  Returns how much since the one before. */
static uint64_t take(int32_t tid, uint32_t cpu, uint64_t counted)
{
    uint64_t counters[KERNEL_VALUES_MAX] = { 0 };
    words[0] = 1;
    words[1] = words[2] = words[3] = counted; /* ns enabled, ns running, and events */
    const struct kernel_event sample = { .tid = tid, .cpu = cpu, .stack = { .values = (const uint8_t *)words } };
    return sample_periods_counters(&periods, &sample, counters) == 1 ? counters[0] : UINT64_MAX;
}

static void churn(int first, int n)
{
    for (int32_t tid = LASTING + 1 + first; tid <= LASTING + first + n; tid++) {
        take(tid, 0, 5);
        take(tid, 3, 7);
        sample_periods_forget(&periods, tid);
    }
}

int main(void)
{
    sample_periods_init(&periods, &(struct kernel_trigger){ .period = 1000 }, 100);
    CHECK_NUMBER("a first sample has all that was counted", take(LASTING, 1, 100), 100);
    CHECK_NUMBER("the next one what was since", take(LASTING, 1, 130), 30);
    CHECK_NUMBER("on another CPU it counts by itself", take(LASTING, 0, 10), 10);
    churn(0, FEW);
    size_t bytes = mallinfo2().uordblks;
    churn(FEW, N_THREADS - FEW);
    CHECK_NUMBER("60,000 threads that ended need no more memory than 1,000", mallinfo2().uordblks, bytes);
    CHECK_NUMBER("a thread that goes on is known on each of its CPUs", take(LASTING, 1, 135) + take(LASTING, 0, 12), 7);
    take(77, 1, 50);
    sample_periods_forget(&periods, 77);
    CHECK_NUMBER("another thread with the number of one that ended counts from 0", take(77, 1, 60), 60);
    sample_periods_free(&periods);
    return tap_done();
}
