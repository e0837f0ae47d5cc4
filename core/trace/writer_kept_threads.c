/* Threads in a recording of several files: what goes on over a file's end. */
#include "core/trace/writer_kept.h"

#include "core/base/xalloc.h"

struct kept_thread *kept_thread_at(const struct writer_kept *kept, uint32_t index)
{
    return kept == NULL || index >= kept->n_threads ? NULL : kept->threads[index];
}

static void free_thread(struct kept_thread *thread)
{
    if (thread == NULL)
        return;
    free((void *)(uintptr_t)thread->info.name);
    free((void *)(uintptr_t)thread->info.comm);
    free(thread->open);
    free(thread->values[0]);
    free(thread->values[1]);
    free(thread);
}

void kept_free_threads(struct writer_kept *kept)
{
    for (size_t i = 0; i < kept->n_threads; i++)
        free_thread(kept->threads[i]);
    free(kept->threads);
}

/* ---- what is known of them ---- */

static struct kept_thread *need_thread(struct writer_kept *kept, uint32_t index)
{
    xgrow_zeroed(kept->threads, kept->n_threads, (size_t)index + 1);
    if (kept->threads[index] == NULL)
        kept->threads[index] = xcalloc(1, sizeof *kept->threads[index]);
    return kept->threads[index];
}

static void set_text(const char **to, const char *text)
{
    const char *from = text == NULL ? "" : text;
    if (*to != NULL && strcmp(*to, from) == 0)
        return;
    free((void *)(uintptr_t)*to);
    *to = xstrdup(from);
}

static uint64_t less(uint64_t value, uint64_t before)
{
    return value > before ? value - before : 0;
}

static struct trace_thread for_file(const struct writer_kept *kept, const struct kept_thread *thread)
{
    struct trace_thread info = thread->info;
    const struct trace_cpu_time *before = &thread->before;
    info.n_lost = less(info.n_lost, thread->n_lost);
    info.cpu_time.accounted_ns = less(info.cpu_time.accounted_ns, before->accounted_ns);
    info.cpu_time.slices_ns = less(info.cpu_time.slices_ns, before->slices_ns);
    info.cpu_time.n_slices = less(info.cpu_time.n_slices, before->n_slices);
    info.cpu_time.is_known = info.cpu_time.is_known && (!before->is_known || info.cpu_time.slices_ns > 0);
    if (info.start_ticks < kept->start_ticks)
        info.start_ticks = TRACE_UNKNOWN;
    if (info.end_ticks < kept->start_ticks)
        info.end_ticks = kept->start_ticks;
    return info;
}

void kept_thread(struct trace_writer *writer, const struct trace_thread *thread, struct trace_thread *told)
{
    struct writer_kept *kept = writer->kept;
    *told = *thread;
    if (kept == NULL)
        return;
    struct kept_thread *mine = need_thread(kept, thread->index);
    set_text(&mine->info.name, thread->name);
    set_text(&mine->info.comm, thread->comm);
    const char *name = mine->info.name, *comm = mine->info.comm;
    mine->info = *thread;
    mine->info.name = name;
    mine->info.comm = comm;
    mine->file = kept->file;
    *told = for_file(kept, mine);
}

int kept_refer_thread(struct trace_writer *writer, uint32_t index, struct err *err)
{
    struct kept_thread *thread = kept_thread_at(writer->kept, index);
    if (thread == NULL || thread->info.comm == NULL || thread->file == writer->kept->file)
        return 0;
    thread->file = writer->kept->file;
    const struct trace_thread told = for_file(writer->kept, thread);
    return writer_put_thread(writer, &told, err);
}

int kept_switch(struct trace_writer *writer, const struct trace_event *event, struct err *err)
{
    if (writer->kept == NULL || event->kind == TRACE_KERNEL_LOST)
        return 0;
    struct kept_thread *thread = need_thread(writer->kept, event->thread);
    if (!writer->kept->is_ending && event->kind != TRACE_PAGE_FAULT)
        thread->state = event->kind == TRACE_THREAD_START ? TRACE_CPU_OUT : event->kind;
    return kept_refer_thread(writer, event->thread, err);
}

