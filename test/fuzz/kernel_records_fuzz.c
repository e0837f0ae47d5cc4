/* The ring that the kernel writes: any bytes, any head and tail, also around its end. */
#include "core/perf/perf_records.h"

#include <stdlib.h>
#include <string.h>

#define RING_BYTES 4096u

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static int take(const struct kernel_event *event, void *context)
{
    uint64_t *n_events = context;
    if (event->kind > KERNEL_LOST || memchr(event->name, '\0', sizeof event->name) == NULL)
        abort();
    ++*n_events;
    return *n_events % 97 == 96 ? -1 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static uint8_t copy[KERNEL_RECORD_MAX_BYTES];
    struct kernel_event event;
    struct kernel_values values;
    uint8_t *ring = calloc(1, RING_BYTES), *exact = malloc(n + 1);
    if (ring == NULL || exact == NULL)
        abort();
    memcpy(exact, bytes, n);
    if (n >= sizeof(struct perf_event_header))
        if (kernel_record_decode(exact, n, (unsigned)n % 8, &event) > 0 && event.kind == KERNEL_IP_SAMPLE)
            kernel_values(&event.stack, &values);
    for (uint64_t start = 0; start < RING_BYTES; start += RING_BYTES - 24) {
        uint64_t tail = start, n_bad = 0, n_events = 0, head = start + (n < RING_BYTES ? n : RING_BYTES);
        for (uint64_t i = 0; i < head - start; i++)
            ring[(start + i) % RING_BYTES] = bytes[i];
        perf_records_walk(ring, RING_BYTES, (unsigned)start % 8, &tail, head, copy, &n_bad, take, &n_events);
        if (tail > head || n_events + n_bad > n)
            abort();
    }
    free(ring);
    free(exact);
    return 0;
}
