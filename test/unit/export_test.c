#include "report/export/export.h"

#include "report/export/export_protobuf.h"
#include "report/export/export_tree.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <zlib.h>

static struct arena arena;
static struct err err;

/* ---- protocol buffers ---- */

static void test_protobuf(void)
{
    static const uint8_t expected[] = { 0x08, 0x96, 0x01, 0x12, 0x07, 't',  'e',  's',  't',  'i',
                                        'n',  'g',  0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05 };
    static const uint64_t list[] = { 3, 270, 86942 };
    struct protobuf message = { .n = 0 };
    protobuf_number(&message, 1, 150);
    protobuf_number(&message, 9, 0);
    protobuf_bytes(&message, 2, "testing", 7);
    protobuf_numbers(&message, 6, list, 3);
    CHECK("the examples of the encoding's description come out",
          message.n == sizeof expected && memcmp(message.bytes, expected, sizeof expected) == 0);
    protobuf_clear(&message);
    protobuf_number(&message, 1, UINT64_MAX);
    CHECK("the largest number has ten bytes", message.n == 11 && message.bytes[10] == 1);

    uint8_t plain[16] = { 0 }, packed[200];
    FILE *out = tmpfile();
    gzFile gzip = gzip_open(out);
    gzip_write(gzip, &message);
    CHECK("a gzip stream is written", gzip_close(gzip, message.is_broken, &err) == 0);
    rewind(out);
    size_t n = fread(packed, 1, sizeof packed, out);
    fclose(out);
    z_stream z = { .next_in = packed, .avail_in = (uInt)n, .next_out = plain, .avail_out = sizeof plain };
    CHECK("it can be read again", inflateInit2(&z, 15 + 16) == Z_OK && inflate(&z, Z_FINISH) == Z_STREAM_END &&
                                      z.total_out == message.n && memcmp(plain, message.bytes, message.n) == 0);
    inflateEnd(&z);
    protobuf_free(&message);
}

static void test_full(void)
{
    struct protobuf message = { .n = 0 };
    protobuf_bytes(&message, 1, "x", 1);
    FILE *out = fopen("/dev/full", "w");
    if (out == NULL) {
        SKIP("a full disk is an error", "there is no /dev/full");
    } else {
        setvbuf(out, NULL, _IONBF, 0);
        gzFile gzip = gzip_open(out);
        gzip_write(gzip, &message);
        CHECK("a full disk is an error", gzip_close(gzip, message.is_broken, &err) < 0);
        fclose(out);
    }
    protobuf_free(&message);
}

/* ---- values ---- */

enum { RUN, SORT, SORT_ALL, N_COLUMNS = 6 };

/* Two groups that took turns: cycles in both, misses in the second; 1 tick is 1 us. */
static void make_program(struct maker *m)
{
    static const struct trace_counter counters[] = {
        { .name = "cycles", .why = "", .in_records = true, .group = 0 },
        { .name = "branch-misses", .why = "the PMU has none", .in_records = false },
        { .name = "cycles", .why = "", .in_records = true, .group = 1 },
        { .name = "L1-dcache-load-misses", .why = "", .in_records = true, .group = 1 },
        { .name = "running_ns", .why = "", .in_records = true, .kind = TRACE_COUNTER_RUNNING_NS, .group = 0 },
        { .name = "running_ns", .why = "", .in_records = true, .kind = TRACE_COUNTER_RUNNING_NS, .group = 1 },
        { .name = "enabled_ns", .why = "", .in_records = true, .kind = TRACE_COUNTER_ENABLED_NS },
        { .name = "page-faults", .why = "", .in_records = false },
    };
    maker_open_scaled(m, "export.dat", 1000);
    maker_info(m, "offcpu", "perf");
    maker_must(m, trace_write_counters(m->writer, counters, 8, &m->err));
    m->n_counters = N_COLUMNS;
    maker_thread(m, 0, "main", true);
    maker_thread(m, 1, "GC Thread#0", false);
    maker_thread(m, 2, "C2 CompilerThre", false);
    maker_method(m, RUN, "a/Sort", "run", "()V");
    maker_method(m, SORT, "a/Sort", "sort", "([I)V");
    maker_method(m, SORT_ALL, "a/Sort", "sort", "([[I)V");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_PAGE_FAULT, 0, 5), AT(TRACE_CPU_OUT, 2, 20), AT(TRACE_CPU_IN, 1, 30),
           AT(TRACE_CPU_OUT, 1, 50), AT(TRACE_CPU_IN, 1, 55), AT(TRACE_CPU_OUT, 1, 70), AT(TRACE_CPU_IN, 2, 80));
    STEPS(m, 0, ENTER(RUN, 0, 0, 0, 0, 0, 0, 0), ENTER(SORT, 10, 100, 0, 0, 10, 0, 10),
          EXIT(SORT, 40, 100, 300, 7, 10, 30, 40), ENTER(SORT_ALL, 50, 200, 300, 7, 20, 30, 50),
          EXIT(SORT_ALL, 90, 600, 300, 7, 60, 30, 90));
    maker_close(m, 100);
}

