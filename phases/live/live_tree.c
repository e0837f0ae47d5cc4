#include "phases/live/live_tree.h"

#include "core/wire/ring.h"
#include "phases/tree/calltree_internal.h"

#include <stdlib.h>
#include <string.h>

#define NO_INDEX     UINT32_MAX
#define PENDING_MAX  (UINT32_C(1) << 16)
#define PENDING_NEW  256u /* of a thread without records: its first ones may come behind the switches of their round */
#define THREADS_MAX  (UINT32_C(1) << 20)
#define SETTLE_TICKS 3000000u /* about 1 ms: a round's records may stop a little before its moment */

/* An open call. */
struct live_frame {
    uint32_t method; /* index */
    uint32_t outer;  /* the next call of the same method further out: its place in the stack plus 1; 0: none */
    uint64_t cpu, wall;
};

struct live_thread {
    struct thread_clock clock; /* clock.cpu and clock.wall go on: nothing is taken out of them */
    struct live_frame *frames; /* owned */
    uint64_t *counters;        /* owned: n_followed per frame */
    uint32_t depth, room;
    uint32_t n_deep;                /* calls open beyond LIVE_DEPTH_MAX */
    uint32_t base;                  /* the carrier's calls, which stand still while a virtual thread is here */
    uint64_t mount_cpu, mount_wall; /* when it came */
    uint32_t *innermost;            /* owned: by method index, the place of its innermost open call plus 1; 0: none */
    uint32_t n_innermost;           /* its room */
    bool has_records;
};

struct live_tree {
    struct live_tree_options options;
    struct live_thread *threads; /* owned, by the trace's index */
    uint32_t n_threads;
    uint32_t *index_of; /* owned, by method id */
    uint32_t n_ids;
    struct live_account *accounts; /* owned, by index */
    uint32_t *ids;                 /* owned, by index */
    uint32_t n_methods, methods_room;
    uint64_t n_records, n_lost, n_stray;
    bool has_switches;
};

int live_tree_open(struct live_tree **tree, const struct live_tree_options *options, struct err *err)
{
    *tree = calloc(1, sizeof **tree);
    if (*tree == NULL)
        return err_set(err, "out of memory");
    (*tree)->options = *options;
    return 0;
}

void live_tree_close(struct live_tree *tree)
{
    if (tree == NULL)
        return;
    for (uint32_t i = 0; i < tree->n_threads; i++) {
        free(tree->threads[i].clock.pending);
        free(tree->threads[i].frames);
        free(tree->threads[i].counters);
        free(tree->threads[i].innermost);
    }
    free(tree->threads);
    free(tree->index_of);
    free(tree->accounts);
    free(tree->ids);
    free(tree);
}

/* ---- room ---- */

/*
 * Room for more than n items, the new ones zeros; *room is what there is.  Returns the array, or NULL with *err set:
 * the old one stays.
 */
static void *grow(void *old, size_t item_bytes, uint32_t n, uint32_t *room, struct err *err)
{
    if (n < *room)
        return old;
    uint32_t wanted = n < 32 ? 64 : n * 2;
    char *items = realloc(old, wanted * item_bytes);
    if (items == NULL) {
        err_set(err, "out of memory for %u entries of the live account", wanted);
        return NULL;
    }
    memset(items + *room * item_bytes, 0, (wanted - *room) * item_bytes);
    *room = wanted;
    return items;
}

static int thread_at(struct live_tree *tree, uint32_t index, struct live_thread **thread, struct err *err)
{
    if (index >= THREADS_MAX)
        return err_set(err, "thread number %u is too high", index);
    struct live_thread *threads = grow(tree->threads, sizeof *threads, index, &tree->n_threads, err);
    if (threads == NULL)
        return -1;
    tree->threads = threads;
    *thread = &threads[index];
    return 0;
}

static int meet_method(struct live_tree *tree, uint32_t id, uint32_t *index, struct err *err)
{
    uint32_t accounts_room = tree->methods_room;
    uint32_t *index_of = grow(tree->index_of, sizeof *index_of, id, &tree->n_ids, err);
    if (index_of == NULL)
        return -1;
    tree->index_of = index_of;
    struct live_account *accounts = grow(tree->accounts, sizeof *accounts, tree->n_methods, &accounts_room, err);
    if (accounts == NULL)
        return -1;
    tree->accounts = accounts;
    uint32_t *ids = grow(tree->ids, sizeof *ids, tree->n_methods, &tree->methods_room, err);
    if (ids == NULL)
        return -1;
    tree->ids = ids;
    *index = tree->n_methods++;
    ids[*index] = id;
    index_of[id] = *index + 1;
    return 0;
}

/* Room for one more frame, and for its counters. */
static int frame_room(const struct live_tree *tree, struct live_thread *t, struct err *err)
{
    uint32_t room = t->room, n_followed = tree->options.n_followed, counters_room = t->room * n_followed;
    struct live_frame *frames = grow(t->frames, sizeof *frames, t->depth, &room, err);
    if (frames == NULL)
        return -1;
    t->frames = frames;
    if (n_followed > 0) {
        uint64_t *counters = grow(t->counters, sizeof *counters, room * n_followed - 1, &counters_room, err);
        if (counters == NULL)
            return -1;
        t->counters = counters;
    }
    t->room = room;
    return 0;
}

