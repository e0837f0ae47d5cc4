#include "phases/live/live_chooser.h"

#include "core/base/xalloc.h"
#include "phases/live/live_policy.h"

void live_chooser_free(struct live_chooser *c)
{
    free(c->latest.all);
    free(c->requested.all);
    recompilation_costs_free(&c->costs);
    arena_free(&c->arena);
}

static const struct live_options *options_of(const struct live_chooser *c)
{
    return c->budget->options;
}

static const struct live_status *now_of(const struct live_chooser *c)
{
    return c->budget->now;
}

/* ---- when ---- */

bool live_chooser_has_begun(struct live_chooser *c, bool *begins_anew)
{
    const struct live_status *now = now_of(c);
    bool is_new = options_of(c)->is_new;
    if (is_new && now->cpu_ns < STARTED_PROGRAM_NS)
        return false;
    if (c->sampled_since_ns == 0) {
        c->sampled_since_ns = is_new ? now->now_ns : now->start_ns;
        c->first_sample = is_new ? now->n_samples : 0;
        *begins_anew = is_new;
    }
    uint32_t n = now->n_samples - c->first_sample;
    uint64_t since_ns = now->now_ns - c->sampled_since_ns;
    double fewer_ns = FEWER_SAMPLES_PART * options_of(c)->duration_s * 1e9;
    return n >= FIRST_SAMPLES ||
           (n >= FEWER_SAMPLES && since_ns >= FEWER_SAMPLES_AFTER_NS && (double)since_ns >= fewer_ns) ||
           (now->n_waits >= FIRST_SAMPLES && since_ns >= WAITS_SUFFICE_AFTER_NS);
}

void live_chooser_begin(struct live_chooser *c)
{
    c->has_candidates = false;
    c->n_choices++;
    c->delay_ns = c->delay_ns == 0                       ? NEXT_CHOICE_FIRST_NS
                  : c->delay_ns * 2 < NEXT_CHOICE_MAX_NS ? c->delay_ns * 2
                                                         : NEXT_CHOICE_MAX_NS;
    c->next_ns = now_of(c)->now_ns + c->delay_ns;
}

/* Is the time of the first choices not over, and all that they found is switched off, or was not called? */
static bool measures_nothing(const struct live_chooser *c)
{
    bool has_records = live_tree_n_records(c->methods->tree) > 0;
    for (size_t i = 0; i < c->methods->n && has_records; i++)
        if (c->methods->all[i].state == LIVE_ENABLED && !c->methods->all[i].is_deferred)
            return false;
    return c->n_choices <= UNBUDGETED_CHOICES;
}

/* ---- candidates ---- */

static bool is_named(const struct live_candidate *one, const struct method_name *names)
{
    return strcmp(one->name, names->method) == 0 && strcmp(one->class_name, names->class_name) == 0 &&
           strcmp(one->descriptor, names->descriptor) == 0;
}

static int largest_first(const void *a, const void *b)
{
    const struct live_candidate *x = a, *y = b;
    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    int order = strcmp(x->class_name, y->class_name);
    order = order != 0 ? order : strcmp(x->name, y->name);
    return order != 0 ? order : strcmp(x->descriptor, y->descriptor);
}

static struct live_candidate candidate_of(const struct candidate *one, bool is_rare)
{
    return (struct live_candidate){ .class_name = one->names.class_name,
                                    .name = one->names.method,
                                    .descriptor = one->names.descriptor,
                                    .share = one->share,
                                    .is_rare = is_rare };
}

static bool has_class(const struct live_candidate *found, size_t n, const char *class_name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(found[i].class_name, class_name) == 0)
            return true;
    return false;
}

