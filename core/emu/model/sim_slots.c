#include "core/emu/model/sim_slots.h"

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

/* ---- window ---- */

#define PERIOD_MAX (UINT64_C(1) << 40)

/* ---- reading ---- */

/* A number with K, M or G, thousands of each other, that ends with 'end'.  NULL: it is none. */
static const char *read_number(const char *text, char end, uint64_t *value)
{
    static const char units[] = "KMG";
    size_t n_digits = strspn(text, "0123456789");
    if (n_digits == 0 || n_digits > 12)
        return NULL;
    *value = 0;
    for (size_t i = 0; i < n_digits; i++)
        *value = *value * 10 + (uint64_t)(text[i] - '0');
    text += n_digits;
    const char *unit = *text == '\0' ? NULL : strchr(units, *text);
    for (const char *u = units; unit != NULL && u <= unit; u++)
        *value = *value > PERIOD_MAX ? *value : *value * 1000;
    text += unit != NULL;
    return *text == end ? text + 1 : NULL;
}

int sim_window_check(const struct sim_window *window, struct err *err)
{
    if (window->counted == 0 && window->warm_up == 0 && window->period == 0)
        return 0;
    if (window->counted > 0 && window->period <= PERIOD_MAX && window->warm_up <= PERIOD_MAX &&
        window->counted <= PERIOD_MAX && window->warm_up + window->counted <= window->period)
        return 0;
    err_set(err, "a window of %" PRIu64 "+%" PRIu64 " instructions does not fit into %" PRIu64, window->warm_up,
            window->counted, window->period);
    return err_next(err, "count 1 or more, and give a period of what is warmed up and counted or more");
}

int sim_window_read(const char *text, struct sim_window *window, struct err *err)
{
    const char *rest = read_number(text, '+', &window->warm_up);
    if (rest != NULL)
        rest = read_number(rest, '/', &window->counted);
    if (rest != NULL)
        rest = read_number(rest, '\0', &window->period);
    if (rest != NULL && window->period > 0)
        return sim_window_check(window, err);
    err_set(err, "'%s' is no window", text);
    return err_next(err, "give how many instructions warm up, are counted, and make a period, such as "
                         "'" SIM_WINDOW_DEFAULT "'");
}

void sim_window_print(const struct sim_window *window, char *text, size_t n)
{
    snprintf(text, n, "%" PRIu64 "+%" PRIu64 "/%" PRIu64, window->warm_up, window->counted, window->period);
}

/* ---- going on ---- */

/* xorshift */
static uint64_t draw(struct sim_window_state *state, uint64_t n)
{
    state->random ^= state->random << 13;
    state->random ^= state->random >> 7;
    state->random ^= state->random << 17;
    return state->random % n;
}

/* What of a period is not in the window is drawn to be before or behind it. */
static void begin_period(struct sim_window_state *state, const struct sim_window *window)
{
    uint64_t rest = window->period - window->warm_up - window->counted, before = draw(state, rest + 1);
    state->phase = SIM_SKIPPED;
    state->left += (int64_t)(state->behind + before);
    state->behind = rest - before;
}

void sim_window_begin(struct sim_window_state *state, const struct sim_window *window, uint32_t number)
{
    *state = (struct sim_window_state){ .random = UINT64_C(88172645463325252) + number * UINT64_C(0x9e3779b97f4a7c15) };
    state->random += state->random == 0;
    begin_period(state, window);
}

void sim_window_begin_late(struct sim_window_state *state, uint64_t n_late, uint32_t n)
{
    uint64_t before = n_late > n ? n_late - n : 0;
    state->left = -(int64_t)(n_late - before);
    state->behind -= before < state->behind ? before : state->behind;
}

void sim_window_next(struct sim_window_state *state, const struct sim_window *window)
{
    while (state->left < 0) {
        switch (state->phase) {
        case SIM_SKIPPED:
            state->phase = SIM_WARMING_UP;
            state->left += (int64_t)window->warm_up;
            break;
        case SIM_WARMING_UP:
            state->phase = SIM_COUNTED;
            state->left += (int64_t)window->counted;
            break;
        default:
            begin_period(state, window);
            break;
        }
    }
}
