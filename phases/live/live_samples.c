#include "phases/live/live_session.h"

#include "core/base/xalloc.h"
#include "phases/live/live_policy.h"
#include "phases/samples/wait_search.h"

#define LOOPS             8
#define SAMPLES_OF_A_LOOP 3                   /* a loop that only calls others is on top once in a while, too */
#define PARTS_OF_A_LOOP   64                  /* a loop is hot with one of so many parts of its thread's samples */
#define SAMPLES_OF_A_CALL 2                   /* a call of it goes on for long: for so many samples, on the average, */
#define LONG_CALL_NS      UINT64_C(160000000) /* and for so much CPU time */
#define CALLS_OF_A_LOOP   50                  /* a method that was called so often ends soon */
#define INLINED_BYTES     325                 /* FreqInlineSize */
#define TIER_FOR_GOOD     4 /* of code for methods that were called 5000 times; compiled at all: 200 */
#define CALLS_COUNTED     200
#define KNOWN_NS          UINT64_C(3000000000) /* of CPU time: 5000 calls of a twentieth of it took 30 us each, */
#define KNOWN_SOON_NS     UINT64_C(200000000)  /* and 200 calls here 50 us */
#define SELDOM_BYTES      UINT32_MAX

struct seen {
    uint32_t candidate, wall; /* among each of these; CANDIDATES_NONE: not seen yet */
    unsigned wait_kinds;      /* once it was seen in a wait: has_kinds */
    bool has_kinds, has_many_calls;
    struct sampled_method method;
};

struct live_stack_frame {
    uint32_t method; /* the sampler's number */
    int32_t index;
};

/* A frame in whose loop a thread was seen. */
struct loop {
    uint32_t method, n_samples;
    uint32_t n_since, n_ended; /* the thread's samples behind the first of these; of them, those that show its end */
    uint64_t since_ns;         /* CPU time that the thread's samples stand for, up to the first of these */
};

struct live_stack_thread {
    uint32_t n_samples, n_frames, n_loops, room;
    uint64_t cpu_ns;    /* that its samples stand for */
    uint64_t waited_ns; /* of the wait that goes on: what has counted */
    bool is_idle;       /* it is for work */
    struct loop loops[LOOPS];
    struct live_stack_frame *frames; /* owned: of the latest sample, outermost first */
};

struct live_samples {
    struct candidates *candidates, *wall; /* owned: of samples on a CPU; with waits */
    uint32_t n_waits;
    struct seen *seen; /* owned, by the sampler's number */
    uint32_t n_seen, seen_room;
    struct live_stack_thread **threads; /* owned, by number; NULL: not seen */
    uint32_t n_threads;
    struct live_stack_frame frames[STACK_FRAMES_MAX]; /* of the present sample, outermost first */
    uint32_t methods[STACK_FRAMES_MAX];               /* as candidates */
};

static void open_candidates(struct live_samples *samples)
{
    samples->candidates = candidates_open();
    samples->wall = candidates_open();
}

struct live_samples *live_samples_open(void)
{
    struct live_samples *samples = xcalloc(1, sizeof *samples);
    open_candidates(samples);
    return samples;
}

void live_samples_forget(struct live_samples *samples, uint32_t thread)
{
    if (thread >= samples->n_threads || samples->threads[thread] == NULL)
        return;
    free(samples->threads[thread]->frames);
    free(samples->threads[thread]);
    samples->threads[thread] = NULL;
}

void live_samples_close(struct live_samples *samples)
{
    if (samples == NULL)
        return;
    for (uint32_t i = 0; i < samples->n_threads; i++)
        live_samples_forget(samples, i);
    free(samples->threads);
    free(samples->seen);
    candidates_close(samples->candidates);
    candidates_close(samples->wall);
    free(samples);
}

void live_samples_begin(struct live_samples *samples)
{
    candidates_close(samples->candidates);
    candidates_close(samples->wall);
    samples->n_waits = 0;
    for (uint32_t i = 0; i < samples->n_seen; i++)
        samples->seen[i].candidate = samples->seen[i].wall = CANDIDATES_NONE;
    open_candidates(samples);
}

/* ---- one stack ---- */

