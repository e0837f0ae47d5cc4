#include "report/view/cost.h"

#include "core/perf/perf_rings.h"
#include "core/trace/recording_info.h"
#include "report/shares.h"

/* Values and shares that are not numbers. */
#define NOT_KNOWN (-1.0)
#define NO_SENSE  (-2.0)

#define RECORD_USUAL_NS 20.0 /* of a probe, where that was not measured */

/* Of what the agent's thread takes for probes, their removal takes this part: JDK 25, 13 and 28 classes: 0.27, 0.30. */
#define REMOVAL_PART 0.3

struct cost_rows {
    const struct report_source *source;
    const struct recompilation *recompilation;
    struct table *table;
    struct shares shares;
    double wall_ns, cpu_ns;                               /* of the recording; of the program in it, 0: not known */
    double probes_ns, disabled_ns, agent_ns, recorder_ns; /* probes: with those that are disabled */
    double ip_sample_ns, ip_samples_ns;                   /* of one; of all, 0: there were none */
    double allocations_ns;                                /* of all samples, 0: there were none */
    double compiling_ns;                                  /* again, as the budget has it, or NOT_KNOWN */
    double changing_ns; /* of changed classes, in the JVM's thread, and to change them back */
};

struct cost {
    const char *kind, *label;
    enum table_unit unit;
    double value, share; /* or NOT_KNOWN, NO_SENSE */
    const char *how;     /* why a value is not known */
};

/* A row as it is printed. */
struct cost_line {
    const char *label, *unit, *how;
    struct table_cell value;
    double share;
};

static const struct table_column columns[] = {
    { "cost", "Cost of this recording", TABLE_TEXT, FROM(struct cost_line, label) },
    { "value", "Value", TABLE_RATIO, FROM(struct cost_line, value) },
    { "share", "Share (%)", TABLE_SHARE, FROM(struct cost_line, share) },
    { "unit", "unit", TABLE_TEXT, FROM(struct cost_line, unit), .width = COLUMN_DATA },
    { "how", "Basis", TABLE_TEXT, FROM(struct cost_line, how) },
};

static void add_cost_row(struct cost_rows *c, struct cost cost)
{
    const struct table_cell none = { .value = TABLE_NOT_APPLICABLE };
    const struct cost_line line = {
        .label = cost.label,
        .unit = cost.unit == TABLE_NS      ? "ns"
                : cost.unit == TABLE_COUNT ? "count"
                                           : "share",
        .how = cost.how == NULL ? "" : cost.how,
        .value = cost.value == NO_SENSE    ? none
                 : cost.value == NOT_KNOWN ? table_unmeasured()
                                           : table_number_in(c->table, cost.value, cost.unit),
        .share = cost.share == NO_SENSE    ? TABLE_NONE
                 : cost.share == NOT_KNOWN ? NAN
                                           : cost.share,
    };
    table_add(c->table, cost.kind, &line);
}

/* Of the program's CPU time. */
static double cpu_share(const struct cost_rows *c, double ns)
{
    return ns < 0 || c->cpu_ns <= 0 ? NOT_KNOWN : ns / c->cpu_ns;
}

static double wall_share(const struct cost_rows *c, double ns)
{
    return ns < 0 || c->wall_ns <= 0 ? NOT_KNOWN : ns / c->wall_ns;
}

/* A number of the metadata; negative: there is none. */
static double number(const struct cost_rows *c, enum info_key key)
{
    return info_number(c->source->reader, key);
}

static bool is_live(const struct cost_rows *c)
{
    return info_text(c->source->reader, INFO_LIVE_BUDGET) != NULL;
}

/* ---- stops ---- */

static void add_pauses(struct cost_rows *c)
{
    const struct calltree_pauses *pauses = &c->source->tree->pauses;
    double n = (double)pauses->n, ns = (double)pauses->ns;
    const char *none = "no class was instrumented during the recording";
    add_cost_row(c, (struct cost){ "batches", "Retransformation batches", TABLE_COUNT, n, NO_SENSE,
                                   n == 0 ? none : "measured" });
    if (n == 0)
        return;
    add_cost_row(c, (struct cost){ "pause_mean", "Mean pause", TABLE_NS, ns / n, NO_SENSE, "measured, upper bound" });
    add_cost_row(c, (struct cost){ "pause_longest", "Longest pause", TABLE_NS, (double)pauses->longest_ns, NO_SENSE,
                                   "measured, upper bound" });
    add_cost_row(c, (struct cost){ "pauses", "All pauses", TABLE_NS, ns, wall_share(c, ns),
                                   "measured, upper bound; share of the time" });
}

