/*
 * What a probe costs, measured in the target itself: a loop of empty pairs, compiled by the target's own compilers,
 * that writes into a private ring.
 *
 * Thesis §3.2.1 stops counting while a record is logged; here the cost is subtracted afterwards.  A pair's cost has a
 * part between its two timestamps (it would be charged to the method) and one outside of them (to its caller).
 */
#include "core/agent/agent.h"

#include "core/base/ticks.h"
#include "core/agent/instrument/classes.h"
#include "core/agent/probe/probe.h"

#include <stdatomic.h>
#include <sys/syscall.h>

#define LONGEST_WAIT_MS 64 /* for counters that are in use */
#define PAIRS_PER_ROUND 16384
#define PAIRS_ALIKE     1024 /* simulated and interpreted, one pair is as another */
#define MAX_ROUNDS      200
#define SETTLED_ROUNDS  8        /* without a better one */
#define SETTLED_NS      12000000 /* of CPU time: the compilers have been at the loop by then */

/* Where a tick is as long as a probe, its values are 0 and 1, and only the mean of nearly all says how often. */
#define COARSE 16

#define HISTOGRAM 65536 /* larger values are outliers */

/* Those from the first-th to the end-th in order, of values that are counted: their sum, and the end-th one. */
static double sum_between(const uint32_t *counts, size_t first, size_t end, size_t *last)
{
    double sum = 0;
    size_t before = 0, value = 0;
    for (; value < HISTOGRAM && before <= end; before += counts[value++]) {
        size_t from = before < first ? first : before, to = before + counts[value] < end ? before + counts[value] : end;
        if (to > from)
            sum += (double)value * (double)(to - from);
    }
    *last = value - 1;
    return sum;
}

/* The middle half's mean: a median of whole ticks would be too coarse, an outlier (an interrupt) does not count. */
static double middle(const uint64_t *values, size_t n, uint32_t *counts)
{
    size_t first = n / 4, end = n - n / 4, last, n_coarse = 0;
    memset(counts, 0, HISTOGRAM * sizeof *counts);
    for (size_t i = 0; i < n; i++)
        counts[values[i] < HISTOGRAM ? values[i] : HISTOGRAM - 1]++;
    double sum = sum_between(counts, first, end, &last);
    if (last >= COARSE)
        return sum / (double)(end - first);
    for (size_t value = 0; value < COARSE; value++)
        n_coarse += counts[value];
    return sum_between(counts, 0, n_coarse, &last) / (double)n_coarse;
}

/* What a pair costs, times 16. */
struct calibrated_costs {
    uint64_t inside, outside;
};

struct calibration {
    const struct counter_layout *layout;
    struct ring *ring;
    uint64_t *words, *scratch; /* owned; scratch is part of words */
    uint32_t *counts;          /* of values, for middle(); owned */
    size_t n_per_record;
    uint32_t n_words;
    size_t n_pairs;                                             /* of a round */
    struct calibrated_costs ticks, counters[RING_COUNTERS_MAX]; /* of the cheapest round */
    uint64_t group_ticks[COUNTERS_GROUPS_MAX]; /* of the round that a group's costs are from; 0: none yet */
};

/* Which of two words of the records, and the bits that count. */
struct column {
    size_t value;
    size_t running; /* how long its group has counted; 0: it always does */
    uint64_t mask;
};

/* Put what passed between each n-th record and the next one into scratch.  Returns how many of them were counted. */
static size_t collect(const struct calibration *c, const struct column *column, size_t first, size_t n)
{
    size_t n_counted = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t *a = c->words + (2 * i + first) * c->n_per_record, *b = a + c->n_per_record;
        if (column->running > 0 && (a[column->running] >= b[column->running] || b[column->running] == RING_NOT_COUNTED))
            continue;
        c->scratch[n_counted++] = (b[column->value] - a[column->value]) & column->mask;
    }
    return n_counted;
}

