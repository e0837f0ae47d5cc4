#include "report/export/export_jfr_parts.h"

#include "core/base/xalloc.h"

#define JVM_CLASS    "JVM"           /* whose methods are the parts of the JVM, */
#define FIRST_METHOD (VM_PARTS + 1u) /* from 1 on; then come the methods that were sampled */
#define SITE_BITS    17              /* of a bytecode's index, from 0 on */
#define FRAME_BITS   3
#define END_BITS     4

void jfr_pools_open(struct jfr_pools *pools, const struct trace_reader *reader, struct arena *arena)
{
    memset(pools, 0, sizeof *pools);
    pools->reader = reader;
    pools->symbol_numbers.arena = pools->class_numbers.arena = arena;
}

void jfr_pools_close(struct jfr_pools *pools)
{
    map_free(&pools->symbol_numbers);
    map_free(&pools->class_numbers);
    hash_free(&pools->stack_numbers);
    jfr_bytes_free(&pools->symbols.bytes);
    jfr_bytes_free(&pools->classes.bytes);
    jfr_bytes_free(&pools->stacks.bytes);
}

/* ---- symbols, classes, threads ---- */

/* The number of a text, and whether it is new: then its entry begins with it. */
static uint32_t number_of(struct map *numbers, struct jfr_pool *pool, const char *text, bool *is_new)
{
    const uint32_t *known = map_get(numbers, text, strlen(text));
    *is_new = known == NULL;
    if (known != NULL)
        return *known;
    map_put(numbers, text, strlen(text), ++pool->n);
    return pool->n;
}

static uint32_t symbol(struct jfr_pools *pools, const char *text)
{
    bool is_new;
    uint32_t number = number_of(&pools->symbol_numbers, &pools->symbols, text, &is_new);
    if (is_new) {
        jfr_put_number(&pools->symbols.bytes, number);
        jfr_put_text(&pools->symbols.bytes, text);
    }
    return number;
}

uint32_t jfr_class(struct jfr_pools *pools, const char *name)
{
    bool is_new;
    if (name == NULL || name[0] == '\0')
        return 0;
    uint32_t number = number_of(&pools->class_numbers, &pools->classes, name, &is_new);
    if (is_new) {
        struct jfr_bytes *to = &pools->classes.bytes;
        jfr_put_number(to, number);
        jfr_put_number(to, 0); /* loader */
        jfr_put_number(to, symbol(pools, name));
        jfr_put_number(to, 0); /* package */
        jfr_put_number(to, 0); /* modifiers */
    }
    return number;
}

uint32_t jfr_thread(uint32_t index)
{
    return index == TRACE_NO_THREAD ? 0 : index + 1;
}

static void put_threads(struct jfr_pool *pool, const struct trace_reader *reader)
{
    for (uint32_t i = 0; i < trace_n_threads(reader); i++) {
        const struct trace_thread *thread = trace_thread(reader, i);
        if (thread == NULL)
            continue;
        jfr_put_number(&pool->bytes, jfr_thread(i));
        jfr_put_text(&pool->bytes, thread->name);
        jfr_put_number(&pool->bytes, (uint64_t)thread->tid);
        jfr_put_text(&pool->bytes, vm_part_of(thread->comm) == VM_PART_APPLICATION ? thread->name : NULL);
        jfr_put_number(&pool->bytes, 0); /* Java's number of it is not known */
        pool->n++;
    }
}

/* ---- methods and stack traces ---- */

static void put_method(struct jfr_pools *pools, struct jfr_pool *pool, uint32_t number, const struct method_name *names)
{
    jfr_put_number(&pool->bytes, number);
    jfr_put_number(&pool->bytes, jfr_class(pools, names->class_name));
    jfr_put_number(&pool->bytes, symbol(pools, names->method));
    jfr_put_number(&pool->bytes, symbol(pools, names->descriptor));
    jfr_put_number(&pool->bytes, 0); /* modifiers */
    jfr_put_number(&pool->bytes, 0); /* hidden */
    pool->n++;
}

static void put_methods(struct jfr_pools *pools, struct jfr_pool *pool)
{
    for (enum vm_part part = 0; part < VM_PARTS; part++) {
        const char *name = part == VM_PART_APPLICATION ? "(no Java method)" : vm_part_name(part);
        put_method(pools, pool, 1 + part, &(struct method_name){ JVM_CLASS, name, "()V" });
    }
    for (uint32_t i = 0; i < trace_n_sampled_methods(pools->reader); i++)
        put_method(pools, pool, FIRST_METHOD + i, &trace_sampled_method(pools->reader, i)->names);
}

/* By the number that the pool of frame types has. */
static uint32_t kind_of(enum trace_frame frame)
{
    switch (frame) {
    case TRACE_FRAME_INTERPRETED:
        return 0;
    case TRACE_FRAME_INLINED:
        return 2;
    case TRACE_FRAME_NATIVE:
        return 3;
    default:
        return 1;
    }
}

