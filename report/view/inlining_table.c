#include "report/view/tables.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "report/some_threads.h"

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
    struct hash_slot *slot = xhash_put(&rows->by_call, hash_text(HASH_START, (const char *)key, sizeof key) | 1);
    xgrow(rows->all, rows->room, rows->n + 1);
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

static void add_sample(struct inlining_rows *rows, const struct trace_kept_sample *sample)
{
    const struct view_pass *pass = rows->pass;
    const struct trace_context *at = sample->context == 0 ? NULL : trace_context(pass->reader, sample->context);
    double ns = (double)sample->weight_ns;
    rows->all_ns += ns;
    if (at == NULL || at->parent == 0)
        return;
    const struct trace_context *caller = trace_context(pass->reader, at->parent);
    struct inlining_row *row = row_of(rows, trace_samples_method(&pass->samples, at->method),
                                      trace_samples_method(&pass->samples, caller->method), at->call_site);
    row->n += sample->n;
    row->ns += ns;
    row->by_frame[sample->frame] += ns;
    rows->known_ns += sample->frame == TRACE_FRAME_UNKNOWN ? 0 : ns;
}

static int add_up(struct inlining_rows *rows, struct err *err)
{
    const struct trace_samples *samples = &rows->pass->samples;
    for (size_t i = 0; i < samples->n_kept; i++)
        if (is_asked(rows->pass, &samples->kept[i]))
            add_sample(rows, &samples->kept[i]);
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

/* ---- the table ---- */

/* A row as it is printed. */
struct inlining_line {
    const char *label, *caller_label, *with_probes;
    struct method_name callee, caller;
    struct table_cell line; /* without commas */
    double self_share, inlined_share, called_share, interpreted_share, bytecode;
    uint64_t n;
};

#define LINE(member) FROM(struct inlining_line, member)
#define KNOWS_PROBES 2u /* a condition: what probes changed in compiled code is known */

static const struct table_column columns[] = {
    { "label", "Method", TABLE_TEXT, LINE(label) },
    { "caller_label", "Called in", TABLE_TEXT, LINE(caller_label) },
    { "line", "Line", TABLE_COUNT, LINE(line) },
    { "self_share", "Self (%)", TABLE_SHARE, LINE(self_share) },
    { "inlined_share", "Inlined (%)", TABLE_SHARE, LINE(inlined_share) },
    { "called_share", "Called (%)", TABLE_SHARE, LINE(called_share) },
    { "interpreted_share", "Interpreted (%)", TABLE_SHARE, LINE(interpreted_share) },
    { "samples", "Samples", TABLE_COUNT, LINE(n) },
    { "with_probes", "With probes", TABLE_TEXT, LINE(with_probes), .when = KNOWS_PROBES },
    { "bytecode", NULL, TABLE_COUNT, LINE(bytecode), .width = COLUMN_DATA },
    { "class", NULL, TABLE_TEXT, LINE(callee.class_name), .width = COLUMN_DATA },
    { "method", NULL, TABLE_TEXT, LINE(callee.method), .width = COLUMN_DATA },
    { "descriptor", NULL, TABLE_TEXT, LINE(callee.descriptor), .width = COLUMN_DATA },
    { "caller_class", NULL, TABLE_TEXT, LINE(caller.class_name), .width = COLUMN_DATA },
    { "caller_method", NULL, TABLE_TEXT, LINE(caller.method), .width = COLUMN_DATA },
    { "caller_descriptor", NULL, TABLE_TEXT, LINE(caller.descriptor), .width = COLUMN_DATA },
};

static void add_row(const struct inlining_rows *rows, const struct inlining_row *row, struct table *table)
{
    const struct view_pass *pass = rows->pass;
    const struct trace_sampled_method *callee = trace_sampled_method(pass->reader, row->callee);
    const struct trace_sampled_method *caller = trace_sampled_method(pass->reader, row->caller);
    double known_ns = row->ns - row->by_frame[TRACE_FRAME_UNKNOWN];
    double called_ns = row->by_frame[TRACE_FRAME_COMPILED] + row->by_frame[TRACE_FRAME_NATIVE];
    uint32_t number = trace_sampled_line(caller, row->index);
    struct inlining_line line = {
        .label = rows->labels[row->callee],
        .caller_label = rows->labels[row->caller],
        .with_probes = pass->shapes == NULL ? NULL : jit_shapes_call_text(pass->shapes, &callee->names, &caller->names),
        .callee = callee->names,
        .caller = caller->names,
        .line = number == 0 ? table_unmeasured() : table_number(number),
        .self_share = row->ns / rows->all_ns,
        .inlined_share = row->by_frame[TRACE_FRAME_INLINED] / known_ns,
        .called_share = called_ns / known_ns,
        .interpreted_share = row->by_frame[TRACE_FRAME_INTERPRETED] / known_ns,
        .bytecode = row->index < 0 ? NAN : (double)row->index,
        .n = row->n,
    };
    if (number != 0)
        line.line.words = arena_printf(table->arena, "%" PRIu32, number);
    table_add(table, "call", &line);
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
    if (rc == 0) {
        rows.labels = trace_samples_labels(&pass->samples, pass->arena);
        if (!trace_samples_are_all(pass->reader))
            report_metadata(&pass->source, table);
        add_totals(&rows, table);
        TABLE_COLUMNS(table, columns, pass->shapes != NULL ? KNOWS_PROBES : 1);
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
    hash_free(&rows.by_call);
    free(rows.all);
    return rc;
}
