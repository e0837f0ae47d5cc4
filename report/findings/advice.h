/*
 * What to do about what costs most: actions in the order of what they are expected to save, each with its evidence and
 * with how to verify it.
 */
#ifndef REPORT_FINDINGS_ADVICE_H
#define REPORT_FINDINGS_ADVICE_H

#include "report/findings/findings.h"

/* An action that saves more than its rule's threshold with the whole interval.  Texts are the arena's. */
struct advice_hint {
    const char *rule;     /* a word: mmprof-advise(1) has the list */
    const char *subject;  /* a method, or a part of the JVM or the machine */
    const char *action;   /* one line of plain English */
    const char *evidence; /* the finding */
    const char *verify;   /* a command, or two */
    const char *basis;    /* what the saving is estimated by: "a rule of thumb", "paired runs of javac" */
    const char *of;       /* "CPU time", or "waiting": what is saved */
    double bytes_share;   /* of what is allocated, or copied by collections, that is saved; 0: no bytes */
    const char *bytes_of; /* "allocated", "copied by collections" */
    double saving_ns;     /* expected */
    double share;         /* the same: of the CPU time, or of the recording's; waiting is of all threads together */
    double low, high;     /* the interval of the share */
};

struct advice {
    const struct advice_hint *all; /* those that save most time of threads first; the arena's */
    size_t n;
};

struct last_uses;
struct live_bytes;
struct live_points;
struct advice_memory_rules;
extern const struct advice_memory_rules advice_memory_rules;

/* What an emulated run of the same program says of its objects; borrowed. */
struct advice_memory {
    const struct advice_memory_rules *rules; /* advice_memory_rules */
    const struct last_uses *uses;
    const struct live_bytes *live;
    const struct live_points *points;
};

/* memory: or NULL. */
struct advice advice_find(const struct findings_input *input, const struct advice_memory *memory);

/* A paragraph for each, or one line that says that there is nothing. */
void advice_print(const struct advice *advice, FILE *out);

/* All of them, a row each. */
void advice_table(const struct findings_input *input, const struct advice *advice, struct table *table);

#endif
