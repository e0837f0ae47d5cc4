#include "cmd/recording.h"

#include "core/base/text.h"
#include "core/recorder/simulation.h"
#include "phases/live/live_policy.h"
#include "report/view/cost.h"

static void tell_simulation(const struct recorder_summary *s, const struct recorder_plan *plan)
{
    char text[128];
    simulation_describe(&(struct simulation_state){ .n_instructions = s->n_instructions, .cpu_s = s->cpu_s }, text,
                        sizeof text);
    fprintf(stderr, "mmprof: simulated %s; ", text);
    if (plan->alone_cpu_s > 0 && s->cpu_s > 0)
        fprintf(stderr, "slowdown %.1fx: %.1f s of CPU time; the first recording took %.1f s\n",
                s->cpu_s / plan->alone_cpu_s, s->cpu_s, plan->alone_cpu_s);
    else
        fprintf(stderr, "slowdown -: the program's time without simulation is unknown\n");
}

static void tell_counters(const struct recorder_summary *s, const struct recorder_plan *plan)
{
    static const char *const reads[] = { "by probes in user space", "by probes with system calls", "by no probe" };
    if (plan->layout->n_groups == 0)
        return;
    if (plan->simulation != NULL) {
        fprintf(stderr, "mmprof: simulated counters of '%s', read by probes, and %" PRIu64 " times remotely\n",
                plan->simulation->model, s->n_readings);
        tell_simulation(s, plan);
        return;
    }
    fprintf(stderr,
            "mmprof: %" PRIu32 " group%s of counters, read %s; and %" PRIu64 " times remotely (%.1f ms of CPU time)\n",
            plan->layout->n_groups, plan->layout->n_groups == 1 ? "" : "s in turn", reads[plan->read], s->n_readings,
            (double)s->readings_ns / 1e6);
    if (s->n_without_readings > 0)
        fprintf(stderr, "mmprof: %" PRIu32 " threads' counters could not be read remotely: %s\n", s->n_without_readings,
                s->readings_why);
}

static const char *classes(uint32_t n)
{
    return n == 1 ? "class" : "classes";
}

/* next: what to do about it, or NULL. */
static void tell_without_probes(uint32_t n, const char *why, const char *next)
{
    if (n == 0)
        return;
    fprintf(stderr, "mmprof: %" PRIu32 " %s not instrumented: %s\n", n, classes(n), why);
    if (next != NULL)
        fprintf(stderr, "  next: %s\n", next);
}

/* first: "pkg.Class: why", from the target. */
static void tell_first(const char *first)
{
    if (first[0] != '\0') {
        fputs("; the first: ", stderr);
        text_print(stderr, first);
    }
    fputc('\n', stderr);
}

static void tell_kept(uint32_t n, const char *why, const char *next)
{
    if (n > 0)
        fprintf(stderr,
                "mmprof: %" PRIu32 " %s kept disabled probes: %s\n"
                "  next: %s; the next recording removes the probes\n",
                n, classes(n), why, next);
}

/* Loaded classes that were not changed, for reasons of their own. */
static void tell_unchanged(const struct recorder_summary *s)
{
    tell_without_probes(s->n_breakpoint_classes, "a debugger has breakpoints there, and the JVM would remove them",
                        "clear the breakpoints in the classes to record");
    tell_kept(s->n_kept_classes, "a debugger has breakpoints there, and the JVM would remove them",
              "clear the breakpoints");
    tell_kept(s->n_kept_for_memory, "to change them back takes memory, and the JVM is near its limit",
              "give the group more memory");
    if (s->n_refused_classes > 0) {
        fprintf(stderr, "mmprof: %" PRIu32 " %s not changed: the JVM refused", s->n_refused_classes,
                classes(s->n_refused_classes));
        tell_first(s->refused);
    }
    if (s->n_unsure_classes > 0) {
        fprintf(stderr, "mmprof: %" PRIu32 " %s not instrumented: their bytecode with probes failed mmprof's check",
                s->n_unsure_classes, classes(s->n_unsure_classes));
        tell_first(s->unsure);
    }
}