/* Of methods that are new, or in this sample: how often they were called may be known better by now. */
static void know_methods(struct live_samples *samples, const struct stack_sample *sample)
{
    xgrow(samples->seen, samples->seen_room, sample->n_known);
    for (; samples->n_seen < sample->n_known; samples->n_seen++)
        samples->seen[samples->n_seen] = (struct seen){ .candidate = CANDIDATES_NONE,
                                                        .wall = CANDIDATES_NONE,
                                                        .method = sample->known[samples->n_seen] };
    for (uint32_t i = 0; i < sample->n; i++)
        if (sample->methods[i] != SAMPLED_UNKNOWN)
            samples->seen[sample->methods[i]].method = sample->known[sample->methods[i]];
}

/* Its frames with a method, outermost first.  Returns how many. */
static uint32_t take_frames(struct live_samples *samples, const struct stack_sample *sample)
{
    uint32_t n = 0;
    for (uint32_t i = sample->n; i-- > 0;)
        if (sample->methods[i] != SAMPLED_UNKNOWN)
            samples->frames[n++] = (struct live_stack_frame){ sample->methods[i], sample->frames[i].index };
    return n;
}

static bool is_straight(const struct live_samples *samples, const struct live_stack_frame *frame)
{
    const struct sampled_method *method = &samples->seen[frame->method].method;
    return method->bytecodes.is_whole && method->code.n_bytes > 0 && !method->bytecodes.has_loop;
}

/*
 * Frames from outside on that may be the same calls as before: the first other method ends them, and what is within
 * a frame that has moved on to other code is another call.  A frame that has moved back without a loop is another
 * call itself.
 */
static uint32_t count_same(const struct live_samples *samples, const struct live_stack_thread *thread, uint32_t n)
{
    for (uint32_t i = 0; i < n && i < thread->n_frames; i++) {
        const struct live_stack_frame *old = &thread->frames[i], *now = &samples->frames[i];
        if (now->method != old->method || (is_straight(samples, now) && now->index < old->index))
            return i;
        if (now->index != old->index)
            return i + 1;
    }
    return n < thread->n_frames ? n : thread->n_frames;
}

static struct live_stack_thread *thread_of(struct live_samples *samples, uint32_t number)
{
    xgrow_zeroed(samples->threads, samples->n_threads, (size_t)number + 1);
    if (samples->threads[number] == NULL)
        samples->threads[number] = xcalloc(1, sizeof **samples->threads);
    return samples->threads[number];
}

static void remember(struct live_stack_thread *thread, const struct live_stack_frame *frames, uint32_t n)
{
    xgrow(thread->frames, thread->room, n);
    if (n > 0)
        memcpy(thread->frames, frames, n * sizeof *frames);
    thread->n_frames = n;
}

/* ---- loops ---- */

/* Has the call of a method that the sample before found ended since: is it gone, or what is outside of it elsewhere? */
static bool has_ended(const struct live_samples *samples, uint32_t n_same, uint32_t method)
{
    for (uint32_t i = 0; i < n_same; i++)
        if (samples->frames[i].method == method)
            return false;
    return true;
}

/* The JVM is asked until it has. */
static bool has_many_calls(struct seen *seen)
{
    if (!seen->has_many_calls)
        seen->has_many_calls = sampled_method_calls(&seen->method) >= CALLS_OF_A_LOOP;
    return seen->has_many_calls;
}

/*
 * Where a thread is in a loop, itself or in small code that it calls: the innermost such frame.  Only of a method that
 * is called seldom: a call of any other one ends soon.
 */
static void note_loop(const struct live_samples *samples, struct live_stack_thread *thread, uint32_t n)
{
    while (n > 0 && is_straight(samples, &samples->frames[n - 1]) &&
           samples->seen[samples->frames[n - 1].method].method.code.n_bytes <= INLINED_BYTES)
        n--;
    if (n == 0)
        return;
    uint32_t number = samples->frames[n - 1].method, k = 0;
    const struct sampled_method *method = &samples->seen[number].method;
    if (!method->bytecodes.has_loop)
        return;
    while (k < thread->n_loops && thread->loops[k].method != number)
        k++;
    if (k == thread->n_loops) {
        if (k == LOOPS || has_many_calls(&samples->seen[number]))
            return;
        thread->loops[thread->n_loops++] = (struct loop){ .method = number, .since_ns = thread->cpu_ns };
    }
    thread->loops[k].n_samples++;
}

static void note_loops(const struct live_samples *samples, struct live_stack_thread *thread, uint32_t n,
                       uint32_t n_same)
{
    thread->n_samples++;
    for (uint32_t i = 0; i < thread->n_loops; i++) {
        thread->loops[i].n_since++;
        thread->loops[i].n_ended += has_ended(samples, n_same, thread->loops[i].method);
    }
    note_loop(samples, thread, n);
}

