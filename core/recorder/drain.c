#include "core/recorder/drain.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "core/recorder/clock.h"
#include "core/recorder/read_log.h"

#define METHODS_PIECE_BYTES ((size_t)1 << 20)
#define BEHIND_PART         3 /* a ring that is fuller than one in so many: its thread is faster than the recorder */
#define FULL_IN_NS          UINT64_C(200000000)
#define TICKET_WORDS        ((RING_METHOD_MAX + UINT64_C(1)) / 64)

void drain_init(struct drain *drain, struct session *session, struct threads *threads)
{
    memset(drain, 0, sizeof *drain);
    drain->session = session;
    drain->threads = threads;
    drain->words = xreallocarray(NULL, session->ring_words, sizeof *drain->words);
    drain->methods = xmalloc(METHODS_PIECE_BYTES);
}

void drain_free(struct drain *drain)
{
    free(drain->rings);
    free(drain->words);
    free(drain->methods);
    free(drain->tickets);
    free(drain->value_methods);
    memset(drain, 0, sizeof *drain);
}

static void meet(struct drain *drain, struct ring *ring, struct drain_ring *mine)
{
    int32_t tid = jvm_thread_outer_tid(drain->pid, drain->inner_pid, ring->tid);
    struct recorder_thread *thread = threads_find(drain->threads, tid);
    /* A short-lived thread may have ended since; an earlier one of the same id ended before the ring was taken. */
    if (thread == NULL || (thread->info.end_ticks != TRACE_UNKNOWN && thread->info.end_ticks < ring->start_ticks))
        thread = threads_add(drain->threads, tid, ring->start_ticks);
    mine->thread = thread;
    mine->thread->info.has_ring = true;
    mine->thread->ring = (int32_t)(mine - drain->rings);
    mine->thread->changed = true;
}

static void update_thread(struct ring *ring, struct recorder_thread *thread)
{
    uint64_t n_lost = atomic_load_explicit(&ring->n_lost, memory_order_relaxed);
    if (atomic_load_explicit(&ring->name_set, memory_order_acquire) != 0) {
        char name[RING_NAME_BYTES];
        memcpy(name, ring->name, sizeof name);
        name[sizeof name - 1] = '\0';
        /* The first one: the main thread is called DestroyJavaVM in the end. */
        if (thread->name[0] == '\0')
            threads_set_name(thread, name);
    }
    if (n_lost != thread->info.n_lost) {
        thread->info.n_lost = n_lost;
        thread->changed = true;
    }
}

/* Its thread needs so much that it would take a fifth of a second to fill it, and twice as much after a loss. */
static void see_speed(struct drain *drain, uint32_t i, uint64_t passed_ns)
{
    const struct ring *ring = session_ring(drain->session, i);
    struct drain_ring *mine = &drain->rings[i];
    uint64_t n_words = mine->head - mine->seen_head, granted = drain->session->memory.granted[i], wanted = 0,
             n_lost = atomic_load_explicit(&ring->n_lost, memory_order_relaxed);
    if (passed_ns > 0 && n_words < (UINT64_C(1) << 32))
        wanted = n_words * (FULL_IN_NS / 1000) / (passed_ns / 1000 + 1);
    if (n_lost != mine->seen_lost && n_lost != 0 && wanted < 2 * granted)
        wanted = 2 * granted;
    mine->seen_head = mine->head;
    mine->seen_lost = n_lost;
    if (wanted > granted && granted < drain->session->ring_words)
        ring_memory_grow(drain->session, i, wanted);
}

