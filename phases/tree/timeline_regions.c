/* Steps in which the program behaves alike. */
#include "phases/tree/timeline.h"

#include "core/base/xalloc.h"

#define DISTANCE     0.3
#define IDLE_SHARE   0.01 /* of one CPU */
#define SERIAL_SHARE 0.1  /* less of it is not the VM thread's collecting, but what else it does */
#define CLUSTERS_MAX 256  /* while segments are sorted in: the next ones go to the nearest */
#define REGIONS_MAX  32

/* What some steps have in common: sums over them. */
struct cluster {
    double gc, app;              /* ticks */
    double cycles, instructions; /* the application's */
    double *rows;                /* ticks of the application, n_rows + 1 */
    uint32_t merged_into;        /* itself, or a lower one */
};

struct clustering {
    const struct timeline *tl;
    struct timeline_regions_options options;
    double step_ticks;
    enum vm_part gc; /* whose threads collect */
    size_t n_rows;   /* with what is outside */
    struct cluster *clusters, segment, step;
    uint32_t n_clusters;
    double *rows;      /* of all of these; owned */
    uint32_t *of_step; /* CLUSTER_IDLE, CLUSTER_GC, or CLUSTER_FIRST and a cluster's index; the caller's */
};

enum { CLUSTER_IDLE, CLUSTER_GC, CLUSTER_FIRST };

/* ---- behaviour ---- */

static double sum_of(const struct timeline_cell *cell, const uint8_t *metrics, size_t n, size_t n_metrics)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += metrics[i] < n_metrics ? (double)cell->metrics[metrics[i]] : 0;
    return sum;
}

static void clear(const struct clustering *c, struct cluster *cluster)
{
    double *rows = cluster->rows;
    memset(rows, 0, c->n_rows * sizeof *rows);
    *cluster = (struct cluster){ .rows = rows };
}

static bool is_collecting(const struct clustering *c, const struct cluster *step)
{
    bool is_serial = c->gc == VM_PART_THREAD;
    return step->gc > step->app && !(is_serial && step->gc < SERIAL_SHARE * c->step_ticks);
}

static void add_cluster(const struct clustering *c, struct cluster *to, const struct cluster *from)
{
    to->gc += from->gc;
    to->app += from->app;
    to->cycles += from->cycles;
    to->instructions += from->instructions;
    for (size_t i = 0; i < c->n_rows; i++)
        to->rows[i] += from->rows[i];
}

static void read_step(const struct clustering *c, uint32_t step, struct cluster *to)
{
    const struct timeline *tl = c->tl;
    struct timeline_cell app = timeline_cell(tl, VM_PART_APPLICATION, step);
    clear(c, to);
    to->gc = (double)timeline_cell(tl, c->gc, step).cpu_ticks;
    to->app = (double)app.cpu_ticks;
    to->cycles = sum_of(&app, c->options.cycles, c->options.n_cycles, timeline_n_metrics(tl));
    to->instructions = sum_of(&app, c->options.instructions, c->options.n_instructions, timeline_n_metrics(tl));
    for (uint32_t row = 0; row < c->n_rows; row++)
        to->rows[row] = (double)timeline_row_ticks(tl, row, step);
}

static double distance(const struct clustering *c, const struct cluster *a, const struct cluster *b)
{
    double code = 0, cpi = 0;
    for (size_t i = 0; i < c->n_rows; i++)
        code += fabs((a->app > 0 ? a->rows[i] / a->app : 0) - (b->app > 0 ? b->rows[i] / b->app : 0)) / 2;
    if (a->cycles > 0 && b->cycles > 0 && a->instructions > 0 && b->instructions > 0)
        cpi = fabs(log(a->cycles / a->instructions / (b->cycles / b->instructions)));
    return fmax(code, cpi);
}

/* ---- segments, sorted into clusters ---- */

