#include "report/view/compiled.h"

#include "core/base/text.h"
#include "core/trace/recording_info.h"
#include "report/view/tables.h"

#define REASONS_MOST 48u

/* ---- adding up ---- */

static enum compiled_by by_of(const struct trace_kept_sample *sample)
{
    if (sample->frame == TRACE_FRAME_INTERPRETED)
        return COMPILED_NOT;
    if ((sample->frame != TRACE_FRAME_COMPILED && sample->frame != TRACE_FRAME_INLINED) || sample->tier == 0)
        return COMPILED_ELSE;
    return sample->tier < 4 ? COMPILED_C1 : COMPILED_C2;
}

static uint32_t method_of(const struct view_pass *pass, uint32_t context)
{
    const struct trace_context *at = context == 0 ? NULL : trace_context(pass->reader, context);
    return at == NULL ? CALLTREE_NONE : trace_samples_method(&pass->samples, at->method);
}

static void add_samples(const struct view_pass *pass, struct compiled_row *by_method, struct compiled_rows *rows)
{
    const struct trace_samples *samples = &pass->samples;
    for (size_t i = 0; i < samples->n_kept; i++) {
        const struct trace_kept_sample *sample = &samples->kept[i];
        double ns = sample->is_waiting ? 0 : (double)sample->weight_ns;
        uint32_t method = method_of(pass, sample->context);
        rows->all_ns += ns;
        rows->n += sample->n;
        if (method == CALLTREE_NONE || ns <= 0)
            continue;
        by_method[method].n += sample->n;
        by_method[method].all_ns += ns;
        by_method[method].ns[by_of(sample)] += ns;
        rows->ns[by_of(sample)] += ns;
        rows->known_ns += sample->frame == TRACE_FRAME_UNKNOWN ? 0 : ns;
    }
}

static bool is_of_code(const struct trace_code_change *change)
{
    return strcmp(change->what, TRACE_CODE_COMPILED) == 0 || strcmp(change->what, TRACE_CODE_DISCARDED) == 0;
}

static void add_change(const struct view_pass *pass, const struct trace_code_change *change, struct compiled_row *row)
{
    uint64_t start = pass->tree.start_ticks, length = (pass->tree.end_ticks - start) / COMPILED_PERIODS + 1;
    uint64_t period = change->ticks < start ? 0 : (change->ticks - start) / length;
    if (!is_of_code(change)) {
        row->n_traps += change->n;
    } else if (strcmp(change->what, TRACE_CODE_COMPILED) == 0) {
        row->n_compiled += change->n;
    } else {
        row->n_discarded += change->n;
        row->discarded_in[period < COMPILED_PERIODS ? period : COMPILED_PERIODS - 1] += change->n;
    }
}

static double slow_ns(const struct compiled_row *row)
{
    return row->ns[COMPILED_NOT] + row->ns[COMPILED_C1];
}

static int by_slow_time(const void *a, const void *b)
{
    const struct compiled_row *x = a, *y = b;
    if (slow_ns(x) != slow_ns(y))
        return slow_ns(x) < slow_ns(y) ? 1 : -1;
    return x->n_discarded != y->n_discarded ? (x->n_discarded < y->n_discarded ? 1 : -1)
                                            : (x->method > y->method) - (x->method < y->method);
}

void compiled_find(const struct view_pass *pass, struct compiled_rows *rows)
{
    uint32_t n = trace_n_sampled_methods(pass->reader);
    *rows = (struct compiled_rows){ .counted = info_text(pass->reader, INFO_SAMPLE_CODE) };
    rows->all = arena_alloc(pass->arena, ((size_t)n + 1) * sizeof *rows->all);
    add_samples(pass, rows->all, rows);
    for (size_t i = 0; i < pass->n_code_changes; i++) {
        uint32_t method = method_of(pass, pass->code_changes[i].context);
        if (method < n)
            add_change(pass, &pass->code_changes[i], &rows->all[method]);
    }
    for (uint32_t i = 0; i < n; i++) {
        rows->all[i].method = i;
        rows->n_traps += rows->all[i].n_traps;
        if (rows->all[i].n + rows->all[i].n_compiled + rows->all[i].n_discarded + rows->all[i].n_traps > 0)
            rows->all[rows->n_rows++] = rows->all[i];
    }
    qsort(rows->all, rows->n_rows, sizeof *rows->all, by_slow_time);
}

/* ---- reasons ---- */

struct reason {
    const char *name;
    uint64_t n;
};

static int by_count(const void *a, const void *b)
{
    const struct reason *x = a, *y = b;
    return x->n != y->n ? (x->n < y->n ? 1 : -1) : strcmp(x->name, y->name);
}

const char *compiled_reasons(const struct view_pass *pass, uint32_t method, const char **most)
{
    struct reason reasons[REASONS_MOST] = { { NULL, 0 } };
    const char *text = "";
    size_t n = 0;
    for (size_t i = 0; i < pass->n_code_changes; i++) {
        const struct trace_code_change *change = &pass->code_changes[i];
        size_t k = 0;
        if (is_of_code(change) || (method != CALLTREE_NONE && method_of(pass, change->context) != method))
            continue;
        while (k < n && strcmp(reasons[k].name, change->what) != 0)
            k++;
        if (k == REASONS_MOST)
            continue;
        if (k == n)
            reasons[n++] = (struct reason){ change->what, 0 };
        reasons[k].n += change->n;
    }
    qsort(reasons, n, sizeof *reasons, by_count);
    *most = n == 0 ? "" : reasons[0].name;
    for (size_t i = 0; i < n; i++)
        text = arena_printf(pass->arena, "%s%s%" PRIu64 " %s", text, i == 0 ? "" : ", ", reasons[i].n, reasons[i].name);
    return text;
}

