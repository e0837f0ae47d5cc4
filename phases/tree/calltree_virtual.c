/*
 * Virtual threads in the call tree.
 *
 * What one calls stands at the root of its carrier's tree, not under what the carrier calls: whichever carries it next,
 * its calls go on at the same nodes.  While it has no carrier, its calls take no time, neither on the CPU nor of the
 * clock: ten thousand of them that wait would else take longer than the recording.
 */
#include "core/base/xalloc.h"
#include "core/wire/ring.h"
#include "phases/tree/calltree_internal.h"

#define TICKETS (RING_METHOD_MAX + UINT32_C(1))

/* What is known of a node's method; NULL: it is none. */
static struct calltree_unmounted *account_of(struct builder *b, uint32_t node)
{
    uint32_t method = b->store.nodes[node].method;
    if (method > RING_METHOD_MAX)
        return NULL;
    xgrow_zeroed(b->tree->unmounted, b->tree->n_unmounted, (size_t)method + 1);
    return &b->tree->unmounted[method];
}

static void begin_wait(struct builder *b, const struct unmounted *unmounted)
{
    struct calltree_unmounted *account = unmounted->depth == 0 ? NULL : account_of(b, unmounted->node);
    if (account == NULL)
        return;
    account->n++;
    account->n_now++;
    account->n_most = account->n_now > account->n_most ? account->n_now : account->n_most;
}

static void end_wait(struct builder *b, struct unmounted *unmounted, uint64_t ticks)
{
    struct calltree_unmounted *account = unmounted->depth == 0 ? NULL : account_of(b, unmounted->node);
    if (account == NULL)
        return;
    account->ticks += ticks > unmounted->since ? ticks - unmounted->since : 0;
    account->n_now -= account->n_now > 0;
}

/* The thread's stack and the one put aside change places. */
static void change_stack(struct thread *t)
{
    struct carrier now = { t->node, t->depth, t->n_folds, t->folds_room, t->folds, t->carrier.entries };
    t->node = t->carrier.node;
    t->depth = t->carrier.depth;
    t->n_folds = t->carrier.n_folds;
    t->folds_room = t->carrier.folds_room;
    t->folds = t->carrier.folds;
    t->carrier = now;
}

static void stand_at_root(struct builder *b, struct thread *t)
{
    t->node = b->tree->roots[t->known.root].node;
    t->depth = t->n_folds = 0;
}

/* Enter the spans of all calls of the thread's stack once more. */
static void follow_again(struct builder *b, struct thread *t)
{
    uint32_t depth = t->depth, *methods = xreallocarray(NULL, depth + 1, sizeof *methods);
    for (struct frame f = { t->node, depth, t->n_folds }; f.depth > 0; frame_up(b, t, &f))
        methods[f.depth] = frame_method(b, t, &f);
    for (t->depth = 1; t->depth <= depth; t->depth++)
        spans_follow(b, t, methods[t->depth]);
    t->depth = depth;
    free(methods);
}

void virtual_mount(struct builder *b, struct thread *t, uint64_t ticket)
{
    if (t->is_mounted) /* its going was lost */
        virtual_unmount(b, t, 0);
    entries_leave(t, &t->carrier.entries);
    if (ticket != 0 && ticket < b->n_unmounted) {
        end_wait(b, &b->unmounted[ticket], t->clock.now);
        entries_take(t, &b->unmounted[ticket].entries, b->unmounted[ticket].depth);
        b->unmounted[ticket].depth = 0;
    }
    change_stack(t);
    stand_at_root(b, t);
    t->is_mounted = true;
    if (b->take_turns)
        spans_follow(b, t, CALLTREE_NONE);
}

/* Without a ticket, what it leaves open is lost. */
void virtual_unmount(struct builder *b, struct thread *t, uint64_t ticket)
{
    if (ticket == 0 || ticket >= TICKETS) {
        struct call_entries lost = { .all = NULL };
        entries_leave(t, &lost);
        count_open(b, t->node, t->depth, &lost);
        free(lost.all);
    } else {
        xgrow_zeroed(b->unmounted, b->n_unmounted, (size_t)ticket + 1);
        struct unmounted *unmounted = &b->unmounted[ticket];
        end_wait(b, unmounted, t->clock.now); /* its coming was lost */
        entries_leave(t, &unmounted->entries);
        unmounted->node = t->node;
        unmounted->depth = t->depth;
        unmounted->since = t->clock.now;
        begin_wait(b, unmounted);
    }
    stand_at_root(b, t);
    if (b->take_turns)
        spans_follow(b, t, CALLTREE_NONE);
    if (!t->is_mounted)
        return;
    change_stack(t);
    entries_take(t, &t->carrier.entries, t->depth);
    t->entries.n_taken = 0;
    t->is_mounted = false;
    if (b->take_turns && t->depth > 0)
        follow_again(b, t);
}

void virtual_end(struct builder *b)
{
    for (uint32_t i = 0; i < b->n_unmounted; i++) {
        end_wait(b, &b->unmounted[i], trace_end_ticks(b->reader));
        count_open(b, b->unmounted[i].node, b->unmounted[i].depth, &b->unmounted[i].entries);
    }
}
