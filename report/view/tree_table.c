#include "report/view/tree_table.h"

#include "core/base/text.h"
#include "core/trace/recording_info.h"

#include "report/sample_cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Deeper contexts are indented no further, so that recursion stays on the screen. */
#define INDENT_MAX 60

struct tree_making {
    const struct report_source *source;
    const struct tree_table_options *options;
    struct table *table;
    struct tree_view view;
    const char **labels;   /* by line */
    const uint32_t *asked; /* methods that are told apart by their labels */
    size_t n_asked;
    bool knows_calls, knows_time, any_open;
    size_t n_left; /* lines with less time than is asked for */
};

/* ---- what is 100 % ---- */

/* What a line's share is of, where the asked method was recorded for a part of the time. */
static double whole_of(const struct tree_making *making, uint32_t line)
{
    const struct report_source *source = making->source;
    double all = making->view.all_ticks;
    uint32_t top = line;
    if (making->options->kind == TREE_VIEW_ALL || source->sampled != NULL)
        return all;
    while (making->view.lines[top].parent != 0)
        top = making->view.lines[top].parent;
    struct recorded recorded = report_recorded(source, making->view.lines[top].method);
    recorded_hold(&recorded, making->view.lines[top].ticks, all);
    return recorded.share * all;
}

/* ---- names ---- */

static const char *root_label(const struct report_source *source, uint32_t root)
{
    const struct calltree_root *of = &source->tree->roots[root];
    const struct trace_thread *thread = of->thread == CALLTREE_NONE ? NULL : trace_thread(source->reader, of->thread);
    return thread == NULL ? vm_part_name(of->part) : arena_printf(source->arena, "%s (%d)", thread->name, thread->tid);
}

/* Each the only one of its kind. */
static int find_labels(struct tree_making *making)
{
    const struct report_source *source = making->source;
    const struct tree_view *view = &making->view;
    uint32_t n_methods = source->tree->n_methods, n = 0;
    uint32_t *methods = arena_alloc(source->arena, ((size_t)n_methods + 1) * sizeof *methods),
             *label_of = arena_alloc(source->arena, ((size_t)n_methods + 1) * sizeof *label_of);
    making->labels = arena_alloc(source->arena, ((size_t)view->n_lines + 1) * sizeof *making->labels);
    if (methods == NULL || label_of == NULL || making->labels == NULL)
        return -1;
    for (size_t i = 1; i < view->n_lines + making->n_asked; i++) {
        uint32_t method = i < view->n_lines ? view->lines[i].method : making->asked[i - view->n_lines];
        if (method >= n_methods || label_of[method] != 0)
            continue;
        methods[n++] = method;
        label_of[method] = n;
    }
    const char **labels = report_labels(source, methods, n);
    for (uint32_t i = 1; labels != NULL && i < view->n_lines; i++)
        making->labels[i] = view->lines[i].method >= n_methods ? root_label(source, view->lines[i].root)
                                                               : labels[label_of[view->lines[i].method] - 1];
    return labels == NULL ? -1 : 0;
}

/* ---- columns and rows ---- */

static void add_columns(const struct tree_making *making)
{
    static const char *const headings[] = { [TREE_VIEW_ALL] = "Method",
                                            [TREE_VIEW_CALLEES] = "Method and its callees",
                                            [TREE_VIEW_CALLERS] = "Method and its callers" };
    struct table *t = making->table;
    bool is_all = making->options->kind == TREE_VIEW_ALL;
    table_column(t, making->knows_time ? "Time (%)" : "Share (%)", "time_share", TABLE_SHARE);
    table_column(t, "Self (%)", "self_share", TABLE_SHARE);
    t->columns[table_column(t, "Of it (%)", "part", TABLE_SHARE)].not_in_text = is_all;
    table_column(t, "Calls", "calls", TABLE_COUNT);
    table_column(t, "Time/call", "ns_per_call", TABLE_NS);
    t->columns[table_column(t, "Known by", "known_by", TABLE_TEXT)].not_in_text = making->source->sampled == NULL;
    table_column(t, headings[making->options->kind], "label", TABLE_TEXT);
    sample_cells_hide(t, "depth", TABLE_COUNT);
    sample_cells_hide(t, "total_ns", TABLE_NS);
    sample_cells_hide(t, "self_ns", TABLE_NS);
    sample_cells_hide(t, "time_share_error", TABLE_SHARE);
    sample_cells_hide(t, "self_share_error", TABLE_SHARE);
    sample_cells_hide(t, "samples", TABLE_COUNT);
    sample_cells_hide(t, "open_calls", TABLE_COUNT);
    sample_cells_hide(t, "class", TABLE_TEXT);
    sample_cells_hide(t, "method", TABLE_TEXT);
    sample_cells_hide(t, "descriptor", TABLE_TEXT);
}

