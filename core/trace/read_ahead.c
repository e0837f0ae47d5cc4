#include "core/trace/reader_internal.h"

#include "core/base/xalloc.h"

#include <pthread.h>

#define N_SLOTS 32u

struct ahead_slot {
    struct read_ahead_item item;
    struct trace_record *records; /* owned; RECORDS_BATCH */
    uint8_t *payload;             /* owned */
    size_t payload_room;
};

struct read_ahead {
    struct chunk_source *source; /* borrowed */
    struct decoder decoder;
    struct ahead_slot slots[N_SLOTS];
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t filled, freed;
    /* Under the mutex: slots made and given back, counted from the start. */
    uint64_t n_made, n_free;
    bool reader_waits, maker_waits, is_stopped;
    bool is_given; /* the reader's own: it has the slot n_free */
};

/* ---- the thread ---- */

/* A slot to fill.  NULL: stop.  Once all are full it waits until half of them are free: each time costs two wake-ups.
 */
static struct ahead_slot *wait_for_slot(struct read_ahead *ahead)
{
    pthread_mutex_lock(&ahead->mutex);
    if (ahead->n_made - ahead->n_free == N_SLOTS) {
        ahead->maker_waits = true;
        while (ahead->n_made - ahead->n_free > N_SLOTS / 2 && !ahead->is_stopped)
            pthread_cond_wait(&ahead->freed, &ahead->mutex);
        ahead->maker_waits = false;
    }
    bool goes_on = !ahead->is_stopped;
    pthread_mutex_unlock(&ahead->mutex);
    return goes_on ? &ahead->slots[ahead->n_made % N_SLOTS] : NULL;
}

static void hand_over(struct read_ahead *ahead)
{
    pthread_mutex_lock(&ahead->mutex);
    ahead->n_made++;
    if (ahead->reader_waits)
        pthread_cond_signal(&ahead->filled);
    pthread_mutex_unlock(&ahead->mutex);
}

/* Records with counters are left to the reader, and so is a chunk that is damaged from the start. */
static bool is_to_be_decoded(struct read_ahead *ahead, const struct chunk *chunk)
{
    return chunk->type == CHUNK_RECORDS && (chunk->flags & CHUNK_FLAGS_N_COUNTERS) == 0 &&
           chunk->thread <= THREAD_INDEX_MAX &&
           decode_begin(&ahead->decoder, chunk->payload, chunk->payload_bytes, chunk->flags) == DECODE_OK;
}

/* The next records of the chunk.  Returns whether it may have more. */
static bool fill_records(struct read_ahead *ahead, struct ahead_slot *slot)
{
    struct read_ahead_item *item = &slot->item;
    item->is_decoded = true;
    item->records = slot->records;
    item->result = decode_records(&ahead->decoder, slot->records, RECORDS_BATCH, &item->n_records);
    item->n_methods = ahead->decoder.n_methods;
    item->is_last = item->result != DECODE_OK || decode_is_done(&ahead->decoder);
    return !item->is_last;
}

/* The chunk as it is.  Returns whether another one may follow. */
static bool fill_chunk(struct ahead_slot *slot)
{
    struct read_ahead_item *item = &slot->item;
    item->is_decoded = false;
    if (item->rc <= 0)
        return false;
    xgrow(slot->payload, slot->payload_room, item->chunk.payload_bytes + RECORD_MAX_BYTES);
    memcpy(slot->payload, item->chunk.payload, item->chunk.payload_bytes);
    memset(slot->payload + item->chunk.payload_bytes, 0, RECORD_MAX_BYTES);
    item->chunk.payload = slot->payload;
    return item->chunk.type != CHUNK_END || item->chunk.payload_bytes < 8; /* a whole one ends the trace */
}

static void *make_items(void *context)
{
    struct read_ahead *ahead = context;
    struct chunk_source *source = ahead->source;
    struct ahead_slot *slot;
    bool is_in_chunk = false, goes_on = true;
    struct chunk chunk;
    for (; goes_on && (slot = wait_for_slot(ahead)) != NULL; hand_over(ahead)) {
        struct read_ahead_item *item = &slot->item;
        bool is_new = !is_in_chunk;
        item->rc = is_new ? chunks_next(source, &chunk, &item->err) : 1;
        item->n_damaged = source->n_damaged;
        item->chunk = chunk;
        if (item->rc > 0 && (is_in_chunk || is_to_be_decoded(ahead, &chunk)))
            is_in_chunk = fill_records(ahead, slot);
        else
            goes_on = fill_chunk(slot);
    }
    return NULL;
}

/* ---- the reader ---- */

static void release(struct read_ahead *ahead)
{
    for (size_t i = 0; i < N_SLOTS; i++) {
        free(ahead->slots[i].records);
        free(ahead->slots[i].payload);
    }
    decode_free(&ahead->decoder);
    pthread_mutex_destroy(&ahead->mutex);
    pthread_cond_destroy(&ahead->filled);
    pthread_cond_destroy(&ahead->freed);
    free(ahead);
}

struct read_ahead *read_ahead_start(struct chunk_source *source)
{
    struct read_ahead *ahead = xcalloc(1, sizeof *ahead);
    ahead->source = source;
    pthread_mutex_init(&ahead->mutex, NULL);
    pthread_cond_init(&ahead->filled, NULL);
    pthread_cond_init(&ahead->freed, NULL);
    for (size_t i = 0; i < N_SLOTS; i++)
        ahead->slots[i].records = xreallocarray(NULL, RECORDS_BATCH, sizeof *ahead->slots[i].records);
    if (pthread_create(&ahead->thread, NULL, make_items, ahead) == 0)
        return ahead;
    release(ahead);
    return NULL;
}

void read_ahead_stop(struct read_ahead *ahead)
{
    if (ahead == NULL)
        return;
    pthread_mutex_lock(&ahead->mutex);
    ahead->is_stopped = true;
    pthread_cond_signal(&ahead->freed);
    pthread_mutex_unlock(&ahead->mutex);
    pthread_join(ahead->thread, NULL);
    release(ahead);
}

const struct read_ahead_item *read_ahead_next(struct read_ahead *ahead)
{
    pthread_mutex_lock(&ahead->mutex);
    if (ahead->is_given) {
        ahead->n_free++;
        if (ahead->maker_waits && ahead->n_made - ahead->n_free <= N_SLOTS / 2)
            pthread_cond_signal(&ahead->freed);
    }
    ahead->reader_waits = true;
    while (ahead->n_made == ahead->n_free)
        pthread_cond_wait(&ahead->filled, &ahead->mutex);
    ahead->reader_waits = false;
    ahead->is_given = true;
    const struct read_ahead_item *item = &ahead->slots[ahead->n_free % N_SLOTS].item;
    pthread_mutex_unlock(&ahead->mutex);
    return item;
}
