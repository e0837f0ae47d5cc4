/*
 * A model of a processor: the sizes and costs of what sim_machine.h simulates.  Presets, and a text file for one's own.
 *
 *     # like a preset, but for
 *     like        zen4
 *     l2.size     2M
 *     l2.ways     16
 */
#ifndef CORE_EMU_MODEL_SIM_MODEL_H
#define CORE_EMU_MODEL_SIM_MODEL_H

#include "core/base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

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

#endif
