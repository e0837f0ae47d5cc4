#include "core/recorder/ring_memory.h"

#include "core/base/xalloc.h"
#include "core/recorder/session.h"

#include <fcntl.h>

#define PAGE_BYTES      UINT64_C(4096)
#define SPARE_RINGS     64  /* for threads that start between two looks */
#define SPARE_WHOLE     256 /* the same, of rings that cost nothing before they are used */
#define THREADS_GUESSED 32
#define FIRST_BYTES     (UINT64_C(48) << 20) /* that all rings begin with together, or a quarter of the limit */
#define FIRST_WORDS_MAX (UINT32_C(1) << 17)
#define FIRST_WORDS_MIN (UINT32_C(1) << 9)
#define FIRST_OF_WHOLE  (UINT32_C(1) << 13) /* of a ring that its thread may use as a whole */

static uint64_t pages(uint64_t n)
{
    return (n + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
}

static uint64_t words_bytes(uint32_t words)
{
    return words * sizeof(uint64_t);
}

static uint64_t stack_bytes(uint32_t words)
{
    return ring_stack_words(words) * sizeof(uint32_t);
}

static uint64_t ring_bytes(uint32_t words)
{
    return pages(words_bytes(words)) + pages(stack_bytes(words));
}

static uint64_t words_at(const struct session *session, uint32_t i)
{
    return session->words_offset + i * words_bytes(session->ring_words);
}

static uint64_t stack_at(const struct session *session, uint32_t i)
{
    return session->stacks_offset + i * stack_bytes(session->ring_words);
}

static bool allocate(const struct session *session, uint64_t at, uint64_t n)
{
    int rc;
    while ((rc = fallocate(session->segment_fd, 0, (off_t)at, (off_t)n)) < 0 && errno == EINTR)
        continue;
    return rc == 0;
}

static void punch(const struct session *session, uint64_t from, uint64_t to)
{
    from = pages(from);
    to &= ~(PAGE_BYTES - 1);
    if (from < to)
        fallocate(session->segment_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from));
}

static bool allocate_ring(struct session *session, uint32_t i, uint32_t words)
{
    struct ring_memory *memory = &session->memory;
    uint64_t more = ring_bytes(words) - (memory->granted[i] == 0 ? 0 : ring_bytes(memory->granted[i]));
    if (memory->used_bytes + more > memory->limit_bytes) {
        errno = ENOMEM;
        return false;
    }
    if (!allocate(session, words_at(session, i), words_bytes(words)) ||
        !allocate(session, stack_at(session, i), stack_bytes(words)))
        return false;
    memory->used_bytes += more;
    return true;
}

static void grant(struct session *session, uint32_t i, uint32_t words)
{
    struct ring *ring = session_ring(session, i);
    if (session->memory.granted[i] == 0)
        atomic_store_explicit(&ring->size, words, memory_order_relaxed);
    session->memory.granted[i] = words;
    atomic_store_explicit(&ring->granted, words, memory_order_release);
}

/* Returns false where there is no memory for another ring. */
static bool prepare(struct session *session)
{
    struct ring_memory *memory = &session->memory;
    bool is_whole = ring_bytes(session->ring_words) <= memory->target_bytes;
    bool is_spare = is_whole && memory->n_prepared >= memory->n_expected;
    uint32_t words = is_whole && memory->first_words > FIRST_OF_WHOLE ? FIRST_OF_WHOLE : memory->first_words;
    if (!is_spare && !allocate_ring(session, memory->n_prepared, words))
        return false;
    if (is_whole && memory->target_bytes != UINT64_MAX)
        memory->target_bytes -= ring_bytes(session->ring_words);
    grant(session, memory->n_prepared++, is_whole ? session->ring_words : words);
    return true;
}

