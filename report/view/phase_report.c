#include "report/view/cost.h"

#include "core/trace/recording_info.h"
#include "report/view/report_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- metadata and notes ---- */

/* Events that were not measured for the same reason share a note. */
static void note_missing(struct making *making)
{
    struct arena *arena = making->source->arena;
    for (size_t i = 0; i < making->n_events; i++) {
        const char *why = making->events[i].why, *names = making->events[i].name;
        bool is_first = why[0] != '\0';
        for (size_t j = 0; j < i; j++)
            is_first = is_first && strcmp(making->events[j].why, why) != 0;
        if (!is_first)
            continue;
        for (size_t j = i + 1; j < making->n_events && names != NULL; j++)
            if (strcmp(making->events[j].why, why) == 0)
                names = arena_printf(arena, "%s, %s", names, making->events[j].name);
        table_note(making->table, names == NULL ? NULL : arena_printf(arena, "not measured: %s: %s", names, why));
    }
}

/* What is not '-' but stands for a part of the time only. */
static void note_counted(struct making *making)
{
    struct arena *arena = making->source->arena;
    const char *refused = info_text(making->source->reader, INFO_COUNTERS_REFUSED);
    if (making->has_hardware && refused != NULL)
        table_note(making->table, arena_printf(arena, "hardware events: %s", refused));
    else if (making->partly != NULL)
        table_note(making->table, arena_printf(arena,
                                               "the counters could not be read all the time; CPI and misses stand for "
                                               "a share of the row's time: %s",
                                               making->partly));
    if (!making->has_hardware || refused != NULL || making->has_readings)
        return;
    double counted = report_counted(making, (struct row_id){ ROW_OUTSIDE, 0 });
    if (counted > 0 && counted < 1 - REPORT_UNCOUNTED_MAX)
        table_note(making->table, arena_printf(arena,
                                               "a thread's hardware events are counted from its first record to its "
                                               "last: %s of the application's other code",
                                               report_percent(arena, counted)));
}

/* "L1-D, L1-I in 24.9 %" of the whole process' time, for each group. */
static const char *turns_of(struct making *making, uint32_t group)
{
    struct arena *arena = making->source->arena;
    const struct calltree_groups *groups = &making->source->tree->groups;
    const char *names = NULL;
    double running = 0, enabled = 0;
    for (size_t i = 0; i < making->basis.n_events; i++)
        if (making->own[i].role == EVENT_MISSES && event_column_in(&making->own[i], group) >= 0)
            names =
                names == NULL ? making->own[i].heading : arena_printf(arena, "%s, %s", names, making->own[i].heading);
    for (size_t p = 0; p < VM_PARTS; p++) {
        running += (double)making->shares.part_metrics[p][CALLTREE_COUNTERS + groups->running + group];
        enabled += (double)making->shares.part_metrics[p][CALLTREE_COUNTERS + groups->enabled];
    }
    return names == NULL || enabled <= 0
               ? NULL
               : arena_printf(arena, "%s in %s", names, report_percent(arena, running / enabled));
}

static void note_groups(struct making *making)
{
    struct arena *arena = making->source->arena;
    const char *all = "";
    if (making->source->tree->groups.n <= 1 || making->source->tree->n_metrics == 0)
        return;
    for (uint32_t g = 0; g < making->source->tree->groups.n && all != NULL; g++) {
        const char *turns = turns_of(making, g);
        if (turns != NULL)
            all = arena_printf(arena, "%s%s%s", all, all[0] == '\0' ? "" : "; ", turns);
    }
    table_note(making->table,
               all == NULL
                   ? NULL
                   : arena_printf(arena,
                                  "the events take turns on the counters, and are estimates from their share of "
                                  "the time: %s",
                                  all));
}

/* Where the groups of counters take turns. */
static void note_turns(struct making *making)
{
    const char *window = info_text(making->source->reader, INFO_SIMULATED_WINDOW);
    if (!making->take_turns)
        return;
    if (window == NULL)
        note_groups(making);
    else
        table_note(making->table,
                   arena_printf(making->source->arena,
                                "all instructions are counted, the other events in samples of them only (warm-up + "
                                "counted / period, in instructions: %s): rates are estimates",
                                window));
    table_note(making->table, "\xc2\xb1 is half of the interval that has the true value in 95 of 100 cases");
}

