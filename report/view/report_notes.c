/* What stands above and below the report's table: whether all CPU time is accounted for, and the notes. */
#include "report/view/report_internal.h"

#include "core/base/text.h"
#include "core/trace/recording_info.h"
#include "report/recompilation.h"
#include "report/view/cost.h"
#include "report/view/waits.h"

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
        for (size_t j = i + 1; j < making->n_events; j++)
            if (strcmp(making->events[j].why, why) == 0)
                names = arena_printf(arena, "%s, %s", names, making->events[j].name);
        table_note(making->table, arena_printf(arena, "not measured: %s: %s", names, why));
    }
}

/* What is not '-' but stands for a part of the time only. */
static void note_counted(struct making *making)
{
    struct arena *arena = making->source->arena;
    const char *refused = info_text(making->source->reader, INFO_COUNTERS_REFUSED);
    if (making->has_hardware && refused != NULL)
        table_doubt(making->table, arena_printf(arena, "hardware events: %s", refused));
    else if (making->partly != NULL)
        table_doubt(making->table, arena_printf(arena,
                                                "the counters were readable for a part of the time; CPI and misses "
                                                "cover only this share of the row's time: %s",
                                                making->partly));
    if (!making->has_hardware || refused != NULL || making->has_readings)
        return;
    double counted = report_counted(making, (struct row_id){ ROW_OUTSIDE, 0 });
    if (counted > 0 && counted < 1 - REPORT_UNCOUNTED_MAX)
        table_note(making->table, arena_printf(arena,
                                               "hardware events are counted between a thread's first and last record: "
                                               "%s of the application's other code",
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
        if ((making->own[i].role == EVENT_MISSES || making->own[i].role == EVENT_SLOTS) &&
            event_column_in(&making->own[i], group) >= 0)
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
    for (uint32_t g = 0; g < making->source->tree->groups.n; g++) {
        const char *turns = turns_of(making, g);
        if (turns != NULL)
            all = arena_printf(arena, "%s%s%s", all, all[0] == '\0' ? "" : "; ", turns);
    }
    table_note(making->table,
               arena_printf(
                   arena, "events are multiplexed: counts are estimates, scaled from this share of the time: %s", all));
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
        table_note(making->table, arena_printf(making->source->arena,
                                               "rates are estimates: instructions are counted exactly, other events "
                                               "only in windows (warm-up + counted / period, in instructions: %s)",
                                               window));
    table_note(making->table, "\xc2\xb1 is half of the 95 % confidence interval");
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
                   arena_printf(making->source->arena,
                                "CPI is '%s' divided by '%s', which count different modes (user, kernel)", cycles->name,
                                instructions->name));
}

/* "none: the reason": what the figures are made of then. */
static void note_reads(struct making *making)
{
    const char *read = info_text(making->source->reader, INFO_PROBE_READ), *none = "none";
    if (!making->has_hardware || read == NULL || strncmp(read, none, strlen(none)) != 0)
        return;
    const char *why = strncmp(read, "none: ", 6) == 0 ? read + 6 : "--read none";
    table_doubt(making->table, arena_printf(making->source->arena,
                                            "probes cannot read the counters (%s): CPI and misses come from remote "
                                            "reads, every 10 ms and at thread switches, so only long calls have them",
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
        table_doubt(making->table, arena_printf(making->source->arena,
                                                "the JIT was recompiling instrumented classes for %.1f of %.1f s, so "
                                                "call times are too high; record for longer to reduce this",
                                                ms / 1e3, all_ms / 1e3));
}

/* Classes were worth probes, and none of them was changed: the budget would not have been enough. */
static void note_unaffordable(struct making *making)
{
    const struct trace_reader *reader = making->source->reader;
    const char *put_off = info_text(reader, INFO_LIVE_PUT_OFF), *batches = info_text(reader, INFO_LIVE_BATCHES);
    const char *budget = info_text(reader, INFO_LIVE_BUDGET);
    if (put_off == NULL || batches == NULL || budget == NULL || info_text(reader, INFO_LIVE_SPARED_MS) != NULL ||
        info_text(reader, INFO_JVM_ARCHIVE) != NULL || strtoul(put_off, NULL, 10) == 0 ||
        strtoul(batches, NULL, 10) > 0)
        return;
    table_note(making->table,
               arena_printf(making->source->arena,
                            "no class was instrumented, so no call was recorded: changing and recompiling classes "
                            "would exceed the budget of %.2g %%; record for longer (-d), or with a larger --budget",
                            strtod(budget, NULL) * 100));
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
                                "its compiled code, %.1f s of JIT compilation; start it with "
                                "-agentpath:.../libmmprof-agent.so=prepare to keep compiled code (mmprof-record(1))",
                                strtod(skipped, NULL) / 1e3));
    note_unaffordable(making);
}

/* On the wall clock no sample tells when a call ended whose end no probe saw. */
static void note_under_way(struct making *making)
{
    uint64_t n = making->source->tree->n_under_way;
    if (making->source->sampled == NULL && n > 0)
        table_doubt(making->table,
                    arena_printf(making->source->arena,
                                 "%" PRIu64 " call%s running when %s method got probes; without samples, each counts "
                                 "until the thread's next probe, and may have ended earlier",
                                 n, n == 1 ? " was" : "s were", n == 1 ? "its" : "their"));
}

/* What shares are of, where rows were not recorded for the same time. */
static void note_partly(struct making *making)
{
    if (making->source->sampled != NULL)
        table_note(making->table, "stack samples divide the time that no probe measured; shares are of the whole time; "
                                  "methods without probes have no number of calls");
    else if (making->is_partly)
        table_note(making->table,
                   "Time (%) of a phase is its share of the time while it was recorded (Recorded), so phases can be "
                   "compared; Self (%) is its share of the whole recording, and adds up to 100 %");
}

static void note_wall(struct making *making)
{
    const struct sampled_tree *sampled = making->source->sampled;
    char idle[32];
    if (sampled == NULL || sampled->thread_ticks == NULL) {
        table_note(making->table, "wall time covers only threads that ran probes");
        return;
    }
    table_format_ns(report_ns(making->source, sampled->idle_ticks), idle, sizeof idle);
    table_metadata_number(making->table, "idle_ns", report_ns(making->source, sampled->idle_ticks), NULL);
    table_note(
        making->table,
        arena_printf(
            making->source->arena,
            "wall time is CPU time plus waiting, of all threads; waiting for work is left out: %s (--view waits)",
            idle));
}

static void note_rest(struct making *making)
{
    note_recompilation(making);
    note_untouched(making);
    note_partly(making);
    note_under_way(making);
    note_turns(making);
    note_reads(making);
    report_note_sets(making->source, making->table);
    report_note_left_out(making->source, making->table);
    note_modes(making);
    if (making->too_few != NULL)
        table_doubt(making->table,
                    arena_printf(making->source->arena,
                                 "some rates are left out, because too few events were counted: %s", making->too_few));
    if (is_user_only(making))
        table_note(making->table, "events are counted in user space only: a method's time includes the kernel's work "
                                  "for it; its cycles, instructions and misses do not");
    const struct calltree *tree = making->source->tree;
    if (making->shows_faults)
        report_note_faults(making->source, making->table);
    if (making->has_hardware && making->instructions == NULL)
        table_note(making->table, "misses per 1,000 instructions and CPI need the event 'instructions', too");
    else if (making->has_hardware && !making->has_readings &&
             info_text(making->source->reader, INFO_COUNTERS_REFUSED) == NULL)
        table_note(making->table,
                   "the VM's own threads run no probes: hardware events are counted in the application only");
    note_counted(making);
    if (making->source->clock == PHASES_WALL)
        note_wall(making);
    else if (!making->shares.part_is_known[VM_PART_GC] && making->shares.part_is_known[VM_PART_THREAD])
        table_note(making->table, "the serial garbage collector has no threads of its own: it runs in the VM thread");
    if (tree->inside_ticks + tree->outside_ticks == 0 && tree->n_records > 0)
        table_doubt(making->table, "the cost of a probe was not calibrated, so the phases' times include it");
}

#define ACCOUNTED_WITHIN 0.01 /* seconds are said in CSV and JSON only */

/* "99.6 % of CPU time, "; "": not known. */
static const char *add_accounted(const struct making *making)
{
    const struct report_source *source = making->source;
    const struct switches *switches = &making->shares.switches;
    double process_ns = report_process_cpu_ns(source), cpu_ns = report_ns(source, source->tree->cpu_ticks);
    cpu_ns += switches->are_known ? switches->all_ns : 0;
    if (source->tree->cpu_is_wall || !(process_ns > 0))
        return "";
    char process[32], accounted[32];
    bool is_off = fabs(cpu_ns / process_ns - 1) > ACCOUNTED_WITHIN;
    table_format_ns(process_ns, process, sizeof process);
    table_format_ns(cpu_ns, accounted, sizeof accounted);
    table_metadata_number(making->table, "process_cpu_ns", process_ns, NULL);
    table_metadata_number(making->table, "accounted_share", cpu_ns / process_ns, NULL);
    return arena_printf(source->arena, "%s of CPU time%s%s%s%s, ", report_percent(source->arena, cpu_ns / process_ns),
                        is_off ? " (" : "", is_off ? accounted : "", is_off ? " of " : "",
                        is_off ? arena_printf(source->arena, "%s)", process) : "");
}

/* How far the table is to be trusted: "complete 99.6 % of CPU time, 2,250 samples, 5 exact phases, cost 0.9 %". */
static void add_trust(const struct making *making)
{
    const struct report_source *source = making->source;
    const char *samples = "";
    uint64_t n_exact = 0, n_samples = 0;
    for (size_t i = 0; i < making->n_rows; i++)
        n_exact += making->rows[i]->calls > 0;
    for (size_t i = 0; source->sampled != NULL && i < source->sampled->samples->n_kept; i++)
        n_samples += source->sampled->samples->kept[i].is_waiting ? 0 : source->sampled->samples->kept[i].n;
    if (source->sampled != NULL)
        samples = arena_printf(source->arena, "%" PRIu64 " sample%s, ", n_samples, text_plural(n_samples));
    const char *complete = add_accounted(making), *cost = cost_words(source, making->table);
    table_metadata_number(making->table, "exact_phases", (double)n_exact,
                          arena_printf(source->arena, "complete %s%s%" PRIu64 " exact phase%s%s", complete, samples,
                                       n_exact, text_plural(n_exact), cost));
}

#define SWITCHES_SPREAD 0.05 /* of it, that is worth a line; the table has a row of them */

/* What the kernel charges for switches, and how that is known. */
static void add_switches(const struct making *making)
{
    const struct switches *switches = &making->shares.switches;
    char all[32];
    if (!switches->are_known || !(switches->all_ns > 0))
        return;
    table_format_ns(switches->all_ns, all, sizeof all);
    double spread = switches->spread_ns / switches->all_ns;
    const char *words =
        arena_printf(making->source->arena, "switches %s of CPU time for context switches (%s of it estimated)", all,
                     report_percent(making->source->arena, spread));
    table_metadata_number(making->table, "switches_ns", switches->all_ns, spread >= SWITCHES_SPREAD ? words : NULL);
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
    table_doubt(
        making->table,
        arena_printf(source->arena,
                     "the host withheld CPUs from this virtual machine for %s (steal time); CPU times include it",
                     stolen));
}

static void add_quota(const struct making *making)
{
    struct quota quota = quota_read(making->source);
    if (quota.cpus <= 0)
        return;
    table_metadata_number(making->table, "quota_cpus", quota.cpus, NULL);
    table_metadata_number(making->table, "throttled", quota.n_throttled, NULL);
    table_metadata_number(making->table, "throttled_ns", quota.throttled_ns, NULL);
    quota_note(making->source, making->table);
}

/* ---- both ---- */

void report_accounts(const struct making *making)
{
    add_trust(making);
    add_switches(making);
    add_stolen(making);
    add_quota(making);
}

/* Samples name one of them; probes alone count them. */
static void note_shared_name(struct making *making)
{
    double n = info_number(making->source->reader, INFO_SHARED_NAMES);
    const char *name = info_text(making->source->reader, INFO_SAMPLE_SHARED_NAME);
    struct arena *arena = making->source->arena;
    if (name != NULL)
        table_doubt(making->table, arena_printf(arena,
                                                "classes of one name from several class loaders share rows, such as "
                                                "%s; 'mmprof sample' tells them apart",
                                                text_clean(arena, java_names_class(arena, name))));
    else if (n > 0)
        table_doubt(making->table, arena_printf(making->source->arena,
                                                "%.0f class name%s from several class loaders share%s rows; 'mmprof "
                                                "sample' tells the classes apart",
                                                n, n == 1 ? "" : "s", n == 1 ? "s" : ""));
}

void report_notes(struct making *making)
{
    struct arena *arena = making->source->arena;
    if (making->shaped != NULL)
        table_doubt(making->table, arena_printf(arena, "the probes changed the compiled code of: %s", making->shaped));
    if (making->options->region_of != NULL)
        table_note(making->table, "--view timeline says what each region is");
    bool is_known;
    const char *full = report_full_code_cache(making->source, &is_known);
    if (full != NULL)
        table_doubt(making->table, full);
    note_shared_name(making);
    note_missing(making);
    report_note_topdown(making);
    note_rest(making);
    report_losses(making->source, making->table);
}
