#include "report/samples_table.h"

#include "core/base/text.h"
#include "report/sample_cells.h"
#include "symbolize/vm_parts.h"

struct samples_table_row {
    struct sample_cells cells; /* heat: of its own time or in total, as it is sorted; 0: nothing decays */
    uint32_t method, depth;
    const char *class_name, *name, *descriptor;
    double n_calls, per_call_ns;
};

static int by_total(const void *a, const void *b)
{
    const struct samples_table_row *x = a, *y = b;
    if (x->cells.total.weight != y->cells.total.weight)
        return x->cells.total.weight > y->cells.total.weight ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1; /* callers before callees */
    return x->method < y->method ? -1 : 1;
}

static int by_self(const void *a, const void *b)
{
    const struct samples_table_row *x = a, *y = b;
    if (x->cells.self.weight != y->cells.self.weight)
        return x->cells.self.weight > y->cells.self.weight ? -1 : 1;
    return by_total(a, b);
}

static int by_heat(const void *a, const void *b)
{
    const struct samples_table_row *x = a, *y = b;
    return x->cells.heat != y->cells.heat ? (x->cells.heat > y->cells.heat ? -1 : 1) : by_total(a, b);
}

static const struct table_column columns[] = {
    { "class", NULL, TABLE_TEXT, FROM(struct samples_table_row, class_name), .width = COLUMN_DATA },
    { "name", NULL, TABLE_TEXT, FROM(struct samples_table_row, name), .width = COLUMN_DATA },
    { "descriptor", NULL, TABLE_TEXT, FROM(struct samples_table_row, descriptor), .width = COLUMN_DATA },
    { "calls_at_least", "Calls (at least)", TABLE_COUNT, FROM(struct samples_table_row, n_calls) },
    { "ns_per_call_at_most", "Time/call (at most)", TABLE_NS, FROM(struct samples_table_row, per_call_ns) },
};

/* ---- rows ---- */

static void add_row(const struct samples_source *source, struct samples_table_row *row, const char *label,
                    struct table *table)
{
    const struct method_name *name = &source->names[row->method];
    double n_calls = (double)sample_profile_calls(source->profile, row->method);
    bool is_time = source->period_ns > 0;
    row->cells.label = label;
    row->cells.waiting = sample_profile_waiting(source->profile, row->method);
    sample_cells_ratios(source->profile, &source->profile->rows[row->method], true, source->ratios, source->n_ratios,
                        &row->cells);
    row->class_name = name->class_name;
    row->name = name->method;
    row->descriptor = name->descriptor;
    row->n_calls = source->knows_calls ? n_calls : NAN;
    row->per_call_ns = is_time && source->knows_calls && n_calls > 0 ? (double)row->cells.total.weight / n_calls : NAN;
    table_add(table, "method", row);
}

/* A part of the JVM, or of the application what no method was found for. */
static void add_part(const struct samples_source *source, const char *kind, const char *label,
                     const struct sample_row *sums, bool *is_first, struct table *table)
{
    struct samples_table_row row = { .cells = { .label = label },
                                     .class_name = TABLE_NO_WORDS,
                                     .name = TABLE_NO_WORDS,
                                     .descriptor = TABLE_NO_WORDS,
                                     .n_calls = TABLE_NONE,
                                     .per_call_ns = TABLE_NONE };
    const struct sample_profile *profile = source->profile;
    sample_profile_row(profile, sums, &row.cells.total, &row.cells.waiting);
    if (row.cells.total.weight == 0)
        return;
    row.cells.self = row.cells.total;
    row.cells.heat = heat_share(&sums->total.heat, &profile->all.heat, profile->half_life_ns);
    sample_cells_ratios(profile, sums, false, source->ratios, source->n_ratios, &row.cells);
    table_add(table, kind, &row)->after_rule = *is_first;
    *is_first = false;
}

