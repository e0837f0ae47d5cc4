/* The live account of methods, on ring words made by hand. */
#include "core/wire/ring.h"
#include "phases/live/live_parts.h"
#include "test/unit/tap.h"

#include <stdlib.h>

#define NOW        1000000u
#define N_ACCOUNTS 16 /* room for the ids of these tests */

/*
 * Records of one thread: "+7@100" enters method 7 at tick 100, "-7@150" leaves it, "!7@150" by an exception.  "M3@200"
 * is a virtual thread that comes with ticket 3, "R7@200" its open call, "U4@250" goes with ticket 4; "O7@100" is a call
 * that was under way.
 */
static enum ring_kind kind_of(char letter)
{
    static const char letters[] = "+-!ROMUg";
    const char *at = strchr(letters, letter);
    return at == NULL ? RING_GAP : (enum ring_kind)(at - letters);
}

static size_t words_of(const char *text, uint64_t *words, size_t n_values)
{
    size_t n = 0;
    for (const char *at = text; *at != '\0'; at += strcspn(at, " "), at += *at == ' ') {
        char *end;
        uint32_t method = (uint32_t)strtoul(at + 1, &end, 10);
        words[n++] = ring_word(kind_of(*at), method, strtoull(end + 1, &end, 10));
        for (size_t i = 0; i < n_values; i++)
            words[n++] = *end == '/' ? strtoull(end + 1, &end, 10) : RING_NOT_COUNTED;
    }
    return n;
}

static void feed(struct live_tree *tree, uint32_t thread, const char *text, size_t n_values)
{
    uint64_t words[4096];
    live_tree_records(tree, thread, words, words_of(text, words, n_values), NOW);
}

static struct live_tree *new_tree(const struct live_tree_options *options)
{
    struct live_tree *tree = NULL;
    tree = live_tree_open(options);
    return tree;
}

/* Of the calls that have ended, and of those that are open up to the latest record; valid until the next call. */
static const struct live_account *account_of(struct live_tree *tree, uint32_t id)
{
    static struct live_account accounts[N_ACCOUNTS];
    live_tree_accounts(tree, 0, accounts);
    return &accounts[id];
}

static void test_times(void)
{
    struct live_tree *tree = new_tree(&(struct live_tree_options){ 0 });
    feed(tree, 0, "+1@100 +2@110 -2@130 +2@140 !2@145 -1@200", 0);
    CHECK_NUMBER("a method's time is from its entry to its exit", account_of(tree, 1)->wall_ticks, 100);
    CHECK_NUMBER("calls add up", account_of(tree, 2)->wall_ticks, 25);
    CHECK_NUMBER("an exception ends a call", account_of(tree, 2)->calls, 2);
    CHECK_NUMBER("without switches CPU time is wall time", account_of(tree, 1)->cpu_ticks, 100);
    CHECK_NUMBER("records are counted", live_tree_n_records(tree), 6);
    feed(tree, 0, "+3@300 +3@310 +4@315 +3@320 -3@330 -4@335 -3@340 -3@350", 0);
    CHECK_NUMBER("recursion counts once", account_of(tree, 3)->wall_ticks, 50);
    CHECK_NUMBER("but each call is counted", account_of(tree, 3)->calls, 3);
    feed(tree, 1, "+1@100 +3@120 -3@130 -1@140", 0);
    CHECK_NUMBER("threads have stacks of their own", account_of(tree, 1)->wall_ticks, 140);
    live_tree_close(tree);
}

static void test_damage(void)
{
    struct live_tree *tree = new_tree(&(struct live_tree_options){ 0 });
    feed(tree, 0, "-9@50 +1@100 +2@110 +2@115 -1@200 +2@210 -2@220 g5@230", 0);
    CHECK_NUMBER("an exit without an entry is ignored", account_of(tree, 9)->calls, 0);
    CHECK_NUMBER("a caller's exit ends what is open within", account_of(tree, 2)->wall_ticks, 90 + 10);
    live_tree_close(tree);

    tree = new_tree(&(struct live_tree_options){ .n_columns = 2 });
    uint64_t words[2] = { ring_word(RING_ENTER, 1, 100), 7 };
    live_tree_records(tree, 0, words, 2, NOW);
    CHECK_NUMBER("it changes nothing", live_tree_n_records(tree), 0);
    live_tree_close(tree);
}

static void test_deep(void)
{
    struct live_tree *tree = new_tree(&(struct live_tree_options){ 0 });
    uint64_t word, ticks = 100, n = 3 * LIVE_DEPTH_MAX;
    for (uint64_t i = 0; i < n; i++) {
        word = ring_word(RING_ENTER, 1 + i % 2, ticks++);
        live_tree_records(tree, 0, &word, 1, NOW);
    }
    for (uint64_t i = n; i-- > 0;) {
        word = ring_word(RING_EXIT, 1 + i % 2, ticks++);
        live_tree_records(tree, 0, &word, 1, NOW);
    }
    CHECK_NUMBER("all calls are counted", account_of(tree, 1)->calls + account_of(tree, 2)->calls, n);
    CHECK_NUMBER("and their time", account_of(tree, 1)->wall_ticks, 2 * n - 1);
    live_tree_close(tree);
}