struct made {
    struct trace_reader *reader;
    struct calltree tree;
    struct report_source source;
};

static void read_back(struct maker *m, struct made *made)
{
    made->reader = maker_read(m);
    maker_must(m, calltree_build(made->reader, &(struct calltree_options){ 0 }, &made->tree, &m->err));
    made->source = (struct report_source){
        .path = "t.dat", .reader = made->reader, .tree = &made->tree, .clock = PHASES_CPU, .arena = &arena
    };
}

static const char *folded(struct made *made, const char *value, double min_share)
{
    char *text = NULL;
    size_t n;
    const struct export_tree_options options = { .value = value, .min_share = min_share };
    FILE *out = open_memstream(&text, &n);
    int rc = export_stacks(&made->source, &options, export_folded, out, &err);
    fclose(out);
    const char *copy = arena_text(&arena, text, n);
    free(text);
    return rc < 0 ? err.text : copy;
}

/* The data of the page. */
static const char *flamegraph(const struct made *made, bool is_reversed)
{
    char *text = NULL;
    size_t n = 0;
    const struct export_tree_options options = { .value = "cpu", .is_reversed = is_reversed };
    FILE *out = open_memstream(&text, &n);
    int rc = export_stacks(&made->source, &options, export_flamegraph, out, &err);
    fclose(out);
    const char *begin = rc < 0 ? NULL : strstr(text, "id=\"data\">"),
               *end = begin == NULL ? NULL : strstr(begin, "</script>");
    const char *copy = end == NULL ? "" : arena_text(&arena, begin + 10, (size_t)(end - begin - 10));
    free(text);
    return copy;
}

