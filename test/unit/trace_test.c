/*
 * What is written is read again: definitions, records of all kinds, counters, gaps, and whatever a target may put
 * into its ring.
 */
#include "test/unit/trace_model.h"

#include "test/unit/tap.h"

static struct err err;

struct stream {
    struct seen expected;
    uint64_t *words;
    size_t n_words, n_counters;
    uint64_t ticks, random;
    uint64_t counters[TRACE_COLUMNS_MAX];
    uint32_t depth, stack[8192];
};

static void add_record(struct stream *s, enum ring_kind kind, uint32_t method, uint32_t thread)
{
    uint64_t *word = s->words + s->n_words;
    bool has_method = kind <= RING_OPEN;
    s->n_words += 1 + s->n_counters;
    word[0] = ring_word(kind, method, s->ticks);
    /* Of many, a part changes, as with groups that take turns. */
    size_t first = s->n_counters <= 8 ? 0 : random_next(&s->random) % s->n_counters;
    size_t last = s->n_counters <= 8 ? s->n_counters : first + 1 + random_next(&s->random) % (s->n_counters - first);
    memcpy(word + 1, s->counters, s->n_counters * sizeof *word);
    for (size_t i = first; i < last; i++) {
        s->counters[i] += random_next(&s->random) >> (random_next(&s->random) % 64);
        word[1 + i] = s->counters[i];
    }
    struct trace_event event = { .kind = (enum trace_kind)kind, .thread = thread, .ticks = s->ticks };
    event.method = has_method ? method : 0;
    event.count = has_method ? 0 : method;
    event.counters = s->counters;
    see_event(&s->expected, &event, s->n_counters);
}

/* Calls, deep at times; a few exits without an entry, or of the wrong method, a few gaps, a few virtual threads. */
static void add_random(struct stream *s, uint32_t thread)
{
    uint64_t r = random_next(&s->random);
    s->ticks += (r & 15) == 0 ? r >> 8 & 0xffffff : r >> 8 & 0x3ff;
    bool rises = ((r >> 60) < 10) == (s->n_words / 40000 % 2 == 0);
    if ((r >> 40 & 0xfff) == 0)
        add_record(s, RING_GAP, (uint32_t)(r >> 20) & RING_METHOD_MAX, thread);
    else if ((r >> 40 & 0xfff) < 8)
        add_record(s, r >> 32 & 1 ? RING_EXIT : RING_UNWIND, (uint32_t)(r >> 20) & RING_METHOD_MAX, thread);
    else if ((r >> 40 & 0xfff) < 64)
        add_record(s, (enum ring_kind)(RING_RESUME + (r >> 34 & 0xff) % 4), (uint32_t)r & RING_METHOD_MAX, thread);
    else if (s->depth == 0 || (rises && s->depth < 8192)) {
        s->stack[s->depth] = r >> 34 & 1 ? (uint32_t)(r >> 20) & 0xff : (uint32_t)(r >> 20) & RING_METHOD_MAX;
        add_record(s, RING_ENTER, s->stack[s->depth++], thread);
    } else
        add_record(s, r >> 32 & 31 ? RING_EXIT : RING_UNWIND, s->stack[--s->depth], thread);
}

static struct trace_writer *open_scratch(const char *name)
{
    struct trace_writer *writer = NULL;
    if (trace_writer_open(&writer, scratch_path(name), &err) < 0)
        printf("# %s\n", err.text);
    return writer;
}

static int write_counters(struct trace_writer *writer, size_t n)
{
    struct trace_counter counters[TRACE_COLUMNS_MAX];
    for (size_t i = 0; i < n; i++)
        counters[i] = (struct trace_counter){ "instructions", "", true, TRACE_COUNTER_EVENT, 0 };
    return trace_write_counters(writer, counters, n, &err);
}

