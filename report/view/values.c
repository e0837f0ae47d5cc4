#include "report/view/values.h"

#include "core/base/vec.h"
#include "report/some_threads.h"
#include "report/view/allocations.h"

#define NONE        UINT32_MAX
#define INTERVAL_95 1.96 /* standard deviations */

struct values_making {
    const struct view_pass *pass;
    const struct report_source *source;
    struct value_rows *found;
    struct values_row *rows; /* the arena's */
    uint32_t n, *of_key;     /* the row of a key, or NONE; the arena's */
    uint32_t n_keys;
    uint64_t n_counted;
};

/* ---- which rows ---- */

static bool is_asked(const struct view_pass *pass, uint32_t method, const char *asked)
{
    const struct trace_method *known = trace_method(pass->reader, method);
    return known != NULL && (asked == NULL || java_names_is(pass->arena, &known->names, asked));
}

bool values_has(const struct view_pass *pass, const char *method)
{
    for (uint32_t id = 0; pass->value_calls != NULL && id < trace_n_values(pass->reader); id++) {
        const struct trace_value *value = trace_value(pass->reader, id);
        if (value != NULL && is_asked(pass, value->method, method))
            return true;
    }
    return false;
}

/*
 * How well the calls that ended tell those of such a value: the sum of their times, by their mean's error, and their
 * p99, by the order of so many calls.
 */
static void find_intervals(const struct value_calls *calls, struct values_row *row)
{
    const struct statistics_error known = statistics_error_of(calls->by_wall, row->key, 0);
    double n = (double)known.n_calls, off = INTERVAL_95 * sqrt(0.99 * 0.01 / n);
    row->ended = known.n_calls;
    row->wall_error = INTERVAL_95 * sqrt(known.variance) * n;
    row->p99_low = statistics_quantile(calls->by_wall, row->key, fmax(0.99 - off, 0));
    row->p99_high = 0.99 + off < 1 ? statistics_quantile(calls->by_wall, row->key, 0.99 + off) : row->longest;
}

static void add_row(struct values_making *making, uint32_t key, uint32_t method, const struct trace_value *value)
{
    const struct value_calls *calls = making->pass->value_calls;
    struct values_row *row = &making->rows[making->n];
    uint64_t n = value_calls_entries(calls, key);
    if (n == 0 || making->of_key[key] != NONE)
        return;
    const struct moments clock = statistics_moments(calls->by_clock, key, 0),
                         wall = statistics_moments(calls->by_wall, key, 0);
    *row = (struct values_row){ .value = value,
                                .text = value == NULL ? "(not known)" : trace_value_text(value),
                                .key = key,
                                .method = method,
                                .calls = n,
                                .unwinds = value_calls_unwinds(calls, key),
                                .ticks = clock.n == 0 ? 0 : clock.mean * (double)clock.n,
                                .mean = clock.n == 0 ? NAN : clock.mean,
                                .wall_ticks = wall.n == 0 ? 0 : wall.mean * (double)wall.n,
                                .p50 = statistics_quantile(calls->by_wall, key, 0.5),
                                .p99 = statistics_quantile(calls->by_wall, key, 0.99),
                                .longest = statistics_longest(calls->by_wall, key) };
    find_intervals(calls, row);
    making->of_key[key] = making->n++;
}

/* Each value's, and for each method that has some, those that are not known. */
static void make_rows(struct values_making *making, const char *method)
{
    const struct view_pass *pass = making->pass;
    uint32_t n_values = trace_n_values(pass->reader), n_methods = trace_n_methods(pass->reader);
    making->n_keys = n_values > n_methods ? n_values : n_methods;
    making->rows = arena_alloc(pass->arena, ((size_t)making->n_keys + 1) * sizeof *making->rows);
    making->of_key = arena_alloc(pass->arena, ((size_t)making->n_keys + 1) * sizeof *making->of_key);
    making->found->methods = arena_alloc(pass->arena, ((size_t)n_methods + 1) * sizeof *making->found->methods);
    bool *has = arena_alloc(pass->arena, (size_t)n_methods + 1);
    memset(making->of_key, 0xff, ((size_t)making->n_keys + 1) * sizeof *making->of_key);
    for (uint32_t id = 0; pass->value_calls != NULL && id < n_values; id++) {
        const struct trace_value *value = trace_value(pass->reader, id);
        if (value == NULL || value->method >= n_methods || !is_asked(pass, value->method, method))
            continue;
        add_row(making, id, value->method, value);
        if (!has[value->method])
            making->found->methods[making->found->n_methods++] = trace_method(pass->reader, value->method)->names;
        has[value->method] = true;
    }
    for (uint32_t i = 0; i < n_methods; i++)
        if (has[i])
            add_row(making, i, i, NULL);
}

