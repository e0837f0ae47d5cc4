#include "core/trace/trace_tables.h"

#include "core/base/xalloc.h"

#define PAGE_BITS 6
#define PAGE_SIZE (1u << PAGE_BITS)
#define N_PAGES   ((RING_METHOD_MAX + 1) >> PAGE_BITS) /* threads have as many numbers as methods */

void *table_get(const struct trace_table *table, uint32_t i)
{
    if (i >> PAGE_BITS >= N_PAGES || table->pages[i >> PAGE_BITS] == NULL)
        return NULL;
    return table->pages[i >> PAGE_BITS][i & (PAGE_SIZE - 1)];
}

/* The thing of size_bytes (zeroed when new) under a number. */
static void *table_make(struct tables *tables, struct trace_table *table, uint32_t i, size_t size_bytes)
{
    void ***page = &table->pages[i >> PAGE_BITS];
    if (*page == NULL)
        *page = arena_alloc(&tables->arena, PAGE_SIZE * sizeof **page);
    void **slot = &(*page)[i & (PAGE_SIZE - 1)];
    if (*slot == NULL)
        *slot = arena_alloc(&tables->arena, size_bytes);
    table_name(table, i);
    return *slot;
}

void tables_init(struct tables *tables)
{
    memset(tables, 0, sizeof *tables);
    tables->info.arena = &tables->arena;
    tables->methods.pages = xcalloc(N_PAGES, sizeof *tables->methods.pages);
    tables->threads.pages = xcalloc(N_PAGES, sizeof *tables->threads.pages);
    tables->values.pages = xcalloc(N_PAGES, sizeof *tables->values.pages);
}

void tables_free(struct tables *tables)
{
    map_free(&tables->info);
    free(tables->info_keys);
    free(tables->info_values);
    free(tables->methods.pages);
    free(tables->threads.pages);
    free(tables->values.pages);
    free(tables->collections);
    sample_tables_free(&tables->samples);
    wait_tables_free(&tables->waits);
    arena_free(&tables->arena);
}

static enum tables_result take_info(struct tables *tables, struct cursor *c)
{
    enum tables_result result = TABLES_OK;
    const char *key = tables_text(tables, c, NULL, &result);
    if (key == NULL)
        return result;
    const uint32_t *known = map_get(&tables->info, key, strlen(key));
    uint32_t i = known != NULL ? *known : tables->n_info;
    const char *value = tables_text(tables, c, known != NULL ? tables->info_values[i] : NULL, &result);
    if (value == NULL)
        return result;
    if (known == NULL) {
        uint32_t room = tables->n_info_room;
        xgrow(tables->info_values, room, i + 1);
        *xpush(tables->info_keys, tables->n_info_room, tables->n_info) = key;
        map_put(&tables->info, key, strlen(key), i);
    }
    tables->info_values[i] = value;
    if (tables->listener.info != NULL)
        tables->listener.info(tables->listener.context, key, value);
    return TABLES_OK;
}

static enum tables_result take_clock(struct tables *tables, struct cursor *c)
{
    uint64_t *point = tables->last_clock;
    for (size_t i = 0; i < 3; i++)
        point[i] = cursor_u64le(c);
    if (c->bad)
        return TABLES_DAMAGED;
    if (tables->n_clock_points++ == 0)
        memcpy(tables->first_clock, point, sizeof tables->first_clock);
    if (tables->listener.clock != NULL)
        tables->listener.clock(tables->listener.context, point[0], point[1], point[2]);
    return TABLES_OK;
}

static enum tables_result take_counter(struct tables *tables, struct cursor *c)
{
    enum tables_result result = TABLES_OK;
    if (tables->n_counters == TRACE_COUNTERS_MAX)
        return TABLES_DAMAGED;
    struct trace_counter *counter = &tables->counters[tables->n_counters];
    uint64_t flags = cursor_number(c), kind = flags >> COUNTER_KIND_SHIFT & 3, group = flags >> COUNTER_GROUP_SHIFT;
    counter->in_records = flags & COUNTER_FLAG_IN_RECORDS;
    if (c->bad || kind > TRACE_COUNTER_ENABLED_NS || group >= TRACE_COUNTERS_MAX ||
        tables->n_recorded + counter->in_records > TRACE_COLUMNS_MAX)
        return TABLES_DAMAGED;
    counter->kind = (enum trace_counter_kind)kind;
    counter->group = (uint32_t)group;
    counter->name = tables_text(tables, c, NULL, &result);
    counter->why = result == TABLES_OK ? tables_text(tables, c, NULL, &result) : NULL;
    if (result != TABLES_OK)
        return result;
    tables->n_counters++;
    tables->n_recorded += counter->in_records;
    if (tables->listener.counter != NULL)
        tables->listener.counter(tables->listener.context, counter);
    return TABLES_OK;
}

