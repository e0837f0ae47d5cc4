#include "report/fleet/fleet_engine.h"

#include "core/base/xalloc.h"

#include <pthread.h>

#define NS_PER_S  1000000000L
#define LONGEST_S 1000000000L

struct watch {
    struct fleet_work work;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool has_ended, is_lost;
};

static void free_watch(struct watch *watch)
{
    pthread_cond_destroy(&watch->ended);
    pthread_mutex_destroy(&watch->mutex);
    free(watch);
}

static void *run(void *context)
{
    struct watch *watch = context;
    watch->work.work(watch->work.context);
    pthread_mutex_lock(&watch->mutex);
    watch->has_ended = true;
    bool is_lost = watch->is_lost;
    pthread_cond_signal(&watch->ended);
    pthread_mutex_unlock(&watch->mutex);
    if (is_lost)
        free_watch(watch);
    return NULL;
}

/* Wait until it has ended, for so long at most; with leaves it is its thread's from then on. */
static bool wait_for(struct watch *watch, double seconds, bool leaves)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    long whole_s = seconds < LONGEST_S ? (long)seconds : LONGEST_S;
    long left_ns = seconds < LONGEST_S ? (long)(1e9 * (seconds - (double)whole_s)) : 0;
    until.tv_sec += whole_s + (until.tv_nsec + left_ns) / NS_PER_S;
    until.tv_nsec = (until.tv_nsec + left_ns) % NS_PER_S;
    pthread_mutex_lock(&watch->mutex);
    while (!watch->has_ended && pthread_cond_timedwait(&watch->ended, &watch->mutex, &until) != ETIMEDOUT)
        continue;
    bool has_ended = watch->has_ended;
    watch->is_lost = leaves && !has_ended;
    pthread_mutex_unlock(&watch->mutex);
    return has_ended;
}

static struct watch *new_watch(const struct fleet_work *work)
{
    struct watch *watch = xcalloc(1, sizeof *watch);
    pthread_condattr_t by_clock;
    watch->work = *work;
    pthread_condattr_init(&by_clock);
    pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&watch->mutex, NULL);
    pthread_cond_init(&watch->ended, &by_clock);
    pthread_condattr_destroy(&by_clock);
    return watch;
}

int fleet_watch(const struct fleet_work *work, enum fleet_watched *watched, struct err *err)
{
    struct watch *watch = new_watch(work);
    pthread_t thread;
    int error = pthread_create(&thread, NULL, run, watch);
    if (error != 0) {
        free(watch);
        return err_set(err, "cannot start a thread for a query: %s", strerror(error));
    }
    *watched = FLEET_WATCHED_DONE;
    if (!wait_for(watch, work->limit_s, false)) {
        work->interrupt(work->context);
        *watched = wait_for(watch, work->grace_s, true) ? FLEET_WATCHED_STOPPED : FLEET_WATCHED_LOST;
    }
    if (*watched == FLEET_WATCHED_LOST) {
        pthread_detach(thread);
        return 0;
    }
    pthread_join(thread, NULL);
    free_watch(watch);
    return 0;
}
