/*
 * Rows that tell nothing of their own: methods that only call the next one, which nobody else calls, and those of
 * frameworks between the program's own.  Their own time, next to none, is that of the rows that call them, as of all
 * methods without a row.
 */
#include "report/view/report_internal.h"

#include "report/folding.h"
#include "symbolize/java_names.h"

#define PASSES_ON 0.05 /* with less of its time as its own a method only calls others */
#define OVERHEAD  0.15 /* the same of a framework's */
#define SMALL     0.01 /* of all time, */
#define APART     2    /* and so many samples, but no more: what two rows have not in common may be chance */
#define HOT       0.05
#define ENTRY     0.02 /* a call of a framework with so much of all time has a row, and one of the trunk in any table */
#define TRUNK     0.80 /* of the largest row's time */

struct folder {
    const struct making *making;
    struct report_ranked *ranked;
    size_t n;
    const bool *is_library; /* by method; the arena's, as */
    uint32_t *row_of;       /* by method: into ranked, or CALLTREE_NONE          all that follow */
    uint32_t *first_node;   /* by row: its method's contexts, a list of nodes; 0: none */
    uint32_t *next_node;    /* by node */
    double *ticks;          /* by row: the time of its method, in the tree */
    double *inside;         /* by row: of the one that is looked at, the time in its calls */
    uint32_t *latest;       /* by row: the node that was counted in it last */
    uint32_t *next;         /* by row: the one that it only calls, or CALLTREE_NONE */
    double *ticks_between;  /* by row: the time that it and the next one have not in common */
    double *entered, *left; /* by row: of a framework, the time that the program calls, and in which it calls back */
    double sample_ticks;    /* that a sample stands for; 0: there are none */
    uint32_t *outermost;    /* by row that stays: the one that its chain is named by, too */
    bool *is_next, *is_done, *is_hidden;
};

static double time_of(const struct folder *f, uint32_t node)
{
    return (double)report_total_ticks(f->making->source, node);
}

static double own_of(const struct folder *f, size_t row)
{
    const struct calltree_total *total = f->ranked[row].total;
    return f->making->method_own != NULL ? f->making->method_own[total->method]
                                         : (double)phases_self_ticks(total, f->making->source->clock);
}

static bool is_listed(const struct folder *f, size_t row)
{
    return f->is_library[f->ranked[row].total->method];
}

static bool is_root(const struct calltree *tree, uint32_t node)
{
    return tree->nodes[node].parent == node;
}

static uint32_t row_of_node(const struct folder *f, uint32_t node)
{
    const struct calltree *tree = f->making->source->tree;
    uint32_t method = tree->nodes[node].method;
    return method < tree->n_methods ? f->row_of[method] : CALLTREE_NONE;
}

static void open_folder(struct folder *f)
{
    struct arena *arena = f->making->source->arena;
    const struct calltree *tree = f->making->source->tree;
    const struct sampled_tree *sampled = f->making->source->sampled;
    uint64_t n_samples = 0;
    for (size_t i = 0; sampled != NULL && i < sampled->samples->n_kept; i++)
        n_samples += sampled->samples->kept[i].is_waiting ? 0 : sampled->samples->kept[i].n;
    f->sample_ticks = n_samples == 0 ? 0 : (double)f->making->shares.all_ticks / (double)n_samples;
    f->is_library = folding_methods(f->making->options->fold, f->making->source);
    f->row_of = arena_alloc(arena, ((size_t)tree->n_methods + 1) * sizeof *f->row_of);
    f->first_node = arena_alloc(arena, (f->n + 1) * sizeof *f->first_node);
    f->next_node = arena_alloc(arena, ((size_t)tree->n_nodes + 1) * sizeof *f->next_node);
    f->ticks = arena_alloc(arena, (f->n + 1) * sizeof *f->ticks);
    f->inside = arena_alloc(arena, (f->n + 1) * sizeof *f->inside);
    f->latest = arena_alloc(arena, (f->n + 1) * sizeof *f->latest);
    f->next = arena_alloc(arena, (f->n + 1) * sizeof *f->next);
    f->ticks_between = arena_alloc(arena, (f->n + 1) * sizeof *f->ticks_between);
    f->entered = arena_alloc(arena, (f->n + 1) * sizeof *f->entered);
    f->left = arena_alloc(arena, (f->n + 1) * sizeof *f->left);
    f->outermost = arena_alloc(arena, (f->n + 1) * sizeof *f->outermost);
    f->is_next = arena_alloc(arena, f->n + 1);
    f->is_done = arena_alloc(arena, f->n + 1);
    f->is_hidden = arena_alloc(arena, f->n + 1);
    memset(f->row_of, 0xff, (size_t)tree->n_methods * sizeof *f->row_of);
    memset(f->next, 0xff, f->n * sizeof *f->next);
    for (size_t i = 0; i < f->n; i++)
        f->row_of[f->ranked[i].total->method] = (uint32_t)i;
    for (uint32_t i = tree->n_nodes; --i > 0;) {
        uint32_t row = row_of_node(f, i);
        if (row == CALLTREE_NONE || is_root(tree, i))
            continue;
        f->next_node[i] = f->first_node[row];
        f->first_node[row] = i;
    }
}

