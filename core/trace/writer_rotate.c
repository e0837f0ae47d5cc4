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
    return rotate_begin_threads(writer, err) < 0 ? -1 : begin_control(writer, err);
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
