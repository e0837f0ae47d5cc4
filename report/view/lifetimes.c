/*
 * An object's lifetime is the time, in data accesses of Java code, from its creation to its last use.  What is counted
 * of a class or a line is how many objects lived up to each power of two.
 */
#include "report/view/lifetimes.h"

#include "core/base/xalloc.h"
#include "report/view/memtrace_names.h"

#define BUCKETS 65 /* 0: not used at all; i: lifetimes of i bits */

struct lifetimes_group {
    uint64_t n, n_bytes, n_uses, longest, n_there; /* n_there: at the program's end */
    uint64_t buckets[BUCKETS];
};

struct lifetimes {
    struct memtrace_names names;
    struct memtrace_list classes, sites; /* of struct lifetimes_group */
    struct lifetimes_group all, no_site;
    uint64_t n_created, time;
};

/* ---- reading ---- */

static void count(struct lifetimes_group *group, const struct memtrace_entry *e)
{
    group->n++;
    group->n_bytes += e->bytes;
    group->n_uses += e->n_uses;
    group->longest = e->lifetime > group->longest ? e->lifetime : group->longest;
    group->n_there += !e->has_died;
    group->buckets[e->lifetime == 0 ? 0 : 64 - __builtin_clzll(e->lifetime)]++;
}

static bool take_object(struct lifetimes *l, const struct memtrace_entry *e)
{
    struct lifetimes_group *class = memtrace_list_item(&l->classes, e->class_number, sizeof *class);
    struct lifetimes_group *site =
        e->location == MEMTRACE_NO_NUMBER ? &l->no_site : memtrace_list_item(&l->sites, e->location, sizeof *site);
    if (class == NULL || site == NULL)
        return false;
    count(class, e);
    count(site, e);
    count(&l->all, e);
    return true;
}

static bool take_entry(struct lifetimes *l, const struct memtrace_entry *e)
{
    l->n_created += e->kind == MEMTRACE_CREATED;
    l->time = e->kind == MEMTRACE_TOTALS ? e->time : l->time;
    return memtrace_names_take(&l->names, e) && (e->kind != MEMTRACE_DIED || take_object(l, e));
}

int lifetimes_read(struct lifetimes **lifetimes, struct memtrace_reader *reader, struct err *err)
{
    struct lifetimes *l = xcalloc(1, sizeof *l);
    struct memtrace_entry entry;
    int rc = 1;
    while (rc > 0 && (rc = memtrace_next(reader, &entry, err)) > 0)
        if (!take_entry(l, &entry))
            rc = err_set(err, "the address trace has numbers that are too large");
    *lifetimes = l;
    if (rc == 0)
        return 0;
    lifetimes_free(l);
    *lifetimes = NULL;
    return -1;
}

void lifetimes_free(struct lifetimes *l)
{
    if (l == NULL)
        return;
    free(l->classes.items);
    free(l->sites.items);
    memtrace_names_free(&l->names);
    free(l);
}

/* ---- tables ---- */

/* A row, with the share of its objects that lived at most so many accesses, less one; as Figure 2.9 has it. */
static const unsigned limits[] = { 0, 4, 6, 10, 16, 20, 24 };

#define N_LIMITS (sizeof limits / sizeof *limits)

struct lifetimes_printed {
    const char *label;
    struct lifetimes_group of;
    double share, up_to[N_LIMITS], uses, at_end;
};

