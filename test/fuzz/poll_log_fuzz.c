/* The log of polled stack samples, or of allocations, is written by another process: any bytes, in any pieces. */
#include "core/recorder/poll_sampler.h"

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(const struct stack_sample *sample, void *context, struct err *err)
{
    (void)context;
    (void)err;
    for (uint32_t i = 0; i < sample->n; i++)
        if (sample->methods[i] >= sample->n_known)
            abort();
    return 0;
}

static int take_allocation(const struct allocation_sample *sample, void *context, struct err *err)
{
    if (sample->class_name == NULL)
        abort();
    return take(&sample->stack, context, err);
}

static int take_heap(const struct poll_heap *heap, void *context, struct err *err)
{
    (void)context;
    (void)err;
    if (heap->kind >= POLL_HEAP_KINDS)
        abort();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct poll_sampler *sampler;
    struct err err;
    size_t half = size / 2;
    if (poll_sampler_open(&sampler, 1, &err) < 0)
        return 0;
    if (write(poll_sampler_fd(sampler), data, half) == (ssize_t)half &&
        poll_sampler_drain(sampler, take, NULL, &err) == 0 &&
        write(poll_sampler_fd(sampler), data + half, size - half) == (ssize_t)(size - half))
        poll_sampler_drain(sampler, take, NULL, &err);
    poll_sampler_close(sampler);
    if (poll_sampler_open(&sampler, 1, &err) < 0)
        return 0;
    if (write(poll_sampler_fd(sampler), data, size) == (ssize_t)size)
        poll_sampler_drain_allocations(sampler, take_allocation, take_heap, NULL, &err);
    poll_sampler_close(sampler);
    return 0;
}
