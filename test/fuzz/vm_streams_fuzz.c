/* What is copied of HotSpot's streams may be anything: the JVM may have taken the memory for something else. */
#include "core/hotspot/nmethod.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_scopes(const struct scopes *scopes)
{
    struct scopes_walk walk;
    uint64_t end = 0;
    size_t n = 0;
    scopes_begin(&walk, scopes);
    while (scopes_next(&walk)) {
        if (walk.end < end || walk.end > scopes->code_bytes || walk.n_frames == 0 || walk.n_frames > CODE_FRAMES_MAX ||
            ++n > scopes->n_pcs_bytes / scopes->pc_bytes)
            abort();
        for (uint32_t i = 0; i < walk.n_frames; i++)
            if (walk.frames[i].index < -1)
                abort();
        end = walk.end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct code_line lines[CODE_LINES_MAX];
    bool is_bad;
    if (size < 6)
        return 0;
    size_t left = size - 6, n_pcs = ((size_t)data[0] | (size_t)data[1] << 8) % (left + 1);
    size_t n_methods = data[2] % (left - n_pcs + 1);
    const uint8_t *at = data + 6;
    const struct scopes scopes = { .pcs = at,
                                   .methods = at + n_pcs,
                                   .bytes = at + n_pcs + n_methods,
                                   .n_pcs_bytes = n_pcs,
                                   .n_methods_bytes = n_methods,
                                   .n_bytes = left - n_pcs - n_methods,
                                   .pc_bytes = 16,
                                   .at_pc = 0,
                                   .at_scope = 4,
                                   .code_bytes = (uint64_t)data[3] << (data[4] & 31),
                                   .excluded = data[5] & 1 };
    check_scopes(&scopes);
    uint32_t room = data[3] * 33u % (CODE_LINES_MAX + 1);
    if (line_stream_read(at, left, data[5] & 1, lines, room, &is_bad) > room)
        abort();
    return 0;
}
