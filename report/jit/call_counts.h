/*
 * Calls in the bytecode by the stacks in which they were executed, as an agent counted them
 * (core/agent/lab/lab.h), and which of them compiled code still has as calls (Zheng, section 4.3, Table 4).
 *
 * The interpreted run that is counted says how often each call is executed; the compiled code of another run, whether
 * it is inlined there: as its stack goes on in that code from the outermost call site inwards.
 */
#ifndef REPORT_JIT_CALL_COUNTS_H
#define REPORT_JIT_CALL_COUNTS_H

#include "core/base/err.h"
#include "core/base/map.h"
#include "core/base/method_name.h"
#include "core/hotspot/jit_code.h"
#include "report/format/table.h"

/*
 * The text that an agent wrote what it had counted to (core/agent/lab/lab.h): a first line
 * that says what it is, lines of words with blanks between them, and one that begins with
 * "end".
 */

#define COUNTED_WORDS_MAX 20

/* A line's words, as they are escaped.  is_end: the first of them is "end".  Returns false: it is damaged. */
typedef bool counted_line_fn(void *context, char **words, size_t n_words, bool is_end);

/*
 * Read n bytes of text, which is cut up; behind it there is a NUL.  name: of it, for messages.
 *
 * Returns 0, or -1 with *err set: it is damaged or cut.
 */
int counted_text_read(char *text, size_t n, const char *first_line, const char *name, counted_line_fn *fn,
                      void *context, struct err *err);

/* A number of at most 2^56 - 1; false: it is none. */
bool counted_text_number(const char *word, uint64_t *number);

/* A bytecode's index, -1: not known; false: it is none. */
bool counted_text_index(const char *word, int32_t *index);

/* Unescape a word, in place; false: there is nothing in it. */
bool counted_text_word(char *word);

/*
 * A class' name without what changes from run to run, in place: "A$$Lambda" of "A$$Lambda$14/0x0000000800c03000",
 * "A$Hidden" of "A$Hidden+0x0000000800c03000".
 */
void counted_text_cut_hidden(char *name);

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
    uint64_t n_seen, n_taken;    /* calls in all; that were counted */
    uint64_t n_early[CALL_RUNS]; /* of these, in code of tiers 2 and 3: the run was too short */
    uint32_t interval;
};

#define CALL_NO_METHOD UINT32_MAX

/* interval: about one call in so many was counted; 1: all. */
void call_counts_init(struct call_counts *counts, struct arena *arena, uint32_t interval);
void call_counts_free(struct call_counts *counts);

/* As object_counts_read. */
int call_counts_read(struct call_counts *counts, char *text, size_t n, const char *name, struct err *err);

/*
 * Judge all calls by the code of a run.
 *
 * codes    with has_all_tiers, of all methods; of a method that has several pieces of code, the best one counts: of
 *          those that are_there, of the highest tier, that calls enter at its beginning, the latest.
 * are_there  by piece of code: calls entered it at the last look that saw all; n of them.
 */
void call_counts_judge(struct call_counts *counts, enum call_run run, const struct jit_codes *codes,
                       const bool *are_there, uint32_t n);

/*
 * A row for each call site, those first at which most calls are left, in that run which has more; and one for all.
 *
 * top: only so many sites; 0: all.
 */
void call_counts_table(struct call_counts *counts, const char *command, uint64_t top, struct table *table);

/*
 * How many objects of each class a JVM created at each site, as an agent counted them (core/agent/lab/lab.h);
 * and two such counts of a program side by side: what its bytecode allocates, and what its compiled code creates in the
 * heap.
 */

/* What two runs are: the first allocates whatever its bytecode does. */
enum object_run { OBJECTS_IN_BYTECODE, OBJECTS_ON_HEAP, OBJECTS_RUNS };

struct object_site {
    const char *class_name;    /* internal */
    struct method_name method; /* class_name NULL: not known */
    int32_t index;             /* of the bytecode; -1: not known */
    uint32_t line;             /* 0: not known */
    uint64_t n[OBJECTS_RUNS], n_bytes[OBJECTS_RUNS];
};

/* Texts are the arena's. */
struct object_counts {
    struct arena *arena;       /* borrowed */
    struct object_site *sites; /* owned */
    uint32_t n_sites, room;
    struct map by_site;
    uint64_t n[OBJECTS_RUNS], n_bytes[OBJECTS_RUNS]; /* of all objects */
    const char *window;                              /* which part of the runs that is; NULL: all of it; borrowed */
};

void object_counts_init(struct object_counts *counts, struct arena *arena);
void object_counts_free(struct object_counts *counts);

/*
 * Add n bytes of a run's text, which is cut up; behind it there is a NUL.  name: of it, for messages.  Hidden classes
 * have numbers and addresses that change from run to run: those of lambdas of one class count as one.
 *
 * Returns 0, or -1 with *err set: it is damaged or cut.
 */
int object_counts_read(struct object_counts *counts, enum object_run run, char *text, size_t n, const char *name,
                       struct err *err);

/*
 * A row for each site and class, those first of which most bytes are not created (Zheng, Table 3: per site, and in
 * all). top: so many rows, 0: all; the rest are one.  Sites are put in order.
 */
void object_counts_table(struct object_counts *counts, const char *command, uint64_t top, struct table *table);

/*
 * Of which classes the receivers of calls were, at each call site, and whether the call sites around it tell: as an
 * agent counted them (core/agent/lab/lab.h).
 */

#define RECEIVER_LEVELS 4 /* of calling context: 0 to 3 */

/* A virtual call, or one of an interface, in a method's bytecode.  Texts are the arena's. */
struct receiver_site {
    struct method_name method, called; /* called: its class is not known */
    int32_t index;
    uint32_t line;
    uint64_t n; /* calls that were counted */
    uint32_t n_types;
    /* With so many levels: calls whose contexts have one class of receivers; and bits that are left to know which. */
    uint64_t n_resolved[RECEIVER_LEVELS];
    double bits[RECEIVER_LEVELS];
};

struct receiver_record;

struct receiver_counts {
    struct arena *arena;             /* borrowed */
    struct receiver_site *sites;     /* owned */
    struct receiver_record *records; /* owned */
    uint32_t n_sites, sites_room, n_records, records_room, n_types;
    struct map by_site, by_type;
    uint64_t n_seen, n_taken; /* calls in all, of any kind; of these kinds, counted */
    uint32_t interval;
};

/* interval: about one call in so many was counted; 1: all. */
void receiver_counts_init(struct receiver_counts *counts, struct arena *arena, uint32_t interval);
void receiver_counts_free(struct receiver_counts *counts);

/* As object_counts_read. */
int receiver_counts_read(struct receiver_counts *counts, char *text, size_t n, const char *name, struct err *err);

/*
 * A row for each call site with receivers of several classes, those with most calls first (Zheng, section 5.2 and
 * Figure 8).  Where not all calls were counted, what was seen only once or twice in a context says nothing, and is not
 * resolved.
 */
void receiver_counts_table(struct receiver_counts *counts, const char *command, uint64_t top, struct table *table);

#endif
