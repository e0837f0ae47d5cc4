#include "core/recorder/sample_log.h"

#include "core/base/xalloc.h"
#include "core/trace/recording_info.h"

void sample_log_free(struct sample_log *log)
{
    hash_free(&log->contexts);
    hash_free(&log->by_name);
    free(log->context_of);
    free(log->codes);
    for (size_t i = 0; i < SAMPLE_LOG_SAMPLERS; i++)
        free(log->samplers[i].method_of);
    memset(log, 0, sizeof *log);
}

/* ---- methods ---- */

/*
 * The trace's number of a method, plus 1; *is_new: it is to be named.  One sampler's methods of the same name are two:
 * versions of a class, or classes of two loaders.
 */
static uint32_t number_of(struct sample_log *log, enum sample_log_sampler from, const struct stack_sample *sample,
                          uint32_t method, bool *is_new)
{
    *is_new = false;
    xgrow_zeroed(log->samplers[from].method_of, log->samplers[from].room, (size_t)method + 1);
    uint32_t *number = &log->samplers[from].method_of[method];
    if (*number != 0)
        return *number;
    const struct sampled_method *known = &sample->known[method];
    struct hash_slot *slot =
        xhash_put(&log->by_name, hash_address(method_name_hash(&known->names) + known->code.n_bytes));
    *is_new = slot->value == 0 || slot->second == (uint32_t)from;
    *number = *is_new ? ++log->n_methods : slot->value;
    if (slot->value == 0) {
        slot->value = *number;
        slot->second = (uint32_t)from;
    }
    return *number;
}

/* ---- contexts ---- */

static uint64_t key_of(uint32_t parent, int32_t call_site, uint32_t number)
{
    uint64_t key = hash_address((uint64_t)parent << 32 | number);
    return hash_address(key ^ hash_address((uint64_t)(uint32_t)call_site + 1));
}

static int put_context(struct sample_log *log, struct trace_writer *writer, struct trace_context *context,
                       const struct sampled_method *known, bool is_new, struct err *err)
{
    const struct trace_sampled_method named = { known->names, known->source,  known->code.n_bytes,
                                                known->lines, known->n_lines, known->bytes };
    context->named = is_new ? &named : NULL;
    log->n_contexts++;
    return trace_write_context(writer, context, err);
}

/*
 * The context of a method in another one's calls.  Returns 1 with its number in *number, 0: there is no room for
 * another, or -1.
 */
static int step(struct sample_log *log, struct trace_writer *writer, enum sample_log_sampler from,
                const struct stack_sample *sample, uint32_t method, int32_t call_site, uint32_t *number,
                struct err *err)
{
    bool is_new, is_full = log->n_contexts >= SAMPLE_LOG_CONTEXTS;
    if (is_full && (method >= log->samplers[from].room || log->samplers[from].method_of[method] == 0))
        return 0;
    uint32_t named = number_of(log, from, sample, method, &is_new);
    uint64_t key = key_of(*number, call_site, named);
    const struct hash_slot *known = hash_get(&log->contexts, key);
    if (known != NULL) {
        *number = known->value;
        return 1;
    }
    if (is_full)
        return 0;
    struct trace_context context = { .parent = *number, .call_site = call_site, .method = named - 1 };
    struct hash_slot *slot = xhash_put(&log->contexts, key);
    if (put_context(log, writer, &context, &sample->known[method], is_new, err) < 0)
        return -1;
    slot->value = *number = log->n_contexts;
    if (is_new) {
        xgrow_zeroed(log->context_of, log->context_of_room, (size_t)named + 1);
        log->context_of[named] = *number;
    }
    return 1;
}

/*
 * The context of a stack, 0 for none, and *frame: its innermost call in it, NULL: none.  Returns 0, or -1 with *err
 * set.
 */
