#include "core/recorder/collections.h"

#define FREQUENCY    "sun.os.hrt.frequency"
#define BEGUN        "sun.rt.createVmEndTime" /* before, not all counters are there */
#define NS_PER_S     1000000000u
#define NO_CAUSE     "No GC" /* what the cause is between two collections */
#define CONCURRENTLY "concurrent"

static bool find_kind(struct collections *collections, const struct perf_data *data, uint32_t kind)
{
    static const char *const whats[] = { "invocations", "lastEntryTime", "lastExitTime" };
    size_t at[3];
    char name[64];
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "sun.gc.collector.%u.%s", (unsigned)kind, whats[i]);
        at[i] = perf_data_offset(data, name);
        if (at[i] == 0)
            return false;
    }
    collections->kinds[kind].n_at = at[0];
    collections->kinds[kind].entry_at = at[1];
    collections->kinds[kind].exit_at = at[2];
    snprintf(name, sizeof name, "sun.gc.collector.%u.name", (unsigned)kind);
    if (!perf_data_text(data, name, collections->kinds[kind].name, sizeof collections->kinds[kind].name))
        return false;
    collections->kinds[kind].is_concurrent = strstr(collections->kinds[kind].name, CONCURRENTLY) != NULL;
    perf_data_at(data, at[0], &collections->kinds[kind].n);
    for (size_t i = 0; i < 3; i++) {
        collections->begin = at[i] < collections->begin ? at[i] : collections->begin;
        collections->end = at[i] + 8 > collections->end ? at[i] + 8 : collections->end;
    }
    return perf_data_at(data, at[2], &collections->kinds[kind].exit);
}

/* The young generation's first space is where objects begin; what is neither that nor another of it is old. */
static void find_spaces(struct collections *collections, const struct perf_data *data)
{
    char name[64];
    collections->n_spaces = 0;
    for (unsigned generation = 0; generation < 2; generation++) {
        for (unsigned space = 0; space < 4 && collections->n_spaces < COLLECTIONS_SPACES; space++) {
            snprintf(name, sizeof name, "sun.gc.generation.%u.space.%u.used", generation, space);
            size_t offset = perf_data_offset(data, name);
            if (offset == 0)
                break;
            collections->spaces[collections->n_spaces].offset = offset;
            collections->spaces[collections->n_spaces++].space = generation > 0 ? MISS_OLD
                                                                 : space > 0    ? MISS_SURVIVOR
                                                                                : MISS_EDEN;
        }
    }
}

void collections_begin(struct collections *collections, const struct perf_data *data, const struct collections_now *now)
{
    uint64_t frequency = 0, begun_ms = 0;
    if (!perf_data_number(data, BEGUN, &begun_ms) || begun_ms == 0)
        return;
    collections->is_ready = true;
    collections->looked_ns = now->before_ns;
    collections->zero_low_ns = INT64_MIN;
    collections->zero_high_ns = INT64_MAX;
    collections->n_kinds = 0;
    collections->begin = SIZE_MAX;
    collections->end = 0;
    if (!perf_data_number(data, FREQUENCY, &frequency) || frequency != NS_PER_S)
        return;
    find_spaces(collections, data);
    while (collections->n_kinds < COLLECTIONS_KINDS && find_kind(collections, data, collections->n_kinds))
        collections->n_kinds++;
}

/* What ended at exit_ns of the JVM's clock, ended between two looks: so its clock's zero is between these, too. */
static void narrow(struct collections *collections, uint64_t exit_ns, const struct collections_now *now)
{
    int64_t low = (int64_t)(collections->looked_ns - exit_ns), high = (int64_t)(now->after_ns - exit_ns);
    if (low > collections->zero_low_ns)
        collections->zero_low_ns = low;
    if (high < collections->zero_high_ns)
        collections->zero_high_ns = high;
    if (collections->zero_low_ns > collections->zero_high_ns) { /* a number was read while it was written */
        collections->zero_low_ns = low;
        collections->zero_high_ns = high;
    }
}

