/*
 * mmprof compare: how alike the profiles of several recordings are.
 *
 *     profile    a.dat: 412 methods in 5921 samples
 *     profile    b.dat: 398 methods in 5874 samples
 *     stability  93.10 %, the mean overlap of 1 pair; correlation 0.9946
 *
 *     First  Second  Overlap (%)  Top 20 % found (%)  In both (%)  Correlation
 *     ------------------------------------------------------------------------
 *     a.dat  b.dat         93.10               98.78        71.20        0.995
 */
#include "cmd/trace_argument.h"
#include "report/diff/compare.h"

#include <string.h>

struct compare_arguments {
    struct display display;
    struct compare_options options;
    const char *by, *from;
    const char *paths[COMPARE_MAX];
    size_t n;
    bool csv, json;
};

static int check(struct compare_arguments *a, struct err *err)
{
    static const char *const sources[] = { [COMPARE_SAMPLES] = "samples", [COMPARE_CALLS] = "calls" };
    bool is_context = strcmp(a->by, "context") == 0;
    if (!is_context && strcmp(a->by, "method") != 0) {
        err_set(err, "profiles cannot be compared by '%s'", a->by);
        return err_next(err, "give --by method or --by context");
    }
    a->options.kind = is_context ? PROFILE_CONTEXTS : PROFILE_METHODS;
    for (enum compare_from from = COMPARE_SAMPLES; a->from != NULL && from <= COMPARE_CALLS; from++)
        if (strcmp(a->from, sources[from]) == 0)
            a->options.from = from;
    if (a->from != NULL && a->options.from == COMPARE_ANY) {
        err_set(err, "a trace has no '%s' to compare", a->from);
        return err_next(err, "give --from samples or --from calls");
    }
    if (a->n >= 2)
        return 0;
    err_set(err, "nothing to compare");
    return err_next(err, "name two profiles or more: mmprof compare a.dat b.dat");
}

static int parse(int argc, char **argv, struct compare_arguments *a, bool *done, struct err *err)
{
    const struct options_row rows[] = {
        { 0, "by", "WHAT", OPTION_TEXT, &a->by, "'method' or 'context' (method)" },
        { 0, "total", NULL, OPTION_FLAG, &a->options.is_total, "total time, with callees (default: self time)" },
        { 0, "top", "SHARE", OPTION_FRACTION, &a->options.top_share,
          "compare this share of the hottest methods (20%)" },
        { 0, "first", "N", OPTION_NUMBER, &a->options.n_first,
          "only the N methods or contexts with the most time in the first profile" },
        { 0, "from", "WHAT", OPTION_TEXT, &a->from, "'samples' or 'calls' (samples, if a trace has any)" },
        { 0, "probed", NULL, OPTION_FLAG, &a->options.is_probed,
          "only methods that had probes; callers get the other methods' time" },
        { 0, "csv", NULL, OPTION_FLAG, &a->csv, "print the table as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &a->json, "print the table as JSON" },
        DISPLAY_ROW(&a->display),
        { 0, "salvage", NULL, OPTION_FLAG, &a->options.salvage, "skip damaged parts of the traces" },
        { 0 },
    };
    if (command_parse_traces("compare [OPTIONS] PROFILE PROFILE ...",
                             "Measures how similar profiles are: overlap of their times, hot methods found in both,\n"
                             "correlation, and the stability of several runs. A profile is a trace, or folded stacks.",
                             rows, argc, argv, a->paths, COMPARE_MAX, &a->n, done, err) < 0)
        return -1;
    return *done ? 0 : check(a, err);
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
    if (profile_set_keep(set, &kept) < 0) {
        profile_set_free(&kept);
        return err_set(err, "out of memory for profiles");
    }
    profile_set_free(set);
    *set = kept;
    return 0;
}

static int run(struct compare_arguments *a, struct arena *arena, struct err *err)
{
    struct profile_set set;
    struct compare_profile profiles[COMPARE_MAX];
    struct table *table = arena_alloc(arena, sizeof *table);
    int rc = profile_set_open(&set, arena) < 0 || table == NULL ? err_set(err, "out of memory for profiles") : 0;
    a->options.tells_overloads = a->options.is_probed; /* an overload without probes is its caller's, too */
    for (uint32_t i = 0; i < a->n; i++)
        a->options.tells_overloads = a->options.tells_overloads && compare_is_trace(a->paths[i]);
    for (uint32_t i = 0; rc == 0 && i < a->n; i++)
        rc = compare_read(a->paths[i], &a->options, &set, i, &profiles[i], err);
    if (rc == 0 && a->options.is_probed)
        rc = keep_probed(&set, err);
    if (rc == 0)
        rc = compare_table(&set, profiles, (uint32_t)a->n, &a->options, arena, table, err);
    if (rc == 0)
        rc = command_print_table(table, a->csv, a->json, &a->display, err);
    profile_set_free(&set);
    return rc;
}

int command_compare(int argc, char **argv, struct err *err)
{
    struct compare_arguments arguments = { .by = "method", .options = { .top_share = 0.2 }, .display = DISPLAY_PLAIN };
    struct arena arena = { NULL, 0 };
    bool done;
    if (parse(argc, argv, &arguments, &done, err) < 0)
        return -1;
    int rc = done ? 0 : trace_argument_find(&arena, arguments.paths, COMPARE_MAX, &arguments.n, err);
    if (rc == 0 && !done)
        rc = run(&arguments, &arena, err);
    arena_free(&arena);
    return rc;
}
