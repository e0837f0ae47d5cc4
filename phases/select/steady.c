#include "phases/select/steady.h"

#include "phases/select/statistics.h"

bool steady_find(const double *values, size_t n, size_t window, double cov_limit, struct steady *steady)
{
    *steady = (struct steady){ .is_reached = false };
    if (window < 2 || n < window)
        return false;
    for (size_t first = 0; first + window <= n; first++) {
        struct moments moments = { .n = 0 };
        for (size_t i = 0; i < window; i++)
            moments_add(&moments, values[first + i]);
        double cov = moments_cov(&moments);
        if (first > 0 && !(cov < steady->cov))
            continue;
        *steady = (struct steady){ cov < cov_limit, first, moments.mean, cov };
        if (steady->is_reached)
            return true;
    }
    return true;
}
