/* Stack samples in a trace: what is written is read, and what is damaged is not taken for something else. */
#include "core/trace/encode.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <fcntl.h>

static struct err err;

struct heard {
    uint32_t n_methods, n_contexts, n;
    struct trace_sample samples[8];
    uint64_t counters[8][TRACE_SAMPLE_COUNTERS_MAX];
    char changes[128];
};

static void hear_method(void *context, uint32_t number, const struct trace_sampled_method *method)
{
    struct heard *heard = context;
    heard->n_methods += number == heard->n_methods && method->names.class_name != NULL;
}

static void hear_context(void *context, uint32_t number, const struct trace_context *node)
{
    struct heard *heard = context;
    heard->n_contexts += number == heard->n_contexts + 1 && node->parent < number;
}

static void hear_sample(void *context, const struct trace_sample *sample)
{
    struct heard *heard = context;
    if (sample->n_counters > 0)
        memcpy(heard->counters[heard->n], sample->counters, sample->n_counters * sizeof(uint64_t));
    heard->samples[heard->n++] = *sample;
}

static void hear_code(void *context, const struct trace_code_change *change)
{
    struct heard *heard = context;
    size_t n = strlen(heard->changes);
    snprintf(heard->changes + n, sizeof heard->changes - n, "%" PRIu64 " of %" PRIu32 ": %" PRIu64 " %s; ",
             change->ticks, change->context, change->n, change->what);
}

/* Reads all of a trace. */
static struct trace_reader *read_all(const char *path, bool salvage, struct heard *heard)
{
    struct trace_reader *reader;
    struct trace_event event;
    memset(heard, 0, sizeof *heard);
    if (trace_open(&reader, path, salvage, &err) < 0)
        return NULL;
    trace_listen(reader, &(struct trace_listener){ .context = heard,
                                                   .sampled_method = hear_method,
                                                   .context_node = hear_context,
                                                   .code = hear_code,
                                                   .sample = hear_sample });
    while (trace_next(reader, &event, &err) > 0)
        continue;
    return reader;
}

static const struct code_line lines[] = { { 0, 12 }, { 7, 13 }, { 40, 9 } };
static const uint8_t code[60] = { 0x2a, 0xb4, [59] = 0xb1 };
static const struct trace_sampled_method run = { { "a/B", "run", "()V" }, "B.java", 60, lines, 3, code },
                                         sum = { { "a/B", "\xed\xa0\xb5\xed\xb2\xb3", "(I)V" }, "", 0, NULL, 0, NULL };
static const uint64_t counters[] = { 9000000, 0, UINT64_MAX };

static void write_samples(struct maker *m)
{
    const struct trace_sample samples[] = {
        { 500, 0, 3, 41, TRACE_FRAME_COMPILED, 4, 0, false, false, 1, 10000000, 0, NULL },
        { 460, 1, 0, -1, TRACE_FRAME_UNKNOWN, 0, 2, true, false, 1, 10000000, 0, NULL },
        { 461, 1, 2, 65535, TRACE_FRAME_NATIVE, 0, 7, false, true, 3, 0, 3, counters },
        { 462, TRACE_NO_THREAD, 3, 0, TRACE_FRAME_INLINED, 1, 0, false, false, 1, 5, 0, NULL },
    };
    maker_open(m, "samples");
    maker_thread(m, 0, "main", false);
    maker_thread(m, 1, "worker", false);
    maker_stack(m, 0, -1, 0, &run, 0, 0);
    maker_stack(m, 1, 40, 1, &sum, 0, 0);
    maker_stack(m, 2, 65535, 0, &(struct trace_sampled_method){ .names.class_name = NULL }, 0, 0);
    for (size_t i = 0; i < 4; i++)
        maker_must(m, trace_write_sample(m->writer, &samples[i], &m->err));
    const struct trace_code_change changes[] = { { 700, 3, "unstable_if", 300 }, { 690, 1, TRACE_CODE_COMPILED, 1 } };
    for (size_t i = 0; i < 2; i++)
        maker_must(m, trace_write_code(m->writer, &changes[i], &m->err));
    for (uint32_t context = 0; context < 8; context += 4)
        CHECK_NUMBER("what becomes of no method's code is refused",
                     trace_write_code(m->writer, &(struct trace_code_change){ 1, context, "", 1 }, &err), -1);
}

