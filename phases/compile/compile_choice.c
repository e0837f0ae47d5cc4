#include "phases/compile/compile_choice.h"

#include "core/base/xalloc.h"

#define LIMIT 1.959964 /* of a standard normal distribution: 97.5 % are below it */

/*
 * Speeds: CPU time of an iteration of JLayer's MP3 decoder, JDK 17: 41 s with -Xint; with TieredStopAtLevel=1, 2 and 3
 * after the first iteration 1.7, 2.4 and 3.5 s, with 4 after the third 1.3 s.  Compilers: -XX:+CITime of h2, by the
 * bytes that they compile, what is inlined included.
 */
const struct compile_model compile_model_measured = {
    .speed = { 1, 24, 17, 12, 32 },
    .ns_per_byte = { 0, 250, 250, 250, 5000 },
};

double compile_least_events(double n)
{
    if (!(n > 0))
        return 0;
    double root = 1 - 1 / (9 * n) - LIMIT / (3 * sqrt(n));
    return root > 0 ? n * root * root * root : 0;
}

/* The tiers that a method may go to from each. */
static uint32_t next_tier(uint32_t tier)
{
    static const uint32_t next[COMPILE_TIERS] = { [0] = 3, [2] = 4, [3] = 4 };
    return tier < COMPILE_TIERS ? next[tier] : 0;
}

uint32_t compile_model_choose(const struct compile_model *model, uint32_t tier, double n_samples, double period_ns,
                              uint32_t code_bytes)
{
    uint32_t to = next_tier(tier);
    if (to == 0)
        return 0;
    double past_ns = compile_least_events(n_samples) * period_ns;
    double future_ns = past_ns * model->speed[tier] / model->speed[to];
    return past_ns - future_ns > model->ns_per_byte[to] * code_bytes ? to : 0;
}

/* ---- the choice ---- */

void compile_choice_add(struct compile_choice *choice, uint32_t method, uint32_t tier, uint32_t code_bytes)
{
    xgrow_zeroed(choice->candidates, choice->room, (size_t)method + 1);
    struct compile_candidate *c = &choice->candidates[method];
    if (method >= choice->n_candidates)
        choice->n_candidates = method + 1;
    if (c->tier != tier)
        *c = (struct compile_candidate){ .is_sampled = c->is_sampled, .is_proposed = c->is_proposed };
    choice->n_samples++;
    choice->n_sampled += !c->is_sampled;
    c->is_sampled = c->has_news = true;
    c->tier = tier;
    c->code_bytes = code_bytes;
    c->n_samples++;
}

/* Where the model would have the method go; 0: nowhere. */
static uint32_t weigh(struct compile_choice *choice, struct compile_candidate *c)
{
    if (!c->has_news || c->was_chosen || c->tier + 1 >= COMPILE_TIERS)
        return 0;
    c->has_news = false;
    choice->n_proposed += !c->is_proposed;
    c->is_proposed = true;
    return compile_model_choose(choice->model, c->tier, c->n_samples, choice->period_ns, c->code_bytes);
}

/* xorshift64 (Marsaglia 2003). */
static uint64_t next_random(struct compile_choice *choice)
{
    choice->random ^= choice->random << 13;
    choice->random ^= choice->random >> 7;
    choice->random ^= choice->random << 17;
    return choice->random;
}

/* Any method that could go to this tier as the model's choice, from the same tier as that; itself where there is none.
 */
static uint32_t draw(struct compile_choice *choice, uint32_t chosen)
{
    uint32_t tier = choice->candidates[chosen].tier, start = (uint32_t)(next_random(choice) % choice->n_candidates);
    for (uint32_t i = 0; i < choice->n_candidates; i++) {
        uint32_t method = (start + i) % choice->n_candidates;
        const struct compile_candidate *c = &choice->candidates[method];
        if (c->is_sampled && !c->was_chosen && c->tier == tier)
            return method;
    }
    return chosen;
}

size_t compile_choice_decide(struct compile_choice *choice, struct compile_decision *decisions, size_t n)
{
    size_t n_decisions = 0;
    for (uint32_t method = 0; method < choice->n_candidates && n_decisions < n; method++) {
        uint32_t tier = weigh(choice, &choice->candidates[method]);
        if (tier == 0)
            continue;
        uint32_t drawn = choice->rule == COMPILE_RANDOM ? draw(choice, method) : method;
        choice->candidates[drawn].was_chosen = true;
        choice->n_chosen++;
        choice->n_by_tier[tier]++;
        decisions[n_decisions++] = (struct compile_decision){ drawn, tier };
    }
    return n_decisions;
}

void compile_choice_free(struct compile_choice *choice)
{
    free(choice->candidates);
    choice->candidates = NULL;
    choice->n_candidates = 0;
    choice->room = 0;
}
