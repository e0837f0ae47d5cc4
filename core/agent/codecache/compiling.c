#include "core/agent/codecache/compiling.h"

#include "core/base/ticks.h"
#include "core/agent/codecache/own_vm.h"
#include "core/hotspot/vm_threads.h"

#include <dirent.h>
#include <stdatomic.h>

#define THREADS_MAX   16u
#define POLL_MS       1.0
#define PARTS_OF_WAIT 5
#define POLLS_OF_CALM 2 /* between two compilations of a queue there is a moment, too */

/* Until a part of the time that may be waited is over: the largest methods whose compilation may be lost. */
static const struct {
    double until;
    uint32_t n_bytes;
} small[] = { { 3.0 / 8, 50 }, { 6.0 / 8, 200 } };

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

/* ---- own threads ---- */

static bool has_name(const char *tid, const char *name)
{
    char path[64], comm[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.16s/comm", tid);
    FILE *file = fopen(path, "re");
    bool same = file != NULL && fgets(comm, sizeof comm, file) != NULL;
    if (file != NULL)
        fclose(file);
    comm[strcspn(comm, "\n")] = '\0';
    return same && strncmp(comm, name, strlen(name)) == 0;
}

size_t own_threads_find(const char *name, pid_t *tids, size_t room)
{
    DIR *tasks = opendir("/proc/self/task");
    size_t n = 0;
    for (const struct dirent *entry; tasks != NULL && n < room && (entry = readdir(tasks)) != NULL;)
        if (has_name(entry->d_name, name))
            tids[n++] = (pid_t)atoi(entry->d_name);
    if (tasks != NULL)
        closedir(tasks);
    return n;
}

/* ---- compilers ---- */

struct compilers {
    size_t n;
    pid_t tids[THREADS_MAX];
    uint64_t threads[THREADS_MAX]; /* the JVM's own; 0: not known */
    struct vm_compilation at[THREADS_MAX];
    uint32_t n_calm;           /* polls in a row that found nothing under way */
    bool has_begun, has_ended; /* a compilation, since the poll before */
};

static void find_compilers(struct compilers *compilers)
{
    compilers->n = own_threads_find("C2 Comp", compilers->tids, THREADS_MAX);
    for (size_t i = 0; i < compilers->n; i++) {
        compilers->threads[i] = vm_compiler_find(own_vm(), compilers->tids[i]);
        compilers->at[i] = vm_compiler_read(own_vm(), compilers->threads[i]);
    }
}

/* What are they at now? */
static void update(struct compilers *compilers)
{
    bool is_calm = true;
    compilers->has_begun = compilers->has_ended = false;
    for (size_t i = 0; i < compilers->n; i++) {
        uint32_t before = compilers->at[i].number, now;
        compilers->at[i] = vm_compiler_read(own_vm(), compilers->threads[i]);
        now = compilers->at[i].number;
        compilers->has_begun = compilers->has_begun || (now != 0 && now != before);
        compilers->has_ended = compilers->has_ended || (before != 0 && now != before);
        is_calm = is_calm && now == 0 && (compilers->threads[i] != 0 || is_asleep(compilers->tids[i]));
    }
    compilers->n_calm = is_calm ? compilers->n_calm + 1 : 0;
}

/* Is all that is under way of methods that are at most so large? */
static bool are_small(const struct compilers *compilers, uint32_t n_bytes)
{
    for (size_t i = 0; i < compilers->n; i++) {
        const struct vm_compilation *at = &compilers->at[i];
        bool is_idle = compilers->threads[i] != 0 && at->number == 0;
        bool is_small = at->n_bytes > 0 && at->n_bytes <= n_bytes && !at->is_of_loop;
        if (!is_idle && !is_small)
            return false;
    }
    return true;
}

/* Is little lost now, for how long it has been waited? */
static bool is_good(const struct compilers *compilers, const struct compiling_patience *patience, double waited,
                    bool was_told)
{
    if (compilers->n_calm == POLLS_OF_CALM)
        return true;
    if (patience->for_calm)
        return false;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (waited < small[i].until * patience->limit)
            return compilers->has_begun && are_small(compilers, small[i].n_bytes);
    return compilers->has_ended || was_told;
}

static void sleep_a_part(double waited_ms, double most_ms)
{
    double ms = waited_ms / PARTS_OF_WAIT;
    ms = ms < POLL_MS ? POLL_MS : ms > most_ms ? most_ms : ms;
    nanosleep(&(struct timespec){ 0, (long)(ms * 1e6) }, NULL);
}

double compiling_wait(struct compiling_patience patience, bool (*is_over)(const void *context), const void *context)
{
    struct compilers compilers = { .n = 0 };
    double start = clock_ms(CLOCK_MONOTONIC), waited = 0;
    uint32_t n_told = atomic_load(&n_optimized), n_before;
    if (patience.limit > 0)
        find_compilers(&compilers);
    while (waited < patience.limit && (is_over == NULL || !is_over(context))) {
        update(&compilers);
        n_before = n_told;
        n_told = atomic_load(&n_optimized);
        if (is_good(&compilers, &patience, waited, n_told != n_before))
            break;
        sleep_a_part(waited, patience.interval);
        waited = clock_ms(CLOCK_MONOTONIC) - start;
    }
    return waited;
}
