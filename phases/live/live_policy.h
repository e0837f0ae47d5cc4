/*
 * What the controller's decisions go by: every number of its policy.  live_policy is the table of them, with units and
 * reasons; POLICY.md says what they are for.
 */
#ifndef PHASES_LIVE_LIVE_POLICY_H
#define PHASES_LIVE_LIVE_POLICY_H

#include <stddef.h>
#include <stdint.h>

/* when to choose */
#define FREE_CHOICES     1u
#define FREE_CHOICES_NEW 2u
#define FIRST_SAMPLES    50u
#define FEWER_SAMPLES    20u
#define SAMPLED_NS       UINT64_C(1000000000)
#define START_NS         UINT64_C(1000000000)
#define AGAIN_FIRST_NS   UINT64_C(1500000000)
#define AGAIN_LAST_NS    UINT64_C(30000000000)
#define ROUND_TRIED_MS   10
#define ROUND_QUIET_MS   100
#define ROUND_SHORT_MS   50
#define ROUND_AFTER_MS   100
#define ROUND_FIRST_MS   250
#define ROUND_LONG_MS    500

/* the budget */
#define LIVE_AIM          0.7
#define LIVE_CREDIT_NS    UINT64_C(100000000)
#define LEAST_PART        0.3
#define LIVE_POLLING_PART 0.3
#define LIVE_COMPILE      0.5
#define LIVE_ADVANCE_NS   6e9
#define LIVE_AHEAD_S      60.0
#define LIVE_LOSS         2.0
#define PART_OF_REST      0.75
#define WRITER_NS         15.0
#define MANY_RECORDS      20000u
#define RUNNING_NS        3e6
#define RUNNING_S         10.0
#define RUNNING_MORE      1.2

/* what gets probes */
#define ELSEWHERE  (1.0 / 3)
#define WORK_NS    250.0
#define NEW_WORK   3.0
#define SMALL_PART 0.05
#define LATER_PART 0.01
#define LEAST_NS   100000.0

/* which probes stay */
#define LIVE_MARGIN         4.0
#define LIVE_MIN_CALLS      20u
#define LIVE_TRIAL_CALLS    50u
#define LIVE_TRIAL_NS       UINT64_C(20000000)
#define LIVE_FIRST_TRIAL_NS UINT64_C(2000000000)
#define LIVE_LAST_TRIAL_NS  UINT64_C(300000000000)
#define QUIET_TRIAL_NS      UINT64_C(1000000000)
#define PRUNE_PERIOD_NS     UINT64_C(100000000)
#define REMOVE_AFTER_NS     UINT64_C(1500000000)
#define DISABLED_CALL_NS    2.0
#define PAID_BACK_S         10.0
#define WORTH_REMOVING      0.001

/* the recompilation window */
#define WINDOW_STEP_NS  UINT64_C(100000000)
#define WINDOW_QUIET    3
#define WINDOW_EXTRA    0.1
#define WINDOW_MAX_NS   UINT64_C(5000000000)
#define WINDOW_ALL_NS   UINT64_C(30000000000)
#define WINDOW_BLIND_NS UINT64_C(1500000000)

struct live_policy {
    const char *name;
    double value;
    const char *unit, *reason; /* unit "": a number, or a factor */
};

extern const struct live_policy live_policy[];
extern const size_t n_live_policy;

#endif
