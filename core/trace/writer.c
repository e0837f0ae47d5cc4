/*
 * Everything goes into one buffer and from there to the file with write(2); nothing is sought or rewritten, so the
 * file may be a pipe.  What defines things (threads, methods, ...) is collected and written as chunks before the next
 * records.
 */
#include "core/trace/output.h"

#include "core/base/xalloc.h"
#include "core/base/plain_file.h"
#include "core/trace/writer_kept.h"

static void release(struct trace_writer *writer)
{
    if (writer->fd >= 0)
        close(writer->fd);
    kept_free(writer->kept);
    map_free(&writer->wait_classes.by_name);
    arena_free(&writer->wait_classes.arena);
    free(writer->last_ticks);
    free(writer->path);
    free(writer);
}

int trace_writer_open(struct trace_writer **result, const char *path, struct err *err)
{
    *result = NULL;
    struct trace_writer *writer = xcalloc(1, sizeof *writer);
    writer->path = xstrdup(path);
    writer->fd = output_open(path);
    if (writer->fd < 0) {
        err_set(err, "cannot create '%s': %s", path, errno == ENXIO ? "nobody reads this pipe" : plain_file_why(errno));
        err_next(err, "write elsewhere with -o");
    } else if (writer_put_file_header(writer, err) == 0) {
        *result = writer;
        return 0;
    }
    release(writer);
    return -1;
}

/* The ticks since the pending event before (at *latest), or a new chunk's first timestamp; a kind and an operand. */
static int put_event(struct trace_writer *writer, enum chunk_type type, uint64_t *latest, uint64_t ticks, unsigned kind,
                     uint64_t operand, struct err *err)
{
    ticks = kept_ticks(writer, ticks);
    uint64_t delta = ticks - *latest;
    bool fits = ticks >= *latest && delta <= KERNEL_DELTA_MAX;
    if (!fits && writer->pending_used[type] > 0 && writer_put_pending(writer, err) < 0)
        return -1;
    struct sink s = writer_begin(writer, type);
    if (writer->pending_used[type] == 0) {
        sink_u64le(&s, ticks);
        delta = 0;
    }
    *latest = ticks;
    sink_number(&s, delta << KERNEL_TAG_BITS | kind);
    sink_number(&s, operand);
    return writer_finish(writer, type, &s, err);
}

int trace_write_kernel(struct trace_writer *writer, const struct trace_event *events, size_t n, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (events[i].kind < TRACE_CPU_IN || events[i].kind > TRACE_KERNEL_LOST)
            return err_set(err, "event kind %d does not come from the kernel", (int)events[i].kind);
        if (events[i].kind != TRACE_KERNEL_LOST && events[i].thread > THREAD_INDEX_MAX)
            return err_set(err, "thread index %u is above %u", events[i].thread, THREAD_INDEX_MAX);
        if (kept_switch(writer, &events[i], err) < 0 ||
            put_event(writer, CHUNK_KERNEL, &writer->kernel_ticks, events[i].ticks,
                      (unsigned)(events[i].kind - TRACE_CPU_IN),
                      events[i].kind == TRACE_KERNEL_LOST ? events[i].count : events[i].thread, err) < 0)
            return -1;
    }
    return 0;
}

int trace_write_control(struct trace_writer *writer, const struct trace_event *events, size_t n, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        bool of_method = events[i].kind == TRACE_ENABLED || events[i].kind == TRACE_DISABLED;
        if (events[i].kind < TRACE_ENABLED || events[i].kind > TRACE_RECOVERED)
            return err_set(err, "event kind %d is not what the recorder does", (int)events[i].kind);
        if (of_method && events[i].method > RING_METHOD_MAX)
            return err_set(err, "method id %u is above %u", events[i].method, RING_METHOD_MAX);
        if (of_method)
            kept_control(writer, &events[i]);
        if (put_event(writer, CHUNK_CONTROL, &writer->control_ticks, events[i].ticks,
                      (unsigned)(events[i].kind - TRACE_ENABLED), of_method ? events[i].method : events[i].count,
                      err) < 0)
            return -1;
    }
    return 0;
}

static int put_ip_sample(struct trace_writer *writer, const struct trace_event *event, struct err *err)
{
    uint64_t ticks = kept_ticks(writer, event->ticks);
    bool fits = ticks >= writer->ip_sample_ticks && ticks - writer->ip_sample_ticks <= KERNEL_DELTA_MAX;
    if (kept_refer_thread(writer, event->thread, err) < 0 ||
        kept_refer_location(writer, (uint32_t)event->count, err) < 0)
        return -1;
    if (!fits && writer->pending_used[CHUNK_IP_SAMPLES] > 0 && writer_put_pending(writer, err) < 0)
        return -1;
    struct sink s = writer_begin(writer, CHUNK_IP_SAMPLES);
    if (writer->pending_used[CHUNK_IP_SAMPLES] == 0) {
        sink_u64le(&s, ticks);
        writer->ip_sample_ticks = ticks;
    }
    sink_number(&s, (ticks - writer->ip_sample_ticks) << IP_SAMPLE_FLAG_BITS | (event->kind == TRACE_KERNEL_IP_SAMPLE));
    sink_number(&s, event->thread);
    sink_number(&s, event->count);
    writer->ip_sample_ticks = ticks;
    return writer_finish(writer, CHUNK_IP_SAMPLES, &s, err);
}

