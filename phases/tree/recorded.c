/* When the probes of a method recorded, and how much of the process ran meanwhile. */
#include "phases/tree/calltree_internal.h"

#include "core/base/xalloc.h"

#define ROOM (ACTIVITY_BINS + 1) /* of a kind: the last one is the sum of all, in the end */

void activity_open(struct activity *activity, uint64_t start_ticks)
{
    activity->start_ticks = start_ticks;
    activity->shift = 0;
    activity->bins = xcalloc((size_t)ACTIVITY_KINDS * ROOM, sizeof *activity->bins);
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

/* ---- when methods were recorded ---- */

/* The first flag of a method, or n_flags; they are sorted by method and time. */
static uint32_t first_flag(const struct calltree *tree, uint32_t method)
{
    uint32_t low = 0, high = tree->n_flags;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (tree->flags[middle].method < method)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The last events of threads may come a little after the recording's end, and belong to it. */
static uint64_t moment(const struct calltree *tree, uint64_t ticks)
{
    return ticks >= tree->end_ticks ? UINT64_MAX : ticks;
}

/* What is asked of a method's windows: what ran in them, or whether a moment is in one. */
struct windows {
    const struct calltree *tree;
    enum activity_kind kind;
    struct recorded recorded;
    uint64_t asked_ticks;
    bool is_asked, is_in; /* is_asked: of the moment */
};

static void add_window(struct windows *windows, uint64_t from_ticks, uint64_t to_ticks)
{
    const struct calltree *tree = windows->tree;
    if (to_ticks <= from_ticks)
        return;
    uint64_t end = moment(tree, to_ticks);
    windows->is_in = windows->is_in || (from_ticks <= windows->asked_ticks && windows->asked_ticks < end);
    windows->recorded.ticks += to_ticks - from_ticks;
    if (!windows->is_asked)
        windows->recorded.share += activity_between(&tree->activity, windows->kind, from_ticks, end);
}

/* From ticks to a share of all; where nothing ran, of the time. */
static void divide(const struct calltree *tree, enum activity_kind kind, struct recorded *recorded)
{
    double all = activity_between(&tree->activity, kind, tree->start_ticks, UINT64_MAX);
    uint64_t all_ticks = tree->end_ticks - tree->start_ticks;
    if (all > 0)
        recorded->share /= all;
    else
        recorded->share = all_ticks > 0 ? (double)recorded->ticks / (double)all_ticks : 1;
    if (recorded->share > 1 || recorded->ticks >= all_ticks)
        recorded->share = 1;
}

/* Do they record at the start?  They do unless the first that is told of them is that they begin to. */
static bool is_on_at_first(const struct calltree *tree, uint32_t i, uint32_t method)
{
    while (i < tree->n_flags && tree->flags[i].method == method && tree->flags[i].kind == CALLTREE_FLAG_FOUND)
        i++;
    return i == tree->n_flags || tree->flags[i].method != method || tree->flags[i].kind == CALLTREE_FLAG_OFF;
}

/* Where the window ends that a flag has closed: calls that were open then are recorded to their end. */
static uint64_t end_of(const struct calltree_flag *flag)
{
    return flag->last_exit_ticks > flag->ticks ? flag->last_exit_ticks : flag->ticks;
}

/* Returns false where the trace tells nothing of the method: its probes recorded all the time. */
static bool find_windows(struct windows *windows, uint32_t method)
{
    const struct calltree *tree = windows->tree;
    uint32_t i = first_flag(tree, method);
    bool is_on = is_on_at_first(tree, i, method), is_first = true;
    uint64_t since = tree->start_ticks, end = is_on ? tree->end_ticks : since;
    if (i == tree->n_flags || tree->flags[i].method != method)
        return false;
    for (; i < tree->n_flags && tree->flags[i].method == method; i++) {
        const struct calltree_flag *flag = &tree->flags[i];
        uint64_t ticks = flag->ticks > tree->start_ticks ? flag->ticks : tree->start_ticks;
        if (flag->kind == CALLTREE_FLAG_ON && !is_on && ticks > end) { /* else the window before goes on */
            add_window(windows, since, end);
            is_first = is_first && end == tree->start_ticks;
            since = ticks;
        }
        if (flag->kind == CALLTREE_FLAG_FOUND && is_on && is_first && ticks < end)
            since = ticks;
        is_on = flag->kind == CALLTREE_FLAG_FOUND ? is_on : flag->kind == CALLTREE_FLAG_ON;
        end = is_on ? tree->end_ticks : flag->kind == CALLTREE_FLAG_OFF ? end_of(flag) : end;
    }
    add_window(windows, since, end);
    return true;
}

struct recorded recorded_of(const struct calltree *tree, uint32_t method, enum activity_kind kind)
{
    struct windows windows = { .tree = tree, .kind = kind };
    if (!find_windows(&windows, method))
        return (struct recorded){ tree->end_ticks - tree->start_ticks, 1 };
    divide(tree, kind, &windows.recorded);
    return windows.recorded;
}

bool recorded_at(const struct calltree *tree, uint32_t method, uint64_t ticks)
{
    struct windows windows = { .tree = tree, .asked_ticks = ticks, .is_asked = true };
    return !find_windows(&windows, method) || windows.is_in;
}

double recorded_before_probes(const struct calltree *tree, bool is_wall)
{
    enum activity_kind kind = is_wall ? ACTIVITY_WALL : ACTIVITY_APPLICATION;
    double all = activity_between(&tree->activity, kind, tree->start_ticks, UINT64_MAX);
    if (all <= 0 || tree->probes_since_ticks <= tree->start_ticks)
        return 0;
    return activity_between(&tree->activity, kind, tree->start_ticks, tree->probes_since_ticks) / all;
}
