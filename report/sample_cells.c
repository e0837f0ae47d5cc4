#include "report/sample_cells.h"

#include <math.h>

void sample_cells_put(struct sample_cells *to, struct table_cell cell)
{
    *to->next++ = cell;
}

/* "12.34 ±0.56": in per cent, or a ratio. */
static struct table_cell with_error(double value, double error, double scale, struct arena *arena)
{
    struct table_cell cell = isnan(value) ? table_unmeasured() : table_number(value);
    if (isnan(value) || isnan(error))
        return cell;
    const char *number = value > 0 && scale * value < 0.005 ? "< 0.01" : arena_printf(arena, "%.2f", scale * value);
    cell.words = arena_printf(arena, "%s \u00b1%.2f", number, scale * error);
    cell.is_vague = error > TABLE_VAGUE * value;
    return cell;
}

struct table_cell sample_cells_share(const struct sample_share *share, struct arena *arena)
{
    return with_error(share->share, share->error, 100, arena);
}

struct table_cell sample_cells_error(double error)
{
    return isnan(error) ? table_unmeasured() : table_number(error);
}

void sample_cells_hide(struct table *table, const char *key, enum table_unit unit)
{
    table->columns[table_column(table, "", key, unit)].not_in_text = true;
}

void sample_cells_heat_columns(const struct sample_profile *profile, struct table *table)
{
    if (profile->half_life_ns == 0)
        return;
    table_column(table, "Heat (%)", "heat_share", TABLE_SHARE);
    table_column(table, "Now", "now", TABLE_TEXT);
}

void sample_cells_put_heat(const struct sample_profile *profile, double share, struct sample_cells *to)
{
    if (profile->half_life_ns == 0)
        return;
    sample_cells_put(to, table_number(share));
    sample_cells_put(to, table_words(share >= HEAT_HOT ? "hot" : "cold"));
}

void sample_cells_ratio_columns(const struct sample_ratio_kind *kinds, uint32_t n, bool by_own, struct table *table)
{
    for (uint32_t i = 0; i < n; i++) {
        const char *self = arena_printf(table->arena, "self_%s", kinds[i].key);
        size_t at = table_column(table, kinds[i].heading, kinds[i].key, TABLE_RATIO);
        table->columns[at].not_in_text = by_own;
        at = table_column(table, arena_printf(table->arena, "Self %s", kinds[i].heading), self, TABLE_RATIO);
        table->columns[at].not_in_text = !by_own;
        sample_cells_hide(table, arena_printf(table->arena, "%s_error", kinds[i].key), TABLE_RATIO);
        sample_cells_hide(table, arena_printf(table->arena, "%s_error", self), TABLE_RATIO);
    }
}

void sample_cells_put_ratios(const struct sample_profile *profile, const struct sample_row *row, bool is_method,
                             const struct sample_ratio_kind *kinds, uint32_t n, struct sample_cells *to)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct sample_ratio_kind *kind = &kinds[i];
        struct sample_ratio ratios[2];
        for (int k = 0; k < 2; k++) {
            ratios[k] = sample_profile_ratio(profile, row, is_method && k == 1, kind->numerator, kind->denominator);
            sample_cells_put(
                to, with_error(kind->scale * ratios[k].value, kind->scale * ratios[k].error, 1, to->table->arena));
        }
        sample_cells_put(to, sample_cells_error(kind->scale * ratios[0].error));
        sample_cells_put(to, sample_cells_error(kind->scale * ratios[1].error));
    }
}
