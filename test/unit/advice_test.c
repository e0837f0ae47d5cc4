/* Advice: each rule where it must come and where it must not; the order; what verifies it. */
#include "report/findings/advice.h"
#include "report/view/last_uses.h"
#include "report/view/live_bytes.h"

#include "test/unit/table_printed.h"
#include "test/unit/tap.h"
#include "test/unit/trace_made.h"

static struct arena arena;
static struct err err;

#define JDK_25 "OpenJDK 64-Bit Server VM 25.0.1+8-LTS"
#define JDK_17 "OpenJDK 64-Bit Server VM 17.0.15+6-Debian-1deb12u1"

/* A recording of 10 s, in which the application's thread is on a CPU; 1 tick is 1 ms. */
struct program {
    const char *version, *command;
    uint64_t gc_ms, c2_ms, n_faults, preempted_ms; /* preempted_ms: that the thread waits for a CPU, in the 10 s */
    const char *collections, *others;              /* "N NS NAME" */
    const char *recompiling;                       /* ms, by the recording */
    const char *cpu;                               /* "AMD EPYC, 2 CPUs" */
    bool is_attached;                              /* to a JVM that ran before */
    bool has_ended;                                /* the JVM, before the recording did */
};

/* What an emulated run says, or NULL. */
static const struct advice_memory *memory;

static void make_info(struct maker *m, const struct program *p)
{
    maker_info(m, "offcpu", "perf");
    maker_info(m, "code.cache", "room 251658240 20000000 0");
    maker_info(m, "jvm.version", p->version == NULL ? JDK_25 : p->version);
    maker_info(m, "jvm.command", p->command == NULL ? "java -jar shop.jar" : p->command);
    if (p->collections != NULL)
        maker_info(m, "pauses.gc.0", p->collections);
    if (p->others != NULL)
        maker_info(m, "pauses.gc.1", p->others);
    if (p->cpu != NULL)
        maker_info(m, "cpu", p->cpu);
    if (p->is_attached)
        maker_info(m, "jvm.attached", "1");
    if (p->recompiling != NULL)
        maker_info(m, "live.compiling_ms", p->recompiling);
}

static void make_program(struct maker *m, const struct program *p)
{
    static const struct trace_counter faults = { "page-faults", "", false, TRACE_COUNTER_EVENT, 0 };
    uint64_t run = 10000 - p->preempted_ms;
    maker_open_scaled(m, "advice.dat", 1000000);
    make_info(m, p);
    maker_must(m, trace_write_counters(m->writer, &faults, 1, &m->err));
    maker_thread(m, 0, "main", true);
    maker_thread(m, 1, "GC Thread#0", false);
    maker_thread(m, 2, "C2 CompilerThre", false);
    const struct trace_thread vm = { .index = 3,
                                     .tid = 103,
                                     .name = "VM Thread",
                                     .comm = "VM Thread",
                                     .start_ticks = TRACE_UNKNOWN,
                                     .end_ticks = p->has_ended ? 10000 : TRACE_UNKNOWN };
    maker_must(m, trace_write_thread(m->writer, &vm, &m->err));
    maker_method(m, 0, "com/acme/Shop", "price", "()V");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_IN, 1, 0), AT(TRACE_CPU_IN, 2, 0));
    for (uint64_t i = 0; i < p->n_faults; i++)
        KERNEL(m, AT(TRACE_PAGE_FAULT, 0, 1));
    KERNEL(m, AT(TRACE_CPU_OUT, 1, p->gc_ms), AT(TRACE_CPU_OUT, 2, p->c2_ms));
    if (p->preempted_ms > 0)
        KERNEL(m, AT(TRACE_CPU_PREEMPTED, 0, run - 10), AT(TRACE_CPU_IN, 0, run - 10 + p->preempted_ms));
    KERNEL(m, AT(TRACE_CPU_OUT, 0, 10000));
    STEPS(m, 0, ENTER(0, 100), EXIT(0, 200));
}

