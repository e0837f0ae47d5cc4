/* From one file of a recording to the next: each is whole, and is read alone. */
#include "core/trace/output.h"

#include "core/base/plain_file.h"
#include "core/base/xalloc.h"
#include "core/trace/writer_kept.h"

void trace_writer_keep(struct trace_writer *writer)
{
    writer->kept = xcalloc(1, sizeof *writer->kept);
    writer->kept->file = 1;
}

const struct err *trace_writer_failure(const struct trace_writer *writer)
{
    return writer->failed ? &writer->error : NULL;
}

void trace_writer_ends(struct trace_writer *writer)
{
    if (writer->kept != NULL)
        writer->kept->is_ending = true;
}

/* ---- threads at the beginning of a file ---- */

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

/* Those that go on: who they are, whether they have a CPU, their counters, and the calls that they are in. */
static int begin_threads(struct trace_writer *writer, struct err *err)
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

/* ---- a file ---- */

/* The probes that are on, and those that are not. */
static int begin_control(struct trace_writer *writer, struct err *err)
{
    const struct writer_kept *kept = writer->kept;
    for (size_t i = 0; i < kept->n_control; i++) {
        const struct trace_event event = { .kind = kept->control[i],
                                           .method = (uint32_t)i,
                                           .ticks = kept->start_ticks };
        if (event.kind != TRACE_ENTER && trace_write_control(writer, &event, 1, err) < 0)
            return -1;
    }
    return 0;
}

static int begin_file(struct trace_writer *writer, struct err *err)
{
    static const enum kept_what all[] = { KEPT_INFO, KEPT_COUNTERS, KEPT_METHODS, KEPT_VALUES, KEPT_JIT };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (kept_write_all(writer, all[i], err) < 0)
            return -1;
    return begin_threads(writer, err) < 0 ? -1 : begin_control(writer, err);
}

/* Nothing is numbered yet. */
static void forget_file(struct trace_writer *writer, uint64_t ticks)
{
    struct writer_kept *kept = writer->kept;
    kept->n_bytes += writer->n_bytes;
    kept->file++;
    kept->start_ticks = ticks;
    kept->is_ending = false;
    memcpy(kept->sums.counts, kept->sums.next_counts, sizeof kept->sums.counts);
    memcpy(kept->sums.reals, kept->sums.next_reals, sizeof kept->sums.reals);
    kept_next_threads(kept);
    kept->n_named = kept->n_classes = 0;
    kept->n_allocations = writer->n_allocations;
    writer->n_contexts = 0;
    map_free(&writer->wait_classes.by_name);
    arena_free(&writer->wait_classes.arena);
    memset(&writer->wait_classes, 0, sizeof writer->wait_classes);
    writer->n_bytes = writer->out_used = 0;
    writer->failed = false;
}

static int open_file(struct trace_writer *writer, const char *path, struct err *err)
{
    free(writer->path);
    writer->path = xstrdup(path);
    writer->fd = output_open(path);
    if (writer->fd >= 0)
        return writer_put_file_header(writer, err);
    writer->failed = true;
    err_set(&writer->error, "cannot create '%s': %s", path, plain_file_why(errno));
    err_next(&writer->error, "free space, or see that the directory is there and may be written to");
    return 0;
}

int trace_writer_rotate(struct trace_writer *writer, const char *path, const uint64_t clock[3], struct err *why,
                        struct err *err)
{
    why->text[0] = '\0';
    if (trace_write_clock(writer, clock[0], clock[1], clock[2], err) < 0 || writer_put_end(writer, clock[0], err) < 0)
        return -1;
    if (writer->failed)
        *why = writer->error;
    forget_file(writer, clock[0]);
    if (open_file(writer, path, err) < 0 || trace_write_clock(writer, clock[0], clock[1], clock[2], err) < 0)
        return -1;
    return begin_file(writer, err);
}

void trace_writer_forget_thread(struct trace_writer *writer, uint32_t index)
{
    kept_forget_thread(writer->kept, index);
    if (index < writer->n_last_ticks)
        writer->last_ticks[index] = 0;
}

uint64_t trace_writer_all_bytes(const struct trace_writer *writer)
{
    return writer->n_bytes + (writer->kept == NULL ? 0 : writer->kept->n_bytes);
}
