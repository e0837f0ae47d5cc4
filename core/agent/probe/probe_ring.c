/* The ring of a thread's probes: it is taken once in the thread's life, and filled; and the session's begin and end. */
#include "core/agent/probe/probe_parts.h"

#include <fnmatch.h>
#include <sys/syscall.h>

#define WAKE_PART 8 /* a small ring that holds one part of so many wakes the recorder */
#define FEW_RINGS 8 /* are left: the recorder prepares more */

_Thread_local struct probe_thread probe_self;

/* ---- taking and giving back a ring: once in a thread's life ---- */

/* The thread's name in Java; returns whether it has one, else "". */
static bool own_name(char name[RING_NAME_BYTES])
{
    jvmtiThreadInfo info;
    jvmtiEnv *jvmti = atomic_load_explicit(&probe_session.jvmti, memory_order_relaxed);
    memset(&info, 0, sizeof info);
    name[0] = '\0';
    if ((*jvmti)->GetThreadInfo(jvmti, virtual_carrier(jvmti), &info) != JVMTI_ERROR_NONE || info.name == NULL)
        return false;
    size_t n = strnlen(info.name, RING_NAME_BYTES - 1);
    memcpy(name, info.name, n);
    name[n] = '\0';
    (*jvmti)->Deallocate(jvmti, (unsigned char *)info.name);
    return true;
}

/* Does the session want this thread's calls? */
static bool is_wanted(const struct segment *segment)
{
    char pattern[SEGMENT_THREADS_BYTES], name[RING_NAME_BYTES];
    memcpy(pattern, segment->threads, sizeof pattern);
    pattern[sizeof pattern - 1] = '\0';
    if (pattern[0] == '\0')
        return true;
    own_name(name);
    return fnmatch(pattern, name, 0) == 0;
}

/* It has not come for a while: a thread that records 50 million words a second fills its ring in 20 ms. */
static void wake_recorder(struct segment *segment)
{
    if (atomic_load_explicit(&segment->is_waiting, memory_order_relaxed) != 0 &&
        atomic_exchange(&segment->is_waiting, 0) != 0)
        counting_say_full();
}

/* A free ring of the segment, or NULL when all are taken. */
static struct ring *claim(struct segment *segment, uint32_t *index)
{
    uint32_t n = atomic_load_explicit(&segment->n_prepared, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++) {
        struct ring *ring = segment_ring(segment, i);
        uint32_t state = RING_FREE;
        if (atomic_load_explicit(&ring->state, memory_order_relaxed) != RING_FREE)
            continue;
        if (!atomic_compare_exchange_strong(&ring->state, &state, RING_CLAIMED))
            continue;
        uint32_t seen = atomic_load(&segment->n_rings_seen);
        while (seen < i + 1 && !atomic_compare_exchange_weak(&segment->n_rings_seen, &seen, i + 1))
            continue;
        if (i + FEW_RINGS >= n && n < segment->n_rings)
            wake_recorder(segment);
        *index = i;
        return ring;
    }
    wake_recorder(segment);
    return NULL;
}

static struct segment *session_segment(void)
{
    return atomic_load_explicit(&probe_session.segment, memory_order_relaxed);
}

/* n is 0 where the session's memory has just been replaced by zeros. */
static void use_words(struct ring *ring, uint32_t n)
{
    probe_self.mask = n == 0 ? 0 : n - 1;
    atomic_store_explicit(&ring->size, n, memory_order_relaxed);
}

bool probe_take_ring(uint32_t epoch)
{
    struct segment *segment = session_segment();
    uint32_t index, handed = atomic_load_explicit(&segment->n_handed, memory_order_acquire);
    if (probe_self.refused_epoch == epoch && (probe_self.is_left_out || probe_self.refused_at == handed))
        return false;
    counting_close(&probe_self.counting);
    probe_self.is_left_out = !is_wanted(segment);
    struct ring *ring = probe_self.is_left_out ? NULL : claim(segment, &index);
    if (ring == NULL) {
        probe_self.refused_epoch = epoch;
        probe_self.refused_at = handed;
        return false;
    }
    if (atomic_load(&probe_session.epoch) != epoch) { /* the thread stood still while its session ended */
        atomic_store(&ring->state, RING_FREE);
        return false;
    }
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    ring->limit = tail; /* find_room is next */
    probe_self.depth = probe_self.base = ring->n_lost_unrecorded = 0;
    probe_self.is_mounted = probe_self.is_deaf = false;
    probe_self.generation = atomic_load(&probe_session.generation) - 1;
    probe_self.check_ticks = UINT64_MAX;
    atomic_store_explicit(&ring->n_lost, 0, memory_order_relaxed);
    atomic_store_explicit(&ring->name_set, 0, memory_order_relaxed);
    ring->tid = (int32_t)syscall(SYS_gettid);
    ring->start_ticks = ticks_now();
    if (own_name(ring->name))
        atomic_store_explicit(&ring->name_set, 1, memory_order_release);
    probe_self.n_counters = atomic_load_explicit(&probe_session.n_counters, memory_order_relaxed);
    /* Counters that do not open read as not counted. */
    counting_open(&probe_self.counting, ring, index);
    probe_self.ring = ring;
    probe_self.ring_number = index;
    probe_self.words = segment_words(segment, index);
    probe_self.stack = segment_stack(segment, index);
    use_words(ring, atomic_load_explicit(&ring->granted, memory_order_acquire));
    probe_self.epoch = epoch;
    probe_self.token_epoch = epoch & AGENT_EPOCH_MAX;
    atomic_store_explicit(&ring->state, RING_TAKEN, memory_order_release);
    return true;
}