static bool is_alike(const struct trace_sample *a, const struct trace_sample *b)
{
    return a->ticks == b->ticks && a->thread == b->thread && a->context == b->context && a->index == b->index &&
           a->frame == b->frame && a->tier == b->tier && a->end == b->end && a->in_kernel == b->in_kernel &&
           a->is_waiting == b->is_waiting && a->n == b->n && a->weight_ns == b->weight_ns &&
           a->n_counters == b->n_counters;
}

static void test_round_trip(void)
{
    struct maker m;
    struct heard heard;
    write_samples(&m);
    maker_must(&m, trace_writer_close(m.writer, 1000, &m.err));
    struct trace_reader *reader = read_all(m.path, false, &heard);
    CHECK("methods, contexts and samples are told of", heard.n_methods == 2 && heard.n_contexts == 3 && heard.n == 4);
    const struct trace_sample third = { 461, 1, 2, 65535, TRACE_FRAME_NATIVE, 0, 7, false, true, 3, 0, 3, NULL },
                              second = { 460, 1, 0, -1, TRACE_FRAME_UNKNOWN, 0, 2, true, false, 1, 10000000, 0, NULL };
    CHECK("a sample is read as it was written", is_alike(&heard.samples[2], &third));
    CHECK("also one that is earlier than the one before, of no context", is_alike(&heard.samples[1], &second));
    CHECK("its counters, too", memcmp(heard.counters[2], counters, sizeof counters) == 0);
    CHECK_TEXT("what became of code is, too", heard.changes, "700 of 3: 300 unstable_if; 690 of 1: 1 compiled; ");
    CHECK("a sample may be of no one thread", heard.samples[3].thread == TRACE_NO_THREAD);
    const struct trace_context *context = trace_context(reader, 3);
    CHECK("a context knows its caller, where it is called, and its method",
          context->parent == 2 && context->call_site == 65535 && context->method == 0);
    CHECK("and adds up its samples", context->n_own == 2 && context->own_ns == 10000005);
    CHECK("there are no others", trace_n_contexts(reader) == 3 && trace_context(reader, 4) == NULL &&
                                     trace_context(reader, 0) == NULL && trace_n_sampled_methods(reader) == 2);
    const struct trace_sampled_method *method = trace_sampled_method(reader, 0);
    CHECK("a method keeps its lines", method->n_lines == 3 && method->lines[2].index == 40 &&
                                          method->lines[2].line == 9 && method->code_bytes == 60 &&
                                          strcmp(method->source, "B.java") == 0);
    CHECK("and its code", method->code != NULL && memcmp(method->code, code, sizeof code) == 0 &&
                              trace_sampled_method(reader, 1)->code == NULL);
    CHECK_TEXT("a class file's names.method is UTF-8 then", trace_sampled_method(reader, 1)->names.method,
               "\xf0\x9d\x92\xb3");
    trace_close(reader);
    unlink(m.path);
}

static void hear_wait(void *context, const struct trace_wait *wait)
{
    struct trace_wait *heard = context;
    heard[0] = heard[1];
    heard[1] = *wait;
}

static void test_waits(void)
{
    static const struct trace_wait
        first = { 900, 1, TRACE_CAUSE_MONITOR, 3, 41, 2, true, 3, 70000000, "java/util/HashMap", 0, 2 },
        second = { 880, 0, TRACE_CAUSE_READY, 0, -1, 0, false, 1, 5, "", TRACE_NO_THREAD, 0 },
        third = { 890, 0, TRACE_CAUSE_LOCK, 1, 0, 0, false, 1, 9, "java/util/HashMap", TRACE_NO_THREAD, 0 };
    struct trace_wait heard[2] = { first, first }, bad = first;
    struct maker m;
    struct trace_reader *reader;
    struct trace_event event;
    write_samples(&m);
    maker_must(&m, trace_write_wait(m.writer, &first, &m.err));
    maker_must(&m, trace_write_wait(m.writer, &second, &m.err));
    maker_must(&m, trace_write_wait(m.writer, &third, &m.err));
    bad.context = 4;
    CHECK("a wait in a context that is none is refused", trace_write_wait(m.writer, &bad, &err) < 0);
    maker_must(&m, trace_writer_close(m.writer, 1000, &m.err));
    trace_open(&reader, m.path, false, &err);
    trace_listen(reader, &(struct trace_listener){ .context = heard, .wait = hear_wait });
    while (trace_next(reader, &event, &err) > 0)
        continue;
    CHECK("a wait is read as it was written", heard[0].ticks == 880 && heard[0].cause == TRACE_CAUSE_READY &&
                                                  heard[0].context == 0 && heard[0].index == -1 &&
                                                  heard[0].owner == TRACE_NO_THREAD && heard[0].lock_class[0] == '\0' &&
                                                  heard[0].n == 1 && heard[0].weight_ns == 5);
    CHECK("with the class of its lock, which is named once",
          heard[1].ticks == 890 && heard[1].context == 1 && strcmp(heard[1].lock_class, first.lock_class) == 0);
    trace_close(reader);
    unlink(m.path);
}

