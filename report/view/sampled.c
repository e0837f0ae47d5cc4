#include "report/view/sampled.h"

#include "core/trace/recording_info.h"

const char *sampled_why_text(const char *word, double compiling_ns, struct arena *arena)
{
    char ns[64];
    if (strcmp(word, "none") == 0)
        return "no retransformation since it was sampled";
    if (strcmp(word, "loop") == 0)
        return "a hot loop of its class is running";
    if (strcmp(word, "kept") == 0)
        return "its class could not be instrumented";
    if (strcmp(word, "spared") == 0)
        return "all compiled code would be discarded";
    if (strcmp(word, "archive") == 0)
        return "the JVM writes a class archive";
    if (strcmp(word, "left") == 0)
        return "small, native or excluded";
    if (strcmp(word, "short") == 0)
        return "its calls are too short";
    if (strcmp(word, "dear") != 0)
        return "no probes";
    if (compiling_ns <= 0)
        return "over budget";
    table_format_ns(compiling_ns, ns, sizeof ns);
    return arena_printf(arena, "over budget: recompilation would take %s", ns);
}

static bool parse(const struct report_source *source, uint32_t i, struct sampled *sampled)
{
    struct info_live_sampled told;
    size_t n = info_read(source->reader, INFO_LIVE_SAMPLED, i, source->arena, &told);
    sampled->name = told.names;
    sampled->why = sampled_why_text(n < INFO_SAMPLED_REASON ? "" : told.why, told.recompilation_ns, source->arena);
    return n >= INFO_SAMPLED_FORMER;
}

size_t sampled_find(const struct report_source *source, struct sampled **all)
{
    uint32_t n_all = info_count(source->reader, INFO_LIVE_SAMPLED);
    size_t n = 0;
    *all = arena_alloc(source->arena, ((size_t)n_all + 1) * sizeof **all);
    for (uint32_t i = 0; i < n_all; i++)
        n += parse(source, i, &(*all)[n]);
    return n;
}

uint32_t sampled_had_probes(const struct report_source *source, const struct method_name *name)
{
    struct info_live_method told;
    for (uint32_t i = 0; i < trace_n_methods(source->reader); i++) {
        const struct trace_method *of = trace_method(source->reader, i);
        if (of != NULL && method_name_equals(&of->names, name) &&
            info_read(source->reader, INFO_LIVE_METHOD, i, source->arena, &told) > 0)
            return i;
    }
    return CALLTREE_NONE;
}

const char *sampled_why_off(const struct report_source *source, uint32_t method)
{
    struct info_live_method told;
    size_t n = info_read(source->reader, INFO_LIVE_METHOD, method, source->arena, &told);
    return n < 5 || strcmp(told.state, INFO_STATE_ENABLED) == 0
               ? NULL
               : arena_printf(source->arena, "switched off: %s", told.why);
}
