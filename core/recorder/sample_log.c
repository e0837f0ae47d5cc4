#include "core/recorder/sample_log.h"

#include <stdlib.h>
#include <string.h>

void sample_log_free(struct sample_log *log)
{
    hash_free(&log->contexts);
    free(log->method_of);
    memset(log, 0, sizeof *log);
}

static int make_room(struct sample_log *log, uint32_t method, struct err *err)
{
    if (method < log->room)
        return 0;
    uint32_t room = method < 512 ? 1024 : method * 2;
    uint32_t *grown = realloc(log->method_of, room * sizeof *grown);
    if (grown == NULL)
        return err_set(err, "out of memory for %u methods", room);
    memset(grown + log->room, 0, (room - log->room) * sizeof *grown);
    log->method_of = grown;
    log->room = room;
    return 0;
}

/* A new one, whose method is named if that is new, too. */
static int put_context(struct sample_log *log, struct trace_writer *writer, const struct stack_sample *sample,
                       uint32_t method, struct trace_context *context, struct err *err)
{
    const struct sampled_method *known = &sample->known[method];
    const struct trace_sampled_method named = { known->names, known->source,  known->code.n_bytes,
                                                known->lines, known->n_lines, known->bytes };
    if (log->method_of[method] == 0) {
        context->named = &named;
        log->method_of[method] = ++log->n_methods;
    }
    context->method = log->method_of[method] - 1;
    log->n_contexts++;
    return trace_write_context(writer, context, err);
}

static uint64_t key_of(uint32_t parent, int32_t call_site, uint32_t method)
{
    uint64_t key = hash_address((uint64_t)parent << 32 | method);
    return hash_address(key ^ hash_address((uint64_t)(uint32_t)call_site + 1));
}

/* The context of a method in another one's calls; *number stays where there is no room.  Returns 0, or -1. */
static int step(struct sample_log *log, struct trace_writer *writer, const struct stack_sample *sample, uint32_t method,
                int32_t call_site, uint32_t *number, struct err *err)
{
    uint64_t key = key_of(*number, call_site, method);
    const struct hash_slot *known = hash_get(&log->contexts, key);
    if (known != NULL) {
        *number = known->value;
        return 0;
    }
    struct trace_context context = { .parent = *number, .call_site = call_site };
    struct hash_slot *slot = hash_put(&log->contexts, key);
    if (slot == NULL)
        return err_set(err, "out of memory for %u calling contexts", log->n_contexts);
    if (make_room(log, method, err) < 0 || put_context(log, writer, sample, method, &context, err) < 0)
        return -1;
    slot->value = *number = log->n_contexts;
    return 0;
}

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

int sample_log_write(struct sample_log *log, struct trace_writer *writer, const struct stack_sample *sample,
                     uint32_t thread, uint64_t ticks, struct err *err)
{
    struct trace_sample out = { .ticks = ticks,
                                .thread = thread,
                                .index = -1,
                                .end = sample->end == STACK_NO_JAVA ? 0 : (uint8_t)sample->end,
                                .in_kernel = sample->in_kernel,
                                .is_waiting = sample->is_waiting,
                                .n = 1,
                                .weight_ns = sample->weight,
                                .n_counters = sample->n_counters,
                                .counters = sample->counters };
    int32_t call_site = -1;
    for (uint32_t i = sample->n; i-- > 0;) {
        const struct java_frame *frame = &sample->frames[i];
        if (sample->methods[i] == SAMPLED_UNKNOWN) {
            call_site = -1;
            continue;
        }
        if (log->n_contexts >= SAMPLE_LOG_CONTEXTS &&
            hash_get(&log->contexts, key_of(out.context, call_site, sample->methods[i])) == NULL) {
            log->n_outside++;
            break;
        }
        if (step(log, writer, sample, sample->methods[i], call_site, &out.context, err) < 0)
            return -1;
        call_site = frame->index;
        set_frame(&out, frame);
    }
    log->n_written++;
    return trace_write_sample(writer, &out, err);
}
