#include "phases/samples/sample_profile.h"

#include "core/base/xalloc.h"
#include "phases/samples/significance.h"

#define DESIGN 1.2 /* so many times as large is the variance of one clock: programs may be in step with it */
#define UNSEEN 0.5 /* of a sample's variance: neither clock sees what the program does when periods are drawn */

void sample_profile_open(struct sample_profile *profile, uint64_t block_ns, uint64_t tree_bytes)
{
    memset(profile, 0, sizeof *profile);
    profile->block_ns = block_ns;
    context_tree_open(&profile->tree, tree_bytes);
}

static void free_row(struct sample_row *row)
{
    free(row->total.counters);
    free(row->self.counters);
}

void sample_profile_free(struct sample_profile *profile)
{
    context_tree_free(&profile->tree);
    for (uint32_t i = 0; i < profile->n_rows; i++)
        free_row(&profile->rows[i]);
    for (uint32_t i = 0; i < SAMPLE_GROUPS; i++)
        free_row(&profile->groups[i]);
    free_row(&profile->no_method);
    free(profile->all.counters);
    free(profile->rows);
    free(profile->more);
    memset(profile, 0, sizeof *profile);
}

/* ---- heat ---- */

/* What is left after a time. */
static double left(uint64_t from_ns, uint64_t to_ns, uint64_t half_life_ns)
{
    return exp2(-(double)(to_ns - from_ns) / (double)half_life_ns);
}

void heat_add(struct heat *heat, uint64_t ns, double weight, uint64_t half_life_ns)
{
    if (ns < heat->ns) {
        heat->value += weight * left(ns, heat->ns, half_life_ns);
        return;
    }
    heat->value = heat->value * left(heat->ns, ns, half_life_ns) + weight;
    heat->ns = ns;
}

double heat_share(const struct heat *some, const struct heat *all, uint64_t half_life_ns)
{
    if (all->value <= 0 || some->ns > all->ns)
        return 0;
    return some->value * left(some->ns, all->ns, half_life_ns) / all->value;
}

/* ---- blocks ---- */

static void join_pairs(uint64_t *blocks)
{
    for (uint32_t i = 0; i < SAMPLE_BLOCKS; i++)
        blocks[i] = i < SAMPLE_BLOCKS / 2 ? blocks[2 * i] + blocks[2 * i + 1] : 0;
}

static void join_sum(const struct sample_profile *profile, struct sample_sum *sum)
{
    join_pairs(sum->weights);
    for (uint32_t i = 0; sum->counters != NULL && i < profile->n_counters; i++)
        join_pairs(sum->counters + (size_t)i * SAMPLE_BLOCKS);
}

static void join_row(const struct sample_profile *profile, struct sample_row *row)
{
    join_sum(profile, &row->total);
    join_sum(profile, &row->self);
    join_pairs(row->waiting);
}

static void join_all(struct sample_profile *profile)
{
    join_sum(profile, &profile->all);
    join_row(profile, &profile->no_method);
    for (uint32_t i = 0; i < SAMPLE_GROUPS; i++)
        join_row(profile, &profile->groups[i]);
    for (uint32_t i = 0; i < profile->n_rows; i++)
        join_row(profile, &profile->rows[i]);
    profile->block_ns *= 2;
    profile->n_blocks = (profile->n_blocks + 1) / 2;
}

/* Rings of several CPUs are not in the order of time: what comes before the first sample is of its block. */
static uint32_t block_of(struct sample_profile *profile, uint64_t time_ns)
{
    if (profile->n_samples == 0)
        profile->first_ns = time_ns;
    uint64_t since_ns = time_ns < profile->first_ns ? 0 : time_ns - profile->first_ns;
    while (since_ns / profile->block_ns >= SAMPLE_BLOCKS)
        join_all(profile);
    uint32_t block = (uint32_t)(since_ns / profile->block_ns);
    if (block >= profile->n_blocks)
        profile->n_blocks = block + 1;
    return block;
}

/* ---- adding ---- */