/* ---- the table ---- */

/* A row as it is printed. */
struct compiled_line {
    const char *label, *reasons;
    struct method_name name;
    double self_share, shares[COMPILED_BY];
    double n_compiled, n_discarded, n_traps; /* NAN: not counted */
    uint64_t n;
};

#define LINE(member) FROM(struct compiled_line, member)

static const struct table_column columns[] = {
    { "label", "Method", TABLE_TEXT, LINE(label) },
    { "self_share", "Self (%)", TABLE_SHARE, LINE(self_share) },
    { "interpreted_share", "Interpreted (%)", TABLE_SHARE, LINE(shares[COMPILED_NOT]) },
    { "c1_share", "C1 (%)", TABLE_SHARE, LINE(shares[COMPILED_C1]) },
    { "c2_share", "C2 (%)", TABLE_SHARE, LINE(shares[COMPILED_C2]) },
    { "compiled", "Compiled by C2", TABLE_COUNT, LINE(n_compiled) },
    { "deoptimized", "Deoptimized", TABLE_COUNT, LINE(n_discarded) },
    { "traps", NULL, TABLE_COUNT, LINE(n_traps), .width = COLUMN_DATA },
    { "reasons", "Traps", TABLE_TEXT, LINE(reasons), .is_told = true },
    { "samples", NULL, TABLE_COUNT, LINE(n), .width = COLUMN_DATA },
    { "class", NULL, TABLE_TEXT, LINE(name.class_name), .width = COLUMN_DATA },
    { "method", NULL, TABLE_TEXT, LINE(name.method), .width = COLUMN_DATA },
    { "descriptor", NULL, TABLE_TEXT, LINE(name.descriptor), .width = COLUMN_DATA },
};

static void add_row(const struct view_pass *pass, const struct compiled_rows *rows, const struct compiled_row *row,
                    const char *label, struct table *table)
{
    bool is_counted = rows->counted != NULL && strcmp(rows->counted, "counted") == 0;
    const char *most;
    struct compiled_line line = { .label = label,
                                  .reasons = is_counted ? compiled_reasons(pass, row->method, &most) : NULL,
                                  .name = trace_sampled_method(pass->reader, row->method)->names,
                                  .self_share = row->all_ns / rows->all_ns,
                                  .n_compiled = is_counted ? (double)row->n_compiled : NAN,
                                  .n_discarded = is_counted ? (double)row->n_discarded : NAN,
                                  .n_traps = is_counted ? (double)row->n_traps : NAN,
                                  .n = row->n };
    for (int i = 0; i < COMPILED_BY; i++)
        line.shares[i] = row->ns[i] / rows->all_ns;
    table_add(table, "method", &line);
}

/* Of all CPU time, the JVM's own threads included. */
static void add_totals(const struct compiled_rows *rows, struct table *table)
{
    static const char *const keys[COMPILED_ELSE] = { "interpreted_share", "c1_share", "c2_share" };
    static const char *const names[COMPILED_ELSE] = { "interpreted", "in C1's code", "in C2's code" };
    const char *words = "Java    ";
    for (int i = 0; i < COMPILED_ELSE; i++)
        words = arena_printf(table->arena, "%s%s%s %s", words, i == 0 ? "" : ", ",
                             report_percent(table->arena, rows->ns[i] / rows->all_ns), names[i]);
    for (int i = 0; i < COMPILED_ELSE; i++)
        table_metadata_number(table, keys[i], rows->ns[i] / rows->all_ns,
                              i > 0 ? NULL : arena_printf(table->arena, "%s, of the CPU time", words));
}

int compiled_table(const struct view_pass *pass, const struct report_row_options *options, struct table *table,
                   struct err *err)
{
    struct compiled_rows rows;
    uint64_t n_left = 0, n_shown = 0;
    compiled_find(pass, &rows);
    if (!(rows.known_ns > 0)) {
        err_set(err, "the stack samples of '%s' do not say what was compiled", pass->options.path);
        return err_next(err, "take some from outside: 'mmprof sample -p PID -o s.dat'");
    }
    table_begin(table, pass->arena);
    if (!trace_samples_are_all(pass->reader))
        report_metadata(&pass->source, table);
    add_totals(&rows, table);
    TABLE_COLUMNS(table, columns, 1);
    const char **labels = trace_samples_labels(&pass->samples, pass->arena);
    for (size_t i = 0; i < rows.n_rows; i++) {
        const struct compiled_row *row = &rows.all[i];
        bool is_small = slow_ns(row) < options->min_share * rows.all_ns && row->n_discarded == 0;
        if (!options->all && (is_small || (options->top > 0 && n_shown >= options->top)))
            n_left++;
        else if (++n_shown > 0)
            add_row(pass, &rows, row, labels[row->method], table);
    }
    if (rows.counted == NULL || strcmp(rows.counted, "counted") != 0)
        table_note(table, rows.counted == NULL ? "the recording has no counts of compilations"
                                               : "this JVM exports no counts of compilations and traps");
    if (n_left > 0)
        table_note(table, arena_printf(pass->arena, "not shown: %" PRIu64 " other method%s (--all)", n_left,
                                       text_plural(n_left)));
    return 0;
}
