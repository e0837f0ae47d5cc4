/*
 * Writing what defines things: metadata, clock points, counters, threads, methods, code locations, and what is known of
 * them.
 */
#include "core/trace/writer_kept.h"

int writer_put_info(struct trace_writer *writer, const char *key, const char *value, bool is_of_file, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    struct sink s = writer_begin(writer, CHUNK_INFO);
    writer_text(&s, key);
    writer_text(&s, value);
    if (!is_of_file)
        kept_info(writer, key, &s);
    return writer_finish(writer, CHUNK_INFO, &s, err);
}

int trace_write_info(struct trace_writer *writer, const char *key, const char *value, struct err *err)
{
    return writer_put_info(writer, key, value, false, err);
}

int trace_write_clock(struct trace_writer *writer, uint64_t ticks, uint64_t monotonic_ns, uint64_t realtime_ns,
                      struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    struct sink s = writer_begin(writer, CHUNK_CLOCK);
    sink_u64le(&s, ticks);
    sink_u64le(&s, monotonic_ns);
    sink_u64le(&s, realtime_ns);
    return writer_finish(writer, CHUNK_CLOCK, &s, err);
}

int trace_write_counters(struct trace_writer *writer, const struct trace_counter *counters, size_t n, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    size_t n_columns = 0;
    for (size_t i = 0; i < n; i++)
        n_columns += counters[i].in_records;
    if (n > TRACE_COUNTERS_MAX || n_columns > TRACE_COLUMNS_MAX || writer->have_counters || writer->n_records > 0)
        return err_set(err,
                       "a trace takes at most %d counters, %d of them in records, once, and before its first record",
                       TRACE_COUNTERS_MAX, TRACE_COLUMNS_MAX);
    writer->have_counters = true;
    writer->encoder.n_counters = writer->n_columns = n_columns;
    struct sink s = writer_begin(writer, CHUNK_COUNTERS);
    for (size_t i = 0; i < n; i++) {
        sink_number(&s, (counters[i].in_records ? COUNTER_FLAG_IN_RECORDS : 0) |
                            (uint64_t)counters[i].kind << COUNTER_KIND_SHIFT |
                            (uint64_t)counters[i].group << COUNTER_GROUP_SHIFT);
        writer_text(&s, counters[i].name);
        writer_text(&s, counters[i].why);
    }
    kept_add(writer, KEPT_COUNTERS, &s);
    return writer_finish(writer, CHUNK_COUNTERS, &s, err);
}

void trace_write_plain_records(struct trace_writer *writer)
{
    writer->encoder.n_counters = 0;
}

int trace_write_jit(struct trace_writer *writer, const struct jit_event *event, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    struct sink s = writer_begin(writer, CHUNK_JIT);
    jit_events_put(&s, event);
    if (s.full)
        return err_set(err, "a JIT event is too long for a trace");
    if (event->kind == JIT_METHOD)
        kept_add(writer, KEPT_JIT, &s);
    return writer_finish(writer, CHUNK_JIT, &s, err);
}

int trace_write_method(struct trace_writer *writer, const struct trace_method *method, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    if (method->id > RING_METHOD_MAX)
        return err_set(err, "method id %u is above %u", method->id, RING_METHOD_MAX);
    struct sink s = writer_begin(writer, CHUNK_METHODS);
    sink_number(&s, method->id);
    sink_number(&s, method->has_loop ? METHOD_FLAG_LOOP : 0);
    sink_number(&s, method->first_line);
    sink_number(&s, method->code_bytes);
    writer_text(&s, method->names.class_name);
    writer_text(&s, method->names.method);
    writer_text(&s, method->names.descriptor);
    writer_text(&s, method->source);
    kept_define(writer, KEPT_METHODS, method->id, &s);
    return writer_finish(writer, CHUNK_METHODS, &s, err);
}

int trace_write_value(struct trace_writer *writer, const struct trace_value *value, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    if (value->id == 0 || value->id > RING_METHOD_MAX || value->method > RING_METHOD_MAX || value->kind >= VALUE_KINDS)
        return err_set(err, "the value %u of method %u is impossible", value->id, value->method);
    struct sink s = writer_begin(writer, CHUNK_VALUES);
    sink_number(&s, value->id);
    sink_number(&s, value->method);
    sink_number(&s, value->kind);
    writer_text(&s, value->text);
    kept_add(writer, KEPT_VALUES, &s);
    return writer_finish(writer, CHUNK_VALUES, &s, err);
}

int trace_write_thread(struct trace_writer *writer, const struct trace_thread *thread, struct err *err)
{
    struct trace_thread told;
    if (writer_check(writer, err) < 0)
        return -1;
    if (thread->index > THREAD_INDEX_MAX)
        return err_set(err, "thread index %u is above %u", thread->index, THREAD_INDEX_MAX);
    kept_thread(writer, thread, &told);
    return writer_put_thread(writer, &told, err);
}

int trace_write_location(struct trace_writer *writer, const struct location_entry *entry, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    struct sink s = writer_begin(writer, CHUNK_LOCATIONS);
    locations_put(&s, entry);
    if (s.full)
        return err_set(err, "a code location is too long for a trace");
    kept_location(writer, entry, &s);
    return writer_finish(writer, CHUNK_LOCATIONS, &s, err);
}

int trace_write_miss(struct trace_writer *writer, const struct miss_entry *entry, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    enum chunk_type type = misses_chunk(entry->kind);
    struct sink s = writer_begin(writer, type);
    misses_put(&s, entry);
    return s.full ? err_set(err, "a name is too long for a trace") : writer_finish(writer, type, &s, err);
}

int trace_write_collection(struct trace_writer *writer, const struct trace_collection *collection, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    struct sink s = writer_begin(writer, CHUNK_COLLECTIONS);
    sink_u64le(&s, kept_ticks(writer, collection->start_ticks));
    sink_number(&s, collection->ns);
    sink_number(&s, collection->n_missed);
    writer_text(&s, collection->name);
    writer_text(&s, collection->cause);
    return writer_finish(writer, CHUNK_COLLECTIONS, &s, err);
}
