/* CPU time by whose it is, with the interval that samples leave. */
#include "report/findings/findings_internal.h"

#include "report/sample_rows.h"

#include "report/sampled_tree.h"

#define PERIODS      3u
#define PERIOD_LEAST 0.2  /* of a method's samples, in each third of the recording */
#define FROM_SAMPLES 0.01 /* of a method's time: with less from samples it was measured */

void findings_tell(struct findings_making *making, const struct findings_told *told)
{
    if (making->n_told == making->told_room) {
        size_t room = making->told_room == 0 ? 8 : 2 * making->told_room;
        struct findings_told *all = arena_alloc(making->source->arena, room * sizeof *all);
        if (making->n_told > 0)
            memcpy(all, making->told, making->n_told * sizeof *all);
        making->told = all;
        making->told_room = room;
    }
    making->told[making->n_told++] = *told;
}

/* Are a method's objects of a class those of exceptions that a finding has told of?  Stack traces are arrays. */
bool findings_tells_objects(const struct findings_making *making, const struct method_name *method, const char *of)
{
    for (size_t i = 0; i < making->n_told; i++) {
        const struct findings_told *told = &making->told[i];
        struct method_name thrower = report_name(making->source, told->method);
        if (told->exception == NULL || of == NULL)
            continue;
        if ((of[0] == '[' && method_name_equals(&thrower, method)) ||
            (strcmp(method->method, "<init>") == 0 && strcmp(method->class_name, told->exception) == 0))
            return true;
    }
    return false;
}

static void sum(const struct findings_making *making, const struct calltree *tree, findings_counted_fn *counted,
                const void *context, struct findings_sums *sums)
{
    struct arena *arena = making->source->arena;
    size_t n = (size_t)making->source->tree->n_methods + 1;
    bool *is_ours = findings_ours(making, tree);
    *sums = (struct findings_sums){ .of = counted(making, tree, context),
                                    .ticks = arena_alloc(arena, n * sizeof *sums->ticks),
                                    .errors = arena_alloc(arena, n * sizeof *sums->errors),
                                    .heaviest = arena_alloc(arena, n * sizeof *sums->heaviest) };
    for (size_t i = 0; i < making->n_told; i++) {
        const struct findings_told *told = &making->told[i];
        const uint32_t *of = told->counted(making, tree, told->context);
        for (uint32_t j = 1; j < tree->n_nodes; j++)
            sums->of[j] = of[j] == told->method ? CALLTREE_NONE : sums->of[j];
    }
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        uint32_t method = sums->of[i];
        if (!is_ours[i] || method >= n - 1) {
            sums->of[i] = CALLTREE_NONE;
            continue;
        }
        uint32_t heaviest = sums->heaviest[method];
        sums->ticks[method] += tree->nodes[i].cpu_ticks;
        if (heaviest == 0 || tree->nodes[heaviest].cpu_ticks < tree->nodes[i].cpu_ticks)
            sums->heaviest[method] = i;
    }
}

/* Each sample is the time of one method. */
static void add_samples(const struct findings_making *making, const struct findings_sums *sums,
                        struct sample_profile *profile)
{
    const struct sampled_tree *sampled = making->source->sampled;
    for (size_t i = 0; i < sampled->samples->n_kept; i++) {
        const struct trace_kept_sample *sample = &sampled->samples->kept[i];
        uint32_t leaf = sampled->leaf[i];
        uint32_t method = leaf == CALLTREE_NONE || leaf == 0 ? CALLTREE_NONE : sums->of[leaf];
        const struct profile_sample add = { .time_ns = sample->ticks == TRACE_UNKNOWN ? 0 : sample->ticks,
                                            .ns = sample->weight_ns,
                                            .n = method != CALLTREE_NONE ? 1 : 0,
                                            .methods = &method };
        sample_profile_add(profile, &add);
    }
}

/* Samples tell of what differs from what probes alone say, which exact has: that is no estimate. */
static void set_errors(const struct findings_making *making, const struct findings_sums *exact,
                       const struct sample_profile *profile, struct findings_sums *sums)
{
    for (uint32_t i = 0; i < making->source->tree->n_methods; i++) {
        double ticks = (double)sums->ticks[i], from_samples = fmin(fabs(ticks - (double)exact->ticks[i]), ticks);
        struct sample_share share = sample_profile_self(profile, i);
        if (from_samples > FROM_SAMPLES * ticks)
            sums->errors[i] = share.n_samples > 0 ? share.error / share.share * from_samples / making->all_ticks : NAN;
    }
}

void findings_sum(const struct findings_making *making, findings_counted_fn *counted, const void *context,
                  struct findings_sums *sums)
{
    const struct sampled_tree *sampled = making->source->sampled;
    struct findings_sums exact;
    struct sample_profile profile;
    sum(making, making->source->tree, counted, context, sums);
    if (sampled == NULL)
        return;
    sample_rows_open(making->source, &profile);
    sum(making, sampled->ended, counted, context, &exact);
    add_samples(making, sums, &profile);
    set_errors(making, &exact, &profile, sums);
    sample_profile_free(&profile);
}

uint32_t *findings_own_code(const struct findings_making *making, const struct calltree *tree, const void *unused)
{
    uint32_t *owner = findings_owners(making, tree);
    (void)unused;
    for (uint32_t i = 1; i < tree->n_nodes; i++)
        owner[i] = owner[i] != CALLTREE_NONE ? owner[i] : tree->nodes[i].method;
    return owner;
}

uint32_t findings_most(const struct findings_making *making, const struct findings_sums *sums)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < making->source->tree->n_methods; i++)
        most = sums->ticks[i] > sums->ticks[most] ? i : most;
    return most;
}

static uint32_t period_of(const struct calltree *tree, uint64_t ticks)
{
    uint64_t length = (tree->end_ticks - tree->start_ticks) / PERIODS;
    if (ticks == TRACE_UNKNOWN || ticks < tree->start_ticks || length == 0)
        return 0;
    return ticks - tree->start_ticks < length * PERIODS ? (uint32_t)((ticks - tree->start_ticks) / length)
                                                        : PERIODS - 1;
}

bool findings_is_steady(const struct findings_making *making, const struct findings_sums *sums, uint32_t method,
                        bool is_interpreted)
{
    const struct sampled_tree *sampled = making->source->sampled;
    uint64_t n[PERIODS] = { 0 }, n_all = 0;
    for (size_t i = 0; sampled != NULL && i < sampled->samples->n_kept; i++) {
        const struct trace_kept_sample *sample = &sampled->samples->kept[i];
        uint32_t leaf = sampled->leaf[i];
        if (leaf == CALLTREE_NONE || leaf == 0 || sums->of[leaf] != method ||
            (is_interpreted && sample->frame != TRACE_FRAME_INTERPRETED))
            continue;
        n[period_of(making->source->tree, sample->ticks)] += sample->n;
        n_all += sample->n;
    }
    bool is = n_all > 0;
    for (uint32_t i = 0; i < PERIODS; i++)
        is = is && (double)n[i] >= PERIOD_LEAST * (double)n_all;
    return is;
}
