/*
 * Where the simulated processor's misses are (thesis §2.4.2, Tables 2.2 to 2.4; SA Figures 7 to 9, Table 1): in which
 * class, field, generation or other memory, and by which method, line or part of the VM.
 */
#ifndef REPORT_VIEW_MISSES_REPORT_H
#define REPORT_VIEW_MISSES_REPORT_H

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/map.h"
#include "phases/samples/sample_profile.h"
#include "report/source.h"
#include "symbolize/code_locations.h"

/* What a row of the table is for. */
enum misses_by {
    MISSES_BY_CLASS,      /* and other owners of memory */
    MISSES_BY_FIELD,      /* and as above */
    MISSES_BY_SPACE,      /* of the Java heap, and as above */
    MISSES_BY_METHOD,     /* and native functions */
    MISSES_BY_CODE_CLASS, /* that the method is of; parts of the VM */
    MISSES_BY_LINE,
    MISSES_BY_BYTECODE, /* its kind */
    MISSES_BY_PART,     /* of the VM: as report --view vm */
    MISSES_BY_TIME,     /* a step of the recording, a column for each part */
    MISSES_CONTENTS,    /* what was in the caches: as BY_TIME */
    MISSES_WAYS
};

#define MISSES_STEPS 40

struct misses_owner {
    const char *name; /* the arena's; NULL: never described */
    enum miss_owner kind;
};

struct misses_cell {
    const char *name; /* as above */
    uint32_t owner, offset;
    enum miss_space space;
};

/* An instruction of a method, and the field or method that it names; the texts are the arena's. */
struct misses_bytecode {
    const char *class_name, *name, *descriptor; /* "": it names none; NULL: never described */
    uint8_t opcode;
};

/* Misses of one code location in one cell. */
struct misses_tally {
    struct {
        uint32_t location, cell, step; /* step: of the recording, by time only */
        bool is_ours;                  /* of mmprof's agent's thread */
    } key;
    uint64_t counts[MISS_N_COUNTS], n_kept;
    uint64_t n_accesses, n_drawn; /* loads and stores, estimated; of how many that were drawn */
    struct heat heat;             /* of misses of L2; empty: nothing decays */
};

/* Lines in the caches of one cell. */
struct misses_held {
    struct {
        uint32_t cell, step;
        bool is_ours;
    } key;
    uint64_t counts[MISS_N_COUNTS];
};

struct misses {
    struct arena *arena;              /* borrowed */
    struct code_locations *locations; /* owned */
    struct misses_owner *owners;      /* owned, as the others */
    struct misses_cell *cells;
    struct misses_tally *tallies;
    struct misses_held *held;
    struct misses_bytecode *bytecodes;
    uint32_t n_owners, n_cells, n_tallies, n_held, n_bytecodes;
    uint32_t owners_room, cells_room, tallies_room, held_room, bytecodes_room;
    struct hash_set at; /* by code location: the number of its bytecode plus 1 */
    struct map by_key, by_held;
    uint64_t all[MISS_N_COUNTS], told[MISS_N_COUNTS]; /* exactly; those that are told by code location */
    uint64_t n_accesses, n_kept, n_looks, look_ns;
    uint64_t told_accesses, n_drawn;               /* estimated by code location; of how many */
    double instructions;                           /* of the whole process; 0: not known */
    uint64_t step_ticks;                           /* 0: not by time */
    uint64_t half_life_ns;                         /* of heat; 0: nothing decays */
    uint64_t l2_lines;                             /* held, by all looks */
    uint64_t looked_ticks, n_looked[MISSES_STEPS]; /* the last look into the caches; how many there were */
    struct {
        uint64_t n, bytes[MISS_SPACES]; /* looks; the most that they found of each space */
    } used[MISSES_STEPS];
    bool is_java_only; /* misses_keep_java */
};

/* "class" to "contents": what stands behind --view misses=.  Returns 0, or -1 with *err set. */
int misses_way(const char *text, enum misses_by *by, struct err *err);

