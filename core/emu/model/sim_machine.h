/*
 * The simulated machine: one thread's instruction fetches, loads, stores and branches go in, counts of events come out.
 *
 * What it assumes:
 * - Each thread has a machine of its own: caches, TLBs and predictors are not shared with other threads, so that no
 *   thread's counts depend on when others run.  Lines that another core's stores would take away stay; a thread that
 *   gets the processor back finds its caches as it left them.  The kernel's own accesses are not there at all.
 * - Addresses are virtual; pages have one size (huge pages are not known).
 * - Only what the program executes is fetched: no prefetching, no speculation, no wrong paths.
 * - A line (page) that an access touches is one access: one that crosses a border is two, each of them a hit or a miss.
 *   A block of instructions fetches each of its lines once.
 * - Replacement is least recently used everywhere.  A cache begins empty.
 * - L1D: write-back, or write-through; a store that misses brings the line in (allocate) or does not.  A dirty line
 * that leaves is written to L2 after the new one came.  L1I sees no stores: code that is written (by a JIT compiler)
 * stays in L1I as it was, and misses only when it is first fetched.
 * - L2 has instructions and data; it is write-back and allocates.  Independent of L1: a line leaves either one alone;
 *   lines of L1 that are written back are looked up in it, and brought in if they are not there.  Inclusive: what
 * leaves L2 leaves L1, too.  Exclusive: a line that L1 gets leaves L2, and L2 gets all that leaves L1.
 * - A miss of L2 goes to memory: there is no third level.
 * - TLBs of one level count as misses what is not there; with a second level (tlb2), what is not there either: the
 * walks of the page table.
 * - Conditional branches: gshare, a table of two-bit counters (at first 'weakly not taken'), found by the branch's
 *   address (without its lowest bit) xor the history of the last branches.  Other indirect jumps and calls: the target
 *   that the same entry had last, found by address xor path (the last such targets).  Returns: a stack of the last
 *   calls' return addresses.  Direct jumps and calls are always predicted.
 * - Cycles are not simulated: they are a sum of costs, so many hundredths of a cycle for each event (sim_cycles).  Real
 *   processors overlap misses and execute out of order; what the sum says of a program is where the misses are, not how
 *   long a processor takes.
 */
#ifndef CORE_EMU_MODEL_SIM_MACHINE_H
#define CORE_EMU_MODEL_SIM_MACHINE_H

#include "core/base/err.h"
#include "core/emu/model/sim_lru.h"
#include "core/wire/sim_counts.h"

/*
 * A model of a processor: the sizes and costs of what sim_machine.h simulates.  Presets, and a text file for one's own.
 *
 *     # like a preset, but for
 *     like        zen4
 *     l2.size     2M
 *     l2.ways     16
 */

#define SIM_NAME_BYTES 64
#define SIM_TEXT_BYTES 4096 /* a model's text is shorter */

enum sim_write { SIM_WRITE_BACK, SIM_WRITE_THROUGH };
enum sim_allocate { SIM_ALLOCATE, SIM_NO_ALLOCATE };
enum sim_inclusion { SIM_INDEPENDENT, SIM_INCLUSIVE, SIM_EXCLUSIVE };

struct sim_cache_model {
    uint32_t size_bytes; /* 0: there is none */
    uint32_t n_ways, line_bytes;
};

struct sim_tlb_model {
    uint32_t n_entries; /* 0: there is none */
    uint32_t n_ways;
};

/* In hundredths of a cycle, for each event. */
struct sim_costs {
    uint32_t instruction, l1_miss, l2_miss, tlb2_hit, tlb_walk, mispredict;
};

/* Plain data. */
struct sim_model {
    char name[SIM_NAME_BYTES];
    struct sim_cache_model l1i, l1d, l2;
    uint32_t write, allocate; /* of L1D: enum sim_write, enum sim_allocate */
    uint32_t inclusion;       /* enum sim_inclusion */
    uint32_t l2_shared;       /* by all threads; else each has one */
    struct sim_tlb_model itlb, dtlb, tlb2;
    uint32_t tlb2_shared; /* by instructions and data; else each has one of that size */
    uint32_t page_bytes;
    uint32_t gshare_bits, history_bits; /* log2 of the table's size; branches that its history has; 0 bits: none */
    uint32_t target_bits, path_bits;    /* log2 of the table's size; bits of the path that choose in it */
    uint32_t n_returns;
    struct sim_costs cost;
};

#define SIM_MODEL_DEFAULT "zen4"

/* A preset's name and what it is like; NULL behind the last. */
const char *sim_model_preset(size_t i, const char **what);

