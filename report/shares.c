#include "report/shares.h"

#include "core/base/xalloc.h"
#include "report/sampled_tree.h"

#define NOT_OURS   (CALLTREE_NONE - 1) /* a context in a thread of the VM */
#define NOT_IN_ROW CALLTREE_NONE

static bool is_measured(const struct report_source *source, const struct calltree_thread *thread)
{
    return thread->is_known && (thread->has_records || (source->clock == PHASES_CPU && !source->tree->cpu_is_wall));
}

uint64_t shares_thread_ticks(const struct report_source *source, uint32_t index)
{
    const struct calltree_thread *thread = &source->tree->threads[index];
    uint64_t ticks = source->clock == PHASES_CPU ? thread->cpu_ticks : thread->wall_ticks;
    if (source->sampled != NULL && source->sampled->thread_ticks != NULL)
        return source->sampled->thread_ticks[index];
    return is_measured(source, thread) ? ticks - thread->probe_ticks : 0;
}

static void add_threads(const struct report_source *source, struct shares *shares)
{
    const struct calltree *tree = source->tree;
    for (uint32_t i = 0; i < tree->n_threads; i++) {
        const struct calltree_thread *thread = &tree->threads[i];
        uint64_t ticks = shares_thread_ticks(source, i);
        if (!is_measured(source, thread))
            continue;
        shares->part_is_known[thread->part] = true;
        shares->part_ticks[thread->part] += ticks;
        shares->part_cpu_ticks[thread->part] += thread->cpu_ticks - thread->probe_ticks;
        shares->probe_ticks += thread->probe_ticks;
        shares->all_ticks += ticks + thread->probe_ticks;
    }
}

/* Of a trace that has nothing but stack samples: theirs.  Those of threads that are left out are of the application. */
static void add_samples(const struct report_source *source, struct shares *shares)
{
    const struct calltree *tree = source->tree;
    const struct trace_samples *samples = source->sampled->samples;
    double ns = 0, listed = 0;
    for (size_t i = 0; i < samples->n_kept; i++)
        ns += (double)samples->kept[i].weight_ns;
    for (uint32_t i = 0; i < tree->n_roots; i++) {
        uint64_t ticks = tree->total_cpu_ticks[tree->roots[i].node];
        shares->part_is_known[tree->roots[i].part] = true;
        shares->part_ticks[tree->roots[i].part] += ticks;
        listed += (double)ticks;
    }
    double all = ns / (tree->ns_per_tick > 0 ? tree->ns_per_tick : 1);
    if (source->only_threads && all > listed)
        shares->part_ticks[VM_PART_APPLICATION] += (uint64_t)(all - listed);
    for (size_t p = 0; p < VM_PARTS; p++) {
        shares->part_cpu_ticks[p] = shares->part_ticks[p];
        shares->all_ticks += shares->part_ticks[p];
    }
}

/* On the wall clock where samples tell of threads that wait: what is below the roots, and the probes' own. */
static void add_waiting(const struct report_source *source, struct shares *shares)
{
    const struct calltree *tree = source->tree;
    for (uint32_t i = 0; i < tree->n_threads; i++) {
        const struct calltree_thread *thread = &tree->threads[i];
        if (!thread->is_known)
            continue;
        shares->part_cpu_ticks[thread->part] += thread->cpu_ticks - thread->probe_ticks;
        shares->probe_ticks += thread->probe_ticks;
    }
    for (uint32_t i = 0; i < tree->n_roots; i++) {
        shares->part_is_known[tree->roots[i].part] = true;
        shares->part_ticks[tree->roots[i].part] += calltree_total_wall_ticks(tree, tree->roots[i].node);
    }
    shares->part_ticks[VM_PART_APPLICATION] += source->sampled->other_ticks;
    shares->all_ticks = shares->probe_ticks;
    for (size_t p = 0; p < VM_PARTS; p++)
        shares->all_ticks += shares->part_ticks[p];
}

static double switching_ns(const struct trace_cpu_time *cpu_time)
{
    return (double)cpu_time->accounted_ns - (double)cpu_time->slices_ns;
}

