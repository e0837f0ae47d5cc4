#include "report/fleet/fleet_weights.h"

#include "core/base/xalloc.h"

#define NS_PER_US 1000

/* Time of a thread that no node was given yet. */
struct fleet_slot {
    uint32_t bucket;
    uint64_t on_ticks, off_ticks;
};

struct fleet_lane {
    struct fleet_slot *slots; /* in the order of time; owned */
    uint32_t n_slots, slots_room;
};

/* Where the latest cell of a node, a thread or a method is. */
struct fleet_latest {
    uint32_t bucket, cell; /* cell: index and 1; 0: none */
};

struct fleet_buckets {
    double bucket_ns, ns_per_tick;
    double start_ns, end_ns; /* of the recording, since the first bucket's begin */
    double first;            /* the first bucket's number since 1970 */
    uint64_t start_ticks;
    uint32_t n;
    size_t n_counters, n_words; /* n_words: of a cell */
    struct fleet_lane *lanes;   /* by thread; owned */
    uint32_t n_lanes;
    struct fleet_latest *latest[3]; /* by fleet_cell_of, then id; owned */
    uint32_t n_latest[3];
    struct hash_set index_of; /* by bucket, kind and id: cells that are not the latest */
    struct fleet_cell *cells; /* owned */
    uint32_t n_cells, cells_room;
    uint64_t *words; /* n_words of each cell; owned */
    size_t words_room;
};

/* ---- time ---- */

int fleet_buckets_open(struct fleet_buckets **buckets, const struct trace_reader *outline, double bucket_ns,
                       struct err *err)
{
    struct fleet_buckets *b = *buckets = xcalloc(1, sizeof *b);
    double real_ns = (double)trace_start_realtime_ns(outline);
    double ticks = (double)(trace_end_ticks(outline) - trace_start_ticks(outline));
    b->bucket_ns = bucket_ns;
    b->ns_per_tick = trace_ns_per_tick(outline) > 0 ? trace_ns_per_tick(outline) : 1;
    b->first = floor(real_ns / bucket_ns);
    b->start_ticks = trace_start_ticks(outline);
    b->start_ns = real_ns - b->first * bucket_ns;
    b->end_ns = b->start_ns + (ticks > 0 ? ticks * b->ns_per_tick : 0);
    b->n_counters = trace_n_recorded_counters(outline);
    b->n_words = FLEET_WORDS + b->n_counters;
    double n = ceil(b->end_ns / bucket_ns);
    b->n = n < 1 ? 1 : (uint32_t)n;
    if (n <= FLEET_BUCKETS_MAX)
        return 0;
    fleet_buckets_close(b);
    *buckets = NULL;
    err_set(err, "buckets of %.9g s are too short for a recording of %.3g s", bucket_ns / 1e9,
            (double)ticks * trace_ns_per_tick(outline) / 1e9);
    return err_next(err, "take longer ones (--bucket): %d at most", FLEET_BUCKETS_MAX);
}

void fleet_buckets_close(struct fleet_buckets *b)
{
    if (b == NULL)
        return;
    for (uint32_t i = 0; i < b->n_lanes; i++)
        free(b->lanes[i].slots);
    for (size_t i = 0; i < 3; i++)
        free(b->latest[i]);
    hash_free(&b->index_of);
    free(b->lanes);
    free(b->cells);
    free(b->words);
    free(b);
}

/* The moment of a bucket's begin. */
static uint64_t begin_ticks(const struct fleet_buckets *b, uint32_t bucket)
{
    double ns = bucket * b->bucket_ns - b->start_ns;
    return ns <= 0 ? b->start_ticks : b->start_ticks + (uint64_t)ceil(ns / b->ns_per_tick);
}

/* What is outside the recording belongs to its first or last bucket. */
uint32_t fleet_bucket_at(const struct fleet_buckets *b, uint64_t ticks)
{
    if (ticks <= b->start_ticks || b->n == 1)
        return 0;
    double exact = (b->start_ns + (double)(ticks - b->start_ticks) * b->ns_per_tick) / b->bucket_ns;
    uint32_t bucket = exact >= b->n ? b->n - 1 : (uint32_t)exact;
    while (bucket > 0 && begin_ticks(b, bucket) > ticks) /* rounding */
        bucket--;
    while (bucket + 1 < b->n && begin_ticks(b, bucket + 1) <= ticks)
        bucket++;
    return bucket;
}

uint32_t fleet_buckets_n(const struct fleet_buckets *b)
{
    return b->n;
}

/* Whole numbers: 2^53 ns are 104 days only, so microseconds since 1970 are not made of them. */
int64_t fleet_bucket_start_us(const struct fleet_buckets *b, uint32_t bucket)
{
    return (int64_t)((b->first + bucket) * (b->bucket_ns / NS_PER_US));
}

double fleet_bucket_recorded_ns(const struct fleet_buckets *b, uint32_t bucket)
{
    double from = fmax(bucket * b->bucket_ns, b->start_ns), to = fmin((bucket + 1.0) * b->bucket_ns, b->end_ns);
    return to > from ? to - from : 0;
}

/* ---- cells ---- */

static uint64_t key_of(enum fleet_cell_of of, uint32_t bucket, uint32_t id)
{
    return hash_address((uint64_t)bucket << 34 | (uint64_t)id << 2 | of);
}

/* Its cell in another bucket than its latest one, or 0: only those that are left for another one are looked up. */
static uint32_t leave_latest(struct fleet_buckets *b, enum fleet_cell_of of, uint32_t bucket, uint32_t id)
{
    const struct fleet_latest *latest = &b->latest[of][id];
    if (latest->cell == 0)
        return 0;
    xhash_put(&b->index_of, key_of(of, latest->bucket, id))->value = latest->cell;
    const struct hash_slot *known = hash_get(&b->index_of, key_of(of, bucket, id));
    return known == NULL ? 0 : known->value;
}