static int innermost_room(struct live_thread *t, uint32_t method, struct err *err)
{
    uint32_t *innermost = grow(t->innermost, sizeof *innermost, method, &t->n_innermost, err);
    if (innermost == NULL)
        return -1;
    t->innermost = innermost;
    return 0;
}

/* ---- the kernel's events ---- */

static void apply_kernel(struct live_thread *t, uint64_t ticks)
{
    struct clock_event event;
    while (clock_apply(&t->clock, ticks, &event))
        continue;
}

/* The oldest ones, when there are too many. */
static void bound_pending(struct live_thread *t)
{
    uint32_t most = t->has_records ? PENDING_MAX : PENDING_NEW;
    struct clock_event event;
    while (t->clock.n_pending > most && clock_apply(&t->clock, UINT64_MAX, &event))
        continue;
}

int live_tree_kernel(struct live_tree *tree, const struct trace_event *events, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct trace_event *event = &events[i];
        struct live_thread *t = NULL;
        if (event->kind < TRACE_CPU_IN || event->kind > TRACE_THREAD_END || event->kind == TRACE_PAGE_FAULT)
            continue;
        if (thread_at(tree, event->thread, &t, err) < 0)
            return -1;
        tree->has_switches = true;
        if (clock_push(&t->clock, &(struct clock_event){ event->ticks, event->kind }, err) < 0)
            return -1;
        bound_pending(t);
    }
    return 0;
}

/* ---- records ---- */

/* Remember the followed counters of an entry. */
static void keep_counters(const struct live_tree *tree, struct live_thread *t, const uint64_t *values)
{
    uint64_t *kept = t->counters + (size_t)t->depth * tree->options.n_followed;
    for (uint32_t i = 0; i < tree->options.n_followed; i++)
        kept[i] = values[tree->options.followed[i]];
}

static void add_counters(const struct live_tree *tree, const struct live_thread *t, const uint64_t *values,
                         struct live_account *account)
{
    const uint64_t *kept = t->counters + (size_t)t->depth * tree->options.n_followed;
    for (uint32_t i = 0; i < tree->options.n_followed; i++) {
        uint64_t value = values[tree->options.followed[i]];
        if (kept[i] == RING_NOT_COUNTED || value == RING_NOT_COUNTED || value < kept[i])
            return;
    }
    for (uint32_t i = 0; i < tree->options.n_followed; i++)
        account->counters[i] += values[tree->options.followed[i]] - kept[i];
    account->n_counted++;
}

static inline int open_frame(struct live_tree *tree, struct live_thread *t, uint32_t id, bool is_entry,
                             const uint64_t *values, struct err *err)
{
    uint32_t method = id < tree->n_ids ? tree->index_of[id] - 1 : NO_INDEX;
    if (method == NO_INDEX && meet_method(tree, id, &method, err) < 0)
        return -1;
    tree->accounts[method].calls += is_entry;
    if (t->depth >= LIVE_DEPTH_MAX) {
        t->n_deep++;
        return 0;
    }
    if ((t->depth >= t->room && frame_room(tree, t, err) < 0) ||
        (method >= t->n_innermost && innermost_room(t, method, err) < 0))
        return -1;
    t->frames[t->depth] = (struct live_frame){ method, t->innermost[method], t->clock.cpu, t->clock.wall };
    if (tree->options.n_followed > 0)
        keep_counters(tree, t, values);
    t->innermost[method] = ++t->depth;
    return 0;
}

/* A call of a carrier is none of the virtual thread's. */
static inline bool is_outermost(const struct live_thread *t, uint32_t i)
{
    return t->frames[i].outer == 0 || (i >= t->base && t->frames[i].outer <= t->base);
}

static inline void close_frame(struct live_tree *tree, struct live_thread *t, const uint64_t *values)
{
    const struct live_frame *frame = &t->frames[--t->depth];
    t->innermost[frame->method] = frame->outer;
    if (!is_outermost(t, t->depth))
        return;
    struct live_account *account = &tree->accounts[frame->method];
    uint64_t wall = t->clock.wall - frame->wall;
    account->wall_ticks += wall;
    account->cpu_ticks += tree->has_switches ? t->clock.cpu - frame->cpu : wall;
    if (tree->options.n_followed > 0)
        add_counters(tree, t, values, account);
}

/* The exit of a call further out closes those within. */
static inline void leave(struct live_tree *tree, struct live_thread *t, uint32_t id, const uint64_t *values)
{
    if (t->n_deep > 0) {
        t->n_deep--;
        return;
    }
    uint32_t method = id < tree->n_ids ? tree->index_of[id] - 1 : NO_INDEX;
    if (method == NO_INDEX || method >= t->n_innermost || t->innermost[method] <= t->base) {
        tree->n_stray++;
        return;
    }
    for (uint32_t depth = t->innermost[method]; t->depth >= depth;)
        close_frame(tree, t, values);
}

