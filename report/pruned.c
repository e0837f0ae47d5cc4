#include "report/pruned.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A method that was switched off. */
struct pruned {
    const struct calltree_total *total;
    double recorded_s, calls_per_s, call_ns;
    const char *why;
    double hidden_ns;  /* estimated; negative: not known */
    uint32_t ancestor; /* CALLTREE_ROOT: of no recorded method */
    double in_it;      /* which part of the time is the ancestor's, 0..1 */
};

struct pruning {
    const struct report_source *source;
    struct pruned *all;
    size_t n;
    const struct pruned **by_method; /* NULL: it was recorded to the end */
    uint64_t *ticks;                 /* scratch, by method; the last one is the root's */
};

/* "STATE SECONDS CALLS_PER_S NS WHY": mmprof.trace(5).  Returns whether it was off at the end. */
static bool parse(const char *fact, struct pruned *pruned)
{
    char state[16], *at;
    if (sscanf(fact, "%15s", state) != 1 || strcmp(state, "armed") == 0)
        return false;
    pruned->recorded_s = strtod(fact + strlen(state), &at);
    pruned->calls_per_s = strtod(at, &at);
    pruned->call_ns = strtod(at, &at);
    pruned->why = at[0] == ' ' ? at + 1 : at;
    return true;
}

static int find(struct pruning *p, const struct calltree_total *totals, size_t n_totals, struct err *err)
{
    size_t n_methods = p->source->tree->n_methods;
    p->all = arena_alloc(p->source->arena, (n_totals + 1) * sizeof *p->all);
    p->by_method = arena_alloc(p->source->arena, (n_methods + 1) * sizeof *p->by_method);
    p->ticks = arena_alloc(p->source->arena, (n_methods + 1) * sizeof *p->ticks);
    if (p->all == NULL || p->by_method == NULL || p->ticks == NULL)
        return err_set(err, "out of memory for %zu methods", n_methods);
    for (size_t i = 0; i < n_totals; i++) {
        char key[48];
        snprintf(key, sizeof key, "live.method.%" PRIu32, totals[i].method);
        const char *fact = trace_info(p->source->reader, key);
        if (fact == NULL || !parse(fact, &p->all[p->n]))
            continue;
        p->all[p->n].total = &totals[i];
        p->by_method[totals[i].method] = &p->all[p->n++];
    }
    return 0;
}

/* The nearest caller that was recorded to the end; the tree's number of methods for the root. */
static uint32_t caller_of(const struct pruning *p, uint32_t node, uint32_t method, bool *is_recursive)
{
    const struct calltree *tree = p->source->tree;
    *is_recursive = false;
    for (node = tree->nodes[node].parent; tree->nodes[node].method < tree->n_methods; node = tree->nodes[node].parent) {
        uint32_t caller = tree->nodes[node].method;
        *is_recursive = *is_recursive || caller == method;
        if (p->by_method[caller] == NULL)
            return caller;
    }
    return tree->n_methods;
}

/* The caller with most of the time; a recorded one if there is any, since calls that had begun before it got probes are
 * not known to be its. */
static uint32_t largest_caller(const struct pruning *p)
{
    uint32_t n_methods = p->source->tree->n_methods, largest = n_methods;
    for (uint32_t i = 0; i < n_methods; i++)
        if (p->ticks[i] > 0 && (largest == n_methods || p->ticks[i] > p->ticks[largest]))
            largest = i;
    return largest;
}

/* Where a method was called from, by time. */
static void find_ancestor(const struct pruning *p, struct pruned *pruned)
{
    const struct calltree *tree = p->source->tree;
    uint32_t method = pruned->total->method;
    uint64_t all = 0;
    memset(p->ticks, 0, ((size_t)tree->n_methods + 1) * sizeof *p->ticks);
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        bool is_recursive;
        if (tree->nodes[i].method != method)
            continue;
        uint32_t caller = caller_of(p, i, method, &is_recursive);
        if (is_recursive)
            continue;
        p->ticks[caller] += tree->total_cpu_ticks[i];
        all += tree->total_cpu_ticks[i];
    }
    uint32_t largest = largest_caller(p);
    pruned->ancestor = largest == tree->n_methods ? CALLTREE_ROOT : largest;
    pruned->in_it = all == 0 ? 1 : (double)p->ticks[largest] / (double)all;
}

static uint64_t own_ticks(const struct calltree_total *totals, size_t n_totals, uint32_t method)
{
    for (size_t i = 0; i < n_totals; i++)
        if (totals[i].method == method)
            return totals[i].cpu_ticks;
    return 0;
}

