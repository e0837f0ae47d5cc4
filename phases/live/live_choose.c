/*
 * Which of the candidates get probes in the next batch: what their classes cost the JIT compiler, and whether they are
 * worth it.
 */
#include "phases/live/live_internal.h"
#include "phases/live/live_policy.h"

#include <stdlib.h>
#include <string.h>

/* ---- candidates ---- */

const struct live_candidate *live_find(const struct live_candidate *candidates, size_t n, const char *class_name,
                                       const char *name, const char *descriptor)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(candidates[i].name, name) == 0 && strcmp(candidates[i].class_name, class_name) == 0 &&
            strcmp(candidates[i].descriptor, descriptor) == 0)
            return &candidates[i];
    return NULL;
}

static const struct live_method *find_method(const struct live *live, const char *class_name, const char *name,
                                             const char *descriptor)
{
    for (size_t i = 0; i < live->n_methods; i++)
        if (strcmp(live->methods[i].name, name) == 0 && strcmp(live->methods[i].class_name, class_name) == 0 &&
            strcmp(live->methods[i].descriptor, descriptor) == 0)
            return &live->methods[i];
    return NULL;
}

static const struct live_method *method_of(const struct live *live, const struct live_candidate *one)
{
    return find_method(live, one->class_name, one->name, one->descriptor);
}

bool live_knows(const struct live *live, const char *class_name, const char *name, const char *descriptor)
{
    const struct live_method *method = find_method(live, class_name, name, descriptor);
    return method != NULL && (!method->is_held || live->accounts[method - live->methods].calls > 0);
}

bool live_is_held(const struct live *live, const char *class_name, const char *name, const char *descriptor)
{
    const struct live_method *method = find_method(live, class_name, name, descriptor);
    return method != NULL && method->is_held;
}

static size_t n_enabled(const struct live *live)
{
    size_t n = 0;
    for (size_t i = 0; i < live->n_methods; i++)
        n += live_is_on(&live->methods[i]);
    return n;
}

/* May it get probes: is it large enough, and has none yet? */
static bool is_eligible(const struct live *live, const struct live_candidate *one)
{
    const struct live_method *method = method_of(live, one);
    return one->share >= live->options.weight / 2 && (method == NULL || method->is_held);
}

static bool was_asked(const struct live *live, const struct live_candidate *method)
{
    return !live->chooser.is_asked_again && live_find(live->chooser.asked, live->chooser.n_asked, method->class_name,
                                                      method->name, method->descriptor) != NULL;
}

/* Is much of the time in one that was not wanted at the batch before, paid for or not? */
static bool has_new_largest(const struct live *live, const struct live_candidate *candidates, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (candidates[i].share >= ELSEWHERE && is_eligible(live, &candidates[i]) && !was_asked(live, &candidates[i]))
            return true;
    return false;
}

/* ---- what changing their classes costs ---- */

struct live_choice {
    const struct recompilation_costs *prices;
    double shares[RECOMPILATION_CLASSES]; /* of each class: of its largest method; 0: it has none */
    double prices_ns[RECOMPILATION_CLASSES];
    uint64_t open, chosen; /* classes */
    uint64_t held;         /* those that could not be changed: their loops may be under way still */
    double work_ns;        /* the compilers' CPU time for a unit of work */
    double time_ns;        /* that the program has spent so far */
    double room_ns, used_ns;
    double most_ns; /* what the whole budget has left */
    bool has_extra; /* one class more is let in */
    bool is_later;  /* something is measured */
};

/* Where the first batch throws away all code there is, it makes no difference which classes it is for. */
static bool knows_prices(const struct live *live, const struct recompilation_costs *prices)
{
    bool is_all = live->options.forgets_code && live->budget.n_batches == 0;
    return prices != NULL && prices->compiled > 0 && live->now.jit_cpu_ns != LIVE_UNKNOWN && !is_all;
}

