/* When the two sides were recorded, and what else the machine did then. */
#include "phases/select/statistics.h"
#include "report/diff/diff_internal.h"

/* Changes of load that matter: of the time in which threads could run; of one CPU. */
#define WAIT_MIN   0.05
#define STOLEN_MIN 0.02

struct diff_load diff_load_of(const struct report_source *source)
{
    const struct calltree *tree = source->tree;
    uint64_t wait_ticks = 0;
    for (uint32_t i = 0; i < tree->n_threads; i++)
        wait_ticks += tree->threads[i].wait_ticks;
    return (struct diff_load){ .start_ns = trace_start_realtime_ns(source->reader),
                               .duration_ns = report_ns(source, tree->end_ticks - tree->start_ticks),
                               .on_ns = report_ns(source, tree->cpu_ticks),
                               .wait_ns = report_ns(source, wait_ticks),
                               .stolen_ns = report_stolen_ns(source) };
}

/* ---- the sides ---- */

static double wait_share(const struct diff_load *load)
{
    double could_run = load->on_ns + load->wait_ns;
    return could_run > 0 ? load->wait_ns / could_run : 0;
}

static double stolen_share(const struct diff_load *load)
{
    return load->duration_ns > 0 ? load->stolen_ns / load->duration_ns : 0;
}

/* All of one side began before all of the other. */
static bool are_apart(const struct diff *d)
{
    uint64_t first[DIFF_SIDES] = { UINT64_MAX, UINT64_MAX }, last[DIFF_SIDES] = { 0, 0 };
    for (int side = DIFF_BEFORE; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < d->options->n_traces[side]; i++) {
            uint64_t start = d->loads[side][i].start_ns;
            if (start == 0)
                return false;
            first[side] = start < first[side] ? start : first[side];
            last[side] = start > last[side] ? start : last[side];
        }
    return last[DIFF_BEFORE] < first[DIFF_AFTER] || last[DIFF_AFTER] < first[DIFF_BEFORE];
}

/* The means of a share on both sides; whether they differ by so much, and more than the runs of a side do. */
static bool differs(const struct diff *d, double (*share)(const struct diff_load *), double least,
                    double means[DIFF_SIDES])
{
    struct moments sides[DIFF_SIDES] = { { .n = 0 }, { .n = 0 } };
    for (int side = DIFF_BEFORE; side < DIFF_SIDES; side++) {
        for (size_t i = 0; i < d->options->n_traces[side]; i++)
            moments_add(&sides[side], share(&d->loads[side][i]));
        means[side] = sides[side].mean;
    }
    double spread = sqrt((sides[0].squares + sides[1].squares) / (double)(sides[0].n + sides[1].n));
    return fabs(means[DIFF_AFTER] - means[DIFF_BEFORE]) >= fmax(least, 2 * spread);
}

const char *diff_load_note(const struct diff *d)
{
    double wait[DIFF_SIDES], stolen[DIFF_SIDES];
    if (!are_apart(d))
        return NULL;
    bool waits = differs(d, wait_share, WAIT_MIN, wait), steals = differs(d, stolen_share, STOLEN_MIN, stolen);
    if (!waits && !steals)
        return NULL;
    return arena_printf(d->arena,
                        "the machine's load changed between the sides, so differences may come from the machine: "
                        "runnable threads waited for a CPU %.0f %% of the time before and %.0f %% after, the host "
                        "withheld %.0f %% and %.0f %% of a CPU; record in turns (A B A B ...)",
                        100 * wait[DIFF_BEFORE], 100 * wait[DIFF_AFTER], 100 * stolen[DIFF_BEFORE],
                        100 * stolen[DIFF_AFTER]);
}