/* The rules of the hints, in their order, or the text; until it is called again. */
static const char *advice_of(const struct program *p, bool is_text)
{
    static char copy[4096];
    struct maker m;
    struct trace_made made;
    char *text = NULL;
    size_t n = 0;
    make_program(&m, p);
    trace_made_open(&made, &m, 10000, &arena);
    const struct findings_input input = { .source = &made.source, .libraries = folding_read(NULL, &arena, &err) };
    FILE *out = open_memstream(&text, &n);
    const struct advice advice = advice_find(&input, memory);
    if (is_text)
        advice_print(&advice, out);
    else
        for (size_t i = 0; i < advice.n; i++)
            fprintf(out, "%s%s", i == 0 ? "" : " ", advice.all[i].rule);
    fclose(out);
    snprintf(copy, sizeof copy, "%s", text); /* the arena goes with the trace */
    free(text);
    trace_made_close(&made);
    return copy;
}

static void test_rules(void)
{
    static const struct {
        const char *claim;
        struct program program;
        const char *rules;
    } rows[] = {
        { "nothing where nothing is wrong", { .c2_ms = 100 }, "" },
        { "an AOT cache where the JIT compilers take a third of the CPU time", { .c2_ms = 5000 }, "aot-cache" },
        { "not on a JDK without", { .c2_ms = 5000, .version = JDK_17 }, "" },
        { "nor of a JVM whose version is not known", { .c2_ms = 5000, .version = "a JVM" }, "" },
        { "nor where the program has one", { .c2_ms = 5000, .command = "java -XX:AOTCache=x.aot -jar x.jar" }, "" },
        { "nor where the recording had code compiled again", { .c2_ms = 5000, .recompiling = "1100" }, "" },
        { "it does not matter where that is little", { .c2_ms = 5000, .recompiling = "900" }, "aot-cache" },
        { "nor where the compilers take a fifth", { .c2_ms = 2500 }, "" },
        { "C1 alone where a short run, from start to end, compiles much",
          { .c2_ms = 5000, .version = JDK_17, .has_ended = true },
          "c1" },
        { "and what saves as much beside it", { .c2_ms = 5000, .has_ended = true }, "c1 aot-cache" },
        { "not where the JVM goes on", { .c2_ms = 5000, .version = JDK_17 }, "" },
        { "nor where it ran before", { .c2_ms = 5000, .version = JDK_17, .has_ended = true, .is_attached = true }, "" },
        { "nor where the tier was chosen",
          { .c2_ms = 5000, .version = JDK_17, .has_ended = true, .command = "java -XX:TieredStopAtLevel=3 -jar a.jar" },
          "" },
        { "nor in a longer run", { .c2_ms = 35000, .version = JDK_17, .has_ended = true }, "" },
        { "a larger young generation where its collections take the time",
          { .gc_ms = 1500, .collections = "40 1200000000 G1 young collection pauses" },
          "young" },
        { "not where they are few", { .gc_ms = 1500, .collections = "9 1200000000 G1 young collection pauses" }, "" },
        { "not where its size was chosen",
          { .gc_ms = 1500, .collections = "40 1200000000 young", .command = "java -Xmn100m Shop" },
          "" },
        { "not where what it saves may be next to nothing",
          { .gc_ms = 700, .collections = "40 700000000 G1 young collection pauses" },
          "" },
        { "a larger heap where full collections take the time",
          { .gc_ms = 1500, .collections = "40 400000000 young", .others = "5 1000000000 G1 full collection pauses" },
          "heap" },
        { "huge pages where page faults take the time", { .n_faults = 3000000 }, "faults" },
        { "not where the program has them",
          { .n_faults = 3000000, .command = "java -XX:+UseTransparentHugePages Shop" },
          "" },
        { "fewer threads where they wait for CPUs", { .preempted_ms = 4000, .cpu = "x, 1 CPUs" }, "threads" },
        { "where it is not known how many there are, too", { .preempted_ms = 4000 }, "threads" },
        { "CPUs of its own where others use most of them", { .preempted_ms = 4000, .cpu = "a, b, 2 CPUs" }, "cpus" },
        { "what saves most comes first",
          { .c2_ms = 9000, .gc_ms = 3000, .collections = "40 3000000000 young" },
          "aot-cache young" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_TEXT(rows[i].claim, advice_of(&rows[i].program, false), rows[i].rules);
}

static void test_text(void)
{
    static const struct program slow = { .c2_ms = 10000 }, fine = { .c2_ms = 100 };
    static const struct program quoted = { .c2_ms = 10000, .command = "java -cp 'a b' Shop" };
    CHECK_TEXT(
        "a hint has what it saves, why, and how to verify it", advice_of(&slow, true),
        "1. start with an AOT cache: it holds linked classes and profiles for the JIT compilers (JDK 25 and later)\n"
        "   saves   about 5.00 s of CPU time, 25 % (15 .. 65 %), by paired runs of javac\n"
        "   why     JIT compilers use 50 % of the CPU time, 10.0 s: the program is still warming up, or instrumented "
        "code is being recompiled\n"
        "   verify  java -XX:AOTCacheOutput=app.aot -jar shop.jar && mmprof diff --until 5% --before 'java -jar "
        "shop.jar' --after 'java -XX:AOTCache=app.aot -jar shop.jar'\n");
    CHECK_TEXT("where there is none, one line says so", advice_of(&fine, true),
               "nothing significant: no hint saves 2 % or more over its whole interval\n");
    CHECK("a command with quotes stands in quotes as a shell takes it",
          strstr(advice_of(&quoted, true), "--before 'java -cp '\\''a b'\\'' Shop' --after") != NULL);
}

/* The end of a text behind a word, without its line feed. */
static const char *behind(const char *text, const char *word)
{
    static char line[1024];
    const char *at = strstr(text, word);
    snprintf(line, sizeof line, "%s", at == NULL ? "" : at);
    line[strcspn(line, "\n")] = '\0';
    return line;
}

/* What can be pasted into a shell to try an option. */
static void test_verify(void)
{
    static const struct {
        const char *claim;
        struct program program;
        const char *from, *command;
    } rows[] = {
        { "twice the heap that was asked for, without the old size, which would count",
          { .gc_ms = 1500, .collections = "40 1200000000 young", .command = "java -Xms64m -Xmx512m -cp '*' Shop" },
          "--after",
          "--after 'java -Xmx1024m -Xms64m -cp '\\''*'\\'' Shop'" },
        { "a larger part of the memory where none was",
          { .gc_ms = 1500, .collections = "40 1200000000 young" },
          "--after",
          "--after 'java -XX:MaxRAMPercentage=50.0 -jar shop.jar'" },
        { "and of the part that was",
          { .gc_ms = 1500, .collections = "9 1200000000 full", .command = "java -XX:MaxRAMPercentage=60 X" },
          "--after",
          "--after 'java -XX:MaxRAMPercentage=80.0 X'" },
        { "a command that was cut is not run",
          { .c2_ms = 10000, .command = "java -cp aaa..." },
          "--after",
          "--after 'java -XX:AOTCache=app.aot ...' (... is the rest of its command, which the recording does not have "
          "whole)" },
        { "nor one of an old recording, without quotes",
          { .c2_ms = 10000, .command = "java -cp a;b Shop" },
          "java -XX:AOTCacheOutput",
          "java -XX:AOTCacheOutput=app.aot ... && mmprof diff --until 5% --before 'java ...' --after 'java "
          "-XX:AOTCache=app.aot ...' (... is the rest of its command, which the recording does not have whole)" },
        { "an AOT cache has no classes of directories",
          { .c2_ms = 10000, .command = "java -cp a.jar:/b/classes:c -Xmx1g Shop" },
          "jar -c",
          "jar -c -f app1.jar -C /b/classes . && jar -c -f app2.jar -C c . && java -XX:AOTCacheOutput=app.aot -cp "
          "a.jar:app1.jar:app2.jar -Xmx1g Shop && mmprof diff --until 5% --before 'java -cp a.jar:app1.jar:app2.jar "
          "-Xmx1g Shop' --after 'java -XX:AOTCache=app.aot -cp a.jar:app1.jar:app2.jar -Xmx1g Shop'" },
        { "a JVM that it was attached to is recorded again",
          { .gc_ms = 1500, .collections = "40 1200000000 young", .is_attached = true },
          "for v",
          "for v in old new; do printf \"PID of the $v JVM: \"; read pid; for i in 1 2 3; do mmprof profile -q -o $v$i "
          "$pid > /dev/null; done; done; mmprof diff --before old1 old2 old3 --after new1 new2 new3 # new: started "
          "with "
          "-XX:MaxRAMPercentage=50.0" },
        { "a change of the program is recorded before and behind",
          { .preempted_ms = 4000 },
          "for v",
          "for v in old new; do for i in 1 2 3; do mmprof profile -q -o $v$i -- java -jar shop.jar > /dev/null; done; "
          "[ $v = new ] "
          "|| { printf 'Make the change, then press Enter: '; read x; }; done; mmprof diff --clock wall --before old1 "
          "old2 old3 --after new1 new2 new3" },
        { "the program that was attached to and is changed, too",
          { .preempted_ms = 4000, .is_attached = true },
          "diff",
          "diff --clock wall --before old1 old2 old3 --after new1 new2 new3" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_TEXT(rows[i].claim, behind(advice_of(&rows[i].program, true), rows[i].from), rows[i].command);
}

/* Three clusters: a large one, one that C2 has removed, a small one; and a point. */
static void test_memory(void)
{
    static const struct program collecting = { .gc_ms = 2000 },
                                small_young = { .gc_ms = 2000, .command = "java -Xmn1m X" }, idle = { .c2_ms = 100 },
                                full = { .gc_ms = 2000, .collections = "20 1900000000 full" };
    uint64_t compiled[] = { 0, 11 };
    struct last_uses_cluster clusters[] = {
        { .created = UINT32_MAX,
          .used = UINT32_MAX,
          .common = 1,
          .is_used = true,
          .n_short_bytes = 500,
          .n_bytes = 500 },
        { .created = UINT32_MAX, .common = 0, .is_used = true, .n = 1, .n_short_bytes = 400, .n_bytes = 400 },
        { .created = UINT32_MAX, .common = 0, .is_used = true, .n = 1, .n_short_bytes = 90, .n_bytes = 100 },
    };
    struct live_point point = {
        .n_calls = 10, .call_bytes = 819200, .kept = 10, .kept_mean = 1000, .minima = 1, .choice = LIVE_YOUNG
    };
    struct last_uses uses = { .compiled = { compiled, 2 }, .all = clusters, .n = 3, .n_bytes = 1000, .time = 1000 };
    struct live_bytes live = { .time = 1000 };
    struct live_points points = { &point, 1, 0 };
    const struct advice_memory all = { &advice_memory_rules, &uses, &live, &points };
    memory = &all;
    CHECK_TEXT("objects that are a tenth of all bytes, and a point", advice_of(&collecting, false), "collect replace");
    const char *text = advice_of(&collecting, true);
    CHECK("what they save is of the collections' time", strstr(text, "40 % of the bytes allocated; 800 ms of") != NULL);
    CHECK("a size is an option to verify it", strstr(text, "--after 'java -Xmn4m -jar shop.jar'") != NULL);
    CHECK("in the place of one that is there",
          strstr(advice_of(&small_young, true), "--after 'java -Xmn4m X'") != NULL);
    point.call_bytes = 4e9;
    CHECK_TEXT("no young generation whose pages cost more than its collections", advice_of(&collecting, false),
               "replace");
    point.call_bytes = 819200;
    clusters[1].is_library = true;
    CHECK_TEXT("what the JDK passes on is not the program's", advice_of(&collecting, false), "collect");
    clusters[1].is_library = false;
    CHECK_TEXT("where no collection costs much, only bytes are saved", advice_of(&idle, false), "replace");
    point = (struct live_point){ .n_calls = 10, .old_dead = 5000, .live = 100, .live_mean = 1000, .choice = LIVE_FULL };
    CHECK_TEXT("no full collection where there was none", advice_of(&collecting, false), "replace");
    CHECK_TEXT("at the ends, where full ones take the time", advice_of(&full, false), "collect heap replace");
    point.choice = LIVE_NO_COLLECTION;
    uses.n_bytes = 10000;
    CHECK_TEXT("nothing where that is little", advice_of(&collecting, false), "");
    memory = NULL;
}

int main(void)
{
    test_rules();
    test_memory();
    test_text();
    test_verify();
    arena_free(&arena);
    return tap_done();
}
