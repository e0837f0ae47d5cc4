#include "core/agent/compiling.h"

#include "core/agent/own_threads.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define THREADS_MAX 16u
#define POLL_NS     1000000

static _Atomic uint32_t n_optimized;

void compiling_note(uint32_t tier)
{
    if (tier == COMPILING_OPTIMIZED)
        atomic_fetch_add_explicit(&n_optimized, 1, memory_order_relaxed);
}

/* Waits for work: a thread that waits for a CPU is not asleep. */
static bool is_asleep(pid_t tid)
{
    char path[48], text[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    FILE *file = fopen(path, "re");
    const char *behind_name = file != NULL && fgets(text, sizeof text, file) != NULL ? strrchr(text, ')') : NULL;
    if (file != NULL)
        fclose(file);
    return behind_name == NULL || behind_name[1] == '\0' || behind_name[2] == 'S';
}

static bool are_asleep(const pid_t *tids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_asleep(tids[i]))
            return false;
    return true;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

double compiling_wait(uint32_t limit_ms, bool (*is_over)(const void *context), const void *context)
{
    const struct timespec pause = { 0, POLL_NS };
    pid_t tids[THREADS_MAX];
    double start = now_ms(), waited = 0;
    uint32_t before = atomic_load(&n_optimized);
    size_t n = limit_ms == 0 ? 0 : own_threads_find("C2 CompilerThre", tids, THREADS_MAX);
    while (waited < limit_ms && atomic_load(&n_optimized) == before && !are_asleep(tids, n) &&
           (is_over == NULL || !is_over(context))) {
        nanosleep(&pause, NULL);
        waited = now_ms() - start;
    }
    return waited;
}
