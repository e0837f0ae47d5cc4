#include "phases/tree/estimate.h"

#include "core/base/xalloc.h"

/* A group that misses less of an interval counted all of it: its times are read one after the other. */
#define MISSED_MAX (1.0 / 64)

/* What is left of the finite population correction below this is rounding. */
#define WHOLE_SHARE 0.999

/* The least variance of a number of events: that none was seen does not say that there was none. */
#define LEAST 1.0

/* ---- turns ---- */

/* Whether the turn ends with an interval of which the group had a part. */
static bool take_part(uint8_t *state, bool has_all)
{
    bool is_end = !has_all && *state != ESTIMATE_TURN_OFF;
    *state = has_all ? ESTIMATE_TURN_ON : is_end ? ESTIMATE_TURN_OFF : ESTIMATE_TURN_BEGUN;
    return is_end;
}

uint32_t estimate_turns_take(struct estimate_turns *turns, const uint64_t *running_ns, uint32_t n_groups,
                             uint64_t enabled_ns)
{
    uint32_t ended = 0;
    for (uint32_t g = 0; enabled_ns > 0 && g < n_groups; g++) {
        uint8_t *state = &turns->states[g];
        bool has_all = (double)running_ns[g] >= (double)enabled_ns * (1 - MISSED_MAX), is_end;
        if (running_ns[g] > 0) {
            is_end = take_part(state, has_all);
        } else {
            is_end = *state != ESTIMATE_TURN_OFF;
            *state = ESTIMATE_TURN_OFF;
        }
        ended |= (uint32_t)is_end << g;
    }
    return ended;
}

/* ---- batches ---- */

static double *row_of(const struct estimate_batches *batches, uint32_t i)
{
    return batches->rows + (size_t)i * (batches->n_values + 1);
}

void estimate_batches_open(struct estimate_batches *batches, uint32_t n_values)
{
    memset(batches, 0, sizeof *batches);
    batches->n_values = n_values;
    batches->rows = xcalloc(ESTIMATE_BATCHES_ROOM, (n_values + (size_t)1) * sizeof *batches->rows);
}

void estimate_batches_close(struct estimate_batches *batches)
{
    free(batches->rows);
    memset(batches, 0, sizeof *batches);
}

/* Each pair becomes one. */
static void merge(struct estimate_batches *batches)
{
    size_t n_values = batches->n_values + (size_t)1;
    double sum_ns = 0;
    batches->n /= 2;
    for (uint32_t i = 0; i < batches->n; i++) {
        double *to = row_of(batches, i), *a = row_of(batches, 2 * i), *b = row_of(batches, 2 * i + 1);
        for (size_t v = 0; v < n_values; v++)
            to[v] = a[v] + b[v];
        sum_ns += to[0];
    }
    batches->target_ns = sum_ns / batches->n;
    memset(row_of(batches, batches->n), 0, batches->n * n_values * sizeof *batches->rows);
}

/* A turn is over. */
static void close_batch(struct estimate_batches *batches)
{
    if (!batches->has_more || row_of(batches, batches->n)[0] < batches->target_ns)
        return;
    batches->has_more = false;
    if (++batches->n == ESTIMATE_BATCHES_ROOM)
        merge(batches);
}

void estimate_batches_add(struct estimate_batches *batches, uint64_t turn, uint64_t running_ns, const uint64_t *values)
{
    if (turn != batches->turn)
        close_batch(batches);
    batches->turn = turn;
    batches->has_more = true;
    double *row = row_of(batches, batches->n);
    row[0] += (double)running_ns;
    for (uint32_t v = 0; v < batches->n_values; v++)
        row[v + 1] += (double)values[v];
}

/* ---- variances ---- */

void estimate_variance_add(struct estimate_variance *sum, const struct estimate_batches *batches, size_t y, size_t x,
                           double ratio, double share, double factor)
{
    if (share >= WHOLE_SHARE)
        return;
    uint32_t n = batches == NULL ? 0 : batches->n + batches->has_more;
    if (n < ESTIMATE_BATCHES_MIN) {
        sum->is_unknown = true;
        return;
    }
    double squares = 0, before = 0;
    for (uint32_t i = 0; i < n; i++) {
        const double *row = row_of(batches, i);
        double d = row[y + 1] - ratio * row[x + 1];
        squares += i == 0 ? 0 : (d - before) * (d - before);
        before = d;
    }
    double freedom = 2.0 * (n - 1) * (n - 1) / (3.0 * n - 4), of_sum = squares / 2 * n / (n - 1.0);
    double variance = factor * factor * (1 - share) * (of_sum > LEAST ? of_sum : LEAST);
    sum->variance += variance;
    sum->squares_by_freedom += variance * variance / freedom;
}

double estimate_student(double degrees_of_freedom)
{
    /* Cornish and Fisher's expansion around the normal quantile: 0.3 % too small at 3, less above. */
    const double z = 1.959963985, s = z * z, v = degrees_of_freedom;
    double t1 = z * (s + 1) / 4, t2 = z * ((5 * s + 16) * s + 3) / 96,
           t3 = z * (((3 * s + 19) * s + 17) * s - 15) / 384,
           t4 = z * ((((79 * s + 776) * s + 1482) * s - 1920) * s - 945) / 92160;
    return z + (t1 + (t2 + (t3 + t4 / v) / v) / v) / v;
}

double estimate_half_width(const struct estimate_variance *sum)
{
    if (sum->is_unknown)
        return -1;
    if (!(sum->variance > 0))
        return 0;
    return estimate_student(sum->variance * sum->variance / sum->squares_by_freedom) * sqrt(sum->variance);
}
