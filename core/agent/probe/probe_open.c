/*
 * Calls under way in the probes: a thread looks at its own stack, and makes what it has recorded agree with it.
 */
#include "core/agent/probe/probe_parts.h"

#include <stdatomic.h>
#include <stdlib.h>

/*
 * How often: 1/128 of the time at most, and the longer such calls are open, the less, so that the end of each is known
 * to 1/32 of its time.
 */
#define LOOK_COST  128
#define LOOK_SHARE 32

bool probe_look_is_due(uintptr_t frame)
{
    bool is_under_way = self.depth > self.base && (self.stack[self.depth - 1] & OPEN_CALL) != 0;
    return self.looked != atomic_load_explicit(&session.look, memory_order_relaxed) ||
           (is_under_way && frame > self.looked_at) ||
           (self.look_ticks != UINT64_MAX && ticks_now() >= self.look_ticks);
}

static uint64_t put_next(uint64_t head, uint64_t *first, enum ring_kind kind, uint32_t method)
{
    if (*first != 0)
        return put_again(head, kind, method);
    *first = 1;
    return put_record(head, kind, method);
}

/* What is not open any more ends; what is outside of it goes on, or begins. */
static void follow(struct ring *ring, const struct open_calls *c)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed), first = 0;
    while (self.depth > c->n_kept)
        head = put_next(head, &first, RING_EXIT, self.stack[--self.depth]);
    for (uint32_t i = c->n_kept; i < c->n; i++) {
        head = put_next(head, &first, c->is_known[i] ? RING_RESUME : RING_OPEN, c->calls[i]);
        self.stack[self.depth++] = c->calls[i];
    }
    atomic_store_explicit(&ring->head, head, memory_order_release);
}

static bool has_open_calls(void)
{
    for (uint32_t i = 0; i < self.depth; i++)
        if ((self.stack[i] & OPEN_CALL) != 0)
            return true;
    return false;
}

/* Returns false: it is to be tried again. */
static bool look(struct ring *ring, struct open_calls *c, uintptr_t frame)
{
    bool had = has_open_calls();
    if (!open_calls_merge(c, self.stack, self.depth) || !has_room_for(ring, self.depth + c->n))
        return false;
    bool is_same = c->n_kept == c->n && self.depth == c->n;
    if (!is_same)
        follow(ring, c);
    if (!is_same || frame > self.looked_at)
        self.looked_at = frame;
    if (!had)
        self.open_since_ticks = ticks_now();
    return true;
}

void probe_look(struct ring *ring, JNIEnv *jni, uintptr_t frame)
{
    uint64_t start = ticks_now();
    struct open_calls *c = session.find == NULL || self.base > 0 || self.is_mounted ? NULL : malloc(sizeof *c);
    self.looked = atomic_load(&session.look);
    self.look_ticks = UINT64_MAX;
    if (c != NULL) {
        c->look = self.looked;
        c->is_put_off = false;
    }
    if (c != NULL && session.find(c, jni)) {
        bool is_done = look(ring, c, frame);
        uint64_t now = ticks_now(), rest = (now - start) * LOOK_COST;
        uint64_t share = is_done ? (now - self.open_since_ticks) / LOOK_SHARE : 0;
        if (!is_done || has_open_calls())
            self.look_ticks = now + (rest > share ? rest : share);
    } else if (c != NULL && c->is_put_off) {
        uint64_t now = ticks_now();
        self.look_ticks = now + (now - start) * LOOK_COST;
    }
    free(c);
}
