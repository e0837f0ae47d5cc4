/*
 * Chunks come one after the other, from the file or from a thread that reads ahead; their events are given one by one,
 * records many at a time to who wants that.
 */
#include "core/trace/reader_internal.h"

#include "core/base/xalloc.h"
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

/* A smaller trace is read before a thread is there. */
#define AHEAD_MIN_BYTES (4 << 20)

static int open_source(struct trace_reader **result, int fd, const void *bytes, size_t n, const char *name,
                       bool salvage, struct err *err)
{
    *result = NULL;
    struct trace_reader *reader = xcalloc(1, sizeof *reader);
    memset(reader->not_counted, 0xff, sizeof reader->not_counted);
    reader->ahead_min_bytes = AHEAD_MIN_BYTES;
    reader->batch = xreallocarray(NULL, RECORDS_BATCH, sizeof *reader->batch);
    int rc = chunks_open(&reader->source, fd, bytes, n, name, salvage, err);
    tables_init(&reader->tables);
    if (rc < 0)
        trace_close(reader);
    else
        *result = reader;
    return rc;
}

int trace_open(struct trace_reader **reader, const char *path, bool salvage, struct err *err)
{
    *reader = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        return open_source(reader, fd, NULL, 0, path, salvage, err);
    err_set(err, "cannot open '%s': %s", path, strerror(errno));
    if (errno == ENOENT)
        err_next(err, "name the file that 'mmprof record' wrote (trace.dat unless -o said otherwise)");
    return -1;
}

int trace_open_bytes(struct trace_reader **reader, const void *bytes, size_t n, const char *name, bool salvage,
                     struct err *err)
{
    return open_source(reader, -1, bytes, n, name, salvage, err);
}

void trace_read_ahead_from(struct trace_reader *reader, int64_t min_bytes)
{
    reader->ahead_min_bytes = min_bytes;
}

void trace_show_progress(struct trace_reader *reader, FILE *out)
{
    struct stat status;
    if (reader->source.fd < 0 || fstat(reader->source.fd, &status) < 0 || status.st_size <= 0)
        return;
    reader->size_bytes = (uint64_t)status.st_size;
    progress_begin(&reader->progress, out);
}

void trace_close(struct trace_reader *reader)
{
    if (reader == NULL)
        return;
    progress_end(&reader->progress);
    read_ahead_stop(reader->ahead);
    tables_free(&reader->tables);
    chunks_close(&reader->source);
    decode_free(&reader->decoder);
    free(reader->batch);
    free(reader);
}

/* ---- records ---- */

/* Those that come next in the chunk, if there are any more. */
static void more_records(struct trace_reader *reader)
{
    const struct read_ahead_item *item = reader->item;
    size_t n;
    uint32_t n_methods;
    if (item != NULL && item->is_decoded) {
        reader->record = item->records;
        reader->after = item->result;
        n = item->n_records;
        n_methods = item->n_methods;
        reader->in_records = !item->is_last;
    } else {
        reader->record = reader->batch;
        reader->after = decode_records(&reader->decoder, reader->batch, RECORDS_BATCH, &n);
        n_methods = reader->decoder.n_methods;
        reader->in_records = reader->after == DECODE_OK && !decode_is_done(&reader->decoder);
    }
    reader->records_end = reader->record + n;
    if (n_methods > 0)
        table_name(&reader->tables.methods, n_methods - 1);
    if (n > 0)
        reader->ticks = reader->records_end[-1].ticks;
}

/* Whether a chunk may have so many counters in each entry. */
static bool counters_are_possible(const struct trace_reader *reader)
{
    const struct tables *tables = &reader->tables;
    size_t n = reader->chunk.flags & CHUNK_FLAGS_N_COUNTERS;
    bool is_plain = reader->chunk.type == CHUNK_RECORDS && n == 0;
    bool without_table = reader->source.salvage && !tables->have_counters;
    return n <= RING_COUNTERS_MAX && (n == tables->n_recorded || is_plain || without_table);
}

static enum tables_result begin_records(struct trace_reader *reader)
{
    const struct chunk *chunk = &reader->chunk;
    const struct tables *tables = &reader->tables;
    bool is_decoded = reader->item != NULL && reader->item->is_decoded;
    if (!counters_are_possible(reader) || chunk->thread > THREAD_INDEX_MAX)
        return TABLES_DAMAGED;
    enum decode_result result =
        is_decoded ? DECODE_OK : decode_begin(&reader->decoder, chunk->payload, chunk->payload_bytes, chunk->flags);
    if (result != DECODE_OK)
        return TABLES_DAMAGED;
    table_name(&reader->tables.threads, chunk->thread);
    reader->latest_ticks = reader_latest(reader);
    reader->values = reader->decoder.n_counters > 0 && !is_decoded ? reader->decoder.counters
                     : tables->n_recorded > 0                      ? reader->not_counted
                                                                   : NULL;
    more_records(reader);
    return TABLES_OK;
}

