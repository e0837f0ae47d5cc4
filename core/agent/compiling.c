#include "core/agent/compiling.h"

#include "core/agent/own_threads.h"
#include "core/agent/vm_compilers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define THREADS_MAX   16u
#define LOOK_MS       1.0
#define PARTS_OF_WAIT 5
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

static void sleep_a_part(double waited_ms, double most_ms)
{
    double ms = waited_ms / PARTS_OF_WAIT;
    ms = ms < LOOK_MS ? LOOK_MS : ms > most_ms ? most_ms : ms;
    nanosleep(&(struct timespec){ 0, (long)(ms * 1e6) }, NULL);
}

double compiling_wait(struct compiling_patience patience, bool (*is_over)(const void *context), const void *context)
{
    struct compilers compilers = { .n = 0 };
    double start = now_ms(), waited = 0;
    bool has_ended = false;
    if (patience.limit > 0)
        find_compilers(&compilers);
    while (waited < patience.limit && (!has_ended || waited < patience.calm) &&
           (is_over == NULL || !is_over(context))) {
        uint32_t before = atomic_load(&n_optimized);
        has_ended = look(&compilers);
        if (compilers.n_calm == LOOKS_OF_CALM)
            break;
        sleep_a_part(waited, patience.look);
        has_ended = has_ended || atomic_load(&n_optimized) != before;
        waited = now_ms() - start;
    }
    return waited;
}
