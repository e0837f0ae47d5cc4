/* Calls under way in the probes: a thread walks its own stack, and makes what it has recorded agree with it. */
#include "core/agent/probe/probe_parts.h"
#include "core/agent/probe/argument_ids.h"

#include <stdatomic.h>

/*
 * How often: 1/128 of the time at most, and the longer such calls are open, the less, so that the end of each is known
 * to 1/32 of its time.
 */
#define CHECK_COST  128
#define CHECK_SHARE 32

bool probe_check_is_due(uintptr_t frame)
{
    bool is_under_way = probe_self.depth > probe_self.base && (probe_self.stack[probe_self.depth - 1] & OPEN_CALL) != 0;
    return probe_self.generation != atomic_load_explicit(&probe_session.generation, memory_order_relaxed) ||
           (is_under_way && frame > probe_self.checked_frame) ||
           (probe_self.check_ticks != UINT64_MAX && ticks_now() >= probe_self.check_ticks);
}

static uint64_t put_next(uint64_t head, uint64_t *first, enum ring_kind kind, uint32_t method)
{
    if (*first != 0)
        return put_again(head, kind, method);
    *first = 1;
    return put_record(head, kind, method);
}

/* What is not open any more ends; what is outside of it goes on, or begins. */
static void record_changes(struct ring *ring, const struct open_calls *c)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed), first = 0;
    while (probe_self.depth > c->n_same)
        head = put_next(head, &first, RING_EXIT, probe_self.stack[--probe_self.depth]);
    for (uint32_t i = c->n_same; i < c->n; i++) {
        head = put_next(head, &first, c->is_known[i] ? RING_RESUME : RING_OPEN, c->calls[i]);
        probe_self.stack[probe_self.depth++] = c->calls[i];
    }
    atomic_store_explicit(&ring->head, head, memory_order_release);
}

static bool has_open_calls(void)
{
    for (uint32_t i = 0; i < probe_self.depth; i++)
        if ((probe_self.stack[i] & OPEN_CALL) != 0)
            return true;
    return false;
}

/* Returns false: it is to be tried again. */
static bool reconcile(struct ring *ring, struct open_calls *c, uintptr_t frame)
{
    bool had = has_open_calls();
    if (!open_calls_merge(c, probe_self.stack, probe_self.depth, argument_ids_method) ||
        !has_room_for(ring, probe_self.depth + c->n))
        return false;
    bool is_same = c->n_same == c->n && probe_self.depth == c->n;
    if (!is_same)
        record_changes(ring, c);
    if (!is_same || frame > probe_self.checked_frame)
        probe_self.checked_frame = frame;
    if (!had)
        probe_self.open_since_ticks = ticks_now();
    return true;
}

void probe_check_stack(struct ring *ring, JNIEnv *jni, uintptr_t frame)
{
    uint64_t start = ticks_now();
    struct open_calls *c =
        probe_session.find == NULL || probe_self.base > 0 || probe_self.is_mounted ? NULL : malloc(sizeof *c);
    probe_self.generation = atomic_load(&probe_session.generation);
    probe_self.check_ticks = UINT64_MAX;
    if (c != NULL) {
        c->generation = probe_self.generation;
        c->is_deferred = false;
    }
    if (c != NULL && probe_session.find(c, jni)) {
        bool is_done = reconcile(ring, c, frame);
        uint64_t now = ticks_now(), rest = (now - start) * CHECK_COST;
        uint64_t share = is_done ? (now - probe_self.open_since_ticks) / CHECK_SHARE : 0;
        if (!is_done || has_open_calls())
            probe_self.check_ticks = now + (rest > share ? rest : share);
    } else if (c != NULL && c->is_deferred) {
        uint64_t now = ticks_now();
        probe_self.check_ticks = now + (now - start) * CHECK_COST;
    }
    free(c);
}
