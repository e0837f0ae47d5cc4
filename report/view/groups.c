#include "report/view/groups_internal.h"

#include "report/sample_rows.h"
#include "report/some_threads.h"
#include "report/tree_view.h"
#include "report/view/allocations.h"
#include "report/wait_sites.h"

#define NONE         GROUPS_NONE
#define SEVERAL      (NONE - 1)
#define FROM_SAMPLES 0.01 /* of a row's time: with less from samples it was measured */

/* ---- what is one group ---- */

/* "com.shop" */
static const char *package_of(struct arena *arena, const struct method_name *name)
{
    const char *full = java_names_display(arena, name, JAVA_NAMES_FULL);
    size_t n = strlen(full), n_method = strlen(name->method) + 1;
    n = n > n_method ? n - n_method : 0;
    while (n > 0 && full[n - 1] != '.')
        n--;
    return n == 0 ? "(no package)" : arena_text(arena, full, n - 1);
}

static uint32_t row_of_method(struct groups_making *making, const struct method_name *name)
{
    static const struct method_name none;
    struct arena *arena = making->source->arena;
    const char *package;
    switch (making->found->by) {
    case GROUPS_BY_PACKAGE:
        package = package_of(arena, name);
        return groups_row_of_key(making, package, package, &none);
    case GROUPS_BY_METHOD:
        return java_names_is(arena, name, making->argument)
                   ? groups_row_of_key(making, method_name_text(arena, name), "", name)
                   : NONE;
    default:
        return NONE;
    }
}

/* Rows of methods that turn out to have nothing are left out at the end. */
static void know_methods(struct groups_making *making)
{
    const struct trace_reader *reader = making->source->reader;
    uint32_t n = making->source->tree->n_methods, n_sampled = trace_n_sampled_methods(reader);
    making->of_method = arena_alloc(making->source->arena, ((size_t)n + 1) * sizeof(uint32_t));
    making->of_sampled = arena_alloc(making->source->arena, ((size_t)n_sampled + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < n; i++) {
        struct method_name name = report_name(making->source, i);
        making->of_method[i] = row_of_method(making, &name);
    }
    for (uint32_t i = 0; i < n_sampled; i++)
        making->of_sampled[i] = row_of_method(making, &trace_sampled_method(reader, i)->names);
}

const char *groups_thread_pattern(struct arena *arena, const char *name)
{
    size_t n = strlen(name);
    while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
        n--;
    return name[n] == '\0' ? name : arena_printf(arena, "%.*s*", (int)n, name);
}

/* One of the application's, and asked for? */
static bool is_counted(const struct groups_making *making, uint32_t index)
{
    const struct trace_thread *thread = trace_thread(making->source->reader, index);
    return thread != NULL && vm_part_of(thread->comm) == VM_PART_APPLICATION &&
           threads_match(thread, making->pass->options.only_threads);
}

static void know_threads(struct groups_making *making)
{
    static const struct method_name none;
    struct arena *arena = making->source->arena;
    uint32_t n = making->found->by == GROUPS_BY_THREAD ? trace_n_threads(making->source->reader) : 0;
    making->of_thread = arena_alloc(arena, ((size_t)n + 1) * sizeof *making->of_thread);
    for (uint32_t i = 0; i < n; i++) {
        making->of_thread[i] = NONE;
        if (!is_counted(making, i))
            continue;
        const char *name = trace_thread(making->source->reader, i)->name;
        const char *pattern = groups_thread_pattern(arena, name);
        uint32_t row = groups_row_of_key(making, pattern, name, &none);
        making->of_thread[i] = row;
        if (++making->rows[row].n_threads > 1)
            making->rows[row].label = pattern;
    }
}

/* The row of a thread; NONE: it has none, or rows are not of threads. */
static uint32_t row_of_thread(const struct groups_making *making, uint32_t index)
{
    bool has_row = making->found->by == GROUPS_BY_THREAD && index < trace_n_threads(making->source->reader);
    return has_row ? making->of_thread[index] : NONE;
}

/* ---- time ---- */

static void add_context(const struct groups_making *making, uint32_t node, uint32_t number)
{
    const struct report_source *source = making->source;
    uint32_t method = source->tree->nodes[node].method;
    uint64_t calls = calltree_calls(source->tree, node);
    struct groups_row *row = &making->rows[number];
    bool is_ended = source->sampled != NULL && calls > 0 && source->sampled->is_ended[method];
    double ticks = (double)report_total_ticks(source, node);
    row->calls += (double)calls;
    if (calls > 0)
        row->called = row->called == NONE || row->called == method ? method : SEVERAL;
    if (groups_is_inside(making, node, number))
        return;
    row->all.ticks += ticks;
    row->probe_ticks += source->sampled == NULL ? ticks : is_ended ? 0 : (double)source->sampled->probe_ticks[node];
}

/* Contexts of the application; callers come before callees. */
static void add_contexts(struct groups_making *making)
{
    const struct calltree *tree = making->source->tree;
    bool *is_ours = arena_alloc(making->source->arena, (size_t)tree->n_nodes + 1);
    for (uint32_t i = 0; i < tree->n_roots; i++)
        is_ours[tree->roots[i].node] = tree->roots[i].part == VM_PART_APPLICATION;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        uint32_t method = tree->nodes[i].method;
        is_ours[i] = is_ours[tree->nodes[i].parent];
        if (is_ours[i] && method < tree->n_methods && making->of_method[method] != NONE)
            add_context(making, i, making->of_method[method]);
    }
}

