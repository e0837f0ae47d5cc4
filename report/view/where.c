#include "report/view/where.h"

#include "report/some_threads.h"
#include "core/base/map.h"
#include "core/base/xalloc.h"
#include "core/trace/recording_info.h"

/* IP samples of one kind: where, in the kernel or not, and whose: a thread's, and once these are known a part's. */
struct where_key {
    uint32_t location, of, in_kernel;
};

struct tally {
    struct where_key key;
    uint64_t n;
};

struct tallies {
    struct map by_key; /* in the reading's arena */
    struct tally *all; /* owned; as they came first */
    uint32_t n, room;
};

struct where_reading {
    struct where *where;
    struct arena arena;
    const char *only_threads; /* report/some_threads.h; borrowed */
    struct tallies by_thread, by_part;
    struct where_events_reading *events; /* the report's arena's */
};

/* ---- reading ---- */

static void count(struct tallies *t, const struct where_key *key, uint64_t n)
{
    const uint32_t *known = map_get(&t->by_key, key, sizeof *key);
    if (known != NULL) {
        t->all[*known].n += n;
        return;
    }
    xgrow(t->all, t->room, t->n + 1);
    t->all[t->n] = (struct tally){ *key, n };
    map_put(&t->by_key, key, sizeof *key, t->n++);
}

void where_hear_ip_sample(struct where_reading *r, const struct trace_event *event)
{
    const struct where_key key = { (uint32_t)event->count, event->thread, event->kind == TRACE_KERNEL_IP_SAMPLE };
    count(&r->by_thread, &key, 1);
}

void where_hear_event_sample(struct where_reading *r, const struct trace_event_sample *sample)
{
    where_events_hear(r->events, sample);
}

void where_hear_location(struct where_reading *r, const struct location_entry *entry)
{
    code_locations_hear(r->where->locations, entry);
}

/* Of those threads that are asked for: a thread's name in Java may have come later than its samples. */
static void add_parts(struct where_reading *r, const struct report_source *source)
{
    const struct calltree *tree = source->tree;
    for (uint32_t i = 0; i < r->by_thread.n; i++) {
        const struct tally *tally = &r->by_thread.all[i];
        struct where_key key = tally->key;
        if (!threads_match(trace_thread(source->reader, key.of), r->only_threads))
            continue;
        key.of = key.of < tree->n_threads ? tree->threads[key.of].part : VM_PART_APPLICATION;
        count(&r->by_part, &key, tally->n);
    }
}

/* ---- times ---- */

static void find_scales(const struct report_source *source, const char *only_threads, struct where *where)
{
    const char *hz = info_text(source->reader, INFO_IP_SAMPLES_HZ),
               *kernel = info_text(source->reader, INFO_IP_SAMPLES_KERNEL);
    double per_second = hz == NULL ? 0 : strtod(hz, NULL);
    where->period_ns = per_second > 0 ? 1e9 / per_second : 0;
    where->has_kernel = kernel == NULL || strcmp(kernel, "excluded") != 0;
    for (uint32_t i = 0; i < source->tree->n_threads; i++)
        if (threads_match(trace_thread(source->reader, i), only_threads))
            where->part_ns[source->tree->threads[i].part] += report_ns(source, source->tree->threads[i].cpu_ticks);
    for (size_t part = 0; part < VM_PARTS; part++) {
        uint64_t n = 0;
        for (size_t row = 0; row < WHERE_ROWS; row++)
            n += where->ip_samples[row][part];
        bool is_scaled = where->has_kernel && !source->tree->cpu_is_wall;
        if (source->tree->cpu_is_wall)
            where->part_ns[part] = (double)n * where->period_ns;
        where->ip_sample_ns[part] = !is_scaled ? where->period_ns : n > 0 ? where->part_ns[part] / (double)n : 0;
    }
}

double where_ns(const struct where *where, size_t row, size_t part)
{
    double ns = 0;
    if (part == VM_PARTS) {
        for (size_t p = 0; p < VM_PARTS; p++)
            ns += where_ns(where, row, p);
        return ns;
    }
    if (row != WHERE_KERNEL || where->has_kernel)
        return (double)where->ip_samples[row][part] * where->ip_sample_ns[part];
    /* What no IP sample was in is the kernel's. */
    for (size_t other = 0; other < WHERE_KERNEL; other++)
        ns += (double)where->ip_samples[other][part] * where->ip_sample_ns[part];
    return where->part_ns[part] > ns ? where->part_ns[part] - ns : 0;
}