int trace_write_ip_samples(struct trace_writer *writer, const struct trace_event *events, size_t n, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (events[i].kind != TRACE_IP_SAMPLE && events[i].kind != TRACE_KERNEL_IP_SAMPLE)
            return err_set(err, "event kind %d is no IP sample", (int)events[i].kind);
        if (events[i].thread > THREAD_INDEX_MAX || events[i].count >= LOCATION_NUMBERS_MAX)
            return err_set(err, "an IP sample's thread or location has too large a number");
        if (put_ip_sample(writer, &events[i], err) < 0)
            return -1;
    }
    return 0;
}

int trace_write_counts(struct trace_writer *writer, uint32_t thread, uint32_t series, uint64_t ticks,
                       const uint64_t *values, struct err *err)
{
    uint64_t before[RING_COUNTERS_MAX] = { 0 };
    uint8_t bytes[RECORD_MAX_BYTES];
    if (writer_check(writer, err) < 0)
        return -1;
    if (thread > THREAD_INDEX_MAX)
        return err_set(err, "thread index %u is above %u", thread, THREAD_INDEX_MAX);
    if (kept_counts(writer, thread, series, values, err) < 0)
        return -1;
    ticks = kept_ticks(writer, ticks);
    if (ticks < writer->reading_ticks && writer->pending_used[CHUNK_READINGS] > 0 &&
        writer_put_pending(writer, err) < 0)
        return -1;
    struct sink s = writer_begin(writer, CHUNK_READINGS);
    if (writer->pending_used[CHUNK_READINGS] == 0) {
        sink_u64le(&s, ticks);
        writer->reading_ticks = ticks;
    }
    sink_number(&s, ticks - writer->reading_ticks);
    sink_number(&s, thread);
    sink_number(&s, series);
    sink_bytes(&s, bytes, (size_t)(encode_counters(bytes, before, values, writer->n_columns) - bytes));
    writer->reading_ticks = ticks;
    return writer_finish(writer, CHUNK_READINGS, &s, err);
}

/* One chunk, encoded in place.  Returns the words used, or 0 with *err set. */
static size_t put_records(struct trace_writer *writer, uint32_t thread, const uint64_t *words, size_t n_words,
                          uint64_t now, struct err *err)
{
    if (OUT_BYTES - writer->out_used < OUT_ROOM && writer_drain(writer, err) < 0)
        return 0;
    struct encoder *encoder = &writer->encoder;
    uint8_t *header = writer->out + writer->out_used, *payload = header + CHUNK_HEADER_BYTES;
    unsigned flags = (unsigned)encoder->n_counters | (writer->is_plain ? 0 : CHUNK_FLAG_PREDICTED);
    size_t n = (writer->is_plain ? encode_plain : encode_predicted)(encoder, words, &n_words, now,
                                                                    &writer->last_ticks[thread], payload);
    encode_header(header, CHUNK_RECORDS, flags, thread, payload, n);
    writer->out_used += CHUNK_HEADER_BYTES + n;
    writer->n_bytes += CHUNK_HEADER_BYTES + n;
    writer->n_records += n_words / (1 + encoder->n_counters);
    return n_words;
}

void trace_writer_set_plain(struct trace_writer *writer, bool is_plain)
{
    writer->is_plain = is_plain;
}

int trace_write_records(struct trace_writer *writer, uint32_t thread, const uint64_t *words, size_t n_words,
                        uint64_t now, struct err *err)
{
    if (writer_check(writer, err) < 0)
        return -1;
    if (thread > THREAD_INDEX_MAX || n_words % (1 + writer->encoder.n_counters) != 0)
        return err_set(err, "thread index %u is above %u, or %zu words are no whole number of records", thread,
                       THREAD_INDEX_MAX, n_words);
    xgrow_zeroed(writer->last_ticks, writer->n_last_ticks, (size_t)thread + 1);
    if (kept_records(writer, thread, words, n_words, err) < 0 || writer_put_pending(writer, err) < 0)
        return -1;
    writer->last_ticks[thread] = kept_ticks(writer, writer->last_ticks[thread]);
    for (size_t used; n_words > 0; words += used, n_words -= used) {
        used = put_records(writer, thread, words, n_words, now, err);
        if (used == 0)
            return -1;
    }
    return 0;
}

int trace_writer_flush(struct trace_writer *writer, struct err *err)
{
    if (writer_check(writer, err) < 0 || writer_put_pending(writer, err) < 0)
        return -1;
    return writer_drain(writer, err);
}

uint64_t trace_writer_bytes(const struct trace_writer *writer)
{
    return writer->n_bytes;
}

int trace_writer_close(struct trace_writer *writer, uint64_t end_ticks, struct err *err)
{
    int rc = writer_put_end(writer, end_ticks, err);
    if (writer->failed)
        *err = writer->error;
    rc = writer->failed ? -1 : rc;
    release(writer);
    return rc;
}
