#include "phases/select/statistics.h"

#include "core/base/xalloc.h"

/* A call's metrics are unknown if the counters were not read in more than this share of its time. */
#define UNCOUNTED_MAX 0.001

#define STEP_BITS 6u /* of LATENCY_STEPS */

/* The sums that make a metric's quotient. */
struct quotient {
    double top, bottom;
};

struct calls_batch {
    uint64_t n_calls;
    struct quotient of[]; /* by metric */
};

struct method_statistics {
    struct moments moments[STATISTICS_METRICS_MAX];
    struct latency latency; /* of a call's time, where that is a metric */
    uint32_t n_batches;     /* the last of them may not be full */
    uint64_t batch_calls;
    char batches[]; /* STATISTICS_BATCHES of batch_bytes */
};

/* A thread's clock and sums since its start, or since then up to a call's entry. */
struct statistics_snapshot {
    uint64_t moment, ticks, cpu_ticks, uncounted_ticks;
    struct quotient of[]; /* by metric; a time's is not used */
};

struct statistics_frame {
    uint32_t method;
    bool is_inner; /* another call of the method is around it */
    bool is_found; /* it was under way: nobody saw when it began */
    bool has_left; /* it has been without a carrier */
};

/* The calls of a thread, or of a virtual thread, whose clock and sums go on when it is on a carrier.  All owned. */
struct calls_statistics {
    struct statistics_frame *frames;
    char *snapshots;                 /* by frame, snapshot_bytes each */
    uint32_t n_frames, frames_room;  /* room: of both */
    struct statistics_snapshot *now; /* NULL: none yet */
};

struct statistics_thread {
    struct calls_statistics calls;   /* of who runs there */
    struct calls_statistics carrier; /* while that is a virtual thread */
    bool is_mounted;
    uint64_t ticks, cpu_ticks; /* the thread's clocks at its record before */
    uint32_t *n_active;        /* by method, in calls and carrier; owned */
    uint32_t n_active_room;
};

struct statistics {
    struct statistics_options options;
    size_t batch_bytes, snapshot_bytes;
    struct method_statistics **methods; /* NULL: no call of it has ended */
    uint32_t n_methods;
    struct statistics_thread *threads;
    uint32_t n_threads;
    struct calls_statistics *unmounted; /* by ticket: left open by virtual threads */
    uint32_t n_unmounted;
};

/* ---- the histogram ---- */

/* Where a number is: the octave, and its step there. */
static uint32_t octave_of(uint64_t ticks, uint32_t *step)
{
    uint32_t bits = ticks < LATENCY_STEPS ? 0 : 63u - (uint32_t)__builtin_clzll(ticks) - STEP_BITS;
    uint32_t octave = ticks < LATENCY_STEPS ? 0 : bits + 1;
    *step = (uint32_t)(ticks >> bits) & (LATENCY_STEPS - 1);
    return octave;
}

/* The middle of a step. */
static double value_of(uint32_t octave, uint32_t step)
{
    if (octave == 0)
        return step;
    double width = ldexp(1, (int)octave - 1);
    return (LATENCY_STEPS + step) * width + (width - 1) / 2;
}

void latency_add(struct latency *latency, uint64_t ticks)
{
    uint32_t step, octave = octave_of(ticks, &step);
    if (latency->octaves[octave] == NULL)
        latency->octaves[octave] = xcalloc(LATENCY_STEPS, sizeof **latency->octaves);
    uint32_t *count = &latency->octaves[octave][step];
    *count += *count < UINT32_MAX;
    latency->n++;
    latency->longest = ticks > latency->longest ? ticks : latency->longest;
}

void latency_free(struct latency *latency)
{
    for (uint32_t i = 0; i < LATENCY_OCTAVES; i++)
        free(latency->octaves[i]);
    *latency = (struct latency){ .n = 0 };
}

double latency_quantile(const struct latency *latency, double part)
{
    double rank = fmax(ceil(part * (double)latency->n), 1), seen = 0;
    if (latency->n == 0)
        return NAN;
    for (uint32_t octave = 0; octave < LATENCY_OCTAVES; octave++)
        for (uint32_t step = 0; latency->octaves[octave] != NULL && step < LATENCY_STEPS; step++) {
            seen += latency->octaves[octave][step];
            if (seen >= rank)
                return fmin(value_of(octave, step), (double)latency->longest);
        }
    return (double)latency->longest;
}

/* ---- the statistics ---- */

struct statistics *statistics_open(const struct statistics_options *options)
{
    struct statistics *s = xcalloc(1, sizeof *s);
    s->options = *options;
    s->batch_bytes = sizeof(struct calls_batch) + options->n_metrics * sizeof(struct quotient);
    s->snapshot_bytes = sizeof(struct statistics_snapshot) + options->n_metrics * sizeof(struct quotient);
    return s;
}

