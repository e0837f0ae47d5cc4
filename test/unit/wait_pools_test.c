/* Pools whose threads wait for tasks of their own: by what the threads of two pools do, in tenths of the time. */
#include "report/view/waits.h"

#include "test/unit/tap.h"

struct pools_case {
    const char *claim;
    const char *method; /* of FutureTask */
    uint32_t waiting, idle, others_working;
    bool is_starved;
};

static uint32_t hear(struct wait_pools *pools, uint32_t thread, const struct wait_site *site, uint64_t ns)
{
    static const char *const names[] = { "orders-1", "orders-2", "lines-1", "lines-2", "main" };
    const struct trace_thread named = { .index = thread, .name = names[thread] };
    const struct trace_wait wait = { .thread = thread, .cause = TRACE_CAUSE_PARK, .weight_ns = ns };
    return wait_pools_hear(pools, &wait, &named, site);
}

static void check(const struct pools_case *c)
{
    const struct wait_site waits = { .where = { "com/acme/Orders", "call", "()V" },
                                     .called = { "java/util/concurrent/FutureTask", c->method, "()V" },
                                     .in_pool = true },
                           idle = { .is_idle = true, .in_pool = true }, works = { .in_pool = true };
    struct wait_pools pools = { .n = 0 };
    uint32_t number = 0;
    for (uint32_t i = 0; i < 2; i++) {
        number = hear(&pools, i, &waits, c->waiting);
        hear(&pools, i, &idle, c->idle);
        hear(&pools, i, &works, 10 - c->waiting - c->idle);
        hear(&pools, 2 + i, &works, c->others_working);
        hear(&pools, 2 + i, &idle, 10 - c->others_working);
    }
    CHECK(c->claim, wait_pools_is_starved(&pools, number) == c->is_starved);
    wait_pools_free(&pools);
}

int main(void)
{
    static const struct pools_case rows[] = {
        { "all threads of a pool wait for results, and nobody works", "get", 9, 0, 0, true },
        { "not where another pool works on them", "get", 9, 0, 8, false },
        { "nor where the pool has idle threads", "get", 6, 4, 0, false },
        { "nor where it works itself most of the time", "get", 4, 0, 0, false },
        { "nor where it waits for something else", "run", 9, 0, 0, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
    struct wait_pools pools = { .n = 0 };
    const struct wait_site of_no_pool = { .is_idle = false };
    CHECK("a thread of no pool is of none", hear(&pools, 4, &of_no_pool, 10) == 0 && !wait_pools_is_starved(&pools, 0));
    wait_pools_free(&pools);
    return tap_done();
}