/* Where there is nothing but samples, theirs is the threads' time. */
static void add_thread_times(const struct groups_making *making)
{
    const struct report_source *source = making->source;
    const struct trace_samples *samples = &making->pass->samples;
    bool are_all = source->sampled != NULL && trace_samples_are_all(source->reader);
    double ns_per_tick = source->tree->ns_per_tick > 0 ? source->tree->ns_per_tick : 1;
    size_t n = are_all ? samples->n_kept : source->tree->n_threads;
    for (size_t i = 0; i < n; i++) {
        uint32_t row = row_of_thread(making, are_all ? samples->kept[i].thread : (uint32_t)i);
        if (row != NONE)
            making->rows[row].all.ticks += are_all ? (double)samples->kept[i].weight_ns / ns_per_tick
                                                   : (double)shares_thread_ticks(source, (uint32_t)i);
    }
}

/* Own times, and what is in no row, are the report's. */
static void find_times(struct groups_making *making)
{
    struct groups *found = making->found;
    bool is_own = found->by == GROUPS_BY_THREAD || found->by == GROUPS_BY_REQUEST;
    add_contexts(making);
    shares_compute(making->source, making->of_method, making->n, &found->shares);
    if (found->by == GROUPS_BY_THREAD)
        add_thread_times(making);
    if (found->by == GROUPS_BY_REQUEST)
        groups_add_requests(making);
    found->rest.ticks = (double)found->shares.part_ticks[VM_PART_APPLICATION];
    found->total.ticks = (double)found->shares.all_ticks;
    for (uint32_t i = 0; i < making->n; i++) {
        struct groups_row *row = &making->rows[i];
        row->own.ticks = is_own ? row->all.ticks : (double)found->shares.self_ticks[i];
        found->rest.ticks -= row->own.ticks;
    }
    found->rest.ticks = found->rest.ticks < 1 ? 0 : found->rest.ticks; /* of ticks that were rounded */
}

/* Of packages and methods. */
static void find_errors(struct groups_making *making)
{
    const struct report_source *source = making->source;
    double all_ticks = making->found->total.ticks;
    struct sample_profile profile;
    if (source->sampled == NULL || making->found->by == GROUPS_BY_THREAD)
        return;
    if (making->found->by == GROUPS_BY_REQUEST) {
        groups_errors_of_nodes(making, making->request_of_node);
        return;
    }
    sample_rows_profile(source, making->of_method, &profile);
    for (uint32_t i = 0; i < making->n; i++) {
        struct groups_row *row = &making->rows[i];
        struct sample_share total = sample_profile_total(&profile, i), self = sample_profile_self(&profile, i);
        double estimated = row->all.ticks - sampled_measured(source, row->probe_ticks);
        row->n_samples = (double)total.n_samples;
        if (estimated > FROM_SAMPLES * row->all.ticks)
            row->time_error = sample_rows_error(&total, estimated, all_ticks);
        row->self_error =
            row->own.ticks < row->all.ticks ? sample_rows_error(&self, row->own.ticks, all_ticks) : row->time_error;
    }
    sample_profile_free(&profile);
}

