/* Which row's change is the cause of another's: time on behalf of callers. */
#include "core/base/xalloc.h"
#include "report/diff/diff_internal.h"

/* So much of a caller's change must come from changes of what it calls. */
#define FOLLOWS_MIN 0.5

/* So much of a method's time is on behalf of one caller, and so little more or less often is it called by that. */
#define ONE_CALLER  0.9
#define RATIO_LEAST 0.01

/* Rows by order; NULL: left out.  For free(). */
static struct diff_row **by_order(const struct diff *d)
{
    size_t n = d->n_rows;
    for (size_t i = 0; i < d->n_rows; i++)
        n = d->rows[i].order >= n ? d->rows[i].order + 1 : n;
    for (size_t i = 0; i < d->n_pairs; i++) {
        n = d->pairs[i].caller >= n ? d->pairs[i].caller + 1 : n;
        n = d->pairs[i].callee >= n ? d->pairs[i].callee + 1 : n;
    }
    struct diff_row **rows = xcalloc(n + 1, sizeof(struct diff_row *));
    for (size_t i = 0; i < d->n_rows; i++)
        rows[d->rows[i].order] = &d->rows[i];
    return rows;
}

/* ---- own times that are not known ---- */

/* Of some traces, its time is not known: it is part of its callers' own time there. */
static bool is_hidden_in_some(const struct diff *d, const struct diff_row *row)
{
    for (int side = DIFF_BEFORE; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < d->options->n_traces[side]; i++)
            if (isnan(diff_value_of(row, (enum diff_side)side, i, DIFF_TIME)->value))
                return true;
    return false;
}

void diff_hide_self(struct diff *d)
{
    struct diff_row **rows = by_order(d);
    for (size_t i = 0; i < d->n_pairs; i++) {
        const struct diff_row *caller = rows[d->pairs[i].caller], *callee = rows[d->pairs[i].callee];
        if (caller == callee || caller == NULL || callee == NULL || !is_hidden_in_some(d, callee))
            continue;
        for (int side = DIFF_BEFORE; side < DIFF_SIDES; side++)
            for (size_t k = 0; k < d->options->n_traces[side]; k++)
                *diff_value_of(caller, (enum diff_side)side, k, DIFF_SELF) = (struct diff_value){ NAN, NAN, 0, true };
    }
    free(rows);
}

/* ---- causes ---- */

struct folding {
    struct diff *diff;
    size_t n;        /* rows */
    double *changes; /* by row: how much it changed by itself, in ns; 0: nothing */
    double *parts;   /* by caller, callee: the part of the callee's time that is on behalf of the caller */
    size_t *order;   /* rows, least time first: what is called comes before what calls it */
};

static double difference(const struct diff_row *row, enum diff_role role)
{
    return row->results[role].mean[DIFF_AFTER] - row->results[role].mean[DIFF_BEFORE];
}

static bool has_changed(enum diff_verdict verdict)
{
    return verdict == DIFF_HIGHER || verdict == DIFF_LOWER || verdict == DIFF_NEW || verdict == DIFF_GONE;
}

static double own_change(const struct diff_row *row)
{
    double change = 0;
    if (has_changed(row->results[DIFF_SELF].verdict))
        change = difference(row, DIFF_SELF);
    else if (has_changed(row->results[DIFF_ADJUSTED].verdict))
        change = difference(row, DIFF_ADJUSTED);
    return isnan(change) ? 0 : change;
}

/* The row that most of the change comes from, if the changes of rows that it calls are most of it; else NULL. */
static const struct diff_row *find_cause(const struct folding *f, size_t at)
{
    const struct diff_row *largest = NULL;
    double change = difference(&f->diff->rows[at], DIFF_TIME), largest_part = 0, sum = 0;
    for (size_t i = 0; i < f->n; i++) {
        double part = i == at ? 0 : f->changes[i] * f->parts[at * f->n + i] / change;
        sum += part;
        if (part > largest_part) {
            largest_part = part;
            largest = &f->diff->rows[i];
        }
    }
    return sum >= FOLLOWS_MIN ? largest : NULL;
}

