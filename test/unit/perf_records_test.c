/*
 * The kernel's records, decoded from bytes made up here: whole, cut, wrapped around the ring's end, damaged.
 */
#include "core/perf/perf_records.h"

#include "core/base/bytes.h"
#include "test/unit/tap.h"

#include <stdlib.h>

static void put_id(struct sink *out, uint32_t tid, uint64_t time_ns)
{
    sink_u32le(out, 70);
    sink_u32le(out, tid);
    sink_u64le(out, time_ns);
    sink_u64le(out, 0x1d);
    sink_u32le(out, 3);
    sink_u32le(out, 0);
}

/* A record with a body of n bytes. */
static size_t make_record(uint8_t *out, uint32_t type, uint16_t misc, const void *body, size_t n, uint64_t time_ns)
{
    struct sink s = sink_into(out, 256);
    sink_u32le(&s, type);
    sink_u16le(&s, misc);
    sink_u16le(&s, (uint16_t)(8 + n + 32));
    sink_bytes(&s, body, n);
    put_id(&s, 71, time_ns);
    return (size_t)(s.at - out);
}

static size_t task_body(uint8_t *out)
{
    struct sink s = sink_into(out, 64);
    sink_u32le(&s, 70);
    sink_u32le(&s, 70);
    sink_u32le(&s, 99);
    sink_u32le(&s, 71);
    sink_u64le(&s, 5000);
    return (size_t)(s.at - out);
}

static void test_switches(void)
{
    static const struct {
        const char *claim;
        uint16_t misc;
        enum kernel_event_kind kind;
    } rows[] = {
        { "a switch in", 0, KERNEL_CPU_IN },
        { "a switch out to wait", PERF_RECORD_MISC_SWITCH_OUT, KERNEL_CPU_OUT },
        { "a switch out by preemption", PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
          KERNEL_CPU_PREEMPTED },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t record[256];
        struct kernel_event event;
        size_t n = make_record(record, PERF_RECORD_SWITCH, rows[i].misc, NULL, 0, 5000);
        CHECK(rows[i].claim, kernel_record_decode(record, n, 0, &event) == 1 && event.kind == rows[i].kind &&
                                 event.pid == 70 && event.tid == 71 && event.by_tid == 71 && event.time_ns == 5000 &&
                                 event.event_id == 0x1d && event.cpu == 3);
        CHECK("one byte less is refused", kernel_record_decode(record, n - 1, 0, &event) == -1);
    }
}

static void test_decoding(void)
{
    uint8_t record[256], body[64] = { 0 };
    struct kernel_event event;
    size_t n = make_record(record, PERF_RECORD_FORK, 0, body, task_body(body), 5000);
    CHECK("a birth names the child, and the parent that ran",
          kernel_record_decode(record, n, 0, &event) == 1 && event.kind == KERNEL_THREAD_START && event.tid == 99 &&
              event.by_tid == 71 && event.pid == 70);
    n = make_record(record, PERF_RECORD_EXIT, 0, body, task_body(body), 5000);
    CHECK("a death", kernel_record_decode(record, n, 0, &event) == 1 && event.kind == KERNEL_THREAD_END);
    n = make_record(record, PERF_RECORD_EXIT, 0, body, 16, 5000);
    CHECK("a death without a time is refused", kernel_record_decode(record, n, 0, &event) == -1);

    memcpy(body, "\x46\0\0\0\x48\0\0\0GC Thread#0\0\0\0\0\0", 24);
    n = make_record(record, PERF_RECORD_COMM, 0, body, 24, 5000);
    CHECK("a name", kernel_record_decode(record, n, 0, &event) == 1 && event.kind == KERNEL_COMM && event.tid == 72 &&
                        strcmp(event.name, "GC Thread#0") == 0);
    n = make_record(record, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, body, 24, 5000);
    CHECK("another program", kernel_record_decode(record, n, 0, &event) == 1 && event.kind == KERNEL_EXEC &&
                                 event.tid == 72 && strcmp(event.name, "GC Thread#0") == 0);
    memset(body + 8, 'x', 40);
    n = make_record(record, PERF_RECORD_COMM, 0, body, 48, 5000);
    CHECK("a name without an end is cut",
          kernel_record_decode(record, n, 0, &event) == 1 && strcmp(event.name, "xxxxxxxxxxxxxxx") == 0);

    struct sink s = sink_into(body, 16);
    sink_u64le(&s, 0x1d);
    sink_u64le(&s, 12345);
    n = make_record(record, PERF_RECORD_LOST, 0, body, 16, 5000);
    CHECK("lost records are counted", kernel_record_decode(record, n, 0, &event) == 1 && event.kind == KERNEL_LOST &&
                                          event.count == 12345 && event.tid == 0);
    n = make_record(record, PERF_RECORD_LOST, 0, body, 8, 5000);
    CHECK("a loss without a number is refused", kernel_record_decode(record, n, 0, &event) == -1);
    n = make_record(record, PERF_RECORD_SAMPLE, 0, NULL, 0, 5000);
    CHECK("a page fault", kernel_record_decode(record, n, 0, &event) == 1 && event.kind == KERNEL_PAGE_FAULT);
    n = make_record(record, PERF_RECORD_THROTTLE, 0, body, 24, 5000);
    CHECK("other records are passed over", kernel_record_decode(record, n, 0, &event) == 0);
}

