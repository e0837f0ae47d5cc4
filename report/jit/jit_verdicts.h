/*
 * Whether the compiled code of a JVM is as the rules of a file say, and why.
 *
 * A method's own code counts, of the highest tier that it has; where it has none, its copies in code that it is inlined
 * in.  All call sites in it count, also in what is inlined there.  What cannot be known is no success.
 */
#ifndef REPORT_JIT_JIT_VERDICTS_H
#define REPORT_JIT_JIT_VERDICTS_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/hotspot/jit_code.h"
#include "report/format/table.h"

/*
 * What somebody expects of the JIT compilers, as a text file says it, a sentence a line:
 *
 *     # hot path of the price list
 *     shop.Price.cents is inlined into shop.PriceList.total
 *     shop.Log.debug is not inlined into shop.PriceList.total
 *     allocation of shop.Point in shop.PriceList.total is removed
 *     shop.Price.cents is inlined into shop.PriceList.total in at least 90 % of calls
 *     shop.PriceList.total is compiled by C2
 *     shop.PriceList.total is deoptimized at most 2 times
 */

enum jit_rule_kind {
    JIT_RULE_INLINED,     /* 'of' into 'in' */
    JIT_RULE_REMOVED,     /* allocation of the class 'of' in 'in' */
    JIT_RULE_COMPILED,    /* 'in', by a tier */
    JIT_RULE_DEOPTIMIZED, /* 'in', at most so often */
};

struct jit_rule {
    enum jit_rule_kind kind;
    bool is_not;
    uint32_t line;    /* in the file, from 1 on */
    const char *text; /* the sentence */
    const char *of;   /* a method or a class, as java_names_is takes it; NULL: none */
    const char *in;   /* a method, likewise */
    uint32_t tier;    /* 0: any */
    uint64_t most;    /* times */
    /* Of calls, or objects, in which it is to be so: at least, and at most; 0 at most: wherever there is one. */
    uint64_t percent, most_percent;
    const char *plain; /* of a method 'of': its name without class and parameters, if it has no wildcard; or NULL */
};

struct jit_rules {
    struct jit_rule *all; /* owned */
    size_t n, room;
    struct arena arena;
};

/*
 * Read all sentences of a file; name: of it, for messages.  rules are for jit_rules_free, whatever is returned.
 *
 * Returns 0, or -1 with *err set: a line is no sentence, there is none at all.
 */
int jit_rules_read(struct jit_rules *rules, FILE *in, const char *name, struct err *err);
void jit_rules_free(struct jit_rules *rules);

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

void jit_judge_open(struct jit_judge *judge, const struct jit_rules *rules, const struct jit_codes *codes);

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