/* ---- waits and allocations ---- */

/* Each row once, however many of its calls are open. */
static void add_to_rows(struct values_making *making, uint32_t thread, uint64_t ticks, double ns,
                        enum trace_cause cause, double bytes)
{
    const struct value_calls *calls = making->pass->value_calls;
    const struct value_call *call = value_calls_at(calls, thread, ticks);
    making->n_counted++;
    for (; call != NULL; call = value_calls_outer(calls, thread, call)) {
        uint32_t number = call->key < making->n_keys ? making->of_key[call->key] : NONE;
        struct values_row *row = number == NONE ? NULL : &making->rows[number];
        if (row == NULL || row->latest == making->n_counted)
            continue;
        row->latest = making->n_counted;
        row->waited_ns += ns;
        row->cause_ns[cause] += ns;
        row->bytes += bytes;
    }
}

static bool is_counted(const struct view_pass *pass, uint32_t index)
{
    return threads_match(trace_thread(pass->reader, index), pass->options.only_threads);
}

static void add_waits(struct values_making *making)
{
    const struct view_pass *pass = making->pass;
    making->found->has_waits = pass->n_kept_waits > 0;
    for (size_t i = 0; i < pass->n_kept_waits; i++) {
        const struct trace_wait *wait = &pass->kept_waits[i];
        if (wait->cause != TRACE_CAUSE_ON_CPU && is_counted(pass, wait->thread))
            add_to_rows(making, wait->thread, wait->ticks, (double)wait->weight_ns, wait->cause, 0);
    }
}

static void add_allocations(struct values_making *making)
{
    const struct view_pass *pass = making->pass;
    struct allocations all;
    struct err none;
    if (pass->n_allocations == 0 || allocations_find(pass, ALLOCATIONS_BY_CLASS, &all, &none) < 0)
        return;
    making->found->has_allocations = true;
    double scale = all.jvm_bytes > 0 && all.sampled_bytes > 0 ? all.jvm_bytes / all.sampled_bytes : 1;
    for (size_t i = 0; i < pass->n_allocations; i++) {
        const struct trace_allocation *of = &pass->allocations[i];
        if (is_counted(pass, of->thread))
            add_to_rows(making, of->thread, of->ticks, 0, TRACE_CAUSE_UNKNOWN,
                        scale * trace_allocation_objects(of) * (double)of->size_bytes);
    }
}

/* ---- the whole ---- */

static int by_time(const void *a, const void *b)
{
    const struct values_row *x = a, *y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? 1 : -1;
    return x->calls != y->calls ? (x->calls < y->calls ? 1 : -1) : strcmp(x->text, y->text);
}

void values_find(const struct view_pass *pass, const struct report_source *source, const char *method,
                 struct value_rows *values)
{
    struct values_making making = { .pass = pass, .source = source, .found = values };
    *values = (struct value_rows){ .n = 0 };
    uint32_t n_methods = source->tree->n_methods;
    uint32_t *no_rows = arena_alloc(pass->arena, ((size_t)n_methods + 1) * sizeof *no_rows);
    make_rows(&making, method);
    memset(no_rows, 0xff, ((size_t)n_methods + 1) * sizeof *no_rows);
    if (making.n == 0)
        return;
    shares_compute(source, no_rows, 0, &values->shares);
    add_waits(&making);
    add_allocations(&making);
    values->rows = making.rows;
    values->n = making.n;
    qsort(values->rows, values->n, sizeof *values->rows, by_time);
}
