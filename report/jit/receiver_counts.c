#include "report/jit/call_counts.h"

#include "core/base/text.h"
#include "core/base/vec.h"
#include "symbolize/java_names.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINE "mmprof-receivers 1"
#define WORDS      12 /* of a line */
#define FEW        3  /* calls of a sample, in a context */

struct receiver_record {
    uint32_t site, contexts[RECEIVER_LEVELS - 1], type;
    uint64_t n;
};

void receiver_counts_init(struct receiver_counts *counts, struct arena *arena, uint32_t interval)
{
    *counts = (struct receiver_counts){
        .arena = arena, .by_site = { .arena = arena }, .by_type = { .arena = arena }, .interval = interval
    };
}

void receiver_counts_free(struct receiver_counts *counts)
{
    map_free(&counts->by_site);
    map_free(&counts->by_type);
    free(counts->sites);
    free(counts->records);
}

/* ---- reading ---- */

static const char *keep(struct receiver_counts *counts, const char *text)
{
    return text_utf8(counts->arena, text, strlen(text));
}

/* Returns its index, or UINT32_MAX: no memory. */
static uint32_t site_of(struct receiver_counts *counts, char **words, int32_t index, uint32_t line)
{
    char *key =
        arena_printf(counts->arena, "%s %s %s %s %s %" PRId32, words[2], words[3], words[4], words[5], words[6], index);
    uint32_t *known = key == NULL ? NULL : map_get(&counts->by_site, key, strlen(key));
    if (known != NULL)
        return *known;
    if (key == NULL || vec_reserve(counts->sites, counts->sites_room, counts->n_sites + 1) < 0)
        return UINT32_MAX;
    struct receiver_site *site = &counts->sites[counts->n_sites];
    *site =
        (struct receiver_site){ .method = { keep(counts, words[4]), keep(counts, words[5]), keep(counts, words[6]) },
                                .called = { NULL, keep(counts, words[2]), keep(counts, words[3]) },
                                .index = index,
                                .line = line };
    if (site->method.class_name == NULL || site->method.method == NULL || site->method.descriptor == NULL ||
        site->called.method == NULL || site->called.descriptor == NULL ||
        map_put(&counts->by_site, key, strlen(key), counts->n_sites) < 0)
        return UINT32_MAX;
    return counts->n_sites++;
}

static uint32_t type_of(struct receiver_counts *counts, const char *name)
{
    uint32_t *known = map_get(&counts->by_type, name, strlen(name));
    if (known != NULL)
        return *known;
    return map_put(&counts->by_type, name, strlen(name), counts->n_types) < 0 ? UINT32_MAX : counts->n_types++;
}

static enum counted_line add_record(struct receiver_counts *counts, char **words)
{
    struct receiver_record record;
    uint64_t line, context;
    int32_t index;
    if (!counted_text_number(words[0], &record.n) || !counted_text_index(words[7], &index) ||
        !counted_text_number(words[8], &line) || line > UINT32_MAX)
        return COUNTED_DAMAGED;
    for (size_t i = 0; i < RECEIVER_LEVELS - 1; i++) {
        if (!counted_text_number(words[9 + i], &context) || context > UINT32_MAX)
            return COUNTED_DAMAGED;
        record.contexts[i] = (uint32_t)context;
    }
    for (size_t i = 1; i < 7; i++)
        if (!counted_text_word(words[i]))
            return COUNTED_DAMAGED;
    counted_text_cut_hidden(words[4]);
    record.site = site_of(counts, words, index, (uint32_t)line);
    record.type = type_of(counts, words[1]); /* each lambda has a class of its own */
    if (record.site == UINT32_MAX || record.type == UINT32_MAX ||
        vec_reserve(counts->records, counts->records_room, counts->n_records + 1) < 0)
        return COUNTED_NO_MEMORY;
    counts->records[counts->n_records++] = record;
    return COUNTED_TAKEN;
}

static enum counted_line read_line(void *context, char **words, size_t n_words, bool is_end)
{
    struct receiver_counts *counts = context;
    if (!is_end)
        return n_words == WORDS ? add_record(counts, words) : COUNTED_DAMAGED;
    return n_words == 3 && counted_text_number(words[1], &counts->n_seen) &&
                   counted_text_number(words[2], &counts->n_taken)
               ? COUNTED_TAKEN
               : COUNTED_DAMAGED;
}

