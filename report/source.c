#include "report/source.h"

#include "core/pmu/simulated.h"
#include "core/trace/recording_info.h"

#include "report/sampled_tree.h"
#include "report/samples_table.h"

enum phases_clock report_clock(const struct calltree *tree, enum phases_clock asked)
{
    return tree->cpu_is_wall ? PHASES_WALL : asked;
}

const char *report_clock_key(enum phases_clock clock)
{
    return clock == PHASES_CPU ? "cpu" : "wall";
}

int report_clock_parse(const char *text, enum phases_clock *clock, struct err *err)
{
    if (strcmp(text, "cpu") == 0 || strcmp(text, "wall") == 0) {
        *clock = text[0] == 'c' ? PHASES_CPU : PHASES_WALL;
        return 0;
    }
    err_set(err, "unknown clock '%s'", text);
    return err_next(err, "choose --clock cpu (time on a CPU) or --clock wall (includes waiting)");
}

double report_ns(const struct report_source *source, uint64_t ticks)
{
    return (double)ticks * source->tree->ns_per_tick;
}

struct recorded report_recorded(const struct report_source *source, uint32_t method)
{
    return recorded_of(source->tree, method, source->clock == PHASES_WALL ? ACTIVITY_WALL : ACTIVITY_CPU);
}

#define ALL_THE_TIME 0.9 /* of the recording */

bool report_is_partly(const struct report_source *source, const struct recorded *recorded)
{
    return (double)recorded->ticks < ALL_THE_TIME * (double)(source->tree->end_ticks - source->tree->start_ticks);
}

const char *report_recorded_text(const struct report_source *source, const struct recorded *recorded)
{
    char ns[32];
    uint64_t all_ticks = source->tree->end_ticks - source->tree->start_ticks;
    table_format_ns(report_ns(source, recorded->ticks), ns, sizeof ns);
    if (!report_is_partly(source, recorded))
        return arena_printf(source->arena, "%s", ns);
    return arena_printf(source->arena, "%s (%.0f %%)", ns, 100 * (double)recorded->ticks / (double)all_ticks);
}

struct method_name report_name(const struct report_source *source, uint32_t method)
{
    const struct trace_method *known = trace_method(source->reader, method);
    if (sampled_is(source, method))
        return source->sampled->names[method - source->sampled->first];
    if (known != NULL)
        return known->names;
    return (struct method_name){ "", arena_printf(source->arena, "(method %u)", method), "" };
}

