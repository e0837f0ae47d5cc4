#include "report/view/annotation.h"

#include "core/base/bytes.h"
#include "core/hotspot/bytecodes.h"
#include "report/sample_cells.h"
#include "report/source_file.h"

#include <inttypes.h>
#include <string.h>

enum { CODE_BIPUSH = 0x10, CODE_SIPUSH = 0x11, CODE_NEWARRAY = 0xbc };

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
static struct table_cell plain(const struct annotation *a, uint32_t number)
{
    struct table_cell cell = table_number(number);
    cell.words = arena_printf(a->arena, "%" PRIu32, number);
    return cell;
}

static struct table_cell blank(struct table_cell cell)
{
    cell.words = "";
    return cell;
}

/* What samples say of a location; where there is none, nothing is printed. */
static void put_samples(const struct annotation *a, uint32_t location, bool has_code, struct sample_cells *to)
{
    const struct sample_row *row = location < a->n_locations ? row_of(a, location) : NULL;
    size_t n_cells = 5 + 4 * (size_t)a->n_ratios;
    if (row == NULL) {
        for (size_t i = 0; i < n_cells; i++)
            sample_cells_put(to, blank(has_code && i < 3 ? table_number(0) : table_unmeasured()));
        return;
    }
    struct sample_share self = sample_profile_self(&a->profile, location + 1),
                        total = sample_profile_total(&a->profile, location + 1);
    sample_cells_put(to, sample_cells_share(&self, a->arena));
    sample_cells_put(to, sample_cells_share(&total, a->arena));
    sample_cells_put(to, table_number((double)self.n_samples));
    sample_cells_put_ratios(&a->profile, row, true, a->ratios, a->n_ratios, to);
    sample_cells_put(to, sample_cells_error(self.error));
    sample_cells_put(to, sample_cells_error(total.error));
}

static void add_columns(const struct annotation *a, bool has_text, struct table *table)
{
    if (a->by_bytecode)
        table_column(table, "Bytecode", "bytecode", TABLE_COUNT);
    table_column(table, "Line", "line", TABLE_COUNT);
    table_column(table, "Self (%)", "self_share", TABLE_SHARE);
    table_column(table, a->is_time ? "Time (%)" : "Share (%)", a->is_time ? "time_share" : "share", TABLE_SHARE);
    table_column(table, "Samples", "self_samples", TABLE_COUNT);
    sample_cells_ratio_columns(a->ratios, a->n_ratios, true, table);
    sample_cells_hide(table, "self_share_error", TABLE_SHARE);
    sample_cells_hide(table, a->is_time ? "time_share_error" : "share_error", TABLE_SHARE);
    if (a->by_bytecode)
        table_column(table, "Instruction", "instruction", TABLE_TEXT);
    if (has_text)
        table_column(table, "Source", "source", TABLE_TEXT);
}

/* A location's row; or, where there is none (n_locations), a line's that has no code. */
static void add_row(const struct annotation *a, uint32_t location, uint32_t line, const struct source_file *file,
                    struct table *table)
{
    bool is_known = location >= a->n_locations || a->locations[location].index >= 0;
    struct sample_cells to = { table, table_row(table, is_known ? "place" : "unknown") };
    if (to.next == NULL)
        return;
    if (a->by_bytecode)
        sample_cells_put(&to, is_known ? plain(a, (uint32_t)a->locations[location].index) : table_unmeasured());
    sample_cells_put(&to, line > 0 ? plain(a, line) : table_unmeasured());
    put_samples(a, location, location < a->n_locations, &to);
    if (a->by_bytecode)
        sample_cells_put(&to, table_words(is_known ? instruction(a, (size_t)a->locations[location].index) : ""));
    if (file != NULL)
        sample_cells_put(&to, table_words(line <= file->n_lines ? source_file_line(file, line) : "(inline function)"));
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
    if (has_lines && source_file_find(&found, options->sources, a->method.names.class_name, a->method.source, a->arena))
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
