/* What all tables are made from, and what they all say: names, losses, warnings. */
#ifndef REPORT_SOURCE_H
#define REPORT_SOURCE_H

#include "phases/tree/jit_shape.h"
#include "phases/tree/calltree.h"
#include "phases/select/select.h"
#include "report/format/table.h"
#include "symbolize/java_names.h"

struct sampled_tree;
struct allocated;
struct throttled;

struct report_source {
    const char *path;                   /* of the trace; borrowed */
    const struct trace_reader *reader;  /* read to its end; borrowed */
    const struct calltree *tree;        /* borrowed */
    enum phases_clock clock;            /* wall where CPU time is not known: see report_clock */
    struct arena *arena;                /* borrowed */
    const struct jit_shapes *shapes;    /* of the trace's JIT events; borrowed; NULL: it has none */
    bool only_threads;                  /* the tree is of some of the application's threads: report/some_threads.h */
    const struct allocated *allocated;  /* bytes per second (report/view/allocation_rows.h); borrowed, or NULL */
    const struct throttled *throttled;  /* by a CPU quota (report/view/throttled.h); borrowed, or NULL */
    const struct sampled_tree *sampled; /* what the tree has from samples (report/sampled_tree.h); borrowed, or NULL */
};

/* The clock to use: wall time where the trace has no other. */
enum phases_clock report_clock(const struct calltree *tree, enum phases_clock asked);

/* "cpu" or "wall". */
const char *report_clock_key(enum phases_clock clock);

/* Parse it.  Returns 0, or -1 with *err set. */
int report_clock_parse(const char *text, enum phases_clock *clock, struct err *err);

/* Said where a table has marked methods. */
#define REPORT_PARTIAL_MARK \
    "+ marks methods with partial calls (under way when probes came, or at the end); means leave them out"

double report_ns(const struct report_source *source, uint64_t ticks);

/* On the report's clock: a context's, without and with what it calls. */
static inline uint64_t report_own_ticks(const struct report_source *source, uint32_t node)
{
    const struct calltree *tree = source->tree;
    return source->clock == PHASES_CPU ? tree->nodes[node].cpu_ticks : calltree_wall_ticks(tree, node);
}

static inline uint64_t report_total_ticks(const struct report_source *source, uint32_t node)
{
    const struct calltree *tree = source->tree;
    return source->clock == PHASES_CPU ? tree->total_cpu_ticks[node] : calltree_total_wall_ticks(tree, node);
}

/*
 * For how long a method was recorded, and what part of all that ran, ran then: on the report's clock.  All tables that
 * say which share of the time a method had say it of the time in which it was recorded.
 */
struct recorded report_recorded(const struct report_source *source, uint32_t method);

/* Was it recorded for so much less than all the time that its row needs a mark? */
bool report_is_partly(const struct report_source *source, const struct recorded *recorded);

/* "8.02 s (46 %)", or "17.1 s" where it was all the time but for a moment. */
const char *report_recorded_text(const struct report_source *source, const struct recorded *recorded);

/* The method's names; "(method 17)" where the trace does not describe it.  Never NULL texts but without memory. */
struct method_name report_name(const struct report_source *source, uint32_t method);

/* Labels of n methods, each the only one of its kind.  Returns n texts in the arena. */
const char **report_labels(const struct report_source *source, const uint32_t *methods, size_t n);

/* The process' CPU time within the recording, as the kernel accounts it; 0 when the trace does not say. */
double report_process_cpu_ns(const struct report_source *source);

/* What the host kept from this machine's CPUs within the recording, in ns; 0 when the trace does not say. */
double report_stolen_ns(const struct report_source *source);

/* Does the trace know how many calls there were, so that the thesis' estimate can be made?  Not a live one. */
bool report_knows_invocations(const struct trace_reader *reader);

/* printf of a share as per cent: "0.25 %". */
const char *report_percent(struct arena *arena, double share);

/* The metadata that all tables begin with: where from, how long, how many records; and a note for each loss. */
void report_metadata(const struct report_source *source, struct table *table);
void report_metadata_program(const struct report_source *source, struct table *table); /* the command line only */
void report_losses(const struct report_source *source, struct table *table);

/* Page faults were counted by samples of them: a note, if so. */
void report_note_faults(const struct report_source *source, struct table *table);

/* Whether a sample of the simulated caches' sets was simulated, so that misses are estimates; and a note of it. */
bool report_samples_sets(const struct report_source *source);
bool report_is_of_sets(const struct report_source *source, const char *event); /* and it is one of those misses */
void report_note_sets(const struct report_source *source, struct table *table);

/* How much of mmprof's own work a simulation has left out; nothing where nothing was. */
void report_note_left_out(const struct report_source *source, struct table *table);

#endif