/* ---- open calls ---- */

static void push(struct kept_thread *thread, uint32_t method)
{
    *xpush(thread->open, thread->open_room, thread->n_open) = method;
}

static void leave(struct kept_thread *thread, uint32_t method)
{
    size_t at = thread->n_open;
    while (at > thread->n_carrier && thread->open[at - 1] != method)
        at--;
    if (at > thread->n_carrier)
        thread->n_open = at - 1;
}

/* What the virtual thread left open goes with it. */
static void unmount(struct kept_thread *thread)
{
    thread->n_open = thread->n_carrier == 0 ? 0 : thread->n_carrier - 1;
    thread->n_carrier = 0;
}

static void mount(struct kept_thread *thread)
{
    if (thread->n_carrier > 0)
        unmount(thread);
    push(thread, KEPT_MOUNT);
    thread->n_carrier = thread->n_open;
}

static void follow(struct kept_thread *thread, uint64_t word)
{
    uint32_t method = ring_word_method(word);
    switch (ring_word_kind(word)) {
    case RING_ENTER:
    case RING_RESUME:
    case RING_OPEN:
        push(thread, method);
        break;
    case RING_EXIT:
    case RING_UNWIND:
        leave(thread, method);
        break;
    case RING_MOUNT:
        mount(thread);
        break;
    case RING_UNMOUNT:
        unmount(thread);
        break;
    default:
        break;
    }
}

static void keep_values(struct trace_writer *writer, struct kept_thread *thread, uint32_t series,
                        const uint64_t *values)
{
    size_t n = writer->n_columns;
    if (n == 0 || series > 1)
        return;
    if (thread->values[series] == NULL)
        thread->values[series] = memset(xcalloc(n, sizeof *values), 0xff, n * sizeof *values); /* TRACE_NOT_COUNTED */
    uint64_t *mine = thread->values[series];
    for (size_t i = 0; i < n; i++)
        if (values[i] != TRACE_NOT_COUNTED && (mine[i] == TRACE_NOT_COUNTED || values[i] > mine[i]))
            mine[i] = values[i]; /* a reading may be ahead of the records */
}

int kept_records(struct trace_writer *writer, uint32_t index, const uint64_t *words, size_t n_words, struct err *err)
{
    size_t n = 1 + writer->encoder.n_counters;
    if (writer->kept == NULL)
        return 0;
    struct kept_thread *thread = need_thread(writer->kept, index);
    if (kept_refer_thread(writer, index, err) < 0)
        return -1;
    for (size_t i = 0; i < n_words; i += n)
        follow(thread, words[i]);
    if (n > 1 && n_words > 0)
        keep_values(writer, thread, 1, words + n_words - n + 1);
    return 0;
}

int kept_counts(struct trace_writer *writer, uint32_t index, uint32_t series, const uint64_t *values, struct err *err)
{
    if (writer->kept == NULL)
        return 0;
    struct kept_thread *thread = need_thread(writer->kept, index);
    keep_values(writer, thread, series, values);
    return kept_refer_thread(writer, index, err);
}

/* ---- the next file ---- */

/* What had ended before the file before is named by nothing any more. */
static bool is_past(const struct writer_kept *kept, const struct kept_thread *thread)
{
    return thread->info.end_ticks < kept->start_ticks && thread->file + 1 < kept->file;
}

void kept_forget_thread(struct writer_kept *kept, uint32_t index)
{
    if (kept_thread_at(kept, index) == NULL)
        return;
    free_thread(kept->threads[index]);
    kept->threads[index] = NULL;
}

void kept_next_threads(struct writer_kept *kept)
{
    for (size_t i = 0; i < kept->n_threads; i++) {
        struct kept_thread *thread = kept->threads[i];
        if (thread == NULL)
            continue;
        thread->n_lost = thread->info.n_lost;
        thread->before = thread->info.cpu_time;
        if (is_past(kept, thread))
            kept_forget_thread(kept, (uint32_t)i);
    }
}
