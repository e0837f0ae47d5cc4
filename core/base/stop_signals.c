#include "core/base/stop_signals.h"

#include "core/base/std.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>

#define LOOK_MS 100

/* One of them that nobody has read, or 0. */
static int pending_signal(void)
{
    sigset_t pending;
    if (sigpending(&pending) < 0)
        return 0;
    return sigismember(&pending, SIGTERM) == 1 ? SIGTERM : sigismember(&pending, SIGINT) == 1 ? SIGINT : 0;
}

static bool stays_pending(int grace_ms)
{
    const struct timespec pause = { 0, LOOK_MS * 1000000L };
    for (int waited = 0; waited < grace_ms && pending_signal() != 0; waited += LOOK_MS)
        nanosleep(&pause, NULL);
    return pending_signal() != 0;
}

static void *watch(void *context)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    struct pollfd wait = { .fd = signalfd(-1, &signals, SFD_CLOEXEC), .events = POLLIN };
    while (wait.fd >= 0)
        if (poll(&wait, 1, -1) > 0 && stays_pending((int)(intptr_t)context))
            pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    return NULL;
}

void stop_signals_watch(int grace_ms)
{
    static bool is_watched;
    pthread_t thread;
    sigset_t all, before;
    if (is_watched)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    is_watched = pthread_create(&thread, NULL, watch, (void *)(intptr_t)grace_ms) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (is_watched)
        pthread_detach(thread);
}