/* The class with the most time for its price; of those that were held only where there is no other one. */
static uint64_t best_class(const struct live_choice *choice, uint32_t *number, double *price_ns)
{
    uint64_t best = 0, new = choice->open & ~choice->held, among = new != 0 ? new : choice->open;
    double most = -1;
    for (uint32_t i = 0; i < RECOMPILATION_CLASSES; i++) {
        uint64_t bit = UINT64_C(1) << i;
        if ((among & bit) == 0)
            continue;
        double ns = recompilation_costs_of(choice->prices, bit, choice->chosen) * choice->work_ns;
        double worth = choice->shares[i] / (ns + LEAST_NS);
        if (worth > most) {
            most = worth;
            best = bit;
            *number = i;
            *price_ns = ns;
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
static bool may_choose(struct live_choice *choice, double price_ns, double share, bool is_held)
{
    double spent_ns = share * choice->time_ns;
    if (choice->used_ns + price_ns <= choice->room_ns)
        return price_ns <= spent_ns;
    double later_part = share >= ELSEWHERE ? LATER_PART : 0;
    double part = choice->is_later ? later_part : choice->used_ns > 0 ? SMALL_PART : 1;
    double most_ns = choice->is_later && choice->most_ns > 0 ? price_ns : choice->most_ns - choice->used_ns;
    if (!choice->has_extra || is_held || price_ns > spent_ns * part || price_ns > most_ns)
        return false;
    choice->has_extra = false;
    return true;
}

static void choose_classes(struct live_choice *choice)
{
    uint64_t best;
    uint32_t number = 0;
    double ns = 0;
    while ((best = best_class(choice, &number, &ns)) != 0) {
        choice->open &= ~best;
        choice->prices_ns[number] = ns;
        if (!may_choose(choice, ns, choice->shares[number], (choice->held & best) != 0))
            continue;
        choice->chosen |= best;
        choice->used_ns += ns;
    }
}

/* What changed classes cost the compilers so far: what was expected, or measured where that tells, and is more. */
static double spent_ns(const struct live *live)
{
    double measured_ns = live->options.is_new ? 0 : (double)live->window.recompiling_ns;
    return measured_ns > live->budget.priced_ns ? measured_ns : live->budget.priced_ns;
}

/* What the compilers' work may cost now, besides rewriting. */
static double room_ns(const struct live *live)
{
    double time_ns = (double)(live->now.cpu_ns - live->first.cpu_ns);
    double paid_ns = time_ns > LIVE_ADVANCE_NS ? time_ns : LIVE_ADVANCE_NS;
    double share_ns = LIVE_COMPILE * live->options.budget * paid_ns - spent_ns(live) - live->now.rewriting_ns;
    double left_ns = PART_OF_REST * live_budget_left_ns(&live->budget) / LIVE_LOSS;
    return share_ns > left_ns ? share_ns : left_ns;
}

/* For the batch that may follow, too. */
static int keep_prices(struct live *live, const struct recompilation_costs *prices, struct err *err)
{
    double work_ns = (double)live->now.jit_cpu_ns / prices->compiled; /* too much where code is gone */
    work_ns = work_ns < WORK_NS ? work_ns : WORK_NS;
    live->chooser.work_ns = live->options.is_new ? NEW_WORK * work_ns : work_ns;
    recompilation_costs_free(&live->chooser.prices);
    struct recompilation_cost *all = calloc(prices->n + 1, sizeof *all);
    if (all == NULL)
        return err_set(err, "out of memory");
    if (prices->n > 0)
        memcpy(all, prices->all, prices->n * sizeof *all);
    live->chooser.prices =
        (struct recompilation_costs){ .all = all, .n = prices->n, .room = prices->n + 1, .compiled = prices->compiled };
    return 0;
}

/* The classes that may change, a bit for each. */
static struct live_choice affordable(const struct live *live, const struct live_candidate *candidates, size_t n)
{
    double time_ns = (double)(live->now.cpu_ns - live->first.cpu_ns);
    bool is_first = live->budget.priced_ns <= 0 || live_measures_nothing(live);
    struct live_choice choice = { .prices = &live->chooser.prices,
                                  .work_ns = live->chooser.work_ns,
                                  .time_ns = time_ns,
                                  .room_ns = room_ns(live),
                                  .most_ns = live_budget_whole_ns(&live->budget) - spent_ns(live),
                                  .has_extra = is_first || has_new_largest(live, candidates, n),
                                  .is_later = !is_first };
    for (size_t i = 0; i < n; i++) {
        uint32_t number = candidates[i].class_number;
        if (number >= RECOMPILATION_CLASSES || !is_eligible(live, &candidates[i]))
            continue;
        choice.open |= UINT64_C(1) << number;
        if (method_of(live, &candidates[i]) != NULL)
            choice.held |= UINT64_C(1) << number;
        if (candidates[i].share > choice.shares[number])
            choice.shares[number] = candidates[i].share;
    }
    choose_classes(&choice);
    return choice;
}

static bool is_paid(const struct live *live, const struct live_candidate *one, const struct live_choice *choice)
{
    return !live->chooser.has_prices ||
           (one->class_number < RECOMPILATION_CLASSES && (choice->chosen & UINT64_C(1) << one->class_number) != 0);
}

/* One more of either kind: those that are not paid for come last. */
static int want(struct live *live, const struct live_candidate *candidate, const struct live_choice *choice, size_t *n,
                struct err *err)
{
    struct live_candidate copy = *candidate;
    copy.price_ns = copy.class_number < RECOMPILATION_CLASSES ? choice->prices_ns[copy.class_number] : 0;
    copy.class_name = arena_text(&live->arena, copy.class_name, strlen(copy.class_name));
    copy.name = arena_text(&live->arena, copy.name, strlen(copy.name));
    copy.descriptor = arena_text(&live->arena, copy.descriptor, strlen(copy.descriptor));
    if (copy.class_name == NULL || copy.name == NULL || copy.descriptor == NULL)
        return err_set(err, "out of memory");
    live->chooser.wanted[live->chooser.n_wanted + live->chooser.n_unpaid] = copy;
    ++*n;
    return 0;
}

int live_candidates(struct live *live, const struct live_candidate *candidates, size_t n,
                    const struct recompilation_costs *prices, struct err *err)
{
    size_t n_on = n_enabled(live);
    live->chooser.has_candidates = true;
    live->chooser.n_wanted = live->chooser.n_unpaid = 0;
    free(live->chooser.wanted);
    live->chooser.wanted = calloc(n + 1, sizeof *live->chooser.wanted);
    if (live->chooser.wanted == NULL)
        return err_set(err, "out of memory");
    size_t room = live->options.max_methods > n_on ? live->options.max_methods - n_on : 0;
    if (room > live->options.max_more)
        room = live->options.max_more;
    live->chooser.has_prices = knows_prices(live, prices);
    struct live_choice choice = { .prices = &live->chooser.prices };
    if (live->chooser.has_prices) {
        if (keep_prices(live, prices, err) < 0)
            return -1;
        choice = affordable(live, candidates, n);
    }
    for (size_t i = 0; i < n && live->chooser.n_wanted < room; i++)
        if (is_eligible(live, &candidates[i]) && is_paid(live, &candidates[i], &choice) &&
            want(live, &candidates[i], &choice, &live->chooser.n_wanted, err) < 0)
            return -1;
    for (size_t i = 0; i < n; i++)
        if (is_eligible(live, &candidates[i]) && !is_paid(live, &candidates[i], &choice) &&
            want(live, &candidates[i], &choice, &live->chooser.n_unpaid, err) < 0)
            return -1;
    return 0;
}

/* Of what was asked for, paid for or not: the agent may change a class that it had to leave alone before. */
double live_changed_ns(const struct live *live)
{
    uint64_t changed = 0;
    for (size_t i = 0; live->chooser.has_prices && i < live->chooser.n_asked; i++) {
        const struct live_candidate *one = &live->chooser.asked[i];
        const struct live_method *method = method_of(live, one);
        if (method != NULL && !method->is_held && one->class_number < RECOMPILATION_CLASSES)
            changed |= UINT64_C(1) << one->class_number;
    }
    return changed == 0 ? 0 : recompilation_costs_of(&live->chooser.prices, changed, 0) * live->chooser.work_ns;
}

/* ---- is a batch worth it? ---- */

/*
 * What the next batch may cost the compiler.  In a program that warms up, recoveries end at once, for the compiler is
 * as busy as before: there it is what it took to compile all of it, once.
 */
double live_price_ns(const struct live *live)
{
    double price = (double)live->window.dearest_ns;
    double once = !live->options.is_new || live->now.jit_cpu_ns == LIVE_UNKNOWN
                      ? 0
                      : (double)live->now.jit_cpu_ns / (1 + live->budget.n_batches);
    return once > price ? once : price;
}

/* A class that the batch before had to leave as it is may have the largest method of all, and still has no probes. */
bool live_is_elsewhere(const struct live *live)
{
    return has_new_largest(live, live->chooser.wanted, live->chooser.n_wanted);
}

/*
 * The time in the methods is that of the largest, or of their own code together, where those lie apart.
 */
bool live_is_worth_it(const struct live *live, bool is_free)
{
    if (live->chooser.has_prices) /* they were chosen so */
        return live->chooser.n_wanted > 0;
    double largest = 0, own = 0, price = live_price_ns(live);
    for (size_t i = 0; i < live->chooser.n_wanted; i++) {
        own += live->chooser.wanted[i].self_share;
        if (live->chooser.wanted[i].share > largest)
            largest = live->chooser.wanted[i].share;
    }
    double cpu_ns = (double)(live->now.cpu_ns - live->first.cpu_ns);
    if (!is_free && price + (double)live->window.recompiled_ns > live->options.budget * cpu_ns)
        return false;
    return (own > largest ? own : largest) * cpu_ns >= price;
}

bool live_may_begin(struct live *live)
{
    if (live->options.leaves_classes)
        return false;
    if (!live->options.forgets_code || live->now.jit_cpu_ns == LIVE_UNKNOWN)
        return true;
    bool is_dear = (double)live->now.jit_cpu_ns > live->options.recompile_s * 1e9;
    live->chooser.spared_ns = is_dear ? live->now.jit_cpu_ns : 0;
    return !is_dear;
}
