#include "phases/select/select.h"

#include "report/view/tables.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

static struct arena arena;
static struct err err;

static void test_thresholds(void)
{
    double thresholds[SWEEP_THRESHOLDS_MAX];
    size_t n = sweep_thresholds(1e-6, 0.5, 1, thresholds);
    CHECK_NUMBER("from 1e-6 to 0.5 there are 58 thresholds", n, 58);
    CHECK("the first is the lowest, the last the highest", thresholds[0] == 1e-6 && thresholds[n - 1] == 0.5);
    n = sweep_thresholds(1e-8, 1, 2, thresholds);
    CHECK_NUMBER("every second from 1e-8 to 1: five a decade", n, 41);
    bool is_ascending = true;
    for (size_t i = 1; i < n; i++)
        is_ascending = is_ascending && thresholds[i] > thresholds[i - 1] * 1.4;
    CHECK("they ascend in equal steps", is_ascending);
    CHECK_NUMBER("there is no end of a too long range", sweep_thresholds(1e-30, 1, 1, thresholds),
                 SWEEP_THRESHOLDS_MAX);
}

/* The thesis' example, from its trace. */
struct example {
    struct trace_reader *reader;
    struct calltree tree;
    struct report_source source;
    struct calltree_total *totals;
    size_t n_totals;
};

static void make_example(struct maker *m, struct example *e)
{
    maker_open(m, "sweep.dat");
    maker_figure_3_3(m);
    maker_close(m, 1830);
    e->reader = maker_read(m);
    maker_must(m, calltree_build(e->reader, &(struct calltree_options){ 0 }, &e->tree, &m->err));
    calltree_totals(&e->tree, VM_PART_APPLICATION, &arena, &e->totals, &e->n_totals);
    e->source = (struct report_source){ .path = "t.dat",
                                        .reader = e->reader,
                                        .tree = &e->tree,
                                        .clock = report_clock(&e->tree, PHASES_CPU),
                                        .arena = &arena };
}

/* Each pair of thresholds selects what phases_select() does. */
static bool agrees(const struct sweep *sweep, const struct example *e, uint64_t all_ticks,
                   const struct budget_base *base)
{
    for (size_t w = 0; w < sweep->n_weights; w++)
        for (size_t g = 0; g < sweep->n_grains; g++) {
            struct phases_criteria options = { e->source.clock, sweep->weights[w], sweep->grains[g], 1 };
            struct phases_choice choice;
            if (phases_select(e->totals, e->n_totals, all_ticks, base, &options, &arena, &choice, &err) < 0)
                return false;
            const struct sweep_cell *cell = sweep_at(sweep, w, g);
            if (choice.n_chosen != cell->n_methods || choice.n_calls != cell->n_calls)
                return false;
        }
    return true;
}

static void test_example(void)
{
    struct maker m;
    struct example e;
    struct sweep sweep = { .n_weights = 0 };
    struct table table;
    make_example(&m, &e);
    uint64_t all_ticks = phases_all_ticks(&e.tree, e.source.clock);
    struct budget_base base = phases_budget_base(&e.tree, all_ticks, true);
    sweep.n_weights = sweep_thresholds(1e-4, 1, 1, sweep.weights);
    sweep.n_grains = sweep_thresholds(1e-3, 1, 3, sweep.grains);
    sweep_compute(&sweep, e.totals, e.n_totals, all_ticks, e.source.clock, &arena);
    CHECK_NUMBER("the lowest thresholds select all ten methods", sweep_at(&sweep, 0, 0)->n_methods, 10);
    CHECK_NUMBER("and all calls", sweep_at(&sweep, 0, 0)->n_calls, 656);
    uint64_t self_ticks = 0;
    for (size_t i = 0; i < e.n_totals; i++)
        self_ticks += phases_self_ticks(&e.totals[i], e.source.clock);
    CHECK_NUMBER("with all their own time", sweep_at(&sweep, 0, 0)->self_ticks, self_ticks);
    CHECK_NUMBER("the highest select main alone", sweep_at(&sweep, sweep.n_weights - 1, sweep.n_grains - 1)->n_methods,
                 1);
    CHECK("each pair selects what 'mmprof phases' selects with it", agrees(&sweep, &e, all_ticks, &base));
    sweep_table(&e.source, &sweep, &base, &table);
    CHECK_NUMBER("with a row for each pair", table.n_rows, sweep.n_weights * sweep.n_grains);
    CHECK("the estimated overhead is the share of the calls", table.rows[0].cells[4].number == 1);
    CHECK("without a calibrated probe its time is not known", table.rows[0].cells[5].value == TABLE_UNMEASURED);
    calltree_free(&e.tree);
    trace_close(e.reader);
    arena_free(&arena);
}

int main(void)
{
    test_thresholds();
    test_example();
    return tap_done();
}
