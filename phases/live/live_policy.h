/* The constants of the controller's policy, with units and reasons; POLICY.md says what they are for. */
#ifndef PHASES_LIVE_LIVE_POLICY_H
#define PHASES_LIVE_LIVE_POLICY_H

#include "core/base/std.h"

/* ---- when to choose ---- */

/* As long as nothing is measured, this many choices may instrument a batch without waiting for the budget. */
#define UNBUDGETED_CHOICES 2u

/*
 * Samples needed for the first choice; FEWER_SAMPLES suffice after FEWER_SAMPLES_AFTER_NS, or after a part of the
 * recording, where that is more: another batch for what they missed costs a running JVM as much as the first.
 */
#define FIRST_SAMPLES          50u
#define FEWER_SAMPLES          20u
#define FEWER_SAMPLES_AFTER_NS UINT64_C(1000000000)
#define FEWER_SAMPLES_PART     0.2

/* A program that waits most of the time gives few samples: after this time FIRST_SAMPLES of waits suffice. */
#define WAITS_SUFFICE_AFTER_NS UINT64_C(5000000000)

/* A wait that goes on for longer than this counts no more for the choice: it may be meant to (a timer, a watchdog). */
#define WAIT_COUNTED_NS UINT64_C(1000000000)

/* A started program is sampled for the first choice from this CPU time (ns) on: before, the JVM starts up. */
#define STARTED_PROGRAM_NS UINT64_C(1000000000)

/* Time (ns) from the first choice to the next; it doubles each time, up to the maximum. */
#define NEXT_CHOICE_FIRST_NS UINT64_C(1500000000)
#define NEXT_CHOICE_MAX_NS   UINT64_C(30000000000)

/* The longest round (ms): usually; while probes are active, but few records come; while a method is on trial. */
#define ROUND_MS       100
#define ROUND_WATCH_MS 500
#define ROUND_TRIAL_MS 10

/* ---- the budget ---- */

/* Probes over budget are switched off until the rest costs this part of the budget. */
#define OVER_BUDGET_TARGET 0.7

/* The credit is at most the budget of this CPU time (ns). */
#define LIVE_CREDIT_MAX_NS UINT64_C(100000000)

/* Probes always have this part of the budget: a recording without calls is of no use. */
#define PROBES_MIN_SHARE 0.3

/*
 * Stack samples from outside have this part of the budget in the threads that they interrupt, and come as much less
 * often: to follow one takes mmprof's own process as long again.  But so many are taken of a CPU that is busy all the
 * time: with fewer a short recording says nothing.  Where the agent takes them, they have a part with all that they
 * cost.
 */
#define LIVE_SAMPLES_SHARE 0.2
#define LIVE_SAMPLES_LEAST 1200.0
#define LIVE_POLLING_SHARE 0.3

/*
 * mmprof's own process has this part of it, what came before the first round included; in rounds, a third of that at
 * least: a recording without rounds is none.
 */
#define LIVE_OWN_SHARE      0.4
#define LIVE_OWN_LEAST_PART (1 / 3.0)

/* Allocation samples have this part of it, in the threads that allocate: 40 us a sample where caches are cold. */
#define LIVE_ALLOCATIONS_SHARE 0.3
#define LIVE_OBJECTS_SHARE     0.6 /* with --live-objects: what leaks may be a hundredth of all that is allocated */

/*
 * Recompilation and retransformation may always take this part of the budget: of that of the whole recording; or where
 * nobody knows its end, of what accrued so far, which counts as that of RECOMPILATION_ADVANCE_NS of CPU time at least.
 */
#define RECOMPILATION_PLANNED_SHARE 0.3
#define RECOMPILATION_MIN_SHARE     0.5
#define RECOMPILATION_ADVANCE_NS    6e9

/* The budget is planned for the whole recording, but for no more than this time (s). */
#define PLANNED_AHEAD_S 60.0

/* All code that is discarded counts this often, since the whole program is slower until it is compiled again. */
#define DISCARD_WEIGHT 2.0

/* Recompilation may take this part of what is left of the budget: later choices need some. */
#define RECOMPILATION_MAX_SHARE 0.75

/*
 * Where nobody knows the end, a JVM whose compilers took so little CPU time (ns) may discard all its code: it has begun
 * a moment ago, or is small, and compiles that much meanwhile anyway.
 */
#define DISCARD_ALWAYS_NS 1e9

/* Where they took this many times what may be discarded, the JVM's code is not even looked through to estimate it. */
#define DISCARD_FAR_BEYOND 4.0

/* mmprof's own CPU time (ns) for each record, an upper limit. */
#define WRITER_NS 15.0

/* mmprof's own CPU time (ns) for each second of recording, but for records; measured after RUNNING_S seconds. */
#define RUNNING_NS 5e6
#define RUNNING_S  10.0

/*
 * CPU time (ns) of mmprof's own process behind the recording: to end it; and to select the phases and report them, for
 * each record and stack sample, too.  On a busy machine, JDK 25: target.Shares with 58,000 records and 600 samples, 47
 * ms, with 3.8 million and 1,500, 373 ms; lucene, 477,000 and 1,060, 139 ms.
 */
