#include "report/jit/call_counts.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "symbolize/java_names.h"

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

static uint32_t site_of(struct receiver_counts *counts, char **words, int32_t index, uint32_t line)
{
    const char *key =
        arena_printf(counts->arena, "%s %s %s %s %s %" PRId32, words[2], words[3], words[4], words[5], words[6], index);
    const uint32_t *known = map_get(&counts->by_site, key, strlen(key));
    if (known != NULL)
        return *known;
    map_put(&counts->by_site, key, strlen(key), counts->n_sites);
    *xpush(counts->sites, counts->sites_room, counts->n_sites) =
        (struct receiver_site){ .method = { keep(counts, words[4]), keep(counts, words[5]), keep(counts, words[6]) },
                                .called = { NULL, keep(counts, words[2]), keep(counts, words[3]) },
                                .index = index,
                                .line = line };
    return counts->n_sites - 1;
}

static uint32_t type_of(struct receiver_counts *counts, const char *name)
{
    const uint32_t *known = map_get(&counts->by_type, name, strlen(name));
    if (known != NULL)
        return *known;
    map_put(&counts->by_type, name, strlen(name), counts->n_types);
    return counts->n_types++;
}

static bool add_record(struct receiver_counts *counts, char **words)
{
    struct receiver_record record;
    uint64_t line, context;
    int32_t index;
    if (!counted_text_number(words[0], &record.n) || !counted_text_index(words[7], &index) ||
        !counted_text_number(words[8], &line) || line > UINT32_MAX)
        return false;
    for (size_t i = 0; i < RECEIVER_LEVELS - 1; i++) {
        if (!counted_text_number(words[9 + i], &context) || context > UINT32_MAX)
            return false;
        record.contexts[i] = (uint32_t)context;
    }
    for (size_t i = 1; i < 7; i++)
        if (!counted_text_word(words[i]))
            return false;
    counted_text_cut_hidden(words[4]);
    record.site = site_of(counts, words, index, (uint32_t)line);
    record.type = type_of(counts, words[1]); /* each lambda has a class of its own */
    *xpush(counts->records, counts->records_room, counts->n_records) = record;
    return true;
}

static bool read_line(void *context, char **words, size_t n_words, bool is_end)
{
    struct receiver_counts *counts = context;
    if (!is_end)
        return n_words == WORDS ? add_record(counts, words) : false;
    return n_words == 3 && counted_text_number(words[1], &counts->n_seen) &&
           counted_text_number(words[2], &counts->n_taken);
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

static void find_contexts(struct receiver_counts *counts)
{
    uint64_t *n_of = xcalloc((size_t)counts->n_types + 1, sizeof *n_of);
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
}

/* ---- the table ---- */

static int by_calls(const void *a, const void *b)
{
    const struct receiver_site *x = a, *y = b;
    if ((x->n_types > 1) != (y->n_types > 1))
        return x->n_types > 1 ? -1 : 1;
    return x->n < y->n ? 1 : x->n > y->n ? -1 : 0;
}

/* A row; what it has not is NULL, or NAN. */
struct receiver_row {
    struct receiver_site of;
    const char *label;
    double types, line, index, shares[RECEIVER_LEVELS], bits[RECEIVER_LEVELS];
};

static const struct table_column columns[] = {
    { "site_label", "Call site", TABLE_TEXT, FROM(struct receiver_row, label) },
    { "called", "Called", TABLE_TEXT, FROM(struct receiver_row, of.called.method) },
    { "calls", "Calls", TABLE_COUNT, FROM(struct receiver_row, of.n) },
    { "types", "Types", TABLE_COUNT, FROM(struct receiver_row, types) },
    { "resolved_share_0", "One type (%)", TABLE_SHARE, FROM(struct receiver_row, shares[0]) },
    { "resolved_share_1", "1 level (%)", TABLE_SHARE, FROM(struct receiver_row, shares[1]) },
    { "resolved_share_2", "2 levels (%)", TABLE_SHARE, FROM(struct receiver_row, shares[2]) },
    { "resolved_share_3", "3 levels (%)", TABLE_SHARE, FROM(struct receiver_row, shares[3]) },
    { "bits_0", "Bits", TABLE_RATE, FROM(struct receiver_row, bits[0]) },
    { "bits_1", NULL, TABLE_RATE, FROM(struct receiver_row, bits[1]), .width = COLUMN_DATA },
    { "bits_2", NULL, TABLE_RATE, FROM(struct receiver_row, bits[2]), .width = COLUMN_DATA },
    { "bits_3", NULL, TABLE_RATE, FROM(struct receiver_row, bits[3]), .width = COLUMN_DATA },
    { "line", NULL, TABLE_COUNT, FROM(struct receiver_row, line), .width = COLUMN_DATA },
    { "bytecode", NULL, TABLE_COUNT, FROM(struct receiver_row, index), .width = COLUMN_DATA },
    { "class", NULL, TABLE_TEXT, FROM(struct receiver_row, of.method.class_name), .width = COLUMN_DATA },
    { "method", NULL, TABLE_TEXT, FROM(struct receiver_row, of.method.method), .width = COLUMN_DATA },
    { "descriptor", NULL, TABLE_TEXT, FROM(struct receiver_row, of.method.descriptor), .width = COLUMN_DATA },
    { "called_descriptor", NULL, TABLE_TEXT, FROM(struct receiver_row, of.called.descriptor), .width = COLUMN_DATA },
};

static struct receiver_row row_of(const struct receiver_site *site, const char *label)
{
    struct receiver_row row = { .of = *site, .label = label, .types = NAN, .line = NAN, .index = NAN };
    for (size_t i = 0; i < RECEIVER_LEVELS; i++) {
        row.shares[i] = site->n == 0 ? NAN : (double)site->n_resolved[i] / (double)site->n;
        row.bits[i] = site->n == 0 ? NAN : site->bits[i] / (double)site->n;
    }
    return row;
}

static void add_site(const struct receiver_site *site, struct table *table)
{
    const char *name = java_names_display(table->arena, &site->method, JAVA_NAMES_SHORT);
    if (site->line > 0)
        name = arena_printf(table->arena, "%s:%" PRIu32, name, site->line);
    struct receiver_row row = row_of(site, name);
    row.types = site->n_types;
    row.line = site->line > 0 ? (double)site->line : NAN;
    row.index = site->index >= 0 ? (double)site->index : NAN;
    table_add(table, "site", &row);
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
    const struct receiver_row rows[] = {
        row_of(&several, arena_printf(table->arena, "%" PRIu32 " sites with several types", n_several)),
        row_of(&all, arena_printf(table->arena, "all %" PRIu32 " sites", counts->n_sites)),
    };
    table_add(table, "several", &rows[0])->after_rule = true;
    table_add(table, "total", &rows[1]);
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

void receiver_counts_table(struct receiver_counts *counts, const char *command, uint64_t top, struct table *table)
{
    table_begin(table, counts->arena);
    find_contexts(counts);
    if (counts->n_sites > 0)
        qsort(counts->sites, counts->n_sites, sizeof *counts->sites, by_calls);
    add_metadata(counts, command, table);
    TABLE_COLUMNS(table, columns, 0);
    add_rows(counts, top, table);
    table_note(table, "1 level (%): calls whose receivers all have one type when the caller's call site is known, too");
    if (counts->interval > 1)
        table_note(table, "a context seen fewer than three times counts as not resolved");
}