/* ---- waits and allocations ---- */

static void add_sums(struct group_sums *to, const struct group_sums *sums)
{
    to->waited_ns += sums->waited_ns;
    to->idle_ns += sums->idle_ns;
    to->bytes += sums->bytes;
}

/* To a row, if there is one: once for each stack, and the innermost row's own.  Returns whether some had it. */
static bool add_to_row(struct groups_making *making, uint32_t number, const struct group_sums *sums,
                       enum trace_cause cause, bool has_own)
{
    struct groups_row *row = number == NONE ? NULL : &making->rows[number];
    if (row == NULL)
        return has_own;
    if (!has_own)
        add_sums(&row->own, sums);
    if (row->latest == making->n_counted)
        return true;
    add_sums(&row->all, sums);
    row->cause_ns[cause] += sums->waited_ns;
    row->latest = making->n_counted;
    return true;
}

/* A wait or an allocation: to its thread's row, or those that its stack is in. */
static void add_to_rows(struct groups_making *making, uint32_t thread, uint32_t context, const struct group_sums *sums,
                        enum trace_cause cause)
{
    const struct trace_reader *reader = making->source->reader;
    making->n_counted++;
    bool has_own = add_to_row(making, row_of_thread(making, thread), sums, cause, false);
    has_own = add_to_row(making, groups_request(making, context), sums, cause, has_own);
    for (; context != 0; context = trace_context(reader, context)->parent) {
        has_own = add_to_row(making, making->of_sampled[trace_context(reader, context)->method], sums, cause, has_own);
        if (making->caller_of_context != NULL)
            add_to_row(making, making->caller_of_context[context], sums, cause, true);
    }
    if (!has_own)
        add_sums(&making->found->rest, sums);
    add_sums(&making->found->total, sums);
}

static void add_waits(struct groups_making *making)
{
    const struct view_pass *pass = making->pass;
    making->found->has_waits = pass->n_kept_waits > 0;
    for (size_t i = 0; i < pass->n_kept_waits; i++) {
        const struct trace_wait *wait = &pass->kept_waits[i];
        if (wait->cause == TRACE_CAUSE_ON_CPU || !is_counted(making, wait->thread) ||
            !threads_count_wait(making->source->reader, wait))
            continue;
        bool is_idle = trace_cause_may_be_idle(wait->cause) && wait_sites_find(pass->sites, wait->context)->is_idle;
        double ns = (double)wait->weight_ns;
        const struct group_sums sums = { .waited_ns = is_idle ? 0 : ns, .idle_ns = is_idle ? ns : 0 };
        add_to_rows(making, wait->thread, wait->context, &sums, wait->cause);
    }
}

/* As parts of what the JVM counted, as the view 'allocations' has them. */
static void add_allocations(struct groups_making *making)
{
    const struct view_pass *pass = making->pass;
    struct allocations all;
    struct err none;
    making->found->has_allocations = allocations_find(pass, ALLOCATIONS_BY_CLASS, &all, &none) == 0;
    if (!making->found->has_allocations)
        return;
    double scale = all.jvm_bytes > 0 && all.sampled_bytes > 0 ? all.jvm_bytes / all.sampled_bytes : 1;
    for (size_t i = 0; i < pass->n_allocations; i++) {
        const struct trace_allocation *of = &pass->allocations[i];
        if (!threads_match(trace_thread(pass->reader, of->thread), pass->options.only_threads))
            continue;
        const struct group_sums sums = { .bytes = scale * trace_allocation_objects(of) * (double)of->size_bytes };
        add_to_rows(making, of->thread, of->context, &sums, TRACE_CAUSE_UNKNOWN);
    }
}

/* ---- the rows ---- */