static struct seen read_scratch(const char *name)
{
    struct seen seen = { .rc = -1 };
    struct bytes bytes = slurp(scratch_path(name));
    see_bytes(bytes.at, bytes.n, false, &seen, &err);
    if (seen.rc < 0)
        printf("# %s\n", err.text);
    free(bytes.at);
    unlink(scratch_path(name));
    return seen;
}

static void test_random_streams(size_t n_counters)
{
    enum { N_ROUNDS = 7 };
    const int N_RECORDS = n_counters <= 8 ? 120000 : 20000;
    char claim[80];
    struct stream *s = calloc(1, sizeof *s);
    s->words = calloc((size_t)N_RECORDS * (1 + n_counters), sizeof *s->words);
    s->n_counters = n_counters;
    s->random = 88172645463325252u + n_counters;
    s->ticks = (UINT64_C(7) << RING_TICKS_BITS) - 1000000; /* the low bits wrap in the first round */
    struct trace_writer *writer = open_scratch("random");
    int rc = n_counters == 0 ? 0 : write_counters(writer, n_counters);
    for (int round = 0; round < N_ROUNDS; round++) {
        s->n_words = 0;
        for (int i = 0; i < N_RECORDS / N_ROUNDS; i++)
            add_random(s, (uint32_t)round % 3);
        rc |= trace_write_records(writer, (uint32_t)round % 3, s->words, s->n_words, s->ticks + 5, &err);
    }
    snprintf(claim, sizeof claim, "the writer counts its records, with %zu counters", n_counters);
    CHECK_NUMBER(claim, trace_writer_records(writer), s->expected.n);
    uint64_t n_bytes = trace_writer_bytes(writer);
    rc |= trace_writer_close(writer, s->ticks + 9, &err);
    struct seen seen = read_scratch("random");
    snprintf(claim, sizeof claim, "a random stream with %zu counters is read as it was written", n_counters);
    CHECK(claim, rc == 0 && seen.rc == 0 && !seen.cut && seen.n == s->expected.n && begins(&seen, &s->expected));
    printf("# %.2f bytes a record\n", (double)n_bytes / (double)seen.n);
    CHECK("the end is END's", seen.end_ticks == s->ticks + 9 && seen.n_recorded == n_counters);
    free(seen.events);
    free(s->expected.events);
    free(s->words);
    free(s);
}

/* No word may harm; kinds and methods are kept, and time never goes back. */
static void test_garbage(void)
{
    enum { N = 50000 };
    uint64_t *words = calloc(N, sizeof *words), random = 4711, now = UINT64_C(3) << RING_TICKS_BITS;
    for (size_t i = 0; i < N; i++)
        words[i] = random_next(&random);
    struct trace_writer *writer = open_scratch("garbage");
    int rc = trace_write_records(writer, 5, words, N / 2, now, &err);
    rc |= trace_write_records(writer, 5, words + N / 2, N / 2, now + 77, &err);
    rc |= trace_writer_close(writer, now + 77, &err);
    struct seen seen = read_scratch("garbage");
    bool kept = rc == 0 && seen.n == N, in_order = true;
    for (size_t i = 0; i < seen.n; i++) {
        const struct trace_event *event = &seen.events[i].event;
        uint64_t operand = event->kind <= TRACE_OPEN ? event->method : event->count;
        enum ring_kind kind = ring_word_kind(words[i]);
        kept = kept && event->kind == (kind > RING_GAP ? TRACE_GAP : (enum trace_kind)kind);
        kept = kept && operand == ring_word_method(words[i]);
        in_order = in_order && event->ticks <= now + 77;
        if (i > 0)
            in_order = in_order && event->ticks >= seen.events[i - 1].event.ticks;
    }
    CHECK("random words are records too", kept);
    CHECK("and their time does not go back", in_order);
    free(seen.events);
    free(words);
}

