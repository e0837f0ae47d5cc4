#include "report/view/where.h"

#include "core/base/map.h"
#include "core/base/xalloc.h"
#include "core/trace/recording_info.h"
#include "report/some_threads.h"

#define SURE 1.96 /* standard deviations of 95 % */

struct tally_key {
    uint32_t location, thread, event, in_kernel;
};

struct event_tally {
    struct tally_key key;
    struct where_count count;
};

struct where_events_reading {
    struct arena arena;
    struct map by_key;
    struct event_tally *all; /* owned; as they came first */
    uint32_t n, room;
};

/* ---- reading ---- */

struct where_events_reading *where_events_begin(struct arena *arena)
{
    struct where_events_reading *r = arena_alloc(arena, sizeof *r);
    r->by_key.arena = &r->arena;
    return r;
}

static struct event_tally *tally_of(struct where_events_reading *r, const struct tally_key *key)
{
    const uint32_t *known = map_get(&r->by_key, key, sizeof *key);
    if (known != NULL)
        return &r->all[*known];
    xgrow(r->all, r->room, (size_t)r->n + 1);
    map_put(&r->by_key, key, sizeof *key, r->n);
    r->all[r->n] = (struct event_tally){ .key = *key };
    return &r->all[r->n++];
}

static void count_samples(struct where_count *to, const struct where_count *count)
{
    to->n += count->n;
    to->sum += count->sum;
    to->squares += count->squares;
}

void where_events_hear(struct where_events_reading *r, const struct trace_event_sample *sample)
{
    const struct tally_key key = { sample->location, sample->thread, sample->event, sample->in_kernel };
    double weight = (double)sample->weight;
    const struct where_count one = { 1, weight, weight * weight };
    struct event_tally *tally = tally_of(r, &key);
    count_samples(&tally->count, &one);
}

/* "cycles instructions": behind the clock. */
static void find_names(const struct report_source *source, struct where_events *events)
{
    const char *text = info_text(source->reader, INFO_IP_SAMPLES_EVENTS);
    events->why_not = info_text(source->reader, INFO_IP_SAMPLES_EVENTS_FAILED);
    events->n = 0;
    if (text == NULL)
        return;
    events->names[events->n++] = "cpu-clock";
    while (text[0] != '\0' && events->n < WHERE_EVENTS_MAX) {
        size_t n = strcspn(text, " ");
        const char *name = arena_text(source->arena, text, n);
        events->names[events->n++] = name;
        text += n + (text[n] == ' ');
    }
}

void where_events_end(struct where_events_reading *r, const struct report_source *source, const char *only_threads,
                      struct code_locations *locations, struct where_events *events)
{
    size_t bytes = (WHERE_ROWS + 1) * sizeof *events->rows;
    events->rows = arena_alloc(source->arena, bytes);
    find_names(source, events);
    memset(events->rows, 0, bytes);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct event_tally *tally = &r->all[i];
        struct code_location location;
        if (tally->key.event + 1 >= events->n ||
            !threads_match(trace_thread(source->reader, tally->key.thread), only_threads))
            continue;
        code_locations_find(locations, tally->key.location, &location);
        const struct code_function *what = code_locations_function(locations, location.function);
        size_t row = tally->key.in_kernel ? (size_t)WHERE_KERNEL : where_row(what->kind, what->subsystem);
        count_samples(&events->rows[row][tally->key.event + 1], &tally->count);
        count_samples(&events->rows[WHERE_ROWS][tally->key.event + 1], &tally->count);
    }
}

void where_events_close(struct where_events_reading *r)
{
    if (r == NULL)
        return;
    map_free(&r->by_key);
    arena_free(&r->arena);
    free(r->all);
}

/* ---- ratios ---- */

/* The variance of a sum of k weights, k by chance (Poisson), in parts of the sum squared. */
static double variance(const struct where_count *count)
{
    return count->squares / (count->sum * count->sum);
}

struct where_ratio where_events_ratio(const struct where_count *row, const struct where_count *clock,
                                      const struct sample_ratio_kind *kind)
{
    const struct where_count *over = kind->numerator == 0 ? clock : &row[kind->numerator],
                             *under = kind->denominator == 0 ? clock : &row[kind->denominator];
    if (over->n < WHERE_EVENTS_LEAST || under->n < WHERE_EVENTS_LEAST || !(over->sum > 0) || !(under->sum > 0))
        return (struct where_ratio){ NAN, NAN };
    double value = kind->scale * over->sum / under->sum;
    return (struct where_ratio){ value, SURE * value * sqrt(variance(over) + variance(under)) };
}
