#include "core/recorder/sample_periods.h"

#include "core/base/xalloc.h"

#include <string.h>

#define SAMPLES_BETWEEN 40u /* changes of a period: a change costs half a period */
#define ROUND_SAMPLES   20u /* so much counts a round of a CPU's clock: threads may run at fixed times */
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

static struct drawn_event *drawn_of(struct sample_periods *periods, uint64_t event_id)
{
    const uint32_t *known = hash_find(&periods->by_event, event_id);
    if (known != NULL)
        return &periods->drawn[*known];
    xhash_store(&periods->by_event, event_id, (uint32_t)periods->n_drawn);
    struct drawn_event *drawn = xpush(periods->drawn, periods->drawn_room, periods->n_drawn);
    *drawn = (struct drawn_event){ .event_id = event_id };
    return drawn;
}

/* The kernel tells a clock's period as it was when the event was opened. */
uint64_t sample_periods_weight(struct sample_periods *periods, const struct kernel_event *sample)
{
    struct drawn_event *drawn = drawn_of(periods, sample->event_id);
    if (drawn->tid != 0 && drawn->tid != sample->tid)
        return sample->stack.period;
    drawn->n++;
    return periods->is_clock && drawn->period != 0 ? drawn->period : sample->stack.period;
}

void sample_periods_stretch(struct sample_periods *periods, double times)
{
    double wanted = (double)periods->wanted * (periods->is_frequency ? 1 / times : times);
    periods->wanted = wanted < 1 ? 1 : (uint64_t)wanted;
    for (size_t i = 0; i < periods->n_drawn; i++)
        periods->drawn[i].n = SAMPLES_BETWEEN;
}

void sample_periods_draw(struct sample_periods *periods, struct perf_rings *rings)
{
    struct perf_rings_state state;
    perf_rings_state(rings, &state);
    for (size_t i = 0; i < periods->n_drawn; i++) {
        struct drawn_event *drawn = &periods->drawn[i];
        double random;
        drawn->n += state.has_cpus ? ROUND_SAMPLES : 0;
        if (drawn->n < SAMPLES_BETWEEN || periods->wanted <= LEAST_DRAWN)
            continue;
        drand48_r(&periods->random, &random);
        drawn->n = 0;
        drawn->period = (uint64_t)((double)periods->wanted * perf_rings_drawn(random, periods->is_frequency));
        drawn->tid = perf_rings_set_period(rings, drawn->event_id, drawn->period);
    }
}