/* The fields of a sample, the ABI of the registers, and the one. */
static size_t make_ip_sample(uint8_t *out, uint16_t misc, uint64_t abi, uint64_t address)
{
    struct sink s = sink_into(out, 256);
    sink_u32le(&s, PERF_RECORD_SAMPLE);
    sink_u16le(&s, misc);
    sink_u16le(&s, abi == PERF_SAMPLE_REGS_ABI_NONE ? 48 : 56);
    put_id(&s, 71, 5000);
    sink_u64le(&s, abi);
    if (abi != PERF_SAMPLE_REGS_ABI_NONE)
        sink_u64le(&s, address);
    return (size_t)(s.at - out);
}

static void test_ip_samples(void)
{
    uint8_t record[256];
    struct kernel_event event;
    size_t n = make_ip_sample(record, PERF_RECORD_MISC_USER, PERF_SAMPLE_REGS_ABI_64, 0x7f0012345678);
    CHECK("an IP sample in user space: whose, when, where",
          kernel_record_decode(record, n, 0, &event) == 1 && event.kind == KERNEL_IP_SAMPLE && event.tid == 71 &&
              event.pid == 70 && event.time_ns == 5000 && event.event_id == 0x1d && event.count == 0x7f0012345678 &&
              !event.in_kernel);
    CHECK("one byte less is refused", kernel_record_decode(record, n - 1, 0, &event) == -1);
    n = make_ip_sample(record, PERF_RECORD_MISC_KERNEL, PERF_SAMPLE_REGS_ABI_64, 0x7f0012345678);
    CHECK("one in the kernel has the address that it was called from",
          kernel_record_decode(record, n, 0, &event) == 1 && event.in_kernel && event.count == 0x7f0012345678);
    n = make_ip_sample(record, PERF_RECORD_MISC_KERNEL, PERF_SAMPLE_REGS_ABI_NONE, 0);
    CHECK("one without user space has none", kernel_record_decode(record, n, 0, &event) == 1 &&
                                                 event.kind == KERNEL_IP_SAMPLE && event.count == KERNEL_UNKNOWN);
}

/* The same, with a period behind its first fields. */
static void test_periods(void)
{
    uint8_t record[256], with[256];
    struct kernel_event event;
    size_t n = make_ip_sample(record, PERF_RECORD_MISC_USER, PERF_SAMPLE_REGS_ABI_64, 0x7f0012345678);
    struct sink s = sink_into(with, sizeof with);
    sink_bytes(&s, record, 40);
    sink_u64le(&s, 4711);
    sink_bytes(&s, record + 40, n - 40);
    with[6] = (uint8_t)(n + 8);
    CHECK("an IP sample of an event has its period",
          kernel_record_decode(with, n + 8, KERNEL_WITH_PERIOD, &event) == 1 && event.stack.period == 4711 &&
              event.count == 0x7f0012345678);
    CHECK("one that is too short for it is refused", kernel_record_decode(record, n, KERNEL_WITH_PERIOD, &event) == -1);
}

