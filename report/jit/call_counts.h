/*
 * Calls in the bytecode by the stacks in which they were executed, as an agent counted them
 * (core/agent/lab/count_calls.h), and which of them compiled code still has as calls (Zheng, section 4.3, Table 4).
 *
 * The interpreted run that is counted says how often each call is executed; the compiled code of another run, whether
 * it is inlined there: as its stack goes on in that code from the outermost call site inwards.
 */
#ifndef REPORT_JIT_CALL_COUNTS_H
#define REPORT_JIT_CALL_COUNTS_H

#include "core/base/map.h"
#include "core/base/method_name.h"
#include "core/hotspot/jit_code.h"
#include "report/format/table.h"

enum call_run { CALLS_AS_IT_RUNS, CALLS_WITH_PROBES, CALL_RUNS };

/* What became of a call. */
enum call_fate {
    CALL_INLINED,     /* what it calls is in the code, or nothing is left of it */
    CALL_IS_LEFT,     /* a call in compiled code */
    CALL_INTERPRETED, /* what it is in has no code, as of the last look */
    CALL_LEAVES_CODE, /* the code had not expected it, and goes back to the interpreter */
    CALL_FATES
};

/* Texts are the arena's; methods are numbers in call_counts.methods. */
struct call_site_counts {
    uint32_t method, called; /* called: of the latest stack */
    int32_t index, ordinal;  /* of its bytecode; among the calls of the method, -1: it is no call */
    uint32_t line;
    uint64_t n, n_of[CALL_RUNS][CALL_FATES];
};

struct call_stack {
    uint64_t n;
    uint32_t called, first, n_sites; /* sites: in call_counts.numbers, from the call outwards, 1 at least */
};

struct call_counts {
    struct arena *arena;         /* borrowed */
    struct method_name *methods; /* these are owned */
    struct call_site_counts *sites;
    struct call_stack *stacks;
    uint32_t *numbers, *called, *site_of; /* indices of sites; and by the numbers in the file */
    uint32_t n_methods, methods_room, n_sites, sites_room, n_stacks, stacks_room, n_numbers, numbers_room, n_called,
        called_room, n_site_of, site_of_room;
    struct map by_method, by_site;
    uint64_t n_seen, n_taken; /* calls in all; that were counted */
    uint32_t interval;
};

#define CALL_NO_METHOD UINT32_MAX

/* interval: about one call in so many was counted; 1: all. */
void call_counts_init(struct call_counts *counts, struct arena *arena, uint32_t interval);
void call_counts_free(struct call_counts *counts);

/* As object_counts_read. */
int call_counts_read(struct call_counts *counts, char *text, size_t n, const char *name, struct err *err);

/* The number of a method; CALL_NO_METHOD: it is in no stack, or there is no memory. */
uint32_t call_counts_method(const struct call_counts *counts, const char *class_name, const char *name,
                            const char *descriptor);

/*
 * Judge all calls by the code of a run.
 *
 * codes    with has_all_tiers, of all methods; of a method that has several pieces of code, the best one counts: of
 *          those that are_there, of the highest tier, that calls enter at its beginning, the latest.
 * are_there  by piece of code: calls entered it at the last look that saw all; n of them.
 *
 * Returns 0, or -1 with *err set: no memory.
 */
int call_counts_judge(struct call_counts *counts, enum call_run run, const struct jit_codes *codes,
                      const bool *are_there, uint32_t n, struct err *err);

/*
 * A row for each call site, those first at which most calls are left, in that run which has more; and one for all.
 *
 * top: only so many sites; 0: all.
 */
int call_counts_table(struct call_counts *counts, const char *command, uint64_t top, struct table *table,
                      struct err *err);

#endif
