/*
 * The trace is read once; its events become the file's as they come, and one chunk holds all of them.
 *
 * Source: the chunk's header and the order of what is in it are those that jdk.jfr.internal.consumer.ChunkHeader and
 * ChunkParser of JDK 17 read.
 */
#include "core/base/xalloc.h"
#include "core/trace/recording_info.h"
#include "report/some_threads.h"
#include "report/export/export.h"
#include "report/export/export_jfr_parts.h"

#define MAGIC        UINT64_C(0x464c5200) /* "FLR", 0 */
#define VERSION      UINT64_C(0x00020001) /* 2.1 */
#define HEADER_BYTES 68
#define COMPRESSED   1u                  /* numbers are of seven bits a byte */
#define NOT_KNOWN    (UINT64_C(1) << 63) /* a time */
#define REPEATED_MAX 10000000u           /* samples that a trace has once, and the recording again and again: 200 MB */
#define OWN_CLASSES  "java/lang/Mmprof"  /* the probes' own frames are no one's calls */

struct jfr {
    struct trace_reader *outline, *reader; /* owned */
    struct arena arena;
    struct jfr_pools pools;
    struct jfr_bytes events;
    bool *is_own; /* owned; by context */
    uint32_t is_own_room;
    struct trace_wait *waits; /* owned; by thread: what goes on from visit to visit, so far; n is 0: none does */
    uint32_t n_waits;
    uint64_t n_repeated;
    struct err err; /* what went wrong in a listener, or "" */
};

/* ---- events ---- */

static uint64_t ticks_since_start(const struct jfr *j, uint64_t ticks)
{
    uint64_t start = trace_start_ticks(j->outline);
    return ticks == TRACE_UNKNOWN || ticks < start ? 0 : ticks - start;
}

static uint64_t ticks_of_ns(const struct jfr *j, double ns)
{
    double ns_per_tick = trace_ns_per_tick(j->outline);
    return ns_per_tick <= 0 ? 0 : (uint64_t)(ns / ns_per_tick);
}

static size_t begin_event(struct jfr *j, enum jfr_type type, uint64_t ticks)
{
    size_t start = jfr_begin(&j->events);
    jfr_put_number(&j->events, type);
    jfr_put_number(&j->events, ticks);
    return start;
}

static uint32_t stack_of(struct jfr *j, uint32_t thread, uint32_t context, int32_t index, enum trace_frame frame,
                         uint8_t end)
{
    return jfr_stack(&j->pools, &(struct jfr_site){ context, index, frame, end, threads_part(j->outline, thread) });
}

static void hear_context(void *context, uint32_t number, const struct trace_context *node)
{
    struct jfr *j = context;
    const char *class_name = trace_sampled_method(j->reader, node->method)->names.class_name;
    xgrow_zeroed(j->is_own, j->is_own_room, number + 1);
    j->is_own[number] = j->is_own[node->parent] || strncmp(class_name, OWN_CLASSES, strlen(OWN_CLASSES)) == 0;
}

static bool is_own(const struct jfr *j, uint32_t context)
{
    return context != 0 && context < j->is_own_room && j->is_own[context];
}

/* A sample in a probe is its method's, with the bytecode that calls it.  Returns 0 where nobody calls it. */
static uint32_t leave_probe(const struct jfr *j, uint32_t number, int32_t *index)
{
    while (is_own(j, number)) {
        const struct trace_context *node = trace_context(j->reader, number);
        *index = node->call_site;
        number = node->parent;
    }
    return number;
}

static void hear_sample(void *context, const struct trace_sample *sample)
{
    struct jfr *j = context;
    int32_t index = sample->index;
    uint32_t number = leave_probe(j, sample->context, &index);
    if ((number == 0 && sample->context != 0) ||
        (sample->is_waiting && threads_part(j->outline, sample->thread) != VM_PART_APPLICATION))
        return;
    j->pools.has_sleeping = j->pools.has_sleeping || sample->is_waiting;
    j->n_repeated += sample->n > REPEATED_MAX ? REPEATED_MAX : sample->n - (sample->n > 0);
    if (j->n_repeated >= REPEATED_MAX) {
        err_set(&j->err, "a sample of the trace has a weight of more than %u: a JFR recording cannot hold it",
                REPEATED_MAX);
        return;
    }
    for (uint64_t i = 0; i < sample->n; i++) {
        size_t start = begin_event(j, JFR_EXECUTION_SAMPLE, ticks_since_start(j, sample->ticks));
        jfr_put_number(&j->events, jfr_thread(sample->thread));
        jfr_put_number(&j->events, stack_of(j, sample->thread, number, index, sample->frame, sample->end));
        jfr_put_number(&j->events, sample->is_waiting ? JFR_SLEEPING : JFR_RUNNING);
        jfr_end(&j->events, start);
    }
}

