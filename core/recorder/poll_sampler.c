#include "core/recorder/poll_sampler.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "core/jvm/process.h"
#include "core/recorder/read_log.h"
#include "core/recorder/shared_file.h"

/* A thread by its number in the log. */
struct polled_thread {
    bool is_known;
    int32_t tid; /* in our PID namespace */
    char name[16];
    char java_name[POLL_NAME_BYTES + 1]; /* as it was called at its latest sample */
};

struct poll_sampler {
    pid_t pid, inner_pid;
    int fd;
    uint64_t read_bytes;
    struct arena arena;
    struct sampled_method *methods; /* owned */
    uint32_t n_methods, room;
    struct polled_thread *threads; /* owned, POLL_THREADS_MAX */
    const char **classes;          /* owned; of objects, the names are the arena's */
    uint32_t n_classes, classes_room;
    struct poll_state state;
    struct poll_allocated allocated;
    struct poll_entry entry;
    uint8_t bytes[POLL_ENTRY_BYTES + 4];
    stack_sample_fn *on_stack;           /* who takes what is drained */
    allocation_sample_fn *on_allocation; /* one of the two is NULL */
    poll_heap_fn *on_heap;               /* with the latter */
    void *context;
    uint32_t numbers[POLL_FRAMES_MAX]; /* of the sample that is handed out, innermost first */
    struct java_frame frames[POLL_FRAMES_MAX];
};

int poll_sampler_open(struct poll_sampler **out, pid_t pid, struct err *err)
{
    struct poll_sampler *sampler = *out = xcalloc(1, sizeof *sampler);
    sampler->pid = pid;
    sampler->inner_pid = jvm_process_inner_pid(pid);
    sampler->threads = xcalloc(POLL_THREADS_MAX, sizeof *sampler->threads);
    sampler->fd = shared_file_log("mmprof-stacks", err);
    if (sampler->fd >= 0)
        return 0;
    poll_sampler_close(sampler);
    *out = NULL;
    return -1;
}

void poll_sampler_close(struct poll_sampler *sampler)
{
    if (sampler == NULL)
        return;
    if (sampler->fd >= 0)
        close(sampler->fd);
    arena_free(&sampler->arena);
    free(sampler->methods);
    free(sampler->classes);
    free(sampler->threads);
    free(sampler);
}

int poll_sampler_fd(const struct poll_sampler *sampler)
{
    return sampler->fd;
}

void poll_sampler_allocated(const struct poll_sampler *sampler, struct poll_allocated *allocated)
{
    *allocated = sampler->allocated;
}

void poll_sampler_state(const struct poll_sampler *sampler, struct poll_state *state)
{
    *state = sampler->state;
}

/* ---- methods ---- */