static void hear_virtual(void *context, const struct trace_virtual_wait *wait)
{
    struct trace_virtual_wait *last = context;
    last[0] = last[1];
    last[1] = *wait;
}

static void test_virtual_waits(void)
{
    static const struct trace_virtual_wait first = { 900, TRACE_CAUSE_LOCK, 3, 41, 2, 50000, 1000000000, "a/Lock" },
                                           second = { 880, TRACE_CAUSE_READY, 0, -1, 0, 7, 5, "" };
    struct trace_virtual_wait heard[2] = { second, second }, bad = first;
    struct maker m;
    struct trace_reader *reader;
    struct trace_event event;
    write_samples(&m);
    maker_must(&m, trace_write_virtual_wait(m.writer, &first, &m.err));
    maker_must(&m, trace_write_virtual_wait(m.writer, &second, &m.err));
    bad.cause = TRACE_CAUSES;
    CHECK("virtual threads of no known cause are refused", trace_write_virtual_wait(m.writer, &bad, &err) < 0);
    maker_must(&m, trace_writer_close(m.writer, 1000, &m.err));
    trace_open(&reader, m.path, false, &err);
    trace_listen(reader, &(struct trace_listener){ .context = heard, .virtual_wait = hear_virtual });
    while (trace_next(reader, &event, &err) > 0)
        continue;
    CHECK("virtual threads are read as they were written",
          heard[0].ticks == 900 && heard[0].cause == TRACE_CAUSE_LOCK && heard[0].context == 3 &&
              heard[0].index == 41 && heard[0].end == 2 && heard[0].n == 50000 && heard[0].weight_ns == 1000000000 &&
              strcmp(heard[0].lock_class, "a/Lock") == 0);
    CHECK("and those without a stack", heard[1].ticks == 880 && heard[1].context == 0 && heard[1].index == -1 &&
                                           heard[1].n == 7 && heard[1].lock_class[0] == '\0');
    trace_close(reader);
    unlink(m.path);
}

static void hear_value(void *context, const struct trace_value *value)
{
    uint32_t *n = context;
    *n += value->id == 9 || value->id == 8;
}

static void test_values(void)
{
    struct maker m;
    struct trace_reader *reader;
    struct trace_event events[5];
    uint32_t n_heard = 0;
    maker_open(&m, "values");
    maker_thread(&m, 0, "main", true);
    maker_method(&m, 7, "a/B", "run", "()V");
    maker_must(&m, trace_write_value(m.writer, &(struct trace_value){ 9, 7, VALUE_TEXT, "/orders" }, &m.err));
    maker_must(&m, trace_write_value(m.writer, &(struct trace_value){ 8, 7, VALUE_OTHER, "" }, &m.err));
    STEPS(&m, 0, ENTER(9, 10), ENTER(7, 20), EXIT(7, 30), EXIT(9, 40), RESUME(8, 50));
    CHECK("a value without an id is refused",
          trace_write_value(m.writer, &(struct trace_value){ 0, 7, VALUE_TEXT, "a" }, &err) < 0);
    maker_close(&m, 1000);
    reader = maker_read(&m);
    trace_listen(reader, &(struct trace_listener){ .context = &n_heard, .value = hear_value });
    for (size_t i = 0; i < 5; i++)
        trace_next(reader, &events[i], &err);
    CHECK("a record that names a value is of the value's method", events[0].method == 7 && events[0].value == 9);
    CHECK("one that names the method is of none of its values", events[1].method == 7 && events[1].value == 0);
    CHECK("exits have it, too", events[2].value == 0 && events[3].method == 7 && events[3].value == 9);
    CHECK("and calls that virtual threads take up again", events[4].method == 7 && events[4].value == 8);
    CHECK("values are told of", n_heard == 2 && trace_n_values(reader) == 10 && trace_value(reader, 7) == NULL);
    CHECK_TEXT("with their text", trace_value_text(trace_value(reader, 9)), "/orders");
    CHECK_TEXT("or what they are", trace_value_text(trace_value(reader, 8)), "(other)");
    trace_close(reader);
    unlink(m.path);
}

