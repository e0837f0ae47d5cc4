#include "report/view/waits.h"

#include "core/base/hash.h"
#include "core/base/xalloc.h"
#include "phases/samples/sample_profile.h"
#include "report/some_threads.h"

#define BLOCK      UINT64_C(1000000) /* ticks */
#define TREE_BYTES (UINT64_C(1) << 20)
#define PIECES_MAX 100u /* of a wait: a second of visits */
#define NEAR_NS    5e7 /* from a visit to the owner's CPU sample: a few periods of the CPU time, between waits for it */

/* A method that held the lock of a row, or that took it. */
struct wait_holder {
    uint32_t row;
    bool is_taker;
    struct method_name method;
    uint64_t ns;
};

/* A visit to threads that waited for one that did not: where that ran is in its CPU samples. */
struct wait_for_running {
    uint32_t row, owner;
    uint64_t ticks, ns;
};

/* A CPU sample. */
struct wait_run {
    uint64_t ticks;
    uint32_t thread, context;
};

/* What a row is while the trace is read; more of it is in the profile, under the row's number as a method's. */
struct wait_sum {
    struct wait_row row;
    uint32_t pool;         /* that the thread was of which met it last: wait_pools.c */
    uint64_t latest_ticks; /* of the visit that met it last, */
    uint32_t n_then;       /* and threads that it met */
};

struct waits_reading {
    const struct trace_reader *reader;
    struct wait_sites *sites;
    const char *only_threads;
    struct wait_sum *rows; /* owned */
    uint32_t n_rows, rows_room;
    struct wait_holder *holders; /* owned */
    uint32_t n_holders, holders_room;
    struct wait_for_running *for_running; /* owned */
    struct wait_run *runs;                /* owned */
    size_t n_for_running, for_running_room, n_runs, runs_room;
    struct hash_set by_key, threads, row_threads, by_holder; /* of rows, threads, threads of rows, holders of rows */
    struct wait_pools pools;
    struct sample_profile profile;
    struct virtual_waits_reading virtuals;
    struct hash_set visits;
    uint64_t n_visits;
    uint32_t n_threads;
    struct trace_wait *held; /* owned: until their threads' names are known */
    size_t n_held, held_room;
};

void waits_begin(struct waits_reading **out, const struct trace_reader *reader, struct wait_sites *sites,
                 const char *only_threads)
{
    struct waits_reading *reading = xcalloc(1, sizeof *reading);
    *out = reading;
    reading->reader = reader;
    reading->sites = sites;
    reading->only_threads = only_threads;
    sample_profile_open(&reading->profile, BLOCK, TREE_BYTES);
}

void waits_close(struct waits_reading *reading)
{
    if (reading == NULL)
        return;
    sample_profile_free(&reading->profile);
    wait_pools_free(&reading->pools);
    virtual_waits_free(&reading->virtuals);
    hash_free(&reading->by_key);
    hash_free(&reading->threads);
    hash_free(&reading->visits);
    hash_free(&reading->row_threads);
    hash_free(&reading->by_holder);
    free(reading->rows);
    free(reading->holders);
    free(reading->for_running);
    free(reading->runs);
    free(reading->held);
    free(reading);
}

