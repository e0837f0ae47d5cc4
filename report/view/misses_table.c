#include "core/base/vec.h"
#include "report/view/misses_report.h"
#include "symbolize/java_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DRAWN_LEAST 25 /* accesses of a row whose rates are told */

/* What a miss is added to. */
struct misses_row {
    const char *label, *of, *kind, *file;
    const char *class_name; /* of a line, for its text */
    uint32_t line;
    uint64_t counts[MISS_N_COUNTS], n_kept, n_accesses, n_drawn;
    uint64_t l2_lines; /* in the caches, of all looks */
    bool is_ours;
};

struct misses_rows {
    struct map by_label;
    struct misses_row *all; /* owned */
    uint32_t n, room;
};

static const char *const owner_kinds[MISS_OWNERS] = {
    [MISS_OBJECTS] = "class",       [MISS_STATICS] = "class", [MISS_STACK] = "stack",      [MISS_CODE] = "code",
    [MISS_METASPACE] = "metaspace", [MISS_CARDS] = "cards",   [MISS_C_HEAP] = "c_heap",    [MISS_FILE] = "file",
    [MISS_OTHER] = "other",         [MISS_HEAP] = "heap",     [MISS_UNKNOWN] = "unmapped",
};

static const char *const spaces[MISS_SPACES] = { "no generation", "eden", "survivor", "old generation", "humongous" };

/* ---- names ---- */

static const char *part_label(struct arena *arena, const struct code_function *function)
{
    if (function->kind != CODE_AT_VM)
        return code_location_kind_name(function->kind);
    return arena_printf(arena, "JVM: %s", vm_subsystem_name(function->subsystem));
}

static const char *method_label(struct arena *arena, const struct code_function *function)
{
    if (function->names.method != NULL) {
        const struct method_name name = function->names;
        return java_names_display(arena, &name, JAVA_NAMES_SHORT);
    }
    if (function->kind == CODE_AT_INTERPRETER)
        return "(interpreter, method not known)";
    if (function->name[0] != '\0') /* the table outlives the functions */
        return arena_text(arena, function->name, strlen(function->name));
    return function->file[0] == '\0' ? "(no name)"
                                     : arena_printf(arena, "(no name, %s)", misses_base_name(function->file));
}

/* ---- adding up ---- */

static bool tells_contents(enum misses_by by)
{
    return by == MISSES_BY_CLASS || by == MISSES_BY_SPACE;
}

static struct misses_row *row_of(struct misses *m, struct misses_rows *rows, const struct misses_row *like)
{
    const char *key = arena_printf(m->arena, "%s\n%s\n%s\n%" PRIu32, like->label, like->of,
                                   like->class_name == NULL ? "" : like->class_name, like->line);
    const uint32_t *known = key == NULL ? NULL : map_get(&rows->by_label, key, strlen(key));
    if (known != NULL)
        return &rows->all[*known];
    if (vec_reserve(rows->all, rows->room, rows->n + 1) < 0)
        return NULL;
    if (key == NULL || map_put(&rows->by_label, key, strlen(key), rows->n) < 0)
        return NULL;
    rows->all[rows->n] = *like;
    return &rows->all[rows->n++];
}

/* The row of memory: where the miss went. */
static struct misses_row memory_row(const struct misses *m, enum misses_by by, uint32_t number)
{
    static const struct misses_owner nobody = { "", MISS_UNKNOWN };
    static const struct misses_cell nothing = { "", 0, 0, MISS_NO_SPACE };
    const struct misses_cell *cell = number < m->n_cells ? &m->cells[number] : &nothing;
    const struct misses_owner *owner = cell->owner < m->n_owners ? &m->owners[cell->owner] : &nobody;
    cell = cell->name == NULL ? &nothing : cell;
    owner = owner->name == NULL ? &nobody : owner;
    struct misses_row row = { .of = misses_owner_kind(owner->kind), .kind = owner_kinds[owner->kind], .file = "" };
    if (by == MISSES_BY_SPACE) {
        bool in_heap = misses_is_class(owner) || owner->kind == MISS_HEAP;
        row.label =
            in_heap ? arena_printf(m->arena, "Java heap: %s", spaces[cell->space]) : misses_owner_kind(owner->kind);
        row.of = row.kind = in_heap ? "heap" : owner_kinds[owner->kind];
        return row;
    }
    row.label = by == MISSES_BY_FIELD ? misses_field_label(m->arena, owner, cell) : misses_owner_label(m->arena, owner);
    if (misses_is_class(owner))
        row.of = spaces[cell->space];
    if (by == MISSES_BY_CLASS && misses_is_class(owner))
        row.of = "Java heap";
    else if (owner->kind == MISS_HEAP || owner->kind == MISS_OTHER)
        row.of = owner->name;
    return row;
}

