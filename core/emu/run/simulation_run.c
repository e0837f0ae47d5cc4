#include "core/emu/run/simulation_run.h"

#include "core/emu/run/simulated_read.h"
#include "core/recorder/shared_file.h"
#include "core/trace/recording_info.h"

#include <sys/mman.h>

#define PLUGIN_LIBRARY "libmmprof-sim.so"

/* QEMU separates arguments by commas, and takes two for one. */
void simulation_append(char *option, size_t n, const char *text)
{
    size_t at = strlen(option);
    for (; *text != '\0' && at + 3 < n; text++) {
        option[at++] = *text;
        if (*text == ',')
            option[at++] = ',';
    }
    option[at] = '\0';
}

int simulation_name_plugin(const char *agent, const char *library, char *option, size_t n, struct err *err)
{
    char path[PATH_MAX];
    const char *slash = strrchr(agent, '/');
    int length = slash == NULL ? 0 : (int)(slash + 1 - agent);
    if ((size_t)snprintf(path, sizeof path, "%.*s%s", length, agent, library) >= sizeof path ||
        access(path, R_OK) < 0) {
        err_set(err, "cannot find '%s' beside '%s'", library, agent);
        return err_next(err, "run 'make' or 'make install' again");
    }
    option[0] = '\0';
    simulation_append(option, n, path);
    return (int)strlen(option);
}

static int name_plugin(struct simulation_run *run, const char *agent, struct err *err)
{
    size_t room = sizeof run->plugin;
    int n = simulation_name_plugin(agent, PLUGIN_LIBRARY, run->plugin, room - 64, err);
    if (n < 0)
        return -1;
    n += snprintf(run->plugin + n, room - (size_t)n, ",memory=/proc/%d/fd/%d", (int)getpid(), run->fd);
    if (run->log_fd >= 0)
        snprintf(run->plugin + n, room - (size_t)n, ",log=/proc/%d/fd/%d", (int)getpid(), run->log_fd);
    return 0;
}

static void close_files(const struct simulation_run *run)
{
    if (run->fd >= 0)
        close(run->fd);
    if (run->log_fd >= 0)
        close(run->log_fd);
}

static int make_slots(struct simulation_run *run, struct err *err)
{
    run->n_bytes = sim_slots_bytes(SIM_SLOTS_MAX);
    run->fd = shared_file_make("mmprof-simulated", run->n_bytes, err);
    if (run->fd >= 0 && !run->counts_only)
        run->log_fd = shared_file_log("mmprof-misses", err);
    void *at = MAP_FAILED;
    if (run->fd >= 0 && (run->counts_only || run->log_fd >= 0)) {
        at = mmap(NULL, run->n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, run->fd, 0);
        if (at == MAP_FAILED)
            err_set(err, "cannot map the memory for simulated counters: %s", strerror(errno));
    }
    if (at == MAP_FAILED) {
        close_files(run);
        return -1;
    }
    run->slots = at;
    run->slots->magic = SIM_SLOTS_MAGIC;
    run->slots->n_slots = SIM_SLOTS_MAX;
    run->slots->model = run->model;
    run->slots->window = run->window;
    run->slots->sets = run->sets;
    return 0;
}

static void close_run(void *context)
{
    struct simulation_run *run = context;
    misses_log_free(&run->misses);
    if (run->slots == NULL)
        return;
    munmap(run->slots, run->n_bytes);
    close_files(run);
    run->slots = NULL;
}

static int open_run(void *context, const struct recorder_plan *plan, struct launch_emulator *how, struct err *err)
{
    struct simulation_run *run = context;
    run->fd = run->log_fd = -1;
    if (simulation_find_emulator(run->emulator, sizeof run->emulator, err) < 0 || make_slots(run, err) < 0)
        return -1;
    if (!launch_is_java(plan->argv[0], run->program))
        run->program[0] = '\0';
    *how = (struct launch_emulator){ run->emulator, run->plugin, run->program[0] == '\0' ? NULL : run->program };
    if (name_plugin(run, plan->agent, err) == 0)
        return 0;
    close_run(run);
    return -1;
}

/* ---- while it runs ---- */

static void begin_log(void *context, struct ip_samples *ip_samples, struct threads *threads)
{
    struct simulation_run *run = context;
    misses_log_init(&run->misses, run->log_fd, ip_samples, threads);
}

static int write_log(void *context, struct trace_writer *writer, uint64_t now_ns, uint64_t until_ticks, bool is_last,
                     struct err *err)
{
    struct simulation_run *run = context;
    return misses_log_write(&run->misses, writer, now_ns, until_ticks, is_last, err);
}

static bool find_thread(void *context, int32_t tid, struct simulated_thread *thread)
{
    struct simulation_run *run = context;
    return simulated_find(run->slots, tid, thread);
}