/* The cluster that is nearest to the segment, made if need be. */
static uint32_t find_cluster(struct clustering *c)
{
    double least = INFINITY;
    uint32_t nearest = 0;
    for (uint32_t i = 0; i < c->n_clusters; i++) {
        double d = distance(c, &c->segment, &c->clusters[i]);
        if (d < least) {
            least = d;
            nearest = i;
        }
    }
    if (least < c->options.distance || c->n_clusters == CLUSTERS_MAX)
        return nearest;
    return c->n_clusters++;
}

static void end_segment(struct clustering *c, uint32_t first, uint32_t end)
{
    if (first == end)
        return;
    uint32_t cluster = find_cluster(c);
    add_cluster(c, &c->clusters[cluster], &c->segment);
    for (uint32_t i = first; i < end; i++)
        c->of_step[i] = CLUSTER_FIRST + cluster;
    clear(c, &c->segment);
}

static void cluster_steps(struct clustering *c)
{
    uint32_t first = 0; /* of the segment */
    for (uint32_t i = 0; i < timeline_n_steps(c->tl); i++) {
        read_step(c, i, &c->step);
        bool is_gc = is_collecting(c, &c->step);
        bool is_idle = c->step.app + (is_gc ? c->step.gc : 0) < IDLE_SHARE * c->step_ticks;
        bool is_other = is_idle || is_gc;
        if (is_other || (first < i && distance(c, &c->step, &c->segment) >= c->options.distance)) {
            end_segment(c, first, i);
            first = i;
        }
        if (is_other) {
            c->of_step[i] = is_idle ? CLUSTER_IDLE : CLUSTER_GC;
            first = i + 1;
        } else {
            add_cluster(c, &c->segment, &c->step);
        }
    }
    end_segment(c, first, timeline_n_steps(c->tl));
}

/* ---- clusters that are alike become one ---- */

static bool is_whole(const struct clustering *c, uint32_t i)
{
    return c->clusters[i].merged_into == i;
}

/* The two that are nearest.  Returns how many there are. */
static uint32_t find_nearest(const struct clustering *c, uint32_t *one, uint32_t *other, double *least)
{
    uint32_t n = 0;
    *least = INFINITY;
    for (uint32_t i = 0; i < c->n_clusters; i++) {
        n += is_whole(c, i);
        for (uint32_t j = i + 1; is_whole(c, i) && j < c->n_clusters; j++) {
            double d = is_whole(c, j) ? distance(c, &c->clusters[i], &c->clusters[j]) : INFINITY;
            if (d < *least) {
                *least = d;
                *one = i;
                *other = j;
            }
        }
    }
    return n;
}

static void merge_clusters(struct clustering *c)
{
    uint32_t one = 0, other = 0;
    double least;
    for (uint32_t i = 0; i < c->n_clusters; i++)
        c->clusters[i].merged_into = i;
    for (;;) {
        uint32_t n = find_nearest(c, &one, &other, &least);
        if (n < 2 || (n <= REGIONS_MAX && least >= c->options.distance))
            return;
        add_cluster(c, &c->clusters[one], &c->clusters[other]);
        c->clusters[other].merged_into = one;
    }
}

/* ---- regions ---- */

/* Numbers for clusters: the collector's first, then as they appear.  Returns how many there are. */
static uint32_t number_regions(const struct clustering *c)
{
    uint32_t numbers[CLUSTER_FIRST + CLUSTERS_MAX] = { 0 }, n = 0;
    for (uint32_t i = 0; i < timeline_n_steps(c->tl); i++)
        if (c->of_step[i] == CLUSTER_GC)
            n = numbers[CLUSTER_GC] = 1;
    for (uint32_t i = 0; i < timeline_n_steps(c->tl); i++) {
        uint32_t cluster = c->of_step[i];
        while (cluster >= CLUSTER_FIRST && !is_whole(c, cluster - CLUSTER_FIRST))
            cluster = CLUSTER_FIRST + c->clusters[cluster - CLUSTER_FIRST].merged_into;
        if (cluster >= CLUSTER_FIRST && numbers[cluster] == 0)
            numbers[cluster] = ++n;
        c->of_step[i] = cluster == CLUSTER_IDLE ? TIMELINE_IDLE : numbers[cluster];
    }
    return n;
}