static void test_open(void)
{
    struct live_tree *tree = new_tree(&(struct live_tree_options){ 0 });
    struct live_account accounts[N_ACCOUNTS];
    feed(tree, 0, "+1@1000 +2@2000 +1@3000 -1@4000", 0);
    live_tree_accounts(tree, 11000, accounts);
    CHECK_NUMBER("an open call has taken time already", accounts[1].wall_ticks, 10000);
    CHECK_NUMBER("so has its open callee", accounts[2].wall_ticks, 9000);
    feed(tree, 0, "-2@12000 -1@13000", 0);
    live_tree_accounts(tree, 20000, accounts);
    CHECK_NUMBER("after it both agree", accounts[1].wall_ticks, account_of(tree, 1)->wall_ticks);
    live_tree_close(tree);
}

static void test_cpu(void)
{
    struct live_tree *tree = new_tree(&(struct live_tree_options){ 0 });
    struct trace_event events[] = { { .kind = TRACE_CPU_OUT, .thread = 0, .ticks = 2000 },
                                    { .kind = TRACE_PAGE_FAULT, .thread = 0, .ticks = 2500 },
                                    { .kind = TRACE_CPU_IN, .thread = 0, .ticks = 5000 },
                                    { .kind = TRACE_CPU_OUT, .thread = 0, .ticks = 8000 } };
    feed(tree, 0, "+1@1000", 0);
    live_tree_kernel(tree, events, 4);
    feed(tree, 0, "+2@6000 -2@6500 -1@7000", 0);
    CHECK_NUMBER("time off the CPU is wall time", account_of(tree, 1)->wall_ticks, 6000);
    CHECK_NUMBER("but no CPU time", account_of(tree, 1)->cpu_ticks, 3000);
    CHECK_NUMBER("a callee that did not wait has both", account_of(tree, 2)->cpu_ticks, 500);

    struct trace_event back[] = { { .kind = TRACE_CPU_IN, .thread = 0, .ticks = 20000 } };
    struct live_account accounts[N_ACCOUNTS];
    live_tree_kernel(tree, back, 1);
    feed(tree, 0, "+1@21000", 0);
    live_tree_accounts(tree, 21400, accounts);
    CHECK_NUMBER("an open call's CPU time goes on", accounts[1].cpu_ticks, 3400);
    live_tree_close(tree);
}

/* In a round the switches come first: those of a thread's whole life, before its first record. */
static void test_new_thread(void)
{
    struct live_tree *tree = new_tree(&(struct live_tree_options){ 0 });
    const struct trace_event switches[] = {
        { .kind = TRACE_THREAD_START, .thread = 0, .ticks = 100 }, { .kind = TRACE_CPU_IN, .thread = 0, .ticks = 110 },
        { .kind = TRACE_CPU_OUT, .thread = 0, .ticks = 160 },      { .kind = TRACE_CPU_IN, .thread = 0, .ticks = 180 },
        { .kind = TRACE_THREAD_END, .thread = 0, .ticks = 300 },
    };
    live_tree_kernel(tree, switches, sizeof switches / sizeof *switches);
    feed(tree, 0, "+1@120 +2@130 -2@190 -1@200", 0);
    CHECK_NUMBER("a new thread's calls have their time", account_of(tree, 1)->wall_ticks, 80);
    CHECK_NUMBER("and their CPU time", account_of(tree, 1)->cpu_ticks, 60);
    CHECK_NUMBER("within one, too", account_of(tree, 2)->cpu_ticks, 40);
    live_tree_close(tree);
}

/* What is known of a thread without records is bounded. */
static void test_quiet_thread(void)
{
    struct live_tree *tree = new_tree(&(struct live_tree_options){ 0 });
    for (uint64_t i = 0; i < 100000; i++) {
        const struct trace_event event = { .kind = i % 2 == 0 ? TRACE_CPU_IN : TRACE_CPU_OUT, .ticks = 1 + i };
        live_tree_kernel(tree, &event, 1);
    }
    feed(tree, 0, "+1@200000 -1@200010", 0);
    CHECK_NUMBER("and a call behind them has its time", account_of(tree, 1)->wall_ticks, 10);
    live_tree_close(tree);
}

/* Its last call has no exit. */
static void test_ended_thread(void)
{
    struct live_tree *tree = new_tree(&(struct live_tree_options){ 0 });
    const struct trace_event end = { .kind = TRACE_THREAD_END, .thread = 0, .ticks = 3000 };
    struct live_account accounts[N_ACCOUNTS];
    feed(tree, 0, "+1@1000", 0);
    live_tree_kernel(tree, &end, 1);
    live_tree_accounts(tree, 20000000, accounts);
    CHECK_NUMBER("an open call's time ends with its thread", accounts[1].wall_ticks, 2000);
    live_tree_close(tree);
}

