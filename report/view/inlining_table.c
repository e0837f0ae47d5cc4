#include "report/view/inlining_table.h"

#include "core/base/text.h"
#include "core/base/vec.h"
#include "report/sample_cells.h"
#include "report/some_threads.h"
#include "symbolize/java_names.h"

#include <inttypes.h>
#include <stdlib.h>

#define FRAMES (TRACE_FRAME_NATIVE + 1)

/* A call of a method in another one: samples with the callee innermost, by what frame it had. */
struct inlining_row {
    uint32_t callee, caller; /* numbers of sampled methods */
    int32_t index;           /* of the caller's bytecode; -1: not known */
    uint64_t n;
    double ns, by_frame[FRAMES];
};

struct inlining_rows {
    const struct view_pass *pass; /* borrowed */
    struct inlining_row *all;     /* owned */
    size_t n, room;
    struct hash_set by_call;
    double all_ns, known_ns; /* of all samples; of those that know their frame */
    const char **labels;     /* by method; the arena's */
};

/* ---- adding up ---- */

static struct inlining_row *row_of(struct inlining_rows *rows, uint32_t callee, uint32_t caller, int32_t index)
{
    const uint32_t key[3] = { callee, caller, (uint32_t)index };
    struct hash_slot *slot = hash_put(&rows->by_call, hash_text(HASH_START, (const char *)key, sizeof key) | 1);
    if (slot == NULL || vec_reserve(rows->all, rows->room, rows->n + 1) < 0)
        return NULL;
    if (slot->value == 0) {
        rows->all[rows->n] = (struct inlining_row){ .callee = callee, .caller = caller, .index = index };
        slot->value = (uint32_t)++rows->n;
    }
    return &rows->all[slot->value - 1];
}

static bool is_asked(const struct view_pass *pass, const struct trace_kept_sample *sample)
{
    return !sample->is_waiting && threads_match(trace_thread(pass->reader, sample->thread), pass->options.only_threads);
}

/* Returns false: no memory. */
static bool add_sample(struct inlining_rows *rows, const struct trace_kept_sample *sample)
{
    const struct view_pass *pass = rows->pass;
    const struct trace_context *at = sample->context == 0 ? NULL : trace_context(pass->reader, sample->context);
    double ns = (double)sample->weight_ns;
    rows->all_ns += ns;
    if (at == NULL || at->parent == 0)
        return true;
    const struct trace_context *caller = trace_context(pass->reader, at->parent);
    struct inlining_row *row = row_of(rows, trace_samples_method(&pass->samples, at->method),
                                      trace_samples_method(&pass->samples, caller->method), at->call_site);
    if (row == NULL)
        return false;
    row->n += sample->n;
    row->ns += ns;
    row->by_frame[sample->frame] += ns;
    rows->known_ns += sample->frame == TRACE_FRAME_UNKNOWN ? 0 : ns;
    return true;
}

static int add_up(struct inlining_rows *rows, struct err *err)
{
    const struct trace_samples *samples = &rows->pass->samples;
    for (size_t i = 0; i < samples->n_kept; i++)
        if (is_asked(rows->pass, &samples->kept[i]) && !add_sample(rows, &samples->kept[i]))
            return err_set(err, "out of memory for calls");
    if (rows->known_ns > 0)
        return 0;
    err_set(err, "the stack samples of '%s' do not say what is inlined", rows->pass->options.path);
    return err_next(err, "take some from outside: 'mmprof sample -p PID -o s.dat', then 'mmprof report --view inlining "
                         "s.dat'");
}