static void test_refusals(void)
{
    struct maker m;
    write_samples(&m);
    const struct trace_context later = { .parent = 4, .call_site = -1 };
    const struct code_line unsorted[] = { { 7, 1 }, { 0, 2 } };
    const struct trace_sampled_method named = { { "a", "b", "()V" }, "", 9, unsorted, 2, NULL };
    const struct trace_context wrong = { .parent = 0, .call_site = -1, .method = 2, .named = &named };
    CHECK("a caller comes first", trace_write_context(m.writer, &later, &err) < 0);
    CHECK("a line table is in order", trace_write_context(m.writer, &wrong, &err) < 0);
    const struct trace_sample no_context = { .context = 4, .n = 1 }, no_thread = { .thread = THREAD_INDEX_MAX + 1 },
                              many = { .n_counters = TRACE_SAMPLE_COUNTERS_MAX + 1 };
    CHECK("so does a sample's context", trace_write_sample(m.writer, &no_context, &err) < 0);
    CHECK("a thread's index has a limit", trace_write_sample(m.writer, &no_thread, &err) < 0);
    CHECK("so has the number of counters", trace_write_sample(m.writer, &many, &err) < 0);
    maker_must(&m, trace_writer_close(m.writer, 1000, &m.err));
    unlink(m.path);
}

static void test_depth(void)
{
    const struct trace_sampled_method named = { { "a", "b", "()V" }, "", 0, NULL, 0, NULL }, none = { .source = "" };
    for (uint32_t depth = TRACE_DEPTH_MAX; depth <= TRACE_DEPTH_MAX + 1; depth++) {
        struct maker m;
        struct trace_event event;
        int rc;
        maker_open(&m, "deep");
        for (uint32_t i = 0; i < depth; i++)
            maker_stack(&m, i, -1, 0, i == 0 ? &named : &none, 0, 0);
        maker_close(&m, 1000);
        struct trace_reader *reader = maker_read(&m);
        while ((rc = trace_next(reader, &event, &err)) > 0)
            continue;
        if (depth == TRACE_DEPTH_MAX)
            CHECK("contexts may be as deep as a stack that a reader takes",
                  rc == 0 && trace_context(reader, depth)->depth == depth);
        else
            CHECK("deeper ones are refused", rc < 0 && strstr(err.text, "deeper than 4,096 calls") != NULL);
        trace_close(reader);
        unlink(m.path);
    }
}

/* Appends a chunk to a file that has no END yet. */
static void append(const char *path, enum chunk_type type, const void *payload, size_t n)
{
    uint8_t header[CHUNK_HEADER_BYTES];
    int fd = open(path, O_WRONLY | O_APPEND);
    encode_header(header, type, 0, 0, payload, n);
    if (fd < 0 || write(fd, header, sizeof header) < 0 || write(fd, payload, n) < 0)
        printf("Bail out! cannot write %s\n", path);
    if (fd >= 0)
        close(fd);
}

static void open_empty(struct maker *m, const char *name)
{
    maker_open(m, name);
    maker_must(m, trace_writer_flush(m->writer, &m->err));
}

