/* Findings: each rule just above its threshold and just below it; none where nothing is wrong. */
#include "test/unit/table_printed.h"

#include "test/unit/findings_printed.h"

enum { HANDLE, PRICE, DIGEST };

/* A recording of 10 s, which the application's thread is on a CPU for; 1 tick is 1 ms. */
struct program {
    uint64_t price_ms;               /* of it in PRICE, */
    uint64_t digest_ms;              /* with what that calls of the JDK */
    uint64_t gc_ms, c1_ms, c2_ms;    /* of other threads */
    const char *collections;         /* "N NS NAME" */
    uint64_t n_faults, preempted_ms; /* preempted_ms: that the thread waits for a CPU, in the 10 s */
    const char *stolen_ns, *throttled_ns;
    const char *recompiling_ms; /* of a live recording */
    const char *code_cache;     /* NULL: it has room; "": not known */
    uint64_t run_ms;            /* that the thread is on a CPU; 0: 10 s */
};

static void write_threads(struct maker *m, const struct program *p)
{
    uint64_t run = p->run_ms == 0 ? 10000 - p->preempted_ms : p->run_ms;
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_IN, 1, 0), AT(TRACE_CPU_IN, 2, 0), AT(TRACE_CPU_IN, 3, 0));
    for (uint64_t i = 0; i < p->n_faults; i++)
        KERNEL(m, AT(TRACE_PAGE_FAULT, 0, 1));
    KERNEL(m, AT(TRACE_CPU_OUT, 1, p->gc_ms), AT(TRACE_CPU_OUT, 2, p->c1_ms), AT(TRACE_CPU_OUT, 3, p->c2_ms));
    if (p->preempted_ms > 0)
        KERNEL(m, AT(TRACE_CPU_PREEMPTED, 0, run - 10), AT(TRACE_CPU_IN, 0, run - 10 + p->preempted_ms));
    KERNEL(m, AT(TRACE_CPU_OUT, 0, run + p->preempted_ms));
}

static void make_program(struct maker *m, const struct program *p)
{
    static const struct trace_counter faults = { "page-faults", "", false, TRACE_COUNTER_EVENT, 0 };
    maker_open_scaled(m, "findings.dat", 1000000);
    maker_info(m, "offcpu", "perf");
    if (p->code_cache == NULL || p->code_cache[0] != '\0')
        maker_info(m, "code.cache", p->code_cache == NULL ? "room 251658240 20000000 0" : p->code_cache);
    maker_must(m, trace_write_counters(m->writer, &faults, 1, &m->err));
    maker_thread(m, 0, "main", true);
    maker_thread(m, 1, "GC Thread#0", false);
    maker_thread(m, 2, "C1 CompilerThre", false);
    maker_thread(m, 3, "C2 CompilerThre", false);
    maker_method(m, HANDLE, "jakarta/servlet/Servlet", "service", "()V");
    maker_method(m, PRICE, "com/acme/Shop", "price", "()V");
    maker_method(m, DIGEST, "java/security/Digest", "run", "()V");
    if (p->collections != NULL)
        maker_info(m, "pauses.gc.0", p->collections);
    if (p->stolen_ns != NULL)
        maker_info(m, "machine.stolen_ns", p->stolen_ns);
    if (p->throttled_ns != NULL) {
        maker_info(m, "quota.cpus", "0.2000");
        maker_info(m, "quota.throttled", "104");
        maker_info(m, "quota.throttled_ns", p->throttled_ns);
    }
    if (p->recompiling_ms != NULL) {
        maker_info(m, "live.budget", "0.01");
        maker_info(m, "live.recompiling_ms", p->recompiling_ms);
    }
    write_threads(m, p);
    uint64_t end = 100 + p->price_ms;
    STEPS(m, 0, ENTER(HANDLE, 100), ENTER(PRICE, 100), ENTER(DIGEST, 100), EXIT(DIGEST, 100 + p->digest_ms),
          EXIT(PRICE, end), EXIT(HANDLE, end));
}

