#include "phases/samples/profile_overlap.h"

#include <math.h>
#include <stdlib.h>

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

/* The elements that x has, heaviest first: owned by the caller; NULL: no memory. */
static double *sort_elements(const double *x, size_t n, size_t *n_has)
{
    double *sorted = malloc((n + 1) * sizeof *sorted);
    *n_has = 0;
    if (sorted == NULL)
        return NULL;
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
    if (sorted == NULL)
        return -1;
    size_t wanted = (size_t)ceil(top_share * (double)n_has - 1e-9);
    double least = n_has == 0 ? 0 : sorted[wanted == 0 ? 0 : wanted - 1];
    for (size_t i = 0; n_has > 0 && i < n; i++) {
        n_top += x[i] >= least;
        n_both += x[i] >= least && y[i] > 0;
    }
    free(sorted);
    return n_top == 0 ? NAN : (double)n_both / (double)n_top;
}

int overlap_keep_first(double *const *vectors, size_t n_vectors, size_t n, size_t n_first)
{
    size_t n_has;
    double *sorted = n_vectors == 0 ? NULL : sort_elements(vectors[0], n, &n_has);
    if (sorted == NULL)
        return n_vectors == 0 ? 0 : -1;
    double least = n_has == 0 || n_first == 0 ? INFINITY : sorted[(n_first < n_has ? n_first : n_has) - 1];
    free(sorted);
    for (size_t i = 0; i < n; i++)
        for (size_t k = n_vectors; k-- > 0 && vectors[0][i] < least;)
            vectors[k][i] = 0;
    return 0;
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