uint64_t drain_snapshot(struct drain *drain)
{
    uint64_t n_waiting = 0, now_ns = clock_ns(CLOCK_MONOTONIC_RAW), passed_ns = now_ns - drain->snapshot_ns;
    uint32_t n_seen = atomic_load(&drain->session->segment->n_rings_seen), n_taken = 0;
    drain->snapshot_ns = now_ns;
    drain->n_seen = n_seen < drain->session->memory.n_prepared ? n_seen : drain->session->memory.n_prepared;
    xgrow_zeroed(drain->rings, drain->rings_room, drain->n_seen);
    for (uint32_t i = 0; i < drain->n_seen; i++) {
        struct ring *ring = session_ring(drain->session, i);
        struct drain_ring *mine = &drain->rings[i];
        uint32_t state = atomic_load_explicit(&ring->state, memory_order_acquire);
        mine->taken = state == RING_TAKEN || state == RING_ENDED;
        mine->ended = state == RING_ENDED;
        mine->head = atomic_load_explicit(&ring->head, memory_order_acquire);
        n_taken += state != RING_FREE;
        if (!mine->taken)
            continue;
        n_waiting += mine->head - atomic_load_explicit(&ring->tail, memory_order_relaxed);
        see_speed(drain, i, passed_ns);
    }
    ring_memory_prepare(drain->session, n_taken);
    return n_waiting;
}

void drain_threads(struct drain *drain)
{
    for (uint32_t i = 0; i < drain->n_seen; i++) {
        struct ring *ring = session_ring(drain->session, i);
        struct drain_ring *mine = &drain->rings[i];
        if (!mine->taken)
            continue;
        if (mine->thread == NULL)
            meet(drain, ring, mine);
        update_thread(ring, mine->thread);
    }
}

/* ---- methods ---- */

static char *copy(struct arena *arena, struct wire_text text)
{
    return text_utf8(arena, text.at, text.n);
}

static int write_method(const struct drain *drain, struct trace_writer *writer, const struct protocol_method *method,
                        struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct trace_method out = { .id = method->id,
                                .names.class_name = copy(&arena, method->class_name),
                                .names.method = copy(&arena, method->name),
                                .names.descriptor = copy(&arena, method->descriptor),
                                .source = copy(&arena, method->source),
                                .first_line = method->first_line,
                                .code_bytes = method->code_bytes,
                                .has_loop = method->has_loop };
    int rc = trace_write_method(writer, &out, err);
    if (rc == 0 && drain->link != NULL)
        link_know(drain->link, &out);
    arena_free(&arena);
    return rc;
}

static int write_value(struct drain *drain, struct trace_writer *writer, const struct protocol_value *value,
                       struct err *err)
{
    struct arena arena = { NULL, 0 };
    const struct trace_value out = { value->id, value->method, (enum value_kind)value->kind,
                                     copy(&arena, value->text) };
    if (value->id > RING_METHOD_MAX || value->method > RING_METHOD_MAX) {
        arena_free(&arena);
        return err_set(err, "the agent's method log is damaged");
    }
    xgrow_zeroed(drain->value_methods, drain->n_values, (size_t)value->id + 1);
    drain->value_methods[value->id] = value->method + 1;
    drain->n_told_values++;
    int rc = trace_write_value(writer, &out, err);
    arena_free(&arena);
    return rc;
}

/* Write the whole entries of a piece.  Returns the bytes used, or -1 with *err set. */
static int64_t write_methods(struct drain *drain, const uint8_t *piece, size_t n, struct trace_writer *writer,
                             struct err *err)
{
    struct cursor c = cursor_over(piece, n);
    for (;;) {
        const uint8_t *start = c.at;
        uint32_t length = cursor_u32le(&c);
        if (!c.bad && length > PROTOCOL_METHOD_BYTES)
            return err_set(err, "the agent's method log is damaged");
        const uint8_t *entry = c.bad ? NULL : cursor_bytes(&c, length);
        if (entry == NULL)
            return start - piece;
        struct cursor inner = cursor_over(entry, length);
        struct protocol_method method;
        struct protocol_value value;
        int kind = protocol_get_entry(&inner, &method, &value);
        if (kind < 0)
            return err_set(err, "the agent's method log is damaged");
        if (kind == PROTOCOL_METHOD ? write_method(drain, writer, &method, err) < 0
                                    : write_value(drain, writer, &value, err) < 0)
            return -1;
    }
}

