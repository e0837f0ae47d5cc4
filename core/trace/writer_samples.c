/*
 * Writing samples of stacks and of allocated objects: methods, calling contexts and classes as they are met, and the
 * samples in them.
 */
#include "core/trace/writer_kept.h"

/* A line table in the order of its bytecode, and neither it nor the code longer than a reader takes. */
static bool is_possible(const struct trace_sampled_method *method)
{
    bool is_sorted = method->n_lines <= CODE_LINES_MAX && (method->code == NULL || method->code_bytes <= UINT16_MAX);
    for (uint32_t i = 1; is_sorted && i < method->n_lines; i++)
        is_sorted = method->lines[i - 1].index <= method->lines[i].index;
    return is_sorted;
}

uint32_t writer_n_contexts(const struct trace_writer *writer)
{
    return writer->kept == NULL ? writer->n_contexts : (uint32_t)writer->kept->n_contexts;
}

int trace_write_context(struct trace_writer *writer, const struct trace_context *context, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    uint32_t n = writer_n_contexts(writer);
    if (n == TRACE_CONTEXTS_MAX || context->parent > n || (context->named != NULL && !is_possible(context->named)))
        return err_set(err, "a trace takes no more than %u calling contexts, callers first", TRACE_CONTEXTS_MAX);
    if (writer->kept != NULL) {
        kept_context(writer, context);
        return 0;
    }
    struct sink s = writer_begin(writer, CHUNK_CONTEXTS);
    if (writer->pending_used[CHUNK_CONTEXTS] == 0)
        sink_number(&s, writer->n_contexts);
    sink_number(&s, context->parent);
    sink_number(&s, (uint64_t)(int64_t)(context->call_site + 1));
    sink_number(&s, (uint64_t)context->method << 1 | (context->named != NULL));
    if (context->named != NULL)
        writer_put_named(&s, context->named);
    writer->n_contexts++;
    return writer_finish(writer, CHUNK_CONTEXTS, &s, err);
}

static uint64_t flags_of(const struct trace_sample *sample)
{
    return (sample->in_kernel ? SAMPLE_FLAG_KERNEL : 0) | (sample->is_waiting ? SAMPLE_FLAG_WAITING : 0) |
           (uint64_t)sample->frame << SAMPLE_FRAME_SHIFT | (uint64_t)sample->tier << SAMPLE_TIER_SHIFT |
           (uint64_t)sample->end << SAMPLE_END_SHIFT;
}

/* The ticks since the entry before (at *latest), which may be later: rings of several CPUs, threads in any order. */
static void put_since(struct trace_writer *writer, enum chunk_type type, uint64_t ticks, uint64_t *latest,
                      struct sink *s)
{
    bool is_first = writer->pending_used[type] == 0;
    ticks = kept_ticks(writer, ticks);
    if (is_first)
        sink_u64le(s, ticks);
    int64_t since = is_first ? 0 : (int64_t)(ticks - *latest);
    *latest = ticks;
    sink_number(s, (uint64_t)since << 1 ^ (since < 0 ? UINT64_MAX : 0));
}

int trace_write_sample(struct trace_writer *writer, const struct trace_sample *sample, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    if ((sample->thread > THREAD_INDEX_MAX && sample->thread != TRACE_NO_THREAD) ||
        sample->context > writer_n_contexts(writer) || sample->tier > SAMPLE_TIER_MAX || sample->end > SAMPLE_END_MAX ||
        sample->n_counters > TRACE_SAMPLE_COUNTERS_MAX)
        return err_set(err, "a sample's thread, context or number of counters is too large for a trace");
    uint32_t context;
    if (kept_refer_thread(writer, sample->thread, err) < 0 ||
        kept_refer_context(writer, sample->context, &context, err) < 0)
        return -1;
    struct sink s = writer_begin(writer, CHUNK_SAMPLES);
    put_since(writer, CHUNK_SAMPLES, sample->ticks, &writer->sample_ticks, &s);
    sink_number(&s, sample->thread == TRACE_NO_THREAD ? 0 : (uint64_t)sample->thread + 1);
    sink_number(&s, context);
    sink_number(&s, (uint64_t)(int64_t)(sample->index + 1));
    sink_number(&s, flags_of(sample));
    sink_number(&s, sample->n);
    sink_number(&s, sample->weight_ns);
    sink_number(&s, sample->n_counters);
    for (uint32_t i = 0; i < sample->n_counters; i++)
        sink_number(&s, sample->counters[i]);
    return writer_finish(writer, CHUNK_SAMPLES, &s, err);
}