/* Whether none of the events has what the kernel does. */
static bool is_user_only(const struct making *making)
{
    const char *kernel = info_text(making->source->reader, INFO_COUNTERS_KERNEL);
    bool all = making->has_hardware;
    if (kernel != NULL)
        return making->has_hardware && strcmp(kernel, "excluded") == 0;
    for (size_t i = 0; i < making->n_events; i++) {
        const char *colon = strrchr(making->events[i].name, ':');
        if (report_is_hardware(&making->events[i]) && making->events[i].why[0] == '\0')
            all = all && colon != NULL && strcmp(colon, ":u") == 0;
    }
    return all;
}

/* What follows the last colon of "cycles:u", if it is a mode; else user space, as without one. */
static const char *mode_of(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon != NULL && strspn(colon + 1, "ukh") == strlen(colon + 1) ? colon + 1 : "u";
}

static void note_modes(struct making *making)
{
    const struct event_column *cycles = making->cycles, *instructions = making->instructions;
    if (cycles != NULL && instructions != NULL && strcmp(mode_of(cycles->name), mode_of(instructions->name)) != 0)
        table_note(making->table,
                   arena_printf(making->source->arena, "CPI is '%s' by '%s', which are not counted in the same mode",
                                cycles->name, instructions->name));
}

/* "none: the reason": what the figures are made of then. */
static void note_reads(struct making *making)
{
    const char *read = info_text(making->source->reader, INFO_PROBE_READ), *none = "none";
    if (!making->has_hardware || read == NULL || strncmp(read, none, strlen(none)) != 0)
        return;
    const char *why = strncmp(read, "none: ", 6) == 0 ? read + 6 : "--read none";
    table_note(making->table,
               arena_printf(making->source->arena,
                            "probes cannot read the counters (%s): CPI and misses come from remote counter reads, "
                            "every 10 ms and at thread switches, and are known for long calls only",
                            why));
}

#define RECOMPILATION_SHARE 0.1 /* of the time; a shorter window is not worth a note */

/* Times of code that is compiled again are not those of the program. */
static void note_recompilation(struct making *making)
{
    const struct calltree *tree = making->source->tree;
    const char *recompilation = info_text(making->source->reader, INFO_LIVE_WINDOWS_MS);
    double all_ms = report_ns(making->source, tree->end_ticks - tree->start_ticks) / 1e6;
    double ms = recompilation == NULL ? 0 : strtod(recompilation, NULL);
    if (ms > RECOMPILATION_SHARE * all_ms)
        table_note(making->table, arena_printf(making->source->arena,
                                               "the JIT was recompiling instrumented classes for %.1f of %.1f s, so "
                                               "call times are too high; record for longer to reduce this",
                                               ms / 1e3, all_ms / 1e3));
}

static void note_untouched(struct making *making)
{
    const char *archive = info_text(making->source->reader, INFO_JVM_ARCHIVE);
    if (archive != NULL)
        table_note(
            making->table,
            arena_printf(making->source->arena,
                         "no class was instrumented, so no call was recorded: the JVM writes a class archive (%s)",
                         archive));
    const char *skipped = info_text(making->source->reader, INFO_LIVE_SPARED_MS);
    if (skipped != NULL)
        table_note(making->table,
                   arena_printf(making->source->arena,
                                "no class was instrumented, so no call was recorded: the JVM would have discarded all "
                                "its compiled code, %.1f s of JIT compilation (--recompile)",
                                strtod(skipped, NULL) / 1e3));
}

/* On the wall clock no sample tells when a call ended whose end no probe saw. */
static void note_under_way(struct making *making)
{
    uint64_t n = making->source->tree->n_under_way;
    if (making->source->sampled == NULL && n > 0)
        table_note(making->table,
                   arena_printf(making->source->arena,
                                "%" PRIu64
                                " call%s under way when %s method got probes: without samples each counts up "
                                "to the thread's next probe, and may have ended before",
                                n, n == 1 ? " was" : "s were", n == 1 ? "its" : "their"));
}

/* What shares are of, where rows were not recorded for the same time. */
static void note_partly(struct making *making)
{
    if (making->source->sampled != NULL)
        table_note(making->table,
                   "time that no probe measured is divided by stack samples: shares are of all the time; "
                   "methods known by samples only have no number of calls");
    else if (making->is_partly)
        table_note(making->table, "Time (%) and Self (%) of a phase are of what ran while it was recorded (Recorded), "
                                  "so that they can be compared; Self adds up to 100 % where that was all the time");
}