static double larger_time(const struct diff_row *row)
{
    const struct diff_result *time = &row->results[DIFF_TIME];
    return fmax(time->mean[DIFF_BEFORE], time->mean[DIFF_AFTER]); /* of a NAN and a number: the number */
}

/* Rows are few hundreds at most. */
static void sort(struct folding *f)
{
    for (size_t i = 0; i < f->n; i++) {
        size_t k = i;
        double time = larger_time(&f->diff->rows[i]);
        for (; k > 0 && larger_time(&f->diff->rows[f->order[k - 1]]) > time; k--)
            f->order[k] = f->order[k - 1];
        f->order[k] = i;
    }
}

static void fill(struct folding *f, struct diff_row *const *rows)
{
    const struct diff *d = f->diff;
    for (size_t i = 0; i < d->n_pairs; i++) {
        const struct diff_row *caller = rows[d->pairs[i].caller], *callee = rows[d->pairs[i].callee];
        if (caller != NULL && callee != NULL)
            f->parts[(size_t)(caller - d->rows) * f->n + (size_t)(callee - d->rows)] = d->pairs[i].ns;
    }
    for (size_t callee = 0; callee < f->n; callee++) {
        double all = f->parts[callee * f->n + callee];
        for (size_t caller = 0; caller < f->n; caller++)
            f->parts[caller * f->n + callee] = all > 0 ? f->parts[caller * f->n + callee] / all : 0;
    }
    for (size_t i = 0; i < f->n; i++)
        f->changes[i] = strcmp(d->rows[i].kind, "phase") == 0 ? own_change(&d->rows[i]) : 0;
}

static bool is_found(const struct diff_result *result)
{
    return result->verdict == DIFF_HIGHER || result->verdict == DIFF_LOWER;
}

static void set_cause(struct diff_result *result, const struct diff_row *cause)
{
    result->verdict = DIFF_FOLLOWS;
    result->cause = cause;
}

static void fold_time(struct folding *f, size_t i)
{
    struct diff_row *row = &f->diff->rows[i];
    struct diff_result *time = &row->results[DIFF_TIME], *per_call = &row->results[DIFF_PER_CALL];
    if (strcmp(row->kind, "phase") != 0 || !is_found(time))
        return;
    const struct diff_row *cause = find_cause(f, i);
    if (cause == NULL) {
        f->changes[i] = f->changes[i] == 0 ? difference(row, DIFF_TIME) : f->changes[i];
        return;
    }
    set_cause(time, cause);
    if (is_found(per_call))
        set_cause(per_call, cause);
}

/* The number of calls rose, or fell, as that of the one caller did. */
static void fold_calls(struct folding *f, size_t i)
{
    struct diff_row *row = &f->diff->rows[i];
    struct diff_result *calls = &row->results[DIFF_CALLS];
    for (size_t k = 0; k < f->n && is_found(calls); k++) {
        const struct diff_row *caller = &f->diff->rows[k];
        const struct diff_result *theirs = &caller->results[DIFF_CALLS];
        bool is_caller = f->parts[k * f->n + i] >= ONE_CALLER && larger_time(caller) > larger_time(row);
        double ratio = log1p(calls->change) - log1p(theirs->change);
        if (is_caller && (is_found(theirs) || theirs->verdict == DIFF_FOLLOWS) &&
            fabs(ratio) <= fmax(f->diff->options->least, RATIO_LEAST))
            set_cause(calls, caller);
    }
}

void diff_fold(struct diff *d)
{
    struct folding f = { .diff = d, .n = d->n_rows };
    struct diff_row **rows = by_order(d);
    f.changes = xcalloc(f.n + 1, sizeof *f.changes);
    f.parts = xcalloc(f.n * f.n + 1, sizeof *f.parts);
    f.order = xcalloc(f.n + 1, sizeof *f.order);
    fill(&f, rows);
    sort(&f);
    for (size_t k = 0; k < f.n; k++)
        fold_time(&f, f.order[k]);
    for (size_t k = 0; k < f.n; k++)
        fold_calls(&f, f.order[k]);
    free(rows);
    free(f.changes);
    free(f.parts);
    free(f.order);
}