/* The cost in a column, of a round in which it counted in a good part of the pairs.  Returns whether it did. */
static bool evaluate(struct calibration *c, const struct column *column, struct calibrated_costs *costs)
{
    size_t n = collect(c, column, 0, c->n_pairs);
    if (n < c->n_pairs / 8)
        return false;
    costs->inside = (uint64_t)(16 * middle(c->scratch, n, c->counts));
    n = collect(c, column, 1, c->n_pairs - 1);
    if (n < c->n_pairs / 8)
        return false;
    costs->outside = (uint64_t)(16 * middle(c->scratch, n, c->counts));
    return true;
}

/* "interpreted mode" */
static bool is_interpreted(jvmtiEnv *jvmti)
{
    char *mode = NULL;
    bool is = (*jvmti)->GetSystemProperty(jvmti, "java.vm.info", &mode) == JVMTI_ERROR_NONE &&
              strstr(mode, "interpreted") != NULL;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)mode);
    return is;
}

static int prepare(struct calibration *c, jvmtiEnv *jvmti, const struct counter_layout *layout, struct err *err)
{
    c->layout = layout;
    c->n_per_record = 1 + counter_layout_columns(layout);
    c->n_pairs = counter_layout_is_simulated(layout) && is_interpreted(jvmti) ? PAIRS_ALIKE : PAIRS_PER_ROUND;
    c->n_words = 2 * (uint32_t)c->n_pairs;
    while (c->n_words < 2 * c->n_pairs * c->n_per_record)
        c->n_words *= 2;
    c->words = calloc((size_t)c->n_words + c->n_pairs, sizeof *c->words);
    c->counts = malloc(HISTOGRAM * sizeof *c->counts);
    c->ring = aligned_alloc(_Alignof(struct ring), sizeof *c->ring);
    if (c->words == NULL || c->ring == NULL || c->counts == NULL)
        return err_set(err, "the probes cannot be calibrated: out of memory in the target");
    c->scratch = c->words + c->n_words;
    return 0;
}

/* Run the loop once, from the start of the ring; false when it threw. */
static bool run(struct calibration *c, JNIEnv *jni, jmethodID loop)
{
    atomic_store(&c->ring->head, 0);
    (*jni)->CallStaticVoidMethod(jni, classes_probe(), loop, (jint)agent_token(AGENT_EPOCH_MAX, 1), (jint)c->n_pairs);
    return !(*jni)->ExceptionCheck(jni);
}

/* The costs in a group's events, if it counted; with several groups each has its own cheapest round. */
static void take_group(struct calibration *c, uint32_t g, uint64_t round_ticks)
{
    const struct counter_layout *layout = c->layout;
    struct column column = { .mask = UINT64_MAX, .running = layout->n_groups == 1 ? 0 : 1 + layout->n_slots + g };
    if (c->group_ticks[g] > 0 && round_ticks >= c->group_ticks[g])
        return;
    for (uint32_t i = layout->first[g]; i < layout->first[g + 1]; i++) {
        column.value = 1 + i;
        if (!evaluate(c, &column, &c->counters[i]))
            return;
    }
    c->group_ticks[g] = round_ticks;
}

/* Returns whether this round was much cheaper than all before. */
static bool take_round(struct calibration *c)
{
    const struct column column = { .mask = (UINT64_C(1) << RING_TICKS_BITS) - 1 };
    struct calibrated_costs ticks = { 0, 0 };
    evaluate(c, &column, &ticks);
    uint64_t best = c->ticks.inside + c->ticks.outside, now = ticks.inside + ticks.outside;
    for (uint32_t g = 0; g < c->layout->n_groups; g++)
        take_group(c, g, now);
    if (best > 0 && now >= best)
        return false;
    c->ticks = ticks;
    return best == 0 || now < best - best / 50;
}

static bool has_all_groups(const struct calibration *c)
{
    for (uint32_t g = 0; g < c->layout->n_groups; g++)
        if (c->group_ticks[g] == 0)
            return false;
    return true;
}