static const char *text_label(const struct tree_making *making, uint32_t i)
{
    const struct tree_line *line = &making->view.lines[i];
    uint32_t indent = making->options->is_text ? 2 * (line->depth < INDENT_MAX ? line->depth : INDENT_MAX) : 0;
    return arena_printf(making->source->arena, "%*s%s%s", (int)indent, "", making->labels[i],
                        line->n_open > 0 && making->options->is_text ? " +" : "");
}

static struct table_cell share_of(double ticks, double whole, double error, struct arena *arena)
{
    const struct sample_share share = { .share = whole > 0 ? ticks / whole : 0, .error = error };
    return whole > 0 ? sample_cells_share(&share, arena) : table_unmeasured();
}

static struct table_cell calls_of(const struct tree_line *line)
{
    if (line->method == CALLTREE_ROOT)
        return (struct table_cell){ .value = TABLE_NOT_APPLICABLE };
    return line->calls > 0 ? table_number(line->calls) : table_unmeasured();
}

static void put_row(const struct tree_making *making, uint32_t i)
{
    const struct tree_line *line = &making->view.lines[i];
    const struct report_source *source = making->source;
    struct arena *arena = source->arena;
    double whole = whole_of(making, i), ns = source->tree->ns_per_tick > 0 ? source->tree->ns_per_tick : NAN;
    bool is_root = line->method == CALLTREE_ROOT, has_calls = line->calls > 0;
    uint32_t top = i;
    while (making->view.lines[top].parent != 0)
        top = making->view.lines[top].parent;
    struct method_name name = is_root ? (struct method_name){ "", "", "" } : report_name(source, line->method);
    struct sample_cells to = { making->table, table_row(making->table, is_root ? "root" : "context") };
    const struct table_cell values[] = {
        share_of(line->ticks, whole, line->share_error, arena),
        share_of(line->self_ticks, whole, line->self_error, arena),
        table_quotient(line->ticks, making->view.lines[top].ticks),
        calls_of(line),
        has_calls && !is_root ? table_number(line->probe_ticks * ns / line->calls) : table_unmeasured(),
        table_words(tree_view_known_by(&making->view, line)),
        table_words(text_label(making, i)),
        table_number(line->depth),
        table_number(line->ticks * ns),
        table_number(line->self_ticks * ns),
        sample_cells_error(line->share_error),
        sample_cells_error(line->self_error),
        table_number(line->n_samples),
        table_number(line->n_open),
        table_words(name.class_name),
        table_words(name.method),
        table_words(name.descriptor),
    };
    for (size_t k = 0; to.next != NULL && k < sizeof values / sizeof *values; k++)
        sample_cells_put(&to, values[k]);
}

/* ---- their order ---- */

struct tree_order {
    double ticks, calls;
    uint32_t line;
    bool is_first; /* the application, before the JVM's threads */
};

static int largest_first(const void *a, const void *b)
{
    const struct tree_order *x = a, *y = b;
    if (x->is_first != y->is_first)
        return x->is_first ? -1 : 1;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? 1 : -1;
    if (x->calls != y->calls)
        return x->calls < y->calls ? 1 : -1;
    return (x->line > y->line) - (x->line < y->line);
}

/* In a view of one method the lines next to it that are left out are one row, so that it adds up. */
static void put_rest(const struct tree_making *making, uint32_t parent, const struct tree_order *order, size_t n)
{
    struct tree_line rest = making->view.lines[parent];
    const struct tree_line *of = &making->view.lines[parent];
    double ns = making->source->tree->ns_per_tick;
    rest.ticks = rest.calls = 0;
    for (size_t i = 0; i < n; i++) {
        rest.ticks += order[i].ticks;
        rest.calls += order[i].calls;
    }
    struct table_cell *cells = n == 0 ? NULL : table_row(making->table, "rest");
    if (cells == NULL)
        return;
    cells[0] = share_of(rest.ticks, whole_of(making, parent), NAN, making->source->arena);
    cells[2] = table_quotient(rest.ticks, of->ticks);
    cells[3] = table_number(rest.calls);
    cells[5] = table_words("");
    cells[6] = table_words(arena_printf(making->source->arena, "%s%zu smaller one%s",
                                        making->options->is_text ? "  " : "", n, text_plural(n)));
    cells[7] = table_number(1);
    cells[8] = table_number(rest.ticks * ns);
}