/* ---- a wait's row ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return hash_address(hash ^ hash_address(value + 1));
}

static uint64_t mix_method(uint64_t hash, const struct method_name *method)
{
    return mix(hash, method->class_name == NULL ? 0 : method_name_hash(method));
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return mix(hash, 0);
}

static bool is_of_object(enum trace_cause cause)
{
    return cause == TRACE_CAUSE_MONITOR || cause == TRACE_CAUSE_LOCK || cause == TRACE_CAUSE_WAIT;
}

/* The number of a wait's row, made if it is new. */
static uint32_t row_of(struct waits_reading *reading, const struct trace_wait *wait)
{
    const struct wait_site none = { .is_idle = false };
    bool has_site = wait->cause != TRACE_CAUSE_ON_CPU && wait->cause != TRACE_CAUSE_READY;
    const struct wait_site *site = has_site ? wait_sites_find(reading->sites, wait->context) : &none;
    const char *lock_class = is_of_object(wait->cause) ? wait->lock_class : "";
    bool is_idle = site->is_idle && trace_cause_may_be_idle(wait->cause);
    uint64_t key = mix(mix(HASH_START, wait->cause), is_idle);
    key = mix_text(mix_method(mix_method(key, &site->where), &site->called), lock_class);
    struct hash_slot *slot = xhash_put(&reading->by_key, key);
    xgrow(reading->rows, reading->rows_room, reading->n_rows + 1);
    if (slot->value == 0) {
        struct wait_row row = { .cause = wait->cause,
                                .is_idle = is_idle,
                                .where = site->where,
                                .called = site->called,
                                .is_shallow = true,
                                .lock_class = lock_class[0] == '\0' ? NULL : lock_class };
        reading->rows[reading->n_rows] = (struct wait_sum){ .row = row };
        slot->value = ++reading->n_rows;
    }
    return slot->value - 1;
}

/* Is it the first of its kind? */
static bool is_first(struct hash_set *set, uint64_t key)
{
    struct hash_slot *slot = xhash_put(set, key);
    bool is_new = slot->value == 0;
    slot->value = 1;
    return is_new;
}

/*
 * The method that took a lock, on its owner's stack: the outermost call of what others wait in for it, or else the
 * innermost one of that one's class, for a lock is its class' own; or none.
 */
static struct method_name taker_of(const struct waits_reading *reading, uint32_t context,
                                   const struct method_name *waits)
{
    struct method_name same = { NULL, NULL, NULL }, near = same;
    while (context != 0 && waits->class_name != NULL) {
        const struct trace_context *node = trace_context(reading->reader, context);
        const struct trace_sampled_method *method = trace_sampled_method(reading->reader, node->method);
        if (method == NULL)
            break;
        if (method_name_equals(&method->names, waits))
            same = method->names;
        if (near.class_name == NULL && strcmp(method->names.class_name, waits->class_name) == 0)
            near = method->names;
        context = node->parent;
    }
    return same.class_name != NULL ? same : near;
}

static void add_held(struct waits_reading *reading, uint32_t row, const struct method_name *method, bool is_taker,
                     uint64_t ns)
{
    uint64_t key = mix_method(mix(mix(HASH_START, row), is_taker), method);
    struct hash_slot *slot = xhash_put(&reading->by_holder, key);
    xgrow(reading->holders, reading->holders_room, reading->n_holders + 1);
    if (slot->value == 0) {
        reading->holders[reading->n_holders] = (struct wait_holder){ row, is_taker, *method, 0 };
        slot->value = ++reading->n_holders;
    }
    reading->holders[slot->value - 1].ns += ns;
}

/* The lock of a row was held in a context for so long. */
static void add_holder(struct waits_reading *reading, uint32_t row, uint32_t context, uint64_t ns)
{
    const struct wait_site *site = wait_sites_find(reading->sites, context);
    const struct method_name taker = taker_of(reading, context, &reading->rows[row].row.where);
    add_held(reading, row, site->where.class_name != NULL ? &site->where : &site->called, false, ns);
    if (taker.class_name != NULL)
        add_held(reading, row, &taker, true, ns);
}

static void add_owner(struct waits_reading *reading, uint32_t row, const struct trace_wait *wait)
{
    if (wait->owner_context != 0) {
        add_holder(reading, row, wait->owner_context, wait->weight_ns);
        return;
    }
    if (wait->owner == TRACE_NO_THREAD)
        return;
    xgrow(reading->for_running, reading->for_running_room, reading->n_for_running + 1);
    reading->for_running[reading->n_for_running++] =
        (struct wait_for_running){ row, wait->owner, wait->ticks, wait->weight_ns };
}