/* Its words, which are zero in a new one; until the next call. */
static uint64_t *cell_of(struct fleet_buckets *b, enum fleet_cell_of of, uint32_t bucket, uint32_t id)
{
    xgrow_zeroed(b->latest[of], b->n_latest[of], (size_t)id + 1);
    struct fleet_latest *latest = &b->latest[of][id];
    if (latest->cell == 0 || latest->bucket != bucket) {
        uint32_t cell = leave_latest(b, of, bucket, id);
        if (cell == 0) {
            xgrow_zeroed(b->words, b->words_room, (b->n_cells + (size_t)1) * b->n_words);
            *xpush(b->cells, b->cells_room, b->n_cells) = (struct fleet_cell){ of, bucket, id };
            cell = b->n_cells;
        }
        *latest = (struct fleet_latest){ bucket, cell };
    }
    return b->words + (latest->cell - 1) * b->n_words;
}

size_t fleet_buckets_cells(const struct fleet_buckets *b, const struct fleet_cell **cells)
{
    *cells = b->cells;
    return b->n_cells;
}

const uint64_t *fleet_cell_words(const struct fleet_buckets *b, size_t i)
{
    return b->words + i * b->n_words;
}

size_t fleet_buckets_n_counters(const struct fleet_buckets *b)
{
    return b->n_counters;
}

/* ---- what is heard ---- */

static void pass_in(struct fleet_lane *lane, uint32_t bucket, uint64_t ticks, bool is_on)
{
    if (lane->n_slots == 0 || lane->slots[lane->n_slots - 1].bucket != bucket)
        *xpush(lane->slots, lane->slots_room, lane->n_slots) = (struct fleet_slot){ bucket, 0, 0 };
    struct fleet_slot *slot = &lane->slots[lane->n_slots - 1];
    *(is_on ? &slot->on_ticks : &slot->off_ticks) += ticks;
}

static void pass(const struct fleet_buckets *b, struct fleet_lane *lane, const struct calltree_flow *flow)
{
    for (uint64_t from = flow->from_ticks, to; from < flow->ticks; from = to) {
        uint32_t bucket = fleet_bucket_at(b, from);
        uint64_t end = bucket + 1 < b->n ? begin_ticks(b, bucket + 1) : flow->ticks;
        to = end < flow->ticks ? end : flow->ticks;
        pass_in(lane, bucket, to - from, flow->is_on);
    }
}

/* How much of a whole lies between two shares of it: the parts of all add up to it. */
static uint64_t part_of(uint64_t whole, double from, double to)
{
    uint64_t before = (uint64_t)((double)whole * from);
    return (to >= 1 ? whole : (uint64_t)((double)whole * to)) - before;
}

/* What was settled between two shares of it, in one bucket. */
static void give(struct fleet_buckets *b, const struct calltree_flow *flow, const struct fleet_slot *slot, double from,
                 double to)
{
    bool is_node = flow->is_placed && flow->part == VM_PART_APPLICATION;
    uint64_t *words = is_node ? cell_of(b, FLEET_CELL_NODE, slot->bucket, flow->node)
                              : cell_of(b, FLEET_CELL_THREAD, slot->bucket, flow->thread);
    words[FLEET_CPU] += part_of(flow->cpu_ticks - flow->probe_ticks, from, to);
    words[FLEET_PROBES] += part_of(flow->probe_ticks, from, to);
    words[FLEET_OFF_CPU] += slot->off_ticks;
    for (size_t i = 0; flow->counters != NULL && i < b->n_counters && i < flow->n_counters; i++)
        words[FLEET_WORDS + i] += part_of(flow->counters[i], from, to);
}

/* Over the buckets in which the time passed, by the time on a CPU in each. */
static void settle(struct fleet_buckets *b, struct fleet_lane *lane, const struct calltree_flow *flow)
{
    uint64_t sum = 0, before = 0;
    struct fleet_slot here = { fleet_bucket_at(b, flow->ticks), 0, 0 };
    for (uint32_t i = 0; i < lane->n_slots; i++)
        sum += lane->slots[i].on_ticks + (flow->is_wall ? lane->slots[i].off_ticks : 0);
    double from = 0;
    for (uint32_t i = 0; i < lane->n_slots; i++) {
        const struct fleet_slot *slot = &lane->slots[i];
        before += slot->on_ticks + (flow->is_wall ? slot->off_ticks : 0);
        double to = before == sum ? 1 : (double)before / (double)sum;
        to = sum == 0 && i + 1 < lane->n_slots ? 0 : to;
        give(b, flow, slot, from, to);
        from = to;
    }
    if (lane->n_slots == 0)
        give(b, flow, &here, 0, 1);
    lane->n_slots = 0;
}

static void take_flow(void *context, const struct calltree_flow *flow)
{
    struct fleet_buckets *b = context;
    xgrow_zeroed(b->lanes, b->n_lanes, (size_t)flow->thread + 1);
    if (flow->kind == CALLTREE_PASSED)
        pass(b, &b->lanes[flow->thread], flow);
    else if (flow->kind == CALLTREE_SETTLED)
        settle(b, &b->lanes[flow->thread], flow);
}

static void take_step(void *context, const struct calltree_step *step)
{
    struct fleet_buckets *b = context;
    if (step->kind == TRACE_ENTER)
        cell_of(b, FLEET_CELL_METHOD, fleet_bucket_at(b, step->ticks), step->method)[FLEET_CALLS]++;
}

struct calltree_observer fleet_buckets_observer(struct fleet_buckets *b)
{
    return (struct calltree_observer){ .context = b, .step = take_step, .flow = take_flow };
}