/* Before the trace's first record, and after its last one. */
static void add_changes(struct cost_rows *c)
{
    double before = number(c, INFO_INSTRUMENT_PAUSES_MS), longest_before = number(c, INFO_INSTRUMENT_LONGEST_PAUSE_MS);
    if (before >= 0 && longest_before >= 0) {
        add_cost_row(c, (struct cost){ "preparation_longest", "Pause to insert probes, longest", TABLE_NS,
                                       longest_before * 1e6, NO_SENSE, "measured, upper bound; before the recording" });
        add_cost_row(c, (struct cost){ "preparation", "Pauses to insert probes", TABLE_NS, before * 1e6, NO_SENSE,
                                       "measured, upper bound; before the recording" });
    }
    double all = number(c, INFO_REMOVAL_PAUSES_MS), longest = number(c, INFO_REMOVAL_LONGEST_PAUSE_MS);
    if (all < 0 || longest < 0)
        return;
    add_cost_row(c, (struct cost){ "removal_longest", "Pause to remove probes, longest", TABLE_NS, longest * 1e6,
                                   NO_SENSE, "measured, upper bound; after the recording" });
    add_cost_row(c, (struct cost){ "removal", "Pauses to remove probes", TABLE_NS, all * 1e6, NO_SENSE,
                                   "measured, upper bound; after the recording" });
}

/* ---- the JIT compiler ---- */

/*
 * "estimated from the code thrown away; the compilers took 39.0 ms more than usual": in a program that warms up the
 * second number says little, be it less or more.  Traces of earlier versions have only that.
 */
static void add_recompiling(struct cost_rows *c)
{
    double more_ns = number(c, INFO_LIVE_RECOMPILING_MS) < 0 ? NOT_KNOWN : number(c, INFO_LIVE_RECOMPILING_MS) * 1e6;
    double ns = c->compiling_ns >= 0 ? c->compiling_ns : more_ns;
    const char *how = !is_live(c) ? "only live recordings measure the JIT compilers"
                      : ns < 0    ? "the JIT compiler's threads are unknown"
                                  : "measured: the compilers' CPU time in the window, minus the usual";
    char more[32];
    if (more_ns >= 0 && fabs(ns - more_ns) >= 1e6) {
        table_format_ns(more_ns, more, sizeof more);
        how = arena_printf(c->source->arena,
                           "estimated from the code thrown away; the compilers took %s more than usual", more);
    }
    add_cost_row(c,
                 (struct cost){ "recompiling_cpu", "CPU time of recompilation", TABLE_NS, ns, cpu_share(c, ns), how });
}

static void add_compiler(struct cost_rows *c)
{
    const struct jit_shapes *shapes = c->source->shapes;
    const char *without = is_live(c) ? "recorded without --jit-log" : "needs 'record --live --jit-log'";
    struct jit_summary again = { 0 };
    double windows_ns = is_live(c) ? c->recompilation->windows_ns : NOT_KNOWN;
    if (shapes != NULL)
        jit_shapes_summary(shapes, &again);
    add_cost_row(c, (struct cost){ "recovery", "Recompilation window", TABLE_NS, windows_ns, wall_share(c, windows_ns),
                                   !is_live(c) ? "only live recordings measure the JIT compilers"
                                   : number(c, INFO_LIVE_WINDOW_IS_CUT) > 0
                                       ? "measured, not over at the end; share of the time"
                                       : "measured; share of the time" });
    add_recompiling(c);
    add_cost_row(c, (struct cost){ "recompiled_methods", "Recompiled methods", TABLE_COUNT,
                                   shapes == NULL ? NOT_KNOWN : again.n_again, NO_SENSE,
                                   shapes == NULL ? without : "measured" });
    add_cost_row(c, (struct cost){ "compilations", "Their compilations", TABLE_COUNT,
                                   shapes == NULL ? NOT_KNOWN : again.n_compilations, NO_SENSE,
                                   shapes == NULL ? without : "measured" });
}

