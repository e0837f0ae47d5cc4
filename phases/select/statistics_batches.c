/* Batches of calls, and what all calls of a method say. */
#include "phases/select/statistics_internal.h"

#include "core/base/xalloc.h"

struct method_statistics *statistics_new_method(struct statistics *s, uint32_t index)
{
    xgrow_zeroed(s->methods, s->n_methods, (size_t)index + 1);
    struct method_statistics **m = &s->methods[index];
    if (*m == NULL)
        *m = xcalloc(1, sizeof **m + STATISTICS_BATCHES * s->batch_bytes);
    return *m;
}

/* ---- batches ---- */

static void add_batch(const struct statistics *s, struct calls_batch *to, const struct calls_batch *from)
{
    to->n_calls += from->n_calls;
    for (size_t i = 0; i < s->options.n_metrics; i++) {
        to->of[i].top += from->of[i].top;
        to->of[i].bottom += from->of[i].bottom;
    }
}

/* Each pair becomes one. */
static void merge_batches(const struct statistics *s, struct method_statistics *m)
{
    for (uint32_t i = 0; i < STATISTICS_BATCHES / 2; i++) {
        if (i > 0)
            memcpy(batch_of(s, m, i), batch_of(s, m, 2 * i), s->batch_bytes);
        add_batch(s, batch_of(s, m, i), batch_of(s, m, 2 * i + 1));
    }
    m->n_batches = STATISTICS_BATCHES / 2;
    memset(batch_of(s, m, m->n_batches), 0, m->n_batches * s->batch_bytes);
    m->batch_calls *= 2;
}

/* The last batch gets its number of calls, and their time. */
static void settle_batch(const struct statistics *s, struct method_statistics *m)
{
    if (m->n_batches == 0)
        return;
    struct calls_batch *last = batch_of(s, m, m->n_batches - 1);
    last->n_calls = m->batch_calls - m->batch_left;
    for (size_t i = 0; i < s->options.n_metrics; i++)
        if (s->options.metrics[i].is_time)
            last->of[i] = (struct quotient){ (double)(m->ticks - m->ticks_before), (double)last->n_calls };
}

void statistics_begin_batch(const struct statistics *s, struct method_statistics *m)
{
    settle_batch(s, m);
    if (m->n_batches == 0)
        m->batch_calls = 1;
    if (m->n_batches == STATISTICS_BATCHES)
        merge_batches(s, m);
    m->n_batches++;
    m->batch_left = m->batch_calls;
    m->ticks_before = m->ticks;
}

/* ---- results ---- */

static const struct method_statistics *known_method(const struct statistics *s, uint32_t method)
{
    struct method_statistics *m = method < s->n_methods ? s->methods[method] : NULL;
    if (m != NULL)
        settle_batch(s, m);
    return m;
}

/* From exact sums: the mean's square is divided, and its remainder apart. */
static struct moments moments_of_time(const struct method_statistics *m)
{
    uint64_t n = m->latency.n;
    unsigned __int128 square = (unsigned __int128)m->ticks * m->ticks;
    struct moments moments = { .n = n };
    if (n > 0) {
        moments.mean = (double)m->ticks / (double)n;
        moments.squares = (double)(m->squares - square / n) - (double)(uint64_t)(square % n) / (double)n;
    }
    return moments;
}

struct moments statistics_moments(const struct statistics *s, uint32_t method, size_t metric)
{
    const struct method_statistics *m = known_method(s, method);
    struct moments none = { .n = 0 };
    return m == NULL ? none : s->options.metrics[metric].is_time ? moments_of_time(m) : m->moments[metric];
}

double statistics_quantile(const struct statistics *s, uint32_t method, double part)
{
    const struct method_statistics *m = known_method(s, method);
    return m == NULL ? NAN : latency_quantile(&m->latency, part);
}

double statistics_longest(const struct statistics *s, uint32_t method)
{
    const struct method_statistics *m = known_method(s, method);
    return m == NULL || m->latency.n == 0 ? NAN : (double)m->latency.longest;
}

struct statistics_error statistics_error_of(const struct statistics *s, uint32_t method, size_t metric)
{
    struct statistics_error error = { NAN, NAN, 0, 0 };
    const struct method_statistics *m = known_method(s, method);
    struct quotient all = { 0, 0 };
    double n = 0, squares = 0;
    for (uint32_t i = 0; m != NULL && i < m->n_batches; i++) {
        const struct quotient *q = &batch_of(s, m, i)->of[metric];
        all.top += q->top;
        all.bottom += q->bottom;
        n += q->bottom > 0;
    }
    if (!(all.bottom > 0))
        return error;
    error.n_calls = statistics_moments(s, method, metric).n;
    error.value = all.top / all.bottom;
    if (n < STATISTICS_BATCHES_MIN)
        return error;
    for (uint32_t i = 0; i < m->n_batches; i++) {
        const struct quotient *q = &batch_of(s, m, i)->of[metric];
        double d = q->top - error.value * q->bottom;
        squares += d * d;
    }
    error.variance = n / (n - 1) * squares / (all.bottom * all.bottom);
    error.df = n - 1;
    return error;
}
