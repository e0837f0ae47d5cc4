/*
 * trace_next decodes one record at a time from a chunk that lies whole in memory.  The bytes after the chunk are
 * readable too, so a record is decoded without looking where the chunk ends, and only then judged.
 */
#include "core/trace/reader.h"

#include "core/base/progress.h"
#include "core/trace/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_METHOD UINT32_MAX

struct trace_reader {
    /* Of the chunk of events that is being decoded; at == end: none. */
    const uint8_t *at, *end;
    uint64_t ticks;
    uint32_t *top; /* into stack */
    enum chunk_type type;
    size_t n_counters;
    struct chunk chunk;
    uint64_t counters[RING_COUNTERS_MAX];
    const uint64_t *values; /* of a record: counters, or not_counted, or NULL when the trace has none */
    uint32_t *stack;        /* owned; methods entered in this chunk and not left yet, above a sentinel */
    size_t stack_size;

    struct tables tables;
    struct chunk_source source;
    bool ended, have_end, failed;
    uint64_t not_counted[RING_COUNTERS_MAX];
    uint64_t end_ticks, latest_ticks;
    struct progress progress;
    uint64_t size_bytes; /* of the file, where progress is shown; else 0 */
    struct err error;    /* when failed */
};

static int open_source(struct trace_reader **result, int fd, const void *bytes, size_t n, const char *name,
                       bool salvage, struct err *err)
{
    *result = NULL;
    struct trace_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        if (fd >= 0)
            close(fd);
        return err_set(err, "out of memory for reading '%s'", name);
    }
    memset(reader->not_counted, 0xff, sizeof reader->not_counted);
    int rc = chunks_open(&reader->source, fd, bytes, n, name, salvage, err);
    if (tables_init(&reader->tables) < 0)
        rc = err_set(err, "out of memory for reading '%s'", name);
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
    tables_free(&reader->tables);
    chunks_close(&reader->source);
    free(reader->stack);
    free(reader);
}

/*
 * A gap, a virtual thread, an open call, or an exit that names its method.  Returns where the next number stands; an
 * impossible one has NO_METHOD.
 */
static const uint8_t *get_other(const uint8_t *at, struct trace_event *event)
{
    static const enum trace_kind kinds[] = { TRACE_EXIT, TRACE_UNWIND, TRACE_GAP },
                                 virtual_kinds[] = { TRACE_RESUME, TRACE_MOUNT, TRACE_UNMOUNT, TRACE_OPEN };
    const unsigned mask = (1u << TAG_BITS) - 1;
    uint64_t number;
    at = number_get(at, &number);
    unsigned other = number & mask;
    number >>= TAG_BITS;
    if (other == OTHER_VIRTUAL) {
        event->kind = virtual_kinds[number & mask];
        number >>= TAG_BITS;
    } else {
        event->kind = kinds[other];
    }
    bool has_method = event->kind <= TRACE_OPEN;
    bool is_possible = number <= RING_METHOD_MAX || event->kind == TRACE_GAP;
    event->count = has_method ? 0 : number;
    event->method = !is_possible ? NO_METHOD : has_method ? (uint32_t)number : 0;
    return at;
}

/* After a bitmap of those that changed.  Returns where the next number stands, or NULL: a bit is of no counter. */
static const uint8_t *get_changed(const uint8_t *at, uint64_t *counters, size_t n)
{
    const uint8_t *changed = at;
    at += COUNTERS_BITMAP_BYTES(n);
    for (size_t first = 0; first < n; first += 8) {
        for (unsigned bits = changed[first / 8]; bits != 0; bits &= bits - 1) {
            size_t i = first + (unsigned)__builtin_ctz(bits);
            uint64_t delta;
            if (i >= n)
                return NULL;
            at = number_get(at, &delta);
            counters[i] += delta;
        }
    }
    return at;
}