static void mount(struct live_thread *t)
{
    t->base = t->depth;
    t->mount_cpu = t->clock.cpu;
    t->mount_wall = t->clock.wall;
}

/* The virtual thread's calls go on elsewhere, the carrier's as if nothing had been. */
static void unmount(struct live_tree *tree, struct live_thread *t, const uint64_t *values)
{
    while (t->depth > t->base)
        close_frame(tree, t, values);
    for (uint32_t i = 0; i < t->base; i++) {
        t->frames[i].cpu += t->clock.cpu - t->mount_cpu;
        t->frames[i].wall += t->clock.wall - t->mount_wall;
    }
    for (size_t i = 0; i < (size_t)t->base * tree->options.n_followed; i++)
        t->counters[i] = RING_NOT_COUNTED;
    t->base = t->n_deep = 0;
}

static inline int take_ring_record(struct live_tree *tree, struct live_thread *t, const uint64_t *record, uint64_t now,
                                   struct err *err)
{
    uint64_t ticks = ring_word_ticks(record[0], now);
    uint32_t method = ring_word_method(record[0]);
    if (t->clock.n_pending > 0)
        apply_kernel(t, ticks);
    if (t->clock.state == CLOCK_ON)
        clock_advance(&t->clock, ticks);
    else
        clock_record(&t->clock, ticks);
    switch (ring_word_kind(record[0])) {
    case RING_ENTER:
        return open_frame(tree, t, method, true, record + 1, err);
    case RING_EXIT:
    case RING_UNWIND:
        leave(tree, t, method, record + 1);
        return 0;
    case RING_RESUME:
        return open_frame(tree, t, method, false, record + 1, err);
    case RING_OPEN:
        return open_frame(tree, t, method, true, record + 1, err);
    case RING_MOUNT:
        mount(t);
        return 0;
    case RING_UNMOUNT:
        unmount(tree, t, record + 1);
        return 0;
    case RING_GAP:
        break;
    }
    tree->n_lost += method;
    return 0;
}

int live_tree_records(struct live_tree *tree, uint32_t thread, const uint64_t *words, size_t n_words, uint64_t now,
                      struct err *err)
{
    struct live_thread *t = NULL;
    size_t record_words = 1 + (size_t)tree->options.n_columns;
    if (thread_at(tree, thread, &t, err) < 0)
        return -1;
    if (n_words % record_words != 0) {
        tree->n_stray++;
        return 0;
    }
    if (!t->has_records && n_words > 0) {
        t->has_records = true;
        if (t->clock.now == 0)
            t->clock.now = ring_word_ticks(words[0], now);
    }
    for (size_t i = 0; i < n_words; i += record_words)
        if (take_ring_record(tree, t, words + i, now, err) < 0)
            return -1;
    tree->n_records += n_words / record_words;
    return 0;
}

/* ---- what is known ---- */

uint32_t live_tree_n_methods(const struct live_tree *tree)
{
    return tree->n_methods;
}

uint32_t live_tree_method_id(const struct live_tree *tree, uint32_t index)
{
    return tree->ids[index];
}

const struct live_account *live_tree_account(const struct live_tree *tree, uint32_t index)
{
    return &tree->accounts[index];
}

static void add_open(const struct live_tree *tree, const struct live_thread *t, uint64_t now,
                     struct live_account *accounts)
{
    uint64_t rest = now > t->clock.now && t->clock.state != CLOCK_ENDED ? now - t->clock.now : 0;
    uint64_t wall = t->clock.wall + rest;
    uint64_t cpu = t->clock.cpu + (t->clock.state == CLOCK_ON ? rest : 0);
    for (uint32_t i = 0; i < t->depth; i++) {
        const struct live_frame *frame = &t->frames[i];
        uint64_t frame_wall = (i < t->base ? t->mount_wall : wall) - frame->wall;
        if (!is_outermost(t, i))
            continue;
        accounts[frame->method].wall_ticks += frame_wall;
        accounts[frame->method].cpu_ticks +=
            tree->has_switches ? (i < t->base ? t->mount_cpu : cpu) - frame->cpu : frame_wall;
    }
}

void live_tree_accounts(struct live_tree *tree, uint64_t now, struct live_account *accounts)
{
    uint64_t settled = now > SETTLE_TICKS ? now - SETTLE_TICKS : 0;
    if (tree->n_methods > 0)
        memcpy(accounts, tree->accounts, tree->n_methods * sizeof *accounts);
    for (uint32_t i = 0; i < tree->n_threads; i++) {
        struct live_thread *t = &tree->threads[i];
        apply_kernel(t, settled);
        if (t->depth > 0)
            add_open(tree, t, now, accounts);
    }
}

uint64_t live_tree_n_records(const struct live_tree *tree)
{
    return tree->n_records;
}

uint64_t live_tree_n_lost(const struct live_tree *tree)
{
    return tree->n_lost;
}

uint64_t live_tree_n_stray(const struct live_tree *tree)
{
    return tree->n_stray;
}
