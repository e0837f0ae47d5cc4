#include "phases/tree/timeline.h"

#include "core/base/xalloc.h"

#define STEP_NS_MIN   1e6 /* of a chosen one */
#define STEPS_CHOSEN  100
#define GIVEN_LEAST   ((size_t)1 << 16)
#define ROW_WORDS_MAX ((size_t)1 << 26) /* of all steps and rows: 512 MiB */

/* A cell's words. */
enum cell_word { CELL_CPU, CELL_RUNNABLE, CELL_METRICS };

/* Time of a thread that no node was given yet: it passed in this step. */
struct slot {
    uint32_t step;
    uint64_t cpu_ticks, wall_ticks;
};

/* A thread.  Until its part of the VM is known, its cells are its own. */
struct lane {
    bool is_placed, is_runnable;
    enum vm_part part;
    struct slot *slots; /* by step; owned */
    uint32_t n_slots, slots_room;
    uint64_t *cells; /* n_cells times step and a cell, by step; owned */
    uint32_t n_cells, cells_room;
};

struct timeline {
    struct timeline_options options;
    uint32_t n_rows; /* of timeline_rows */
    double step_ticks;
    uint32_t n_steps;
    size_t cell_words;
    uint64_t *grids[VM_PARTS]; /* by step; NULL: no thread of that part was there; owned */
    uint64_t *rows;            /* by step, then n_rows + 1; NULL before timeline_rows; owned */
    uint64_t *nothing;         /* metrics of a cell that is not there; owned */
    struct lane *lanes;        /* by thread; owned */
    uint32_t n_lanes;
    struct timeline_given *latest; /* by node: in the step in which it was given something the last time; owned */
    uint32_t n_latest;
    struct timeline_given *given; /* before that: node and step may be there several times until timeline_rows; owned */
    size_t n_given, given_room;
    uint32_t near; /* the step that was looked up last, and its ticks */
    uint64_t near_start, near_end;
};

static uint64_t *words_of(const struct timeline *tl, enum vm_part part, uint32_t step)
{
    return tl->grids[part] + step * tl->cell_words;
}

/* ---- steps ---- */

static uint64_t step_start(const struct timeline *tl, uint32_t step)
{
    return tl->options.start_ticks + (uint64_t)ceil(step * tl->step_ticks);
}

/* What is outside the recording belongs to its first or last step. */
uint32_t timeline_step_at(struct timeline *tl, uint64_t ticks)
{
    if (ticks >= tl->near_start && ticks < tl->near_end)
        return tl->near;
    uint64_t since = ticks > tl->options.start_ticks ? ticks - tl->options.start_ticks : 0;
    double exact = (double)since / tl->step_ticks;
    uint32_t step = exact >= tl->n_steps ? tl->n_steps - 1 : (uint32_t)exact;
    while (step > 0 && step_start(tl, step) > ticks) /* rounding */
        step--;
    while (step + 1 < tl->n_steps && step_start(tl, step + 1) <= ticks)
        step++;
    tl->near = step;
    tl->near_start = step == 0 ? 0 : step_start(tl, step);
    tl->near_end = step + 1 == tl->n_steps ? UINT64_MAX : step_start(tl, step + 1);
    return step;
}

/* 1, 2 or 5 times a power of ten. */
static double round_up(double ns)
{
    static const double digits[] = { 1, 2, 5, 10 };
    double power = pow(10, floor(log10(ns)));
    for (size_t i = 0; i < sizeof digits / sizeof digits[0]; i++)
        if (digits[i] * power >= ns)
            return digits[i] * power;
    return 10 * power;
}

struct timeline_options timeline_options_of(const struct trace_reader *outline)
{
    return (struct timeline_options){ .start_ticks = trace_start_ticks(outline),
                                      .end_ticks = trace_end_ticks(outline),
                                      .ns_per_tick = trace_ns_per_tick(outline),
                                      .n_metrics = CALLTREE_COUNTERS + trace_n_recorded_counters(outline) };
}