size_t live_candidates_join(const struct candidate_list *cpu, const struct candidate_list *wall,
                            struct live_candidate *found)
{
    size_t n = 0;
    for (size_t i = 0; i < cpu->n + wall->n; i++) {
        const struct candidate *one = i < cpu->n ? &cpu->all[i] : &wall->all[i - cpu->n];
        size_t known = i < cpu->n ? n : 0;
        while (known < n && !is_named(&found[known], &one->names))
            known++;
        if (known == n)
            found[n++] = candidate_of(one, false);
        found[known].share = one->share > found[known].share ? one->share : found[known].share;
    }
    qsort(found, n, sizeof *found, largest_first);
    for (size_t i = cpu->n, n_own = n; i < cpu->n_all; i++)
        if (cpu->all[i].reason == CANDIDATE_RARE && has_class(found, n_own, cpu->all[i].names.class_name))
            found[n++] = candidate_of(&cpu->all[i], true);
    return n;
}

static const struct live_candidate *find_candidate(const struct live_choice *choice, const char *class_name,
                                                   const char *name, const char *descriptor)
{
    const struct method_name names = { class_name, name, descriptor };
    for (size_t i = 0; i < choice->n; i++)
        if (is_named(&choice->all[i], &names))
            return &choice->all[i];
    return NULL;
}

static const struct live_method *method_of(const struct live_chooser *c, const struct live_candidate *one)
{
    return live_methods_find(c->methods, one->class_name, one->name, one->descriptor);
}

/* May it get probes: is it large enough, and has none yet? */
static bool is_eligible(const struct live_chooser *c, const struct live_candidate *one)
{
    const struct live_method *method = method_of(c, one);
    return one->share >= options_of(c)->weight / 2 && (method == NULL || method->is_deferred);
}

/* Is much of the time in one that was not wanted at the batch before, within the budget or not? */
static bool has_new_largest(const struct live_chooser *c, const struct live_candidate *candidates, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct live_candidate *one = &candidates[i];
        bool was_requested = !c->is_requested_again &&
                             find_candidate(&c->requested, one->class_name, one->name, one->descriptor) != NULL;
        if (one->share >= NEW_METHOD_SHARE && is_eligible(c, one) && !was_requested)
            return true;
    }
    return false;
}

/* ---- classes ---- */

#define SAME_TIME 0.9 /* two methods whose shares differ by less are one, and what it calls */

/* Those of candidates, a bit for each, and what they cost. */
struct class_choice {
    const struct recompilation_costs *costs;
    double shares[RECOMPILATION_CLASSES]; /* of each class: of its largest method; 0: it has none */
    double values[RECOMPILATION_CLASSES]; /* the sum of its methods' that differ; least: the smallest of them */
    double least[RECOMPILATION_CLASSES];
    double costs_ns[RECOMPILATION_CLASSES];
    uint64_t open, chosen;
    uint64_t deferred; /* those that could not be changed: their loops may be active still */
    double work_ns;    /* the compilers' CPU time for a unit of work */
    double time_ns;    /* that the program has spent so far */
    double room_ns, used_ns;
    double most_ns; /* what the whole budget has left */
    double least_value;
    double change_ns; /* of each class, besides recompilation */
    uint32_t n_more;  /* classes that there is room for in a batch */
    bool has_extra;   /* one class more is let in */
    bool is_later;    /* something is measured */
};

static uint64_t bit_of(const struct live_candidate *one)
{
    return one->class_number < RECOMPILATION_CLASSES ? UINT64_C(1) << one->class_number : 0;
}

/* The class with the most time for its cost; of those that were deferred only where there is no other one. */
static uint32_t best_class(const struct class_choice *k, double *cost_ns)
{
    uint64_t new = k->open & ~k->deferred, among = new != 0 ? new : k->open;
    uint32_t best = 0;
    double most = -1;
    for (uint32_t i = 0; i < RECOMPILATION_CLASSES; i++) {
        uint64_t bit = UINT64_C(1) << i;
        if ((among & bit) == 0)
            continue;
        double ns = recompilation_costs_of(k->costs, bit, k->chosen) * k->work_ns;
        double price = k->values[i] / (ns + k->change_ns + CLASS_MIN_NS);
        if (price > most) {
            most = price;
            best = i;
            *cost_ns = ns;
        }
    }
    return best;
}

