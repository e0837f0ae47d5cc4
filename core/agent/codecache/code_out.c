#include "core/agent/codecache/code_out.h"

#include <sys/stat.h>

struct codecache codecache = { .out.lock = PTHREAD_MUTEX_INITIALIZER,
                               .asked.lock = PTHREAD_MUTEX_INITIALIZER,
                               .dependents.lock = PTHREAD_MUTEX_INITIALIZER,
                               .jit.lock = PTHREAD_MUTEX_INITIALIZER,
                               .perf.lock = PTHREAD_MUTEX_INITIALIZER };

static struct code_out_state *const out = &codecache.out;

bool code_out_is_open(void)
{
    return atomic_load(&out->is_open);
}

void code_out_lock(void)
{
    pthread_mutex_lock(&out->lock);
}

void code_out_unlock(void)
{
    pthread_mutex_unlock(&out->lock);
}

void code_out_open(int fd)
{
    out->fd = fd;
    out->n_logged = out->n_pending = 0;
    atomic_store(&out->is_open, true);
}

void code_out_close(void)
{
    atomic_store(&out->is_open, false);
    out->fd = -1;
}

/* What the recorder has not read yet takes memory of the JVM's. */
static bool is_full(void)
{
    struct stat status;
    return fstat(out->fd, &status) == 0 && (uint64_t)status.st_blocks * 512 > CODE_LOG_UNREAD_BYTES;
}

void code_out_flush(void)
{
    if (is_full())
        atomic_store(&out->is_open, false);
    else if (out->n_pending > 0 && write(out->fd, out->pending, out->n_pending) != (ssize_t)out->n_pending)
        atomic_store(&out->is_open, false);
    out->n_pending = 0;
}

void code_out_put(const struct code_entry *entry)
{
    struct sink s = sink_into(out->pending + out->n_pending, sizeof out->pending - out->n_pending);
    code_log_put(&s, entry);
    if (s.full) {
        code_out_flush();
        s = sink_into(out->pending, sizeof out->pending);
        code_log_put(&s, entry);
    }
    size_t n = s.full ? 0 : (size_t)(s.at - out->pending) - out->n_pending;
    if (out->n_logged + n > CODE_LOG_BYTES)
        atomic_store(&out->is_open, false);
    else
        out->n_pending += n;
    out->n_logged += n;
}

void code_out_tell(const struct code_entry *entry)
{
    code_out_lock();
    if (code_out_is_open())
        code_out_put(entry);
    code_out_unlock();
}

void code_out_end(void)
{
    code_out_lock();
    if (code_out_is_open())
        code_out_flush();
    code_out_unlock();
}
