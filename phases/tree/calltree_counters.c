/* What the probes cost, and what passed between two records on a thread's counters. */
#include "phases/tree/calltree_internal.h"

#include "core/base/xalloc.h"
#include "core/trace/recording_info.h"

#define TICKS_LIMIT  1e6
#define EVENTS_LIMIT 1e9

static double limited(double cost, double max)
{
    return isfinite(cost) && cost > 0 && cost < max ? cost : 0;
}

/* The i-th of the numbers, parted by blanks; 0 when there is no such number. */
static double number_at(const char *text, size_t i)
{
    char *end;
    for (; text != NULL; text = end, i--) {
        double value = strtod(text, &end);
        if (end == text)
            return 0;
        if (i == 0)
            return value;
    }
    return 0;
}

static void spread(double inside, double outside, struct step_costs *costs)
{
    double unit = 1 << COST_FRACTION_BITS;
    uint64_t half = (uint64_t)((inside + outside) / 2 * unit);
    costs->of[STEP_ENTER][STEP_ENTER] = half;
    costs->of[STEP_EXIT][STEP_EXIT] = half;
    costs->of[STEP_ENTER][STEP_EXIT] = (uint64_t)(inside * unit);
    costs->of[STEP_EXIT][STEP_ENTER] = (uint64_t)(outside * unit);
    /* A gap is written right before the entry that found room again. */
    costs->of[STEP_ENTER][STEP_GAP] = costs->of[STEP_ENTER][STEP_ENTER];
    costs->of[STEP_EXIT][STEP_GAP] = costs->of[STEP_EXIT][STEP_ENTER];
}

void costs_read(const struct trace_reader *reader, const struct calltree_groups *groups, struct probe_costs *costs)
{
    const char *inside = info_text(reader, INFO_PROBE_INSIDE_COUNTERS),
               *outside = info_text(reader, INFO_PROBE_OUTSIDE_COUNTERS);
    size_t n_events = groups->n > 1 ? groups->running : TRACE_COLUMNS_MAX;
    costs->inside_ticks = limited(number_at(info_text(reader, INFO_PROBE_INSIDE_TICKS), 0), TICKS_LIMIT);
    costs->outside_ticks = limited(number_at(info_text(reader, INFO_PROBE_OUTSIDE_TICKS), 0), TICKS_LIMIT);
    spread(costs->inside_ticks, costs->outside_ticks, &costs->ticks);
    for (size_t i = 0; i < n_events; i++)
        spread(limited(number_at(inside, i), EVENTS_LIMIT), limited(number_at(outside, i), EVENTS_LIMIT),
               &costs->counters[i]);
}

/* ---- groups ---- */

static int impossible(struct err *err)
{
    err_set(err, "the trace's counters have an impossible layout");
    return err_next(err, "record again with this mmprof");
}

/* Events, group by group, then a time for each group, and the thread's. */
int groups_read(const struct trace_reader *reader, struct calltree_groups *groups, struct err *err)
{
    uint32_t column = 0, n_times = 0;
    bool has_enabled = false;
    memset(groups, 0, sizeof *groups);
    for (size_t i = 0; i < trace_n_counters(reader); i++) {
        const struct trace_counter *counter = trace_counter(reader, i);
        if (!counter->in_records)
            continue;
        bool is_next = counter->group == groups->n, is_event = counter->kind == TRACE_COUNTER_EVENT;
        if (has_enabled || (is_event && n_times > 0) || counter->group >= ESTIMATE_GROUPS_MAX)
            return impossible(err);
        if (is_event && is_next)
            groups->first[groups->n++] = column;
        else if (is_event ? counter->group + 1 != groups->n
                          : counter->kind == TRACE_COUNTER_RUNNING_NS && counter->group != n_times)
            return impossible(err);
        n_times += counter->kind == TRACE_COUNTER_RUNNING_NS;
        has_enabled = counter->kind == TRACE_COUNTER_ENABLED_NS;
        column++;
    }
    bool take_turns = groups->n > 1;
    if (n_times != (take_turns ? groups->n : 0) || has_enabled != take_turns)
        return impossible(err);
    groups->enabled = take_turns ? column - 1 : column;
    groups->running = groups->enabled - n_times;
    groups->first[groups->n] = groups->running;
    return 0;
}

