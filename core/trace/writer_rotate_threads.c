/* Threads at a file's beginning: whether they have a CPU, what their counters were, and the calls that they are in. */
#include "core/trace/writer_kept.h"

#include "core/base/xalloc.h"

/* Calls that go on: their entries are in files before. */
static int resume(struct trace_writer *writer, struct kept_thread *thread, uint32_t index, struct err *err)
{
    size_t n = 1 + writer->encoder.n_counters, n_open = thread->n_open;
    uint64_t ticks = writer->kept->start_ticks, *words = xcalloc(n_open * n + 1, sizeof *words);
    uint32_t *open = thread->open;
    for (size_t i = 0; i < n_open; i++) {
        words[i * n] = open[i] == KEPT_MOUNT ? ring_word(RING_MOUNT, 0, ticks) : ring_word(RING_RESUME, open[i], ticks);
        for (size_t k = 1; k < n; k++)
            words[i * n + k] = thread->values[1] == NULL ? TRACE_NOT_COUNTED : thread->values[1][k - 1];
    }
    thread->open = NULL; /* it is told once more, and the same again */
    thread->n_open = thread->open_room = thread->n_carrier = 0;
    free(open);
    int rc = trace_write_records(writer, index, words, n_open * n, ticks, err);
    free(words);
    return rc;
}

static int begin_state(struct trace_writer *writer, const struct kept_thread *thread, uint32_t index, struct err *err)
{
    const struct trace_event event = { .kind = thread->state, .thread = index, .ticks = writer->kept->start_ticks };
    if (thread->state >= TRACE_CPU_IN && thread->state <= TRACE_CPU_PREEMPTED &&
        trace_write_kernel(writer, &event, 1, err) < 0)
        return -1;
    for (uint32_t series = 0; series < 2; series++)
        if (thread->values[series] != NULL &&
            trace_write_counts(writer, index, series, event.ticks, thread->values[series], err) < 0)
            return -1;
    return 0;
}

static bool goes_on(const struct kept_thread *thread)
{
    return thread != NULL && thread->info.comm != NULL && thread->info.end_ticks == TRACE_UNKNOWN;
}

int rotate_begin_threads(struct trace_writer *writer, struct err *err)
{
    uint32_t n = (uint32_t)writer->kept->n_threads;
    for (uint32_t i = 0; i < n; i++) {
        struct kept_thread *thread = kept_thread_at(writer->kept, i);
        if (goes_on(thread) && (kept_refer_thread(writer, i, err) < 0 || begin_state(writer, thread, i, err) < 0))
            return -1;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct kept_thread *thread = kept_thread_at(writer->kept, i);
        if (goes_on(thread) && thread->n_open > 0 && resume(writer, thread, i, err) < 0)
            return -1;
    }
    return 0;
}
