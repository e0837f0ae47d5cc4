/*
 * Findings on methods that run interpreted: HotSpot does not compile them, or not for long; it discards what it made.
 *
 * What is interpreted at first only is the warm-up; what runs so in each third of the recording is not.
 */
#include "report/findings/findings_internal.h"

#include "report/sampled_tree.h"
#include "report/view/compiled.h"

#define HUGE_BYTES   8000u /* -XX:HugeMethodLimit, with -XX:+DontCompileHugeMethods: both defaults */
#define METHODS_MOST 2u
#define ALL_MOST     0.5 /* of all samples: with more the JVM runs with -Xint, or has just begun */
#define STEADY_LEAST 0.05
#define AGAIN_LEAST  3u   /* times that a method is deoptimized, and in each third of the recording */
#define INTERVAL_95  1.96 /* standard deviations */

/* A method's samples, with its call the innermost one. */
struct interpreted {
    double ns, all_ns; /* interpreted, and all */
    uint32_t code_bytes;
};

static uint32_t *own_calls(const struct findings_making *making, const struct calltree *tree, const void *unused)
{
    uint32_t *of = arena_alloc(making->source->arena, ((size_t)tree->n_nodes + 1) * sizeof *of);
    (void)unused;
    of[0] = CALLTREE_NONE;
    for (uint32_t i = 1; i < tree->n_nodes; i++)
        of[i] = tree->nodes[i].method;
    return of;
}

/* By method; the arena's.  *share: of all samples, how much was interpreted. */
static struct interpreted *interpreted_of(const struct findings_making *making, double *share)
{
    const struct report_source *source = making->source;
    const struct sampled_tree *sampled = source->sampled;
    struct interpreted *all = arena_alloc(source->arena, ((size_t)source->tree->n_methods + 1) * sizeof *all);
    double ns = 0, interpreted_ns = 0;
    for (size_t i = 0; i < sampled->samples->n_kept; i++) {
        const struct trace_kept_sample *sample = &sampled->samples->kept[i];
        uint32_t leaf = sampled->leaf[i];
        const struct trace_context *context = trace_context(source->reader, sample->context);
        if (leaf == CALLTREE_NONE || leaf == 0 || source->tree->nodes[leaf].method >= source->tree->n_methods)
            continue;
        struct interpreted *of = &all[source->tree->nodes[leaf].method];
        const struct trace_sampled_method *method =
            context == NULL ? NULL : trace_sampled_method(source->reader, context->method);
        bool is_one = sample->frame == TRACE_FRAME_INTERPRETED;
        of->code_bytes = method == NULL ? 0 : method->code_bytes;
        of->all_ns += (double)sample->weight_ns;
        of->ns += is_one ? (double)sample->weight_ns : 0;
        ns += (double)sample->weight_ns;
        interpreted_ns += is_one ? (double)sample->weight_ns : 0;
    }
    *share = ns > 0 ? interpreted_ns / ns : 0;
    return all;
}

static void add_interpreted(struct findings_making *making, const struct finding_rule *rule,
                            const struct interpreted *of, uint32_t method, uint64_t ticks, double error_all)
{
    struct arena *arena = making->source->arena;
    double part = of->all_ns > 0 ? of->ns / of->all_ns : 0;
    double share = (double)ticks / making->all_ticks * part, error = error_all * part;
    const char *label = findings_label(making, method), *shares = findings_share(making, share, error);
    const char *time = findings_time(making, share * making->cpu_ns);
    const char *why =
        of->code_bytes > HUGE_BYTES
            ? arena_printf(arena, "it has %" PRIu32 " bytes of bytecode, and HotSpot compiles 8000 at most: split it",
                           of->code_bytes)
            : "HotSpot cannot compile it, or discards its code again and again";
    const struct finding f = { .subject = label,
                               .text = arena_printf(arena, "%s runs interpreted for %s of the CPU time, %s: %s", label,
                                                    shares, time, why),
                               .view = arena_printf(arena, "callers=%s", label),
                               .cost_ns = share * making->cpu_ns,
                               .share = share,
                               .low = share - error,
                               .high = share + error };
    if ((of->code_bytes > HUGE_BYTES || f.low > STEADY_LEAST) && findings_add(making, rule, &f))
        findings_tell(making, &(struct findings_told){ .counted = own_calls, .method = method });
}

void findings_of_interpreted(struct findings_making *making, const struct finding_rule *rule)
{
    struct findings_sums sums;
    double all_share;
    if (!making->has_cpu_time || making->source->sampled == NULL)
        return;
    const struct interpreted *all = interpreted_of(making, &all_share);
    findings_sum(making, own_calls, NULL, &sums);
    for (uint32_t i = 0; i < METHODS_MOST;) {
        uint32_t most = findings_most(making, &sums);
        const struct interpreted *of = &all[most];
        if (sums.ticks[most] == 0)
            break;
        if (of->code_bytes > HUGE_BYTES || (all_share < ALL_MOST && findings_is_steady(making, &sums, most, true))) {
            add_interpreted(making, rule, of, most, sums.ticks[most], sums.errors[most]);
            i++;
        }
        sums.ticks[most] = 0;
    }
}

