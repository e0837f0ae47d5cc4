/*
 * Before the trace of a running JVM begins: its classes get their probes, batch by batch, and what that takes is said.
 */
#include "core/recorder/recorder_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_MS      100
#define MB_FOR_CPU_S  20.0 /* of a trace, for a second of the program's CPU time: 8 and 48 in two programs */
#define WORTH_TELLING 1000 /* ms: what is over sooner needs no forecast */

static void tell_forecast(const struct recorder *r, double cpus)
{
    const struct recorder_change *change = &r->change;
    double mb = cpus * MB_FOR_CPU_S, for_s = r->plan->duration_s;
    if (r->plan->progress == NULL || change->forecast.ms < WORTH_TELLING)
        return;
    fprintf(r->plan->progress,
            "mmprof: %" PRIu32 " classes will be instrumented: estimated from the first batch, this takes %.0f s and "
            "pauses the program for %.0f ms at most, %.1f s in total\n",
            change->n_wanted, change->forecast.ms / 1e3, change->forecast.longest_stop_ms,
            change->forecast.stops_ms / 1e3);
    fprintf(r->plan->progress, "mmprof: after that the trace grows by about %.0f MB per second", mb);
    if (for_s > 0)
        fprintf(r->plan->progress, ", to %.0f MB", mb * for_s);
    fprintf(r->plan->progress, " (estimated from the %.1f CPUs that the program uses)\n", cpus);
}

void recorder_hear_change(struct recorder *r, const struct wire_message *told)
{
    struct recorder_change *change = &r->change;
    if (r->ready)
        return;
    if (told->kind == WIRE_CHANGING) {
        change->n_wanted = told->n_classes;
        change->start_ns = clock_ns(CLOCK_MONOTONIC_RAW);
        return;
    }
    change->n_changed += told->n_classes;
    if (change->n_batches++ == 0 && change->n_wanted > told->n_classes)
        batch_forecast(change->n_wanted - told->n_classes, told->n_classes, told->call_ms, (double)told->pause_ns / 1e6,
                       &change->forecast);
}

/* The first batches are the small ones: by those alone it would be too long. */
static double left_s(const struct recorder_change *change)
{
    double n_left = (double)change->n_wanted - change->n_changed;
    if (n_left <= 0)
        return 0;
    if (change->n_batches == 1)
        return change->forecast.ms / 1e3;
    return (double)(clock_ns(CLOCK_MONOTONIC_RAW) - change->start_ns) / 1e9 / change->n_changed * n_left;
}

static void report(struct recorder *r)
{
    const struct recorder_change *change = &r->change;
    if (!progress_is_due(&r->progress))
        return;
    if (change->n_wanted == 0 || change->n_changed == 0)
        progress_line(&r->progress, "scanning the loaded classes");
    else
        progress_line(&r->progress, "%" PRIu32 " of %" PRIu32 " classes are instrumented, about %.0f s left",
                      change->n_changed, change->n_wanted, left_s(change));
}

/* The CPU time that the program takes a second. */
static double cpus_since(const struct recorder *r, uint64_t cpu_ns, uint64_t since_ns)
{
    uint64_t now_cpu_ns = cpu_ns, passed_ns = clock_ns(CLOCK_MONOTONIC_RAW) - since_ns;
    jvm_process_cpu_ns(r->plan->pid, &now_cpu_ns);
    return passed_ns == 0 ? 0 : (double)(now_cpu_ns - cpu_ns) / (double)passed_ns;
}

static int end_early(struct recorder *r, struct err *err)
{
    if (r->gone)
        return err_set(err, "JVM %d ended before its recording began", (int)r->plan->pid);
    r->is_cut = true;
    if (r->room.why[0] != '\0') {
        err_set(err, "%s: stopped before the recording began; the JVM removes its probes", r->room.why);
        return err_next(err, "record fewer classes with --include, or give the group more memory");
    }
    err_set(err, "stopped before the recording began: there is no trace, and JVM %d removes its probes",
            (int)r->plan->pid);
    return err_next(err, "record without --all-methods, or fewer classes with --include");
}

int recorder_change_classes(struct recorder *r, struct err *err)
{
    bool stopped = false, has_news, is_told = false;
    uint64_t cpu_ns = 0, start_ns = clock_ns(CLOCK_MONOTONIC_RAW);
    jvm_process_cpu_ns(r->plan->pid, &cpu_ns);
    progress_begin(&r->progress, r->plan->progress);
    while (!r->ready && !r->gone && !r->interrupted && !stopped && !recorder_room_is_low(r)) {
        recorder_wait_for(r, ROUND_MS);
        if (recorder_hear(r, &stopped, &has_news, err) < 0)
            return -1;
        if (!is_told && r->change.n_batches > 0) {
            is_told = true;
            progress_end(&r->progress);
            tell_forecast(r, cpus_since(r, cpu_ns, start_ns));
        }
        if (r->plan->prepare_limit_s > 0 &&
            (double)(clock_ns(CLOCK_MONOTONIC_RAW) - start_ns) / 1e9 >= r->plan->prepare_limit_s)
            atomic_store(&r->session.segment->is_enough, 1);
        report(r);
    }
    progress_end(&r->progress);
    return r->ready ? 0 : end_early(r, err);
}