/* ---- CPU time ---- */

/*
 * What changed classes cost that is not of the agent's thread in the recording: the JVM's own thread works in the
 * pauses, all others wait; and to remove the probes, behind the recording's end, it does that again, and the agent's
 * thread a part of what it did.
 */
static double find_changing(const struct cost_rows *c)
{
    const struct calltree *tree = c->source->tree;
    double pauses_ns = (double)tree->pauses.ns, all_ns = number(c, INFO_LIVE_REWRITING_MS) * 1e6;
    double thread_ns = report_ns(c->source, c->shares.part_cpu_ticks[VM_PART_THREAD]);
    double in_pauses_ns = tree->cpu_is_wall || pauses_ns < thread_ns ? pauses_ns : thread_ns;
    double again_ns = in_pauses_ns + (all_ns > in_pauses_ns ? REMOVAL_PART * (all_ns - in_pauses_ns) : 0);
    double n_again = number(c, INFO_REMOVAL_BATCHES);
    if (tree->pauses.n == 0)
        return 0;
    return in_pauses_ns + (n_again > 0 ? again_ns * n_again / (double)tree->pauses.n : 0);
}

static void find_cpu_times(struct cost_rows *c)
{
    const struct report_source *source = c->source;
    const struct calltree *tree = source->tree;
    c->wall_ns = report_ns(source, tree->end_ticks - tree->start_ticks);
    c->cpu_ns = report_process_cpu_ns(source);
    if (c->cpu_ns <= 0 && !tree->cpu_is_wall)
        c->cpu_ns = report_ns(source, tree->cpu_ticks);
    c->probes_ns = calltree_pair_ns(tree) > 0 || tree->n_calls == 0 ? report_ns(source, tree->probe_ticks)
                                                                    : (double)tree->n_records * RECORD_USUAL_NS;
    c->disabled_ns = number(c, INFO_LIVE_DISABLED_MS) > 0 ? number(c, INFO_LIVE_DISABLED_MS) * 1e6 : 0;
    c->probes_ns += c->disabled_ns;
    double code_ns = number(c, INFO_CODE_CPU_MS) > 0 ? number(c, INFO_CODE_CPU_MS) * 1e6 : 0;
    c->agent_ns = tree->cpu_is_wall ? NOT_KNOWN : report_ns(source, c->shares.part_cpu_ticks[VM_PART_MMPROF]) + code_ns;
    c->recorder_ns = number(c, INFO_RECORDER_CPU_NS);
    c->ip_sample_ns =
        number(c, INFO_IP_SAMPLES_COST_NS) > 0 ? number(c, INFO_IP_SAMPLES_COST_NS) : (double)IP_SAMPLE_COST_USUAL_NS;
    c->allocations_ns = number(c, INFO_ALLOCATIONS_COST_NS) > 0 ? number(c, INFO_ALLOCATIONS_COST_NS) : 0;
    c->ip_samples_ns = number(c, INFO_IP_SAMPLES) <= 0 ? 0 : number(c, INFO_IP_SAMPLES) * c->ip_sample_ns;
    c->changing_ns = is_live(c) ? find_changing(c) : 0;
    c->compiling_ns = number(c, INFO_LIVE_COMPILING_MS) >= 0 ? number(c, INFO_LIVE_COMPILING_MS) * 1e6 : NOT_KNOWN;
}

/* "estimated: 338104 records at 10.1 ns" */
static const char *probes_how(const struct cost_rows *c)
{
    const struct calltree *tree = c->source->tree;
    char each[32], ns[32];
    bool is_usual = calltree_pair_ns(tree) <= 0 && tree->n_calls > 0;
    table_format_ns(c->disabled_ns, ns, sizeof ns);
    table_format_ns(is_usual ? RECORD_USUAL_NS : calltree_pair_ns(tree) / 2, each, sizeof each);
    return arena_printf(c->source->arena, "estimated: %.0f records at %s%s%s%s", (double)tree->n_records, each,
                        is_usual ? ", the usual cost: not measured here" : "",
                        c->disabled_ns > 0 ? "; and disabled probes, " : "", c->disabled_ns > 0 ? ns : "");
}

