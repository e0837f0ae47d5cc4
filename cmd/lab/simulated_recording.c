#include "cmd/lab/lab_command.h"

#include "core/emu/run/simulation_run.h"
#include "core/pmu/simulated_events.h"

#define NAME_COLUMNS 28

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

int simulated_recording(const struct recording *recording, struct recorder_plan *plan, struct arena *arena,
                        struct recording_counters *counters, struct err *err)
{
    const char *sizes = recording->window;
    struct simulation_run *run = arena_alloc(arena, sizeof *run);
    struct recorder_simulation *simulation = arena_alloc(arena, sizeof *simulation);
    if (run == NULL || simulation == NULL)
        return err_set(err, "out of memory");
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

int simulated_models(bool all, const char *model, struct err *err)
{
    if (all)
        print_models();
    return model != NULL ? print_model(model, err) : 0;
}
