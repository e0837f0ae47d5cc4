/* What a reader knows so far. */
#include "core/trace/reader_internal.h"

bool trace_is_cut(const struct trace_reader *reader)
{
    return reader->ended && !reader->have_end;
}

uint64_t trace_damaged_chunks(const struct trace_reader *reader)
{
    return reader->n_damaged + (reader->item == NULL ? reader->source.n_damaged : reader->item->n_damaged);
}

void trace_listen(struct trace_reader *reader, const struct trace_listener *listener)
{
    reader->tables.listener = *listener;
}

const char *trace_info(const struct trace_reader *reader, const char *key)
{
    const uint32_t *i = map_get(&reader->tables.info, key, strlen(key));
    return i == NULL ? NULL : reader->tables.info_values[*i];
}

const struct trace_method *trace_method(const struct trace_reader *reader, uint32_t id)
{
    const struct trace_method *method = table_get(&reader->tables.methods, id);
    return method != NULL && method->source != NULL ? method : NULL;
}

const struct trace_value *trace_value(const struct trace_reader *reader, uint32_t id)
{
    const struct trace_value *value = table_get(&reader->tables.values, id);
    return value != NULL && value->text != NULL ? value : NULL;
}

const struct trace_thread *trace_thread(const struct trace_reader *reader, uint32_t index)
{
    const struct trace_thread *thread = table_get(&reader->tables.threads, index);
    return thread != NULL && thread->comm != NULL ? thread : NULL;
}

const struct trace_counter *trace_counter(const struct trace_reader *reader, size_t i)
{
    return i < reader->tables.n_counters ? &reader->tables.counters[i] : NULL;
}

const struct trace_collection *trace_collection(const struct trace_reader *reader, size_t i)
{
    return i < reader->tables.n_collections ? &reader->tables.collections[i] : NULL;
}

size_t trace_n_collections(const struct trace_reader *reader)
{
    return reader->tables.n_collections;
}

const struct trace_context *trace_context(const struct trace_reader *reader, uint32_t number)
{
    const struct sample_tables *samples = &reader->tables.samples;
    return number > 0 && number <= samples->n_contexts ? &samples->contexts[number - 1] : NULL;
}

uint32_t trace_n_contexts(const struct trace_reader *reader)
{
    return (uint32_t)reader->tables.samples.n_contexts;
}

const struct trace_sampled_method *trace_sampled_method(const struct trace_reader *reader, uint32_t number)
{
    const struct sample_tables *samples = &reader->tables.samples;
    return number < samples->n_methods ? &samples->methods[number] : NULL;
}

uint32_t trace_sampled_line(const struct trace_sampled_method *method, int64_t index)
{
    uint32_t line = 0;
    for (uint32_t i = 0; i < method->n_lines && method->lines[i].index <= index; i++)
        line = method->lines[i].line;
    return line;
}

uint32_t trace_n_sampled_methods(const struct trace_reader *reader)
{
    return (uint32_t)reader->tables.samples.n_methods;
}

uint32_t trace_n_threads(const struct trace_reader *reader)
{
    return reader->tables.threads.n;
}

uint32_t trace_n_methods(const struct trace_reader *reader)
{
    return reader->tables.methods.n;
}

uint32_t trace_n_values(const struct trace_reader *reader)
{
    return reader->tables.values.n;
}

size_t trace_n_counters(const struct trace_reader *reader)
{
    return reader->tables.n_counters;
}

size_t trace_n_recorded_counters(const struct trace_reader *reader)
{
    return reader->tables.n_recorded;
}

uint64_t trace_start_ticks(const struct trace_reader *reader)
{
    return reader->tables.first_clock[0];
}

uint64_t trace_start_realtime_ns(const struct trace_reader *reader)
{
    return reader->tables.n_clock_points == 0 ? 0 : reader->tables.first_clock[2];
}

uint64_t trace_end_ticks(const struct trace_reader *reader)
{
    uint64_t clock = reader->tables.last_clock[0], seen = reader_latest(reader);
    if (reader->have_end)
        return reader->end_ticks;
    return clock > seen ? clock : seen;
}

double trace_ns_per_tick(const struct trace_reader *reader)
{
    const uint64_t *first = reader->tables.first_clock, *last = reader->tables.last_clock;
    if (reader->tables.n_clock_points < 2 || last[0] <= first[0] || last[1] <= first[1])
        return 0;
    return (double)(last[1] - first[1]) / (double)(last[0] - first[0]);
}