/* A collection's cause is the present one as long as the JVM has not put it away. */
static void find_cause(const struct perf_data *data, char *cause)
{
    if (!perf_data_text(data, "sun.gc.cause", cause, COLLECTIONS_CAUSE) || strcmp(cause, NO_CAUSE) == 0)
        perf_data_text(data, "sun.gc.lastCause", cause, COLLECTIONS_CAUSE);
    if (strcmp(cause, NO_CAUSE) == 0)
        cause[0] = '\0';
}

bool collections_next(struct collections *collections, uint32_t kind, const struct perf_data *data,
                      const struct collections_now *now, struct trace_collection *collection, uint64_t *start_ns,
                      char *cause)
{
    uint64_t n, entry, exit;
    if (!perf_data_at(data, collections->kinds[kind].n_at, &n) ||
        !perf_data_at(data, collections->kinds[kind].entry_at, &entry) ||
        !perf_data_at(data, collections->kinds[kind].exit_at, &exit))
        return false;
    if (exit == collections->kinds[kind].exit || exit < entry) /* nothing new, or it is under way */
        return false;
    narrow(collections, exit, now);
    int64_t zero = collections->zero_low_ns + (collections->zero_high_ns - collections->zero_low_ns) / 2;
    int64_t ago = (int64_t)now->after_ns - (zero + (int64_t)entry);
    cause[0] = '\0';
    if (!collections->kinds[kind].is_concurrent)
        find_cause(data, cause);
    uint64_t n_new = n - collections->kinds[kind].n;
    *start_ns = now->raw_ns - (uint64_t)(ago > 0 ? ago : 0);
    *collection = (struct trace_collection){ .ns = exit - entry,
                                             .n_missed = n_new > 0 && n_new < n + 1 ? n_new - 1 : 0,
                                             .name = collections->kinds[kind].name,
                                             .cause = cause };
    collections->kinds[kind].exit = exit;
    collections->kinds[kind].n = n;
    return true;
}

#define LOOKS_BETWEEN 4 /* at least so many, from one to the next */

/* One of a kind that had more than one since the look before comes as fast as can be. */
static void note_found(struct collections *collections, const struct collections_now *now, bool has_missed)
{
    collections->apart_ns = has_missed ? 0 : now->before_ns - collections->found_ns;
    collections->found_ns = now->before_ns;
}

uint32_t collections_wait_ms(const struct collections *collections, uint32_t low_ms, uint32_t high_ms)
{
    if (collections->n_kinds == 0)
        return high_ms;
    uint64_t since_ns = collections->looked_ns - collections->found_ns;
    uint64_t apart_ns = since_ns > collections->apart_ns ? since_ns : collections->apart_ns;
    uint64_t ms = apart_ns / LOOKS_BETWEEN / 1000000u;
    return ms < low_ms ? low_ms : ms > high_ms ? high_ms : (uint32_t)ms;
}

/*
 * What is used after a collection of this kind.  Where there are survivor spaces it has left nothing where objects
 * begin: what is there has come since, for Serial and Parallel tell that every 50 ms.
 */
static void read_spaces(const struct collections *collections, uint32_t kind, const struct perf_data *data,
                        uint64_t used[MISS_SPACES])
{
    bool has_survivors = false;
    memset(used, 0, MISS_SPACES * sizeof *used);
    for (uint32_t i = 0; i < collections->n_spaces; i++) {
        uint64_t bytes = 0;
        if (perf_data_at(data, collections->spaces[i].offset, &bytes))
            used[collections->spaces[i].space] += bytes;
        has_survivors = has_survivors || collections->spaces[i].space == MISS_SURVIVOR;
    }
    if (has_survivors && !collections->kinds[kind].is_concurrent)
        used[MISS_EDEN] = 0;
}

