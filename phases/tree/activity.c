#include "phases/tree/activity.h"

#include <stdlib.h>

#define ROOM (ACTIVITY_BINS + 1) /* of a kind: the last one is the sum of all, in the end */

int activity_open(struct activity *activity, uint64_t start_ticks, struct err *err)
{
    activity->start_ticks = start_ticks;
    activity->shift = 0;
    activity->bins = calloc((size_t)ACTIVITY_KINDS * ROOM, sizeof *activity->bins);
    return activity->bins == NULL ? err_set(err, "out of memory for the times of threads") : 0;
}

void activity_close(struct activity *activity)
{
    free(activity->bins);
    activity->bins = NULL;
}

/* Bins of twice the length: half as many are in use. */
static void widen(struct activity *activity)
{
    for (size_t kind = 0; kind < ACTIVITY_KINDS; kind++) {
        uint64_t *bins = activity->bins + kind * ROOM;
        for (size_t i = 0; i < ACTIVITY_BINS / 2; i++)
            bins[i] = bins[2 * i] + bins[2 * i + 1];
        for (size_t i = ACTIVITY_BINS / 2; i < ACTIVITY_BINS; i++)
            bins[i] = 0;
    }
    activity->shift++;
}

void activity_add(struct activity *activity, enum activity_kind kind, uint64_t from_ticks, uint64_t to_ticks)
{
    uint64_t start = activity->start_ticks, from = from_ticks > start ? from_ticks - start : 0;
    if (activity->bins == NULL || to_ticks <= start || to_ticks - start <= from)
        return;
    uint64_t to = to_ticks - start;
    while ((to - 1) >> activity->shift >= ACTIVITY_BINS)
        widen(activity);
    uint64_t *bins = activity->bins + (size_t)kind * ROOM;
    while (from < to) {
        uint64_t bin = from >> activity->shift, end = (bin + 1) << activity->shift;
        end = end > from && end < to ? end : to; /* the end of all time is 0 */
        bins[bin] += end - from;
        from = end;
    }
}

void activity_sum_up(struct activity *activity)
{
    for (size_t kind = 0; activity->bins != NULL && kind < ACTIVITY_KINDS; kind++) {
        uint64_t *bins = activity->bins + kind * ROOM, sum = 0;
        for (size_t i = 0; i < ROOM; i++) {
            uint64_t ticks = bins[i];
            bins[i] = sum;
            sum += ticks;
        }
    }
}

/* What ran up to a moment. */
static double up_to(const struct activity *activity, enum activity_kind kind, uint64_t ticks)
{
    const uint64_t *sums = activity->bins + (size_t)kind * ROOM;
    uint64_t at = ticks > activity->start_ticks ? ticks - activity->start_ticks : 0, bin = at >> activity->shift;
    if (bin >= ACTIVITY_BINS)
        return (double)sums[ACTIVITY_BINS];
    double part = (double)(at - (bin << activity->shift)) / (double)(UINT64_C(1) << activity->shift);
    return (double)sums[bin] + part * (double)(sums[bin + 1] - sums[bin]);
}

double activity_between(const struct activity *activity, enum activity_kind kind, uint64_t from_ticks,
                        uint64_t to_ticks)
{
    if (activity->bins == NULL || to_ticks <= from_ticks)
        return 0;
    return up_to(activity, kind, to_ticks) - up_to(activity, kind, from_ticks);
}
