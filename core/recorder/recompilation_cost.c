#include "core/recorder/recompilation_cost.h"

#include "core/base/xalloc.h"

#define C2_TIER 4u

/* The classes that were asked for. */
struct wanted_codes {
    const char *const *classes;
    size_t n;
};

static uint64_t bit_of(const struct wanted_codes *wanted, const char *class_name)
{
    for (size_t k = 0; class_name != NULL && k < wanted->n; k++)
        if (strcmp(class_name, wanted->classes[k]) == 0)
            return UINT64_C(1) << k;
    return 0;
}

static uint64_t *bits_of_methods(const struct code_map *map, const struct wanted_codes *wanted)
{
    uint64_t *bits = xcalloc((size_t)map->n_methods + 1, sizeof *bits);
    for (uint32_t i = 0; i < map->n_methods; i++)
        bits[i] = bit_of(wanted, map->methods[i].names.class_name);
    return bits;
}

static uint64_t *bits_of_classes(const struct code_map *map, const struct wanted_codes *wanted)
{
    uint64_t *bits = xcalloc((size_t)map->n_classes + 1, sizeof *bits);
    for (uint32_t i = 0; i < map->n_classes; i++)
        bits[i] = bit_of(wanted, map->classes[i]);
    return bits;
}

static uint64_t bits_of_dependent(const struct code_map *map, const struct code_dependent *dependent,
                                  const uint64_t *bits)
{
    struct cursor c = cursor_over(dependent->classes, dependent->n_classes_bytes);
    uint64_t all = 0;
    while (cursor_left(&c) > 0 && !c.bad) {
        uint64_t number = cursor_varint(&c);
        all |= number < map->n_classes ? bits[number] : 0;
    }
    return all;
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

static void add_cost(struct recompilation_costs *costs, uint64_t classes, double work)
{
    for (size_t i = 0; i < costs->n; i++)
        if (costs->all[i].classes == classes) {
            costs->all[i].work += work;
            return;
        }
    *xpush(costs->all, costs->room, costs->n) = (struct recompilation_cost){ classes, work };
}

static double work_of(uint64_t n_bytes, uint32_t tier)
{
    return (double)n_bytes * (tier == C2_TIER ? RECOMPILATION_C2 : 1);
}

static void find_in_pieces(const struct code_map *map, const uint64_t *bits, struct recompilation_costs *costs)
{
    for (uint32_t i = 0; i < map->n_pieces; i++) {
        const struct code_piece *piece = &map->pieces[i];
        double work = work_of(piece->end - piece->start, piece->tier);
        if (piece->kind != CODE_COMPILED)
            continue;
        costs->compiled += work;
        uint64_t of_piece = piece->to_ticks == UINT64_MAX ? bits_of_piece(map, piece, bits) : 0;
        if (of_piece != 0)
            add_cost(costs, of_piece, work);
    }
}

static void find_in_dependents(const struct code_map *map, const uint64_t *bits, struct recompilation_costs *costs)
{
    for (uint32_t i = 0; i < map->n_dependents; i++) {
        const struct code_dependent *dependent = &map->dependents[i];
        double work = work_of(dependent->n_bytes, dependent->tier);
        costs->compiled += work;
        uint64_t of_it = dependent->is_gone ? 0 : bits_of_dependent(map, dependent, bits);
        if (of_it != 0)
            add_cost(costs, of_it, work);
    }
}

void recompilation_costs_find(const struct code_map *map, const char *const *classes, size_t n,
                              struct recompilation_costs *costs)
{
    const struct wanted_codes wanted = { classes, n < RECOMPILATION_CLASSES ? n : RECOMPILATION_CLASSES };
    bool has_dependents = map->n_dependents > 0;
    uint64_t *bits = has_dependents ? bits_of_classes(map, &wanted) : bits_of_methods(map, &wanted);
    memset(costs, 0, sizeof *costs);
    if (has_dependents)
        find_in_dependents(map, bits, costs);
    else
        find_in_pieces(map, bits, costs);
    free(bits);
}

void recompilation_costs_free(struct recompilation_costs *costs)
{
    free(costs->all);
    memset(costs, 0, sizeof *costs);
}

double recompilation_costs_of(const struct recompilation_costs *costs, uint64_t class_bit, uint64_t with)
{
    double work = 0;
    for (size_t i = 0; i < costs->n; i++)
        if ((costs->all[i].classes & class_bit) != 0 && (costs->all[i].classes & with) == 0)
            work += costs->all[i].work;
    return work;
}
