#include "report/export/export.h"
#include "report/export/export_jfr_parts.h"

#include "core/base/bytes.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <math.h>

#define HEADER_BYTES 68
#define FIELDS_MAX   8

static struct err err;

/* ---- numbers and entries ---- */

static void test_numbers(void)
{
    static const struct {
        uint64_t number;
        uint8_t bytes[9];
        size_t n;
    } rows[] = {
        { 0, { 0 }, 1 },
        { 127, { 0x7f }, 1 },
        { 128, { 0x80, 0x01 }, 2 },
        { (UINT64_C(1) << 56) - 1, { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f }, 8 },
        { UINT64_C(1) << 63, { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80 }, 9 },
        { UINT64_MAX, { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, 9 },
    };
    struct jfr_bytes to = { .n = 0 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        to.n = 0;
        jfr_put_number(&to, rows[i].number);
        CHECK("a number has seven bits in each byte, and eight in its ninth",
              to.n == rows[i].n && memcmp(to.bytes, rows[i].bytes, to.n) == 0);
    }
    to.n = 0;
    jfr_put_text(&to, "abc");
    jfr_put_text(&to, NULL);
    CHECK("a text has its kind and length, or there is none",
          to.n == 6 && memcmp(to.bytes, "\x03\x03\x61\x62\x63\x00", 6) == 0);
    size_t start = jfr_begin(&to);
    jfr_put_fixed(&to, 0x0102, 2);
    jfr_end(&to, start);
    CHECK("an entry begins with its length, itself included",
          to.n == 13 && memcmp(to.bytes + 6, "\x87\x80\x80\x80\x00\x01\x02", 7) == 0);
    jfr_bytes_free(&to);
}

/* ---- a recording ---- */

/* Its events' numbers up to the first field that is none. */
struct event {
    uint64_t type, fields[FIELDS_MAX];
};

struct recording {
    struct event events[32];
    size_t n_events, n_bytes, n_chunk, checkpoint, metadata;
    bool is_jfr;
};

/* Of the type that an event at an offset has. */
static uint64_t type_at(const char *bytes, size_t n, size_t at)
{
    struct cursor c = cursor_over(bytes + at, at < n ? n - at : 0);
    cursor_varint(&c);
    return c.bad ? UINT64_MAX : cursor_varint(&c);
}

static void read_events(struct recording *r, struct cursor c)
{
    while (cursor_left(&c) > 0 && r->n_events < 32) {
        struct event *event = &r->events[r->n_events++];
        size_t before = cursor_left(&c), length = (size_t)cursor_varint(&c);
        const uint8_t *rest = cursor_bytes(&c, length - (before - cursor_left(&c)));
        struct cursor fields = cursor_over(rest, rest == NULL ? 0 : (size_t)(c.at - rest));
        event->type = cursor_varint(&fields);
        for (size_t i = 0; i < FIELDS_MAX && cursor_left(&fields) > 0; i++)
            event->fields[i] = cursor_varint(&fields);
    }
}

static struct recording export(const char *path)
{
    struct recording r = { .n_events = 0 };
    char *text = NULL;
    FILE *out = open_memstream(&text, &r.n_bytes);
    int rc = export_jfr(path, false, out, &err);
    fclose(out);
    struct cursor c = cursor_over(text, r.n_bytes);
    r.is_jfr = rc == 0 && cursor_big(&c, 8) == UINT64_C(0x464c520000020001);
    r.n_chunk = (size_t)cursor_big(&c, 8);
    r.checkpoint = (size_t)cursor_big(&c, 8);
    r.metadata = (size_t)cursor_big(&c, 8);
    r.is_jfr = r.is_jfr && type_at(text, r.n_bytes, r.checkpoint) == JFR_CHECKPOINT &&
               type_at(text, r.n_bytes, r.metadata) == JFR_METADATA;
    if (r.is_jfr)
        read_events(&r, cursor_over(text + HEADER_BYTES, r.checkpoint - HEADER_BYTES));
    free(text);
    return r;
}

/* The number of events of a type; *last: the last one. */
static size_t count(const struct recording *r, enum jfr_type type, struct event *last)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_events; i++)
        if (r->events[i].type == type) {
            *last = r->events[i];
            n++;
        }
    return n;
}