static void free_calls(struct calls_statistics *calls)
{
    free(calls->frames);
    free(calls->snapshots);
    free(calls->now);
    memset(calls, 0, sizeof *calls);
}

void statistics_close(struct statistics *s)
{
    if (s == NULL)
        return;
    for (uint32_t i = 0; i < s->n_threads; i++) {
        free_calls(&s->threads[i].calls);
        free_calls(&s->threads[i].carrier);
        free(s->threads[i].n_active);
    }
    for (uint32_t i = 0; i < s->n_unmounted; i++)
        free_calls(&s->unmounted[i]);
    free(s->unmounted);
    for (uint32_t i = 0; i < s->n_methods; i++) {
        if (s->methods[i] != NULL)
            latency_free(&s->methods[i]->latency);
        free(s->methods[i]);
    }
    free(s->threads);
    free(s->methods);
    free(s);
}

static struct method_statistics *find_method(struct statistics *s, uint32_t index)
{
    if (index >= s->n_methods)
        xgrow_zeroed(s->methods, s->n_methods, (size_t)index + 1);
    struct method_statistics **m = &s->methods[index];
    if (*m == NULL)
        *m = xcalloc(1, sizeof **m + STATISTICS_BATCHES * s->batch_bytes);
    return *m;
}

/* ---- batches ---- */

static struct calls_batch *batch_of(const struct statistics *s, const struct method_statistics *m, uint32_t i)
{
    return (struct calls_batch *)((char *)(uintptr_t)m->batches + i * s->batch_bytes);
}

static void add_batch(const struct statistics *s, struct calls_batch *to, const struct calls_batch *from)
{
    to->n_calls += from->n_calls;
    for (size_t i = 0; i < s->options.n_metrics; i++) {
        to->of[i].top += from->of[i].top;
        to->of[i].bottom += from->of[i].bottom;
    }
}

/* Each pair becomes one. */
static void merge_batches(const struct statistics *s, struct method_statistics *m)
{
    for (uint32_t i = 0; i < STATISTICS_BATCHES / 2; i++) {
        if (i > 0)
            memcpy(batch_of(s, m, i), batch_of(s, m, 2 * i), s->batch_bytes);
        add_batch(s, batch_of(s, m, i), batch_of(s, m, 2 * i + 1));
    }
    m->n_batches = STATISTICS_BATCHES / 2;
    memset(batch_of(s, m, m->n_batches), 0, m->n_batches * s->batch_bytes);
    m->batch_calls *= 2;
}

/* The batch that the next call goes into. */
static struct calls_batch *open_batch(const struct statistics *s, struct method_statistics *m)
{
    if (m->n_batches == 0) {
        m->n_batches = 1;
        m->batch_calls = 1;
    }
    struct calls_batch *last = batch_of(s, m, m->n_batches - 1);
    if (last->n_calls < m->batch_calls)
        return last;
    if (m->n_batches == STATISTICS_BATCHES)
        merge_batches(s, m);
    return batch_of(s, m, m->n_batches++);
}

/* ---- calls ---- */

static void add_time(struct method_statistics *m, struct calls_batch *batch, size_t metric, uint64_t ticks)
{
    moments_add(&m->moments[metric], (double)ticks);
    batch->of[metric].top += (double)ticks;
    batch->of[metric].bottom += 1;
}

static void add_call(const struct statistics *s, struct method_statistics *m, const struct statistics_snapshot *then,
                     const struct statistics_snapshot *now)
{
    uint64_t ticks = now->ticks - then->ticks, uncounted = now->uncounted_ticks - then->uncounted_ticks;
    bool is_counted = (double)uncounted <= UNCOUNTED_MAX * (double)ticks;
    struct calls_batch *batch = open_batch(s, m);
    batch->n_calls++;
    for (size_t i = 0; i < s->options.n_metrics; i++) {
        double top = now->of[i].top - then->of[i].top, bottom = now->of[i].bottom - then->of[i].bottom;
        if (s->options.metrics[i].is_time) {
            add_time(m, batch, i, ticks);
            latency_add(&m->latency, ticks);
        } else if (is_counted && bottom > 0) {
            moments_add(&m->moments[i], top / bottom * s->options.metrics[i].factor);
            batch->of[i].top += top * s->options.metrics[i].factor;
            batch->of[i].bottom += bottom;
        }
    }
}