/* Whether there is another one of a kind, which waits then. */
static bool look_at(struct collections *collections, uint32_t kind, const struct perf_data *data,
                    const struct collections_now *now)
{
    struct collections_waiting *seen = &collections->waiting[collections->n_waiting];
    if (collections->n_waiting == COLLECTIONS_WAITING ||
        !collections_next(collections, kind, data, now, &seen->collection, &seen->start_ns, seen->cause))
        return false;
    seen->read_ns = now->raw_ns;
    seen->is_concurrent = collections->kinds[kind].is_concurrent;
    read_spaces(collections, kind, data, seen->used);
    collections->n_waiting++;
    return true;
}

/* Where another one had begun when the heap was read, it is not known what the first one had left. */
static void forget_heap(struct collections *collections)
{
    for (uint32_t i = 0; i < collections->n_waiting; i++)
        for (uint32_t k = 0; k < collections->n_waiting; k++) {
            struct collections_waiting *seen = &collections->waiting[i], *next = &collections->waiting[k];
            if (!next->is_concurrent && next->start_ns > seen->start_ns && next->start_ns <= seen->read_ns)
                memset(seen->used, 0, sizeof seen->used);
        }
}

/* Most looks find nothing new in the few bytes that would be: only then all is read.  Returns whether it was. */
static bool read_news(struct collections *collections, struct perf_data *data, struct collections_now *now)
{
    struct err ignored; /* the summary at the end says why */
    bool is_new = !collections->is_ready;
    uint64_t exit;
    now->before_ns = clock_ns(CLOCK_MONOTONIC);
    if (!is_new && perf_data_read_part(data, collections->begin, collections->end, &ignored) < 0)
        return false;
    for (uint32_t kind = 0; kind < collections->n_kinds; kind++)
        is_new = is_new ||
                 (perf_data_at(data, collections->kinds[kind].exit_at, &exit) && exit != collections->kinds[kind].exit);
    if (!is_new)
        collections->looked_ns = now->before_ns;
    return is_new && perf_data_read(data, &ignored) == 0;
}

static int write_heap(const struct collections_waiting *seen, bool tells, struct trace_writer *writer, struct err *err)
{
    struct miss_entry heap = { .kind = MISS_USED, .ticks = seen->collection.start_ticks };
    bool is_known = false;
    for (int i = MISS_NO_SPACE + 1; i < MISS_SPACES; i++) {
        heap.used[i] = seen->used[i];
        is_known = is_known || seen->used[i] > 0;
    }
    return is_known && tells ? trace_write_miss(writer, &heap, err) : 0;
}

bool collections_look(struct collections *collections, struct perf_data *data)
{
    struct collections_now now;
    if (data->fd < 0 || (collections->is_ready && collections->n_kinds == 0) || !read_news(collections, data, &now))
        return true;
    now.after_ns = clock_ns(CLOCK_MONOTONIC);
    now.raw_ns = clock_ns(CLOCK_MONOTONIC_RAW);
    if (!collections->is_ready)
        collections_begin(collections, data, &now);
    bool is_found = false, has_missed = false;
    for (uint32_t kind = 0; kind < collections->n_kinds; kind++) {
        if (!look_at(collections, kind, data, &now))
            continue;
        is_found = true;
        has_missed = has_missed || collections->waiting[collections->n_waiting - 1].collection.n_missed > 0;
    }
    if (is_found) {
        note_found(collections, &now, has_missed);
        forget_heap(collections);
    }
    collections->looked_ns = now.before_ns;
    return collections->n_waiting + COLLECTIONS_KINDS <= COLLECTIONS_WAITING;
}

int collections_write(struct collections *collections, struct perf_data *data, struct trace_writer *writer,
                      const struct clock_point *first, const struct clock_point *last, struct err *err)
{
    collections_look(collections, data);
    for (uint32_t i = 0; i < collections->n_waiting; i++) {
        struct collections_waiting *seen = &collections->waiting[i];
        seen->collection.cause = seen->cause;
        seen->collection.start_ticks = clock_ticks(seen->start_ns, last, first, last);
        if (trace_write_collection(writer, &seen->collection, err) < 0 ||
            write_heap(seen, collections->tells_heap, writer, err) < 0)
            return -1;
    }
    collections->n_waiting = 0;
    return 0;
}
