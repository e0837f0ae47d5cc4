/*
 * Events that are no records: what the kernel said, counters that were read from outside, what the recorder did, IP
 * samples.
 */
#include "core/trace/reader_internal.h"

static bool get_kernel(struct trace_reader *reader, struct trace_event *event)
{
    uint64_t tag, operand;
    reader->at = number_get(number_get(reader->at, &tag), &operand);
    unsigned kind = TRACE_CPU_IN + (unsigned)(tag & ((1u << KERNEL_TAG_BITS) - 1));
    bool is_lost = kind == TRACE_KERNEL_LOST;
    if (reader->at > reader->end || kind > TRACE_KERNEL_LOST || (!is_lost && operand > THREAD_INDEX_MAX))
        return false;
    reader->ticks += tag >> KERNEL_TAG_BITS;
    *event = (struct trace_event){ .kind = (enum trace_kind)kind, .ticks = reader->ticks };
    event->count = is_lost ? operand : 0;
    event->thread = is_lost ? 0 : (uint32_t)operand;
    if (!is_lost)
        table_name(&reader->tables.threads, event->thread);
    return true;
}

static bool get_reading(struct trace_reader *reader, struct trace_event *event)
{
    uint64_t delta, thread, series;
    const uint8_t *at = number_get(number_get(number_get(reader->at, &delta), &thread), &series);
    memset(reader->counters, 0, sizeof reader->counters);
    at = decode_counters(at, reader->counters, reader->n_counters);
    if (at == NULL || at > reader->end || thread > THREAD_INDEX_MAX || series > UINT32_MAX)
        return false;
    reader->at = at;
    reader->ticks += delta;
    *event = (struct trace_event){ .kind = TRACE_COUNTS, .thread = (uint32_t)thread, .ticks = reader->ticks };
    event->count = series;
    event->counters = reader->counters;
    table_name(&reader->tables.threads, event->thread);
    return true;
}

static bool get_control(struct trace_reader *reader, struct trace_event *event)
{
    uint64_t tag, operand;
    reader->at = number_get(number_get(reader->at, &tag), &operand);
    unsigned kind = TRACE_ENABLED + (unsigned)(tag & ((1u << KERNEL_TAG_BITS) - 1));
    bool of_method = kind == TRACE_ENABLED || kind == TRACE_DISABLED;
    if (reader->at > reader->end || kind > TRACE_RECOVERED || (of_method && operand > RING_METHOD_MAX))
        return false;
    reader->ticks += tag >> KERNEL_TAG_BITS;
    *event = (struct trace_event){ .kind = (enum trace_kind)kind, .ticks = reader->ticks };
    event->count = of_method ? 0 : operand;
    event->method = of_method ? (uint32_t)operand : 0;
    if (of_method)
        table_name(&reader->tables.methods, event->method);
    return true;
}

static bool get_ip_sample(struct trace_reader *reader, struct trace_event *event)
{
    uint64_t delta, thread, location;
    reader->at = number_get(number_get(number_get(reader->at, &delta), &thread), &location);
    if (reader->at > reader->end || thread > THREAD_INDEX_MAX || location >= LOCATION_NUMBERS_MAX)
        return false;
    reader->ticks += delta >> IP_SAMPLE_FLAG_BITS;
    *event = (struct trace_event){ .kind = delta & IP_SAMPLE_FLAG_KERNEL ? TRACE_KERNEL_IP_SAMPLE : TRACE_IP_SAMPLE,
                                   .thread = (uint32_t)thread,
                                   .ticks = reader->ticks,
                                   .count = location };
    table_name(&reader->tables.threads, event->thread);
    return true;
}

bool reader_event(struct trace_reader *reader, struct trace_event *event)
{
    if (reader->chunk.type == CHUNK_KERNEL)
        return get_kernel(reader, event);
    if (reader->chunk.type == CHUNK_IP_SAMPLES)
        return get_ip_sample(reader, event);
    return reader->chunk.type == CHUNK_CONTROL ? get_control(reader, event) : get_reading(reader, event);
}
