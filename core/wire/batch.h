/*
 * How many classes a RetransformClasses changes at once, and how long to rest between two.
 *
 * Each call stops the application once.  A stop has a fixed part, for which the JVM walks through all loaded classes
 * and, twice, all compiled code (12 to 15 ms with javac's 3,000 classes, 60 ms of CPU time in a warm tomcat, and where
 * others want the CPU as much again and more), and one of 0.03 to 0.1 ms for each class.  So smaller batches make a
 * stop shorter only as far as its second part is the larger one, and all stops together longer.
 */
#ifndef CORE_WIRE_BATCH_H
#define CORE_WIRE_BATCH_H

#include "core/base/std.h"

#define BATCH_FIRST   50u
#define BATCH_MIN     10u
#define BATCH_MAX     1000u
#define BATCH_CALL_MS 2000.0 /* what a call should not exceed: who wants to end has to wait for it */
#define BATCH_STOP_MS 50.0   /* what a stop should not exceed */
#define BATCH_AIM_MS  40.0   /* what one is expected to take: those of one size differ by a fifth and more */
#define BATCH_REST    3.0    /* times a stop: the application runs at least so long before the next one */
/* All batches of a pass together, for a moment at which few compilations are lost (compiling.h); beside a recording. */
#define BATCH_WAIT_MS        2000
#define BATCH_WAIT_BESIDE_MS 8000

/* Of the batches so far, of which older ones count less. */
struct batch_sums {
    double weight, n, ms, n_n, n_ms;
};

struct class_batch {
    uint32_t n_classes; /* in the next one */
    double rest_ms;     /* to be waited before it */
    double wait_ms;     /* that may be waited for compilations yet */
    double class_ms;    /* of a stop, of each class; 0: not known yet */
    struct batch_sums sums;
};

#define BATCH_START                                        \
    {                                                      \
        .n_classes = BATCH_FIRST, .wait_ms = BATCH_WAIT_MS \
    }

/* What a pass will take. */
struct batch_forecast {
    double ms, stops_ms, longest_stop_ms;
};

/*
 * What n_classes more will take, when the call for the first n_first took call_ms and stopped the application for
 * stop_ms, which for the most part is the fixed part then.
 */
void batch_forecast(uint32_t n_classes, uint32_t n_first, double call_ms, double stop_ms,
                    struct batch_forecast *forecast);

/* The call for a batch of n_classes took call_ms, and stopped the application at its end for stop_ms. */
void batch_learn(struct class_batch *batch, uint32_t n_classes, double call_ms, double stop_ms);

#endif
