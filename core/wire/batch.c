#include "core/wire/batch.h"

#define OLDER       0.75 /* what a batch counts for, each time that another one has come */
#define CLASS_MS    0.1  /* until batches of two sizes have told */
#define LEAST_MS    0.03 /* of a class: less is noise */
#define SAME_SIZE   1.0  /* classes squared: sizes that differ less tell nothing */
#define ALIKE       5.0  /* sizes that differ by a fifth tell as much of a class as was known before them */
#define FIXED_TIMES 1.6  /* a stop is expected to take so many times its fixed part, where the aim leaves less */

static uint32_t between(double n, uint32_t least, uint32_t most)
{
    return n <= least ? least : n >= most ? most : (uint32_t)n;
}

static void add_measured(struct class_batch *batch, double n, double stop_ms)
{
    struct batch_sums *s = &batch->sums;
    s->weight = s->weight * OLDER + 1;
    s->n = s->n * OLDER + n;
    s->ms = s->ms * OLDER + stop_ms;
    s->n_n = s->n_n * OLDER + n * n;
    s->n_ms = s->n_ms * OLDER + n * stop_ms;
}

/*
 * A stop is a line over the number of classes.  Where its fixed part is over five eighths of the aim, such as in a JVM
 * with much compiled code, or on a busy machine, small batches would be hardly shorter stops, and many of them: with
 * 200 ms and batches of 10, 3,000 classes took 194 s.  Batches that are alike say nothing of the line's slope, but by
 * chance; then that of before is kept.
 */
static double next_size(struct class_batch *batch, double n_classes, double stop_ms)
{
    const struct batch_sums *s = &batch->sums;
    double mean_n = s->n / s->weight, mean_ms = s->ms / s->weight;
    double variance = s->n_n / s->weight - mean_n * mean_n, known = mean_n / ALIKE * (mean_n / ALIKE);
    if (variance <= SAME_SIZE && stop_ms > BATCH_STOP_MS) /* two sizes tell what of it is fixed */
        return n_classes / 2;
    double class_ms = batch->class_ms > 0 ? batch->class_ms : CLASS_MS;
    class_ms = (s->n_ms / s->weight - mean_n * mean_ms + known * class_ms) / (variance + known);
    if (class_ms < LEAST_MS)
        class_ms = LEAST_MS;
    batch->class_ms = class_ms;
    double fixed_ms = mean_ms - class_ms * mean_n;
    if (fixed_ms < 0)
        fixed_ms = 0;
    double aim_ms = FIXED_TIMES * fixed_ms > BATCH_AIM_MS ? FIXED_TIMES * fixed_ms : BATCH_AIM_MS;
    return (aim_ms - fixed_ms) / class_ms;
}

void batch_learn(struct class_batch *batch, uint32_t n_classes, double call_ms, double stop_ms)
{
    if (n_classes == 0)
        return;
    add_measured(batch, n_classes, stop_ms);
    /* At most twice as many as in the batch before: its classes may have been easy ones. */
    uint32_t most = between(2.0 * n_classes, BATCH_MIN, BATCH_MAX);
    if (call_ms > 0)
        most = between(BATCH_CALL_MS / call_ms * n_classes, BATCH_MIN, most);
    batch->n_classes = between(next_size(batch, n_classes, stop_ms), BATCH_MIN, most);
    /* The application has run while the batch's classes were rewritten. */
    double rest_ms = BATCH_REST * stop_ms - (call_ms - stop_ms);
    batch->rest_ms = rest_ms > 0 ? rest_ms : 0;
}

void batch_forecast(uint32_t n_classes, uint32_t n_first, double call_ms, double stop_ms,
                    struct batch_forecast *forecast)
{
    struct class_batch batch = BATCH_START;
    double fixed_ms = stop_ms - CLASS_MS * n_first, work_ms = n_first == 0 ? 0 : (call_ms - stop_ms) / n_first;
    *forecast = (struct batch_forecast){ 0 };
    batch_learn(&batch, n_first, call_ms, stop_ms);
    for (uint32_t n; n_classes > 0 && batch.n_classes > 0; n_classes -= n) {
        n = batch.n_classes < n_classes ? batch.n_classes : n_classes;
        double stop = (fixed_ms > 0 ? fixed_ms : 0) + CLASS_MS * n, call = stop + work_ms * n;
        forecast->ms += batch.rest_ms + call;
        forecast->stops_ms += stop;
        forecast->longest_stop_ms = stop > forecast->longest_stop_ms ? stop : forecast->longest_stop_ms;
        batch_learn(&batch, n, call, stop);
    }
}