int drain_methods(struct drain *drain, struct trace_writer *writer, struct err *err)
{
    for (uint64_t begin = drain->methods_at; drain->methods_at - begin < READ_LOG_ROUND_BYTES;) {
        ssize_t n = pread(drain->session->methods_fd, drain->methods, METHODS_PIECE_BYTES, (off_t)drain->methods_at);
        if (n <= 0)
            return 0;
        int64_t used = write_methods(drain, drain->methods, (size_t)n, writer, err);
        if (used < 0)
            return -1;
        read_log_forget(drain->session->methods_fd, drain->methods_at, drain->methods_at + (uint64_t)used);
        drain->methods_at += (uint64_t)used;
        if (used == 0 || n < (ssize_t)METHODS_PIECE_BYTES)
            return 0;
    }
    return 0;
}

/* ---- records ---- */

/* The word that has its bit. */
static uint64_t *word_of(struct drain *drain, uint32_t ticket)
{
    if (drain->tickets == NULL)
        drain->tickets = xcalloc(TICKET_WORDS, sizeof *drain->tickets);
    return &drain->tickets[ticket / 64];
}

/* Whether a virtual thread may come or go by this record. */
static bool follow(struct drain *drain, uint64_t word)
{
    uint32_t ticket = ring_word_method(word);
    enum ring_kind kind = ring_word_kind(word);
    uint64_t *tickets = word_of(drain, ticket), bit = UINT64_C(1) << ticket % 64;
    if (kind == RING_MOUNT && ticket != 0 && (*tickets & bit) == 0)
        return false;
    *tickets = kind == RING_UNMOUNT ? *tickets | bit : *tickets & ~bit;
    return true;
}

/* The words that the ring says it uses; the target may say anything, at any time.  1: that makes no sense. */
static uint64_t size_of(const struct drain *drain, uint32_t i)
{
    uint32_t size = atomic_load_explicit(&session_ring(drain->session, i)->size, memory_order_relaxed);
    return (size & (size - 1)) == 0 && size != 0 && size <= drain->session->memory.granted[i] ? size : 1;
}

/* Look through the ring's words, up to a record that has to wait for those of another ring. */
static void look_through(struct drain *drain, uint32_t i, uint64_t tail, uint64_t mask)
{
    const uint64_t *words = session_words(drain->session, i);
    uint64_t record_words = 1 + (uint64_t)drain->session->n_counters;
    struct drain_ring *mine = &drain->rings[i];
    uint64_t at = tail;
    for (; at != mine->head; at += record_words) {
        uint64_t word = words[at & mask];
        enum ring_kind kind = ring_word_kind(word);
        if ((kind == RING_MOUNT || kind == RING_UNMOUNT) && !follow(drain, word))
            break;
    }
    mine->ready = at;
    mine->waits = at != mine->head;
}

/* Copy the words out first: the thread gets its room back at once, and cannot change what is being encoded. */
static size_t take_words(struct drain *drain, uint32_t i, struct ring *ring)
{
    const uint64_t *words = session_words(drain->session, i);
    uint64_t head = drain->rings[i].head, size = size_of(drain, i);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed), n = head - tail;
    uint64_t record_words = 1 + (uint64_t)drain->session->n_counters;
    if (n > size || n % record_words != 0) {
        drain->n_damaged++;
        tail = head;
    }
    look_through(drain, i, tail, size - 1);
    head = drain->rings[i].ready;
    n = head - tail;
    uint64_t at = tail & (size - 1), first = n < size - at ? n : size - at;
    memcpy(drain->words, words + at, first * sizeof *words);
    memcpy(drain->words + first, words, (n - first) * sizeof *words);
    atomic_store_explicit(&ring->tail, head, memory_order_release);
    return n;
}