static enum tables_result take_thread(struct tables *tables, struct cursor *c)
{
    enum tables_result result = TABLES_OK;
    uint64_t index = cursor_number(c);
    if (c->bad || index > THREAD_INDEX_MAX)
        return TABLES_DAMAGED;
    struct trace_thread *slot = table_make(tables, &tables->threads, (uint32_t)index, sizeof *slot);
    struct trace_thread thread = { .index = (uint32_t)index, .cpu_time = slot->cpu_time };
    thread.has_ring = cursor_number(c) & THREAD_FLAG_RING;
    thread.tid = (int32_t)cursor_u32le(c);
    thread.start_ticks = cursor_u64le(c);
    thread.end_ticks = cursor_u64le(c);
    thread.n_lost = cursor_number(c);
    thread.name = tables_text(tables, c, slot->name, &result);
    thread.comm = result == TABLES_OK ? tables_text(tables, c, slot->comm, &result) : NULL;
    if (result != TABLES_OK)
        return result;
    *slot = thread;
    if (tables->listener.thread != NULL)
        tables->listener.thread(tables->listener.context, slot);
    return TABLES_OK;
}

/* Of a thread, whether it is defined already or not. */
static enum tables_result take_charge(struct tables *tables, struct cursor *c)
{
    uint64_t index = cursor_number(c);
    struct trace_cpu_time cpu_time = { .is_known = true };
    cpu_time.accounted_ns = cursor_number(c);
    cpu_time.slices_ns = cursor_number(c);
    cpu_time.n_slices = cursor_number(c);
    if (c->bad || index > THREAD_INDEX_MAX)
        return TABLES_DAMAGED;
    struct trace_thread *slot = table_make(tables, &tables->threads, (uint32_t)index, sizeof *slot);
    slot->index = (uint32_t)index;
    slot->cpu_time = cpu_time;
    if (tables->listener.cpu_time != NULL)
        tables->listener.cpu_time(tables->listener.context, slot);
    return TABLES_OK;
}

/* Numbers first, then texts; what is not whole leaves the slot as it was, with no name when it is new. */
static enum tables_result take_method(struct tables *tables, struct cursor *c, const struct trace_method **before)
{
    enum tables_result result = TABLES_OK;
    uint64_t id = cursor_number(c), flags = cursor_number(c), line = cursor_number(c), n_bytes = cursor_number(c);
    if (c->bad || id > RING_METHOD_MAX || line > UINT32_MAX || n_bytes > UINT32_MAX)
        return TABLES_DAMAGED;
    struct trace_method *slot = table_make(tables, &tables->methods, (uint32_t)id, sizeof *slot);
    const struct trace_method *near = *before == NULL ? slot : *before;
    struct trace_method method = { .id = (uint32_t)id, .first_line = (uint32_t)line, .code_bytes = (uint32_t)n_bytes };
    method.has_loop = flags & METHOD_FLAG_LOOP;
    method.names.class_name = tables_text(tables, c, near->names.class_name, &result);
    method.names.method = result == TABLES_OK ? tables_text(tables, c, slot->names.method, &result) : NULL;
    method.names.descriptor = result == TABLES_OK ? tables_text(tables, c, slot->names.descriptor, &result) : NULL;
    method.source = result == TABLES_OK ? tables_text(tables, c, near->source, &result) : NULL;
    if (result != TABLES_OK)
        return result;
    *slot = method;
    *before = slot;
    if (tables->listener.method != NULL)
        tables->listener.method(tables->listener.context, slot);
    return TABLES_OK;
}

static enum tables_result take_value(struct tables *tables, struct cursor *c)
{
    enum tables_result result = TABLES_OK;
    uint64_t id = cursor_number(c), method = cursor_number(c), kind = cursor_number(c);
    if (c->bad || id == 0 || id > RING_METHOD_MAX || method > RING_METHOD_MAX || kind >= VALUE_KINDS)
        return TABLES_DAMAGED;
    struct trace_value *slot = table_make(tables, &tables->values, (uint32_t)id, sizeof *slot);
    const char *text = tables_text(tables, c, slot->text, &result);
    if (text == NULL)
        return result;
    *slot = (struct trace_value){ (uint32_t)id, (uint32_t)method, (enum value_kind)kind, text };
    table_name(&tables->methods, slot->method);
    if (tables->listener.value != NULL)
        tables->listener.value(tables->listener.context, slot);
    return TABLES_OK;
}

const char *trace_value_text(const struct trace_value *value)
{
    static const char *const names[] = { [VALUE_NULL] = "null",
                                         [VALUE_OTHER] = "(other)",
                                         [VALUE_EXCEPTION] = "(exception)",
                                         [VALUE_NO_METHOD] = "(no such method)" };
    return value->kind == VALUE_TEXT ? value->text : names[value->kind];
}

static enum tables_result take_jit(struct tables *tables, struct cursor *c)
{
    if (jit_events_get(c, &tables->jit) <= 0)
        return TABLES_DAMAGED;
    if (tables->listener.jit != NULL)
        tables->listener.jit(tables->listener.context, &tables->jit);
    return TABLES_OK;
}