/* Node 1 is a.run, with 7 ns of 1 sample, node 2 in it a.sum, with 9 ns of 2; then run again. */
static void test_version_6(void)
{
    static const uint8_t stacks[] = { 0,      1 << 1, 7 << 1, 1 << 1, 1 << 1, 'a',    3 << 1,  'r',   'u',    'n',
                                      1 << 1, 'V',    1 << 1, 3 << 1, 9 << 1, 2 << 1, 1 << 1,  'a',   3 << 1, 's',
                                      'u',    'm',    1 << 1, 'V',    2 << 1, 0,      11 << 1, 3 << 1 };
    struct maker m;
    struct heard heard;
    open_empty(&m, "stacks");
    append(m.path, CHUNK_STACKS, stacks, sizeof stacks);
    struct trace_reader *reader = read_all(m.path, false, &heard);
    CHECK("the stacks of version 2.6 are contexts", heard.n_contexts == 3 && heard.n_methods == 2);
    const struct trace_context *third = trace_context(reader, 3);
    CHECK("with their sums", third->parent == 2 && third->method == 0 && third->own_ns == 11 && third->n_own == 3 &&
                                 third->call_site == -1 && trace_context(reader, 2)->own_ns == 9);
    CHECK("which are samples of no one moment",
          heard.n == 3 && heard.samples[1].ticks == TRACE_UNKNOWN && heard.samples[1].n == 2);
    trace_close(reader);
    trace_writer_close(m.writer, 1000, &m.err);
    unlink(m.path);
}

/* Are entries of a chunk refused? */
static bool is_refused(enum chunk_type type, const void *payload, size_t n)
{
    struct maker m;
    struct heard heard;
    open_empty(&m, "damaged");
    append(m.path, type, payload, n);
    struct trace_reader *reader = read_all(m.path, true, &heard);
    bool refused = trace_damaged_chunks(reader) == 1 && heard.n == 0;
    trace_close(reader);
    trace_writer_close(m.writer, 1000, &m.err);
    unlink(m.path);
    return refused;
}

#define REFUSED(claim, type, ...)                                \
    do {                                                         \
        static const uint8_t payload[] = { __VA_ARGS__ };        \
        CHECK(claim, is_refused(type, payload, sizeof payload)); \
    } while (0)

static void test_damage(void)
{
    REFUSED("contexts behind lost ones are refused", CHUNK_CONTEXTS, 1 << 1, 0, 0, 1 << 1, 2, 'a', 2, 'b', 2, 'V', 0, 0,
            0);
    REFUSED("so is a caller that is none", CHUNK_CONTEXTS, 0, 1 << 1, 0, 1 << 1, 2, 'a', 2, 'b', 2, 'V', 0, 0, 0);
    REFUSED("a method that has no name", CHUNK_CONTEXTS, 0, 0, 0, 0);
    REFUSED("more lines than there are bytes", CHUNK_CONTEXTS, 0, 0, 0, 1 << 1, 2, 'a', 2, 'b', 2, 'V', 0, 0, 200);
    REFUSED("a sample of a context that is none", CHUNK_SAMPLES, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 << 1, 0, 0, 2, 2, 0);
    REFUSED("a sample with half its counters", CHUNK_SAMPLES, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2 << 1, 2);
    REFUSED("a sample with too many", CHUNK_SAMPLES, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 17 << 1, 2);
    REFUSED("a wait in a context that is none", CHUNK_WAITS, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3 << 2, 1 << 1, 0, 0, 2, 2,
            0, 0, 0);
    REFUSED("a wait for no known cause", CHUNK_WAITS, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12 << 2, 0, 0, 0, 2, 2, 0, 0, 0);
    REFUSED("a wait for a lock of a class that is not named", CHUNK_WAITS, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3 << 2, 0, 0,
            0, 2, 2, 2 << 1, 0, 0);
    REFUSED("a value without an id", CHUNK_VALUES, 0, 7 << 1, 0, 2, 'a');
    REFUSED("a value of no known kind", CHUNK_VALUES, 9 << 1, 7 << 1, 5 << 1, 0);
    REFUSED("half a value", CHUNK_VALUES, 9 << 1, 7 << 1, 0, 4, 'a');
    REFUSED("virtual threads in a context that is none", CHUNK_VIRTUAL_WAITS, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3 << 1,
            1 << 1, 0, 0, 2, 2, 0);
    REFUSED("half of virtual threads", CHUNK_VIRTUAL_WAITS, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3 << 1, 0, 0, 0, 2);
    REFUSED("half a wait", CHUNK_WAITS, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3 << 2, 0, 0, 0, 2);
    REFUSED("a frame of no known kind", CHUNK_SAMPLES, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20 << 1, 2, 2, 0);
}

int main(void)
{
    test_round_trip();
    test_waits();
    test_virtual_waits();
    test_values();
    test_refusals();
    test_depth();
    test_version_6();
    test_damage();
    return tap_done();
}
