#include "core/trace/recording_info.h"

#include "core/base/text.h"
#include "core/base/words.h"
#include "core/trace/writer_kept.h"

#define FIELDS_MAX 12
#define NAME_BYTES 48

enum type { END, COUNT, REAL, SHARE, WORD, TEXT };

struct info_field {
    enum type type;
    int decimals; /* of a REAL */
    size_t offset;
};

/* Of which of several files a value is: else of all. */
enum scope { OF_ALL, OF_FILE, SUM_OF_FILE };

struct info_row {
    const char *name, *unit, *help;
    struct info_field fields[FIELDS_MAX + 1];
    enum scope scope;
};

/* clang-format off */
#define ONE_TEXT         { TEXT, 0, 0 }
#define ONE_COUNT        { COUNT, 0, 0 }
#define ONE_REAL(decimals) { REAL, decimals, 0 }
#define ONE_SHARE        { SHARE, 0, 0 }
#define SAFEPOINT(member)        { COUNT, 0, offsetof(struct info_safepoints, member) }
#define LEFT_OUT(member)         { COUNT, 0, offsetof(struct info_left_out, member) }
#define SETS(type, decimals, member) { type, decimals, offsetof(struct info_sets_error, member) }
#define STARTUP(member)          { COUNT, 0, offsetof(struct info_startup, member) }
#define CLASSES(member)          { COUNT, 0, offsetof(struct info_classes, member) }
#define CODE_CACHE(type, member) { type, 0, offsetof(struct info_code_cache, member) }
#define COLLECTOR(type, member)  { type, 0, offsetof(struct info_collector, member) }
#define WINDOW(member)           { COUNT, 0, offsetof(struct info_window, member) }
#define SAMPLED(type, decimals, member) { type, decimals, offsetof(struct info_live_sampled, member) }
#define METHOD(type, decimals, member)  { type, decimals, offsetof(struct info_live_method, member) }