static void estimate(const struct pruning *p, const struct calltree_total *totals, size_t n_totals,
                     struct pruned *pruned)
{
    const struct calltree *tree = p->source->tree;
    double all_s = report_ns(p->source, tree->end_ticks - tree->start_ticks) / 1e9;
    double ns = report_ns(p->source, pruned->total->total_cpu_ticks);
    struct recorded recorded = recorded_of(tree, pruned->total->method, ACTIVITY_CPU);
    find_ancestor(p, pruned);
    pruned->hidden_ns = -1;
    if (recorded.ticks < tree->end_ticks - tree->start_ticks) /* else the trace does not tell since when */
        pruned->recorded_s = report_ns(p->source, recorded.ticks) / 1e9;
    else if (all_s > 0)
        recorded.share = pruned->recorded_s / all_s;
    if (recorded.share <= 0)
        return;
    pruned->hidden_ns = recorded.share < 1 ? ns / recorded.share - ns : 0;
    if (pruned->ancestor == CALLTREE_ROOT || pruned->in_it <= 0)
        return;
    double most_ns = report_ns(p->source, own_ticks(totals, n_totals, pruned->ancestor)) / pruned->in_it;
    if (pruned->hidden_ns > most_ns)
        pruned->hidden_ns = most_ns;
}

static int by_hidden(const void *a, const void *b)
{
    const struct pruned *x = a, *y = b;
    if (x->hidden_ns != y->hidden_ns)
        return x->hidden_ns < y->hidden_ns ? 1 : -1;
    return x->total->method < y->total->method ? -1 : 1;
}

static void add_columns(struct table *table)
{
    table_column(table, "Switched off", "method", TABLE_TEXT);
    table_column(table, "Because", "reason", TABLE_TEXT);
    table->columns[table_column(table, "Recorded", "recorded_ns", TABLE_NS)].not_in_text = true;
    table_column(table, "Calls/s", "calls_per_s", TABLE_COUNT);
    table_column(table, "Time/call", "ns_per_call", TABLE_NS);
    table_column(table, "Unrecorded", "unrecorded_ns", TABLE_NS);
    table_column(table, "Share (%)", "ancestor_share", TABLE_SHARE);
    table_column(table, "In the time of", "ancestor", TABLE_TEXT);
}

/* By method: its label, the only one of its kind among all. */
static const char **labels_of(const struct report_source *source)
{
    uint32_t n = source->tree->n_methods, *methods = arena_alloc(source->arena, ((size_t)n + 1) * sizeof *methods);
    for (uint32_t i = 0; methods != NULL && i < n; i++)
        methods[i] = i;
    return methods == NULL ? NULL : report_labels(source, methods, n);
}

static int add_rows(const struct pruning *p, struct table *table, struct err *err)
{
    const char **labels = labels_of(p->source);
    for (size_t i = 0; i < p->n; i++) {
        const struct pruned *pruned = &p->all[i];
        bool has_ancestor = pruned->ancestor != CALLTREE_ROOT;
        struct table_cell *cells = labels == NULL ? NULL : table_row(table, "pruned");
        if (cells == NULL)
            return err_set(err, "out of memory for %zu methods", p->n);
        const struct table_cell values[] = {
            table_words(labels[pruned->total->method]),
            table_words(pruned->why),
            table_number(pruned->recorded_s * 1e9),
            table_number(pruned->calls_per_s),
            table_number(pruned->call_ns),
            pruned->hidden_ns < 0 ? table_unmeasured() : table_number(pruned->hidden_ns),
            table_number(pruned->in_it),
            table_words(has_ancestor ? labels[pruned->ancestor] : "no recorded method"),
        };
        memcpy(cells, values, sizeof values);
    }
    return 0;
}

static void add_notes(const struct pruning *p, struct table *table)
{
    if (p->n == 0) {
        table_note(table, "no method was switched off at the end");
        return;
    }
    table_note(table, "unrecorded: its CPU time while it was not recorded, estimated from that while it was; "
                      "such times overlap where one method calls another");
    table_note(table, "share: of its time that was seen in the method behind it; the rest was in others, or in calls "
                      "that had begun before they were recorded");
}

int pruned_make(const struct report_source *source, const struct calltree_total *totals, size_t n_totals,
                struct table *table, struct err *err)
{
    struct pruning p = { .source = source };
    table_begin(table, source->arena);
    add_columns(table);
    if (trace_info(source->reader, "live.budget") == NULL) {
        table_note(table, "no method was switched off: this is not a live recording");
        return 0;
    }
    if (find(&p, totals, n_totals, err) < 0)
        return -1;
    for (size_t i = 0; i < p.n; i++)
        estimate(&p, totals, n_totals, &p.all[i]);
    qsort(p.all, p.n, sizeof *p.all, by_hidden);
    if (add_rows(&p, table, err) < 0)
        return -1;
    add_notes(&p, table);
    return table->is_broken ? err_set(err, "out of memory for a table") : (int)p.n;
}