/* "measured; 89.4 ms of this for stack samples" */
static const char *agent_how(const struct cost_rows *c)
{
    struct info_live_samples samples;
    char ns[32];
    const char *why = c->source->tree->why_wall, *code = "";
    if (c->agent_ns < 0)
        return why == NULL ? "CPU time is unknown" : strncmp(why, "none: ", 6) == 0 ? why + 6 : why;
    if (number(c, INFO_CODE_CPU_MS) > 0) {
        table_format_ns(number(c, INFO_CODE_CPU_MS) * 1e6, ns, sizeof ns);
        code = arena_printf(c->source->arena, ", of which %s in the JVM's threads that report compiled code", ns);
    }
    info_read(c->source->reader, INFO_LIVE_SAMPLES, 0, c->source->arena, &samples);
    if (samples.n == 0)
        return arena_printf(c->source->arena, "measured%s", code);
    table_format_ns(samples.cpu_ms * 1e6, ns, sizeof ns);
    return arena_printf(c->source->arena, "measured; %s of this for stack samples%s", ns, code);
}

/* "estimated: 3554 IP samples at 21.0 us"; older traces have no cost where it could not be measured. */
static const char *ip_samples_how(const struct cost_rows *c)
{
    bool is_usual = number(c, INFO_IP_SAMPLES_COST_IS_USUAL) > 0 || number(c, INFO_IP_SAMPLES_COST_NS) <= 0;
    char each[32];
    table_format_ns(c->ip_sample_ns, each, sizeof each);
    return arena_printf(c->source->arena, "estimated: %.0f IP samples at %s%s", number(c, INFO_IP_SAMPLES), each,
                        is_usual ? ", the usual cost: not measured here" : "");
}

static const char *sum_how(const struct cost_rows *c)
{
    struct arena *arena = c->source->arena;
    double budget = number(c, INFO_LIVE_BUDGET);
    if (budget < 0)
        return "of the program's CPU time";
    return arena_printf(arena, "of the program's CPU time; budget %s%s", report_percent(arena, budget),
                        number(c, INFO_LIVE_RECOMPILING_MS) >= 0 && c->compiling_ns < 0 ? "; without recompilation"
                                                                                        : "");
}

/* All that is known. */
static double sum_of(const struct cost_rows *c, bool *is_known)
{
    const double parts[] = { c->probes_ns,      c->agent_ns,     c->recorder_ns, c->ip_samples_ns,
                             c->allocations_ns, c->compiling_ns, c->changing_ns };
    double all_ns = 0;
    *is_known = c->agent_ns >= 0 && c->recorder_ns >= 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        all_ns += parts[i] > 0 ? parts[i] : 0;
    return all_ns;
}

static void add_cpu_times(struct cost_rows *c)
{
    bool is_known;
    double all_ns = sum_of(c, &is_known);
    add_cost_row(c, (struct cost){ "probes_cpu", "CPU time of probes", TABLE_NS, c->probes_ns,
                                   cpu_share(c, c->probes_ns), probes_how(c) });
    add_cost_row(c, (struct cost){ "agent_cpu", "CPU time of the agent", TABLE_NS, c->agent_ns,
                                   cpu_share(c, c->agent_ns), agent_how(c) });
    if (c->changing_ns > 0)
        add_cost_row(c, (struct cost){ "changing_cpu", "CPU time of changing classes", TABLE_NS, c->changing_ns,
                                       cpu_share(c, c->changing_ns),
                                       "estimated: the JVM's thread in the pauses, and removing the probes" });
    if (c->allocations_ns > 0)
        add_cost_row(c, (struct cost){ "allocations_cpu", "CPU time of allocation samples", TABLE_NS, c->allocations_ns,
                                       cpu_share(c, c->allocations_ns), "measured: in the threads that allocate" });
    if (c->ip_samples_ns != 0)
        add_cost_row(c, (struct cost){ "hits_cpu", "CPU time of IP sampling", TABLE_NS, c->ip_samples_ns,
                                       cpu_share(c, c->ip_samples_ns), ip_samples_how(c) });
    add_cost_row(c, (struct cost){ "recorder_cpu", "CPU time of mmprof itself", TABLE_NS, c->recorder_ns,
                                   cpu_share(c, c->recorder_ns),
                                   c->recorder_ns < 0 ? "not in the trace" : "measured, until the recording ended" });
    add_cost_row(c, (struct cost){ "cpu", "Total CPU time", TABLE_NS, all_ns, cpu_share(c, all_ns),
                                   is_known ? sum_how(c) : "lower bound: a part is unknown" });
}