static void tell(const struct statistics *s, const struct statistics_frame *frame,
                 const struct statistics_snapshot *then, const struct calltree_step *step,
                 const struct statistics_snapshot *now)
{
    const struct statistics_call call = { .thread = step->thread,
                                          .method = frame->method,
                                          .value = step->value,
                                          .start_ticks = then->moment,
                                          .end_ticks = step->ticks,
                                          .ticks = now->ticks - then->ticks,
                                          .cpu_ticks = now->cpu_ticks - then->cpu_ticks };
    if (s->options.hear != NULL && !frame->has_left)
        s->options.hear(s->options.context, &call);
}

static struct statistics_snapshot *snapshot_of(const struct statistics *s, const struct calls_statistics *calls,
                                               uint32_t frame)
{
    return (struct statistics_snapshot *)(calls->snapshots + frame * s->snapshot_bytes);
}

static inline void enter(struct statistics *s, struct statistics_thread *t, const struct calltree_step *step)
{
    uint32_t method = step->method;
    struct calls_statistics *c = &t->calls;
    if (method >= t->n_active_room)
        xgrow_zeroed(t->n_active, t->n_active_room, (size_t)method + 1);
    if (c->n_frames == c->frames_room) {
        xgrow(c->frames, c->frames_room, c->n_frames + (size_t)1);
        c->snapshots = xreallocarray(c->snapshots, c->frames_room, s->snapshot_bytes);
    }
    struct statistics_snapshot *then = snapshot_of(s, c, c->n_frames);
    *then = *c->now;
    for (size_t i = 0; i < s->options.n_metrics; i++)
        then->of[i] = c->now->of[i];
    c->frames[c->n_frames++] =
        (struct statistics_frame){ method, t->n_active[method]++ > 0, step->kind == TRACE_OPEN, false };
}

/* The exit of a caller closes the calls whose own exits are missing; what they took is not known. */
static inline void leave(struct statistics *s, struct statistics_thread *t, const struct calltree_step *step)
{
    uint32_t method = step->method;
    if (method >= t->n_active_room || t->n_active[method] == 0)
        return;
    struct calls_statistics *c = &t->calls;
    while (c->frames[c->n_frames - 1].method != method)
        t->n_active[c->frames[--c->n_frames].method]--;
    t->n_active[method]--;
    const struct statistics_frame *frame = &c->frames[--c->n_frames];
    if (frame->is_inner || frame->is_found)
        return;
    add_call(s, find_method(s, method), snapshot_of(s, c, c->n_frames), c->now);
    tell(s, frame, snapshot_of(s, c, c->n_frames), step, c->now);
}

/* ---- virtual threads ---- */

/* Count the calls among the thread's open ones, or no more. */
static void activate(struct statistics_thread *t, const struct calls_statistics *calls, bool is_active)
{
    for (uint32_t i = 0; i < calls->n_frames; i++) {
        uint32_t method = calls->frames[i].method;
        xgrow_zeroed(t->n_active, t->n_active_room, (size_t)method + 1);
        t->n_active[method] += is_active ? 1 : UINT32_MAX;
    }
}

/* What it leaves open goes where its ticket says; without one it is lost. */
static void unmount(struct statistics *s, struct statistics_thread *t, uint64_t ticket)
{
    activate(t, &t->calls, false);
    for (uint32_t i = 0; i < t->calls.n_frames; i++)
        t->calls.frames[i].has_left = true;
    if (ticket == 0) {
        free_calls(&t->calls);
    } else {
        xgrow_zeroed(s->unmounted, s->n_unmounted, (size_t)ticket + 1);
        free_calls(&s->unmounted[ticket]);
        s->unmounted[ticket] = t->calls;
    }
    t->calls = t->carrier;
    t->carrier = (struct calls_statistics){ .frames = NULL };
    t->is_mounted = false;
    activate(t, &t->calls, true);
}

/* The carrier's calls are none of its own. */
static void mount(struct statistics *s, struct statistics_thread *t, uint64_t ticket)
{
    if (t->is_mounted)
        unmount(s, t, 0);
    activate(t, &t->calls, false);
    t->carrier = t->calls;
    t->calls = (struct calls_statistics){ .frames = NULL };
    t->is_mounted = true;
    if (ticket == 0 || ticket >= s->n_unmounted)
        return;
    t->calls = s->unmounted[ticket];
    memset(&s->unmounted[ticket], 0, sizeof *s->unmounted);
    activate(t, &t->calls, true);
}

static double sum(const uint8_t *indexes, size_t n, const struct calltree_step *step)
{
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += indexes[i] < step->n_metrics ? step->passed[indexes[i]] : 0;
    return (double)total;
}

