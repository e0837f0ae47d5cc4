/* What the optimizing compiler is at: threads that bear its name, and do what it does. */
#include "core/agent/codecache/compiling.h"

#include "test/unit/jvm/structures.h"
#include "test/unit/tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LONG_MS 60000 /* no claim waits for so long, whatever the machine */

static _Atomic bool is_done, is_begun;
static _Atomic uint32_t n_asked;
static pid_t compiler_tid;

static void *compile(void *unused)
{
    (void)unused;
    compiler_tid = (pid_t)syscall(SYS_gettid);
    atomic_store(&is_begun, true);
    while (!atomic_load(&is_done))
        continue;
    return NULL;
}

static _Atomic bool is_told_enough;

static void *compile_and_tell(void *tier)
{
    const struct timespec pause = { 0, 20000000 };
    while (!atomic_load(&is_told_enough)) {
        nanosleep(&pause, NULL);
        compiling_note(*(const uint32_t *)tier);
    }
    return NULL;
}

static bool soon(const void *unused)
{
    (void)unused;
    return atomic_fetch_add(&n_asked, 1) >= 3;
}

/* For so long at most; for a calm only. */
static double wait_for(uint32_t limit_ms, bool for_calm, bool (*is_over)(const void *context), const void *context)
{
    return compiling_wait((struct compiling_patience){ limit_ms, 10, for_calm }, is_over, context);
}

static bool is_told(uint32_t tier, bool for_calm, uint32_t limit_ms)
{
    pthread_t teller;
    atomic_store(&is_told_enough, false);
    pthread_create(&teller, NULL, compile_and_tell, &tier);
    double waited = wait_for(limit_ms, for_calm, NULL, NULL);
    atomic_store(&is_told_enough, true);
    pthread_join(teller, NULL);
    return waited > 0 && waited < limit_ms;
}

/* ---- a JVM that says what it compiles ---- */

static struct jvm_const_method constant;
static struct jvm_method method = { &constant };
static struct jvm_task task = { 1, -1, &method };
static struct jvm_env env = { &task };
static struct jvm_system_thread system_thread;
static struct jvm_thread thread = { &system_thread, &env }, *all[] = { &thread };
static struct jvm_threads threads = { 1, all };

/* Goes on with the next one at each look; at the tenth nobody waits any more. */
static bool next_begins(const void *n_bytes)
{
    task.number++;
    constant.n_bytes = *(const uint16_t *)n_bytes;
    return atomic_fetch_add(&n_asked, 1) >= 10;
}

static bool next_begins_for_good(const void *n_bytes)
{
    next_begins(n_bytes);
    return false;
}

static bool nothing_begins(const void *unused)
{
    (void)unused;
    return atomic_fetch_add(&n_asked, 1) >= 10;
}

/* Is the first look that sees one of so many bytes begin good enough? */
static bool is_first_good(uint16_t n_bytes, bool for_calm)
{
    atomic_store(&n_asked, 0);
    wait_for(LONG_MS, for_calm, next_begins, &n_bytes);
    return atomic_load(&n_asked) == 1;
}

/* After how many ms of 2,000 is it so? */
static double good_after(uint16_t n_bytes)
{
    return wait_for(2000, false, next_begins_for_good, &n_bytes);
}

static void test_small(void)
{
    system_thread.tid = compiler_tid;
    jvm_threads = &threads;
    CHECK("a small method's compilation that has just begun may be lost", is_first_good(50, false));
    CHECK("a larger one's not at once", !is_first_good(51, false));
    CHECK("a small one not where a calm is waited for", !is_first_good(50, true));
    task.loop = 7;
    CHECK("nor one that is entered in a loop", !is_first_good(50, false));
    task.loop = -1;
    task.method = NULL;
    CHECK("nor one of which nothing is known", !is_first_good(50, false));
    task.method = &method;
    constant.n_bytes = 50;
    atomic_store(&n_asked, 0);
    wait_for(LONG_MS, false, nothing_begins, NULL);
    CHECK_NUMBER("a small one that was under way before has gone on for long", atomic_load(&n_asked), 11);
    double medium = good_after(200), large = good_after(201);
    CHECK("later larger ones may be lost", medium >= 750 && medium < 1500);
    CHECK("and at last any that has just begun", large >= 1500 && large < 2000);
    env.task = NULL;
    CHECK("where nothing is under way it is calm", wait_for(LONG_MS, true, NULL, NULL) < LONG_MS);
    jvm_threads = NULL;
}

int main(void)
{
    pthread_t compiler;
    CHECK("without compilers nothing is waited for", wait_for(LONG_MS, false, NULL, NULL) < LONG_MS);
    pthread_create(&compiler, NULL, compile, NULL);
    pthread_setname_np(compiler, "C2 CompilerThre");
    while (!atomic_load(&is_begun))
        continue;
    CHECK("a compilation that goes on is waited for up to the limit", wait_for(30, false, NULL, NULL) >= 30);
    CHECK("not when there is no time for it", wait_for(0, false, NULL, NULL) <= 0);
    CHECK("in the last quarter of the time until one has ended", is_told(COMPILING_OPTIMIZED, false, 1000));
    CHECK("not even then while a calm is waited for", !is_told(COMPILING_OPTIMIZED, true, 200));
    CHECK("one of the quick compiler's is none", !is_told(3, false, 200));
    atomic_store(&n_asked, 0);
    CHECK("whoever waits may be told to go on", wait_for(LONG_MS, false, soon, NULL) < LONG_MS);
    CHECK_NUMBER("and is asked each time", atomic_load(&n_asked), 4);
    test_small();
    atomic_store(&is_done, true);
    pthread_join(compiler, NULL);
    return tap_done();
}