/* The preset of this name.  Returns 0, or -1 with *err set. */
int sim_model_find(const char *name, struct sim_model *model, struct err *err);

/* A preset by its name, or what a file says.  Returns 0, or -1 with *err set. */
int sim_model_load(const char *name_or_file, struct sim_model *model, struct err *err);

/*
 * Read n bytes of 'key value' lines (sim_model_print shows all keys); file: their name in errors.  Returns 0, or -1
 * with *err set: the line, and what to write instead.
 */
int sim_model_read(const char *text, size_t n, const char *file, struct sim_model *model, struct err *err);

/* Can it be simulated?  Returns 0, or -1 with *err set. */
int sim_model_check(const struct sim_model *model, struct err *err);

/* The model as lines that sim_model_read reads; of a text longer than n bytes the rest is left out. */
void sim_model_print(const struct sim_model *model, char *text, size_t n);

enum sim_branch_kind {
    SIM_NO_BRANCH, /* or a direct jump */
    SIM_CONDITIONAL,
    SIM_CALL, /* direct */
    SIM_INDIRECT,
    SIM_INDIRECT_CALL,
    SIM_RETURN
};

struct sim_tlb {
    struct sim_lru first;
    /* Of each page of the first level: which 64ths of it have had recent lines.  Borrowed. */
    uint64_t *parts;
    struct sim_cache *second; /* NULL: there is none */
};

/*
 * A line that is in L1 (or in no simulated set of it) and whose page is in its TLB, and where both are, in one number:
 * line << 22 | at << 9 | page. One of those whose line's number ends in the same bits; what leaves L1 or the TLB leaves
 * here, too.  With its 8 bytes (16 before) all of them leave room in the caches of the processor that simulates.  Lines
 * of numbers of more than 42 bits, and places beyond those that fit, are not remembered.
 */
#define SIM_RECENT           1024 /* lines; twice L1's of most models */
#define SIM_RECENT_PAGE_BITS 9
#define SIM_RECENT_AT_BITS   13
#define SIM_RECENT_LINE      (SIM_RECENT_PAGE_BITS + SIM_RECENT_AT_BITS) /* from this bit on */

/* What an entry is that has no line: a line that is never there, nor behind one that is, in the same access. */
static inline uint64_t sim_recent_none(uint64_t entry)
{
    return entry == 0 ? (uint64_t)SIM_RECENT / 2 << SIM_RECENT_LINE : 0;
}

static inline uint32_t sim_recent_at(uint64_t recent)
{
    return (uint32_t)(recent >> SIM_RECENT_PAGE_BITS) & ((1u << SIM_RECENT_AT_BITS) - 1);
}

static inline uint32_t sim_recent_page(uint64_t recent)
{
    return (uint32_t)recent & ((1u << SIM_RECENT_PAGE_BITS) - 1);
}

struct sim_predictor {
    uint8_t *counters; /* gshare's; NULL: none */
    uint64_t *targets; /* NULL: none */
    uint64_t *returns; /* NULL: none */
    uint64_t counters_mask, history, history_mask, targets_mask, path, path_mask;
    uint32_t n_returns, top; /* of the stack, modulo its size */
};

/*
 * Of a sample of sets (sim_slots.h): sets fall into classes, by the line's lowest bits in L2.  Of these some are
 * simulated, and a miss counts for as many as it stands for.  A line of another class hits, and takes no place: once
 * looked up, it is a recent line, of sim_lru_beyond, as long as its page is in the TLB.  So what is done most is the
 * same with a sample and without.  TLBs and predictors are whole.
 */
#define SIM_SET_CLASSES 64

enum sim_sets_kind { SIM_SETS_L1D, SIM_SETS_L1I, SIM_SETS_L2, SIM_SETS_KINDS };

/* How often each class missed, not multiplied. */
struct sim_sets_counts {
    uint64_t misses[SIM_SET_CLASSES][SIM_SETS_KINDS];
};

/*
 * One L2 for the machines of all threads, which use it in the order of execution, as far as threads of the emulator run
 * at the same time.  Each class of sets has its lock.
 */
struct sim_shared {
    struct sim_cache l2;
    _Atomic bool locks[SIM_SET_CLASSES];
};

