/*
 * Single collections from what a JVM shows of the latest one: the file is made up here.
 */
#include "core/recorder/collections.h"

#include "test/unit/perf_data_maker.h"
#include "test/unit/tap.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static struct err err;

/* What the JVM shows; the texts end with NULs. */
struct shown {
    uint64_t begun_ms, n, entry, exit;
    char name[32], cause[32], last_cause[32];
};

static void show(struct perf_data *data, const struct shown *shown)
{
    static uint8_t bytes[2048];
    static const uint64_t frequency = 1000000000;
    struct sink s = sink_into(bytes, sizeof bytes);
    sink_bytes(&s, "\xca\xfe\xc0\xc0\x01\x02\x00\x01", 8);
    sink_u64le(&s, 0);
    sink_u64le(&s, 0);
    sink_u32le(&s, 32);
    sink_u32le(&s, 8);
    put_entry(&s, 'J', "sun.os.hrt.frequency", &frequency, 0);
    put_entry(&s, 'J', "sun.rt.createVmEndTime", &shown->begun_ms, 0);
    put_entry(&s, 'B', "sun.gc.collector.0.name", shown->name, sizeof shown->name);
    put_entry(&s, 'J', "sun.gc.collector.0.invocations", &shown->n, 0);
    put_entry(&s, 'J', "sun.gc.collector.0.lastEntryTime", &shown->entry, 0);
    put_entry(&s, 'J', "sun.gc.collector.0.lastExitTime", &shown->exit, 0);
    put_entry(&s, 'B', "sun.gc.cause", shown->cause, sizeof shown->cause);
    put_entry(&s, 'B', "sun.gc.lastCause", shown->last_cause, sizeof shown->last_cause);
    data->bytes = bytes;
    data->n = (size_t)(s.at - bytes);
}

/* The JVM's clock began at 1,000 of CLOCK_MONOTONIC; CLOCK_MONOTONIC_RAW is 50 ahead of that. */
static bool look(struct collections *collections, const struct shown *shown, uint64_t at_ns,
                 struct trace_collection *collection, uint64_t *start_ns, char *cause)
{
    struct perf_data data = { .fd = -1 };
    const struct collections_now now = { at_ns, at_ns + 10, at_ns + 60 };
    show(&data, shown);
    if (!collections->is_ready) {
        collections_begin(collections, &data, &now);
        return false;
    }
    bool is_new =
        collections->n_kinds > 0 && collections_next(collections, 0, &data, &now, collection, start_ns, cause);
    collections->looked_ns = now.before_ns;
    return is_new;
}

static void test_looks(void)
{
    struct collections all = { .is_ready = false };
    struct trace_collection one = { .ns = 0 };
    struct shown shown = { .n = 3, .name = "young pauses", .cause = "No GC", .last_cause = "No GC" };
    char cause[64] = "";
    uint64_t start_ns = 0;
    CHECK("before the JVM has begun there is nothing to read",
          !look(&all, &shown, 1000, &one, &start_ns, cause) && !all.is_ready);
    shown.begun_ms = 1;
    look(&all, &shown, 2000, &one, &start_ns, cause);
    CHECK("what was before does not count",
          all.is_ready && all.n_kinds == 1 && !look(&all, &shown, 3000, &one, &start_ns, cause));
    shown = (struct shown){ 1, 4, 2500, 0, "young pauses", "System.gc()", "No GC" };
    CHECK("nor one that is under way", !look(&all, &shown, 4000, &one, &start_ns, cause));
    shown.exit = 3500;
    CHECK("when it has ended, it is new", look(&all, &shown, 5000, &one, &start_ns, cause));
    CHECK("its time is exact, its cause the present one", one.ns == 1000 && one.n_missed == 0 &&
                                                              strcmp(cause, "System.gc()") == 0 &&
                                                              strcmp(one.name, "young pauses") == 0);
    CHECK("its start is known to half the time between two reads", start_ns >= 3550 - 505 && start_ns <= 3550 + 505);
    CHECK("it is new once", !look(&all, &shown, 6000, &one, &start_ns, cause));
    shown = (struct shown){ 1, 7, 5900, 5995, "young pauses", "No GC", "Allocation Failure" };
    CHECK("two that nobody saw are counted", look(&all, &shown, 7000, &one, &start_ns, cause) && one.n_missed == 2);
    CHECK("a cause that is put away is still known", strcmp(cause, "Allocation Failure") == 0);
    CHECK("a read soon after an end tells the start better", start_ns >= 6950 - 260 && start_ns <= 6950 + 260);
    shown = (struct shown){ 1, 2, 8900, 8950, "young pauses", "No GC", "No GC" };
    CHECK("a number that runs backwards is no collection missed, and no cause is none",
          look(&all, &shown, 10000, &one, &start_ns, cause) && one.n_missed == 0 && cause[0] == '\0');
}

