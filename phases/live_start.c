/*
 * When a program that was just started has got through its start: until then it is looked at, and no class changes.
 */
#include "phases/live_internal.h"

#define START_LIMIT_NS 8e9  /* of CPU time, at LIVE_BUDGET: the compilers' rest is not waited for any longer */
#define START_PART     0.25 /* of the recording, where it is known how long that is: at most */
#define START_WAIT_NS  UINT64_C(30000000000) /* the program waits for something, and may go on so */
#define REST_WINDOW_NS UINT64_C(500000000)   /* of CPU time: in it compilers that rest take less than ... */
#define REST_PART      0.25                  /* ... this part, also of one CPU */

/* The CPU time until which it is left as it is, at most. */
static double limit_ns(const struct live *live)
{
    double most_ns = START_LIMIT_NS * LIVE_BUDGET / live->options.budget;
    double part_ns = START_PART * live->options.duration_s * 1e9;
    return part_ns > 0 && part_ns < most_ns ? part_ns : most_ns;
}

/* Windows of CPU time, one after the other.  Of many busy CPUs a compiler that is never done takes a small part. */
static bool do_compilers_rest(struct live *live)
{
    const struct live_status *now = &live->now, *since = &live->rest_since;
    uint64_t cpu_ns = now->cpu_ns - since->cpu_ns, ns = now->now_ns - since->now_ns;
    if (cpu_ns < REST_WINDOW_NS)
        return false;
    bool is_known = now->jit_cpu_ns != LIVE_UNKNOWN && since->jit_cpu_ns != LIVE_UNKNOWN;
    double most_ns = REST_PART * (double)(cpu_ns < ns ? cpu_ns : ns);
    bool is_rest = is_known && (double)(now->jit_cpu_ns - since->jit_cpu_ns) < most_ns;
    live->rest_since = *now;
    return is_rest;
}

bool live_has_started(struct live *live)
{
    return live->is_started || (double)live->now.cpu_ns >= limit_ns(live) ||
           live->now.now_ns - live->first.now_ns >= START_WAIT_NS || do_compilers_rest(live);
}

bool live_is_starting(const struct live *live)
{
    return !live->is_started;
}
