/*
 * A trace in the formats of other tools: folded stacks, speedscope, pprof, OTLP, Chrome's trace events, JDK Flight
 * Recorder.
 */
#ifndef REPORT_EXPORT_EXPORT_H
#define REPORT_EXPORT_EXPORT_H

#include "report/source.h"

#define EXPORT_DEPTH_MAX 4096u /* calls of a stack: of deeper ones the values are the caller's at that depth */

struct export_tree_options {
    const char *value; /* "cpu", "wall", "calls", "samples" or an event of the trace */
    double min_share;  /* contexts with less of the clock's time are counted as their callers' */
    const char *title; /* of a flame graph; NULL: "Flame graph" */
    bool is_reversed;  /* flame graph: callees first, below each its callers */
};

/* Contexts deeper than EXPORT_DEPTH_MAX calls, which stacks of these formats do not have. */
uint32_t export_n_deep(const struct report_source *source);

/* A format of stacks: writes what export_stacks has found.  Returns 0, or -1 with *err set: out cannot be written. */
struct export_tree;
typedef int export_format(const struct export_tree *tree, FILE *out, struct err *err);

/*
 * Folded stacks for flamegraph.pl and inferno: a line "root;Caller.method;Callee.method VALUE" for each context,
 * outermost first; times in ns.
 */
int export_folded(const struct export_tree *tree, FILE *out, struct err *err);

/* A flame graph as one HTML page that needs no other file: zoom by click or Enter, search. */
int export_flamegraph(const struct export_tree *tree, FILE *out, struct err *err);

/*
 * speedscope's own JSON, an evented profile for each root of the tree.  It shows the call tree: calls along one path
 * are one, in no order of time.
 */
int export_speedscope(const struct export_tree *tree, FILE *out, struct err *err);

/*
 * pprof: perftools.profiles.Profile (profile.proto), compressed by gzip; a sample for each context with all values that
 * the trace has; options->value is the default one.
 */
int export_pprof(const struct export_tree *tree, FILE *out, struct err *err);

/*
 * OTLP: opentelemetry.proto.profiles.v1development.ProfilesData, which is what a collector's
 * ExportProfilesServiceRequest is, too; not compressed; a profile for each value that the trace has, all with the same
 * stacks.  options->value is not used.  The format is under development: what is written may change with it.
 */
int export_otlp(const struct export_tree *tree, FILE *out, struct err *err);

/* Write a trace in one of these formats.  Returns 0, or -1 with *err set: no such value, or out cannot be written. */
int export_stacks(const struct report_source *source, const struct export_tree_options *options, export_format *format,
                  FILE *out, struct err *err);

/*
 * A recording of JDK Flight Recorder, version 2.1: stack samples as jdk.ExecutionSample, sampled allocations as
 * jdk.ObjectAllocationSample, waits as jdk.JavaMonitorEnter, jdk.ThreadPark and so on (a wait lasts as long as the
 * visits that met it stand for), collections.  It is made in memory.
 *
 * Returns 0, or -1 with *err set: the trace cannot be read, or out cannot be written.
 */
int export_jfr(const char *path, bool salvage, FILE *out, struct err *err);

/* What became of the slices of a time line, and its stack samples. */
struct export_slices {
    uint64_t n_written, n_left_out, n_samples;
    double limit_ns; /* shorter ones were left out */
};

struct export_chrome_options {
    const char *path; /* of the trace */
    bool salvage;
    double limit_ns;     /* leave out shorter slices; negative: as long as it takes for max_slices */
    uint64_t max_slices; /* where limit_ns is negative */
};

/*
 * Chrome's trace events as JSON, for Perfetto and chrome://tracing: a track for each thread, a slice for each call of a
 * recorded method, and for the time on a CPU of the VM's own threads; and the stack samples of each thread
 * (export_tree.h).  The trace is read twice; memory does not depend on its length, but for the samples.
 */
int export_chrome(const struct export_chrome_options *options, FILE *out, struct export_slices *slices,
                  struct err *err);

#endif
