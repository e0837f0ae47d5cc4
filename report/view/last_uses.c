#include "report/view/last_uses.h"

#include "core/base/map.h"
#include "core/base/sampled_objects.h"
#include "core/base/xalloc.h"

#define WARM 0.8 /* of the time: what C2 has compiled later says nothing of what it removes */

/* ---- reading ---- */

struct uses_reading {
    struct last_uses *uses;
    struct map by_key;
    struct memtrace_entry last; /* LAST_USE of the object that comes next */
    bool has_last;
};

struct cluster_key {
    uint32_t class_number, created, used, common, flags;
};

static struct last_uses_cluster *cluster_of(struct uses_reading *r, const struct memtrace_entry *died)
{
    struct last_uses *uses = r->uses;
    const bool is_used = died->n_uses > 0, is_elsewhere = (r->last.info & MEMTRACE_OTHER_THREAD) != 0;
    const struct cluster_key key = { died->class_number, died->location,
                                     is_used ? r->last.location : MEMTRACE_NO_NUMBER,
                                     is_elsewhere ? MEMTRACE_NO_NUMBER : r->last.method,
                                     (is_used ? 1u : 0u) | (is_elsewhere ? 2u : 0u) };
    const uint32_t *known = map_get(&r->by_key, &key, sizeof key);
    if (known != NULL)
        return &uses->all[*known];
    map_put(&r->by_key, &key, sizeof key, uses->n);
    struct last_uses_cluster *cluster = xpush(uses->all, uses->room, uses->n);
    *cluster = (struct last_uses_cluster){ .class_number = key.class_number,
                                           .created = key.created,
                                           .used = key.used,
                                           .common = key.common,
                                           .is_used = is_used,
                                           .is_elsewhere = is_elsewhere };
    return cluster;
}

/* When C2 had compiled what the cluster's objects are passed on in; 0: it has not. */
static uint64_t compiled_time(const struct last_uses *uses, const struct last_uses_cluster *cluster)
{
    const uint64_t *times = uses->compiled.items;
    uint32_t method = cluster->common != MEMTRACE_NO_NUMBER ? cluster->common
                                                            : memtrace_names_method_of(&uses->names, cluster->created);
    return method < uses->compiled.n ? times[method] : 0;
}

static void take_object(struct uses_reading *r, const struct memtrace_entry *died)
{
    if (!r->has_last || r->last.object != died->object)
        return;
    struct last_uses_cluster *cluster = cluster_of(r, died);
    uint64_t since = compiled_time(r->uses, cluster);
    double n = sampled_objects((double)died->bytes, (double)r->uses->interval_bytes), bytes = n * (double)died->bytes;
    cluster->n += n;
    cluster->n_bytes += bytes;
    cluster->n_short_bytes += died->lifetime < LAST_USES_SHORT ? bytes : 0;
    cluster->n_since += since > 0 && died->created >= since ? n : 0;
    cluster->n_c2_bytes += (r->last.info & MEMTRACE_BY_C2) != 0 ? bytes : 0;
    cluster->longest = died->lifetime > cluster->longest ? died->lifetime : cluster->longest;
    cluster->buckets[died->lifetime == 0 ? 0 : 64 - __builtin_clzll(died->lifetime)] += n;
    r->uses->n_objects += n;
    r->uses->n_bytes += bytes;
    r->has_last = false;
}

static bool take_compiled(struct last_uses *uses, const struct memtrace_entry *e)
{
    uint64_t *time = memtrace_list_item(&uses->compiled, e->method, sizeof *time);
    if (time != NULL && *time == 0)
        *time = e->time + 1;
    return time != NULL;
}

static bool take_entry(struct uses_reading *r, const struct memtrace_entry *e)
{
    if (e->kind == MEMTRACE_LAST_USE) {
        r->last = *e;
        r->has_last = r->uses->is_recorded = true;
    }
    if (e->kind == MEMTRACE_TOTALS)
        r->uses->time = e->time;
    if (e->kind == MEMTRACE_INTERVAL)
        r->uses->interval_bytes = e->bytes;
    if (e->kind == MEMTRACE_DIED)
        take_object(r, e);
    return memtrace_names_take(&r->uses->names, e) && (e->kind != MEMTRACE_C2 || take_compiled(r->uses, e));
}