static inline const uint8_t *get_counters(const uint8_t *at, uint64_t *counters, size_t n)
{
    if (n > COUNTERS_PLAIN_MAX)
        return get_changed(at, counters, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t delta;
        at = number_get(at, &delta);
        counters[i] += delta;
    }
    return at;
}

/* The record at reader->at, without branches for what it is (see encode.c).  Returns whether it is possible. */
static inline bool get_record(struct trace_reader *reader, struct trace_event *event)
{
    uint64_t tag, method;
    const uint8_t *at = number_get(reader->at, &tag);
    unsigned kind = tag & ((1u << TAG_BITS) - 1);
    reader->ticks += tag >> TAG_BITS;
    event->thread = reader->chunk.thread;
    event->ticks = reader->ticks;
    if (LIKELY(kind != TAG_OTHER)) {
        const uint8_t *after = number_get(at, &method);
        uint32_t *top = reader->top, if_exit = 0 - (uint32_t)(kind != TAG_ENTER);
        uint32_t entered = method > RING_METHOD_MAX ? NO_METHOD : (uint32_t)method;
        event->kind = (enum trace_kind)kind;
        event->method = entered ^ ((entered ^ *top) & if_exit);
        event->count = 0;
        top[1] = event->method;
        reader->top = top + 1 - (2 & (int32_t)if_exit);
        at += (size_t)(after - at) & ~(size_t)(int32_t)if_exit;
    } else {
        at = get_other(at, event);
    }
    if (reader->n_counters > 0)
        at = get_counters(at, reader->counters, reader->n_counters);
    event->counters = reader->values;
    reader->at = at;
    if (UNLIKELY(event->method == NO_METHOD || at == NULL || at > reader->end))
        return false;
    table_name(&reader->tables.methods, event->method);
    return true;
}

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
    at = get_counters(at, reader->counters, reader->n_counters);
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

static bool get_event(struct trace_reader *reader, struct trace_event *event)
{
    if (LIKELY(reader->type == CHUNK_RECORDS))
        return get_record(reader, event);
    if (reader->type == CHUNK_KERNEL)
        return get_kernel(reader, event);
    if (reader->type == CHUNK_IP_SAMPLES)
        return get_ip_sample(reader, event);
    return reader->type == CHUNK_CONTROL ? get_control(reader, event) : get_reading(reader, event);
}

static uint64_t latest(const struct trace_reader *reader)
{
    return reader->ticks > reader->latest_ticks ? reader->ticks : reader->latest_ticks;
}

/*
 * A method entered takes two bytes at least; one more may be decoded past the payload's end before that is seen.
 * Returns -1 when there is no memory.
 */
static int make_stack(struct trace_reader *reader)
{
    size_t need = reader->chunk.payload_bytes / 2 + 4;
    if (need > reader->stack_size) {
        uint32_t *stack = realloc(reader->stack, need * sizeof *stack);
        if (stack == NULL)
            return -1;
        reader->stack = stack;
        reader->stack_size = need;
    }
    reader->top = reader->stack;
    *reader->top = NO_METHOD;
    return 0;
}

