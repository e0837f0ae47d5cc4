/*
 * The example in mmprof.trace(5): the bytes that it prints are those that the writer makes, and they read as it says.
 * MMPROF_TRACE_PAGE names another page than man/mmprof.trace.5.  MMPROF_KEEP_EXAMPLE names a file that gets the written
 * bytes, for a change of the page.
 */
#include "cmd/dump.h"
#include "core/trace/reader_internal.h"
#include "core/wire/ring.h"

#include "test/unit/tap.h"
#include "test/unit/trace_model.h"

#include <ctype.h>

#define START "\n.Bd -literal\n"
#define END   "\n.Ed\n"

static struct err err;

static int write_example(const char *path)
{
    const struct trace_counter counter = { "instructions", "", true, TRACE_COUNTER_EVENT, 0 };
    const struct trace_thread thread = {
        0, 4712, true, "main", "java", TRACE_UNKNOWN, TRACE_UNKNOWN, 0, { true, 300, 250, 2 }
    };
    const struct trace_method methods[] = {
        { 1, { "Main", "main", "([Ljava/lang/String;)V" }, "Main.java", 3, 60, false },
        { 200, { "Main", "sort", "()V" }, "Main.java", 9, 81, true }
    };
    const struct trace_event event = { .kind = TRACE_CPU_IN, .thread = 0, .ticks = 1300 };
    const struct location_entry file = { .kind = LOCATION_FILE,
                                         .path = wire_text("/a.so"),
                                         .build_id = wire_text("1f") };
    const struct location_entry location = { .kind = LOCATION_IN_FILE, .number = 2, .file = 0, .offset = 300 };
    const struct trace_event ip_sample = { .kind = TRACE_KERNEL_IP_SAMPLE, .thread = 0, .ticks = 1500, .count = 2 };
    const uint64_t words[] = {
        ring_word(RING_ENTER, 1, 1600),    1000, ring_word(RING_ENTER, 200, 1606), 1100,
        ring_word(RING_UNWIND, 200, 1906), 1150, ring_word(RING_GAP, 5, 1916),     1150,
        ring_word(RING_EXIT, 1, 2200),     9000, ring_word(RING_EXIT, 9, 2203),    9000,
    };
    struct trace_writer *writer;
    if (trace_writer_open(&writer, path, &err) < 0)
        return -1;
    int rc = trace_write_info(writer, "host", "here", &err);
    rc |= trace_write_clock(writer, 1000, 5000, UINT64_C(1700000000000000000), &err);
    rc |= trace_write_counters(writer, &counter, 1, &err);
    rc |= trace_write_thread(writer, &thread, &err);
    rc |= trace_write_method(writer, &methods[0], &err);
    rc |= trace_write_method(writer, &methods[1], &err);
    rc |= trace_write_kernel(writer, &event, 1, &err);
    rc |= trace_write_counts(writer, 0, 1, 2000, &(const uint64_t){ 7000 }, &err);
    rc |= trace_write_location(writer, &file, &err);
    rc |= trace_write_location(writer, &location, &err);
    rc |= trace_write_ip_samples(writer, &ip_sample, 1, &err);
    rc |= trace_write_records(writer, 0, words, sizeof words / sizeof words[0], 2300, &err);
    rc |= trace_write_clock(writer, 4000, 6500, UINT64_C(1700000000000001500), &err);
    return trace_writer_close(writer, 4000, &err) | rc;
}

/* The text of the literal display that begins with these characters, without its last newline; owned by the caller. */
static char *display(const char *page, const char *first)
{
    for (const char *start = page; (start = strstr(start, START)) != NULL; start++) {
        const char *text = start + strlen(START), *end = strstr(text, END);
        if (end != NULL && strncmp(text, first, strlen(first)) == 0)
            return strndup(text, (size_t)(end - text));
    }
    return NULL;
}

/* "0010  d763...  meaning": two spaces, then bytes until a space. */
static size_t parse_hex(const char *text, uint8_t *bytes, size_t room, bool *offsets_right)
{
    size_t n = 0;
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        unsigned offset, byte;
        int used;
        line += *line == '\n';
        if (sscanf(line, "%4x%n", &offset, &used) != 1 || offset != n)
            *offsets_right = false;
        const char *at = line + used + 2;
        while (n < room && isxdigit((unsigned char)*at) && sscanf(at, "%2x%n", &byte, &used) == 1 && used == 2) {
            bytes[n++] = (uint8_t)byte;
            at += used;
        }
    }
    return n;
}

static char *listing_of(const uint8_t *bytes, size_t n)
{
    char *text = NULL;
    size_t size;
    struct trace_reader *reader;
    FILE *out = open_memstream(&text, &size);
    double ns_per_tick = 0.5; /* of its two clock points */
    if (trace_open_bytes(&reader, bytes, n, "the example", false, &err) == 0) {
        if (dump_trace(out, reader, true, ns_per_tick, &err) < 0)
            fputs(err.text, out);
        CHECK("the example has an end", !trace_is_cut(reader));
        CHECK("and its rate is 0.5 ns a tick",
              trace_ns_per_tick(reader) > 0.4999 && trace_ns_per_tick(reader) < 0.5001);
        trace_close(reader);
    }
    fclose(out);
    if (size > 0 && text[size - 1] == '\n')
        text[size - 1] = '\0';
    return text;
}

int main(void)
{
    const char *path = getenv("MMPROF_TRACE_PAGE") != NULL ? getenv("MMPROF_TRACE_PAGE") : "man/mmprof.trace.5";
    struct bytes page = slurp(path);
    if (!CHECK("the page is there", page.at != NULL))
        return tap_done();
    page.at[page.n] = '\0';
    CHECK("the example is written", write_example(scratch_path("example")) == 0);
    struct bytes written = slurp(scratch_path("example"));
    unlink(scratch_path("example"));
    if (getenv("MMPROF_KEEP_EXAMPLE") != NULL)
        write_example(getenv("MMPROF_KEEP_EXAMPLE"));
    char *hex = display((const char *)page.at, "0000  89"), *listing = display((const char *)page.at, "info ");
    if (CHECK("the page has the example's bytes and its listing", hex != NULL && listing != NULL)) {
        uint8_t bytes[1024];
        bool offsets_right = true;
        size_t n = parse_hex(hex, bytes, sizeof bytes, &offsets_right);
        char *listed = listing_of(bytes, n);
        CHECK("the offsets in the page are right", offsets_right);
        CHECK_NUMBER("the page's example is as long as the written one", n, written.n);
        CHECK("and has the same bytes", n == written.n && memcmp(bytes, written.at, n) == 0);
        CHECK_TEXT("it reads as the page says", listed, listing);
        free(listed);
    }
    free(hex);
    free(listing);
    free(written.at);
    free(page.at);
    return tap_done();
}
