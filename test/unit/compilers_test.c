/*
 * The CPU time of a JVM's compiler threads, from /proc: this process is the JVM.
 */
#include "core/jvm/compilers.h"

#include "test/unit/tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

/* What a thread is to do next, and what it has done. */
struct worker {
    pthread_t thread;
    const char *name;
    _Atomic int wanted, done; /* 1: takes its name, and works for 20 ms; 2: ends */
};

static uint64_t own_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static void *run(void *argument)
{
    struct worker *worker = argument;
    while (atomic_load(&worker->wanted) < 2) {
        if (atomic_load(&worker->wanted) == 1 && atomic_load(&worker->done) == 0) {
            prctl(PR_SET_NAME, worker->name);
            while (own_cpu_ns() < SECOND / 50)
                continue;
            atomic_store(&worker->done, 1);
        }
        usleep(1000);
    }
    return NULL;
}

static void start(struct worker *worker, const char *name)
{
    worker->name = name;
    pthread_create(&worker->thread, NULL, run, worker);
}

static void work(struct worker *worker)
{
    atomic_store(&worker->wanted, 1);
    while (atomic_load(&worker->done) == 0)
        usleep(1000);
}

static void end(struct worker *worker)
{
    atomic_store(&worker->wanted, 2);
    pthread_join(worker->thread, NULL);
}

static bool is_about(uint64_t ns, unsigned n_workers)
{
    return ns >= n_workers * SECOND / 50 && ns < (n_workers + 1) * SECOND / 50;
}

int main(void)
{
    static struct worker first, late, other;
    struct jvm_compilers compilers = { .pid = getpid() };
    start(&other, "Reference Handl");
    work(&other);
    CHECK("without compilers nothing is known", jvm_compilers_cpu_ns(&compilers, SECOND) == JVM_CPU_UNKNOWN);
    start(&first, "C2 CompilerThre");
    work(&first);
    CHECK("threads are looked for twice a second", jvm_compilers_cpu_ns(&compilers, SECOND + 1000) == JVM_CPU_UNKNOWN);
    start(&late, "C1 Comp..hread0");
    CHECK("then a compiler counts, and no other thread", is_about(jvm_compilers_cpu_ns(&compilers, 2 * SECOND), 1));
    work(&late);
    CHECK("one that had no name when it was new does, too", is_about(jvm_compilers_cpu_ns(&compilers, 3 * SECOND), 2));
    end(&first);
    CHECK("and one that has ended", is_about(jvm_compilers_cpu_ns(&compilers, 4 * SECOND), 2));
    end(&late);
    end(&other);
    return tap_done();
}
