#include "report/view/misses_report.h"

#include "core/base/xalloc.h"

enum way { BY_OBJECT, BY_BYTECODE, WAYS };

/* Rows of no field; in the order in which they stand. */
enum tail { NO_NAME, NO_BYTECODE, NO_JAVA, NO_OBJECT, NO_HEAP, OURS, TAILS };

struct fields_row {
    const char *label;
    uint64_t counts[WAYS][MISS_N_COUNTS];
    struct heat heats[WAYS];
};

/* Misses of L1D, without mmprof's. */
struct fields_known {
    uint64_t all, java, bytecode, named, heap, object, both, same;
};

struct fields {
    struct misses *misses; /* borrowed */
    bool by_class;
    struct map by_label;
    struct fields_row *all; /* owned */
    uint32_t n, room;
    struct fields_row tails[TAILS];
    struct fields_known known;
    struct heat heat; /* of all */
};

static const struct {
    const char *label, *kind;
    bool of[WAYS];
} tails[TAILS] = {
    [NO_NAME] = { "bytecodes that name none", "no_name", { false, true } },
    [NO_BYTECODE] = { "Java code, bytecode not known", "no_bytecode", { false, true } },
    [NO_JAVA] = { "not Java code", "no_java_code", { false, true } },
    [NO_OBJECT] = { "Java heap, object not known", "no_object", { true, false } },
    [NO_HEAP] = { "not in the Java heap", "no_heap", { true, false } },
    [OURS] = { "mmprof itself", "mmprof", { true, true } },
};

/* ---- adding up ---- */

static struct fields_row *row_of(struct fields *f, const char *label)
{
    const uint32_t *known = map_get(&f->by_label, label, strlen(label));
    if (known != NULL)
        return &f->all[*known];
    map_put(&f->by_label, label, strlen(label), f->n);
    *xpush(f->all, f->room, f->n) = (struct fields_row){ .label = label };
    return &f->all[f->n - 1];
}

static void add_heat(const struct fields *f, const struct heat *add, struct heat *heat)
{
    if (f->misses->half_life_ns > 0)
        heat_add(heat, add->ns, add->value, f->misses->half_life_ns);
}

static void add_counts(const struct fields *f, struct fields_row *row, enum way way, const struct misses_tally *tally)
{
    for (int i = 0; i < MISS_N_COUNTS; i++)
        row->counts[way][i] += tally->counts[i];
    add_heat(f, &tally->heat, &row->heats[way]);
}

/* All elements of an array are one row. */
static const char *label_of_object(const struct fields *f, const struct misses_owner *owner,
                                   const struct misses_cell *cell)
{
    struct arena *arena = f->misses->arena;
    if (f->by_class)
        return misses_owner_label(arena, owner);
    return cell->name[0] == '[' ? arena_printf(arena, "%s elements", misses_owner_label(arena, owner))
                                : misses_field_label(arena, owner, cell);
}

/* The field of an object whose field and class are known; NULL: it is something else. */
static const struct misses_cell *cell_of(const struct misses *m, uint32_t number, const struct misses_owner **owner)
{
    const struct misses_cell *cell = number < m->n_cells ? &m->cells[number] : NULL;
    *owner = cell != NULL && cell->owner < m->n_owners && m->owners[cell->owner].name != NULL ? &m->owners[cell->owner]
                                                                                              : NULL;
    return *owner != NULL && misses_is_class(*owner) && cell->name != NULL ? cell : NULL;
}

static void add_object(struct fields *f, const struct misses_tally *tally)
{
    const struct misses_owner *owner;
    const struct misses_cell *cell = cell_of(f->misses, tally->key.cell, &owner);
    struct fields_row *row = cell != NULL ? row_of(f, label_of_object(f, owner, cell))
                                          : &f->tails[owner != NULL && owner->kind == MISS_HEAP ? NO_OBJECT : NO_HEAP];
    add_counts(f, row, BY_OBJECT, tally);
}

static void add_bytecode(struct fields *f, const struct misses_tally *tally, bool is_java)
{
    const struct misses_bytecode *bytecode = misses_bytecode(f->misses, tally->key.location);
    struct arena *arena = f->misses->arena;
    const char *label = bytecode == NULL ? NULL
                        : f->by_class    ? misses_named_class(arena, bytecode)
                                         : misses_named_field(arena, bytecode);
    struct fields_row *row = label == NULL      ? &f->tails[is_java ? NO_BYTECODE : NO_JAVA]
                             : label[0] == '\0' ? &f->tails[NO_NAME]
                                                : row_of(f, label);
    add_counts(f, row, BY_BYTECODE, tally);
}