/* A period, n_values of a group, the registers, room for n_room bytes, and how many of them there are. */
static size_t make_stack(uint8_t *out, uint64_t n_values, uint64_t abi, size_t n_room, uint64_t n_bytes)
{
    struct sink s = sink_into(out, 256);
    size_t n = 40 + 16 + (n_values > 0 ? 24 + 8 * n_values : 0u) +
               (abi == PERF_SAMPLE_REGS_ABI_NONE ? 0u : 8u * KERNEL_REGISTERS) + 8 + (n_room > 0 ? n_room + 8 : 0u);
    sink_u32le(&s, PERF_RECORD_SAMPLE);
    sink_u16le(&s, PERF_RECORD_MISC_USER);
    sink_u16le(&s, (uint16_t)n);
    put_id(&s, 71, 5000);
    sink_u64le(&s, 1001);
    for (uint64_t i = 0; n_values > 0 && i < n_values + 3; i++)
        sink_u64le(&s, i == 0 ? n_values : 100 * i);
    sink_u64le(&s, abi);
    for (uint64_t i = 0; abi != PERF_SAMPLE_REGS_ABI_NONE && i < KERNEL_REGISTERS; i++)
        sink_u64le(&s, 0x7f0000001000 * (i + 1));
    sink_u64le(&s, n_room);
    for (size_t i = 0; i < n_room; i++)
        sink_bytes(&s, &(uint8_t){ (uint8_t)(i + 1) }, 1);
    if (n_room > 0)
        sink_u64le(&s, n_bytes);
    return (size_t)(s.at - out);
}

static void test_stacks(void)
{
    const unsigned format = KERNEL_WITH_STACK | KERNEL_WITH_PERIOD;
    uint8_t record[256];
    struct kernel_values values;
    struct kernel_event event;
    size_t n = make_stack(record, 0, PERF_SAMPLE_REGS_ABI_64, 16, 9);
    CHECK("a sample with a stack: registers, and what was copied",
          kernel_record_decode(record, n, format, &event) == 1 && event.kind == KERNEL_IP_SAMPLE && event.tid == 71 &&
              event.count == (KERNEL_PC + 1) * 0x7f0000001000 && event.stack.sp == (KERNEL_SP + 1) * 0x7f0000001000 &&
              event.stack.fp == (KERNEL_FP + 1) * 0x7f0000001000 &&
              event.stack.bytecode == (KERNEL_BYTECODE + 1) * 0x7f0000001000 &&
              event.stack.link == (KERNEL_LINK < KERNEL_REGISTERS ? (KERNEL_LINK + 1) * 0x7f0000001000 : 0) &&
              event.stack.n_bytes == 9 && event.stack.bytes[8] == 9 && event.stack.period == 1001 &&
              !kernel_values(&event.stack, &values));
    CHECK("a shorter record is refused", kernel_record_decode(record, n - 8, format, &event) == -1);
    n = make_stack(record, 0, PERF_SAMPLE_REGS_ABI_64, 16, 17);
    CHECK("more bytes than there is room for are refused", kernel_record_decode(record, n, format, &event) == -1);
    n = make_stack(record, 0, PERF_SAMPLE_REGS_ABI_64, 0, 0);
    CHECK("no bytes of it may have been copied",
          kernel_record_decode(record, n, format, &event) == 1 && event.stack.sp != 0 && event.stack.bytes == NULL);
    n = make_stack(record, 0, PERF_SAMPLE_REGS_ABI_NONE, 0, 0);
    CHECK("a thread of the kernel has neither", kernel_record_decode(record, n, format, &event) == 1 &&
                                                    event.count == KERNEL_UNKNOWN && event.stack.bytes == NULL);
}