static int by_order(const void *a, const void *b)
{
    const struct groups_row *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? 1 : -1;
    if (x->method != y->method)
        return x->method < y->method ? -1 : 1;
    if (x->caller_of != y->caller_of)
        return x->caller_of == NONE ? -1 : 1;
    if (x->caller_of != NONE && x->all.ticks != y->all.ticks)
        return x->all.ticks < y->all.ticks ? 1 : -1;
    return x->all.waited_ns != y->all.waited_ns ? (x->all.waited_ns < y->all.waited_ns ? 1 : -1)
                                                : strcmp(x->label, y->label);
}

static void label_methods(struct groups_making *making)
{
    struct arena *arena = making->source->arena;
    const struct statistics *calls = making->pass->statistics;
    double ns = report_ns(making->source, 1);
    struct method_name *names = arena_alloc(arena, ((size_t)making->n + 1) * sizeof *names);
    size_t n_methods = 0;
    for (uint32_t i = 0; i < making->n; i++)
        if (making->rows[i].caller_of == NONE) /* those come first */
            names[n_methods++] = making->rows[i].name;
    const char **labels = java_names_labels(arena, names, n_methods);
    for (uint32_t i = 0; i < making->n; i++) {
        struct groups_row *row = &making->rows[i];
        if (row->caller_of == NONE)
            row->label = labels[i];
        if (calls == NULL || row->called == NONE || row->called == SEVERAL)
            continue;
        row->p50 = statistics_quantile(calls, row->called, 0.5) * ns;
        row->p99 = statistics_quantile(calls, row->called, 0.99) * ns;
        row->longest = statistics_longest(calls, row->called) * ns;
    }
}

/* Those that have anything, in their order. */
static void keep_rows(struct groups_making *making)
{
    struct groups *found = making->found;
    double ns = report_ns(making->source, 1);
    found->rows = arena_alloc(making->source->arena, ((size_t)making->n + 1) * sizeof *found->rows);
    if (found->by == GROUPS_BY_METHOD || found->by == GROUPS_BY_REQUEST)
        label_methods(making);
    for (uint32_t i = 0; i < making->n; i++) {
        struct groups_row *row = &making->rows[i];
        row->method = row->caller_of == NONE ? i : row->caller_of;
        row->order = found->by == GROUPS_BY_PACKAGE ? row->own.ticks : making->rows[row->method].all.ticks;
        if (found->by == GROUPS_BY_REQUEST && ns > 0) /* what its callers wait for */
            row->order += row->all.waited_ns / ns;
        if (row->all.ticks > 0 || row->all.waited_ns > 0 || row->all.idle_ns > 0 || row->all.bytes > 0 ||
            row->calls > 0 || row->n_threads > 0)
            found->rows[found->n++] = *row;
    }
    qsort(found->rows, found->n, sizeof *found->rows, by_order);
}

static int make(struct groups_making *making, struct err *err)
{
    uint32_t *methods;
    size_t n;
    know_methods(making);
    if (making->found->by == GROUPS_BY_REQUEST)
        groups_know_requests(making);
    know_threads(making);
    find_times(making);
    find_errors(making);
    bool has_callers = making->found->by == GROUPS_BY_METHOD && trace_samples_are_all(making->source->reader);
    if (has_callers && making->source->sampled != NULL)
        groups_add_callers(making);
    add_waits(making);
    add_allocations(making);
    keep_rows(making);
    bool is_none = making->found->by == GROUPS_BY_METHOD && making->found->n == 0;
    return is_none ? tree_view_find(making->source, making->argument, &methods, &n, err) : 0; /* what is named alike */
}

int groups_find(const struct view_pass *pass, const struct report_source *source, const char *argument,
                struct groups *groups, struct err *err)
{
    struct groups_making making = {
        .pass = pass, .source = source, .argument = argument, .found = groups, .known.arena = source->arena
    };
    *groups = (struct groups){ .by = GROUPS_BY_METHOD };
    if (argument[0] == '\0' || strcmp(argument, "package") == 0)
        groups->by = GROUPS_BY_PACKAGE;
    else if (strcmp(argument, "thread") == 0)
        groups->by = GROUPS_BY_THREAD;
    else if (strcmp(argument, "request") == 0)
        groups->by = GROUPS_BY_REQUEST;
    int rc = make(&making, err);
    map_free(&making.known);
    free(making.rows);
    return rc;
}