static int find_context(struct sample_log *log, struct trace_writer *writer, enum sample_log_sampler from,
                        const struct stack_sample *sample, uint32_t *context, const struct java_frame **frame,
                        struct err *err)
{
    int32_t call_site = -1;
    *context = 0;
    *frame = NULL;
    for (uint32_t i = sample->n; i-- > 0;) {
        if (sample->methods[i] == SAMPLED_UNKNOWN) {
            call_site = -1;
            continue;
        }
        int rc = step(log, writer, from, sample, sample->methods[i], call_site, context, err);
        if (rc < 0)
            return -1;
        if (rc == 0) {
            log->n_outside++;
            return 0;
        }
        *frame = &sample->frames[i];
        call_site = sample->frames[i].index;
    }
    return 0;
}

/* ---- samples ---- */

static void set_frame(struct trace_sample *out, const struct java_frame *frame)
{
    static const enum trace_frame frames[FRAME_POLLED + 1] = { [FRAME_INTERPRETED] = TRACE_FRAME_INTERPRETED,
                                                               [FRAME_COMPILED] = TRACE_FRAME_COMPILED,
                                                               [FRAME_INLINED] = TRACE_FRAME_INLINED,
                                                               [FRAME_NATIVE] = TRACE_FRAME_NATIVE };
    out->index = frame->index;
    out->frame = frames[frame->kind];
    out->tier = frame->tier <= 4 ? frame->tier : 0;
}

int sample_log_locate(struct sample_log *log, struct trace_writer *writer, const struct stack_sample *sample,
                      struct trace_sample *out, struct err *err)
{
    const struct java_frame *frame;
    out->index = -1;
    out->end = sample->end == STACK_NO_JAVA ? 0 : (uint8_t)sample->end;
    if (find_context(log, writer, SAMPLE_LOG_STACKS, sample, &out->context, &frame, err) < 0)
        return -1;
    if (frame != NULL)
        set_frame(out, frame);
    return 0;
}

int sample_log_write(struct sample_log *log, struct trace_writer *writer, const struct stack_sample *sample,
                     uint32_t thread, uint64_t ticks, struct err *err)
{
    struct trace_sample out = { .ticks = ticks,
                                .thread = thread,
                                .in_kernel = sample->in_kernel,
                                .is_waiting = sample->is_waiting,
                                .n = 1,
                                .weight_ns = sample->weight,
                                .n_counters = sample->n_counters,
                                .counters = sample->counters };
    if (sample_log_locate(log, writer, sample, &out, err) < 0 ||
        (sample->is_halved && !log->is_halved && info_write_count(writer, INFO_SAMPLE_HALVES, 2, err) < 0))
        return -1;
    log->is_halved |= sample->is_halved;
    log->n_written++;
    return trace_write_sample(writer, &out, err);
}

/*
 * After a sampled object the JVM draws the next distance, with the interval as its mean, from the object's end; but if
 * that is more than the object had left behind the sampled byte, from there.  So the mean is somewhat less, by the more
 * the nearer the object's size is to the interval: 29 % less at most (source: threadHeapSampler.cpp, pick_next_sample,
 * in JDK 11 to 25).
 */
uint64_t sample_log_mean_bytes(uint64_t interval_bytes, uint64_t before_bytes)
{
    double interval = (double)interval_bytes, size = before_bytes == 0 ? 0 : (double)before_bytes / interval;
    if (size <= 0 || interval <= 0)
        return interval_bytes;
    return (uint64_t)(interval * (1 - size * size / (2 * expm1(size))) + 0.5);
}

int sample_log_write_allocation(struct sample_log *log, struct trace_writer *writer,
                                const struct allocation_sample *sample, uint32_t thread, uint64_t ticks,
                                struct err *err)
{
    const struct java_frame *frame;
    bool is_new = sample->class_number == log->n_classes;
    struct trace_allocation out = { .ticks = ticks,
                                    .thread = thread,
                                    .class_number = sample->class_number,
                                    .class_name = is_new ? sample->class_name : NULL,
                                    .size_bytes = sample->size_bytes,
                                    .mean_bytes = sample_log_mean_bytes(sample->interval_bytes, sample->before_bytes) };
    if (find_context(log, writer, SAMPLE_LOG_ALLOCATIONS, &sample->stack, &out.context, &frame, err) < 0)
        return -1;
    out.index = frame == NULL ? -1 : frame->index;
    log->n_classes += is_new;
    return trace_write_allocation(writer, &out, err);
}