/* A word whose time is before the thread's latest one gets that; the words after it are right again. */
static void test_time_going_back(void)
{
    const uint64_t base = UINT64_C(9) << RING_TICKS_BITS;
    const uint64_t ticks[] = { 1000, 990, 1010, 1005, 1020 }, expected[] = { 1000, 1000, 1010, 1010, 1020 };
    struct trace_writer *writer = open_scratch("back");
    for (size_t i = 0; i < 5; i++) {
        uint64_t word = ring_word(RING_ENTER, 1, base + ticks[i]);
        trace_write_records(writer, 1, &word, 1, base + 2000, &err);
    }
    trace_writer_close(writer, base + 2000, &err);
    struct seen seen = read_scratch("back");
    bool right = seen.n == 5;
    for (size_t i = 0; right && i < 5; i++)
        right = seen.events[i].event.ticks == base + expected[i];
    CHECK("within a thread time stands still rather than going back", right);
    free(seen.events);
}

static void test_kernel(void)
{
    const struct trace_event events[] = {
        { .kind = TRACE_THREAD_START, .thread = 3, .ticks = 10 },
        { .kind = TRACE_CPU_IN, .thread = 3, .ticks = 11 },
        { .kind = TRACE_PAGE_FAULT, .thread = 3, .ticks = 11 },
        { .kind = TRACE_CPU_OUT, .thread = THREAD_INDEX_MAX, .ticks = 5000 },
        { .kind = TRACE_KERNEL_LOST, .ticks = 6000, .count = UINT64_MAX },
        { .kind = TRACE_CPU_PREEMPTED, .thread = 3, .ticks = UINT64_MAX - 1 },
        { .kind = TRACE_THREAD_END, .thread = 3, .ticks = 7 }, /* not sorted: still itself */
    };
    const size_t n = sizeof events / sizeof events[0];
    struct seen expected = { .n = 0 };
    struct trace_writer *writer = open_scratch("kernel");
    trace_write_kernel(writer, events, 2, &err);
    trace_write_kernel(writer, events + 2, n - 2, &err);
    trace_writer_close(writer, 7, &err);
    for (size_t i = 0; i < n; i++)
        see_event(&expected, &events[i], 0);
    struct seen seen = read_scratch("kernel");
    CHECK("kernel events are read as they were written", seen.n == n && begins(&seen, &expected));
    free(seen.events);
    free(expected.events);
}

static void test_control(void)
{
    const struct trace_event events[] = {
        { .kind = TRACE_ENABLED, .method = 3, .ticks = 10 },
        { .kind = TRACE_DISABLED, .method = RING_METHOD_MAX, .ticks = 11 },
        { .kind = TRACE_PAUSE, .ticks = 7, .count = 45000000 }, /* not sorted: still itself */
        { .kind = TRACE_RECOVERED, .ticks = UINT64_MAX - 1, .count = UINT64_MAX },
    };
    const struct trace_event kernel = { .kind = TRACE_CPU_IN, .thread = 3, .ticks = 1 };
    const struct trace_event bad = { .kind = TRACE_ENABLED, .method = RING_METHOD_MAX + 1 };
    const size_t n = sizeof events / sizeof events[0];
    struct seen expected = { .n = 0 };
    struct trace_writer *writer = open_scratch("control");
    int rc = trace_write_control(writer, events, 1, &err);
    rc |= trace_write_control(writer, events + 1, n - 1, &err);
    CHECK("what is no control event, or of no method, is refused",
          trace_write_control(writer, &kernel, 1, &err) < 0 && trace_write_control(writer, &bad, 1, &err) < 0);
    rc |= trace_writer_close(writer, 7, &err);
    for (size_t i = 0; i < n; i++)
        see_event(&expected, &events[i], 0);
    struct seen seen = read_scratch("control");
    CHECK("control events are read as they were written", rc == 0 && seen.n == n && begins(&seen, &expected));
    free(seen.events);
    free(expected.events);
}