struct sim_machine {
    bool is_write_through, allocates, is_plain; /* plain: writes back and allocates */
    uint32_t page_bits, inclusion;
    uint64_t data_time, code_time; /* of the last access: their number */
    uint64_t *counts;              /* SIM_N_COUNTS; borrowed */
    uint64_t sampled;              /* a bit for each class of sets that is simulated */
    uint64_t weight;               /* what a miss of a cache counts for: 1; with a sample of 1/n, n */
    struct sim_sets_counts *sets;  /* borrowed; NULL: not counted */
    struct sim_lru l1i, l1d;
    struct sim_tlb itlb, dtlb;
    struct sim_cache l2, tlb2[2];
    struct sim_shared *shared; /* borrowed; NULL: L2 is its own */
    struct sim_predictor predictor;
    uint64_t recent_data[SIM_RECENT], recent_code[SIM_RECENT];
};

/* log2 of a line of code; without an L1I a fetch still needs lines to be told apart by. */
static inline unsigned sim_machine_code_bits(const struct sim_model *model)
{
    return model->l1i.size_bytes == 0 ? 6 : (unsigned)__builtin_ctz(model->l1i.line_bytes);
}

/* How much memory a machine of this model (which was checked) needs besides its struct. */
size_t sim_machine_bytes(const struct sim_model *model);

/*
 * Make a machine.
 *
 * memory  sim_machine_bytes, aligned to 8 bytes (64 are quicker); borrowed, as counts is, for as long as the machine is
 * used. counts  SIM_N_COUNTS of them, which are added to.
 */
void sim_machine_init(struct sim_machine *machine, const struct sim_model *model, void *memory, uint64_t *counts);

/* Mapped for good; NULL: the model has none. */
struct sim_shared *sim_shared_make(const struct sim_model *model);

/* Before the first access: L2 is that one; NULL: it stays its own. */
void sim_machine_share(struct sim_machine *machine, struct sim_shared *shared);

/* Before the first access: only the sets of these classes are simulated, one of n of them. */
void sim_machine_sample(struct sim_machine *machine, uint32_t n, uint64_t sampled);

/* What the counts cost, in cycles. */
static inline uint64_t sim_cycles(const struct sim_costs *cost, const volatile uint64_t *counts)
{
    uint64_t l1_misses = counts[SIM_L1I_MISSES] + counts[SIM_L1D_LOAD_MISSES] + counts[SIM_L1D_STORE_MISSES];
    uint64_t l2_misses = counts[SIM_L2_CODE_MISSES] + counts[SIM_L2_LOAD_MISSES] + counts[SIM_L2_STORE_MISSES];
    return (counts[SIM_INSTRUCTIONS] * cost->instruction + l1_misses * cost->l1_miss + l2_misses * cost->l2_miss +
            counts[SIM_TLB2_HITS] * cost->tlb2_hit +
            (counts[SIM_DTLB_MISSES] + counts[SIM_ITLB_MISSES]) * cost->tlb_walk +
            counts[SIM_BRANCH_MISSES] * cost->mispredict) /
           100;
}

/* The accesses below, where the line is none of the recent ones. */
void sim_machine_data(struct sim_machine *machine, uint64_t address, uint32_t n_bytes, bool is_store);
void sim_machine_code(struct sim_machine *machine, uint64_t line);

/*
 * One load or store of the bytes from 'address' to 'last', if their line is one of the recent ones: a hit in L1 and the
 * TLB.  Stores in plain machines only.  Returns whether it was; if not, nothing has happened.
 *
 * line_bits  L1D's; where they are a constant, it is quicker.
 */
static inline bool sim_machine_hit(struct sim_machine *machine, uint64_t address, uint64_t last, unsigned line_bits,
                                   bool is_store)
{
    uint64_t recent = machine->recent_data[(address >> line_bits) % SIM_RECENT];
    if (__builtin_expect(recent >> SIM_RECENT_LINE != last >> line_bits, 0))
        return false;
    uint64_t now = ++machine->data_time;
    sim_lru_use(&machine->l1d, sim_recent_at(recent), is_store, now);
    sim_lru_use(&machine->dtlb.first, sim_recent_page(recent), false, now);
    machine->counts[SIM_L1D_LOADS + is_store]++;
    return true;
}

/* One load or store of n_bytes (1 or more). */
static inline void sim_machine_load(struct sim_machine *machine, uint64_t address, uint32_t n_bytes)
{
    if (!sim_machine_hit(machine, address, address + n_bytes - 1, machine->l1d.line_bits, false))
        sim_machine_data(machine, address, n_bytes, false);
}

static inline void sim_machine_store(struct sim_machine *machine, uint64_t address, uint32_t n_bytes)
{
    if (!machine->is_plain || !sim_machine_hit(machine, address, address + n_bytes - 1, machine->l1d.line_bits, true))
        sim_machine_data(machine, address, n_bytes, true);
}