static void hear_allocation(void *context, const struct trace_allocation *allocation)
{
    struct jfr *j = context;
    double bytes = trace_allocation_objects(allocation) * (double)allocation->size_bytes;
    if (is_own(j, allocation->context))
        return;
    size_t start = begin_event(j, JFR_ALLOCATION_SAMPLE, ticks_since_start(j, allocation->ticks));
    jfr_put_number(&j->events, jfr_thread(allocation->thread));
    jfr_put_number(&j->events,
                   stack_of(j, allocation->thread, allocation->context, allocation->index, TRACE_FRAME_COMPILED, 0));
    jfr_put_number(&j->events, jfr_class(&j->pools, allocation->class_name));
    jfr_put_number(&j->events, (uint64_t)(bytes + 0.5));
    jfr_end(&j->events, start);
}

/* ---- waits ---- */

static enum jfr_type type_of(enum trace_cause cause)
{
    switch (cause) {
    case TRACE_CAUSE_MONITOR:
        return JFR_MONITOR_ENTER;
    case TRACE_CAUSE_WAIT:
        return JFR_MONITOR_WAIT;
    case TRACE_CAUSE_LOCK:
    case TRACE_CAUSE_PARK:
        return JFR_THREAD_PARK;
    case TRACE_CAUSE_SLEEP:
        return JFR_THREAD_SLEEP;
    default:
        return JFR_OTHER_WAIT;
    }
}

/* What the JDK's events have behind the stack; times that a thread wanted to wait are not known. */
static void put_wait_fields(struct jfr *j, enum jfr_type type, const struct trace_wait *wait, uint64_t ticks)
{
    struct jfr_bytes *to = &j->events;
    if (type == JFR_OTHER_WAIT) {
        jfr_put_text(to, trace_cause_name(wait->cause));
        return;
    }
    if (type == JFR_THREAD_SLEEP) {
        jfr_put_number(to, (uint64_t)((double)ticks * trace_ns_per_tick(j->outline)));
        return;
    }
    jfr_put_number(to, jfr_class(&j->pools, wait->lock_class));
    if (type == JFR_MONITOR_ENTER)
        jfr_put_number(to, jfr_thread(wait->owner));
    if (type == JFR_MONITOR_WAIT)
        jfr_put_number(to, 0); /* who notified it */
    if (type != JFR_MONITOR_ENTER)
        jfr_put_number(to, NOT_KNOWN); /* timeout */
    if (type == JFR_MONITOR_WAIT)
        jfr_put_number(to, 0); /* whether it came to that */
    if (type == JFR_THREAD_PARK)
        jfr_put_number(to, NOT_KNOWN); /* until when */
    jfr_put_number(to, 0);             /* address */
}

static void put_wait(struct jfr *j, struct trace_wait *wait)
{
    enum jfr_type type = type_of(wait->cause);
    uint64_t end = ticks_since_start(j, wait->ticks), ticks = ticks_of_ns(j, (double)wait->weight_ns);
    if (wait->n == 0)
        return;
    ticks = ticks < end ? ticks : end;
    size_t start = begin_event(j, type, end - ticks);
    jfr_put_number(&j->events, ticks);
    jfr_put_number(&j->events, jfr_thread(wait->thread));
    jfr_put_number(&j->events, stack_of(j, wait->thread, wait->context, wait->index, TRACE_FRAME_COMPILED, wait->end));
    put_wait_fields(j, type, wait, ticks);
    jfr_end(&j->events, start);
    wait->n = 0;
}

static void hear_wait(void *context, const struct trace_wait *wait)
{
    struct jfr *j = context;
    if (threads_part(j->outline, wait->thread) != VM_PART_APPLICATION || is_own(j, wait->context) ||
        wait->thread >= trace_n_threads(j->outline))
        return;
    struct trace_wait *before = &j->waits[wait->thread];
    bool goes_on = before->n > 0 && wait->is_same && wait->cause == before->cause && wait->context == before->context;
    uint64_t before_ns = goes_on ? before->weight_ns : 0;
    if (!goes_on)
        put_wait(j, before);
    if (wait->cause == TRACE_CAUSE_ON_CPU)
        return;
    *before = *wait;
    before->weight_ns += before_ns;
}

/* ---- of the recording ---- */

/* "OpenJDK 64-Bit Server VM 17.0.19+10": the name, and behind its last blank the version. */
static void put_jvm(struct jfr *j)
{
    const char *pid = info_text(j->outline, INFO_JVM_PID), *text = info_text(j->outline, INFO_JVM_VERSION);
    const char *version = text == NULL ? NULL : strrchr(text, ' ');
    size_t start = begin_event(j, JFR_JVM_INFORMATION, 0);
    jfr_put_text(&j->events, version == NULL ? text : arena_text(&j->arena, text, (size_t)(version - text)));
    jfr_put_text(&j->events, version == NULL ? NULL : version + 1);
    jfr_put_text(&j->events, NULL); /* arguments of the JVM, */
    jfr_put_text(&j->events, NULL); /* its flags; both are in the command */
    jfr_put_text(&j->events, info_text(j->outline, INFO_JVM_COMMAND));
    jfr_put_number(&j->events, NOT_KNOWN); /* when it started */
    jfr_put_number(&j->events, pid == NULL ? 0 : strtoull(pid, NULL, 10));
    jfr_end(&j->events, start);
}

