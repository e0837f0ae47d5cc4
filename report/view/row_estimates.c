/* What one trace says of the events in a row. */
#include "report/view/report_internal.h"

#include "core/trace/recording_info.h"

static double counted_of(const uint64_t *metrics, uint64_t cpu_ticks)
{
    uint64_t uncounted = metrics[CALLTREE_UNCOUNTED];
    return cpu_ticks <= uncounted ? uncounted == 0 : 1 - (double)uncounted / (double)cpu_ticks;
}

double report_counted(const struct making *making, struct row_id id)
{
    const struct calltree *tree = making->source->tree;
    const struct shares *shares = &making->shares;
    if (!making->has_counts || tree->n_metrics == 0)
        return -1;
    switch (id.kind) {
    case ROW_PHASE: {
        const struct calltree_total *total = making->rows[id.index];
        return total == NULL ? -1 : counted_of(total->total_metrics, total->total_cpu_ticks);
    }
    case ROW_OUTSIDE:
        return counted_of(shares->outside_metrics, shares->outside_cpu_ticks);
    case ROW_PART:
        return making->has_readings ? counted_of(shares->part_metrics[id.index], shares->part_cpu_ticks[id.index]) : -1;
    case ROW_MMPROF:
        return report_counted(making, (struct row_id){ ROW_PART, VM_PART_MMPROF });
    case ROW_TOTAL:
        return counted_of(shares->all_metrics, tree->cpu_ticks - tree->probe_ticks);
    default:
        return -1;
    }
}

/* The events of these parts, each estimated by itself so that they add up, and the probes' own. */
static void estimate_with_probes(const struct making *making, size_t first, size_t end,
                                 struct event_estimate *estimates)
{
    const struct calltree *tree = making->source->tree;
    struct estimates_part parts[VM_PARTS + 1];
    size_t n = 0;
    uint64_t probes[CALLTREE_COUNTERS + TRACE_COLUMNS_MAX] = { 0 };
    memcpy(probes + CALLTREE_COUNTERS, tree->probe_counts, sizeof tree->probe_counts);
    for (size_t p = first; p < end; p++) {
        const uint64_t *metrics = making->shares.part_metrics[p];
        parts[n++] = (struct estimates_part){ metrics, metrics, tree->part_batches[p] };
    }
    parts[n++] = (struct estimates_part){ probes, making->shares.part_metrics[VM_PART_APPLICATION], NULL };
    estimates_make(&making->basis, parts, n, estimates);
}

bool report_estimates(const struct making *making, struct row_id id, struct event_estimate *estimates)
{
    const struct calltree *tree = making->source->tree;
    const struct calltree_total *total = id.kind == ROW_PHASE ? making->rows[id.index] : NULL;
    struct estimates_part part;
    if (tree->n_metrics == 0 || id.kind == ROW_OF_TIME || (id.kind == ROW_PHASE && total == NULL))
        return false;
    if (id.kind == ROW_TOTAL || id.kind == ROW_MMPROF) {
        bool is_total = id.kind == ROW_TOTAL;
        estimate_with_probes(making, is_total ? 0 : VM_PART_MMPROF, is_total ? VM_PARTS : VM_PART_MMPROF + 1,
                             estimates);
        return true;
    }
    if (id.kind == ROW_PHASE)
        part.batches = total->method < tree->n_batches ? tree->batches[total->method] : NULL;
    else
        part.batches = id.kind == ROW_OUTSIDE ? tree->outside_batches : tree->part_batches[id.index];
    part.events = id.kind == ROW_PHASE     ? total->total_metrics
                  : id.kind == ROW_OUTSIDE ? making->shares.outside_metrics
                                           : making->shares.part_metrics[id.index];
    part.times = part.events;
    estimates_make(&making->basis, &part, 1, estimates);
    return true;
}

void report_find_events(struct making *making)
{
    size_t n = event_columns(making->source->reader, making->source->tree, making->own);
    making->cycles = event_column_measured(making->own, n, EVENT_CYCLES);
    making->instructions = event_column_measured(making->own, n, EVENT_INSTRUCTIONS);
    making->has_hardware = making->cycles != NULL || making->instructions != NULL ||
                           event_column_measured(making->own, n, EVENT_MISSES) != NULL;
    making->has_counts = making->has_hardware || event_column_measured(making->own, n, EVENT_COUNT) != NULL;
    making->basis = (struct estimates_basis){ making->own, n, making->instructions, &making->source->tree->groups };
    making->take_turns = making->has_counts && making->source->tree->groups.n > 1;
    making->n_events = n;
    making->topdown = topdown_named(info_text(making->source->reader, INFO_COUNTERS_TOPDOWN));
    memcpy(making->events, making->own, sizeof making->events);
    for (size_t i = 0; i < n; i++)
        making->origins[i] = (struct event_origin){ 0, (uint8_t)i };
}

/* Some of the VM's threads has counts; what is in the application only is from probes. */
void report_find_readings(struct making *making)
{
    size_t n_metrics = making->source->tree->n_metrics;
    bool has = info_text(making->source->reader, INFO_READINGS) != NULL;
    for (size_t p = VM_PART_GC; making->has_counts && !has && p < VM_PARTS; p++)
        for (size_t m = CALLTREE_COUNTERS; m < n_metrics; m++)
            has = has || making->shares.part_metrics[p][m] > 0;
    making->has_readings = has && making->has_counts;
}
