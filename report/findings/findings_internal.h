/* Shared by the rules of findings. */
#ifndef REPORT_FINDINGS_FINDINGS_INTERNAL_H
#define REPORT_FINDINGS_FINDINGS_INTERNAL_H

#include "report/findings/findings.h"
#include "report/shares.h"
#include "report/view/allocations.h"

struct findings_making;

/* What a rule looks for: findings_add() compares with the threshold. */
struct finding_rule {
    const char *name;
    double threshold; /* of the finding's share: 0.1 is 10 % */
    double ratio;     /* how many times the rest's; 0: nothing is compared with the rest */
    double least;     /* that it costs, of undelayed_ns: less is no trouble, whatever part of a little it is */
    double saves;     /* that part of its cost, if it is mended: 0..1 */
    void (*find)(struct findings_making *making, const struct finding_rule *rule);
    bool is_condition; /* of the measurement or the machine: it comes last, unless it costs most */
    const char *of;    /* what shares are of; NULL: of a thread's time, so they are threads on average */
};

extern const struct finding_rule finding_rules[]; /* one without a name ends them */

/* By context: the method that its time is counted for, or CALLTREE_NONE.  The arena's. */
typedef uint32_t *findings_counted_fn(const struct findings_making *making, const struct calltree *tree,
                                      const void *context);

/* A part of the CPU time that a finding tells of, which so is none of the others'. */
struct findings_told {
    findings_counted_fn *counted;
    const void *context; /* its last argument */
    uint32_t method;
    const char *exception; /* class whose constructors' time and objects it is; NULL: none */
};

struct findings_making {
    const struct report_source *source; /* the input's */
    const struct view_pass *pass;       /* or NULL */
    const struct calltree *measured;    /* what probes alone know: counters */
    const bool *is_library;             /* by method; the arena's */
    const bool *is_framework;           /* likewise: a library that is not the JDK's */
    struct shares shares;               /* of no rows: the parts of the process */
    double duration_ns, cpu_ns;         /* of the recording; of the process within it: 100 % */
    double undelayed_ns;                /* of the recording, less the part for which threads waited for a CPU */
    double all_ticks;                   /* the same: what the report's shares are of */
    bool has_cpu_time;                  /* the source's times are of CPUs; those of an emulator say nothing */
    bool is_simulated;
    struct finding *found; /* the arena's */
    size_t n_found, room;
    struct findings_told *told; /* the arena's */
    size_t n_told, told_room;
};

/* Its own code, and what it calls of libraries; what runs in libraries alone is a method of theirs. */
uint32_t *findings_own_code(const struct findings_making *making, const struct calltree *tree, const void *unused);

/* CPU time by method; all the arena's. */
struct findings_sums {
    uint32_t *of;       /* by context: whose its time is; CALLTREE_NONE: nobody's */
    uint64_t *ticks;    /* by method */
    double *errors;     /* by method, of its share; 0: it was measured; NAN: too few samples */
    uint32_t *heaviest; /* by method: the context with most of that time */
};

/* All of them, those that cost most first, and what they were made from; the source's arena's. */
struct findings_making *findings_make(const struct findings_input *input);

/* The application's CPU time by method, less what findings have told of. */
void findings_sum(const struct findings_making *making, findings_counted_fn *counted, const void *context,
                  struct findings_sums *sums);
uint32_t findings_most(const struct findings_making *making, const struct findings_sums *sums); /* 0: there is none */
/* Has a method samples, interpreted ones, in each third of the recording?  What it has at first only is the start. */
bool findings_is_steady(const struct findings_making *making, const struct findings_sums *sums, uint32_t method,
                        bool is_interpreted);
void findings_tell(struct findings_making *making, const struct findings_told *told);
bool findings_tells_objects(const struct findings_making *making, const struct method_name *method, const char *of);

/* Take a finding, unless its interval has the threshold in it, or it costs next to nothing.  f->rule is set here.
 * Returns whether it was taken. */
bool findings_add(struct findings_making *making, const struct finding_rule *rule, const struct finding *f);

/* By method: is it a library's that is not the JDK?  The arena's. */
bool *findings_frameworks(const struct findings_making *making);

/* By context: the innermost method of the program's own code on its path; or of a framework, where there is none; or
 * CALLTREE_NONE.  The arena's. */
uint32_t *findings_owners(const struct findings_making *making, const struct calltree *tree);

/* By context: is it in a thread of the application?  The arena's. */
bool *findings_ours(const struct findings_making *making, const struct calltree *tree);

/* A method's label: "RiskEngine.exposure". */
const char *findings_label(const struct findings_making *making, uint32_t method);

/* "34 ±2 %", or "34 %" where the error is 0; in the arena. */
const char *findings_share(const struct findings_making *making, double share, double error);

/* "0.5 threads on average", or "1.9 ±0.7 threads on average"; in the arena. */
const char *findings_threads(const struct findings_making *making, double n, double error);

/* "12.3 s" in the arena. */
const char *findings_time(const struct findings_making *making, double ns);

/* What the recording knows of allocation: without rows where that is nothing.  The arena's. */
const struct allocations *findings_allocations(const struct findings_making *making);

/* How many collections of a kind, "gc_young" or "gc_full", there were, and how long they stopped the program; "": all.
 */
double findings_pauses(const struct findings_making *making, const char *kind, double *ns);

/* The collections' CPU time: of their threads; of the VM's, in which Serial collects, as far as pauses are longer. */
double findings_collecting_ns(const struct findings_making *making, double pauses_ns);

/* Has the program, its JIT compilers and collectors included, less than half of the machine?  false: not known. */
bool findings_others_use_cpus(const struct findings_making *making);

#define FINDINGS_BYTE_NS  0.5    /* to allocate, clear and write it: 2 GB/s */
#define FINDINGS_FAULT_NS 1000.0 /* in the kernel, on current machines; more in a virtual one */

/* The rules' functions, a file for each kind of data. */
void findings_of_known(struct findings_making *making, const struct finding_rule *rule);
void findings_of_deoptimized(struct findings_making *making, const struct finding_rule *rule);
void findings_of_interpreted(struct findings_making *making, const struct finding_rule *rule);
void findings_of_cpu(struct findings_making *making, const struct finding_rule *rule);
void findings_of_allocation(struct findings_making *making, const struct finding_rule *rule);
void findings_of_leaks(struct findings_making *making, const struct finding_rule *rule);
void findings_of_values(struct findings_making *making, const struct finding_rule *rule);
void findings_of_locks(struct findings_making *making, const struct finding_rule *rule);
void findings_of_io(struct findings_making *making, const struct finding_rule *rule);
void findings_of_sleeps(struct findings_making *making, const struct finding_rule *rule);
void findings_of_pools(struct findings_making *making, const struct finding_rule *rule);
void findings_of_starved(struct findings_making *making, const struct finding_rule *rule);
void findings_of_paging(struct findings_making *making, const struct finding_rule *rule);
void findings_of_collector(struct findings_making *making, const struct finding_rule *rule);
void findings_of_compilers(struct findings_making *making, const struct finding_rule *rule);
void findings_of_faults(struct findings_making *making, const struct finding_rule *rule);
void findings_of_preempted(struct findings_making *making, const struct finding_rule *rule);
void findings_of_quota(struct findings_making *making, const struct finding_rule *rule);
void findings_of_stolen(struct findings_making *making, const struct finding_rule *rule);
void findings_of_misses(struct findings_making *making, const struct finding_rule *rule);

#endif
