/* The counters that the recorder reads of a thread: events that it opens, or the simulator's. */
#include "core/recorder/readings_parts.h"

#include "core/recorder/simulation.h"

int readings_open_own(const struct readings *readings, struct counters_outside *own, pid_t tid,
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

struct counters_outside *readings_simulated_probes(struct readings *readings, const struct recorder_thread *thread)
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

bool readings_is_event(int fd)
{
    char path[32], target[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0)
        return false;
    target[n] = '\0';
    return strcmp(target, "anon_inode:[perf_event]") == 0;
}