void recording_tell_summary(const struct recorder_summary *s, const struct recorder_plan *plan, bool attached)
{
    static const char *const ends[] = { "the time is up", "stopped by a signal", "the JVM ended",
                                        "the trace has reached its maximum size", "memory is short" };
    char records[80] = "";
    if (s->n_records > 0 || !plan->is_live)
        snprintf(records, sizeof records, " %" PRIu64 " records of %" PRIu32 " methods,", s->n_records, s->n_methods);
    fprintf(stderr, "mmprof: recorded %.1f s of JVM %d (%s):%s %.1f MB in '%s'\n", s->seconds, (int)s->pid,
            ends[s->end], records, (double)s->n_bytes / 1e6, plan->output);
    if (s->end == RECORDER_ENDED_BY_SIZE)
        fprintf(stderr, "  next: give a larger --max-size, or record less with --include or --live\n");
    if (s->instrument_ms > 0)
        fprintf(stderr, "mmprof: instrumenting the %s took %.2f s; longest %s %.0f ms\n",
                attached ? "loaded classes" : "JDK's first classes", s->instrument_ms / 1e3,
                attached ? "pause of the program" : "step", s->longest_pause_ms);
    tell_without_probes(s->n_late_classes, "the time was up (the JDK's come last); their callers' times include theirs",
                        "give a longer --prepare-limit, or choose classes with --include");
    tell_counters(s, plan);
    if (s->n_lost > 0)
        fprintf(stderr,
                "mmprof: %" PRIu64 " calls were lost: the buffers were full\n"
                "  next: give a larger --buffer, or instrument less with --include or --min-bytecodes\n",
                s->n_lost);
    if (s->n_kernel_lost > 0)
        fprintf(stderr, "mmprof: %" PRIu64 " of the kernel's records (thread switches, faults) were lost\n",
                s->n_kernel_lost);
    if (s->n_skipped + s->n_failed_classes > 0)
        fprintf(stderr, "mmprof: %" PRIu32 " methods and %" PRIu32 " classes could not be instrumented\n", s->n_skipped,
                s->n_failed_classes);
    tell_without_probes(s->n_left_classes, "they have native methods, and this JVM never frees their old versions",
                        plan->n_includes + plan->n_phases == 0 ? "choose them with --include" : NULL);
    tell_without_probes(s->n_no_room_classes,
                        s->is_group_full ? "the JVM is short of memory (control group)"
                                         : "the JVM is short of metaspace (-XX:MaxMetaspaceSize)",
                        "record fewer classes with --include or --live, or give the JVM more");
    tell_without_probes(s->n_event_classes, "they are JFR events, which JFR changes itself", NULL);
    if (s->unmatched.text[0] != '\0') {
        fputs("mmprof: ", stderr);
        text_print_lines(stderr, s->unmatched.text);
        fputc('\n', stderr);
    }
    tell_without_probes(s->n_loader_classes, "their class loaders cannot find the probes, or are locked",
                        "see CAVEATS in mmprof(1), or record again later");
    tell_unchanged(s);
    if (strncmp(s->offcpu, "none", 4) == 0)
        fprintf(stderr, "mmprof: times are wall-clock times, which include waiting: %s\n",
                s->offcpu + strlen("none: "));
    if (s->warning[0] != '\0')
        fprintf(stderr, "mmprof: %s\n", s->warning);
}

/* ---- the cost ---- */

static void tell_part(const char *name, double ns, const struct cost_sums *sums)
{
    if (ns < 0)
        fprintf(stderr, ", %s not known", name);
    else
        fprintf(stderr, ", %s %.2f %%", name, ns / sums->cpu_ns * 100);
}

