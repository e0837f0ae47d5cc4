/*
 * Where misses are: which instruction, and whose memory.
 *
 * Each thread keeps its misses, instruction and address, until they are looked up: all threads' at once, when one has
 * no room left, when objects are about to move, and at the end.  Looking up takes some 4 % of the time: a thread
 * that fills its room faster throws away every second one, at random, and each of the others counts twice.  What was
 * found is added up and written to a log (core/trace/misses.h) some times a second.
 *
 * Nobody moves objects while they are looked up: the agent says when a collection begins, in a system call that waits
 * here for the end.  What is looked up in a collection itself: see below.
 */
#ifndef CORE_EMU_PLUGIN_SIM_MISSES_H
#define CORE_EMU_PLUGIN_SIM_MISSES_H

#include "core/emu/model/sim_slots.h"
#include "core/emu/plugin/vm_memory.h"
#include "core/hotspot/nmethod.h"

/*
 * Numbers for what misses are told by (owners of memory, cells, methods, bytecodes), and the log in which each is
 * described before it is named.
 */

#define OWNERS_NONE UINT32_MAX

/* The log. */
struct owners_log {
    int fd;         /* -1: none */
    uint8_t *bytes; /* mapped: not yet written */
    size_t n;
    uint64_t n_written;
    bool is_full;
};

struct owners {
    const struct vm_tables *tables; /* borrowed; NULL: none yet */
    struct owners_log log;
    struct vm_table names;
    uint32_t n_owners, n_cells, n_methods, n_bytecodes;
};

void owners_open(struct owners *owners, int fd);

/* Each returns a number, or OWNERS_NONE: there is no room. */
uint32_t owners_named(struct owners *owners, enum miss_owner kind, const char *name);
uint32_t owners_cell(struct owners *owners, uint32_t owner, enum miss_space space);
uint32_t owners_field(struct owners *owners, uint32_t owner, enum miss_space space, const struct vm_classes *classes,
                      const struct heap_object *object, uint64_t address);
uint32_t owners_method(struct owners *owners, const struct vm_bytecodes *code);
uint32_t owners_bytecode(struct owners *owners, const struct vm_method_parts *method, uint32_t index);

/* The owner of an object: its class, or the class whose static fields it has. */
uint32_t owners_of(struct owners *owners, const struct vm_classes *classes, const struct heap_object *object,
                   uint64_t address);

/* Append an entry; what is appended is written by owners_flush at the latest. */
void owners_log(struct owners *owners, const struct miss_entry *entry);
void owners_flush(struct owners *owners);

/*
 * Which bytecode an instruction of compiled code is from, by the debug information of the code that is at its address
 * when it is looked up.  The recorder compares it with what the JVM has told of the code that was there when the
 * instruction was executed.
 */

/* What is known of an address. */
struct sim_bytecode {
    uint64_t address, header; /* header: of the code; 0: there was none */
    uint32_t compilation;
    uint32_t number; /* OWNERS_NONE: not known */
    uint64_t look;   /* it was the same code last in this one */
};

struct sim_bytecodes {
    struct owners *owners; /* borrowed */
    struct vm_table known;
    struct nmethod code; /* the last one that was read */
    struct scopes_walk walk;
    uint64_t look;
};

/* What was found of misses, added up by thread, location and cell, and written to the log (core/trace/misses.h). */

/* Whose misses: of one thread, location and cell. */
struct sim_sum_key {
    uint32_t thread, cell;   /* thread: not 0 */
    uint64_t location, line; /* line: plus 1, location is a method */
    uint64_t bytecode;       /* its number plus 1; 0: not known */
};

struct sim_sum {
    struct sim_sum_key key;
    uint32_t n_kept, n_drawn; /* accesses that missed, and any */
    uint64_t counts[MISS_N_COUNTS], n_accesses;
};

struct sim_sums {
    struct owners *owners;                              /* borrowed: whose log is written */
    struct sim_slots *slots;                            /* borrowed: of all threads */
    struct vm_table sums;                               /* by key */
    uint32_t n, bytecode;                               /* bytecode: of the key, told last */
    uint64_t written_ns, n_looks, look_ns;              /* how often, how long was looked up since then */
    uint64_t retired[SIM_N_COUNTS], told[SIM_N_COUNTS]; /* of threads that are gone; by the last totals */
};

/* Write all, with the totals of all threads; and what has waited for long enough only. */
void sim_sums_write(struct sim_sums *sums);
void sim_sums_write_due(struct sim_sums *sums);
bool sim_sums_are_due(const struct sim_sums *sums);

/*
 * Looking misses up: which method, line and bytecode, and whose memory.  What is found is added up.
 *
 * One thread at a time, which sees to it that no object moves meanwhile, but in a collection (is_moving).  A young one
 * copies objects: where they were they are found while it runs, by how the heap was divided before; where they are
 * copied to, when it has ended, or a full one begins, as it may behind a young one, in the same pause.  In a full
 * collection objects are not looked for.
 */

#define SIM_ACCESSES_DRAWN 4096u /* one of so many, on average */

/* Or an access that was drawn, whether it missed or not: its counts are 0. */
struct sim_miss {
    uint64_t address, where; /* where: of the instruction, or of the bytecode that is interpreted */
    uint8_t counts[3];       /* accesses that missed: enum miss_count */
    uint8_t weight;          /* log2 */
    bool is_access, is_interpreted;
};

