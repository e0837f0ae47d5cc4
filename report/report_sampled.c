/*
 * The report's rows of methods that have no probes and that stack samples saw: their shares with intervals, and why
 * they have none.
 */
#include "report/report_internal.h"
#include "report/sample_cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_LEAST    10 /* also where phases take all rows */
#define SAMPLED_LEAST 2
#define OWN_CLASSES   "java/lang/Mmprof" /* the probes' own frames */

/* What the recorder said nothing of: the samples' contexts tell in which phases a method was. */
struct unlisted {
    struct making *making;
    const struct trace_reader *reader;
    uint64_t *all_ns;    /* by context: with its callees */
    uint32_t *row;       /* by sampled method: its phase, or NO_ROW */
    double *within_ns;   /* scratch, by phase; the last one is of no phase */
    double *phase_share; /* by phase: the report's share by that of its samples */
};

#define NO_ROW UINT32_MAX

static bool is_same(const struct java_name *a, const struct trace_sampled_method *b)
{
    return strcmp(a->method, b->name) == 0 && strcmp(a->class_name, b->class_name) == 0 &&
           strcmp(a->descriptor, b->descriptor) == 0;
}

/* What samples say of a phase, and its probes. */
static double share_ratio(const struct making *making, size_t row, uint32_t method)
{
    const struct calltree_total *total = making->rows[row];
    double ticks = (double)phases_total_ticks(total, PHASES_CPU), all = (double)making->shares.all_ticks;
    struct recorded recorded = report_recorded(making->source, total->method);
    recorded_hold(&recorded, ticks, all);
    const struct trace_samples *samples = making->wish->samples;
    double sampled = sample_profile_total(&samples->profile, trace_samples_method(samples, method)).share;
    return recorded.share > 0 && all > 0 && sampled > 0 ? ticks / (recorded.share * all) / sampled : 1;
}

static bool prepare(struct unlisted *u)
{
    struct making *making = u->making;
    struct arena *arena = making->source->arena;
    uint32_t n = trace_n_contexts(u->reader), n_methods = trace_n_sampled_methods(u->reader);
    u->all_ns = arena_alloc(arena, ((size_t)n + 1) * sizeof *u->all_ns);
    u->row = arena_alloc(arena, ((size_t)n_methods + 1) * sizeof *u->row);
    u->within_ns = arena_alloc(arena, (making->n_rows + 1) * sizeof *u->within_ns);
    u->phase_share = arena_alloc(arena, (making->n_rows + 1) * sizeof *u->phase_share);
    if (u->all_ns == NULL || u->row == NULL || u->within_ns == NULL || u->phase_share == NULL)
        return false;
    for (uint32_t i = n; i > 0; i--) {
        const struct trace_context *context = trace_context(u->reader, i);
        u->all_ns[i] += context->own_ns;
        u->all_ns[context->parent] += u->all_ns[i];
    }
    for (uint32_t i = 0; i < n_methods; i++) {
        const struct trace_sampled_method *method = trace_sampled_method(u->reader, i);
        u->row[i] = NO_ROW;
        for (size_t k = 0; k < making->n_rows && u->row[i] == NO_ROW; k++) {
            struct java_name name = report_name(making->source, making->rows[k]->method);
            if (is_same(&name, method))
                u->row[i] = (uint32_t)k;
        }
        if (u->row[i] != NO_ROW)
            u->phase_share[u->row[i]] = share_ratio(making, u->row[i], i);
    }
    u->phase_share[making->n_rows] = 1;
    return true;
}

static uint32_t method_of(const struct unlisted *u, uint32_t node)
{
    return trace_samples_method(u->making->wish->samples, trace_context(u->reader, node)->method);
}

/* The phase that calls a context, directly or not; n_rows: none.  is_again: so does its own method. */
static size_t phase_of(const struct unlisted *u, uint32_t node, bool *is_again)
{
    uint32_t method = method_of(u, node);
    size_t phase = u->making->n_rows;
    *is_again = false;
    for (node = trace_context(u->reader, node)->parent; node != 0; node = trace_context(u->reader, node)->parent) {
        uint32_t outer = method_of(u, node);
        *is_again = *is_again || outer == method;
        if (phase == u->making->n_rows && u->row[outer] != NO_ROW)
            phase = u->row[outer];
    }
    return phase;
}

/*
 * A method's share of the process' time: what part of a phase's samples it has, of that one's measured time, as
 * report/sampled.h has it.
 */
