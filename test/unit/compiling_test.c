/* What the optimizing compiler is at: threads that bear its name, and do what it does. */
#include "core/agent/compiling.h"

#include "test/unit/tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define LONG_MS 60000 /* no claim waits for so long, whatever the machine */

static _Atomic bool is_done, is_begun;
static _Atomic uint32_t n_asked;

static void *compile(void *unused)
{
    (void)unused;
    atomic_store(&is_begun, true);
    while (!atomic_load(&is_done))
        continue;
    return NULL;
}

static void *compile_and_tell(void *tier)
{
    const struct timespec pause = { 0, 20000000 };
    while (atomic_load(&n_asked) < 2)
        nanosleep(&pause, NULL);
    compiling_note(*(const uint32_t *)tier);
    return NULL;
}

static bool never(const void *unused)
{
    (void)unused;
    atomic_fetch_add(&n_asked, 1);
    return false;
}

static bool soon(const void *unused)
{
    (void)unused;
    return atomic_fetch_add(&n_asked, 1) >= 3;
}

static bool is_told(uint32_t tier, uint32_t calm_ms, uint32_t limit_ms)
{
    pthread_t teller;
    atomic_store(&n_asked, 0);
    pthread_create(&teller, NULL, compile_and_tell, &tier);
    double waited = compiling_wait((struct compiling_patience){ calm_ms, limit_ms, 10 }, never, NULL);
    pthread_join(teller, NULL);
    return waited > 0 && waited < limit_ms;
}

int main(void)
{
    pthread_t compiler;
    CHECK("without compilers nothing is waited for",
          compiling_wait((struct compiling_patience){ 0, LONG_MS, 10 }, NULL, NULL) < LONG_MS);
    pthread_create(&compiler, NULL, compile, NULL);
    pthread_setname_np(compiler, "C2 CompilerThre");
    while (!atomic_load(&is_begun))
        continue;
    CHECK("a compilation that goes on is waited for up to the limit",
          compiling_wait((struct compiling_patience){ 0, 30, 10 }, NULL, NULL) >= 30);
    CHECK("not when there is no time for it", compiling_wait((struct compiling_patience){ 0, 0, 10 }, NULL, NULL) <= 0);
    CHECK("until one has ended", is_told(COMPILING_OPTIMIZED, 0, LONG_MS));
    CHECK("not even then while a calm is waited for", !is_told(COMPILING_OPTIMIZED, 200, 200));
    CHECK("one of the quick compiler's is none", !is_told(3, 0, 200));
    atomic_store(&n_asked, 0);
    CHECK("whoever waits may be told to go on",
          compiling_wait((struct compiling_patience){ 0, LONG_MS, 10 }, soon, NULL) < LONG_MS);
    CHECK_NUMBER("and is asked each time", atomic_load(&n_asked), 4);
    atomic_store(&is_done, true);
    pthread_join(compiler, NULL);
    return tap_done();
}