struct sim_lookup {
    struct owners owners;
    struct vm_tables tables;
    struct vm_classes classes;
    struct heap_walk heap;
    struct vm_metadata metadata;
    struct vm_ranges ranges;
    struct sim_sums sums;
    struct sim_bytecodes bytecodes;
    const char *why; /* the heap cannot be looked into */
    bool has_heap, has_maps;
    bool is_moving;                                        /* objects are, in a collection */
    bool is_full;                                          /* which is a full one, or it is not known whether it is */
    uint64_t full_at;                                      /* if not: where full collections are counted, */
    uint32_t n_full;                                       /* and how many there were before */
    uint64_t interpreter, interpreter_end, code, code_end; /* code: all that the JVM made */
};

/* fd: of the log. */
void sim_lookup_open(struct sim_lookup *lookup, struct sim_slots *slots, int fd);

/* Where HotSpot's tables are: SIM_N_SYMBOLS addresses. */
void sim_lookup_tables(struct sim_lookup *lookup, const uint64_t *symbols);

/* What there is now, before misses are looked up. */
void sim_lookup_begin(struct sim_lookup *lookup);

/* Returns false when it may be found later, which must not be with is_last: it is not added up then. */
bool sim_lookup_miss(struct sim_lookup *lookup, const struct sim_miss *miss, uint32_t thread, bool is_last);

/* The cell of the class or other owner whose memory an address is, or OWNERS_NONE; not in a collection. */
uint32_t sim_lookup_memory(struct sim_lookup *lookup, uint64_t address);

/* Objects are about to move, within their spaces or not; they have moved, and classes may have gone. */
void sim_lookup_move(struct sim_lookup *lookup, bool is_full);
void sim_lookup_moved(struct sim_lookup *lookup);

/* They moved as a young collection moves them, and a full one has begun. */
static inline bool sim_lookup_full_has_begun(const struct sim_lookup *lookup)
{
    return lookup->is_moving && !lookup->is_full && vm_known_u32(lookup->full_at) != lookup->n_full;
}

/*
 * What is in the simulated caches: now and then the lines of each thread's L1D and L2 and the pages of its data TLB are
 * looked up, and how many are of which class or other memory goes into the log (SA Figure 4).
 *
 * With them, how much of each of the heap's spaces is in use.
 *
 * Threads that executed nothing since the look before are left out.  A thread that runs meanwhile goes on: of its some
 * ten thousand lines a few may be seen twice, or not at all.
 */

struct sim_contents {
    struct sim_lookup *lookup; /* borrowed */
    uint64_t *addresses;       /* mapped: of a machine's lines; the lowest bits: enum miss_count */
    struct vm_table held;      /* by cell */
    uint32_t n_held;
    uint64_t next_ns; /* of CPU time: the next look */
    bool has_shared;  /* in this look: a shared L2's lines */
};

/* A thread's caches. */
struct sim_contents_of {
    const struct sim_machine *machine; /* borrowed */
    uint32_t tid;
    uint64_t n_instructions; /* that it had executed at the look before */
};

void sim_contents_open(struct sim_contents *contents, struct sim_lookup *lookup, const struct sim_model *model);

/* Is it time for a look? */
bool sim_contents_are_due(const struct sim_contents *contents);

/*
 * One thread's part of a look, while no objects move, after sim_lookup_begin.  ticks: of the look.  And its end;
 * own_ns: how long it took.
 */
void sim_contents_look(struct sim_contents *contents, struct sim_contents_of *of, uint64_t ticks);
void sim_contents_looked(struct sim_contents *contents, uint64_t own_ns, uint64_t ticks);

#define SIM_MISSES_KEPT 32768u

/* A thread's. */
struct sim_misses {
    struct sim_misses *before, *next;
    struct sim_miss *kept; /* mapped */
    struct sim_contents_of caches;
    _Atomic bool is_locked;
    uint32_t n, thinned; /* how often it threw every second one away, since it was last looked up */
    uint64_t random;
    int32_t tid;
};

/* Write to a log. */
void sim_misses_open(struct sim_slots *slots, int fd);

/* In a child that was forked: nothing is kept or written. */
void sim_misses_forget(void);

/* A thread comes (mine is zeroed), and goes. */
void sim_misses_begin(struct sim_misses *mine, const struct sim_slot *slot, const struct sim_machine *machine);
void sim_misses_end(struct sim_misses *mine);

/* A slot will be another thread's. */
void sim_misses_retire(const struct sim_slot *slot);

/* What of a thread's loads and stores missed. */
struct sim_missed {
    uint64_t l1d, l2, dtlb;
};

static inline struct sim_missed sim_missed(const uint64_t *counts)
{
    return (struct sim_missed){ counts[SIM_L1D_LOAD_MISSES] + counts[SIM_L1D_STORE_MISSES],
                                counts[SIM_L2_LOAD_MISSES] + counts[SIM_L2_STORE_MISSES], counts[SIM_DTLB_MISSES] };
}

static inline bool sim_misses_are_kept(const struct sim_misses *mine)
{
    return mine->kept != NULL;
}

/* An access missed, where they are kept.  bytecode: the one that the thread has fetched last, if it is in the
 * interpreter. */
void sim_misses_take(struct sim_misses *mine, uint64_t instruction, uint64_t bytecode, uint64_t address,
                     const struct sim_missed *missed);

/*
 * An access is drawn: one of SIM_ACCESSES_DRAWN, whether it missed or not.  Returns how many accesses later the next
 * one is: at random, so that no loop is in step with it; UINT64_MAX: nothing is kept.
 */
uint64_t sim_misses_draw(struct sim_misses *mine, uint64_t instruction, uint64_t bytecode, uint64_t address);

/* How many accesses from a thread's begin until the first. */
uint64_t sim_misses_first_draw(struct sim_misses *mine);

/* What the agent and the program tell: see sim_slots.h */
void sim_misses_tables(const uint64_t *symbols);
void sim_misses_move(void);
void sim_misses_moved(void);
void sim_misses_finish(void);
void sim_misses_stack(uint64_t top);

#endif
