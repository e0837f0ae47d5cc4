/* Work that ends, that ends when it is asked to, and that does not. */
#include "report/fleet/fleet_engine.h"
#include "test/unit/tap.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

struct task {
    bool hears;
    double takes_s;
    atomic_bool is_asked, has_ended;
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void work(void *context)
{
    struct task *task = context;
    const double until_s = now_s() + task->takes_s;
    while (now_s() < until_s && !(task->hears && atomic_load(&task->is_asked)))
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    atomic_store(&task->has_ended, true);
}

static void interrupt(void *context)
{
    struct task *task = context;
    atomic_store(&task->is_asked, true);
}

int main(void)
{
    static const struct {
        const char *claim;
        bool hears;
        double takes_s, limit_s, grace_s;
        enum fleet_watched is;
        bool is_asked;
    } rows[] = {
        { "work that ends in time is done, and not asked to end", true, 0.01, 60, 60, FLEET_WATCHED_DONE, false },
        { "a limit may be for ever", true, 0.01, 1e300, 60, FLEET_WATCHED_DONE, false },
        { "work that takes longer ends when it is asked to", true, 600, 0.02, 60, FLEET_WATCHED_STOPPED, true },
        { "work that does not hear is lost", false, 0.5, 0.02, 0.02, FLEET_WATCHED_LOST, true },
    };
    static struct task tasks[sizeof rows / sizeof rows[0]];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum fleet_watched is = FLEET_WATCHED_DONE;
        struct err err = { "" };
        tasks[i].hears = rows[i].hears;
        tasks[i].takes_s = rows[i].takes_s;
        const struct fleet_work of = { work, interrupt, &tasks[i], rows[i].limit_s, rows[i].grace_s };
        int rc = fleet_watch(&of, &is, &err);
        CHECK(rows[i].claim, rc == 0 && is == rows[i].is && atomic_load(&tasks[i].is_asked) == rows[i].is_asked);
    }
    while (!atomic_load(&tasks[3].has_ended))
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    CHECK("which goes on to its end", tasks[3].takes_s > 0.4);
    return tap_done();
}