/*
 * Read the trace again for its misses.
 *
 * half_life_s  of their heat, or 0: none is kept.  The simulator tells of misses five times a second.
 *
 * Returns 0, or -1 with *err set: it has none, or it cannot be read; misses_free is needed in both cases.
 */
int misses_read(const struct report_source *source, bool salvage, enum misses_by by, double half_life_s,
                struct misses *misses, struct err *err);
void misses_free(struct misses *misses);

/* The bytecode that the code at a location is from; NULL: not known. */
const struct misses_bytecode *misses_bytecode(const struct misses *misses, uint32_t location);

/* Returns 0, or -1 with *err set: the trace does not tell of bytecodes. */
int misses_need_bytecodes(const struct report_source *source, const struct misses *misses, struct err *err);

/*
 * Leave out what was not missed by Java code (interpreted or compiled) or the JVM's stubs; what is in the caches stays.
 */
void misses_keep_java(struct misses *misses);

/*
 * A row for each class, method, ... with most misses of L2 first; at most 'top' (0: all).
 *
 * sources  a directory in which a line's text is looked for as package/File.java; or NULL.
 */
int misses_table(const struct report_source *source, struct misses *misses, enum misses_by by, uint64_t top,
                 const char *sources, struct table *table, struct err *err);

/* ---- What rows of misses are called: memory by its owner and field, code by its bytecode ---- */

/* "Java heap", "threads' stacks", ... */
const char *misses_owner_kind(enum miss_owner kind);
bool misses_is_class(const struct misses_owner *owner);

/* "java.util.HashMap", "java.util.HashMap.table", "long[] [4..7]". */
const char *misses_owner_label(struct arena *arena, const struct misses_owner *owner);
const char *misses_field_label(struct arena *arena, const struct misses_owner *owner, const struct misses_cell *cell);

/* "field read, reference", "array read, int", "virtual call". */
const char *misses_bytecode_kind(struct arena *arena, const struct misses_bytecode *bytecode);

/* What a bytecode names: "java.util.HashMap.table", "long[] elements"; "java.util.HashMap", "long[]"; or "": nothing.
 */
const char *misses_named_field(struct arena *arena, const struct misses_bytecode *bytecode);
const char *misses_named_class(struct arena *arena, const struct misses_bytecode *bytecode);

/* ---- Of how many misses it is known whose memory and which code it was, and why not of the others ---- */

/* The agent, its probes, and its thread. */
bool misses_are_ours(const struct misses_tally *tally, const struct code_function *function);

/* A row for each step of the recording. */
void misses_time_table(const struct report_source *source, struct misses *misses, struct table *table);

/* The same, of what was in the caches. */
int misses_contents_table(const struct report_source *source, struct misses *misses, struct table *table,
                          struct err *err);

/* All instructions that the simulated processor executed; 0: not known. */
double misses_instructions(const struct report_source *source);

/* With a sample of sets: the columns of misses of caches are headed as estimates. */
void misses_mark_estimates(const struct report_source *source, struct table *table);

/* Metadata and notes of a table: how many there were; of how many what is known. */
void misses_tell_totals(const struct report_source *source, const struct misses *misses, struct table *table);
void misses_tell_known(const struct report_source *source, struct misses *misses, struct table *table);

/*
 * Fields, or classes, whose accesses miss the caches, told in two ways: by the object that an address was in, and by
 * what the bytecode names.  An object's class may be a subclass of the one that the bytecode names; the interpreter and
 * the JVM read headers, and collections all fields, on behalf of no bytecode.
 *
 * Source: PEBSI §5.1.4, Figure 6.1 and Table 6.3.
 */

/*
 * A row for each, at most 'top' (0: all), with most misses of L2, in either way, first, or with most heat where misses
 * decay; then those of none.  In both ways each miss is of one row.
 *
 * misses  read by field; borrowed.
 *
 * Returns 0, or -1 with *err set: the trace does not tell of bytecodes.
 */
int fields_table(const struct report_source *source, struct misses *misses, bool by_class, uint64_t top,
                 struct table *table, struct err *err);

#endif