static const struct info_row rows[INFO_N_KEYS] = {
    [INFO_MMPROF_VERSION] = { "mmprof.version", "", "version of mmprof", { ONE_TEXT }, OF_ALL },
    [INFO_HOST] = { "host", "", "name of the machine", { ONE_TEXT }, OF_ALL },
    [INFO_OS] = { "os", "", "the kernel: name, release, machine", { ONE_TEXT }, OF_ALL },
    [INFO_CPU] = { "cpu", "", "CPU model and number of CPUs", { ONE_TEXT }, OF_ALL },
    [INFO_STARTED] = { "started", "", "when the recording began", { ONE_TEXT }, OF_FILE },
    [INFO_CLOCK] = { "clock", "", "source of the ticks", { ONE_TEXT }, OF_ALL },
    [INFO_JVM_PID] = { "jvm.pid", "", "process ID", { ONE_COUNT }, OF_ALL },
    [INFO_JVM_VERSION] = { "jvm.version", "", "name and version of the JVM", { ONE_TEXT }, OF_ALL },
    [INFO_JVM_COMMAND] = { "jvm.command", "", "command line", { ONE_TEXT }, OF_ALL },
    [INFO_JVM_ATTACHED] = { "jvm.attached", "", "1: it ran before the recording began", { ONE_COUNT }, OF_ALL },
    [INFO_JVM_ARCHIVE] = { "jvm.archive", "", "the option by which the JVM writes a class archive",
        { ONE_TEXT }, OF_ALL },
    [INFO_RECORDING_MODE] = { "recording.mode", "", "all, phases, live, or samples", { ONE_TEXT }, OF_ALL },
    [INFO_RECORDING_FILE] = { "recording.file", "", "which file of the recording this is", { ONE_COUNT }, OF_FILE },
    [INFO_RECORDING_BEGAN_NS] = { "recording.began_ns", "ns", "when the first of its files began, since 1970",
        { ONE_COUNT }, OF_ALL },
    [INFO_PHASES_FILE] = { "phases.file", "", "file from which the methods were read", { ONE_TEXT }, OF_ALL },
    [INFO_PROBE_INSIDE_TICKS] = { "probe.inside_ticks", "ticks", "cost of a pair of probes between its two timestamps",
        { ONE_REAL(4) }, OF_ALL },
    [INFO_PROBE_OUTSIDE_TICKS] = { "probe.outside_ticks", "ticks", "cost of a pair of probes outside of its timestamps",
        { ONE_REAL(4) }, OF_ALL },
    [INFO_PROBE_INSIDE_COUNTERS] = { "probe.inside_counters", "",
        "events of each counter between the timestamps of a pair", { ONE_TEXT }, OF_ALL },
    [INFO_PROBE_OUTSIDE_COUNTERS] = { "probe.outside_counters", "",
        "events of each counter outside of the timestamps of a pair", { ONE_TEXT }, OF_ALL },
    [INFO_PROBE_READ] = { "probe.read", "", "how probes read the counters", { ONE_TEXT }, OF_ALL },
    [INFO_COUNTERS_GROUPS] = { "counters.groups", "", "number of groups of counters", { ONE_COUNT }, OF_ALL },
    [INFO_COUNTERS_KERNEL] = { "counters.kernel", "", "whether the kernel's work is counted", { ONE_TEXT }, OF_ALL },
    [INFO_COUNTERS_SILENT] = { "counters.silent", "", "events that stayed 0 in the self-test", { ONE_TEXT }, OF_ALL },
    [INFO_COUNTERS_REFUSED] = { "counters.refused", "", "why the process could not open its counters",
        { ONE_TEXT }, OF_ALL },
    [INFO_COUNTERS_TOPDOWN] = { "counters.topdown", "", "whose top-down formulas apply", { ONE_TEXT }, OF_ALL },
    [INFO_SIMULATED] = { "simulated", "", "the processor model", { ONE_TEXT }, OF_ALL },
    [INFO_SIMULATED_MODEL] = { "simulated.model", "", "its parameters", { ONE_TEXT }, OF_ALL },
    [INFO_SIMULATED_WINDOW] = { "simulated.window", "", "the windows of the execution that are simulated",
        { ONE_TEXT }, OF_ALL },
    [INFO_SIMULATED_LEFT_OUT] = { "simulated.left_out", "",
        "instructions, loads and stores of mmprof's own code, which were not simulated; loads and stores that were",
        { LEFT_OUT(n_instructions), LEFT_OUT(n_accesses), LEFT_OUT(n_simulated) }, OF_ALL },
    [INFO_SIMULATED_SETS] = { "simulated.sets", "", "N: one in N sets of the caches is simulated",
        { ONE_COUNT }, OF_ALL },
    [INFO_SIMULATED_SETS_ERROR] = { "simulated.sets_error", "",
        "degrees of freedom, and standard errors of the misses of L1D, L1I and L2 by it, as parts of them",
        { SETS(COUNT, 0, degrees_of_freedom), SETS(REAL, 6, l1d), SETS(REAL, 6, l1i), SETS(REAL, 6, l2) }, OF_ALL },
    [INFO_READINGS] = { "readings", "", "how often the recorder read a thread's counters", { ONE_COUNT }, SUM_OF_FILE },
    [INFO_READINGS_CPU_MS] = { "readings.cpu_ms", "ms", "CPU time of these reads", { ONE_REAL(1) }, SUM_OF_FILE },
    [INFO_READINGS_THREADS_WITHOUT] = { "readings.threads_without", "",
        "threads whose counters it could not read, and why",
        { ONE_TEXT }, OF_ALL },
    [INFO_PROCESS_CPU_NS] = { "process.cpu_ns", "ns", "CPU time of the process", { ONE_COUNT }, SUM_OF_FILE },
    [INFO_MACHINE_STOLEN_NS] = { "machine.stolen_ns", "ns",
        "steal time: CPU time that the host withheld from this virtual machine",
        { ONE_COUNT }, SUM_OF_FILE },
    [INFO_QUOTA_CPUS] = { "quota.cpus", "",
        "CPUs that the quota of the process' control group allows",
        { ONE_REAL(4) }, OF_ALL },
    [INFO_QUOTA_THROTTLED] = { "quota.throttled", "", "periods in which the quota stopped the group",
        { ONE_COUNT }, SUM_OF_FILE },
    [INFO_QUOTA_THROTTLED_NS] = { "quota.throttled_ns", "ns", "for how long, all CPUs together",
        { ONE_COUNT }, SUM_OF_FILE },
    [INFO_PRESSURE_OF] = { "pressure.of", "", "whose waiting the kernel's PSI is: group or machine",
        { ONE_TEXT }, OF_ALL },
    [INFO_RECORDER_CPU_NS] = { "recorder.cpu_ns", "ns", "CPU time of the recorder", { ONE_COUNT }, SUM_OF_FILE },
    [INFO_RECORDER_START_NS] = { "recorder.start_ns", "ns", "of this, until a second after the agent was ready",
      { ONE_COUNT }, OF_ALL },
    [INFO_THREADS_RENAMED] = { "threads.renamed", "", "threads that changed their names", { ONE_COUNT }, OF_ALL },
    [INFO_THREADS_ONLY] = { "threads.only", "", "the recorded threads' names", { ONE_TEXT }, OF_ALL },
    [INFO_OFFCPU] = { "offcpu", "", "source of the time off the CPU", { ONE_TEXT }, OF_ALL },
    [INFO_SAMPLE_EVENTS] = { "sample.events", "", "the event that triggers stack samples, and those read with each",
        { ONE_TEXT }, OF_ALL },
    [INFO_SAMPLE_PERIOD_NS] = { "sample.period_ns", "ns", "CPU time between two samples", { ONE_COUNT }, OF_ALL },
    [INFO_SAMPLE_LOST] = { "sample.lost", "", "samples lost because the buffers were full",
        { ONE_COUNT }, SUM_OF_FILE },
    [INFO_SAMPLE_CPU_NS] = { "sample.cpu_ns", "ns", "CPU time of the process while it was sampled",
        { ONE_COUNT }, SUM_OF_FILE },
    [INFO_SAMPLE_SAMPLED_NS] = { "sample.sampled_ns", "ns", "CPU time that the stack samples cover",
        { ONE_COUNT }, SUM_OF_FILE },
    [INFO_SAMPLE_CODE] = { "sample.code", "", "does the JVM count what becomes of methods' code: counted, not_exported",
        { ONE_TEXT }, OF_ALL },
    [INFO_SAMPLE_KERNEL] = { "sample.kernel", "", "1: time in the kernel is sampled", { ONE_COUNT }, OF_ALL },
    [INFO_SAMPLE_FAILED] = { "sample.failed", "", "why there are no samples", { ONE_TEXT }, OF_ALL },
    [INFO_SAMPLE_SHARED_NAME] = { "sample.shared_name", "", "a class that several class loaders have",
        { ONE_TEXT }, OF_ALL },
    [INFO_SAMPLE_OUTSIDE] = { "sample.outside", "", "samples counted for a caller's context",
        { ONE_COUNT }, SUM_OF_FILE },
    [INFO_SAMPLE_MECHANISM] = { "sample.mechanism", "", "mechanism, if not perf", { ONE_TEXT }, OF_ALL },
    [INFO_SAMPLE_LONGEST_NS] = { "sample.longest_ns", "ns", "longest time that sampling stopped a thread",
        { ONE_COUNT }, OF_ALL },
    [INFO_SAMPLE_HALVES] = { "sample.halves", "", "clocks that take a CPU's samples", { ONE_COUNT }, OF_ALL },
    [INFO_WAIT_VISITS] = { "wait.visits", "", "visits to the threads, to see what they wait for",
        { ONE_COUNT }, SUM_OF_FILE },
    [INFO_WAIT_CPU_MS] = { "wait.cpu_ms", "ms", "CPU time of these visits, in the recorder",
        { ONE_REAL(1) }, SUM_OF_FILE },
    [INFO_WAIT_FAILED] = { "wait.failed", "", "why it is not known what threads wait for", { ONE_TEXT }, OF_ALL },
    [INFO_VIRTUAL_LOOKS] = { "virtual.looks", "", "looks at virtual threads that found any",
        { ONE_COUNT }, SUM_OF_FILE },
    [INFO_VIRTUAL_WHOLE] = { "virtual.whole", "", "of these, looks at all of them, not at some",
        { ONE_COUNT }, SUM_OF_FILE },
    [INFO_VIRTUAL_LOST] = { "virtual.lost", "", "share of them that could not be read, and why", { ONE_TEXT }, OF_ALL },
    [INFO_VIRTUAL_FAILED] = { "virtual.failed", "", "why virtual threads were not looked at", { ONE_TEXT }, OF_ALL },
    [INFO_ALLOCATIONS_NS] = { "allocations.ns", "ns", "time in which allocations were sampled",
        { ONE_COUNT }, SUM_OF_FILE },
    [INFO_ALLOCATIONS_JVM_BYTES] = { "allocations.jvm_bytes", "bytes",
        "bytes that all threads allocated meanwhile, by the JVM's own counters", { ONE_COUNT }, SUM_OF_FILE },
    [INFO_ALLOCATIONS_LOST] = { "allocations.lost", "", "allocation samples lost because the buffers were full",
        { ONE_COUNT }, SUM_OF_FILE },
    [INFO_ALLOCATIONS_COST_NS] = { "allocations.cost_ns", "ns",
        "CPU time of sampling allocations in the threads that allocate", { ONE_COUNT }, SUM_OF_FILE },
    [INFO_ALLOCATIONS_FAILED] = { "allocations.failed", "", "why there are no allocation samples",
        { ONE_TEXT }, OF_ALL },
    [INFO_FAULTS_PERIOD] = { "faults.period", "", "page faults per recorded one", { ONE_COUNT }, OF_ALL },
    [INFO_IP_SAMPLES_HZ] = { "hits.hz", "Hz", "IP samples per second of CPU time", { ONE_COUNT }, OF_ALL },
    [INFO_IP_SAMPLES] = { "hits", "", "IP samples", { ONE_COUNT }, SUM_OF_FILE },
    [INFO_IP_SAMPLES_UNKNOWN] = { "hits.unknown", "", "IP samples in unknown code", { ONE_COUNT }, SUM_OF_FILE },
    [INFO_IP_SAMPLES_NO_LINES] = { "hits.no_lines", "", "IP samples in code without line numbers",
        { ONE_COUNT }, SUM_OF_FILE },
    [INFO_IP_SAMPLES_KERNEL] = { "hits.kernel", "", "whether the kernel is sampled", { ONE_TEXT }, OF_ALL },
    [INFO_IP_SAMPLES_COST_NS] = { "hits.cost_ns", "ns", "CPU time of one IP sample in the program",
        { ONE_COUNT }, OF_ALL },
    [INFO_IP_SAMPLES_COST_IS_USUAL] = { "hits.cost_is_usual", "", "1: that is the usual value, not measured here",
        { ONE_COUNT }, OF_ALL },
    [INFO_IP_SAMPLES_FAILED] = { "hits.failed", "", "why there are no IP samples", { ONE_TEXT }, OF_ALL },
    [INFO_IP_SAMPLES_EVENTS] = { "hits.events", "", "additional events that take IP samples", { ONE_TEXT }, OF_ALL },
    [INFO_IP_SAMPLES_EVENTS_FAILED] = { "hits.events_failed", "", "why events take no IP samples",
        { ONE_TEXT }, OF_ALL },
    [INFO_CODE_CPU_MS] = { "code.cpu_ms", "ms", "CPU time for reporting compiled code", { ONE_REAL(1) }, SUM_OF_FILE },
    [INFO_CODE_ASKED_MS] = { "code.asked_ms", "ms", "of it for code reported on request",
        { ONE_REAL(1) }, SUM_OF_FILE },
    [INFO_CODE_ALL] = { "code.all", "", "why all compiled code was reported", { ONE_TEXT }, OF_ALL },
    [INFO_CODE_LINES] = { "code.lines", "", "whether the JIT keeps line-level debug info", { ONE_TEXT }, OF_ALL },
    [INFO_CODE_FAILED] = { "code.failed", "", "why no compiled code was reported", { ONE_TEXT }, OF_ALL },
    [INFO_CODE_CACHE] = { "code.cache", "",
        "the fullest heap of the code cache: full or room, bytes reserved, most bytes used, stops of compilation",
        { CODE_CACHE(WORD, state), CODE_CACHE(COUNT, size_bytes), CODE_CACHE(COUNT, most_bytes),
          CODE_CACHE(COUNT, n_stopped) }, OF_FILE },
    [INFO_PAUSES_GC] = { "pauses.gc.", "", "GC pauses of one kind: number, total ns, name",
        { COLLECTOR(COUNT, n), COLLECTOR(COUNT, ns), COLLECTOR(TEXT, name) }, OF_FILE },
    [INFO_PAUSES_SAFEPOINTS] = { "pauses.safepoints", "",
        "safepoints: number, total ns, ns until all threads had stopped",
        { SAFEPOINT(n), SAFEPOINT(ns), SAFEPOINT(sync_ns) }, OF_FILE },
    [INFO_PAUSES_CLASSES] = { "pauses.classes", "",
        "classes loaded, classes from archives; ns to load, link, verify, initialize",
        { CLASSES(n_loaded), CLASSES(n_archived), CLASSES(load_ns), CLASSES(link_ns), CLASSES(verify_ns),
          CLASSES(init_ns) }, OF_FILE },
    [INFO_STARTUP] = { "startup", "",
        "ms to create the JVM; ns to load classes from archives, the JDK's, the program's; classes and ns to link, to "
        "verify, to initialize; methods and ns to compile",
        { STARTUP(create_ms), STARTUP(archive_ns), STARTUP(jdk_ns), STARTUP(application_ns), STARTUP(n_linked),
          STARTUP(link_ns), STARTUP(n_verified), STARTUP(verify_ns), STARTUP(n_initialized), STARTUP(init_ns),
          STARTUP(n_compiled), STARTUP(compile_ns) }, OF_FILE },
    [INFO_PAUSES_FAILED] = { "pauses.failed", "", "why the JVM's counters could not be read", { ONE_TEXT }, OF_ALL },
    [INFO_PERF_MAP] = { "perf_map", "", "the symbol file for perf", { ONE_TEXT }, OF_ALL },
    [INFO_PERF_MAP_FAILED] = { "perf_map.failed", "", "why there is no symbol file", { ONE_TEXT }, OF_ALL },
    [INFO_INSTRUMENTED_CLASSES] = { "instrumented.classes", "", "classes with probes", { ONE_COUNT }, OF_ALL },
    [INFO_INSTRUMENTED_METHODS] = { "instrumented.methods", "", "methods with probes", { ONE_COUNT }, OF_ALL },
    [INFO_FAILED_CLASSES] = { "failed.classes", "", "classes that could not be instrumented", { ONE_COUNT }, OF_ALL },
    [INFO_LEFT_CLASSES] = { "left.classes", "", "classes skipped: they have native methods", { ONE_COUNT }, OF_ALL },
    [INFO_LEFT_METASPACE] = { "left.metaspace", "", "classes skipped: metaspace or memory is nearly full",
                              { ONE_COUNT }, OF_ALL },
    [INFO_LEFT_EVENTS] = { "left.events", "", "classes skipped: JFR events", { ONE_COUNT }, OF_ALL },
    [INFO_LEFT_LATE] = { "left.late", "", "classes skipped: the time limit was reached", { ONE_COUNT }, OF_ALL },
    [INFO_LEFT_LOADERS] = { "left.loaders", "", "classes skipped: their loaders cannot find the probes",
        { ONE_COUNT }, OF_ALL },
    [INFO_LEFT_BREAKPOINTS] = { "left.breakpoints", "", "classes skipped: a debugger has breakpoints in them",
        { ONE_COUNT }, OF_ALL },
    [INFO_KEPT_BREAKPOINTS] = { "kept.breakpoints", "",
        "classes that keep their probes, disabled: a debugger has breakpoints in them", { ONE_COUNT }, OF_ALL },
    [INFO_KEPT_MEMORY] = { "kept.memory", "",
        "classes that keep their probes, disabled: the JVM was near its memory limit", { ONE_COUNT }, OF_ALL },
    [INFO_UNSURE_CLASSES] = { "unsure.classes", "", "classes skipped: with probes they failed the bytecode check",
        { ONE_COUNT }, OF_ALL },
    [INFO_UNSURE_FIRST] = { "unsure.first", "", "the first of them, and why", { ONE_TEXT }, OF_ALL },
    [INFO_REFUSED_CLASSES] = { "refused.classes", "", "classes that the JVM refused to change", { ONE_COUNT }, OF_ALL },
    [INFO_REFUSED_FIRST] = { "refused.first", "", "the first of them, and the JVMTI error", { ONE_TEXT }, OF_ALL },
    [INFO_SHARED_NAMES] = { "shared.names", "", "class names with probes in several class loaders",
        { ONE_COUNT }, OF_ALL },
    [INFO_SKIPPED_TOO_LARGE] = { "skipped.too_large", "", "methods skipped: with probes they would be too large",
        { ONE_COUNT }, OF_ALL },
    [INFO_SKIPPED_LIMITS] = { "skipped.limits", "", "methods skipped: more than a recording can have",
        { ONE_COUNT }, OF_ALL },
    [INFO_SKIPPED_UNUSUAL] = { "skipped.unusual", "", "methods skipped: they cannot be instrumented safely",
        { ONE_COUNT }, OF_ALL },
    [INFO_LOST_NO_RING] = { "lost.no_ring", "", "calls lost because there were more threads than buffers",
        { ONE_COUNT }, SUM_OF_FILE },
    [INFO_INSTRUMENT_MS] = { "instrument.ms", "ms", "time to instrument the loaded classes", { ONE_REAL(1) }, OF_FILE },
    [INFO_INSTRUMENT_LONGEST_MS] = { "instrument.longest_ms", "ms", "longest step of it", { ONE_REAL(1) }, OF_FILE },
    [INFO_INSTRUMENT_BATCHES] = { "instrument.batches", "", "pauses of the program for it",
        { ONE_COUNT }, OF_FILE },
    [INFO_INSTRUMENT_PAUSES_MS] = { "instrument.pauses_ms", "ms", "total length of these pauses",
        { ONE_REAL(1) }, OF_FILE },
    [INFO_INSTRUMENT_LONGEST_PAUSE_MS] = { "instrument.longest_pause_ms", "ms", "longest of these pauses",
        { ONE_REAL(1) }, OF_FILE },
    [INFO_REMOVAL_BATCHES] = { "removal.batches", "", "pauses of the program to remove probes",
        { ONE_COUNT }, OF_ALL },
    [INFO_REMOVAL_PAUSES_MS] = { "removal.pauses_ms", "ms", "total length of these pauses", { ONE_REAL(1) }, OF_ALL },
    [INFO_REMOVAL_LONGEST_PAUSE_MS] = { "removal.longest_pause_ms", "ms", "longest of these pauses",
        { ONE_REAL(1) }, OF_ALL },
    [INFO_LIVE_BATCHES] = { "live.batches", "", "pauses of the program in a live recording",
        { ONE_COUNT }, SUM_OF_FILE },
    [INFO_LIVE_PAUSES_MS] = { "live.pauses_ms", "ms", "total length of these pauses", { ONE_REAL(1) }, SUM_OF_FILE },
    [INFO_LIVE_LONGEST_PAUSE_MS] = { "live.longest_pause_ms", "ms", "longest of these pauses",
        { ONE_REAL(1) }, OF_FILE },
    [INFO_LIVE_BUDGET] = { "live.budget", "", "budget, a fraction of the CPU time", { ONE_SHARE }, OF_ALL },
    [INFO_LIVE_SAMPLES] = { "live.samples", "", "number of stack samples, and their CPU time in ms",
        { { COUNT, 0, offsetof(struct info_live_samples, n) },
          { REAL, 1, offsetof(struct info_live_samples, cpu_ms) } }, SUM_OF_FILE },
    [INFO_LIVE_RECOMPILING_MS] = { "live.recompiling_ms", "ms",
        "CPU time of the JIT compilers in recompilation windows",
        { ONE_REAL(0) }, SUM_OF_FILE },
    [INFO_LIVE_COMPILING_MS] = { "live.compiling_ms", "ms", "of it the part caused by instrumentation",
        { ONE_REAL(0) }, SUM_OF_FILE },
    [INFO_LIVE_WINDOWS_MS] = { "live.recovery_ms", "ms", "total length of the recompilation windows",
        { ONE_REAL(0) }, SUM_OF_FILE },
    [INFO_LIVE_FORGOTTEN_MS] = { "live.forgotten_ms", "ms", "JIT compilation time of the code that was discarded",
        { ONE_REAL(0) }, SUM_OF_FILE },
    [INFO_LIVE_SPARED_MS] = { "live.spared_ms", "ms", "JIT compilation time of the code that would have been discarded",
        { ONE_REAL(0) }, OF_ALL },
    [INFO_LIVE_REWRITING_MS] = { "live.rewriting_ms", "ms", "CPU time for retransforming classes",
        { ONE_REAL(1) }, SUM_OF_FILE },
    [INFO_LIVE_PROBES_MS] = { "live.probes_ms", "ms", "CPU time of the probes", { ONE_REAL(1) }, SUM_OF_FILE },
    [INFO_LIVE_DISABLED_MS] = { "live.disabled_ms", "ms", "CPU time of disabled probes, estimated",
        { ONE_REAL(1) }, SUM_OF_FILE },
    [INFO_LIVE_OWN_CPU_MS] = { "live.own_cpu_ms", "ms", "CPU time of the recorder", { ONE_REAL(1) }, SUM_OF_FILE },
    [INFO_LIVE_PUT_OFF] = { "live.put_off", "", "methods without probes because of the budget", { ONE_COUNT }, OF_ALL },
    [INFO_LIVE_WINDOW_IS_CUT] = { "live.recovery_is_cut", "",
        "1: a recompilation window had not ended when it was last observed",
        { ONE_COUNT }, OF_FILE },
    [INFO_LIVE_WINDOW] = { "live.recovery.", "ticks", "a recompilation window: first and last tick",
        { WINDOW(start_ticks), WINDOW(end_ticks) }, OF_FILE },
    [INFO_LIVE_SAMPLED] = { "live.sampled.", "",
      "a method without probes: share of samples, samples, class, name, descriptor, why, ns to compile it again",
      { SAMPLED(REAL, 5, share), SAMPLED(COUNT, 0, n_samples), SAMPLED(WORD, 0, names.class_name),
        SAMPLED(WORD, 0, names.method), SAMPLED(WORD, 0, names.descriptor), SAMPLED(WORD, 0, why),
        SAMPLED(REAL, 0, recompilation_ns) }, OF_FILE },
    [INFO_LIVE_METHOD] = { "live.method.", "",
      "a method with probes: state, seconds recorded, calls per second, ns per call, why it was switched off",
      { METHOD(WORD, 0, state), METHOD(REAL, 3, recorded_s), METHOD(REAL, 0, calls_per_s),
        METHOD(REAL, 0, call_ns), METHOD(TEXT, 0, why) }, OF_FILE },
};
/* clang-format on */

