#include "core/agent/stacks/sample_out.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

void sample_out_begin(struct sample_out *out, int fd)
{
    out->fd = fd;
    out->s = sink_into(out->buffer, SAMPLE_OUT_BYTES);
}

int sample_out_flush(struct sample_out *out)
{
    size_t n = (size_t)(out->s.at - out->buffer), done = 0;
    while (done < n && !out->s.full) {
        ssize_t wrote = write(out->fd, out->buffer + done, n - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return -1;
        done += (size_t)wrote;
    }
    bool is_whole = !out->s.full;
    out->s = sink_into(out->buffer, SAMPLE_OUT_BYTES);
    return is_whole ? 0 : -1;
}

int sample_out_room(struct sample_out *out, size_t n)
{
    return (size_t)(out->s.end - out->s.at) >= n ? 0 : sample_out_flush(out);
}

bool sample_out_is_full(const struct sample_out *out)
{
    struct stat status;
    return fstat(out->fd, &status) == 0 && (uint64_t)status.st_blocks * 512 > POLL_LOG_BYTES;
}
