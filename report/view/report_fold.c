/*
 * Rows that tell nothing of their own: methods that only call the next one, and those of frameworks between the
 * program's own.  Their own time, next to none, is that of the rows that call them, as of all methods without a row.
 */
#include "report/view/report_internal.h"

#include "report/folding.h"

#include <string.h>

#define PASSES_ON 0.05 /* with less of its time as its own a method only calls others */
#define SAME_TIME 0.95 /* and only the next one, if that has so much of its time */
#define SMALL     0.01 /* of all time */

struct folder {
    const struct making *making;
    struct report_ranked *ranked;
    size_t n;
    const bool *is_library; /* by method; the arena's, as */
    uint32_t *row_of;       /* by method: into ranked, or CALLTREE_NONE          all that follow */
    uint32_t *heaviest;     /* by row: its method's context with most time */
    uint32_t *depth;        /* by context */
    uint32_t *next;         /* by row: the one that it only calls, or CALLTREE_NONE */
    uint32_t *stays;        /* by row: the one that it is folded into */
    bool *is_done, *is_hidden;
};

static double time_of(const struct folder *f, uint32_t node)
{
    const struct report_source *source = f->making->source;
    return (double)(source->clock == PHASES_WALL ? source->tree->total_wall_ticks[node]
                                                 : source->tree->total_cpu_ticks[node]);
}

static double own_of(const struct folder *f, size_t row)
{
    const struct calltree_total *total = f->ranked[row].total;
    return f->making->method_own != NULL ? f->making->method_own[total->method]
                                         : (double)phases_self_ticks(total, f->making->source->clock);
}

static bool passes_on(const struct folder *f, size_t row)
{
    return own_of(f, row) < PASSES_ON * f->ranked[row].ticks;
}

static bool is_listed(const struct folder *f, size_t row)
{
    return f->is_library[f->ranked[row].total->method];
}

static int open_folder(struct folder *f)
{
    struct arena *arena = f->making->source->arena;
    const struct calltree *tree = f->making->source->tree;
    f->is_library = folding_methods(f->making->options->fold, f->making->source);
    f->row_of = arena_alloc(arena, ((size_t)tree->n_methods + 1) * sizeof *f->row_of);
    f->heaviest = arena_alloc(arena, (f->n + 1) * sizeof *f->heaviest);
    f->next = arena_alloc(arena, (f->n + 1) * sizeof *f->next);
    f->depth = arena_alloc(arena, ((size_t)tree->n_nodes + 1) * sizeof *f->depth);
    f->stays = arena_alloc(arena, (f->n + 1) * sizeof *f->stays);
    f->is_done = arena_alloc(arena, f->n + 1);
    f->is_hidden = arena_alloc(arena, f->n + 1);
    if (f->is_library == NULL)
        return -1;
    memset(f->row_of, 0xff, (size_t)tree->n_methods * sizeof *f->row_of);
    memset(f->next, 0xff, f->n * sizeof *f->next);
    for (size_t i = 0; i < f->n; i++)
        f->row_of[f->ranked[i].total->method] = (uint32_t)i;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        const struct calltree_node *node = &tree->nodes[i];
        uint32_t row = node->method < tree->n_methods ? f->row_of[node->method] : CALLTREE_NONE;
        f->depth[i] = node->parent == i ? 0 : f->depth[node->parent] + 1;
        if (row != CALLTREE_NONE && (f->heaviest[row] == 0 || time_of(f, i) > time_of(f, f->heaviest[row])))
            f->heaviest[row] = i;
    }
    return 0;
}

/* Is row a better next one of a row than row b?  The one that is called first is. */
static bool is_nearer(const struct folder *f, uint32_t a, uint32_t b)
{
    return b == CALLTREE_NONE || f->depth[f->heaviest[a]] < f->depth[f->heaviest[b]];
}

/* Each row is the next one of those of its callers that only call it. */
static void find_next(struct folder *f)
{
    const struct calltree *tree = f->making->source->tree;
    for (uint32_t row = 0; row < f->n; row++) {
        uint32_t node = f->heaviest[row];
        if (node == 0)
            continue;
        while (tree->nodes[node].parent != node) {
            node = tree->nodes[node].parent;
            uint32_t caller =
                tree->nodes[node].method < tree->n_methods ? f->row_of[tree->nodes[node].method] : CALLTREE_NONE;
            if (caller == CALLTREE_NONE || caller == row || !passes_on(f, caller) ||
                f->depth[f->heaviest[caller]] >= f->depth[f->heaviest[row]])
                continue;
            double ticks = f->ranked[row].ticks, callers = f->ranked[caller].ticks;
            if (ticks >= SAME_TIME * callers && callers >= SAME_TIME * ticks && is_nearer(f, row, f->next[caller]))
                f->next[caller] = row;
        }
    }
}