static void add_parts(const struct samples_source *source, struct table *table)
{
    const struct sample_profile *profile = source->profile;
    bool is_first = true;
    add_part(source, "no_java", "application, no Java method", &profile->no_method, &is_first, table);
    add_part(source, "other_threads", "application, other threads", &profile->groups[VM_PARTS], &is_first, table);
    for (enum vm_part part = VM_PART_APPLICATION + 1; part < VM_PARTS; part++)
        add_part(source, vm_part_key(part), vm_part_name(part), &profile->groups[part], &is_first, table);
}

/* Those that are wanted, in their order; *n of them, in the arena. */
static struct samples_table_row *choose(const struct samples_source *source, const struct samples_options *options,
                                        struct arena *arena, size_t *n)
{
    const struct sample_profile *profile = source->profile;
    struct samples_table_row *rows = arena_alloc(arena, (source->n_names + 1) * sizeof *rows);
    *n = 0;
    for (uint32_t i = 0; i < source->n_names; i++) {
        const struct sample_cells cells = { .total = sample_profile_total(profile, i),
                                            .self = sample_profile_self(profile, i),
                                            .heat = sample_profile_heat(profile, i, options->by_self) };
        double share = options->by_self ? cells.self.share : cells.total.share;
        if (cells.total.n_samples > 0 && (share >= options->min_share || cells.heat >= options->min_share))
            rows[(*n)++] = (struct samples_table_row){ .cells = cells,
                                                       .method = i,
                                                       .depth = i < profile->n_rows ? profile->rows[i].depth : 0 };
    }
    qsort(rows, *n, sizeof *rows, profile->half_life_ns > 0 ? by_heat : options->by_self ? by_self : by_total);
    return rows;
}

static uint64_t sampled_cpu_ns(const struct sample_profile *profile)
{
    struct sample_share total, waiting;
    uint64_t ns = sample_profile_weight(profile);
    for (uint32_t i = 0; i < SAMPLE_GROUPS; i++) {
        sample_profile_row(profile, &profile->groups[i], &total, &waiting);
        ns -= waiting.weight;
    }
    return ns;
}

double samples_missing(double cpu_ns, double sampled_ns, double period_ns)
{
    double missing_ns = cpu_ns - sampled_ns;
    return missing_ns > 0.05 * cpu_ns && missing_ns > 3 * sqrt(cpu_ns * period_ns) ? missing_ns : 0;
}

const char *samples_missing_words(double cpu_ns, double missing_ns, enum samples_way way, struct arena *arena)
{
    static const char *const causes[] = {
        [SAMPLES_OF_THREADS] =
            ("a thread that uses less CPU time than one sampling period gets no sample; run as root, "
             "with a clock as the only event, to sample CPUs instead of threads"),
        [SAMPLES_OF_CPUS] = "samples were lost, or the CPUs' clocks interrupted late",
        [SAMPLES_POLLED] = "polling misses the JVM's own threads and threads that end between two polls",
    };
    char missing[64];
    table_format_ns(missing_ns, missing, sizeof missing);
    return arena_printf(arena, "%.0f %% of the CPU time (%s) was not sampled: %s", 100 * missing_ns / cpu_ns, missing,
                        causes[way]);
}

static double missing_ns(const struct samples_source *source)
{
    double sampled_ns = (double)sampled_cpu_ns(source->profile);
    double mean_ns = sampled_ns / (double)(source->profile->n_samples + 1), period_ns = (double)source->period_ns;
    return period_ns == 0 ? 0 : samples_missing((double)source->cpu_ns, sampled_ns, fmax(period_ns, mean_ns));
}