static void note_rest(struct making *making)
{
    note_recompilation(making);
    note_untouched(making);
    note_partly(making);
    note_under_way(making);
    note_turns(making);
    note_reads(making);
    note_modes(making);
    if (making->too_few != NULL)
        table_note(making->table, arena_printf(making->source->arena, "too little was counted for some rates of: %s",
                                               making->too_few));
    if (is_user_only(making))
        table_note(making->table, "user space only: what the kernel did for the methods is in their time, but not in "
                                  "cycles, instructions and misses");
    const struct calltree *tree = making->source->tree;
    if (!making->table->columns[making->at.faults].not_in_text)
        report_note_faults(making->source, making->table);
    if (making->has_hardware && making->instructions == NULL)
        table_note(making->table, "misses per 1,000 instructions and CPI need the event 'instructions', too");
    else if (making->has_hardware && !making->has_readings &&
             info_text(making->source->reader, INFO_COUNTERS_REFUSED) == NULL)
        table_note(making->table,
                   "the VM's own threads run no probes: hardware events are counted in the application only");
    note_counted(making);
    if (making->source->clock == PHASES_WALL)
        table_note(making->table, "on the wall clock only threads that ran probes are counted");
    else if (!making->shares.part_is_known[VM_PART_GC] && making->shares.part_is_known[VM_PART_THREAD])
        table_note(making->table,
                   "there are no threads of the garbage collector: the serial one runs in the VM thread");
    if (tree->inside_ticks + tree->outside_ticks == 0)
        table_note(making->table, "the trace has no calibrated cost of a probe, so the phases' times include it");
}

static void add_accounted(struct making *making)
{
    const struct report_source *source = making->source;
    const struct switches *switches = &making->shares.switches;
    double process_ns = report_process_cpu_ns(source), cpu_ns = report_ns(source, source->tree->cpu_ticks);
    cpu_ns += switches->are_known ? switches->all_ns : 0;
    if (source->tree->cpu_is_wall || !(process_ns > 0))
        return;
    char process[32], accounted[32];
    table_format_ns(process_ns, process, sizeof process);
    table_format_ns(cpu_ns, accounted, sizeof accounted);
    table_metadata_number(making->table, "process_cpu_ns", process_ns, NULL);
    table_metadata_number(making->table, "accounted_share", cpu_ns / process_ns,
                          arena_printf(source->arena, "check    %s of the process' CPU time is accounted for: %s of %s",
                                       report_percent(source->arena, cpu_ns / process_ns), accounted, process));
}

#define SWITCHES_SHARE 0.005

/* What the kernel charges for switches, and how that is known. */
static void add_switches(const struct making *making)
{
    const struct switches *switches = &making->shares.switches;
    char all[32];
    if (!switches->are_known || !(switches->all_ns > 0))
        return;
    table_format_ns(switches->all_ns, all, sizeof all);
    bool is_much = switches->all_ns > SWITCHES_SHARE * report_ns(making->source, making->shares.all_ticks);
    const char *words = arena_printf(
        making->source->arena,
        "switches %s of it for context switches: as accounted by the kernel for each thread, but %s estimated", all,
        report_percent(making->source->arena, switches->spread_ns / switches->all_ns));
    table_metadata_number(making->table, "switches_ns", switches->all_ns, is_much ? words : NULL);
    table_metadata_number(making->table, "switches_spread_ns", switches->spread_ns, NULL);
}

/* Steps of 10 ms are all that the kernel tells, and some of them were taken from nobody of these. */
#define STOLEN_SHARE 0.01

static void add_stolen(const struct making *making)
{
    table_metadata_number(making->table, "withheld_ns", report_ns(making->source, making->shares.kept_ticks), NULL);
    const struct report_source *source = making->source;
    double stolen_ns = report_stolen_ns(source), process_ns = report_process_cpu_ns(source);
    if (info_text(source->reader, INFO_MACHINE_STOLEN_NS) == NULL)
        return;
    table_metadata_number(making->table, "stolen_ns", stolen_ns, NULL);
    if (source->tree->cpu_is_wall || !(stolen_ns > STOLEN_SHARE * process_ns))
        return;
    char stolen[32];
    table_format_ns(stolen_ns, stolen, sizeof stolen);
    table_note(
        making->table,
        arena_printf(
            source->arena,
            "the host of this virtual machine withheld its CPUs for %s (steal time): times on the CPU include that",
            stolen));
}