/* A round's readings stand before its records. */
static void test_readings(size_t n_counters)
{
    uint64_t values[TRACE_COLUMNS_MAX] = { 0 }, word[1 + TRACE_COLUMNS_MAX] = { ring_word(RING_ENTER, 4, 90) };
    static const struct {
        uint32_t thread, series;
        uint64_t ticks;
    } rows[] = { { 3, 0, 1000 }, { THREAD_INDEX_MAX, 1, 1000 }, { 3, UINT32_MAX, UINT64_MAX }, { 0, 1, 7 } };
    struct seen expected = { .n = 0 };
    char claim[80];
    struct trace_writer *writer = open_scratch("readings");
    int rc = write_counters(writer, n_counters);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t k = 0; k < n_counters; k++)
            values[k] = k % 5 == i ? TRACE_NOT_COUNTED : i * k * UINT64_C(0x123456789);
        rc |= trace_write_counts(writer, rows[i].thread, rows[i].series, rows[i].ticks, values, &err);
        struct trace_event event = { .kind = TRACE_COUNTS,
                                     .thread = rows[i].thread,
                                     .ticks = rows[i].ticks,
                                     .count = rows[i].series,
                                     .counters = values };
        see_event(&expected, &event, n_counters);
    }
    rc |= trace_write_records(writer, 1, word, 1 + n_counters, 100, &err);
    rc |= trace_writer_close(writer, 100, &err);
    struct trace_event event = { .kind = TRACE_ENTER, .thread = 1, .method = 4, .ticks = 90, .counters = word + 1 };
    see_event(&expected, &event, n_counters);
    struct seen seen = read_scratch("readings");
    snprintf(claim, sizeof claim, "readings of %zu counters are read as they were written", n_counters);
    CHECK(claim, rc == 0 && seen.rc == 0 && seen.n == expected.n && begins(&seen, &expected));
    free(seen.events);
    free(expected.events);
}

/* Where probes read nothing, readings have values and records have none. */
static void test_plain_records(void)
{
    const uint64_t words[] = { ring_word(RING_ENTER, 4, 90), ring_word(RING_EXIT, 4, 95) }, values[] = { 7, 8, 9 };
    struct trace_writer *writer = open_scratch("plain");
    int rc = write_counters(writer, 3);
    trace_write_plain_records(writer);
    rc |= trace_write_counts(writer, 1, 0, 80, values, &err);
    rc |= trace_write_records(writer, 1, words, 2, 100, &err);
    CHECK_NUMBER("a plain record is one word", trace_writer_records(writer), 2);
    rc |= trace_writer_close(writer, 100, &err);
    struct seen seen = read_scratch("plain");
    CHECK("plain records and readings are read", rc == 0 && seen.rc == 0 && seen.n == 3);
    CHECK("the readings' values are theirs", seen.n == 3 && memcmp(seen.events[0].counters, values, 24) == 0);
    CHECK("the records' are not counted", seen.n == 3 && seen.events[1].counters[0] == TRACE_NOT_COUNTED &&
                                              seen.events[2].counters[2] == TRACE_NOT_COUNTED);
    free(seen.events);
}

/* 36 columns of 5 groups, of which one counts: what the others' columns cost. */
static void test_unchanged_columns(void)
{
    enum { N = 1000, N_COLUMNS = 36, N_CHANGED = 7 };
    static uint64_t words[N][1 + N_COLUMNS];
    for (size_t i = 0; i < N; i++) {
        words[i][0] = ring_word(i % 2 == 0 ? RING_ENTER : RING_EXIT, 4, 100 * i);
        for (size_t k = 0; k < N_COLUMNS; k++)
            words[i][1 + k] = k < N_CHANGED ? 50 * i : 100000;
    }
    struct trace_writer *writer = open_scratch("unchanged");
    write_counters(writer, N_COLUMNS);
    trace_writer_flush(writer, &err);
    uint64_t before = trace_writer_bytes(writer);
    trace_write_records(writer, 1, &words[0][0], sizeof words / sizeof words[0][0], 100 * N, &err);
    uint64_t n_bytes = trace_writer_bytes(writer) - before - 32;
    trace_writer_close(writer, 100 * N, &err);
    unlink(scratch_path("unchanged"));
    CHECK("29 columns that do not change cost 5 bytes a record", n_bytes < N * (3 + 5 + N_CHANGED) + 200);
}

