/*
 * The rules of advice: which finding asks for which action, and what that saves.
 *
 * What an action saves is a part of what the finding costs, with an interval that is wide on purpose: it orders the
 * hints, and 'mmprof diff' measures it.
 */
#include "report/findings/advice_internal.h"

#include "core/trace/recording_info.h"
#include "report/recompilation.h"

#define SMALL 0.02 /* less is within what runs differ by */

/* ---- when a rule applies ---- */

#define AOT_SINCE     25   /* JDK: -XX:AOTCache with profiles (JEP 514, 515) */
#define OWN_COMPILING 0.2  /* of the JIT's time, caused by the recording: then it says little of the program */
#define SHORT_NS      4e10 /* CPU time of a run that does not pay for C2: the longest that was tried */
#define YOUNG_LEAST   10   /* collections */
#define MOST          0.75 /* of the pauses' time */

/* "OpenJDK 64-Bit Server VM 25.0.1+8-LTS": 25; 0: not known. */
static unsigned long jdk_of(const struct findings_making *making)
{
    const char *version = info_text(making->source->reader, INFO_JVM_VERSION);
    for (; version != NULL && *version != '\0'; version++) {
        char *end;
        bool begins_word = version[0] >= '0' && version[0] <= '9';
        unsigned long number = begins_word ? strtoul(version, &end, 10) : 0;
        if (begins_word && (*end == '.' || *end == '+' || *end == '\0' || *end == ' ') && number != 64)
            return number;
        while (begins_word && version[1] >= '0' && version[1] <= '9')
            version++;
    }
    return 0;
}

static bool has_option(const struct findings_making *making, const char *option)
{
    const char *command = info_text(making->source->reader, INFO_JVM_COMMAND);
    return command != NULL && strstr(command, option) != NULL;
}

/* What the JIT compilers do is the program's own doing, not that of the recording or of a full code cache. */
static bool compiles_by_itself(const struct findings_making *making)
{
    double compiling_ns = report_ns(making->source, making->shares.part_ticks[VM_PART_C1]) +
                          report_ns(making->source, making->shares.part_ticks[VM_PART_C2]);
    double own_ns = info_number(making->source->reader, INFO_LIVE_COMPILING_MS) * 1e6;
    bool is_known;
    return !(own_ns > OWN_COMPILING * compiling_ns) && report_full_code_cache(making->source, &is_known) == NULL;
}

static bool can_use_cache(const struct findings_making *making)
{
    return jdk_of(making) >= AOT_SINCE && !has_option(making, "-XX:AOT") && compiles_by_itself(making);
}

/* Was all of the JVM's life recorded? */
static bool is_whole_run(const struct findings_making *making)
{
    const struct report_source *source = making->source;
    for (uint32_t i = 0; i < source->tree->n_threads; i++) {
        const struct trace_thread *thread = trace_thread(source->reader, i);
        if (source->tree->threads[i].part == VM_PART_THREAD && thread != NULL)
            return thread->end_ticks != TRACE_UNKNOWN && info_text(source->reader, INFO_JVM_ATTACHED) == NULL;
    }
    return false;
}

static bool is_short_run(const struct findings_making *making)
{
    return making->cpu_ns <= SHORT_NS && is_whole_run(making) && compiles_by_itself(making) &&
           !has_option(making, "-XX:TieredStopAtLevel") && !has_option(making, "-Xint") &&
           !has_option(making, "-XX:-TieredCompilation");
}

double advice_pauses(const struct findings_making *making, const char *kind, double *part)
{
    double ns, all_ns, n = findings_pauses(making, kind, &ns);
    findings_pauses(making, "", &all_ns);
    *part = all_ns > 0 ? ns / all_ns : 0;
    return n;
}

/* Pauses get longer where others use the CPUs: CPU time is what is saved. */
static double collecting_ns(const struct findings_making *making)
{
    double ns;
    findings_pauses(making, "", &ns);
    return findings_collecting_ns(making, ns);
}

static bool is_young(const struct findings_making *making)
{
    double part, n = advice_pauses(making, "gc_young", &part);
    return n >= YOUNG_LEAST && part >= MOST && !has_option(making, "-Xmn") && !has_option(making, "-XX:NewSize");
}