/* What goes on for several visits is in the blocks of all of them. */
static void add_time(struct waits_reading *reading, uint32_t row, const struct trace_wait *wait)
{
    double ns_per_tick = trace_ns_per_tick(reading->reader);
    uint64_t n = wait->n == 0 || ns_per_tick <= 0 ? 1
                 : wait->n < PIECES_MAX           ? wait->n
                                                  : PIECES_MAX,
             left_ns = wait->weight_ns;
    uint64_t piece_ticks = n == 1 ? 0 : (uint64_t)((double)wait->weight_ns / ns_per_tick) / n;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t ns = left_ns / (n - i);
        const struct profile_sample sample = {
            .time_ns = wait->ticks - i * piece_ticks, .ns = ns, .is_waiting = true, .n = 1, .methods = &row
        };
        sample_profile_add(&reading->profile, &sample);
        left_ns -= ns;
    }
}

static void add_wait(struct waits_reading *reading, const struct trace_wait *wait)
{
    uint32_t number = row_of(reading, wait);
    struct wait_sum *sum = &reading->rows[number];
    bool first_visit = is_first(&reading->visits, mix(HASH_START, wait->ticks));
    bool first = is_first(&reading->row_threads, mix(mix(HASH_START, number), wait->thread));
    bool first_of_all = is_first(&reading->threads, mix(HASH_START, wait->thread));
    reading->n_visits += first_visit;
    bool has_site = wait->cause != TRACE_CAUSE_ON_CPU && wait->cause != TRACE_CAUSE_READY;
    sum->pool = wait_pools_hear(&reading->pools, wait, trace_thread(reading->reader, wait->thread),
                                has_site ? wait_sites_find(reading->sites, wait->context) : NULL);
    sum->row.is_shallow = sum->row.is_shallow && has_site && wait_sites_find(reading->sites, wait->context)->is_shallow;
    sum->row.n += wait->n;
    sum->row.n_threads += first;
    reading->n_threads += first_of_all;
    sum->n_then = sum->latest_ticks == wait->ticks ? sum->n_then + 1 : 1;
    sum->latest_ticks = wait->ticks;
    sum->row.max_waiting = sum->n_then > sum->row.max_waiting ? sum->n_then : sum->row.max_waiting;
    add_time(reading, number, wait);
    add_owner(reading, number, wait);
}

static void take_wait(struct waits_reading *reading, const struct trace_wait *wait)
{
    const struct trace_thread *thread = trace_thread(reading->reader, wait->thread);
    if (thread == NULL || !threads_count_wait(reading->reader, wait) || !threads_match(thread, reading->only_threads))
        return;
    add_wait(reading, wait);
}

void waits_hear(struct waits_reading *reading, const struct trace_wait *wait)
{
    if (reading->only_threads == NULL && threads_are_named(reading->reader, wait->thread))
        take_wait(reading, wait);
    else {
        xgrow(reading->held, reading->held_room, reading->n_held + 1);
        reading->held[reading->n_held++] = *wait;
    }
}

void waits_hear_virtual(struct waits_reading *reading, const struct trace_virtual_wait *wait)
{
    if (reading->only_threads == NULL)
        virtual_waits_hear(&reading->virtuals,
                           wait->context == 0 ? NULL : wait_sites_find(reading->sites, wait->context), wait);
}

void waits_hear_sample(struct waits_reading *reading, const struct trace_sample *sample)
{
    if (sample->is_waiting || sample->ticks == TRACE_UNKNOWN || sample->context == 0)
        return;
    xgrow(reading->runs, reading->runs_room, reading->n_runs + 1);
    reading->runs[reading->n_runs++] = (struct wait_run){ sample->ticks, sample->thread, sample->context };
}

/* ---- owners that ran ---- */

static int by_thread_and_ticks(const void *a, const void *b)
{
    const struct wait_run *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->ticks < y->ticks ? -1 : x->ticks > y->ticks;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a < b ? b - a : a - b;
}

