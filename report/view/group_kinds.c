/*
 * Requests that only choose: where nearly all that a request does is in methods of one name, of several classes (the
 * handlers of a dispatcher), these are the requests; so is the method that a lambda's body only calls.
 */
#include "report/view/groups_internal.h"

#include "core/base/hash.h"
#include "core/base/xalloc.h"

#define CLASSES_LEAST 3u  /* that have the method, */
#define SHARE_LEAST   0.6 /* of the time of what calls them, */
#define DEPTH_MOST    8u  /* methods of the program's own below it */
#define HANDED_LEAST  0.9 /* of a lambda's time: in the method that it calls */

/* Methods of one name and descriptor in a request, the outermost calls of them. */
struct kinds {
    struct method_name name; /* of one of them */
    uint32_t row, n_classes;
    double ticks;
};

struct kinds_search {
    const struct groups_making *making;
    struct kinds *all; /* owned */
    size_t n, room;
    struct hash_set by_name, classes; /* 1 + the number in all; the classes of each */
    double *row_ticks;                /* owned */
};

bool groups_is_kind(const struct method_name *kind, const struct method_name *name)
{
    return strcmp(kind->method, name->method) == 0 && strcmp(kind->descriptor, name->descriptor) == 0;
}

bool groups_is_own(const struct groups_making *making, const struct method_name *name)
{
    const struct folding_list *libraries = making->pass->options.libraries;
    return libraries == NULL || !folding_has_method(libraries, name);
}

/* Is it one of the program's own? */
static bool own_of(const struct groups_making *making, uint32_t node, struct method_name *name)
{
    const struct calltree *tree = making->source->tree;
    if (tree->nodes[node].method >= tree->n_methods)
        return false;
    *name = report_name(making->source, tree->nodes[node].method);
    return groups_is_own(making, name);
}

/* No call of that name is above it in its request, and few others are. */
static bool is_outermost(const struct groups_making *making, uint32_t node, const struct method_name *name)
{
    const struct calltree *tree = making->source->tree;
    uint32_t row = making->request_of_node[node], depth = 0;
    struct method_name above;
    for (uint32_t i = tree->nodes[node].parent; making->request_of_node[i] == row; i = tree->nodes[i].parent)
        if (own_of(making, i, &above) && (groups_is_kind(&above, name) || ++depth > DEPTH_MOST))
            return false;
    return depth > 0; /* else it is the request */
}

static void add_kind(struct kinds_search *search, uint32_t row, const struct method_name *name, double ticks)
{
    const struct method_name kind = { "", name->method, name->descriptor };
    uint64_t key = hash_address(method_name_hash(&kind) + row);
    struct hash_slot *slot = xhash_put(&search->by_name, key);
    xgrow(search->all, search->room, search->n + 1);
    if (slot->value == 0) {
        search->all[search->n] = (struct kinds){ *name, row, 0, 0 };
        slot->value = (uint32_t)++search->n;
    }
    struct kinds *kinds = &search->all[slot->value - 1];
    kinds->ticks += ticks;
    slot = xhash_put(&search->classes, hash_address(key + method_name_hash(name)));
    kinds->n_classes += slot->value == 0;
    slot->value = 1;
}

static void see(struct kinds_search *search, uint32_t node)
{
    const struct report_source *source = search->making->source;
    const struct calltree *tree = source->tree;
    uint32_t row = search->making->request_of_node[node];
    struct method_name name;
    double ticks = (double)report_total_ticks(source, node);
    if (row >= search->making->n || !own_of(search->making, node, &name))
        return;
    if (search->making->request_of_node[tree->nodes[node].parent] != row)
        search->row_ticks[row] += ticks;
    else if (is_outermost(search->making, node, &name))
        add_kind(search, row, &name, ticks);
}

/* A dispatcher hands its work to methods of one name, a lambda's body that is none to one method. */
static bool is_choice(const struct groups_row *row, const struct kinds *kinds, double row_ticks, bool is_dispatcher)
{
    return is_dispatcher ? kinds->n_classes >= CLASSES_LEAST && kinds->ticks >= SHARE_LEAST * row_ticks
                         : method_name_is_lambda(&row->name) && kinds->ticks >= HANDED_LEAST * row_ticks;
}

/* The name with most of a row's time. */
static bool choose(struct groups_making *making, const struct kinds_search *search, bool is_dispatcher)
{
    bool is_any = false;
    for (size_t i = 0; i < search->n; i++) {
        const struct kinds *kinds = &search->all[i];
        struct groups_row *row = &making->rows[kinds->row];
        if (!is_choice(row, kinds, search->row_ticks[kinds->row], is_dispatcher) || kinds->ticks <= row->kinds_ticks ||
            (!is_dispatcher && row->is_dispatcher))
            continue;
        row->kinds = kinds->name;
        row->kinds_ticks = kinds->ticks;
        row->is_dispatcher = is_dispatcher;
        is_any = true;
    }
    return is_any;
}

bool groups_find_kinds(struct groups_making *making)
{
    struct kinds_search search = { .making = making, .row_ticks = xcalloc(making->n + 1, sizeof(double)) };
    for (uint32_t i = 1; i < making->source->tree->n_nodes; i++)
        see(&search, i);
    bool is_any = choose(making, &search, true);
    is_any = choose(making, &search, false) || is_any;
    hash_free(&search.by_name);
    hash_free(&search.classes);
    free(search.all);
    free(search.row_ticks);
    return is_any;
}
