#include "phases/live/live_parts.h"

#include "core/base/xalloc.h"
#include "core/wire/ring.h"
#include "phases/tree/calltree_internal.h"

#define PENDING_MAX  (UINT32_C(1) << 16)
#define PENDING_NEW  256u /* of a thread without records: its first ones may come behind the switches of their round */
#define THREADS_MAX  (UINT32_C(1) << 20)
#define SETTLE_TICKS 3000000u /* about 1 ms: a round's records may stop a little before its moment */

/* An open call. */
struct live_frame {
    uint32_t method; /* id */
    uint32_t outer;  /* the next call of the same method further out: its position in the stack plus 1; 0: none */
    uint64_t cpu, wall;
};

struct live_thread {
    struct thread_clock clock; /* clock.cpu and clock.wall go on: nothing is taken out of them */
    struct live_frame *frames; /* owned */
    uint64_t *counters;        /* owned: n_tracked per frame */
    uint32_t depth, room, counters_room;
    uint32_t n_deep;                /* calls open beyond LIVE_DEPTH_MAX */
    uint32_t base;                  /* the carrier's calls, which stand still while a virtual thread is here */
    uint64_t mount_cpu, mount_wall; /* when it came */
    uint32_t *innermost;            /* owned: by method, the position of its innermost open call plus 1; 0: none */
    uint32_t n_innermost;           /* its room */
    bool has_records;
};

struct live_tree {
    struct live_tree_options options;
    struct live_thread *threads; /* owned, by the trace's index */
    uint32_t n_threads;
    struct live_account *accounts; /* owned, by method id */
    uint32_t n_accounts;           /* there is room for */
    uint64_t n_records;
    bool has_switches;
};

struct live_tree *live_tree_open(const struct live_tree_options *options)
{
    struct live_tree *tree = xcalloc(1, sizeof *tree);
    tree->options = *options;
    return tree;
}

static void free_thread(struct live_thread *t)
{
    free(t->clock.pending);
    free(t->frames);
    free(t->counters);
    free(t->innermost);
    *t = (struct live_thread){ .has_records = false };
}

void live_tree_close(struct live_tree *tree)
{
    if (tree == NULL)
        return;
    for (uint32_t i = 0; i < tree->n_threads; i++)
        free_thread(&tree->threads[i]);
    free(tree->threads);
    free(tree->accounts);
    free(tree);
}

/* ---- room ---- */

/* NULL: no process has so many. */
static struct live_thread *thread_at(struct live_tree *tree, uint32_t index)
{
    if (index >= THREADS_MAX)
        return NULL;
    xgrow_zeroed(tree->threads, tree->n_threads, (size_t)index + 1);
    return &tree->threads[index];
}

/* Room for one more frame of this method, and for the counters of as many as there is room for: who pushes one asks
 * for room of frames only. */
static void frame_room(const struct live_tree *tree, struct live_thread *t, uint32_t method)
{
    xgrow(t->frames, t->room, (size_t)t->depth + 1);
    xgrow(t->counters, t->counters_room, (size_t)t->room * tree->options.n_tracked);
    xgrow_zeroed(t->innermost, t->n_innermost, (size_t)method + 1);
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

void live_tree_kernel(struct live_tree *tree, const struct trace_event *events, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct trace_event *event = &events[i];
        if (event->kind < TRACE_CPU_IN || event->kind > TRACE_THREAD_END || event->kind == TRACE_PAGE_FAULT)
            continue;
        struct live_thread *t = thread_at(tree, event->thread);
        if (t == NULL)
            continue;
        tree->has_switches = true;
        clock_push(&t->clock, &(struct clock_event){ event->ticks, event->kind });
        bound_pending(t);
    }
}

/* ---- records ---- */

/* Remember the tracked counters of an entry. */
static void enter_counters(const struct live_tree *tree, struct live_thread *t, const uint64_t *values)
{
    uint64_t *entry = t->counters + (size_t)t->depth * tree->options.n_tracked;
    for (uint32_t i = 0; i < tree->options.n_tracked; i++)
        entry[i] = values[tree->options.tracked[i]];
}