static const struct table_column columns[] = {
    { "objects", "Objects", TABLE_COUNT, FROM(struct lifetimes_printed, of.n) },
    { "objects_share", "(%)", TABLE_SHARE, FROM(struct lifetimes_printed, share) },
    { "bytes", NULL, TABLE_COUNT, FROM(struct lifetimes_printed, of.n_bytes), .width = COLUMN_DATA },
    { "unused_share", "Unused", TABLE_SHARE, FROM(struct lifetimes_printed, up_to[0]) },
    { "under_16_share", "< 16", TABLE_SHARE, FROM(struct lifetimes_printed, up_to[1]) },
    { "under_64_share", "< 64", TABLE_SHARE, FROM(struct lifetimes_printed, up_to[2]) },
    { "under_1k_share", "< 1 K", TABLE_SHARE, FROM(struct lifetimes_printed, up_to[3]) },
    { "under_64k_share", "< 64 K", TABLE_SHARE, FROM(struct lifetimes_printed, up_to[4]) },
    { "under_1m_share", "< 1 M", TABLE_SHARE, FROM(struct lifetimes_printed, up_to[5]) },
    { "under_16m_share", NULL, TABLE_SHARE, FROM(struct lifetimes_printed, up_to[6]), .width = COLUMN_DATA },
    { "longest_accesses", "Longest", TABLE_COUNT, FROM(struct lifetimes_printed, of.longest) },
    { "uses_per_object", NULL, TABLE_RATE, FROM(struct lifetimes_printed, uses), .width = COLUMN_DATA },
    { "at_end_share", "At end", TABLE_SHARE, FROM(struct lifetimes_printed, at_end) },
};

static double quotient(uint64_t n, uint64_t of)
{
    return of == 0 ? NAN : (double)n / (double)of;
}

static uint64_t up_to(const struct lifetimes_group *group, unsigned bits)
{
    uint64_t n = 0;
    for (unsigned i = 0; i <= bits; i++)
        n += group->buckets[i];
    return n;
}

static void add_row(struct table *table, const char *kind, const char *label, const struct lifetimes_group *group,
                    const struct lifetimes *l)
{
    struct lifetimes_printed row = { .label = label,
                                     .of = *group,
                                     .share = quotient(group->n, l->all.n),
                                     .uses = quotient(group->n_uses, group->n),
                                     .at_end = quotient(group->n_there, group->n) };
    for (size_t i = 0; i < N_LIMITS; i++)
        row.up_to[i] = quotient(up_to(group, limits[i]), group->n);
    table_add(table, kind, &row);
}

struct lifetimes_row {
    const char *label;
    const struct lifetimes_group *group;
};

static int by_objects(const void *a, const void *b)
{
    const struct lifetimes_row *x = a, *y = b;
    if (x->group->n != y->group->n)
        return x->group->n > y->group->n ? -1 : 1;
    return strcmp(x->label, y->label);
}

/* Rows that have objects; returns how many. */
static uint64_t make_rows(const struct lifetimes *l, enum lifetimes_by by, struct lifetimes_row *rows,
                          struct arena *arena)
{
    const struct lifetimes_group *classes = l->classes.items, *sites = l->sites.items;
    uint64_t n = 0;
    for (uint32_t i = 0; by == LIFETIMES_BY_CLASS && i < l->classes.n; i++)
        if (classes[i].n > 0)
            rows[n++] =
                (struct lifetimes_row){ memtrace_names_class(&l->names, i, JAVA_NAMES_FULL, arena), &classes[i] };
    for (uint32_t i = 0; by == LIFETIMES_BY_SITE && i < l->sites.n; i++)
        if (sites[i].n > 0)
            rows[n++] =
                (struct lifetimes_row){ memtrace_names_location(&l->names, i, JAVA_NAMES_FULL, arena), &sites[i] };
    if (by == LIFETIMES_BY_SITE && l->no_site.n > 0)
        rows[n++] = (struct lifetimes_row){ "not by Java code", &l->no_site };
    return n;
}

static void add_groups(const struct lifetimes *l, const struct lifetimes_row *rows, uint64_t n, uint64_t top,
                       const char *kind, struct table *table)
{
    struct lifetimes_group rest = { .n = 0 };
    for (uint64_t i = 0; i < n; i++) {
        const struct lifetimes_group *g = rows[i].group;
        if (top == 0 || i < top) {
            add_row(table, kind, rows[i].label, g, l);
            continue;
        }
        rest.n += g->n;
        rest.n_bytes += g->n_bytes;
        rest.n_uses += g->n_uses;
        rest.n_there += g->n_there;
        rest.longest = g->longest > rest.longest ? g->longest : rest.longest;
        for (size_t k = 0; k < BUCKETS; k++)
            rest.buckets[k] += g->buckets[k];
    }
    size_t first_after = table->n_rows;
    if (rest.n > 0)
        add_row(table, "others", "others", &rest, l);
    add_row(table, "total", "all", &l->all, l);
    if (first_after < table->n_rows)
        table->rows[first_after].after_rule = true;
}