static int by_short_bytes(const void *a, const void *b)
{
    const struct last_uses_cluster *x = a, *y = b;
    if (x->n_short_bytes != y->n_short_bytes)
        return x->n_short_bytes > y->n_short_bytes ? -1 : 1;
    if (x->n_bytes != y->n_bytes)
        return x->n_bytes > y->n_bytes ? -1 : 1;
    return x->created != y->created ? (x->created < y->created ? -1 : 1) : 0;
}

int last_uses_read(struct last_uses *uses, struct memtrace_reader *reader, const char *path, struct err *err)
{
    struct memtrace_entry entry;
    int rc = 1;
    *uses = (struct last_uses){ .n = 0 };
    struct uses_reading reading = { .uses = uses, .by_key = { .arena = &uses->arena } };
    while (rc > 0 && (rc = memtrace_next(reader, &entry, err)) > 0)
        if (!take_entry(&reading, &entry))
            rc = err_set(err, "the address trace has numbers that are too large");
    map_free(&reading.by_key);
    if (rc == 0 && !uses->is_recorded) {
        err_set(err, "'%s' does not say where objects were used last", path);
        rc = err_next(err, "record it again, on x86-64: 'mmprof memtrace --last-uses -o FILE -- java ...'");
    }
    if (rc < 0)
        last_uses_free(uses);
    else if (uses->n > 1)
        qsort(uses->all, uses->n, sizeof *uses->all, by_short_bytes);
    return rc;
}

int last_uses_file(struct last_uses *uses, const char *path, struct err *err)
{
    struct memtrace_reader *reader;
    if (memtrace_open(&reader, path, err) < 0)
        return -1;
    int rc = last_uses_read(uses, reader, path, err);
    memtrace_close(reader);
    return rc;
}

void last_uses_free(struct last_uses *uses)
{
    free(uses->all);
    free(uses->compiled.items);
    memtrace_names_free(&uses->names);
    arena_free(&uses->arena);
    *uses = (struct last_uses){ .n = 0 };
}

/* ---- what is known of a cluster ---- */

void last_uses_fold(struct last_uses *uses, const struct folding_list *libraries)
{
    const struct method_name *methods = uses->names.methods.items;
    for (uint32_t i = 0; i < uses->n; i++) {
        uint32_t common = uses->all[i].common;
        const char *class = common < uses->names.methods.n ? methods[common].class_name : NULL;
        uses->all[i].is_library = class != NULL && folding_has(libraries, class);
    }
}

bool last_uses_is_removed(const struct last_uses *uses, const struct last_uses_cluster *cluster)
{
    uint64_t since = compiled_time(uses, cluster);
    return since > 0 && (double)since < WARM * (double)uses->time && cluster->n_since == 0;
}

uint64_t last_uses_median(const struct last_uses_cluster *cluster)
{
    double n = 0;
    for (unsigned i = 0; i < 64; i++) {
        n += cluster->buckets[i];
        if (2 * n > cluster->n)
            return UINT64_C(1) << i;
    }
    return UINT64_MAX;
}

const char *last_uses_line(const struct last_uses *uses, uint32_t location, struct arena *arena)
{
    return location == MEMTRACE_NO_NUMBER ? "not known"
                                          : memtrace_names_location(&uses->names, location, JAVA_NAMES_SHORT, arena);
}

const char *last_uses_common(const struct last_uses *uses, const struct last_uses_cluster *cluster, struct arena *arena)
{
    if (!cluster->is_used)
        return "none: not used";
    if (cluster->is_elsewhere)
        return "none: another thread";
    if (cluster->common == MEMTRACE_NO_NUMBER)
        return "not known";
    return memtrace_names_method(&uses->names, cluster->common, JAVA_NAMES_SHORT, arena);
}

/* ---- the table ---- */

/* A cluster's row, or a sum's. */
struct uses_row {
    const char *created, *class_name, *used, *common; /* NULL: a sum */
    double n, n_bytes, share, median, c2_share, n_short_bytes, longest;
};

static const struct table_column columns[] = {
    { "created_by", "Created by", TABLE_TEXT, FROM(struct uses_row, created) },
    { "class", "Class", TABLE_TEXT, FROM(struct uses_row, class_name) },
    { "last_used_by", "Last used by", TABLE_TEXT, FROM(struct uses_row, used) },
    { "common_caller", "Common caller", TABLE_TEXT, FROM(struct uses_row, common) },
    { "objects", "Objects", TABLE_COUNT, FROM(struct uses_row, n), .detail = 1 },
    { "bytes", "Bytes", TABLE_BYTES, FROM(struct uses_row, n_bytes) },
    { "bytes_share", "(%)", TABLE_SHARE, FROM(struct uses_row, share) },
    { "median_under_accesses", "Used for <", TABLE_COUNT, FROM(struct uses_row, median), .detail = 1 },
    { "c2_share", "C2 (%)", TABLE_SHARE, FROM(struct uses_row, c2_share), .detail = 1 },
    { "short_bytes", NULL, TABLE_BYTES, FROM(struct uses_row, n_short_bytes), .width = COLUMN_DATA },
    { "longest_accesses", NULL, TABLE_COUNT, FROM(struct uses_row, longest), .width = COLUMN_DATA },
};

