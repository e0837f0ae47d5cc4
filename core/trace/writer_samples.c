/*
 * Writing samples of stacks and of allocated objects: methods, calling contexts and classes as they are met, and the
 * samples in them.
 */
#include "core/trace/writer_internal.h"

static void put_named(struct sink *s, const struct trace_sampled_method *method)
{
    uint32_t before = 0;
    writer_text(s, method->names.class_name);
    writer_text(s, method->names.method);
    writer_text(s, method->names.descriptor);
    writer_text(s, method->source);
    sink_number(s, method->code_bytes);
    sink_number(s, method->n_lines);
    for (uint32_t i = 0; i < method->n_lines; i++) {
        sink_number(s, method->lines[i].index - before);
        sink_number(s, method->lines[i].line);
        before = method->lines[i].index;
    }
    sink_number(s, method->code == NULL ? 0 : method->code_bytes);
    sink_bytes(s, method->code, method->code == NULL ? 0 : method->code_bytes);
}

/* A line table in the order of its bytecode, and neither it nor the code longer than a reader takes. */
static bool is_possible(const struct trace_sampled_method *method)
{
    bool is_sorted = method->n_lines <= CODE_LINES_MAX && (method->code == NULL || method->code_bytes <= UINT16_MAX);
    for (uint32_t i = 1; is_sorted && i < method->n_lines; i++)
        is_sorted = method->lines[i - 1].index <= method->lines[i].index;
    return is_sorted;
}

int trace_write_context(struct trace_writer *writer, const struct trace_context *context, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    if (writer->n_contexts == TRACE_CONTEXTS_MAX || context->parent > writer->n_contexts ||
        (context->named != NULL && !is_possible(context->named)))
        return err_set(err, "a trace takes no more than %u calling contexts, callers first", TRACE_CONTEXTS_MAX);
    struct sink s = writer_begin(writer, CHUNK_CONTEXTS);
    if (writer->pending_used[CHUNK_CONTEXTS] == 0)
        sink_number(&s, writer->n_contexts);
    sink_number(&s, context->parent);
    sink_number(&s, (uint64_t)(int64_t)(context->call_site + 1));
    sink_number(&s, (uint64_t)context->method << 1 | (context->named != NULL));
    if (context->named != NULL)
        put_named(&s, context->named);
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
        sample->context > writer->n_contexts || sample->tier > SAMPLE_TIER_MAX || sample->end > SAMPLE_END_MAX ||
        sample->n_counters > TRACE_SAMPLE_COUNTERS_MAX)
        return err_set(err, "a sample's thread, context or number of counters is too large for a trace");
    struct sink s = writer_begin(writer, CHUNK_SAMPLES);
    put_since(writer, CHUNK_SAMPLES, sample->ticks, &writer->sample_ticks, &s);
    sink_number(&s, sample->thread == TRACE_NO_THREAD ? 0 : (uint64_t)sample->thread + 1);
    sink_number(&s, sample->context);
    sink_number(&s, (uint64_t)(int64_t)(sample->index + 1));
    sink_number(&s, flags_of(sample));
    sink_number(&s, sample->n);
    sink_number(&s, sample->weight_ns);
    sink_number(&s, sample->n_counters);
    for (uint32_t i = 0; i < sample->n_counters; i++)
        sink_number(&s, sample->counters[i]);
    return writer_finish(writer, CHUNK_SAMPLES, &s, err);
}

int trace_write_allocation(struct trace_writer *writer, const struct trace_allocation *allocation, struct err *err)
{
    bool is_named = allocation->class_name != NULL;
    if (writer_check(writer, err) < 0)
        return -1;
    if (allocation->thread > THREAD_INDEX_MAX || allocation->context > writer->n_contexts ||
        (is_named ? allocation->class_number != writer->n_classes : allocation->class_number >= writer->n_classes))
        return err_set(err, "an allocation's thread, context or class is not in the trace");
    struct sink s = writer_begin(writer, CHUNK_ALLOCATIONS);
    put_since(writer, CHUNK_ALLOCATIONS, allocation->ticks, &writer->allocation_ticks, &s);
    sink_number(&s, allocation->thread);
    sink_number(&s, allocation->context);
    sink_number(&s, (uint64_t)(int64_t)(allocation->index + 1));
    sink_number(&s, (uint64_t)allocation->class_number << 1 | is_named);
    if (is_named)
        writer_text(&s, allocation->class_name);
    writer->n_classes += is_named;
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
    struct sink s = writer_begin(writer, CHUNK_HEAP_EVENTS);
    put_since(writer, CHUNK_HEAP_EVENTS, event->ticks, &writer->heap_event_ticks, &s);
    sink_number(&s, event->kind);
    sink_number(&s, event->number);
    return writer_finish(writer, CHUNK_HEAP_EVENTS, &s, err);
}