static const struct trace_cpu_time *cpu_time_of(const struct report_source *source, uint32_t thread)
{
    static const struct trace_cpu_time none;
    const struct trace_thread *about = trace_thread(source->reader, thread);
    return about == NULL ? &none : &about->cpu_time;
}

/* ns for each run slice, of all threads that were read; 0 where there are none, or the host kept more. */
static double mean_ns(const struct report_source *source)
{
    double ns = 0, n = 0;
    for (uint32_t i = 0; i < source->tree->n_threads; i++) {
        const struct trace_cpu_time *cpu_time = cpu_time_of(source, i);
        ns += cpu_time->is_known ? switching_ns(cpu_time) : 0;
        n += cpu_time->is_known ? (double)cpu_time->n_slices : 0;
    }
    return n > 0 && ns > 0 ? ns / n : 0;
}

/* Of the trace's threads.  Not known where the trace has no such readings, or has lost some of the kernel's events. */
static void compute_switches(const struct report_source *source, struct switches *switches)
{
    const struct calltree *tree = source->tree;
    double mean = mean_ns(source);
    memset(switches, 0, sizeof *switches);
    if (tree->cpu_is_wall || tree->n_kernel_lost > 0)
        return;
    for (uint32_t i = 0; i < tree->n_threads; i++) {
        const struct calltree_thread *thread = &tree->threads[i];
        const struct trace_cpu_time *cpu_time = cpu_time_of(source, i);
        uint64_t n_read = cpu_time->is_known ? cpu_time->n_slices : 0;
        double rest_ns = thread->n_slices > n_read ? (double)(thread->n_slices - n_read) * mean : 0;
        switches->are_known = switches->are_known || cpu_time->is_known;
        switches->part_ns[thread->part] += (cpu_time->is_known ? switching_ns(cpu_time) : 0) + rest_ns;
        switches->spread_ns += rest_ns;
    }
    for (size_t p = 0; p < VM_PARTS; p++)
        switches->all_ns += switches->part_ns[p];
}

/*
 * The switches themselves, 1 to 4 us each, and less what a host kept.  The VM's parts are their threads and get theirs;
 * in which phases those of the application's threads were is not known: they have a row of their own.  Nor is it where
 * the host kept more than they took: that stays in the phases, for no row can have less than no time.
 */
static void add_switches(const struct report_source *source, struct shares *shares)
{
    double ns_per_tick = report_ns(source, 1);
    compute_switches(source, &shares->switches);
    if (!shares->switches.are_known || source->clock != PHASES_CPU || !(ns_per_tick > 0))
        return;
    for (size_t p = 0; p < VM_PARTS; p++) {
        int64_t ticks = (int64_t)(shares->switches.part_ns[p] / ns_per_tick), had = (int64_t)shares->part_ticks[p];
        ticks = ticks < -had ? -had : ticks;
        shares->kept_ticks += ticks < 0 ? (uint64_t)-ticks : 0;
        if (p == VM_PART_APPLICATION && ticks < 0)
            continue;
        if (p == VM_PART_APPLICATION)
            shares->switch_ticks = (uint64_t)ticks;
        else
            shares->part_ticks[p] = (uint64_t)(had + ticks);
        shares->all_ticks += (uint64_t)ticks;
    }
}

/* What the kernel charges to the process and no thread was seen to have: above all, taking it down. */
static void add_kernel(const struct report_source *source, struct shares *shares)
{
    double process_ns = report_process_cpu_ns(source), ns_per_tick = report_ns(source, 1);
    double ticks = ns_per_tick > 0 ? process_ns / ns_per_tick : 0;
    if (source->clock != PHASES_CPU || source->tree->cpu_is_wall || ticks <= (double)shares->all_ticks)
        return;
    shares->kernel_ticks = (uint64_t)ticks - shares->all_ticks;
    shares->all_ticks += shares->kernel_ticks;
}

static void add_measured(const struct report_source *source, struct shares *shares)
{
    add_threads(source, shares);
    add_switches(source, shares);
    add_kernel(source, shares);
}