/*
 * Is there room for a class, and is it worth it: has the program spent as much time in it as it costs?  The first batch
 * has one class for which there is no room; only if that is a small part of the time in it, where others cost
 * something, too; so has the second one if all that the first one found had to be switched off, or was not called.  A
 * recording without calls is of no use, nor is one of what the program did at its beginning: a later batch has such a
 * class, too, if much of the time is in it, and no choice had seen that.  But none of these may take more than the
 * whole budget, nor may any follow where the compilers took more than that already: then samples are all there is.
 */
static bool may_choose(struct class_choice *k, double cost_ns, double share, bool is_deferred)
{
    double spent_ns = share * k->time_ns;
    if (k->used_ns + cost_ns <= k->room_ns)
        return cost_ns <= spent_ns;
    double later_part = share >= NEW_METHOD_SHARE ? LATER_CLASS_SHARE : 0;
    double part = k->is_later ? later_part : k->used_ns > 0 ? EXTRA_CLASS_SHARE : 1;
    double most_ns = k->is_later && k->most_ns > 0 ? cost_ns : k->most_ns - k->used_ns;
    if (!k->has_extra || is_deferred || cost_ns > spent_ns * part || cost_ns > most_ns)
        return false;
    k->has_extra = false;
    return true;
}

static void choose_classes(struct class_choice *k)
{
    while (k->open != 0 && k->n_more > 0) {
        double ns = 0;
        uint32_t best = best_class(k, &ns);
        uint64_t bit = UINT64_C(1) << best;
        k->open &= ~bit;
        k->costs_ns[best] = ns;
        if (k->values[best] < k->least_value ||
            !may_choose(k, ns + k->change_ns, k->shares[best], (k->deferred & bit) != 0))
            continue;
        k->chosen |= bit;
        k->used_ns += ns + k->change_ns;
        k->n_more--;
    }
}

static bool is_of_jdk(const char *class_name)
{
    return strncmp(class_name, "java/", 5) == 0 || strncmp(class_name, "jdk/", 4) == 0 ||
           strncmp(class_name, "sun/", 4) == 0;
}

/* Largest share first; a method with the share of another one of its class only calls that, and tells nothing more. */
static void value_class(struct class_choice *k, const struct live_candidate *one)
{
    double *value = &k->values[one->class_number], *least = &k->least[one->class_number];
    if (*value > 0 && one->share > SAME_TIME * *least)
        return;
    *least = one->share;
    *value += one->share * (is_of_jdk(one->class_name) ? JDK_CLASS_VALUE : 1);
}

/* The classes of candidates that are to change. */
static struct class_choice affordable(const struct live_chooser *c, const struct live_candidate *candidates, size_t n)
{
    bool is_first = c->budget->recompilation_ns <= 0 || measures_nothing(c), is_running = now_of(c)->n_classes > 0;
    struct class_choice k = { .costs = &c->costs,
                              .work_ns = c->work_ns,
                              .time_ns = live_budget_cpu_ns(c->budget),
                              .room_ns = live_budget_recompilation_ns(c->budget),
                              .most_ns = live_budget_extra_ns(c->budget),
                              .least_value = is_running ? CHANGED_CLASS_MIN : 0,
                              .change_ns = is_running ? CHANGED_CLASS_NS : 0,
                              .n_more = is_running ? BATCH_CLASSES_MAX : RECOMPILATION_CLASSES,
                              .has_extra = is_first || has_new_largest(c, candidates, n),
                              .is_later = !is_first };
    for (size_t i = 0; i < n; i++) {
        uint64_t bit = bit_of(&candidates[i]);
        if (bit == 0 || candidates[i].is_rare || !is_eligible(c, &candidates[i]))
            continue;
        k.open |= bit;
        if (method_of(c, &candidates[i]) != NULL)
            k.deferred |= bit;
        double *share = &k.shares[candidates[i].class_number];
        *share = candidates[i].share > *share ? candidates[i].share : *share;
        value_class(&k, &candidates[i]);
    }
    choose_classes(&k);
    return k;
}

/* What the budget, or the user, allows to be compiled again where the first batch discards all code. */
static double most_discard_ns(const struct live_chooser *c)
{
    double most_ns = options_of(c)->recompile_s * 1e9;
    return most_ns > 0 ? most_ns : live_budget_discard_ns(c->budget);
}

