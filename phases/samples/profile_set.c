#include "phases/samples/profile_set.h"

#include "core/base/xalloc.h"

void profile_set_open(struct profile_set *set, struct arena *arena)
{
    *set = (struct profile_set){ .by_name.arena = arena };
    *xpush(set->contexts, set->contexts_room, set->n_contexts) = (struct profile_context){ 0, PROFILE_SET_NONE, false };
}

void profile_set_free(struct profile_set *set)
{
    for (uint32_t i = 0; i < PROFILE_SET_MAX; i++)
        free(set->weights[i]);
    map_free(&set->by_name);
    hash_free(&set->by_call);
    free(set->contexts);
    free(set->names);
    memset(set, 0, sizeof *set);
}

/* ---- contexts ---- */

static uint32_t name_of(struct profile_set *set, const char *name, size_t n_name)
{
    const uint32_t *known = map_get(&set->by_name, name, n_name);
    if (known != NULL)
        return *known;
    map_put(&set->by_name, name, n_name, set->n_names);
    *xpush(set->names, set->names_room, set->n_names) =
        (struct profile_name){ arena_text(set->by_name.arena, name, n_name), false };
    return set->n_names - 1;
}

static bool is_called_by_itself(const struct profile_set *set, uint32_t parent, uint32_t name)
{
    for (; parent != 0; parent = set->contexts[parent].parent)
        if (set->contexts[parent].name == name)
            return true;
    return false;
}

uint32_t profile_set_call(struct profile_set *set, uint32_t parent, const char *name, size_t n_name)
{
    uint32_t method = name_of(set, name, n_name);
    uint64_t call = (uint64_t)parent << 32 | method;
    struct hash_slot *slot = xhash_put(&set->by_call, hash_text(HASH_START, (const char *)&call, sizeof call));
    if (slot->value == 0) {
        slot->value = set->n_contexts;
        *xpush(set->contexts, set->contexts_room, set->n_contexts) =
            (struct profile_context){ parent, method, is_called_by_itself(set, parent, method) };
    }
    return slot->value;
}

void profile_set_add(struct profile_set *set, uint32_t profile, uint32_t context, double weight)
{
    xgrow_zeroed(set->weights[profile], set->weights_room[profile], (size_t)context + 1);
    set->n_profiles = profile >= set->n_profiles ? profile + 1 : set->n_profiles;
    set->weights[profile][context] += weight;
}

/* ---- some methods only ---- */

void profile_set_mark(struct profile_set *set, const char *name, size_t n_name)
{
    uint32_t method = name_of(set, name, n_name);
    set->names[method].is_kept = true;
}

void profile_set_keep(const struct profile_set *set, struct profile_set *kept)
{
    uint32_t *in = xcalloc(set->n_contexts, sizeof *in);
    profile_set_open(kept, set->by_name.arena);
    for (uint32_t i = 1; i < set->n_contexts; i++) {
        const struct profile_context *context = &set->contexts[i];
        const struct profile_name *name = &set->names[context->name];
        in[i] = in[context->parent];
        if (name->is_kept)
            in[i] = profile_set_call(kept, in[i], name->text, strlen(name->text));
        for (uint32_t p = 0; p < set->n_profiles; p++)
            if (i < set->weights_room[p] && set->weights[p][i] > 0)
                profile_set_add(kept, p, in[i], set->weights[p][i]);
    }
    free(in);
}

/* ---- vectors ---- */

/* By context, own or with callees; for free(). */
static double *weights_of(const struct profile_set *set, uint32_t profile, bool is_total)
{
    double *weights = xcalloc(set->n_contexts, sizeof *weights);
    for (uint32_t i = 0; i < set->n_contexts; i++)
        weights[i] = i < set->weights_room[profile] ? set->weights[profile][i] : 0;
    for (uint32_t i = set->n_contexts; is_total && i-- > 1;)
        weights[set->contexts[i].parent] += weights[i];
    return weights;
}

