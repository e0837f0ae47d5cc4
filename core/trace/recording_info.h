/*
 * What a recording says of itself: the metadata in a trace's INFO chunk.  One table has a row for each, with its key,
 * its unit and what its value is made of; who writes them and who reads them goes by it.  mmprof.trace(5) describes
 * them.
 *
 * Most are one text or one number.  Others are several fields with blanks between them, and have a struct below; of
 * some there are several, which have a number at the end of the key.
 */
#ifndef CORE_TRACE_RECORDING_INFO_H
#define CORE_TRACE_RECORDING_INFO_H

#include "core/base/arena.h"
#include "core/trace/trace.h"

enum info_key {
    INFO_MMPROF_VERSION,
    INFO_HOST,
    INFO_OS,
    INFO_CPU,
    INFO_STARTED,
    INFO_CLOCK,
    INFO_JVM_PID,
    INFO_JVM_VERSION,
    INFO_JVM_COMMAND,
    INFO_JVM_ATTACHED,
    INFO_JVM_ARCHIVE,
    INFO_RECORDING_MODE,
    INFO_RECORDING_FILE,
    INFO_RECORDING_BEGAN_NS,
    INFO_PHASES_FILE,
    INFO_PROBE_INSIDE_TICKS,
    INFO_PROBE_OUTSIDE_TICKS,
    INFO_PROBE_INSIDE_COUNTERS,
    INFO_PROBE_OUTSIDE_COUNTERS,
    INFO_PROBE_READ,
    INFO_COUNTERS_GROUPS,
    INFO_COUNTERS_KERNEL,
    INFO_COUNTERS_SILENT,
    INFO_COUNTERS_REFUSED,
    INFO_COUNTERS_TOPDOWN,
    INFO_SIMULATED,
    INFO_SIMULATED_MODEL,
    INFO_SIMULATED_WINDOW,
    INFO_SIMULATED_LEFT_OUT,
    INFO_SIMULATED_SETS,
    INFO_SIMULATED_SETS_ERROR,
    INFO_READINGS,
    INFO_READINGS_CPU_MS,
    INFO_READINGS_THREADS_WITHOUT,
    INFO_PROCESS_CPU_NS,
    INFO_MACHINE_STOLEN_NS,
    INFO_QUOTA_CPUS,
    INFO_QUOTA_THROTTLED,
    INFO_QUOTA_THROTTLED_NS,
    INFO_PRESSURE_OF,
    INFO_RECORDER_CPU_NS,
    INFO_RECORDER_START_NS,
    INFO_THREADS_RENAMED,
    INFO_THREADS_ONLY,
    INFO_OFFCPU,
    INFO_SAMPLE_EVENTS,
    INFO_SAMPLE_PERIOD_NS,
    INFO_SAMPLE_LOST,
    INFO_SAMPLE_CPU_NS,
    INFO_SAMPLE_SAMPLED_NS,
    INFO_SAMPLE_KERNEL,
    INFO_SAMPLE_CODE,
    INFO_SAMPLE_FAILED,
    INFO_SAMPLE_OUTSIDE,
    INFO_SAMPLE_SHARED_NAME,
    INFO_SAMPLE_MECHANISM,
    INFO_SAMPLE_LONGEST_NS,
    INFO_SAMPLE_HALVES,
    INFO_WAIT_VISITS,
    INFO_WAIT_CPU_MS,
    INFO_WAIT_FAILED,
    INFO_VIRTUAL_LOOKS,
    INFO_VIRTUAL_WHOLE,
    INFO_VIRTUAL_LOST,
    INFO_VIRTUAL_FAILED,
    INFO_ALLOCATIONS_NS,
    INFO_ALLOCATIONS_JVM_BYTES,
    INFO_ALLOCATIONS_LOST,
    INFO_ALLOCATIONS_COST_NS,
    INFO_ALLOCATIONS_FAILED,
    INFO_FAULTS_PERIOD,
    INFO_IP_SAMPLES_HZ,
    INFO_IP_SAMPLES,
    INFO_IP_SAMPLES_UNKNOWN,
    INFO_IP_SAMPLES_NO_LINES,
    INFO_IP_SAMPLES_KERNEL,
    INFO_IP_SAMPLES_COST_NS,
    INFO_IP_SAMPLES_COST_IS_USUAL,
    INFO_IP_SAMPLES_FAILED,
    INFO_IP_SAMPLES_EVENTS,
    INFO_IP_SAMPLES_EVENTS_FAILED,
    INFO_CODE_CPU_MS,
    INFO_CODE_ASKED_MS,
    INFO_CODE_ALL,
    INFO_CODE_LINES,
    INFO_CODE_FAILED,
    INFO_CODE_CACHE,
    INFO_PAUSES_GC,
    INFO_PAUSES_SAFEPOINTS,
    INFO_PAUSES_CLASSES,
    INFO_STARTUP,
    INFO_PAUSES_FAILED,
    INFO_PERF_MAP,
    INFO_PERF_MAP_FAILED,
    INFO_INSTRUMENTED_CLASSES,
    INFO_INSTRUMENTED_METHODS,
    INFO_FAILED_CLASSES,
    INFO_LEFT_CLASSES,
    INFO_LEFT_METASPACE,
    INFO_LEFT_EVENTS,
    INFO_LEFT_LATE,
    INFO_LEFT_LOADERS,
    INFO_LEFT_BREAKPOINTS,
    INFO_KEPT_BREAKPOINTS,
    INFO_KEPT_MEMORY,
    INFO_UNSURE_CLASSES,
    INFO_UNSURE_FIRST,
    INFO_REFUSED_CLASSES,
    INFO_REFUSED_FIRST,
    INFO_SHARED_NAMES,
    INFO_SKIPPED_TOO_LARGE,
    INFO_SKIPPED_LIMITS,
    INFO_SKIPPED_UNUSUAL,
    INFO_LOST_NO_RING,
    INFO_INSTRUMENT_MS,
    INFO_INSTRUMENT_LONGEST_MS,
    INFO_INSTRUMENT_BATCHES,
    INFO_INSTRUMENT_PAUSES_MS,
    INFO_INSTRUMENT_LONGEST_PAUSE_MS,
    INFO_REMOVAL_BATCHES,
    INFO_REMOVAL_PAUSES_MS,
    INFO_REMOVAL_LONGEST_PAUSE_MS,
    INFO_LIVE_BATCHES,
    INFO_LIVE_PAUSES_MS,
    INFO_LIVE_LONGEST_PAUSE_MS,
    INFO_LIVE_BUDGET,
    INFO_LIVE_SAMPLES,
    INFO_LIVE_RECOMPILING_MS,
    INFO_LIVE_COMPILING_MS,
    INFO_LIVE_WINDOWS_MS,
    INFO_LIVE_FORGOTTEN_MS,
    INFO_LIVE_SPARED_MS,
    INFO_LIVE_REWRITING_MS,
    INFO_LIVE_PROBES_MS,
    INFO_LIVE_DISABLED_MS,
    INFO_LIVE_OWN_CPU_MS,
    INFO_LIVE_PUT_OFF,
    INFO_LIVE_WINDOW_IS_CUT,
    INFO_LIVE_WINDOW,
    INFO_LIVE_SAMPLED,
    INFO_LIVE_METHOD,
    INFO_N_KEYS
};