/* ---- a thread's counters ---- */

struct thread_counters *thread_counters_new(size_t n)
{
    struct thread_counters *counters = xcalloc(1, sizeof *counters);
    uint64_t *values = xcalloc(5 * n + 1, sizeof *values);
    *counters = (struct thread_counters){ .n = n,
                                          .values = values,
                                          .passed = values + n,
                                          .sums = values + 2 * n,
                                          .early = values + 3 * n,
                                          .told = values + 4 * n,
                                          .fractions = xcalloc(n + 1, sizeof *counters->fractions) };
    return counters;
}

void thread_counters_free(struct thread_counters *counters)
{
    if (counters == NULL)
        return;
    free(counters->values);
    free(counters->fractions);
    free(counters->waiting);
    free(counters);
}

bool counts_are_read(const uint64_t *values, size_t n)
{
    if (values == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        if (values[i] == TRACE_NOT_COUNTED)
            return false;
    return true;
}

bool counts_run_backwards(const uint64_t *a, const uint64_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((a[i] - b[i]) >> 63 != 0)
            return true;
    return false;
}

int counters_take(struct thread_counters *counters, const struct counts *counts, const struct probe_costs *costs,
                  enum step_kind before, enum step_kind now, uint64_t *own, uint64_t *probe)
{
    size_t n = counters->n;
    bool were_known = counters->are_known && counters->series == counts->series;
    counters->are_known = counts_are_read(counts->values, n);
    counters->series = counts->series;
    memset(counters->passed, 0, n * sizeof *counters->passed);
    if (!counters->are_known)
        return 0;
    int rc = !were_known ? 0 : counts_run_backwards(counts->values, counters->values, n) ? -1 : 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t passed = counts->values[i] - counters->values[i];
        counters->values[i] = counts->values[i];
        if (rc <= 0)
            continue;
        uint64_t cost =
            costs == NULL ? 0 : cost_take(costs->counters[i].of[before][now], &counters->fractions[i], passed);
        probe[i] += cost;
        counters->passed[i] = passed - cost;
        counters->sums[i] += passed - cost;
        own[i] += passed - cost;
    }
    return rc;
}

/* ---- readings that wait for records ---- */

void counts_push(struct thread_counters *counters, const struct counts *counts)
{
    size_t n_words = counters->n + 1;
    if (counters->n_waiting == 0)
        counters->first_waiting = 0;
    bool is_full = counters->first_waiting + counters->n_waiting == counters->waiting_room;
    if (is_full && counters->first_waiting > counters->n_waiting) {
        memcpy(counters->waiting, counters->waiting + counters->first_waiting * n_words,
               counters->n_waiting * n_words * sizeof *counters->waiting);
        counters->first_waiting = 0;
    } else if (is_full) {
        counters->waiting_room = counters->waiting_room == 0 ? 4 : counters->waiting_room * 2;
        counters->waiting =
            xreallocarray(counters->waiting, counters->waiting_room, n_words * sizeof *counters->waiting);
    }
    uint64_t *at = counters->waiting + (counters->first_waiting + counters->n_waiting++) * n_words;
    at[0] = counts->series;
    memcpy(at + 1, counts->values, counters->n * sizeof *at);
}

struct counts counts_pop(struct thread_counters *counters)
{
    const uint64_t *at = counters->waiting + counters->first_waiting * (counters->n + 1);
    counters->first_waiting++;
    counters->n_waiting--;
    return (struct counts){ at[0], at + 1 };
}