static void group_table(const struct lifetimes *l, enum lifetimes_by by, uint64_t top, struct arena *arena,
                        struct table *table)
{
    const char *key = by == LIFETIMES_BY_CLASS ? "class" : "site";
    const struct table_column first = { key, by == LIFETIMES_BY_CLASS ? "Class" : "Created by", TABLE_TEXT,
                                        FROM(struct lifetimes_printed, label) };
    struct lifetimes_row *rows = xcalloc((size_t)l->classes.n + l->sites.n + 1, sizeof *rows);
    uint64_t n = make_rows(l, by, rows, arena);
    table_columns(table, &first, 1, 0);
    TABLE_COLUMNS(table, columns, 0);
    if (n > 0) {
        qsort(rows, n, sizeof *rows, by_objects);
        add_groups(l, rows, n, top, key, table);
    }
    free(rows);
}

struct lifetimes_length {
    const char *under;
    uint64_t n;
    double share, so_far;
};

static const struct table_column length_columns[] = {
    { "under_accesses", "Shorter than", TABLE_TEXT, FROM(struct lifetimes_length, under) },
    { "objects", "Objects", TABLE_COUNT, FROM(struct lifetimes_length, n) },
    { "objects_share", "(%)", TABLE_SHARE, FROM(struct lifetimes_length, share) },
    { "cumulative_share", "So far (%)", TABLE_SHARE, FROM(struct lifetimes_length, so_far) },
};

static void length_table(const struct lifetimes *l, struct arena *arena, struct table *table)
{
    uint64_t before = 0;
    unsigned last = BUCKETS;
    TABLE_COLUMNS(table, length_columns, 0);
    while (last > 0 && l->all.buckets[last - 1] == 0)
        last--;
    for (unsigned i = 0; i < last; i++) {
        before += l->all.buckets[i];
        const struct lifetimes_length row = { i == 64 ? "2^64" : arena_printf(arena, "%" PRIu64, UINT64_C(1) << i),
                                              l->all.buckets[i], quotient(l->all.buckets[i], l->all.n),
                                              quotient(before, l->all.n) };
        table_add(table, "length", &row);
    }
}

int lifetimes_by_parse(const char *text, enum lifetimes_by *by, struct err *err)
{
    static const char *const names[] = { "class", "site", "distribution" };
    *by = LIFETIMES_BY_CLASS;
    if (text[0] == '\0')
        return 0;
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *by = (enum lifetimes_by)i;
            return 0;
        }
    err_set(err, "objects have no lifetimes by '%s'", text);
    return err_next(err, "ask for --lifetimes=class, site or distribution");
}

void lifetimes_table(const struct lifetimes *l, const char *path, enum lifetimes_by by, uint64_t top,
                     struct arena *arena, struct table *table)
{
    table_begin(table, arena);
    table_metadata_words(
        table, "trace", path,
        arena_printf(arena, "trace    %s: %" PRIu64 " objects were created in %" PRIu64 " data accesses of Java code",
                     path, l->n_created, l->time));
    table_metadata_number(table, "objects", (double)l->n_created, NULL);
    table_metadata_number(table, "accesses", (double)l->time, NULL);
    table_metadata_number(
        table, "dead", (double)(l->all.n - l->all.n_there),
        arena_printf(arena, "objects  collections freed %" PRIu64 ", %" PRIu64 " were left at the end of the program",
                     l->all.n - l->all.n_there, l->all.n_there));
    if (by == LIFETIMES_BY_LENGTH)
        length_table(l, arena, table);
    else
        group_table(l, by, top, arena, table);
    table_note(table,
               "a lifetime is how many data accesses Java code made between an object's creation and its last use");
}