static int by_index(const void *a, const void *b)
{
    const struct code_line *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Its code and lines. */
static void keep_code(struct poll_sampler *sampler, const struct poll_method *from, struct sampled_method *to)
{
    struct code_line *lines = arena_alloc(&sampler->arena, (from->n_lines + 1) * sizeof *lines);
    uint8_t *bytes = arena_alloc(&sampler->arena, from->code.n + 1);
    memcpy(lines, from->lines, from->n_lines * sizeof *lines);
    qsort(lines, from->n_lines, sizeof *lines, by_index);
    memcpy(bytes, from->code.at, from->code.n);
    to->code = (struct vm_code){ .n_bytes = (uint32_t)from->code.n,
                                 .is_native = (from->flags & POLL_IS_NATIVE) != 0,
                                 .is_hidden = (from->flags & POLL_IS_FIXED) != 0 };
    bytecodes_scan(bytes, to->code.n_bytes, &to->bytecodes);
    to->bytes = from->code.n == 0 ? NULL : bytes;
    to->lines = lines;
    to->n_lines = from->n_lines;
}

/* Numbers come in their order. */
static int take_method(struct poll_sampler *sampler, const struct poll_method *from, struct err *err)
{
    if (from->number != sampler->n_methods)
        return err_set(err, "the agent's stack samples are damaged: method %u comes after %u", from->number,
                       sampler->n_methods);
    struct sampled_method method = { .names.class_name =
                                         text_utf8(&sampler->arena, from->class_name.at, from->class_name.n),
                                     .names.method = text_utf8(&sampler->arena, from->name.at, from->name.n),
                                     .names.descriptor =
                                         text_utf8(&sampler->arena, from->descriptor.at, from->descriptor.n),
                                     .source = text_utf8(&sampler->arena, from->source.at, from->source.n),
                                     .tier = VM_TIER_UNKNOWN };
    keep_code(sampler, from, &method);
    *xpush(sampler->methods, sampler->room, sampler->n_methods) = method;
    return 0;
}

static int take_counts(struct poll_sampler *sampler, const struct poll_counts *counts, struct err *err)
{
    if (counts->number >= sampler->n_methods)
        return err_set(err, "the agent's stack samples are damaged: no method has number %u", counts->number);
    sampler->methods[counts->number].calls = counts->calls;
    sampler->methods[counts->number].tier = counts->tier;
    return 0;
}

/* ---- samples ---- */

static const struct polled_thread *thread_of(struct poll_sampler *sampler, const struct poll_stack *stack)
{
    struct polled_thread *thread = &sampler->threads[stack->thread];
    if (stack->name.n > 0)
        text_utf8_into(thread->java_name, sizeof thread->java_name, stack->name.at, stack->name.n);
    if (thread->is_known)
        return thread;
    thread->is_known = true;
    thread->tid = jvm_thread_outer_tid(sampler->pid, sampler->inner_pid, stack->tid);
    if (thread->tid == 0 || jvm_thread_comm(sampler->pid, thread->tid, thread->name) < 0)
        thread->name[0] = '\0';
    return thread;
}

static int set_frames(struct poll_sampler *sampler, const struct poll_frame *frames, uint32_t n, struct err *err)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct poll_frame *from = &frames[n - 1 - i];
        if (from->method >= sampler->n_methods)
            return err_set(err, "the agent's stack samples are damaged: no method has number %u", from->method);
        bool is_native = sampler->methods[from->method].code.is_native;
        sampler->numbers[i] = from->method;
        sampler->frames[i] =
            (struct java_frame){ .index = from->index, .kind = is_native ? FRAME_NATIVE : FRAME_POLLED };
    }
    return 0;
}

static int take_stack(struct poll_sampler *sampler, const struct poll_stack *stack, struct err *err)
{
    const struct polled_thread *thread = thread_of(sampler, stack);
    if (sampler->on_stack == NULL || set_frames(sampler, stack->frames, stack->n_frames, err) < 0)
        return sampler->on_stack == NULL ? 0 : -1;
    const struct stack_sample sample = { .time_ns = stack->time_ns,
                                         .weight = stack->cpu_ns,
                                         .tid = thread->tid,
                                         .thread_name = thread->name,
                                         .java_name = thread->java_name,
                                         .pc = KERNEL_UNKNOWN,
                                         .end = stack->is_cut         ? STACK_CUT
                                                : stack->n_frames > 0 ? STACK_WHOLE
                                                                      : STACK_NO_JAVA,
                                         .n = stack->n_frames,
                                         .methods = sampler->numbers,
                                         .frames = sampler->frames,
                                         .known = sampler->methods,
                                         .n_known = sampler->n_methods };
    return sampler->on_stack(&sample, sampler->context, err);
}

/* Numbers come in their order. */
static int take_class(struct poll_sampler *sampler, const struct poll_class *from, struct err *err)
{
    if (from->number != sampler->n_classes)
        return err_set(err, "the agent's allocation samples are damaged: class %u comes after %u", from->number,
                       sampler->n_classes);
    *xpush(sampler->classes, sampler->classes_room, sampler->n_classes) =
        text_utf8(&sampler->arena, from->name.at, from->name.n);
    return 0;
}