/* ---- functions ---- */

static int by_time(const void *a, const void *b)
{
    const struct where_function *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

/* Room for a function; returns it. */
static struct where_function *function_of(struct where *where, uint32_t number)
{
    xgrow_zeroed(where->functions, where->n_functions, (size_t)number + 1);
    where->functions[number].function = number;
    return &where->functions[number];
}

/* The code locations of one function come in any order: the one with most IP samples at once is taken as the line of
 * most. */
static void add_tally(struct where *where, const struct tally *tally)
{
    struct code_location location;
    code_locations_find(where->locations, tally->key.location, &location);
    const struct code_function *what = code_locations_function(where->locations, location.function);
    struct where_function *function = function_of(where, location.function);
    where->ip_samples[tally->key.in_kernel ? WHERE_KERNEL : where_row(what->kind, what->subsystem)][tally->key.of] +=
        tally->n;
    where->n_ip_samples += tally->n;
    function->n_ip_samples += tally->n;
    if (tally->n > function->n_most) {
        function->n_most = tally->n;
        function->most = location;
    }
}

static void add_times(struct where *where, const struct where_reading *r)
{
    struct code_location location;
    for (uint32_t i = 0; i < r->by_part.n; i++) {
        const struct tally *tally = &r->by_part.all[i];
        code_locations_find(where->locations, tally->key.location, &location);
        double ns = (double)tally->n * where->ip_sample_ns[tally->key.of];
        where->functions[location.function].ns += ns;
        where->functions[location.function].kernel_ns += tally->key.in_kernel ? ns : 0;
    }
    qsort(where->functions, where->n_functions, sizeof *where->functions, by_time);
    while (where->n_functions > 0 && where->functions[where->n_functions - 1].n_ip_samples == 0)
        where->n_functions--;
}

static int refuse(const struct report_source *source, struct err *err)
{
    const char *why = info_text(source->reader, INFO_IP_SAMPLES_FAILED);
    if (info_text(source->reader, INFO_SIMULATED) != NULL) {
        err_set(err, "'%s' has no IP samples: it was simulated", source->path);
        return err_next(err, "use --view misses=part or misses=method, or record without --simulate");
    }
    if (why != NULL)
        err_set(err, "'%s' has no IP samples: %s", source->path, why);
    else
        err_set(err, "'%s' has no IP samples", source->path);
    return err_next(err, "record with --frequency 100%s",
                    why == NULL ? "" : ", on a machine where the kernel allows it (mmprof doctor)");
}

void where_begin(struct arena *arena, const char *only_threads, struct where *where, struct where_reading **reading)
{
    struct where_reading *r = *reading = arena_alloc(arena, sizeof *r);
    memset(where, 0, sizeof *where);
    r->where = where;
    r->events = where_events_begin(arena);
    r->only_threads = only_threads;
    r->by_thread.by_key.arena = r->by_part.by_key.arena = &r->arena;
    where->locations = code_locations_open();
}

int where_end(struct where_reading *r, const struct report_source *source, struct err *err)
{
    add_parts(r, source);
    code_locations_recorded(r->where->locations, source->reader);
    for (uint32_t i = 0; i < r->by_part.n; i++)
        add_tally(r->where, &r->by_part.all[i]);
    if (r->where->n_ip_samples == 0)
        return refuse(source, err);
    find_scales(source, r->only_threads, r->where);
    add_times(r->where, r);
    where_events_end(r->events, source, r->only_threads, r->where->locations, &r->where->events);
    return 0;
}

void where_close(struct where_reading *r)
{
    if (r == NULL)
        return;
    where_events_close(r->events);
    map_free(&r->by_thread.by_key);
    map_free(&r->by_part.by_key);
    arena_free(&r->arena);
    free(r->by_thread.all);
    free(r->by_part.all);
}

void where_free(struct where *where)
{
    code_locations_close(where->locations);
    free(where->functions);
    memset(where, 0, sizeof *where);
}