/* It runs hot: slowed down ten to fifty times, it would be felt. */
static bool is_hot(const struct live_stack_thread *thread, const struct loop *loop)
{
    return loop->n_samples >= SAMPLES_OF_A_LOOP && loop->n_samples >= thread->n_samples / PARTS_OF_A_LOOP;
}

/*
 * A call of it goes on for long: its calls are known to end seldom, and were not so many that they end soon.  A loop
 * whose caller goes on to other code while it is on the stack each time (alternating phases) has many calls.
 */
static bool is_long(const struct live_samples *samples, const struct live_stack_thread *thread, const struct loop *loop)
{
    return loop->n_ended * SAMPLES_OF_A_CALL <= loop->n_since &&
           loop->n_ended * LONG_CALL_NS <= thread->cpu_ns - loop->since_ns &&
           sampled_method_calls(&samples->seen[loop->method].method) < CALLS_OF_A_LOOP;
}

size_t live_samples_loops(const struct live_samples *samples, struct recorder_phase *all, size_t most)
{
    size_t n = 0;
    for (uint32_t i = 0; i < samples->n_threads; i++) {
        const struct live_stack_thread *thread = samples->threads[i];
        for (uint32_t k = 0; thread != NULL && k < thread->n_loops && n < most; k++) {
            const struct sampled_method *method = &samples->seen[thread->loops[k].method].method;
            if (is_hot(thread, &thread->loops[k]) && is_long(samples, thread, &thread->loops[k]))
                all[n++] =
                    (struct recorder_phase){ method->names.class_name, method->names.method, method->names.descriptor };
        }
    }
    return n;
}

/* ---- the wall clock ---- */

/* The number of a method among some candidates; *number: what it was, or CANDIDATES_NONE. */
static uint32_t number_in(struct candidates *candidates, uint32_t *number, const struct method_name *names)
{
    if (*number == CANDIDATES_NONE)
        *number = candidates_method(candidates, names->class_name, names->method, names->descriptor);
    return *number;
}

/* Which calls are new ones is not told: samples and visits come in no order. */
static void add_to_wall(struct live_samples *samples, struct sample_stack *stack)
{
    for (uint32_t i = 0; i < stack->n_frames; i++) {
        struct seen *seen = &samples->seen[samples->frames[i].method];
        samples->methods[i] = number_in(samples->wall, &seen->wall, &seen->method.names);
    }
    stack->n_same = stack->n_frames;
    candidates_stack(samples->wall, stack);
}

/* Of the stack in 'frames'. */
static bool waits_for_work(struct live_samples *samples, enum trace_cause cause, uint32_t n)
{
    struct wait_search search = { .is_idle = false };
    if (!trace_cause_may_be_idle(cause))
        return false;
    while (n-- > 0) {
        struct seen *seen = &samples->seen[samples->frames[n].method];
        if (!seen->has_kinds)
            seen->wait_kinds = wait_method_kinds(&seen->method.names);
        seen->has_kinds = true;
        wait_search_see(&search, &seen->method.names, seen->wait_kinds);
    }
    return wait_search_end(&search).is_idle;
}

void live_samples_add_wait(struct live_samples *samples, const struct stack_wait *wait, uint32_t number)
{
    const struct stack_sample *sample = &wait->sample;
    struct live_stack_thread *thread = thread_of(samples, number);
    if (!wait->is_same)
        thread->waited_ns = 0;
    bool is_over = wait->is_same && (thread->is_idle || thread->waited_ns >= WAIT_COUNTED_NS);
    if (wait->cause == TRACE_CAUSE_ON_CPU || is_over)
        return;
    know_methods(samples, sample);
    uint32_t n = take_frames(samples, sample);
    if (!wait->is_same || thread->waited_ns == 0)
        thread->is_idle = waits_for_work(samples, wait->cause, n);
    if (thread->is_idle)
        return;
    uint64_t left_ns = WAIT_COUNTED_NS - thread->waited_ns;
    struct sample_stack stack = { .thread = number,
                                  .cpu_ns = sample->weight < left_ns ? sample->weight : left_ns,
                                  .is_cut = sample->end != STACK_WHOLE && sample->end != STACK_NO_JAVA,
                                  .is_waiting = true,
                                  .n_frames = n,
                                  .methods = samples->methods };
    thread->waited_ns += stack.cpu_ns;
    samples->n_waits++;
    add_to_wall(samples, &stack);
}

