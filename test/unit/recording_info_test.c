/* What a recording says of itself: each row of the table is written, read back and in the manual page. */
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include "core/trace/recording_info.h"

static void test_records(void)
{
    static const struct info_live_sampled sampled = { 0.125, 7, { "a/B", "run it", "(I)V" }, "dear", 5e6 };
    static const struct info_live_method method = { "disarmed", 1.5, 1000, 250, "it is called too often" };
    struct info_live_sampled s;
    struct info_live_method got;
    struct info_collector gc;
    struct info_classes classes;
    struct info_live_samples samples;
    struct info_window window;
    struct arena arena = { NULL, 0 };
    struct maker m;
    maker_open(&m, "records.dat");
    maker_must(&m, info_write(m.writer, INFO_LIVE_SAMPLED, 0, &sampled, INFO_ALL_FIELDS, &m.err));
    maker_info(&m, "live.sampled.1", "0.5 3 a/B run ()V dear 7 0.5 a/C main ()V 0.25");
    maker_info(&m, "live.sampled.2", "0.5 3 a/B run ()V");
    maker_must(&m, info_write(m.writer, INFO_LIVE_METHOD, 4711, &method, INFO_ALL_FIELDS, &m.err));
    maker_must(&m, info_write(m.writer, INFO_PAUSES_GC, 1, &(struct info_collector){ 3, 100, "G1 Young Generation" },
                              INFO_ALL_FIELDS, &m.err));
    maker_info(&m, "pauses.classes", "1 2 3 four 5 6");
    maker_must(
        &m, info_write(m.writer, INFO_LIVE_SAMPLES, 0, &(struct info_live_samples){ 9, 2.3 }, INFO_ALL_FIELDS, &m.err));
    maker_must(&m, info_write(m.writer, INFO_LIVE_WINDOW, 0, &(struct info_window){ UINT64_MAX - 1, UINT64_MAX },
                              INFO_ALL_FIELDS, &m.err));
    maker_must(&m, info_write_real(m.writer, INFO_LIVE_BUDGET, 0.01, &m.err));
    maker_info(&m, "hits.hz", "-3");
    maker_close(&m, 1000);
    struct trace_reader *r = maker_read(&m);
    struct trace_event event;
    CHECK("it can be read", trace_next(r, &event, &m.err) == 0);
    CHECK_NUMBER("a sampled method has seven fields", info_read(r, INFO_LIVE_SAMPLED, 0, &arena, &s), 7);
    CHECK_TEXT("a word may hold a blank", s.names.method, "run it");
    CHECK("and numbers are in their places", s.share == 0.125 && s.n_samples == 7 && s.recompilation_ns == 5e6);
    CHECK_NUMBER("what is behind the last field is passed over", info_read(r, INFO_LIVE_SAMPLED, 1, &arena, &s),
                 INFO_SAMPLED_REASON);
    CHECK("the last field is itself", s.recompilation_ns == 7);
    CHECK_NUMBER("an older one ends before it", info_read(r, INFO_LIVE_SAMPLED, 2, &arena, &s), INFO_SAMPLED_FORMER);
    CHECK_NUMBER("they are counted", info_count(r, INFO_LIVE_SAMPLED), 3);
    CHECK_TEXT("in the trace it is as ever", trace_info(r, "live.sampled.0"),
               "0.12500 7 a/B run%20it (I)V dear 5000000");
    CHECK_TEXT("and so is a method", trace_info(r, "live.method.4711"),
               "disarmed 1.500 1000 250 it is called too often");
    CHECK("the last text has its blanks", info_read(r, INFO_LIVE_METHOD, 4711, &arena, &got) == 5 &&
                                              strcmp(got.why, method.why) == 0 && got.call_ns == 250);
    CHECK_NUMBER("what is not there has no field", info_read(r, INFO_LIVE_METHOD, 1, &arena, &got), 0);
    CHECK_TEXT("and its texts are empty", got.state, "");
    CHECK("a collector's pauses", info_read(r, INFO_PAUSES_GC, 1, &arena, &gc) == 3 && gc.n == 3 && gc.ns == 100 &&
                                      strcmp(gc.name, "G1 Young Generation") == 0);
    CHECK_NUMBER("what is damaged ends there", info_read(r, INFO_PAUSES_CLASSES, 0, &arena, &classes), 3);
    CHECK("a count and a time", info_read(r, INFO_LIVE_SAMPLES, 0, &arena, &samples) == 2 && samples.n == 9);
    CHECK_TEXT("the time to a tenth of a millisecond", trace_info(r, "live.samples"), "9 2.3");
    CHECK("numbers may be large", info_read(r, INFO_LIVE_WINDOW, 0, &arena, &window) == 2 &&
                                      window.start_ticks == UINT64_MAX - 1 && window.end_ticks == UINT64_MAX);
    CHECK_TEXT("a fraction is short", info_text(r, INFO_LIVE_BUDGET), "0.01");
    CHECK("no number is negative, or missing",
          info_number(r, INFO_IP_SAMPLES_HZ) == -1 && info_number(r, INFO_IP_SAMPLES) == -1);
    arena_free(&arena);
    trace_close(r);
}

