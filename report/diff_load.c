/*
 * When the two sides were recorded, and what else the machine did then.
 */
#include "phases/statistics.h"
#include "report/diff_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Changes of load that matter: of the time in which threads could run; of one CPU. */
#define WAIT_MIN   0.05
#define STOLEN_MIN 0.02

/* ---- waiting for a CPU ---- */

struct diff_waiting_thread {
    bool is_preempted; /* it left its CPU though it could go on */
};

static struct diff_waiting_thread *find_thread(struct diff_waiting *w, uint32_t index)
{
    if (index < w->n_threads)
        return &w->threads[index];
    uint32_t n = index < 32 ? 64 : 2 * index;
    struct diff_waiting_thread *threads = realloc(w->threads, n * sizeof *threads);
    if (threads == NULL)
        return NULL;
    memset(threads + w->n_threads, 0, (n - w->n_threads) * sizeof *threads);
    w->threads = threads;
    w->n_threads = n;
    return &threads[index];
}

int diff_waiting_flow(struct diff_waiting *w, const struct calltree_flow *flow, struct err *err)
{
    struct diff_waiting_thread *t = find_thread(w, flow->thread);
    if (t == NULL)
        return err_set(err, "out of memory for what threads waited");
    if (flow->kind == CALLTREE_SWITCHED) {
        t->is_preempted = flow->is_on;
    } else if (flow->kind == CALLTREE_PASSED) {
        uint64_t ticks = flow->ticks - flow->from_ticks;
        w->on_ticks += flow->is_on ? ticks : 0;
        w->wait_ticks += !flow->is_on && t->is_preempted ? ticks : 0;
    }
    return 0;
}

void diff_waiting_free(struct diff_waiting *w)
{
    free(w->threads);
    memset(w, 0, sizeof *w);
}

struct diff_load diff_load_of(const struct report_source *source, const struct diff_waiting *w)
{
    const struct calltree *tree = source->tree;
    return (struct diff_load){ .start_ns = trace_start_realtime_ns(source->reader),
                               .duration_ns = report_ns(source, tree->end_ticks - tree->start_ticks),
                               .on_ns = report_ns(source, w->on_ticks),
                               .wait_ns = tree->cpu_is_wall ? 0 : report_ns(source, w->wait_ticks),
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
        for (size_t i = 0; i < d->wish->n_traces[side]; i++) {
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
        for (size_t i = 0; i < d->wish->n_traces[side]; i++)
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
                        "the sides were not recorded in turns, and the machine's load changed between them: before and "
                        "after, threads waited for a CPU %.0f and %.0f %% of the time in which they could run, and the "
                        "host kept %.0f and %.0f %% of a CPU: differences may be the machine's; record in turns (A B A "
                        "B ...)",
                        100 * wait[DIFF_BEFORE], 100 * wait[DIFF_AFTER], 100 * stolen[DIFF_BEFORE],
                        100 * stolen[DIFF_AFTER]);
}