/* ---- the whole ---- */

static bool is_phase_recording(const struct report_source *source)
{
    const char *mode = info_text(source->reader, INFO_RECORDING_MODE);
    return mode != NULL && strcmp(mode, "phases") == 0;
}

/* Probes in all methods cost so little: there is nothing to choose. */
#define BUDGET 0.01

static bool is_cheap(const struct budget_base *base, uint64_t n_calls)
{
    double time_ratio = budget_estimate(base, n_calls).time_ratio;
    return time_ratio >= 0 && time_ratio <= BUDGET;
}

/* Which methods are rows, before their share is looked at. */
static int choose(struct making *making, const struct calltree_total *totals, size_t n, const bool **is_chosen,
                  struct err *err)
{
    const struct report_source *source = making->source;
    uint64_t all_ticks = phases_all_ticks(source->tree, source->clock);
    *is_chosen = NULL;
    if (making->options->all || is_phase_recording(source) || n == 0 || all_ticks == 0)
        return 0;
    struct phases_criteria options = { source->clock, -1, -1, BUDGET };
    struct budget_base base = phases_budget_base(source->tree, all_ticks, report_knows_invocations(source->reader));
    struct phases_choice choice;
    if (is_cheap(&base, source->tree->n_calls + source->tree->n_lost))
        return 0;
    if (phases_select(totals, n, all_ticks, &base, &options, source->arena, &choice, err) < 0)
        return -1;
    *is_chosen = choice.is_chosen;
    return 0;
}

static int by_share(const void *a, const void *b)
{
    const struct report_ranked *x = a, *y = b;
    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    return (x->total->method > y->total->method) - (x->total->method < y->total->method);
}

/* The rows are those with most time; the rest is one row. */
static void take_rows(struct making *making, struct report_ranked *ranked, size_t n)
{
    size_t top = making->options->top;
    qsort(ranked, n, sizeof *ranked, by_share);
    for (size_t i = 0; i < n; i++) {
        making->rows[i] = ranked[i].total;
        making->ticks[i] = ranked[i].ticks;
    }
    making->n_rows = top == 0 || n <= top ? n : top;
    making->n_more = n - making->n_rows;
    for (size_t i = 0; i < making->n_rows; i++) {
        struct recorded recorded = report_recorded(making->source, making->rows[i]->method);
        making->is_partly =
            making->is_partly || (making->rows[i]->calls > 0 && report_is_partly(making->source, &recorded));
    }
    if (making->n_more > 0)
        table_note(making->table,
                   arena_printf(making->source->arena,
                                "%zu methods more have at least %s of the time: --top 0 prints them", making->n_more,
                                report_percent(making->source->arena, making->options->min_share)));
}

/* A method that was recorded: its time and share. */
static struct report_ranked ranked_of(const struct making *making, const struct calltree_total *total)
{
    double ticks = (double)phases_total_ticks(total, making->source->clock), all = (double)making->shares.all_ticks;
    struct recorded recorded = report_recorded(making->source, total->method);
    recorded_hold(&recorded, ticks, all);
    if (making->method_ticks != NULL) {
        ticks = making->method_ticks[total->method];
        recorded.share = 1;
    }
    return (struct report_ranked){ total, ticks, recorded.share > 0 && all > 0 ? ticks / (recorded.share * all) : 0 };
}

