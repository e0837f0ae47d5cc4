/*
 * The methods that a live recording knows from samples only: they got no probes.
 */
#ifndef REPORT_SAMPLED_H
#define REPORT_SAMPLED_H

#include "report/phase_report.h"

/* A method that samples saw, and that has no probes. */
struct sampled {
    size_t number; /* as the trace has them */
    struct java_name name;
    const char *label; /* the report's, or NULL */
    double share;      /* of the time of all samples, callees included */
    uint64_t n_samples;
    const char *why;
    bool is_dear;        /* a larger budget would pay for its class */
    double compiling_ns; /* what compiling its class again would cost; 0: not known */
    bool knows_caller;
    double in_it;            /* which part of its time, 0..1, was in its caller; 0: there is none */
    struct java_name caller; /* then: the recorded method in whose calls it was seen */
    double caller_share;     /* of the time of all samples; 0: not known */
    double time_share;       /* of the process' time */
};

/*
 * All of them, those with most time first, in the arena; none where CPU time is not known.  Returns 0, or -1 with *err
 * set: no memory.
 */
int sampled_find(const struct report_source *source, struct sampled **all, size_t *n, struct err *err);

/*
 * A row for each, those with most time first: its part of the process' CPU time, all that it calls included, as the
 * report has the phases'; the samples that this is from; why it got no probes; and the recorded method in whose calls
 * it was seen.
 *
 * The part is that of the samples with the method on the stack: in the calls of a recorded method, of that one's
 * samples and measured time (as its row has it: while it was recorded), else of all samples and the application's CPU
 * time.  So none has more than the recorded method that it is in.  Calls and events of it are not known.  Where the CPU
 * time of threads is not known, nor is it.
 *
 * wish  min_share, top and all choose the rows; a note counts those left out.
 *
 * Returns the number of methods, those left out included, or -1 with *err set: no memory.
 */
int sampled_make(const struct report_source *source, const struct report_wish *wish, struct table *table,
                 struct err *err);

/*
 * Why a method that samples found has no probes, from the word of mmprof.trace(5), and what its class would take the
 * compilers (0: not known): "not paid for: 1.27 s to compile".  NULL: no memory.
 */
const char *sampled_why_text(const char *word, double compiling_ns, struct arena *arena);

#endif
