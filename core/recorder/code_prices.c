#include "core/recorder/code_prices.h"

#include <stdlib.h>
#include <string.h>

#define C2_TIER 4u

/* The bits of methods' classes, by number. */
static uint64_t *bits_of_methods(const struct code_map *map, const char *const *classes, size_t n)
{
    uint64_t *bits = calloc((size_t)map->n_methods + 1, sizeof *bits);
    for (uint32_t i = 0; bits != NULL && i < map->n_methods; i++)
        for (size_t k = 0; map->methods[i].class_name != NULL && k < n; k++)
            if (strcmp(map->methods[i].class_name, classes[k]) == 0)
                bits[i] = UINT64_C(1) << k;
    return bits;
}

static uint64_t bits_of_piece(const struct code_map *map, const struct code_piece *piece, const uint64_t *bits)
{
    struct code_points points;
    uint64_t all = piece->method < map->n_methods ? bits[piece->method] : 0;
    code_points_begin(&points, piece->points, piece->n_points_bytes);
    while (code_points_next(&points))
        for (uint32_t i = points.n_same; i < points.n_frames; i++)
            all |= points.frames[i].method < map->n_methods ? bits[points.frames[i].method] : 0;
    return all;
}

static int add(struct code_prices *prices, uint64_t classes, double work)
{
    for (size_t i = 0; i < prices->n; i++)
        if (prices->all[i].classes == classes) {
            prices->all[i].work += work;
            return 0;
        }
    if (prices->n == prices->room) {
        size_t room = prices->room == 0 ? 64 : prices->room * 2;
        struct code_price *all = realloc(prices->all, room * sizeof *all);
        if (all == NULL)
            return -1;
        prices->all = all;
        prices->room = room;
    }
    prices->all[prices->n++] = (struct code_price){ classes, work };
    return 0;
}

int code_prices_find(const struct code_map *map, const char *const *classes, size_t n, struct code_prices *prices,
                     struct err *err)
{
    uint64_t *bits = bits_of_methods(map, classes, n < CODE_PRICES_CLASSES ? n : CODE_PRICES_CLASSES);
    int rc = bits == NULL ? -1 : 0;
    memset(prices, 0, sizeof *prices);
    for (uint32_t i = 0; i < map->n_pieces && rc == 0; i++) {
        const struct code_piece *piece = &map->pieces[i];
        double work = (double)(piece->end - piece->start) * (piece->tier == C2_TIER ? CODE_PRICES_C2 : 1);
        if (piece->kind != CODE_COMPILED)
            continue;
        prices->compiled += work;
        uint64_t of_piece = piece->to_ticks == UINT64_MAX ? bits_of_piece(map, piece, bits) : 0;
        rc = of_piece == 0 ? 0 : add(prices, of_piece, work);
    }
    free(bits);
    if (rc == 0)
        return 0;
    code_prices_free(prices);
    return err_set(err, "out of memory");
}

void code_prices_free(struct code_prices *prices)
{
    free(prices->all);
    memset(prices, 0, sizeof *prices);
}

double code_prices_of(const struct code_prices *prices, uint64_t class_bit, uint64_t with)
{
    double work = 0;
    for (size_t i = 0; i < prices->n; i++)
        if ((prices->all[i].classes & class_bit) != 0 && (prices->all[i].classes & with) == 0)
            work += prices->all[i].work;
    return work;
}