const char *info_name(enum info_key key)
{
    return rows[key].name;
}

const char *info_unit(enum info_key key)
{
    return rows[key].unit;
}

const char *info_help(enum info_key key)
{
    return rows[key].help;
}

enum info_key info_find(const char *name)
{
    enum info_key key = 0;
    for (; key < INFO_N_KEYS; key++) {
        size_t n = strlen(rows[key].name);
        bool is_numbered = rows[key].name[n - 1] == '.';
        if (strncmp(name, rows[key].name, n) == 0 && (name[n] == '\0') != is_numbered)
            break;
    }
    return key;
}

/* The key in the trace, in NAME_BYTES. */
static const char *full_name(enum info_key key, uint32_t number, char *name)
{
    const char *row = rows[key].name;
    if (row[strlen(row) - 1] != '.')
        return row;
    snprintf(name, NAME_BYTES, "%s%" PRIu32, row, number);
    return name;
}

/* ---- writing ---- */

/* What is known of a method's name: an empty word would be none. */
static const char *escaped(struct arena *arena, const char *word)
{
    return word == NULL || word[0] == '\0' ? "?" : text_words(arena, &word, 1);
}

static const char *format(struct arena *arena, const struct info_field *field, const void *at)
{
    switch (field->type) {
    case COUNT:
        return arena_printf(arena, "%" PRIu64, *(const uint64_t *)at);
    case REAL:
        return arena_printf(arena, "%.*f", field->decimals, *(const double *)at);
    case SHARE:
        return arena_printf(arena, "%g", *(const double *)at);
    case WORD:
        return escaped(arena, *(const char *const *)at);
    default:
        return *(const char *const *)at;
    }
}

