#include "phases/live/live_parts.h"

#include "core/base/xalloc.h"
#include "phases/live/live_policy.h"

static double cpus(uint64_t cpu_ns, uint64_t ns)
{
    return ns == 0 ? 0 : (double)cpu_ns / (double)ns;
}

void live_window_free(struct live_window *window)
{
    free(window->all);
}

void live_window_watch(struct live_window *window, const struct live_status *now)
{
    window->usual_since_ns = now->now_ns;
    window->usual_jit_ns = now->jit_cpu_ns;
}

void live_window_begin(struct live_window *window, const struct live_status *now, bool discards_all)
{
    bool knows_jit = now->jit_cpu_ns != LIVE_UNKNOWN && window->usual_jit_ns != LIVE_UNKNOWN;
    window->usual_jit =
        knows_jit ? cpus(now->jit_cpu_ns - window->usual_jit_ns, now->now_ns - window->usual_since_ns) : 0;
    window->start_ns = now->now_ns;
    window->start_ticks = now->ticks;
    window->start_cpu_ns = now->cpu_ns;
    window->start_jit_ns = now->jit_cpu_ns;
    window->step_ns = window->step_jit_ns = window->n_quiet = 0;
    window->expected_ns = 0;
    if (discards_all && now->jit_cpu_ns != LIVE_UNKNOWN)
        window->discarded_ns = now->jit_cpu_ns;
}

void live_window_changed(struct live_window *window, const struct live_status *now, double expected_ns)
{
    window->expected_ns = expected_ns;
    window->step_ns = now->now_ns;
    window->step_jit_ns = now->jit_cpu_ns;
}

void live_window_cancel(struct live_window *window, bool is_first)
{
    window->discarded_ns = is_first ? 0 : window->discarded_ns;
}

bool live_window_is_over(struct live_window *window, const struct live_status *now)
{
    uint64_t most_ns = window->discarded_ns > 0 && window->n == 0 ? WINDOW_ALL_NS : WINDOW_MAX_NS;
    if (now->jit_cpu_ns == LIVE_UNKNOWN || window->step_jit_ns == LIVE_UNKNOWN)
        return now->now_ns - window->step_ns >= WINDOW_BLIND_NS;
    if (now->now_ns - window->step_ns < WINDOW_STEP_NS)
        return false;
    double jit = cpus(now->jit_cpu_ns - window->step_jit_ns, now->now_ns - window->step_ns);
    window->n_quiet = jit <= window->usual_jit + WINDOW_EXTRA ? window->n_quiet + 1 : 0;
    window->step_ns = now->now_ns;
    window->step_jit_ns = now->jit_cpu_ns;
    bool is_over = window->n_quiet >= WINDOW_QUIET, is_cut = !is_over && now->now_ns - window->start_ns >= most_ns;
    window->is_cut = window->is_cut || is_cut;
    return is_over || is_cut;
}

static double charge(struct live_window *window, const struct live_status *now)
{
    double expected_ns = isnan(window->expected_ns) ? 0 : window->expected_ns;
    if (now->jit_cpu_ns == LIVE_UNKNOWN || window->start_jit_ns == LIVE_UNKNOWN)
        return expected_ns;
    uint64_t all_ns = now->jit_cpu_ns - window->start_jit_ns;
    double more_ns = (double)all_ns - window->usual_jit * (double)(now->now_ns - window->start_ns);
    if (all_ns > window->most_ns)
        window->most_ns = all_ns;
    if (more_ns > 0)
        window->more_than_usual_ns += (uint64_t)more_ns;
    bool discarded_all = window->n == 1 && window->discarded_ns > 0; /* no more than there was */
    if (isnan(window->expected_ns))
        return fmin(fmax(more_ns, 0), discarded_all ? (double)window->discarded_ns : INFINITY);
    if (window->usual_jit > WINDOW_EXTRA)
        return expected_ns;
    return fmin(fmax(more_ns, expected_ns), RECOMPILED_MOST * expected_ns);
}

double live_window_end(struct live_window *window, const struct live_status *now)
{
    *xpush(window->all, window->room, window->n) = (struct live_recompilation){ window->start_ticks, now->ticks };
    window->ns += now->now_ns - window->start_ns;
    window->cpu_ns += now->cpu_ns - window->start_cpu_ns;
    double charged_ns = charge(window, now);
    window->booked_ns += charged_ns;
    live_window_watch(window, now);
    return charged_ns;
}