static const char *wall_words(const struct samples_source *source, struct arena *arena)
{
    const struct sample_profile *profile = source->profile;
    struct sample_share application, waiting;
    char on_cpu[64], waits[64], all_cpu[64];
    sample_profile_row(profile, &profile->groups[VM_PART_APPLICATION], &application, &waiting);
    bool is_missing = missing_ns(source) > 0;
    table_format_ns((double)sampled_cpu_ns(profile), on_cpu, sizeof on_cpu);
    table_format_ns((double)waiting.weight, waits, sizeof waits);
    table_format_ns((double)source->cpu_ns, all_cpu, sizeof all_cpu);
    return arena_printf(
        arena, "samples  %" PRIu64 ", %" PRIu64 " per second of each thread: %s%s%s on a CPU, %s waiting",
        profile->n_samples, source->hz, on_cpu, is_missing ? " of " : "", is_missing ? all_cpu : "", waits);
}

/* "one for each 1.00 ms of a thread's CPU time: 2.3 s", or of events; where a budget has made periods longer, the mean.
 */
static const char *period_words(const struct samples_source *source, double n, double weight, struct arena *arena)
{
    bool is_time = source->period_ns > 0;
    double period = (double)(is_time ? source->period_ns : source->period);
    const char *mean = weight > 1.5 * n * period ? "on average " : "";
    double each = *mean == '\0' ? period : round(weight / n);
    const struct table_cell all_cell = table_number(weight), each_cell = table_number(each);
    char all[64], text[64];
    table_format(&all_cell, is_time ? TABLE_NS : TABLE_COUNT, all, sizeof all);
    table_format(&each_cell, is_time ? TABLE_NS : TABLE_COUNT, text, sizeof text);
    return is_time ? arena_printf(arena, "samples  %.0f, %sone per %s of a thread's CPU time: %s", n, mean, text, all)
                   : arena_printf(arena, "samples  %.0f, %sone per %s %s of a thread: %s in all", n, mean, text,
                                  source->event, all);
}

static const char *rate_words(const struct samples_source *source, double n, double weight, struct arena *arena)
{
    const struct table_cell events = table_number(weight);
    char all[64];
    if (source->is_polled) {
        table_format_ns(weight, all, sizeof all);
        return arena_printf(arena, "samples  %.0f, at safepoints, of running threads: %s of CPU time", n, all);
    }
    table_format(&events, TABLE_COUNT, all, sizeof all);
    return arena_printf(arena, "samples  %.0f, frequency %" PRIu64 " Hz per thread, event %s: %s in all", n, source->hz,
                        source->event, all);
}

/* What a sample is one of so many of. */
static void add_period(const struct samples_source *source, struct table *table)
{
    double n = (double)source->profile->n_samples, weight = (double)sample_profile_weight(source->profile);
    bool has_period = !source->is_polled && (source->period_ns > 0 || source->period > 0);
    const char *words = source->is_wall ? wall_words(source, table->arena)
                        : has_period    ? period_words(source, n, weight, table->arena)
                                        : rate_words(source, n, weight, table->arena);
    table_metadata_number(table, "samples", n, words);
    if (source->period_ns > 0)
        table_metadata_number(table, "period_ns", (double)source->period_ns, NULL);
    if (source->event != NULL)
        table_metadata_words(table, "event", source->event, NULL);
    if (source->period > 0)
        table_metadata_number(table, "period", (double)source->period, NULL);
}

static void add_program(const struct samples_source *source, struct table *table)
{
    table_metadata_words(table, "program", source->program, arena_printf(table->arena, "program  %s", source->program));
    add_period(source, table);
}

unsigned samples_conditions(const struct samples_source *source)
{
    return (source->period_ns > 0 ? SAMPLES_TIME : SAMPLES_EVENT) |
           (source->profile->half_life_ns > 0 ? SAMPLES_DECAY : 0) | (source->is_wall ? SAMPLES_WAIT : 0);
}

