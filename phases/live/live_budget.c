#include "phases/live/live_parts.h"

#include "phases/live/live_policy.h"

void live_budget_begin(struct live_budget *b)
{
    b->charged_cpu_ns = b->now->cpu_ns;
    b->charged_own_ns = b->now->own_cpu_ns;
    live_budget_mark(b);
    live_budget_mark(b);
    b->credit_ns = b->options->budget * (double)LIVE_CREDIT_MAX_NS;
}

double live_budget_cpu_ns(const struct live_budget *b)
{
    return (double)(b->now->cpu_ns - b->first->cpu_ns);
}

static double elapsed_s(const struct live_budget *b)
{
    return (double)(b->now->now_ns - b->first->now_ns) / 1e9;
}

double live_budget_cpu_ns_per_s(const struct live_budget *b)
{
    double s = elapsed_s(b);
    return s <= 0 ? 0 : live_budget_cpu_ns(b) / s;
}

static double planned_s(const struct live_budget *b)
{
    double s = b->options->duration_s;
    return s < PLANNED_AHEAD_S ? s : PLANNED_AHEAD_S;
}

/* The program's CPU time by a moment, as far as that is ahead; *ahead_s of it are to come. */
static double cpu_ns_by(const struct live_budget *b, double s, double *ahead_s)
{
    double passed_s = elapsed_s(b);
    *ahead_s = passed_s > 0 && s > passed_s ? s - passed_s : 0;
    return live_budget_cpu_ns(b) + *ahead_s * live_budget_cpu_ns_per_s(b);
}

double live_budget_whole_ns(const struct live_budget *b)
{
    double s = planned_s(b), ahead_s;
    return b->options->budget * cpu_ns_by(b, s > 0 ? s : PLANNED_AHEAD_S, &ahead_s);
}

double live_budget_probes_share(const struct live_budget *b)
{
    double whole_ns = live_budget_whole_ns(b);
    double others_ns = b->now->sampling_ns + b->now->rewriting_ns + b->recompilation_ns;
    double part = whole_ns <= 0 ? 1 : 1 - others_ns / whole_ns;
    return b->options->budget * (part > PROBES_MIN_SHARE ? part : PROBES_MIN_SHARE);
}

double live_budget_call_ns(const struct live_budget *b)
{
    return b->now->pair_ns + 2 * WRITER_NS;
}

static double own_ns(const struct live_budget *b)
{
    return (double)(b->now->own_cpu_ns - b->first->own_cpu_ns);
}

/* What the rest of the recording will take a second. */
static double running_ns(const struct live_budget *b)
{
    double s = elapsed_s(b);
    return s < RUNNING_S ? RUNNING_NS : (own_ns(b) + b->probes_ns + b->now->sampling_ns) / s;
}

/* What it takes to look through all loaded classes once. */
static double look_ns(const struct live_budget *b)
{
    return BATCH_CLASS_NS * (double)b->now->n_classes;
}

double live_budget_batch_ns(const struct live_budget *b)
{
    return (b->n_batches == 0 ? 2 : 1) * look_ns(b);
}

double live_budget_left_ns(const struct live_budget *b)
{
    double ahead_s, cpu_ns = cpu_ns_by(b, planned_s(b), &ahead_s), removal_ns = b->n_batches > 0 ? look_ns(b) : 0;
    return b->options->budget * cpu_ns - running_ns(b) * ahead_s - b->probes_ns - own_ns(b) - b->now->sampling_ns -
           b->now->rewriting_ns - removal_ns - b->recompilation_ns;
}

double live_budget_recompilation_ns(const struct live_budget *b)
{
    double ahead_s, cpu_ns = cpu_ns_by(b, planned_s(b), &ahead_s);
    double budget_ns = b->options->budget * RECOMPILATION_MIN_SHARE;
    double part_ns = budget_ns * (cpu_ns > RECOMPILATION_ADVANCE_NS ? cpu_ns : RECOMPILATION_ADVANCE_NS);
    double least_ns = part_ns - b->recompilation_ns - b->now->rewriting_ns;
    double left_ns = RECOMPILATION_MAX_SHARE * live_budget_left_ns(b);
    return (least_ns > left_ns ? least_ns : left_ns) - live_budget_batch_ns(b);
}

double live_budget_discard_ns(const struct live_budget *b)
{
    double s = b->options->duration_s, ahead_s;
    double whole_ns = b->options->budget * cpu_ns_by(b, s > 0 ? s : PLANNED_AHEAD_S, &ahead_s);
    double most_ns = whole_ns / DISCARD_WEIGHT;
    return most_ns > DISCARD_ALWAYS_NS ? most_ns : DISCARD_ALWAYS_NS;
}

bool live_budget_allows_batch(const struct live_budget *b)
{
    bool may_stop = b->now->pauses_ms / 1e3 <= b->options->budget * elapsed_s(b);
    return may_stop && (b->options->duration_s <= 0 || live_budget_left_ns(b) >= 0);
}

/* ---- rounds ---- */

/* Or is it only this program's own rounds, which nothing that is switched off makes cheaper? */
static bool probes_cost_too_much(const struct live_budget *b)
{
    double cost_ns = (double)(b->n_records - b->mark_records[0]) / 2 * live_budget_call_ns(b);
    double cpu_ns = (double)(b->now->cpu_ns - b->mark_cpu_ns[0]);
    return cost_ns > OVER_BUDGET_TARGET * live_budget_probes_share(b) * cpu_ns;
}

struct live_charged live_budget_charge(struct live_budget *b, uint64_t n_records)
{
    double probes_ns = (double)(n_records - b->n_records) * b->now->pair_ns / 2;
    double most_ns = b->options->budget * (double)LIVE_CREDIT_MAX_NS;
    b->probes_ns += probes_ns;
    b->n_records = n_records;
    b->credit_ns += live_budget_probes_share(b) * (double)(b->now->cpu_ns - b->charged_cpu_ns) - probes_ns -
                    (double)(b->now->own_cpu_ns - b->charged_own_ns);
    b->charged_cpu_ns = b->now->cpu_ns;
    b->charged_own_ns = b->now->own_cpu_ns;
    if (b->credit_ns < -most_ns) /* not a debt for ever */
        b->credit_ns = -most_ns;
    if (b->credit_ns > most_ns)
        b->credit_ns = most_ns;
    return (struct live_charged){ .is_over = b->credit_ns < 0 && probes_cost_too_much(b),
                                  .is_mark = b->now->cpu_ns - b->mark_cpu_ns[1] >= LIVE_CREDIT_MAX_NS / 2 };
}

void live_budget_mark(struct live_budget *b)
{
    b->mark_ns[0] = b->mark_ns[1];
    b->mark_cpu_ns[0] = b->mark_cpu_ns[1];
    b->mark_records[0] = b->mark_records[1];
    b->mark_ns[1] = b->now->now_ns;
    b->mark_cpu_ns[1] = b->now->cpu_ns;
    b->mark_records[1] = b->n_records;
}