static int choose_steps(struct timeline *tl, struct err *err)
{
    struct timeline_options *options = &tl->options;
    if (!(options->ns_per_tick > 0))
        options->ns_per_tick = 1;
    if (options->end_ticks < options->start_ticks)
        options->end_ticks = options->start_ticks;
    double duration_ns = (double)(options->end_ticks - options->start_ticks) * options->ns_per_tick;
    uint32_t max = options->steps_max == 0 ? STEPS_CHOSEN : options->steps_max;
    if (!(options->step_ns > 0))
        options->step_ns = duration_ns <= STEP_NS_MIN * max ? STEP_NS_MIN : round_up(duration_ns / max);
    double n = ceil(duration_ns / options->step_ns - 1e-9);
    if (n > TIMELINE_STEPS_MAX) {
        err_set(err, "steps of %.9g s are too short for a recording of %.3g s", options->step_ns / 1e9,
                duration_ns / 1e9);
        return err_next(err, "take longer ones: %d steps at most", TIMELINE_STEPS_MAX);
    }
    tl->n_steps = n < 1 ? 1 : (uint32_t)n;
    tl->step_ticks = options->step_ns / options->ns_per_tick;
    return 0;
}

int timeline_open(struct timeline **timeline, const struct timeline_options *options, struct err *err)
{
    struct timeline *tl = xcalloc(1, sizeof *tl);
    *timeline = NULL;
    tl->options = *options;
    tl->cell_words = CELL_METRICS + options->n_metrics;
    tl->nothing = xcalloc(options->n_metrics + 1, sizeof *tl->nothing);
    if (choose_steps(tl, err) < 0) {
        timeline_close(tl);
        return -1;
    }
    *timeline = tl;
    return 0;
}

void timeline_close(struct timeline *tl)
{
    if (tl == NULL)
        return;
    for (uint32_t i = 0; i < tl->n_lanes; i++) {
        free(tl->lanes[i].slots);
        free(tl->lanes[i].cells);
    }
    for (size_t p = 0; p < VM_PARTS; p++)
        free(tl->grids[p]);
    free(tl->rows);
    free(tl->nothing);
    free(tl->lanes);
    free(tl->latest);
    free(tl->given);
    free(tl);
}

/*
 * ---- what nodes of the call tree were given ----
 *
 * 16 bytes for each node and step in which it was given something: in one step a program is in few of its contexts.
 */

