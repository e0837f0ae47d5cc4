/* Which methods are worth probes, from samples of programs that are made up. */
#include "test/tools/candidate_texts.h"
#include "test/unit/tap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MS 1000000u

#define NORMAL (SAMPLE_HAS_LOOP | SAMPLE_HAS_CALLS | SAMPLE_IS_WANTED)

static struct candidates *all;
static struct candidate_list list;
static struct candidates_criteria criteria;
static struct arena arena;
static struct err err;
static uint32_t numbers[512]; /* of the methods, as candidates */

static void start(void)
{
    arena_free(&arena);
    candidates_close(all);
    all = candidates_open();
    criteria = CANDIDATES_CRITERIA;
}

/* Class Main, 100 bytes of code. */
static void name_one(uint32_t number, const char *name, uint32_t flags)
{
    numbers[number] = candidates_method(all, "Main", name, "()V");
    candidates_describe(all, numbers[number], 100, flags);
}

/* A stack as digits, outermost first: methods 0 to 9; '~' behind them: it is cut. */
static void take(uint32_t thread, uint64_t cpu_ns, const char *frames, uint32_t n_same)
{
    uint32_t methods[64], n = 0;
    for (; frames[n] != '\0' && frames[n] != '~'; n++)
        methods[n] = numbers[frames[n] - '0'];
    const struct sample_stack stack = { thread, cpu_ns, frames[n] == '~', false, n, n_same, methods };
    candidates_stack(all, &stack);
}

/* Methods 0 to 9, called "0" to "9". */
static void name_all(uint32_t flags)
{
    for (uint32_t i = 0; i < 10; i++)
        name_one(i, (const char[]){ (char)('0' + i), '\0' }, flags);
}

static void choose(void)
{
    if (candidates_choose(all, &criteria, &arena, &list, &err) < 0) {
        printf("Bail out! %s\n", err.text);
        memset(&list, 0, sizeof list);
    }
}

static const struct candidate *find(const char *name)
{
    static const struct candidate none = { .names.class_name = "", .names.method = "", .reason = CANDIDATE_N_REASONS };
    for (size_t i = 0; i < list.n_all; i++)
        if (strcmp(list.all[i].names.method, name) == 0)
            return &list.all[i];
    return &none;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) < 1e-3;
}

static void must_be_short(const char *name)
{
    candidates_too_short(all, "Main", name, "()V");
}

static void test_shares(void)
{
    start();
    name_all(NORMAL);
    for (int i = 0; i < 30; i++)
        take(0, 2 * MS, "012", 3);
    for (int i = 0; i < 40; i++)
        take(0, 1 * MS, "0131313", 2);
    choose();
    CHECK("a share is of the CPU time, not of the number of samples", is_near(find("2")->share, 0.6));
    CHECK("callees' time is their callers' too", is_near(find("0")->share, 1));
    CHECK("recursion counts once", is_near(find("1")->share, 1) && is_near(find("3")->share, 0.4));
    CHECK("a method's own time is that of the innermost frame",
          is_near(find("3")->self_share, 0.4) && find("1")->self_share == 0);
    CHECK("the largest comes first",
          strcmp(list.all[0].names.method, "0") == 0 && strcmp(list.all[2].names.method, "2") == 0);
    CHECK("samples of different weight say less than as many of the same",
          list.n_effective > 60 && list.n_effective < 65);
}

static void test_interval(void)
{
    start();
    name_all(NORMAL);
    for (int i = 0; i < 100; i++)
        take(0, MS, i < 10 ? "01" : "02", 0);
    choose();
    CHECK("10 of 100 samples are 5.5 to 17.4 %",
          is_near(find("1")->share_low, 0.0552) && is_near(find("1")->share_high, 0.1744));
    CHECK("100 of 100 are 96.3 to 100 %", is_near(find("0")->share_low, 0.963) && find("0")->share_high > 0.999);
}

