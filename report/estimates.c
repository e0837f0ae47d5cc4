#include "report/estimates.h"

/* A part of less than this share of the instructions does not make the sum's interval unknown. */
#define SMALL_PART 0.01

static double count_in(const uint64_t *metrics, int column)
{
    return column < 0 ? 0 : (double)metrics[CALLTREE_COUNTERS + (size_t)column];
}

static double running(const struct estimates_basis *basis, const struct estimates_part *part, uint32_t group)
{
    return basis->groups->n <= 1 ? 1 : count_in(part->times, (int)(basis->groups->running + group));
}

static double enabled(const struct estimates_basis *basis, const struct estimates_part *part)
{
    return basis->groups->n <= 1 ? 1 : count_in(part->times, (int)basis->groups->enabled);
}

/* What an event's groups counted, of the event and of instructions, and for how long. */
struct estimate_sums {
    double events, instructions, running_ns, enabled_ns;
};

static struct estimate_sums sums_of(const struct estimates_basis *basis, const struct estimates_part *part,
                                    const struct event_column *event)
{
    struct estimate_sums s = { .enabled_ns = enabled(basis, part) };
    for (uint32_t i = 0; i < event->n_recorded; i++) {
        uint32_t group = event->recorded[i].group;
        int of_instructions = basis->instructions == NULL ? -1 : event_column_in(basis->instructions, group);
        if (basis->instructions != NULL && of_instructions < 0)
            continue;
        s.events += count_in(part->events, event->recorded[i].column);
        s.instructions += count_in(part->events, of_instructions);
        s.running_ns += running(basis, part, group);
    }
    return s;
}

static double share_of(const struct estimate_sums *s)
{
    double share = s->enabled_ns > 0 ? s->running_ns / s->enabled_ns : 0;
    return share < 1 ? share : 1;
}

/* All instructions of a part: every group counts them while it counts. */
static double instructions_of(const struct estimates_basis *basis, const struct estimates_part *part)
{
    if (basis->instructions == NULL)
        return 0;
    struct estimate_sums s = sums_of(basis, part, basis->instructions);
    return s.running_ns > 0 ? s.events * s.enabled_ns / s.running_ns : 0;
}

/* Add the variance that a part gives to the sum of all parts' events per instruction. */
static void add_variance(const struct estimates_basis *basis, const struct estimates_part *part,
                         const struct event_column *event, double part_share, struct estimate_variance *sum)
{
    struct estimate_sums s = sums_of(basis, part, event);
    struct estimate_variance own = { .is_unknown = s.instructions <= 0 };
    for (uint32_t i = 0; s.instructions > 0 && i < event->n_recorded; i++) {
        uint32_t group = event->recorded[i].group, first = basis->groups->first[group];
        int of_instructions = event_column_in(basis->instructions, group);
        if (of_instructions >= 0)
            estimate_variance_add(&own, part->batches == NULL ? NULL : &part->batches[group],
                                  event->recorded[i].column - first, (uint32_t)of_instructions - first,
                                  s.events / s.instructions, share_of(&s), part_share / s.instructions);
    }
    if (own.is_unknown && part_share < SMALL_PART)
        return;
    sum->variance += own.variance;
    sum->squares_by_freedom += own.squares_by_freedom;
    sum->is_unknown = sum->is_unknown || own.is_unknown;
}

static struct event_estimate estimate(const struct estimates_basis *basis, const struct estimates_part *parts,
                                      size_t n_parts, const struct event_column *event)
{
    struct estimate_variance variance = { 0 };
    double count = 0, instructions = 0;
    struct estimate_sums all = { 0 };
    for (size_t i = 0; i < n_parts; i++) {
        struct estimate_sums s = sums_of(basis, &parts[i], event);
        double of_part = instructions_of(basis, &parts[i]);
        if (basis->instructions == NULL)
            count += s.running_ns > 0 ? s.events * s.enabled_ns / s.running_ns : 0;
        else if (s.instructions > 0)
            count += s.events * (of_part / s.instructions);
        instructions += of_part;
        all.running_ns += s.running_ns;
        all.enabled_ns += s.enabled_ns;
    }
    struct event_estimate e = { .rate = -1, .half = -1, .count = -1, .share = share_of(&all) };
    if (all.running_ns <= 0)
        return e;
    e.count = count;
    if (instructions <= 0)
        return e;
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i].batches != NULL || n_parts == 1) /* a part that has none is known otherwise */
            add_variance(basis, &parts[i], event, instructions_of(basis, &parts[i]) / instructions, &variance);
    e.rate = count / instructions;
    e.instructions = instructions;
    e.half = basis->groups->n <= 1 ? 0 : estimate_half_width(&variance);
    return e;
}

void estimates_make(const struct estimates_basis *basis, const struct estimates_part *parts, size_t n_parts,
                    struct event_estimate *estimates)
{
    for (size_t i = 0; i < basis->n_events; i++)
        if (basis->events[i].n_recorded > 0 && basis->events[i].why[0] == '\0')
            estimates[i] = estimate(basis, parts, n_parts, &basis->events[i]);
        else
            estimates[i] = (struct event_estimate){ .rate = -1, .half = -1, .count = -1 };
}
