/*
 * Findings on methods that run interpreted: HotSpot does not compile them, or not for long.
 *
 * What is interpreted at first only is the warm-up; what runs so in each third of the recording is not.
 */
#include "report/findings/findings_internal.h"

#include "report/sampled_tree.h"

#define HUGE_BYTES   8000u /* -XX:HugeMethodLimit, with -XX:+DontCompileHugeMethods: both defaults */
#define METHODS_MOST 2u
#define ALL_MOST     0.5 /* of all samples: with more the JVM runs with -Xint, or has just begun */
#define STEADY_LEAST 0.05

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