static void check_lines(const char *claim, const struct program *p, const char *expected)
{
    struct maker m;
    struct trace_made made;
    make_program(&m, p);
    trace_made_open(&made, &m, 10000, &arena);
    CHECK_TEXT(claim, lines_of(&made.source, NULL), expected);
    trace_made_close(&made);
}

static void test_thresholds(void)
{
    static const struct {
        const char *claim;
        struct program program;
        const char *lines;
    } rows[] = {
        { "nothing is found where nothing is wrong", { .price_ms = 900, .digest_ms = 100 }, "" },
        { "a method of the program's own that uses more than 10 % of the CPU time, with what it calls of the JDK",
          { .price_ms = 1010, .digest_ms = 900 },
          "* Shop.price (with the library code that it calls) uses 10 % of the CPU time, 1.01 s, mostly in Digest.run "
          "(--view callers=Shop.price)\n"
          "\n" },
        { "not one of exactly that", { .price_ms = 1000, .digest_ms = 900 }, "" },
        { "in a program that hardly runs, one that uses more than 2 % of a CPU",
          { .price_ms = 210, .digest_ms = 10, .run_ms = 600 },
          "* Shop.price itself uses 35 % of the CPU time, 210 ms (--view callers=Shop.price)\n\n" },
        { "not one that uses less", { .price_ms = 190, .digest_ms = 10, .run_ms = 600 }, "" },
        { "nor where it also waits for a CPU, for a part of the time",
          { .price_ms = 150, .run_ms = 900, .preempted_ms = 2000 },
          "* application threads ran for 900 ms and waited 2.00 s for a CPU: too few CPUs (--view timeline)\n\n" },
        { "but where it always wants one, and has little",
          { .price_ms = 150, .run_ms = 900, .preempted_ms = 9000 },
          "* application threads ran for 900 ms and waited 9.00 s for a CPU: too few CPUs (--view timeline)\n"
          "* Shop.price itself uses 17 % of the CPU time, 150 ms (--view callers=Shop.price)\n\n" },
        { "a collector that uses more than 10 % of the CPU time",
          { .gc_ms = 1120, .collections = "40 90000000 young" },
          "* garbage collector: uses 10 % of the CPU time, 1.12 s, and stopped the program 40 times for 90.0 ms "
          "(--view pauses)\n\n" },
        { "not one that uses less", { .gc_ms = 1100, .collections = "40 90000000 young" }, "" },
        { "one that stops the program for more than 10 % of the time",
          { .collections = "4 1010000000 full" },
          "* garbage collector: stopped the program 4 times for 1.01 s (--view pauses)\n\n" },
        { "not for less", { .collections = "4 990000000 full" }, "" },
        { "not two collections, which say little", { .collections = "2 5000000000 full" }, "" },
        { "JIT compilers that use more than 25 % of the CPU time",
          { .c1_ms = 400, .c2_ms = 3000 },
          "* JIT compilers use 25 % of the CPU time, 3.40 s: the program is still warming up, or instrumented code is "
          "being recompiled (--view timeline)\n"
          "\n" },
        { "for what a live recording changed, where that was most of it",
          { .c1_ms = 400, .c2_ms = 3000, .recompiling_ms = "1800" },
          "* JIT compilers use 25 % of the CPU time, 3.40 s: the recording caused recompilation; record for longer "
          "(--view timeline)\n"
          "\n" },
        { "and else by themselves",
          { .c1_ms = 400, .c2_ms = 3000, .recompiling_ms = "1600" },
          "* JIT compilers use 25 % of the CPU time, 3.40 s: the program is still warming up; measure again later "
          "(--view timeline)\n\n" },
        { "for a code cache that is full",
          { .c1_ms = 400, .c2_ms = 3000, .code_cache = "full 3145728 2694144 0" },
          "* JIT compilers use 25 % of the CPU time, 3.40 s: the code cache is full (2.6 of 3.0 MB): the JVM discards "
          "code and compiles it again; raise -XX:ReservedCodeCacheSize (--view timeline)\n"
          "\n" },
        { "where compilation stopped, that is said",
          { .c1_ms = 400, .c2_ms = 3000, .code_cache = "full 50331648 50331648 2" },
          "* JIT compilers use 25 % of the CPU time, 3.40 s: the code cache is full (48.0 of 48.0 MB): compilation "
          "stopped; raise -XX:ReservedCodeCacheSize (--view timeline)\n\n" },
        { "where it is not known, both are possible",
          { .c1_ms = 400, .c2_ms = 3000, .code_cache = "", .recompiling_ms = "0" },
          "* JIT compilers use 25 % of the CPU time, 3.40 s: the program is still warming up, or its code cache is "
          "full "
          "(--view timeline)\n\n" },
        { "not less", { .c1_ms = 400, .c2_ms = 2900 }, "" },
        { "nor where that is less than 2 % of the time", { .c2_ms = 190, .run_ms = 200 }, "" },
        { "but it is, where others had the CPUs for most of the time",
          { .c2_ms = 190, .run_ms = 200, .preempted_ms = 3800 },
          "* application threads ran for 200 ms and waited 3.80 s for a CPU: too few CPUs (--view timeline)\n"
          "* JIT compilers use 49 % of the CPU time, 190 ms: the program is still warming up, or instrumented code is "
          "being recompiled (--view timeline)\n"
          "\n" },
        { "threads that wait for a CPU for more than a fifth of the time that they have one",
          { .preempted_ms = 1700 },
          "* application threads ran for 8.30 s and waited 1.70 s for a CPU: too few CPUs (--view timeline)\n"
          "\n" },
        { "not less", { .preempted_ms = 1600 }, "" },
        { "on a busy machine with a quota that explains less than half of that",
          { .preempted_ms = 4000, .throttled_ns = "1000000000" },
          "* the container's CPU quota (0.20 CPUs) stopped the program 104 times for 1.00 s (--view timeline)\n"
          "* application threads ran for 6.00 s and waited 4.00 s for a CPU: too few CPUs; the container's CPU quota "
          "explains the smaller part (--view timeline)\n"
          "\n" },
        { "where a container's CPU quota stopped the threads, that is the reason",
          { .preempted_ms = 8000, .throttled_ns = "7100000000" },
          "* the container's CPU quota (0.20 CPUs) stopped the program 104 times for 7.10 s (--view timeline)\n\n" },
        { "not a quota that stopped the program for 5 % of its CPU time", { .throttled_ns = "490000000" }, "" },
        { "a host that keeps more than 5 % of the CPU time",
          { .stolen_ns = "510000000" },
          "* this machine's host withheld CPUs for 510 ms (steal time); the program's CPU times include it (--view "
          "timeline)\n"
          "\n" },
        { "not less", { .stolen_ns = "490000000" }, "" },
        { "a condition of the measurement comes last, if its end does not save most",
          { .price_ms = 6000, .gc_ms = 2500, .c2_ms = 5000, .collections = "40 90000000 young" },
          "* Shop.price itself uses 34 % of the CPU time, 6.00 s (--view callers=Shop.price)\n"
          "* garbage collector: uses 14 % of the CPU time, 2.50 s, and stopped the program 40 times for 90.0 ms "
          "(--view pauses)\n"
          "* JIT compilers use 29 % of the CPU time, 5.00 s: the program is still warming up, or instrumented code is "
          "being recompiled (--view timeline)\n\n" },
        { "what saves most comes first",
          { .price_ms = 3000, .c2_ms = 5000 },
          "* JIT compilers use 33 % of the CPU time, 5.00 s: the program is still warming up, or instrumented code is "
          "being recompiled (--view timeline)\n"
          "* Shop.price itself uses 20 % of the CPU time, 3.00 s (--view callers=Shop.price)\n"
          "\n" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_lines(rows[i].claim, &rows[i].program, rows[i].lines);
}

/* What a method of the program's own calls of the JDK, of 10 s. */
struct known_case {
    const char *claim, *class_name, *method;
    uint64_t ms;
    const char *lines;
};

static void check_known(const struct known_case *c)
{
    struct maker m;
    struct trace_made made;
    make_program(&m, &(struct program){ .price_ms = 0 });
    maker_method(&m, 3, "com/acme/Broken", "<init>", "()V");
    maker_method(&m, 4, c->class_name, c->method, "()V");
    STEPS(&m, 0, ENTER(PRICE, 200), ENTER(3, 200), ENTER(4, 200), EXIT(4, 200 + c->ms), EXIT(3, 200 + c->ms),
          EXIT(PRICE, 200 + c->ms));
    trace_made_open(&made, &m, 10000, &arena);
    CHECK_TEXT(c->claim, lines_of(&made.source, NULL), c->lines);
    trace_made_close(&made);
    arena_free(&arena);
}

static void test_known(void)
{
    static const struct known_case rows[] = {
        { "who throws, and what, instead of the constructor", "java/lang/Throwable", "<init>", 1200,
          "* Shop.price spends 12 % of the CPU time, 1.20 s, in Throwable.<init> (com.acme.Broken, stack depth 1): "
          "return a value, or throw without a stack trace (--view 'callers=Throwable.<init>')\n\n" },
        { "not where that is little", "java/lang/Throwable", "<init>", 290, "" },
        { "keys of one hash code", "java/util/HashMap$TreeNode", "find", 310,
          "* Shop.price spends 3 % of the CPU time, 310 ms, in HashMap$TreeNode.find: many keys have the same hash "
          "code: "
          "mend hashCode (--view 'callers=HashMap$TreeNode.find')\n\n" },
        { "not where that is little", "java/util/HashMap$TreeNode", "find", 290, "" },
        { "nor for a method that only calls the one that searches", "java/util/HashMap$TreeNode", "getTreeNode", 900,
          "" },
        { "nor in another map", "java/util/HashMap", "getNode", 900, "" },
        { "patterns that are compiled each time", "java/lang/String", "split", 310,
          "* Shop.price spends 3 % of the CPU time, 310 ms, in String.split: it compiles a pattern each time: keep a "
          "Pattern in a static field (--view callers=String.split)\n\n" },
        { "not where that is little", "java/lang/String", "split", 290, "" },
        { "a pattern that backtracks", "java/util/regex/Matcher", "find", 600,
          "* Shop.price spends 6 % of the CPU time, 600 ms, in Matcher.find: the pattern is tried again and again "
          "(backtracking), or the text is long (--view callers=Matcher.find)\n\n" },
        { "classes that are loaded, where it is not known that this goes on", "java/lang/ClassLoader", "loadClass", 900,
          "" },
        { "nor is another constructor one", "java/lang/Thread", "<init>", 900, "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_known(&rows[i]);
}

/* 100 samples in 10 s, one of so many in a method of the program's own that is interpreted, up to one of them. */
struct interpreted_case {
    const char *claim;
    uint32_t code_bytes, one_in, up_to, frame_of_others;
    const char *lines;
};

static void check_interpreted(const struct interpreted_case *c)
{
    const struct trace_sampled_method methods[] = {
        { .names = { "com/acme/Shop", "all", "()V" }, .code_bytes = c->code_bytes },
        { .names = { "java/util/Random", "next", "()V" }, .code_bytes = 10 }
    };
    struct view_pass pass;
    struct report_source with;
    struct maker m;
    maker_open(&m, "interpreted.dat");
    maker_info(&m, "offcpu", "perf");
    maker_info(&m, "recording.mode", "samples");
    maker_info(&m, "sample.period_ns", "100000000");
    maker_thread(&m, 0, "main", false);
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_OUT, 0, UINT64_C(10000000000)));
    maker_stack(&m, 0, -1, 0, &methods[0], 0, 0);
    maker_stack(&m, 0, -1, 1, &methods[1], 0, 0);
    for (uint32_t i = 0; i < 100; i++) {
        bool is_all = i % c->one_in == 0 && i < c->up_to;
        const struct trace_sample sample = { .ticks = i * UINT64_C(100000000) + 50000000,
                                             .context = is_all ? 1 : 2,
                                             .frame = is_all ? TRACE_FRAME_INTERPRETED : c->frame_of_others,
                                             .index = -1,
                                             .n = 1,
                                             .weight_ns = 100000000 };
        maker_must(&m, trace_write_sample(m.writer, &sample, &m.err));
    }
    maker_close(&m, UINT64_C(10000000000));
    const struct view_pass_options options = { .path = m.path,
                                               .parts = VIEW_PASS_SAMPLES | VIEW_PASS_FINDINGS,
                                               .libraries = folding_read(NULL, &arena, &err) };
    maker_must(&m, view_pass_read(&options, &arena, &pass, &m.err));
    sampled_tree(&pass.source, view_pass_samples(&pass, &pass.source), false, &with);
    const char *lines = lines_of(&with, &pass), *found = strstr(lines, "* Shop.all runs interpreted");
    CHECK_TEXT(c->claim, found == NULL ? "" : arena_text(&arena, found, strcspn(found, "\n")), c->lines);
    view_pass_close(&pass);
    arena_free(&arena);
}

static void test_interpreted(void)
{
    static const struct interpreted_case rows[] = {
        { "a method that is too large for the compilers", 8001, 4, 100, TRACE_FRAME_COMPILED,
          "* Shop.all runs interpreted for 25 \u00b111 % of the CPU time, 2.50 s: it has 8001 bytes of bytecode, and "
          "HotSpot compiles 8000 at most: split it (--view callers=Shop.all)" },
        { "not where it takes little", 8001, 20, 100, TRACE_FRAME_COMPILED, "" },
        { "a smaller one that is never compiled", 8000, 4, 100, TRACE_FRAME_COMPILED,
          "* Shop.all runs interpreted for 25 \u00b111 % of the CPU time, 2.50 s: HotSpot cannot compile it, or "
          "discards "
          "its code again and again (--view callers=Shop.all)" },
        { "not while the program warms up", 8000, 2, 60, TRACE_FRAME_COMPILED, "" },
        { "nor where all of it is interpreted", 8000, 4, 100, TRACE_FRAME_INTERPRETED, "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_interpreted(&rows[i]);
}

/* Instructions, cycles and misses of L2 for each: price has misses of its own, digest is the rest. */
static const char *lines_of_misses(uint64_t n_misses)
{
    static const struct trace_counter counters[] = { { "cycles", "", true, TRACE_COUNTER_EVENT, 0 },
                                                     { "instructions", "", true, TRACE_COUNTER_EVENT, 0 },
                                                     { "l2-data-misses", "", true, TRACE_COUNTER_EVENT, 0 } };
    struct maker m;
    struct trace_made made;
    maker_open_scaled(&m, "misses.dat", 1000000);
    maker_info(&m, "offcpu", "perf");
    maker_info(&m, "simulated", "a processor");
    maker_must(&m, trace_write_counters(m.writer, counters, 3, &m.err));
    m.n_counters = 3;
    maker_thread(&m, 0, "main", true);
    maker_method(&m, PRICE, "com/acme/Shop", "price", "()V");
    maker_method(&m, HANDLE, "com/acme/Shop", "handle", "()V");
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_OUT, 0, 10000));
    STEPS(&m, 0, ENTER(HANDLE, 0, 0, 0, 0), ENTER(PRICE, 5000, 100000, 100000, 200),
          EXIT(PRICE, 10000, 900000, 200000, 200 + n_misses), EXIT(HANDLE, 10000, 900000, 200000, 200 + n_misses));
    trace_made_open(&made, &m, 10000, &arena);
    const char *lines = lines_of(&made.source, NULL);
    bool is_found = strstr(lines, "Shop.price misses the caches: per 1,000 instructions") != NULL;
    trace_made_close(&made);
    return is_found ? "found" : "not found";
}

static void test_misses(void)
{
    CHECK_TEXT("a method that misses more than 3 times as often as the rest is found", lines_of_misses(610), "found");
    CHECK_TEXT("one that does so less often is not", lines_of_misses(590), "not found");
}

/* With a cpu line that repeats what another one says. */
static void test_screen(void)
{
    struct finding all[10];
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    for (size_t i = 0; i < 10; i++)
        all[i] = (struct finding){ .text = i % 2 ? "odd" : "even", .view = "waits", .is_repeated = i == 1 };
    findings_print(&(struct findings){ all, 10 }, 8, out);
    findings_print(&(struct findings){ all, 3 }, 8, out);
    fclose(out);
    CHECK_TEXT("at most eight lines, of which none repeats another; the last one says how many have none", text,
               "* even (--view waits)\n* even (--view waits)\n* odd (--view waits)\n* even (--view waits)\n"
               "* odd (--view waits)\n* even (--view waits)\n* odd (--view waits)\n"
               "* even (--view waits; --view findings has 2 more)\n\n"
               "* even (--view waits)\n* even (--view waits)\n\n");
    free(text);
}

static void test_table(void)
{
    const struct program p = { .price_ms = 3000, .digest_ms = 100 };
    struct maker m;
    struct trace_made made;
    struct table table;
    make_program(&m, &p);
    trace_made_open(&made, &m, 10000, &arena);
    const struct findings_input input = input_of(&made.source, NULL);
    findings_table(&input, &table);
    CHECK_TEXT("as CSV, with the interval", printed(&table, CSV, &arena),
               "kind,rule,subject,cost_ns,size,share,share_low,share_high,evidence,view\r\n"
               "finding,cpu,Shop.price,3000000000,30 % of the CPU "
               "time,0.29999999999999999,0.29999999999999999,0.29999999999999999,"
               "\"Shop.price itself uses 30 % of the CPU time, 3.00 s\",callers=Shop.price\r\n");
    trace_made_close(&made);
}

static void test_sizes(void)
{
    const struct {
        struct program program;
        const char *size;
    } rows[] = {
        { { .c2_ms = 190, .run_ms = 200, .preempted_ms = 3800 }, "19.0 times the CPU time" },
        { { .preempted_ms = 4000 }, "67 % of the CPU time" },
        { { .gc_ms = 3000, .collections = "40 2900000000 gc_young" }, "29 % of the time" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maker m;
        struct trace_made made;
        make_program(&m, &rows[i].program);
        trace_made_open(&made, &m, 10000, &arena);
        const struct findings_input input = input_of(&made.source, NULL);
        const struct findings found = findings_find(&input);
        CHECK_TEXT("its size in words", found.n == 0 ? "" : found.all[0].size, rows[i].size);
        trace_made_close(&made);
    }
}

static void test_list(void)
{
    const struct {
        const char *name;
        bool is_listed;
    } rows[] = { { "java/lang/String", true },
                 { "org/apache/catalina/core/StandardWrapper", true },
                 { "com/acme/shop/PriceService", false },
                 { "com/sun/tools/javac/Main", false },
                 { "org/h2/command/Parser", true } };
    const struct folding_list *list = folding_read(NULL, &arena, &err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(rows[i].name, folding_has(list, rows[i].name) == rows[i].is_listed);
    CHECK("a list that is not there is an error", folding_read("/nowhere/list", &arena, &err) == NULL);
    arena_free(&arena);
}

int main(void)
{
    test_thresholds();
    test_known();
    test_interpreted();
    test_misses();
    test_screen();
    test_table();
    test_sizes();
    test_list();
    return tap_done();
}
