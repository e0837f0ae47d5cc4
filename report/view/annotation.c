#include "report/view/annotation.h"

#include "core/base/plain_file.h"
#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "core/hotspot/bytecodes.h"
#include "report/sample_cells.h"

enum { CODE_BIPUSH = 0x10, CODE_SIPUSH = 0x11, CODE_NEWARRAY = 0xbc };

#define LINES_MAX 200000u
#define TAB       8u

/* ---- the source file, by its lines ---- */

struct source_file {
    const char *path;
    const char **lines; /* without tabs */
    uint32_t n_lines;
};

/* As an editor shows it: tabs are blanks up to the next stop. */
static const char *keep_line(struct arena *arena, const char *line, size_t n)
{
    char *wide = xmalloc(n * TAB + 1);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        size_t n_blanks = line[i] == '\t' ? TAB - at % TAB : 0;
        memset(wide + at, ' ', n_blanks);
        at += n_blanks;
        if (n_blanks == 0)
            wide[at++] = line[i];
    }
    const char *kept = text_utf8(arena, wide, at);
    free(wide);
    return kept;
}

static bool read_lines(struct source_file *file, FILE *in, struct arena *arena)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    uint32_t lines_room = 0;
    while (file->n_lines < LINES_MAX && (n = getline(&line, &room, in)) >= 0) {
        if (file->n_lines == lines_room) {
            uint32_t more = lines_room == 0 ? 1024 : lines_room * 2;
            const char **lines = arena_alloc(arena, more * sizeof *lines);
            if (file->n_lines > 0)
                memcpy(lines, file->lines, file->n_lines * sizeof *lines);
            file->lines = lines;
            lines_room = more;
        }
        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
            n--;
        file->lines[file->n_lines++] = keep_line(arena, line, (size_t)n);
    }
    free(line);
    return file->n_lines > 0;
}

static bool try_source(struct source_file *file, const char *folder, const char *path, struct arena *arena)
{
    int fd = path == NULL ? -1 : plain_file_source(folder, path);
    FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
    *file = (struct source_file){ .path = arena_printf(arena, "%s/%s", folder, path == NULL ? "" : path) };
    bool is_read = in != NULL && read_lines(file, in, arena);
    if (in != NULL)
        fclose(in);
    else if (fd >= 0)
        close(fd);
    return is_read;
}

/*
 * The first that is there of FOLDER/PACKAGE/NAME and FOLDER/NAME.
 *
 * class_name  in internal form: a/b/Outer$Inner
 * name        of the file, as the class file has it
 *
 * Returns false when there is none.  Everything lives in the arena.
 */
static bool find_source(struct source_file *file, const struct options_list *folders, const char *class_name,
                        const char *name, struct arena *arena)
{
    const char *end = strrchr(class_name, '/');
    int n_package = end == NULL ? 0 : (int)(end - class_name);
    const char *in_package = n_package > 0 ? arena_printf(arena, "%.*s/%s", n_package, class_name, name) : NULL;
    for (size_t i = 0; name[0] != '\0' && strchr(name, '/') == NULL && i < folders->n; i++)
        if ((n_package > 0 && try_source(file, folders->items[i], in_package, arena)) ||
            try_source(file, folders->items[i], name, arena))
            return true;
    return false;
}

/* "" where there is none; lines begin with 1. */
static const char *source_line(const struct source_file *file, uint32_t line)
{
    return line == 0 || line > file->n_lines ? "" : file->lines[line - 1];
}

/* ---- instructions ---- */

/* Where a branch goes to; 0 where it is damaged. */
static int32_t target_of(const uint8_t *code, size_t n, size_t at, size_t length)
{
    struct cursor c = cursor_over(code + at + 1, n - at - 1);
    int32_t by = length == 5 ? (int32_t)cursor_u32be(&c) : (int16_t)cursor_u16be(&c);
    return c.bad ? 0 : (int32_t)at + by;
}

/* "if_icmplt 12", "iload 4", "bipush 31", "getfield": without the constants of the pool, which a trace does not have.
 */
static const char *instruction(const struct annotation *a, size_t at)
{
    const uint8_t *code = a->method.code;
    size_t n = a->n_indexes, length = code == NULL ? 0 : bytecodes_length(code, n, at);
    const struct opcode *opcode = code == NULL ? NULL : bytecodes_at(code, n, at);
    if (opcode == NULL)
        return "";
    const char *name = opcodes[opcode->java].name;
    if (opcode->kind == OPCODE_BRANCH && length >= 3)
        return arena_printf(a->arena, "%s %" PRId32, name, target_of(code, n, at, length));
    bool is_local = opcode->kind == OPCODE_LOCAL_READ || opcode->kind == OPCODE_LOCAL_WRITE;
    if (length == 2 && (is_local || opcode->java == CODE_BIPUSH))
        return arena_printf(a->arena, "%s %d", name, is_local ? code[at + 1] : (int8_t)code[at + 1]);
    if (opcode->java == CODE_SIPUSH)
        return arena_printf(a->arena, "%s %d", name, (int16_t)(code[at + 1] << 8 | code[at + 2]));
    return name;
}