static void test_values(void)
{
    const unsigned format = KERNEL_WITH_STACK | KERNEL_WITH_VALUES | KERNEL_WITH_PERIOD;
    uint8_t record[256];
    struct kernel_event event;
    struct kernel_values values;
    size_t n = make_stack(record, 2, PERF_SAMPLE_REGS_ABI_64, 16, 16);
    CHECK("a sample with what a group has counted",
          kernel_record_decode(record, n, format, &event) == 1 && kernel_values(&event.stack, &values) &&
              values.n == 2 && values.enabled_ns == 100 && values.running_ns == 200 && values.values[0] == 300 &&
              values.values[1] == 400 && event.stack.n_bytes == 16 && event.count == (KERNEL_PC + 1) * 0x7f0000001000);
    record[48] = 9;
    CHECK("a group of more events than there can be is refused", kernel_record_decode(record, n, format, &event) == -1);
    record[48] = 8;
    CHECK("and one that the record does not hold", kernel_record_decode(record, n, format, &event) == -1);
}

struct times {
    uint64_t ns[64];
    size_t n, stop_at;
};

static int take_time(const struct kernel_event *event, void *context)
{
    struct times *times = context;
    times->ns[times->n++] = event->time_ns;
    return times->n == times->stop_at ? -1 : 0;
}

#define SIZE 256

/* Put bytes into a ring of SIZE at a position that counts on. */
static uint64_t put(uint8_t *ring, uint64_t at, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ring[(at + i) % SIZE] = bytes[i];
    return at + n;
}

static void test_ring(void)
{
    uint8_t ring[SIZE] = { 0 }, record[256], *copy = malloc(KERNEL_RECORD_MAX_BYTES);
    bool right = copy != NULL;
    uint64_t n_bad = 0;
    for (uint64_t start = 1000; right && start < 1000 + SIZE; start++) {
        uint64_t head = start, tail = start;
        for (uint64_t i = 0; i < 6; i++)
            head = put(ring, head, record, make_record(record, PERF_RECORD_SWITCH, 0, NULL, 0, start + i));
        struct times times = { .n = 0 };
        right = perf_records_walk(ring, SIZE, 0, &tail, head, copy, &n_bad, take_time, &times) == 0 && tail == head &&
                times.n == 6 && times.ns[0] == start && times.ns[5] == start + 5 && n_bad == 0;
    }
    CHECK("records are whole wherever the ring wraps", right);

    uint64_t head = put(ring, 0, record, make_record(record, PERF_RECORD_SWITCH, 0, NULL, 0, 7)), tail = 0;
    head = put(ring, head, (const uint8_t *)"\x0e\0\0\0\0\0\x07\0........", 16);
    struct times times = { .n = 0 };
    perf_records_walk(ring, SIZE, 0, &tail, head, copy, &n_bad, take_time, &times);
    CHECK("a length below the header's ends the walk", times.n == 1 && n_bad == 1 && tail == head);

    head = put(ring, 0, (const uint8_t *)"\x0e\0\0\0\0\0\xff\xff........", 16);
    tail = n_bad = times.n = 0;
    perf_records_walk(ring, SIZE, 0, &tail, head, copy, &n_bad, take_time, &times);
    CHECK("a length beyond the head ends the walk", times.n == 0 && n_bad == 1 && tail == head);

    tail = n_bad = 0;
    perf_records_walk(ring, SIZE, 0, &tail, SIZE + 1, copy, &n_bad, take_time, &times);
    CHECK("a head that has lapped the reader is not followed", times.n == 0 && n_bad == 1 && tail == SIZE + 1);

    head = put(ring, 0, record, make_record(record, PERF_RECORD_SWITCH, 0, NULL, 0, 7));
    head = put(ring, head, record, make_record(record, PERF_RECORD_SWITCH, 0, NULL, 0, 8));
    tail = 0;
    times = (struct times){ .stop_at = 1 };
    CHECK("the caller can stop", perf_records_walk(ring, SIZE, 0, &tail, head, copy, &n_bad, take_time, &times) == -1 &&
                                     times.n == 1 && tail == 40);
    free(copy);
}

int main(void)
{
    test_switches();
    test_decoding();
    test_ip_samples();
    test_periods();
    test_stacks();
    test_values();
    test_ring();
    return tap_done();
}