int receiver_counts_read(struct receiver_counts *counts, char *text, size_t n, const char *name, struct err *err)
{
    return counted_text_read(text, n, FIRST_LINE, name, read_line, counts, err);
}

/* ---- contexts ---- */

static int by_context(const void *a, const void *b)
{
    const struct receiver_record *x = a, *y = b;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    for (size_t i = 0; i < RECEIVER_LEVELS - 1; i++)
        if (x->contexts[i] != y->contexts[i])
            return x->contexts[i] < y->contexts[i] ? -1 : 1;
    return x->type < y->type ? -1 : x->type > y->type;
}

static bool is_same_context(const struct receiver_record *a, const struct receiver_record *b, size_t level)
{
    return a->site == b->site && memcmp(a->contexts, b->contexts, level * sizeof *a->contexts) == 0;
}

/* A context of so many levels: n records, of which n_of has room for all types, and is 0 before and behind. */
static void add_context(const struct receiver_counts *counts, const struct receiver_record *records, uint32_t n,
                        size_t level, uint64_t *n_of, struct receiver_site *site)
{
    uint64_t n_calls = 0;
    uint32_t n_types = 0;
    double bits = 0;
    for (uint32_t i = 0; i < n; i++) {
        n_types += n_of[records[i].type] == 0 && records[i].n > 0;
        n_of[records[i].type] += records[i].n;
        n_calls += records[i].n;
    }
    for (uint32_t i = 0; i < n; i++) {
        double of = (double)n_of[records[i].type];
        bits += of > 0 ? of * log2((double)n_calls / of) : 0;
        n_of[records[i].type] = 0;
    }
    if (n_types == 1 && (counts->interval == 1 || n_calls >= FEW))
        site->n_resolved[level] += n_calls;
    site->bits[level] += bits; /* in all: divided by the site's calls at the end */
    if (level == 0) {
        site->n = n_calls;
        site->n_types = n_types;
    }
}

static int find_contexts(struct receiver_counts *counts, struct err *err)
{
    uint64_t *n_of = calloc((size_t)counts->n_types + 1, sizeof *n_of);
    if (n_of == NULL)
        return err_set(err, "out of memory for contexts");
    if (counts->n_records > 0)
        qsort(counts->records, counts->n_records, sizeof *counts->records, by_context);
    for (size_t level = 0; level < RECEIVER_LEVELS; level++)
        for (uint32_t i = 0, n; i < counts->n_records; i += n) {
            const struct receiver_record *first = &counts->records[i];
            for (n = 1; i + n < counts->n_records && is_same_context(first, first + n, level);)
                n++;
            add_context(counts, first, n, level, n_of, &counts->sites[first->site]);
        }
    free(n_of);
    return 0;
}

/* ---- the table ---- */

static int by_calls(const void *a, const void *b)
{
    const struct receiver_site *x = a, *y = b;
    if ((x->n_types > 1) != (y->n_types > 1))
        return x->n_types > 1 ? -1 : 1;
    return x->n < y->n ? 1 : x->n > y->n ? -1 : 0;
}

static void add_columns(struct table *table)
{
    static const char *const shares[] = { "One type (%)", "1 level (%)", "2 levels (%)", "3 levels (%)" };
    static const char *const share_keys[] = { "resolved_share_0", "resolved_share_1", "resolved_share_2",
                                              "resolved_share_3" };
    static const char *const bit_keys[] = { "bits_0", "bits_1", "bits_2", "bits_3" };
    table_column(table, "Call site", "site_label", TABLE_TEXT);
    table_column(table, "Called", "called", TABLE_TEXT);
    table_column(table, "Calls", "calls", TABLE_COUNT);
    table_column(table, "Types", "types", TABLE_COUNT);
    for (size_t i = 0; i < RECEIVER_LEVELS; i++)
        table_column(table, shares[i], share_keys[i], TABLE_SHARE);
    table_column(table, "Bits", bit_keys[0], TABLE_RATE);
    for (size_t i = 1; i < RECEIVER_LEVELS; i++)
        table_data_column(table, bit_keys[i], TABLE_RATE);
    table_data_column(table, "line", TABLE_COUNT);
    table_data_column(table, "bytecode", TABLE_COUNT);
    table_data_column(table, "class", TABLE_TEXT);
    table_data_column(table, "method", TABLE_TEXT);
    table_data_column(table, "descriptor", TABLE_TEXT);
    table_data_column(table, "called_descriptor", TABLE_TEXT);
}