uint32_t live_samples_n_waits(const struct live_samples *samples)
{
    return samples->n_waits;
}

struct candidates *live_samples_wall(struct live_samples *samples)
{
    return samples->wall;
}

/* ---- the whole ---- */

void live_samples_add(struct live_samples *samples, const struct stack_sample *sample, uint32_t number)
{
    struct live_stack_thread *thread = thread_of(samples, number);
    know_methods(samples, sample);
    uint32_t n = take_frames(samples, sample);
    bool is_cut = sample->end != STACK_WHOLE && sample->end != STACK_NO_JAVA;
    struct sample_stack stack = { .thread = number,
                                  .cpu_ns = sample->weight,
                                  .is_cut = is_cut,
                                  .n_frames = n,
                                  .n_same = is_cut ? 0 : count_same(samples, thread, n),
                                  .methods = samples->methods };
    thread->cpu_ns += sample->weight;
    if (!is_cut)
        note_loops(samples, thread, n, stack.n_same);
    for (uint32_t i = 0; i < n; i++) {
        struct seen *seen = &samples->seen[samples->frames[i].method];
        samples->methods[i] = number_in(samples->candidates, &seen->candidate, &seen->method.names);
    }
    remember(thread, samples->frames, is_cut ? 0 : n);
    candidates_stack(samples->candidates, &stack);
    add_to_wall(samples, &stack);
}

/*
 * Small methods without loops are called often, as a rule.  But one that calls others, and that C2 has not compiled yet
 * where the program has worked for a while, was called less than 5000 times, and one that is interpreted, where calls
 * are counted, less than 200 times: it may be what a loop calls for a phase.
 */
static bool is_seldom_called(const struct sampled_method *method, uint64_t cpu_ns)
{
    if (!method->bytecodes.has_calls || cpu_ns < KNOWN_SOON_NS)
        return false;
    uint32_t tier = sampled_method_tier(method);
    if (tier != 0)
        return tier < TIER_FOR_GOOD && cpu_ns >= KNOWN_NS;
    uint32_t calls = sampled_method_calls(method);
    return calls > 0 && calls < CALLS_COUNTED;
}

/* The JVM is asked for the calls of those methods only that are wanted if they are few: it takes several reads each. */
static bool is_wanted(const struct sampled_method *method, const struct agent_config *rules, uint64_t cpu_ns,
                      bool has_loop)
{
    const char *class_name = method->names.class_name, *name = method->names.method,
               *descriptor = method->names.descriptor;
    if (method->code.is_hidden)
        return false;
    return config_wants_named(rules, class_name, name, descriptor, method->code.n_bytes, has_loop) ||
           (config_wants_named(rules, class_name, name, descriptor, SELDOM_BYTES, has_loop) &&
            is_seldom_called(method, cpu_ns));
}

static uint32_t flags_of(const struct sampled_method *method, const struct agent_config *rules, uint64_t cpu_ns)
{
    uint32_t flags = 0;
    if (method->code.is_native || method->code.n_bytes == 0)
        return SAMPLE_IS_NATIVE;
    /* Of damaged code nothing is known: it may have both. */
    bool has_loop = method->bytecodes.has_loop || !method->bytecodes.is_whole;
    if (has_loop)
        flags |= SAMPLE_HAS_LOOP;
    if (method->bytecodes.has_calls || !method->bytecodes.is_whole)
        flags |= SAMPLE_HAS_CALLS;
    if (is_wanted(method, rules, cpu_ns, has_loop))
        flags |= SAMPLE_IS_WANTED;
    return flags;
}

struct candidates *live_samples_candidates(struct live_samples *samples, const struct agent_config *rules,
                                           uint64_t cpu_ns)
{
    for (uint32_t i = 0; i < samples->n_seen; i++) {
        const struct seen *seen = &samples->seen[i];
        if (seen->candidate == CANDIDATES_NONE && seen->wall == CANDIDATES_NONE)
            continue;
        uint32_t n_bytes = seen->method.code.n_bytes, flags = flags_of(&seen->method, rules, cpu_ns);
        if (seen->candidate != CANDIDATES_NONE)
            candidates_describe(samples->candidates, seen->candidate, n_bytes, flags);
        if (seen->wall != CANDIDATES_NONE)
            candidates_describe(samples->wall, seen->wall, n_bytes, flags);
    }
    return samples->candidates;
}
