/* What the laboratory adds to mmprof's own commands. */
#include "cmd/parts.h"
#include "cmd/recording.h"
#include "cmd/report_run.h"
#include "core/emu/run/simulation_run.h"
#include "core/pmu/simulated.h"
#include "report/findings/advice.h"
#include "report/view/bytecode_names.h"
#include "report/view/last_uses.h"
#include "report/view/live_bytes.h"
#include "report/view/misses_report.h"

#define FIELDS_MOST  200 /* rows of a page */
#define NAME_COLUMNS 28

/* ---- views of 'mmprof report' of a simulated trace, and its page's table of fields ---- */

static int misses_view(struct report_run *run, struct table *table, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_source *source = run->traces[0].source;
    enum misses_by by = MISSES_BY_CLASS;
    struct misses misses = { .locations = NULL };
    if (o->argument[0] != '\0' && misses_way(o->argument, &by, err) < 0)
        return -1;
    if (o->java && by == MISSES_CONTENTS) {
        err_set(err, "the contents of the caches are not recorded by the code that loaded them");
        return err_next(err, "remove it, or use --view misses=class,java");
    }
    int rc = misses_read(source, o->salvage, by, 0, &misses, err);
    if (rc == 0 && o->java)
        misses_keep_java(&misses);
    if (rc == 0)
        rc = misses_table(source, &misses, by, o->rows.top, o->sources, table, err);
    misses_free(&misses);
    return rc;
}

static int fields_view(struct report_run *run, struct table *table, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_source *source = run->traces[0].source;
    struct misses misses = { .locations = NULL };
    bool by_class;
    if (fields_way(o->argument, "--view fields", &by_class, err) < 0)
        return -1;
    int rc = misses_read(source, o->salvage, MISSES_BY_FIELD, o->decay_s, &misses, err);
    if (rc == 0 && o->java)
        misses_keep_java(&misses);
    if (rc == 0)
        rc = fields_table(source, &misses, by_class, o->rows.top, table, err);
    misses_free(&misses);
    return rc;
}

static int fields_of_page(struct report_run *run, struct table *table)
{
    const struct report_source *source = run->traces[0].source;
    struct misses misses = { .locations = NULL };
    struct err none;
    int rc = misses_read(source, run->options->salvage, MISSES_BY_FIELD, run->options->decay_s, &misses, &none);
    if (rc == 0)
        rc = fields_table(source, &misses, false, FIELDS_MOST, table, &none);
    misses_free(&misses);
    return rc;
}

/* ---- --simulate of record and profile ---- */

/* "": by default. */
static int choose_sets(const char *share, const struct sim_model *model, uint32_t *n, struct err *err)
{
    *n = SIM_SETS_DEFAULT;
    if (share == NULL)
        *n = 0;
    else if (share[0] != '\0' && sim_sets_read(share, n, err) < 0)
        return -1;
    return sim_sets_check(model, *n, err);
}

static int simulated_recording(const struct recording *recording, struct recorder_plan *plan, struct arena *arena,
                               struct recording_counters *counters, struct err *err)
{
    const char *sizes = recording->window;
    struct simulation_run *run = arena_alloc(arena, sizeof *run);
    struct recorder_simulation *simulation = arena_alloc(arena, sizeof *simulation);
    *run = (struct simulation_run){ .counts_only = recording->counts_only };
    if (sim_model_load(recording->simulate[0] == '\0' ? SIM_MODEL_DEFAULT : recording->simulate, &run->model, err) <
            0 ||
        choose_sets(recording->sets, &run->model, &run->sets, err) < 0)
        return -1;
    *simulation = simulation_run_of(run);
    plan->simulation = simulation;
    if (simulated_choose(recording->events, arena, &counters->events, &counters->layout, err) < 0)
        return -1;
    if (sizes == NULL || counters->layout.n_groups == 0)
        return 0;
    return sim_window_read(sizes[0] == '\0' ? SIM_WINDOW_DEFAULT : sizes, &run->window, err) < 0
               ? -1
               : simulated_choose_windows(arena, &counters->events, &counters->layout, err);
}

/* ---- models of processors ---- */

static void print_models(void)
{
    const char *what, *name;
    puts("models");
    for (size_t i = 0; (name = sim_model_preset(i, &what)) != NULL; i++)
        printf("  %-*s  %s\n", NAME_COLUMNS / 2, name, what);
    puts("\nsimulated events; * are the default ones");
    for (const struct simulated_event *event = simulated_events; event->name != NULL; event++)
        printf("  %-*s%c %s\n", NAME_COLUMNS - 8, event->name, event->is_default ? '*' : ' ', event->description);
}

static int print_model(const char *name, struct err *err)
{
    struct sim_model model;
    char text[SIM_TEXT_BYTES];
    if (sim_model_load(name, &model, err) < 0)
        return -1;
    sim_model_print(&model, text, sizeof text);
    printf("# %s\n%s", model.name, text);
    return 0;
}

static int simulated_models(bool all, const char *model, struct err *err)
{
    if (all)
        print_models();
    return model != NULL ? print_model(model, err) : 0;
}

/* ---- 'mmprof advise --memtrace' ---- */

static int advise_memory(const char *memtrace, const struct folding_list *libraries,
                         int (*print)(void *context, const struct advice_memory *memory, struct err *err),
                         void *context, struct err *err)
{
    struct last_uses uses = { .n = 0 };
    struct live_bytes live = { .time = 0 };
    struct live_points points = { NULL, 0, 0 };
    const struct advice_memory memory = { &advice_memory_rules, &uses, &live, &points };
    int rc = last_uses_file(&uses, memtrace, err);
    if (rc == 0)
        last_uses_fold(&uses, libraries);
    if (rc == 0)
        rc = live_bytes_file(&live, memtrace, err);
    if (rc == 0) {
        live_points_find(&live, &points);
        rc = print(context, &memory, err);
    }
    live_points_free(&points);
    live_bytes_free(&live);
    last_uses_free(&uses);
    return rc;
}

const struct program_parts parts = { .simulate = simulated_recording,
                                     .models = simulated_models,
                                     .misses_view = misses_view,
                                     .fields_view = fields_view,
                                     .fields_of_page = fields_of_page,
                                     .advise_memory = advise_memory };