static void need_rows(struct sample_profile *profile, uint32_t n)
{
    xgrow(profile->rows, profile->rows_room, n);
    for (; profile->n_rows < n; profile->n_rows++)
        profile->rows[profile->n_rows] = (struct sample_row){ .depth = UINT32_MAX };
}

/* The draw that a sample is of, from 1: those of another CPU may be of the one before the latest. */
static uint64_t draw_of(struct sample_profile *profile, uint64_t weight)
{
    uint32_t mark = (uint32_t)(weight & 255) / 2;
    if (!profile->is_halved)
        return profile->n_added / 2 + 1;
    if (profile->n_draws > 1 && mark == (profile->latest_mark + 127) % 128)
        return profile->n_draws - 1;
    if (profile->n_draws == 0 || mark != profile->latest_mark)
        *(double *)xpush(profile->more, profile->draws_room, profile->n_draws) = 0;
    profile->latest_mark = mark;
    return profile->n_draws;
}

static double first_ones(const struct sample_profile *profile, uint64_t weight)
{
    return (profile->is_halved ? weight : profile->n_added) & 1 ? -(double)weight : (double)weight;
}

/* In the present draw, for all samples: its powers are kept as sums, for a trace may have a draw for each sample. */
static void add_more(struct sample_profile *profile, double weight)
{
    double *more = &profile->more[profile->draw - 1], before = *more * *more;
    *more += weight;
    double after = *more * *more;
    profile->more_squares += after - before;
    profile->more_fourths += after * after - before * before;
}

/* What all samples' clocks differed by in the draw that a sum's latest samples are of; of one clock not known. */
static double more_of_all(const struct sample_profile *profile, const struct sample_sum *sum)
{
    return profile->is_halved && sum->draw > 0 ? profile->more[sum->draw - 1] : 0;
}

/* By which clock, and since which draw; of one clock by turns, in pairs. */
static void compare_halves(const struct sample_profile *profile, struct sample_sum *sum, uint64_t weight)
{
    if (sum->draw != profile->draw) {
        sum->squares += sum->more * sum->more;
        sum->products += sum->more * more_of_all(profile, sum);
        sum->more = 0;
        sum->n_draws++;
    }
    sum->draw = profile->draw;
    sum->more += first_ones(profile, weight);
}

static void add_to(const struct sample_profile *profile, struct sample_sum *sum, uint32_t block,
                   const struct profile_sample *sample)
{
    sum->n += 1 + sample->n_alike;
    sum->weights[block] += sample->ns;
    compare_halves(profile, sum, sample->ns);
    if (profile->half_life_ns > 0)
        heat_add(&sum->heat, sample->time_ns, (double)sample->ns, profile->half_life_ns);
    if (sample->n_counters == 0)
        return;
    if (sum->counters == NULL)
        sum->counters = xcalloc((size_t)profile->n_counters * SAMPLE_BLOCKS, sizeof *sum->counters);
    for (uint32_t i = 0; i < profile->n_counters; i++)
        sum->counters[(size_t)i * SAMPLE_BLOCKS + block] += sample->counters[i];
}

static void add_total(const struct sample_profile *profile, struct sample_row *row, uint32_t block,
                      const struct profile_sample *sample)
{
    row->waiting[block] += sample->is_waiting ? sample->ns : 0;
    add_to(profile, &row->total, block, sample);
}

/* In a recursion a method's time is that of its outermost call. */
static void count_methods(struct sample_profile *profile, uint32_t block, const struct profile_sample *sample)
{
    bool is_innermost = true;
    for (uint32_t i = 0; i < sample->n; i++) {
        uint32_t method = sample->methods[i], n_outside = sample->n - 1 - i;
        if (method == CONTEXT_NONE)
            continue;
        need_rows(profile, method + 1);
        struct sample_row *row = &profile->rows[method];
        row->depth = n_outside < row->depth ? n_outside : row->depth;
        if (is_innermost)
            add_to(profile, &row->self, block, sample);
        if (row->latest != profile->n_samples)
            add_total(profile, row, block, sample);
        row->latest = profile->n_samples;
        row->n_calls += n_outside >= sample->new_first && n_outside < sample->new_after;
        is_innermost = false;
    }
    if (is_innermost)
        add_total(profile, &profile->no_method, block, sample);
}

