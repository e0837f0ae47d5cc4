#include "report/view/allocation_rows.h"

#include "core/base/xalloc.h"

#define INTERVAL_95 1.96 /* standard deviations */
#define NO_JAVA     "stack not known"

/* ---- keys ---- */

uint64_t allocation_key_of_method(const struct allocation_item *item)
{
    return hash_address((uint64_t)item->site.method + 1);
}

uint64_t allocation_key_of_class(const struct allocation_item *item)
{
    return hash_address((uint64_t)item->class_number + 1);
}

uint64_t allocation_key_of_site(const struct allocation_item *item)
{
    return hash_address(hash_address((uint64_t)item->site.method << 32 | item->site.allocator) + item->class_number);
}

/* ---- what most of a row is ---- */

typedef int order_fn(const void *a, const void *b);
typedef void most_fn(const struct trace_reader *reader, const struct allocation_item *item, struct allocation_row *row);

static int order(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int by_class(const void *a, const void *b)
{
    const struct allocation_item *x = a, *y = b;
    return x->row != y->row ? order(x->row, y->row) : order(x->class_number, y->class_number);
}

static int by_method(const void *a, const void *b)
{
    const struct allocation_item *x = a, *y = b;
    int of_method = order(x->site.method, y->site.method);
    return x->row != y->row ? order(x->row, y->row)
           : of_method != 0 ? of_method
                            : order(x->site.allocator, y->site.allocator);
}

static int by_phase(const void *a, const void *b)
{
    const struct allocation_item *x = a, *y = b;
    return x->row != y->row ? order(x->row, y->row) : order(x->site.phase, y->site.phase);
}

static void set_class(const struct trace_reader *reader, const struct allocation_item *item, struct allocation_row *row)
{
    (void)reader;
    row->class_name = item->class_name;
}

static void set_method(const struct trace_reader *reader, const struct allocation_item *item,
                       struct allocation_row *row)
{
    bool is_self = item->site.allocator == item->site.method;
    row->method = allocation_method_name(reader, item->site.method);
    row->allocator = allocation_method_name(reader, is_self ? ALLOCATION_NO_METHOD : item->site.allocator);
}

static void set_phase(const struct trace_reader *reader, const struct allocation_item *item, struct allocation_row *row)
{
    row->phase = allocation_method_name(reader, item->site.phase);
}

/* Tell of each row the items of one kind that have most of its bytes. */
static void find_most(const struct trace_reader *reader, struct allocation_item *items, size_t n, order_fn *compare,
                      most_fn *set, struct allocation_rows *rows)
{
    double most = -1;
    if (n > 1)
        qsort(items, n, sizeof *items, compare);
    for (size_t i = 0, end; i < n; i = end) {
        double bytes = 0;
        if (i == 0 || items[i].row != items[i - 1].row)
            most = -1;
        for (end = i; end < n && compare(&items[end], &items[i]) == 0; end++)
            bytes += items[end].weight;
        if (bytes > most) {
            most = bytes;
            set(reader, &items[i], &rows->all[items[i].row]);
        }
    }
}

/* ---- rows ---- */

/* A share's variance: its own samples vary it, and all others that it is a share of. */
static void find_shares(struct allocation_rows *rows)
{
    double bytes = 0, squares = 0;
    for (size_t i = 0; i < rows->n; i++) {
        bytes += rows->all[i].bytes;
        squares += rows->all[i].squares;
    }
    for (size_t i = 0; bytes > 0 && i < rows->n; i++) {
        struct allocation_row *row = &rows->all[i];
        row->share = row->bytes / bytes;
        double part = row->squares * (1 - 2 * row->share) + row->share * row->share * squares;
        row->share_error = INTERVAL_95 * sqrt(part > 0 ? part : 0) / bytes;
    }
}

void allocation_rows_make(const struct view_pass *pass, struct allocation_item *items, size_t n,
                          uint64_t (*key_of)(const struct allocation_item *item), struct hash_set *numbers,
                          struct allocation_rows *rows)
{
    *rows = (struct allocation_rows){ arena_alloc(pass->arena, (n + 1) * sizeof *rows->all), 0 };
    for (size_t i = 0; i < n; i++) {
        struct allocation_item *item = &items[i];
        struct hash_slot *slot = xhash_put(numbers, key_of(item));
        if (slot->value == 0)
            slot->value = (uint32_t)++rows->n;
        item->row = slot->value - 1;
        struct allocation_row *row = &rows->all[item->row];
        row->bytes += item->weight;
        row->objects += item->objects;
        row->squares += item->weight * item->weight;
        row->n_samples++;
    }
    find_shares(rows);
    find_most(pass->reader, items, n, by_class, set_class, rows);
    find_most(pass->reader, items, n, by_method, set_method, rows);
    find_most(pass->reader, items, n, by_phase, set_phase, rows);
}

int allocation_rows_order(const void *a, const void *b)
{
    const struct allocation_row *x = a, *y = b;
    if (x->range != NULL)
        return order(x->range_order, y->range_order);
    return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

/* ---- tables of them ---- */

size_t allocation_rows_printed(const struct allocation_rows *rows, const struct report_row_options *options)
{
    size_t n = 0;
    while (n < rows->n && (options->top == 0 || n < options->top) &&
           (options->all || rows->all[n].range != NULL || rows->all[n].share >= options->min_share))
        n++;
    return n;
}

struct allocation_row allocation_rows_sum(const struct allocation_rows *rows, size_t first, double all_bytes,
                                          const struct table *table)
{
    struct allocation_row sum = { .bytes = 0 };
    for (size_t i = first; i < rows->n; i++)
        table_add_up(table, &rows->all[i], &sum);
    sum.share = sum.bytes / all_bytes;
    return sum;
}

static struct table_cell name_cell(const struct method_name *name, const char *none, struct arena *arena)
{
    const char *words = name->method == NULL ? none : java_names_display(arena, name, JAVA_NAMES_SHORT);
    return words == NULL || words[0] == '\0' ? table_unmeasured() : table_words(words);
}

struct table_cell allocation_cell_method(const void *row, struct arena *arena)
{
    return name_cell(&((const struct allocation_row *)row)->method, NO_JAVA, arena);
}

struct table_cell allocation_cell_allocator(const void *row, struct arena *arena)
{
    return name_cell(&((const struct allocation_row *)row)->allocator, "", arena);
}

struct table_cell allocation_cell_phase(const void *row, struct arena *arena)
{
    return name_cell(&((const struct allocation_row *)row)->phase, "", arena);
}

struct table_cell allocation_cell_class(const void *row, struct arena *arena)
{
    const char *name = ((const struct allocation_row *)row)->class_name;
    const char *words = name == NULL ? NULL : java_names_class(arena, name);
    return words == NULL || words[0] == '\0' ? table_unmeasured() : table_words(words);
}

struct table_cell allocation_cell_objects(const void *row, struct arena *arena)
{
    (void)arena;
    return table_number(round(((const struct allocation_row *)row)->objects));
}
