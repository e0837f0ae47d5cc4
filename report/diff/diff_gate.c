/* Limits that make a comparison a gate: reading them, which rows break them, and which could have unseen. */
#include "report/diff/diff.h"

#include <strings.h>

int diff_limit_refuse(const struct diff_limit *limit, const char *list, struct err *err)
{
    err_set(err, "--fail-on has no metric '%s'", limit->name);
    return err_next(err, "choose one of these: %s", list == NULL ? "time" : list);
}

static int no_metric(const struct diff *d, const struct diff_limit *limit, struct err *err)
{
    const char *list = "";
    for (size_t m = 0; m < d->n_metrics; m++)
        list = arena_printf(d->arena, "%s%s%s", list, m == 0 ? "" : ", ", d->metrics[m].name);
    return diff_limit_refuse(limit, list, err);
}

static int malformed(const char *text, struct err *err)
{
    err_set(err, "malformed limit '%s'", text);
    return err_next(err, "name a metric, '>' or '<', and a percentage: --fail-on 'time>5%%'");
}

/* "5%", or "0.05". */
static int parse_change(const char *text, double *change)
{
    char *end;
    *change = strtod(text, &end);
    if (end == text || !isfinite(*change) || *change < 0)
        return -1;
    if (strcmp(end, "%") == 0)
        *change /= 100;
    else if (*end != '\0')
        return -1;
    return 0;
}

int diff_limit_read(struct arena *arena, const char *text, struct diff_limit *limit, struct err *err)
{
    size_t n = strcspn(text, "<>");
    if (n == 0 || text[n] == '\0')
        return malformed(text, err);
    *limit = (struct diff_limit){ .text = text, .is_below = text[n] == '<' };
    if (parse_change(text + n + 1, &limit->change) < 0)
        return malformed(text, err);
    limit->name = arena_text(arena, text, n);
    return 0;
}

int diff_limit_parse(const struct diff *d, const char *text, struct diff_limit *limit, struct err *err)
{
    if (diff_limit_read(d->arena, text, limit, err) < 0)
        return -1;
    while (limit->metric < d->n_metrics && strcasecmp(d->metrics[limit->metric].name, limit->name) != 0)
        limit->metric++;
    return limit->metric < d->n_metrics ? 0 : no_metric(d, limit, err);
}

bool diff_limit_is_beyond(const struct diff_limit *limit, double change)
{
    /* From nothing to something is more than any percentage. */
    return isnan(change) || fabs(change) > limit->change;
}

bool diff_breaks(const struct diff_limit *limit, const struct diff_row *row)
{
    const struct diff_result *result = &row->results[limit->metric];
    bool has_fallen = result->mean[DIFF_AFTER] < result->mean[DIFF_BEFORE];
    if (limit->is_below != has_fallen || !diff_limit_is_beyond(limit, result->change))
        return false;
    if (result->verdict == DIFF_FOLLOWS) /* cause after cause: the last one follows nothing */
        return !diff_breaks(limit, result->cause);
    return result->verdict == DIFF_HIGHER || result->verdict == DIFF_LOWER;
}

size_t diff_blind(const struct diff *d, const struct diff_limit *limit, size_t *n_tested)
{
    size_t n = 0;
    *n_tested = 0;
    for (size_t i = 0; i < d->n_rows; i++) {
        const struct diff_result *result = &d->rows[i].results[limit->metric];
        bool is_part = strcmp(d->rows[i].kind, "phase") != 0 && strcmp(d->rows[i].kind, "total") != 0;
        if (isnan(result->p_corrected) || is_part)
            continue;
        ++*n_tested;
        n += result->detectable > limit->change && !diff_breaks(limit, &d->rows[i]);
    }
    return n;
}
