/*
 * Sampling windows: of each thread's instructions, a part is simulated and counted, and the rest only executed.
 *
 *     500K+250K/10M     of each 10 million, 500,000 warm caches and predictors up, the next 250,000 are counted
 *
 * Where in its period a window is, is drawn for each period: a program in step with the periods would else always show
 * the same part of itself.  The same thread draws the same windows in each run.
 */
#ifndef CORE_EMU_MODEL_SIM_WINDOW_H
#define CORE_EMU_MODEL_SIM_WINDOW_H

#include "core/base/err.h"

#include <stddef.h>
#include <stdint.h>

#define SIM_WINDOW_DEFAULT    "500K+250K/10M"
#define SIM_WINDOW_TEXT_BYTES 80

/* In instructions.  Plain data; counted 0: there are no windows, everything is counted. */
struct sim_window {
    uint64_t warm_up, counted, period;
};

enum sim_window_phase { SIM_SKIPPED, SIM_WARMING_UP, SIM_COUNTED };

/* Where a thread is. */
struct sim_window_state {
    int64_t left; /* instructions until the phase ends; below 0: it should have */
    enum sim_window_phase phase;
    uint64_t behind; /* what will be left of the period behind the window */
    uint64_t random;
};

/* Read it.  Returns 0, or -1 with *err set. */
int sim_window_read(const char *text, struct sim_window *window, struct err *err);

/* As sim_window_read reads it, in instructions. */
void sim_window_print(const struct sim_window *window, char *text, size_t n);

/* Can it be simulated?  For a window that came from elsewhere. */
int sim_window_check(const struct sim_window *window, struct err *err);

/* A thread's first period begins; number: of the thread. */
void sim_window_begin(struct sim_window_state *state, const struct sim_window *window, uint32_t number);

/*
 * A thread that skips comes to its window with a block of n instructions; n_late, n or more or less, are those beyond
 * what it was to skip, with the block.  What came before the block is taken from what will be left behind the window.
 * sim_window_next is next.
 */
void sim_window_begin_late(struct sim_window_state *state, uint64_t n_late, uint32_t n);

/* Less than 0 is left: go on to the phase that is due. */
void sim_window_next(struct sim_window_state *state, const struct sim_window *window);

#endif
