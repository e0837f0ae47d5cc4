#include "report/view/live_objects.h"

#include "core/trace/recording_info.h"
#include "report/some_threads.h"

#define INTERVAL_95 1.96 /* standard deviations */
#define SHIFT_MAX   62u
#define STEADY_PART 0.1 /* of the heap's growth, from one quarter of the collections to the next */

/* A collection, and those before it that have no row of their own. */
struct live_collection {
    uint64_t ticks; /* its start */
    uint32_t n;
};

enum fate { LIVES, FREED, DROPPED };

struct live_making {
    const struct view_pass *pass;
    struct allocation_methods methods;
    uint8_t *fates;                      /* by allocation: enum fate */
    struct live_collection *collections; /* in order */
    size_t n_collections;
    uint64_t checked, tested;      /* ticks: the last check, and the start of the last collection before it; 0: none */
    double stands_for;             /* so many samples does a tracked one stand for */
    struct allocation_item *items; /* live ones, but for the young */
    size_t n_items;
    double all_bytes, all_squares; /* of all samples of all threads */
    double scale;                  /* bytes that the JVM counted for one of these */
};

/* ---- what became of them ---- */

static void read_fates(struct live_making *making, struct live_objects *found)
{
    const struct view_pass *pass = making->pass;
    making->stands_for = 1;
    making->fates = arena_alloc(making->pass->arena, pass->n_allocations + 1);
    for (size_t i = 0; i < pass->n_heap_events; i++) {
        const struct trace_heap_event *event = &pass->heap_events[i];
        if (event->kind == TRACE_HEAP_CHECKED) {
            making->checked = event->ticks;
            making->stands_for = exp2((double)(event->number > SHIFT_MAX ? SHIFT_MAX : event->number));
        }
        if (event->number >= pass->n_allocations)
            continue;
        if (event->kind == TRACE_HEAP_FREED)
            making->fates[event->number] = FREED;
        if (event->kind == TRACE_HEAP_DROPPED)
            making->fates[event->number] = DROPPED;
    }
    for (size_t i = 0; i < pass->n_allocations; i++) {
        found->n_tracked += making->fates[i] != DROPPED;
        found->n_freed += making->fates[i] == FREED;
        found->n_dropped += making->fates[i] == DROPPED;
    }
    found->one_in = making->stands_for;
}

static bool is_concurrent(const struct trace_collection *collection)
{
    return strstr(collection->name, "concurrent") != NULL;
}

/* The pauses of a collector that works beside the program are no collections, where there are others. */
static void read_collections(struct live_making *making)
{
    const struct view_pass *pass = making->pass;
    size_t n = trace_n_collections(pass->reader);
    bool has_others = false;
    double ns_per_tick = trace_ns_per_tick(pass->reader);
    making->collections = arena_alloc(making->pass->arena, (n + 1) * sizeof *making->collections);
    for (size_t i = 0; i < n; i++)
        has_others = has_others || !is_concurrent(trace_collection(pass->reader, i));
    for (size_t i = 0; i < n; i++) {
        const struct trace_collection *collection = trace_collection(pass->reader, i);
        uint64_t end = collection->start_ticks;
        end += ns_per_tick > 0 ? (uint64_t)((double)collection->ns / ns_per_tick) : 0;
        if ((has_others && is_concurrent(collection)) || end > making->checked)
            continue;
        uint64_t n_all = collection->n_missed < UINT32_MAX ? collection->n_missed + 1 : 1;
        making->collections[making->n_collections++] =
            (struct live_collection){ collection->start_ticks, (uint32_t)n_all };
        making->tested = collection->start_ticks > making->tested ? collection->start_ticks : making->tested;
    }
    for (size_t i = 0; n == 0 && i < pass->n_heap_events; i++) /* not known, but what it did */
        if (pass->heap_events[i].kind == TRACE_HEAP_FREED)
            making->tested = pass->heap_events[i].ticks;
}