/* The row of code: what missed. */
static struct misses_row code_row(const struct misses *m, enum misses_by by, const struct code_location *location,
                                  const struct code_function *function)
{
    struct misses_row row = { .of = part_label(m->arena, function),
                              .kind = code_location_kind_key(function->kind),
                              .file = "" };
    if (by == MISSES_BY_CODE_CLASS && function->names.method != NULL) { /* interpreted and compiled are one row */
        row.label = java_names_class(m->arena, function->names.class_name);
        row.of = "";
        row.kind = "class";
        return row;
    }
    if (by == MISSES_BY_PART || by == MISSES_BY_CODE_CLASS) {
        row.label = row.of;
        row.of = by == MISSES_BY_CODE_CLASS ? "" : row.of;
        return row;
    }
    row.label = method_label(m->arena, function);
    row.file = arena_text(m->arena, function->file, strlen(function->file));
    row.class_name = function->names.class_name;
    if (by == MISSES_BY_METHOD || function->names.method == NULL)
        return row;
    row.line = location->line;
    if (location->bytecode != 0)
        row.label = arena_printf(m->arena, "%s, bytecode %" PRIu32, row.label, location->bytecode - 1);
    else
        row.label = row.line == 0 ? arena_printf(m->arena, "%s, line not known", row.label)
                                  : arena_printf(m->arena, "%s:%" PRIu32, row.label, row.line);
    row.of = location->outer[0] == '\0' ? row.of : arena_printf(m->arena, "%s, in %s", row.of, location->outer);
    return row;
}

/* The row of a kind of bytecode. */
static struct misses_row bytecode_row(const struct misses *m, const struct misses_tally *tally,
                                      const struct code_function *function)
{
    const struct misses_bytecode *bytecode = misses_bytecode(m, tally->key.location);
    struct misses_row row = { .label = "not Java code", .of = "", .kind = "other_code", .file = "" };
    if (bytecode != NULL) {
        row.kind = "bytecode";
        row.label = misses_bytecode_kind(m->arena, bytecode);
    } else if (function->names.method != NULL) {
        row.kind = "not_known";
        row.label = "Java code, bytecode not known";
    }
    return row;
}

static void add_tally(struct misses_row *row, const struct misses_tally *tally)
{
    for (int k = 0; k < MISS_N_COUNTS; k++)
        row->counts[k] += tally->counts[k];
    row->n_kept += tally->n_kept;
    row->n_accesses += tally->n_accesses;
    row->n_drawn += tally->n_drawn;
}

static const struct misses_row ours = {
    .label = "mmprof itself", .of = "", .kind = "mmprof", .file = "", .is_ours = true
};

/* What is in L2. */
static int add_contents(struct misses *m, enum misses_by by, struct misses_rows *rows, struct err *err)
{
    for (uint32_t i = 0; i < m->n_held && tells_contents(by); i++) {
        const struct misses_held *held = &m->held[i];
        struct misses_row like = held->key.is_ours ? ours : memory_row(m, by, held->key.cell);
        struct misses_row *row =
            like.label == NULL || like.of == NULL || like.file == NULL ? NULL : row_of(m, rows, &like);
        if (row == NULL)
            return err_set(err, "out of memory for misses");
        row->l2_lines += held->counts[MISS_L2];
    }
    return 0;
}

static int add_up(struct misses *m, enum misses_by by, struct misses_rows *rows, struct err *err)
{
    bool is_memory = by == MISSES_BY_CLASS || by == MISSES_BY_FIELD || by == MISSES_BY_SPACE;
    for (uint32_t i = 0; i < m->n_tallies; i++) {
        struct code_location location;
        if (code_locations_find(m->locations, m->tallies[i].key.location, &location, err) < 0)
            return -1;
        const struct code_function *function = code_locations_function(m->locations, location.function);
        struct misses_row like = is_memory                  ? memory_row(m, by, m->tallies[i].key.cell)
                                 : by == MISSES_BY_BYTECODE ? bytecode_row(m, &m->tallies[i], function)
                                                            : code_row(m, by, &location, function);
        if (misses_are_ours(&m->tallies[i], function))
            like = ours;
        struct misses_row *row =
            like.label == NULL || like.of == NULL || like.file == NULL ? NULL : row_of(m, rows, &like);
        if (row == NULL)
            return err_set(err, "out of memory for misses");
        add_tally(row, &m->tallies[i]);
    }
    return add_contents(m, by, rows, err);
}

