#include "core/recorder/sample_periods.h"

#include "core/base/xalloc.h"

#define SAMPLES_BETWEEN 40u /* changes of a period: a change costs half a period */
#define PERIODS_BETWEEN 30u /* changes of a CPU's, at least */
#define LEAST_DRAWN     8u

void sample_periods_init(struct sample_periods *periods, const struct kernel_trigger *trigger, uint32_t hz)
{
    memset(periods, 0, sizeof *periods);
    periods->is_clock = trigger->n == 0 || trigger->is_clock;
    periods->is_frequency = trigger->period == 0 && !periods->is_clock;
    periods->wanted = trigger->period != 0 ? trigger->period : periods->is_clock ? UINT64_C(1000000000) / hz : hz;
    srand48_r((long)kernel_now_ns(), &periods->random);
}

void sample_periods_free(struct sample_periods *periods)
{
    hash_free(&periods->by_series);
    hash_free(&periods->by_event);
    free(periods->series);
    free(periods->drawn);
    memset(periods, 0, sizeof *periods);
}

static uint64_t series_key(int32_t tid, uint32_t cpu)
{
    return (uint64_t)(uint32_t)tid << 32 | cpu;
}

/* ---- counters ---- */

static struct sample_series *series_of(struct sample_periods *periods, const struct kernel_event *sample)
{
    uint64_t key = series_key(sample->tid, sample->cpu);
    const uint32_t *known = hash_find(&periods->by_series, key);
    periods->n_cpus = sample->cpu >= periods->n_cpus ? sample->cpu + 1 : periods->n_cpus;
    if (known != NULL)
        return &periods->series[*known];
    xhash_store(&periods->by_series, key, (uint32_t)periods->n_series);
    struct sample_series *series = xpush(periods->series, periods->series_room, periods->n_series);
    *series = (struct sample_series){ .key = key };
    return series;
}

uint32_t sample_periods_counters(struct sample_periods *periods, const struct kernel_event *sample,
                                 uint64_t counters[KERNEL_VALUES_MAX])
{
    struct kernel_values now;
    if (!kernel_values(&sample->stack, &now))
        return 0;
    struct sample_series *series = series_of(periods, sample);
    if (series->last.running_ns > now.running_ns)
        series->last = (struct kernel_values){ .n = 0 };
    for (uint32_t i = 0; i < now.n; i++)
        counters[i] = now.values[i] - series->last.values[i];
    series->last = now;
    return now.n;
}

/* The latest series gets the place of one. */
void sample_periods_forget(struct sample_periods *periods, int32_t tid)
{
    for (uint32_t cpu = 0; periods->n_series > 0 && cpu < periods->n_cpus; cpu++) {
        uint64_t key = series_key(tid, cpu);
        const uint32_t *known = hash_find(&periods->by_series, key);
        if (known == NULL)
            continue;
        struct sample_series *place = &periods->series[*known], *latest = &periods->series[--periods->n_series];
        *hash_find(&periods->by_series, latest->key) = *known;
        *place = *latest;
        hash_remove(&periods->by_series, key);
    }
}

/* ---- periods ---- */

static struct drawn_event *drawn_of(struct sample_periods *periods, uint64_t event_id, uint64_t weight)
{
    const uint32_t *known = hash_find(&periods->by_event, event_id);
    if (known != NULL)
        return &periods->drawn[*known];
    xhash_store(&periods->by_event, event_id, (uint32_t)periods->n_drawn);
    struct drawn_event *drawn = xpush(periods->drawn, periods->drawn_room, periods->n_drawn);
    *drawn = (struct drawn_event){ .event_id = event_id, .half = weight & 1 };
    return drawn;
}

/* The first one stands for half a period more. */
static uint64_t weight_of_half(const struct sample_periods *periods, const struct drawn_event *drawn,
                               const struct kernel_event *sample)
{
    uint64_t weight = drawn->period / 2;
    return sample->time_ns - drawn->since_ns < 3 * weight
               ? perf_rings_mark(weight * 3 / 2, drawn->half, periods->n_draws)
               : weight;
}

/* The kernel tells a clock's period as it was when the event was opened. */
uint64_t sample_periods_weight(struct sample_periods *periods, const struct kernel_event *sample)
{
    struct drawn_event *drawn = drawn_of(periods, sample->event_id, sample->stack.period / 2);
    if (drawn->tid != 0 && drawn->tid != sample->tid)
        return sample->stack.period;
    drawn->n++;
    if (!periods->is_clock || drawn->period == 0)
        return sample->stack.period / (periods->has_cpus ? 2 : 1);
    return periods->has_cpus ? weight_of_half(periods, drawn, sample) : drawn->period;
}

void sample_periods_stretch(struct sample_periods *periods, double times)
{
    double wanted = (double)periods->wanted * (periods->is_frequency ? 1 / times : times);
    periods->wanted = wanted < 1 ? 1 : (uint64_t)wanted;
    for (size_t i = 0; i < periods->n_drawn; i++)
        periods->drawn[i].n = SAMPLES_BETWEEN;
}

static void draw(struct sample_periods *periods, struct drawn_event *drawn, struct perf_rings *rings)
{
    double random, wanted = (double)periods->wanted;
    drand48_r(&periods->random, &random);
    drawn->n = 0;
    drawn->period = (uint64_t)(wanted * perf_rings_drawn(random, periods->is_frequency));
    if (periods->has_cpus)
        drawn->period = 2 * perf_rings_mark(drawn->period, drawn->half, periods->n_draws);
    drawn->since_ns = kernel_now_ns();
    drawn->tid = perf_rings_set_period(rings, drawn->event_id, drawn->period);
}

void sample_periods_draw(struct sample_periods *periods, struct perf_rings *rings)
{
    uint64_t now_ns = kernel_now_ns();
    if (periods->wanted <= LEAST_DRAWN ||
        (periods->has_cpus && now_ns - periods->drawn_ns < PERIODS_BETWEEN * periods->wanted))
        return;
    periods->drawn_ns = now_ns;
    periods->n_draws++;
    for (size_t i = 0; i < periods->n_drawn; i++)
        if (periods->has_cpus || periods->drawn[i].n >= SAMPLES_BETWEEN)
            draw(periods, &periods->drawn[i], rings);
}