static void test_order(void)
{
    const struct trace_event event = { .kind = TRACE_CPU_IN, .thread = 1, .ticks = 100 };
    const struct trace_method method = { 4, { "A", "b", "()V" }, "A.java", 3, 60, true };
    const struct trace_thread thread = { 1, 99, true, "main", "java", 50, TRACE_UNKNOWN, 0, .cpu_time = { 0 } };
    uint64_t word = ring_word(RING_ENTER, 4, 90);
    struct trace_writer *writer = open_scratch("order");
    trace_write_kernel(writer, &event, 1, &err);
    trace_write_method(writer, &method, &err);
    trace_write_thread(writer, &thread, &err);
    trace_write_records(writer, 1, &word, 1, 100, &err);
    trace_writer_close(writer, 100, &err);
    struct trace_reader *reader;
    struct trace_event got = { .kind = TRACE_GAP };
    trace_open(&reader, scratch_path("order"), false, &err);
    trace_next(reader, &got, &err);
    CHECK("what the kernel said comes before the records", got.kind == TRACE_CPU_IN);
    CHECK_TEXT("and threads before the kernel's events", trace_thread(reader, 1)->name, "main");
    trace_next(reader, &got, &err);
    CHECK("then the records", got.kind == TRACE_ENTER);
    CHECK_TEXT("whose methods are known", trace_method(reader, 4)->names.class_name, "A");
    CHECK("the end is 0 and stays 0", trace_next(reader, &got, &err) == 0 && trace_next(reader, &got, &err) == 0);
    trace_close(reader);
    unlink(scratch_path("order"));
}

static struct jit_event jit_seen[8];
static size_t n_jit_seen;

static void see_jit(void *context, const struct jit_event *event)
{
    (void)context;
    if (n_jit_seen < 8)
        jit_seen[n_jit_seen++] = *event;
}

static void test_jit(void)
{
    struct jit_event events[3] = { { .kind = JIT_METHOD, .method = 2 },
                                   { .kind = JIT_WATCHED, .method = 2, .ticks = 70 },
                                   { .kind = JIT_COMPILED, .method = 2, .ticks = 90, .code_bytes = 800 } };
    const struct trace_listener listener = { .jit = see_jit };
    struct trace_writer *writer = open_scratch("jit");
    struct trace_reader *reader;
    struct trace_event got;
    events[0].class_name = (struct wire_text){ "Main", 4 };
    events[0].name = (struct wire_text){ "run", 3 };
    events[0].descriptor = (struct wire_text){ "()V", 3 };
    events[2].n_inlined = 1;
    events[2].inlined[0] = (struct jit_inlined){ 2, 2 };
    for (size_t i = 0; i < 3; i++)
        trace_write_jit(writer, &events[i], &err);
    trace_writer_close(writer, 100, &err);
    trace_open(&reader, scratch_path("jit"), false, &err);
    trace_listen(reader, &listener);
    CHECK("JIT events are no events of threads", trace_next(reader, &got, &err) == 0);
    CHECK("the listener is told of them in their order", n_jit_seen == 3 && jit_seen[0].kind == JIT_METHOD &&
                                                             jit_seen[1].kind == JIT_WATCHED &&
                                                             jit_seen[1].ticks == 70);
    CHECK("a compilation with what was inlined",
          jit_seen[2].code_bytes == 800 && jit_seen[2].n_inlined == 1 && jit_seen[2].inlined[0].caller == 2);
    trace_close(reader);
    unlink(scratch_path("jit"));
}

/* ---- where threads were found ---- */

static struct location_entry places_seen[8];
static size_t n_places_seen;

static void see_place(void *context, const struct location_entry *entry)
{
    (void)context;
    if (n_places_seen < 8)
        places_seen[n_places_seen++] = *entry;
}

/* The texts live as long as the reader's chunk: they are compared at once. */
static bool same_text(struct wire_text a, const char *b)
{
    return a.n == strlen(b) && memcmp(a.at, b, a.n) == 0;
}

