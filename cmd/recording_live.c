#include "cmd/recording_live.h"

#include <inttypes.h>
#include <math.h>

void recording_tell_live(const struct live_session *session, const char *prefix, FILE *out)
{
    struct live_cost cost;
    size_t n, n_enabled = 0, n_held = 0, n_off[4] = { 0 };
    if (session->live == NULL)
        return;
    live_cost(session->live, &cost);
    const struct live_method *methods = live_methods(session->live, &n);
    for (size_t i = 0; i < n; i++) {
        n_held += methods[i].is_held;
        n_enabled += methods[i].state == LIVE_ENABLED && !methods[i].is_held;
        n_off[methods[i].why] += methods[i].state != LIVE_ENABLED;
    }
    fprintf(out, "%s%" PRIu32 " stack samples%s; ", prefix, session->n_samples,
            session->status.polls_stacks ? " by the agent" : "");
    if (session->status.n_pauses == 0)
        fprintf(out, "no loaded class was instrumented\n");
    else
        fprintf(out,
                "%zu methods instrumented in %" PRIu32
                " batch%s, pausing the program for %.0f ms at most (%.0f ms in total)\n",
                n - n_held, session->status.n_pauses, session->status.n_pauses == 1 ? "" : "es",
                session->status.longest_pause_ms, session->status.pauses_ms);
    fprintf(out,
            "%s%zu are recorded at the end; switched off: %zu with short calls, %zu called too often, %zu for the "
            "budget\n",
            prefix, n_enabled, n_off[LIVE_TOO_SHORT], n_off[LIVE_TOO_FREQUENT], n_off[LIVE_OVER_BUDGET]);
    fprintf(out, "%sthe JIT compiler recompiled instrumented classes for %s%.1f s", prefix,
            cost.is_cut ? "at least " : "", cost.recovery_ms / 1e3);
    if (cost.recompiling_ns != LIVE_UNKNOWN)
        fprintf(out, ", %.1f s of CPU time more than before", (double)cost.recompiling_ns / 1e9);
    fprintf(out, "%s\n", session->status.n_pauses > 0 ? "; slower code until then is not counted" : "");
    if (session->options.leaves_classes)
        fprintf(out,
                "%sno class was instrumented, so there are samples only: the JVM writes a class archive (%s), and "
                "would crash doing so, or omit instrumented classes\n"
                "%s  next: run the program without that option to have its calls recorded\n",
                prefix, session->archive, prefix);
    else if (cost.spared_ns > 0)
        fprintf(out,
                "%sno class was instrumented, so there are samples only: this JVM would have discarded all its "
                "compiled code, %.1f s of JIT compilation\n"
                "%s  next: add --recompile %.0f to allow it; JDK 23 and later, and JVMs that mmprof starts, keep their "
                "code\n",
                prefix, (double)cost.spared_ns / 1e9, prefix, ceil((double)cost.spared_ns / 1e9 * 1.2));
    else if (cost.n_put_off > 0)
        fprintf(out,
                "%s%zu sampled methods were not instrumented: recompiling their classes would exceed the budget%s\n"
                "%s  next: record for longer, or with a --budget of more than %.2g%%\n",
                prefix, cost.n_put_off, n > n_held ? "" : "; no class fits into the budget, so there are samples only",
                prefix, session->options.budget * 100);
    if (n_held > 0)
        fprintf(out,
                "%s%zu method%s not instrumented: a hot loop of %s class was running; instrumenting it would have "
                "dropped it to the interpreter\n",
                prefix, n_held, n_held == 1 ? "" : "s", n_held == 1 ? "its" : "their");
    if (session->refused[0] != '\0')
        fprintf(out, "%sthe agent refused: %s\n", prefix, session->refused);
}