static void put_wait(struct maker *m, uint64_t ticks, enum trace_cause cause, bool is_same, uint64_t ns)
{
    const struct trace_wait wait = { .ticks = ticks,
                                     .cause = cause,
                                     .context = 2,
                                     .index = 7,
                                     .is_same = is_same,
                                     .n = 1,
                                     .weight_ns = ns,
                                     .lock_class = cause == TRACE_CAUSE_MONITOR ? "a/Cache" : "",
                                     .owner = cause == TRACE_CAUSE_MONITOR ? 1 : TRACE_NO_THREAD };
    maker_must(m, trace_write_wait(m->writer, &wait, &m->err));
}

/* Ticks of 1 us.  The thread runs, waits for a monitor during two visits, for another one at the next, then sleeps. */
static void make_trace(struct maker *m)
{
    static const struct trace_sampled_method run = { .names.class_name = "a/Sort",
                                                     .names.method = "run",
                                                     .names.descriptor = "()V",
                                                     .source = "" },
                                             probe = { .names.class_name = "java/lang/Mmprof",
                                                       .names.method = "enter",
                                                       .names.descriptor = "()V",
                                                       .source = "" };
    static const struct {
        uint64_t ticks;
        uint32_t context, thread;
    } samples[] = { { 20, 1, 0 }, { 30, 2, 0 }, { 35, 3, 0 }, { 80, 0, 1 } };
    maker_open_scaled(m, "export_jfr.dat", 1000);
    maker_thread(m, 0, "main", false);
    maker_thread(m, 1, "GC Thread#0", false);
    maker_stack(m, 0, -1, 0, &run, 0, 0);
    maker_stack(m, 1, 5, 0, &(struct trace_sampled_method){ .source = "" }, 0, 0);
    maker_stack(m, 2, 5, 1, &probe, 0, 0);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct trace_sample sample = { .ticks = samples[i].ticks,
                                             .thread = samples[i].thread,
                                             .context = samples[i].context,
                                             .index = -1,
                                             .n = 1,
                                             .weight_ns = 10000 };
        maker_must(m, trace_write_sample(m->writer, &sample, &m->err));
    }
    put_wait(m, 200, TRACE_CAUSE_MONITOR, false, 50000);
    put_wait(m, 250, TRACE_CAUSE_MONITOR, true, 50000);
    put_wait(m, 300, TRACE_CAUSE_MONITOR, false, 20000);
    put_wait(m, 350, TRACE_CAUSE_SLEEP, false, 50000);
    const struct trace_allocation allocation = {
        .ticks = 400, .context = 2, .index = 3, .class_name = "[B", .size_bytes = 1000, .mean_bytes = 500
    };
    maker_must(m, trace_write_allocation(m->writer, &allocation, &m->err));
    maker_close(m, 1000);
}

static void test_recording(void)
{
    struct maker m;
    struct event last = { 0 };
    make_trace(&m);
    struct recording r = export(m.path);
    CHECK("the header says where checkpoint and metadata are", r.is_jfr);
    CHECK_NUMBER("and how long the chunk is: all of the file", r.n_chunk, r.n_bytes);
    CHECK_NUMBER("each sample is an event, one in a probe, too", count(&r, JFR_EXECUTION_SAMPLE, &last), 4);
    CHECK("with its moment, its thread and its state",
          last.fields[0] == 80 && last.fields[1] == 2 && last.fields[3] == 1);
    CHECK_NUMBER("what a wait goes on for is one event", count(&r, JFR_MONITOR_ENTER, &last), 2);
    CHECK("from its beginning on, for so long", last.fields[0] == 280 && last.fields[1] == 20);
    CHECK("with the owner", last.fields[5] == 2);
    CHECK_NUMBER("sleep is another", count(&r, JFR_THREAD_SLEEP, &last), 1);
    CHECK("whose time is in ns", last.fields[1] == 50 && last.fields[4] == 50000);
    CHECK_NUMBER("so is an allocation", count(&r, JFR_ALLOCATION_SAMPLE, &last), 1);
    CHECK_NUMBER("with the bytes that it stands for", last.fields[4], (uint64_t)(1000 / (1 - exp(-2)) + 0.5));
    CHECK("a trace that is not there is refused", export_jfr("/nothing/there.dat", false, stdout, &err) < 0);
}

int main(void)
{
    test_numbers();
    test_recording();
    return tap_done();
}