static struct table_cell *add_numbers(struct table *table, const char *kind, const char *label,
                                      const struct receiver_site *site)
{
    struct table_cell *cells = table_row(table, kind);
    if (cells == NULL)
        return NULL;
    cells[0] = table_words(label);
    cells[2] = table_number((double)site->n);
    for (size_t i = 0; i < RECEIVER_LEVELS; i++) {
        cells[4 + i] = table_quotient((double)site->n_resolved[i], (double)site->n);
        cells[8 + i] = table_quotient(site->bits[i], (double)site->n);
    }
    return cells;
}

static void add_site(const struct receiver_site *site, struct table *table)
{
    const char *name = java_names_display(table->arena, &site->method, JAVA_NAMES_SHORT);
    if (name != NULL && site->line > 0)
        name = arena_printf(table->arena, "%s:%" PRIu32, name, site->line);
    struct table_cell *cells = add_numbers(table, "site", name, site);
    if (cells == NULL)
        return;
    cells[1] = table_words(site->called.method);
    cells[3] = table_number(site->n_types);
    if (site->line > 0)
        cells[12] = table_number(site->line);
    if (site->index >= 0)
        cells[13] = table_number(site->index);
    cells[14] = table_words(site->method.class_name);
    cells[15] = table_words(site->method.method);
    cells[16] = table_words(site->method.descriptor);
    cells[17] = table_words(site->called.descriptor);
}

static void add_up(struct receiver_site *sum, const struct receiver_site *site)
{
    sum->n += site->n;
    for (size_t i = 0; i < RECEIVER_LEVELS; i++) {
        sum->n_resolved[i] += site->n_resolved[i];
        sum->bits[i] += site->bits[i];
    }
}

static void add_rows(const struct receiver_counts *counts, uint64_t top, struct table *table)
{
    struct receiver_site several = { .n = 0 }, all = { .n = 0 };
    uint32_t n_several = 0;
    for (uint32_t i = 0; i < counts->n_sites; i++) {
        const struct receiver_site *site = &counts->sites[i];
        add_up(&all, site);
        if (site->n_types < 2)
            continue;
        add_up(&several, site);
        if (top == 0 || n_several < top)
            add_site(site, table);
        n_several++;
    }
    size_t first = table->n_rows;
    add_numbers(table, "several", arena_printf(table->arena, "%" PRIu32 " sites with several types", n_several),
                &several);
    add_numbers(table, "total", arena_printf(table->arena, "all %" PRIu32 " sites", counts->n_sites), &all);
    if (first < table->n_rows)
        table->rows[first].after_rule = true;
}

static void add_metadata(const struct receiver_counts *counts, const char *command, struct table *table)
{
    struct arena *arena = table->arena;
    table_metadata_words(table, "command", command, arena_printf(arena, "command  %s (with -Xint)", command));
    table_metadata_number(table, "all_calls", (double)counts->n_seen, NULL);
    table_metadata_number(table, "interval", counts->interval, NULL);
    table_metadata_number(
        table, "counted_calls", (double)counts->n_taken,
        counts->interval == 1
            ? arena_printf(arena, "calls    %" PRIu64 " of virtual and interface methods, of %" PRIu64 " calls in all",
                           counts->n_taken, counts->n_seen)
            : arena_printf(arena,
                           "calls    %" PRIu64 " of virtual and interface methods counted (one in %" PRIu32
                           "), of %" PRIu64 " calls in all",
                           counts->n_taken, counts->interval, counts->n_seen));
}

int receiver_counts_table(struct receiver_counts *counts, const char *command, uint64_t top, struct table *table,
                          struct err *err)
{
    table_begin(table, counts->arena);
    if (find_contexts(counts, err) < 0)
        return -1;
    if (counts->n_sites > 0)
        qsort(counts->sites, counts->n_sites, sizeof *counts->sites, by_calls);
    add_metadata(counts, command, table);
    add_columns(table);
    add_rows(counts, top, table);
    table_note(table, "1 level (%): calls whose receivers all have one type when the caller's call site is known, too");
    if (counts->interval > 1)
        table_note(table, "a context seen fewer than three times counts as not resolved");
    return table->is_broken ? err_set(err, "out of memory for a table") : 0;
}
