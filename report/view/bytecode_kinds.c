#include "report/view/bytecode_kinds.h"

#include "report/sample_cells.h"

#define TREE_BYTES CONTEXT_TREE_MIN_BYTES
#define TOLD_SHARE 0.99

/* What an instruction handles, as far as it tells: fields' do once the interpreter has rewritten them. */
enum operand { OPERAND_UNTOLD, OPERAND_REFERENCE, OPERAND_PRIMITIVE, OPERANDS };

/* By name, those above are followed by one for each number of bytecode_names.h. */
enum { ROW_NATIVE = OPCODE_KINDS * OPERANDS, ROW_OUTSIDE, ROWS };

void bytecode_kinds_open(struct bytecode_kinds *kinds, enum bytecode_kinds_by by, uint64_t block_ns,
                         struct arena *arena)
{
    memset(kinds, 0, sizeof *kinds);
    kinds->by = by;
    bytecode_names_open(&kinds->names, by == BYTECODES_BY_CLASS, arena);
    sample_profile_open(&kinds->profile, block_ns, TREE_BYTES);
}

void bytecode_kinds_free(struct bytecode_kinds *kinds)
{
    sample_profile_free(&kinds->profile);
    bytecode_names_free(&kinds->names);
}

/* ---- samples ---- */

/* "aaload" and "fast_agetfield" handle references, "iaload" and "fast_igetfield" do not, "getfield" does not tell. */
static enum operand operand_of(const struct opcode *opcode)
{
    bool is_array = opcode->kind == OPCODE_ARRAY_READ || opcode->kind == OPCODE_ARRAY_WRITE;
    bool is_field = opcode->kind == OPCODE_FIELD_READ || opcode->kind == OPCODE_FIELD_WRITE;
    const char *type = opcode->name;
    if (is_field)
        type = strncmp(type, "fast_", 5) == 0 ? type + 5 : NULL;
    if (type == NULL || (!is_array && !is_field))
        return OPERAND_UNTOLD;
    return *type == 'a' ? OPERAND_REFERENCE : OPERAND_PRIMITIVE;
}

static uint32_t kind_of(const struct sampled_method *method, const struct java_frame *frame)
{
    const struct opcode *opcode = method->bytes == NULL || frame->index < 0
                                      ? NULL
                                      : bytecodes_at(method->bytes, method->code.n_bytes, (size_t)frame->index);
    return opcode == NULL ? 0 : opcode->kind * (uint32_t)OPERANDS + operand_of(opcode);
}

static void find_row(struct bytecode_kinds *kinds, const struct stack_sample *sample, uint32_t i,
                     const struct sampled_method *method, uint32_t *row)
{
    const struct java_frame *frame = &sample->frames[i];
    *row = ROW_NATIVE;
    if (frame->kind == FRAME_NATIVE || method->code.is_native)
        return;
    if (kinds->by == BYTECODES_BY_KIND) {
        *row = kind_of(method, frame);
        return;
    }
    uint32_t name;
    bytecode_names_find(&kinds->names, sample->methods[i], method, frame->index, &name);
    bytecode_names_operand(&kinds->names, sample, i, &name);
    *row = ROWS + name;
}

void bytecode_kinds_add(struct bytecode_kinds *kinds, const struct sampled_method *methods,
                        const struct stack_sample *sample, const struct profile_sample *add)
{
    uint32_t rows[2] = { CONTEXT_NONE, CONTEXT_NONE }, i = 0;
    struct profile_sample row = *add;
    while (i < sample->n && sample->methods[i] == SAMPLED_UNKNOWN)
        i++;
    bool is_known = i < sample->n;
    rows[0] = sample->in_native ? ROW_OUTSIDE : CONTEXT_NONE;
    if (is_known)
        find_row(kinds, sample, i, &methods[sample->methods[i]], &rows[1]);
    if (add->group == 0 && !sample->in_native) {
        kinds->n_in_java++;
        kinds->n_methods += is_known;
        kinds->n_bytecodes += is_known && (rows[1] == ROW_NATIVE || sample->frames[i].index >= 0);
    }
    row.methods = rows;
    row.bytecodes = NULL;
    row.n = is_known ? 2 : 0;
    row.n_same = 0;
    sample_profile_add(&kinds->profile, &row);
}

/* ---- the table ---- */