static void put_collections(struct jfr *j)
{
    for (size_t i = 0; i < trace_n_collections(j->reader); i++) {
        const struct trace_collection *collection = trace_collection(j->reader, i);
        uint64_t ticks = ticks_of_ns(j, (double)collection->ns);
        size_t start = begin_event(j, JFR_COLLECTION, ticks_since_start(j, collection->start_ticks));
        jfr_put_number(&j->events, ticks);
        jfr_put_number(&j->events, i);
        jfr_put_text(&j->events, collection->name);
        jfr_put_text(&j->events, collection->cause);
        jfr_put_number(&j->events, ticks); /* the sum of its pauses, */
        jfr_put_number(&j->events, ticks); /* and the longest: one is known */
        jfr_end(&j->events, start);
    }
}

static int read_events(struct jfr *j, struct err *err)
{
    const struct trace_listener listener = { .context = j,
                                             .context_node = hear_context,
                                             .sample = hear_sample,
                                             .wait = hear_wait,
                                             .allocation = hear_allocation };
    struct trace_event event;
    int rc;
    j->n_waits = trace_n_threads(j->outline);
    j->waits = xcalloc((size_t)j->n_waits + 1, sizeof *j->waits);
    trace_listen(j->reader, &listener);
    put_jvm(j);
    while ((rc = trace_next(j->reader, &event, err)) > 0)
        continue;
    for (uint32_t i = 0; i < j->n_waits; i++)
        put_wait(j, &j->waits[i]);
    put_collections(j);
    return rc < 0 ? -1 : j->err.text[0] == '\0' ? 0 : err_set(err, "%s", j->err.text);
}

/* ---- the file ---- */

static long utc_offset_s(uint64_t realtime_ns)
{
    time_t then = (time_t)(realtime_ns / UINT64_C(1000000000));
    struct tm local;
    return localtime_r(&then, &local) == NULL ? 0 : local.tm_gmtoff;
}

static void put_header(struct jfr_bytes *to, const struct jfr *j, const size_t *ends)
{
    double ns_per_tick = trace_ns_per_tick(j->outline);
    uint64_t ticks = ticks_since_start(j, trace_end_ticks(j->outline));
    jfr_put_fixed(to, MAGIC, 4);
    jfr_put_fixed(to, VERSION, 4);
    jfr_put_fixed(to, HEADER_BYTES + ends[2], 8);
    jfr_put_fixed(to, HEADER_BYTES + ends[0], 8); /* where the checkpoint is, */
    jfr_put_fixed(to, HEADER_BYTES + ends[1], 8); /* and the metadata */
    jfr_put_fixed(to, trace_start_realtime_ns(j->outline), 8);
    jfr_put_fixed(to, (uint64_t)((double)ticks * ns_per_tick), 8);
    jfr_put_fixed(to, 0, 8); /* ticks at the start */
    jfr_put_fixed(to, ns_per_tick <= 0 ? UINT64_C(1000000000) : (uint64_t)(1e9 / ns_per_tick + 0.5), 8);
    jfr_put_fixed(to, COMPRESSED, 4);
}

static int write_file(struct jfr *j, FILE *out, struct err *err)
{
    struct jfr_bytes header = { .n = 0 };
    size_t ends[3] = { j->events.n };
    jfr_put_pools(&j->events, &j->pools);
    ends[1] = j->events.n;
    jfr_put_metadata(&j->events, utc_offset_s(trace_start_realtime_ns(j->outline)), &j->arena);
    ends[2] = j->events.n;
    put_header(&header, j, ends);
    int rc = -1;
    if (fwrite(header.bytes, 1, header.n, out) < header.n || fwrite(j->events.bytes, 1, j->events.n, out) < j->events.n)
        err_set(err, "cannot write the recording");
    else
        rc = 0;
    jfr_bytes_free(&header);
    return rc;
}

int export_jfr(const char *path, bool salvage, FILE *out, struct err *err)
{
    struct jfr j = { .outline = NULL };
    int rc = -1;
    if (trace_outline(&j.outline, path, salvage, err) == 0 && trace_open(&j.reader, path, salvage, err) == 0) {
        jfr_pools_open(&j.pools, j.reader, &j.arena);
        rc = read_events(&j, err) < 0 ? -1 : write_file(&j, out, err);
        jfr_pools_close(&j.pools);
    }
    jfr_bytes_free(&j.events);
    free(j.waits);
    free(j.is_own);
    trace_close(j.reader);
    trace_close(j.outline);
    arena_free(&j.arena);
    return rc;
}