void probe_thread_ended(void)
{
    uint32_t epoch = probe_self.epoch;
    probe_self.epoch = probe_self.token_epoch = 0;
    counting_close(&probe_self.counting);
    if (epoch == 0 || epoch != atomic_load(&probe_session.epoch))
        return;
    probe_self.ring->end_ticks = ticks_now();
    atomic_store_explicit(&probe_self.ring->state, RING_ENDED, memory_order_release);
}

/* ---- room ---- */

/* Use more of the ring, if there is more and no word that waits would have another place then. */
static void use_granted(struct ring *ring, uint64_t head, uint64_t tail)
{
    uint32_t granted = atomic_load_explicit(&ring->granted, memory_order_acquire), size = probe_self.mask + 1;
    if (granted > size && (head == tail || (tail & (granted - 1)) + (head - tail) <= size))
        use_words(ring, granted);
}

/*
 * Where the next look is due, before head: when so many more words were written, and before the stack is full, which
 * each entry brings as near as the words that it writes and reserves.
 */
static uint64_t next_look(uint64_t head, uint64_t record_words, uint64_t wake_words)
{
    uint64_t depth = probe_self.depth + (uint64_t)PROBE_STACK_SPARE,
             stack_words = ring_stack_words(probe_self.mask + 1),
             pushes = depth < stack_words ? 2 * (stack_words - depth - 1) * record_words : 0;
    if (depth >= stack_words)
        return head;
    return head + depth * record_words + (wake_words > 0 && wake_words < pushes ? wake_words : pushes);
}

bool probe_find_room(struct ring *ring, uint64_t head, uint64_t record_words)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    struct segment *segment = session_segment();
    use_granted(ring, head, tail);
    uint64_t size = probe_self.mask + UINT64_C(1), end = tail + size,
             wake_words = segment->wake_words < size / WAKE_PART ? segment->wake_words : size / WAKE_PART,
             next = next_look(head, record_words, wake_words);
    ring->limit = next < end ? next : end;
    if (wake_words > 0 && head - tail >= wake_words)
        wake_recorder(segment);
    return has_room(ring, head, record_words);
}

/* ---- the session ---- */

void probe_start(struct segment *segment, const struct counting_plan *plan, jvmtiEnv *jvmti, int socket)
{
    atomic_store_explicit(&probe_session.segment, segment, memory_order_relaxed);
    atomic_store_explicit(&probe_session.jvmti, jvmti, memory_order_relaxed);
    atomic_store_explicit(&probe_session.n_counters, counter_layout_columns(&plan->layout), memory_order_relaxed);
    counting_begin(plan, socket);
    atomic_fetch_add(&probe_session.generation, 1);
    atomic_store_explicit(&probe_session.epoch, segment->epoch, memory_order_release);
}

void probe_find_with(open_calls_find_fn *find)
{
    probe_session.find = find;
}

void probe_find_open(void)
{
    atomic_fetch_add(&probe_session.generation, 1);
}

void probe_stop(void)
{
    atomic_store_explicit(&probe_session.epoch, 0, memory_order_release);
    counting_end();
}

int probe_enter_private(struct ring *ring, uint64_t *words, uint32_t n_words, uint32_t epoch,
                        const struct counting_plan *plan, struct counters_failure *failure)
{
    memset(ring, 0, sizeof *ring);
    probe_self.depth = probe_self.base = 0;
    probe_self.stack = probe_session.private_stack;
    ring->limit = UINT64_MAX;
    probe_self.ring = ring;
    probe_self.generation = atomic_load(&probe_session.generation);
    probe_self.check_ticks = UINT64_MAX;
    probe_self.words = words;
    probe_self.mask = n_words - 1;
    probe_self.n_counters = counter_layout_columns(&plan->layout);
    probe_self.epoch = probe_self.token_epoch = epoch;
    return probe_self.n_counters == 0 ? 0 : counting_open_private(&probe_self.counting, plan, failure);
}

void probe_leave_private(void)
{
    probe_self.epoch = probe_self.token_epoch = 0;
    probe_self.ring = NULL;
    counting_close(&probe_self.counting);
}