static bool is_full(const struct findings_making *making)
{
    double part;
    return advice_pauses(making, "gc_full", &part) >= 1 && part > 1 - MOST;
}

static bool has_small_pages(const struct findings_making *making)
{
    return !has_option(making, "-XX:+UseTransparentHugePages") && !has_option(making, "-XX:+UseLargePages");
}

static bool uses_most_cpus(const struct findings_making *making)
{
    return !findings_others_use_cpus(making);
}

/* ---- the table ---- */

#define THUMB "a rule of thumb"

const struct advice_rule advice_rules[] = {
    /* paired runs of javac on JDK 25: mmprof-advise(1); of a short one it saves class loading, too, more than the JIT
     */
    { "aot-cache", "jit", SMALL, 0.3, 0.5, 1.3, false, "paired runs of javac",
      "start with an AOT cache: it holds linked classes and profiles for the JIT compilers (JDK 25 and later)",
      "-XX:AOTCache=app.aot", NULL, "-XX:AOTCacheOutput=app.aot", can_use_cache, NULL },
    /* paired runs: mmprof-advise(1); C1's code does without counters then, and is slower than C2's */
    { "c1", "jit", SMALL, 0.2, 0.8, 1.1, false, "paired runs of javac, h2 and FOP",
      "compile with C1 only: a run this short ends before C2's code pays off", "-XX:TieredStopAtLevel=1", NULL, NULL,
      is_short_run, NULL },
    /* a collection costs what survives: with twice the room there are half as many of about the same cost */
    { "young", "gc", SMALL, 0.25, 0.5, 0.6, false, THUMB,
      "double the young generation, in a larger heap: half as many collections", NULL, advice_larger_young, NULL,
      is_young, collecting_ns },
    { "heap", "gc", SMALL, 0.25, 0.6, 0.9, false, THUMB,
      "enlarge the heap: full collections run because it is nearly full", NULL, advice_larger_heap, NULL, is_full,
      collecting_ns },
    { "faults", "faults", SMALL, 0.3, 0.6, 0.9, false, THUMB, "use huge pages: fewer page faults",
      "-XX:+UseTransparentHugePages", NULL, NULL, has_small_pages, NULL },
    { "objects", "allocation", SMALL, 0.3, 0.6, 0.9, false, THUMB,
      "create fewer objects in %s: reuse them, or pass their fields instead", NULL, NULL, NULL, NULL, NULL },
    { "layout", "misses", SMALL, 0.3, 0.5, 0.9, false, THUMB,
      "change the order in which %s reads memory, or the data layout: use arrays of primitives, and keep together what "
      "is read together",
      NULL, NULL, NULL, NULL, NULL },
    /* of what all threads wait for, others run meanwhile: what is saved of a request is not more than this */
    { "lock", "lock", SMALL, 0.3, 0.7, 1, true, THUMB,
      "do less under the lock that %s waits for, or split the lock: one per part of the data", NULL, NULL, NULL, NULL,
      NULL },
    { "io", "io", SMALL, 0.25, 0.5, 0.9, true, THUMB, "make fewer requests in %s: batch them, or use a cache", NULL,
      NULL, NULL, NULL, NULL },
    { "pool", "pool", SMALL, 0.25, 0.5, 0.9, true, THUMB,
      "enlarge the pool or queue that %s waits for, or return its items sooner", NULL, NULL, NULL, NULL, NULL },
    { "memory", "paging", SMALL, 0.5, 0.9, 1, true, THUMB, "give the machine more memory, or the JVM a smaller heap",
      NULL, advice_smaller_heap, NULL, NULL, NULL },
    { "threads", "preempted", SMALL, 0.2, 0.5, 0.9, true, THUMB, "run fewer threads at once, or give them more CPUs",
      NULL, NULL, NULL, uses_most_cpus, NULL },
    { "cpus", "preempted", SMALL, 0.2, 0.7, 1, true, THUMB,
      "give the program its own CPUs, or a larger quota: other programs use most of the CPUs", NULL, NULL, NULL,
      findings_others_use_cpus, NULL },
    { NULL, NULL, 0, 0, 0, 0, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