static enum tables_result take_location(struct tables *tables, struct cursor *c)
{
    if (locations_get(c, &tables->location) < 0)
        return TABLES_DAMAGED;
    if (tables->listener.location != NULL)
        tables->listener.location(tables->listener.context, &tables->location);
    return TABLES_OK;
}

/* The thread; the location, and whether the kernel worked for it; the event; how many of it. */
static enum tables_result take_event_sample(struct tables *tables, struct cursor *c)
{
    struct trace_event_sample sample = { .thread = cursor_below(c, THREAD_INDEX_MAX + 1) };
    uint32_t where = cursor_below(c, 2 * LOCATION_NUMBERS_MAX);
    sample.location = where >> IP_SAMPLE_FLAG_BITS;
    sample.in_kernel = (where & IP_SAMPLE_FLAG_KERNEL) != 0;
    sample.event = cursor_below(c, TRACE_SAMPLE_COUNTERS_MAX);
    sample.weight = cursor_varint(c);
    if (c->bad)
        return TABLES_DAMAGED;
    table_name(&tables->threads, sample.thread);
    if (tables->listener.event_sample != NULL)
        tables->listener.event_sample(tables->listener.context, &sample);
    return TABLES_OK;
}

/* Methods are told of in the log only: here they are among LOCATIONS. */
static enum tables_result take_miss(struct tables *tables, enum chunk_type type, struct cursor *c)
{
    if (misses_get(c, &tables->miss) < 0 || tables->miss.kind == MISS_METHOD || misses_chunk(tables->miss.kind) != type)
        return TABLES_DAMAGED;
    if (tables->listener.miss != NULL)
        tables->listener.miss(tables->listener.context, &tables->miss);
    return TABLES_OK;
}

static enum tables_result take_collection(struct tables *tables, struct cursor *c)
{
    static const struct trace_collection none;
    enum tables_result result = TABLES_OK;
    size_t n = tables->n_collections;
    const struct trace_collection *before = n == 0 ? &none : &tables->collections[n - 1];
    struct trace_collection collection = { .start_ticks = cursor_u64le(c) };
    collection.ns = cursor_number(c);
    collection.n_missed = cursor_number(c);
    collection.name = tables_text(tables, c, before->name, &result);
    collection.cause = result == TABLES_OK ? tables_text(tables, c, before->cause, &result) : NULL;
    if (result != TABLES_OK)
        return result;
    *xpush(tables->collections, tables->n_collections_room, tables->n_collections) = collection;
    if (tables->listener.collection != NULL)
        tables->listener.collection(tables->listener.context, &collection);
    return TABLES_OK;
}

static enum tables_result take_entry(struct tables *tables, enum chunk_type type, struct cursor *c,
                                     const struct trace_method **before)
{
    switch (type) {
    case CHUNK_INFO:
        return take_info(tables, c);
    case CHUNK_CLOCK:
        return take_clock(tables, c);
    case CHUNK_COUNTERS:
        return take_counter(tables, c);
    case CHUNK_THREADS:
        return take_thread(tables, c);
    case CHUNK_METHODS:
        return take_method(tables, c, before);
    case CHUNK_VALUES:
        return take_value(tables, c);
    case CHUNK_JIT:
        return take_jit(tables, c);
    case CHUNK_LOCATIONS:
        return take_location(tables, c);
    case CHUNK_EVENT_SAMPLES:
        return take_event_sample(tables, c);
    case CHUNK_CPU_TIMES:
        return take_charge(tables, c);
    case CHUNK_COLLECTIONS:
        return take_collection(tables, c);
    case CHUNK_MISSES:
    case CHUNK_ACCESSES:
    case CHUNK_HEAP:
    case CHUNK_BYTECODES:
        return take_miss(tables, type, c);
    default:
        return TABLES_DAMAGED;
    }
}

enum tables_result tables_take(struct tables *tables, const struct chunk *chunk)
{
    struct cursor c = cursor_over(chunk->payload, chunk->payload_bytes);
    const struct trace_method *before = NULL;
    enum tables_result result = TABLES_OK;
    if (chunk->type == CHUNK_COUNTERS && tables->have_counters)
        return TABLES_DAMAGED;
    tables->have_counters = tables->have_counters || chunk->type == CHUNK_COUNTERS;
    if (chunk->type == CHUNK_WAITS || chunk->type == CHUNK_VIRTUAL_WAITS)
        return wait_tables_take(tables, chunk->type, &c);
    if (chunk->type == CHUNK_STACKS || chunk->type == CHUNK_CONTEXTS || chunk->type == CHUNK_SAMPLES ||
        chunk->type == CHUNK_ALLOCATIONS || chunk->type == CHUNK_HEAP_EVENTS || chunk->type == CHUNK_PRESSURE ||
        chunk->type == CHUNK_CODE)
        return sample_tables_take(tables, chunk->type, &c);
    while (result == TABLES_OK && cursor_left(&c) > 0)
        result = take_entry(tables, chunk->type, &c, &before);
    return result;
}
