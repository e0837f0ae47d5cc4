/*
 * What a trace has of samples: methods, calling contexts, stack samples, allocated objects and their classes.
 *
 * A context's number counts all before it.  Where a chunk of them was lost (salvage), later ones would get others'
 * numbers: they, and samples in them, are refused then.
 */
#include "core/base/sampled_objects.h"
#include "core/base/xalloc.h"
#include "core/trace/trace_tables.h"

void sample_tables_free(struct sample_tables *samples)
{
    free(samples->contexts);
    free(samples->methods);
    free(samples->classes);
}

/* ---- methods ---- */

static enum tables_result take_lines(struct tables *tables, struct cursor *c, struct trace_sampled_method *method)
{
    uint64_t n_bytes = cursor_number(c), n = cursor_number(c), index = 0;
    if (c->bad || n_bytes > UINT32_MAX || n > CODE_LINES_MAX || n > cursor_left(c))
        return TABLES_DAMAGED;
    struct code_line *lines = arena_alloc(&tables->arena, ((size_t)n + 1) * sizeof *lines);
    for (uint64_t i = 0; i < n; i++) {
        index += cursor_number(c);
        lines[i] = (struct code_line){ (uint32_t)index, (uint32_t)cursor_number(c) };
    }
    method->code_bytes = (uint32_t)n_bytes;
    method->lines = lines;
    method->n_lines = (uint32_t)n;
    return c->bad ? TABLES_DAMAGED : TABLES_OK;
}

static enum tables_result take_code(struct tables *tables, struct cursor *c, struct trace_sampled_method *method)
{
    uint64_t n = cursor_number(c);
    const uint8_t *bytes = n <= cursor_left(c) ? cursor_bytes(c, (size_t)n) : NULL;
    if (c->bad || bytes == NULL || (n != 0 && n != method->code_bytes))
        return TABLES_DAMAGED;
    uint8_t *code = n == 0 ? NULL : arena_alloc(&tables->arena, (size_t)n);
    if (n != 0)
        memcpy(code, bytes, (size_t)n);
    method->code = code;
    return TABLES_OK;
}

/* A method comes with the first context in it.  with_lines: since minor version 7. */
static enum tables_result take_method(struct tables *tables, struct cursor *c, uint64_t number, bool with_lines)
{
    struct sample_tables *samples = &tables->samples;
    enum tables_result result = TABLES_OK;
    struct trace_sampled_method method = { .source = "" };
    if (number != samples->n_methods)
        return TABLES_DAMAGED;
    method.names.class_name = tables_text(tables, c, NULL, &result);
    method.names.method = result == TABLES_OK ? tables_text(tables, c, NULL, &result) : NULL;
    method.names.descriptor = result == TABLES_OK ? tables_text(tables, c, NULL, &result) : NULL;
    if (result == TABLES_OK && with_lines)
        method.source = tables_text(tables, c, NULL, &result);
    if (result == TABLES_OK && with_lines)
        result = take_lines(tables, c, &method);
    if (result == TABLES_OK && with_lines)
        result = take_code(tables, c, &method);
    if (result != TABLES_OK)
        return result;
    *xpush(samples->methods, samples->methods_room, samples->n_methods) = method;
    if (tables->listener.sampled_method != NULL)
        tables->listener.sampled_method(tables->listener.context, (uint32_t)number, &samples->methods[number]);
    return TABLES_OK;
}

/* ---- contexts ---- */

static void add_context(struct tables *tables, const struct trace_context *context)
{
    struct sample_tables *samples = &tables->samples;
    *xpush(samples->contexts, samples->contexts_room, samples->n_contexts) = *context;
    if (tables->listener.context_node != NULL)
        tables->listener.context_node(tables->listener.context, (uint32_t)samples->n_contexts, context);
}

/* Parent, call site (not with STACKS), method. */
static enum tables_result take_node(struct tables *tables, struct cursor *c, bool is_context,
                                    struct trace_context *context, bool *is_named)
{
    struct sample_tables *samples = &tables->samples;
    uint64_t parent = cursor_number(c), site = is_context ? cursor_number(c) : 0, method = cursor_number(c);
    if (c->bad || parent > samples->n_contexts || method >> 1 > samples->n_methods || site > UINT16_MAX + UINT64_C(1) ||
        samples->n_contexts == TRACE_CONTEXTS_MAX)
        return TABLES_DAMAGED;
    *is_named = method & 1;
    *context = (struct trace_context){ .parent = (uint32_t)parent,
                                       .call_site = (int32_t)site - 1,
                                       .method = (uint32_t)(method >> 1) };
    context->depth = parent == 0 ? 1 : samples->contexts[parent - 1].depth + 1;
    if (context->depth > TRACE_DEPTH_MAX)
        return TABLES_TOO_DEEP;
    return *is_named || context->method < samples->n_methods ? TABLES_OK : TABLES_DAMAGED;
}

