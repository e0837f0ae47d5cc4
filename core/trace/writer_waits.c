/* Writing why threads were off the CPU. */
#include "core/trace/writer_kept.h"

/* The number of a class' name, 0: none.  *is_new: it is to be told. */
static void class_number(struct trace_writer *writer, const char *name, uint32_t *number, bool *is_new)
{
    struct wait_classes *classes = &writer->wait_classes;
    size_t n = name == NULL ? 0 : strlen(name);
    *number = 0;
    *is_new = false;
    if (n == 0)
        return;
    classes->by_name.arena = &classes->arena;
    const uint32_t *known = map_get(&classes->by_name, name, n);
    if (known != NULL) {
        *number = *known;
        return;
    }
    if (classes->n == TRACE_CLASSES_MAX)
        return;
    map_put(&classes->by_name, name, n, classes->n + 1);
    *number = ++classes->n;
    *is_new = true;
}

static bool is_possible(const struct trace_writer *writer, const struct trace_wait *wait)
{
    return wait->thread <= THREAD_INDEX_MAX && wait->context <= writer_n_contexts(writer) &&
           wait->owner_context <= writer_n_contexts(writer) && wait->end <= SAMPLE_END_MAX &&
           wait->cause < TRACE_CAUSES && (wait->owner <= THREAD_INDEX_MAX || wait->owner == TRACE_NO_THREAD) &&
           wait->index <= UINT16_MAX;
}

/* An entry, with its time since the entry before. */
static struct sink begin(struct trace_writer *writer, enum chunk_type type, uint64_t ticks, uint64_t *latest)
{
    bool is_first = writer->pending_used[type] == 0;
    struct sink s = writer_begin(writer, type);
    if (is_first)
        sink_u64le(&s, ticks);
    int64_t since = is_first ? 0 : (int64_t)(ticks - *latest);
    *latest = ticks;
    sink_number(&s, (uint64_t)since << 1 ^ (since < 0 ? UINT64_MAX : 0));
    return s;
}

int trace_write_virtual_wait(struct trace_writer *writer, const struct trace_virtual_wait *wait, struct err *err)
{
    uint32_t context;
    if (writer_check(writer, err) < 0)
        return -1;
    if (wait->context > writer_n_contexts(writer) || wait->end > SAMPLE_END_MAX || wait->cause >= TRACE_CAUSES ||
        wait->index > UINT16_MAX)
        return err_set(err, "a virtual thread's context or cause is too large for a trace");
    if (kept_refer_context(writer, wait->context, &context, err) < 0)
        return -1;
    struct sink s = begin(writer, CHUNK_VIRTUAL_WAITS, kept_ticks(writer, wait->ticks), &writer->virtual_ticks);
    sink_number(&s, wait->cause);
    sink_number(&s, context);
    sink_number(&s, (uint64_t)(int64_t)(wait->index + 1));
    sink_number(&s, wait->end);
    sink_number(&s, wait->n);
    sink_number(&s, wait->weight_ns);
    writer_text(&s, wait->lock_class);
    return writer_finish(writer, CHUNK_VIRTUAL_WAITS, &s, err);
}

int trace_write_wait(struct trace_writer *writer, const struct trace_wait *wait, struct err *err)
{
    uint32_t class, context, owner_context;
    uint64_t ticks = kept_ticks(writer, wait->ticks);
    bool is_new;
    if (writer_check(writer, err) < 0)
        return -1;
    if (!is_possible(writer, wait))
        return err_set(err, "a wait's thread, context or cause is too large for a trace");
    class_number(writer, wait->lock_class, &class, &is_new);
    if (kept_refer_thread(writer, wait->thread, err) < 0 || kept_refer_thread(writer, wait->owner, err) < 0 ||
        kept_refer_context(writer, wait->context, &context, err) < 0 ||
        kept_refer_context(writer, wait->owner_context, &owner_context, err) < 0)
        return -1;
    struct sink s = begin(writer, CHUNK_WAITS, ticks, &writer->wait_ticks);
    sink_number(&s, wait->thread);
    sink_number(&s, (uint64_t)wait->cause << 1 | wait->is_same);
    sink_number(&s, context);
    sink_number(&s, (uint64_t)(int64_t)(wait->index + 1));
    sink_number(&s, wait->end);
    sink_number(&s, wait->n);
    sink_number(&s, wait->weight_ns);
    sink_number(&s, class);
    if (is_new)
        writer_text(&s, wait->lock_class);
    sink_number(&s, wait->owner == TRACE_NO_THREAD ? 0 : (uint64_t)wait->owner + 1);
    sink_number(&s, owner_context);
    return writer_finish(writer, CHUNK_WAITS, &s, err);
}
