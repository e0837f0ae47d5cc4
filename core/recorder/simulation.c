#include "core/recorder/simulation.h"

#include "core/base/privileges.h"
#include "core/recorder/launch.h"
#include "core/recorder/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define EMULATOR "qemu-x86_64"
#else
#define EMULATOR "qemu-aarch64"
#endif

#define PLUGIN_LIBRARY "libmmprof-sim.so"

/* As execvp finds it. */
static bool find_on_path(const char *name, char *path, size_t n)
{
    const char *path_part = privileges_path();
    if (strchr(name, '/') != NULL)
        return (size_t)snprintf(path, n, "%s", name) < n && access(path, X_OK) == 0;
    while (*path_part != '\0') {
        size_t length = strcspn(path_part, ":");
        if ((size_t)snprintf(path, n, "%.*s/%s", (int)length, path_part, name) < n && access(path, X_OK) == 0)
            return true;
        path_part += length + (path_part[length] == ':');
    }
    return false;
}

int simulation_find_emulator(char *path, size_t n, struct err *err)
{
    if (find_on_path(EMULATOR, path, n))
        return 0;
    err_set(err, "the simulation needs " EMULATOR ", which is not installed");
    return err_next(err, "install QEMU 6.0 or later with plugins: on Debian 12, 'apt-get install qemu-user'");
}

bool simulation_find_java(const char *command, char *path, size_t n)
{
    char magic[4] = "";
    int fd = launch_is_java(command) && find_on_path(command, path, n) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    bool is_binary = fd >= 0 && read(fd, magic, 4) == 4 && memcmp(magic, "\177ELF", 4) == 0;
    if (fd >= 0)
        close(fd);
    if (!is_binary)
        path[0] = '\0';
    return is_binary;
}

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

static int name_plugin(struct simulation *simulation, const char *agent, struct err *err)
{
    size_t room = sizeof simulation->plugin;
    int n = simulation_name_plugin(agent, PLUGIN_LIBRARY, simulation->plugin, room - 64, err);
    if (n < 0)
        return -1;
    n += snprintf(simulation->plugin + n, room - (size_t)n, ",memory=/proc/%d/fd/%d", (int)getpid(), simulation->fd);
    if (simulation->log_fd >= 0)
        snprintf(simulation->plugin + n, room - (size_t)n, ",log=/proc/%d/fd/%d", (int)getpid(), simulation->log_fd);
    return 0;
}

static void close_files(const struct simulation *simulation)
{
    if (simulation->fd >= 0)
        close(simulation->fd);
    if (simulation->log_fd >= 0)
        close(simulation->log_fd);
}

static int make_slots(struct simulation *simulation, const struct recorder_plan *plan, struct err *err)
{
    simulation->n_bytes = sim_slots_bytes(SIM_SLOTS_MAX);
    simulation->fd = shared_file_make("mmprof-simulated", simulation->n_bytes, err);
    if (simulation->fd >= 0 && !plan->counts_only)
        simulation->log_fd = shared_file_log("mmprof-misses", err);
    void *at = MAP_FAILED;
    if (simulation->fd >= 0 && (plan->counts_only || simulation->log_fd >= 0)) {
        at = mmap(NULL, simulation->n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, simulation->fd, 0);
        if (at == MAP_FAILED)
            err_set(err, "cannot map the memory for simulated counters: %s", strerror(errno));
    }
    if (at == MAP_FAILED) {
        close_files(simulation);
        return -1;
    }
    simulation->slots = at;
    simulation->slots->magic = SIM_SLOTS_MAGIC;
    simulation->slots->n_slots = SIM_SLOTS_MAX;
    simulation->slots->model = *plan->simulate;
    simulation->slots->window = plan->window;
    simulation->slots->sets = plan->sets;
    return 0;
}

int simulation_open(struct simulation *simulation, const struct recorder_plan *plan, struct err *err)
{
    *simulation = (struct simulation){ .fd = -1, .log_fd = -1 };
    if (simulation_find_emulator(simulation->emulator, sizeof simulation->emulator, err) < 0 ||
        make_slots(simulation, plan, err) < 0)
        return -1;
    simulation_find_java(plan->argv[0], simulation->program, sizeof simulation->program);
    if (name_plugin(simulation, plan->agent, err) == 0)
        return 0;
    simulation_close(simulation);
    return -1;
}

/* Of threads whose slots were given to later ones, nothing is known any more. */
uint64_t simulation_instructions(const struct simulation *simulation)
{
    const struct sim_slots *slots = simulation->slots;
    uint32_t n = slots == NULL ? 0 : atomic_load(&slots->n_used);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n && i < SIM_SLOTS_MAX; i++)
        sum += slots->slots[i].counts[slots->window.counted > 0 ? SIM_EXECUTED : SIM_INSTRUCTIONS];
    return sum;
}

static struct info_left_out sum_left_out(const struct simulation *simulation)
{
    const struct sim_slots *slots = simulation->slots;
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
static struct info_sets_error sum_sets(const struct simulation *simulation)
{
    const struct sim_slots *slots = simulation->slots;
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

int simulation_write_info(const struct simulation *simulation, struct trace_writer *writer, struct err *err)
{
    if (simulation->slots == NULL)
        return 0;
    const struct info_left_out left_out = sum_left_out(simulation);
    const struct info_sets_error sets_error = sum_sets(simulation);
    if (simulation->slots->sets > 0 &&
        info_write(writer, INFO_SIMULATED_SETS_ERROR, 0, &sets_error, INFO_ALL_FIELDS, err) < 0)
        return -1;
    return info_write(writer, INFO_SIMULATED_LEFT_OUT, 0, &left_out, INFO_ALL_FIELDS, err);
}

void simulation_describe(const struct simulation_state *state, char *text, size_t n)
{
    int length = snprintf(text, n, "%.2f G instructions", (double)state->n_instructions / 1e9);
    if (state->cpu_s > 0 && length > 0 && (size_t)length < n)
        snprintf(text + length, n - (size_t)length, ", %.1f M in a second of CPU time",
                 (double)state->n_instructions / state->cpu_s / 1e6);
}

void simulation_progress(const struct simulation_state *state, struct progress *progress)
{
    char text[128], slowdown[64] = "-", left[64] = "-";
    simulation_describe(state, text, sizeof text);
    if (state->alone_cpu_s > 0 && state->cpu_s > 0)
        snprintf(slowdown, sizeof slowdown, "%.1f so far", state->cpu_s / state->alone_cpu_s);
    if (state->left_s >= 0)
        snprintf(left, sizeof left, "%.1f s", state->left_s);
    progress_line(progress, "%.1f s, %s, slowdown %s, left %s", state->elapsed_s, text, slowdown, left);
}

void simulation_close(struct simulation *simulation)
{
    if (simulation->slots == NULL)
        return;
    munmap(simulation->slots, simulation->n_bytes);
    close_files(simulation);
    simulation->slots = NULL;
}