static int by_step_and_node(const void *a, const void *b)
{
    const struct timeline_given *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Threads of one tree are in different steps at a time, and each change of a node's step is an entry. */
static void merge(struct timeline *tl)
{
    size_t n = 0;
    qsort(tl->given, tl->n_given, sizeof *tl->given, by_step_and_node);
    for (size_t i = 0; i < tl->n_given; i++)
        if (n > 0 && by_step_and_node(&tl->given[n - 1], &tl->given[i]) == 0)
            tl->given[n - 1].ticks += tl->given[i].ticks;
        else
            tl->given[n++] = tl->given[i];
    tl->n_given = n;
}

static void keep(struct timeline *tl, const struct timeline_given *given)
{
    if (tl->n_given == tl->given_room) {
        if (tl->n_given >= GIVEN_LEAST)
            merge(tl);
        if (tl->n_given >= tl->given_room / 2)
            xgrow(tl->given, tl->given_room, tl->given_room + 1);
    }
    tl->given[tl->n_given++] = *given;
}

/* Keep it until it is known which row the node belongs to; 0: the row of what is outside. */
static void give_node(struct timeline *tl, uint32_t node, uint32_t step, uint64_t ticks)
{
    if (ticks == 0)
        return;
    xgrow_zeroed(tl->latest, tl->n_latest, (size_t)node + 1);
    struct timeline_given *latest = &tl->latest[node];
    if (latest->ticks > 0 && latest->step != step) {
        keep(tl, latest);
        latest->ticks = 0;
    }
    latest->node = node;
    latest->step = step;
    latest->ticks += ticks;
}

/* ---- cells ---- */

static void need_grid(struct timeline *tl, enum vm_part part)
{
    if (tl->grids[part] == NULL)
        tl->grids[part] = xcalloc(tl->n_steps * tl->cell_words, sizeof **tl->grids);
}

/* A cell of a thread whose part is not known yet: kept by step, most often the last one. */
static uint64_t *own_cell(struct timeline *tl, struct lane *lane, uint32_t step)
{
    size_t n_words = 1 + tl->cell_words;
    uint32_t at = lane->n_cells;
    while (at > 0 && lane->cells[(at - 1) * n_words] > step)
        at--;
    if (at > 0 && lane->cells[(at - 1) * n_words] == step)
        return lane->cells + (at - 1) * n_words + 1;
    xgrow_bytes(lane->cells, lane->cells_room, lane->n_cells + (size_t)1, n_words * sizeof *lane->cells);
    uint64_t *cell = lane->cells + at * n_words;
    memmove(cell + n_words, cell, (lane->n_cells - at) * n_words * sizeof *cell);
    memset(cell, 0, n_words * sizeof *cell);
    cell[0] = step;
    lane->n_cells++;
    return cell + 1;
}

static uint64_t *cell_of(struct timeline *tl, struct lane *lane, uint32_t step)
{
    return lane->is_placed ? words_of(tl, lane->part, step) : own_cell(tl, lane, step);
}

/* Its own cells become its part's.  Without CPU time only what the kernel told of counts. */
static void place(struct timeline *tl, struct lane *lane, const struct calltree_flow *flow)
{
    size_t n_told = flow->is_wall && tl->cell_words > CELL_METRICS + CALLTREE_UNCOUNTED
                        ? CELL_METRICS + CALLTREE_UNCOUNTED
                        : tl->cell_words;
    lane->is_placed = true;
    lane->part = flow->part;
    need_grid(tl, flow->part);
    need_grid(tl, VM_PART_MMPROF);
    for (uint32_t i = 0; i < lane->n_cells; i++) {
        const uint64_t *cell = lane->cells + i * (1 + tl->cell_words) + 1;
        uint32_t step = (uint32_t)cell[-1];
        uint64_t *to = words_of(tl, flow->part, step);
        for (size_t w = flow->is_wall ? CELL_RUNNABLE : CELL_CPU; w < n_told; w++)
            to[w] += cell[w];
        if (flow->part == VM_PART_APPLICATION && !flow->is_wall)
            give_node(tl, 0, step, cell[CELL_CPU]);
    }
    free(lane->cells);
    lane->cells = NULL;
    lane->n_cells = lane->cells_room = 0;
}

/* ---- time that passes ---- */

static void pass_in(struct timeline *tl, struct lane *lane, uint32_t step, uint64_t ticks, bool is_on)
{
    if (!is_on && lane->is_runnable)
        cell_of(tl, lane, step)[CELL_RUNNABLE] += ticks;
    if (lane->n_slots == 0 || lane->slots[lane->n_slots - 1].step != step)
        *xpush(lane->slots, lane->slots_room, lane->n_slots) = (struct slot){ step, 0, 0 };
    struct slot *slot = &lane->slots[lane->n_slots - 1];
    slot->wall_ticks += ticks;
    slot->cpu_ticks += is_on ? ticks : 0;
}

static void pass(struct timeline *tl, struct lane *lane, const struct calltree_flow *flow)
{
    uint64_t from = flow->from_ticks;
    if (flow->is_on)
        lane->is_runnable = false;
    while (from < flow->ticks) {
        uint32_t step = timeline_step_at(tl, from);
        uint64_t to = tl->near_end < flow->ticks ? tl->near_end : flow->ticks;
        pass_in(tl, lane, step, to - from, flow->is_on);
        from = to;
    }
}

static void count(struct timeline *tl, struct lane *lane, enum calltree_metric metric, uint64_t ticks, uint64_t n)
{
    if (metric < tl->options.n_metrics)
        cell_of(tl, lane, timeline_step_at(tl, ticks))[CELL_METRICS + metric] += n;
}

/* ---- what is given to nodes ---- */

/* How much of a whole lies before a share of it: the parts of all shares add up to it. */
static uint64_t part_before(uint64_t whole, double share)
{
    return share >= 1 ? whole : (uint64_t)((double)whole * share);
}

/* Of what was settled: the part between two shares of the time. */
static void give(struct timeline *tl, struct lane *lane, const struct calltree_flow *flow, uint32_t step, double from,
                 double to)
{
    uint64_t *cell = cell_of(tl, lane, step);
    uint64_t own = flow->cpu_ticks - flow->probe_ticks;
    uint64_t ticks = part_before(own, to) - part_before(own, from);
    cell[CELL_CPU] += ticks;
    if (lane->is_placed && lane->part == VM_PART_APPLICATION)
        give_node(tl, flow->node, step, ticks);
    if (flow->probe_ticks > 0)
        words_of(tl, VM_PART_MMPROF, step)[CELL_CPU] +=
            part_before(flow->probe_ticks, to) - part_before(flow->probe_ticks, from);
    uint64_t *metrics = cell + CELL_METRICS;
    if (tl->options.n_metrics > CALLTREE_UNCOUNTED)
        metrics[CALLTREE_UNCOUNTED] +=
            part_before(flow->uncounted_ticks, to) - part_before(flow->uncounted_ticks, from);
    for (size_t i = 0; flow->counters != NULL && CALLTREE_COUNTERS + i < tl->options.n_metrics && i < flow->n_counters;
         i++)
        metrics[CALLTREE_COUNTERS + i] += part_before(flow->counters[i], to) - part_before(flow->counters[i], from);
}

/* Over the steps in which the time passed, by the time on a CPU in each. */
static void settle(struct timeline *tl, struct lane *lane, const struct calltree_flow *flow)
{
    uint64_t sum = 0, before = 0;
    for (uint32_t i = 0; lane->n_slots > 1 && i < lane->n_slots; i++)
        sum += flow->is_wall ? lane->slots[i].wall_ticks : lane->slots[i].cpu_ticks;
    double from = 0;
    for (uint32_t i = 0; sum > 0 && before < sum; i++) {
        const struct slot *slot = &lane->slots[i];
        before += flow->is_wall ? slot->wall_ticks : slot->cpu_ticks;
        double to = before == sum ? 1 : (double)before / (double)sum;
        if (to > from)
            give(tl, lane, flow, slot->step, from, to);
        from = to;
    }
    uint32_t step = lane->n_slots > 0 ? lane->slots[lane->n_slots - 1].step : timeline_step_at(tl, flow->ticks);
    if (sum == 0)
        give(tl, lane, flow, step, 0, 1);
    lane->n_slots = 0;
}

static void take_flow(void *context, const struct calltree_flow *flow)
{
    struct timeline *tl = context;
    xgrow_zeroed(tl->lanes, tl->n_lanes, (size_t)flow->thread + 1);
    struct lane *lane = &tl->lanes[flow->thread];
    switch (flow->kind) {
    case CALLTREE_PASSED:
        pass(tl, lane, flow);
        break;
    case CALLTREE_SWITCHED:
        lane->is_runnable = flow->is_on;
        count(tl, lane, CALLTREE_SWITCHES, flow->ticks, 1);
        break;
    case CALLTREE_FAULTED:
        count(tl, lane, CALLTREE_FAULTS, flow->ticks, flow->n_faults);
        break;
    case CALLTREE_SETTLED:
        settle(tl, lane, flow);
        break;
    case CALLTREE_PLACED:
        place(tl, lane, flow);
        break;
    }
}

bool timeline_spread(struct timeline *tl, uint64_t from, uint64_t to, uint64_t ticks,
                     bool (*take)(void *context, uint32_t step, uint64_t ticks), void *context)
{
    double length = from < to ? (double)(to - from) : 1;
    uint64_t given = 0;
    for (uint64_t at = from; at < to && given < ticks;) {
        uint32_t step = timeline_step_at(tl, at);
        at = tl->near_end < to ? tl->near_end : to;
        uint64_t before = part_before(ticks, at == to ? 1 : (double)(at - from) / length);
        if (before > given && !take(context, step, before - given))
            return false;
        given = before > given ? before : given;
    }
    return given == ticks || take(context, timeline_step_at(tl, to), ticks - given);
}

void timeline_sample(struct timeline *tl, enum vm_part part, uint64_t ticks, uint64_t cpu_ticks)
{
    uint32_t step = timeline_step_at(tl, ticks);
    need_grid(tl, part);
    if (part == VM_PART_APPLICATION)
        give_node(tl, 0, step, cpu_ticks);
    words_of(tl, part, step)[CELL_CPU] += cpu_ticks;
}

struct calltree_observer timeline_observer(struct timeline *tl)
{
    return (struct calltree_observer){ .context = tl, .flow = take_flow };
}

/* ---- rows ---- */

/* By node: the row of its method, or else its caller's.  A parent comes before its children. */
static uint32_t *find_owners(const struct calltree *tree, const uint32_t *row_of, uint32_t n_methods, uint32_t n_rows)
{
    uint32_t *owners = xreallocarray(NULL, (size_t)tree->n_nodes + 1, sizeof *owners);
    for (uint32_t i = 0; i < tree->n_nodes; i++) {
        const struct calltree_node *node = &tree->nodes[i];
        if (i == 0 || node->parent == i)
            owners[i] = n_rows;
        else if (node->method < n_methods && row_of[node->method] < n_rows)
            owners[i] = row_of[node->method];
        else
            owners[i] = owners[node->parent];
    }
    return owners;
}

/* All that was given is merged. */
static void settle_all(struct timeline *tl, uint32_t n_nodes)
{
    for (uint32_t i = 0; i < tl->n_latest && i < n_nodes; i++)
        if (tl->latest[i].ticks > 0)
            keep(tl, &tl->latest[i]);
    free(tl->latest);
    tl->latest = NULL;
    tl->n_latest = 0;
    if (tl->n_given > 0)
        merge(tl);
}

int timeline_rows(struct timeline *tl, const struct calltree *tree, const uint32_t *row_of, uint32_t n_methods,
                  uint32_t n_rows, struct err *err)
{
    size_t n_words = (size_t)tl->n_steps * ((size_t)n_rows + 1);
    if (tl->n_steps > 1 && n_words > ROW_WORDS_MAX) {
        err_set(err, "%u steps are too many for %u phases", tl->n_steps, n_rows);
        return err_next(err, "take longer ones, or fewer phases (--top)");
    }
    uint32_t *owners = find_owners(tree, row_of, n_methods, n_rows);
    tl->rows = xcalloc(n_words, sizeof *tl->rows);
    settle_all(tl, tree->n_nodes);
    tl->n_rows = n_rows;
    if (tree->n_metrics < tl->options.n_metrics)
        tl->options.n_metrics = tree->n_metrics;
    for (size_t i = 0; i < tl->n_given; i++)
        tl->rows[(size_t)tl->given[i].step * (n_rows + 1) + owners[tl->given[i].node]] += tl->given[i].ticks;
    free(owners);
    return 0;
}

const struct timeline_given *timeline_given(const struct timeline *tl, size_t *n)
{
    *n = tl->n_given;
    return tl->given;
}

/* ---- results ---- */

uint32_t timeline_n_steps(const struct timeline *tl)
{
    return tl->n_steps;
}

double timeline_step_ns(const struct timeline *tl)
{
    return tl->options.step_ns;
}

double timeline_start_ns(const struct timeline *tl, uint32_t step)
{
    if (step < tl->n_steps)
        return step * tl->options.step_ns;
    return (double)(tl->options.end_ticks - tl->options.start_ticks) * tl->options.ns_per_tick;
}

double timeline_ns(const struct timeline *tl, uint64_t ticks)
{
    return (double)ticks * tl->options.ns_per_tick;
}

size_t timeline_n_metrics(const struct timeline *tl)
{
    return tl->options.n_metrics;
}

uint32_t timeline_n_rows(const struct timeline *tl)
{
    return tl->n_rows;
}

bool timeline_has_part(const struct timeline *tl, enum vm_part part)
{
    return tl->grids[part] != NULL;
}

struct timeline_cell timeline_cell(const struct timeline *tl, enum vm_part part, uint32_t step)
{
    if (tl->grids[part] == NULL)
        return (struct timeline_cell){ 0, 0, tl->nothing };
    const uint64_t *words = words_of(tl, part, step);
    return (struct timeline_cell){ words[CELL_CPU], words[CELL_RUNNABLE], words + CELL_METRICS };
}

uint64_t timeline_row_ticks(const struct timeline *tl, uint32_t row, uint32_t step)
{
    return tl->rows[(size_t)step * (tl->n_rows + 1) + row];
}

void timeline_set_row_ticks(struct timeline *tl, uint32_t row, uint32_t step, uint64_t ticks)
{
    tl->rows[(size_t)step * (tl->n_rows + 1) + row] = ticks;
}