union number {
    uint64_t count;
    double real;
};

/* Of a sum since the recording began, what is of this file.  A sum that went back is not below 0. */
static const void *of_file(struct info_sums *sums, enum info_key key, size_t i, enum type type, const void *at,
                           union number *difference)
{
    if (sums == NULL || rows[key].scope != SUM_OF_FILE || i >= INFO_SUM_FIELDS)
        return at;
    if (type == COUNT) {
        uint64_t now = *(const uint64_t *)at, before = sums->counts[key][i];
        difference->count = now > before ? now - before : 0;
        sums->next_counts[key][i] = now;
    } else {
        double now = *(const double *)at, before = sums->reals[key][i];
        difference->real = now > before ? now - before : 0;
        sums->next_reals[key][i] = now;
    }
    return difference;
}

int info_write(struct trace_writer *writer, enum info_key key, uint32_t number, const void *record, size_t n_fields,
               struct err *err)
{
    struct arena arena = { NULL, 0 };
    char name[NAME_BYTES];
    const char *value = NULL;
    const struct info_field *field = rows[key].fields;
    if (writer == NULL)
        return 0;
    for (size_t i = 0; i < n_fields && field[i].type != END; i++) {
        union number difference;
        const void *at = of_file(writer->kept == NULL ? NULL : &writer->kept->sums, key, i, field[i].type,
                                 (const char *)record + field[i].offset, &difference);
        const char *text = format(&arena, &field[i], at);
        value = i == 0 ? text : arena_printf(&arena, "%s %s", value, text);
    }
    int rc = writer_put_info(writer, full_name(key, number, name), value, rows[key].scope != OF_ALL, err);
    arena_free(&arena);
    return rc;
}

