#include "report/view/waits.h"

#include "core/base/xalloc.h"

#define POOLS_MOST    256u /* what a trace has beyond is of none */
#define WAITING_LEAST 0.5  /* of the pool's time */
#define IDLE_MOST     0.05 /* the same */
#define OTHERS_MOST   0.5  /* threads of other pools that work meanwhile */

bool wait_pools_is_result(const struct wait_site *site)
{
    static const struct {
        const char *class_name, *methods[3];
    } calls[] = { { "java/util/concurrent/FutureTask", { "get" } },
                  { "java/util/concurrent/CompletableFuture", { "get", "join" } },
                  { "java/util/concurrent/ForkJoinTask", { "get", "join", "invoke" } },
                  { "java/util/concurrent/CountDownLatch", { "await" } },
                  { "java/util/concurrent/AbstractExecutorService", { "invokeAll", "invokeAny" } },
                  { "java/lang/Thread", { "join" } } };
    bool is = false;
    for (size_t i = 0; site->called.class_name != NULL && i < sizeof calls / sizeof *calls; i++)
        for (size_t j = 0; j < 3 && calls[i].methods[j] != NULL; j++)
            is = is || (strcmp(site->called.class_name, calls[i].class_name) == 0 &&
                        strcmp(site->called.method, calls[i].methods[j]) == 0);
    return is;
}

static size_t without_number(const char *name)
{
    size_t n = strlen(name);
    while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
        n--;
    return n;
}

/* 1 + its number; 0: there are too many. */
static uint32_t pool_named(struct wait_pools *pools, const char *name)
{
    size_t n = without_number(name);
    for (uint32_t i = 0; i < pools->n; i++)
        if (pools->all[i].n_name == n && memcmp(pools->all[i].name, name, n) == 0)
            return 1 + i;
    if (pools->n == POOLS_MOST)
        return 0;
    xgrow(pools->all, pools->room, pools->n + 1);
    pools->all[pools->n] = (struct wait_pool){ .name = name, .n_name = n };
    return ++pools->n;
}

uint32_t wait_pools_hear(struct wait_pools *pools, const struct trace_wait *wait, const struct trace_thread *thread,
                         const struct wait_site *site)
{
    struct hash_slot *slot = xhash_put(&pools->of_thread, hash_address(wait->thread + 1));
    if (slot->value == 0 && site != NULL && site->in_pool && thread->name != NULL) {
        slot->value = pool_named(pools, thread->name);
        if (slot->value != 0)
            pools->all[slot->value - 1].n_threads++;
    }
    if (slot->value == 0)
        return 0;
    struct wait_pool *pool = &pools->all[slot->value - 1];
    double *ns = site != NULL && site->is_idle && trace_cause_may_be_idle(wait->cause) ? &pool->idle_ns
                 : site != NULL && wait_pools_is_result(site)                          ? &pool->result_ns
                                                                                       : &pool->other_ns;
    *ns += (double)wait->weight_ns;
    return (uint32_t)slot->value;
}

bool wait_pools_is_starved(const struct wait_pools *pools, uint32_t number)
{
    if (number == 0)
        return false;
    const struct wait_pool *pool = &pools->all[number - 1];
    double all_ns = pool->result_ns + pool->idle_ns + pool->other_ns, others_ns = 0;
    for (uint32_t i = 0; i < pools->n; i++)
        others_ns += i == number - 1 ? 0 : pools->all[i].other_ns;
    return pool->n_threads > 1 && pool->result_ns >= WAITING_LEAST * all_ns && pool->idle_ns <= IDLE_MOST * all_ns &&
           others_ns < OTHERS_MOST * pool->result_ns / pool->n_threads;
}

bool wait_pools_has_idle(const struct wait_pools *pools, uint32_t number)
{
    return number > 0 && pools->all[number - 1].idle_ns > 0;
}

void wait_pools_free(struct wait_pools *pools)
{
    free(pools->all);
    hash_free(&pools->of_thread);
}
