/* What a trace has of threads off the CPU: each wait, and the classes of the locks. */
#include "core/base/xalloc.h"
#include "core/trace/trace_tables.h"

static const struct {
    const char *key, *name;
} causes[TRACE_CAUSES] = {
    [TRACE_CAUSE_UNKNOWN] = { "other", "other" },
    [TRACE_CAUSE_ON_CPU] = { "on_cpu", "on a CPU" },
    [TRACE_CAUSE_READY] = { "run_queue", "run queue" },
    [TRACE_CAUSE_MONITOR] = { "monitor", "monitor" },
    [TRACE_CAUSE_LOCK] = { "lock", "lock" },
    [TRACE_CAUSE_PARK] = { "park", "park" },
    [TRACE_CAUSE_WAIT] = { "object_wait", "Object.wait" },
    [TRACE_CAUSE_SLEEP] = { "sleep", "sleep" },
    [TRACE_CAUSE_SOCKET] = { "socket", "socket I/O" },
    [TRACE_CAUSE_FILE] = { "file", "file I/O" },
    [TRACE_CAUSE_PAGE] = { "page_fault", "page fault" },
    [TRACE_CAUSE_JVM] = { "jvm", "JVM" },
};

const char *trace_cause_key(enum trace_cause cause)
{
    return causes[cause].key;
}

const char *trace_cause_name(enum trace_cause cause)
{
    return causes[cause].name;
}

void wait_tables_free(struct wait_tables *waits)
{
    free(waits->classes);
}

/* The name of a class: "" for 0, of a new number from what follows. */
static const char *take_class(struct tables *tables, struct cursor *c, enum tables_result *result)
{
    struct wait_tables *waits = &tables->waits;
    uint64_t number = cursor_number(c);
    if (number <= waits->n_classes)
        return number == 0 ? "" : waits->classes[number - 1];
    *result = number != waits->n_classes + 1 || number > TRACE_CLASSES_MAX ? TABLES_DAMAGED : TABLES_OK;
    const char *name = *result == TABLES_OK ? tables_text(tables, c, NULL, result) : NULL;
    if (name == NULL)
        return NULL;
    return *xpush(waits->classes, waits->room, waits->n_classes) = name;
}

static uint64_t signed_of(uint64_t number)
{
    return number >> 1 ^ (0 - (number & 1));
}

static bool set_site(const struct tables *tables, struct cursor *c, struct trace_wait *wait)
{
    uint64_t thread = cursor_number(c), cause = cursor_number(c), context = cursor_number(c), index = cursor_number(c);
    uint64_t end = cursor_number(c);
    wait->thread = (uint32_t)thread;
    wait->cause = (enum trace_cause)(cause >> 1);
    wait->is_same = cause & 1;
    wait->context = (uint32_t)context;
    wait->index = (int32_t)index - 1;
    wait->end = (uint8_t)end;
    wait->n = cursor_number(c);
    wait->weight_ns = cursor_number(c);
    return !c->bad && thread <= THREAD_INDEX_MAX && cause >> 1 < TRACE_CAUSES &&
           context <= tables->samples.n_contexts && index <= UINT16_MAX + UINT64_C(1) && end <= SAMPLE_END_MAX;
}

static enum tables_result take_wait(struct tables *tables, struct cursor *c, uint64_t *ticks)
{
    struct trace_wait wait = { .owner = TRACE_NO_THREAD };
    enum tables_result result = TABLES_OK;
    uint64_t since = cursor_number(c);
    if (!set_site(tables, c, &wait))
        return TABLES_DAMAGED;
    wait.lock_class = take_class(tables, c, &result);
    if (result != TABLES_OK)
        return result;
    uint64_t owner = cursor_number(c), owner_context = cursor_number(c);
    if (c->bad || owner > THREAD_INDEX_MAX + UINT64_C(1) || owner_context > tables->samples.n_contexts)
        return TABLES_DAMAGED;
    wait.ticks = *ticks += signed_of(since);
    wait.owner = owner == 0 ? TRACE_NO_THREAD : (uint32_t)owner - 1;
    wait.owner_context = (uint32_t)owner_context;
    table_name(&tables->threads, wait.thread);
    if (tables->listener.wait != NULL)
        tables->listener.wait(tables->listener.context, &wait);
    return TABLES_OK;
}

static enum tables_result take_virtual_wait(struct tables *tables, struct cursor *c, uint64_t *ticks)
{
    enum tables_result result = TABLES_OK;
    uint64_t since = cursor_number(c), cause = cursor_number(c), context = cursor_number(c), index = cursor_number(c);
    uint64_t end = cursor_number(c);
    struct trace_virtual_wait wait = {
        .cause = (enum trace_cause)cause, .context = (uint32_t)context, .index = (int32_t)index - 1, .end = (uint8_t)end
    };
    wait.n = cursor_number(c);
    wait.weight_ns = cursor_number(c);
    if (c->bad || cause >= TRACE_CAUSES || context > tables->samples.n_contexts || index > UINT16_MAX + UINT64_C(1) ||
        end > SAMPLE_END_MAX)
        return TABLES_DAMAGED;
    wait.lock_class = tables_text(tables, c, tables->waits.virtual_class, &result);
    if (result != TABLES_OK)
        return result;
    tables->waits.virtual_class = wait.lock_class;
    wait.ticks = *ticks += signed_of(since);
    if (tables->listener.virtual_wait != NULL)
        tables->listener.virtual_wait(tables->listener.context, &wait);
    return TABLES_OK;
}

enum tables_result wait_tables_take(struct tables *tables, enum chunk_type type, struct cursor *c)
{
    enum tables_result result = TABLES_OK;
    uint64_t ticks = cursor_u64le(c);
    while (result == TABLES_OK && cursor_left(c) > 0)
        result = type == CHUNK_WAITS ? take_wait(tables, c, &ticks) : take_virtual_wait(tables, c, &ticks);
    return c->bad ? TABLES_DAMAGED : result;
}