static uint32_t collections_since(const struct live_making *making, uint64_t ticks)
{
    uint64_t n = 0;
    for (size_t i = making->n_collections; i-- > 0 && making->collections[i].ticks > ticks;)
        n += making->collections[i].n;
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* ---- samples ---- */

static struct allocation_item item_of(const struct live_making *making, const struct trace_allocation *from)
{
    const struct report_source *source = &making->pass->source;
    uint64_t end = making->checked;
    double objects = trace_allocation_objects(from), bytes = objects * (double)from->size_bytes;
    return (struct allocation_item){ .site = allocation_site_of(&making->methods, making->pass->reader, from->context),
                                     .class_number = from->class_number,
                                     .class_name = from->class_name,
                                     .objects = objects,
                                     .bytes = bytes,
                                     .weight = bytes * making->stands_for,
                                     .collections = collections_since(making, from->ticks),
                                     .age_ns = end > from->ticks ? report_ns(source, end - from->ticks) : 0 };
}

static bool is_wanted(const struct view_pass *pass, const struct trace_allocation *allocation)
{
    return threads_match(trace_thread(pass->reader, allocation->thread), pass->options.only_threads);
}

/* Samples are not equally frequent at all times, so moments are counted in samples. */
static void take_samples(struct live_making *making, struct live_objects *found)
{
    const struct view_pass *pass = making->pass;
    double n_tested = 0;
    making->items = arena_alloc(making->pass->arena, (pass->n_allocations + 1) * sizeof *making->items);
    for (size_t i = 0; i < pass->n_allocations; i++) {
        const struct trace_allocation *from = &pass->allocations[i];
        double bytes = trace_allocation_objects(from) * (double)from->size_bytes;
        making->all_bytes += bytes;
        making->all_squares += bytes * bytes;
        n_tested += making->fates[i] != DROPPED && from->ticks < making->tested;
        if (making->fates[i] != LIVES || !is_wanted(pass, from))
            continue;
        if (from->ticks >= making->tested) {
            found->young_bytes += bytes * making->stands_for;
            continue;
        }
        making->items[making->n_items] = item_of(making, from);
        making->items[making->n_items++].when = n_tested - 0.5;
    }
    for (size_t i = 0; i < making->n_items; i++)
        making->items[i].when /= n_tested;
    double jvm = info_number(pass->reader, INFO_ALLOCATIONS_JVM_BYTES);
    making->scale = jvm > 0 && making->all_bytes > 0 ? jvm / making->all_bytes : 1;
    found->young_bytes *= making->scale;
}

/* ---- rows ---- */

static const struct {
    double below; /* s, or collections */
    const char *words;
} ages[] = { { 1, "up to 1 s" },     { 10, "1 to 10 s" },       { 60, "10 s to 1 min" },
             { 600, "1 to 10 min" }, { 3600, "10 min to 1 h" }, { INFINITY, "more than 1 h" } },
  survived[] = { { 2, "1" },        { 4, "2 to 3" },    { 8, "4 to 7" },
                 { 16, "8 to 15" }, { 32, "16 to 31" }, { INFINITY, "32 or more" } };

static uint32_t range_of(const struct allocation_item *item, enum live_objects_by by)
{
    uint32_t i = 0;
    double value = by == LIVE_OBJECTS_BY_AGE ? item->age_ns / 1e9 : item->collections;
    while (value >= (by == LIVE_OBJECTS_BY_AGE ? ages[i].below : survived[i].below))
        i++;
    return i;
}

static uint64_t key_of_age(const struct allocation_item *item)
{
    return hash_address((uint64_t)range_of(item, LIVE_OBJECTS_BY_AGE) + 1);
}

static uint64_t key_of_collections(const struct allocation_item *item)
{
    return hash_address((uint64_t)range_of(item, LIVE_OBJECTS_BY_COLLECTIONS) + 1);
}

static uint64_t (*const keys[])(const struct allocation_item *) = {
    [LIVE_OBJECTS_BY_SITE] = allocation_key_of_site,
    [LIVE_OBJECTS_BY_METHOD] = allocation_key_of_method,
    [LIVE_OBJECTS_BY_CLASS] = allocation_key_of_class,
    [LIVE_OBJECTS_BY_AGE] = key_of_age,
    [LIVE_OBJECTS_BY_COLLECTIONS] = key_of_collections
};

static bool is_range(enum live_objects_by by)
{
    return by == LIVE_OBJECTS_BY_AGE || by == LIVE_OBJECTS_BY_COLLECTIONS;
}

/* Means by bytes, and the oldest. */
static void add_ages(const struct live_making *making, enum live_objects_by by, struct live_objects *found)
{
    for (size_t i = 0; i < making->n_items; i++) {
        const struct allocation_item *item = &making->items[i];
        struct allocation_row *row = &found->rows.all[item->row];
        double part = item->weight / row->bytes;
        row->age_ns += part * item->age_ns;
        row->oldest_ns = fmax(row->oldest_ns, item->age_ns);
        row->collections += part * item->collections;
        row->when += item->when / (double)row->n_samples;
        row->n_middle += item->when >= 1.0 / 3 && item->when < 2.0 / 3;
        row->allocated_bytes = NAN;
        if (!is_range(by))
            continue;
        row->range_order = range_of(item, by);
        row->range = by == LIVE_OBJECTS_BY_AGE ? ages[row->range_order].words : survived[row->range_order].words;
    }
}

/* Bytes of the same kind that were tracked up to the last collection, freed or not. */
static void add_allocated(const struct live_making *making, enum live_objects_by by, const struct hash_set *numbers,
                          struct live_objects *found)
{
    const struct view_pass *pass = making->pass;
    for (size_t i = 0; !is_range(by) && i < pass->n_allocations; i++) {
        const struct trace_allocation *from = &pass->allocations[i];
        if (making->fates[i] == DROPPED || from->ticks >= making->tested || !is_wanted(pass, from))
            continue;
        const struct allocation_item item = item_of(making, from);
        const struct hash_slot *slot = hash_get(numbers, keys[by](&item));
        if (slot == NULL)
            continue;
        double *bytes = &found->rows.all[slot->value - 1].allocated_bytes;
        *bytes = (isnan(*bytes) ? 0 : *bytes) + item.bytes * making->scale;
    }
}

/* ---- sums and their intervals ---- */

/* Half the interval of a sum of weights that is a part of all bytes, which are known. */
static double error_of(const struct live_making *making, double bytes, double weights, double products)
{
    double part = making->all_bytes > 0 ? bytes / making->all_bytes : 0;
    double variance = weights - 2 * part * products + part * part * making->all_squares;
    return INTERVAL_95 * sqrt(variance > 0 ? variance : 0) * making->scale;
}

static void find_sums(const struct live_making *making, struct live_objects *found)
{
    double *of_row = arena_alloc(making->pass->arena, (found->rows.n + 1) * sizeof *of_row);
    double all = 0, squares = 0, products = 0;
    for (size_t i = 0; i < making->n_items; i++) {
        const struct allocation_item *item = &making->items[i];
        of_row[item->row] += item->weight * item->bytes;
        products += item->weight * item->bytes;
    }
    for (size_t i = 0; i < found->rows.n; i++) {
        struct allocation_row *row = &found->rows.all[i];
        all += row->bytes;
        squares += row->squares;
        row->bytes_error = error_of(making, row->bytes, row->squares, of_row[i]);
        row->bytes *= making->scale;
        row->objects *= making->scale * making->stands_for;
    }
    found->bytes = all * making->scale;
    found->bytes_error = error_of(making, all, squares, products);
    found->n_samples = making->n_items;
}

/* ---- the heap ---- */

/* Least and most of some uses after collections, without what may still die young: collectors let more of it live
 * while they have room. */
struct heap_range {
    double least, most;
};

static struct heap_range range_of_heap(const struct view_pass *pass, size_t from, size_t to)
{
    struct heap_range range = { INFINITY, 0 };
    for (size_t i = from; i < to; i++) {
        double bytes = (double)(pass->heap_uses[i].bytes - pass->heap_uses[i].young_bytes);
        range.least = fmin(range.least, bytes);
        range.most = fmax(range.most, bytes);
    }
    return range;
}

/* By the least use in each quarter of the collections: what a young one leaves, an old one may free. */
static void read_heap(const struct view_pass *pass, struct live_objects *found)
{
    size_t n = pass->n_heap_uses;
    struct heap_growth *growth = &found->growth;
    struct heap_range quarters[4];
    found->heap_bytes = n > 0 ? (double)pass->heap_uses[n - 1].bytes : NAN;
    *growth = (struct heap_growth){ .n_collections = n };
    if (n < 4)
        return;
    for (size_t i = 0; i < 4; i++)
        quarters[i] = range_of_heap(pass, i * n / 4, (i + 1) * n / 4);
    growth->first_bytes = (double)pass->heap_uses[0].bytes;
    growth->bytes = quarters[3].least - quarters[0].least;
    growth->least_bytes = quarters[3].least - quarters[0].most;
    growth->most_bytes = quarters[3].most - quarters[0].least;
    growth->is_steady = growth->bytes > 0;
    for (size_t i = 1; i < 4; i++)
        growth->is_steady =
            growth->is_steady && quarters[i].least - quarters[i - 1].least >= STEADY_PART * growth->bytes;
}

/* ---- all of it ---- */

static int refuse(const struct view_pass *pass, struct err *err)
{
    const char *why = info_text(pass->reader, INFO_ALLOCATIONS_FAILED);
    if (trace_damaged_chunks(pass->reader) > 0) {
        err_set(err, "'%s' is damaged: live objects are unknown", pass->options.path);
        return err_next(err, "run 'mmprof report --view allocations', or record it again");
    }
    err_set(err, "'%s' does not say which objects are live%s%s", pass->options.path, why == NULL ? "" : ": ",
            why == NULL ? "" : why);
    return err_next(err, "record it with 'mmprof profile -p PID', on JDK 11 or later");
}

static bool is_told(const struct view_pass *pass)
{
    bool is_checked = false;
    for (size_t i = 0; i < pass->n_heap_events; i++)
        is_checked = is_checked || pass->heap_events[i].kind == TRACE_HEAP_CHECKED;
    return is_checked && trace_damaged_chunks(pass->reader) == 0;
}

int live_objects_find(const struct view_pass *pass, enum live_objects_by by, struct live_objects *found,
                      struct err *err)
{
    struct live_making making = { .pass = pass };
    struct hash_set numbers = { NULL, 0, 0, false };
    memset(found, 0, sizeof *found);
    read_heap(pass, found);
    if (!is_told(pass))
        return refuse(pass, err);
    allocation_methods_know(pass, &making.methods);
    read_fates(&making, found);
    read_collections(&making);
    take_samples(&making, found);
    allocation_rows_make(pass, making.items, making.n_items, keys[by], &numbers, &found->rows);
    add_ages(&making, by, found);
    add_allocated(&making, by, &numbers, found);
    hash_free(&numbers);
    find_sums(&making, found);
    uint64_t start = pass->source.tree->start_ticks;
    found->seconds = making.tested > start ? report_ns(&pass->source, making.tested - start) / 1e9 : 0;
    found->n_collections = collections_since(&making, start);
    found->file = fmax(info_number(pass->reader, INFO_RECORDING_FILE), 1);
    if (found->rows.n > 1)
        qsort(found->rows.all, found->rows.n, sizeof *found->rows.all, allocation_rows_order);
    return 0;
}

int live_objects_by_name(const char *word, enum live_objects_by *by, struct err *err)
{
    static const char *const words[] = { "site", "class", "age", "collections", "method" };
    *by = LIVE_OBJECTS_BY_SITE;
    if (word[0] == '\0')
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            *by = (enum live_objects_by)i;
            return 0;
        }
    err_set(err, "there is no view 'live-objects=%s'", word);
    return err_next(err, "give --view live-objects=site, =method, =class, =age or =collections");
}
