/* Entries that stand in more than one file, and the texts in all. */
#include "core/trace/writer_internal.h"

void writer_text(struct sink *s, const char *text)
{
    size_t n = text == NULL ? 0 : strlen(text);
    if (n > STRING_MAX_BYTES)
        for (n = STRING_MAX_BYTES; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
            n--;
    sink_number(s, n);
    sink_bytes(s, text, n);
}

static int put_cpu_time(struct trace_writer *writer, const struct trace_thread *thread, struct err *err)
{
    struct sink s = writer_begin(writer, CHUNK_CPU_TIMES);
    sink_number(&s, thread->index);
    sink_number(&s, thread->cpu_time.accounted_ns);
    sink_number(&s, thread->cpu_time.slices_ns);
    sink_number(&s, thread->cpu_time.n_slices);
    return writer_finish(writer, CHUNK_CPU_TIMES, &s, err);
}

int writer_put_thread(struct trace_writer *writer, const struct trace_thread *thread, struct err *err)
{
    struct sink s = writer_begin(writer, CHUNK_THREADS);
    sink_number(&s, thread->index);
    sink_number(&s, thread->has_ring ? THREAD_FLAG_RING : 0);
    sink_u32le(&s, (uint32_t)thread->tid);
    sink_u64le(&s, thread->start_ticks);
    sink_u64le(&s, thread->end_ticks);
    sink_number(&s, thread->n_lost);
    writer_text(&s, thread->name);
    writer_text(&s, thread->comm);
    if (writer_finish(writer, CHUNK_THREADS, &s, err) < 0)
        return -1;
    return thread->cpu_time.is_known ? put_cpu_time(writer, thread, err) : 0;
}

void writer_put_named(struct sink *s, const struct trace_sampled_method *method)
{
    uint32_t before = 0;
    writer_text(s, method->names.class_name);
    writer_text(s, method->names.method);
    writer_text(s, method->names.descriptor);
    writer_text(s, method->source);
    sink_number(s, method->code_bytes);
    sink_number(s, method->n_lines);
    for (uint32_t i = 0; i < method->n_lines; i++) {
        sink_number(s, method->lines[i].index - before);
        sink_number(s, method->lines[i].line);
        before = method->lines[i].index;
    }
    sink_number(s, method->code == NULL ? 0 : method->code_bytes);
    sink_bytes(s, method->code, method->code == NULL ? 0 : method->code_bytes);
}
