/* Threads of this process that wait, and one that does not, as they are seen from outside. */
#include "core/hotspot/vm_state.h"
#include "core/recorder/wait_sampler.h"

#include "core/perf/perf_rings.h"
#include "test/unit/tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

static int ends[2];
static _Atomic int32_t sleeper, spinner, latecomer, n_woken;
static _Atomic bool is_over;

/* It waits in a read of a pipe, with a word on its stack that is not elsewhere. */
static void *sleep_there(void *mark)
{
    volatile uint64_t words[4] = { 1, 2, (uintptr_t)mark, 4 };
    char byte;
    sleeper = (int32_t)syscall(SYS_gettid);
    for (; read(ends[0], &byte, 1) == 1 && byte != 'e'; n_woken++)
        words[0]++;
    return NULL;
}

static void *spin(void *unused)
{
    spinner = (int32_t)syscall(SYS_gettid);
    while (!is_over)
        continue;
    return unused;
}

/* It begins late, and lives shortly. */
static void *nap_there(void *unused)
{
    latecomer = (int32_t)syscall(SYS_gettid);
    nanosleep(&(struct timespec){ 0, 200 * 1000000 }, NULL);
    return unused;
}

struct seen {
    uint64_t late_ns;
    uint32_t n_sleeper, n_spinner, n_running, n_same;
    bool is_in_read;
    uint64_t weight_ns;
    bool has_mark;
    uint64_t mark;
};

static int take(const struct thread_wait *wait, void *context)
{
    struct seen *seen = context;
    if (!wait->is_waiting) {
        seen->n_running += wait->tid == spinner;
        return 0;
    }
    seen->n_spinner += wait->tid == spinner;
    seen->late_ns += wait->tid == latecomer ? wait->weight_ns : 0;
    if (wait->tid != sleeper)
        return 0;
    seen->n_sleeper++;
    seen->n_same += wait->is_same;
    seen->is_in_read |= wait->call == SYS_read && wait->descriptor == WAIT_FILE;
    seen->weight_ns += wait->weight_ns;
    if (*wait->kept == NULL)
        *wait->kept = malloc(1);
    for (size_t i = 0; !wait->is_same && i + 8 <= wait->state.n_bytes; i += 8)
        seen->has_mark |= memcmp(wait->state.stack + i, &seen->mark, 8) == 0;
    return 0;
}

static void nap_ms(long ms)
{
    nanosleep(&(struct timespec){ 0, ms * 1000000 }, NULL);
}

/* Until the sleeper has been woken so often, and waits again. */
static void await_sleep(int32_t woken)
{
    char path[64], line[256], *state;
    for (bool is_asleep = false; !is_asleep; nap_ms(1)) {
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)sleeper);
        FILE *file = fopen(path, "r");
        is_asleep = n_woken >= woken && file != NULL && fgets(line, sizeof line, file) != NULL &&
                    (state = strrchr(line, ')')) != NULL && state[2] == 'S';
        if (file != NULL)
            fclose(file);
    }
}

static struct vm vm;

int main(void)
{
    struct seen seen = { .mark = (uintptr_t)&seen };
    struct wait_sampler *waits;
    struct wait_sampler_state state;
    struct err err = { "" };
    pthread_t threads[2], late;
    if (pipe(ends) < 0 || pthread_create(&threads[0], NULL, sleep_there, &seen) != 0 ||
        pthread_create(&threads[1], NULL, spin, NULL) != 0)
        return 1;
    while (sleeper == 0 || spinner == 0)
        nap_ms(1);
    await_sleep(0);
    vm_init(&vm, &(struct vm_library){ .pid = getpid() });
    if (wait_sampler_open(&waits, &vm, 4096, &err) < 0) {
        CHECK("where waits cannot be seen, it is said why", err.text[0] != '\0');
        SKIP("threads that wait", err.text);
    } else {
        uint64_t start_ns = kernel_now_ns();
        for (int i = 0; i < 6; i++) {
            wait_sampler_visit(waits, take, &seen);
            nap_ms(5);
            if (i != 3)
                continue;
            if (write(ends[1], "x", 1) != 1)
                return 1;
            await_sleep(1);
        }
        uint64_t took_ns = kernel_now_ns() - start_ns;
        CHECK("one that waits is met at each visit but the first", seen.n_sleeper == 5);
        CHECK("and stands for the time between them", seen.weight_ns > 20 * MS && seen.weight_ns <= took_ns);
        CHECK("its stack is copied from where it waits", seen.has_mark);
        CHECK("once, until it has had a CPU", seen.n_same == 3);
        CHECK("it is in a read of what is no socket", seen.is_in_read);
        CHECK("one that computes is met as such, never as one that waits", seen.n_spinner == 0 && seen.n_running == 5);
        wait_sampler_state(waits, &state);
        CHECK("visits are counted", state.n_visited >= 18 && state.n_same >= 3);
        start_ns = kernel_now_ns();
        wait_sampler_visit(waits, take, &seen);
        if (pthread_create(&late, NULL, nap_there, NULL) != 0)
            return 1;
        nap_ms(20);
        wait_sampler_meet(waits, latecomer);
        wait_sampler_visit(waits, take, &seen);
        took_ns = kernel_now_ns() - start_ns;
        CHECK("and stands for the time since the visit before", seen.late_ns >= 20 * MS && seen.late_ns <= took_ns);
        pthread_join(late, NULL);
        is_over = true;
        pthread_join(threads[1], NULL);
        CHECK("a thread that has ended is left out", wait_sampler_visit(waits, take, &seen) == 0);
        wait_sampler_add(waits, sleeper);
        wait_sampler_close(waits);
    }
    is_over = true;
    ssize_t n = write(ends[1], "e", 1);
    pthread_join(threads[0], NULL);
    return n == 1 ? tap_done() : 1;
}
