#include "report/view/live_objects.h"

#include "core/base/hash.h"
#include "core/trace/recording_info.h"
#include "report/some_threads.h"
#include "report/view/allocation_sites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_95 1.96 /* standard deviations */
#define SHIFT_MAX   62u

/* A collection, and those before it that have no row of their own. */
struct live_collection {
    uint64_t ticks; /* its start */
    uint32_t n;
};

enum fate { LIVES, FREED, DROPPED };

/* One sampled object. */
struct live_item {
    struct allocation_site site;
    uint32_t row, class_number, collections;
    const char *class_name;
    double bytes, objects; /* that it stands for, of all samples */
    double weight;         /* bytes, of the tracked ones */
    double age_ns, when;   /* when: 0 at the beginning, 1 at the last collection */
};

struct live_making {
    const struct view_pass *pass;
    struct arena *arena;
    struct allocation_methods methods;
    uint8_t *fates;                      /* by allocation: enum fate */
    struct live_collection *collections; /* in order */
    size_t n_collections;
    uint64_t checked, tested; /* ticks: the last check, and the start of the last collection before it; 0: none */
    double stands_for;        /* so many samples does a tracked one stand for */
    struct live_item *items;  /* live ones, but for the young */
    size_t n_items;
    double all_bytes, all_squares; /* of all samples of all threads */
    double scale;                  /* bytes that the JVM counted for one of these */
};

/* ---- what became of them ---- */

static int read_fates(struct live_making *making, struct live_objects *found, struct err *err)
{
    const struct view_pass *pass = making->pass;
    making->stands_for = 1;
    making->fates = arena_alloc(making->arena, pass->n_allocations + 1);
    if (making->fates == NULL)
        return err_set(err, "out of memory for %zu allocations", pass->n_allocations);
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
    return 0;
}

static bool is_concurrent(const struct trace_collection *collection)
{
    return strstr(collection->name, "concurrent") != NULL;
}

/* The pauses of a collector that works beside the program are no collections, where there are others. */
static int read_collections(struct live_making *making, struct err *err)
{
    const struct view_pass *pass = making->pass;
    size_t n = trace_n_collections(pass->reader);
    bool has_others = false;
    double ns_per_tick = trace_ns_per_tick(pass->reader);
    making->collections = arena_alloc(making->arena, (n + 1) * sizeof *making->collections);
    if (making->collections == NULL)
        return err_set(err, "out of memory for %zu collections", n);
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
    return 0;
}

