/*
 * The report's rows where a trace has stack samples: the time of methods with and without probes, its intervals, and
 * why methods have no probes.
 */
#include "report/view/report_internal.h"
#include "core/base/text.h"
#include "core/trace/recording_info.h"
#include "report/sample_rows.h"
#include "report/view/sampled.h"

#define SAMPLES_LEAST 2
#define PASSES_ON     0.05 /* with less of its time as its own a method only calls another one */
#define FROM_SAMPLES  0.01 /* of a row's time: with less from samples it was measured */

void report_find_times(struct making *making, const struct calltree_total *totals, size_t n_totals)
{
    const struct calltree *tree = making->source->tree;
    struct arena *arena = making->source->arena;
    size_t n_methods = (size_t)tree->n_methods + 1, n;
    struct calltree_total *all;
    making->measured = arena_alloc(arena, n_methods * sizeof *making->measured);
    making->method_ticks = arena_alloc(arena, n_methods * sizeof *making->method_ticks);
    making->method_own = arena_alloc(arena, n_methods * sizeof *making->method_own);
    calltree_totals(tree, VM_PART_APPLICATION, arena, &all, &n);
    for (size_t i = 0; i < n; i++) {
        making->method_ticks[all[i].method] = (double)phases_total_ticks(&all[i], making->source->clock);
        making->method_own[all[i].method] = (double)phases_self_ticks(&all[i], making->source->clock);
    }
    for (size_t i = 0; i < n_totals; i++)
        making->measured[totals[i].method] = &totals[i];
}

/* ---- methods that only samples know ---- */

static bool passes_on(const struct making *making, uint32_t method)
{
    return making->method_own[method] < PASSES_ON * making->method_ticks[method];
}

static bool is_inside(const struct calltree *tree, uint32_t node, uint32_t method)
{
    while (tree->nodes[node].parent != node && tree->nodes[node].method != method)
        node = tree->nodes[node].parent;
    return tree->nodes[node].method == method;
}

/* Is another row of just the same time: does the method only pass on to it, or that one to this?  Two that are not in
 * each other's calls have the same number of samples by chance. */
static bool is_beside_another(const struct making *making, const struct report_ranked *ranked, size_t n,
                              const struct report_ranked *one, const uint32_t *nodes)
{
    const struct calltree *tree = making->source->tree;
    for (size_t i = 0; i < n && passes_on(making, one->total->method); i++) {
        const struct calltree_total *total = ranked[i].total;
        if (ranked[i].ticks == one->ticks &&
            (total->calls > 0 || total < one->total || !passes_on(making, total->method)) &&
            (is_inside(tree, nodes[total->method], one->total->method) ||
             is_inside(tree, nodes[one->total->method], total->method)))
            return true;
    }
    return false;
}

/* By method one of its nodes. */
static uint32_t *find_nodes(const struct calltree *tree, struct arena *arena)
{
    uint32_t *nodes = arena_alloc(arena, ((size_t)tree->n_methods + 1) * sizeof *nodes);
    for (uint32_t i = tree->n_nodes; i > 0; i--)
        if (tree->nodes[i - 1].method < tree->n_methods)
            nodes[tree->nodes[i - 1].method] = i - 1;
    return nodes;
}

void report_add_sampled(struct making *making, struct report_ranked *ranked, size_t *n_ranked)
{
    const struct report_source *source = making->source;
    uint32_t n_methods = source->tree->n_methods;
    double all = (double)making->shares.all_ticks, least = making->options->min_share;
    struct calltree_total *totals = arena_alloc(source->arena, ((size_t)n_methods + 1) * sizeof *totals);
    struct report_ranked *found = arena_alloc(source->arena, ((size_t)n_methods + 1) * sizeof *found);
    uint32_t *nodes = find_nodes(source->tree, source->arena);
    size_t n = *n_ranked;
    memcpy(found, ranked, n * sizeof *found);
    for (uint32_t i = 0; i < n_methods; i++) {
        double share = all > 0 ? making->method_ticks[i] / all : 0;
        totals[i].method = i;
        if (making->measured[i] == NULL && source->sampled->method_samples[i] >= SAMPLES_LEAST && share >= least)
            found[n++] = (struct report_ranked){ &totals[i], making->method_ticks[i], share, false };
    }
    for (size_t i = *n_ranked; i < n; i++)
        if (making->options->all || making->options->fold != NULL ||
            !is_beside_another(making, found, n, &found[i], nodes))
            ranked[(*n_ranked)++] = found[i];
}

bool report_is_ended(const struct making *making, size_t row)
{
    const struct sampled_tree *sampled = making->source->sampled;
    return sampled != NULL && making->rows[row]->calls > 0 && sampled->is_ended[making->rows[row]->method];
}

/* ---- intervals ---- */

static double measured_of(const struct making *making, size_t row)
{
    return sampled_measured(making->source, (double)phases_total_ticks(making->rows[row], making->source->clock));
}