double *profile_set_vector(const struct profile_set *set, uint32_t profile, enum profile_kind kind, bool is_total,
                           size_t *n)
{
    double *contexts = weights_of(set, profile, is_total);
    *n = kind == PROFILE_METHODS ? set->n_names : set->n_contexts;
    if (kind == PROFILE_CONTEXTS) {
        contexts[0] = 0;
        return contexts;
    }
    double *methods = xcalloc(*n + 1, sizeof *methods);
    for (uint32_t i = 1; i < set->n_contexts; i++)
        if (!is_total || !set->contexts[i].is_recursive)
            methods[set->contexts[i].name] += contexts[i];
    free(contexts);
    return methods;
}

/* ---- how alike ---- */

double overlap_unweighted(const double *x, const double *y, size_t n)
{
    size_t n_either = 0, n_both = 0;
    for (size_t i = 0; i < n; i++) {
        n_either += x[i] > 0 || y[i] > 0;
        n_both += x[i] > 0 && y[i] > 0;
    }
    return n_either == 0 ? NAN : (double)n_both / (double)n_either;
}

static int heaviest_first(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x > *y ? -1 : *x < *y;
}

/* The elements that x has, heaviest first: owned by the caller. */
static double *sort_elements(const double *x, size_t n, size_t *n_has)
{
    double *sorted = xreallocarray(NULL, n + 1, sizeof *sorted);
    *n_has = 0;
    for (size_t i = 0; i < n; i++)
        if (x[i] > 0)
            sorted[(*n_has)++] = x[i];
    qsort(sorted, *n_has, sizeof *sorted, heaviest_first);
    return sorted;
}

/* Elements that are as heavy as the last one of them count, too: which of them would be left out is chance. */
double overlap_top(const double *x, const double *y, size_t n, double top_share)
{
    size_t n_has, n_top = 0, n_both = 0;
    double *sorted = sort_elements(x, n, &n_has);
    size_t wanted = (size_t)ceil(top_share * (double)n_has - 1e-9);
    double least = n_has == 0 ? 0 : sorted[wanted == 0 ? 0 : wanted - 1];
    for (size_t i = 0; n_has > 0 && i < n; i++) {
        n_top += x[i] >= least;
        n_both += x[i] >= least && y[i] > 0;
    }
    free(sorted);
    return n_top == 0 ? NAN : (double)n_both / (double)n_top;
}

void overlap_keep_first(double *const *vectors, size_t n_vectors, size_t n, size_t n_first)
{
    size_t n_has;
    if (n_vectors == 0)
        return;
    double *sorted = sort_elements(vectors[0], n, &n_has);
    double least = n_has == 0 || n_first == 0 ? INFINITY : sorted[(n_first < n_has ? n_first : n_has) - 1];
    free(sorted);
    for (size_t i = 0; i < n; i++)
        for (size_t k = n_vectors; k-- > 0 && vectors[0][i] < least;)
            vectors[k][i] = 0;
}

static double sum_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

double overlap_weighted(const double *x, const double *y, size_t n)
{
    double all_x = sum_of(x, n), all_y = sum_of(y, n), overlap = 0;
    if (!(all_x > 0 && all_y > 0))
        return NAN;
    for (size_t i = 0; i < n; i++)
        overlap += fmin(x[i] / all_x, y[i] / all_y);
    return overlap;
}

double overlap_correlation(const double *x, const double *y, size_t n)
{
    double n_either = 0, sum_x = 0, sum_y = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        n_either += x[i] > 0 || y[i] > 0;
        sum_x += x[i];
        sum_y += y[i];
    }
    double mean_x = sum_x / n_either, mean_y = sum_y / n_either;
    for (size_t i = 0; i < n; i++) {
        if (!(x[i] > 0 || y[i] > 0))
            continue;
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        yy += (y[i] - mean_y) * (y[i] - mean_y);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    return xx > 0 && yy > 0 ? fmax(-1, fmin(1, xy / sqrt(xx * yy))) : NAN;
}

double overlap_stability(const double *const *vectors, size_t n_vectors, size_t n)
{
    double sum = 0, n_pairs = 0;
    for (size_t i = 0; i < n_vectors; i++)
        for (size_t k = i + 1; k < n_vectors; k++, n_pairs++)
            sum += overlap_weighted(vectors[i], vectors[k], n);
    return n_pairs > 0 ? sum / n_pairs : NAN;
}
