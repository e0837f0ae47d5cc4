#include "core/base/plain_file.h"
#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "report/view/misses_report.h"
#include "symbolize/java_names.h"

#define DRAWN_LEAST 25 /* accesses, or misses, of a row whose rates are told */
#define LINE_CHARS  60

/* What a miss is added to; what it has not is NULL, or NAN. */
struct misses_row {
    const char *label, *of, *kind, *file;
    const char *class_name; /* of a line, for its text */
    uint32_t line;
    uint64_t counts[MISS_N_COUNTS], n_kept, n_accesses, n_drawn;
    uint64_t l2_lines; /* in the caches, of all looks */
    bool is_ours;
    /* For the table: */
    const char *source;
    double accesses, accesses_share, shares[MISS_N_COUNTS], rates[MISS_N_COUNTS], per_1000[MISS_N_COUNTS], l2_share;
    double l2_local_rate; /* by the lines that came from L2, as in the thesis' Tables 2.2 to 2.4 */
};

struct misses_lines {
    const char *directory; /* in which sources are, as package/File.java; borrowed */
    struct arena *arena;   /* borrowed */
    char *path, *text;     /* owned: the file read last; text: NULL: there is none */
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
                                     : arena_printf(arena, "(no name, %s)", text_base_name(function->file));
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
    const uint32_t *known = map_get(&rows->by_label, key, strlen(key));
    if (known != NULL)
        return &rows->all[*known];
    map_put(&rows->by_label, key, strlen(key), rows->n);
    *xpush(rows->all, rows->room, rows->n) = *like;
    return &rows->all[rows->n - 1];
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
static void add_contents(struct misses *m, enum misses_by by, struct misses_rows *rows)
{
    for (uint32_t i = 0; i < m->n_held && tells_contents(by); i++) {
        const struct misses_held *held = &m->held[i];
        struct misses_row like = held->key.is_ours ? ours : memory_row(m, by, held->key.cell);
        row_of(m, rows, &like)->l2_lines += held->counts[MISS_L2];
    }
}

static void add_up(struct misses *m, enum misses_by by, struct misses_rows *rows)
{
    bool is_memory = by == MISSES_BY_CLASS || by == MISSES_BY_FIELD || by == MISSES_BY_SPACE;
    for (uint32_t i = 0; i < m->n_tallies; i++) {
        struct code_location location;
        code_locations_find(m->locations, m->tallies[i].key.location, &location);
        const struct code_function *function = code_locations_function(m->locations, location.function);
        struct misses_row like = is_memory                  ? memory_row(m, by, m->tallies[i].key.cell)
                                 : by == MISSES_BY_BYTECODE ? bytecode_row(m, &m->tallies[i], function)
                                                            : code_row(m, by, &location, function);
        if (misses_are_ours(&m->tallies[i], function))
            like = ours;
        add_tally(row_of(m, rows, &like), &m->tallies[i]);
    }
    add_contents(m, by, rows);
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

/* ---- the text of source lines, for a listing of misses (thesis Table 2.4) ---- */

static void misses_lines_free(struct misses_lines *lines)
{
    free(lines->path);
    free(lines->text);
    lines->path = lines->text = NULL;
}

static char *slurp(const char *folder, const char *path)
{
    int fd = plain_file_source(folder, path);
    if (fd < 0)
        return NULL;
    char *text = xmalloc(PLAIN_FILE_SOURCE_MAX + 1);
    bool is_read = plain_file_text(fd, text, PLAIN_FILE_SOURCE_MAX + 1) >= 0;
    close(fd);
    if (is_read)
        return xrealloc(text, strlen(text) + 1);
    free(text);
    return NULL;
}

/* The file of a path, read unless it is the one read last; NULL: there is none. */
static const char *text_of(struct misses_lines *lines, const char *path)
{
    if (lines->path != NULL && strcmp(lines->path, path) == 0)
        return lines->text;
    misses_lines_free(lines);
    lines->path = xstrdup(path);
    lines->text = slurp(lines->directory, path);
    return lines->text;
}

/* A line (from 1) of the source file of a class, "java/util/HashMap", without what it is indented by; NULL: not found.
 */
static const char *misses_line(struct misses_lines *lines, const char *class_name, const char *file, uint32_t line)
{
    const char *slash = class_name == NULL ? NULL : strrchr(class_name, '/');
    if (class_name == NULL || file == NULL || file[0] == '\0' || line == 0)
        return NULL;
    const char *path =
        arena_printf(lines->arena, "%.*s%s", slash == NULL ? 0 : (int)(slash + 1 - class_name), class_name, file);
    const char *at = text_of(lines, path);
    for (uint32_t i = 1; at != NULL && i < line; i++) {
        at = strchr(at, '\n');
        at = at == NULL ? NULL : at + 1;
    }
    if (at == NULL)
        return NULL;
    at += strspn(at, " \t");
    size_t n = strcspn(at, "\r\n");
    return n <= LINE_CHARS ? arena_text(lines->arena, at, n)
                           : arena_printf(lines->arena, "%.*s...", LINE_CHARS - 3, at);
}

/* ---- the table ---- */

enum { OF_IN_TEXT = 1, HAS_ACCESSES = 2, HAS_INSTRUCTIONS = 4, TELLS_CONTENTS = 8, HAS_LINES = 16, NEVER = 32 };

#define MISSES(heading, key, i, further, rate_when, per_1000_when)                                            \
    { key "_misses", heading " misses", TABLE_COUNT, FROM(struct misses_row, counts[i]), .detail = further }, \
        { key "_share", "(%)", TABLE_SHARE, FROM(struct misses_row, shares[i]), .detail = further },          \
        { key "_rate", "Rate (%)", TABLE_SHARE, FROM(struct misses_row, rates[i]), .text_when = rate_when },  \
    {                                                                                                         \
        key "_per_1000_instructions", "Per 1,000 instr.", TABLE_RATIO, FROM(struct misses_row, per_1000[i]),  \
            .text_when = per_1000_when                                                                        \
    }

/* Behind the row's label and what it is of. */
static const struct table_column columns[] = {
    { "accesses", NULL, TABLE_COUNT, FROM(struct misses_row, accesses), .width = COLUMN_DATA },
    { "accesses_share", "Accesses (%)", TABLE_SHARE, FROM(struct misses_row, accesses_share),
      .text_when = HAS_ACCESSES },
    MISSES("L1D", "l1d", MISS_L1D, 0, HAS_ACCESSES, NEVER),
    MISSES("L2", "l2", MISS_L2, 0, HAS_ACCESSES, HAS_INSTRUCTIONS),
    { "l2_local_rate", "Of L1D's (%)", TABLE_SHARE, FROM(struct misses_row, l2_local_rate) },
    MISSES("DTLB", "dtlb", MISS_DTLB, 1, NEVER, NEVER),
    { "l2_contents_share", "In L2 (%)", TABLE_SHARE, FROM(struct misses_row, l2_share), .when = TELLS_CONTENTS,
      .text_when = HAS_ACCESSES, .detail = 1 },
    { "kept", NULL, TABLE_COUNT, FROM(struct misses_row, n_kept), .width = COLUMN_DATA },
    { "drawn", NULL, TABLE_COUNT, FROM(struct misses_row, n_drawn), .width = COLUMN_DATA },
    { "file", NULL, TABLE_TEXT, FROM(struct misses_row, file), .width = COLUMN_DATA },
    { "source", "Source", TABLE_TEXT, FROM(struct misses_row, source), .when = HAS_LINES },
};

static double quotient(double n, double of)
{
    return of == 0 ? NAN : n / of;
}

/* Rates are of all accesses, L2's also of its own: of fewer that were drawn they are not known to within 40 %. */
static void add_row(const struct misses *m, const struct misses_row *from, struct misses_lines *lines,
                    struct table *table)
{
    struct misses_row row = *from;
    double accesses = (double)row.n_accesses;
    row.of = row.of[0] == '\0' ? NULL : row.of;
    row.accesses = m->n_drawn == 0 ? NAN : accesses;
    row.accesses_share = quotient(accesses, (double)m->told_accesses);
    for (int k = 0; k < MISS_N_COUNTS; k++) {
        double n = (double)row.counts[k];
        row.shares[k] = quotient(n, (double)m->told[k]);
        row.rates[k] = row.n_drawn < DRAWN_LEAST ? NAN : quotient(n, accesses);
        row.per_1000[k] = quotient(1000 * n, m->instructions); /* of the whole process' (SA Table 1) */
    }
    row.l2_local_rate =
        row.n_kept < DRAWN_LEAST ? NAN : quotient((double)row.counts[MISS_L2], (double)row.counts[MISS_L1D]);
    row.l2_share = quotient((double)row.l2_lines, (double)m->l2_lines);
    if (lines != NULL)
        row.source = misses_line(lines, row.class_name, row.file, row.line);
    table_add(table, row.kind, &row);
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

static void add_rows(struct misses *m, const struct misses_rows *rows, uint64_t top, struct misses_lines *lines,
                     struct table *table)
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
            add_row(m, row, lines, table);
            n++;
            continue;
        }
        if (!row->is_ours)
            add_row_to(&rest, row);
    }
    first_after = table->n_rows;
    if (rest.counts[MISS_L1D] + rest.counts[MISS_DTLB] + rest.n_drawn + rest.l2_lines > 0)
        add_row(m, &rest, lines, table);
    if (rows->n > 0 && rows->all[rows->n - 1].is_ours)
        add_row(m, &rows->all[rows->n - 1], lines, table);
    add_row(m, &all, lines, table);
    if (first_after < table->n_rows)
        table->rows[first_after].after_rule = true;
}