static int put_below(struct tree_making *making, uint32_t parent)
{
    const struct tree_view *view = &making->view;
    size_t n = 0, n_shown = 0;
    double least = making->options->min_share;
    for (uint32_t i = view->lines[parent].first_child; i != 0; i = view->lines[i].next)
        n++;
    struct tree_order *order = calloc(n + 1, sizeof *order);
    if (order == NULL)
        return -1;
    n = 0;
    for (uint32_t i = view->lines[parent].first_child; i != 0; i = view->lines[i].next) {
        const struct tree_line *line = &view->lines[i];
        bool is_first =
            line->method == CALLTREE_ROOT && making->source->tree->roots[line->root].part == VM_PART_APPLICATION;
        order[n++] = (struct tree_order){ line->ticks, line->calls, i, is_first };
    }
    qsort(order, n, sizeof *order, largest_first);
    int rc = 0;
    for (; rc == 0 && n_shown < n; n_shown++) {
        double whole = whole_of(making, order[n_shown].line);
        bool is_asked = parent == 0 && making->options->kind != TREE_VIEW_ALL;
        if (!is_asked && order[n_shown].ticks < least * whole)
            break;
        put_row(making, order[n_shown].line);
        rc = put_below(making, order[n_shown].line);
    }
    making->n_left += n - n_shown;
    if (making->options->kind != TREE_VIEW_ALL && parent != 0 && view->lines[parent].parent == 0)
        put_rest(making, parent, order + n_shown, n - n_shown);
    free(order);
    return rc;
}

/* ---- the whole ---- */

static void add_notes(const struct tree_making *making)
{
    struct table *table = making->table;
    struct arena *arena = making->source->arena;
    if (making->n_left > 0)
        table_note(table, arena_printf(arena, "not shown: %zu row%s with less than %s of the time (--min-share)",
                                       making->n_left, text_plural(making->n_left),
                                       report_percent(arena, making->options->min_share)));
    if (making->any_open && making->options->is_text)
        table_note(table, "+ marks methods with calls that had not returned at the end");
    if (making->source->sampled != NULL && making->knows_calls)
        table_note(table, "Calls come from probes; stack samples divide the other time");
    if (making->options->kind == TREE_VIEW_CALLERS)
        table_note(table, "all values belong to the first method, in its calls along the path");
}

/* The rows of a view: of all, or of one method. */
static int put_view(struct tree_making *making, uint32_t method, double all_ticks, struct err *err)
{
    if (tree_view_make(making->source, making->options->kind, method, making->options->min_share, all_ticks,
                       &making->view, err) < 0)
        return -1;
    size_t n_before = making->table->n_rows;
    int rc = find_labels(making) < 0 || put_below(making, 0) < 0 ? err_set(err, "out of memory for the call tree") : 0;
    if (rc == 0 && n_before > 0 && making->table->n_rows > n_before)
        making->table->rows[n_before].after_rule = true;
    for (uint32_t i = 1; i < making->view.n_lines; i++)
        making->any_open = making->any_open || making->view.lines[i].n_open > 0;
    tree_view_free(&making->view);
    return rc;
}

static int make(struct tree_making *making, struct err *err)
{
    const struct report_source *source = making->source;
    const char *period = info_text(source->reader, INFO_SAMPLE_PERIOD_NS);
    uint32_t all = 0, *methods = &all;
    size_t n = 1;
    double all_ticks;
    making->knows_calls = !trace_samples_are_all(source->reader);
    making->knows_time = making->knows_calls || (period != NULL && strtod(period, NULL) > 0);
    if (tree_view_all(source, &all_ticks, err) < 0 ||
        (making->options->kind != TREE_VIEW_ALL &&
         tree_view_find(source, making->options->method, &methods, &n, err) < 0))
        return -1;
    making->asked = methods;
    making->n_asked = making->options->kind == TREE_VIEW_ALL ? 0 : n;
    report_metadata(source, making->table);
    add_columns(making);
    for (size_t i = 0; i < n; i++)
        if (put_view(making, methods[i], all_ticks, err) < 0)
            return -1;
    add_notes(making);
    report_losses(source, making->table);
    return 0;
}

int tree_table(const struct report_source *source, const struct tree_table_options *options, struct table *table,
               struct err *err)
{
    struct tree_making making = { .source = source, .options = options, .table = table };
    table_begin(table, source->arena);
    table->has_order = true;
    int rc = make(&making, err);
    return rc == 0 && table->is_broken ? err_set(err, "out of memory for a table") : rc;
}