static enum tables_result take_context(struct tables *tables, struct cursor *c)
{
    struct trace_context context;
    bool is_named;
    enum tables_result result = take_node(tables, c, true, &context, &is_named);
    if (result == TABLES_OK && is_named)
        result = take_method(tables, c, context.method, true);
    if (result == TABLES_OK)
        add_context(tables, &context);
    return result;
}

/* ---- samples ---- */

static void tell(struct tables *tables, const struct trace_sample *sample)
{
    struct sample_tables *samples = &tables->samples;
    if (sample->context > 0) {
        samples->contexts[sample->context - 1].n_own += sample->n;
        samples->contexts[sample->context - 1].own_ns += sample->weight_ns;
    }
    if (tables->listener.sample != NULL)
        tables->listener.sample(tables->listener.context, sample);
}

static bool set_flags(struct trace_sample *sample, uint64_t flags)
{
    uint64_t frame = flags >> SAMPLE_FRAME_SHIFT & 7, end = flags >> SAMPLE_END_SHIFT;
    sample->in_kernel = flags & SAMPLE_FLAG_KERNEL;
    sample->is_waiting = flags & SAMPLE_FLAG_WAITING;
    sample->frame = (enum trace_frame)frame;
    sample->tier = (uint8_t)(flags >> SAMPLE_TIER_SHIFT & SAMPLE_TIER_MAX);
    sample->end = (uint8_t)end;
    return frame <= TRACE_FRAME_NATIVE && end <= SAMPLE_END_MAX;
}

static enum tables_result take_sample(struct tables *tables, struct cursor *c, uint64_t *ticks)
{
    struct sample_tables *samples = &tables->samples;
    uint64_t since = cursor_number(c), thread = cursor_number(c), context = cursor_number(c), index = cursor_number(c);
    struct trace_sample sample = { .counters = samples->counters };
    bool is_possible = set_flags(&sample, cursor_number(c));
    sample.n = cursor_number(c);
    sample.weight_ns = cursor_number(c);
    uint64_t n_counters = cursor_number(c);
    if (c->bad || !is_possible || thread > THREAD_INDEX_MAX + UINT64_C(1) || context > samples->n_contexts ||
        index > UINT16_MAX + UINT64_C(1) || n_counters > TRACE_SAMPLE_COUNTERS_MAX)
        return TABLES_DAMAGED;
    for (uint64_t i = 0; i < n_counters; i++)
        samples->counters[i] = cursor_number(c);
    if (c->bad)
        return TABLES_DAMAGED;
    *ticks += since >> 1 ^ (0 - (since & 1));
    sample.ticks = *ticks;
    sample.thread = thread == 0 ? TRACE_NO_THREAD : (uint32_t)thread - 1;
    sample.context = (uint32_t)context;
    sample.index = (int32_t)index - 1;
    sample.n_counters = (uint32_t)n_counters;
    if (thread > 0)
        table_name(&tables->threads, sample.thread);
    tell(tables, &sample);
    return TABLES_OK;
}

/* ---- allocations ---- */

static enum tables_result take_class(struct tables *tables, struct cursor *c, uint64_t number)
{
    struct sample_tables *samples = &tables->samples;
    enum tables_result result = TABLES_OK;
    if (number != samples->n_classes)
        return TABLES_DAMAGED;
    const char *name = tables_text(tables, c, NULL, &result);
    if (result == TABLES_OK)
        *xpush(samples->classes, samples->classes_room, samples->n_classes) = name;
    return result;
}

static enum tables_result take_allocation(struct tables *tables, struct cursor *c, uint64_t *ticks)
{
    struct sample_tables *samples = &tables->samples;
    uint64_t since = cursor_number(c), thread = cursor_number(c), context = cursor_number(c), index = cursor_number(c);
    uint64_t class_number = cursor_number(c);
    if (c->bad || thread > THREAD_INDEX_MAX || context > samples->n_contexts || index > UINT16_MAX + UINT64_C(1))
        return TABLES_DAMAGED;
    enum tables_result result = class_number & 1 ? take_class(tables, c, class_number >> 1) : TABLES_OK;
    if (result != TABLES_OK)
        return result;
    struct trace_allocation allocation = { .thread = (uint32_t)thread,
                                           .context = (uint32_t)context,
                                           .index = (int32_t)index - 1 };
    allocation.size_bytes = cursor_number(c);
    allocation.mean_bytes = cursor_number(c);
    if (c->bad || class_number >> 1 >= samples->n_classes)
        return TABLES_DAMAGED;
    *ticks += since >> 1 ^ (0 - (since & 1));
    allocation.ticks = *ticks;
    allocation.class_number = (uint32_t)(class_number >> 1);
    allocation.class_name = samples->classes[allocation.class_number];
    table_name(&tables->threads, allocation.thread);
    samples->n_allocations++;
    if (tables->listener.allocation != NULL)
        tables->listener.allocation(tables->listener.context, &allocation);
    return TABLES_OK;
}