/* A thread's sample next to a moment, at most so far from it; runs are sorted.  NULL: there is none. */
static const struct wait_run *nearest(const struct waits_reading *reading, uint32_t thread, uint64_t ticks,
                                      uint64_t most)
{
    const struct wait_run wanted = { ticks, thread, 0 }, *best = NULL;
    size_t low = 0, high = reading->n_runs;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_thread_and_ticks(&reading->runs[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low == 0 ? 0 : low - 1; i < reading->n_runs && i <= low; i++) {
        const struct wait_run *run = &reading->runs[i];
        if (run->thread == thread && distance(run->ticks, ticks) <= most) {
            best = run;
            most = distance(run->ticks, ticks);
        }
    }
    return best;
}

/* Where owners ran that did not wait when others waited for them. */
static void find_running(struct waits_reading *reading)
{
    double ns_per_tick = trace_ns_per_tick(reading->reader);
    if (reading->n_runs == 0 || ns_per_tick <= 0)
        return;
    qsort(reading->runs, reading->n_runs, sizeof *reading->runs, by_thread_and_ticks);
    for (size_t i = 0; i < reading->n_for_running; i++) {
        const struct wait_for_running *wait = &reading->for_running[i];
        const struct wait_run *run = nearest(reading, wait->owner, wait->ticks, (uint64_t)(NEAR_NS / ns_per_tick));
        if (run != NULL)
            add_holder(reading, wait->row, run->context, wait->ns);
    }
}

/* ---- the rows ---- */

static int by_time(const void *a, const void *b)
{
    const struct wait_row *x = a, *y = b;
    bool x_waits = !x->is_idle && x->cause != TRACE_CAUSE_ON_CPU,
         y_waits = !y->is_idle && y->cause != TRACE_CAUSE_ON_CPU;
    if (x_waits != y_waits)
        return x_waits ? -1 : 1;
    return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

/* Where the owner was most of the time, and what took the lock most of it. */
static void find_holders(const struct waits_reading *reading, struct wait_row *rows)
{
    for (uint32_t i = 0; i < reading->n_holders; i++) {
        const struct wait_holder *holder = &reading->holders[i];
        struct wait_row *row = &rows[holder->row];
        double *most = holder->is_taker ? &row->taker_share : &row->holder_share;
        double share = row->ns == 0 ? 0 : (double)holder->ns / (double)row->ns;
        if (share > *most) {
            *most = share;
            *(holder->is_taker ? &row->taker : &row->holder) = holder->method;
        }
    }
}

static const char *class_label(const struct report_source *source, const char *name)
{
    return name == NULL ? NULL : java_names_class(source->arena, name);
}

void waits_end(struct waits_reading *reading, const struct report_source *source, struct waits *waits)
{
    double all_ns = report_ns(source, source->tree->end_ticks - source->tree->start_ticks);
    for (size_t i = 0; i < reading->n_held; i++)
        take_wait(reading, &reading->held[i]);
    struct wait_row *rows = arena_alloc(source->arena, (reading->n_rows + 1) * sizeof *rows);
    find_running(reading);
    *waits = (struct waits){
        .rows = rows, .n = reading->n_rows, .n_visits = reading->n_visits, .n_threads = reading->n_threads
    };
    for (uint32_t i = 0; i < reading->n_rows; i++) {
        struct sample_share share = sample_profile_total(&reading->profile, i);
        rows[i] = reading->rows[i].row;
        rows[i].ns = share.weight;
        const struct wait_site site = { .called = rows[i].called };
        rows[i].is_starved =
            wait_pools_is_result(&site) && wait_pools_is_starved(&reading->pools, reading->rows[i].pool);
        rows[i].is_task = wait_pools_has_idle(&reading->pools, reading->rows[i].pool);
        rows[i].is_shallow = rows[i].is_shallow && !rows[i].is_task;
        rows[i].share = share.share;
        rows[i].error = rows[i].cause == TRACE_CAUSE_READY ? NAN : share.error; /* that is no estimate */
        rows[i].mean_waiting = all_ns > 0 ? (double)share.weight / all_ns : NAN;
        rows[i].lock_class = class_label(source, rows[i].lock_class);
        waits->wall_ns += rows[i].ns;
        waits->waited_ns += rows[i].is_idle || rows[i].cause == TRACE_CAUSE_ON_CPU ? 0 : rows[i].ns;
    }
    find_holders(reading, rows);
    virtual_waits_end(&reading->virtuals, all_ns, source->arena, &waits->virtuals);
    qsort(rows, waits->n, sizeof *rows, by_time);
}
