#include "core/recorder/simulation.h"

#include "core/base/privileges.h"
#include "core/recorder/launch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define EMULATOR "qemu-x86_64"
#else
#define EMULATOR "qemu-aarch64"
#endif

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
