/*
 * The call tree as text:
 *
 *     Share (%)     Total      Self      Calls  Method
 *        100.00    1.83 us      0 ns          1  Sort.main
 *         71.04    1.30 us    200 ns          1    Sort.sortData
 *         32.79     600 ns    600 ns        300      Sort.compare
 */
#include "report/view/phases_table.h"

#include "core/base/text.h"
#include "core/base/vec.h"
#include "report/sampled_tree.h"

#include <stdlib.h>
#include <string.h>

/* Deeper contexts are indented no further, so that recursion stays on the screen. */
#define INDENT_MAX 60

struct line {
    uint32_t node, depth;
    uint64_t total_ticks;
};

/* Lines still to print; the last comes first. */
struct phases_stack {
    struct line *lines;
    size_t n, room;
};

static int push(struct phases_stack *stack, struct line line)
{
    if (vec_reserve(stack->lines, stack->room, stack->n + 1) < 0)
        return -1;
    stack->lines[stack->n++] = line;
    return 0;
}

static int smallest_first(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->total_ticks != y->total_ticks)
        return x->total_ticks > y->total_ticks ? 1 : -1;
    return (x->node < y->node) - (x->node > y->node);
}

static uint64_t total_ticks(const struct report_source *source, uint32_t node)
{
    const struct calltree *tree = source->tree;
    return source->clock == PHASES_CPU ? tree->total_cpu_ticks[node] : tree->total_wall_ticks[node];
}

static int push_callees(const struct phases_report *report, struct phases_stack *stack, const struct line *caller)
{
    const struct calltree_node *nodes = report->source->tree->nodes;
    double least = report->min_share * (double)report->all_ticks;
    size_t first = stack->n;
    for (uint32_t i = nodes[caller->node].first_child; i != 0; i = nodes[i].next_sibling) {
        struct line line = { i, caller->depth + 1, total_ticks(report->source, i) };
        if ((double)line.total_ticks >= least && push(stack, line) < 0)
            return -1;
    }
    if (stack->n > first)
        qsort(stack->lines + first, stack->n - first, sizeof *stack->lines, smallest_first);
    return 0;
}

static const char *name_of(const struct report_source *source, const char **names, uint32_t method)
{
    if (method == CALLTREE_FOLDED)
        return "(folded)";
    if (method >= source->tree->n_methods)
        return "(outside)";
    if (names[method] == NULL) {
        struct java_name name = report_name(source, method);
        names[method] = java_names_display(source->arena, &name, JAVA_NAMES_SHORT);
        if (sampled_is(source, method) && names[method] != NULL)
            names[method] = arena_printf(source->arena, "%s" SAMPLED_MARK, names[method]);
    }
    return names[method] == NULL ? "?" : names[method];
}

static void print_line(const struct phases_report *report, const struct line *line, const char *name, FILE *out)
{
    const struct calltree_node *node = &report->source->tree->nodes[line->node];
    uint64_t self = report->source->clock == PHASES_CPU ? node->cpu_ticks : node->wall_ticks;
    char share[64], total_text[64], self_text[64], calls[64];
    struct table_cell share_cell = table_quotient((double)line->total_ticks, (double)report->all_ticks);
    bool is_sampled = sampled_is(report->source, node->method);
    struct table_cell calls_cell = is_sampled ? table_unmeasured() : table_number((double)node->calls);
    table_format(&share_cell, TABLE_SHARE, share, sizeof share);
    table_format(&calls_cell, TABLE_COUNT, calls, sizeof calls);
    table_format_ns(report_ns(report->source, line->total_ticks), total_text, sizeof total_text);
    table_format_ns(report_ns(report->source, self), self_text, sizeof self_text);
    int indent = (int)(line->depth < INDENT_MAX ? line->depth : INDENT_MAX) * 2 - 2;
    fprintf(out, "%9s  %8s  %8s  %13s  %*s", share, total_text, self_text, calls, indent, "");
    text_print(out, name);
    fputs(node->n_open > 0 ? " +\n" : "\n", out);
}

static int print_tree(const struct phases_report *report, uint32_t root, const char **names, FILE *out)
{
    struct phases_stack stack = { NULL, 0, 0 };
    struct line line = { root, 0, total_ticks(report->source, root) };
    int rc = push_callees(report, &stack, &line);
    while (rc == 0 && stack.n > 0) {
        line = stack.lines[--stack.n];
        print_line(report, &line, name_of(report->source, names, report->source->tree->nodes[line.node].method), out);
        rc = push_callees(report, &stack, &line);
    }
    free(stack.lines);
    return rc;
}

static void print_title(const struct phases_report *report, const struct calltree_root *root, FILE *out)
{
    const struct report_source *source = report->source;
    const struct trace_thread *thread =
        root->thread == CALLTREE_NONE ? NULL : trace_thread(source->reader, root->thread);
    char total[64];
    table_format_ns(report_ns(source, total_ticks(source, root->node)), total, sizeof total);
    if (thread == NULL) {
        fprintf(out, "%s: %s\n", vm_part_name(root->part), total);
        return;
    }
    fputs("thread ", out);
    text_print(out, thread->name);
    fprintf(out, " (%d, %s): %s\n", thread->tid, vm_part_name(root->part), total);
}

int phases_tree(const struct phases_report *report, FILE *out, struct err *err)
{
    const struct report_source *source = report->source;
    const struct calltree *tree = source->tree;
    const char **names = arena_alloc(source->arena, ((size_t)tree->n_methods + 1) * sizeof *names);
    if (names == NULL)
        return err_set(err, "out of memory for the names of %u methods", tree->n_methods);
    fprintf(out, "%9s  %8s  %8s  %13s  %s\n", "Share (%)", "Total", "Self", "Calls", "Method");
    for (uint32_t i = 0; i < tree->n_roots; i++) {
        const struct calltree_root *root = &tree->roots[i];
        if (tree->nodes[root->node].first_child == 0)
            continue;
        fputc('\n', out);
        print_title(report, root, out);
        if (print_tree(report, root->node, names, out) < 0)
            return err_set(err, "out of memory for the lines of the call tree");
    }
    return ferror(out) ? err_set(err, "cannot write the call tree") : 0;
}