static struct location_entry code_place(void)
{
    struct location_entry location = {
        .kind = LOCATION_IN_CODE, .number = 1, .code = LOCATION_COMPILED, .tier = 4, .n_frames = 2
    };
    location.frames[0] = (struct location_frame){ 7, 573 };
    location.frames[1] = (struct location_frame){ 8, 0 };
    return location;
}

static void write_places(struct trace_writer *writer)
{
    const struct location_entry code = code_place();
    const struct location_entry entries[] = {
        { .kind = LOCATION_FILE, .number = 3, .path = wire_text("/lib/a.so"), .build_id = wire_text("12ab") },
        { .kind = LOCATION_SYMBOL, .number = 3, .offset = 4096, .n_bytes = 70, .name = wire_text("f") },
        { .kind = LOCATION_METHOD,
          .number = 7,
          .class_name = wire_text("a/Main"),
          .name = wire_text("run"),
          .descriptor = wire_text("()V"),
          .source = wire_text("Main.java") },
        { .kind = LOCATION_IN_FILE, .number = 0, .file = 3, .offset = UINT64_C(1) << 40 },
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        trace_write_location(writer, &entries[i], &err);
    trace_write_location(writer, &code, &err);
}

static void test_ip_samples(void)
{
    const struct trace_event events[] = {
        { .kind = TRACE_IP_SAMPLE, .thread = 2, .ticks = 10, .count = 0 },
        { .kind = TRACE_KERNEL_IP_SAMPLE, .thread = 5, .ticks = 10, .count = 1 },
        { .kind = TRACE_IP_SAMPLE,
          .thread = 2,
          .ticks = 7,
          .count = LOCATION_NUMBERS_MAX - 1 }, /* not sorted: still itself */
        { .kind = TRACE_IP_SAMPLE, .thread = 2, .ticks = UINT64_MAX - 1, .count = 0 },
    };
    const struct trace_event bad[] = { { .kind = TRACE_CPU_IN },
                                       { .kind = TRACE_IP_SAMPLE, .count = LOCATION_NUMBERS_MAX } };
    const size_t n = sizeof events / sizeof events[0];
    const struct trace_listener listener = { .location = see_place };
    struct seen expected = { .n = 0 };
    struct trace_writer *writer = open_scratch("ip_samples");
    struct trace_reader *reader;
    struct trace_event got;
    write_places(writer);
    int rc = trace_write_ip_samples(writer, events, n, &err);
    CHECK("what is no IP sample, or at no possible code location, is refused",
          trace_write_ip_samples(writer, &bad[0], 1, &err) < 0 && trace_write_ip_samples(writer, &bad[1], 1, &err) < 0);
    rc |= trace_writer_close(writer, 7, &err);
    for (size_t i = 0; i < n; i++)
        see_event(&expected, &events[i], 0);
    trace_open(&reader, scratch_path("ip_samples"), false, &err);
    trace_listen(reader, &listener);
    trace_next(reader, &got, &err);
    const struct location_entry code = code_place();
    CHECK("code locations come before the IP samples that name them",
          n_places_seen == 5 && got.kind == TRACE_IP_SAMPLE);
    CHECK("a file", places_seen[0].number == 3 && same_text(places_seen[0].path, "/lib/a.so") &&
                        same_text(places_seen[0].build_id, "12ab") && same_text(places_seen[0].symbols, ""));
    CHECK("a symbol of it", places_seen[1].kind == LOCATION_SYMBOL && places_seen[1].offset == 4096 &&
                                places_seen[1].n_bytes == 70 && same_text(places_seen[1].name, "f"));
    CHECK("a method", same_text(places_seen[2].class_name, "a/Main") && same_text(places_seen[2].source, "Main.java"));
    CHECK("a code location in a file", places_seen[3].file == 3 && places_seen[3].offset == UINT64_C(1) << 40);
    CHECK("a code location in compiled code, with what is inlined there",
          places_seen[4].tier == 4 && places_seen[4].code == LOCATION_COMPILED && places_seen[4].n_frames == 2 &&
              memcmp(places_seen[4].frames, code.frames, sizeof code.frames) == 0);
    trace_close(reader);
    struct seen seen = read_scratch("ip_samples");
    CHECK("IP samples are read as they were written", rc == 0 && seen.n == n && begins(&seen, &expected));
    free(seen.events);
    free(expected.events);
}

static void test_too_many_counters(void)
{
    struct trace_counter counters[TRACE_COUNTERS_MAX + 1];
    struct trace_writer *writer = open_scratch("many");
    for (size_t i = 0; i <= TRACE_COUNTERS_MAX; i++)
        counters[i] = (struct trace_counter){ "c", "", i <= TRACE_COLUMNS_MAX, TRACE_COUNTER_EVENT, 0 };
    CHECK("82 columns are refused", trace_write_counters(writer, counters, TRACE_COLUMNS_MAX + 1, &err) < 0);
    CHECK("and said", strstr(err.text, "at most 128 counters, 81 of them in records") != NULL);
    counters[0].in_records = false;
    CHECK("129 counters, too", trace_write_counters(writer, counters, TRACE_COUNTERS_MAX + 1, &err) < 0);
    CHECK("81 columns are taken", trace_write_counters(writer, counters, TRACE_COUNTERS_MAX, &err) == 0);
    trace_writer_close(writer, 5, &err);
    unlink(scratch_path("many"));
}

static void test_definitions(void)
{
    static char longest[STRING_MAX_BYTES + 10];
    memset(longest, 'x', sizeof longest - 1);
    memcpy(longest + STRING_MAX_BYTES - 1, "\xc3\xa4", 2); /* a character of two bytes across the limit */
    const struct trace_counter counters[] = { { "cycles", "not here", false, TRACE_COUNTER_EVENT, 0 },
                                              { "running_ns", "", true, TRACE_COUNTER_RUNNING_NS, 15 } };
    const struct trace_method method = { RING_METHOD_MAX, { longest, "<init>", "()V" }, "", 0, UINT32_MAX, false };
    const struct trace_thread early = {
        1, -1, false, "java", "java", TRACE_UNKNOWN, TRACE_UNKNOWN, 0, .cpu_time = { 0 }
    };
    const struct trace_thread late = { 1, 4712, true, "worker", "java", 5, 6, UINT64_MAX, { true, 70, 60, 5 } };
    struct trace_event event;
    struct trace_reader *reader;
    struct trace_writer *writer = open_scratch("definitions");
    trace_write_info(writer, "host", "a", &err);
    trace_write_info(writer, "host", "b", &err);
    trace_write_clock(writer, 1000, 5000, 7000, &err);
    trace_write_counters(writer, counters, 2, &err);
    CHECK("counters are given once", trace_write_counters(writer, counters, 2, &err) < 0);
    trace_write_method(writer, &method, &err);
    trace_write_thread(writer, &early, &err);
    trace_write_thread(writer, &late, &err);
    trace_write_clock(writer, 3000, 6000, 8000, &err);
    trace_write_collection(writer, &(struct trace_collection){ 1500, 70, 0, "young pauses", "System.gc()" }, &err);
    trace_write_collection(writer, &(struct trace_collection){ 1600, 80, 2, "young pauses", "" }, &err);
    trace_writer_close(writer, 3000, &err);
    trace_open(&reader, scratch_path("definitions"), false, &err);
    CHECK("a trace may have no events", trace_next(reader, &event, &err) == 0 && !trace_is_cut(reader));
    CHECK_TEXT("the last value of a key counts", trace_info(reader, "host"), "b");
    CHECK("an unknown key has no value", trace_info(reader, "hos") == NULL);
    CHECK("two clock points make a rate", trace_ns_per_tick(reader) > 0.4999 && trace_ns_per_tick(reader) < 0.5001);
    CHECK_NUMBER("the start is the first clock point", trace_start_ticks(reader), 1000);
    CHECK_NUMBER("counters are counted", trace_n_counters(reader), 2);
    CHECK_NUMBER("those in records too", trace_n_recorded_counters(reader), 1);
    CHECK_TEXT("a counter that does not count says why", trace_counter(reader, 0)->why, "not here");
    CHECK("an event is one", trace_counter(reader, 0)->kind == TRACE_COUNTER_EVENT);
    const struct trace_counter *running = trace_counter(reader, 1);
    CHECK("a group's time is one", running->kind == TRACE_COUNTER_RUNNING_NS && running->group == 15);
    CHECK("there is no third", trace_counter(reader, 2) == NULL);
    const struct trace_method *m = trace_method(reader, RING_METHOD_MAX);
    CHECK("a long name is cut between characters", m != NULL && strlen(m->names.class_name) == STRING_MAX_BYTES - 1);
    CHECK("a method keeps its numbers", m != NULL && m->code_bytes == UINT32_MAX && m->id == RING_METHOD_MAX);
    CHECK("other methods are unknown", trace_method(reader, 0) == NULL && trace_method(reader, UINT32_MAX) == NULL);
    const struct trace_thread *t = trace_thread(reader, 1);
    CHECK("the last entry of a thread counts",
          t != NULL && strcmp(t->name, "worker") == 0 && t->has_ring && t->tid == 4712 && t->n_lost == UINT64_MAX);
    CHECK("with what the kernel charged it", t != NULL && t->cpu_time.is_known && t->cpu_time.accounted_ns == 70 &&
                                                 t->cpu_time.slices_ns == 60 && t->cpu_time.n_slices == 5);
    const struct trace_collection *c = trace_collection(reader, 1);
    CHECK("collections are kept",
          trace_n_collections(reader) == 2 && c->start_ticks == 1600 && c->ns == 80 && c->n_missed == 2 &&
              strcmp(c->name, "young pauses") == 0 && strcmp(c->cause, "") == 0 &&
              strcmp(trace_collection(reader, 0)->cause, "System.gc()") == 0 && trace_collection(reader, 2) == NULL);
    CHECK("indexes and ids are below", trace_n_threads(reader) == 2 && trace_n_methods(reader) == 1u << 20);
    trace_close(reader);
    unlink(scratch_path("definitions"));
}

static void test_numbers(void)
{
    uint64_t random = 99, value;
    bool same = true, as_cursor = true, short_enough = true;
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[2 * NUMBER_MAX_BYTES] = { 0 };
        uint64_t number = i < 128 ? (UINT64_C(1) << (i / 2)) - (unsigned)(i % 2)
                                  : random_next(&random) >> (random_next(&random) % 64);
        size_t n = (size_t)(number_put(bytes, number) - bytes);
        struct cursor c = cursor_over(bytes, n);
        same = same && number_get(bytes, &value) == bytes + n && value == number;
        as_cursor = as_cursor && cursor_number(&c) == number && !c.bad && cursor_left(&c) == 0;
        for (size_t k = 1; k < n; k++)
            short_enough = short_enough && (k == 8 ? number >> 56 : number >> (7 * k)) != 0;
    }
    CHECK("numbers are read as they were put", same);
    CHECK("by a cursor too", as_cursor);
    CHECK("and take no more bytes than they need", short_enough);
}

int main(void)
{
    test_numbers();
    static const size_t counts[] = { 0, 1, 2, 3, 7, 8, 9, 16, 17, 40, TRACE_COLUMNS_MAX };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        test_random_streams(counts[i]);
    for (size_t i = 1; i < sizeof counts / sizeof counts[0]; i++)
        test_readings(counts[i]);
    test_plain_records();
    test_unchanged_columns();
    test_too_many_counters();
    test_garbage();
    test_time_going_back();
    test_kernel();
    test_control();
    test_order();
    test_jit();
    test_ip_samples();
    test_definitions();
    return tap_done();
}
