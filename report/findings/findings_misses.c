/*
 * Findings on cache and TLB misses: methods that have several times as many as the rest of the application, and what
 * that costs in cycles, from hardware or simulated counters.
 */
#include "report/findings/findings_internal.h"

#include "report/estimates.h"

#define LEAST_RATE 0.002 /* misses per instruction; fewer cost little, whatever the rest has */

/* What counters say of methods. */
struct counted_code {
    struct event_column events[EVENT_COLUMNS_MAX];
    struct estimates_basis basis;
    const struct event_column *cycles;
    uint64_t *metrics; /* by method of the tree: its own code's, with libraries; the arena's, as */
    uint64_t *all;     /* the application's */
    uint64_t *rest;    /* of it all but one method's; written anew for each */
};

/* Events whose misses mean that data comes from far away. */
static bool is_far(const struct event_column *event)
{
    static const char *const headings[] = { "L2-D", "L2 loads", "LLC", "D-TLB" };
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        if (event->role == EVENT_MISSES && strcmp(event->heading, headings[i]) == 0)
            return true;
    return false;
}

static bool find_counted(const struct findings_making *making, struct counted_code *code)
{
    const struct calltree *tree = making->measured;
    size_t n = event_columns(making->source->reader, tree, code->events);
    code->cycles = event_column_measured(code->events, n, EVENT_CYCLES);
    code->basis = (struct estimates_basis){ code->events, n, event_column_measured(code->events, n, EVENT_INSTRUCTIONS),
                                            &tree->groups };
    return tree->n_metrics > 0 && code->cycles != NULL && code->basis.instructions != NULL;
}

static void sum_counters(const struct findings_making *making, struct counted_code *code)
{
    const struct calltree *tree = making->measured;
    struct arena *arena = making->source->arena;
    size_t n = tree->n_metrics;
    const uint32_t *owner = findings_owners(making, tree);
    bool *is_ours = findings_ours(making, tree);
    code->metrics = arena_alloc(arena, ((size_t)tree->n_methods + 1) * n * sizeof *code->metrics);
    code->all = arena_alloc(arena, n * sizeof *code->all);
    code->rest = arena_alloc(arena, n * sizeof *code->rest);
    for (uint32_t i = 1; i < tree->n_nodes; i++)
        for (size_t m = 0; is_ours[i] && m < n; m++) {
            code->all[m] += calltree_metrics(tree, i)[m];
            if (owner[i] < tree->n_methods)
                code->metrics[owner[i] * n + m] += calltree_metrics(tree, i)[m];
        }
}

static void estimate(const struct counted_code *code, const uint64_t *metrics, const struct estimate_batches *batches,
                     struct event_estimate *estimates)
{
    const struct estimates_part part = { metrics, metrics, batches };
    estimates_make(&code->basis, &part, 1, estimates);
}

/* ", 45 L2-D (the rest 2.1)": of each event that exceeds the rest's with its interval; *is_any: there is one. */
static const char *compare(const struct findings_making *making, const struct counted_code *code, double ratio,
                           const struct event_estimate *own, const struct event_estimate *rest, bool *is_any)
{
    const char *text = "";
    for (size_t i = 0; i < code->basis.n_events; i++) {
        double half = own[i].half < 0 ? INFINITY : own[i].half;
        if (!is_far(&code->events[i]) || rest[i].rate < 0 || own[i].rate - half < LEAST_RATE ||
            own[i].rate - half <= ratio * rest[i].rate)
            continue;
        text = arena_printf(making->source->arena, "%s%s%.3g %s (the rest %.2g)", text, *is_any ? ", " : "",
                            own[i].rate * 1000, code->events[i].heading, rest[i].rate * 1000);
        *is_any = true;
    }
    return text;
}

/* One method against the rest: the cycles that it would not take if its instructions took as many as theirs. */
static void look_at(struct findings_making *making, const struct finding_rule *rule, struct counted_code *code,
                    uint32_t method)
{
    const struct calltree *tree = making->measured;
    struct arena *arena = making->source->arena;
    struct event_estimate own[EVENT_COLUMNS_MAX], rest[EVENT_COLUMNS_MAX], all[EVENT_COLUMNS_MAX];
    size_t n = tree->n_metrics, cycles = (size_t)(code->cycles - code->events);
    bool is_any = false;
    for (size_t m = 0; m < n; m++)
        code->rest[m] = code->all[m] - code->metrics[method * n + m];
    estimate(code, code->metrics + method * n, method < tree->n_batches ? tree->batches[method] : NULL, own);
    estimate(code, code->rest, NULL, rest);
    estimate(code, code->all, NULL, all);
    const char *misses = compare(making, code, rule->ratio, own, rest, &is_any);
    if (!is_any || own[cycles].rate < 0 || rest[cycles].rate < 0 || !(all[cycles].count > 0))
        return;
    double per_cpi = own[cycles].instructions / all[cycles].count, half = fmax(own[cycles].half, 0) * per_cpi;
    double share = (own[cycles].rate - rest[cycles].rate) * per_cpi;
    const char *label = findings_label(making, method);
    const struct finding f = { .subject = label,
                               .text = arena_printf(arena,
                                                    "%s misses the caches: per 1,000 instructions %s; CPI %.2g "
                                                    "(other code %.2g); the excess is %.0f %% of all cycles",
                                                    label, misses, own[cycles].rate, rest[cycles].rate, share * 100),
                               .view = making->is_simulated ? "misses=method" : "phases",
                               .cost_ns = share * report_ns(making->source, tree->cpu_ticks),
                               .share = share,
                               .low = share - half,
                               .high = share + half };
    findings_add(making, rule, &f);
}

void findings_of_misses(struct findings_making *making, const struct finding_rule *rule)
{
    struct counted_code *code = arena_alloc(making->source->arena, sizeof *code);
    if (!find_counted(making, code))
        return;
    sum_counters(making, code);
    for (uint32_t i = 0; i < making->measured->n_methods; i++)
        look_at(making, rule, code, i);
}
