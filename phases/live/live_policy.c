#include "phases/live/live_policy.h"

#define ROW(name, unit, reason)             \
    {                                       \
#name, (double)(name), unit, reason \
    }

const struct live_policy live_policy[] = {
    /* when to choose */
    ROW(FREE_CHOICES, "", "choices whose batch is beside the budget: what the session is for"),
    ROW(FREE_CHOICES_NEW, "", "likewise of a program that has just been started: its start says little"),
    ROW(FIRST_SAMPLES, "samples", "for the first choice,"),
    ROW(FEWER_SAMPLES, "samples", "or so many after SAMPLED_NS, where there are no more"),
    ROW(SAMPLED_NS, "ns", "see FEWER_SAMPLES"),
    ROW(START_NS, "ns of CPU time", "a program has begun with what it is for, more or less"),
    ROW(AGAIN_FIRST_NS, "ns", "from the first choice to the next; then twice as long each time,"),
    ROW(AGAIN_LAST_NS, "ns", "at most"),
    ROW(ROUND_TRIED_MS, "ms", "a trial is to be short"),
    ROW(ROUND_QUIET_MS, "ms", "one in which nothing is called may be longer: many calls would fill a ring"),
    ROW(ROUND_SHORT_MS, "ms", "until the agent is ready"),
    ROW(ROUND_AFTER_MS, "ms", "a step of the recompilation window"),
    ROW(ROUND_FIRST_MS, "ms", "a ring that fills, and an answer, come before that"),
    ROW(ROUND_LONG_MS, "ms", "little happens while probes are watched"),
    /* the budget */
    ROW(LIVE_AIM, "of the budget", "what is left for probes after some were switched off"),
    ROW(LIVE_CREDIT_NS, "ns of CPU time", "what the credit is at most: the budget of so much"),
    ROW(LEAST_PART, "of the budget", "for probes, whatever all else took: without calls a recording is of no use"),
    ROW(LIVE_POLLING_PART, "of the budget", "for stack samples, where the agent takes them"),
    ROW(LIVE_COMPILE, "of the budget so far", "for recompilation and rewriting, whatever all else took"),
    ROW(LIVE_ADVANCE_NS, "ns of CPU time", "the compilers are given the budget of so much at once"),
    ROW(LIVE_AHEAD_S, "s", "so much of a recording is planned ahead"),
    ROW(LIVE_LOSS, "", "recompilation counts so often: code is slower until it is done"),
    ROW(PART_OF_REST, "of what is left", "for recompilation: something may be found later"),
    ROW(WRITER_NS, "ns", "this program's CPU time per record, until it is measured"),
    ROW(MANY_RECORDS, "records", "by so many it is measured"),
    ROW(RUNNING_NS, "ns", "a second of recording: rounds, IP samples, records that are not many"),
    ROW(RUNNING_S, "s", "then that is measured"),
    ROW(RUNNING_MORE, "", "times what it was: there may be more records"),
    /* what gets probes */
    ROW(ELSEWHERE, "of all samples", "a method with more of them that is new is what the program does now"),
    ROW(WORK_NS, "ns", "for a unit of work at most: what it was where all code was known (h2)"),
    ROW(NEW_WORK, "",
        "times the work in a program that has just begun: of seven programs C1 and C2 took 0.8 % (SE 0.2) of the first "
        "minute's CPU time more, where the work was 0.24 %"),
    ROW(SMALL_PART, "of the time in it", "may a class cost beyond the budget, beside others that cost something"),
    ROW(LATER_PART, "of the time in it", "likewise in a later batch"),
    ROW(LEAST_NS, "ns", "a class without compiled code costs the JVM something, too"),
    /* which probes stay */
    ROW(LIVE_MARGIN, "", "calls so much shorter than the grain of the time so far are too short: POLICY.md"),
    ROW(LIVE_MIN_CALLS, "calls", "no mean of fewer is judged"),
    ROW(LIVE_TRIAL_CALLS, "calls", "a trial is over after so many,"),
    ROW(LIVE_TRIAL_NS, "ns", "or so long"),
    ROW(LIVE_FIRST_TRIAL_NS, "ns", "from switching off to a trial; then twice as long each time,"),
    ROW(LIVE_LAST_TRIAL_NS, "ns", "at most"),
    ROW(QUIET_TRIAL_NS, "ns", "a method on trial that is not called for so long stays on"),
    ROW(PRUNE_PERIOD_NS, "ns", "from one judgement of all methods to the next"),
    ROW(REMOVE_AFTER_NS, "ns", "probes that were off for so long may be removed"),
    ROW(DISABLED_CALL_NS, "ns", "what disabled probes cost per call, the JIT compiler's trouble with them included"),
    ROW(PAID_BACK_S, "s", "removing them must pay for itself within this, where the budget allows no pause"),
    ROW(WORTH_REMOVING, "of the CPU time", "they must cost so much"),
    /* the recompilation window */
    ROW(WINDOW_STEP_NS, "ns", "the compilers' CPU time is compared over so long"),
    ROW(WINDOW_QUIET, "steps", "in a row as before, and the window is over"),
    ROW(WINDOW_EXTRA, "CPUs", "of the compilers' that are not worth waiting for"),
    ROW(WINDOW_MAX_NS, "ns", "so long a window is watched,"),
    ROW(WINDOW_ALL_NS, "ns", "or so long where all code was thrown away"),
    ROW(WINDOW_BLIND_NS, "ns", "a window where the compilers' CPU time is not known"),
};

const size_t n_live_policy = sizeof live_policy / sizeof *live_policy;