static void add_known(struct fields *f, const struct misses_tally *tally, bool is_java)
{
    struct fields_known *known = &f->known;
    const struct misses_bytecode *bytecode = misses_bytecode(f->misses, tally->key.location);
    const struct misses_owner *owner;
    const struct misses_cell *cell = cell_of(f->misses, tally->key.cell, &owner);
    uint64_t n = tally->counts[MISS_L1D];
    const char *label = bytecode == NULL ? "" : misses_named_field(f->misses->arena, bytecode);
    bool is_named = label[0] != '\0', is_array = is_named && bytecode->name[0] == '\0';
    known->all += n;
    known->java += is_java ? n : 0;
    known->bytecode += bytecode != NULL ? n : 0;
    known->named += is_named ? n : 0;
    known->heap += cell != NULL || (owner != NULL && owner->kind == MISS_HEAP) ? n : 0;
    known->object += cell != NULL ? n : 0;
    if (!is_named || cell == NULL)
        return;
    known->both += n;
    known->same += (is_array ? cell->name[0] == '[' : strcmp(cell->name, bytecode->name) == 0) ? n : 0;
}

static void add_up(struct fields *f)
{
    struct misses *m = f->misses;
    for (uint32_t i = 0; i < m->n_tallies; i++) {
        const struct misses_tally *tally = &m->tallies[i];
        struct code_location location;
        code_locations_find(m->locations, tally->key.location, &location);
        const struct code_function *function = code_locations_function(m->locations, location.function);
        add_heat(f, &tally->heat, &f->heat);
        if (misses_are_ours(tally, function)) {
            add_counts(f, &f->tails[OURS], BY_OBJECT, tally);
            add_counts(f, &f->tails[OURS], BY_BYTECODE, tally);
            continue;
        }
        bool is_java = function->names.method != NULL;
        add_known(f, tally, is_java);
        add_object(f, tally);
        add_bytecode(f, tally, is_java);
    }
}

static uint64_t larger(const struct fields_row *row, enum miss_count count)
{
    uint64_t object = row->counts[BY_OBJECT][count], bytecode = row->counts[BY_BYTECODE][count];
    return object > bytecode ? object : bytecode;
}

/* The larger part of all heat of both ways; 0: nothing decays. */
static double heat_of(const struct fields *f, const struct fields_row *row)
{
    double object = heat_share(&row->heats[BY_OBJECT], &f->heat, f->misses->half_life_ns),
           bytecode = heat_share(&row->heats[BY_BYTECODE], &f->heat, f->misses->half_life_ns);
    return object > bytecode ? object : bytecode;
}

static int by_misses(const void *a, const void *b)
{
    static const enum miss_count order[] = { MISS_L2, MISS_L1D, MISS_DTLB };
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        uint64_t x = larger(a, order[i]), y = larger(b, order[i]);
        if (x != y)
            return x > y ? -1 : 1;
    }
    return strcmp(((const struct fields_row *)a)->label, ((const struct fields_row *)b)->label);
}

static int by_heat(const void *a, const void *b, void *fields)
{
    double x = heat_of(fields, a), y = heat_of(fields, b);
    return x != y ? (x > y ? -1 : 1) : by_misses(a, b);
}

static void sort(struct fields *f)
{
    if (f->n > 0 && f->misses->half_life_ns > 0)
        qsort_r(f->all, f->n, sizeof *f->all, by_heat, f);
    else if (f->n > 0)
        qsort(f->all, f->n, sizeof *f->all, by_misses);
}

/* ---- the table ---- */

/* A row; what it has not is TABLE_NONE. */
struct fields_printed {
    const char *label;
    struct table_cell now;
    double heats[WAYS], counts[WAYS][MISS_N_COUNTS], shares[WAYS][MISS_N_COUNTS];
};

enum { HAS_HEAT = 1 };

#define MISSES(heading, key, i, further)                                                                       \
    { key "_by_object", heading ": by object", TABLE_COUNT, FROM(struct fields_printed, counts[BY_OBJECT][i]), \
      .detail = further },                                                                                     \
        { key "_by_object_share", "(%)", TABLE_SHARE, FROM(struct fields_printed, shares[BY_OBJECT][i]),       \
          .detail = further },                                                                                 \
        { key "_by_bytecode", "By bytecode", TABLE_COUNT, FROM(struct fields_printed, counts[BY_BYTECODE][i]), \
          .detail = further },                                                                                 \
    {                                                                                                          \
        key "_by_bytecode_share", "(%)", TABLE_SHARE, FROM(struct fields_printed, shares[BY_BYTECODE][i]),     \
            .detail = further                                                                                  \
    }

/* Behind the row's label. */
static const struct table_column columns[] = {
    { "heat_by_object_share", "Heat: by object (%)", TABLE_SHARE, FROM(struct fields_printed, heats[BY_OBJECT]),
      .when = HAS_HEAT },
    { "heat_by_bytecode_share", "By bytecode (%)", TABLE_SHARE, FROM(struct fields_printed, heats[BY_BYTECODE]),
      .when = HAS_HEAT },
    { "now", "Now", TABLE_TEXT, FROM(struct fields_printed, now), .when = HAS_HEAT },
    MISSES("L2", "l2", MISS_L2, 0),
    MISSES("L1D", "l1d", MISS_L1D, 1),
    MISSES("DTLB", "dtlb", MISS_DTLB, 1),
};