static void tell(const struct cost_sums *sums)
{
    if (sums->cpu_ns <= 0)
        return;
    fprintf(stderr, "mmprof: cost in percent of the program's CPU time: probes %.2f %%",
            sums->probes_ns / sums->cpu_ns * 100);
    tell_part("the agent in the JVM", sums->agent_ns, sums);
    tell_part("mmprof's own process", sums->recorder_ns, sums);
    tell_part("IP sampling", sums->ip_samples_ns, sums);
    if (sums->allocations_ns > 0)
        tell_part("allocation samples", sums->allocations_ns, sums);
    if (sums->changing_ns > 0)
        tell_part("changing classes", sums->changing_ns, sums);
    tell_part("recompilation", sums->compiling_ns, sums);
    fprintf(stderr, "; total %s%.2f %%\n", sums->is_whole ? "" : "at least ", sums->all_ns / sums->cpu_ns * 100);
    if (sums->why_over != NULL)
        fprintf(stderr, "mmprof: over the budget of %.2g %%: %s\n", sums->budget * 100, sums->why_over);
}

void recording_tell_cost(const char *path)
{
    struct arena arena = { NULL, 0 };
    struct trace_reader *reader = NULL;
    struct calltree tree = { .n_nodes = 0 };
    struct cost_sums sums;
    struct err ignored; /* who reports it is told */
    if (trace_open(&reader, path, false, &ignored) == 0 &&
        calltree_build(reader, &(struct calltree_options){ 0 }, &tree, &ignored) == 0) {
        const struct report_source source = {
            .path = path, .reader = reader, .tree = &tree, .clock = report_clock(&tree, PHASES_CPU), .arena = &arena
        };
        cost_sums(&source, &sums);
        tell(&sums);
    }
    calltree_free(&tree);
    trace_close(reader);
    arena_free(&arena);
}

/* ---- a live recording ---- */

/* What samples tell is the whole answer then, and how to have exact calls all the same. */
void recording_tell_spared(const struct live_session *session)
{
    double skipped_ns = (double)session->live->chooser.skipped_ns;
    double most_ns = session->options.recompile_s > 0 ? session->options.recompile_s * 1e9
                                                      : live_budget_discard_ns(&session->live->budget);
    char option[4200];
    recorder_prepare_option(option, sizeof option);
    fprintf(
        stderr,
        "mmprof: this recording has samples, waits and allocations, but no exact calls: if a class were "
        "instrumented, this JVM would discard all its compiled code, %.1f s of JIT compilation, and may for %.2g s\n"
        "  next: start the JVM with %s, or use JDK 23 or later: both keep compiled code; or accept the cost with "
        "--recompile %.0f\n",
        skipped_ns / 1e9, most_ns / 1e9, option, ceil(skipped_ns / 1e9 * 1.2));
}

#define FEW_CLASSES 3

/* That no class of a running JVM fits into the budget, what few would take, and how long a recording pays for them. */
static void tell_unaffordable(const struct live *live)
{
    const struct live_budget *budget = &live->budget;
    double few_ns = live_budget_batch_ns(budget) + FEW_CLASSES * CHANGED_CLASS_NS;
    double share = live->options.duration_s > 0 ? RECOMPILATION_PLANNED_SHARE : RECOMPILATION_MIN_SHARE;
    double part = live->options.budget * share, per_s = part * live_budget_cpu_ns_per_s(budget);
    fprintf(stderr,
            "mmprof: no class was instrumented, so there are only samples: to change %d takes at least %.0f ms of CPU "
            "time, as the JVM looks through its %" PRIu64 " classes twice, and the budget has %.0f ms for that\n",
            FEW_CLASSES, few_ns / 1e6, live->now.n_classes, live_budget_whole_ns(budget) * share / 1e6);
    if (per_s > 0)
        fprintf(stderr, "  next: record for %.0f s or more (-d), or with a larger --budget\n", ceil(few_ns / per_s));
}

