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

uint32_t live_samples_hz(const struct live_options *options, double sample_ns, uint32_t most_hz)
{
    double hz = sample_ns > 0 ? LIVE_SAMPLES_SHARE * options->budget * 1e9 / sample_ns : most_hz;
    double least_hz = options->duration_s > 0 ? LIVE_SAMPLES_LEAST / options->duration_s : most_hz;
    hz = hz < least_hz ? least_hz : hz;
    return hz >= most_hz ? most_hz : hz < 1 ? 1 : (uint32_t)hz;
}

double live_budget_call_ns(const struct live_budget *b)
{
    return b->now->pair_ns + 2 * WRITER_NS;
}

/* Of this program: it began before the target's first state with the agent ready. */
static double own_ns(const struct live_budget *b)
{
    return (double)b->now->own_cpu_ns;
}

/* What its rounds will take: it plans for its part of the budget, and they become as much rarer. */
static double rounds_ahead_ns(const struct live_budget *b)
{
    double ahead_s, share_ns = LIVE_OWN_SHARE * b->options->budget * cpu_ns_by(b, planned_s(b), &ahead_s),
                    s = elapsed_s(b);
    double since_first_ns = own_ns(b) - (double)b->first->own_cpu_ns;
    double most_ns = ahead_s * (s < RUNNING_S ? RUNNING_NS : since_first_ns / s);
    double least_ns = LIVE_OWN_LEAST_PART * LIVE_OWN_SHARE * b->options->budget * ahead_s * live_budget_cpu_ns_per_s(b);
    double ns = share_ns - own_ns(b);
    ns = ns < least_ns ? least_ns : ns;
    return ns < most_ns ? ns : most_ns;
}

/* To end the recording, and to read it again where a report follows: it will have as many records and samples a second.
 */
static double end_ns(const struct live_budget *b)
{
    double s = elapsed_s(b), times = s > 0 && planned_s(b) > s ? planned_s(b) / s : 1;
    if (!b->options->is_reported)
        return FINISH_NS;
    return FINISH_NS + REPORT_NS +
           times * (REPORT_RECORD_NS * (double)b->n_records + REPORT_SAMPLE_NS * (double)b->now->n_samples);
}

/* What the rest of the recording will cost, with the probes that it has; 0 where nobody knows the end. */
static double ahead_ns(const struct live_budget *b)
{
    double ahead_s, cpu_ns = live_budget_cpu_ns(b), all_cpu_ns = cpu_ns_by(b, planned_s(b), &ahead_s);
    double times = cpu_ns > 0 ? all_cpu_ns / cpu_ns - 1 : 0;
    if (b->options->duration_s <= 0)
        return 0;
    return rounds_ahead_ns(b) + end_ns(b) + times * (b->now->sampling_ns + b->probes_ns);
}

/* What it takes to look through all loaded classes once. */
static double look_ns(const struct live_budget *b)
{
    return BATCH_CLASS_NS * (double)b->now->n_classes;
}

double live_budget_batch_ns(const struct live_budget *b)
{
    return b->n_batches > 0 ? look_ns(b) : 2 * look_ns(b) + (b->now->pair_ns > 0 ? 0 : CALIBRATION_NS);
}

double live_budget_left_ns(const struct live_budget *b)
{
    double ahead_s, cpu_ns = cpu_ns_by(b, planned_s(b), &ahead_s), removal_ns = b->n_batches > 0 ? look_ns(b) : 0;
    return b->options->budget * cpu_ns - ahead_ns(b) - b->probes_ns - own_ns(b) - AGENT_START_NS - b->now->sampling_ns -
           b->now->rewriting_ns - b->disabled_ns - removal_ns - b->recompilation_ns;
}

double live_budget_recompilation_ns(const struct live_budget *b)
{
    double ahead_s, cpu_ns = cpu_ns_by(b, planned_s(b), &ahead_s);
    double share = RECOMPILATION_PLANNED_SHARE;
    if (b->options->duration_s <= 0) {
        share = RECOMPILATION_MIN_SHARE;
        cpu_ns = cpu_ns > RECOMPILATION_ADVANCE_NS ? cpu_ns : RECOMPILATION_ADVANCE_NS;
    }
    double least_ns = b->options->budget * share * cpu_ns - b->recompilation_ns - b->now->rewriting_ns;
    double left_ns = RECOMPILATION_MAX_SHARE * live_budget_left_ns(b);
    return (least_ns > left_ns ? least_ns : left_ns) - live_budget_batch_ns(b);
}

double live_budget_extra_ns(const struct live_budget *b)
{
    if (b->options->duration_s > 0)
        return live_budget_recompilation_ns(b);
    return live_budget_whole_ns(b) - b->recompilation_ns - live_budget_batch_ns(b);
}

double live_budget_discard_ns(const struct live_budget *b)
{
    double s = b->options->duration_s, ahead_s, room_ns = live_budget_recompilation_ns(b);
    double most_ns = b->options->budget * cpu_ns_by(b, s > 0 ? s : PLANNED_AHEAD_S, &ahead_s) / DISCARD_WEIGHT;
    if (s <= 0)
        return most_ns > DISCARD_ALWAYS_NS ? most_ns : DISCARD_ALWAYS_NS;
    if (s > PLANNED_AHEAD_S || most_ns < room_ns)
        return most_ns;
    return room_ns > 0 ? room_ns : 0;
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
