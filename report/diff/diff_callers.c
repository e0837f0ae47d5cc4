/* How much of a method's time is on behalf of which others: what changes follow from. */
#include "core/base/xalloc.h"
#include "report/diff/diff_internal.h"

#define FIRST_PAIRS 256

/* Methods whose time is small, and what is in no row, are left out. */
struct callers {
    const struct report_source *source;
    const size_t *rows; /* by method; SIZE_MAX: none */
    size_t n_rows;
    uint32_t *local;  /* by method: a number below n; CALLTREE_NONE: it is none of the rows */
    size_t *row_of;   /* by number */
    uint32_t *n_open; /* by number: calls around the current node */
    uint32_t *stack;  /* of those that are the outermost one of their method */
    size_t n, n_stack;
    double *ns; /* by caller, callee */
};

static void number_rows(struct callers *c)
{
    c->local = xreallocarray(NULL, c->n_rows + 1, sizeof *c->local);
    c->row_of = xreallocarray(NULL, c->n_rows + 1, sizeof *c->row_of);
    for (size_t i = 0; i < c->n_rows; i++) {
        c->local[i] = CALLTREE_NONE;
        if (c->rows[i] == SIZE_MAX)
            continue;
        c->row_of[c->n] = c->rows[i];
        c->local[i] = (uint32_t)c->n++;
    }
    c->n_open = xcalloc(c->n + 1, sizeof *c->n_open);
    c->stack = xcalloc(c->n + 1, sizeof *c->stack);
    c->ns = xcalloc(c->n * c->n + 1, sizeof *c->ns);
}

static uint32_t local_of(const struct callers *c, uint32_t method)
{
    return method < c->n_rows ? c->local[method] : CALLTREE_NONE;
}

static void enter(struct callers *c, uint32_t node, uint32_t number)
{
    double ns = report_ns(c->source, report_total_ticks(c->source, node));
    if (c->n_open[number]++ > 0)
        return;
    c->stack[c->n_stack++] = number;
    for (size_t i = 0; i < c->n_stack; i++)
        c->ns[c->stack[i] * c->n + number] += ns;
}

static void leave(struct callers *c, uint32_t number)
{
    if (--c->n_open[number] == 0)
        c->n_stack--;
}

static void walk(struct callers *c)
{
    const struct calltree *tree = c->source->tree;
    for (uint32_t i = 0; i < tree->n_roots; i++) {
        struct calltree_walk w = calltree_walk_from(tree, tree->roots[i].node);
        while (tree->roots[i].part == VM_PART_APPLICATION && calltree_walk(&w)) {
            uint32_t number = local_of(c, tree->nodes[w.node].method);
            if (number == CALLTREE_NONE)
                continue;
            if (w.is_leaving)
                leave(c, number);
            else
                enter(c, w.node, number);
        }
    }
}

/* ---- all traces' ---- */

static struct diff_pair *find_pair(struct diff *d, struct map *pairs, size_t caller, size_t callee)
{
    const size_t key[] = { caller, callee };
    const uint32_t *known = map_get(pairs, key, sizeof key);
    if (known != NULL)
        return &d->pairs[*known];
    if (d->n_pairs == d->pairs_room) {
        size_t room = d->pairs_room == 0 ? FIRST_PAIRS : d->pairs_room * 2;
        struct diff_pair *fresh = arena_alloc(d->arena, room * sizeof *fresh);
        if (d->n_pairs > 0)
            memcpy(fresh, d->pairs, d->n_pairs * sizeof *fresh);
        d->pairs = fresh;
        d->pairs_room = room;
    }
    map_put(pairs, key, sizeof key, (uint32_t)d->n_pairs);
    d->pairs[d->n_pairs] = (struct diff_pair){ caller, callee, 0 };
    return &d->pairs[d->n_pairs++];
}

static void add_callers(struct diff *d, struct map *pairs, const struct callers *c)
{
    for (size_t a = 0; a < c->n; a++)
        for (size_t b = 0; b < c->n; b++)
            if (c->ns[a * c->n + b] > 0)
                find_pair(d, pairs, c->row_of[a], c->row_of[b])->ns += c->ns[a * c->n + b];
}

void diff_add_callers(struct diff *d, struct map *pairs, const struct report_source *source, const size_t *rows,
                      size_t n_rows)
{
    struct callers c = { .source = source, .rows = rows, .n_rows = n_rows };
    number_rows(&c);
    walk(&c);
    add_callers(d, pairs, &c);
    free(c.local);
    free(c.row_of);
    free(c.n_open);
    free(c.stack);
    free(c.ns);
}