static int by_time(const void *a, const void *b)
{
    const struct inlining_row *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* ---- names ---- */

static int find_labels(struct inlining_rows *rows, struct err *err)
{
    const struct view_pass *pass = rows->pass;
    uint32_t n_all = trace_n_sampled_methods(pass->reader), n = 0;
    struct method_name *names = arena_alloc(pass->arena, ((size_t)n_all + 1) * sizeof *names);
    uint32_t *numbers = arena_alloc(pass->arena, ((size_t)n_all + 1) * sizeof *numbers);
    const char **labels = arena_alloc(pass->arena, ((size_t)n_all + 1) * sizeof *labels);
    rows->labels = arena_alloc(pass->arena, ((size_t)n_all + 1) * sizeof *rows->labels);
    if (names == NULL || numbers == NULL || labels == NULL || rows->labels == NULL)
        return err_set(err, "out of memory for names");
    for (uint32_t i = 0; i < n_all; i++) {
        if (trace_samples_method(&pass->samples, i) != i)
            continue;
        numbers[n] = i;
        names[n++] = trace_sampled_method(pass->reader, i)->names;
    }
    if (java_names_labels(pass->arena, names, n, labels) < 0)
        return err_set(err, "out of memory for names");
    for (uint32_t i = 0; i < n; i++)
        rows->labels[numbers[i]] = labels[i];
    return 0;
}

static uint32_t line_of_call(const struct trace_sampled_method *method, int32_t index)
{
    uint32_t line = 0;
    for (uint32_t i = 0; index >= 0 && i < method->n_lines && method->lines[i].index <= (uint32_t)index; i++)
        line = method->lines[i].line;
    return line;
}

/* ---- the table ---- */

static void add_columns(const struct view_pass *pass, struct table *table)
{
    table_column(table, "Method", "label", TABLE_TEXT);
    table_column(table, "Called in", "caller_label", TABLE_TEXT);
    table_column(table, "Line", "line", TABLE_COUNT);
    table_column(table, "Self (%)", "self_share", TABLE_SHARE);
    table_column(table, "Inlined (%)", "inlined_share", TABLE_SHARE);
    table_column(table, "Called (%)", "called_share", TABLE_SHARE);
    table_column(table, "Interpreted (%)", "interpreted_share", TABLE_SHARE);
    table_column(table, "Samples", "samples", TABLE_COUNT);
    if (pass->shapes != NULL)
        table_column(table, "With probes", "with_probes", TABLE_TEXT);
    sample_cells_hide(table, "bytecode", TABLE_COUNT);
    sample_cells_hide(table, "class", TABLE_TEXT);
    sample_cells_hide(table, "method", TABLE_TEXT);
    sample_cells_hide(table, "descriptor", TABLE_TEXT);
    sample_cells_hide(table, "caller_class", TABLE_TEXT);
    sample_cells_hide(table, "caller_method", TABLE_TEXT);
    sample_cells_hide(table, "caller_descriptor", TABLE_TEXT);
}

static void put_names(struct sample_cells *to, const struct method_name *names)
{
    sample_cells_put(to, table_words(names->class_name));
    sample_cells_put(to, table_words(names->method));
    sample_cells_put(to, table_words(names->descriptor));
}

/* Without commas. */
static struct table_cell line_cell(uint32_t line, struct arena *arena)
{
    struct table_cell cell = line == 0 ? table_unmeasured() : table_number(line);
    if (line != 0)
        cell.words = arena_printf(arena, "%" PRIu32, line);
    return cell;
}

static void add_row(const struct inlining_rows *rows, const struct inlining_row *row, struct table *table)
{
    const struct view_pass *pass = rows->pass;
    const struct trace_sampled_method *callee = trace_sampled_method(pass->reader, row->callee);
    const struct trace_sampled_method *caller = trace_sampled_method(pass->reader, row->caller);
    double known_ns = row->ns - row->by_frame[TRACE_FRAME_UNKNOWN];
    double called_ns = row->by_frame[TRACE_FRAME_COMPILED] + row->by_frame[TRACE_FRAME_NATIVE];
    uint32_t line = line_of_call(caller, row->index);
    struct sample_cells to = { table, table_row(table, "call") };
    if (to.next == NULL)
        return;
    sample_cells_put(&to, table_words(rows->labels[row->callee]));
    sample_cells_put(&to, table_words(rows->labels[row->caller]));
    sample_cells_put(&to, line_cell(line, table->arena));
    sample_cells_put(&to, table_quotient(row->ns, rows->all_ns));
    sample_cells_put(&to, table_quotient(row->by_frame[TRACE_FRAME_INLINED], known_ns));
    sample_cells_put(&to, table_quotient(called_ns, known_ns));
    sample_cells_put(&to, table_quotient(row->by_frame[TRACE_FRAME_INTERPRETED], known_ns));
    sample_cells_put(&to, table_number((double)row->n));
    if (pass->shapes != NULL)
        sample_cells_put(&to, table_words(jit_shapes_call_text(pass->shapes, &callee->names, &caller->names)));
    sample_cells_put(&to, row->index < 0 ? table_unmeasured() : table_number(row->index));
    put_names(&to, &callee->names);
    put_names(&to, &caller->names);
}

/* Of the time of methods that another one calls. */
static void add_totals(const struct inlining_rows *rows, struct table *table)
{
    double inlined_ns = 0, called_ns = 0;
    for (size_t i = 0; i < rows->n; i++) {
        inlined_ns += rows->all[i].by_frame[TRACE_FRAME_INLINED];
        called_ns += rows->all[i].by_frame[TRACE_FRAME_COMPILED];
    }
    struct arena *arena = table->arena;
    table_metadata_number(table, "inlined_share", inlined_ns / rows->known_ns,
                          arena_printf(arena,
                                       "inlined  %s of the time in called methods; %s in their own compiled code",
                                       report_percent(arena, inlined_ns / rows->known_ns),
                                       report_percent(arena, called_ns / rows->known_ns)));
}

int inlining_table(const struct view_pass *pass, const struct inlining_options *options, struct table *table,
                   struct err *err)
{
    struct inlining_rows rows = { .pass = pass };
    uint64_t n_left = 0;
    table_begin(table, pass->arena);
    int rc = add_up(&rows, err);
    if (rc == 0)
        rc = find_labels(&rows, err);
    if (rc == 0) {
        if (!trace_samples_are_all(pass->reader))
            report_metadata(&pass->source, table);
        add_totals(&rows, table);
        add_columns(pass, table);
        qsort(rows.all, rows.n, sizeof *rows.all, by_time);
    }
    for (size_t i = 0; rc == 0 && i < rows.n; i++)
        if (rows.all[i].ns >= options->min_share * rows.all_ns && (options->top == 0 || i < options->top))
            add_row(&rows, &rows.all[i], table);
        else
            n_left++;
    if (n_left > 0)
        table_note(table, arena_printf(pass->arena, "not shown: %" PRIu64 " smaller row%s (--all)", n_left,
                                       text_plural(n_left)));
    if (rc == 0 && table->is_broken)
        rc = err_set(err, "out of memory for a table");
    hash_free(&rows.by_call);
    free(rows.all);
    return rc;
}