static double share_of(const struct unlisted *u, uint32_t method, double share)
{
    double all_ns = 0, ratio = 0;
    memset(u->within_ns, 0, (u->making->n_rows + 1) * sizeof *u->within_ns);
    for (uint32_t i = 1; i <= trace_n_contexts(u->reader); i++) {
        bool is_again;
        if (method_of(u, i) != method || u->all_ns[i] == 0)
            continue;
        size_t phase = phase_of(u, i, &is_again);
        u->within_ns[phase] += is_again ? 0 : (double)u->all_ns[i];
        all_ns += is_again ? 0 : (double)u->all_ns[i];
    }
    for (size_t i = 0; all_ns > 0 && i <= u->making->n_rows; i++)
        ratio += u->within_ns[i] / all_ns * u->phase_share[i];
    return ratio > 0 ? share * ratio : share;
}

static struct sampled *find_listed(struct sampled *all, size_t n, const struct trace_sampled_method *method)
{
    for (size_t i = 0; i < n; i++)
        if (is_same(&all[i].name, method))
            return &all[i];
    return NULL;
}

/* Is a method of the JDK on the stack in just the samples that another one of these has: does it only pass on? */
static bool is_beside_another(const struct unlisted *u, uint32_t method, const struct sampled *all, size_t n)
{
    struct sample_share total = sample_profile_total(&u->making->wish->samples->profile, method),
                        self = sample_profile_self(&u->making->wish->samples->profile, method);
    for (size_t i = 0; i < n && self.n_samples * 2 < total.n_samples; i++)
        if (all[i].n_samples == total.n_samples)
            return true;
    return false;
}

static void add_unlisted(struct unlisted *u, struct sampled *all, size_t *n)
{
    struct making *making = u->making;
    const struct sample_profile *profile = &making->wish->samples->profile;
    double least = making->wish->all ? 0 : making->wish->min_share;
    for (uint32_t i = 0; i < trace_n_sampled_methods(u->reader); i++) {
        const struct trace_sampled_method *method = trace_sampled_method(u->reader, i);
        if (trace_samples_method(making->wish->samples, i) != i)
            continue;
        struct sample_share total = sample_profile_total(profile, i);
        struct sampled *listed = find_listed(all, *n, method);
        if (listed != NULL && total.n_samples > 0) { /* one rule for all */
            listed->time_share = share_of(u, i, total.share);
            listed->n_samples = total.n_samples;
        }
        if (listed != NULL || total.n_samples < SAMPLED_LEAST || total.share < least || u->row[i] != NO_ROW ||
            strncmp(method->class_name, OWN_CLASSES, strlen(OWN_CLASSES)) == 0 || is_beside_another(u, i, all, *n))
            continue;
        all[(*n)++] = (struct sampled){ .name = { method->class_name, method->name, method->descriptor },
                                        .n_samples = total.n_samples,
                                        .why = method->code_bytes == 0 ? "native" : "not a candidate",
                                        .time_share = share_of(u, i, total.share) };
    }
}

static int by_time(const void *a, const void *b)
{
    const struct sampled *x = a, *y = b;
    if (x->time_share != y->time_share)
        return x->time_share < y->time_share ? 1 : -1;
    return strcmp(x->name.method, y->name.method);
}

/* Those that the recorder named, with its reasons, and what else has so much time. */
static int find_all(struct making *making, size_t *n, struct err *err)
{
    struct unlisted u = { .making = making, .reader = making->source->reader };
    struct sampled *listed;
    if (sampled_find(making->source, &listed, n, err) < 0)
        return -1;
    making->sampled =
        arena_alloc(making->source->arena, (*n + trace_n_sampled_methods(u.reader) + 1) * sizeof *making->sampled);
    if (making->sampled == NULL || (making->wish->samples != NULL && !prepare(&u)))
        return err_set(err, "out of memory for %u methods", trace_n_sampled_methods(u.reader));
    memcpy(making->sampled, listed, *n * sizeof *listed);
    if (making->wish->samples != NULL)
        add_unlisted(&u, making->sampled, n);
    qsort(making->sampled, *n, sizeof *making->sampled, by_time);
    return 0;
}

