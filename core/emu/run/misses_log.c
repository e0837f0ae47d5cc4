#include "core/emu/run/simulation_run.h"

#include "core/base/xalloc.h"
#include "core/recorder/read_log.h"

#include <sys/stat.h>

#define PIECE_BYTES    ((size_t)1 << 20)
#define MAPS_PERIOD_NS UINT64_C(200000000)

void misses_log_init(struct misses_log *log, int fd, struct ip_samples *ip_samples, struct threads *threads)
{
    *log = (struct misses_log){ .fd = fd, .ip_samples = ip_samples, .threads = threads };
}

void misses_log_free(struct misses_log *log)
{
    free(log->bytes);
    free(log->indexes);
    hash_free(&log->told);
    log->bytes = NULL;
    log->indexes = NULL;
    log->indexes_room = 0;
}

/*
 * The maps are those of a process that may be gone when its last misses are written: they are looked at while there is
 * something in the log.
 */
static void look_at_maps(struct misses_log *log, uint64_t now_ns)
{
    struct stat about;
    if (now_ns - log->maps_read_ns < MAPS_PERIOD_NS || fstat(log->fd, &about) < 0 ||
        (uint64_t)about.st_size <= log->read_bytes)
        return;
    log->maps_read_ns = now_ns;
    ip_samples_look_at_maps(log->ip_samples);
}

/* From the log's thread id to the trace's index. */
static int find_thread(struct misses_log *log, struct trace_writer *writer, struct miss_entry *entry, struct err *err)
{
    struct recorder_thread *thread = threads_find(log->threads, (int32_t)entry->thread);
    if (thread == NULL)
        thread = threads_add(log->threads, (int32_t)entry->thread, TRACE_UNKNOWN);
    if (thread == NULL)
        out_of_memory();
    entry->thread = thread->info.index;
    return threads_write(log->threads, writer, err);
}

/* Which bytecode a location is from: it is the same for ever. */
static int tell_bytecode(struct misses_log *log, uint32_t location, struct trace_writer *writer, struct err *err)
{
    const struct miss_entry entry = { .kind = MISS_AT, .location = location, .number = log->bytecode };
    if (hash_find(&log->told, location) != NULL)
        return 0;
    xhash_store(&log->told, location, log->bytecode);
    return trace_write_miss(writer, &entry, err);
}

static int find_location(struct misses_log *log, struct trace_writer *writer, struct miss_entry *entry, struct err *err)
{
    uint32_t location;
    int32_t index = log->bytecode > 0 ? log->indexes[log->bytecode - 1] : -1, its = index;
    int rc = entry->line > 0
                 ? ip_samples_interpreted(log->ip_samples, (uint32_t)entry->location, entry->line - 1, log->bytecode,
                                          &location, writer, err)
                 : ip_samples_location(log->ip_samples, entry->location, entry->ticks, &location, &its, writer, err);
    if (rc == 0 && index >= 0 && its == index)
        rc = tell_bytecode(log, location, writer, err);
    if (rc == 0)
        entry->location = location;
    entry->line = 0;
    return rc;
}

static int write_entry(struct misses_log *log, struct trace_writer *writer, struct miss_entry *entry, struct err *err)
{
    switch (entry->kind) {
    case MISS_METHOD:
        return ip_samples_interpreted_method(log->ip_samples, entry->number, entry->class_name, entry->name,
                                             entry->descriptor, entry->source, writer, err);
    case MISS_BYTECODE:
        xgrow_zeroed(log->indexes, log->indexes_room, (size_t)entry->number + 1);
        log->indexes[entry->number] = (uint16_t)entry->index;
        return trace_write_miss(writer, entry, err);
    case MISS_AT:
        log->bytecode = entry->number <= log->indexes_room ? entry->number : 0;
        return 0;
    case MISS_COUNTS:
    case MISS_ACCESSES:
        if (find_location(log, writer, entry, err) < 0)
            return -1;
        /* fall through */
    case MISS_CONTENTS:
        return find_thread(log, writer, entry, err) < 0 ? -1 : trace_write_miss(writer, entry, err);
    default:
        return trace_write_miss(writer, entry, err);
    }
}

/* The entries of a piece up to one that has to wait.  Returns 1 when that is so, 0, or -1 with *err set. */
static int write_piece(struct misses_log *log, struct trace_writer *writer, struct cursor *c, uint64_t until_ticks,
                       struct err *err)
{
    struct miss_entry entry;
    while (!log->is_damaged && cursor_left(c) >= 4) {
        const uint8_t *start = c->at;
        uint32_t n = cursor_u32le(c);
        if (n > cursor_left(c)) {
            log->is_damaged = n > LOCATION_ENTRY_BYTES;
            c->at = start;
            return 0;
        }
        struct cursor inner = cursor_over(cursor_bytes(c, n), n);
        log->is_damaged = misses_get(&inner, &entry) < 0;
        if (!log->is_damaged && entry.ticks >= until_ticks) {
            c->at = start;
            return 1;
        }
        if (!log->is_damaged && write_entry(log, writer, &entry, err) < 0)
            return -1;
    }
    return 0;
}

int misses_log_write(struct misses_log *log, struct trace_writer *writer, uint64_t now_ns, uint64_t until_ticks,
                     bool is_last, struct err *err)
{
    int rc = 0;
    ssize_t n;
    size_t n_used;
    if (log->fd < 0 || log->is_damaged)
        return 0;
    look_at_maps(log, now_ns);
    if (log->bytes == NULL)
        log->bytes = xmalloc(PIECE_BYTES);
    do {
        n = pread(log->fd, log->bytes, PIECE_BYTES, (off_t)log->read_bytes);
        struct cursor c = cursor_over(log->bytes, n < 0 ? 0 : (size_t)n);
        rc = write_piece(log, writer, &c, is_last ? UINT64_MAX : until_ticks, err);
        n_used = (size_t)(c.at - log->bytes);
        read_log_forget(log->fd, log->read_bytes, log->read_bytes + n_used);
        log->read_bytes += n_used;
    } while (rc == 0 && n_used > 0);
    return rc < 0 ? -1 : 0;
}