void samples_table_make(const struct samples_source *source, const struct samples_options *options, struct arena *arena,
                        struct table *table)
{
    size_t n;
    table_begin(table, arena);
    sample_cells_columns("method", "Method", samples_conditions(source), source->ratios, source->n_ratios,
                         options->by_self, table);
    TABLE_COLUMNS(table, columns, 0);
    struct samples_table_row *rows = choose(source, options, arena, &n);
    const char **labels = java_names_labels(arena, source->names, source->n_names);
    add_program(source, table);
    for (size_t i = 0; i < n && (options->top == 0 || i < options->top); i++)
        add_row(source, &rows[i], labels[rows[i].method], table);
    if (options->top > 0 && n > options->top)
        table_note(table, arena_printf(arena, "not shown: %zu method%s with at least %.2f %% of the time (--top 0)",
                                       n - options->top, text_plural(n - options->top), 100 * options->min_share));
    add_parts(source, table);
    if (n > 0 && source->knows_calls)
        table_note(table, "Calls is a lower bound, Time/call an upper bound: samples miss calls that begin and end "
                          "between two samples; use 'mmprof record' for exact counts");
}

/* ---- contexts ---- */

static const char **full_names(const struct samples_source *source, struct arena *arena)
{
    const char **names = arena_alloc(arena, (source->n_names + 1) * sizeof *names);
    for (uint32_t i = 0; i < source->n_names; i++) {
        names[i] = java_names_display(arena, &source->names[i], JAVA_NAMES_FULL);
    }
    return names;
}

static void print_path(const struct context_tree *tree, uint32_t node, const char **names, FILE *out)
{
    uint32_t path[4096], n = 0;
    for (; node != 0 && n < sizeof path / sizeof *path; node = tree->nodes[node].parent)
        path[n++] = node;
    while (n-- > 0) {
        text_print(out, names[tree->nodes[path[n]].method]);
        fputs(n > 0 ? ";" : "", out);
    }
}

int samples_write_folded(const struct samples_source *source, struct arena *arena, FILE *out, struct err *err)
{
    struct context_tree tree;
    const char **names = full_names(source, arena);
    context_tree_merge_sites(&source->profile->tree, &tree);
    for (uint32_t i = context_tree_next(&tree, 0); i != 0; i = context_tree_next(&tree, i)) {
        const struct context_node *node = &tree.nodes[i];
        uint64_t own =
            source->is_wall ? (node->own.ns + node->purged.ns) / 1000 : node->own.n_samples + node->purged.n_samples;
        if (own == 0)
            continue;
        print_path(&tree, i, names, out);
        fprintf(out, " %" PRIu64 "\n", own);
    }
    context_tree_free(&tree);
    return ferror(out) ? err_set(err, "cannot write the stacks") : 0;
}

/* ---- the tree ---- */

#define INDENT_MAX 60u /* deeper contexts are not indented further */

struct samples_tree_row {
    double share, self, site, n_calls;
    uint64_t n_samples;
    uint32_t depth;
    const char *label;
    struct method_name name;
};

#define TREE(member) FROM(struct samples_tree_row, member)

/* Conditions of columns, besides those of report/sample_cells.h. */
enum { TREE_CALLS = 16, TREE_SITES = 32 };

static const struct table_column tree_columns[] = {
    { "time_share", "Time (%)", TABLE_SHARE, TREE(share), .when = SAMPLES_TIME },
    { "share", "Share (%)", TABLE_SHARE, TREE(share), .when = SAMPLES_EVENT },
    { "self_share", "Self (%)", TABLE_SHARE, TREE(self) },
    { "samples", "Samples", TABLE_COUNT, TREE(n_samples) },
    { "calls_at_least", "Calls (at least)", TABLE_COUNT, TREE(n_calls), .when = TREE_CALLS },
    { "call_site", "At bytecode", TABLE_COUNT, TREE(site), .when = TREE_SITES },
    { "label", "Method", TABLE_TEXT, TREE(label) },
    { "depth", NULL, TABLE_COUNT, TREE(depth), .width = COLUMN_DATA },
    { "class", NULL, TABLE_TEXT, TREE(name.class_name), .width = COLUMN_DATA },
    { "method", NULL, TABLE_TEXT, TREE(name.method), .width = COLUMN_DATA },
    { "descriptor", NULL, TABLE_TEXT, TREE(name.descriptor), .width = COLUMN_DATA },
};

