#include "cmd/diff_parts.h"

#include "cmd/output_file.h"
#include "core/base/xalloc.h"
#include "report/html/html.h"
#include "report/html/html_stacks.h"
#include "report/view/view_pass.h"

#define FRAMES_MAX 4096

struct diff_page {
    const struct diff *diff;
    struct arena *arena;
    struct html_stacks *stacks;
    uint32_t frames[FRAMES_MAX];
};

/* ---- call trees ---- */

static uint32_t frame_of(struct diff_page *page, const struct report_source *source, uint32_t node, uint32_t *known)
{
    const struct calltree *tree = source->tree;
    uint32_t method = tree->nodes[node].method;
    if (method < tree->n_methods) {
        struct method_name name = report_name(source, method);
        return html_stacks_method(page->stacks, &name, HTML_FRAME_JAVA, &known[method]);
    }
    for (uint32_t i = 0; i < tree->n_roots; i++)
        if (tree->roots[i].node == node)
            return html_stacks_group(page->stacks, vm_part_name(tree->roots[i].part));
    return html_stacks_group(page->stacks, "(calls that found no room)");
}

/* The context, with its callers: outermost first.  Returns how many frames. */
static size_t stack_of(struct diff_page *page, const struct report_source *source, uint32_t node, uint32_t *known)
{
    const struct calltree_node *nodes = source->tree->nodes;
    size_t depth = 1;
    for (uint32_t at = node; nodes[at].parent != at; at = nodes[at].parent)
        depth++;
    size_t n = depth < FRAMES_MAX ? depth : FRAMES_MAX;
    for (size_t skip = depth; skip > n; skip--)
        node = nodes[node].parent;
    for (size_t i = n; i-- > 0; node = nodes[node].parent)
        page->frames[i] = frame_of(page, source, node, known);
    return n;
}

static bool is_shown(const struct report_source *source, uint32_t node)
{
    /* The VM's threads wait on the wall clock, and nothing else is known of them. */
    while (source->tree->nodes[node].parent != node)
        node = source->tree->nodes[node].parent;
    for (uint32_t i = 0; i < source->tree->n_roots; i++)
        if (source->tree->roots[i].node == node)
            return source->clock == PHASES_CPU || source->tree->roots[i].part == VM_PART_APPLICATION;
    return false;
}

/* A tree's contexts, as parts of its time, to the mean of the side. */
static void add_tree(struct diff_page *page, const struct report_source *source, enum diff_side side)
{
    const struct calltree *tree = source->tree;
    uint32_t *known = xcalloc((size_t)tree->n_methods + 1, sizeof *known);
    double all = 0;
    for (uint32_t i = 1; i < tree->n_nodes; i++)
        all += is_shown(source, i) ? (double)report_own_ticks(source, i) : 0;
    for (uint32_t i = 1; all > 0 && i < tree->n_nodes; i++) {
        uint64_t ticks = report_own_ticks(source, i);
        if (ticks > 0 && is_shown(source, i))
            html_stacks_add(page->stacks, page->frames, stack_of(page, source, i, known), side,
                            (double)ticks / all / (double)page->diff->options->n_traces[side]);
    }
    free(known);
}

static int add_trace(struct diff_page *page, enum diff_side side, size_t number, struct err *err)
{
    struct arena local = { NULL, 0 };
    struct view_pass pass;
    struct report_source whole;
    const struct view_pass_options options = { .path = page->diff->options->paths[side][number],
                                               .salvage = page->diff->options->salvage,
                                               .parts = VIEW_PASS_SAMPLES,
                                               .clock = page->diff->clock,
                                               .libraries = folding_read(NULL, &local, err) };
    if (options.libraries == NULL)
        return -1;
    int rc = view_pass_read(&options, &local, &pass, err);
    if (rc == 0) {
        sampled_tree(&pass.source, view_pass_samples(&pass, &pass.source), false, &whole);
        add_tree(page, &whole, side);
    }
    view_pass_close(&pass);
    arena_free(&local);
    return rc;
}

/* ---- what is shown of methods ---- */