/* Of the contexts of a sample, which ends in a node. */
static void count_calls(struct sample_profile *profile, uint32_t node, const struct profile_sample *sample)
{
    struct context_node *nodes = profile->tree.nodes;
    for (uint32_t i = 0; node != 0 && sample->n - i > sample->new_first; i++) {
        if (sample->methods[i] == CONTEXT_NONE)
            continue;
        if (nodes[node].method != sample->methods[i])
            return; /* the tree had no room for all */
        nodes[node].n_calls += sample->n - 1 - i < sample->new_after;
        node = nodes[node].parent;
    }
}

void sample_profile_add(struct sample_profile *profile, const struct profile_sample *sample)
{
    uint32_t block = block_of(profile, sample->time_ns);
    if (sample->group != 0 && sample->group != profile->rest && sample->is_waiting) {
        profile->idle_ns[sample->group] += sample->ns;
        profile->n_idle += 1 + sample->n_alike;
        return;
    }
    profile->n_samples += 1 + sample->n_alike;
    profile->n_counters = sample->n_counters > 0 ? sample->n_counters : profile->n_counters;
    profile->n_added++;
    profile->draw = draw_of(profile, sample->ns);
    if (profile->is_halved)
        add_more(profile, first_ones(profile, sample->ns));
    profile->is_of_blocks = profile->is_of_blocks || sample->is_waiting || sample->n_alike > 0;
    add_total(profile, &profile->groups[sample->group], block, sample);
    add_to(profile, &profile->all, block, sample);
    if (sample->group != 0)
        return;
    uint32_t node = context_tree_add(&profile->tree, sample->tid, sample->n_same, sample->methods, sample->bytecodes,
                                     sample->n, sample->ns);
    profile->tree.nodes[node].own.n_samples += sample->n_alike;
    if (sample->new_after > sample->new_first)
        count_calls(profile, node, sample);
    count_methods(profile, block, sample);
}

/* ---- shares ---- */

static double sum_of(const uint64_t *blocks, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += (double)blocks[i];
    return sum;
}

/* Of 95 % intervals from so many blocks: the same for all rows, and a few hundred logarithms. */
static double limit_of(uint32_t n_blocks)
{
    static _Thread_local uint32_t n;
    static _Thread_local double limit;
    if (n != n_blocks)
        limit = distribution_t_limit(0.05, n_blocks - 1.0);
    n = n_blocks;
    return limit;
}

static struct sample_ratio ratio_of(const struct sample_profile *profile, const uint64_t *some, const uint64_t *all)
{
    uint32_t n = profile->n_blocks;
    double x = sum_of(all, n), y = sum_of(some, n), squares = 0;
    struct sample_ratio ratio = { y / x, NAN };
    if (n < SAMPLE_BLOCKS_MIN || y <= 0 || x <= 0)
        return ratio;
    for (uint32_t i = 0; i < n; i++) {
        double difference = (double)some[i] - ratio.value * (double)all[i];
        squares += difference * difference;
    }
    ratio.error = sqrt(n / (n - 1.0) * squares) / x * limit_of(n);
    return ratio;
}

/* Student's t that 95 % are below, on both sides (Abramowitz & Stegun, 26.7.5): to 2 % from two degrees of freedom on.
 */
static double t_limit(double df)
{
    const double z = 1.959964, z2 = z * z;
    return z * (1 + (z2 + 1) / (4 * df) + ((5 * z2 + 16) * z2 + 3) / (96 * df * df) +
                (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * df * df * df));
}

static double squares_of(const struct sample_sum *sum)
{
    return sum->squares + sum->more * sum->more;
}

/*
 * Of how many draws the differences are as those of a normal distribution: fewer, where a method was in few draws, or
 * where the program had the CPU in some much more than in others (Satterthwaite; a normal e has 3 as its kurtosis).
 */