/* Of threads whose slots were given to later ones, nothing is known any more. */
static uint64_t count_instructions(const void *context)
{
    const struct simulation_run *run = context;
    const struct sim_slots *slots = run->slots;
    uint32_t n = slots == NULL ? 0 : atomic_load(&slots->n_used);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n && i < SIM_SLOTS_MAX; i++)
        sum += slots->slots[i].counts[slots->window.counted > 0 ? SIM_EXECUTED : SIM_INSTRUCTIONS];
    return sum;
}

/* ---- what the trace says of it ---- */

/* The model as its file's lines, on one. */
static int write_model(const void *context, struct trace_writer *writer, struct err *err)
{
    const struct simulation_run *run = context;
    char text[SIM_TEXT_BYTES], window[SIM_WINDOW_TEXT_BYTES];
    sim_model_print(&run->model, text, sizeof text);
    size_t n = 0;
    for (const char *c = text; *c != '\0'; c++) {
        char shown = *c == '\n' ? ';' : *c;
        if (shown != ' ' || (n > 0 && text[n - 1] != ' '))
            text[n++] = shown;
    }
    text[n] = '\0';
    if (info_write_text(writer, INFO_SIMULATED, run->model.name, err) < 0 ||
        info_write_text(writer, INFO_SIMULATED_MODEL, text, err) < 0)
        return -1;
    if (run->sets > 0 && info_write_count(writer, INFO_SIMULATED_SETS, run->sets, err) < 0)
        return -1;
    sim_window_print(&run->window, window, sizeof window);
    return run->window.counted == 0 ? 0 : info_write_text(writer, INFO_SIMULATED_WINDOW, window, err);
}

static struct info_left_out sum_left_out(const struct simulation_run *run)
{
    const struct sim_slots *slots = run->slots;
    uint32_t n = slots == NULL ? 0 : atomic_load(&slots->n_used);
    struct info_left_out sum = { 0, 0, 0 };
    for (uint32_t i = 0; i < n && i < SIM_SLOTS_MAX; i++) {
        const struct sim_slot *slot = &slots->slots[i];
        sum.n_instructions += slot->own[SIM_OWN_INSTRUCTIONS];
        sum.n_accesses += slot->own[SIM_OWN_ACCESSES];
        sum.n_simulated += slot->counts[SIM_L1D_LOADS] + slot->counts[SIM_L1D_STORES];
    }
    return sum;
}

/* Of all threads' counts together. */
static struct info_sets_error sum_sets(const struct simulation_run *run)
{
    const struct sim_slots *slots = run->slots;
    uint32_t n = atomic_load(&slots->n_used);
    struct sim_sets_counts sum = { 0 };
    double errors[SIM_SETS_KINDS], degrees = 0;
    for (uint32_t i = 0; i < n && i < SIM_SLOTS_MAX; i++)
        for (int class = 0; class < SIM_SET_CLASSES; class ++)
            for (int kind = 0; kind < SIM_SETS_KINDS; kind++)
                sum.misses[class][kind] += slots->slots[i].sets.misses[class][kind];
    for (int kind = 0; kind < SIM_SETS_KINDS; kind++) {
        struct sim_sets_estimate told =
            sim_sets_estimate(&sum, sim_sets_draw(slots->sets, SIM_SETS_SEED), (enum sim_sets_kind)kind);
        errors[kind] = told.total > 0 ? sqrt(told.variance) / told.total : 0;
        degrees = told.degrees_of_freedom;
    }
    return (struct info_sets_error){ (uint64_t)degrees, errors[SIM_SETS_L1D], errors[SIM_SETS_L1I],
                                     errors[SIM_SETS_L2] };
}

static int write_end(const void *context, struct trace_writer *writer, struct err *err)
{
    const struct simulation_run *run = context;
    if (run->slots == NULL)
        return 0;
    const struct info_left_out left_out = sum_left_out(run);
    const struct info_sets_error sets_error = sum_sets(run);
    if (run->slots->sets > 0 && info_write(writer, INFO_SIMULATED_SETS_ERROR, 0, &sets_error, INFO_ALL_FIELDS, err) < 0)
        return -1;
    return info_write(writer, INFO_SIMULATED_LEFT_OUT, 0, &left_out, INFO_ALL_FIELDS, err);
}

struct recorder_simulation simulation_run_of(struct simulation_run *run)
{
    return (struct recorder_simulation){ .context = run,
                                         .model = run->model.name,
                                         .counts_only = run->counts_only,
                                         .open = open_run,
                                         .begin = begin_log,
                                         .find = find_thread,
                                         .n_instructions = count_instructions,
                                         .write_log = write_log,
                                         .write_model = write_model,
                                         .write_end = write_end,
                                         .close = close_run };
}