#define INFO_ALL_FIELDS SIZE_MAX

/* INFO_PAUSES_GC: a kind of pause of the JVM's collector. */
struct info_collector {
    uint64_t n, ns;
    const char *name;
};

/* INFO_SIMULATED_LEFT_OUT: the agent's own, which are in no count; and the loads and stores that are. */
struct info_left_out {
    uint64_t n_instructions, n_accesses, n_simulated;
};

/* INFO_SIMULATED_SETS_ERROR: standard errors of the whole recording's misses, 0..1 of them; 0: none missed. */
struct info_sets_error {
    uint64_t degrees_of_freedom;
    double l1d, l1i, l2;
};

struct info_safepoints {
    uint64_t n, ns, sync_ns; /* sync_ns: until all threads stood */
};

/* At the end, of the fullest heap with compiled code: the most that was used.  It is full, or has room. */
struct info_code_cache {
    const char *state; /* INFO_CODE_CACHE_FULL, or another word */
    uint64_t size_bytes, most_bytes, n_stopped;
};

#define INFO_CODE_CACHE_FULL "full"

struct info_classes {
    uint64_t n_loaded, n_archived, load_ns, link_ns, verify_ns, init_ns;
};

/* INFO_STARTUP: of a JVM that was recorded from its start on.  Times of class loading do not contain each other. */
struct info_startup {
    uint64_t create_ms;                          /* until the JVM could run main */
    uint64_t archive_ns, jdk_ns, application_ns; /* loading classes: from an archive, others by the loaders */
    uint64_t n_linked, link_ns, n_verified, verify_ns, n_initialized, init_ns;
    uint64_t n_compiled, compile_ns;
};