static void publish(const struct calibration *c, struct segment *segment)
{
    atomic_store(&segment->inside_cost_ticks_x16, c->ticks.inside);
    atomic_store(&segment->outside_cost_ticks_x16, c->ticks.outside);
    for (size_t i = 0; i + 1 < c->n_per_record; i++) {
        atomic_store(&segment->inside_cost_counters_x16[i], c->counters[i].inside);
        atomic_store(&segment->outside_cost_counters_x16[i], c->counters[i].outside);
    }
    atomic_store(&segment->is_calibrated, 1);
}

static void publish_refusal(const struct counters_failure *failure, struct segment *segment)
{
    atomic_store(&segment->counters_errno, (uint32_t)failure->error);
    atomic_store(&segment->counters_index, failure->i);
    atomic_store(&segment->counters_refused, (uint32_t)failure->step + 1);
}

/*
 * The recorder may count this thread, too, until it has heard that it must not: then there are no counters left, and
 * they open later.
 */
static bool open_counters(struct calibration *c, const struct counting_plan *plan, struct counters_failure *failure)
{
    for (long wait_ms = 1;; wait_ms *= 2) {
        if (probe_enter_private(c->ring, c->words, c->n_words, AGENT_EPOCH_MAX, plan, failure) == 0)
            return true;
        if (failure->step != COUNTERS_FIRST_READ || failure->error != 0 || wait_ms > LONGEST_WAIT_MS)
            return false;
        nanosleep(&(struct timespec){ .tv_nsec = wait_ms * 1000000 }, NULL);
    }
}

/* The program waits for this: no longer than it takes. */
static bool is_settled(int n_since_best, uint64_t start_ns)
{
    return n_since_best >= SETTLED_ROUNDS && clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns >= SETTLED_NS;
}

/* The recorder must leave this thread the counters. */
static void calibrate_soon(struct segment *segment)
{
    atomic_store(&segment->calibrating_tid, (int32_t)syscall(SYS_gettid));
}

static int calibrate(jvmtiEnv *jvmti, JNIEnv *jni, const struct counting_plan *plan, struct segment *segment,
                     struct err *err)
{
    struct calibration c = { .ring = NULL };
    struct counters_failure failure;
    bool refused = false;
    uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int rc = prepare(&c, jvmti, &plan->layout, err);
    jmethodID loop = (*jni)->GetStaticMethodID(jni, classes_probe(), "calibrate", "(II)V");
    bool runs = rc == 0 && loop != NULL;
    /* Counters that do not open cost nothing. */
    if (rc == 0)
        refused = !open_counters(&c, plan, &failure);
    for (int i = 0, n_since_best = 0;
         runs && i < MAX_ROUNDS && (!is_settled(n_since_best, start_ns) || (!refused && !has_all_groups(&c))); i++) {
        runs = run(&c, jni, loop);
        n_since_best = take_round(&c) ? 0 : n_since_best + 1;
    }
    if (rc == 0)
        probe_leave_private();
    atomic_store(&segment->calibrating_tid, 0);
    (*jni)->ExceptionClear(jni);
    if (rc == 0 && !runs)
        rc = err_set(err, "the probes cannot be calibrated: the loop threw an exception");
    if (rc == 0 && refused)
        publish_refusal(&failure, segment);
    if (rc == 0)
        publish(&c, segment);
    free(c.words);
    free(c.counts);
    free(c.ring);
    return rc;
}

int calibrate_once(jvmtiEnv *jvmti, JNIEnv *jni, const struct counting_plan *plan, struct segment *segment,
                   struct err *err)
{
    if (atomic_load(&segment->is_calibrated))
        return 0;
    calibrate_soon(segment);
    return classes_define_probe(jni, err) < 0 ? -1 : calibrate(jvmti, jni, plan, segment, err);
}
