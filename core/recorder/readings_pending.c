#include "core/recorder/readings_parts.h"

#include "core/base/xalloc.h"

struct pending_reading *readings_pending_new(struct readings *readings)
{
    if (readings->n_pending == readings->room) {
        size_t room = readings->room == 0 ? 64 : readings->room * 2;
        readings->pending = xreallocarray(readings->pending, room, sizeof *readings->pending);
        readings->values = xreallocarray(readings->values, room * readings->n_columns, sizeof *readings->values);
        readings->room = room;
    }
    struct pending_reading *reading = &readings->pending[readings->n_pending];
    reading->values = readings->n_pending++ * readings->n_columns;
    return reading;
}

struct pending_reading *readings_pending_after(struct readings *readings, uint32_t thread, uint64_t ticks)
{
    for (size_t i = 0; i < readings->n_pending; i++)
        if (readings->pending[i].thread == thread && readings->pending[i].ticks > ticks)
            return &readings->pending[i];
    return NULL;
}

void readings_pending_free(struct readings *readings)
{
    free(readings->pending);
    free(readings->values);
}

static int by_ticks(const void *a, const void *b)
{
    const struct pending_reading *x = a, *y = b;
    return x->ticks < y->ticks ? -1 : x->ticks > y->ticks;
}

int readings_write(struct readings *readings, struct trace_writer *writer, struct err *err)
{
    if (readings->n_pending > 1)
        qsort(readings->pending, readings->n_pending, sizeof *readings->pending, by_ticks);
    for (size_t i = 0; i < readings->n_pending; i++) {
        const struct pending_reading *reading = &readings->pending[i];
        if (trace_write_counts(writer, reading->thread, reading->series, reading->ticks,
                               readings->values + reading->values, err) < 0)
            return -1;
    }
    readings->n_pending = 0;
    return 0;
}
