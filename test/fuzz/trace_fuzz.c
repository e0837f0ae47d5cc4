/*
 * Any bytes as a trace: as they are, with --salvage, and with their checksums put right, which is what gets a fuzzer
 * past them.
 */
#include "core/trace/reader.h"
#include "phases/jit_shape.h"
#include "test/fuzz/repair.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void hold(bool condition)
{
    if (!condition)
        abort();
}

/* What the JIT compiler did is decoded as it comes, and made sense of. */
static void hear_jit(void *context, const struct jit_event *event)
{
    struct jit_shapes **shapes = context;
    struct jit_shape shape;
    struct err err;
    hold(event->method < JIT_MAX_METHODS && event->n_inlined <= JIT_MAX_INLINED);
    if (*shapes == NULL && jit_shapes_open(shapes, &err) < 0)
        return;
    if (jit_shapes_add(*shapes, event, &err) == 0 && jit_shapes_find(*shapes, "Main", "run", "()V", &shape))
        hold(shape.n_callers_lost <= shape.n_callers && shape.n_callees_lost <= shape.n_callees);
}

static void read_all(const uint8_t *bytes, size_t n, bool salvage)
{
    struct trace_reader *reader;
    struct trace_event event;
    struct jit_shapes *shapes = NULL;
    const struct trace_listener listener = { .context = &shapes, .jit = hear_jit };
    struct err err;
    uint64_t sum = 0, n_events = 0;
    int rc;
    if (trace_open_bytes(&reader, bytes, n, "fuzz", salvage, &err) < 0)
        return;
    trace_listen(reader, &listener);
    while ((rc = trace_next(reader, &event, &err)) > 0) {
        n_events++;
        hold(event.kind <= TRACE_RECOVERED);
        hold(event.kind == TRACE_KERNEL_LOST || event.kind >= TRACE_ARMED || event.thread < trace_n_threads(reader));
        hold(event.kind > TRACE_OPEN || event.method < trace_n_methods(reader));
        hold((event.kind != TRACE_MOUNT && event.kind != TRACE_UNMOUNT) || event.count < 1u << 20);
        hold((event.kind > TRACE_GAP && event.kind != TRACE_COUNTS) || event.counters != NULL ||
             trace_n_recorded_counters(reader) == 0);
        for (size_t i = 0; event.counters != NULL && i < trace_n_recorded_counters(reader); i++)
            sum += event.counters[i];
    }
    hold(rc == 0 || (!salvage && trace_next(reader, &event, &err) < 0));
    hold(n_events <= n && trace_n_methods(reader) <= 1u << 20 && trace_n_threads(reader) <= 1u << 20);
    for (uint32_t i = 0; i < trace_n_methods(reader); i += 97) {
        const struct trace_method *method = trace_method(reader, i);
        sum += method == NULL ? 0 : strlen(method->class_name) + strlen(method->source);
    }
    hold(sum != 0xfeedfeedfeedfeed); /* so that the sum is needed */
    trace_close(reader);
    jit_shapes_close(shapes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    uint8_t *copy = malloc(n + 1);
    if (copy == NULL)
        return 0;
    read_all(bytes, n, false);
    read_all(bytes, n, true);
    memcpy(copy, bytes, n);
    repair(copy, n);
    read_all(copy, n, false);
    read_all(copy, n, true);
    free(copy);
    return 0;
}