static void add_counters(const struct live_tree *tree, const struct live_thread *t, const uint64_t *values,
                         struct live_account *account)
{
    const uint64_t *entry = t->counters + (size_t)t->depth * tree->options.n_tracked;
    for (uint32_t i = 0; i < tree->options.n_tracked; i++) {
        uint64_t value = values[tree->options.tracked[i]];
        if (entry[i] == RING_NOT_COUNTED || value == RING_NOT_COUNTED || value < entry[i])
            return;
    }
    for (uint32_t i = 0; i < tree->options.n_tracked; i++)
        account->counters[i] += values[tree->options.tracked[i]] - entry[i];
    account->n_counted++;
}

static inline void open_frame(struct live_tree *tree, struct live_thread *t, uint32_t method, bool is_entry,
                              const uint64_t *values)
{
    if (method >= tree->n_accounts)
        xgrow_zeroed(tree->accounts, tree->n_accounts, (size_t)method + 1);
    tree->accounts[method].calls += is_entry;
    if (t->depth >= LIVE_DEPTH_MAX) {
        t->n_deep++;
        return;
    }
    if (t->depth >= t->room || method >= t->n_innermost)
        frame_room(tree, t, method);
    t->frames[t->depth] = (struct live_frame){ method, t->innermost[method], t->clock.cpu, t->clock.wall };
    if (tree->options.n_tracked > 0)
        enter_counters(tree, t, values);
    t->innermost[method] = ++t->depth;
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
    if (tree->options.n_tracked > 0)
        add_counters(tree, t, values, account);
}

/* The exit of a call further out closes those within. */
static inline void leave(struct live_tree *tree, struct live_thread *t, uint32_t method, const uint64_t *values)
{
    if (t->n_deep > 0) {
        t->n_deep--;
        return;
    }
    if (method >= t->n_innermost || t->innermost[method] <= t->base)
        return; /* an exit without an entry */
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
    for (size_t i = 0; i < (size_t)t->base * tree->options.n_tracked; i++)
        t->counters[i] = RING_NOT_COUNTED;
    t->base = t->n_deep = 0;
}

static inline void take_ring_record(struct live_tree *tree, struct live_thread *t, const uint64_t *record, uint64_t now)
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
    case RING_OPEN:
        open_frame(tree, t, method, true, record + 1);
        break;
    case RING_EXIT:
    case RING_UNWIND:
        leave(tree, t, method, record + 1);
        break;
    case RING_RESUME:
        open_frame(tree, t, method, false, record + 1);
        break;
    case RING_MOUNT:
        mount(t);
        break;
    case RING_UNMOUNT:
        unmount(tree, t, record + 1);
        break;
    case RING_GAP: /* that many calls were lost */
        break;
    }
}

void live_tree_records(struct live_tree *tree, uint32_t thread, const uint64_t *words, size_t n_words, uint64_t now)
{
    struct live_thread *t = thread_at(tree, thread);
    size_t record_words = 1 + (size_t)tree->options.n_columns;
    if (t == NULL || n_words % record_words != 0)
        return;
    if (!t->has_records && n_words > 0) {
        t->has_records = true;
        if (t->clock.now == 0)
            t->clock.now = ring_word_ticks(words[0], now);
    }
    for (size_t i = 0; i < n_words; i += record_words)
        take_ring_record(tree, t, words + i, now);
    tree->n_records += n_words / record_words;
}

/* ---- what is known ---- */

uint32_t live_tree_n_accounts(const struct live_tree *tree)
{
    return tree->n_accounts;
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

void live_tree_forget(struct live_tree *tree, uint32_t thread)
{
    if (thread >= tree->n_threads)
        return;
    struct live_thread *t = &tree->threads[thread];
    apply_kernel(t, UINT64_MAX);
    add_open(tree, t, t->clock.now, tree->accounts);
    free_thread(t);
}

void live_tree_accounts(struct live_tree *tree, uint64_t now, struct live_account *accounts)
{
    uint64_t settled = now > SETTLE_TICKS ? now - SETTLE_TICKS : 0;
    if (tree->n_accounts > 0)
        memcpy(accounts, tree->accounts, tree->n_accounts * sizeof *accounts);
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
