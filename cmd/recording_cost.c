#include "cmd/recording_cost.h"

#include "report/view/cost.h"

static void tell_part(const char *name, double ns, const struct cost_sums *sums, FILE *out)
{
    if (ns < 0)
        fprintf(out, ", %s not known", name);
    else
        fprintf(out, ", %s %.2f %%", name, ns / sums->cpu_ns * 100);
}

static void tell(const struct cost_sums *sums, const char *prefix, FILE *out)
{
    if (sums->cpu_ns <= 0)
        return;
    fprintf(out, "%scost, of the program's CPU time: probes %.2f %%", prefix, sums->probes_ns / sums->cpu_ns * 100);
    tell_part("the agent in the JVM", sums->agent_ns, sums, out);
    tell_part("mmprof's own process", sums->recorder_ns, sums, out);
    tell_part("IP sampling", sums->ip_samples_ns, sums, out);
    tell_part("recompilation", sums->compiling_ns, sums, out);
    fprintf(out, ": %.2f %% together%s\n", sums->all_ns / sums->cpu_ns * 100, sums->is_whole ? "" : " at least");
    if (sums->why_over != NULL)
        fprintf(out, "%sover the budget of %.2g %%: %s\n", prefix, sums->budget * 100, sums->why_over);
}

void recording_tell_cost(const char *path, const char *prefix, FILE *out)
{
    struct arena arena = { NULL, 0 };
    struct trace_reader *reader = NULL;
    struct calltree tree = { .n_nodes = 0 };
    struct cost_sums sums;
    struct err ignored; /* who reports it is told */
    if (trace_open(&reader, path, false, &ignored) == 0 &&
        calltree_build(reader, &(struct calltree_options){ 0 }, &tree, &ignored) == 0) {
        const struct report_source source = {
            .path = path, .reader = reader, .tree = &tree, .clock = report_clock(&tree, PHASES_CPU), .arena = &arena
        };
        if (cost_sums(&source, &sums, &ignored) == 0)
            tell(&sums, prefix, out);
    }
    calltree_free(&tree);
    trace_close(reader);
    arena_free(&arena);
}
