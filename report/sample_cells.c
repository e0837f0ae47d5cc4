#include "report/sample_cells.h"

static struct table_cell on_cpu_of(const void *row, struct arena *arena)
{
    const struct sample_cells *of = row;
    (void)arena;
    return table_number(of->total.share - of->waiting.share);
}

static struct table_cell now_of(const void *row, struct arena *arena)
{
    (void)arena;
    return table_words(((const struct sample_cells *)row)->heat >= HEAT_HOT ? "hot" : "cold");
}

#define TOTAL FROM(struct sample_cells, total.share), ERROR_FROM(struct sample_cells, total.error)

static const struct table_column before_ratios[] = {
    { "time_share", "Time (%)", TABLE_SHARE, TOTAL, .when = SAMPLES_TIME },
    { "share", "Share (%)", TABLE_SHARE, TOTAL, .when = SAMPLES_EVENT },
    { "self_share", "Self (%)", TABLE_SHARE, FROM(struct sample_cells, self.share),
      ERROR_FROM(struct sample_cells, self.error) },
    { "heat_share", "Heat (%)", TABLE_SHARE, FROM(struct sample_cells, heat), .when = SAMPLES_DECAY },
    { "now", "Now", TABLE_TEXT, .value = now_of, .when = SAMPLES_DECAY },
    { "on_cpu_share", "On CPU (%)", TABLE_SHARE, .value = on_cpu_of, .when = SAMPLES_WAIT },
    { "waiting_share", "Waiting (%)", TABLE_SHARE, FROM(struct sample_cells, waiting.share), .when = SAMPLES_WAIT },
    { "waiting_share_error", NULL, TABLE_SHARE, FROM(struct sample_cells, waiting.error), .when = SAMPLES_WAIT,
      .width = COLUMN_DATA },
};

static const struct table_column after_ratios[] = {
    { "samples", "Samples", TABLE_COUNT, FROM(struct sample_cells, total.n_samples) },
    { "time_share_error", NULL, TABLE_SHARE, FROM(struct sample_cells, total.error), .when = SAMPLES_TIME,
      .width = COLUMN_DATA },
    { "share_error", NULL, TABLE_SHARE, FROM(struct sample_cells, total.error), .when = SAMPLES_EVENT,
      .width = COLUMN_DATA },
    { "self_share_error", NULL, TABLE_SHARE, FROM(struct sample_cells, self.error), .width = COLUMN_DATA },
};

void sample_cells_ratio_columns(const struct sample_ratio_kind *kinds, uint32_t n, bool by_own, struct table *table)
{
    for (uint32_t i = 0; i < n; i++) {
        const char *key = kinds[i].key, *heading = arena_printf(table->arena, "Self %s", kinds[i].heading);
        const struct table_column columns[] = {
            { key, kinds[i].heading, TABLE_RATIO, FROM(struct sample_cells, ratios[i]),
              ERROR_FROM(struct sample_cells, ratio_errors[i]), .not_in_text = by_own },
            { arena_printf(table->arena, "self_%s", key), heading, TABLE_RATIO,
              FROM(struct sample_cells, self_ratios[i]), ERROR_FROM(struct sample_cells, self_ratio_errors[i]),
              .not_in_text = !by_own },
            { arena_printf(table->arena, "%s_error", key), NULL, TABLE_RATIO,
              FROM(struct sample_cells, ratio_errors[i]), .width = COLUMN_DATA },
            { arena_printf(table->arena, "self_%s_error", key), NULL, TABLE_RATIO,
              FROM(struct sample_cells, self_ratio_errors[i]), .width = COLUMN_DATA },
        };
        TABLE_COLUMNS(table, columns, 0);
    }
}

void sample_cells_columns(const char *key, const char *heading, unsigned conditions,
                          const struct sample_ratio_kind *kinds, uint32_t n, bool by_own, struct table *table)
{
    const struct table_column label = { key, heading, TABLE_TEXT, FROM(struct sample_cells, label) };
    table_columns(table, &label, 1, 0);
    TABLE_COLUMNS(table, before_ratios, conditions);
    sample_cells_ratio_columns(kinds, n, by_own, table);
    TABLE_COLUMNS(table, after_ratios, conditions);
}

void sample_cells_ratios(const struct sample_profile *profile, const struct sample_row *row, bool is_method,
                         const struct sample_ratio_kind *kinds, uint32_t n, struct sample_cells *to)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct sample_ratio_kind *kind = &kinds[i];
        struct sample_ratio all = sample_profile_ratio(profile, row, false, kind->numerator, kind->denominator),
                            self = sample_profile_ratio(profile, row, is_method, kind->numerator, kind->denominator);
        to->ratios[i] = kind->scale * all.value;
        to->ratio_errors[i] = kind->scale * all.error;
        to->self_ratios[i] = kind->scale * self.value;
        to->self_ratio_errors[i] = kind->scale * self.error;
    }
}