static int by_misses(const void *a, const void *b)
{
    const struct misses_row *x = a, *y = b;
    if (x->is_ours != y->is_ours)
        return x->is_ours ? 1 : -1;
    for (int k = MISS_N_COUNTS - 1; k > 0; k--) {
        int count = k == 2 ? MISS_L2 : MISS_L1D;
        if (x->counts[count] != y->counts[count])
            return x->counts[count] > y->counts[count] ? -1 : 1;
    }
    return strcmp(x->label, y->label);
}

/* ---- the table ---- */

static const struct {
    const char *heading, *key, *share_key, *rate_key, *per_1000_key;
} counts[MISS_N_COUNTS] = {
    [MISS_L1D] = { "L1D misses", "l1d_misses", "l1d_share", "l1d_rate", "l1d_per_1000_instructions" },
    [MISS_L2] = { "L2 misses", "l2_misses", "l2_share", "l2_rate", "l2_per_1000_instructions" },
    [MISS_DTLB] = { "DTLB misses", "dtlb_misses", "dtlb_share", "dtlb_rate", "dtlb_per_1000_instructions" }
};

/* What the row adds to the whole process' misses per 1,000 instructions (SA Table 1). */
static struct table_cell per_1000(const struct misses *m, uint64_t n_misses)
{
    return table_quotient(1000 * (double)n_misses, m->instructions);
}

/* Misses of all accesses; of fewer that were drawn it is not known to within 40 %. */
static struct table_cell rate(uint64_t n_misses, const struct misses_row *row)
{
    return row->n_drawn < DRAWN_LEAST ? table_unmeasured() : table_quotient((double)n_misses, (double)row->n_accesses);
}

static void add_row(const struct misses *m, enum misses_by by, const struct misses_row *row, struct misses_lines *lines,
                    struct table *table)
{
    struct table_cell *cells = table_row(table, row->kind);
    if (cells == NULL)
        return;
    *cells++ = table_words(row->label);
    *cells++ = row->of[0] == '\0' ? table_unmeasured() : table_words(row->of);
    *cells++ = m->n_drawn == 0 ? table_unmeasured() : table_number((double)row->n_accesses);
    *cells++ = table_quotient((double)row->n_accesses, (double)m->told_accesses);
    for (int k = 0; k < MISS_N_COUNTS; k++) {
        *cells++ = table_number((double)row->counts[k]);
        *cells++ = table_quotient((double)row->counts[k], (double)m->told[k]);
        *cells++ = rate(row->counts[k], row);
        *cells++ = per_1000(m, row->counts[k]);
    }
    if (tells_contents(by))
        *cells++ = table_quotient((double)row->l2_lines, (double)m->l2_lines);
    *cells++ = table_number((double)row->n_kept);
    *cells++ = table_number((double)row->n_drawn);
    *cells++ = table_words(row->file);
    if (lines != NULL) {
        const char *text = misses_line(lines, row->class_name, row->file, row->line);
        *cells++ = text == NULL ? table_unmeasured() : table_words(text);
    }
}

static void add_row_to(struct misses_row *rest, const struct misses_row *row)
{
    for (int k = 0; k < MISS_N_COUNTS; k++)
        rest->counts[k] += row->counts[k];
    rest->n_kept += row->n_kept;
    rest->n_accesses += row->n_accesses;
    rest->n_drawn += row->n_drawn;
    rest->l2_lines += row->l2_lines;
}

static void add_rows(struct misses *m, enum misses_by by, const struct misses_rows *rows, uint64_t top,
                     struct misses_lines *lines, struct table *table)
{
    struct misses_row rest = { .label = "others", .of = "", .kind = "others", .file = "" };
    struct misses_row all = { .label = "all", .of = "", .kind = "total", .file = "" };
    memcpy(all.counts, m->told, sizeof all.counts);
    all.n_kept = m->n_kept;
    all.n_accesses = m->told_accesses;
    all.n_drawn = m->n_drawn;
    all.l2_lines = m->l2_lines;
    uint64_t n = 0;
    size_t first_after = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        const struct misses_row *row = &rows->all[i];
        if (!row->is_ours && (top == 0 || n < top)) {
            add_row(m, by, row, lines, table);
            n++;
            continue;
        }
        if (!row->is_ours)
            add_row_to(&rest, row);
    }
    first_after = table->n_rows;
    if (rest.counts[MISS_L1D] + rest.counts[MISS_DTLB] + rest.n_drawn + rest.l2_lines > 0)
        add_row(m, by, &rest, lines, table);
    if (rows->n > 0 && rows->all[rows->n - 1].is_ours)
        add_row(m, by, &rows->all[rows->n - 1], lines, table);
    add_row(m, by, &all, lines, table);
    if (first_after < table->n_rows)
        table->rows[first_after].after_rule = true;
}

