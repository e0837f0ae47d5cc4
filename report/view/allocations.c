#include "report/view/allocations.h"

#include "core/base/hash.h"
#include "core/trace/recording_info.h"
#include "report/some_threads.h"
#include "report/view/allocation_sites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_95  1.96 /* standard deviations */
#define PAUSES_KINDS 4

/* One sample: methods by number in the trace, the first one of the same name. */
struct allocated_item {
    struct allocation_site site;
    uint32_t row, class_number;
    const char *class_name;
    double bytes, objects;
};

struct allocations_making {
    const struct view_pass *pass;
    struct arena *arena;
    struct allocation_methods methods;
    struct allocated_item *items;
    size_t n_items;
    double all_bytes, all_squares; /* of the samples of all threads */
    double *row_squares;           /* by row: sum of the squares of weights */
};

/* ---- samples ---- */

static int take_samples(struct allocations_making *making, struct err *err)
{
    const struct view_pass *pass = making->pass;
    making->items = arena_alloc(making->arena, (pass->n_allocations + 1) * sizeof *making->items);
    if (making->items == NULL)
        return err_set(err, "out of memory for %zu allocations", pass->n_allocations);
    for (size_t i = 0; i < pass->n_allocations; i++) {
        const struct trace_allocation *from = &pass->allocations[i];
        const struct trace_thread *thread = trace_thread(pass->reader, from->thread);
        double objects = trace_allocation_objects(from), bytes = objects * (double)from->size_bytes;
        making->all_bytes += bytes;
        making->all_squares += bytes * bytes;
        if (pass->options.only_threads != NULL &&
            (thread == NULL || !threads_match(thread, pass->options.only_threads)))
            continue;
        struct allocated_item *item = &making->items[making->n_items++];
        item->objects = objects;
        item->bytes = bytes;
        item->class_number = from->class_number;
        item->class_name = from->class_name;
        item->site = allocation_site_of(&making->methods, pass->reader, from->context);
    }
    return 0;
}

/* ---- rows ---- */

static uint64_t key_of(const struct allocated_item *item, enum allocations_by by)
{
    if (by == ALLOCATIONS_BY_METHOD)
        return hash_address((uint64_t)item->site.method + 1);
    if (by == ALLOCATIONS_BY_CLASS)
        return hash_address((uint64_t)item->class_number + 1);
    return hash_address(hash_address((uint64_t)item->site.method << 32 | item->site.allocator) + item->class_number);
}

static int make_rows(struct allocations_making *making, enum allocations_by by, struct allocations *found)
{
    struct hash_set rows = { NULL, 0, 0, false };
    found->rows = arena_alloc(making->arena, (making->n_items + 1) * sizeof *found->rows);
    making->row_squares = arena_alloc(making->arena, (making->n_items + 1) * sizeof *making->row_squares);
    bool is_whole = found->rows != NULL && making->row_squares != NULL;
    for (size_t i = 0; is_whole && i < making->n_items; i++) {
        struct allocated_item *item = &making->items[i];
        struct hash_slot *slot = hash_put(&rows, key_of(item, by));
        if (slot == NULL) {
            is_whole = false;
            break;
        }
        if (slot->value == 0)
            slot->value = (uint32_t)++found->n_rows;
        item->row = slot->value - 1;
        struct allocations_row *row = &found->rows[item->row];
        row->bytes += item->bytes;
        row->objects += item->objects;
        row->n_samples++;
        making->row_squares[item->row] += item->bytes * item->bytes;
    }
    hash_free(&rows);
    return is_whole ? 0 : -1;
}

/* ---- what most of a row is ---- */

