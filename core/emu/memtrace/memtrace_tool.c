/*
 * libmmprof-memtrace.so: the tool that writes address traces; nothing but mmprof_tool.h is between it and the program.
 *
 * argument  words between commas: 'objects' (no accesses), 'all-threads' (the JVM's own, too), 'last-uses' (where each
 *           object is used last, and calls), 'interval=BYTES' (only one object in so many bytes is told)
 *
 * What describes is written before the accesses that it is for.
 */
#include "core/emu/memtrace/memtrace.h"
#include "core/emu/tool/mmprof_tool.h"

#define ENTRIES_BYTES ((size_t)64 * 1024)
#define VALUES_BYTES  ((size_t)1 << 20)
#define FRONT_BYTES   32 /* of a chunk of accesses, at most */
#define INTERVAL_WORD "interval="
#define CALL_BYTES    ((uint64_t)16 << 10) /* calls in which fewer bytes are created are not written */

/* A thread's accesses that are not yet written. */
struct stream {
    struct stream *next;
    const struct mmprof_thread *thread;
    uint64_t time; /* of the first */
    uint32_t n;
    size_t n_values;
    struct memtrace_coder coder;
    uint8_t flags[MEMTRACE_ACCESSES_MAX];
    uint8_t values[VALUES_BYTES];
};

static struct {
    struct stream *streams;
    uint64_t n_accesses;
    size_t n_entries;
    bool has_failed, has_last_uses;
    uint8_t entries[ENTRIES_BYTES];
    uint8_t chunk[FRONT_BYTES + MEMTRACE_ACCESSES_MAX + VALUES_BYTES];
} state;

static void write_entries(void)
{
    if (state.n_entries > 0 && !state.has_failed)
        state.has_failed = memtrace_write_chunk(mmprof_out, MEMTRACE_ENTRIES, state.entries, state.n_entries) < 0;
    state.n_entries = 0;
}

static void put(const struct memtrace_entry *entry)
{
    if (ENTRIES_BYTES - state.n_entries < MEMTRACE_ENTRY_BYTES)
        write_entries();
    struct sink s = sink_into(state.entries + state.n_entries, ENTRIES_BYTES - state.n_entries);
    memtrace_put(&s, entry);
    state.n_entries = (size_t)(s.at - state.entries);
}

static void write_stream(struct stream *stream)
{
    if (stream->n == 0 || state.has_failed)
        return;
    write_entries();
    struct sink s = sink_into(state.chunk, sizeof state.chunk);
    sink_varint(&s, stream->thread->number);
    sink_varint(&s, stream->time);
    sink_varint(&s, stream->n);
    sink_bytes(&s, stream->flags, stream->n);
    sink_bytes(&s, stream->values, stream->n_values);
    state.has_failed =
        memtrace_write_chunk(mmprof_out, MEMTRACE_ACCESSES, state.chunk, (size_t)(s.at - state.chunk)) < 0;
    stream->n = 0;
    stream->n_values = 0;
    memset(&stream->coder, 0, sizeof stream->coder);
}

/* ---- what is described once: then 'user' is set ---- */

static char is_known;

static uint32_t class_number(struct mmprof_class *class_of)
{
    if (class_of->user == NULL) {
        class_of->user = &is_known;
        put(&(struct memtrace_entry){
            .kind = MEMTRACE_CLASS, .number = class_of->number, .name = wire_text(class_of->name) });
    }
    return class_of->number;
}

static uint32_t method_number(struct mmprof_method *method)
{
    if (method->user == NULL) {
        method->user = &is_known;
        put(&(struct memtrace_entry){ .kind = MEMTRACE_METHOD,
                                      .number = method->number,
                                      .class_name = wire_text(method->class_name),
                                      .name = wire_text(method->name),
                                      .descriptor = wire_text(method->descriptor),
                                      .source = wire_text(method->source) });
    }
    return method->number;
}

static uint32_t location_number(struct mmprof_location *location)
{
    if (location == NULL)
        return MEMTRACE_NO_NUMBER;
    if (location->user == NULL) {
        location->user = &is_known;
        uint32_t method = method_number(location->method);
        put(&(struct memtrace_entry){
            .kind = MEMTRACE_LOCATION, .number = location->number, .method = method, .line = location->line });
    }
    return location->number;
}

/* ---- events ---- */

static void on_thread(struct mmprof_thread *thread)
{
    put(&(struct memtrace_entry){
        .kind = MEMTRACE_THREAD, .number = thread->number, .tid = thread->tid, .name = wire_text(thread->name) });
}

static void on_thread_end(struct mmprof_thread *thread)
{
    struct stream *stream = thread->user, **at = &state.streams;
    if (stream == NULL)
        return;
    write_stream(stream);
    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
    free(stream);
    thread->user = NULL;
}

static struct stream *stream_of(struct mmprof_thread *thread)
{
    if (thread->user == NULL) {
        struct stream *stream = calloc(1, sizeof *stream);
        if (stream == NULL)
            return NULL;
        stream->thread = thread;
        stream->next = state.streams;
        state.streams = stream;
        thread->user = stream;
    }
    return thread->user;
}

static uint32_t info_of(const struct mmprof_access *a)
{
    uint32_t log2 = a->bytes >= 8 ? 3 : a->bytes >= 4 ? 2 : a->bytes >= 2 ? 1 : 0;
    return log2 | (a->is_store ? MEMTRACE_STORE : 0u) | (a->is_java ? MEMTRACE_JAVA : 0u) |
           (a->is_vm ? MEMTRACE_VM : 0u) | (a->is_collecting ? MEMTRACE_COLLECTING : 0u) |
           (a->is_heap ? MEMTRACE_HEAP : 0u);
}