static int rank(struct making *making, const struct calltree_total *totals, size_t n, struct report_ranked *ranked,
                size_t *n_ranked, struct err *err)
{
    const bool *is_chosen;
    double least = making->options->all ? 0 : making->options->min_share;
    if (choose(making, totals, n, &is_chosen, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct report_ranked one = ranked_of(making, &totals[i]);
        if ((is_chosen == NULL || is_chosen[i]) && one.share >= least)
            ranked[(*n_ranked)++] = one;
    }
    return making->method_ticks == NULL ? 0 : report_add_sampled(making, ranked, n_ranked, err);
}

static int choose_rows(struct making *making, const struct calltree_total *totals, size_t n, struct err *err)
{
    const struct report_source *source = making->source;
    size_t n_ranked = 0, n_methods = (size_t)source->tree->n_methods + 1;
    struct calltree_total *ended; /* where samples say so */
    uint32_t *row_of = arena_alloc(source->arena, n_methods * sizeof *row_of);
    struct report_ranked *ranked = arena_alloc(source->arena, n_methods * sizeof *ranked);
    making->rows = arena_alloc(source->arena, n_methods * sizeof *making->rows);
    making->ticks = arena_alloc(source->arena, n_methods * sizeof *making->ticks);
    if (source->sampled != NULL &&
        calltree_totals(source->sampled->ended, VM_PART_APPLICATION, source->arena, &ended, &n, err) < 0)
        return -1;
    totals = source->sampled != NULL ? ended : totals;
    if (row_of == NULL || ranked == NULL || making->rows == NULL || making->ticks == NULL)
        return err_set(err, "out of memory for a table of %zu methods", n);
    /* The shares' denominator does not depend on the rows. */
    if (shares_compute(source, row_of, 0, &making->shares, err) < 0 ||
        (source->sampled != NULL && report_find_times(making, totals, n, err) < 0) ||
        rank(making, totals, n, ranked, &n_ranked, err) < 0)
        return -1;
    for (uint32_t i = 0; i < source->tree->n_methods; i++)
        row_of[i] = CALLTREE_NONE;
    take_rows(making, ranked, n_ranked);
    for (size_t i = 0; i < n_ranked; i++)
        row_of[making->rows[i]->method] = (uint32_t)i;
    if (shares_compute(source, row_of, n_ranked, &making->shares, err) < 0)
        return -1;
    return source->sampled == NULL ? 0 : report_find_errors(making, row_of, err);
}

int report_make_joined(const struct report_trace *traces, size_t n_traces, const struct report_row_options *options,
                       struct table *table, struct err *err)
{
    const struct report_source *source = traces[0].source;
    struct making *making = arena_alloc(source->arena, sizeof *making);
    if (making == NULL)
        return err_set(err, "out of memory for a table");
    *making = (struct making){ .source = source, .options = options, .table = table };
    table_begin(table, source->arena);
    report_find_events(making);
    if (choose_rows(making, traces[0].totals, traces[0].n_totals, err) < 0)
        return -1;
    report_find_readings(making);
    if (report_join(making, traces + 1, n_traces - 1, err) < 0)
        return -1;
    report_metadata(source, table);
    if (cost_excess(source, table, err) < 0)
        return -1;
    add_accounted(making);
    add_switches(making);
    add_stolen(making);
    report_columns(making);
    if (report_phase_rows(making, err) < 0)
        return -1;
    report_other_rows(making);
    if (making->shaped != NULL)
        table_note(table, arena_printf(source->arena, "the probes changed the compiled code of: %s", making->shaped));
    note_missing(making);
    note_rest(making);
    report_losses(source, table);
    return table->is_broken ? err_set(err, "out of memory for a table of %zu rows", table->n_rows) : 0;
}

int report_make(const struct report_source *source, const struct calltree_total *totals, size_t n_totals,
                const struct report_row_options *options, struct table *table, struct err *err)
{
    return report_make_joined(&(struct report_trace){ source, totals, n_totals }, 1, options, table, err);
}

static int most_time_first(const void *a, const void *b)
{
    const struct report_row *x = a, *y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? 1 : -1;
    return (x->total->method > y->total->method) - (x->total->method < y->total->method);
}

int report_rows(const struct report_source *source, const struct calltree_total *totals, size_t n_totals,
                const struct report_row_options *options, struct report_row **rows, size_t *n_rows, struct err *err)
{
    struct table notes; /* of rows that were cut; not printed */
    struct making making = { .source = source, .options = options, .table = &notes };
    table_begin(&notes, source->arena);
    if (choose_rows(&making, totals, n_totals, err) < 0)
        return -1;
    size_t n = *n_rows = making.n_rows;
    const char **labels = report_row_labels(&making);
    *rows = arena_alloc(source->arena, (n + 1) * sizeof **rows);
    if (*rows == NULL || labels == NULL)
        return err_set(err, "out of memory for a table of %zu methods", n);
    for (size_t i = 0; i < n; i++)
        (*rows)[i] =
            (struct report_row){ making.rows[i], labels[i], making.ticks[i], (double)making.shares.self_ticks[i] };
    qsort(*rows, n, sizeof **rows, most_time_first);
    return 0;
}