static int order(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int by_class(const void *a, const void *b)
{
    const struct allocated_item *x = a, *y = b;
    return x->row != y->row ? order(x->row, y->row) : order(x->class_number, y->class_number);
}

static int by_method(const void *a, const void *b)
{
    const struct allocated_item *x = a, *y = b;
    return x->row != y->row ? order(x->row, y->row) : order(x->site.method, y->site.method);
}

static int by_allocator(const void *a, const void *b)
{
    const struct allocated_item *x = a, *y = b;
    return x->row != y->row ? order(x->row, y->row) : order(x->site.allocator, y->site.allocator);
}

static int by_phase(const void *a, const void *b)
{
    const struct allocated_item *x = a, *y = b;
    return x->row != y->row ? order(x->row, y->row) : order(x->site.phase, y->site.phase);
}

typedef int order_fn(const void *a, const void *b);
typedef void most_fn(const struct allocations_making *making, const struct allocated_item *item,
                     struct allocations_row *row);

static void set_class(const struct allocations_making *making, const struct allocated_item *item,
                      struct allocations_row *row)
{
    (void)making;
    row->class_name = item->class_name;
}

static void set_method(const struct allocations_making *making, const struct allocated_item *item,
                       struct allocations_row *row)
{
    row->method = allocation_method_name(making->pass->reader, item->site.method);
}

/* After set_method. */
static void set_allocator(const struct allocations_making *making, const struct allocated_item *item,
                          struct allocations_row *row)
{
    struct method_name name = allocation_method_name(making->pass->reader, item->site.allocator);
    bool is_self = name.method == NULL || (row->method.method != NULL && method_name_equals(&name, &row->method));
    row->allocator =
        allocation_method_name(making->pass->reader, is_self ? ALLOCATION_NO_METHOD : item->site.allocator);
}

static void set_phase(const struct allocations_making *making, const struct allocated_item *item,
                      struct allocations_row *row)
{
    row->phase = allocation_method_name(making->pass->reader, item->site.phase);
}

/* Tell of each row the items of one kind that have most of its bytes. */
static void find_most(struct allocations_making *making, order_fn *compare, most_fn *set, struct allocations *found)
{
    struct allocated_item *items = making->items;
    double most = -1;
    qsort(items, making->n_items, sizeof *items, compare);
    for (size_t i = 0, end; i < making->n_items; i = end) {
        double bytes = 0;
        if (i == 0 || items[i].row != items[i - 1].row)
            most = -1;
        for (end = i; end < making->n_items && compare(&items[end], &items[i]) == 0; end++)
            bytes += items[end].bytes;
        if (bytes > most) {
            most = bytes;
            set(making, &items[i], &found->rows[items[i].row]);
        }
    }
}

/* ---- sums ---- */

/* A share's variance: its own samples vary it, and all others that it is a share of. */
static void find_shares(const struct allocations_making *making, struct allocations *found)
{
    double bytes = 0, squares = 0;
    for (size_t i = 0; i < found->n_rows; i++) {
        bytes += found->rows[i].bytes;
        squares += making->row_squares[i];
    }
    for (size_t i = 0; bytes > 0 && i < found->n_rows; i++) {
        struct allocations_row *row = &found->rows[i];
        row->share = row->bytes / bytes;
        double part = making->row_squares[i] * (1 - 2 * row->share) + row->share * row->share * squares;
        row->error = INTERVAL_95 * sqrt(part > 0 ? part : 0) / bytes;
    }
}

/* Rows as parts of what the JVM counted, of which the samples of all threads are a sample. */
static void find_bytes(const struct allocations_making *making, struct allocations *found)
{
    double scale = found->jvm_bytes > 0 && making->all_bytes > 0 ? found->jvm_bytes / making->all_bytes : 1;
    found->n_samples = making->n_items;
    found->sampled_bytes = making->all_bytes;
    found->error = INTERVAL_95 * sqrt(making->all_squares);
    for (size_t i = 0; i < found->n_rows; i++) {
        struct allocations_row *row = &found->rows[i];
        row->bytes *= scale;
        row->objects *= scale;
        row->bytes_per_s = found->seconds > 0 ? row->bytes / found->seconds : 0;
        found->bytes += row->bytes;
        found->objects += row->objects;
    }
}

static int by_bytes(const void *a, const void *b)
{
    const struct allocations_row *x = a, *y = b;
    return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

static void read_facts(const struct view_pass *pass, struct allocations *found)
{
    double ns = info_number(pass->reader, INFO_ALLOCATIONS_NS), lost = info_number(pass->reader, INFO_ALLOCATIONS_LOST);
    double jvm = info_number(pass->reader, INFO_ALLOCATIONS_JVM_BYTES);
    found->seconds = (ns > 0 ? ns : report_ns(&pass->source, pass->tree.end_ticks - pass->tree.start_ticks)) / 1e9;
    found->n_lost = lost > 0 ? (uint64_t)lost : 0;
    found->jvm_bytes = jvm > 0 ? jvm : NAN;
    found->n_pauses = found->pauses_ns = NAN;
    for (uint32_t i = 0; i < PAUSES_KINDS; i++) {
        struct info_collector told;
        if (info_read(pass->reader, INFO_PAUSES_GC, i, pass->arena, &told) < 3)
            continue;
        found->n_pauses = (isnan(found->n_pauses) ? 0 : found->n_pauses) + (double)told.n;
        found->pauses_ns = (isnan(found->pauses_ns) ? 0 : found->pauses_ns) + (double)told.ns;
    }
}

static int refuse(const struct view_pass *pass, struct err *err)
{
    const char *why = info_text(pass->reader, INFO_ALLOCATIONS_FAILED);
    err_set(err, "'%s' has no allocations%s%s", pass->options.path, why == NULL ? "" : ": ", why == NULL ? "" : why);
    if (why != NULL)
        return err_next(err, "detach the other agent, or restart the JVM (11 or later), and record it again");
    return err_next(err, "record some with 'mmprof profile -p PID', without --no-allocations");
}

int allocations_find(const struct view_pass *pass, enum allocations_by by, struct allocations *found, struct err *err)
{
    struct allocations_making making = { .pass = pass, .arena = pass->arena };
    memset(found, 0, sizeof *found);
    if (pass->n_allocations == 0 && info_number(pass->reader, INFO_ALLOCATIONS_NS) < 0)
        return refuse(pass, err);
    read_facts(pass, found);
    if (allocation_methods_know(pass, &making.methods, err) < 0 || take_samples(&making, err) < 0)
        return -1;
    if (make_rows(&making, by, found) < 0)
        return err_set(err, "out of memory for %zu allocations", pass->n_allocations);
    find_most(&making, by_class, set_class, found);
    find_most(&making, by_method, set_method, found);
    find_most(&making, by_allocator, set_allocator, found);
    find_most(&making, by_phase, set_phase, found);
    find_shares(&making, found);
    find_bytes(&making, found);
    qsort(found->rows, found->n_rows, sizeof *found->rows, by_bytes);
    return 0;
}

int allocations_by_name(const char *word, enum allocations_by *by, struct err *err)
{
    static const char *const words[] = { "method", "class", "site" };
    *by = ALLOCATIONS_BY_METHOD;
    if (word[0] == '\0')
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            *by = (enum allocations_by)i;
            return 0;
        }
    err_set(err, "there is no view 'allocations=%s'", word);
    return err_next(err, "give --view allocations=method, =class or =site");
}