static void test_values(void)
{
    struct maker m;
    struct made made;
    make_program(&m);
    read_back(&m, &made);
    struct export_value values[TRACE_COUNTERS_MAX + 3];
    CHECK_NUMBER("calls, two times, two events of groups, one of the kernel's",
                 export_values(&made.source, true, values), 6);
    CHECK_TEXT("time is in ns; overloaded methods say their parameters", folded(&made, "cpu", 0),
               "application;a.Sort.run 30000\napplication;a.Sort.run;a.Sort.sort(int[]) 30000\n"
               "application;a.Sort.run;a.Sort.sort(int[][]) 40000\ngarbage collector 35000\nC2 compiler 40000\n");
    CHECK_TEXT("a flame graph has the same contexts, callers first", flamegraph(&made, false),
               "{\"unit\":\"nanoseconds\",\"names\":[\"application\",\n\"a.Sort.run\",\n\"a.Sort.sort(int[])\",\n"
               "\"a.Sort.sort(int[][])\",\n\"garbage collector\",\n\"C2 compiler\"],"
               "\"nodes\":[[-1,0,0],[0,1,30000],[1,2,30000],[1,3,40000],[-1,4,35000],[-1,5,40000]]}");
    CHECK_TEXT("reversed, callees come first, and each has its callers", flamegraph(&made, true),
               "{\"unit\":\"nanoseconds\",\"is_reversed\":true,\"names\":[\"a.Sort.run\",\n\"application\",\n"
               "\"a.Sort.sort(int[])\",\n\"a.Sort.sort(int[][])\",\n\"garbage collector\",\n\"C2 compiler\"],"
               "\"nodes\":[[-1,0,0],[0,1,30000],[-1,2,0],[2,0,0],[3,1,30000],[-1,3,0],[5,0,0],[6,1,40000],"
               "[-1,4,35000],[-1,5,40000]]}");
    CHECK_TEXT("calls are counted", folded(&made, "calls", 0),
               "application;a.Sort.run 1\napplication;a.Sort.run;a.Sort.sort(int[]) 1\n"
               "application;a.Sort.run;a.Sort.sort(int[][]) 1\n");
    CHECK_TEXT("an event of several groups is their sum", folded(&made, "cycles", 0),
               "application;a.Sort.run 200\napplication;a.Sort.run;a.Sort.sort(int[]) 300\n"
               "application;a.Sort.run;a.Sort.sort(int[][]) 400\n");
    CHECK_TEXT("one of a single group is scaled to all of the time; its heading will do", folded(&made, "l1-d", 0),
               "application;a.Sort.run;a.Sort.sort(int[]) 21\n");
    CHECK_TEXT("the kernel's events are there, too", folded(&made, "page-faults", 0), "application;a.Sort.run 1\n");
    CHECK_TEXT("small contexts are their callers'", folded(&made, "cpu", 0.2),
               "application;a.Sort.run 60000\napplication;a.Sort.run;a.Sort.sort 40000\n"
               "garbage collector 35000\nC2 compiler 40000\n");
    CHECK_TEXT("an event that was not measured is refused", folded(&made, "branch-misses", 0),
               "t.dat: the trace has no value 'branch-misses'\n"
               "  next: it has calls, wall, cpu, cycles, L1-dcache-load-misses, page-faults");
    calltree_free(&made.tree);
    trace_close(made.reader);
}

/* ---- the time line ---- */

struct line {
    char text[1024];
};

static void note_slice(void *context, const struct slice *slice)
{
    struct line *line = context;
    size_t n = strlen(line->text);
    snprintf(line->text + n, sizeof line->text - n, "%s%u:%d %d-%d", n == 0 ? "" : ", ", slice->thread,
             (int)slice->method, (int)slice->start_ticks, (int)slice->end_ticks);
}

static const char *slices(struct maker *m, uint64_t gap_ticks)
{
    struct line line = { "" };
    struct trace_reader *named = maker_read(m), *reader = maker_read(m);
    struct trace_event event;
    while (trace_next(named, &event, &m->err) > 0)
        ;
    maker_must(m, slices_read(reader, named, gap_ticks, note_slice, &line, &m->err));
    trace_close(reader);
    trace_close(named);
    return arena_text(&arena, line.text, strlen(line.text));
}

static void test_slices(void)
{
    struct maker m;
    make_program(&m);
    CHECK_TEXT("calls end with the trace, run slices begin with it", slices(&m, 0),
               "1:-1 30-50, 2:-1 0-20, 0:1 10-40, 0:2 50-90, 0:0 0-100, 1:-1 55-70, 2:-1 80-100");
    CHECK_TEXT("short pauses do not divide run slices", slices(&m, 6),
               "2:-1 0-20, 0:1 10-40, 0:2 50-90, 0:0 0-100, 1:-1 30-70, 2:-1 80-100");
}

static struct export_slices chrome(struct maker *m, double limit_ns, uint64_t max_slices, char **text)
{
    size_t n;
    struct export_slices slices = { .limit_ns = 0 };
    struct export_chrome_options options = { m->path, false, limit_ns, max_slices };
    FILE *out = open_memstream(text, &n);
    if (export_chrome(&options, out, &slices, &err) < 0)
        printf("Bail out! %s\n", err.text);
    fclose(out);
    return slices;
}

