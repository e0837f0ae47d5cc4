/* The log of stack samples that the agent polls: what is written is read, what is damaged is refused; as samples. */
#include "core/recorder/poll_sampler.h"
#include "core/wire/poll_log.h"
#include "test/unit/tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct poll_entry entry;
static uint8_t bytes[1 << 16];

static bool is(struct wire_text text, const char *expected)
{
    return text.n == strlen(expected) && memcmp(text.at, expected, text.n) == 0;
}

static struct wire_text text(const char *at)
{
    return (struct wire_text){ at, strlen(at) };
}

/* A loop of 4 bytes: iinc, goto back; two lines. */
static void put_method(struct sink *s, uint32_t number, const char *name)
{
    static const struct code_line lines[] = { { 3, 12 }, { 0, 11 } };
    static const char loop[] = "\x84\x01\x01\xa7\xff\xfd";
    const struct poll_method method = { .number = number,
                                        .flags = POLL_IS_FIXED,
                                        .class_name = text("Main"),
                                        .name = text(name),
                                        .descriptor = text("()V"),
                                        .source = text("Main.java"),
                                        .code = { loop, 6 },
                                        .lines = lines,
                                        .n_lines = 2 };
    poll_log_put_method(s, &method);
}

static void test_round_trip(void)
{
    static const struct poll_frame frames[] = { { 3, 70 }, { 4, -1 } };
    const struct poll_counts counts = { 3, 17, UINT32_MAX };
    const struct poll_stack stack = { 7, 4711, 5000000000, 123456789, true, 2, frames, { "worker-1", 8 } };
    const struct poll_state state = { 1, 2, UINT64_MAX, 4 };
    struct sink s = sink_into(bytes, sizeof bytes);
    put_method(&s, 3, "run");
    poll_log_put_counts(&s, &counts);
    poll_log_put_stack(&s, &stack);
    poll_log_put_state(&s, &state);
    struct cursor c = cursor_over(bytes, (size_t)(s.at - bytes));
    CHECK("a method comes", poll_log_get(&c, &entry) == 1 && entry.kind == POLL_METHOD && entry.method.number == 3);
    CHECK("with its names", is(entry.method.class_name, "Main") && is(entry.method.name, "run") &&
                                is(entry.method.descriptor, "()V") && is(entry.method.source, "Main.java"));
    CHECK("its code and lines", entry.method.code.n == 6 && entry.method.n_lines == 2 &&
                                    entry.method.lines[0].index == 3 && entry.method.lines[1].line == 11);
    CHECK("its counts come", poll_log_get(&c, &entry) == 1 && entry.kind == POLL_COUNTS &&
                                 memcmp(&entry.counts, &counts, sizeof counts) == 0);
    CHECK("a stack comes", poll_log_get(&c, &entry) == 1 && entry.kind == POLL_STACK);
    CHECK("with its thread, moment and weight", entry.stack.thread == 7 && entry.stack.tid == 4711 &&
                                                    entry.stack.time_ns == 5000000000 &&
                                                    entry.stack.cpu_ns == 123456789 && entry.stack.is_cut);
    CHECK("its name", is(entry.stack.name, "worker-1"));
    CHECK("and its frames", entry.stack.n_frames == 2 && memcmp(entry.stack.frames, frames, sizeof frames) == 0);
    CHECK("the state comes",
          poll_log_get(&c, &entry) == 1 && entry.kind == POLL_STATE && memcmp(&entry.state, &state, sizeof state) == 0);
    CHECK("then nothing", poll_log_get(&c, &entry) == 0);
}

static void test_part(void)
{
    struct sink s = sink_into(bytes, sizeof bytes);
    put_method(&s, 0, "main");
    bool waits = true;
    for (size_t part = 0; part < (size_t)(s.at - bytes); part++) {
        struct cursor c = cursor_over(bytes, part);
        waits = waits && poll_log_get(&c, &entry) == 0 && c.at == bytes && !c.bad;
    }
    CHECK("a part of an entry is not taken, and the cursor stays before it", waits);
    struct sink few = sink_into(bytes, 8);
    put_method(&few, 0, "main");
    CHECK("what finds no room is said", few.full);
}

/* An entry with its length in front. */
static int get(const uint8_t *body, size_t n)
{
    struct sink s = sink_into(bytes, sizeof bytes);
    sink_u32le(&s, (uint32_t)n);
    sink_bytes(&s, body, n);
    struct cursor c = cursor_over(bytes, n + 4);
    return poll_log_get(&c, &entry);
}