static void add_columns(enum misses_by by, const struct misses *m, bool has_lines, struct table *table)
{
    static const struct {
        const char *key, *heading;
    } first[MISSES_WAYS] = { { "class", "Class" },         { "field", "Field" },
                             { "memory", "Memory" },       { "method", "Method" },
                             { "class", "Class of code" }, { "line", "Line" },
                             { "bytecode", "Bytecode" },   { "code", "Code" } };
    bool is_of_code = by == MISSES_BY_METHOD || by == MISSES_BY_LINE;
    bool is_in = by == MISSES_BY_FIELD || by == MISSES_BY_CLASS;
    const struct table_column names[] = {
        { first[by].key, first[by].heading, TABLE_TEXT, FROM(struct misses_row, label) },
        { "of", is_in ? "In" : "Of", TABLE_TEXT, FROM(struct misses_row, of), .text_when = OF_IN_TEXT },
    };
    unsigned conditions = (is_of_code || is_in ? OF_IN_TEXT : 0u) | (m->n_drawn > 0 ? HAS_ACCESSES : 0u) |
                          (m->instructions > 0 ? HAS_INSTRUCTIONS : 0u) | (tells_contents(by) ? TELLS_CONTENTS : 0u) |
                          (has_lines ? HAS_LINES : 0u);
    TABLE_COLUMNS(table, names, conditions);
    TABLE_COLUMNS(table, columns, conditions);
    table->details[0] = tells_contents(by) ? "Data TLB and contents of L2" : "Data TLB";
}

int misses_table(const struct report_source *source, struct misses *misses, enum misses_by by, uint64_t top,
                 const char *sources, struct table *table, struct err *err)
{
    struct misses_rows rows = { .n = 0 };
    struct misses_lines lines = { .directory = sources, .arena = source->arena };
    if (by == MISSES_BY_TIME) {
        misses_time_table(source, misses, table);
        return 0;
    }
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
    add_up(misses, by, &rows);
    if (rows.n > 0) {
        qsort(rows.all, rows.n, sizeof *rows.all, by_misses);
        add_rows(misses, &rows, top, by == MISSES_BY_LINE && sources != NULL ? &lines : NULL, table);
    }
    misses_tell_known(source, misses, table);
    report_losses(source, table);
    misses_lines_free(&lines);
    map_free(&rows.by_label);
    free(rows.all);
    return 0;
}