static void test_under_way(void)
{
    struct live_tree *tree = new_tree(&(struct live_tree_options){ 0 });
    struct live_account accounts[N_ACCOUNTS];
    feed(tree, 0, "O1@100 O2@100 +3@150 -3@180", 0);
    live_tree_accounts(tree, 300, accounts);
    CHECK_NUMBER("a call that was under way is one", account_of(tree, 1)->calls, 1);
    CHECK_NUMBER("its time goes on since it was found", accounts[1].wall_ticks, 200);
    feed(tree, 0, "+4@400 -4@500 -2@500 R4@500 -4@600", 0);
    CHECK_NUMBER("it ends when that is noticed", account_of(tree, 2)->wall_ticks, 400);
    CHECK_NUMBER("what goes on outside of it is the same call", account_of(tree, 4)->calls, 1);
    CHECK_NUMBER("with the time of both parts", account_of(tree, 4)->wall_ticks, 200);
    live_tree_close(tree);
}

static void test_counters(void)
{
    struct live_tree *tree = new_tree(&(struct live_tree_options){ 3, 2, { 0, 2 } });
    feed(tree, 0, "+1@100/10/1/1000 +2@110/20/2/2000 -2@120/50/3/2100 -1@200/90/4/3000", 3);
    CHECK_NUMBER("the first tracked counter", account_of(tree, 1)->counters[0], 80);
    CHECK_NUMBER("and the second", account_of(tree, 1)->counters[1], 2000);
    CHECK_NUMBER("a callee's", account_of(tree, 2)->counters[1], 100);
    feed(tree, 0, "+1@300 +2@310/100/5/4000 -2@320/110/6/4010 -1@400/120/7/5000", 3);
    CHECK_NUMBER("a call without a counter read adds no counts", account_of(tree, 1)->counters[0], 80);
    CHECK_NUMBER("and is not among the counted", account_of(tree, 1)->n_counted, 1);
    CHECK_NUMBER("one with both does", account_of(tree, 2)->n_counted, 2);
    live_tree_close(tree);
}

/* Threads in turn, so that what is written behind one's memory is another one's. */
static void test_counters_deep(void)
{
    struct live_tree *tree = new_tree(&(struct live_tree_options){ 2, 2, { 0, 1 } });
    for (uint32_t i = 0; i < 30; i++)
        for (uint32_t thread = 0; thread < 4; thread++)
            feed(tree, thread, "+1@100/10/20", 2);
    for (uint32_t i = 0; i < 30; i++)
        for (uint32_t thread = 0; thread < 4; thread++)
            feed(tree, thread, "-1@200/110/320", 2);
    CHECK_NUMBER("deep calls have room for their counters", account_of(tree, 1)->counters[0], 4 * 100);
    CHECK_NUMBER("for each of them", account_of(tree, 1)->counters[1], 4 * 300);
    live_tree_close(tree);
}

static void test_virtual_threads(void)
{
    struct live_tree *tree = new_tree(&(struct live_tree_options){ 1, 1, { 0 } });
    struct live_account accounts[N_ACCOUNTS];
    feed(tree, 0, "+9@100/0 M0@200/10 +1@210/20 +2@220/30 U5@250/60 -9@300/70", 1);
    CHECK_NUMBER("a call that goes with its virtual thread has taken time", account_of(tree, 1)->wall_ticks, 40);
    CHECK_NUMBER("and has counted", account_of(tree, 2)->counters[0], 30);
    CHECK_NUMBER("none of which is its carrier's", account_of(tree, 9)->wall_ticks, 200 - 50);
    CHECK_NUMBER("whose own counts are not known", account_of(tree, 9)->n_counted, 0);
    feed(tree, 1, "+9@1000 M5@1100/1000 R1@1100/1000 R2@1100/1000 -2@1110/1010", 1);
    live_tree_accounts(tree, 1200, accounts);
    CHECK_NUMBER("while it is there, a carrier's call stands still", accounts[9].wall_ticks, 150 + 100);
    CHECK_NUMBER("and its own goes on", accounts[1].wall_ticks, 40 + 100);
    feed(tree, 1, "-1@1300/1200 -9@1310/1210 U0@1350 -9@1360", 1);
    CHECK_NUMBER("elsewhere it goes on", account_of(tree, 1)->wall_ticks, 40 + 200);
    CHECK_NUMBER("as one call", account_of(tree, 1)->calls, 1);
    CHECK_NUMBER("with its counts", account_of(tree, 1)->counters[0], 40 + 200);
    CHECK_NUMBER("that call ends with its own exit", account_of(tree, 9)->wall_ticks, 150 + 100 + 10);
    feed(tree, 2, "+3@2000/0 M6@2100/0 R3@2100/0 -3@2130/0 U0@2140/0 -3@2150/0", 1);
    CHECK_NUMBER("a method of both counts for both", account_of(tree, 3)->wall_ticks, 30 + 110);
    live_tree_close(tree);
}

int main(void)
{
    test_times();
    test_damage();
    test_deep();
    test_open();
    test_cpu();
    test_new_thread();
    test_quiet_thread();
    test_ended_thread();
    test_under_way();
    test_counters();
    test_counters_deep();
    test_virtual_threads();
    return tap_done();
}
