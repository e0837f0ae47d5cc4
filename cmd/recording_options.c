/* The options that 'record' and 'profile' share, in the groups of their help. */
#include "cmd/recording.h"

#define ROWS(...) ((const struct options_row[]){ __VA_ARGS__, { 0 } })
#define PUT(to, ...)                                                                          \
    do {                                                                                      \
        _Static_assert(sizeof(to) == sizeof ROWS(__VA_ARGS__), "the table has another size"); \
        memcpy(to, ROWS(__VA_ARGS__), sizeof(to));                                            \
    } while (0)

void recording_rows(struct recording *r, struct recording_rows *to)
{
    PUT(to->target, { 'p', "pid", "JVM", OPTION_TEXT, &r->target.name, TARGET_ARGUMENT_HELP },
        { 'd', "duration", "TIME", OPTION_SECONDS, &r->duration_s, "stop after this time (default: at the end)" },
        OPTIONS_RARE, { 0, "name", "JVM", OPTION_TEXT, &r->target.among, TARGET_ARGUMENT_AMONG_HELP },
        { 0, "max-size", "SIZE", OPTION_SIZE, &r->max_bytes,
          "stop when the trace has this size (a fifth of the free disk)" },
        { 0, "prepare-limit", "TIME", OPTION_SECONDS_OR_NONE, &r->prepare_limit_s,
          "time limit for instrumenting a running JVM's classes (60; 0: none)" });
    PUT(to->methods,
        { 0, "include", "PATTERN", OPTION_LIST, &r->includes, "only methods that match, e.g. 'com/example/*'" },
        { 0, "exclude", "PATTERN", OPTION_LIST, &r->excludes, "no methods that match, e.g. 'java/util/*.get*'" },
        { 't', "thread", "NAME", OPTION_TEXT, &r->threads, "only threads of that name; '*' matches any characters" },
        { 0, "argument", "ARGUMENT", OPTION_LIST, &r->by,
          "tell calls apart by an argument: '*Servlet.service(1).getRequestURI()'" },
        OPTIONS_OLD("by", "argument"), OPTIONS_RARE,
        { 0, "min-bytecodes", "N", OPTION_NUMBER, &r->min_bytecodes,
          "only methods with more than N bytes of bytecode, or with a loop (50)" });
    PUT(to->counters,
        { 'e', "events", "LIST", OPTION_TEXT, &r->events, "count these events, as 'mmprof list' names them" },
        { 0, "groups", "HOW", OPTION_TEXT, &r->groups,
          "if there are too few counters: rotate, or separate runs (rotate)" },
        OPTIONS_RARE, { 0, "read", "HOW", OPTION_TEXT, &r->read, "read counters: auto, user, syscall, none (auto)" });
    PUT(to->samples,
        { 0, "ip-events", "LIST", OPTION_TEXT, &r->ip_events,
          "events that take IP samples: CPI and misses of the interpreter, class loading, ..." },
        { 0, "lines", NULL, OPTION_FLAG, &r->wants_lines,
          "ask the JIT for line-level debug info (DebugNonSafepoints)" },
        { 0, "live-objects", NULL, OPTION_FLAG, &r->live_objects,
          "take twice as many allocation samples: smaller leaks show" },
        OPTIONS_RARE,
        { 0, "mechanism", "HOW", OPTION_TEXT, &r->mechanism,
          "sample stacks by perf, from outside, or by polling, in the JVM at safepoints (perf)" },
        { 'F', "frequency", "HZ", OPTION_NUMBER, &r->ip_samples_hz,
          "IP samples per second of a thread's CPU time (100, live 99; 0: none)" },
        OPTIONS_OLD("sample-ip", "frequency"),
        { 0, "no-allocations", NULL, OPTION_FLAG, &r->no_allocations, "do not sample allocations" });
    PUT(to->simulation,
        { 0, "simulate", "MODEL", OPTION_MAYBE_TEXT, &r->simulate,
          "run COMMAND on a simulated processor: counters without hardware support (zen4)" },
        OPTIONS_RARE,
        { 0, "window", "SIZES", OPTION_MAYBE_TEXT, &r->window,
          "with --simulate: simulate only windows of the execution (500K+250K/10M)" },
        { 0, "sets", "SHARE", OPTION_MAYBE_TEXT, &r->sets,
          "with --simulate: simulate a sample of the caches' sets, misses are estimates (1/8)" },
        { 0, "counts-only", NULL, OPTION_FLAG, &r->counts_only,
          "with --simulate: count misses, do not attribute them to code and objects (faster)" });
    PUT(to->output, { 'q', "quiet", NULL, OPTION_FLAG, &r->quiet, "no progress, no summary" }, OPTIONS_RARE,
        { 0, "perf-map", NULL, OPTION_FLAG, &r->wants_perf_map,
          "write /tmp/perf-PID.map, with which perf names compiled Java code" },
        { 0, "buffer", "SIZE", OPTION_SIZE, &r->ring_bytes, "largest size of each thread's buffer (8M)" });
}