/* A quarter of the limit is for the first words of all; what is left lets busy threads have more. */
static uint32_t first_words(const struct session *session, uint32_t n_rings, uint64_t limit_bytes)
{
    uint64_t bytes = limit_bytes / 4 < FIRST_BYTES ? limit_bytes / 4 : FIRST_BYTES;
    uint32_t words = session->ring_words < FIRST_WORDS_MAX ? session->ring_words : FIRST_WORDS_MAX;
    while (words > FIRST_WORDS_MIN && ring_bytes(words) * n_rings > bytes)
        words /= 2;
    return words;
}

int ring_memory_open(struct session *session, const struct ring_memory_plan *plan, struct err *err)
{
    struct ring_memory *memory = &session->memory;
    uint32_t n_expected = plan->n_threads == 0 ? THREADS_GUESSED : plan->n_threads, n = n_expected + SPARE_RINGS;
    n = n < session->n_rings ? n : session->n_rings;
    memory->n_expected = n_expected;
    memory->limit_bytes = plan->limit_bytes;
    memory->target_bytes = plan->target_bytes;
    memory->used_bytes = session->words_offset;
    memory->first_words = first_words(session, n, plan->limit_bytes);
    memory->granted = xcalloc(session->n_rings, sizeof *memory->granted);
    bool is_there = allocate(session, 0, session->words_offset);
    while (is_there && memory->n_prepared < n)
        is_there = prepare(session);
    int why = errno;
    while (is_there && memory->n_prepared < session->n_rings && memory->n_prepared < n_expected + SPARE_WHOLE &&
           ring_bytes(session->ring_words) <= memory->target_bytes)
        prepare(session);
    atomic_store_explicit(&session->segment->n_prepared, memory->n_prepared, memory_order_release);
    if (is_there)
        return 0;
    err_set(err, "there is no memory for the records of %" PRIu32 " threads (%.1f MB; mmprof may take %.1f MB): %s", n,
            (double)(ring_bytes(memory->first_words) * n) / 1e6, (double)plan->limit_bytes / 1e6, strerror(why));
    return err_next(err, "run mmprof where there is more memory: outside of the JVM's container or control group");
}

void ring_memory_close(struct ring_memory *memory)
{
    free(memory->granted);
    *memory = (struct ring_memory){ .granted = NULL };
}

void ring_memory_prepare(struct session *session, uint32_t n_taken)
{
    struct ring_memory *memory = &session->memory;
    uint32_t wanted = n_taken + n_taken / 2 + SPARE_RINGS, before = memory->n_prepared;
    if (n_taken + SPARE_RINGS <= memory->n_prepared)
        return;
    while (memory->n_prepared < wanted && memory->n_prepared < session->n_rings) {
        memory->is_short = !prepare(session);
        if (memory->is_short)
            break;
    }
    if (memory->n_prepared == before)
        return;
    atomic_store_explicit(&session->segment->n_prepared, memory->n_prepared, memory_order_release);
    atomic_fetch_add(&session->segment->n_handed, 1);
}

void ring_memory_grow(struct session *session, uint32_t i, uint64_t words)
{
    struct ring_memory *memory = &session->memory;
    uint32_t granted = memory->granted[i], wanted = granted;
    while (wanted < words && wanted < session->ring_words)
        wanted *= 2;
    for (; wanted > granted; wanted /= 2) {
        if (allocate_ring(session, i, wanted)) {
            grant(session, i, wanted);
            return;
        }
        memory->is_short = true;
    }
}

void ring_memory_give_back(struct session *session, uint32_t i)
{
    struct ring_memory *memory = &session->memory;
    uint32_t before = memory->granted[i], words = memory->first_words;
    bool is_whole = before == session->ring_words; /* which the target may have been charged for */
    if (!memory->is_short || before <= words || is_whole)
        return;
    memory->used_bytes -= ring_bytes(before) - ring_bytes(words);
    grant(session, i, words);
    uint64_t at = words_at(session, i), stack = stack_at(session, i);
    punch(session, at + words_bytes(words), at + words_bytes(before));
    punch(session, stack + stack_bytes(words), stack + stack_bytes(before));
}
