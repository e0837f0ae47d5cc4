#include "phases/live/live_budget.h"

#include "phases/live/live_policy.h"

void live_budget_begin(struct live_budget *b)
{
    b->charged_cpu_ns = b->now->cpu_ns;
    b->charged_own_ns = b->now->own_cpu_ns;
    for (size_t i = 0; i < 2; i++) {
        b->mark_ns[i] = b->now->now_ns;
        b->mark_cpu_ns[i] = b->now->cpu_ns;
        b->mark_own_ns[i] = b->now->own_cpu_ns;
    }
    b->credit_ns = b->options->budget * (double)LIVE_CREDIT_NS;
}

/* The program's CPU time by the end of planned_s; *ahead_s of it are to come. */
static double planned_ns(const struct live_budget *b, double planned_s, double *ahead_s)
{
    double cpu_ns = (double)(b->now->cpu_ns - b->first->cpu_ns);
    double elapsed_s = (double)(b->now->now_ns - b->first->now_ns) / 1e9;
    bool is_ahead = elapsed_s > 0 && planned_s > elapsed_s;
    *ahead_s = is_ahead ? planned_s - elapsed_s : 0;
    return is_ahead ? cpu_ns / elapsed_s * planned_s : cpu_ns;
}

double live_budget_whole_ns(const struct live_budget *b)
{
    double s = b->options->duration_s, ahead_s;
    return b->options->budget * planned_ns(b, s > 0 && s < LIVE_AHEAD_S ? s : LIVE_AHEAD_S, &ahead_s);
}

/* The part of the budget that probes, and what writes their records, may have: see live.h. */
double live_budget_probes_part(const struct live_budget *b)
{
    double all_ns = live_budget_whole_ns(b);
    double others_ns = b->now->sampling_ns + b->now->rewriting_ns + b->priced_ns;
    double part = all_ns <= 0 ? 1 : 1 - others_ns / all_ns;
    return part > LEAST_PART ? part : LEAST_PART;
}

/* What one call of an enabled method costs at most: its pair of probes, and writing two records. */
double live_budget_call_ns(const struct live_budget *b)
{
    return b->now->pair_ns + 2 * WRITER_NS;
}

/* Likewise, by what writing has cost of late. */
double live_budget_late_call_ns(const struct live_budget *b, uint64_t records)
{
    uint64_t n = records - b->mark_records[0];
    double own_ns = (double)(b->now->own_cpu_ns - b->mark_own_ns[0]), most_ns = live_budget_call_ns(b);
    if (n < MANY_RECORDS)
        return most_ns;
    double measured_ns = b->now->pair_ns + 2 * own_ns / (double)n;
    return measured_ns < most_ns ? measured_ns : most_ns;
}

/* Or is it only this program's own rounds, which nothing that is switched off makes cheaper? */
static bool probes_cost_too_much(const struct live_budget *b, uint64_t records)
{
    double cpu_ns = (double)(b->now->cpu_ns - b->mark_cpu_ns[0]);
    double cost_ns = (double)(records - b->mark_records[0]) / 2 * live_budget_late_call_ns(b, records);
    return cost_ns > LIVE_AIM * live_budget_probes_part(b) * b->options->budget * cpu_ns;
}

/* The CPU time of the program that the budget is a share of: with a known end, as much as there will be by then. */
static double paid_ns(const struct live_budget *b, double *ahead_s)
{
    double s = b->options->duration_s;
    return planned_ns(b, s < LIVE_AHEAD_S ? s : LIVE_AHEAD_S, ahead_s);
}

/* What the rest of the recording will take a second. */
static double running_ns(const struct live_budget *b)
{
    double s = (double)(b->now->now_ns - b->first->now_ns) / 1e9;
    double own_ns = (double)(b->now->own_cpu_ns - b->first->own_cpu_ns);
    double all_ns = own_ns + b->probes_ns + b->now->sampling_ns;
    return s < RUNNING_S || b->n_batches == 0 ? RUNNING_NS : RUNNING_MORE * all_ns / s;
}

double live_budget_left_ns(const struct live_budget *b)
{
    double ahead_s, cpu_ns = paid_ns(b, &ahead_s);
    double own_ns = (double)(b->now->own_cpu_ns - b->first->own_cpu_ns);
    return b->options->budget * cpu_ns - running_ns(b) * ahead_s - b->probes_ns - own_ns - b->now->sampling_ns -
           b->now->rewriting_ns - LIVE_LOSS * b->priced_ns;
}

bool live_budget_may_stop(const struct live_budget *b)
{
    double elapsed_ms = (double)(b->now->now_ns - b->first->now_ns) / 1e6;
    return b->now->pauses_ms <= b->options->budget * elapsed_ms;
}

bool live_budget_may_pause(const struct live_budget *b)
{
    return live_budget_may_stop(b) && live_budget_left_ns(b) >= 0;
}

/* ---- rounds ---- */

struct live_charged live_budget_charge(struct live_budget *b, uint64_t records)
{
    double probes_ns = (double)(records - b->records_seen) * b->now->pair_ns / 2;
    double budget = b->options->budget, most = budget * (double)LIVE_CREDIT_NS;
    b->probes_ns += probes_ns;
    b->records_seen = records;
    b->credit_ns += live_budget_probes_part(b) * budget * (double)(b->now->cpu_ns - b->charged_cpu_ns) - probes_ns -
                    (double)(b->now->own_cpu_ns - b->charged_own_ns);
    b->charged_cpu_ns = b->now->cpu_ns;
    b->charged_own_ns = b->now->own_cpu_ns;
    if (b->credit_ns < -most) /* not a debt for ever */
        b->credit_ns = -most;
    if (b->credit_ns > most)
        b->credit_ns = most;
    return (struct live_charged){ .is_over = b->credit_ns < 0 && probes_cost_too_much(b, records),
                                  .is_mark = b->now->cpu_ns - b->mark_cpu_ns[1] >= LIVE_CREDIT_NS / 2 };
}

void live_budget_mark(struct live_budget *b, uint64_t records)
{
    uint64_t *const marks[] = { b->mark_ns, b->mark_cpu_ns, b->mark_own_ns, b->mark_records };
    const uint64_t now[] = { b->now->now_ns, b->now->cpu_ns, b->now->own_cpu_ns, records };
    for (size_t i = 0; i < sizeof now / sizeof *now; i++) {
        marks[i][0] = marks[i][1];
        marks[i][1] = now[i];
    }
}