static void add_columns(enum misses_by by, const struct misses *m, bool has_lines, struct table *table)
{
    static const char *const first[MISSES_WAYS] = { "Class", "Field",    "Memory", "Method", "Class of code",
                                                    "Line",  "Bytecode", "Code",   "",       "" };
    static const char *const keys[MISSES_WAYS] = { "class", "field",    "memory", "method", "class",
                                                   "line",  "bytecode", "code",   "",       "" };
    bool has_accesses = m->n_drawn > 0, has_instructions = m->instructions > 0;
    table_column(table, first[by], keys[by], TABLE_TEXT);
    size_t of = table_column(table, by == MISSES_BY_FIELD || by == MISSES_BY_CLASS ? "In" : "Of", "of", TABLE_TEXT);
    table->columns[of].not_in_text =
        by == MISSES_BY_PART || by == MISSES_BY_SPACE || by == MISSES_BY_BYTECODE || by == MISSES_BY_CODE_CLASS;
    table_data_column(table, "accesses", TABLE_COUNT);
    size_t share = table_column(table, "Accesses (%)", "accesses_share", TABLE_SHARE);
    table->columns[share].not_in_text = !has_accesses;
    for (int k = 0; k < MISS_N_COUNTS; k++) {
        uint32_t detail = k == MISS_DTLB ? 1 : 0;
        size_t number = table_column(table, counts[k].heading, counts[k].key, TABLE_COUNT);
        table->columns[number].detail = detail;
        size_t part = table_column(table, "(%)", counts[k].share_key, TABLE_SHARE);
        table->columns[part].detail = detail;
        size_t column = table_column(table, "Rate (%)", counts[k].rate_key, TABLE_SHARE);
        table->columns[column].not_in_text = !has_accesses || detail > 0;
        column = table_column(table, "Per 1,000 instr.", counts[k].per_1000_key, TABLE_RATIO);
        table->columns[column].not_in_text = k != MISS_L2 || !has_instructions;
    }
    if (tells_contents(by)) {
        size_t column = table_column(table, "In L2 (%)", "l2_contents_share", TABLE_SHARE);
        table->columns[column].not_in_text = !has_accesses;
        table->columns[column].detail = 1;
    }
    table->details[0] = tells_contents(by) ? "Data TLB and contents of L2" : "Data TLB";
    table_data_column(table, "kept", TABLE_COUNT);
    table_data_column(table, "drawn", TABLE_COUNT);
    table_data_column(table, "file", TABLE_TEXT);
    if (has_lines)
        table_column(table, "Source", "source", TABLE_TEXT);
}

int misses_table(const struct report_source *source, struct misses *misses, enum misses_by by, uint64_t top,
                 const char *sources, struct table *table, struct err *err)
{
    struct misses_rows rows = { .n = 0 };
    struct misses_lines lines = { .directory = sources, .arena = source->arena };
    if (by == MISSES_BY_TIME)
        return misses_time_table(source, misses, table, err);
    if (by == MISSES_CONTENTS)
        return misses_contents_table(source, misses, table, err);
    if (by == MISSES_BY_BYTECODE && misses_need_bytecodes(source, misses, err) < 0)
        return -1;
    rows.by_label.arena = source->arena;
    table_begin(table, source->arena);
    report_metadata(source, table);
    misses_tell_totals(source, misses, table);
    misses->instructions = misses_instructions(source);
    add_columns(by, misses, by == MISSES_BY_LINE && sources != NULL, table);
    misses_mark_estimates(source, table);
    int rc = add_up(misses, by, &rows, err);
    if (rc == 0 && rows.n > 0) {
        qsort(rows.all, rows.n, sizeof *rows.all, by_misses);
        add_rows(misses, by, &rows, top, by == MISSES_BY_LINE && sources != NULL ? &lines : NULL, table);
    }
    misses_tell_known(source, misses, table);
    report_losses(source, table);
    misses_lines_free(&lines);
    map_free(&rows.by_label);
    free(rows.all);
    return rc < 0 ? -1 : table->is_broken ? err_set(err, "out of memory for a table") : 0;
}
