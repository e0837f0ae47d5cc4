#include "cmd/dump.h"

#include "cmd/terminal.h"

static void put_text(FILE *out, const char *text)
{
    terminal_text(out, text, strlen(text));
}

static void put_moment(FILE *out, const char *what, uint64_t ticks)
{
    if (ticks != TRACE_UNKNOWN)
        fprintf(out, ", %s %" PRIu64, what, ticks);
}

/* "sampled method 4 a/B.work(I)V, B.java, 60 bytes (kept), 12 lines" */
void dump_samples_method(FILE *out, uint32_t number, const struct trace_sampled_method *method)
{
    fprintf(out, "sampled method %" PRIu32 " ", number);
    put_text(out, method->names.class_name);
    fputc('.', out);
    put_text(out, method->names.method);
    put_text(out, method->names.descriptor);
    if (method->source[0] != '\0') {
        fputs(", ", out);
        put_text(out, method->source);
    }
    fprintf(out, ", %" PRIu32 " bytes%s, %" PRIu32 " lines\n", method->code_bytes,
            method->code != NULL ? " (kept)" : "", method->n_lines);
}

/* "context 3 in 2 at 17: sampled method 4" */
void dump_samples_context(FILE *out, uint32_t number, const struct trace_context *node)
{
    fprintf(out, "context %" PRIu32 " in %" PRIu32, number, node->parent);
    if (node->call_site >= 0)
        fprintf(out, " at %" PRId32, node->call_site);
    fprintf(out, ": sampled method %" PRIu32 "\n", node->method);
}

/* "sample  thread 2, 1.500 us: context 3 at 12, C2, 10000000 ns" */
void dump_samples_sample(FILE *out, const struct trace_sample *sample)
{
    static const char *const frames[] = { "", ", interpreted", ", compiled", ", inlined", ", native" };
    fputs("sample  ", out);
    if (sample->thread != TRACE_NO_THREAD)
        fprintf(out, "thread %" PRIu32, sample->thread);
    if (sample->ticks != TRACE_UNKNOWN)
        put_moment(out, "at", sample->ticks);
    fprintf(out, ": context %" PRIu32, sample->context);
    if (sample->index >= 0)
        fprintf(out, " at %" PRId32, sample->index);
    fputs(frames[sample->frame], out);
    if (sample->tier > 0)
        fprintf(out, " by tier %d", sample->tier);
    fprintf(out, "%s%s, %" PRIu64 " ns", sample->in_kernel ? ", in the kernel" : "",
            sample->is_waiting ? ", waiting" : "", sample->weight_ns);
    if (sample->n != 1)
        fprintf(out, " of %" PRIu64 " samples", sample->n);
    for (uint32_t i = 0; i < sample->n_counters; i++)
        fprintf(out, "%s%" PRIu64, i == 0 ? ", counters " : " ", sample->counters[i]);
    if (sample->end > 0)
        fprintf(out, ", stack cut for reason %d", sample->end);
    fputc('\n', out);
}

/* "virtual 50000 threads at 1.500 us: sleep, context 3 at 12, 1000000000 ns each" */
void dump_samples_virtual(FILE *out, const struct trace_virtual_wait *wait)
{
    fprintf(out, "virtual %" PRIu64 " threads", wait->n);
    put_moment(out, "at", wait->ticks);
    fprintf(out, ": %s", trace_cause_key(wait->cause));
    if (wait->context != 0)
        fprintf(out, ", context %" PRIu32, wait->context);
    if (wait->index >= 0)
        fprintf(out, " at %" PRId32, wait->index);
    fprintf(out, ", %" PRIu64 " ns each", wait->weight_ns);
    if (wait->lock_class[0] != '\0') {
        fputs(", for ", out);
        put_text(out, wait->lock_class);
    }
    if (wait->end > 0)
        fprintf(out, ", stack cut for reason %d", wait->end);
    fputc('\n', out);
}

/* "wait    thread 2, 1.500 us: lock, context 3 at 12, 10000000 ns, for java/util/HashMap, held by thread 4 in 7" */
void dump_samples_wait(FILE *out, const struct trace_wait *wait)
{
    fprintf(out, "wait    thread %" PRIu32, wait->thread);
    put_moment(out, "at", wait->ticks);
    fprintf(out, ": %s%s", trace_cause_key(wait->cause), wait->is_same ? " as before" : "");
    if (wait->context != 0)
        fprintf(out, ", context %" PRIu32, wait->context);
    if (wait->index >= 0)
        fprintf(out, " at %" PRId32, wait->index);
    fprintf(out, ", %" PRIu64 " ns", wait->weight_ns);
    if (wait->n != 1)
        fprintf(out, " of %" PRIu64 " visits", wait->n);
    if (wait->lock_class[0] != '\0') {
        fputs(", for ", out);
        put_text(out, wait->lock_class);
    }
    if (wait->owner != TRACE_NO_THREAD)
        fprintf(out, ", held by thread %" PRIu32, wait->owner);
    if (wait->owner_context != 0)
        fprintf(out, " in context %" PRIu32, wait->owner_context);
    if (wait->end > 0)
        fprintf(out, ", stack cut for reason %d", wait->end);
    fputc('\n', out);
}

/* "allocation  thread 2, at 1.500 us: context 3 at 12, [B, 4096 bytes, one in 524288" */
void dump_samples_allocation(FILE *out, const struct trace_allocation *allocation)
{
    fprintf(out, "allocation  thread %" PRIu32, allocation->thread);
    put_moment(out, "at", allocation->ticks);
    fprintf(out, ": context %" PRIu32, allocation->context);
    if (allocation->index >= 0)
        fprintf(out, " at %" PRId32, allocation->index);
    fputs(", ", out);
    put_text(out, allocation->class_name);
    fprintf(out, ", %" PRIu64 " bytes, one sample in %" PRIu64 "\n", allocation->size_bytes, allocation->mean_bytes);
}

/* "heap    freed allocation 4711, at 1500" */
void dump_samples_heap_event(FILE *out, const struct trace_heap_event *event)
{
    static const char *const kinds[TRACE_HEAP_KINDS] = {
        [TRACE_HEAP_CHECKED] = "checked objects, halvings",
        [TRACE_HEAP_FREED] = "freed allocation",
        [TRACE_HEAP_DROPPED] = "dropped allocation",
        [TRACE_HEAP_BEFORE] = "before a collection, bytes",
    };
    fprintf(out, "heap    %s %" PRIu64, kinds[event->kind], event->number);
    put_moment(out, "at", event->ticks);
    fputc('\n', out);
}

/* "pressure at 1500 to 2000: throttled 1, throttled_ns 95000000" */
void dump_samples_pressure(FILE *out, const struct trace_pressure *pressure)
{
    const char *before = ": ";
    fputs("pressure", out);
    put_moment(out, "at", pressure->start_ticks);
    fprintf(out, " to %" PRIu64, pressure->end_ticks);
    for (int i = 0; i < TRACE_PRESSURES; i++, before = ", ")
        fprintf(out, "%s%s %" PRIu64, before, trace_pressure_key((enum trace_pressure_kind)i), pressure->values[i]);
    fputc('\n', out);
}

/* "code    compiled 2 at 1500: context 12" */
void dump_samples_code(FILE *out, const struct trace_code_change *change)
{
    fputs("code    ", out);
    put_text(out, change->what);
    fprintf(out, " %" PRIu64, change->n);
    put_moment(out, "at", change->ticks);
    fprintf(out, ": context %" PRIu32 "\n", change->context);
}
