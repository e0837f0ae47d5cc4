#include "core/agent/compiling.h"

#include "core/agent/own_threads.h"
#include "core/agent/vm_compilers.h"

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

struct compilers {
    size_t n;
    pid_t tids[THREADS_MAX];
    uint64_t threads[THREADS_MAX];
    uint32_t numbers[THREADS_MAX]; /* of what each compiles; 0: nothing, or not known */
};

static void find_compilers(struct compilers *compilers)
{
    compilers->n = own_threads_find("C2 CompilerThre", compilers->tids, THREADS_MAX);
    for (size_t i = 0; i < compilers->n; i++) {
        compilers->threads[i] = vm_compiler_find(compilers->tids[i]);
        compilers->numbers[i] = vm_compiler_number(compilers->threads[i]);
    }
}

/* Has a compilation ended since? */
static bool has_one_ended(struct compilers *compilers)
{
    bool has = false;
    for (size_t i = 0; i < compilers->n; i++) {
        uint32_t before = compilers->numbers[i];
        compilers->numbers[i] = vm_compiler_number(compilers->threads[i]);
        has = has || (before != 0 && compilers->numbers[i] != before);
    }
    return has;
}

double compiling_wait(uint32_t limit_ms, bool (*is_over)(const void *context), const void *context)
{
    const struct timespec pause = { 0, POLL_NS };
    struct compilers compilers = { .n = 0 };
    double start = now_ms(), waited = 0;
    uint32_t before = atomic_load(&n_optimized);
    if (limit_ms > 0)
        find_compilers(&compilers);
    while (waited < limit_ms && atomic_load(&n_optimized) == before && !has_one_ended(&compilers) &&
           !are_asleep(compilers.tids, compilers.n) && (is_over == NULL || !is_over(context))) {
        nanosleep(&pause, NULL);
        waited = now_ms() - start;
    }
    return waited;
}
