/*
 * What the target writes into the memory that it shares with the recorder: rings with any heads, states and words, and
 * any bytes as the log of methods.  It is drained into a trace, twice.
 */
#include "core/base/ticks.h"
#include "core/recorder/drain.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define N_RINGS    2u
#define RING_WORDS 64u

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* As the recorder lays it out. */
static struct {
    struct segment segment;
    struct ring rings[N_RINGS];
    uint64_t words[N_RINGS * RING_WORDS];
} memory;

static void drain_twice(struct drain *drain, struct session *session, struct threads *threads)
{
    struct trace_writer *writer;
    struct err err;
    bool ok = trace_writer_open(&writer, "/dev/null", &err) == 0;
    if (!ok)
        abort();
    drain_init(drain, session, threads);
    for (int i = 0; ok && i < 2; i++) {
        drain_snapshot(drain);
        drain_threads(drain);
        ok = drain_methods(drain, writer, &err) == 0 && drain_records(drain, writer, ticks_now(), &err) == 0;
    }
    trace_writer_close(writer, ticks_now(), &err);
}

/* n of the bytes, or what there is of them. */
static void fill(void *to, size_t n, const uint8_t **bytes, size_t *left)
{
    size_t part = *left < n ? *left : n;
    memcpy(to, *bytes, part);
    *bytes += part;
    *left -= part;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct session session;
    struct threads threads;
    struct drain drain;
    uint8_t seen = 0, n_counters = 0;
    memset(&memory, 0, sizeof memory);
    session_init(&session);
    fill(&n_counters, 1, &bytes, &n);
    fill(&seen, 1, &bytes, &n);
    session.segment = &memory.segment;
    session.segment_bytes = sizeof memory;
    session.n_rings = N_RINGS;
    session.ring_words = RING_WORDS;
    session.n_counters = n_counters % 4;
    session.rings_offset = (uint64_t)((char *)memory.rings - (char *)&memory);
    session.words_offset = (uint64_t)((char *)memory.words - (char *)&memory);
    uint32_t granted[N_RINGS];
    session.memory.granted = granted;
    session.memory.n_prepared = N_RINGS;
    atomic_store(&memory.segment.n_rings_seen, seen);
    for (uint32_t i = 0; i < N_RINGS; i++) {
        fill(&memory.rings[i], sizeof memory.rings[i], &bytes, &n);
        atomic_store(&memory.rings[i].tail, 0);
        granted[i] = RING_WORDS >> i % 2;
    }
    fill(memory.words, sizeof memory.words, &bytes, &n);
    session.methods_fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (session.methods_fd < 0 || write(session.methods_fd, bytes, n) != (ssize_t)n)
        abort();
    threads_init(&threads);
    drain_twice(&drain, &session, &threads);
    drain_free(&drain);
    threads_free(&threads);
    close(session.methods_fd);
    return 0;
}