#define FINISH_NS        5e6
#define REPORT_NS        25e6
#define REPORT_RECORD_NS 90.0
#define REPORT_SAMPLE_NS 30000.0

/*
 * CPU time (ns) of the agent's thread before the first batch: to start (target.Shares on JDK 17, 21 and 25: 15 to 37 ms
 * with all that it tells of in 20 s), and to measure what probes cost.
 */
#define AGENT_START_NS 15e6
#define CALIBRATION_NS 10e6

/*
 * CPU time (ns) of the JVM's thread for each class that it has loaded, whichever of them changes: for a batch, and for
 * the one that removes the probes again.  JDK 25, two programs of 2,300 and 3,700 classes: 12 and 18 us, then 8 and 14.
 */
#define BATCH_CLASS_NS 13000.0

/*
 * CPU time (ns) of the agent's thread for each class that changes, removal included: the JVM parses and links it, the
 * agent rewrites and checks it.  As above, 13 and 28 classes: 3.1 and 3.0 ms each.
 */
#define CHANGED_CLASS_NS 3e6

/* The most classes of a running JVM that one batch changes, each with this part of the time at least. */
#define BATCH_CLASSES_MAX 12u
#define CHANGED_CLASS_MIN 0.02

/*
 * The part of discarded code that a warm program compiles again soon: five programs, JDK 25, compiled for 0.7 s more
 * than usual in the 9 to 14 s after batches that threw away code for 2.5 s.
 */
#define RECOMPILED_PART 0.5

/* ---- what gets probes ---- */

/* A later batch may have a class of which a new method has this part of all samples: the program does that now. */
#define NEW_METHOD_SHARE (1.0 / 3)

/* CPU time (ns) that compiling a unit of work takes at most: as in h2, of which all code was known. */
#define WORK_NS 250.0

/*
 * A class beyond the budget may cost this part of the time spent in it: in the first batch, if other classes cost
 * something, too; in a later batch.
 */
#define EXTRA_CLASS_SHARE 0.05
#define LATER_CLASS_SHARE 0.01

/* A class of the JDK counts as this part of its time: its methods are plumbing between those of the program. */
#define JDK_CLASS_VALUE 0.01

/* The least recompilation cost (ns) of a class: one without compiled code costs the JVM something, too. */
#define CLASS_MIN_NS 100000.0

/*
 * In a program that was just started, recompilation costs this many times the estimate: in seven programs, C1 and C2
 * took 0.8 % (standard error 0.2) more of the first minute's CPU time, where 0.24 % was estimated.
 */
#define STARTED_PROGRAM_WORK 3.0

/*
 * Compiling code again takes at most this many times what the code that was there lets expect: it is compiled by the
 * quick compiler first, and with probes in it.
 */
#define RECOMPILED_MOST 3.0

/* ---- which probes stay on ---- */

/* Calls this many times shorter than the grain of the time so far are too short (POLICY.md). */
#define TOO_SHORT_MARGIN 4.0

/* A call whose wall time is so many times its CPU time waits: then its wall time must not be too short. */
#define WAITING_CALL 10.0

/* Fewer calls than this are not judged.  A trial ends after as many, or after TRIAL_MAX_S seconds. */
#define JUDGED_CALLS_MIN 20u
#define TRIAL_MAX_S      0.02

/* Time (ns) from one judgement of all methods to the next. */
#define PRUNE_PERIOD_NS UINT64_C(100000000)

/* Time (ns) from switching off to the first trial; it doubles each time, up to the maximum. */
#define TRIAL_FIRST_NS        UINT64_C(2000000000)
#define TRIAL_INTERVAL_MAX_NS UINT64_C(300000000000)

/* The cost (ns) of a call through disabled probes, with what they prevent the JIT compiler from doing. */
#define DISABLED_CALL_NS 2.0

/* Of a program's time, probes are taken to have been this part at most: so many times as often as measured may a method
 * be called without them, or 20 times. */
#define PROBES_MOST_PART 0.95

/* Disabled probes are removed if they cost this part of the CPU time or more. */
#define REMOVAL_MIN_SHARE 0.001

/* ---- the recompilation window ---- */

/* The compilers' CPU time is compared over steps of this length (ns). */
#define WINDOW_STEP_NS UINT64_C(100000000)

/* A window is over after this many steps in a row in which the compilers take no more than before the batch, */
#define WINDOW_QUIET 3

/* and this many CPUs: less is not worth waiting for. */
#define WINDOW_EXTRA 0.1

/* A window is observed for this time (ns) at most: usually; where all code was discarded. */
#define WINDOW_MAX_NS UINT64_C(5000000000)
#define WINDOW_ALL_NS UINT64_C(30000000000)

/* The length of a window (ns) where the compilers' CPU time is not known. */
#define WINDOW_BLIND_NS UINT64_C(1500000000)

#endif
