/* What a trace says of its recording (INFO), and the agent's configuration. */
#ifndef CORE_RECORDER_METADATA_H
#define CORE_RECORDER_METADATA_H

#include "core/jvm/cgroup.h"
#include "core/perf/perf_rings.h"
#include "core/recorder/link.h"
#include "core/recorder/readings.h"
#include "core/recorder/recorder.h"
#include "core/recorder/session.h"
#include "core/wire/ring.h"
#include "core/wire/setting.h"

/*
 * Is the agent to tell what code there is?  To name where the kernel, or a simulation, saw the program; a live
 * recording needs to know which code would be thrown away, too (core/recorder/recompilation_cost.h).
 */
bool metadata_wants_code(const struct recorder_plan *plan);

/*
 * Of what it compiles, only that which is asked for?  That costs far less, but tells lines only in a JVM that was
 * started with DebugNonSafepoints, as those are that we start where lines are wanted.
 */
bool metadata_asks_for_code(const struct recorder_plan *plan);

/* Do the probes record nothing before the recorder says so?  Else counts of callers and callees would not agree. */
bool metadata_begins_later(const struct recorder_plan *plan);

/* Of how many page faults one is recorded; 0: of none. */
uint32_t metadata_fault_period(const struct recorder_plan *plan);

/* The agent's configuration, lines of core/wire/setting.h: from malloc; NULL when there is no memory. */
char *metadata_config(const struct recorder_plan *plan);

/* What is known before the first record.  Returns 0, or -1 with *err set. */
int metadata_write_start(struct trace_writer *writer, const struct recorder_plan *plan, const char *offcpu,
                         struct err *err);

/* When the file began: now. */
int metadata_write_started(struct trace_writer *writer, struct err *err);

/* Likewise, of a trace of stack samples alone; and of those alone: mmprof.trace(5) has the keys. */
int metadata_write_samples(struct trace_writer *writer, const char *events, uint64_t period_ns, struct err *err);
int metadata_write_sampling(struct trace_writer *writer, const char *events, uint64_t period_ns, struct err *err);

/* Which JVM it is: known when the agent has connected.  argv: the command that was started, or NULL. */
int metadata_write_target(struct trace_writer *writer, pid_t pid, const char *jvm, char *const *argv, struct err *err);

/* How long the loaded classes took, and the longest call that changed some of them. */
/* Of the first pass over a running JVM's classes, where the trace begins after it. */
int metadata_write_change(struct trace_writer *writer, const struct recorder_link *link, struct err *err);
int metadata_write_ready(struct trace_writer *writer, double total_ms, double longest_ms, struct err *err);

/* What a probe costs, and whether its counters open: readers need it before the first record. */
int metadata_write_costs(struct trace_writer *writer, const struct recorder_plan *plan, const struct session *session,
                         struct err *err);

/*
 * Why the target could not open its counters, though the recorder could open them for itself.  Returns whether that is
 * so; *why has no next step in a trace's words (for_trace), else it has one.
 */
bool metadata_refusal(const struct recorder_plan *plan, const struct segment *segment, bool for_trace, struct err *why);

/* CPU time within the recording, in ns; TRACE_UNKNOWN where it could not be had. */
struct metadata_cpu {
    uint64_t process_ns;          /* of the process */
    uint64_t own_ns;              /* of the recorder */
    uint64_t own_start_ns;        /* of this, until all was new no more */
    uint64_t stolen_ns;           /* kept from this machine by its host */
    struct cpu_quota_level quota; /* of the process' groups; cpus 0: none */
};

/* The quota of the process' groups, and what it has stopped them for.  Returns 0, or -1 with *err set. */
int metadata_write_quota(struct trace_writer *writer, const struct cpu_quota_level *quota, struct err *err);

/* The pauses of the last batch, which takes the probes out again: they are not in the recording. */
int metadata_write_removal(struct trace_writer *writer, const struct recorder_link *link, struct err *err);

/* What the target has published in the segment by now, and who took how much CPU time. */
int metadata_write_end(struct trace_writer *writer, const struct segment *segment, const struct metadata_cpu *cpu,
                       struct err *err);

/* "pkg.Class: why" as well-formed UTF-8, or "". */
void metadata_reason(const struct segment_reason *reason, char *text, size_t room);

/* How often the recorder read counters itself, and which threads it could not read. */
int metadata_write_readings(struct trace_writer *writer, const struct readings *readings, struct err *err);

/* How many IP samples there are, or why none. */
int metadata_write_ip_samples(struct trace_writer *writer, const struct ip_samples *ip_samples,
                              const struct perf_rings_state *state, uint32_t hz, uint64_t cost_ns, bool is_measured,
                              uint64_t asked_ns, struct err *err);

/*
 * Has a pattern of the plan's --include matched nothing so far, or (*all) all of them?  Then *err says which is first,
 * and what to do.
 */
bool recorder_includes_nothing(const struct recorder_plan *plan, const struct segment *segment, bool *all,
                               struct err *err);

/* Settings for the agent (core/wire/setting.h), line by line. */

/* Zero at first. */
struct setting_lines {
    char *text; /* owned; ends with a NUL; NULL: nothing was added */
    size_t n, room;
};

void setting_lines_add(struct setting_lines *lines, const struct setting *setting);

/* Of n methods each: SETTING_PHASE or SETTING_LOOP. */
void setting_lines_add_methods(struct setting_lines *lines, enum setting_kind kind,
                               const struct recorder_phase *methods, size_t n);

#endif
