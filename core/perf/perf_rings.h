/*
 * What the kernel says about the threads of another process: when each gets and loses a CPU, page faults, births,
 * deaths and names, and where it is found from time to time; from perf rings that the CLI reads, without help from the
 * target.
 *
 * One software event per thread and CPU records switches, threads and, if wanted, page faults; those of one CPU share
 * one ring.  New threads inherit them.  They exclude the kernel, so perf_event_paranoid 2 allows them for the user's
 * own processes; the page faults counted are those of instructions in user space.
 *
 * A second one, if wanted, is the kernel's CPU clock, which interrupts each thread after so many ns on that CPU: an IP
 * sample. Where paranoid forbids to look into the kernel, there are no IP samples of the time that a thread spends
 * there.  Instead of the clock it may be any event, and others may be read with each IP sample.
 */
#ifndef CORE_PERF_PERF_RINGS_H
#define CORE_PERF_PERF_RINGS_H

#include "core/base/err.h"
#include "core/perf/perf_records.h"
#include "core/pmu/perf_open.h"

struct perf_rings;

/* What takes the IP samples, and is counted meanwhile. */
struct kernel_trigger {
    struct counter_code codes[COUNTERS_GROUP_MAX]; /* the first one takes them, the others are read with each */
    uint32_t n;                                    /* 0: the CPU clock takes them */
    uint8_t precise;                               /* perf_event_attr.precise_ip */
    bool is_clock;                                 /* it counts ns, and stops at the kernel's door where it must */
    uint64_t period;                               /* of the first event; 0: so that there are options.ip_samples_hz */
};

struct perf_rings_options {
    uint32_t fault_period;  /* tell of one page fault in so many of a thread on a CPU; 0: of none */
    uint32_t ip_samples_hz; /* per second of a thread's time on a CPU; 0: none */
    struct kernel_trigger trigger;
    /* Each of these takes IP samples of its own, about so many a second of a thread's time on a CPU. */
    struct counter_code ip_events[COUNTERS_GROUP_MAX];
    uint32_t n_ip_events, ip_events_hz;
    bool with_children; /* record the processes that it starts, too: one of them may be the JVM */
    bool no_switches;   /* do not tell of CPU_IN, CPU_OUT, CPU_PREEMPTED */
    /*
     * With stack_bytes and no_switches: where the user may, open two events for each CPU, whose periods go on from
     * thread to thread: with one for each thread, those that use less than a period have no sample.
     */
    bool prefers_cpus;
    /*
     * Of each IP sample's stack, a multiple of 8, KERNEL_STACK_MAX_BYTES at most; 0: none.  With stacks, each event's
     * period (of a trigger without one, its frequency) is drawn: perf_rings_drawn.
     */
    uint32_t stack_bytes;
    /*
     * With stack_bytes: gets the IP samples at once, by CPU and not in the order of time.  All that a drain hands out
     * was there before it hands out the first.
     */
    kernel_event_fn *stack_fn;
    kernel_event_fn *name_fn; /* gets a drain's COMM and EXEC before the first sample, by CPU; NULL: nobody does */
    void *stack_context;      /* of both; borrowed */
};

#define KERNEL_STACK_MAX_BYTES 65336u /* with the rest, a record's 65535 */

/*
 * Begin to record all threads of a running process, or of a child that waits before its exec.  Raises the soft limit
 * of open files to the hard one: it takes threads times CPUs files.
 *
 * Returns 0, or -1 with *err set (reason and next step); the recording may go on without, on wall time.  IP samples
 * that cannot be had are no failure: perf_rings_state says why.
 */
int perf_rings_open(struct perf_rings **rings, pid_t pid, const struct perf_rings_options *options, struct err *err);

/* With options.with_children: events of this process are wanted, of no other.  Before any event is handed out. */
void perf_rings_choose(struct perf_rings *rings, pid_t pid);

/*
 * Hand out, in the order of time, the events up to until_ns (CLOCK_MONOTONIC_RAW), or all with KERNEL_UNKNOWN; first of
 * all a FOUND for each thread that was there.  An event is on its way for some microseconds, longer where a hypervisor
 * stops the CPU in between: let until_ns be at least 10 ms ago.  One that comes too late nevertheless is handed out
 * with the time of the last drain, and counted in n_late.
 *
 * A thread's first switch tells what it did before: with CPU_OUT it was on a CPU since FOUND.  One without any switch
 * was on or off all the time: kernel_thread_cpu_ns tells.
 *
 * Returns 0, or -1: fn did.
 */
int perf_rings_drain(struct perf_rings *rings, uint64_t until_ns, kernel_event_fn *fn, void *context);

/*
 * What a sample of one of a CPU's two clocks stands for, half of its period: the lowest byte says which of them it is
 * (bit 0), and since which draw (from bit 1 on, modulo 128), in a trace too (INFO 'sample.halves').  256 ns do not
 * matter.
 */
static inline uint64_t perf_rings_mark(uint64_t weight_ns, uint32_t half, uint32_t n_draws)
{
    return (weight_ns & ~UINT64_C(255)) | (n_draws & 127) << 1 | half;
}

/*
 * By how much the period (or frequency) that is wanted is multiplied, for a random number below 1: so a program that
 * does the same again and again is not in step with its samples.  The kernel makes a frequency's periods itself.
 */