/* What was measured alone has no error: exact has the rows' own times by probes. */
static void set_errors(struct making *making, const struct shares *exact, const struct sample_profile *profile)
{
    double all = (double)making->shares.all_ticks;
    for (size_t i = 0; i < making->n_rows; i++) {
        double self = (double)making->shares.self_ticks[i],
               measured = sampled_measured(making->source, (double)exact->self_ticks[i]);
        struct sample_share share = sample_profile_self(profile, (uint32_t)i);
        bool is_measured = fabs(self - measured) <= FROM_SAMPLES * self;
        double measured_ticks = report_is_ended(making, i) ? 0 : measured_of(making, i);
        double from_samples = making->ticks[i] - measured_ticks;
        making->self_errors[i] = is_measured ? NAN : sample_rows_error(&share, self, all);
        share = sample_profile_total(profile, (uint32_t)i);
        making->time_errors[i] =
            from_samples > FROM_SAMPLES * making->ticks[i] ? sample_rows_error(&share, from_samples, all) : NAN;
    }
    making->shares.outside_metrics = exact->outside_metrics;
    making->shares.outside_cpu_ticks = exact->outside_cpu_ticks;
}

void report_find_errors(struct making *making, const uint32_t *row_of)
{
    const struct report_source *source = making->source;
    size_t n = making->n_rows + making->n_more;
    struct report_source measured = *source;
    struct shares exact;
    struct sample_profile profile;
    making->self_errors = arena_alloc(source->arena, (n + 1) * sizeof *making->self_errors);
    making->time_errors = arena_alloc(source->arena, (n + 1) * sizeof *making->time_errors);
    measured.tree = source->sampled->measured;
    measured.sampled = NULL;
    shares_compute(&measured, row_of, n, &exact);
    sample_rows_profile(source, row_of, &profile);
    set_errors(making, &exact, &profile);
    sample_profile_free(&profile);
}

/* ---- cells ---- */

static const char *known_by(const struct making *making, size_t row, double from_samples)
{
    uint64_t n = making->source->sampled->method_samples[making->rows[row]->method];
    const char *samples = arena_printf(making->source->arena, "%" PRIu64 " sample%s", n, text_plural(n));
    if (making->rows[row]->calls == 0)
        return samples;
    if (report_is_ended(making, row))
        return "probes, end by samples";
    return from_samples > 0 && n > 0 ? arena_printf(making->source->arena, "probes, %s", samples) : "probes";
}

static const char *reason_of(const struct making *making, size_t row, const struct sampled *all, size_t n)
{
    uint32_t method = making->rows[row]->method;
    struct method_name name = report_name(making->source, method);
    if (making->rows[row]->calls > 0)
        return sampled_why_off(making->source, method);
    uint32_t probed = sampled_had_probes(making->source, &name);
    if (probed != CALLTREE_NONE) {
        const char *off = sampled_why_off(making->source, probed);
        return off != NULL ? off : "none of its calls began while it had probes";
    }
    for (size_t i = 0; i < n; i++)
        if (method_name_equals(&all[i].name, &name))
            return all[i].why;
    uint32_t number = making->source->sampled->number_of[method];
    const struct trace_sampled_method *of = trace_sampled_method(making->source->reader, number);
    if (of != NULL && of->code_bytes == 0)
        return "native";
    bool is_live = info_text(making->source->reader, INFO_LIVE_BUDGET) != NULL;
    return is_live ? "too few of the latest samples, or too little time in them" : "not selected";
}

bool report_find_reasons(struct making *making)
{
    struct sampled *all;
    size_t n = sampled_find(making->source, &all);
    bool any = false;
    making->reasons = arena_alloc(making->source->arena, (making->n_rows + 1) * sizeof *making->reasons);
    for (size_t i = 0; i < making->n_rows; i++) {
        making->reasons[i] = reason_of(making, i, all, n);
        any = any || making->reasons[i] != NULL;
    }
    return any;
}

void report_fill_known(const struct making *making, size_t row, struct report_line *line)
{
    struct arena *arena = making->source->arena;
    double all = (double)making->shares.all_ticks, self = (double)making->shares.self_ticks[row];
    double from_samples = making->ticks[row] - measured_of(making, row);
    from_samples = from_samples > FROM_SAMPLES * making->ticks[row] ? from_samples : 0;
    line->time = table_estimate(making->ticks[row] / all, making->time_errors[row], TABLE_SHARE, arena);
    line->self = table_estimate(self / all, making->self_errors[row], TABLE_SHARE, arena);
    line->time_error = table_number(making->time_errors[row]);
    line->self_error = table_number(making->self_errors[row]);
    line->known_by = table_words(known_by(making, row, from_samples));
    line->reason = table_words(making->reasons[row] == NULL ? "" : making->reasons[row]);
}
