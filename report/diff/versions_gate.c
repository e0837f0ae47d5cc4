#include "report/diff/versions_gate.h"

#include <strings.h>

int versions_check_gate(const struct versions *v, struct err *err)
{
    for (size_t i = 0; v->gate != NULL && i < v->gate->n_limits; i++) {
        const struct diff_limit *limit = &v->gate->limits[i];
        const char *list = "";
        bool is_known = false;
        for (size_t s = 0; s < v->n_series && !is_known; s++) {
            const char *metric = v->series[s].metric;
            is_known = strcasecmp(metric, limit->name) == 0;
            if (s == 0 || strcmp(v->series[s].label, v->series[0].label) == 0)
                list = arena_printf(v->arena, "%s%s%s", list, s == 0 ? "" : ", ", metric);
        }
        if (!is_known)
            return diff_limit_refuse(limit, list, err);
    }
    return 0;
}

/* Its end: "rose by 12.3 % (p = 0.0012)". */
static const char *words_of(struct arena *arena, const struct versions_pair *pair)
{
    const char *way = pair->after > pair->before ? "rose" : "fell";
    return isnan(pair->change) ? arena_printf(arena, "%s from 0", way)
                               : arena_printf(arena, "%s by %.1f %% (p %s %.4f)", way, 100 * fabs(pair->change),
                                              pair->p < 0.0001 ? "<" : "=", fmax(pair->p, 0.0001));
}

static void say(struct versions_gate *gate, struct arena *arena, const char *line)
{
    const char *before = gate->said == NULL ? "" : gate->said;
    gate->said = arena_printf(arena, "%s%s\n", before, line);
}

static void look_at(const struct versions *v, const struct diff_limit *limit, const struct versions_series *series,
                    size_t version, const struct versions_pair *pair)
{
    struct arena *arena = v->arena;
    bool is_found = strcmp(pair->verdict, limit->is_below ? "lower" : "higher") == 0;
    double end = limit->is_below ? -pair->low : pair->high;
    if (is_found && diff_limit_is_beyond(limit, pair->change)) {
        v->gate->n_broken++;
        say(v->gate, arena,
            arena_printf(arena, "mmprof: %s: %s: %s of '%s' %s", limit->text, series->label, series->metric,
                         v->names[version], words_of(arena, pair)));
    } else if (series->is_main && (isnan(end) || end > limit->change)) {
        say(v->gate, arena,
            isnan(end) ? arena_printf(arena, "mmprof: %s: %s: '%s' has too few runs to tell", limit->text,
                                      series->label, v->names[version])
                       : arena_printf(arena,
                                      "mmprof: %s: %s: '%s' may exceed the limit: its interval ends at %+.1f %%\n"
                                      "  next: measure more runs of each version, or on a quieter machine",
                                      limit->text, series->label, v->names[version],
                                      limit->is_below ? -100 * end : 100 * end));
    }
}

void versions_gate_take(const struct versions *v, const struct versions_series *series, size_t version,
                        const struct versions_pair *pair)
{
    for (size_t i = 0; i < v->gate->n_limits; i++)
        if (strcasecmp(v->gate->limits[i].name, series->metric) == 0)
            look_at(v, &v->gate->limits[i], series, version, pair);
}