static void test_damage(void)
{
    static const struct {
        const char *claim;
        uint8_t body[12];
        size_t n;
        int rc;
    } rows[] = {
        { "an entry without a kind is refused", { 0 }, 0, -1 },
        { "a kind that is not known is refused", { 8, 0, 0 }, 3, -1 },
        { "a method that ends too early is refused", { 0, 1, 2 }, 3, -1 },
        { "a name longer than its entry is refused", { 0, 1, 2, 9, 'a' }, 5, -1 },
        { "a method without anything is taken", { 0, 1, 2, 0, 0, 0, 0, 0, 0 }, 9, 1 },
        { "bytes behind its end are refused", { 0, 1, 2, 0, 0, 0, 0, 0, 0, 0 }, 10, -1 },
        { "a flag that is not known is refused", { 0, 1, 4, 0, 0, 0, 0, 0, 0 }, 9, -1 },
        { "fewer lines than it says are refused", { 0, 1, 2, 0, 0, 0, 0, 0, 1 }, 9, -1 },
        { "counts are taken", { 1, 1, 2, 5 }, 4, 1 },
        { "a tier that no compiler has is refused", { 1, 1, 2, 6 }, 4, -1 },
        { "a stack is taken", { 2, 0, 0, 0, 0, 0, 0, 1, 1, 1 }, 10, 1 },
        { "one with fewer frames than it says is refused", { 2, 0, 0, 0, 0, 0, 0, 2, 1, 1 }, 10, -1 },
        { "more frames than a sample may have are refused", { 2, 0, 0, 0, 0, 0, 0, 0x81, 4, 0 }, 10, -1 },
        { "a thread's number over the limit is refused", { 2, 0x80, 0x80, 4, 0, 0, 0, 0, 0 }, 9, -1 },
        { "a state with a number too few is refused", { 3, 0, 0, 0 }, 4, -1 },
        { "a class is taken", { 4, 0, 1, 'A' }, 4, 1 },
        { "a name of a class longer than its entry is refused", { 4, 0, 2, 'A' }, 4, -1 },
        { "an allocation is taken", { 5, 9, 0, 0, 24, 1, 0, 0, 1, 1, 1 }, 11, 1 },
        { "one with fewer frames than it says is refused", { 5, 9, 0, 0, 24, 1, 0, 0, 2, 1, 1 }, 11, -1 },
        { "what is neither counted nor not counted is refused", { 6, 0, 0, 0, 0, 0, 0, 2 }, 8, -1 },
        { "an object that was freed is taken", { 7, 9, 1, 3 }, 4, 1 },
        { "what became of one in no known way is refused", { 7, 9, 4, 3 }, 4, -1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_NUMBER(rows[i].claim, get(rows[i].body, rows[i].n), rows[i].rc);
    static const uint8_t huge[] = { 0xff, 0xff, 0xff, 0x7f };
    struct cursor c = cursor_over(huge, sizeof huge);
    CHECK("an entry of 2 GB is refused before it comes", poll_log_get(&c, &entry) == -1);
}

/* ---- as samples ---- */

static struct {
    uint32_t n;
    struct stack_sample last;
    char inner[16], outer[16];
    uint32_t calls;
} seen;

static int take(const struct stack_sample *sample, void *context, struct err *err)
{
    (void)context;
    (void)err;
    seen.n++;
    seen.last = *sample;
    if (sample->n == 0)
        return 0;
    const struct sampled_method *inner = &sample->known[sample->methods[0]],
                                *outer = &sample->known[sample->methods[sample->n - 1]];
    snprintf(seen.inner, sizeof seen.inner, "%s", inner->names.method);
    snprintf(seen.outer, sizeof seen.outer, "%s", outer->names.method);
    seen.calls = sampled_method_calls(inner);
    return 0;
}

static int give(struct poll_sampler *sampler, struct sink *s, struct err *err)
{
    size_t n = (size_t)(s->at - bytes);
    if (write(poll_sampler_fd(sampler), bytes, n) != (ssize_t)n)
        printf("Bail out! cannot write\n");
    *s = sink_into(bytes, sizeof bytes);
    return poll_sampler_drain(sampler, take, NULL, err);
}

static void test_samples(void)
{
    static const struct poll_frame frames[] = { { 0, 3 }, { 1, 0 } }, unknown[] = { { 2, 0 } };
    struct poll_sampler *sampler;
    struct err err = { "" };
    struct sink s = sink_into(bytes, sizeof bytes);
    CHECK_NUMBER("a sampler is opened", poll_sampler_open(&sampler, getpid(), &err), 0);
    put_method(&s, 0, "main");
    put_method(&s, 1, "run");
    poll_log_put_counts(&s, &(struct poll_counts){ 1, 17, 0 });
    poll_log_put_stack(&s,
                       &(struct poll_stack){ 0, getpid(), 5, 6, false, 2, frames, { "worker-of-the-first-kind", 24 } });
    CHECK_NUMBER("its log is read", give(sampler, &s, &err), 0);
    CHECK("a stack is a sample, its innermost method first",
          seen.n == 1 && strcmp(seen.inner, "run") == 0 && strcmp(seen.outer, "main") == 0);
    CHECK("with weight and thread",
          seen.last.weight == 6 && seen.last.tid == getpid() && strncmp(seen.last.thread_name, "poll_log", 8) == 0);
    CHECK_TEXT("and the thread's whole name", seen.last.java_name, "worker-of-the-first-kind");
    CHECK("it is known where each call is", seen.last.frames[1].index == 3 && seen.last.end == STACK_WHOLE);
    const struct sampled_method *method = &seen.last.known[0];
    CHECK("and what its code is", method->bytecodes.has_loop && method->code.is_hidden && method->lines[0].line == 11);
    CHECK_NUMBER("and how often it was called", seen.calls, 17);
    poll_log_put_stack(&s, &(struct poll_stack){ 1, 0, 7, 8, true, 1, frames, { "", 0 } });
    poll_log_put_state(&s, &(struct poll_state){ .cost_ns = 9 });
    CHECK_NUMBER("what comes later is read, too", give(sampler, &s, &err), 0);
    struct poll_state state;
    poll_sampler_state(sampler, &state);
    CHECK("a thread without an id, a stack that is cut, and the cost",
          seen.n == 2 && seen.last.tid == 0 && seen.last.end == STACK_CUT && state.cost_ns == 9);
    poll_log_put_stack(&s, &(struct poll_stack){ 0, 0, 7, 8, false, 1, unknown, { "", 0 } });
    CHECK_NUMBER("a method that was not named is damage", give(sampler, &s, &err), -1);
    CHECK_TEXT("which is said", err.text, "the agent's stack samples are damaged: no method has number 2");
    poll_sampler_close(sampler);
}

/* ---- allocations ---- */

static struct {
    uint32_t n;
    struct allocation_sample last;
    char class_name[16];
} allocated;

static int take_allocation(const struct allocation_sample *sample, void *context, struct err *err)
{
    (void)context;
    (void)err;
    allocated.n++;
    allocated.last = *sample;
    snprintf(allocated.class_name, sizeof allocated.class_name, "%s", sample->class_name);
    return 0;
}

static struct poll_heap freed;

static int take_heap(const struct poll_heap *heap, void *context, struct err *err)
{
    (void)context;
    (void)err;
    freed = *heap;
    return 0;
}

static void test_allocations(void)
{
    static const struct poll_frame frames[] = { { 0, 3 } };
    const struct poll_allocation allocation = { getpid(), 5, 0, 4096, 524288, 24, false, 1, frames };
    const struct poll_allocated state = { 1, 2, 3, 4, 6, 5, true };
    struct poll_allocated told;
    struct poll_sampler *sampler;
    struct err err = { "" };
    struct sink s = sink_into(bytes, sizeof bytes);
    CHECK_NUMBER("a sampler is opened", poll_sampler_open(&sampler, getpid(), &err), 0);
    put_method(&s, 0, "main");
    poll_log_put_class(&s, &(struct poll_class){ 0, text("[B") });
    poll_log_put_allocation(&s, &allocation);
    poll_log_put_allocated(&s, &state);
    poll_log_put_heap(&s, &(struct poll_heap){ 7, POLL_HEAP_FREED, 300 });
    poll_log_put_stack(&s, &(struct poll_stack){ 0, getpid(), 5, 6, false, 1, frames, { "other", 5 } });
    size_t n = (size_t)(s.at - bytes);
    CHECK("a log of allocations is read",
          write(poll_sampler_fd(sampler), bytes, n) == (ssize_t)n &&
              poll_sampler_drain_allocations(sampler, take_allocation, take_heap, NULL, &err) == 0 && allocated.n == 1);
    CHECK("an object has its class, size and what the JVM drew from",
          strcmp(allocated.class_name, "[B") == 0 && allocated.last.size_bytes == 4096 &&
              allocated.last.interval_bytes == 524288 && allocated.last.before_bytes == 24);
    CHECK("and its thread and stack", allocated.last.stack.tid == getpid() && allocated.last.stack.n == 1 &&
                                          allocated.last.stack.frames[0].index == 3);
    poll_sampler_allocated(sampler, &told);
    CHECK("what became of an object is told",
          freed.time_ns == 7 && freed.kind == POLL_HEAP_FREED && freed.number == 300);
    CHECK("the state is known", told.n_lost == 2 && told.ns == 3 && told.jvm_bytes == 5 && told.is_counted);
    const struct poll_allocation unknown = { 0, 5, 1, 24, 1, 0, false, 0, NULL };
    s = sink_into(bytes, sizeof bytes);
    poll_log_put_allocation(&s, &unknown);
    n = (size_t)(s.at - bytes);
    CHECK("a class that was not named is damage",
          write(poll_sampler_fd(sampler), bytes, n) == (ssize_t)n &&
              poll_sampler_drain_allocations(sampler, take_allocation, take_heap, NULL, &err) < 0);
    CHECK_TEXT("which is said", err.text, "the agent's allocation samples are damaged: no class has number 1");
    poll_sampler_close(sampler);
}

int main(void)
{
    test_round_trip();
    test_part();
    test_damage();
    test_samples();
    test_allocations();
    return tap_done();
}
