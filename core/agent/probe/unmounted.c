#include "core/agent/probe/probe_parts.h"

#include <sys/mman.h>

#define METHODS_PER_BLOCK 29u
#define TICKET_TRIES      256 /* beyond it, nearly all tickets are taken */

struct unmounted_block {
    _Atomic uint32_t next; /* of the same calls, or of the free list */
    uint32_t n;            /* calls; in their first block, as is the ticket */
    uint32_t ticket;
    uint32_t methods[METHODS_PER_BLOCK];
};

static struct unmounted_calls *const unmounted = &probe_session.unmounted;

void unmounted_begin(void)
{
    const size_t n_bytes = UNMOUNTED_BLOCKS * sizeof(struct unmounted_block);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (unmounted->blocks != NULL)
        madvise(unmounted->blocks, n_bytes, MADV_DONTNEED);
    else {
        /* cppcheck-suppress invalidFunctionArg */
        unmounted->blocks = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (unmounted->blocks == MAP_FAILED)
            unmounted->blocks = NULL;
    }
    atomic_store(&unmounted->free, 0);
    atomic_store(&unmounted->n_used, 0);
    atomic_store(&unmounted->next_ticket, 0);
    for (size_t i = 0; i < sizeof unmounted->tickets / sizeof *unmounted->tickets; i++)
        atomic_store_explicit(&unmounted->tickets[i], 0, memory_order_relaxed);
}

/* ---- tickets: in turn, so that one is used again as late as possible ---- */

static uint32_t take_ticket(void)
{
    for (int i = 0; i < TICKET_TRIES; i++) {
        uint32_t ticket = atomic_fetch_add_explicit(&unmounted->next_ticket, 1, memory_order_relaxed) + 1;
        uint64_t bit = UINT64_C(1) << ticket % 64;
        ticket &= RING_METHOD_MAX;
        if (ticket != 0 && (atomic_fetch_or(&unmounted->tickets[ticket / 64], bit) & bit) == 0)
            return ticket;
    }
    return 0;
}

static void give_ticket(uint32_t ticket)
{
    ticket &= RING_METHOD_MAX;
    atomic_fetch_and(&unmounted->tickets[ticket / 64], ~(UINT64_C(1) << ticket % 64));
}

/* ---- blocks ---- */

static struct unmounted_block *block_at(uint32_t index)
{
    return &unmounted->blocks[index % UNMOUNTED_BLOCKS];
}

/* The head of the free list with another first block: never the same twice. */
static uint64_t new_head(uint64_t head, uint32_t first)
{
    return ((head >> 32) + 1) << 32 | first;
}

static uint32_t take_block(void)
{
    uint64_t head = atomic_load_explicit(&unmounted->free, memory_order_acquire);
    while ((uint32_t)head != 0) {
        uint32_t index = (uint32_t)head, next = atomic_load_explicit(&block_at(index)->next, memory_order_relaxed);
        if (atomic_compare_exchange_weak(&unmounted->free, &head, new_head(head, next)))
            return index;
    }
    if (unmounted->blocks == NULL ||
        atomic_load_explicit(&unmounted->n_used, memory_order_relaxed) >= UNMOUNTED_BLOCKS - 1)
        return 0;
    uint32_t index = atomic_fetch_add(&unmounted->n_used, 1) + 1;
    return index < UNMOUNTED_BLOCKS ? index : 0;
}

/* A chain, from its first block to its last one. */
static void give_blocks(uint32_t first)
{
    uint32_t last = first, next;
    while ((next = atomic_load_explicit(&block_at(last)->next, memory_order_relaxed)) != 0)
        last = next;
    uint64_t head = atomic_load_explicit(&unmounted->free, memory_order_relaxed);
    do
        atomic_store_explicit(&block_at(last)->next, (uint32_t)head, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&unmounted->free, &head, new_head(head, first)));
}

/* The block after this one, made if need be.  Returns its index, or 0. */
static uint32_t following_block(uint32_t index)
{
    struct unmounted_block *block = block_at(index);
    uint32_t next = atomic_load_explicit(&block->next, memory_order_relaxed);
    if (next != 0 || (next = take_block()) == 0)
        return next;
    atomic_store_explicit(&block_at(next)->next, 0, memory_order_relaxed);
    atomic_store_explicit(&block->next, next, memory_order_relaxed);
    return next;
}

static bool fill(uint32_t index, const uint32_t *methods, uint32_t n)
{
    for (;;) {
        uint32_t part = n < METHODS_PER_BLOCK ? n : METHODS_PER_BLOCK;
        memcpy(block_at(index)->methods, methods, part * sizeof *methods);
        methods += part;
        n -= part;
        if (n == 0)
            return true;
        if ((index = following_block(index)) == 0)
            return false;
    }
}

/* ---- calls ---- */

uint32_t unmounted_put(uint32_t *handle, const uint32_t *methods, uint32_t n)
{
    uint32_t first = *handle == 0 ? take_block() : *handle, ticket;
    if (first != 0 && *handle == 0)
        atomic_store_explicit(&block_at(first)->next, 0, memory_order_relaxed);
    *handle = first;
    if (first != 0 && fill(first, methods, n) && (ticket = take_ticket()) != 0) {
        block_at(first)->n = n;
        block_at(first)->ticket = ticket;
        return ticket;
    }
    if (first != 0)
        give_blocks(first);
    *handle = 0;
    return 0;
}

uint32_t unmounted_n(uint32_t handle)
{
    return handle == 0 ? 0 : block_at(handle)->n;
}

uint32_t unmounted_fetch(uint32_t handle, uint32_t *methods, uint32_t n)
{
    uint32_t ticket = block_at(handle)->ticket;
    for (uint32_t at = handle; n > 0 && at != 0; at = atomic_load_explicit(&block_at(at)->next, memory_order_relaxed)) {
        uint32_t part = n < METHODS_PER_BLOCK ? n : METHODS_PER_BLOCK;
        memcpy(methods, block_at(at)->methods, part * sizeof *methods);
        methods += part;
        n -= part;
    }
    give_ticket(ticket);
    block_at(handle)->n = 0;
    return ticket;
}

void unmounted_drop(uint32_t handle)
{
    if (handle == 0)
        return;
    if (block_at(handle)->n > 0)
        give_ticket(block_at(handle)->ticket);
    block_at(handle)->n = 0;
    give_blocks(handle);
}