static void put_frame(struct jfr_bytes *to, uint32_t method, uint32_t line, int32_t index, enum trace_frame frame)
{
    jfr_put_number(to, method);
    jfr_put_number(to, line);
    jfr_put_number(to, index < 0 ? 0 : (uint32_t)index);
    jfr_put_number(to, kind_of(frame));
}

static void put_stack(struct jfr_pools *pools, uint32_t number, const struct jfr_site *site)
{
    struct jfr_bytes *to = &pools->stacks.bytes;
    uint32_t n = 0;
    for (uint32_t c = site->context; c != 0; c = trace_context(pools->reader, c)->parent)
        n++;
    jfr_put_number(to, number);
    jfr_put_number(to, site->context != 0 && site->end != 0);
    jfr_put_number(to, n == 0 ? 1 : n);
    if (n == 0)
        put_frame(to, 1 + site->part, 0, -1, TRACE_FRAME_NATIVE);
    int32_t index = site->index;
    enum trace_frame frame = site->frame;
    for (uint32_t c = site->context; c != 0; frame = TRACE_FRAME_COMPILED) {
        const struct trace_context *context = trace_context(pools->reader, c);
        const struct trace_sampled_method *method = trace_sampled_method(pools->reader, context->method);
        put_frame(to, FIRST_METHOD + context->method, trace_sampled_line(method, index), index, frame);
        index = context->call_site;
        c = context->parent;
    }
}

uint32_t jfr_stack(struct jfr_pools *pools, const struct jfr_site *site)
{
    uint64_t of = site->context == 0 ? site->part : (uint64_t)site->index + 1;
    uint64_t key = (((uint64_t)site->context << SITE_BITS | of) << FRAME_BITS | site->frame) << END_BITS | site->end;
    struct hash_slot *slot = xhash_put(&pools->stack_numbers, hash_address(key));
    if (slot->value == 0) {
        slot->value = ++pools->stacks.n;
        put_stack(pools, slot->value, site);
    }
    return slot->value;
}

/* ---- the checkpoint ---- */

static void put_texts(struct jfr_pool *pool, uint32_t first, const char *const *texts, uint32_t n)
{
    for (; pool->n < n; pool->n++) {
        jfr_put_number(&pool->bytes, first + pool->n);
        jfr_put_text(&pool->bytes, texts[pool->n]);
    }
}

/* Readers refuse an empty one. */
static void put_pool(struct jfr_bytes *to, enum jfr_type type, const struct jfr_pool *pool, uint32_t *n)
{
    if (pool->n == 0)
        return;
    jfr_put_number(to, type);
    jfr_put_number(to, pool->n);
    jfr_put_bytes(to, &pool->bytes);
    ++*n;
}

void jfr_put_pools(struct jfr_bytes *to, struct jfr_pools *pools)
{
    static const char *const kinds[] = { "Interpreted", "JIT compiled", "Inlined", "Native" };
    /* async-profiler's converter tells samples of CPU time by the first of these from those of wall time. */
    const char *states[] = { pools->has_sleeping ? "STATE_RUNNABLE" : "STATE_DEFAULT", "STATE_SLEEPING" };
    struct jfr_pool threads = { .n = 0 }, methods = { .n = 0 }, frame_types = { .n = 0 }, thread_states = { .n = 0 };
    struct jfr_bytes all = { .n = 0 };
    uint32_t n = 0;
    put_threads(&threads, pools->reader);
    put_methods(pools, &methods);
    put_texts(&frame_types, 0, kinds, 4);
    put_texts(&thread_states, JFR_RUNNING, states, 2);
    put_pool(&all, JFR_FRAME_TYPE, &frame_types, &n);
    put_pool(&all, JFR_THREAD_STATE, &thread_states, &n);
    put_pool(&all, JFR_THREAD, &threads, &n);
    put_pool(&all, JFR_STACK_TRACE, &pools->stacks, &n);
    put_pool(&all, JFR_METHOD, &methods, &n);
    put_pool(&all, JFR_CLASS, &pools->classes, &n);
    put_pool(&all, JFR_SYMBOL, &pools->symbols, &n);
    size_t start = jfr_begin(to);
    jfr_put_number(to, JFR_CHECKPOINT);
    jfr_put_number(to, 0);   /* when */
    jfr_put_number(to, 0);   /* how long it took */
    jfr_put_number(to, 0);   /* the checkpoint before: none */
    jfr_put_fixed(to, 0, 1); /* its kind */
    jfr_put_number(to, n);
    jfr_put_bytes(to, &all);
    jfr_end(to, start);
    jfr_bytes_free(&all);
    jfr_bytes_free(&threads.bytes);
    jfr_bytes_free(&methods.bytes);
    jfr_bytes_free(&frame_types.bytes);
    jfr_bytes_free(&thread_states.bytes);
}
