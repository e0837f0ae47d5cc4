#include "phases/live/live_session.h"

#include "core/trace/recording_info.h"

#define SAME_SHARE 1e-9

static const char *why_of(const struct live_session *session, const struct candidate *one, double *recompilation_ns)
{
    static const char *const words[] = {
        [LIVE_WITHOUT_BATCH] = "none", [LIVE_WITHOUT_BUDGET] = "dear", [LIVE_WITHOUT_CHANGE] = "kept",
        [LIVE_WITHOUT_EXIT] = "loop",  [LIVE_WITHOUT_LOSS] = "spared", [LIVE_WITHOUT_CLASSES] = "archive"
    };
    return words[live_chooser_why(&session->live->chooser, one->names.class_name, one->names.method,
                                  one->names.descriptor, recompilation_ns)];
}

/* Why one that is no candidate is none; NULL: it is too rare to tell of. */
static const char *left_out(const struct candidate *one, const struct candidates_criteria *criteria)
{
    static const char *const words[CANDIDATE_N_REASONS] = { [CANDIDATE_UNWANTED] = "left",
                                                            [CANDIDATE_TINY] = "left",
                                                            [CANDIDATE_SHORT] = "short",
                                                            [CANDIDATE_WITHIN] = "short",
                                                            [CANDIDATE_SURPLUS] = "none" };
    return one->n_samples >= criteria->min_samples ? words[one->reason] : NULL;
}

/*
 * A method of the JDK without candidates' qualities, on the stack in just the samples that have another one: it only
 * passes on.
 */
static bool is_beside_another(const struct candidate_list *list, const struct live_sampled *all, size_t n,
                              const struct candidate *one)
{
    if (strncmp(one->names.class_name, "java/", 5) != 0 && strncmp(one->names.class_name, "jdk/", 4) != 0 &&
        strncmp(one->names.class_name, "sun/", 4) != 0)
        return false;
    for (size_t i = 0; i < list->n; i++)
        if (list->all[i].n_samples == one->n_samples && fabs(list->all[i].share - one->share) < SAME_SHARE)
            return true;
    for (size_t i = 0; i < n; i++)
        if (all[i].found->n_samples == one->n_samples && fabs(all[i].found->share - one->share) < SAME_SHARE)
            return true;
    return false;
}

static int compare(const void *a, const void *b)
{
    const struct live_sampled *x = a, *y = b;
    return x->found->share < y->found->share ? 1 : x->found->share > y->found->share ? -1 : 0;
}

static bool is_listed(const struct live_sampled *all, size_t n, const struct candidate *one)
{
    for (size_t i = 0; i < n; i++)
        if (method_name_equals(&all[i].found->names, &one->names))
            return true;
    return false;
}

/* Behind the n of 'all', which has room for LIVE_SAMPLED_MAX, those of some candidates that it does not have. */
static void add_candidates(struct live_session *session, struct candidates *candidates, bool with_all,
                           struct arena *arena, struct live_sampled *all, size_t *n)
{
    struct candidates_criteria criteria = CANDIDATES_CRITERIA;
    struct candidate_list list = { 0 };
    struct err ignored; /* the program did nothing */
    criteria.weight = session->options.weight;
    if (candidates == NULL || candidates_choose(candidates, &criteria, arena, &list, &ignored) < 0)
        return;
    for (size_t i = 0; i < list.n_all && *n < LIVE_SAMPLED_MAX; i++) {
        struct live_sampled one = { .found = &list.all[i] };
        if (one.found->share < criteria.weight || is_listed(all, *n, one.found) ||
            live_methods_know(&session->live->methods, one.found->names.class_name, one.found->names.method,
                              one.found->names.descriptor))
            continue;
        one.why = i < list.n ? why_of(session, one.found, &one.recompilation_ns) : left_out(one.found, &criteria);
        if (one.why != NULL && (with_all || i < list.n || !is_beside_another(&list, all, *n, one.found)))
            all[(*n)++] = one;
    }
}

static size_t make_list(struct live_session *session, bool with_all, struct arena *arena, struct live_sampled **all)
{
    size_t n = 0;
    *all = arena_alloc(arena, LIVE_SAMPLED_MAX * sizeof **all);
    add_candidates(session, session->candidates, with_all, arena, *all, &n);
    qsort(*all, n, sizeof **all, compare);
    return n;
}

size_t live_sampled_list(struct live_session *session, struct arena *arena, struct live_sampled **all)
{
    return make_list(session, false, arena, all);
}

/* Why it has no probes. */
static int write_one(struct recorder_link *link, size_t number, const struct live_sampled *one, struct err *err)
{
    const struct candidate *found = one->found;
    const struct info_live_sampled told = { .share = found->share,
                                            .n_samples = found->n_samples,
                                            .names = found->names,
                                            .why = one->why,
                                            .recompilation_ns = one->recompilation_ns };
    return info_write(recorder_trace(link), INFO_LIVE_SAMPLED, (uint32_t)number, &told, INFO_ALL_FIELDS, err);
}

int live_sampled_write(struct live_session *session, struct recorder_link *link, struct err *err)
{
    struct live_sampled *all;
    size_t n = make_list(session, true, &session->arena, &all);
    int rc = 0;
    if (session->candidates != NULL) /* then the others are described, too */
        add_candidates(session, live_samples_wall(session->samples), true, &session->arena, all, &n);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = write_one(link, i, &all[i], err);
    arena_free(&session->arena);
    return rc;
}
