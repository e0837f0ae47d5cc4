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
#ifndef REPORT_JIT_RULES_H
#define REPORT_JIT_RULES_H

#include "core/base/arena.h"
#include "core/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

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
 * Returns 0, or -1 with *err set: a line is no sentence, there is none at all, no memory.
 */
int jit_rules_read(struct jit_rules *rules, FILE *in, const char *name, struct err *err);
void jit_rules_free(struct jit_rules *rules);

#endif