/* Go on with the events of a KERNEL, READINGS, CONTROL or IP_SAMPLES chunk. */
static enum tables_result begin_events(struct trace_reader *reader)
{
    const struct chunk *chunk = &reader->chunk;
    struct cursor c = cursor_over(chunk->payload, chunk->payload_bytes);
    uint64_t ticks = cursor_u64le(&c);
    if (c.bad || chunk->thread > THREAD_INDEX_MAX || (chunk->flags & CHUNK_FLAGS_N_COUNTERS) > RING_COUNTERS_MAX ||
        (chunk->type == CHUNK_READINGS && !counters_are_possible(reader)))
        return TABLES_DAMAGED;
    reader->latest_ticks = reader_latest(reader);
    reader->ticks = ticks;
    reader->n_counters = chunk->flags & CHUNK_FLAGS_N_COUNTERS;
    reader->at = c.at;
    reader->end = c.end;
    return TABLES_OK;
}

/* ---- chunks ---- */

static enum tables_result take_chunk(struct trace_reader *reader)
{
    struct cursor c = cursor_over(reader->chunk.payload, reader->chunk.payload_bytes);
    switch (reader->chunk.type) {
    case CHUNK_INFO:
    case CHUNK_CLOCK:
    case CHUNK_COUNTERS:
    case CHUNK_THREADS:
    case CHUNK_METHODS:
    case CHUNK_JIT:
    case CHUNK_LOCATIONS:
    case CHUNK_CPU_TIMES:
    case CHUNK_COLLECTIONS:
    case CHUNK_MISSES:
    case CHUNK_ACCESSES:
    case CHUNK_HEAP:
    case CHUNK_BYTECODES:
    case CHUNK_STACKS:
    case CHUNK_CONTEXTS:
    case CHUNK_SAMPLES:
    case CHUNK_WAITS:
    case CHUNK_ALLOCATIONS:
    case CHUNK_HEAP_EVENTS:
    case CHUNK_VALUES:
    case CHUNK_EVENT_SAMPLES:
    case CHUNK_PRESSURE:
    case CHUNK_CODE:
    case CHUNK_VIRTUAL_WAITS:
        return tables_take(&reader->tables, &reader->chunk);
    case CHUNK_RECORDS:
        return begin_records(reader);
    case CHUNK_KERNEL:
    case CHUNK_READINGS:
    case CHUNK_CONTROL:
    case CHUNK_IP_SAMPLES:
        return begin_events(reader);
    case CHUNK_END:
        reader->end_ticks = cursor_u64le(&c);
        reader->ended = reader->have_end = !c.bad;
        return c.bad ? TABLES_DAMAGED : TABLES_OK;
    }
    return TABLES_OK;
}

/* It skips the chunk, or returns -1. */
static int damaged(struct trace_reader *reader, enum tables_result result, struct err *err)
{
    static const char too_deep[] = "a calling context is deeper than 4,096 calls";
    _Static_assert(TRACE_DEPTH_MAX == 4096, "the text says it");

    reader->at = reader->end = NULL;
    reader->record = reader->records_end = NULL;
    reader->after = DECODE_OK;
    reader->in_records = false;
    if (!reader->source.salvage)
        return chunks_damaged(&reader->source, reader->chunk.offset,
                              result == TABLES_TOO_DEEP ? too_deep : "the content of a chunk is impossible", err);
    reader->n_damaged++;
    return 0;
}

/* A large file is read ahead where there is a CPU for it. */
static void start_ahead(struct trace_reader *reader)
{
    struct stat status;
    cpu_set_t cpus;
    reader->is_begun = true;
    if (reader->source.fd >= 0 && !reader->source.is_outline && fstat(reader->source.fd, &status) == 0 &&
        S_ISREG(status.st_mode) && status.st_size >= reader->ahead_min_bytes &&
        sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) > 1)
        reader->ahead = read_ahead_start(&reader->source);
}

/* Returns 1, 0 at the end, or -1 with *err set. */
static int next_chunk(struct trace_reader *reader, struct err *err)
{
    if (!reader->is_begun)
        start_ahead(reader);
    if (reader->ahead == NULL)
        return chunks_next(&reader->source, &reader->chunk, err);
    reader->item = read_ahead_next(reader->ahead);
    reader->chunk = reader->item->chunk;
    if (reader->item->rc < 0)
        *err = reader->item->err;
    return reader->item->rc;
}

static int take_next_chunk(struct trace_reader *reader, struct err *err)
{
    int rc = next_chunk(reader, err);
    if (rc > 0 && reader->size_bytes > 0)
        progress_part(&reader->progress, "reading the trace",
                      (double)reader->chunk.offset / (double)reader->size_bytes);
    else
        progress_end(&reader->progress);
    reader->ended = reader->ended || rc == 0;
    if (rc <= 0)
        return rc;
    enum tables_result result = take_chunk(reader);
    return result != TABLES_OK && damaged(reader, result, err) < 0 ? -1 : 1;
}