double perf_rings_drawn(double random, bool is_frequency);

/*
 * Another period (of a trigger without one that is no clock: another frequency) of the event with this id, from now on;
 * what has passed of the one under way is lost.  Threads that start later have that of their parent.
 *
 * Returns the thread whose own event it is: others have inherited it, and keep their period; 0: it is a CPU's.
 */
int32_t perf_rings_set_period(struct perf_rings *rings, uint64_t event_id, uint64_t period);

/* Let the events that take samples rest, or go on: those that there are by now, and those that threads inherited. */
void perf_rings_pause(struct perf_rings *rings, bool is_paused);

/*
 * A descriptor that polls as readable when a ring is a quarter full; the rings', or -1.  It says so once: whether one
 * is full is perf_rings_are_full's to say, until perf_rings_drain.
 */
int perf_rings_fd(const struct perf_rings *rings);
bool perf_rings_are_full(const struct perf_rings *rings);

struct perf_rings_state {
    uint64_t n_lost; /* records that did not fit into a ring */
    uint64_t n_late; /* handed out with a later time than their own */
    uint64_t n_bad;  /* damaged */
    uint32_t n_threads_found, n_cpus, n_files;
    size_t ring_bytes; /* of each CPU */
    /* IP samples of all threads, of those in the kernel too; or why there are none, or not of all threads, borrowed. */
    bool has_ip_samples, has_kernel_ip_samples;
    bool has_cpus;           /* two events for each CPU: options.prefers_cpus */
    bool finds_threads_late; /* IP samples of a thread that starts begin with the next drain: a kernel before Linux 6.12
                              */
    const char *why_no_ip_samples; /* or NULL */
    const char *why_no_ip_events;  /* why one of the events takes none; or NULL: borrowed */
};

void perf_rings_state(const struct perf_rings *rings, struct perf_rings_state *state);

/* End the recording; does nothing with NULL. */
void perf_rings_close(struct perf_rings *rings);

/*
 * A thread's time on CPUs since its birth in ns, from /proc; up to one timer tick (4 ms) late while it runs.  Returns
 * 0, or -1 when there is no such thread or the kernel does not tell.
 */
int kernel_thread_cpu_ns(pid_t pid, pid_t tid, uint64_t *ns);

/* CLOCK_MONOTONIC_RAW. */
uint64_t kernel_now_ns(void);

/* ---- trigger.c: which events take samples, and are read with them, from what the user writes behind -e ---- */

struct arena;
struct counter_set;
struct counter_spec;

/*
 * Choose them, and see whether they count here, together.  Clocks and switches count in the kernel as well, unless the
 * name has a modifier.
 *
 * list    "cycles:precise=2,instructions"; 1 to COUNTERS_GROUP_MAX events
 * period  of the first one; 0: the kernel finds it for a frequency
 * set     out: their names and units; strings are the arena's
 *
 * Returns 0, or -1 with *err set: one of them is not known, does not count here, or not next to those before it.
 */
int trigger_choose(const char *list, uint64_t period, struct arena *arena, struct counter_set *set,
                   struct kernel_trigger *trigger, struct err *err);

/*
 * Events that take samples each by itself, some a second: clocks are refused.  At most COUNTERS_GROUP_MAX.
 *
 * codes  room for as many
 *
 * Returns 0, or -1 with *err set: one of them is not known, or takes no samples here.
 */
int trigger_choose_each(const char *list, struct arena *arena, struct counter_set *set, struct counter_code *codes,
                        struct err *err);

/* Can the PMU say at which instruction an event was (precise level 2, ":pp")? */
bool trigger_can_be_precise(const struct counter_spec *spec);

/* ---- ip_sample_cost.c: what an IP sample costs the thread ---- */

/* Where it cannot be measured: the middle of what was, 5.7 to 11.8 us in virtual machines. */
#define IP_SAMPLE_COST_USUAL_NS UINT64_C(8300)
/* Likewise with 32 KB of stack: 15 to 23 us. */
#define STACK_SAMPLE_COST_USUAL_NS UINT64_C(19000)

#define IP_SAMPLE_COST_ROUNDS 9

/* The same work without IP samples, and with: the thread's CPU time. */
struct ip_sample_cost_round {
    uint64_t plain_ns, ip_samples_ns;
    uint64_t n_ip_samples;
};

/*
 * Ns of CPU time per IP sample, from n rounds (IP_SAMPLE_COST_ROUNDS at most): the median of those that can be true. An
 * IP sample is an interrupt, which takes more than half a microsecond on any machine, and less than the clock's period.
 * 0: fewer than three rounds say such a thing.
 */
uint64_t ip_sample_cost_of(const struct ip_sample_cost_round *rounds, size_t n);

/*
 * Measure it on this thread, in 4 to 12 ms of its CPU time.
 *
 * stack_bytes  that are copied with each sample, of which 32 KB are tried at most; 0: it has an address and registers
 *
 * Returns the ns, and in *is_measured whether they are measured: else they are the usual ones, for the clock cannot be
 * had, or something disturbed each round.
 */
uint64_t kernel_sample_cost_ns(uint32_t stack_bytes, bool *is_measured);

#endif