const char **report_labels(const struct report_source *source, const uint32_t *methods, size_t n)
{
    struct method_name *names = arena_alloc(source->arena, (n + 1) * sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = report_name(source, methods[i]);
    return java_names_labels(source->arena, names, n);
}

static double info_ns(const struct report_source *source, enum info_key key)
{
    double ns = info_number(source->reader, key);
    return ns > 0 ? ns : 0;
}

double report_process_cpu_ns(const struct report_source *source)
{
    return info_ns(source, INFO_PROCESS_CPU_NS);
}

double report_stolen_ns(const struct report_source *source)
{
    return info_ns(source, INFO_MACHINE_STOLEN_NS);
}

bool report_knows_invocations(const struct trace_reader *reader)
{
    const char *mode = info_text(reader, INFO_RECORDING_MODE);
    return mode == NULL || strcmp(mode, "all") == 0;
}

const char *report_percent(struct arena *arena, double share)
{
    return arena_printf(arena, "%.3g %%", share * 100);
}

/* A long command line is cut in text. */
#define VALUE_COLUMNS 100

static void add_info(const struct report_source *source, struct table *table, enum info_key info, const char *key,
                     const char *words)
{
    const char *value = info_text(source->reader, info);
    const char *line = value == NULL ? NULL
                                     : arena_printf(source->arena, "%s %.*s%s", words, VALUE_COLUMNS, value,
                                                    strlen(value) > VALUE_COLUMNS ? "..." : "");
    table_metadata_words(table, key, value, line);
}

void report_metadata_program(const struct report_source *source, struct table *table)
{
    add_info(source, table, INFO_JVM_COMMAND, "program", "program ");
}

void report_metadata(const struct report_source *source, struct table *table)
{
    const struct calltree *tree = source->tree;
    char time[32], cpu[32];
    double wall_ns = report_ns(source, tree->end_ticks - tree->start_ticks),
           cpu_ns = tree->cpu_ticks > 0 ? report_ns(source, tree->cpu_ticks) : info_ns(source, INFO_SAMPLE_CPU_NS);
    table_format_ns(wall_ns, time, sizeof time);
    table_format_ns(cpu_ns, cpu, sizeof cpu);
    table_metadata_words(table, "trace", source->path, NULL);
    report_metadata_program(source, table);
    add_info(source, table, INFO_JVM_VERSION, "jvm", "JVM     ");
    add_info(source, table, INFO_SIMULATED, "simulated", "machine  simulated:");
    if (info_text(source->reader, INFO_THREADS_ONLY) != NULL)
        add_info(source, table, INFO_THREADS_ONLY, "threads", "threads  only");
    table_metadata_number(table, "duration_ns", wall_ns, NULL);
    table_metadata_number(table, "cpu_ns", cpu_ns, NULL);
    table_metadata_number(table, "records", (double)tree->n_records, NULL);
    table_metadata_number(table, "calls", (double)tree->n_calls, NULL);
    table_metadata_number(table, "calls_lost", (double)tree->n_lost, NULL);
    table_metadata_number(table, "calls_open", (double)tree->n_open, NULL);
    table_metadata_words(table, "clock", report_clock_key(source->clock), NULL);
    const char *calls = tree->n_records == 0 ? ""
                                             : arena_printf(source->arena, ", %.0f records of %.0f calls",
                                                            (double)tree->n_records, (double)tree->n_calls);
    table_metadata_words(
        table, NULL, NULL,
        calls == NULL ? NULL
                      : arena_printf(source->arena, "trace    %s: %s, %s %s%s", source->path, time, cpu,
                                     tree->cpu_is_wall ? "of the threads that ran probes" : "of CPU time", calls));
}

static void lost_calls(const struct report_source *source, struct table *table)
{
    const struct calltree *tree = source->tree;
    double all = (double)tree->n_calls + (double)tree->n_lost;
    const char *no_ring = info_text(source->reader, INFO_LOST_NO_RING);
    if (tree->n_lost > 0)
        table_doubt(
            table,
            arena_printf(
                source->arena,
                "%.0f calls (%.2g %%) were lost: their callers' times include theirs; a larger --buffer loses fewer",
                (double)tree->n_lost, 100 * (double)tree->n_lost / all));
    if (no_ring != NULL && strcmp(no_ring, "0") != 0)
        table_doubt(table,
                    arena_printf(source->arena, "%s calls were lost: there were more threads than buffers", no_ring));
}

/* Classes of a count, if there are any; first: the first of them, and why, or INFO_N_KEYS. */
static void left_classes(const struct report_source *source, struct table *table, enum info_key key, const char *what,
                         enum info_key first)
{
    double n = info_number(source->reader, key);
    const char *text = first == INFO_N_KEYS ? NULL : info_text(source->reader, first);
    if (n > 0)
        table_doubt(table, arena_printf(source->arena, "%.0f %s %s%s%s", n, n == 1 ? "class was" : "classes were", what,
                                        text == NULL ? "" : "; the first: ", text == NULL ? "" : text));
}

static void unchanged_classes(const struct report_source *source, struct table *table)
{
    left_classes(source, table, INFO_LEFT_BREAKPOINTS, "not instrumented: a debugger had breakpoints there",
                 INFO_N_KEYS);
    left_classes(source, table, INFO_REFUSED_CLASSES, "not changed: the JVM refused", INFO_REFUSED_FIRST);
    left_classes(source, table, INFO_UNSURE_CLASSES, "not instrumented: the bytecode with probes failed mmprof's check",
                 INFO_UNSURE_FIRST);
}

void report_note_faults(const struct report_source *source, struct table *table)
{
    const char *period = info_text(source->reader, INFO_FAULTS_PERIOD);
    if (period != NULL)
        table_note(table, arena_printf(source->arena,
                                       "one in %s page faults of each thread was recorded, so their numbers are "
                                       "estimates; -e page-faults records all",
                                       period));
}

bool report_samples_sets(const struct report_source *source)
{
    return info_number(source->reader, INFO_SIMULATED_SETS) > 1;
}

bool report_is_of_sets(const struct report_source *source, const char *event)
{
    return report_samples_sets(source) && simulated_is_of_sets(event);
}

/* Half of an interval of 95 %. */
static const char *sets_error(struct arena *arena, const struct info_sets_error *told, double error)
{
    return error > 0 ? report_percent(arena, estimate_student((double)told->degrees_of_freedom) * error) : "-";
}

void report_note_sets(const struct report_source *source, struct table *table)
{
    struct arena *arena = source->arena;
    struct info_sets_error told;
    if (!report_samples_sets(source))
        return;
    const char *share = info_text(source->reader, INFO_SIMULATED_SETS), *known = "unknown (the recording did not end)";
    if (info_read(source->reader, INFO_SIMULATED_SETS_ERROR, 0, arena, &told) == 4 && told.degrees_of_freedom > 0)
        known = arena_printf(arena, "L1D \xc2\xb1%s, L1I \xc2\xb1%s, L2 \xc2\xb1%s", sets_error(arena, &told, told.l1d),
                             sets_error(arena, &told, told.l1i), sets_error(arena, &told, told.l2));
    table_note(
        table,
        arena_printf(arena,
                     "cache-set sampling (1 in %s sets): cache misses (~) and cycles are estimates; 95 %% confidence "
                     "interval of the whole recording: %s; a row with k misses has a relative error of 2 sqrt(%s / k) "
                     "or more, and a larger one if its misses fall into few sets; TLBs and branches are not sampled",
                     share, known, share));
}

void report_note_left_out(const struct report_source *source, struct table *table)
{
    struct info_left_out told;
    if (info_read(source->reader, INFO_SIMULATED_LEFT_OUT, 0, source->arena, &told) < 3 || told.n_accesses == 0)
        return;
    double own = (double)told.n_accesses, all = own + (double)told.n_simulated;
    table_note(
        table,
        arena_printf(source->arena,
                     "mmprof's own code made %s of all loads and stores: the counts and the simulated caches exclude "
                     "it; they include the calls of probes in compiled code, and the JVM's and libc's work for mmprof",
                     report_percent(source->arena, own / all)));
}

static void unsampled(const struct report_source *source, struct table *table)
{
    double cpu_ns = info_ns(source, INFO_SAMPLE_CPU_NS), sampled_ns = info_ns(source, INFO_SAMPLE_SAMPLED_NS);
    double period_ns = info_ns(source, INFO_SAMPLE_PERIOD_NS);
    double missing_ns =
        info_text(source->reader, INFO_SAMPLE_SAMPLED_NS) == NULL ? 0 : samples_missing(cpu_ns, sampled_ns, period_ns);
    enum samples_way way = info_text(source->reader, INFO_SAMPLE_MECHANISM) != NULL ? SAMPLES_POLLED
                           : info_text(source->reader, INFO_SAMPLE_HALVES) != NULL  ? SAMPLES_OF_CPUS
                                                                                    : SAMPLES_OF_THREADS;
    if (missing_ns > 0)
        table_doubt(table, samples_missing_words(cpu_ns, missing_ns, way, source->arena));
}

void report_losses(const struct report_source *source, struct table *table)
{
    const struct calltree *tree = source->tree;
    struct arena *arena = source->arena;
    lost_calls(source, table);
    unchanged_classes(source, table);
    if (info_text(source->reader, INFO_SIMULATED) != NULL)
        table_doubt(table,
                    "cycles, instructions and misses are simulated; times are the emulator's: it slows different code "
                    "down by different factors, so they do not show where the program spends its time");
    if (tree->cpu_is_wall)
        table_doubt(table,
                    arena_printf(arena, "CPU time is unknown (%s): times are wall-clock times, which include waiting",
                                 strncmp(tree->why_wall, "none: ", 6) == 0 ? tree->why_wall + 6 : tree->why_wall));
    if (info_text(source->reader, INFO_SAMPLE_FAILED) != NULL)
        table_doubt(table, arena_printf(arena, "perf could not sample stacks (%s): few rows come from samples",
                                        info_text(source->reader, INFO_SAMPLE_FAILED)));
    unsampled(source, table);
    if (tree->n_kernel_lost > 0)
        table_doubt(table, arena_printf(arena, "the kernel dropped %.0f of its records: CPU times are estimates",
                                        (double)tree->n_kernel_lost));
    if (tree->is_cut)
        table_doubt(table, "the trace is cut off: the recording did not end properly");
    if (tree->n_damaged_chunks > 0)
        table_doubt(table, arena_printf(arena, "%.0f damaged chunks of the trace were skipped",
                                        (double)tree->n_damaged_chunks));
    if (tree->n_folded > 0)
        table_doubt(table,
                    arena_printf(arena, "%.0f calls exceeded the size of the call tree and were merged into others",
                                 (double)tree->n_folded));
    if (tree->n_unmatched_exits + tree->n_missing_exits > 0)
        table_doubt(table, arena_printf(arena, "%.0f exits without an entry were ignored, %.0f exits were missing",
                                        (double)tree->n_unmatched_exits, (double)tree->n_missing_exits));
    if (tree->ns_per_tick == 0)
        table_doubt(table, "the trace has fewer than two clock points: times in ns are not known");
}
