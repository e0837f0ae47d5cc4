/*
 * The pruner by itself: told of methods' records and a budget, it says which probes are switched off, tried, removed.
 */
#include "core/wire/ring.h"
#include "phases/live/live_policy.h"
#include "phases/live/live_parts.h"
#include "test/unit/tap.h"

#include <stdlib.h>

#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)

static const struct live_options options = { .budget = 0.01, .grain = 1e-6 };
static struct live_status first, now;
static struct live_budget budget;
static struct live_methods methods;
static struct live_pruner pruner;

/* One CPU is busy.  Methods 1 to n have probes. */
static void begin(uint32_t n)
{
    first = now = (struct live_status){ .now_ns = SECOND, .ticks = SECOND, .ns_per_tick = 1, .pair_ns = 20 };
    budget = (struct live_budget){ .options = &options, .first = &first, .now = &now };
    pruner = (struct live_pruner){ .budget = &budget, .methods = &methods };
    live_methods_open(&methods, &options.tree);
    for (uint32_t id = 1; id <= n; id++) {
        struct trace_method method = { .id = id,
                                       .names.class_name = "A",
                                       .names.method = "m",
                                       .names.descriptor = "()V",
                                       .source = "",
                                       .code_bytes = 1 };
        live_methods_add(&methods, &method, now.now_ns);
    }
    live_budget_begin(&budget);
}

static void end(void)
{
    live_pruner_free(&pruner);
    live_methods_free(&methods);
}

/* So many calls of a method that take so long each; then a round. */
static void call(uint32_t id, uint32_t n, uint64_t ns)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t words[] = { ring_word(RING_ENTER, id, now.ticks), ring_word(RING_EXIT, id, now.ticks + ns) };
        now.now_ns = now.ticks += ns;
        now.cpu_ns += ns;
        live_tree_records(methods.tree, 0, words, 2, now.ticks);
    }
}

static void wait(double seconds)
{
    now.now_ns = now.ticks += (uint64_t)(seconds * 1e9);
    now.cpu_ns += (uint64_t)(seconds * 1e9);
}

static void judge(void)
{
    live_pruner_charge(&pruner);
    live_pruner_judge(&pruner);
}

static void test_short(void)
{
    begin(2);
    call(1, JUDGED_CALLS_MIN, 4 * MS);
    call(2, JUDGED_CALLS_MIN - 1, 1000);
    judge();
    CHECK("few calls are not judged", methods.all[1].state == LIVE_ENABLED);
    wait(0.2);
    call(2, 1, 1000);
    judge();
    CHECK("short ones are switched off", pruner.disable.n == 1 && pruner.disable.all[0] == 2);
    CHECK("with the reason", methods.all[1].state == LIVE_DISABLED && methods.all[1].why == LIVE_TOO_SHORT);
    CHECK("long ones are not", methods.all[0].state == LIVE_ENABLED);
    end();
}

static void test_frequent(void)
{
    begin(3);
    call(1, 20, 4 * MS);
    call(2, 100000, 500);
    call(3, 100, 100 * 1000);
    now.own_cpu_ns = MS;
    live_pruner_charge(&pruner);
    CHECK("what is called too often is switched off alone", pruner.disable.n == 1 && pruner.disable.all[0] == 2);
    CHECK("with that reason", methods.all[1].why == LIVE_TOO_FREQUENT);
    CHECK("and its rate is known", methods.all[1].calls_per_s > 1e5);
    end();
}

static void test_trial(void)
{
    begin(1);
    call(1, JUDGED_CALLS_MIN, 1000);
    wait(0.2);
    judge();
    CHECK("a method is off", methods.all[0].state == LIVE_DISABLED && !live_pruner_tries(&pruner));
    wait(2);
    judge();
    CHECK("it is tried after two seconds", pruner.enable.n == 1 && live_pruner_tries(&pruner));
    call(1, JUDGED_CALLS_MIN, 1000);
    judge();
    CHECK("off where it is as before", methods.all[0].state == LIVE_DISABLED && pruner.disable.n == 1);
    wait(3.9);
    judge();
    CHECK("the next trial is later", !live_pruner_tries(&pruner));
    wait(0.2);
    judge();
    call(1, 2, 15 * MS);
    judge();
    CHECK("it stays on where its calls are long now",
          methods.all[0].state == LIVE_ENABLED && methods.all[0].why == LIVE_NOT_DISABLED);
    end();
}

static void test_removal(void)
{
    begin(1);
    budget.n_batches = 1;
    now.pauses_ms = 50;
    call(1, 100000, 100); /* ten million a second, a fifth of the time in probes: 12.5 million, 25 ms, when off */
    judge();
    CHECK("a method is off", methods.all[0].state == LIVE_DISABLED);
    wait(1);
    live_pruner_charge(&pruner);
    CHECK("calls through disabled probes are charged, as many as fit into the time without probes",
          budget.disabled_ns > 24e6 && budget.disabled_ns < 26e6);
    live_pruner_choose_removals(&pruner, 50e6);
    CHECK_NUMBER("its probes stay until they have cost", pruner.remove.n, 0);
    wait(20);
    live_pruner_choose_removals(&pruner, 50e6);
    CHECK("what a batch takes, and its stop", pruner.remove.n == 1 && pruner.remove.all[0] == 1);
    end();
}

static void test_nothing_but_probes(void)
{
    begin(1);
    now.pair_ns = 100;
    call(1, 100000, 100);
    judge();
    CHECK("a call that is nothing but its probes is 20 times as frequent without, at most",
          methods.all[0].off_calls_per_s > 1.9e8 && methods.all[0].off_calls_per_s < 2.1e8);
    end();
}

int main(void)
{
    test_short();
    test_frequent();
    test_trial();
    test_removal();
    test_nothing_but_probes();
    return tap_done();
}