static double freedom_of(const struct sample_profile *profile, const struct sample_sum *sum, double share)
{
    double n = profile->n_draws, in = fmin(sum->n_draws, n), squares = profile->more_squares;
    double with = (1 - share) * (1 - share), without = share * share, all = in * with + (n - in) * without;
    double even = profile->more_fourths > 0 ? 3 * squares * squares / profile->more_fourths / n : 1;
    if (!(all > 0)) /* it has all the time */
        return n;
    double df = all * all / (in * with * with + (n - in) * without * without) * fmin(even, 1);
    return fmax(fmin(df, (double)sum->n + 1), 1);
}

/* From samples of two clocks.  That both found the same does not say that there is no error: it is as of half a sample.
 */
static double error_of(const struct sample_profile *profile, const struct sample_sum *sum, double weight)
{
    double n = (double)profile->n_added, all = sum_of(profile->all.weights, profile->n_blocks), share = weight / all;
    if (profile->n_added < SAMPLES_MIN || sum->n == 0)
        return NAN;
    double least = (1 - share) * all / n * all / n / 2;
    double products = sum->products + sum->more * more_of_all(profile, sum), same = share * squares_of(&profile->all);
    double variance = squares_of(sum) - share * (profile->is_halved ? 2 * products - same : same);
    variance = fmax(variance, least);
    variance = profile->is_halved ? variance + UNSEEN * 2 * least * share * profile->all.n_draws : DESIGN * variance;
    double df = profile->is_halved ? freedom_of(profile, sum, share) : sum->n_draws + 1.0;
    return sqrt(variance) / all * t_limit(df);
}

static struct sample_share share_of(const struct sample_profile *profile, const struct sample_sum *sum,
                                    const uint64_t *weights)
{
    struct sample_ratio ratio = ratio_of(profile, weights, profile->all.weights);
    if (!profile->is_of_blocks)
        ratio.error = error_of(profile, sum, sum_of(weights, profile->n_blocks));
    return (struct sample_share){ sum->n, (uint64_t)sum_of(weights, profile->n_blocks), ratio.value, ratio.error };
}

static const struct sample_row none;

static const struct sample_row *row_of(const struct sample_profile *profile, uint32_t method)
{
    return method < profile->n_rows ? &profile->rows[method] : &none;
}

static struct sample_share total_of(const struct sample_profile *profile, const struct sample_row *row)
{
    return share_of(profile, &row->total, row->total.weights);
}

struct sample_share sample_profile_total(const struct sample_profile *profile, uint32_t method)
{
    return total_of(profile, row_of(profile, method));
}

struct sample_share sample_profile_waiting(const struct sample_profile *profile, uint32_t method)
{
    const struct sample_row *row = row_of(profile, method);
    return share_of(profile, &row->total, row->waiting);
}

struct sample_share sample_profile_self(const struct sample_profile *profile, uint32_t method)
{
    const struct sample_row *row = row_of(profile, method);
    return share_of(profile, &row->self, row->self.weights);
}

double sample_profile_heat(const struct sample_profile *profile, uint32_t method, bool self)
{
    const struct sample_row *row = row_of(profile, method);
    return heat_share(self ? &row->self.heat : &row->total.heat, &profile->all.heat, profile->half_life_ns);
}

uint64_t sample_profile_calls(const struct sample_profile *profile, uint32_t method)
{
    const struct sample_row *row = row_of(profile, method);
    return row->n_calls == 0 && row->latest > 0 ? 1 : row->n_calls;
}

void sample_profile_row(const struct sample_profile *profile, const struct sample_row *row, struct sample_share *total,
                        struct sample_share *waiting)
{
    *total = total_of(profile, row);
    *waiting = share_of(profile, &row->total, row->waiting);
}

uint64_t sample_profile_weight(const struct sample_profile *profile)
{
    return (uint64_t)sum_of(profile->all.weights, profile->n_blocks);
}

struct sample_ratio sample_profile_ratio(const struct sample_profile *profile, const struct sample_row *row, bool self,
                                         uint32_t numerator, uint32_t denominator)
{
    const uint64_t *counters = self ? row->self.counters : row->total.counters;
    if (counters == NULL)
        return (struct sample_ratio){ NAN, NAN };
    return ratio_of(profile, counters + (size_t)numerator * SAMPLE_BLOCKS,
                    counters + (size_t)denominator * SAMPLE_BLOCKS);
}