static size_t count_deferred(const struct live *live)
{
    size_t n = 0;
    for (size_t i = 0; i < live->methods.n; i++)
        n += live->methods.all[i].is_deferred;
    return n;
}

void recording_tell_limits(const struct live_session *session)
{
    const struct live *live = session->live;
    if (live == NULL)
        return;
    size_t n = live->methods.n, n_deferred = count_deferred(live);
    if (session->options.samples_only)
        fprintf(stderr,
                "mmprof: no class was instrumented, so there are only samples: the JVM writes a class archive (%s), "
                "and instrumented classes would crash it or be missing from the archive\n"
                "  next: run the program without that option to record its calls\n",
                session->archive);
    else if (live->chooser.skipped_ns == 0 && live->budget.n_batches == 0 && live->now.n_classes > 0 &&
             live->chooser.n_over_budget > 0)
        tell_unaffordable(live);
    else if (live->chooser.skipped_ns == 0 && live->chooser.n_over_budget > 0)
        fprintf(stderr,
                "mmprof: %zu sampled methods were not instrumented: changing and recompiling their classes would "
                "exceed the budget%s\n"
                "  next: record for longer, or with a --budget of more than %.2g%%\n",
                live->chooser.n_over_budget,
                n > n_deferred ? "" : "; no class fits into the budget, so there are only samples",
                session->options.budget * 100);
    if (n_deferred > 0)
        fprintf(stderr,
                "mmprof: %zu method%s not instrumented: a hot loop of %s class was running, and instrumenting would "
                "have moved it to the interpreter\n",
                n_deferred, text_plural(n_deferred), n_deferred == 1 ? "its" : "their");
    if (session->refused[0] != '\0')
        fprintf(stderr, "mmprof: the agent refused: %s\n", session->refused);
}

/* Of classes that were changed. */
static void tell_instrumented(const struct live_session *session)
{
    size_t n_enabled = 0, n_off[4] = { 0 };
    const struct live *live = session->live;
    const struct live_cost cost = live_cost(live);
    for (size_t i = 0; i < live->methods.n; i++) {
        const struct live_method *method = &live->methods.all[i];
        n_enabled += method->state == LIVE_ENABLED && !method->is_deferred;
        n_off[method->why] += method->state != LIVE_ENABLED;
    }
    fprintf(stderr,
            "%zu methods instrumented in %" PRIu32 " batch%s; longest pause of the program %.0f ms (total %.0f ms)\n",
            live->methods.n - count_deferred(live), session->status.n_pauses, session->status.n_pauses == 1 ? "" : "es",
            session->status.longest_pause_ms, session->status.pauses_ms);
    fprintf(stderr,
            "mmprof: %zu had probes at the end; probes removed: %zu with short calls, %zu called too often, %zu to "
            "keep the budget\n",
            n_enabled, n_off[LIVE_TOO_SHORT], n_off[LIVE_TOO_FREQUENT], n_off[LIVE_OVER_BUDGET]);
    fprintf(stderr, "mmprof: the JIT compiler recompiled instrumented classes for %s%.1f s",
            live->window.is_cut ? "at least " : "", (double)live->window.ns / 1e9);
    if (cost.recompiling_ns != LIVE_UNKNOWN)
        fprintf(stderr, " (%.1f s more CPU time than usual)", (double)cost.recompiling_ns / 1e9);
    fputs("; the cost of slower code until then is not included\n", stderr);
}

void recording_tell_live(const struct live_session *session)
{
    if (session->live == NULL)
        return;
    fprintf(stderr, "mmprof: %" PRIu32 " stack samples%s; ", session->n_samples,
            session->status.polls_stacks ? " by the agent" : "");
    if (session->status.n_pauses == 0)
        fprintf(stderr, "no loaded class was instrumented\n");
    else
        tell_instrumented(session);
    recording_tell_limits(session);
}
