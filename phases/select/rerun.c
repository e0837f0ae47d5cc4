#include "phases/select/rerun.h"

#include <math.h>

void rerun_begin(struct rerun *r)
{
    r->n_narrow = 0;
    r->is_narrow = false;
    r->half = NAN;
}

/* Half the widest interval, upwards as a fraction. */
static double widest(struct rerun *r, const struct moments *groups)
{
    double half = 0;
    pairwise_begin(&r->pairwise, groups, r->n_versions);
    for (size_t a = 0; a < r->n_versions; a++)
        for (size_t b = a + 1; b < r->n_versions; b++)
            half = fmax(half, pairwise_compare(&r->pairwise, &groups[a], &groups[b]).half);
    return expm1(half);
}

bool rerun_again(struct rerun *r, const struct moments *groups)
{
    if (groups[0].n < 2)
        return true;
    r->half = widest(r, groups);
    r->n_narrow = r->half <= r->until ? r->n_narrow + 1 : 0;
    r->is_narrow = r->n_narrow >= RERUN_IN_A_ROW;
    return groups[0].n < r->runs_least || (!r->is_narrow && groups[0].n < r->runs_most);
}
