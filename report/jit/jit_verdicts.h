/*
 * Whether the compiled code of a JVM is as the rules of a file say, and why.
 *
 * A method's own code counts, of the highest tier that it has; where it has none, its copies in code that it is inlined
 * in.  All call sites in it count, also in what is inlined there.  What cannot be known is no success.
 */
#ifndef REPORT_JIT_VERDICTS_H
#define REPORT_JIT_VERDICTS_H

#include "core/hotspot/jit_code.h"
#include "report/format/table.h"
#include "report/jit/jit_rules.h"

enum jit_result { JIT_UNKNOWN, JIT_HOLDS, JIT_BROKEN };

#define JIT_WHY_BYTES 256

struct jit_verdict {
    enum jit_result result;
    uint32_t tier, number;                 /* of the code, and of its compilation; 0: none */
    uint32_t n_done, n_left;               /* sites that are inlined, or removed; where a call, or an allocation, is */
    uint32_t n_gone;                       /* where none is, but no frame tells what came of it, and it was reached */
    uint32_t n_not_reached, n_not_counted; /* where none is: nobody came there; it is not known whether */
    /* What the JVM counted there until C2 compiled the method: calls or objects; and sites of which it counted none. */
    uint64_t n_done_times, n_left_times;
    uint32_t n_untold;
    char why[JIT_WHY_BYTES];
};

/* A text that is borrowed, as long as 'rules' are; matches by the number of a method, for jit_judge_free. */
struct jit_judge {
    const struct jit_rules *rules; /* borrowed */
    const struct jit_codes *codes; /* borrowed */
    struct jit_verdict *verdicts;  /* owned; by rule: the latest that was known, if any was */
    struct jit_matches *matches;   /* owned; by rule */
};

/* Returns 0, or -1 with *err set: no memory. */
int jit_judge_open(struct jit_judge *judge, const struct jit_rules *rules, const struct jit_codes *codes,
                   struct err *err);

/* Is a method one whose code a rule is of?  context: the rules; for jit_codes_open. */
bool jit_judge_wants(void *context, const struct compiled_method *method);

/* Judge what the last look has found. */
void jit_judge_look(struct jit_judge *judge);

/* How many rules do not hold, and how many are not known. */
void jit_judge_count(const struct jit_judge *judge, size_t *n_broken, size_t *n_unknown);

/* A row for each rule; the arena's. */
void jit_judge_table(const struct jit_judge *judge, struct arena *arena, struct table *table);

/* JUnit's XML: a test case for each rule; name: of the file.  Returns 0, or -1 with *err set. */
int jit_judge_junit(const struct jit_judge *judge, const char *name, FILE *out, struct err *err);

void jit_judge_free(struct jit_judge *judge);

#endif