static void test_without(void)
{
    struct collections all = { .is_ready = false };
    struct perf_data data;
    perf_data_init(&data);
    const struct clock_point point = { 0, 0, 0 };
    CHECK("a JVM without counters has no collections",
          collections_write(&all, &data, NULL, &point, &point, &err) == 0 && !all.is_ready);
    struct shown shown = { .begun_ms = 1, .name = "G1 concurrent cycle pauses", .cause = "Old", .last_cause = "Old" };
    struct trace_collection one;
    uint64_t start_ns;
    char cause[64];
    look(&all, &shown, 1000, &one, &start_ns, cause);
    shown.n = shown.exit = 1;
    CHECK("of concurrent cycles no cause is told",
          look(&all, &shown, 2000, &one, &start_ns, cause) && cause[0] == '\0');
    data.n = 0;
    const struct collections_now now = { 3000, 3000, 3000 };
    CHECK("counters that cannot be read any more end it",
          !collections_next(&all, 0, &data, &now, &one, &start_ns, cause));
}

/* Between two rounds: what is seen waits for the next one. */
static void test_waiting(void)
{
    struct collections all = { .is_ready = false };
    struct perf_data made, data;
    struct shown shown = { .begun_ms = 1, .n = 5, .exit = 10, .name = "young pauses", .cause = "No GC" };
    perf_data_init(&data);
    data.fd = memfd_create("perf_data", MFD_CLOEXEC);
    uint32_t n_looks = 0;
    bool is_made = true;
    for (bool has_room = true; has_room && n_looks < 100; n_looks++) {
        show(&made, &shown);
        is_made = is_made && pwrite(data.fd, made.bytes, made.n, 0) == (ssize_t)made.n;
        has_room = collections_look(&all, &data);
        shown.n++;
        shown.entry = shown.exit + 5;
        shown.exit += 10;
        snprintf(shown.last_cause, sizeof shown.last_cause, "cause %u", (unsigned)n_looks);
    }
    CHECK("the files are made", is_made);
    CHECK_NUMBER("each read but the first sees one", all.n_waiting, n_looks - 1);
    CHECK_NUMBER("as many as may be seen at once find room", all.n_waiting,
                 COLLECTIONS_WAITING - COLLECTIONS_KINDS + 1);
    CHECK_NUMBER("it is the latest of its kind", all.waiting[2].collection.ns, 5);
    CHECK_NUMBER("and no other one was missed", all.waiting[2].collection.n_missed, 0);
    CHECK_TEXT("each has its own cause", all.waiting[2].cause, "cause 2");
    uint32_t n_before = all.n_waiting;
    uint64_t looked_ns = all.looked_ns;
    collections_look(&all, &data);
    CHECK_NUMBER("what was seen is not seen again", all.n_waiting, n_before);
    CHECK("and that there is nothing new was seen now", all.looked_ns > looked_ns);
    perf_data_close(&data);
}

/* ms since the latest look that found one, and before it: how soon to look again. */
static void test_wait(void)
{
    static const struct {
        uint32_t since_ms, apart_ms, wait_ms;
    } rows[] = { { 0, 100, 25 }, { 0, 0, 5 }, { 8, 12, 5 }, { 60, 12, 15 }, { 0, 5000, 50 }, { 5000, 10, 50 } };
    struct collections none = { .looked_ns = UINT64_C(900000000000), .n_kinds = 1 }, without = { .is_ready = false };
    CHECK_NUMBER("where there was none, there is time", collections_wait_ms(&none, 5, 50), 50);
    CHECK_NUMBER("and so there is where none are told", collections_wait_ms(&without, 5, 50), 50);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char claim[96];
        struct collections all = { .n_kinds = 1,
                                   .looked_ns = UINT64_C(900000000000),
                                   .found_ns = UINT64_C(900000000000) - rows[i].since_ms * UINT64_C(1000000),
                                   .apart_ns = rows[i].apart_ms * UINT64_C(1000000) };
        snprintf(claim, sizeof claim, "the latest was %u ms ago, and %u ms after the one before", rows[i].since_ms,
                 rows[i].apart_ms);
        CHECK_NUMBER(claim, collections_wait_ms(&all, 5, 50), rows[i].wait_ms);
    }
}

int main(void)
{
    test_looks();
    test_without();
    test_waiting();
    test_wait();
    return tap_done();
}