/* ---- slowdown ---- */

/* What the program's own threads lose: the probes in them, pauses, and slower calls in recompilation windows. */
static double estimate(const struct cost_rows *c)
{
    const struct recompilation *recompilation = c->recompilation;
    double own_ns = report_ns(c->source, c->shares.part_cpu_ticks[VM_PART_APPLICATION]);
    double pauses_ns = (double)c->source->tree->pauses.ns;
    double extra_ns = recompilation->why == NULL && recompilation->extra_ns > 0 ? recompilation->extra_ns : 0;
    if (own_ns <= extra_ns + c->disabled_ns || c->wall_ns <= pauses_ns)
        return NOT_KNOWN;
    return (own_ns + c->probes_ns - c->disabled_ns) / (own_ns - c->disabled_ns - extra_ns) * c->wall_ns /
               (c->wall_ns - pauses_ns) -
           1;
}

static const char *recompilation_how(const struct cost_rows *c)
{
    const struct recompilation *recompilation = c->recompilation;
    if (recompilation->why != NULL)
        return recompilation->why;
    const char **labels = report_labels(c->source, &recompilation->method, 1);
    return arena_printf(c->source->arena, "measured: %.0f calls of %s, and %.0f others", (double)recompilation->n_in,
                        labels[0], (double)recompilation->n_out);
}

static void add_slowdown(struct cost_rows *c)
{
    const struct recompilation *recompilation = c->recompilation;
    double estimated = estimate(c);
    bool is_measured = recompilation->why == NULL;
    add_cost_row(c, (struct cost){ "slowdown", "Slowdown, estimated", TABLE_SHARE, NO_SENSE, estimated,
                                   estimated < 0 ? "the CPU time of the program's threads is not known"
                                   : is_measured && recompilation->extra_ns > 0
                                       ? "estimated: probes, pauses, slower calls during recompilation"
                                       : "estimated: probes, pauses" });
    struct cost measured = { "slowdown_in_recovery", "Slowdown in the window", TABLE_SHARE, NO_SENSE, NOT_KNOWN,
                             recompilation_how(c) };
    if (is_measured)
        measured.share = (recompilation->in_ns - recompilation->out_ns) / recompilation->out_ns;
    add_cost_row(c, measured);
    add_cost_row(c, (struct cost){ "slowdown_after", "Slowdown later, measured", TABLE_SHARE, NO_SENSE, NOT_KNOWN,
                                   "unknown: no method ran without probes" });
}

static void begin(struct cost_rows *c)
{
    const struct report_source *source = c->source;
    uint32_t *row_of = arena_alloc(source->arena, ((size_t)source->tree->n_methods + 1) * sizeof *row_of);
    struct report_source on_cpu = *source;
    if (!source->tree->cpu_is_wall)
        on_cpu.clock = PHASES_CPU;
    memset(row_of, 0xff, ((size_t)source->tree->n_methods + 1) * sizeof *row_of); /* CALLTREE_NONE */
    shares_compute(&on_cpu, row_of, 0, &c->shares);
    find_cpu_times(c);
}

/* Why compiling again took what it took. */
static const char *compiling_why(const struct cost_rows *c)
{
    if (number(c, INFO_LIVE_FORGOTTEN_MS) > 0)
        return ": this JVM discarded all its compiled code at the first instrumentation; start it with "
               "-agentpath:.../libmmprof-agent.so=prepare to keep compiled code (mmprof-record(1))";
    return "";
}