static void add_row(const struct last_uses *uses, const struct last_uses_cluster *c, const char *kind,
                    struct arena *arena, struct table *table)
{
    const struct uses_row row = {
        .created = last_uses_line(uses, c->created, arena),
        .class_name = memtrace_names_class(&uses->names, c->class_number, JAVA_NAMES_SHORT, arena),
        .used = c->is_used ? last_uses_line(uses, c->used, arena) : "not used",
        .common = last_uses_common(uses, c, arena),
        .n = c->n,
        .n_bytes = c->n_bytes,
        .share = uses->n_bytes == 0 ? NAN : c->n_bytes / uses->n_bytes,
        .median = (double)last_uses_median(c),
        .c2_share = c->n_bytes == 0 ? NAN : c->n_c2_bytes / c->n_bytes,
        .n_short_bytes = c->n_short_bytes,
        .longest = (double)c->longest,
    };
    table_add(table, kind, &row);
}

struct uses_sum {
    double n, n_bytes;
};

static void add_to(struct uses_sum *sum, const struct last_uses_cluster *c)
{
    sum->n += c->n;
    sum->n_bytes += c->n_bytes;
}

/* A row, if it has something. */
static void add_sum(const struct last_uses *uses, const char *kind, const char *label, const struct uses_sum *sum,
                    struct table *table)
{
    const struct uses_row row = { .created = label,
                                  .n = sum->n,
                                  .n_bytes = sum->n_bytes,
                                  .share = uses->n_bytes == 0 ? NAN : sum->n_bytes / uses->n_bytes,
                                  .median = NAN,
                                  .c2_share = NAN,
                                  .n_short_bytes = NAN,
                                  .longest = NAN };
    if (sum->n > 0)
        table_add(table, kind, &row);
}

static void add_rows(const struct last_uses *uses, uint64_t top, struct arena *arena, struct table *table)
{
    struct uses_sum others = { 0, 0 }, removed = { 0, 0 }, libraries = { 0, 0 };
    const struct uses_sum all = { uses->n_objects, uses->n_bytes };
    uint64_t n_rows = 0;
    for (uint32_t i = 0; i < uses->n; i++) {
        const struct last_uses_cluster *c = &uses->all[i];
        bool is_removed = last_uses_is_removed(uses, c), is_row = !is_removed && !c->is_library;
        if (is_row && (top == 0 || n_rows < top)) {
            n_rows++;
            add_row(uses, c, "cluster", arena, table);
        } else {
            add_to(is_removed ? &removed : c->is_library ? &libraries : &others, c);
        }
    }
    size_t first = table->n_rows;
    add_sum(uses, "others", "others", &others, table);
    add_sum(uses, "libraries", "passed on within the JDK and frameworks", &libraries, table);
    add_sum(uses, "removed", "no longer created by C2's code", &removed, table);
    add_sum(uses, "total", "all", &all, table);
    if (first < table->n_rows)
        table->rows[first].after_rule = true;
    if (libraries.n > 0)
        table_note(table, "--no-fold gives a row to each class that the JDK and frameworks pass on");
}

void last_uses_table(const struct last_uses *uses, const char *path, uint64_t top, struct arena *arena,
                     struct table *table)
{
    table_begin(table, arena);
    table_metadata_words(table, "trace", path,
                         arena_printf(arena, "trace    %s: %.0f objects in %" PRIu64 " data accesses of Java code",
                                      path, uses->n_objects, uses->time));
    table_metadata_number(table, "accesses", (double)uses->time, NULL);
    TABLE_COLUMNS(table, columns, 0);
    table->details[0] = "The same objects: number, median use in accesses, share created by C2's code";
    add_rows(uses, top, arena, table);
    table_note(table, "rows are sorted by the bytes of objects used for less than 65,536 data accesses");
    table_note(table, "the common caller is the innermost call that spans an object's creation and last use; there, "
                      "its fields may replace the object");
}
