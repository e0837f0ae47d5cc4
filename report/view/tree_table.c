#include "report/view/tables.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "core/trace/recording_info.h"

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
static void find_labels(struct tree_making *making)
{
    const struct report_source *source = making->source;
    const struct tree_view *view = &making->view;
    uint32_t n_methods = source->tree->n_methods, n = 0;
    uint32_t *methods = arena_alloc(source->arena, ((size_t)n_methods + 1) * sizeof *methods),
             *label_of = arena_alloc(source->arena, ((size_t)n_methods + 1) * sizeof *label_of);
    making->labels = arena_alloc(source->arena, ((size_t)view->n_lines + 1) * sizeof *making->labels);
    for (size_t i = 1; i < view->n_lines + making->n_asked; i++) {
        uint32_t method = i < view->n_lines ? view->lines[i].method : making->asked[i - view->n_lines];
        if (method >= n_methods || label_of[method] != 0)
            continue;
        methods[n++] = method;
        label_of[method] = n;
    }
    const char **labels = report_labels(source, methods, n);
    for (uint32_t i = 1; i < view->n_lines; i++)
        making->labels[i] = view->lines[i].method >= n_methods ? root_label(source, view->lines[i].root)
                                                               : labels[label_of[view->lines[i].method] - 1];
}

/* ---- columns and rows ---- */

/* A row as it is printed; NAN: not known, TABLE_NONE: not applicable. */
struct tree_row {
    double share, share_error, self_share, self_error, part, calls, ns_per_call, depth, ns, self_ns, n_samples, n_open;
    const char *known_by, *label;
    struct method_name name;
};

#define TREE(member) FROM(struct tree_row, member)
#define OF_ALL       (1u << TREE_VIEW_ALL) /* conditions */
#define OF_CALLEES   (1u << TREE_VIEW_CALLEES)
#define OF_CALLERS   (1u << TREE_VIEW_CALLERS)
#define HAS_TIME     8u
#define HAS_NO_TIME  16u
#define HAS_SAMPLES  32u

static const struct table_column columns[] = {
    { "time_share", "Time (%)", TABLE_SHARE, TREE(share), ERROR_FROM(struct tree_row, share_error), .when = HAS_TIME },
    { "time_share", "Share (%)", TABLE_SHARE, TREE(share), ERROR_FROM(struct tree_row, share_error),
      .when = HAS_NO_TIME },
    { "self_share", "Self (%)", TABLE_SHARE, TREE(self_share), ERROR_FROM(struct tree_row, self_error) },
    { "part", "Of it (%)", TABLE_SHARE, TREE(part), .text_when = OF_CALLEES | OF_CALLERS },
    { "calls", "Calls", TABLE_COUNT, TREE(calls) },
    { "ns_per_call", "Time/call", TABLE_NS, TREE(ns_per_call) },
    { "known_by", "Known by", TABLE_TEXT, TREE(known_by), .text_when = HAS_SAMPLES },
    { "label", "Method", TABLE_TEXT, TREE(label), .when = OF_ALL },
    { "label", "Method and its callees", TABLE_TEXT, TREE(label), .when = OF_CALLEES },
    { "label", "Method and its callers", TABLE_TEXT, TREE(label), .when = OF_CALLERS },
    { "depth", NULL, TABLE_COUNT, TREE(depth), .width = COLUMN_DATA },
    { "total_ns", NULL, TABLE_NS, TREE(ns), .width = COLUMN_DATA },
    { "self_ns", NULL, TABLE_NS, TREE(self_ns), .width = COLUMN_DATA },
    { "time_share_error", NULL, TABLE_SHARE, TREE(share_error), .width = COLUMN_DATA },
    { "self_share_error", NULL, TABLE_SHARE, TREE(self_error), .width = COLUMN_DATA },
    { "samples", NULL, TABLE_COUNT, TREE(n_samples), .width = COLUMN_DATA },
    { "open_calls", NULL, TABLE_COUNT, TREE(n_open), .width = COLUMN_DATA },
    { "class", NULL, TABLE_TEXT, TREE(name.class_name), .width = COLUMN_DATA },
    { "method", NULL, TABLE_TEXT, TREE(name.method), .width = COLUMN_DATA },
    { "descriptor", NULL, TABLE_TEXT, TREE(name.descriptor), .width = COLUMN_DATA },
};

static const char *text_label(const struct tree_making *making, uint32_t i)
{
    const struct tree_line *line = &making->view.lines[i];
    uint32_t indent = making->options->is_text ? 2 * (line->depth < INDENT_MAX ? line->depth : INDENT_MAX) : 0;
    return arena_printf(making->source->arena, "%*s%s%s", (int)indent, "", making->labels[i],
                        line->n_open > 0 && making->options->is_text ? " +" : "");
}

/* Of the whole calls, as far as they can be told. */
static double ticks_per_call(const struct tree_line *line)
{
    double partial = line->is_recursive ? 0 : line->n_open, calls = line->calls - partial,
           ticks = line->probe_ticks - (partial > 0 ? line->partial_ticks : 0);
    return calls > 0 ? fmax(ticks, 0) / calls : NAN;
}

static double share_of(double ticks, double whole)
{
    return whole > 0 ? ticks / whole : NAN;
}