/* What is fixed is amortized in a longer recording.  "" where it is not known what is. */
static const char *length_within(const struct cost_rows *c)
{
    struct arena *arena = c->source->arena;
    char fixed[32], length[32], least[32];
    bool is_known;
    double start_ns = number(c, INFO_RECORDER_START_NS), budget = number(c, INFO_LIVE_BUDGET);
    double fixed_ns =
        start_ns + c->changing_ns + (c->agent_ns > 0 ? c->agent_ns : 0) + (c->compiling_ns > 0 ? c->compiling_ns : 0);
    double running_ns = sum_of(c, &is_known) - fixed_ns, left_ns = budget * c->cpu_ns - running_ns;
    if (start_ns < 0)
        return "";
    if (left_ns <= 0)
        return arena_printf(arena, ": what grows with time takes %s in all; use a larger --budget",
                            report_percent(arena, cpu_share(c, running_ns)));
    table_format_ns(fixed_ns, fixed, sizeof fixed);
    table_format_ns(c->wall_ns, length, sizeof length);
    table_format_ns(c->wall_ns * fixed_ns / left_ns, least, sizeof least);
    return arena_printf(arena, ": fixed cost %s of a %s recording; record for %s or more to be within %s", fixed,
                        length, least, report_percent(arena, budget));
}

/* "recompilation took 15.4 %: fixed cost 320 ms of a 20.0 s recording; record for 58.1 s or more to be within 1 %" */
static const char *excess_why(const struct cost_rows *c)
{
    const char *longer = length_within(c), *again = compiling_why(c);
    const struct {
        double ns;
        const char *what, *why;
    } parts[] = { { c->compiling_ns, "recompilation", again[0] != '\0' ? again : longer },
                  { c->changing_ns, "changing classes", longer },
                  { c->agent_ns, "the agent in the JVM", longer },
                  { c->recorder_ns, "mmprof's own process", longer },
                  { c->ip_samples_ns, "IP sampling", ": use a lower --frequency" },
                  { c->allocations_ns, "allocation samples", ": record with --no-allocations" },
                  { c->probes_ns, "probes", ": their methods were called more often than expected" } };
    size_t most = 0;
    for (size_t i = 1; i < sizeof parts / sizeof *parts; i++)
        most = parts[i].ns > parts[most].ns ? i : most;
    return arena_printf(c->source->arena, "%s took %s%s", parts[most].what,
                        report_percent(c->source->arena, cpu_share(c, parts[most].ns)), parts[most].why);
}

void cost_sums(const struct report_source *source, struct cost_sums *sums)
{
    struct cost_rows c = { .source = source };
    begin(&c);
    *sums = (struct cost_sums){ .cpu_ns = c.cpu_ns,
                                .probes_ns = c.probes_ns,
                                .agent_ns = c.agent_ns,
                                .recorder_ns = c.recorder_ns,
                                .ip_samples_ns = c.ip_samples_ns,
                                .allocations_ns = c.allocations_ns,
                                .compiling_ns = c.compiling_ns,
                                .changing_ns = c.changing_ns,
                                .budget = number(&c, INFO_LIVE_BUDGET) };
    sums->all_ns = sum_of(&c, &sums->is_whole);
    bool is_over = sums->budget >= 0 && sums->cpu_ns > 0 && sums->all_ns > sums->budget * sums->cpu_ns;
    sums->why_over = is_over ? excess_why(&c) : NULL;
}

const char *cost_words(const struct report_source *source, struct table *table)
{
    struct arena *arena = source->arena;
    struct cost_sums sums;
    cost_sums(source, &sums);
    if (sums.budget < 0 || sums.cpu_ns <= 0)
        return "";
    double share = sums.all_ns / sums.cpu_ns;
    table_metadata_number(table, "cost_share", share, NULL);
    return arena_printf(arena, ", cost %s%s (budget %s)%s%s", sums.is_whole ? "" : "at least ",
                        report_percent(arena, share), report_percent(arena, sums.budget),
                        sums.why_over == NULL ? "" : ": ", sums.why_over == NULL ? "" : sums.why_over);
}

void cost_make(const struct report_source *source, const struct recompilation *recompilation, struct table *table)
{
    struct cost_rows c = { .source = source, .recompilation = recompilation, .table = table };
    table_begin(table, source->arena);
    begin(&c);
    TABLE_COLUMNS(table, columns, 0);
    add_pauses(&c);
    add_changes(&c);
    add_compiler(&c);
    add_cpu_times(&c);
    add_slowdown(&c);
}
