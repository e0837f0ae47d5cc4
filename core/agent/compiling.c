#include "core/agent/compiling.h"

#include "core/agent/own_threads.h"
#include "core/agent/vm_compilers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define THREADS_MAX   16u
#define POLL_NS       1000000
#define POLL_LATER_NS 10000000 /* when it takes longer: waking up costs 20 us */
#define LATER_MS      50
#define LOOKS_OF_CALM 2 /* between two compilations of a queue there is a moment, too */

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

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

struct compilers {
    size_t n;
    pid_t tids[THREADS_MAX];
    uint64_t threads[THREADS_MAX]; /* the JVM's own; 0: not known */
    uint32_t numbers[THREADS_MAX]; /* of what each compiles; 0: nothing, or not known */
    uint32_t n_calm;               /* looks in a row that found nothing under way */
};

static void find_compilers(struct compilers *compilers)
{
    compilers->n = own_threads_find("C2 CompilerThre", compilers->tids, THREADS_MAX);
    for (size_t i = 0; i < compilers->n; i++) {
        compilers->threads[i] = vm_compiler_find(compilers->tids[i]);
        compilers->numbers[i] = vm_compiler_number(compilers->threads[i]);
    }
}

/* What are they at now?  Returns whether a compilation has ended since the look before. */
static bool look(struct compilers *compilers)
{
    bool has_ended = false, is_calm = true;
    for (size_t i = 0; i < compilers->n; i++) {
        uint32_t before = compilers->numbers[i];
        compilers->numbers[i] = vm_compiler_number(compilers->threads[i]);
        has_ended = has_ended || (before != 0 && compilers->numbers[i] != before);
        is_calm =
            is_calm && compilers->numbers[i] == 0 && (compilers->threads[i] != 0 || is_asleep(compilers->tids[i]));
    }
    compilers->n_calm = is_calm ? compilers->n_calm + 1 : 0;
    return has_ended;
}

double compiling_wait(uint32_t calm_ms, uint32_t limit_ms, bool (*is_over)(const void *context), const void *context)
{
    struct compilers compilers = { .n = 0 };
    double start = now_ms(), waited = 0;
    bool has_ended = false;
    if (limit_ms > 0)
        find_compilers(&compilers);
    while (waited < limit_ms && (!has_ended || waited < calm_ms) && (is_over == NULL || !is_over(context))) {
        uint32_t before = atomic_load(&n_optimized);
        has_ended = look(&compilers);
        if (compilers.n_calm == LOOKS_OF_CALM)
            break;
        nanosleep(&(struct timespec){ 0, waited < LATER_MS ? POLL_NS : POLL_LATER_NS }, NULL);
        has_ended = has_ended || atomic_load(&n_optimized) != before;
        waited = now_ms() - start;
    }
    return waited;
}
