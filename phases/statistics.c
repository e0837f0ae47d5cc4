#include "phases/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A call's metrics are unknown if the counters were not read in more than this share of its time. */
#define UNCOUNTED_MAX 0.001

/* The sums that make a metric's quotient. */
struct quotient {
    double top, bottom;
};

struct batch {
    uint64_t n_calls;
    struct quotient of[]; /* by metric */
};

struct method {
    struct moments moments[STATISTICS_METRICS_MAX];
    uint32_t n_batches; /* the last of them may not be full */
    uint64_t batch_calls;
    char batches[]; /* STATISTICS_BATCHES of batch_bytes */
};

/* A thread's clock and sums since its start, or since then up to a call's entry. */
struct reading {
    uint64_t ticks, uncounted_ticks;
    struct quotient of[]; /* by metric; a time's is not used */
};

struct frame {
    uint32_t method;
    bool is_inner; /* another call of the method is around it */
};

struct thread {
    struct frame *frames;
    char *readings; /* by frame, reading_bytes each */
    uint32_t n_frames, frames_room;
    uint32_t *n_active; /* by method */
    uint32_t n_active_room;
    struct reading *now;
};

struct statistics {
    struct statistics_wish wish;
    size_t batch_bytes, reading_bytes;
    struct method **methods; /* NULL: no call of it has ended */
    uint32_t n_methods;
    struct thread *threads;
    uint32_t n_threads;
};

struct statistics *statistics_open(const struct statistics_wish *wish)
{
    struct statistics *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->wish = *wish;
    s->batch_bytes = sizeof(struct batch) + wish->n_metrics * sizeof(struct quotient);
    s->reading_bytes = sizeof(struct reading) + wish->n_metrics * sizeof(struct quotient);
    return s;
}

void statistics_close(struct statistics *s)
{
    if (s == NULL)
        return;
    for (uint32_t i = 0; i < s->n_threads; i++) {
        free(s->threads[i].frames);
        free(s->threads[i].readings);
        free(s->threads[i].n_active);
        free(s->threads[i].now);
    }
    for (uint32_t i = 0; i < s->n_methods; i++)
        free(s->methods[i]);
    free(s->threads);
    free(s->methods);
    free(s);
}

/* ---- arrays that grow ---- */

static int no_memory(struct err *err)
{
    return err_set(err, "out of memory for the statistics of the calls");
}

/* Room for index i; what is new is zero.  Returns false: no memory. */
static bool grow(void **array, uint32_t *room, size_t size, uint32_t i)
{
    if (i < *room)
        return true;
    uint32_t more = *room < 16 ? 16 : *room;
    while (more <= i)
        more = more > UINT32_MAX / 2 ? UINT32_MAX : more * 2;
    char *bytes = realloc(*array, more * size);
    if (bytes == NULL)
        return false;
    memset(bytes + *room * size, 0, (more - *room) * size);
    *array = bytes;
    *room = more;
    return true;
}

static struct thread *find_thread(struct statistics *s, uint32_t index)
{
    if (!grow((void **)&s->threads, &s->n_threads, sizeof *s->threads, index))
        return NULL;
    struct thread *t = &s->threads[index];
    if (t->now == NULL)
        t->now = calloc(1, s->reading_bytes);
    return t->now == NULL ? NULL : t;
}

static struct method *find_method(struct statistics *s, uint32_t index)
{
    if (!grow((void **)&s->methods, &s->n_methods, sizeof *s->methods, index))
        return NULL;
    struct method **m = &s->methods[index];
    if (*m == NULL)
        *m = calloc(1, sizeof **m + STATISTICS_BATCHES * s->batch_bytes);
    return *m;
}

/* ---- batches ---- */

static struct batch *batch_of(const struct statistics *s, const struct method *m, uint32_t i)
{
    return (struct batch *)((char *)(uintptr_t)m->batches + i * s->batch_bytes);
}

static void add_batch(const struct statistics *s, struct batch *to, const struct batch *from)
{
    to->n_calls += from->n_calls;
    for (size_t i = 0; i < s->wish.n_metrics; i++) {
        to->of[i].top += from->of[i].top;
        to->of[i].bottom += from->of[i].bottom;
    }
}

/* Each pair becomes one. */
static void merge_batches(const struct statistics *s, struct method *m)
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
static struct batch *open_batch(const struct statistics *s, struct method *m)
{
    if (m->n_batches == 0) {
        m->n_batches = 1;
        m->batch_calls = 1;
    }
    struct batch *last = batch_of(s, m, m->n_batches - 1);
    if (last->n_calls < m->batch_calls)
        return last;
    if (m->n_batches == STATISTICS_BATCHES)
        merge_batches(s, m);
    return batch_of(s, m, m->n_batches++);
}

/* ---- calls ---- */

