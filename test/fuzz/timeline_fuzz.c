/*
 * Any bytes as a trace, for the call tree and the time line: whatever the trace is, sums over steps are the tree's.
 */
#include "core/trace/reader_internal.h"
#include "phases/tree/timeline.h"
#include "test/fuzz/repair.h"

#include <stdlib.h>

#define MAX_NODES 1000
#define N_STEPS   50
#define N_THREADS 4096 /* a trace may name a million, which takes a second under a sanitizer */
#define N_ROWS    2

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void hold(bool condition)
{
    if (!condition)
        abort();
}

static bool build(const uint8_t *bytes, size_t n, bool salvage, const struct calltree_observer *observer,
                  struct calltree *tree)
{
    struct calltree_options options = { .max_nodes = MAX_NODES, .observer = observer };
    struct trace_reader *reader;
    struct err err;
    if (trace_open_bytes(&reader, bytes, n, "fuzz", salvage, &err) < 0)
        return false;
    bool is_built = calltree_build(reader, &options, tree, &err) == 0;
    tree->why_wall = NULL; /* the reader's */
    trace_close(reader);
    return is_built;
}

static uint64_t sum_metric(const struct calltree *tree, enum vm_part part, size_t metric)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < tree->n_roots; i++)
        if (tree->roots[i].part == part)
            sum += calltree_total_metrics(tree, tree->roots[i].node)[metric];
    return sum;
}

static void compare(const struct calltree *tree, const struct timeline *timeline)
{
    uint64_t ticks[VM_PARTS] = { 0 };
    for (uint32_t i = 0; i < tree->n_threads; i++) {
        ticks[tree->threads[i].part] += tree->threads[i].cpu_ticks - tree->threads[i].probe_ticks;
        ticks[VM_PART_MMPROF] += tree->threads[i].probe_ticks;
    }
    for (enum vm_part p = 0; p < VM_PARTS; p++) {
        for (uint32_t s = 0; s < timeline_n_steps(timeline); s++)
            ticks[p] -= timeline_cell(timeline, p, s).cpu_ticks;
        hold(ticks[p] == 0);
        for (size_t m = 0; m < tree->n_metrics; m++) {
            uint64_t sum = 0;
            for (uint32_t s = 0; s < timeline_n_steps(timeline); s++)
                sum += timeline_cell(timeline, p, s).metrics[m];
            hold(sum == sum_metric(tree, p, m));
        }
    }
    for (uint32_t s = 0; s < timeline_n_steps(timeline); s++) {
        uint64_t left = timeline_cell(timeline, VM_PART_APPLICATION, s).cpu_ticks;
        for (uint32_t row = 0; row <= N_ROWS; row++)
            left -= timeline_row_ticks(timeline, row, s);
        hold(left == 0);
    }
}

static void check_regions(const struct timeline *timeline)
{
    struct arena arena = { NULL, 0 };
    struct timeline_regions regions;
    struct timeline_regions_options options = { .distance = 0 };
    uint32_t n_steps = 0;
    timeline_find_regions(timeline, &options, &arena, &regions);
    for (uint32_t r = 0; r <= regions.n; r++)
        n_steps += regions.regions[r].n_steps;
    hold(n_steps == timeline_n_steps(timeline));
    arena_free(&arena);
}

/* Returns whether it makes sense to try in another way. */
static bool read_twice(const uint8_t *bytes, size_t n, bool salvage)
{
    static const uint32_t row_of[] = { CALLTREE_NONE, 0, 1, CALLTREE_NONE, 1 };
    struct calltree first, second;
    struct timeline *timeline;
    struct err err;
    if (!build(bytes, n, salvage, NULL, &first))
        return true;
    bool is_small = first.n_threads <= N_THREADS;
    const struct timeline_options options = { .start_ticks = first.start_ticks,
                                              .end_ticks = first.end_ticks,
                                              .ns_per_tick = first.ns_per_tick,
                                              .steps_max = N_STEPS,
                                              .n_metrics = first.n_metrics };
    if (is_small && timeline_open(&timeline, &options, &err) == 0) {
        struct calltree_observer observer = timeline_observer(timeline);
        hold(timeline_n_steps(timeline) <= N_STEPS);
        if (build(bytes, n, salvage, &observer, &second)) {
            hold(timeline_rows(timeline, &second, row_of, sizeof row_of / sizeof *row_of, N_ROWS, &err) == 0);
            compare(&second, timeline);
            check_regions(timeline);
            calltree_free(&second);
        }
        timeline_close(timeline);
    }
    calltree_free(&first);
    return is_small;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    uint8_t *copy = malloc(n + 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, bytes, n);
    repair(copy, n);
    if (read_twice(copy, n, false))
        read_twice(copy, n, true);
    free(copy);
    return 0;
}