static void add_part_metrics(const struct report_source *source, struct shares *shares)
{
    const struct calltree *tree = source->tree;
    for (size_t p = 0; tree->n_metrics > 0 && p < VM_PARTS; p++) {
        shares->part_metrics[p] = arena_alloc(source->arena, tree->n_metrics * sizeof **shares->part_metrics);
    }
    shares->all_metrics = arena_alloc(source->arena, (tree->n_metrics + 1) * sizeof *shares->all_metrics);
    for (uint32_t i = 0; i < tree->n_roots; i++)
        for (size_t m = 0; m < tree->n_metrics; m++) {
            uint64_t n = calltree_total_metrics(tree, tree->roots[i].node)[m];
            shares->part_metrics[tree->roots[i].part][m] += n;
            shares->all_metrics[m] += n;
        }
}

/* The row of each context: its method's, or else its caller's. */
static uint32_t *find_owners(const struct calltree *tree, const uint32_t *row_of)
{
    uint32_t *owner = xmalloc(((size_t)tree->n_nodes + 1) * sizeof *owner);
    for (uint32_t i = 0; i < tree->n_nodes; i++)
        owner[i] = NOT_OURS;
    for (uint32_t i = 0; i < tree->n_roots; i++)
        if (tree->roots[i].part == VM_PART_APPLICATION)
            owner[tree->roots[i].node] = NOT_IN_ROW;
    /* Callers come before callees in the array. */
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        const struct calltree_node *node = &tree->nodes[i];
        if (node->parent == i)
            continue;
        uint32_t row = node->method < tree->n_methods ? row_of[node->method] : CALLTREE_NONE;
        bool is_ours = owner[node->parent] != NOT_OURS;
        owner[i] = is_ours && row != CALLTREE_NONE ? row : owner[node->parent];
    }
    return owner;
}

/* What the application did before anything was recorded of it is nobody's, unless samples tell. */
static void split_outside(const struct report_source *source, struct shares *shares)
{
    if (source->sampled != NULL)
        return;
    double part = recorded_before_probes(source->tree, source->clock == PHASES_WALL);
    uint64_t ticks = (uint64_t)(part * (double)shares->part_ticks[VM_PART_APPLICATION]);
    shares->before_ticks = ticks < shares->outside_ticks ? ticks : shares->outside_ticks;
    shares->outside_ticks -= shares->before_ticks;
}

void shares_compute(const struct report_source *source, const uint32_t *row_of, size_t n_rows, struct shares *shares)
{
    const struct calltree *tree = source->tree;
    uint64_t listed_ticks = 0;
    memset(shares, 0, sizeof *shares);
    uint32_t *owner = find_owners(tree, row_of);
    shares->self_ticks = arena_alloc(source->arena, (n_rows + 1) * sizeof *shares->self_ticks);
    shares->outside_metrics = arena_alloc(source->arena, (tree->n_metrics + 1) * sizeof *shares->outside_metrics);
    add_part_metrics(source, shares);
    if (source->sampled != NULL && trace_samples_are_all(source->reader))
        add_samples(source, shares);
    else if (source->sampled != NULL && source->sampled->thread_ticks != NULL)
        add_waiting(source, shares);
    else
        add_measured(source, shares);
    shares->outside_ticks = shares->part_ticks[VM_PART_APPLICATION];
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        uint64_t ticks = report_own_ticks(source, i);
        shares->outside_cpu_ticks += owner[i] == NOT_IN_ROW ? tree->nodes[i].cpu_ticks : 0;
        for (size_t m = 0; owner[i] == NOT_IN_ROW && m < tree->n_metrics; m++)
            shares->outside_metrics[m] += calltree_metrics(tree, i)[m];
        if (owner[i] < n_rows) {
            shares->self_ticks[owner[i]] += ticks;
            shares->outside_ticks -= ticks;
        }
        listed_ticks += owner[i] == NOT_OURS ? 0 : ticks;
    }
    free(owner);
    if (source->only_threads && listed_ticks < shares->part_ticks[VM_PART_APPLICATION]) {
        shares->other_ticks = shares->part_ticks[VM_PART_APPLICATION] - listed_ticks;
        shares->outside_ticks -= shares->other_ticks;
        return;
    }
    split_outside(source, shares);
}