static void add_row(const struct tree_making *making, uint32_t i)
{
    const struct tree_line *line = &making->view.lines[i];
    const struct report_source *source = making->source;
    double whole = whole_of(making, i), ns = source->tree->ns_per_tick > 0 ? source->tree->ns_per_tick : NAN;
    bool is_root = line->method == CALLTREE_ROOT, has_calls = line->calls > 0;
    uint32_t top = i;
    while (making->view.lines[top].parent != 0)
        top = making->view.lines[top].parent;
    const struct tree_row row = {
        .share = share_of(line->ticks, whole),
        .share_error = line->share_error,
        .self_share = share_of(line->self_ticks, whole),
        .self_error = line->self_error,
        .part = line->ticks / making->view.lines[top].ticks,
        .calls = is_root     ? TABLE_NONE
                 : has_calls ? line->calls
                             : NAN,
        .ns_per_call = has_calls && !is_root ? ticks_per_call(line) * ns : NAN,
        .depth = line->depth,
        .ns = line->ticks * ns,
        .self_ns = line->self_ticks * ns,
        .n_samples = (double)line->n_samples,
        .n_open = (double)line->n_open,
        .known_by = tree_view_known_by(&making->view, line),
        .label = text_label(making, i),
        .name = is_root ? (struct method_name){ "", "", "" } : report_name(source, line->method),
    };
    table_add(making->table, is_root ? "root" : "context", &row);
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
static void add_rest(const struct tree_making *making, uint32_t parent, const struct tree_order *order, size_t n)
{
    double ticks = 0, calls = 0;
    for (size_t i = 0; i < n; i++) {
        ticks += order[i].ticks;
        calls += order[i].calls;
    }
    const struct tree_row row = {
        .share = share_of(ticks, whole_of(making, parent)),
        .share_error = NAN,
        .self_share = NAN,
        .self_error = NAN,
        .part = ticks / making->view.lines[parent].ticks,
        .calls = calls,
        .ns_per_call = NAN,
        .depth = 1,
        .ns = ticks * making->source->tree->ns_per_tick,
        .self_ns = NAN,
        .n_samples = NAN,
        .n_open = NAN,
        .known_by = "",
        .label = arena_printf(making->source->arena, "%s%zu smaller one%s", making->options->is_text ? "  " : "", n,
                              text_plural(n)),
    };
    if (n > 0)
        table_add(making->table, "rest", &row);
}

static void add_below(struct tree_making *making, uint32_t parent)
{
    const struct tree_view *view = &making->view;
    size_t n = 0, n_shown = 0;
    double least = making->options->min_share;
    for (uint32_t i = view->lines[parent].first_child; i != 0; i = view->lines[i].next)
        n++;
    struct tree_order *order = xcalloc(n + 1, sizeof *order);
    n = 0;
    for (uint32_t i = view->lines[parent].first_child; i != 0; i = view->lines[i].next) {
        const struct tree_line *line = &view->lines[i];
        bool is_first =
            line->method == CALLTREE_ROOT && making->source->tree->roots[line->root].part == VM_PART_APPLICATION;
        order[n++] = (struct tree_order){ line->ticks, line->calls, i, is_first };
    }
    qsort(order, n, sizeof *order, largest_first);
    for (; n_shown < n; n_shown++) {
        double whole = whole_of(making, order[n_shown].line);
        bool is_asked = parent == 0 && making->options->kind != TREE_VIEW_ALL;
        if (!is_asked && order[n_shown].ticks < least * whole)
            break;
        add_row(making, order[n_shown].line);
        add_below(making, order[n_shown].line);
    }
    making->n_left += n - n_shown;
    if (making->options->kind != TREE_VIEW_ALL && parent != 0 && view->lines[parent].parent == 0)
        add_rest(making, parent, order + n_shown, n - n_shown);
    free(order);
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
        table_note(table, REPORT_PARTIAL_MARK);
    if (making->source->sampled != NULL && making->knows_calls)
        table_note(table, "Calls come from probes; stack samples divide the other time");
    if (making->options->kind == TREE_VIEW_CALLERS)
        table_note(table, "all values belong to the first method, in its calls along the path");
}

/* The rows of a view: of all, or of one method. */
static void put_view(struct tree_making *making, uint32_t method, double all_ticks)
{
    tree_view_make(making->source, making->options->kind, method, making->options->min_share, all_ticks, &making->view);
    size_t n_before = making->table->n_rows;
    find_labels(making);
    add_below(making, 0);
    if (n_before > 0 && making->table->n_rows > n_before)
        making->table->rows[n_before].after_rule = true;
    for (uint32_t i = 1; i < making->view.n_lines; i++)
        making->any_open = making->any_open || making->view.lines[i].n_open > 0;
    tree_view_free(&making->view);
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
    tree_view_all(source, &all_ticks);
    if ((making->options->kind != TREE_VIEW_ALL &&
         tree_view_find(source, making->options->method, &methods, &n, err) < 0))
        return -1;
    making->asked = methods;
    making->n_asked = making->options->kind == TREE_VIEW_ALL ? 0 : n;
    report_metadata(source, making->table);
    TABLE_COLUMNS(making->table, columns,
                  (1u << making->options->kind) | (making->knows_time ? HAS_TIME : HAS_NO_TIME) |
                      (source->sampled != NULL ? HAS_SAMPLES : 0));
    for (size_t i = 0; i < n; i++)
        put_view(making, methods[i], all_ticks);
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
    return make(&making, err);
}