static inline void read_metrics(const struct statistics *s, struct statistics_thread *t,
                                const struct calltree_step *step)
{
    uint64_t ticks = s->options.clock == PHASES_CPU ? step->cpu_ticks : step->wall_ticks;
    if (t->calls.now == NULL)
        t->calls.now = xcalloc(1, s->snapshot_bytes);
    struct statistics_snapshot *now = t->calls.now;
    now->moment = step->ticks;
    now->ticks += ticks - t->ticks;
    now->cpu_ticks += step->cpu_ticks - t->cpu_ticks;
    t->ticks = ticks;
    t->cpu_ticks = step->cpu_ticks;
    now->uncounted_ticks += step->n_metrics > CALLTREE_UNCOUNTED ? step->passed[CALLTREE_UNCOUNTED] : 0;
    for (size_t i = 0; i < s->options.n_metrics; i++) {
        const struct statistics_metric *metric = &s->options.metrics[i];
        now->of[i].top += sum(metric->tops, metric->n_tops, step);
        now->of[i].bottom += sum(metric->bottoms, metric->n_bottoms, step);
    }
}

static struct statistics_thread *find_thread(struct statistics *s, uint32_t thread)
{
    xgrow_zeroed(s->threads, s->n_threads, (size_t)thread + 1);
    return &s->threads[thread];
}

static void take_step(void *context, const struct calltree_step *step)
{
    struct statistics *s = context;
    if (step->part != VM_PART_APPLICATION)
        return;
    struct statistics_thread *t = find_thread(s, step->thread);
    read_metrics(s, t, step);
    switch (step->kind) {
    case TRACE_ENTER:
    case TRACE_OPEN:
        enter(s, t, step);
        break;
    case TRACE_EXIT:
    case TRACE_UNWIND:
        leave(s, t, step);
        break;
    case TRACE_MOUNT:
        mount(s, t, step->ticket);
        break;
    case TRACE_UNMOUNT:
        unmount(s, t, step->ticket);
        break;
    default: /* calls that are taken up again came with the virtual thread */
        break;
    }
}

static void take_run(void *context, const struct calltree_run *run)
{
    struct statistics *s = context;
    if (run->part != VM_PART_APPLICATION)
        return;
    struct statistics_thread *t = find_thread(s, run->thread);
    struct calltree_step step = { .thread = run->thread, .part = run->part };
    for (size_t i = 0; i < run->n; i++) {
        const struct trace_record *record = &run->records[i];
        step.kind = record->kind;
        step.method = record->operand;
        step.ticks = record->ticks;
        step.cpu_ticks = run->cpu_ticks + run->passed[i];
        step.wall_ticks = run->wall_ticks + run->passed[i];
        read_metrics(s, t, &step);
        if (record->kind == TRACE_ENTER)
            enter(s, t, &step);
        else
            leave(s, t, &step);
    }
}

struct calltree_observer statistics_observer(struct statistics *s)
{
    return (struct calltree_observer){ .context = s, .step = take_step, .run = take_run };
}

/* ---- results ---- */

static const struct method_statistics *known_method(const struct statistics *s, uint32_t method)
{
    return method < s->n_methods ? s->methods[method] : NULL;
}

struct moments statistics_moments(const struct statistics *s, uint32_t method, size_t metric)
{
    const struct method_statistics *m = known_method(s, method);
    struct moments none = { .n = 0 };
    return m == NULL ? none : m->moments[metric];
}

double statistics_quantile(const struct statistics *s, uint32_t method, double part)
{
    const struct method_statistics *m = known_method(s, method);
    return m == NULL ? NAN : latency_quantile(&m->latency, part);
}

double statistics_longest(const struct statistics *s, uint32_t method)
{
    const struct method_statistics *m = known_method(s, method);
    return m == NULL || m->latency.n == 0 ? NAN : (double)m->latency.longest;
}

struct statistics_error statistics_error_of(const struct statistics *s, uint32_t method, size_t metric)
{
    struct statistics_error error = { NAN, NAN, 0, 0 };
    const struct method_statistics *m = known_method(s, method);
    struct quotient all = { 0, 0 };
    double n = 0, squares = 0;
    for (uint32_t i = 0; m != NULL && i < m->n_batches; i++) {
        const struct quotient *q = &batch_of(s, m, i)->of[metric];
        all.top += q->top;
        all.bottom += q->bottom;
        n += q->bottom > 0;
    }
    if (!(all.bottom > 0))
        return error;
    error.n_calls = m->moments[metric].n;
    error.value = all.top / all.bottom;
    if (n < STATISTICS_BATCHES_MIN)
        return error;
    for (uint32_t i = 0; i < m->n_batches; i++) {
        const struct quotient *q = &batch_of(s, m, i)->of[metric];
        double d = q->top - error.value * q->bottom;
        squares += d * d;
    }
    error.variance = n / (n - 1) * squares / (all.bottom * all.bottom);
    error.df = n - 1;
    return error;
}