static uint32_t collections_since(const struct live_making *making, uint64_t ticks)
{
    uint64_t n = 0;
    for (size_t i = making->n_collections; i-- > 0 && making->collections[i].ticks > ticks;)
        n += making->collections[i].n;
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* ---- samples ---- */

static void set_item(const struct live_making *making, const struct trace_allocation *from, struct live_item *item)
{
    const struct report_source *source = &making->pass->source;
    uint64_t start = source->tree->start_ticks, end = making->checked;
    item->objects = trace_allocation_objects(from);
    item->bytes = item->objects * (double)from->size_bytes;
    item->weight = item->bytes * making->stands_for;
    item->class_number = from->class_number;
    item->class_name = from->class_name;
    item->site = allocation_site_of(&making->methods, making->pass->reader, from->context);
    item->collections = collections_since(making, from->ticks);
    item->age_ns = end > from->ticks ? report_ns(source, end - from->ticks) : 0;
    item->when = from->ticks > start && making->tested > start
                     ? (double)(from->ticks - start) / (double)(making->tested - start)
                     : 0;
}

static bool is_wanted(const struct view_pass *pass, const struct trace_allocation *allocation)
{
    const struct trace_thread *thread = trace_thread(pass->reader, allocation->thread);
    return pass->options.only_threads == NULL || (thread != NULL && threads_match(thread, pass->options.only_threads));
}

static int take_samples(struct live_making *making, struct live_objects *found, struct err *err)
{
    const struct view_pass *pass = making->pass;
    making->items = arena_alloc(making->arena, (pass->n_allocations + 1) * sizeof *making->items);
    if (making->items == NULL)
        return err_set(err, "out of memory for %zu allocations", pass->n_allocations);
    for (size_t i = 0; i < pass->n_allocations; i++) {
        const struct trace_allocation *from = &pass->allocations[i];
        double bytes = trace_allocation_objects(from) * (double)from->size_bytes;
        making->all_bytes += bytes;
        making->all_squares += bytes * bytes;
        if (making->fates[i] != LIVES || !is_wanted(pass, from))
            continue;
        if (from->ticks >= making->tested)
            found->young_bytes += bytes * making->stands_for;
        else
            set_item(making, from, &making->items[making->n_items++]);
    }
    double jvm = info_number(pass->reader, INFO_ALLOCATIONS_JVM_BYTES);
    making->scale = jvm > 0 && making->all_bytes > 0 ? jvm / making->all_bytes : 1;
    found->young_bytes *= making->scale;
    return 0;
}

/* ---- rows ---- */

static const struct {
    double below; /* s, or collections */
    const char *words;
} ages[] = { { 1, "up to 1 s" },     { 10, "1 to 10 s" },       { 60, "10 s to 1 min" },
             { 600, "1 to 10 min" }, { 3600, "10 min to 1 h" }, { INFINITY, "more than 1 h" } },
  survived[] = { { 2, "1" },        { 4, "2 to 3" },    { 8, "4 to 7" },
                 { 16, "8 to 15" }, { 32, "16 to 31" }, { INFINITY, "32 or more" } };

static uint32_t range_of(const struct live_item *item, enum live_objects_by by)
{
    uint32_t i = 0;
    double value = by == LIVE_OBJECTS_BY_AGE ? item->age_ns / 1e9 : item->collections;
    while (value >= (by == LIVE_OBJECTS_BY_AGE ? ages[i].below : survived[i].below))
        i++;
    return i;
}

static uint64_t key_of(const struct live_item *item, enum live_objects_by by)
{
    if (by == LIVE_OBJECTS_BY_AGE || by == LIVE_OBJECTS_BY_COLLECTIONS)
        return hash_address((uint64_t)range_of(item, by) + 1);
    if (by == LIVE_OBJECTS_BY_CLASS)
        return hash_address((uint64_t)item->class_number + 1);
    return hash_address(hash_address((uint64_t)item->site.method << 32 | item->site.allocator) + item->class_number);
}

/* Sums; finish_row() makes means of them. */
static void add_to_row(struct live_item *item, enum live_objects_by by, struct live_objects_row *row)
{
    row->bytes += item->weight;
    row->objects += item->objects;
    row->n_samples++;
    row->age_ns += item->weight * item->age_ns;
    row->oldest_ns = fmax(row->oldest_ns, item->age_ns);
    row->collections += item->weight * item->collections;
    row->when += item->weight * item->when;
    row->middle += item->when >= 1.0 / 3 && item->when < 2.0 / 3 ? item->weight : 0;
    row->allocated_bytes = NAN;
    if (by == LIVE_OBJECTS_BY_AGE || by == LIVE_OBJECTS_BY_COLLECTIONS) {
        row->range_order = range_of(item, by);
        row->range = by == LIVE_OBJECTS_BY_AGE ? ages[row->range_order].words : survived[row->range_order].words;
    }
}

static int make_rows(struct live_making *making, enum live_objects_by by, struct hash_set *rows,
                     struct live_objects *found)
{
    found->rows = arena_alloc(making->arena, (making->n_items + 1) * sizeof *found->rows);
    if (found->rows == NULL)
        return -1;
    for (size_t i = 0; i < making->n_items; i++) {
        struct live_item *item = &making->items[i];
        struct hash_slot *slot = hash_put(rows, key_of(item, by));
        if (slot == NULL)
            return -1;
        if (slot->value == 0)
            slot->value = (uint32_t)++found->n_rows;
        item->row = slot->value - 1;
        add_to_row(item, by, &found->rows[item->row]);
    }
    return 0;
}

/* Bytes of the same kind that were tracked up to the last collection, freed or not. */
static void add_allocated(const struct live_making *making, enum live_objects_by by, struct hash_set *rows,
                          struct live_objects *found)
{
    const struct view_pass *pass = making->pass;
    for (size_t i = 0; (by == LIVE_OBJECTS_BY_SITE || by == LIVE_OBJECTS_BY_CLASS) && i < pass->n_allocations; i++) {
        const struct trace_allocation *from = &pass->allocations[i];
        struct live_item item;
        if (making->fates[i] == DROPPED || from->ticks >= making->tested || !is_wanted(pass, from))
            continue;
        set_item(making, from, &item);
        const struct hash_slot *slot = hash_get(rows, key_of(&item, by));
        if (slot == NULL)
            continue;
        double *bytes = &found->rows[slot->value - 1].allocated_bytes;
        *bytes = (isnan(*bytes) ? 0 : *bytes) + item.bytes * making->scale;
    }
}

/* ---- what most of a row is ---- */

typedef int order_fn(const void *a, const void *b);

static int order(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int by_class(const void *a, const void *b)
{
    const struct live_item *x = a, *y = b;
    return x->row != y->row ? order(x->row, y->row) : order(x->class_number, y->class_number);
}

static int by_method(const void *a, const void *b)
{
    const struct live_item *x = a, *y = b;
    int of_method = order(x->site.method, y->site.method);
    return x->row != y->row ? order(x->row, y->row)
           : of_method != 0 ? of_method
                            : order(x->site.allocator, y->site.allocator);
}

static void set_class(const struct live_making *making, const struct live_item *item, struct live_objects_row *row)
{
    (void)making;
    row->class_name = item->class_name;
}

static void set_method(const struct live_making *making, const struct live_item *item, struct live_objects_row *row)
{
    const struct trace_reader *reader = making->pass->reader;
    bool is_self = item->site.allocator == item->site.method;
    row->method = allocation_method_name(reader, item->site.method);
    row->allocator = allocation_method_name(reader, is_self ? ALLOCATION_NO_METHOD : item->site.allocator);
}

static void find_most(struct live_making *making, order_fn *compare,
                      void (*set)(const struct live_making *, const struct live_item *, struct live_objects_row *),
                      struct live_objects *found)
{
    struct live_item *items = making->items;
    double most = -1;
    qsort(items, making->n_items, sizeof *items, compare);
    for (size_t i = 0, end; i < making->n_items; i = end) {
        double bytes = 0;
        if (i == 0 || items[i].row != items[i - 1].row)
            most = -1;
        for (end = i; end < making->n_items && compare(&items[end], &items[i]) == 0; end++)
            bytes += items[end].weight;
        if (bytes > most) {
            most = bytes;
            set(making, &items[i], &found->rows[items[i].row]);
        }
    }
}

/* ---- sums and their intervals ---- */

/* Sums of a row's samples. */
struct live_squares {
    double weights, products, when, middle;
};

/* Half the interval of a sum of weights that is a part of all bytes, which are known. */
static double error_of(const struct live_making *making, double bytes, double weights, double products)
{
    double part = making->all_bytes > 0 ? bytes / making->all_bytes : 0;
    double variance = weights - 2 * part * products + part * part * making->all_squares;
    return INTERVAL_95 * sqrt(variance > 0 ? variance : 0) * making->scale;
}

static void add_squares(const struct live_item *item, const struct live_objects_row *row, struct live_squares *sums)
{
    double weight = item->weight, off = item->when - row->when;
    double middle = (item->when >= 1.0 / 3 && item->when < 2.0 / 3 ? 1 : 0) - row->middle;
    sums->weights += weight * weight;
    sums->products += weight * item->bytes;
    sums->when += weight * weight * off * off;
    sums->middle += weight * weight * middle * middle;
}

static void finish_row(const struct live_making *making, const struct live_squares *own, double all, double squares,
                       struct live_objects_row *row)
{
    double bytes = row->bytes;
    row->share = all > 0 ? bytes / all : 0;
    double part = own->weights * (1 - 2 * row->share) + row->share * row->share * squares;
    row->share_error = all > 0 ? INTERVAL_95 * sqrt(part > 0 ? part : 0) / all : 0;
    row->bytes_error = error_of(making, bytes, own->weights, own->products);
    row->when_error = INTERVAL_95 * sqrt(own->when) / bytes;
    row->middle_error = INTERVAL_95 * sqrt(own->middle) / bytes;
    row->bytes *= making->scale;
    row->objects *= making->scale * making->stands_for;
}

static int find_sums(const struct live_making *making, struct live_objects *found)
{
    struct live_squares *rows = arena_alloc(making->arena, (found->n_rows + 1) * sizeof *rows);
    double all = 0, weights = 0, products = 0;
    if (rows == NULL)
        return -1;
    for (size_t i = 0; i < found->n_rows; i++) {
        struct live_objects_row *row = &found->rows[i];
        all += row->bytes;
        row->age_ns /= row->bytes;
        row->collections /= row->bytes;
        row->when /= row->bytes;
        row->middle /= row->bytes;
    }
    for (size_t i = 0; i < making->n_items; i++) {
        const struct live_item *item = &making->items[i];
        add_squares(item, &found->rows[item->row], &rows[item->row]);
        weights += item->weight * item->weight;
        products += item->weight * item->bytes;
    }
    found->bytes = all * making->scale;
    found->bytes_error = error_of(making, all, weights, products);
    found->n_samples = making->n_items;
    for (size_t i = 0; i < found->n_rows; i++) {
        finish_row(making, &rows[i], all, weights, &found->rows[i]);
        found->objects += found->rows[i].objects;
    }
    return 0;
}

/* ---- the heap ---- */

/* Its least use after a collection, in the first and the last third of them: what a young one leaves, an old one may
 * free. */
static void read_heap(const struct view_pass *pass, struct live_objects *found)
{
    size_t n = pass->n_heap_uses, third = (n + 2) / 3;
    double first = INFINITY, last = INFINITY;
    found->heap_bytes = n > 0 ? (double)pass->heap_uses[n - 1].bytes : NAN;
    found->heap_rise_bytes = NAN;
    if (n < 3)
        return;
    for (size_t i = 0; i < third; i++) {
        first = fmin(first, (double)pass->heap_uses[i].bytes);
        last = fmin(last, (double)pass->heap_uses[n - 1 - i].bytes);
    }
    found->heap_rise_bytes = last - first;
}

/* ---- all of it ---- */

static int by_bytes(const void *a, const void *b)
{
    const struct live_objects_row *x = a, *y = b;
    if (x->range != NULL)
        return order(x->range_order, y->range_order);
    return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

static int refuse(const struct view_pass *pass, struct err *err)
{
    const char *why = info_text(pass->reader, INFO_ALLOCATIONS_FAILED);
    if (trace_damaged_chunks(pass->reader) > 0) {
        err_set(err, "'%s' is damaged: which objects live is not known", pass->options.path);
        return err_next(err, "run 'mmprof report --view allocations', or record it again");
    }
    err_set(err, "'%s' does not tell which objects live%s%s", pass->options.path, why == NULL ? "" : ": ",
            why == NULL ? "" : why);
    return err_next(err, "record it with 'mmprof profile --live-objects -p PID'");
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
    struct live_making making = { .pass = pass, .arena = pass->arena };
    struct hash_set rows = { NULL, 0, 0, false };
    memset(found, 0, sizeof *found);
    if (!is_told(pass))
        return refuse(pass, err);
    if (allocation_methods_know(pass, &making.methods, err) < 0 || read_fates(&making, found, err) < 0 ||
        read_collections(&making, err) < 0 || take_samples(&making, found, err) < 0)
        return -1;
    bool is_whole = make_rows(&making, by, &rows, found) == 0;
    if (is_whole)
        add_allocated(&making, by, &rows, found);
    hash_free(&rows);
    if (!is_whole || find_sums(&making, found) < 0)
        return err_set(err, "out of memory for %zu objects", making.n_items);
    find_most(&making, by_class, set_class, found);
    find_most(&making, by_method, set_method, found);
    uint64_t start = pass->source.tree->start_ticks;
    found->seconds = making.tested > start ? report_ns(&pass->source, making.tested - start) / 1e9 : 0;
    found->n_collections = collections_since(&making, start);
    read_heap(pass, found);
    if (found->n_rows > 1)
        qsort(found->rows, found->n_rows, sizeof *found->rows, by_bytes);
    return 0;
}

int live_objects_by_name(const char *word, enum live_objects_by *by, struct err *err)
{
    static const char *const words[] = { "site", "class", "age", "collections" };
    *by = LIVE_OBJECTS_BY_SITE;
    if (word[0] == '\0')
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            *by = (enum live_objects_by)i;
            return 0;
        }
    err_set(err, "there is no view 'live-objects=%s'", word);
    return err_next(err, "give --view live-objects=site, =class, =age or =collections");
}
