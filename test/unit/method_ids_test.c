/* Who may ask for stacks while classes are being changed: nobody. */
#include "core/agent/control/method_ids.h"

#include "test/unit/tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static unsigned feature = 17; /* the JDK that is played */
static _Atomic bool is_inside, has_left, was_let_in;

static void *ask_for_long(void *unused)
{
    const struct timespec pause = { 0, 100000000 };
    (void)unused;
    method_ids_enter();
    atomic_store(&is_inside, true);
    nanosleep(&pause, NULL);
    atomic_store(&has_left, true);
    method_ids_leave();
    return NULL;
}

static void *ask(void *unused)
{
    (void)unused;
    atomic_store(&was_let_in, method_ids_enter());
    return NULL;
}

static bool another_is_let_in(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, ask, NULL);
    pthread_join(thread, NULL);
    if (atomic_load(&was_let_in))
        method_ids_leave();
    return atomic_load(&was_let_in);
}

static jvmtiError JNICALL tell_version(jvmtiEnv *jvmti, jint *version)
{
    (void)jvmti;
    *version = (jint)(feature << JVMTI_VERSION_SHIFT_MAJOR | 0x30000000u);
    return JVMTI_ERROR_NONE;
}

int main(void)
{
    struct jvmtiInterface_1_ functions = { .GetVersionNumber = tell_version };
    jvmtiEnv jvmti = &functions;
    pthread_t thread;
    CHECK("anybody may ask", another_is_let_in());
    pthread_create(&thread, NULL, ask_for_long, NULL);
    while (!atomic_load(&is_inside))
        continue;
    CHECK("others may ask meanwhile", another_is_let_in());
    method_ids_block(&jvmti);
    CHECK("who changes classes waits for whoever asks", atomic_load(&has_left));
    CHECK("nobody may ask then", !another_is_let_in());
    CHECK("however often", !another_is_let_in());
    method_ids_unblock();
    CHECK("and afterwards they may again", another_is_let_in());
    pthread_join(thread, NULL);
    feature = 22;
    method_ids_block(&jvmti);
    CHECK("a JVM that does not need it lets all ask", another_is_let_in());
    method_ids_unblock();
    return tap_done();
}