int info_write_text(struct trace_writer *writer, enum info_key key, const char *text, struct err *err)
{
    return info_write(writer, key, 0, &text, 1, err);
}

int info_write_count(struct trace_writer *writer, enum info_key key, uint64_t count, struct err *err)
{
    return info_write(writer, key, 0, &count, 1, err);
}

int info_write_real(struct trace_writer *writer, enum info_key key, double real, struct err *err)
{
    return info_write(writer, key, 0, &real, 1, err);
}

/* ---- reading ---- */

const char *info_text(const struct trace_reader *reader, enum info_key key)
{
    return trace_info(reader, rows[key].name);
}

double info_number(const struct trace_reader *reader, enum info_key key)
{
    const char *text = info_text(reader, key);
    double number = text == NULL ? -1 : strtod(text, NULL);
    return isfinite(number) && number >= 0 ? number : -1;
}

/* Take a field from *at, which is cut up.  Returns false when it is missing or damaged. */
static bool parse(const struct info_field *field, char **at, void *to)
{
    char *word = *at, *end = field->type == TEXT ? NULL : strchr(word, ' ');
    if (end != NULL)
        *end = '\0';
    *at = end == NULL ? word + strlen(word) : end + 1;
    end = word;
    if (field->type == COUNT)
        *(uint64_t *)to = word[0] == '-' ? 0 : strtoull(word, &end, 10);
    else if (field->type == REAL || field->type == SHARE)
        *(double *)to = strtod(word, &end);
    else if (field->type == WORD)
        words_unescape(word);
    if (field->type < WORD)
        return end != word && (field->type == COUNT || isfinite(*(double *)to));
    *(const char **)to = word;
    return field->type == TEXT || word[0] != '\0';
}

static void clear(const struct info_field *fields, void *record)
{
    for (const struct info_field *field = fields; field->type != END; field++) {
        void *to = (char *)record + field->offset;
        if (field->type == COUNT)
            *(uint64_t *)to = 0;
        else if (field->type < WORD)
            *(double *)to = 0;
        else
            *(const char **)to = "";
    }
}

size_t info_read(const struct trace_reader *reader, enum info_key key, uint32_t number, struct arena *arena,
                 void *record)
{
    char name[NAME_BYTES];
    const struct info_field *field = rows[key].fields;
    const char *value = trace_info(reader, full_name(key, number, name));
    char *at = value == NULL ? NULL : arena_text(arena, value, strlen(value));
    size_t n = 0;
    clear(field, record);
    while (at != NULL && field[n].type != END && parse(&field[n], &at, (char *)record + field[n].offset))
        n++;
    return n;
}

uint32_t info_count(const struct trace_reader *reader, enum info_key key)
{
    char name[NAME_BYTES];
    uint32_t n = 0;
    while (trace_info(reader, full_name(key, n, name)) != NULL)
        n++;
    return n;
}
