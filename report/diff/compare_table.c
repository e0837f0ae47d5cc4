/* The table of 'mmprof diff --profiles'. */
#include "phases/samples/profile_set.h"
#include "core/base/text.h"
#include "report/diff/compare.h"

struct vectors {
    double *of[COMPARE_MAX]; /* owned */
    uint32_t n;
    size_t n_elements;
};

static void make_vectors(struct vectors *v, const struct profile_set *set, uint32_t n,
                         const struct compare_options *options)
{
    for (v->n = 0; v->n < n; v->n++)
        v->of[v->n] = profile_set_vector(set, v->n, options->kind, options->is_total, &v->n_elements);
    if (options->n_first != 0)
        overlap_keep_first(v->of, v->n, v->n_elements, options->n_first);
}

static size_t count(const double *vector, size_t n)
{
    size_t n_has = 0;
    for (size_t i = 0; i < n; i++)
        n_has += vector[i] > 0;
    return n_has;
}

struct compare_pair {
    const char *first, *second;
    double weighted, top, unweighted, correlation;
};

/* The geometric mean of the correlations; NAN where one is not positive. */
struct precision {
    double logs;
    uint32_t n;
};

static void add_pairs(struct table *table, const struct vectors *v, const struct compare_profile *profiles,
                      double top_share, struct precision *precision)
{
    for (uint32_t i = 0; i < v->n; i++)
        for (uint32_t k = i + 1; k < v->n; k++) {
            const double *x = v->of[i], *y = v->of[k];
            const struct compare_pair pair = { profiles[i].path,
                                               profiles[k].path,
                                               overlap_weighted(x, y, v->n_elements),
                                               overlap_top(x, y, v->n_elements, top_share),
                                               overlap_unweighted(x, y, v->n_elements),
                                               overlap_correlation(x, y, v->n_elements) };
            precision->logs += pair.correlation > 0 ? log(pair.correlation) : NAN;
            precision->n++;
            table_add(table, "pair", &pair);
        }
}

static void add_profiles(struct table *table, const struct vectors *v, const struct compare_profile *profiles,
                         const struct compare_options *options)
{
    const char *elements = options->kind == PROFILE_METHODS ? "methods" : "contexts";
    table_metadata_words(table, "by", options->kind == PROFILE_METHODS ? "method" : "context", NULL);
    table_metadata_words(table, "time", options->is_total ? "total" : "self", NULL);
    for (uint32_t i = 0; i < v->n; i++) {
        size_t n = count(v->of[i], v->n_elements);
        const char *key = arena_printf(table->arena, "%s_%" PRIu32, elements, i + 1);
        const char *of = profiles[i].what[0] == 'f' ? "samples in folded stacks" : profiles[i].what;
        table_metadata_number(table, key, (double)n,
                              arena_printf(table->arena, "profile  %s: %zu %s in %" PRIu64 " %s", profiles[i].path, n,
                                           elements, profiles[i].n, of));
    }
}

static void add_means(struct table *table, const struct vectors *v, const struct precision *precision)
{
    double stability = overlap_stability((const double *const *)v->of, v->n, v->n_elements);
    double mean = exp(precision->logs / precision->n);
    if (!isnan(stability))
        table_metadata_number(table, "stability", stability,
                              arena_printf(table->arena,
                                           "stability  %.2f %% mean overlap of %" PRIu32 " pair%s; correlation %s",
                                           100 * stability, precision->n, text_plural(precision->n),
                                           isnan(mean) ? "-" : arena_printf(table->arena, "%.4f", mean)));
    if (!isnan(mean))
        table_metadata_number(table, "precision", mean, NULL);
}

static void add_note(struct table *table, const struct compare_profile *profiles, uint32_t n)
{
    bool has_calls = false, has_samples = false;
    for (uint32_t i = 0; i < n; i++) {
        bool is_calls = profiles[i].what[0] == 'c';
        has_calls = has_calls || is_calls;
        has_samples = has_samples || !is_calls;
    }
    if (has_calls && has_samples)
        table_note(table, "in recorded calls a caller's own time includes methods without probes, in samples it does "
                          "not; --probed treats both alike");
}

void compare_table(const struct profile_set *set, const struct compare_profile *profiles, uint32_t n,
                   const struct compare_options *options, struct arena *arena, struct table *table)
{
    const char *top = arena_printf(arena, "Top %.3g %% found (%%)", 100 * options->top_share);
    const struct table_column columns[] = {
        { "first", "First", TABLE_TEXT, FROM(struct compare_pair, first) },
        { "second", "Second", TABLE_TEXT, FROM(struct compare_pair, second) },
        { "overlap", "Overlap (%)", TABLE_SHARE, FROM(struct compare_pair, weighted) },
        { "top_found", top, TABLE_SHARE, FROM(struct compare_pair, top) },
        { "in_both", "In both (%)", TABLE_SHARE, FROM(struct compare_pair, unweighted) },
        { "correlation", "Correlation", TABLE_RATIO, FROM(struct compare_pair, correlation) },
    };
    struct vectors v = { .n = 0 };
    struct precision precision = { 0, 0 };
    table_begin(table, arena);
    TABLE_COLUMNS(table, columns, 0);
    make_vectors(&v, set, n, options);
    add_profiles(table, &v, profiles, options);
    add_pairs(table, &v, profiles, options->top_share, &precision);
    add_means(table, &v, &precision);
    if (!options->is_probed)
        add_note(table, profiles, n);
    for (uint32_t i = 0; i < v.n; i++)
        free(v.of[i]);
}
