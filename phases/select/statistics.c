#include "phases/select/statistics_internal.h"

#include "core/base/xalloc.h"

/* A call's metrics are unknown if the counters were not read in more than this share of its time. */
#define UNCOUNTED_MAX 0.001

/* ---- the statistics ---- */

struct statistics *statistics_open(const struct statistics_options *options)
{
    struct statistics *s = xcalloc(1, sizeof *s);
    s->options = *options;
    s->batch_bytes = sizeof(struct calls_batch) + options->n_metrics * sizeof(struct quotient);
    s->snapshot_bytes = sizeof(struct statistics_snapshot) + options->n_metrics * sizeof(struct quotient);
    s->has_times_only = options->n_metrics == 1 && options->metrics[0].is_time && options->hear == NULL;
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

/* ---- calls ---- */

static void add_call(const struct statistics *s, struct method_statistics *m, const struct statistics_snapshot *then,
                     const struct statistics_snapshot *now)
{
    uint64_t ticks = now->ticks - then->ticks, uncounted = now->uncounted_ticks - then->uncounted_ticks;
    bool is_counted = (double)uncounted <= UNCOUNTED_MAX * (double)ticks, has_time = false;
    add_to_batch(s, m);
    struct calls_batch *batch = batch_of(s, m, m->n_batches - 1);
    for (size_t i = 0; i < s->options.n_metrics; i++) {
        double top = now->of[i].top - then->of[i].top, bottom = now->of[i].bottom - then->of[i].bottom;
        if (s->options.metrics[i].is_time) {
            has_time = true;
        } else if (is_counted && bottom > 0) {
            moments_add(&m->moments[i], top / bottom * s->options.metrics[i].factor);
            batch->of[i].top += top * s->options.metrics[i].factor;
            batch->of[i].bottom += bottom;
        }
    }
    if (has_time)
        add_time(m, ticks);
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

static void push_snapshot(const struct statistics *s, struct calls_statistics *c)
{
    if (c->n_frames == c->snapshots_room)
        xgrow_bytes(c->snapshots, c->snapshots_room, c->n_frames + (size_t)1, s->snapshot_bytes);
    memcpy(snapshot_of(s, c, c->n_frames), c->now, s->snapshot_bytes);
}

static inline void enter(const struct statistics *s, struct statistics_thread *t, uint32_t method, bool is_found,
                         uint64_t ticks)
{
    struct calls_statistics *c = &t->calls;
    if (method >= t->n_active_room)
        xgrow_zeroed(t->n_active, t->n_active_room, (size_t)method + 1);
    if (c->n_frames == c->frames_room)
        xgrow_zeroed(c->frames, c->frames_room, c->n_frames + (size_t)1);
    if (!s->has_times_only)
        push_snapshot(s, c);
    bool is_inner = t->n_active[method]++ > 0;
    c->frames[c->n_frames++] = (struct statistics_frame){ ticks, method, is_inner || is_found, false };
}

/*
 * The exit of a caller closes the calls whose own exits are missing; what they took is not known.  Returns the call
 * that ends, the first one above the thread's frames then, or NULL where it is no observation.
 */
static inline const struct statistics_frame *leave(struct statistics_thread *t, uint32_t method)
{
    if (method >= t->n_active_room || t->n_active[method] == 0)
        return NULL;
    struct calls_statistics *c = &t->calls;
    while (c->frames[c->n_frames - 1].method != method)
        t->n_active[c->frames[--c->n_frames].method]--;
    t->n_active[method]--;
    const struct statistics_frame *frame = &c->frames[--c->n_frames];
    return frame->is_none ? NULL : frame;
}

static inline void count_time(struct statistics *s, uint32_t method, uint64_t ticks)
{
    struct method_statistics *m = find_method(s, method);
    if (s->options.has_quantiles_only) {
        latency_add(&m->latency, ticks);
        return;
    }
    add_to_batch(s, m);
    add_time(m, ticks);
}

static inline void take_call(struct statistics *s, struct statistics_thread *t, const struct calltree_step *step)
{
    struct calls_statistics *c = &t->calls;
    if (step->kind == TRACE_ENTER || step->kind == TRACE_OPEN) {
        enter(s, t, step->method, step->kind == TRACE_OPEN, c->now->ticks);
        return;
    }
    const struct statistics_frame *frame = leave(t, step->method);
    if (frame == NULL)
        return;
    if (s->has_times_only) {
        count_time(s, step->method, c->now->ticks - frame->ticks);
    } else {
        add_call(s, find_method(s, step->method), snapshot_of(s, c, c->n_frames), c->now);
        tell(s, frame, snapshot_of(s, c, c->n_frames), step, c->now);
    }
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

static inline struct statistics_snapshot *now_of(const struct statistics *s, struct statistics_thread *t)
{
    if (t->calls.now == NULL)
        t->calls.now = xcalloc(1, s->snapshot_bytes);
    return t->calls.now;
}

static inline void read_metrics(const struct statistics *s, struct statistics_thread *t,
                                const struct calltree_step *step)
{
    uint64_t ticks = s->options.clock == PHASES_CPU ? step->cpu_ticks : step->wall_ticks;
    struct statistics_snapshot *now = now_of(s, t);
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
    case TRACE_EXIT:
    case TRACE_UNWIND:
        take_call(s, t, step);
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

/* ---- where times are all that is asked for ---- */

#define ENDED_MAX 128u

struct ended_call {
    uint64_t ticks;
    uint32_t method;
};

/* Apart from what finds them: nothing here depends on what the processor cannot foresee, so it waits for the histograms
 * of many calls at once. */
static void count_ended(struct statistics *s, const struct ended_call *ended, size_t n)
{
    for (size_t i = 0; i < n; i++)
        count_time(s, ended[i].method, ended[i].ticks);
}

/* What is rare: more room is needed, or the exit is not that of the innermost call.  Returns how many calls have ended.
 */
static uint32_t take_rare(const struct statistics *s, struct statistics_thread *t, const struct trace_record *record,
                          uint64_t ticks, struct ended_call *ended)
{
    const struct statistics_frame *left = NULL;
    if (record->kind == TRACE_ENTER)
        enter(s, t, record->operand, false, ticks);
    else
        left = leave(t, record->operand);
    *ended = (struct ended_call){ left != NULL ? ticks - left->ticks : 0, record->operand };
    return left != NULL;
}

/*
 * Take records from the i-th on, without branches on what the processor cannot foresee: which of an entry and an exit
 * it is.  Returns the index of the first one that is rare, or for whose call there is no room any more.
 */
static size_t find_ended(struct statistics_thread *t, const struct calltree_run *run, size_t i, uint64_t start,
                         struct ended_call *ended, size_t *n_ended)
{
    struct calls_statistics *c = &t->calls;
    struct statistics_frame *frames = c->frames;
    uint32_t *n_active = t->n_active, n_frames = c->n_frames, frames_room = c->frames_room;
    struct ended_call *next = ended + *n_ended;
    for (; i < run->n && next < ended + ENDED_MAX; i++) {
        uint32_t method = run->records[i].operand, is_exit = run->records[i].kind != TRACE_ENTER,
                 at = n_frames - is_exit;
        uint64_t ticks = start + run->passed[i];
        if (method >= t->n_active_room || at >= frames_room || ((frames[at].method ^ method) & (0 - is_exit)) != 0)
            break;
        uint32_t n_around = n_active[method], has_ended = is_exit & !frames[at].is_none;
        *next = (struct ended_call){ ticks - frames[at].ticks, method };
        next += has_ended;
        frames[at] = (struct statistics_frame){ ticks, method, n_around > 0, false };
        n_active[method] = n_around + 1 - 2 * is_exit;
        n_frames = at + 1 - is_exit;
    }
    c->n_frames = n_frames;
    *n_ended = (size_t)(next - ended);
    return i;
}

/* The thread's clock is the records', from its last one on. */
static void take_times(struct statistics *s, struct statistics_thread *t, const struct calltree_run *run)
{
    struct ended_call ended[ENDED_MAX];
    struct statistics_snapshot *now = now_of(s, t);
    uint64_t clock = s->options.clock == PHASES_CPU ? run->cpu_ticks : run->wall_ticks,
             passed = run->passed[run->n - 1], start = now->ticks + clock - t->ticks;
    size_t n_ended = 0;
    for (size_t i = 0; i < run->n;) {
        i = find_ended(t, run, i, start, ended, &n_ended);
        if (n_ended == ENDED_MAX) {
            count_ended(s, ended, n_ended);
            n_ended = 0;
        } else if (i < run->n) {
            n_ended += take_rare(s, t, &run->records[i], start + run->passed[i], &ended[n_ended]);
            i++;
        }
    }
    count_ended(s, ended, n_ended);
    now->ticks = start + passed;
    now->cpu_ticks += run->cpu_ticks + passed - t->cpu_ticks;
    t->ticks = clock + passed;
    t->cpu_ticks = run->cpu_ticks + passed;
}

static void take_run(void *context, const struct calltree_run *run)
{
    struct statistics *s = context;
    if (run->part != VM_PART_APPLICATION || run->n == 0)
        return;
    struct statistics_thread *t = find_thread(s, run->thread);
    if (s->has_times_only) {
        take_times(s, t, run);
        return;
    }
    struct calltree_step step = { .thread = run->thread, .part = run->part };
    for (size_t i = 0; i < run->n; i++) {
        const struct trace_record *record = &run->records[i];
        step.kind = record->kind;
        step.method = record->operand;
        step.ticks = record->ticks;
        step.cpu_ticks = run->cpu_ticks + run->passed[i];
        step.wall_ticks = run->wall_ticks + run->passed[i];
        read_metrics(s, t, &step);
        take_call(s, t, &step);
    }
}

struct calltree_observer statistics_observer(struct statistics *s)
{
    return (struct calltree_observer){ .context = s, .step = take_step, .run = take_run };
}