/* Is what would be discarded so much that no closer look makes it little enough? */
static bool is_far_beyond(const struct live_chooser *c)
{
    uint64_t jit_ns = now_of(c)->jit_cpu_ns;
    return options_of(c)->discards_code && jit_ns != LIVE_UNKNOWN &&
           (double)jit_ns > DISCARD_FAR_BEYOND * most_discard_ns(c);
}

/*
 * What all code costs that there is: the compilers' time so far, which had other code to do, too, that is gone; so no
 * more than all of this was slow to compile.
 */
static uint64_t discard_ns(const struct live_chooser *c, const struct recompilation_costs *costs)
{
    uint64_t jit_ns = now_of(c)->jit_cpu_ns;
    if (jit_ns == LIVE_UNKNOWN)
        return 0;
    double most_ns = costs == NULL || is_far_beyond(c) ? 0 : costs->compiled * WORK_NS;
    return most_ns > 0 && most_ns < (double)jit_ns ? (uint64_t)most_ns : jit_ns;
}

/*
 * Take over the costs, for the batch that may follow, too.  Where they are not known, classes cost nothing until the
 * compilers have shown what; where the first batch discards all code there is, no class costs more than that.
 */
static void take_costs(struct live_chooser *c, const struct recompilation_costs *costs)
{
    bool is_all = options_of(c)->discards_code && c->budget->n_batches == 0;
    recompilation_costs_free(&c->costs);
    c->work_ns = 0;
    c->discard_ns = is_all ? discard_ns(c, costs) : 0;
    if (costs == NULL || costs->compiled <= 0 || now_of(c)->jit_cpu_ns == LIVE_UNKNOWN || is_all)
        return;
    double work_ns = (double)now_of(c)->jit_cpu_ns / costs->compiled; /* too much where code is gone */
    work_ns = work_ns < WORK_NS ? work_ns : WORK_NS;
    c->work_ns = (options_of(c)->is_new      ? STARTED_PROGRAM_WORK
                  : now_of(c)->n_classes > 0 ? RECOMPILED_PART
                                             : 1) *
                 work_ns;
    struct recompilation_cost *all = xcalloc(costs->n + 1, sizeof *all);
    if (costs->n > 0)
        memcpy(all, costs->all, costs->n * sizeof *all);
    c->costs =
        (struct recompilation_costs){ .all = all, .n = costs->n, .room = costs->n + 1, .compiled = costs->compiled };
}

/* ---- the choice ---- */

/* The eligible ones whose classes are to change (or are not): at most so many more. */
static void add_candidates(struct live_chooser *c, const struct live_candidate *candidates, size_t n, size_t most,
                           const struct class_choice *k, bool is_chosen)
{
    for (size_t i = 0; i < n && most > 0; i++) {
        struct live_candidate one = candidates[i];
        if (!is_eligible(c, &one) || ((k->chosen & bit_of(&one)) != 0) != is_chosen || (one.is_rare && !is_chosen))
            continue;
        one.recompilation_ns = bit_of(&one) == 0 ? 0 : k->costs_ns[one.class_number];
        one.class_name = arena_text(&c->arena, one.class_name, strlen(one.class_name));
        one.name = arena_text(&c->arena, one.name, strlen(one.name));
        one.descriptor = arena_text(&c->arena, one.descriptor, strlen(one.descriptor));
        c->latest.all[c->latest.n++] = one;
        c->latest.n_chosen += is_chosen;
        most--;
    }
}

/* How many methods more may get probes. */
static size_t room_of(const struct live_chooser *c)
{
    size_t room = options_of(c)->max_methods;
    for (size_t i = 0; i < c->methods->n && room > 0; i++)
        room -= live_method_is_on(&c->methods->all[i]);
    return room < options_of(c)->max_more ? room : options_of(c)->max_more;
}

void live_chooser_candidates(struct live_chooser *c, const struct live_candidate *candidates, size_t n,
                             const struct recompilation_costs *costs)
{
    c->has_candidates = true;
    free(c->latest.all);
    c->latest = (struct live_choice){ .all = xcalloc(n + 1, sizeof *c->latest.all) };
    take_costs(c, costs);
    struct class_choice k = affordable(c, candidates, n);
    add_candidates(c, candidates, n, room_of(c), &k, true);
    add_candidates(c, candidates, n, n, &k, false);
}

