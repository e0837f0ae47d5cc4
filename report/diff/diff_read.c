/* From traces to rows of values. */
#include "report/diff/diff_internal.h"

#include "core/trace/recording_info.h"
#include "report/view/phase_report.h"

/* A table of all methods has that many rows at most; the time of those beyond is next to nothing. */
#define METHODS_MAX 1024

/* ---- a trace ---- */

/* Which methods are phases of this trace. */
static int mark_phases(struct diff_reading *r, struct err *err)
{
    struct report_row_options options = { .sort = "time", .min_share = r->diff->options->min_share };
    struct report_row *rows;
    size_t n;
    if (report_rows(&r->source, r->totals, r->n_totals, &options, &rows, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        size_t row = diff_rows_find(r, rows[i].total->method);
        if (row != SIZE_MAX)
            r->diff->rows[row].is_phase = true;
    }
    return 0;
}

/* Of methods with enough time to be told of. */
static void add_callers(struct diff_reading *r)
{
    size_t *rows = arena_alloc(&r->local, (r->source.tree->n_methods + 1) * sizeof *rows);
    for (uint32_t i = 0; i < r->source.tree->n_methods; i++)
        rows[i] = SIZE_MAX;
    for (size_t i = 0; i < r->n_totals; i++) {
        size_t row = diff_rows_find(r, r->totals[i].method);
        double share = row == SIZE_MAX ? 0 : diff_value_of(&r->diff->rows[row], r->side, r->trace, DIFF_SHARE)->value;
        if (!(share < r->diff->options->min_share)) /* one that is not known counts */
            rows[r->totals[i].method] = row;
    }
    diff_add_callers(r->diff, &r->pairs, &r->source, rows, r->source.tree->n_methods);
}

static void note_mode(struct diff_reading *r)
{
    const char *mode = info_text(r->source.reader, INFO_RECORDING_MODE);
    const char **known = &r->diff->modes[r->side];
    bool is_live = mode != NULL && strcmp(mode, "live") == 0;
    mode = is_live ? "live" : mode != NULL && strcmp(mode, "phases") == 0 ? "phases" : "all";
    r->diff->has_live = r->diff->has_live || is_live;
    if (info_text(r->source.reader, INFO_SIMULATED) != NULL)
        r->diff->has_simulated = true;
    else
        r->diff->has_real = true;
    if (r->trace == 0)
        *known = mode;
    else if (*known != NULL && strcmp(*known, mode) != 0)
        *known = NULL;
    if (r->source.clock != r->diff->options->clock) {
        r->diff->clocks_differ = true;
        r->diff->clock = r->source.clock;
    }
}

/* Of all methods, those that only samples know, too: the time is divided as the report does it. */
static void find_totals(struct diff_reading *r)
{
    sampled_tree(&r->pass.source, view_pass_samples(&r->pass, &r->pass.source), false, &r->source);
    if (r->source.sampled != NULL)
        r->diff->sampled[r->side] |= UINT64_C(1) << r->trace;
    calltree_totals(r->source.tree, VM_PART_APPLICATION, &r->local, &r->totals, &r->n_totals);
}

static int take_trace(struct diff_reading *r, struct err *err)
{
    struct report_row_options options = { .sort = "time", .all = true, .top = METHODS_MAX };
    find_totals(r);
    if (report_make(&r->source, r->totals, r->n_totals, &options, &r->table, err) < 0)
        return -1;
    r->diff->loads[r->side][r->trace] = diff_load_of(&r->source);
    note_mode(r);
    diff_rows_take(r);
    add_callers(r);
    return mark_phases(r, err);
}

static int read_trace(struct diff_reading *r, const char *path, struct err *err)
{
    const struct view_pass_options options = { .path = path,
                                               .salvage = r->diff->options->salvage,
                                               .parts =
                                                   VIEW_PASS_SAMPLES | (r->with_statistics ? VIEW_PASS_STATISTICS : 0),
                                               .clock = r->diff->options->clock,
                                               .libraries = folding_read(NULL, &r->local, err) };
    if (options.libraries == NULL)
        return -1;
    int rc = view_pass_read(&options, &r->local, &r->pass, err) < 0 ? -1 : take_trace(r, err);
    view_pass_close(&r->pass);
    arena_free(&r->local);
    return rc;
}

int diff_read(struct diff *diff, const struct diff_row_options *options, struct arena *arena, struct err *err)
{
    size_t n_before = options->n_traces[DIFF_BEFORE], n_after = options->n_traces[DIFF_AFTER];
    *diff = (struct diff){ .arena = arena, .options = options, .clock = options->clock };
    bool is_of_runs = n_before >= 2 && n_after == 0;
    if (!is_of_runs && (n_before == 0 || n_after == 0 || (n_before == 1) != (n_after == 1))) {
        err_set(err, "%zu traces before and %zu after cannot be compared", n_before, n_after);
        return err_next(err, "name one trace on each side, or at least two on each: --before A B --after C D");
    }
    struct diff_reading *r = arena_alloc(arena, sizeof *r);
    r->diff = diff;
    r->rows.arena = r->metrics.arena = r->pairs.arena = r->measured.arena = arena;
    r->with_statistics = n_before == 1;
    int rc = 0;
    for (int side = DIFF_BEFORE; rc == 0 && side < DIFF_SIDES; side++)
        for (size_t i = 0; rc == 0 && i < options->n_traces[side]; i++) {
            r->side = (enum diff_side)side;
            r->trace = i;
            rc = read_trace(r, options->paths[side][i], err);
        }
    if (rc == 0)
        diff_rows_finish(r);
    map_free(&r->rows);
    map_free(&r->metrics);
    map_free(&r->pairs);
    map_free(&r->measured);
    return rc;
}