static void add_columns(const struct fields *f, struct table *table)
{
    const struct table_column first = { f->by_class ? "class" : "field", f->by_class ? "Class" : "Field", TABLE_TEXT,
                                        FROM(struct fields_printed, label) };
    table_columns(table, &first, 1, 0);
    TABLE_COLUMNS(table, columns, f->misses->half_life_ns > 0 ? HAS_HEAT : 0);
    table->details[0] = "L1D and the data TLB";
}

/* of: the ways in which there is such a row. */
static void add_row(const struct fields *f, const struct fields_row *row, const char *kind, const bool of[WAYS],
                    struct table *table)
{
    struct fields_printed to = { .label = row->label, .now = { .value = TABLE_NOT_APPLICABLE } };
    if (row >= f->all && row < f->all + f->n)
        to.now = table_words(heat_of(f, row) >= HEAT_HOT ? "hot" : "cold");
    for (int way = 0; way < WAYS; way++) {
        to.heats[way] = of[way] ? heat_share(&row->heats[way], &f->heat, f->misses->half_life_ns) : TABLE_NONE;
        for (int i = 0; i < MISS_N_COUNTS; i++) {
            double n = (double)row->counts[way][i], all = (double)f->misses->told[i];
            to.counts[way][i] = of[way] ? n : TABLE_NONE;
            to.shares[way][i] = !of[way] ? TABLE_NONE : all == 0 ? NAN : n / all;
        }
    }
    table_add(table, kind, &to);
}

static void add_rest(const struct fields *f, const struct fields_row *row, struct fields_row *rest)
{
    for (int way = 0; way < WAYS; way++) {
        for (int k = 0; k < MISS_N_COUNTS; k++)
            rest->counts[way][k] += row->counts[way][k];
        add_heat(f, &row->heats[way], &rest->heats[way]);
    }
}

static void add_rows(struct fields *f, uint64_t top, struct table *table)
{
    static const bool both[WAYS] = { true, true };
    struct fields_row rest = { .label = "others" }, all = { .label = "all" };
    uint64_t n = top == 0 || top > f->n ? f->n : top;
    for (uint32_t i = (uint32_t)n; i < f->n; i++)
        add_rest(f, &f->all[i], &rest);
    for (uint32_t i = 0; i < n; i++)
        add_row(f, &f->all[i], f->by_class ? "class" : "field", both, table);
    size_t first_after = table->n_rows;
    if (n < f->n)
        add_row(f, &rest, "others", both, table);
    for (int i = 0; i < TAILS; i++) {
        f->tails[i].label = tails[i].label;
        if (larger(&f->tails[i], MISS_L1D) + larger(&f->tails[i], MISS_DTLB) > 0)
            add_row(f, &f->tails[i], tails[i].kind, tails[i].of, table);
    }
    for (int way = 0; way < WAYS; way++) {
        memcpy(all.counts[way], f->misses->told, sizeof all.counts[way]);
        all.heats[way] = f->heat;
    }
    add_row(f, &all, "total", both, table);
    if (first_after < table->n_rows)
        table->rows[first_after].after_rule = true;
}

static const char *part(struct arena *arena, uint64_t n, uint64_t of)
{
    return of == 0 ? "-" : report_percent(arena, (double)n / (double)of);
}

static void tell_known(const struct report_source *source, const struct fields *f, struct table *table)
{
    const struct fields_known *known = &f->known;
    struct arena *arena = source->arena;
    double java = (double)known->java, both = (double)known->both;
    table_metadata_number(table, "java_code_share", known->all > 0 ? java / (double)known->all : 0, NULL);
    table_metadata_number(table, "known_bytecode_share", java > 0 ? (double)known->bytecode / java : 0, NULL);
    table_metadata_number(table, "named_share", java > 0 ? (double)known->named / java : 0, NULL);
    table_metadata_number(table, "same_field_share", both > 0 ? (double)known->same / both : 0, NULL);
    table_note(table, arena_printf(arena,
                                   "L1D misses, without mmprof's own: %s in Java code; the bytecode is known for %s of "
                                   "these, and names a field or array elements for %s",
                                   part(arena, known->java, known->all), part(arena, known->bytecode, known->java),
                                   part(arena, known->named, known->java)));
    table_note(table, arena_printf(arena,
                                   "in the Java heap the object is known for %s; the object's field at the address is "
                                   "the one that the bytecode names for %s (where both are known)",
                                   part(arena, known->object, known->heap), part(arena, known->same, known->both)));
}

int fields_table(const struct report_source *source, struct misses *misses, bool by_class, uint64_t top,
                 struct table *table, struct err *err)
{
    struct fields fields = { .misses = misses, .by_class = by_class, .by_label.arena = source->arena };
    if (misses_need_bytecodes(source, misses, err) < 0)
        return -1;
    table_begin(table, source->arena);
    report_metadata(source, table);
    misses_tell_totals(source, misses, table);
    add_columns(&fields, table);
    misses_mark_estimates(source, table);
    add_up(&fields);
    sort(&fields);
    add_rows(&fields, top, table);
    tell_known(source, &fields, table);
    report_losses(source, table);
    map_free(&fields.by_label);
    free(fields.all);
    return 0;
}
