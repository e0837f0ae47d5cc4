/*
 * The numbers of the controller's policy, with units and reasons; POLICY.md says what they are for.
 */
#ifndef PHASES_LIVE_LIVE_POLICY_H
#define PHASES_LIVE_LIVE_POLICY_H

#include <stdint.h>

/* ---- when to choose ---- */

#define FREE_CHOICES 2u /* so many choices may have a batch at once, while nothing is measured */

/* Samples for the first choice; fewer, where there are no more after so long (ns). */
#define FIRST_SAMPLES 50u
#define FEWER_SAMPLES 20u
#define SAMPLED_NS    UINT64_C(1000000000)

/* CPU time (ns) by which a program that was just started has begun with what it is for, more or less. */
#define START_NS UINT64_C(1000000000)

/* From the first choice to the next (ns); then twice as long each time, up to the last. */
#define AGAIN_FIRST_NS UINT64_C(1500000000)
#define AGAIN_LAST_NS  UINT64_C(30000000000)

/* The longest round (ms): usually; while probes are watched, and little happens; while a method is on trial. */
#define ROUND_MS       100
#define ROUND_WATCH_MS 500
#define ROUND_TRIAL_MS 10

/* ---- the budget ---- */

#define LIVE_AIM          0.7                 /* of the budget is left for probes after some were switched off */
#define LIVE_CREDIT_NS    UINT64_C(100000000) /* CPU time: the credit is at most the budget of so much */
#define LEAST_PART        0.3  /* of the budget is for probes, whatever all else took: a recording is of calls */
#define LIVE_POLLING_PART 0.3  /* of the budget is for stack samples, where the agent takes them */
#define LIVE_COMPILE      0.5  /* of the budget so far is for recompilation and rewriting, whatever all else took; */
#define LIVE_ADVANCE_NS   6e9  /* CPU time: they are given the budget of so much at once */
#define LIVE_AHEAD_S      60.0 /* so much of a recording is planned ahead */
#define LIVE_LOSS         2.0  /* recompilation counts so often: code is slower until it is done */
#define PART_OF_REST      0.75 /* of what is left is for recompilation: something may be found later */
#define WRITER_NS         15.0 /* this program's CPU time per record, at most */

/* CPU time (ns) that a second of recording takes: rounds, IP samples, records that are not many.  After so many seconds
 * it is measured. */
#define RUNNING_NS 3e6
#define RUNNING_S  10.0

/* ---- what gets probes ---- */

#define ELSEWHERE  (1.0 / 3) /* of all samples in a method that is new: it is what the program does now */
#define WORK_NS    250.0     /* for a unit of work at most: what it was where all code was known (h2) */
#define SMALL_PART 0.05 /* of the time in a class it may cost beyond the budget, beside others that cost something */
#define LATER_PART 0.01 /* likewise in a later batch */
#define LEAST_NS   100000.0 /* a class without compiled code costs the JVM something, too */

/*
 * Times the work in a program that has just begun: of seven programs C1 and C2 took 0.8 % (SE 0.2) of the first
 * minute's CPU time more, where the work was 0.24 %.
 */
#define NEW_WORK 3.0

/* ---- which probes stay ---- */

#define LIVE_MARGIN     4.0  /* calls so much shorter than the grain of the time so far are too short: POLICY.md */
#define LIVE_MIN_CALLS  20u  /* no mean of fewer is judged; a trial is over after so many, */
#define LIVE_TRIAL_S    0.02 /* or so long */
#define PRUNE_PERIOD_NS UINT64_C(100000000) /* from one judgement of all methods to the next */

/* From switching off to a trial (ns); then twice as long each time, up to the last. */
#define LIVE_FIRST_TRIAL_NS UINT64_C(2000000000)
#define LIVE_LAST_TRIAL_NS  UINT64_C(300000000000)

#define DISABLED_CALL_NS 2.0   /* per call of disabled probes, what they hinder the JIT compiler in included */
#define WORTH_REMOVING   0.001 /* of the CPU time they must cost to be removed */

/* ---- the recompilation window ---- */

#define WINDOW_STEP_NS  UINT64_C(100000000)   /* the compilers' CPU time is compared over so long */
#define WINDOW_QUIET    3                     /* steps in a row as before, and the window is over */
#define WINDOW_EXTRA    0.1                   /* CPUs of the compilers' that are not worth waiting for */
#define WINDOW_MAX_NS   UINT64_C(5000000000)  /* so long a window is watched, */
#define WINDOW_ALL_NS   UINT64_C(30000000000) /* or so long where all code was discarded */
#define WINDOW_BLIND_NS UINT64_C(1500000000)  /* a window where the compilers' CPU time is not known */

#endif