static void add_time(struct method *m, struct batch *batch, size_t metric, uint64_t ticks)
{
    moments_add(&m->moments[metric], (double)ticks);
    batch->of[metric].top += (double)ticks;
    batch->of[metric].bottom += 1;
}

static void add_call(const struct statistics *s, struct method *m, const struct reading *then,
                     const struct reading *now)
{
    uint64_t ticks = now->ticks - then->ticks, uncounted = now->uncounted_ticks - then->uncounted_ticks;
    bool is_counted = (double)uncounted <= UNCOUNTED_MAX * (double)ticks;
    struct batch *batch = open_batch(s, m);
    batch->n_calls++;
    for (size_t i = 0; i < s->wish.n_metrics; i++) {
        double top = now->of[i].top - then->of[i].top, bottom = now->of[i].bottom - then->of[i].bottom;
        if (s->wish.metrics[i].is_time) {
            add_time(m, batch, i, ticks);
        } else if (is_counted && bottom > 0) {
            moments_add(&m->moments[i], top / bottom * s->wish.metrics[i].factor);
            batch->of[i].top += top * s->wish.metrics[i].factor;
            batch->of[i].bottom += bottom;
        }
    }
}

static struct reading *reading_of(const struct statistics *s, const struct thread *t, uint32_t frame)
{
    return (struct reading *)(t->readings + frame * s->reading_bytes);
}

static int enter(struct statistics *s, struct thread *t, uint32_t method, struct err *err)
{
    uint32_t readings_room = t->frames_room;
    if (!grow((void **)&t->frames, &t->frames_room, sizeof *t->frames, t->n_frames) ||
        !grow((void **)&t->readings, &readings_room, s->reading_bytes, t->n_frames) ||
        !grow((void **)&t->n_active, &t->n_active_room, sizeof *t->n_active, method))
        return no_memory(err);
    t->frames[t->n_frames] = (struct frame){ method, t->n_active[method]++ > 0 };
    memcpy(reading_of(s, t, t->n_frames++), t->now, s->reading_bytes);
    return 0;
}

/* The exit of a caller closes the calls whose own exits are missing; what they took is not known. */
static int leave(struct statistics *s, struct thread *t, uint32_t method, struct err *err)
{
    if (method >= t->n_active_room || t->n_active[method] == 0)
        return 0;
    while (t->frames[t->n_frames - 1].method != method)
        t->n_active[t->frames[--t->n_frames].method]--;
    t->n_active[method]--;
    if (t->frames[--t->n_frames].is_inner)
        return 0;
    struct method *m = find_method(s, method);
    if (m == NULL)
        return no_memory(err);
    add_call(s, m, reading_of(s, t, t->n_frames), t->now);
    return 0;
}

static double sum(const uint8_t *indexes, size_t n, const struct calltree_step *step)
{
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += indexes[i] < step->n_metrics ? step->passed[indexes[i]] : 0;
    return (double)total;
}

static void read_metrics(const struct statistics *s, struct thread *t, const struct calltree_step *step)
{
    t->now->ticks = s->wish.clock == PHASES_CPU ? step->cpu_ticks : step->wall_ticks;
    t->now->uncounted_ticks += step->n_metrics > CALLTREE_UNCOUNTED ? step->passed[CALLTREE_UNCOUNTED] : 0;
    for (size_t i = 0; i < s->wish.n_metrics; i++) {
        const struct statistics_metric *metric = &s->wish.metrics[i];
        t->now->of[i].top += sum(metric->tops, metric->n_tops, step);
        t->now->of[i].bottom += sum(metric->bottoms, metric->n_bottoms, step);
    }
}

static int take_step(void *context, const struct calltree_step *step, struct err *err)
{
    struct statistics *s = context;
    if (step->part != VM_PART_APPLICATION)
        return 0;
    struct thread *t = find_thread(s, step->thread);
    if (t == NULL)
        return no_memory(err);
    read_metrics(s, t, step);
    if (step->kind == TRACE_ENTER)
        return enter(s, t, step->method, err);
    return step->kind == TRACE_GAP ? 0 : leave(s, t, step->method, err);
}

struct calltree_observer statistics_observer(struct statistics *s)
{
    return (struct calltree_observer){ .context = s, .step = take_step };
}

/* ---- results ---- */

static const struct method *known_method(const struct statistics *s, uint32_t method)
{
    return method < s->n_methods ? s->methods[method] : NULL;
}

struct moments statistics_moments(const struct statistics *s, uint32_t method, size_t metric)
{
    const struct method *m = known_method(s, method);
    struct moments none = { .n = 0 };
    return m == NULL ? none : m->moments[metric];
}

struct statistics_error statistics_error_of(const struct statistics *s, uint32_t method, size_t metric)
{
    struct statistics_error error = { NAN, NAN, 0, 0 };
    const struct method *m = known_method(s, method);
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