/* ---- rows ---- */

static const struct sample_row *row_of(const struct annotation *a, uint32_t location)
{
    return location + 1 < a->profile.n_rows && a->profile.rows[location + 1].total.n > 0
               ? &a->profile.rows[location + 1]
               : NULL;
}

/* Line numbers have no commas. */
static struct table_cell plain(const struct annotation *a, bool is_known, uint32_t number)
{
    struct table_cell cell = is_known ? table_number(number) : table_unmeasured();
    cell.words = is_known ? arena_printf(a->arena, "%" PRIu32, number) : "-";
    return cell;
}

/* Where there is no sample, nothing is printed: of code it is 0, of a line without code not measured. */
static void blank(struct table_cell *cell, bool has_code)
{
    if (cell->words != NULL) /* not of samples */
        return;
    if (!has_code)
        cell->value = TABLE_UNMEASURED;
    cell->words = "";
}

static struct sample_cells no_samples(void)
{
    struct sample_cells none = { .self.error = NAN, .total.error = NAN };
    for (size_t i = 0; i < SAMPLE_RATIOS_MAX; i++)
        none.ratios[i] = none.ratio_errors[i] = none.self_ratios[i] = none.self_ratio_errors[i] = NAN;
    return none;
}

struct annotation_row {
    struct sample_cells cells;
    struct table_cell index, line;
    const char *instruction, *text;
};

/* Conditions, behind SAMPLES_TIME and SAMPLES_EVENT. */
enum { BY_BYTECODE = 16, WITH_TEXT = 32 };

#define SELF  FROM(struct annotation_row, cells.self.share), ERROR_FROM(struct annotation_row, cells.self.error)
#define TOTAL FROM(struct annotation_row, cells.total.share), ERROR_FROM(struct annotation_row, cells.total.error)

static const struct table_column before_ratios[] = {
    { "bytecode", "Bytecode", TABLE_COUNT, FROM(struct annotation_row, index), .when = BY_BYTECODE },
    { "line", "Line", TABLE_COUNT, FROM(struct annotation_row, line) },
    { "self_share", "Self (%)", TABLE_SHARE, SELF },
    { "time_share", "Time (%)", TABLE_SHARE, TOTAL, .when = SAMPLES_TIME },
    { "share", "Share (%)", TABLE_SHARE, TOTAL, .when = SAMPLES_EVENT },
    { "self_samples", "Samples", TABLE_COUNT, FROM(struct annotation_row, cells.self.n_samples) },
};

static const struct table_column after_ratios[] = {
    { "self_share_error", NULL, TABLE_SHARE, FROM(struct annotation_row, cells.self.error), .width = COLUMN_DATA },
    { "time_share_error", NULL, TABLE_SHARE, FROM(struct annotation_row, cells.total.error), .when = SAMPLES_TIME,
      .width = COLUMN_DATA },
    { "share_error", NULL, TABLE_SHARE, FROM(struct annotation_row, cells.total.error), .when = SAMPLES_EVENT,
      .width = COLUMN_DATA },
    { "instruction", "Instruction", TABLE_TEXT, FROM(struct annotation_row, instruction), .when = BY_BYTECODE },
    { "source", "Source", TABLE_TEXT, FROM(struct annotation_row, text), .when = WITH_TEXT },
};

static void add_columns(const struct annotation *a, bool has_text, struct table *table)
{
    unsigned conditions =
        (a->is_time ? SAMPLES_TIME : SAMPLES_EVENT) | (a->by_bytecode ? BY_BYTECODE : 0) | (has_text ? WITH_TEXT : 0);
    TABLE_COLUMNS(table, before_ratios, conditions);
    sample_cells_ratio_columns(a->ratios, a->n_ratios, true, table);
    TABLE_COLUMNS(table, after_ratios, conditions);
}

/* A location's row; or, where there is none (n_locations), a line's that has no code. */
static void add_row(const struct annotation *a, uint32_t location, uint32_t line, const struct source_file *file,
                    struct table *table)
{
    bool has_code = location < a->n_locations, is_known = !has_code || a->locations[location].index >= 0;
    const struct sample_row *of = has_code ? row_of(a, location) : NULL;
    struct annotation_row row = { .line = plain(a, line > 0, line), .instruction = "", .text = "" };
    if (a->by_bytecode) {
        row.index = plain(a, is_known, is_known ? (uint32_t)a->locations[location].index : 0);
        row.instruction = is_known ? instruction(a, (size_t)a->locations[location].index) : "";
    }
    if (file != NULL)
        row.text = line <= file->n_lines ? source_line(file, line) : "(inline function)";
    if (of != NULL) {
        row.cells.self = sample_profile_self(&a->profile, location + 1);
        row.cells.total = sample_profile_total(&a->profile, location + 1);
        sample_cells_ratios(&a->profile, of, true, a->ratios, a->n_ratios, &row.cells);
    }
    if (of == NULL)
        row.cells = no_samples();
    const struct table_row *added = table_add(table, is_known ? "place" : "unknown", &row);
    for (size_t c = 0; of == NULL && c < table->n_columns; c++)
        blank(&added->cells[c], has_code);
}