/* ---- deoptimized ---- */

/* Methods whose code is discarded again and again, together; first: the one with most time not in C2's code. */
struct deoptimized {
    const struct compiled_row *first;
    uint32_t n;
    uint64_t n_discarded, n_compiled, n_all_compiled; /* n_all_compiled: other methods, too */
    double ns;
};

static bool is_again(const struct compiled_row *row)
{
    bool is = row->n_discarded >= AGAIN_LEAST;
    for (uint32_t i = 0; i < COMPILED_PERIODS; i++)
        is = is && row->discarded_in[i] > 0;
    return is;
}

static struct deoptimized deoptimized_of(const struct compiled_rows *rows)
{
    struct deoptimized found = { 0 };
    for (size_t i = 0; i < rows->n_rows; i++) {
        const struct compiled_row *row = &rows->all[i];
        found.n_all_compiled += row->n_compiled;
        if (!is_again(row))
            continue;
        found.first = found.first == NULL ? row : found.first;
        found.n++;
        found.n_discarded += row->n_discarded;
        found.n_compiled += row->n_compiled;
        found.ns += row->ns[COMPILED_NOT] + row->ns[COMPILED_C1];
    }
    return found;
}

static const char *words_of(const char *reason)
{
    static const char *const words[][2] = {
        { "unstable", "a branch that was never taken before is taken" },
        { "class_check", "an object has a class that was never seen there" },
        { "bimorphic", "a call meets a third class" },
        { "speculate", "an object is not what it was so far" },
        { "null_", "a reference is null, or not, for the first time" },
        { "range_check", "an index is out of range" },
        { "predicate", "a loop's bounds are not what they were so far" },
        { "loop_limit", "a loop's bounds are not what they were so far" },
        { "unloaded", "a class was not loaded when it was compiled" },
        { "uninitialized", "a class was not initialized when it was compiled" },
        { "unreached", "code that was never reached is reached" },
        { "unhandled", "an exception goes where none has gone" },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(reason, words[i][0]) != NULL)
            return words[i][1];
    return "what the compiler assumed is not so";
}

/* No other finding is to tell of a method that is slow for most of its time. */
static void tell_deoptimized(struct findings_making *making, const struct compiled_rows *rows)
{
    const struct report_source *source = making->source;
    for (size_t i = 0; i < rows->n_rows; i++) {
        const struct compiled_row *row = &rows->all[i];
        if (!is_again(row) || row->ns[COMPILED_NOT] + row->ns[COMPILED_C1] < row->all_ns / 2)
            continue;
        for (uint32_t k = 0; source->sampled != NULL && k < source->tree->n_methods; k++)
            if (source->sampled->number_of[k] == row->method)
                findings_tell(making, &(struct findings_told){ .counted = own_calls, .method = k });
    }
}

/* "Storms.faulty and 2 other methods are" */
static const char *who_is(const struct findings_making *making, const struct deoptimized *found, const char *label)
{
    struct arena *arena = making->source->arena;
    return found->n == 1 ? arena_printf(arena, "%s is", label)
                         : arena_printf(arena, "%s and %" PRIu32 " other method%s are", label, found->n - 1,
                                        found->n == 2 ? "" : "s");
}

/* The recording's own changes of classes discard code without a trap. */
void findings_of_deoptimized(struct findings_making *making, const struct finding_rule *rule)
{
    const struct view_pass *pass = making->pass;
    struct arena *arena = making->source->arena;
    struct compiled_rows rows;
    if (!making->has_cpu_time || pass == NULL || pass->n_code_changes == 0)
        return;
    compiled_find(pass, &rows);
    const struct deoptimized found = deoptimized_of(&rows);
    if (found.n == 0 || 2 * rows.n_traps < found.n_discarded)
        return;
    double share = found.ns / rows.all_ns, error = INTERVAL_95 * sqrt(share * (1 - share) / (double)rows.n);
    double c2_share = report_ns(making->source, making->shares.part_ticks[VM_PART_C2]) / making->cpu_ns;
    const char *label = trace_samples_labels(&pass->samples, arena)[found.first->method], *most;
    const char *reasons = compiled_reasons(pass, found.first->n_traps > 0 ? found.first->method : CALLTREE_NONE, &most);
    const struct finding f = {
        .subject = label,
        .text = arena_printf(arena,
                             "%s deoptimized again and again, %" PRIu64 " times (%s: %s), and so interpreted or in "
                             "C1's code for %s of the CPU time, %s; %" PRIu64 " of %" PRIu64
                             " compilations by C2, which takes %.0f %%",
                             who_is(making, &found, label), found.n_discarded, reasons, words_of(most),
                             findings_share(making, share, error), findings_time(making, share * making->cpu_ns),
                             found.n_compiled, found.n_all_compiled, c2_share * 100),
        .view = "jit",
        .cost_ns = share * making->cpu_ns,
        .share = share,
        .low = share - error,
        .high = share + error
    };
    if (findings_add(making, rule, &f))
        tell_deoptimized(making, &rows);
}
