#include "core/emu/model/sim_slots.h"

#include <inttypes.h>
#include <string.h>

static bool is_share(uint32_t n)
{
    return n > 0 && n <= SIM_SETS_MAX && (n & (n - 1)) == 0;
}

int sim_sets_read(const char *text, uint32_t *n, struct err *err)
{
    size_t n_digits = strncmp(text, "1/", 2) == 0 ? strspn(text + 2, "0123456789") : 0;
    *n = 0;
    for (size_t i = 0; i < n_digits && n_digits <= 2 && text[2 + n_digits] == '\0'; i++)
        *n = *n * 10 + (uint32_t)(text[2 + i] - '0');
    if (is_share(*n))
        return 0;
    err_set(err, "'%s' is no share of a cache's sets", text);
    return err_next(err, "give 1/2, 1/4, 1/8 or 1/16; or 1/1, which is all of them");
}

/* Of classes of lines of L2, so many are told apart by the cache's sets. */
static uint64_t n_classes(const struct sim_cache_model *cache, const struct sim_model *model)
{
    uint64_t n_sets = cache->size_bytes / (cache->n_ways * cache->line_bytes);
    return n_sets * cache->line_bytes / model->l2.line_bytes;
}

int sim_sets_check(const struct sim_model *model, uint32_t n, struct err *err)
{
    uint64_t least = n_classes(&model->l1d, model), l2 = n_classes(&model->l2, model);
    least = l2 < least ? l2 : least;
    if (model->l1i.size_bytes > 0 && n_classes(&model->l1i, model) < least)
        least = n_classes(&model->l1i, model);
    if (n <= 1 || (is_share(n) && least >= SIM_SET_CLASSES))
        return 0;
    err_set(err, "a sample of 1/%" PRIu32 " of the sets is not possible: '%s' has caches of %" PRIu64 " sets", n,
            model->name, least);
    return err_next(err, "choose a model whose caches have %d sets or more, or simulate all sets", SIM_SET_CLASSES);
}

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t sim_sets_draw(uint32_t n, uint64_t seed)
{
    uint64_t sampled = 0;
    uint32_t n_wanted = n == 0 ? SIM_SET_CLASSES : SIM_SET_CLASSES / n;
    for (uint32_t left = SIM_SET_CLASSES; left > 0; left--) {
        bool is_drawn = next_random(&seed) % left < n_wanted;
        sampled = sampled << 1 | is_drawn;
        n_wanted -= is_drawn;
    }
    return sampled;
}

struct sim_sets_estimate sim_sets_estimate(const struct sim_sets_counts *counts, uint64_t sampled,
                                           enum sim_sets_kind kind)
{
    double sum = 0, squares = 0, n = __builtin_popcountll(sampled), all = SIM_SET_CLASSES;
    for (uint32_t i = 0; i < SIM_SET_CLASSES; i++)
        sum += (sampled >> i & 1) != 0 ? (double)counts->misses[i][kind] : 0;
    for (uint32_t i = 0; i < SIM_SET_CLASSES; i++) {
        double apart = (double)counts->misses[i][kind] - sum / n;
        squares += (sampled >> i & 1) != 0 ? apart * apart : 0;
    }
    if (n <= 1)
        return (struct sim_sets_estimate){ sum * all, 0, 0 };
    return (struct sim_sets_estimate){ sum * all / n, all * all * (1 - n / all) * squares / (n - 1) / n,
                                       (uint32_t)n - 1 };
}