/* ---- chains ---- */

/* Is a context of a row's method in no other one of it? */
static bool is_outermost(const struct folder *f, uint32_t row, uint32_t node)
{
    const struct calltree *tree = f->making->source->tree;
    while (!is_root(tree, node)) {
        node = tree->nodes[node].parent;
        if (row_of_node(f, node) == row)
            return false;
    }
    return true;
}

/* A row's time, and how much of it is in the calls of each other one. */
static void count_inside(struct folder *f, uint32_t row)
{
    const struct calltree *tree = f->making->source->tree;
    memset(f->inside, 0, f->n * sizeof *f->inside);
    f->ticks[row] = 0;
    for (uint32_t node = f->first_node[row]; node != 0; node = f->next_node[node]) {
        double ticks = time_of(f, node);
        if (ticks <= 0 || !is_outermost(f, row, node))
            continue;
        f->ticks[row] += ticks;
        for (uint32_t at = node; !is_root(tree, at);) {
            at = tree->nodes[at].parent;
            uint32_t caller = row_of_node(f, at);
            if (caller == CALLTREE_NONE || f->latest[caller] == node)
                continue;
            f->latest[caller] = node;
            f->inside[caller] += ticks;
        }
    }
}

/* How much time may be one row's alone, where all is said to be another's, too. */
static double spare_ticks(const struct folder *f, uint32_t row)
{
    double small = SMALL * (double)f->making->shares.all_ticks, chance = APART * f->sample_ticks;
    return fmin(PASSES_ON * f->ranked[row].ticks, small + fmin(chance, small));
}

/*
 * Each row is the next one of those that all its calls are in, and that have no other time.  Of several such rows the
 * one that is called first is.
 */
static void find_next(struct folder *f)
{
    for (uint32_t row = 0; row < f->n; row++) {
        count_inside(f, row);
        for (uint32_t caller = 0; caller < f->n; caller++) {
            double outside = f->ticks[row] - f->inside[caller], rest = f->ranked[caller].ticks - f->inside[caller];
            if (caller == row || f->inside[caller] <= 0 || outside > spare_ticks(f, caller) ||
                rest > spare_ticks(f, caller))
                continue;
            uint32_t known = f->next[caller];
            if (known != CALLTREE_NONE && 2 * f->inside[known] > f->ticks[row])
                continue;
            f->next[caller] = row;
            f->ticks_between[caller] = outside + rest;
        }
    }
}

/* A program's parts: packages with the same first two names, or three in org.apache. */
static size_t part_bytes(const char *class_name)
{
    uint32_t parts = strncmp(class_name, "org/apache/", strlen("org/apache/")) == 0 ? 3 : 2;
    size_t n = 0;
    for (const char *slash; parts > 0 && (slash = strchr(class_name + n, '/')) != NULL; parts--)
        n = (size_t)(slash - class_name) + 1;
    return n;
}

static bool are_of_one_part(const struct folder *f, uint32_t a, uint32_t b)
{
    const char *x = report_name(f->making->source, f->ranked[a].total->method).class_name,
               *y = report_name(f->making->source, f->ranked[b].total->method).class_name;
    return part_bytes(x) == part_bytes(y) && strncmp(x, y, part_bytes(x)) == 0;
}

