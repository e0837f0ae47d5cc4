/* Logs of the agent, which are files without a name: what was read of them needs no memory any more. */
#ifndef CORE_RECORDER_READ_LOG_H
#define CORE_RECORDER_READ_LOG_H

#include "core/base/std.h"

#include <fcntl.h>

/* That are read at a time, however many there are: a hostile target may append for ever. */
#define READ_LOG_ROUND_BYTES (UINT64_C(128) << 20)
#define READ_LOG_PIECE_BYTES (UINT64_C(256) << 10) /* kept until it is read as a whole: a system call for each */

/* It was read from begin_bytes to end_bytes, and up to there before. */
static inline void read_log_forget(int fd, uint64_t begin_bytes, uint64_t end_bytes)
{
    uint64_t begin = begin_bytes / READ_LOG_PIECE_BYTES * READ_LOG_PIECE_BYTES,
             end = end_bytes / READ_LOG_PIECE_BYTES * READ_LOG_PIECE_BYTES;
    if (end > begin)
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)begin, (off_t)(end - begin));
}

#endif