static inline void sim_machine_use_code(struct sim_machine *machine, uint64_t recent, uint64_t now)
{
    sim_lru_use(&machine->l1i, sim_recent_at(recent), false, now);
    sim_lru_use(&machine->itlb.first, sim_recent_page(recent), false, now);
}

/*
 * A block of n instructions in one or two lines, if these are recent ones: hits in L1I and the TLB.  Returns whether it
 * was; if not, nothing has happened.
 */
static inline bool sim_machine_fetch_hit(struct sim_machine *machine, uint64_t first_line, uint64_t last_line,
                                         uint32_t n)
{
    uint64_t first = machine->recent_code[first_line % SIM_RECENT];
    uint64_t last = machine->recent_code[last_line % SIM_RECENT];
    uint64_t n_behind = last_line - first_line;
    if (__builtin_expect(first >> SIM_RECENT_LINE != first_line || last >> SIM_RECENT_LINE != last_line || n_behind > 1,
                         0))
        return false;
    uint64_t now = machine->code_time += n_behind + 1;
    sim_machine_use_code(machine, first, now - n_behind);
    sim_machine_use_code(machine, last, now);
    machine->counts[SIM_INSTRUCTIONS] += n;
    machine->counts[SIM_L1I_FETCHES] += n_behind + 1;
    return true;
}

/* The same of a block that is in one line. */
static inline bool sim_machine_fetch_hit_line(struct sim_machine *machine, uint64_t line, uint32_t n)
{
    uint64_t recent = machine->recent_code[line % SIM_RECENT];
    if (__builtin_expect(recent >> SIM_RECENT_LINE != line, 0))
        return false;
    sim_machine_use_code(machine, recent, ++machine->code_time);
    machine->counts[SIM_INSTRUCTIONS] += n;
    machine->counts[SIM_L1I_FETCHES]++;
    return true;
}

/* A block of n instructions in these lines. */
static inline void sim_machine_fetch_lines(struct sim_machine *machine, uint64_t first_line, uint64_t last_line,
                                           uint32_t n)
{
    machine->counts[SIM_INSTRUCTIONS] += n;
    for (uint64_t line = first_line; line <= last_line; line++)
        if (!sim_machine_fetch_hit(machine, line, line, 0))
            sim_machine_code(machine, line);
}

/* A block of n instructions in n_bytes (1 or more) at an address. */
static inline void sim_machine_fetch(struct sim_machine *machine, uint64_t address, uint32_t n_bytes, uint32_t n)
{
    unsigned line_bits = machine->l1i.line_bits;
    uint64_t first = address >> line_bits, last = (address + n_bytes - 1) >> line_bits;
    if (!sim_machine_fetch_hit(machine, first, last, n))
        sim_machine_fetch_lines(machine, first, last, n);
}

/*
 * Is a conditional branch predicted rightly?  Without a branch of our own: one that the program's processor would not
 * predict ours does not either.
 */
static inline bool sim_predict_direction(struct sim_predictor *p, uint64_t at, bool is_taken)
{
    static const uint8_t next[2][4] = { { 0, 0, 1, 2 }, { 1, 2, 3, 3 } };
    if (p->counters == NULL)
        return true;
    uint8_t *counter = &p->counters[(at >> 1 ^ p->history) & p->counters_mask], before = *counter;
    p->history = (p->history << 1 | is_taken) & p->history_mask;
    *counter = next[is_taken][before & 3];
    return before >> 1 == is_taken;
}

static inline void sim_machine_conditional(struct sim_machine *machine, uint64_t at, bool is_taken)
{
    machine->counts[SIM_BRANCHES]++;
    machine->counts[SIM_BRANCH_MISSES] += !sim_predict_direction(&machine->predictor, at, is_taken);
}

/* The other kinds of the following. */
void sim_machine_jump(struct sim_machine *machine, enum sim_branch_kind kind, uint64_t at, uint64_t behind,
                      uint64_t to);

/* A branch (not SIM_NO_BRANCH) at 'at', behind which the next instruction is at 'behind', went to 'to'. */
static inline void sim_machine_branch(struct sim_machine *machine, enum sim_branch_kind kind, uint64_t at,
                                      uint64_t behind, uint64_t to)
{
    if (kind == SIM_CONDITIONAL)
        sim_machine_conditional(machine, at, to != behind);
    else
        sim_machine_jump(machine, kind, at, behind, to);
}

/* n bytes of memory, zeros, which takes room when it is used.  Where there is none, the emulator ends with a message.
 */
void *sim_map(size_t n);

#endif