static void test_chrome(void)
{
    struct maker m;
    char *text = NULL;
    make_program(&m);
    struct export_slices all = chrome(&m, -1, 100, &text);
    CHECK("where there is room no slice is left out", all.n_written == 7 && all.n_left_out == 0);
    CHECK("a slice has a name and times in us",
          strstr(text, "{\"ph\":\"X\",\"pid\":1,\"tid\":100,\"cat\":\"method\",\"name\":\"Sort.run\",\"ts\":0.000,"
                       "\"dur\":100.000}") != NULL);
    CHECK("a stay on a CPU has its part's",
          strstr(text, "\"tid\":102,\"cat\":\"cpu\",\"name\":\"C2 compiler\"") != NULL);
    free(text);
    struct export_slices some = chrome(&m, -1, 3, &text);
    CHECK("else the limit is raised until they fit", some.n_written > 0 && some.n_written <= 3);
    CHECK("those below are counted", some.n_left_out > 0 && some.limit_ns >= 30000 && some.limit_ns <= 40000);
    free(text);
    struct export_slices given = chrome(&m, 35000, 1, &text);
    CHECK("a limit that is given is kept, however many there are", given.n_written == 3 && given.limit_ns == 35000);
    free(text);
}

/* main is in run, then in sort, which it calls; a sample stands for 10 us. */
static void test_chrome_samples(void)
{
    static const struct trace_sampled_method
        run = { .names.class_name = "a/Sort", .names.method = "run", .names.descriptor = "()V", .source = "" },
        sort = { .names.class_name = "a/Sort", .names.method = "sort", .names.descriptor = "()V", .source = "" };
    static const struct {
        uint64_t ticks;
        uint32_t context;
    } rows[] = { { 20, 1 }, { 30, 2 }, { 80, 0 } };
    struct maker m;
    char *text = NULL;
    maker_open_scaled(&m, "samples.dat", 1000);
    maker_thread(&m, 0, "main", false);
    maker_stack(&m, 0, -1, 0, &run, 0, 0);
    maker_stack(&m, 1, 5, 1, &sort, 0, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        maker_must(
            &m, trace_write_sample(
                    m.writer,
                    &(struct trace_sample){
                        .ticks = rows[i].ticks, .context = rows[i].context, .index = -1, .n = 1, .weight_ns = 10000 },
                    &m.err));
    maker_close(&m, 100);
    struct export_slices all = chrome(&m, -1, 100, &text);
    CHECK("chrome has the stack samples, too", all.n_samples == 3 && all.n_written == 0);
    CHECK("as a profile of the thread", strstr(text, "{\"ph\":\"P\",\"pid\":1,\"tid\":100,\"id\":\"0x64\"") != NULL &&
                                            strstr(text, "\"name\":\"Profile\"") != NULL);
    CHECK("its nodes are the contexts, below their callers",
          strstr(text, "{\"id\":4,\"parent\":1,\"callFrame\":{\"functionName\":\"Sort.run\"") != NULL &&
              strstr(text, "{\"id\":5,\"parent\":4,\"callFrame\":{\"functionName\":\"Sort.sort\"") != NULL);
    CHECK("after the time that a sample stands for the thread is idle",
          strstr(text, "\"samples\":[4,5,2,3,2]},\"timeDeltas\":[20,10,10,40,10]") != NULL);
    CHECK("a thread without slices has one for each stretch of samples, as DevTools show nothing else",
          strstr(text, "\"cat\":\"samples\",\"name\":\"application\",\"ts\":20,\"dur\":20}") != NULL &&
              strstr(text, "\"name\":\"application\",\"ts\":80,\"dur\":10}") != NULL);
    free(text);
}

int main(void)
{
    test_protobuf();
    test_full();
    test_values();
    test_slices();
    test_chrome();
    test_chrome_samples();
    arena_free(&arena);
    return tap_done();
}
