/* A log of samples (core/wire/poll_log.h) on its way to the recorder: whole entries, by way of a buffer. */
#ifndef CORE_AGENT_SAMPLE_OUT_H
#define CORE_AGENT_SAMPLE_OUT_H

#include "core/wire/poll_log.h"

#define SAMPLE_OUT_BYTES       ((size_t)2 << 20)
#define SAMPLE_OUT_STACK_BYTES (256 + (size_t)8 * POLL_FRAMES_MAX) /* of an entry that is no method and no class */

struct sample_out {
    int fd; /* borrowed */
    struct sink s;
    uint8_t buffer[SAMPLE_OUT_BYTES];
};

void sample_out_begin(struct sample_out *out, int fd);

/* Make room for an entry of n bytes at most; write what there is.  Each returns 0, or -1: it cannot be written. */
int sample_out_room(struct sample_out *out, size_t n);
int sample_out_flush(struct sample_out *out);

/* Has the recorder so much to read that nothing is to be added?  It gives the memory back of what it has read. */
bool sample_out_is_full(const struct sample_out *out);

#endif