/* Have records or another event.  Returns 1, 0 at the end, or -1 with *err set. */
static int find_more(struct trace_reader *reader, struct err *err)
{
    while (reader->record == reader->records_end && reader->at == reader->end) {
        if (reader->after != DECODE_OK) {
            if (damaged(reader, TABLES_DAMAGED, err) < 0)
                return -1;
        } else if (reader->in_records) {
            if (reader->ahead != NULL && reader->item->is_decoded)
                reader->item = read_ahead_next(reader->ahead);
            more_records(reader);
        } else if (reader->ended) {
            return 0;
        } else if (take_next_chunk(reader, err) < 0) {
            return -1;
        }
    }
    return 1;
}

/* As find_more, but an error stays. */
static int have_more(struct trace_reader *reader, struct err *err)
{
    if (!reader->failed) {
        int rc = find_more(reader, err);
        if (rc >= 0)
            return rc;
        reader->failed = true;
        reader->error = *err;
    }
    *err = reader->error;
    return -1;
}

/* ---- events ---- */

static inline void tell_ip_sample(const struct trace_reader *reader, const struct trace_event *event)
{
    const struct trace_listener *listener = &reader->tables.listener;
    if (listener->ip_sample != NULL && (event->kind == TRACE_IP_SAMPLE || event->kind == TRACE_KERNEL_IP_SAMPLE))
        listener->ip_sample(listener->context, event);
}

/* The next event of the chunk that is being decoded.  Returns 1, 0 where it is impossible and skipped, or -1. */
static int take_event(struct trace_reader *reader, struct trace_event *event, struct err *err)
{
    if (LIKELY(reader_event(reader, event))) {
        event->value = 0;
        tell_ip_sample(reader, event);
        return 1;
    }
    if (damaged(reader, TABLES_DAMAGED, err) == 0)
        return 0;
    reader->failed = true;
    reader->error = *err;
    return -1;
}

/* A record that names a value is of the method that has it. */
static void set_value(const struct trace_reader *reader, struct trace_event *event)
{
    const struct trace_value *value =
        event->kind > TRACE_OPEN ? NULL : table_get(&reader->tables.values, event->method);
    if (value == NULL || value->text == NULL)
        return;
    event->value = value->id;
    event->method = value->method;
}

/* Who knows the values that records name; NULL: they name none. */
static const struct trace_reader *values_of(const struct trace_reader *reader)
{
    return UNLIKELY(reader->tables.values.n > 0) ? reader : NULL;
}

struct trace_event trace_record_event(const struct trace_records *records, size_t i)
{
    const struct trace_record *record = &records->all[i];
    bool has_method = record->kind <= TRACE_OPEN;
    struct trace_event event = { .kind = record->kind,
                                 .thread = records->thread,
                                 .method = has_method ? record->operand : 0,
                                 .ticks = record->ticks,
                                 .count = has_method ? 0 : record->operand,
                                 .counters = records->counters };
    if (records->values_of != NULL)
        set_value(records->values_of, &event);
    return event;
}

int trace_next_records(struct trace_reader *reader, struct trace_records *records, struct trace_event *event,
                       struct err *err)
{
    for (;;) {
        int rc = reader->record != reader->records_end ? 1 : have_more(reader, err);
        if (rc <= 0)
            return rc;
        records->n = (size_t)(reader->records_end - reader->record);
        if (records->n > 0) {
            records->all = reader->record;
            records->thread = reader->chunk.thread;
            records->counters = reader->values;
            records->values_of = values_of(reader);
            reader->record = reader->records_end;
            return 1;
        }
        rc = take_event(reader, event, err);
        if (rc != 0)
            return rc;
    }
}

int trace_next(struct trace_reader *reader, struct trace_event *event, struct err *err)
{
    for (;;) {
        if (LIKELY(reader->record != reader->records_end)) {
            const struct trace_records one = { reader->record++, 1, reader->chunk.thread, reader->values,
                                               values_of(reader) };
            *event = trace_record_event(&one, 0);
            return 1;
        }
        int rc = have_more(reader, err);
        if (rc <= 0)
            return rc;
        if (reader->record == reader->records_end && (rc = take_event(reader, event, err)) != 0)
            return rc;
    }
}

static int read_to_end(struct trace_reader *reader, struct err *err)
{
    struct trace_records records;
    struct trace_event event;
    int rc;
    while ((rc = trace_next_records(reader, &records, &event, err)) > 0)
        continue;
    return rc;
}

int trace_outline(struct trace_reader **reader, const char *path, bool salvage, struct err *err)
{
    if (trace_open(reader, path, salvage, err) < 0)
        return -1;
    (*reader)->source.is_outline = !salvage;
    int rc = read_to_end(*reader, err);
    if (rc == 0 && trace_is_cut(*reader) && !salvage) {
        trace_close(*reader);
        if (trace_open(reader, path, salvage, err) < 0)
            return -1;
        rc = read_to_end(*reader, err);
    }
    if (rc == 0)
        return 0;
    trace_close(*reader);
    *reader = NULL;
    return -1;
}
