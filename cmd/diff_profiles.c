/*
 * How alike profiles are:
 *
 *     profile    a.dat: 412 methods in 5921 samples
 *     profile    b.dat: 398 methods in 5874 samples
 *     stability  93.10 %, the mean overlap of 1 pair; correlation 0.9946
 *
 *     First  Second  Overlap (%)  Top 20 % found (%)  In both (%)  Correlation
 *     ------------------------------------------------------------------------
 *     a.dat  b.dat         93.10               98.78        71.20        0.995
 */
#include "cmd/diff_parts.h"

#include "cmd/trace_argument.h"

static int check(struct diff_profiles *p, struct err *err)
{
    static const char *const sources[] = { [COMPARE_SAMPLES] = "samples", [COMPARE_CALLS] = "calls" };
    p->options.kind = p->by_context ? PROFILE_CONTEXTS : PROFILE_METHODS;
    for (enum compare_from from = COMPARE_SAMPLES; p->from != NULL && from <= COMPARE_CALLS; from++)
        if (strcmp(p->from, sources[from]) == 0)
            p->options.from = from;
    if (p->from != NULL && p->options.from == COMPARE_ANY) {
        err_set(err, "a trace has no '%s' to compare", p->from);
        return err_next(err, "give --from samples or --from calls");
    }
    if (p->words.n > COMPARE_MAX)
        return err_set(err, "more than %u profiles", COMPARE_MAX);
    if (p->words.n >= 2)
        return 0;
    err_set(err, "nothing to compare");
    return err_next(err, "name two profiles or more: mmprof diff --profiles a.dat b.dat");
}

/* Of a set that is not empty. */
static int keep_probed(struct profile_set *set, struct err *err)
{
    struct profile_set kept;
    uint32_t n = 0;
    for (uint32_t i = 0; i < set->n_names; i++)
        n += set->names[i].is_kept;
    if (n == 0) {
        err_set(err, "no profile has recorded calls, so no method had probes");
        return err_next(err, "leave --probed out, or name a trace of 'mmprof record', too");
    }
    profile_set_keep(set, &kept);
    profile_set_free(set);
    *set = kept;
    return 0;
}

static int print(struct diff_profiles *p, bool as_csv, bool as_json, struct display *display, struct arena *arena,
                 struct err *err)
{
    struct profile_set set;
    struct compare_profile profiles[COMPARE_MAX];
    struct table *table = arena_alloc(arena, sizeof *table);
    int rc = 0;
    profile_set_open(&set, arena);
    p->options.tells_overloads = p->options.is_probed; /* an overload without probes is its caller's, too */
    for (size_t i = 0; i < p->words.n; i++)
        p->options.tells_overloads = p->options.tells_overloads && compare_is_trace(p->words.items[i]);
    for (uint32_t i = 0; rc == 0 && i < p->words.n; i++)
        rc = compare_read(p->words.items[i], &p->options, &set, i, &profiles[i], err);
    if (rc == 0 && p->options.is_probed)
        rc = keep_probed(&set, err);
    if (rc == 0)
        compare_table(&set, profiles, (uint32_t)p->words.n, &p->options, arena, table);
    if (rc == 0)
        rc = command_print_table(table, as_csv, as_json, display, err);
    profile_set_free(&set);
    return rc;
}

int diff_profiles_print(struct diff_profiles *profiles, bool salvage, bool as_csv, bool as_json,
                        struct display *display, struct arena *arena, struct err *err)
{
    profiles->options.salvage = salvage;
    if (check(profiles, err) < 0 ||
        trace_argument_find(arena, profiles->words.items, COMPARE_MAX, &profiles->words.n, err) < 0)
        return -1;
    return display_close(display, print(profiles, as_csv, as_json, display, arena, err), err);
}
