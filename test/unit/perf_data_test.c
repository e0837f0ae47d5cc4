/*
 * What a JVM counts by itself: a file made up here, whole and damaged, and where it is looked for.
 */
#include "core/jvm/perf_data.h"

#include "test/unit/perf_data_maker.h"
#include "test/unit/tap.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct err err;

/* A header, a number, a text and a number. */
static size_t make(uint8_t *bytes, size_t room)
{
    struct sink s = sink_into(bytes, room);
    const uint64_t first = 1000000000, last = 42;
    static const char text[16] = "Copy";
    sink_bytes(&s, "\xca\xfe\xc0\xc0\x01\x02\x00\x01", 8);
    sink_u32le(&s, 0);
    sink_u32le(&s, 0);
    sink_u64le(&s, 0);
    sink_u32le(&s, 32);
    sink_u32le(&s, 3);
    put_entry(&s, 'J', "sun.os.hrt.frequency", &first, 0);
    put_entry(&s, 'B', "sun.gc.collector.0.name", text, sizeof text);
    put_entry(&s, 'J', "sun.gc.collector.0.invocations", &last, 0);
    return (size_t)(s.at - bytes);
}

static void test_reading(void)
{
    uint8_t bytes[1024], cut[1024];
    char text[64] = "";
    uint64_t value = 0;
    struct perf_data data = { .fd = -1, .bytes = bytes };
    data.n = make(bytes, sizeof bytes);
    CHECK("a number", perf_data_number(&data, "sun.os.hrt.frequency", &value) && value == 1000000000);
    CHECK("one behind others", perf_data_number(&data, "sun.gc.collector.0.invocations", &value) && value == 42);
    CHECK("a text", perf_data_text(&data, "sun.gc.collector.0.name", text, sizeof text) && strcmp(text, "Copy") == 0);
    CHECK("a text is no number, and a number no text",
          !perf_data_number(&data, "sun.gc.collector.0.name", &value) &&
              !perf_data_text(&data, "sun.os.hrt.frequency", text, sizeof text));
    CHECK("what is not there is not found", !perf_data_number(&data, "sun.gc", &value));
    bool right = true;
    for (size_t n = 0; n < data.n; n++) {
        struct perf_data part = { .fd = -1, .bytes = cut, .n = n };
        memcpy(cut, bytes, n);
        right = right && !perf_data_number(&part, "sun.gc.collector.0.invocations", &value);
    }
    CHECK("a file that is cut has nothing behind the cut", right);
    bytes[4] = 0;
    CHECK("one of a machine with another order of bytes is refused",
          !perf_data_number(&data, "sun.os.hrt.frequency", &value));
    bytes[4] = 1;
    bytes[32] = 19;
    CHECK("so is an entry shorter than its header", !perf_data_number(&data, "sun.os.hrt.frequency", &value));
}

static void test_part(void)
{
    uint8_t bytes[1024];
    struct perf_data data, none = { .fd = -1 };
    const uint64_t later[2] = { 7, 43 };
    uint64_t first = 0, last = 0;
    perf_data_init(&data);
    data.fd = memfd_create("perf_data", MFD_CLOEXEC);
    size_t n = make(bytes, sizeof bytes);
    bool is_made = pwrite(data.fd, bytes, n, 0) == (ssize_t)n && perf_data_read(&data, &err) == 0;
    size_t first_at = perf_data_offset(&data, "sun.os.hrt.frequency"),
           last_at = perf_data_offset(&data, "sun.gc.collector.0.invocations");
    is_made = is_made && pwrite(data.fd, &later[0], 8, (off_t)first_at) == 8 &&
              pwrite(data.fd, &later[1], 8, (off_t)last_at) == 8;
    CHECK("the file is made", is_made);
    CHECK("a part is read anew", perf_data_read_part(&data, last_at, last_at + 8, &err) == 0 &&
                                     perf_data_at(&data, last_at, &last) && last == 43);
    CHECK("and the rest is as it was", perf_data_at(&data, first_at, &first) && first == 1000000000);
    CHECK("there is no part behind the end", perf_data_read_part(&data, last_at, n + 1, &err) == -1);
    CHECK("a file that has become shorter is refused",
          ftruncate(data.fd, (off_t)last_at + 4) == 0 && perf_data_read_part(&data, last_at, last_at + 8, &err) == -1);
    CHECK("and so is one that is not open", perf_data_read_part(&none, 0, 0, &err) == -1);
    perf_data_close(&data);
}

static void test_opening(void)
{
    struct perf_data data;
    CHECK("a process that is no JVM has none",
          perf_data_open(&data, getpid(), getpid(), &err) == -1 && strstr(err.text, "-XX:-UsePerfData") != NULL);
    CHECK("nor has one that is gone", perf_data_open(&data, 0x3ffffff, 1, &err) == -1);
    perf_data_close(&data);
}

int main(void)
{
    test_reading();
    test_part();
    test_opening();
    return tap_done();
}