struct info_live_samples {
    uint64_t n;
    double cpu_ms;
};

/* INFO_LIVE_WINDOW */
struct info_window {
    uint64_t start_ticks, end_ticks;
};

/* Older traces have no reason, and some have more behind the last field. */
#define INFO_SAMPLED_REASON 7u /* with so many fields */
#define INFO_SAMPLED_FORMER 5u

struct info_live_sampled {
    double share;
    uint64_t n_samples;
    struct method_name names;
    const char *why; /* a word: mmprof.trace(5) */
    double recompilation_ns;
};

#define INFO_STATE_ENABLED "armed" /* what a trace calls it */

/* The number is the method's id. */
struct info_live_method {
    const char *state; /* a word: mmprof.trace(5) */
    double recorded_s, calls_per_s, call_ns;
    const char *why; /* "": it was not switched off */
};

/*
 * Write an entry: of one text, one number, or the first n_fields of its struct.  number: of those of which there are
 * several, else 0.  Without a writer (NULL) nothing is written.  Each returns 0, or -1 with *err set.
 */
int info_write_text(struct trace_writer *writer, enum info_key key, const char *text, struct err *err);
int info_write_count(struct trace_writer *writer, enum info_key key, uint64_t count, struct err *err);
int info_write_real(struct trace_writer *writer, enum info_key key, double real, struct err *err);
int info_write(struct trace_writer *writer, enum info_key key, uint32_t number, const void *record, size_t n_fields,
               struct err *err);

/*
 * A recording in several files: what is of one of them only is not repeated in the next ones.  Sums are told since the
 * recording's beginning, and each file gets what is its own.
 */
#define INFO_SUM_FIELDS 2

struct info_sums {
    uint64_t counts[INFO_N_KEYS][INFO_SUM_FIELDS], next_counts[INFO_N_KEYS][INFO_SUM_FIELDS];
    double reals[INFO_N_KEYS][INFO_SUM_FIELDS], next_reals[INFO_N_KEYS][INFO_SUM_FIELDS];
};

/* The last value, or NULL: none; of a number, -1: none, or none that could be one. */
const char *info_text(const struct trace_reader *reader, enum info_key key);
double info_number(const struct trace_reader *reader, enum info_key key);

/*
 * Read an entry into its struct; words live in the arena.  Returns how many fields there are, from the first on; the
 * others are 0, and texts "".  0: there is no such entry, it is damaged.
 */
size_t info_read(const struct trace_reader *reader, enum info_key key, uint32_t number, struct arena *arena,
                 void *record);

/* How many of a numbered one there are, if the numbers ascend from 0. */
uint32_t info_count(const struct trace_reader *reader, enum info_key key);

/* The key of what a trace calls so, or INFO_N_KEYS. */
enum info_key info_find(const char *name);

/* The row: the key, which ends with a point where a number follows; unit ("": none) and what it is, for the reader. */
const char *info_name(enum info_key key);
const char *info_unit(enum info_key key);
const char *info_help(enum info_key key);

#endif