struct samples_tree_making {
    const struct samples_source *source;
    const struct samples_options *options;
    const struct context_node *nodes;
    const char **labels;
    double weight; /* of all groups */
    struct table *table;
};

/* Does a context come before another one?  The one with more time does. */
static bool is_before(const struct context_node *nodes, uint32_t a, uint32_t b)
{
    uint64_t a_ns = nodes[a].total.ns, b_ns = nodes[b].total.ns;
    return a_ns != b_ns ? a_ns > b_ns : a < b;
}

static double share_of(const struct samples_tree_making *making, uint32_t node)
{
    return (double)making->nodes[node].total.ns / making->weight;
}

/* The next one of a context's callees after the last one (0: the first one); 0: none that is large enough. */
static uint32_t next_child(const struct samples_tree_making *making, uint32_t node, uint32_t last)
{
    const struct context_node *nodes = making->nodes;
    uint32_t best = 0;
    for (uint32_t i = nodes[node].first_child; i != 0; i = nodes[i].next)
        if ((last == 0 || is_before(nodes, last, i)) && (best == 0 || is_before(nodes, i, best)))
            best = i;
    return best != 0 && share_of(making, best) >= making->options->min_share ? best : 0;
}

static void add_below(const struct samples_tree_making *making, uint32_t node, uint32_t depth)
{
    uint32_t child = 0;
    int indent = making->options->is_text ? (int)(2 * (depth < INDENT_MAX ? depth : INDENT_MAX)) : 0;
    while ((child = next_child(making, node, child)) != 0) {
        const struct context_node *at = &making->nodes[child];
        const struct samples_tree_row row = { .share = share_of(making, child),
                                              .self = (double)(at->own.ns + at->purged.ns) / making->weight,
                                              .n_calls = context_tree_calls(at),
                                              .site = at->site >= 0 ? (double)at->site : (double)TABLE_NONE,
                                              .n_samples = at->total.n_samples,
                                              .depth = depth,
                                              .label = arena_printf(making->table->arena, "%*s%s", indent, "",
                                                                    making->labels[at->method]),
                                              .name = making->source->names[at->method] };
        table_add(making->table, "context", &row);
        add_below(making, child, depth + 1);
    }
}

void samples_tree_table(const struct samples_source *source, const struct samples_options *options, struct arena *arena,
                        struct table *table)
{
    struct context_tree merged = { .nodes = NULL }, *tree = &source->profile->tree;
    const char **labels = java_names_labels(arena, source->names, source->n_names);
    table_begin(table, arena);
    TABLE_COLUMNS(table, tree_columns,
                  samples_conditions(source) | (source->knows_calls ? TREE_CALLS : 0) |
                      (options->call_sites ? TREE_SITES : 0));
    table->has_order = true;
    add_program(source, table);
    if (options->call_sites)
        context_tree_sum(tree);
    else
        context_tree_merge_sites(tree, &merged);
    const struct samples_tree_making making = { source,
                                                options,
                                                options->call_sites ? tree->nodes : merged.nodes,
                                                labels,
                                                (double)sample_profile_weight(source->profile),
                                                table };
    add_below(&making, 0, 0);
    context_tree_free(&merged);
}

void samples_tell_coverage(const struct samples_source *source, struct table *table)
{
    double sampled_ns = (double)sampled_cpu_ns(source->profile), cpu_ns = (double)source->cpu_ns;
    if (cpu_ns == 0 || source->period_ns == 0)
        return;
    table_metadata_number(table, "unsampled_share", fmax(0, 1 - sampled_ns / cpu_ns), NULL);
    enum samples_way way = source->is_polled            ? SAMPLES_POLLED
                           : source->profile->is_halved ? SAMPLES_OF_CPUS
                                                        : SAMPLES_OF_THREADS;
    if (missing_ns(source) > 0)
        table_doubt(table, samples_missing_words(cpu_ns, missing_ns(source), way, table->arena));
}