/* The rows of a chain from 'first' on, n of them, are folded into one that stays. */
static void hide_chain(struct folder *f, uint32_t first, uint32_t n, uint32_t stays, uint32_t *n_folded)
{
    uint32_t row = first;
    for (uint32_t i = 0; i < n; i++, row = f->next[row]) {
        f->is_hidden[row] = row != stays;
        f->stays[row] = stays;
        n_folded[f->ranked[stays].total->method] += row != stays;
    }
}

/*
 * A chain from its outermost row: the innermost one of the program's own stays, or else the last one.  Where it runs
 * into a chain that is folded already, it becomes part of that.  Returns the row that the next chain begins with, or
 * CALLTREE_NONE.
 */
static uint32_t fold_chain(struct folder *f, uint32_t first, uint32_t *n_folded)
{
    uint32_t row = first, stays = first, n = 0;
    double least = SAME_TIME * f->ranked[first].ticks;
    bool has_own = false;
    for (; row != CALLTREE_NONE && !f->is_done[row] && f->ranked[row].ticks >= least; row = f->next[row], n++) {
        f->is_done[row] = true;
        if (!is_listed(f, row) || !has_own)
            stays = row;
        has_own = has_own || !is_listed(f, row);
    }
    bool joins = row != CALLTREE_NONE && f->is_done[row] && f->ranked[f->stays[row]].ticks >= least &&
                 (!has_own || !is_listed(f, f->stays[row]));
    hide_chain(f, first, n, joins ? f->stays[row] : stays, n_folded);
    return row;
}

/* Chains begin with rows that are nobody's next one. */
static void fold_chains(struct folder *f, uint32_t *n_folded)
{
    bool *is_next = arena_alloc(f->making->source->arena, f->n + 1);
    for (size_t i = 0; i < f->n; i++)
        if (f->next[i] != CALLTREE_NONE)
            is_next[f->next[i]] = true;
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t row = i; !is_next[i] && row != CALLTREE_NONE && !f->is_done[row];)
            row = fold_chain(f, row, n_folded);
}

/* Frameworks call what is of interest, unless all is theirs. */
static void hide_frameworks(struct folder *f)
{
    double all = (double)f->making->shares.all_ticks;
    bool any_own = false;
    for (size_t i = 0; i < f->n; i++)
        any_own = any_own || (!f->is_hidden[i] && !is_listed(f, i));
    for (size_t i = 0; any_own && i < f->n; i++)
        if (is_listed(f, i) && passes_on(f, i) && own_of(f, i) < SMALL * all)
            f->is_hidden[i] = true;
}

int report_fold(struct making *making, struct report_ranked *ranked, size_t *n_ranked, struct err *err)
{
    struct folder f = { .making = making, .ranked = ranked, .n = *n_ranked };
    struct arena *arena = making->source->arena;
    making->n_folded = arena_alloc(arena, ((size_t)making->source->tree->n_methods + 1) * sizeof *making->n_folded);
    making->folded = arena_alloc(arena, (f.n + 1) * sizeof *making->folded);
    if (open_folder(&f) < 0)
        return err_set(err, "out of memory for %zu rows", *n_ranked);
    find_next(&f);
    fold_chains(&f, making->n_folded);
    for (size_t i = 0; i < f.n; i++)
        if (f.is_hidden[i])
            making->folded[making->n_all_folded++] = ranked[i].total->method;
    hide_frameworks(&f);
    size_t n = 0;
    for (size_t i = 0; i < f.n; i++)
        if (!f.is_hidden[i])
            ranked[n++] = ranked[i];
    if (n < f.n)
        table_note(making->table,
                   arena_printf(arena, "%zu method%s", f.n - n,
                                f.n - n == 1
                                    ? " hidden: it only delegates, or is framework code (--no-fold shows it)"
                                    : "s hidden: they only delegate, or are framework code (--no-fold shows them)"));
    *n_ranked = n;
    return 0;
}