/* The first of these metrics that differs by more than chance. */
static const struct diff_result *shown_result(const struct diff *diff, const struct diff_row *row, size_t *metric)
{
    static const enum diff_role roles[] = { DIFF_SHARE, DIFF_TIME, DIFF_SELF, DIFF_ADJUSTED };
    for (size_t i = 0; i < sizeof roles / sizeof roles[0] && (*metric = roles[i]) < diff->n_metrics; i++) {
        const struct diff_result *result = &row->results[roles[i]];
        bool is_shown = result->verdict == DIFF_HIGHER || result->verdict == DIFF_LOWER;
        if (is_shown || result->verdict == DIFF_FOLLOWS)
            return result;
    }
    return NULL;
}

static struct html_change change_of(const struct diff_page *page, const struct diff_row *row, uint32_t frame)
{
    size_t metric;
    const struct diff_result *result = shown_result(page->diff, row, &metric);
    if (result == NULL)
        return (struct html_change){ frame, 0, "not shown: chance explains such a difference" };
    bool is_more = result->verdict == DIFF_HIGHER || (result->verdict == DIFF_FOLLOWS && result->low > 0);
    const char *how = isnan(result->change) ? "" : arena_printf(page->arena, " by %.1f %%", fabs(100 * result->change));
    const char *words = arena_printf(page->arena, "%s %s%s (p %.4f)", page->diff->metrics[metric].name,
                                     is_more ? "rose" : "fell", how, result->p_corrected);
    return (struct html_change){ frame, is_more ? 1 : -1, words };
}

static void make_changes(struct diff_page *page, struct html_diff *html)
{
    const struct diff *diff = page->diff;
    struct html_change *changes = arena_alloc(page->arena, (diff->n_rows + 1) * sizeof *changes);
    for (size_t i = 0; i < diff->n_rows; i++) {
        const struct diff_row *row = &diff->rows[i];
        uint32_t known = 0;
        if (row->names.method == NULL || row->names.method[0] == '\0')
            continue;
        uint32_t frame = html_stacks_method(page->stacks, &row->names, HTML_FRAME_JAVA, &known);
        changes[html->n_changes++] = change_of(page, row, frame);
    }
    html->changes = changes;
}

/* ---- the whole ---- */

static const char *side_text(const struct diff *diff, enum diff_side side)
{
    const char *list = "";
    for (size_t i = 0; i < diff->options->n_traces[side]; i++)
        list = arena_printf(diff->arena, "%s%s%s", list, i == 0 ? "" : ", ", diff->options->paths[side][i]);
    return list;
}

static int write_page(const struct html_diff *html, const char *pattern, struct err *err)
{
    char path[PATH_MAX];
    struct output_file file;
    if (output_file_name(pattern, "--html", 0, path, err) < 0 || output_file_open(&file, path, "--html", err) < 0)
        return -1;
    return output_file_close(&file, html_diff_write(html, file.out, err), err);
}

int diff_page_print(const struct diff *diff, const struct table *table, const struct table *runs, const char *path,
                    struct err *err)
{
    struct diff_page *page = arena_alloc(diff->arena, sizeof *page);
    *page = (struct diff_page){ .diff = diff, .arena = diff->arena, .stacks = html_stacks_new(diff->arena) };
    struct html_diff html = { .sides = { side_text(diff, DIFF_BEFORE), side_text(diff, DIFF_AFTER) },
                              .clock = diff->clock == PHASES_CPU ? "CPU time" : "wall time",
                              .stacks = page->stacks,
                              .table = table,
                              .runs = runs,
                              .arena = diff->arena };
    int rc = 0;
    for (int side = DIFF_BEFORE; rc == 0 && side < DIFF_SIDES; side++)
        for (size_t i = 0; rc == 0 && i < diff->options->n_traces[side]; i++)
            rc = add_trace(page, (enum diff_side)side, i, err);
    make_changes(page, &html);
    if (rc == 0)
        rc = write_page(&html, path, err);
    html_stacks_free(page->stacks);
    return rc;
}