static enum tables_result take_heap_event(struct tables *tables, struct cursor *c, uint64_t *ticks)
{
    uint64_t since = cursor_number(c), kind = cursor_number(c), number = cursor_number(c);
    bool is_object = kind == TRACE_HEAP_FREED || kind == TRACE_HEAP_DROPPED;
    if (c->bad || kind >= TRACE_HEAP_KINDS || (is_object && number >= tables->samples.n_allocations))
        return TABLES_DAMAGED;
    *ticks += since >> 1 ^ (0 - (since & 1));
    const struct trace_heap_event event = { *ticks, (enum trace_heap_kind)kind, number };
    if (tables->listener.heap_event != NULL)
        tables->listener.heap_event(tables->listener.context, &event);
    return TABLES_OK;
}

/* When it began, how long that was, and what rose meanwhile. */
static enum tables_result take_pressure(struct tables *tables, struct cursor *c, uint64_t *ticks)
{
    uint64_t since = cursor_number(c), length = cursor_number(c);
    struct trace_pressure pressure;
    for (int i = 0; i < TRACE_PRESSURES; i++)
        pressure.values[i] = cursor_number(c);
    *ticks += since >> 1 ^ (0 - (since & 1));
    if (c->bad || length > UINT64_MAX - *ticks)
        return TABLES_DAMAGED;
    pressure.start_ticks = *ticks;
    pressure.end_ticks = *ticks + length;
    if (tables->listener.pressure != NULL)
        tables->listener.pressure(tables->listener.context, &pressure);
    return TABLES_OK;
}

static enum tables_result take_code_change(struct tables *tables, struct cursor *c, uint64_t *ticks)
{
    enum tables_result result = TABLES_OK;
    uint64_t since = cursor_number(c), context = cursor_number(c);
    const char *what = tables_text(tables, c, tables->samples.change, &result);
    uint64_t n = cursor_number(c);
    if (result != TABLES_OK || c->bad || context == 0 || context > tables->samples.n_contexts)
        return TABLES_DAMAGED;
    *ticks += since >> 1 ^ (0 - (since & 1));
    const struct trace_code_change change = { *ticks, (uint32_t)context, tables->samples.change = what, n };
    if (tables->listener.code != NULL)
        tables->listener.code(tables->listener.context, &change);
    return TABLES_OK;
}

const char *trace_pressure_key(enum trace_pressure_kind kind)
{
    static const char *const keys[TRACE_PRESSURES] = { "throttled",          "throttled_ns",   "cpu_pressure_ns",
                                                       "memory_pressure_ns", "io_pressure_ns", "memory_limit_hits",
                                                       "oom_kills" };
    return keys[kind];
}

double trace_allocation_objects(const struct trace_allocation *allocation)
{
    return sampled_objects((double)allocation->size_bytes, (double)allocation->mean_bytes);
}

/* ---- before minor version 7 ---- */

/* A context with all of its samples. */
static enum tables_result take_stack(struct tables *tables, struct cursor *c)
{
    struct trace_context context;
    bool is_named;
    enum tables_result result = take_node(tables, c, false, &context, &is_named);
    struct trace_sample sample = { .ticks = TRACE_UNKNOWN, .thread = TRACE_NO_THREAD, .index = -1 };
    sample.weight_ns = cursor_number(c);
    sample.n = cursor_number(c);
    if (c->bad)
        return TABLES_DAMAGED;
    if (result == TABLES_OK && is_named)
        result = take_method(tables, c, context.method, false);
    if (result != TABLES_OK)
        return result;
    add_context(tables, &context);
    sample.context = (uint32_t)tables->samples.n_contexts;
    tell(tables, &sample);
    return TABLES_OK;
}

enum tables_result sample_tables_take(struct tables *tables, enum chunk_type type, struct cursor *c)
{
    enum tables_result result = TABLES_OK;
    uint64_t ticks = type == CHUNK_CONTEXTS || type == CHUNK_STACKS ? 0 : cursor_u64le(c);
    if (type == CHUNK_CONTEXTS && cursor_number(c) != tables->samples.n_contexts)
        return TABLES_DAMAGED;
    while (result == TABLES_OK && cursor_left(c) > 0)
        result = type == CHUNK_CONTEXTS      ? take_context(tables, c)
                 : type == CHUNK_SAMPLES     ? take_sample(tables, c, &ticks)
                 : type == CHUNK_ALLOCATIONS ? take_allocation(tables, c, &ticks)
                 : type == CHUNK_HEAP_EVENTS ? take_heap_event(tables, c, &ticks)
                 : type == CHUNK_PRESSURE    ? take_pressure(tables, c, &ticks)
                 : type == CHUNK_CODE        ? take_code_change(tables, c, &ticks)
                                             : take_stack(tables, c);
    return c->bad ? TABLES_DAMAGED : result;
}