/* Go on with the events of a KERNEL, RECORDS, READINGS, CONTROL or HITS chunk. */
static enum tables_result begin_events(struct trace_reader *reader)
{
    const struct chunk *chunk = &reader->chunk;
    struct cursor c = cursor_over(chunk->payload, chunk->payload_bytes);
    uint64_t ticks = cursor_u64le(&c);
    size_t n_counters = chunk->flags & CHUNK_FLAGS_N_COUNTERS;
    const struct tables *tables = &reader->tables;
    bool with_counters = chunk->type == CHUNK_RECORDS || chunk->type == CHUNK_READINGS;
    bool without_table = reader->source.salvage && !tables->have_counters;
    if (c.bad || chunk->thread > THREAD_INDEX_MAX || n_counters > RING_COUNTERS_MAX)
        return TABLES_DAMAGED;
    bool is_plain = chunk->type == CHUNK_RECORDS && n_counters == 0;
    if (with_counters && n_counters != tables->n_recorded && !is_plain && !without_table)
        return TABLES_DAMAGED;
    if (make_stack(reader) < 0)
        return TABLES_NO_MEMORY;
    if (chunk->type == CHUNK_RECORDS)
        table_name(&reader->tables.threads, chunk->thread);
    memset(reader->counters, 0, sizeof reader->counters);
    reader->values = n_counters > 0 ? reader->counters : tables->n_recorded > 0 ? reader->not_counted : NULL;
    reader->type = chunk->type;
    reader->n_counters = n_counters;
    reader->latest_ticks = latest(reader);
    reader->ticks = ticks;
    reader->at = c.at;
    reader->end = c.end;
    return TABLES_OK;
}

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
    case CHUNK_STACKS:
    case CHUNK_CONTEXTS:
    case CHUNK_SAMPLES:
    case CHUNK_WAITS:
    case CHUNK_ALLOCATIONS:
    case CHUNK_HEAP_EVENTS:
    case CHUNK_VALUES:
        return tables_take(&reader->tables, &reader->chunk);
    case CHUNK_KERNEL:
    case CHUNK_RECORDS:
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

static int damaged(struct trace_reader *reader, struct err *err)
{
    reader->at = reader->end = NULL;
    return chunks_damaged(&reader->source, reader->chunk.offset, "the content of a chunk is impossible", err);
}

/* Read chunks until one has events.  Returns 1, 0 at the end, or -1 with *err set. */
static int next_events(struct trace_reader *reader, struct err *err)
{
    while (reader->at == reader->end) {
        if (reader->ended)
            return 0;
        int rc = chunks_next(&reader->source, &reader->chunk, err);
        if (rc > 0 && reader->size_bytes > 0)
            progress_part(&reader->progress, "reading the trace",
                          (double)reader->chunk.offset / (double)reader->size_bytes);
        else
            progress_end(&reader->progress);
        if (rc < 0)
            return -1;
        if (rc == 0) {
            reader->ended = true;
            return 0;
        }
        enum tables_result result = take_chunk(reader);
        if (result == TABLES_NO_MEMORY)
            return err_set(err, "out of memory for reading '%s'", reader->source.name);
        if (result == TABLES_DAMAGED && damaged(reader, err) < 0)
            return -1;
    }
    return 1;
}

static inline void tell_ip_sample(const struct trace_reader *reader, const struct trace_event *event)
{
    const struct trace_listener *listener = &reader->tables.listener;
    if (listener->ip_sample != NULL && (event->kind == TRACE_IP_SAMPLE || event->kind == TRACE_KERNEL_IP_SAMPLE))
        listener->ip_sample(listener->context, event);
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

int trace_next(struct trace_reader *reader, struct trace_event *event, struct err *err)
{
    for (;;) {
        if (LIKELY(reader->at != reader->end)) {
            if (LIKELY(get_event(reader, event))) {
                event->value = 0;
                if (UNLIKELY(reader->tables.values.n > 0))
                    set_value(reader, event);
                tell_ip_sample(reader, event);
                return 1;
            }
            if (damaged(reader, err) == 0)
                continue;
            reader->failed = true;
            reader->error = *err;
        }
        if (reader->failed) {
            *err = reader->error;
            return -1;
        }
        int rc = next_events(reader, err);
        if (rc == 0)
            return 0;
        if (rc < 0) {
            reader->failed = true;
            reader->error = *err;
        }
    }
}

static int read_to_end(struct trace_reader *reader, struct err *err)
{
    struct trace_event event;
    int rc;
    while ((rc = trace_next(reader, &event, err)) > 0)
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

bool trace_is_cut(const struct trace_reader *reader)
{
    return reader->ended && !reader->have_end;
}

uint64_t trace_damaged_chunks(const struct trace_reader *reader)
{
    return reader->source.n_damaged;
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
    uint64_t clock = reader->tables.last_clock[0], seen = latest(reader);
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