static void on_access(const struct mmprof_access *a)
{
    struct stream *stream = stream_of(a->thread);
    if (stream == NULL) {
        state.has_failed = true;
        return;
    }
    const struct memtrace_entry access = { .instruction = a->instruction,
                                           .address = a->address,
                                           .object = a->object == NULL ? 0 : a->object->number + 1,
                                           .info = info_of(a) };
    if (stream->n == 0)
        stream->time = a->time - a->is_java; /* before it */
    struct sink values = sink_into(stream->values + stream->n_values, VALUES_BYTES - stream->n_values);
    stream->flags[stream->n++] = memtrace_encode(&stream->coder, &access, &values);
    stream->n_values = (size_t)(values.at - stream->values);
    state.n_accesses++;
    if (stream->n == MEMTRACE_ACCESSES_MAX || VALUES_BYTES - stream->n_values < MEMTRACE_VALUES_BYTES)
        write_stream(stream);
}

static void on_created(struct mmprof_object *object)
{
    uint32_t class_of = class_number(object->class_of), location = location_number(object->site);
    put(&(struct memtrace_entry){ .kind = MEMTRACE_CREATED,
                                  .object = object->number,
                                  .class_number = class_of,
                                  .location = location,
                                  .thread = object->thread->number,
                                  .address = object->address,
                                  .bytes = object->bytes,
                                  .time = object->created });
}

static void on_moved(struct mmprof_object *object, uint64_t from)
{
    (void)from;
    put(&(struct memtrace_entry){ .kind = MEMTRACE_MOVED, .object = object->number, .address = object->address });
}

static void put_last_use(struct mmprof_object *object)
{
    uint32_t location = location_number(object->last_site),
             method = object->common == NULL ? MEMTRACE_NO_NUMBER : method_number(object->common);
    put(&(struct memtrace_entry){ .kind = MEMTRACE_LAST_USE,
                                  .object = object->number,
                                  .location = location,
                                  .method = method,
                                  .info = (object->has_changed_thread ? MEMTRACE_OTHER_THREAD : 0u) |
                                          (object->is_by_c2 ? MEMTRACE_BY_C2 : 0u) });
}

static void on_died(struct mmprof_object *object, bool has_died)
{
    if (state.has_last_uses)
        put_last_use(object);
    put(&(struct memtrace_entry){ .kind = MEMTRACE_DIED,
                                  .object = object->number,
                                  .class_number = class_number(object->class_of),
                                  .location = location_number(object->site),
                                  .bytes = object->bytes,
                                  .has_died = has_died,
                                  .created = object->created,
                                  .lifetime = object->last_used - object->created,
                                  .n_uses = object->n_uses });
}

static void on_call(const struct mmprof_call *call)
{
    if (call->bytes < CALL_BYTES)
        return;
    uint32_t method = call->method == NULL ? MEMTRACE_NO_NUMBER : method_number(call->method);
    put(&(struct memtrace_entry){ .kind = MEMTRACE_CALL,
                                  .method = method,
                                  .thread = call->thread->number,
                                  .line = call->depth,
                                  .created = call->began,
                                  .time = call->ended,
                                  .bytes = call->bytes });
}

static void on_collection(uint64_t time)
{
    put(&(struct memtrace_entry){ .kind = MEMTRACE_COLLECTION, .time = time });
}

static void on_compiled(const struct mmprof_code *code)
{
    uint32_t method = method_number(code->method);
    put(&(struct memtrace_entry){
        .kind = MEMTRACE_CODE, .method = method, .address = code->start, .bytes = code->bytes });
    if (state.has_last_uses && code->is_by_c2)
        put(&(struct memtrace_entry){ .kind = MEMTRACE_C2, .method = method, .time = code->time });
}

static void on_end(uint64_t time)
{
    uint8_t bytes[MEMTRACE_ENTRY_BYTES];
    struct sink s = sink_into(bytes, sizeof bytes);
    for (struct stream *stream = state.streams; stream != NULL; stream = stream->next)
        write_stream(stream);
    write_entries();
    memtrace_put(&s, &(struct memtrace_entry){ .kind = MEMTRACE_TOTALS, .time = time, .n_accesses = state.n_accesses });
    if (!state.has_failed) /* without it the reader knows that the file is cut */
        memtrace_write_chunk(mmprof_out, MEMTRACE_END, bytes, (size_t)(s.at - bytes));
}

static const char *on_begin(const char *argument);

MMPROF_TOOL(.begin = on_begin, .thread_began = on_thread, .thread_ended = on_thread_end, .access = on_access,
            .object_created = on_created, .object_moved = on_moved, .object_died = on_died,
            .method_compiled = on_compiled, .call_ended = on_call, .collection_ended = on_collection, .end = on_end)

static const char *on_begin(const char *argument)
{
    mmprof_tool.want_callers = state.has_last_uses = strstr(argument, "last-uses") != NULL;
    if (strstr(argument, "objects") != NULL || state.has_last_uses)
        mmprof_tool.access = NULL;
    mmprof_tool.want_vm_threads = strstr(argument, "all-threads") != NULL;
    if (memtrace_write_header(mmprof_out) < 0)
        return "the file cannot be written";
    const char *interval = strstr(argument, INTERVAL_WORD);
    if (interval != NULL)
        put(&(struct memtrace_entry){ .kind = MEMTRACE_INTERVAL,
                                      .bytes = strtoull(interval + strlen(INTERVAL_WORD), NULL, 10) });
    return NULL;
}
