/*
 * Any bytes as a trace: as they are, with --salvage, and with their checksums put right, which is what gets a fuzzer
 * past them.
 */
#include "core/trace/reader_internal.h"
#include "phases/tree/jit_shape.h"
#include "symbolize/code_locations.h"
#include "test/fuzz/repair.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void hold(bool condition)
{
    if (!condition)
        abort();
}

struct listening {
    struct jit_shapes *shapes;
    struct code_locations *places;
    uint32_t place;
};

/* What the JIT compiler did is decoded as it comes, and made sense of. */
static void hear_jit(void *context, const struct jit_event *event)
{
    struct jit_shapes **shapes = &((struct listening *)context)->shapes;
    struct jit_shape shape;
    struct err err;
    hold(event->method < JIT_MAX_METHODS && event->n_inlined <= JIT_MAX_INLINED);
    if (*shapes == NULL)
        *shapes = jit_shapes_open();
    if (jit_shapes_add(*shapes, event, &err) == 0 && jit_shapes_find(*shapes, "Main", "run", "()V", &shape))
        hold(shape.n_callers_lost <= shape.n_callers && shape.n_callees_lost <= shape.n_callees);
}

/* Places are decoded as they come, and made sense of; nothing is read from files that a trace names. */
static void hear_place(void *context, const struct location_entry *entry)
{
    struct listening *listening = context;
    hold(entry->number < LOCATION_NUMBERS_MAX && entry->n_frames <= LOCATION_FRAMES_MAX &&
         entry->path.n <= WIRE_TEXT_SHORT_BYTES);
    if (entry->kind != LOCATION_FILE)
        code_locations_hear(listening->places, entry);
    if (entry->kind >= LOCATION_IN_FILE)
        listening->place = entry->number;
}

static void hear_miss(void *context, const struct miss_entry *entry)
{
    (void)context;
    hold(entry->number < MISSES_NUMBERS_MAX && entry->cell < MISSES_NUMBERS_MAX && entry->owner_kind < MISS_OWNERS &&
         entry->space < MISS_SPACES && entry->name.n <= WIRE_TEXT_SHORT_BYTES && entry->kind != MISS_METHOD);
}

static void hear_allocation(void *context, const struct trace_allocation *allocation)
{
    (void)context;
    hold(allocation->class_name != NULL && trace_allocation_objects(allocation) >= 1);
}

static void hear_heap_event(void *context, const struct trace_heap_event *event)
{
    (void)context;
    hold(event->kind < TRACE_HEAP_KINDS);
}

static void make_sense(const struct listening *listening)
{
    struct code_location place;
    code_locations_find(listening->places, listening->place, &place);
    hold(code_locations_function(listening->places, place.function)->kind < CODE_LOCATION_KINDS);
}

static void read_all(const uint8_t *bytes, size_t n, bool salvage)
{
    struct trace_reader *reader;
    struct trace_event event;
    struct listening listening = { .shapes = NULL };
    const struct trace_listener listener = { .context = &listening,
                                             .jit = hear_jit,
                                             .location = hear_place,
                                             .miss = hear_miss,
                                             .allocation = hear_allocation,
                                             .heap_event = hear_heap_event };
    struct err err;
    uint64_t sum = 0, n_events = 0;
    int rc;
    listening.places = code_locations_open();
    if (trace_open_bytes(&reader, bytes, n, "fuzz", salvage, &err) < 0) {
        code_locations_close(listening.places);
        return;
    }
    trace_listen(reader, &listener);
    while ((rc = trace_next(reader, &event, &err)) > 0) {
        n_events++;
        hold(event.kind <= TRACE_KERNEL_IP_SAMPLE);
        hold(event.kind < TRACE_IP_SAMPLE || event.count < LOCATION_NUMBERS_MAX);
        hold(event.kind == TRACE_KERNEL_LOST || (event.kind >= TRACE_ENABLED && event.kind < TRACE_IP_SAMPLE) ||
             event.thread < trace_n_threads(reader));
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
        sum += method == NULL ? 0 : strlen(method->names.class_name) + strlen(method->source);
    }
    hold(sum != 0xfeedfeedfeedfeed); /* so that the sum is needed */
    trace_close(reader);
    make_sense(&listening);
    code_locations_close(listening.places);
    jit_shapes_close(listening.shapes);
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