bool live_chooser_is_too_dear(const struct live_chooser *c)
{
    double whole_ns = live_budget_whole_ns(c->budget), least_ns = options_of(c)->budget * RECOMPILATION_ADVANCE_NS;
    double most_ns = whole_ns > least_ns ? whole_ns : least_ns;
    if (c->budget->n_batches > 0)
        return false;
    return options_of(c)->duration_s > 0 && now_of(c)->n_classes > 0 ? live_budget_recompilation_ns(c->budget) <= 0
                                                                     : live_budget_batch_ns(c->budget) > most_ns;
}

/* A first batch may be none. */
static bool may_begin(struct live_chooser *c)
{
    if (options_of(c)->samples_only || live_chooser_is_too_dear(c))
        return false;
    c->skipped_ns = (double)c->discard_ns > most_discard_ns(c) ? c->discard_ns : 0;
    return c->skipped_ns == 0;
}

bool live_chooser_needs_costs(const struct live_chooser *c)
{
    if (c->budget->n_batches == 0)
        return !options_of(c)->samples_only && !live_chooser_is_too_dear(c) && !is_far_beyond(c) &&
               (double)c->skipped_ns <= most_discard_ns(c);
    return measures_nothing(c) || live_budget_allows_batch(c->budget);
}

bool live_chooser_decide(struct live_chooser *c)
{
    bool is_first = c->budget->n_batches == 0, may = !is_first || may_begin(c);
    c->n_over_budget = c->latest.n - (may ? c->latest.n_chosen : 0);
    if (!may || c->latest.n_chosen == 0 || !(is_first || measures_nothing(c) || live_budget_allows_batch(c->budget)))
        return false;
    free(c->requested.all);
    c->requested = c->latest;
    c->latest = (struct live_choice){ .all = NULL };
    c->is_requested_again = false;
    return true;
}

void live_chooser_changed_nothing(struct live_chooser *c)
{
    c->is_requested_again = true;
}

/* Within the budget or not: the agent may change a class that it had to leave alone before. */
double live_chooser_changed_ns(const struct live_chooser *c)
{
    uint64_t changed = 0;
    for (size_t i = 0; i < c->requested.n; i++) {
        const struct live_method *method = method_of(c, &c->requested.all[i]);
        if (method != NULL && !method->is_deferred)
            changed |= bit_of(&c->requested.all[i]);
    }
    if (c->work_ns <= 0)
        return NAN;
    return changed == 0 ? 0 : recompilation_costs_of(&c->costs, changed, 0) * c->work_ns;
}

/* The latest choice knows best; a batch has taken it over. */
enum live_without live_chooser_why(const struct live_chooser *c, const char *class_name, const char *name,
                                   const char *descriptor, double *recompilation_ns)
{
    const struct live_method *method = live_methods_find(c->methods, class_name, name, descriptor);
    const struct live_candidate *requested = find_candidate(&c->requested, class_name, name, descriptor);
    const struct live_candidate *latest = find_candidate(&c->latest, class_name, name, descriptor);
    bool was_chosen = requested != NULL && requested < c->requested.all + c->requested.n_chosen;
    bool is_over = latest != NULL ? latest >= c->latest.all + c->latest.n_chosen : requested != NULL && !was_chosen;
    const struct live_candidate *one = latest != NULL ? latest : requested;
    *recompilation_ns = one == NULL ? 0 : one->recompilation_ns;
    if (options_of(c)->samples_only)
        return LIVE_WITHOUT_CLASSES;
    if (c->skipped_ns > 0)
        return LIVE_WITHOUT_LOSS;
    if (live_chooser_is_too_dear(c))
        return LIVE_WITHOUT_BUDGET;
    if (method != NULL && method->is_deferred)
        return LIVE_WITHOUT_EXIT;
    return is_over ? LIVE_WITHOUT_BUDGET : was_chosen ? LIVE_WITHOUT_CHANGE : LIVE_WITHOUT_BATCH;
}
