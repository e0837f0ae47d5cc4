/*
 * Stack samples of a live recording: what the choice of methods (phases/samples/candidates.h) is told of them, and in
 * which loops threads are that go on for long.
 *
 * HotSpot compiles no code of a class from before it was changed: a loop that is under way when its class is changed is
 * interpreted until its call ends, ten to fifty times slower (17 and 25; also when nothing changed in its own method).
 * So classes with hot loops that are under way are left alone for a while (core/agent/instrument/active_loops.h).
 */
#ifndef PHASES_LIVE_SAMPLES_H
#define PHASES_LIVE_SAMPLES_H

#include "core/recorder/link.h"
#include "phases/samples/candidates.h"

struct live_samples;

/* Returns 0 and *samples, or -1 with *err set: no memory. */
int live_samples_open(struct live_samples **samples, struct err *err);
void live_samples_close(struct live_samples *samples); /* NULL is fine */

/* A thread has ended, and its number is another's from now on. */
void live_samples_forget(struct live_samples *samples, uint32_t thread);

/* Those that are added from now on count; methods that are known to be too short stay known. */
int live_samples_begin(struct live_samples *samples, struct err *err);

/* Take up a sample of an application's thread (the recorder's index).  Returns 0, or -1 with *err set. */
int live_samples_add(struct live_samples *samples, const struct stack_sample *sample, uint32_t thread, struct err *err);

/*
 * Take up what a visit found of a thread of the application that waits.  Who waits for work counts nothing, and what
 * goes on for long counts as WAIT_COUNTED_NS.  Returns 0, or -1 with *err set.
 */
int live_samples_add_wait(struct live_samples *samples, const struct stack_wait *wait, uint32_t thread,
                          struct err *err);

/* How many waits counted so far. */
uint32_t live_samples_n_waits(const struct live_samples *samples);

/* The same samples with waits, on the wall clock; described by live_samples_candidates; borrowed. */
struct candidates *live_samples_wall(struct live_samples *samples);

/*
 * The candidates with what is known of their methods now; borrowed.
 *
 * wanted  the rules of what may get probes
 * cpu_ns  that the JVM has used since its start
 */
struct candidates *live_samples_candidates(struct live_samples *samples, const struct agent_config *rules,
                                           uint64_t cpu_ns);

/* The methods of loops that are under way, n of them at most, in *all: names are the samples'.  Returns how many. */
size_t live_samples_loops(const struct live_samples *samples, struct recorder_phase *all, size_t n);

#endif