static int take_allocation(struct poll_sampler *sampler, const struct poll_allocation *from, struct err *err)
{
    if (from->class_number >= sampler->n_classes)
        return err_set(err, "the agent's allocation samples are damaged: no class has number %u", from->class_number);
    if (sampler->on_allocation == NULL || set_frames(sampler, from->frames, from->n_frames, err) < 0)
        return sampler->on_allocation == NULL ? 0 : -1;
    const struct allocation_sample sample = { .stack = { .time_ns = from->time_ns,
                                                         .tid = jvm_thread_outer_tid(sampler->pid, sampler->inner_pid,
                                                                                     from->tid),
                                                         .thread_name = "",
                                                         .java_name = "",
                                                         .pc = KERNEL_UNKNOWN,
                                                         .end = from->is_cut         ? STACK_CUT
                                                                : from->n_frames > 0 ? STACK_WHOLE
                                                                                     : STACK_NO_JAVA,
                                                         .n = from->n_frames,
                                                         .methods = sampler->numbers,
                                                         .frames = sampler->frames,
                                                         .known = sampler->methods,
                                                         .n_known = sampler->n_methods },
                                              .class_number = from->class_number,
                                              .class_name = sampler->classes[from->class_number],
                                              .size_bytes = from->size_bytes,
                                              .interval_bytes = from->interval_bytes,
                                              .before_bytes = from->before_bytes };
    return sampler->on_allocation(&sample, sampler->context, err);
}

static int take_polled(struct poll_sampler *sampler, struct err *err)
{
    const struct poll_entry *entry = &sampler->entry;
    switch (entry->kind) {
    case POLL_METHOD:
        return take_method(sampler, &entry->method, err);
    case POLL_COUNTS:
        return take_counts(sampler, &entry->counts, err);
    case POLL_STACK:
        return take_stack(sampler, &entry->stack, err);
    case POLL_CLASS:
        return take_class(sampler, &entry->class_name, err);
    case POLL_ALLOCATION:
        return take_allocation(sampler, &entry->allocation, err);
    case POLL_HEAP:
        return sampler->on_heap == NULL ? 0 : sampler->on_heap(&entry->heap, sampler->context, err);
    case POLL_ALLOCATED:
        sampler->allocated = entry->allocated;
        return 0;
    default:
        sampler->state = entry->state;
        return 0;
    }
}

static int drain(struct poll_sampler *sampler, struct err *err)
{
    for (uint64_t begin = sampler->read_bytes; sampler->read_bytes - begin < READ_LOG_ROUND_BYTES;) {
        ssize_t n = pread(sampler->fd, sampler->bytes, sizeof sampler->bytes, (off_t)sampler->read_bytes);
        struct cursor c = cursor_over(sampler->bytes, n < 0 ? 0 : (size_t)n);
        int rc;
        while ((rc = poll_log_get(&c, &sampler->entry)) > 0)
            if (take_polled(sampler, err) < 0)
                return -1;
        if (rc < 0)
            return err_set(err, "the agent's stack samples are damaged");
        uint64_t used = (uint64_t)(c.at - sampler->bytes);
        read_log_forget(sampler->fd, sampler->read_bytes, sampler->read_bytes + used);
        sampler->read_bytes += used;
        if (n < (ssize_t)sizeof sampler->bytes)
            return 0;
    }
    return 0;
}

int poll_sampler_drain(struct poll_sampler *sampler, stack_sample_fn *fn, void *context, struct err *err)
{
    sampler->on_stack = fn;
    sampler->on_allocation = NULL;
    sampler->on_heap = NULL;
    sampler->context = context;
    return drain(sampler, err);
}

int poll_sampler_drain_allocations(struct poll_sampler *sampler, allocation_sample_fn *fn, poll_heap_fn *heap_fn,
                                   void *context, struct err *err)
{
    sampler->on_stack = NULL;
    sampler->on_allocation = fn;
    sampler->on_heap = heap_fn;
    sampler->context = context;
    return drain(sampler, err);
}
