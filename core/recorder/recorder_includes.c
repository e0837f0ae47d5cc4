/*
 * Patterns of --include that match nothing: a mistyped name is told at once, not by an empty trace.  Where others
 * match, it may be one of classes that are loaded later: then it is told at the end.
 */
#include "core/base/text.h"
#include "core/recorder/metadata.h"

/* With dots only, all of a pattern is a class: is what stands before the last one the nearest? */
static bool is_method_behind_dots(const char *pattern, const char *nearest)
{
    const char *dot = strrchr(pattern, '.');
    size_t n = dot == NULL ? 0 : (size_t)(dot - pattern), i = 0;
    while (i < n && nearest[i] == (pattern[i] == '.' ? '/' : pattern[i]))
        i++;
    return n > 0 && i == n && nearest[i] == '\0' && strpbrk(pattern, "/#") == NULL;
}

/* Returns whether pattern i has matched nothing; why is in *err then. */
static bool is_unmatched(const struct recorder_plan *plan, const struct segment *segment, size_t i, struct err *err)
{
    const struct segment_include *told = &segment->includes[i];
    const char *pattern = plan->includes[i], *loaded = plan->pid != 0 ? "loaded class" : "class that was loaded";
    char nearest[sizeof told->nearest];
    text_utf8_into(nearest, sizeof nearest, told->nearest, strnlen(told->nearest, sizeof told->nearest));
    if (atomic_load(&told->has_class) == 0)
        err_set(err, "--include '%s' matches no %s", pattern, loaded);
    else if (atomic_load(&told->has_compared) != 0 && atomic_load(&told->has_method) == 0)
        err_set(err, "--include '%s' matches no method of the classes that it matches", pattern);
    else
        return false;
    if (told->distance != 0 && is_method_behind_dots(pattern, nearest))
        err_next(err, "did you mean --include '%.*s#%s'?", (int)(strrchr(pattern, '.') - pattern), pattern,
                 strrchr(pattern, '.') + 1);
    else if (told->distance != 0)
        err_next(err, "did you mean --include '%s'?", nearest);
    else
        err_next(err, "give a class as 'java/util/HashMap', perhaps with a method, as 'java/util/HashMap.get*', or as "
                      "'*/HashMap'");
    return true;
}

/* Matched, but nothing of it was large enough. */
static bool is_too_small(const struct recorder_plan *plan, const struct segment *segment, size_t i, struct err *err)
{
    const struct segment_include *told = &segment->includes[i];
    if (atomic_load(&told->has_method) == 0 || atomic_load(&told->has_wanted) != 0)
        return false;
    err_set(err, "--include '%s' matches only methods of %u bytes of bytecode or less, without loops",
            plan->includes[i], (unsigned)plan->min_bytecodes);
    err_next(err, "name its methods, as '%s#*', or give --min-bytecodes 0", plan->includes[i]);
    return true;
}

bool recorder_includes_nothing(const struct recorder_plan *plan, const struct segment *segment, bool *all,
                               struct err *err)
{
    struct err why, first = { "" };
    size_t n = 0, n_known = plan->n_includes < SEGMENT_INCLUDES ? plan->n_includes : SEGMENT_INCLUDES;
    for (size_t i = n_known; i-- > 0;)
        if (is_unmatched(plan, segment, i, &why) || (!plan->is_live && is_too_small(plan, segment, i, &why))) {
            n++;
            first = why;
        }
    if (plan->n_phases > 0) /* these are recorded, whatever the patterns are */
        n = 0;
    if (n > 0)
        *err = first;
    *all = n > 0 && n == plan->n_includes;
    return n > 0;
}
