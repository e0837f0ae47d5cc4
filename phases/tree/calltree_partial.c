/* Calls that no probe saw from their beginning to their end. */
#include "phases/tree/calltree_internal.h"

#include "core/base/xalloc.h"

struct call_entry *entries_room(struct thread *t, uint32_t depth)
{
    xgrow_zeroed(t->entries.all, t->entries.room, depth);
    return t->entries.all;
}

void entries_begin(struct thread *t, enum trace_kind kind)
{
    struct call_entries *entries = &t->entries;
    uint32_t i = t->depth - 1;
    entries_room(t, t->depth);
    if (kind == TRACE_RESUME && i < entries->n_taken)
        return;
    entries->n_taken = entries->n_taken < i ? entries->n_taken : i;
    entries->all[i] = (struct call_entry){ thread_cpu(t), thread_wall(t), kind != TRACE_ENTER };
}

void entries_leave(struct thread *t, struct call_entries *to)
{
    free(to->all);
    *to = t->entries;
    to->cpu = thread_cpu(t);
    to->wall = thread_wall(t);
    t->entries = (struct call_entries){ .all = NULL };
}

/* Another thread's clock goes on where the other one's stood; differences count only. */
void entries_take(struct thread *t, struct call_entries *from, uint32_t depth)
{
    t->entries = *from;
    *from = (struct call_entries){ .all = NULL };
    for (uint32_t i = 0; i < depth && i < t->entries.room; i++) {
        t->entries.all[i].cpu += thread_cpu(t) - t->entries.cpu;
        t->entries.all[i].wall += thread_wall(t) - t->entries.wall;
    }
    t->entries.n_taken = depth;
}

/* A call at this node is over, or never will be, and is partial. */
static void partial_add(struct builder *b, uint32_t node, const struct call_entry *entry, uint64_t cpu, uint64_t wall)
{
    node_store_row(&b->store, node)[ROW_OPEN]++;
    *xpush(b->tree->partials, b->partials_room, b->tree->n_partials) =
        (struct calltree_partial){ node, cpu - entry->cpu, wall - entry->wall };
}

void partial_leave(struct builder *b, struct thread *t, const struct frame *frame, bool is_missing)
{
    const struct call_entry *entry = &t->entries.all[frame->depth - 1];
    if ((is_missing || entry->is_found) && !frame_is_folded(t, frame))
        partial_add(b, frame->node, entry, thread_cpu(t), thread_wall(t));
}

/* Calls that found no room for a node of their own are those of the node that took them. */
void count_open(struct builder *b, uint32_t node, uint32_t depth, const struct call_entries *entries)
{
    const struct calltree_node *nodes = b->store.nodes;
    b->tree->n_open += depth;
    for (; depth > 0 && nodes[node].parent != node; depth--, node = nodes[node].parent)
        partial_add(b, node, &entries->all[depth - 1], entries->cpu, entries->wall);
}

/* ---- results ---- */

static int by_node(const void *a, const void *b)
{
    const struct calltree_partial *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

size_t calltree_partials_join(struct calltree_partial *partials, size_t n)
{
    size_t n_left = 0;
    if (n > 0)
        qsort(partials, n, sizeof *partials, by_node);
    for (size_t i = 0; i < n; i++) {
        struct calltree_partial *last = n_left == 0 ? NULL : &partials[n_left - 1];
        if (last == NULL || last->node != partials[i].node) {
            partials[n_left++] = partials[i];
            continue;
        }
        last->cpu_ticks += partials[i].cpu_ticks;
        last->wall_ticks += partials[i].wall_ticks;
    }
    return n_left;
}

struct calltree_partial calltree_partial_at(const struct calltree *tree, uint32_t node)
{
    const struct calltree_partial key = { .node = node }, *found = NULL;
    if (tree->n_partials > 0 && calltree_row(tree, node)[ROW_OPEN] > 0)
        found = bsearch(&key, tree->partials, tree->n_partials, sizeof key, by_node);
    return found == NULL ? key : *found;
}

static double less(uint64_t ticks, uint64_t partial_ticks)
{
    return ticks > partial_ticks ? (double)(ticks - partial_ticks) : 0;
}

struct calltree_whole calltree_whole_of(const struct calltree_total *total)
{
    if (total->is_recursive || total->n_open == 0)
        return (struct calltree_whole){ (double)total->calls, (double)total->total_cpu_ticks,
                                        (double)total->total_wall_ticks };
    return (struct calltree_whole){ less(total->calls, total->n_open),
                                    less(total->total_cpu_ticks, total->partial_cpu_ticks),
                                    less(total->total_wall_ticks, total->partial_wall_ticks) };
}
