#include "report/view/live_bytes.h"

#include "core/base/sampled_objects.h"
#include "core/base/xalloc.h"

#define COLLECTIONS 64u  /* that live_bytes_copies makes up */
#define BYTES_MAX   1e18 /* of an object: a damaged trace may have any number */

/* ---- reading ---- */

static void take_object(struct live_bytes *live, const struct memtrace_entry *e)
{
    double bytes = (double)e->bytes * sampled_objects((double)e->bytes, (double)live->interval_bytes);
    uint64_t last_used = e->created + e->lifetime, found = live->time > e->created ? live->time : e->created;
    *xpush(live->objects, live->objects_room, live->n_objects) =
        (struct live_object){ .created = e->created,
                              .last_used = last_used < e->created ? UINT64_MAX : last_used,
                              .dead = e->has_died ? found : UINT64_MAX,
                              .bytes = bytes < BYTES_MAX ? (uint64_t)bytes : (uint64_t)BYTES_MAX };
}

static void take_call(struct live_bytes *live, const struct memtrace_entry *e)
{
    uint64_t began = e->created < e->time ? e->created : e->time;
    *xpush(live->calls, live->calls_room, live->n_calls) = (struct live_call){ e->method, began, e->time, e->bytes };
}

/* live->time is that of the latest creation or collection: who dies is found dead then. */
static bool take_entry(struct live_bytes *live, const struct memtrace_entry *e)
{
    bool has_time = e->kind == MEMTRACE_CREATED || e->kind == MEMTRACE_COLLECTION || e->kind == MEMTRACE_TOTALS;
    if (has_time && e->time > live->time)
        live->time = e->time;
    switch (e->kind) {
    case MEMTRACE_DIED:
        take_object(live, e);
        return true;
    case MEMTRACE_CALL:
        take_call(live, e);
        return true;
    case MEMTRACE_INTERVAL:
        live->interval_bytes = e->bytes;
        return true;
    case MEMTRACE_COLLECTION:
        *xpush(live->collections, live->collections_room, live->n_collections) = e->time;
        return true;
    default:
        return memtrace_names_take(&live->names, e);
    }
}

int live_bytes_read(struct live_bytes *live, struct memtrace_reader *reader, struct err *err)
{
    struct memtrace_entry entry;
    int rc = 1;
    *live = (struct live_bytes){ .time = 0 };
    while (rc > 0 && (rc = memtrace_next(reader, &entry, err)) > 0)
        if (!take_entry(live, &entry))
            rc = err_set(err, "the address trace has numbers that are too large");
    if (rc == 0)
        live_bytes_sort(live);
    else
        live_bytes_free(live);
    return rc;
}

int live_bytes_file(struct live_bytes *live, const char *path, struct err *err)
{
    struct memtrace_reader *reader;
    if (memtrace_open(&reader, path, err) < 0)
        return -1;
    int rc = live_bytes_read(live, reader, err);
    memtrace_close(reader);
    return rc;
}

void live_bytes_free(struct live_bytes *live)
{
    free(live->objects);
    free(live->calls);
    free(live->collections);
    free(live->created);
    free(live->unused);
    free(live->dead);
    memtrace_names_free(&live->names);
    *live = (struct live_bytes){ .time = 0 };
}

/* ---- steps ---- */

static int by_creation(const void *a, const void *b)
{
    const struct live_object *x = a, *y = b;
    return x->created < y->created ? -1 : x->created > y->created;
}

static int by_end(const void *a, const void *b)
{
    const struct live_call *x = a, *y = b;
    return x->ended < y->ended ? -1 : x->ended > y->ended;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static int by_time(const void *a, const void *b)
{
    const struct live_step *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

static void sum_up(struct live_step *steps, uint32_t n)
{
    if (n > 1)
        qsort(steps, n, sizeof *steps, by_time);
    for (uint32_t i = 1; i < n; i++)
        steps[i].bytes += steps[i - 1].bytes;
}

void live_bytes_sort(struct live_bytes *live)
{
    size_t n_bytes = ((size_t)live->n_objects + 1) * sizeof *live->created;
    live->created = xmalloc(n_bytes);
    live->unused = xmalloc(n_bytes);
    live->dead = xmalloc(n_bytes);
    for (uint32_t i = 0; i < live->n_objects; i++) {
        const struct live_object *o = &live->objects[i];
        live->created[i] = (struct live_step){ o->created, o->bytes };
        live->unused[i] = (struct live_step){ o->last_used, o->bytes };
        live->dead[i] = (struct live_step){ o->dead, o->bytes };
    }
    sum_up(live->created, live->n_objects);
    sum_up(live->unused, live->n_objects);
    sum_up(live->dead, live->n_objects);
    if (live->n_objects > 1)
        qsort(live->objects, live->n_objects, sizeof *live->objects, by_creation);
    if (live->n_calls > 1)
        qsort(live->calls, live->n_calls, sizeof *live->calls, by_end);
    if (live->n_collections > 1)
        qsort(live->collections, live->n_collections, sizeof *live->collections, by_number);
}

/* ---- at a time ---- */

/* How many steps are at this time or before. */
static uint32_t n_steps(const struct live_step *steps, uint32_t n, uint64_t time)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (steps[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t bytes_by(const struct live_step *steps, uint32_t n, uint64_t time)
{
    uint32_t at = n_steps(steps, n, time);
    return at == 0 ? 0 : steps[at - 1].bytes;
}

uint64_t live_bytes_allocated(const struct live_bytes *live, uint64_t time)
{
    return bytes_by(live->created, live->n_objects, time);
}

uint64_t live_bytes_least(const struct live_bytes *live, uint64_t time)
{
    return live_bytes_allocated(live, time) - bytes_by(live->unused, live->n_objects, time);
}

uint64_t live_bytes_most(const struct live_bytes *live, uint64_t time)
{
    return live_bytes_allocated(live, time) - bytes_by(live->dead, live->n_objects, time);
}

uint64_t live_bytes_time(const struct live_bytes *live, uint64_t bytes)
{
    uint32_t low = 0, high = live->n_objects;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (live->created[middle].bytes < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low < live->n_objects ? live->created[low].time : live->time;
}

uint64_t live_bytes_kept(const struct live_bytes *live, uint64_t after, uint64_t up_to, bool is_least)
{
    uint64_t bytes = 0;
    for (uint32_t i = n_steps(live->created, live->n_objects, after);
         i < live->n_objects && live->objects[i].created <= up_to; i++)
        if ((is_least ? live->objects[i].last_used : live->objects[i].dead) > up_to)
            bytes += live->objects[i].bytes;
    return bytes;
}

struct live_copies live_bytes_copies(const struct live_bytes *live, uint64_t from, uint64_t to, uint64_t young_bytes)
{
    uint64_t begin = live_bytes_allocated(live, from), end = live_bytes_allocated(live, to);
    struct live_copies copies = { 0, 0 };
    double room = end - begin > young_bytes ? (double)(end - begin - young_bytes) : 0;
    for (uint32_t i = 0; i < COLLECTIONS; i++) {
        uint64_t at = begin + young_bytes + (uint64_t)(room * (i + 0.5) / COLLECTIONS);
        uint64_t before = live_bytes_time(live, at - young_bytes), now = live_bytes_time(live, at);
        copies.least += (double)live_bytes_kept(live, before, now, true) / COLLECTIONS;
        copies.most += (double)live_bytes_kept(live, before, now, false) / COLLECTIONS;
    }
    return copies;
}