static void test_reasons(void)
{
    start();
    name_all(NORMAL);
    name_one(3, "native", SAMPLE_IS_NATIVE);
    name_one(4, "accessor", SAMPLE_IS_WANTED);
    name_one(5, "straight", SAMPLE_IS_WANTED | SAMPLE_HAS_CALLS);
    name_one(8, "caller", SAMPLE_IS_WANTED | SAMPLE_HAS_CALLS);
    for (int i = 0; i < 1000; i++)
        take(0, MS, i < 200 ? "0183" : i < 400 ? "0184" : i < 600 ? "0185" : "01", 0);
    for (int i = 0; i < 1000; i++)
        take(1, MS, i < 15 ? "26" : i < 18 ? "27" : i < 19 ? "29" : "2", 0);
    choose();
    static const struct {
        const char *claim, *name;
        enum candidate_reason reason;
    } rows[] = {
        { "a thread is always in it", "0", CANDIDATE_OUTER },
        { "also the second one", "1", CANDIDATE_OUTER },
        { "another thread is always in it", "2", CANDIDATE_OUTER },
        { "its share is surely over 1 %", "caller", CANDIDATE_HEAVY },
        { "native methods are not", "native", CANDIDATE_UNWANTED },
        { "no loop and no call: not", "accessor", CANDIDATE_TINY },
        { "no loop, and its callees take nothing: not", "straight", CANDIDATE_SHORT },
        { "0.75 % may be 1 %", "6", CANDIDATE_POSSIBLE },
        { "0.15 % may not", "7", CANDIDATE_LIGHT },
        { "one sample of so many is even less", "9", CANDIDATE_LIGHT },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_TEXT(rows[i].claim, candidate_reason_text(find(rows[i].name)->reason),
                   candidate_reason_text(rows[i].reason));
    CHECK_NUMBER("five are candidates", list.n, 5);
    CHECK_NUMBER("and the reasons add up", list.n_reasons[CANDIDATE_OUTER] + list.n_reasons[CANDIDATE_LIGHT], 5);
}

/* Straight code, all of whose time is its own. */
static void test_straight(void)
{
    for (int n = 4; n <= 5; n++) {
        start();
        name_all(NORMAL);
        name_one(1, "1", SAMPLE_IS_WANTED | SAMPLE_HAS_CALLS);
        for (int i = 0; i < 20; i++)
            take(0, MS, i < n ? "01" : "0", 0);
        choose();
        CHECK(n == 4 ? "four samples may be an accident" : "five say that its calls are short",
              (find("1")->reason == CANDIDATE_SHORT) == (n == 5));
    }
}

static void test_few_samples(void)
{
    start();
    name_all(NORMAL);
    for (int i = 0; i < 20; i++)
        take(0, MS, i == 0 ? "01" : i < 3 ? "02" : "0", 0);
    choose();
    CHECK("one sample of twenty is an accident", find("1")->reason == CANDIDATE_RARE);
    CHECK("two are not", CANDIDATE_IS_ONE(find("2")->reason));
    criteria.min_samples = 1;
    choose();
    CHECK("unless one is said to be enough", CANDIDATE_IS_ONE(find("1")->reason));
}

static void test_within(void)
{
    start();
    name_all(NORMAL);
    for (int i = 0; i < 50; i++)
        take(0, MS, i < 20 ? "0123" : "04", 0);
    choose();
    CHECK("callees of a method are candidates", CANDIDATE_IS_ONE(find("2")->reason));
    must_be_short("1");
    name_all(NORMAL);
    for (int i = 0; i < 50; i++)
        take(0, MS, i < 20 ? "0123" : i < 22 ? "03" : "04", 0);
    choose();
    CHECK("unless its calls are known to be too short", find("2")->reason == CANDIDATE_WITHIN);
    CHECK("likewise what is called from elsewhere, too, but hardly", find("3")->reason == CANDIDATE_WITHIN);
    CHECK("its callers are not concerned, nor is what others call",
          CANDIDATE_IS_ONE(find("0")->reason) && CANDIDATE_IS_ONE(find("4")->reason));
    CHECK("nor is itself", CANDIDATE_IS_ONE(find("1")->reason));
    must_be_short("9");
    CHECK_TEXT("a method that no sample has seen may be said to be short", err.text, "");
}

static void test_calls(void)
{
    start();
    name_all(NORMAL);
    for (int i = 0; i < 100; i++)
        take(0, MS, "012", i == 0 ? 0 : i % 10 == 0 ? 1 : 2);
    choose();
    CHECK_NUMBER("a method that may be in its first call all the time has one", find("0")->n_calls_least, 1);
    CHECK_NUMBER("one that was new in every tenth sample has ten", find("1")->n_calls_least, 10);
    CHECK("so a call takes 10 ms at most", is_near(find("1")->per_call_most_ns, 10 * MS));
    CHECK("one that was always new 1 ms", is_near(find("2")->per_call_most_ns, MS));
    CHECK_NUMBER("without a grain all three are candidates", list.n, 3);
    for (int i = 0; i < 10; i++)
        take(1, MS, "4", 0);
    choose();
    CHECK_NUMBER("the outermost may be new each time, too", find("4")->n_calls_least, 10);
    criteria.grain = 0.05;
    choose();
    CHECK_NUMBER("with one of 5 % those with longer calls", list.n, 2);
    CHECK("the others are too short", find("2")->reason == CANDIDATE_SHORT);
}

static void test_cut(void)
{
    start();
    name_all(NORMAL);
    for (int i = 0; i < 50; i++)
        take(0, MS, i % 2 == 0 ? "0123" : "0145", 2);
    for (int i = 0; i < 50; i++)
        take(0, MS, "6666~", 0);
    choose();
    CHECK("where frames outside are missing, those of the thread's other samples are taken",
          is_near(find("0")->share, 1) && is_near(find("1")->share, 1));
    CHECK("but not those that were there only sometimes", is_near(find("2")->share, 0.25));
    CHECK_NUMBER("and no call is certain from a part of a stack", find("6")->n_calls_least, 1);
    must_be_short("9");
    for (int i = 0; i < 50; i++)
        take(0, MS, i % 2 == 0 ? "01" : "6666~", 0);
    choose();
    CHECK("nor that it is within a call that is too short", CANDIDATE_IS_ONE(find("0")->reason));
}

static void test_refusals(void)
{
    start();
    name_all(NORMAL);
    CHECK("no samples is an error", candidates_choose(all, &criteria, &arena, &list, &err) < 0);
    CHECK_TEXT("that says what to do", err.text,
               "no thread of the JVM used the CPU while stacks were sampled\n"
               "  next: sample when the program works, or longer");
}

static void test_surplus(void)
{
    start();
    name_all(NORMAL);
    for (int i = 0; i < 100; i++)
        take(0, MS, i < 60 ? "012" : "013", 0);
    criteria.most = 3;
    choose();
    CHECK("no more candidates than asked for", list.n == 3 && find("3")->reason == CANDIDATE_SURPLUS);
    CHECK("the larger ones", CANDIDATE_IS_ONE(find("2")->reason));
}

/*
 * A program of 400 methods below main, with shares from 10 % down to 0.01 %, that is sampled 1,000 times: nearly all
 * that have 1 % are candidates, and few of those that have a fifth of it.
 */
static uint64_t state = 88172645463325252u;

static double chance(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / (double)(UINT64_C(1) << 53);
}

static void test_recall(void)
{
    enum { N = 400, ROUNDS = 20 };
    double shares[N], sum = 0;
    size_t n_heavy = 0, n_found = 0, n_light = 0, n_wrong = 0, most = 0;
    for (uint32_t i = 0; i < N; i++)
        sum += shares[i] = 1.0 / (1.0 + i);
    for (int round = 0; round < ROUNDS; round++) {
        start();
        name_one(N, "main", NORMAL);
        for (uint32_t i = 0; i < N; i++) {
            char name[16];
            snprintf(name, sizeof name, "m%u", (unsigned)i);
            name_one(i, name, NORMAL);
        }
        for (int k = 0; k < 1000; k++) {
            double at = chance() * sum;
            uint32_t inner = 0;
            while (inner + 1 < N && at >= shares[inner])
                at -= shares[inner++];
            const uint32_t stack[2] = { numbers[N], numbers[inner] };
            const struct sample_stack sample = { 0, (uint64_t)(MS * (0.5 + chance())), false, false, 2, 1, stack };
            candidates_stack(all, &sample);
        }
        choose();
        most = list.n > most ? list.n : most;
        for (uint32_t i = 0; i < N; i++) {
            char name[16];
            snprintf(name, sizeof name, "m%u", (unsigned)i);
            bool is_one = CANDIDATE_IS_ONE(find(name)->reason);
            n_heavy += shares[i] / sum >= 0.01;
            n_found += shares[i] / sum >= 0.01 && is_one;
            n_light += shares[i] / sum < 0.002;
            n_wrong += shares[i] / sum < 0.002 && is_one;
        }
    }
    printf("# %zu of %zu heavy ones found, %zu of %zu light ones taken, %zu candidates at most\n", n_found, n_heavy,
           n_wrong, n_light, most);
    CHECK("of the methods with 1 % of the time, 97 % are candidates", n_found * 100 >= n_heavy * 97);
    CHECK("of those with less than 0.2 %, 5 % at most", n_wrong * 20 <= n_light);
    CHECK("they are dozens", most < 60);
}

int main(void)
{
    test_shares();
    test_interval();
    test_reasons();
    test_straight();
    test_few_samples();
    test_within();
    test_calls();
    test_cut();
    test_refusals();
    test_surplus();
    test_recall();
    candidates_close(all);
    arena_free(&arena);
    return tap_done();
}