/* Without the code, only what samples were found at is worth a row. */
static void add_bytecodes(const struct annotation *a, const struct source_file *file, struct table *table)
{
    for (uint32_t i = 0; i + 1 < a->n_locations; i++)
        if (a->method.code != NULL || row_of(a, i) != NULL)
            add_row(a, i, a->locations[i].line, file, table);
}

/* With their text, all lines from the first one to the last. */
static void add_lines(const struct annotation *a, const struct source_file *file, struct table *table)
{
    uint32_t n = a->n_locations - 1, end = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool is_behind = file != NULL && a->locations[i].line > file->n_lines; /* other methods are between */
        for (uint32_t line = end; file != NULL && !is_behind && i > 0 && line < a->locations[i].line; line++)
            add_row(a, a->n_locations, line, file, table);
        add_row(a, i, a->locations[i].line, file, table);
        end = a->locations[i].line + 1;
    }
}

/* ---- all of it ---- */

static void add_metadata(const struct annotation *a, const struct source_file *file, struct table *table)
{
    double self = 0;
    for (uint32_t i = 0; i < a->n_locations; i++) {
        const struct sample_row *row = row_of(a, i);
        self += row == NULL ? 0 : (double)row->self.n;
    }
    table_metadata_words(table, "method", a->label, arena_printf(a->arena, "method   %s", a->label));
    table_metadata_words(table, "source", file != NULL ? file->path : a->method.source,
                         file != NULL                  ? arena_printf(a->arena, "source   %s", file->path)
                         : a->method.source[0] != '\0' ? arena_printf(a->arena, "source   %s", a->method.source)
                                                       : NULL);
    table_metadata_number(
        table, "samples", (double)a->profile.n_samples,
        arena_printf(a->arena, "samples  %" PRIu64 " in all, %.0f in its own code", a->profile.n_samples, self));
    table_metadata_number(table, "self_samples", self, NULL);
}

static bool is_of_kotlin(const struct annotation *a)
{
    size_t n = strlen(a->method.source);
    return n > 3 && strcmp(a->method.source + n - 3, ".kt") == 0;
}

static void add_notes(const struct annotation *a, const struct annotation_options *options,
                      const struct source_file *file, struct table *table)
{
    if (a->n_others > 0)
        table_note(table, arena_printf(a->arena,
                                       "%" PRIu32 " more methods have this name, with fewer samples, such as '%s': add "
                                       "the class and the parameters to choose one",
                                       a->n_others, a->other));
    if (a->by_bytecode && !options->by_bytecode)
        table_note(table, "the method has no line numbers, so the rows are bytecodes: compile it with javac -g");
    if (is_of_kotlin(a) && file == NULL)
        table_note(
            table,
            arena_printf(a->arena,
                         "lines after the end of '%s' belong to inline functions (Kotlin): --source FOLDER shows which",
                         a->method.source));
    if (file != NULL && a->locations[a->n_locations - 2].line > file->n_lines)
        table_note(table,
                   arena_printf(a->arena, "lines above %" PRIu32 " belong to inline functions%s", file->n_lines,
                                is_of_kotlin(a)
                                    ? " (Kotlin); 'mmprof profile -- java ...' counts them for the line that calls them"
                                    : ", or the file is another version"));
    if (options->sources->n > 0 && file == NULL)
        table_note(table, arena_printf(a->arena, "no folder of --source has '%s': name the folder above its package",
                                       a->method.source));
}

void annotation_table(const struct annotation *a, const struct annotation_options *options, struct table *table)
{
    struct source_file found, *file = NULL;
    bool has_lines = a->method.n_lines > 0;
    if (has_lines && find_source(&found, options->sources, a->method.names.class_name, a->method.source, a->arena))
        file = &found;
    table_begin(table, a->arena);
    add_columns(a, file != NULL, table);
    add_metadata(a, file, table);
    if (a->by_bytecode)
        add_bytecodes(a, file, table);
    else
        add_lines(a, file, table);
    if (row_of(a, a->n_locations - 1) != NULL)
        add_row(a, a->n_locations - 1, 0, file, table);
    add_notes(a, options, file, table);
}