int trace_write_event_sample(struct trace_writer *writer, const struct trace_event_sample *sample, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    if (sample->thread > THREAD_INDEX_MAX || sample->location >= LOCATION_NUMBERS_MAX ||
        sample->event >= TRACE_SAMPLE_COUNTERS_MAX)
        return err_set(err, "an event sample's thread, location or event has too large a number");
    if (kept_refer_thread(writer, sample->thread, err) < 0 || kept_refer_location(writer, sample->location, err) < 0)
        return -1;
    struct sink s = writer_begin(writer, CHUNK_EVENT_SAMPLES);
    sink_varint(&s, sample->thread);
    sink_varint(&s, (uint64_t)sample->location << IP_SAMPLE_FLAG_BITS | sample->in_kernel);
    sink_varint(&s, sample->event);
    sink_varint(&s, sample->weight);
    return writer_finish(writer, CHUNK_EVENT_SAMPLES, &s, err);
}

int trace_write_allocation(struct trace_writer *writer, const struct trace_allocation *allocation, struct err *err)
{
    const char *name = allocation->class_name;
    bool is_named = name != NULL;
    uint32_t context, class;
    if (writer_check(writer, err) < 0)
        return -1;
    if (allocation->thread > THREAD_INDEX_MAX || allocation->context > writer_n_contexts(writer) ||
        (is_named ? allocation->class_number != writer->n_classes : allocation->class_number >= writer->n_classes))
        return err_set(err, "an allocation's thread, context or class is not in the trace");
    writer->n_classes += is_named;
    if (kept_refer_thread(writer, allocation->thread, err) < 0 ||
        kept_refer_context(writer, allocation->context, &context, err) < 0)
        return -1;
    kept_class(writer, allocation->class_number, &class, &name);
    struct sink s = writer_begin(writer, CHUNK_ALLOCATIONS);
    put_since(writer, CHUNK_ALLOCATIONS, allocation->ticks, &writer->allocation_ticks, &s);
    sink_number(&s, allocation->thread);
    sink_number(&s, context);
    sink_number(&s, (uint64_t)(int64_t)(allocation->index + 1));
    sink_number(&s, (uint64_t) class << 1 | (name != NULL));
    if (name != NULL)
        writer_text(&s, name);
    sink_number(&s, allocation->size_bytes);
    sink_number(&s, allocation->mean_bytes);
    writer->n_allocations++;
    return writer_finish(writer, CHUNK_ALLOCATIONS, &s, err);
}

static bool is_object(enum trace_heap_kind kind)
{
    return kind == TRACE_HEAP_FREED || kind == TRACE_HEAP_DROPPED;
}

int trace_write_heap_event(struct trace_writer *writer, const struct trace_heap_event *event, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    if (event->kind >= TRACE_HEAP_KINDS || (is_object(event->kind) && event->number >= writer->n_allocations))
        return err_set(err, "an object that was freed is not in the trace");
    uint64_t before = writer->kept != NULL && is_object(event->kind) ? writer->kept->n_allocations : 0;
    if (event->number < before) /* its allocation is in a file before */
        return 0;
    struct sink s = writer_begin(writer, CHUNK_HEAP_EVENTS);
    put_since(writer, CHUNK_HEAP_EVENTS, event->ticks, &writer->heap_event_ticks, &s);
    sink_number(&s, event->kind);
    sink_number(&s, event->number - before);
    return writer_finish(writer, CHUNK_HEAP_EVENTS, &s, err);
}

int trace_write_pressure(struct trace_writer *writer, const struct trace_pressure *pressure, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    struct sink s = writer_begin(writer, CHUNK_PRESSURE);
    put_since(writer, CHUNK_PRESSURE, pressure->start_ticks, &writer->pressure_ticks, &s);
    sink_number(&s, pressure->end_ticks > writer->pressure_ticks ? pressure->end_ticks - writer->pressure_ticks : 0);
    for (int i = 0; i < TRACE_PRESSURES; i++)
        sink_number(&s, pressure->values[i]);
    return writer_finish(writer, CHUNK_PRESSURE, &s, err);
}

int trace_write_code(struct trace_writer *writer, const struct trace_code_change *change, struct err *err)
{
    uint32_t context;
    if (writer_check(writer, err) < 0)
        return -1;
    if (change->context == 0 || change->context > writer_n_contexts(writer))
        return err_set(err, "what becomes of code has no method");
    if (kept_refer_context(writer, change->context, &context, err) < 0)
        return -1;
    struct sink s = writer_begin(writer, CHUNK_CODE);
    put_since(writer, CHUNK_CODE, change->ticks, &writer->code_ticks, &s);
    sink_number(&s, context);
    writer_text(&s, change->what);
    sink_number(&s, change->n);
    return writer_finish(writer, CHUNK_CODE, &s, err);
}