/* The rows of a chain from 'first' on, n of them, are folded into one that stays. */
static void hide_chain(struct folder *f, uint32_t first, uint32_t n, uint32_t stays, uint32_t outermost)
{
    struct report_fold *fold = &f->making->folds[f->ranked[stays].total->method];
    struct arena *arena = f->making->source->arena;
    f->outermost[stays] = outermost;
    fold->outermost = f->ranked[outermost].total->method;
    fold->n = n - 1;
    fold->names = "";
    for (uint32_t i = 0, row = first; i < n; i++, row = f->next[row]) {
        struct method_name name = report_name(f->making->source, f->ranked[row].total->method);
        f->is_hidden[row] = row != stays;
        if (row != stays)
            fold->names = arena_printf(arena, "%s%s%s", fold->names, fold->names[0] == '\0' ? "" : " ",
                                       java_names_display(arena, &name, JAVA_NAMES_FULL));
    }
}

/* How well a row's name tells a chain's reader where it begins. */
enum naming { NAMED_BY_LIBRARY, NAMED_BY_COMPILER, NAMED_BY_PROGRAM };

static enum naming naming_of(const struct folder *f, uint32_t row)
{
    struct method_name name = report_name(f->making->source, f->ranked[row].total->method);
    return is_listed(f, row) ? NAMED_BY_LIBRARY : method_name_is_lambda(&name) ? NAMED_BY_COMPILER : NAMED_BY_PROGRAM;
}

/*
 * A chain from its outermost row: the innermost one of the program's own stays, or else the last one.  It ends where
 * one part of the program calls another one: that call is what its reader looks for.  Returns the row that the next
 * chain begins with, or CALLTREE_NONE.
 */
static uint32_t fold_chain(struct folder *f, uint32_t first)
{
    uint32_t row = first, stays = first, outermost = first, n = 0;
    double between = 0;
    enum naming best = NAMED_BY_LIBRARY;
    while (row != CALLTREE_NONE && !f->is_done[row] && between <= spare_ticks(f, first)) {
        enum naming naming = naming_of(f, row);
        bool is_own = naming > NAMED_BY_LIBRARY, has_own = best > NAMED_BY_LIBRARY;
        if (is_own && has_own && !are_of_one_part(f, stays, row))
            break;
        outermost = naming > best ? row : outermost;
        stays = is_own || !has_own ? row : stays;
        best = naming > best ? naming : best;
        f->is_done[row] = true;
        between += f->ticks_between[row];
        row = f->next[row];
        n++;
    }
    hide_chain(f, first, n, stays, outermost);
    return row;
}

/* Chains begin with rows that are nobody's next one. */
static void fold_chains(struct folder *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->next[i] != CALLTREE_NONE)
            f->is_next[f->next[i]] = true;
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t row = i; !f->is_next[i] && row != CALLTREE_NONE && !f->is_done[row];)
            row = fold_chain(f, row);
}

/* ---- frameworks ---- */

static bool is_library_node(const struct folder *f, uint32_t node)
{
    const struct calltree *tree = f->making->source->tree;
    uint32_t method = tree->nodes[node].method;
    return !is_root(tree, node) && method < tree->n_methods && f->is_library[method];
}

/* The calls of a program's method in a framework, from the inside out. */
static void count_left(struct folder *f, uint32_t node)
{
    const struct calltree *tree = f->making->source->tree;
    for (uint32_t at = tree->nodes[node].parent; is_library_node(f, at); at = tree->nodes[at].parent) {
        uint32_t row = row_of_node(f, at);
        if (row != CALLTREE_NONE && f->latest[row] != node) {
            f->latest[row] = node;
            f->left[row] += time_of(f, node);
        }
    }
}

/* Is most of a framework's row the program's, which it calls? */
static bool calls_back(const struct folder *f, uint32_t row)
{
    return 2 * f->left[row] >= f->ranked[row].ticks;
}

/* Is it the program's, a thread's start, or a framework's that does nothing but call the program? */
static bool is_call_of_program(const struct folder *f, uint32_t node)
{
    uint32_t row = row_of_node(f, node);
    return !is_library_node(f, node) || (row != CALLTREE_NONE && calls_back(f, row));
}

