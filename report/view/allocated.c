#include "report/view/allocation_rows.h"

#include "core/trace/recording_info.h"
#include "report/some_threads.h"
#include "report/view/view_pass.h"

struct allocated_method {
    uint64_t key; /* of its name */
    double bytes_per_s;
};

struct allocated {
    struct allocated_method *methods; /* in the order of keys; those of one name one after the other */
    uint32_t n;
    double all_per_s;
};

static int by_key(const void *a, const void *b)
{
    const struct allocated_method *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* A method that calls itself counts once: latest says in which sample it was met last. */
static void add_to_callers(const struct trace_reader *reader, uint32_t node, uint32_t sample, double bytes,
                           uint32_t *latest, struct allocated *allocated)
{
    const struct trace_context *context;
    for (; node != 0; node = context->parent) {
        context = trace_context(reader, node);
        if (latest[context->method] == sample)
            continue;
        latest[context->method] = sample;
        allocated->methods[context->method].bytes_per_s += bytes;
    }
}

/* In bytes, of the samples: returns the sum of those of all threads. */
static double add_up(const struct view_pass *pass, uint32_t *latest, struct allocated *allocated)
{
    double all = 0;
    for (size_t i = 0; i < pass->n_allocations; i++) {
        const struct trace_allocation *from = &pass->allocations[i];
        double bytes = trace_allocation_objects(from) * (double)from->size_bytes;
        all += bytes;
        if (!threads_match(trace_thread(pass->reader, from->thread), pass->options.only_threads))
            continue;
        allocated->all_per_s += bytes;
        add_to_callers(pass->reader, from->context, (uint32_t)i + 1, bytes, latest, allocated);
    }
    return all;
}

const struct allocated *allocated_find(const struct view_pass *pass)
{
    double ns = info_number(pass->reader, INFO_ALLOCATIONS_NS), jvm;
    struct allocated *allocated = arena_alloc(pass->arena, sizeof *allocated);
    uint32_t n = trace_n_sampled_methods(pass->reader);
    uint32_t *latest = arena_alloc(pass->arena, (n + 1) * sizeof *latest);
    if (ns <= 0 || pass->n_allocations == 0)
        return NULL;
    allocated->n = n;
    allocated->methods = arena_alloc(pass->arena, (n + 1) * sizeof *allocated->methods);
    double sampled = add_up(pass, latest, allocated);
    jvm = info_number(pass->reader, INFO_ALLOCATIONS_JVM_BYTES);
    double scale = (jvm > 0 && sampled > 0 ? jvm / sampled : 1) / (ns / 1e9);
    allocated->all_per_s *= scale;
    for (uint32_t i = 0; i < n; i++) {
        allocated->methods[i].key = method_name_hash(&trace_sampled_method(pass->reader, i)->names);
        allocated->methods[i].bytes_per_s *= scale;
    }
    qsort(allocated->methods, n, sizeof *allocated->methods, by_key);
    return allocated;
}

double allocated_per_s(const struct allocated *allocated, const struct method_name *name)
{
    uint64_t key = method_name_hash(name);
    uint32_t low = 0, high = allocated->n;
    double sum = 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (allocated->methods[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < allocated->n && allocated->methods[low].key == key; low++)
        sum += allocated->methods[low].bytes_per_s;
    return sum;
}

double allocated_all_per_s(const struct allocated *allocated)
{
    return allocated->all_per_s;
}
