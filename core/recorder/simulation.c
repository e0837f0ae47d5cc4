#include "core/recorder/simulation.h"

#if defined(__x86_64__)
#define EMULATOR "qemu-x86_64"
#else
#define EMULATOR "qemu-aarch64"
#endif

int simulation_find_emulator(char *path, size_t n, struct err *err)
{
    if (launch_find(EMULATOR, path, n))
        return 0;
    err_set(err, "the simulation needs " EMULATOR ", which is not installed");
    return err_next(err, "install QEMU 6.0 or later with plugins: on Debian 12, 'apt-get install qemu-user'");
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
