#include "core/agent/batch.h"

#define USELESS 0.75 /* half as many classes, and the stop is not shorter than by this */

static uint32_t between(double n, uint32_t least, uint32_t most)
{
    return n <= least ? least : n >= most ? most : (uint32_t)n;
}

/* At most twice as many as in the batch before: its classes may have been easy ones. */
static uint32_t next_size(const struct batch *batch, uint32_t n_classes, double stop_ms)
{
    double for_classes_ms = stop_ms - batch->shortest_ms, room_ms = BATCH_STOP_MS - batch->shortest_ms;
    uint32_t most = between(2.0 * n_classes, BATCH_MIN, BATCH_MAX);
    if (room_ms <= 0 && n_classes < batch->last_classes && stop_ms > batch->last_ms * USELESS)
        return batch->last_classes; /* the fixed part is too long: few stops are all that can be had */
    if (room_ms <= 0)
        return between(n_classes / 2.0, BATCH_MIN, most);
    if (for_classes_ms <= 0) /* the shortest so far: how much of it is fixed is not known */
        return stop_ms <= BATCH_STOP_MS / 2 ? most : n_classes;
    return between(room_ms / for_classes_ms * n_classes, BATCH_MIN, most);
}

void batch_learn(struct batch *batch, uint32_t n_classes, double call_ms, double stop_ms)
{
    if (n_classes == 0)
        return;
    if (batch->shortest_ms == 0 || stop_ms < batch->shortest_ms)
        batch->shortest_ms = stop_ms;
    batch->n_classes = next_size(batch, n_classes, stop_ms);
    batch->last_classes = n_classes;
    batch->last_ms = stop_ms;
    /* The application has run while the batch's classes were looked at. */
    double rest_ms = BATCH_REST * stop_ms - (call_ms - stop_ms);
    batch->rest_ms = rest_ms > 0 ? rest_ms : 0;
}