static void release(struct drain *drain, struct ring *ring, struct drain_ring *mine)
{
    struct recorder_thread *thread = mine->thread;
    if (thread->info.end_ticks == TRACE_UNKNOWN && !drain->kernel_tells_ends) {
        thread->info.end_ticks = ring->end_ticks;
        thread->changed = true;
    }
    drain->n_lost += thread->info.n_lost;
    thread->ring = -1;
    mine->thread = NULL;
    mine->ended = false;
    ring_memory_give_back(drain->session, (uint32_t)(mine - drain->rings));
    atomic_store_explicit(&ring->state, RING_FREE, memory_order_release);
    atomic_fetch_add(&drain->session->segment->n_handed, 1);
}

/* Whoever counts calls counts a method's together. */
static void name_methods(const struct drain *drain, size_t n_words)
{
    size_t record_words = 1 + (size_t)drain->session->n_counters;
    for (size_t i = 0; drain->n_values > 0 && i < n_words; i += record_words) {
        uint64_t word = drain->words[i];
        uint32_t id = ring_word_method(word);
        if (ring_word_kind(word) <= RING_OPEN && id < drain->n_values && drain->value_methods[id] != 0)
            drain->words[i] = ring_word(ring_word_kind(word), drain->value_methods[id] - 1, word);
    }
}

static void tell_records(const struct drain *drain, uint32_t thread, size_t n_words, uint64_t now)
{
    const struct recorder_observer *observer = drain->observer;
    if (observer == NULL || observer->records == NULL)
        return;
    name_methods(drain, n_words);
    observer->records(observer->context, thread, drain->words, n_words, now);
}

/* Write what a ring has and need not wait.  Returns 1 when there was something, 0 when not, or -1 with *err set. */
static int write_ring(struct drain *drain, uint32_t i, struct trace_writer *writer, uint64_t now, struct err *err)
{
    struct ring *ring = session_ring(drain->session, i);
    struct drain_ring *mine = &drain->rings[i];
    size_t n = take_words(drain, i, ring);
    trace_writer_set_plain(writer, n > drain->session->memory.granted[i] / BEHIND_PART);
    if (n > 0 && trace_write_records(writer, mine->thread->info.index, drain->words, n, now, err) < 0)
        return -1;
    if (n > 0)
        tell_records(drain, mine->thread->info.index, n, now);
    if (mine->ended && !mine->waits)
        release(drain, ring, mine);
    return n > 0;
}

/* What waits for a second round waits for something that a sound target would have written: let it go. */
static void end_waiting(struct drain *drain)
{
    for (uint32_t i = 0; i < drain->n_seen; i++) {
        struct drain_ring *mine = &drain->rings[i];
        if (!mine->taken || !mine->waits)
            continue;
        uint64_t word = session_words(drain->session, i)[mine->ready & (size_of(drain, i) - 1)];
        uint32_t ticket = ring_word_method(word);
        if (mine->waited_at == mine->ready + 1)
            *word_of(drain, ticket) |= UINT64_C(1) << ticket % 64;
        mine->waited_at = mine->ready + 1;
    }
}

int drain_records(struct drain *drain, struct trace_writer *writer, uint64_t now, struct err *err)
{
    bool goes_on = true;
    for (bool is_first = true; goes_on; is_first = false) {
        bool any_waits = false, any_written = false;
        for (uint32_t i = 0; i < drain->n_seen; i++) {
            struct drain_ring *mine = &drain->rings[i];
            if (!mine->taken || (!is_first && !mine->waits))
                continue;
            int rc = write_ring(drain, i, writer, now, err);
            if (rc < 0)
                return -1;
            any_written = any_written || rc > 0;
            any_waits = any_waits || mine->waits;
        }
        goes_on = any_waits && any_written;
    }
    end_waiting(drain);
    return 0;
}

uint64_t drain_n_lost(const struct drain *drain)
{
    uint64_t n = drain->n_lost + atomic_load(&drain->session->segment->n_lost_no_ring);
    for (uint32_t i = 0; i < drain->n_seen; i++)
        if (drain->rings[i].thread != NULL)
            n += drain->rings[i].thread->info.n_lost;
    return n;
}