static void test_decimals(void)
{
    static const struct {
        enum info_key key;
        const char *text;
    } rows[] = {
        { INFO_PROBE_INSIDE_TICKS, "2.7183" },
        { INFO_PROBE_OUTSIDE_TICKS, "2.7183" },
        { INFO_READINGS_CPU_MS, "2.7" },
        { INFO_CODE_CPU_MS, "2.7" },
        { INFO_CODE_ASKED_MS, "2.7" },
        { INFO_INSTRUMENT_MS, "2.7" },
        { INFO_INSTRUMENT_LONGEST_MS, "2.7" },
        { INFO_INSTRUMENT_PAUSES_MS, "2.7" },
        { INFO_INSTRUMENT_LONGEST_PAUSE_MS, "2.7" },
        { INFO_REMOVAL_PAUSES_MS, "2.7" },
        { INFO_REMOVAL_LONGEST_PAUSE_MS, "2.7" },
        { INFO_LIVE_PAUSES_MS, "2.7" },
        { INFO_LIVE_LONGEST_PAUSE_MS, "2.7" },
        { INFO_LIVE_BUDGET, "2.71828" },
        { INFO_LIVE_RECOMPILING_MS, "3" },
        { INFO_LIVE_COMPILING_MS, "3" },
        { INFO_LIVE_WINDOWS_MS, "3" },
        { INFO_LIVE_FORGOTTEN_MS, "3" },
        { INFO_LIVE_SPARED_MS, "3" },
        { INFO_LIVE_REWRITING_MS, "2.7" },
        { INFO_LIVE_PROBES_MS, "2.7" },
        { INFO_LIVE_DISABLED_MS, "2.7" },
        { INFO_LIVE_OWN_CPU_MS, "2.7" },
    };
    const size_t n = sizeof rows / sizeof rows[0];
    struct maker m;
    maker_open(&m, "decimals.dat");
    for (size_t i = 0; i < n; i++)
        maker_must(&m, info_write_real(m.writer, rows[i].key, 2.718281828, &m.err));
    maker_close(&m, 1000);
    struct trace_reader *r = maker_read(&m);
    struct trace_event event;
    maker_must(&m, trace_next(r, &event, &m.err));
    for (size_t i = 0; i < n; i++) {
        char claim[80];
        snprintf(claim, sizeof claim, "%s has the decimals that say something", info_name(rows[i].key));
        CHECK_TEXT(claim, info_text(r, rows[i].key), rows[i].text);
    }
    trace_close(r);
}

static void test_rows(void)
{
    size_t n_told = 0;
    for (enum info_key key = 0; key < INFO_N_KEYS; key++) {
        bool is_told = info_name(key) != NULL && info_help(key) != NULL && info_help(key)[0] != '\0';
        if (!is_told)
            printf("# key %d\n", key);
        n_told += is_told;
    }
    CHECK_NUMBER("each key has a meaning, which dump prints", n_told, INFO_N_KEYS);
}

int main(void)
{
    test_records();
    test_decimals();
    test_rows();
    return tap_done();
}