void bytecode_kinds_tell(const struct bytecode_kinds *kinds, struct table *table)
{
    double n = (double)kinds->n_in_java;
    table_metadata_number(table, "java_code_samples", n, NULL);
    if (kinds->n_in_java == 0)
        return;
    if (kinds->names.n_operands > 0) {
        double operands = (double)kinds->names.n_operands, share = (double)kinds->names.n_named / operands,
               compiled = (double)kinds->names.n_compiled;
        table_metadata_number(table, "operand_named_share", share, NULL);
        table_note(table, arena_printf(table->arena,
                                       "%.1f %% of the samples in compiled code are at an instruction that reads or "
                                       "writes an object; the field or array is known for %.1f %% of these",
                                       100 * operands / compiled, 100 * share));
    }
    table_metadata_number(table, "method_known_share", (double)kinds->n_methods / n, NULL);
    table_metadata_number(table, "bytecode_known_share", (double)kinds->n_bytecodes / n, NULL);
    if ((double)kinds->n_bytecodes < TOLD_SHARE * n)
        table_note(
            table,
            arena_printf(table->arena,
                         "%" PRIu64 " samples in Java code: the bytecode is known for %.1f %%, the method for %.1f %%",
                         kinds->n_in_java, 100 * (double)kinds->n_bytecodes / n, 100 * (double)kinds->n_methods / n));
}

static const struct {
    const char *heading, *key, *kind;
} bys[] = {
    [BYTECODES_BY_KIND] = { "Bytecode", "bytecode", "bytecodes" },
    [BYTECODES_BY_FIELD] = { "Field, by bytecode", "field", "field" },
    [BYTECODES_BY_CLASS] = { "Class, by bytecode", "class", "class" },
};

static const char *name_of(const struct bytecode_kinds *kinds, uint32_t row, struct arena *arena)
{
    static const char *const operands[OPERANDS] = { "", ", reference", ", primitive" };
    if (row == ROW_NATIVE)
        return "native method";
    if (row == ROWS + BYTECODE_NAMES_NOTHING)
        return "bytecodes that name none";
    if (row == ROWS + BYTECODE_NAMES_UNKNOWN)
        return "bytecode not known";
    return row >= ROWS ? bytecode_names_label(&kinds->names, row - ROWS)
                       : arena_printf(arena, "%s%s", opcode_kind_name((enum opcode_kind)(row / OPERANDS)),
                                      operands[row % OPERANDS]);
}

static void add_row(const struct bytecode_kinds *kinds, const struct samples_source *source, uint32_t row,
                    struct table *table)
{
    const struct sample_profile *profile = &kinds->profile;
    struct sample_cells cells = { .label = name_of(kinds, row, table->arena),
                                  .total = sample_profile_total(profile, row),
                                  .self = sample_profile_self(profile, row),
                                  .heat = sample_profile_heat(profile, row, false) };
    sample_cells_ratios(profile, &profile->rows[row], true, source->ratios, source->n_ratios, &cells);
    table_add(table, bys[kinds->by].kind, &cells);
}

struct sized {
    uint32_t row;
    double size; /* samples, or heat */
};

static int by_size(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    return x->size != y->size ? (x->size > y->size ? -1 : 1) : (x->row > y->row) - (x->row < y->row);
}

/* The rows to print, the largest first; *n of them, in the arena. */
static struct sized *choose(const struct bytecode_kinds *kinds, double min_share, struct arena *arena, size_t *n)
{
    const struct sample_profile *profile = &kinds->profile;
    struct sized *rows = arena_alloc(arena, (profile->n_rows + 1) * sizeof *rows);
    *n = 0;
    for (uint32_t i = 0; i < profile->n_rows; i++) {
        double heat = sample_profile_heat(profile, i, false), share = sample_profile_total(profile, i).share;
        if (i == ROW_OUTSIDE || profile->rows[i].total.n == 0 ||
            (kinds->by != BYTECODES_BY_KIND && share < min_share && heat < min_share))
            continue;
        rows[(*n)++] = (struct sized){ i, profile->half_life_ns > 0 ? heat : (double)profile->rows[i].total.n };
    }
    qsort(rows, *n, sizeof *rows, by_size);
    return rows;
}

void bytecode_kinds_table(const struct bytecode_kinds *kinds, const struct samples_source *source,
                          const struct samples_options *options, struct arena *arena, struct table *table)
{
    size_t n;
    const struct sized *rows = choose(kinds, options->min_share, arena, &n);
    unsigned conditions = samples_conditions(source) & (SAMPLES_TIME | SAMPLES_EVENT | SAMPLES_DECAY);
    table_begin(table, arena);
    sample_cells_columns(bys[kinds->by].key, bys[kinds->by].heading, conditions, source->ratios, source->n_ratios, true,
                         table);
    table_metadata_words(table, "program", source->program, arena_printf(arena, "program  %s", source->program));
    table_metadata_number(table, "samples", (double)kinds->profile.n_samples,
                          arena_printf(arena, "samples  %" PRIu64 ", %" PRIu64 " of them in Java code",
                                       kinds->profile.n_samples, kinds->n_in_java));
    for (size_t i = 0; i < n && (kinds->by == BYTECODES_BY_KIND || options->top == 0 || i < options->top); i++)
        add_row(kinds, source, rows[i].row, table);
}