int report_choose_sampled(struct making *making, struct err *err)
{
    const struct report_wish *wish = making->wish;
    size_t n, n_kept = 0, top = SIZE_MAX;
    if (find_all(making, &n, err) < 0)
        return -1;
    if (wish->top > 0)
        top = wish->top > making->n_rows + ROWS_LEAST ? wish->top - making->n_rows : ROWS_LEAST;
    while (n_kept < n && n_kept < top && (wish->all || making->sampled[n_kept].time_share >= wish->min_share))
        n_kept++;
    making->n_sampled = n_kept;
    if (n_kept < n && n_kept == top)
        table_note(making->table,
                   arena_printf(making->source->arena,
                                "%zu methods more are known by samples only: --top 0 prints them", n - n_kept));
    return 0;
}

/* The number of a method among the trace's samples, or UINT32_MAX. */
static uint32_t find_method(const struct trace_samples *samples, const struct java_name *name)
{
    for (uint32_t i = 0; samples != NULL && i < trace_n_sampled_methods(samples->reader); i++) {
        const struct trace_sampled_method *method = trace_sampled_method(samples->reader, i);
        if (strcmp(method->name, name->method) == 0 && strcmp(method->class_name, name->class_name) == 0 &&
            strcmp(method->descriptor, name->descriptor) == 0)
            return i;
    }
    return UINT32_MAX;
}

/* The sampled share and its error, as a part of what the report says is the method's. */
static struct sample_share scaled(const struct sample_share *share, double factor)
{
    struct sample_share out = *share;
    out.share = share->share * factor;
    out.error = share->error * factor;
    return out;
}

static void fill_shares(const struct making *making, const struct sampled *one, struct table_cell *cells)
{
    const struct trace_samples *samples = making->wish->samples;
    const struct layout *at = &making->at;
    uint32_t method = find_method(samples, &one->name);
    cells[at->time] = table_number(one->time_share);
    if (method == UINT32_MAX)
        return;
    struct sample_share total = sample_profile_total(&samples->profile, method);
    struct sample_share self = sample_profile_self(&samples->profile, method);
    if (total.share <= 0)
        return;
    double factor = one->time_share / total.share;
    total = scaled(&total, factor);
    self = scaled(&self, factor);
    cells[at->time] = sample_cells_share(&total, making->source->arena);
    cells[at->self] = sample_cells_share(&self, making->source->arena);
    cells[at->time_error] = sample_cells_error(total.error);
    cells[at->self_error] = sample_cells_error(self.error);
}

static void fill_sampled(const struct making *making, const struct sampled *one, struct table_cell *cells)
{
    const struct layout *at = &making->at;
    struct arena *arena = making->source->arena;
    cells[at->label] = table_words(one->label);
    fill_shares(making, one, cells);
    cells[at->known_by] =
        table_words(arena_printf(arena, "%" PRIu64 " sample%s", one->n_samples, one->n_samples == 1 ? "" : "s"));
    cells[at->reason] = table_words(one->why);
    cells[at->class_name] = table_words(one->name.class_name);
    cells[at->method] = table_words(one->name.method);
    cells[at->descriptor] = table_words(one->name.descriptor);
}

/* "STATE SECONDS CALLS_PER_S NS WHY" of a method that was switched off: mmprof.trace(5). */
static const char *why_off(const struct making *making, uint32_t method)
{
    char key[48], state[16];
    snprintf(key, sizeof key, "live.method.%" PRIu32, method);
    const char *fact = trace_info(making->source->reader, key);
    if (fact == NULL || sscanf(fact, "%15s", state) != 1 || strcmp(state, "armed") == 0)
        return NULL;
    for (int i = 0; i < 4 && fact != NULL; i++) {
        fact = strchr(fact, ' ');
        fact = fact == NULL ? NULL : fact + 1;
    }
    return fact == NULL ? NULL : arena_printf(making->source->arena, "switched off: %s", fact);
}

int report_sampled_rows(struct making *making, struct err *err)
{
    struct table *table = making->table;
    bool any_off = false;
    for (size_t i = 0; i < making->n_rows; i++) { /* they are the table's first rows */
        const char *why = why_off(making, making->rows[i]->method);
        if (why != NULL)
            table->rows[i].cells[making->at.reason] = table_words(why);
        any_off = any_off || why != NULL;
    }
    if (any_off)
        table->columns[making->at.reason].not_in_text = false;
    for (size_t i = 0; i < making->n_sampled; i++) {
        struct table_cell *cells = table_row(table, "sampled");
        if (cells == NULL)
            return err_set(err, "out of memory for a table of %zu methods", making->n_sampled);
        fill_sampled(making, &making->sampled[i], cells);
    }
    if (making->n_sampled > 0)
        table_note(table, "rows known by samples have no probes: their calls are not known, and their time is part of "
                          "what phases that call them have in Self (%)");
    return 0;
}