/* Which rows the program calls in a framework, and how much of that is again the program's. */
static void count_entries(struct folder *f)
{
    const struct calltree *tree = f->making->source->tree;
    memset(f->latest, 0, f->n * sizeof *f->latest);
    for (uint32_t i = 1; i < tree->n_nodes; i++)
        if (!is_root(tree, i) && time_of(f, i) > 0 && !is_library_node(f, i))
            count_left(f, i);
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        uint32_t row = row_of_node(f, i), parent = tree->nodes[i].parent;
        if (row != CALLTREE_NONE && !is_root(tree, i) && is_library_node(f, i) && is_call_of_program(f, parent) &&
            is_outermost(f, row, i))
            f->entered[row] += time_of(f, i);
    }
}

/* Does the program call it for its own sake? */
static bool is_entry(const struct folder *f, uint32_t row)
{
    double ticks = f->ranked[row].ticks;
    return ticks >= ENTRY * (double)f->making->shares.all_ticks && 2 * f->entered[row] > ticks && !calls_back(f, row);
}

/* Frameworks call what is of interest, unless all is theirs. */
static void hide_frameworks(struct folder *f)
{
    double all = (double)f->making->shares.all_ticks;
    bool any_own = false;
    count_entries(f);
    for (size_t i = 0; i < f->n; i++)
        any_own = any_own || (!f->is_hidden[i] && !is_listed(f, i));
    for (size_t i = 0; any_own && i < f->n; i++)
        if (!f->is_hidden[i] && is_listed(f, i) && own_of(f, i) < fmin(OVERHEAD * f->ranked[i].ticks, HOT * all) &&
            !is_entry(f, f->outermost[i]))
            f->is_hidden[i] = true;
}

/* ---- outer rows ---- */

/* The row that calls a context's method; CALLTREE_NONE: a thread's start. */
static uint32_t caller_of(const struct folder *f, uint32_t node)
{
    const struct calltree *tree = f->making->source->tree;
    uint32_t row = CALLTREE_NONE;
    while (!is_root(tree, node) && (row == CALLTREE_NONE || f->is_hidden[row])) {
        node = tree->nodes[node].parent;
        row = row_of_node(f, node);
    }
    return row != CALLTREE_NONE && f->is_hidden[row] ? CALLTREE_NONE : row;
}

/* Mark the trunk, the rows with nearly all time, and what it calls: with deep recursion below it many others have more.
 */
static void mark_outer(struct folder *f)
{
    double most = 0;
    for (size_t i = 0; i < f->n; i++)
        most = f->is_hidden[i] ? most : fmax(most, f->ranked[i].ticks);
    for (uint32_t row = 0; row < f->n; row++) {
        double ticks = f->ranked[row].ticks, called = 0;
        for (uint32_t node = f->first_node[row]; node != 0 && ticks < TRUNK * most; node = f->next_node[node]) {
            uint32_t caller = is_outermost(f, row, node) ? caller_of(f, node) : CALLTREE_NONE;
            if (caller != CALLTREE_NONE && f->ranked[caller].ticks >= TRUNK * most)
                called += time_of(f, node);
        }
        f->ranked[row].is_outer =
            ticks >= TRUNK * most || (2 * called > ticks && ticks >= ENTRY * (double)f->making->shares.all_ticks);
    }
}

void report_fold(struct making *making, struct report_ranked *ranked, size_t *n_ranked)
{
    struct folder f = { .making = making, .ranked = ranked, .n = *n_ranked };
    struct arena *arena = making->source->arena;
    making->folds = arena_alloc(arena, ((size_t)making->source->tree->n_methods + 1) * sizeof *making->folds);
    making->folded = arena_alloc(arena, (f.n + 1) * sizeof *making->folded);
    open_folder(&f);
    find_next(&f);
    fold_chains(&f);
    for (size_t i = 0; i < f.n; i++)
        if (f.is_hidden[i])
            making->folded[making->n_all_folded++] = ranked[i].total->method;
    hide_frameworks(&f);
    mark_outer(&f);
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
}
