/* What waits is a phase: candidates of a live recording from visits to threads that wait. */
#include "phases/live/live_chooser.h"
#include "phases/live/live_policy.h"
#include "phases/live/live_session.h"
#include "test/unit/tap.h"

static struct err err;
static struct arena arena;

enum { RUN, QUERY, READ, COMPUTE, GET_TASK, WATCH, N_METHODS };

static struct sampled_method methods[N_METHODS];

static void name_methods(void)
{
    static const struct method_name names[N_METHODS] = {
        [RUN] = { "java/lang/Thread", "run", "()V" },
        [QUERY] = { "shop/Orders", "query", "()V" },
        [READ] = { "shop/Orders", "read", "()V" },
        [COMPUTE] = { "shop/Prices", "compute", "()V" },
        [GET_TASK] = { "java/util/concurrent/ThreadPoolExecutor", "getTask", "()V" },
        [WATCH] = { "shop/Watchdog", "watch", "()V" },
    };
    for (size_t i = 0; i < N_METHODS; i++)
        methods[i] = (struct sampled_method){ .names = names[i],
                                              .code = { .n_bytes = 100, .is_native = i == READ },
                                              .bytecodes = { .is_whole = true, .has_calls = true, .has_loop = true } };
}

/* A stack of run and one or two methods in it; the innermost one first. */
struct stack {
    uint32_t methods[3], n;
};

static struct stack_sample sample_of(const struct stack *stack, uint64_t weight_ns)
{
    static const struct java_frame frames[3];
    return (struct stack_sample){ .weight = weight_ns,
                                  .thread_name = "http-1",
                                  .n = stack->n,
                                  .methods = stack->methods,
                                  .known = methods,
                                  .n_known = N_METHODS,
                                  .frames = frames };
}

static const struct stack computes = { { COMPUTE, RUN }, 2 }, queries = { { READ, QUERY, RUN }, 3 },
                          is_idle = { { GET_TASK, RUN }, 2 }, watches = { { WATCH, RUN }, 2 };

static void wait_in(struct live_samples *samples, uint32_t thread, const struct stack *stack, uint64_t ns, bool is_same)
{
    const struct stack_wait wait = { .sample = sample_of(stack, ns), .cause = TRACE_CAUSE_SLEEP, .is_same = is_same };
    live_samples_add_wait(samples, &wait, thread);
}

/* A tenth of the time in compute; queries of 50 ms; a pool's thread without work; a thread that sleeps for a minute. */
static void take_samples(struct live_samples *samples)
{
    for (int i = 0; i < 100; i++) {
        const struct stack_sample sample = sample_of(&computes, 10000000);
        live_samples_add(samples, &sample, 0);
        wait_in(samples, 1, &queries, 50000000, false);
        wait_in(samples, 2, &is_idle, 50000000, i > 0);
    }
    for (int i = 0; i < 1200; i++)
        wait_in(samples, 3, &watches, 50000000, i > 0);
}

static const struct live_candidate *find(const struct live_candidate *all, size_t n, uint32_t method)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].name, methods[method].names.method) == 0)
            return &all[i];
    return NULL;
}

static bool is_near(double a, double b)
{
    return a > b - 1e-6 && a < b + 1e-6;
}

/* CPU time 1 s, queries 5 s, the watchdog a second of its minute. */
static void check(const struct live_candidate *all, size_t n)
{
    const struct live_candidate *query = find(all, n, QUERY), *watch = find(all, n, WATCH),
                                *compute = find(all, n, COMPUTE);
    CHECK("a method that waits is a candidate, with its part of the wall time",
          query != NULL && is_near(query->share, 5.0 / 7));
    CHECK("one on the CPU keeps its part of the CPU time", compute != NULL && is_near(compute->share, 1));
    CHECK("who waits for work is none", find(all, n, GET_TASK) == NULL);
    CHECK("a wait that goes on counts as a second", watch != NULL && is_near(watch->share, 1.0 / 7));
    CHECK("native code gets no probes", find(all, n, READ) == NULL);
    size_t behind = compute == NULL ? n : (size_t)(compute - all) + 1;
    CHECK("each is one candidate, the largest first",
          behind < n && find(all + behind, n - behind, COMPUTE) == NULL && all[0].share >= all[n - 1].share);
}

int main(void)
{
    static const struct agent_config rules = { .min_bytecodes = 0 };
    struct live_samples *samples;
    struct candidate_list cpu, wall;
    struct live_candidate all[2 * N_METHODS];
    struct candidates_criteria criteria = CANDIDATES_CRITERIA;
    name_methods();
    samples = live_samples_open();
    take_samples(samples);
    struct candidates *running = live_samples_candidates(samples, &rules, 0);
    if (candidates_choose(running, &criteria, &arena, &cpu, &err) < 0 ||
        candidates_choose(live_samples_wall(samples), &criteria, &arena, &wall, &err) < 0)
        return 1;
    check(all, live_candidates_join(&cpu, &wall, all));
    CHECK("of a wait, what counts is counted", live_samples_n_waits(samples) == 120);
    live_samples_close(samples);
    arena_free(&arena);
    return tap_done();
}