static void sum_regions(const struct clustering *c, struct timeline_regions *regions)
{
    const struct timeline *tl = c->tl;
    for (uint32_t i = 0; i < timeline_n_steps(tl); i++) {
        struct timeline_region *region = &regions->regions[regions->of_step[i]];
        region->n_steps++;
        region->n_times += i == 0 || regions->of_step[i] != regions->of_step[i - 1];
        region->cpu_ticks +=
            timeline_cell(tl, c->gc, i).cpu_ticks + timeline_cell(tl, VM_PART_APPLICATION, i).cpu_ticks;
    }
}

/* The collector's region is a row's only if it has no other. */
static void place_row(struct timeline_regions *regions, uint32_t row)
{
    uint64_t most = 0;
    for (uint32_t r = regions->n; r > 0; r--) {
        const struct timeline_region *region = &regions->regions[r];
        if (region->row_ticks[row] > 0 && (region->is_gc ? most == 0 : region->row_ticks[row] >= most)) {
            most = region->row_ticks[row];
            regions->of_row[row] = r;
        }
    }
}

void timeline_sum_rows(const struct timeline *tl, struct timeline_regions *regions)
{
    for (uint32_t row = 0; row <= timeline_n_rows(tl); row++) {
        for (uint32_t r = 0; r <= regions->n; r++)
            regions->regions[r].row_ticks[row] = 0;
        for (uint32_t i = 0; i < timeline_n_steps(tl); i++)
            regions->regions[regions->of_step[i]].row_ticks[row] += timeline_row_ticks(tl, row, i);
        regions->of_row[row] = TIMELINE_IDLE;
        place_row(regions, row);
    }
}

static void make_regions(const struct clustering *c, struct arena *arena, struct timeline_regions *regions)
{
    bool has_gc = false;
    for (uint32_t i = 0; i < timeline_n_steps(c->tl); i++)
        has_gc = has_gc || c->of_step[i] == CLUSTER_GC;
    regions->n = number_regions(c);
    regions->of_row = arena_alloc(arena, c->n_rows * sizeof *regions->of_row);
    regions->regions = arena_alloc(arena, (regions->n + 1) * sizeof *regions->regions);
    for (uint32_t r = 0; r <= regions->n; r++)
        regions->regions[r].row_ticks = arena_alloc(arena, c->n_rows * sizeof *regions->regions->row_ticks);
    if (has_gc)
        regions->regions[1].is_gc = true;
    sum_regions(c, regions);
    timeline_sum_rows(c->tl, regions);
}

void timeline_find_regions(const struct timeline *tl, const struct timeline_regions_options *options,
                           struct arena *arena, struct timeline_regions *regions)
{
    struct clustering c = { .tl = tl,
                            .options = *options,
                            .step_ticks = timeline_step_ns(tl) / timeline_ns(tl, 1),
                            .gc = timeline_has_part(tl, VM_PART_GC) ? VM_PART_GC : VM_PART_THREAD,
                            .n_rows = (size_t)timeline_n_rows(tl) + 1,
                            .of_step = arena_alloc(arena, timeline_n_steps(tl) * sizeof *c.of_step),
                            .clusters = xcalloc(CLUSTERS_MAX, sizeof *c.clusters) };
    if (!(c.options.distance > 0))
        c.options.distance = DISTANCE;
    *regions = (struct timeline_regions){ .gc = c.gc, .of_step = c.of_step };
    c.rows = xcalloc((CLUSTERS_MAX + 2) * c.n_rows, sizeof *c.rows);
    for (size_t i = 0; i < CLUSTERS_MAX; i++)
        c.clusters[i].rows = c.rows + i * c.n_rows;
    c.segment.rows = c.rows + CLUSTERS_MAX * c.n_rows;
    c.step.rows = c.segment.rows + c.n_rows;
    cluster_steps(&c);
    merge_clusters(&c);
    make_regions(&c, arena, regions);
    free(c.clusters);
    free(c.rows);
}
