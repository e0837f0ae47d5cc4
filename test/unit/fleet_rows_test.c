#include "report/fleet/fleet_rows.h"

#include "test/unit/parquet_decoder.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

static struct err err;

enum { RUN, SORT, SORT_ALL, N_COUNTERS = 2 };

/* 1 tick is 1 us; the recording begins at 1 ms, so that buckets of 50 us begin with it. */
static void make_program(struct maker *m, bool has_counters)
{
    static const struct trace_counter counters[] = {
        { .name = "cycles", .why = "", .in_records = true },
        { .name = "L1-dcache-load-misses", .why = "", .in_records = true },
        { .name = "branch-misses", .why = "the PMU has none", .in_records = false },
    };
    maker_open_scaled(m, "fleet.dat", 1000);
    maker_info(m, "offcpu", "perf");
    maker_info(m, "host", "host \"1\"; DROP TABLE x; --");
    maker_info(m, "cpu", "AMD EPYC, 2 CPUs");
    maker_info(m, "jvm.pid", "17");
    maker_info(m, "jvm.version", "OpenJDK 17");
    if (has_counters) {
        maker_must(m, trace_write_counters(m->writer, counters, 3, &m->err));
        m->n_counters = N_COUNTERS;
    }
    maker_thread(m, 0, "main", true);
    maker_thread(m, 1, "GC Thread#0", false);
    maker_thread(m, 2, "G1 Conc#0", false);
    maker_method(m, RUN, "a/Sort", "run", "()V");
    maker_method(m, SORT, "a/Sort", "sort", "([I)V");
    maker_method(m, SORT_ALL, "a/Sort", "sort", "([[I)V");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_IN, 1, 30), AT(TRACE_CPU_OUT, 1, 70), AT(TRACE_CPU_OUT, 0, 92),
           AT(TRACE_CPU_IN, 0, 96));
    STEPS(m, 0, ENTER(RUN, 0, 0, 0), ENTER(SORT, 10, 100, 1), EXIT(SORT, 40, 400, 7), ENTER(SORT_ALL, 48, 450, 7),
          EXIT(SORT_ALL, 88, 850, 47), EXIT(RUN, 100, 900, 48));
    maker_close(m, 100);
}

static void export_rows(struct decoded *d, const struct fleet_options *options, const char *const *paths, size_t n)
{
    struct parquet_writer *writer = NULL;
    FILE *out = tmpfile();
    int rc = fleet_rows_open(&writer, out, options, &err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = fleet_rows_add(writer, paths[i], options, &err);
    if (rc < 0 || parquet_close(writer, &err) < 0)
        printf("Bail out! %s\n", err.text);
    parquet_decode(d, out);
    if (d->why != NULL)
        printf("# %s\n", d->why);
    fclose(out);
}

/* A file of a recording that goes on in the next one. */
static void test_file_of_recording(void)
{
    struct maker m;
    struct decoded d;
    const struct fleet_options options = { .bucket_ns = 60e9 };
    maker_open_scaled(&m, "file.dat", 1000);
    maker_info(&m, "host", "h");
    maker_info(&m, "jvm.pid", "17");
    maker_info(&m, "recording.began_ns", "500000");
    maker_info(&m, "recording.file", "3");
    maker_thread(&m, 0, "main", true);
    maker_method(&m, RUN, "a/Sort", "run", "()V");
    STEPS(&m, 0, ENTER(RUN, 0), EXIT(RUN, 100));
    maker_close(&m, 100);
    export_rows(&d, &options, (const char *const[]){ m.path }, 1);
    CHECK_TEXT("files of one recording are one run", decoded_at(&d, 0, "run")->text, "h-17-500000");
    CHECK_NUMBER("and are told by their number", decoded_at(&d, 0, "file")->number, 3);
    parquet_decoded_free(&d);
}

/* The row of a phase in a bucket, or n_rows. */
static size_t row_of(const struct decoded *d, const char *phase, int64_t ts)
{
    for (size_t i = 0; i < d->n_rows; i++)
        if (strcmp(decoded_at(d, i, "phase")->text, phase) == 0 && decoded_at(d, i, "ts")->number == ts)
            return i;
    return d->n_rows;
}

/* "parent calls cpu self off_cpu wall cycles l1d branch" of it, '-' for NULL; times in us. */
static const char *shown(struct decoded *d, const char *phase, int64_t ts)
{
    static const char *const keys[] = { "parent",  "calls",  "cpu_ns",     "self_ns",      "off_cpu_ns",
                                        "wall_ns", "cycles", "l1d_misses", "branch_misses" };
    size_t row = row_of(d, phase, ts);
    const char *text = "";
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct decoded_value *value = decoded_at(d, row, keys[i]);
        bool is_time = i >= 2 && i <= 5;
        const char *blank = i == 0 ? "" : " ";
        if (!value->is_there)
            text = arena_printf(&d->arena, "%s%s-", text, blank);
        else if (value->text != NULL)
            text = arena_printf(&d->arena, "%s%s%s", text, blank, value->text);
        else
            text = arena_printf(&d->arena, "%s%s%.6g", text, blank, (double)value->number / (is_time ? 1000 : 1));
    }
    return text;
}

static void test_buckets(void)
{
    struct maker m;
    struct decoded d;
    const struct fleet_options options = { .service = "shop", .version = "1.2", .bucket_ns = 50000 };
    make_program(&m, true);
    export_rows(&d, &options, (const char *const[]){ m.path }, 1);
    CHECK_TEXT("a call that goes on has its time in both buckets, and is counted where it began",
               shown(&d, "a.Sort.run()", 1000), "- 1 50 18 0 50 470 9 -");
    CHECK_TEXT("its time off the CPU is in the bucket where it was off", shown(&d, "a.Sort.run()", 1050),
               "- 0 46 8 4 50 430 39 -");
    CHECK_TEXT("what it calls has it as its parent", shown(&d, "a.Sort.sort(int[])", 1000),
               "a.Sort.run() 1 30 30 0 30 300 6 -");
    CHECK_TEXT("a time that spans two buckets is divided with its events", shown(&d, "a.Sort.sort(int[][])", 1000),
               "a.Sort.run() 1 2 2 0 2 20 2 -");
    CHECK_TEXT("and nothing is lost", shown(&d, "a.Sort.sort(int[][])", 1050), "a.Sort.run() 0 38 38 0 38 380 38 -");
    CHECK_TEXT("the JVM's parts are rows; what nobody counted is null", shown(&d, "garbage collector", 1050),
               "- - 20 20 - - - - -");
    CHECK("what did nothing in a bucket has no row there", row_of(&d, "a.Sort.sort(int[])", 1050) == d.n_rows);
    parquet_decoded_free(&d);
}

/* Of 136 us on a CPU the methods have 96, 40 and 30. */
static void test_small_methods(void)
{
    struct maker m;
    struct decoded d;
    const struct fleet_options options = { .min_share = 0.25, .bucket_ns = 50000 };
    make_program(&m, false);
    export_rows(&d, &options, (const char *const[]){ m.path }, 1);
    CHECK("a method with less of the time than is asked for has no row",
          row_of(&d, "a.Sort.sort(int[])", 1000) == d.n_rows);
    CHECK("one with as much has", row_of(&d, "a.Sort.sort(int[][])", 1000) < d.n_rows);
    CHECK_TEXT("and the time of the small one is its caller's own", shown(&d, "a.Sort.run()", 1000),
               "- 1 50 48 0 50 - - -");
    parquet_decoded_free(&d);
}

static void test_run(void)
{
    struct maker m;
    struct decoded d;
    const struct fleet_options options = { .service = "a'b\n<x>", .host = "h", .bucket_ns = 60e9 };
    make_program(&m, false);
    export_rows(&d, &options, (const char *const[]){ m.path, m.path }, 2);
    CHECK_TEXT("a run is told by its host, process and start", decoded_at(&d, 0, "run")->text,
               "host \"1\"; DROP TABLE x; ---17-1000000");
    CHECK_NUMBER("a recording in one file is the first one", decoded_at(&d, 0, "file")->number, 1);
    CHECK_TEXT("labels are as they were given", decoded_at(&d, 0, "service")->text, "a'b\n<x>");
    CHECK_TEXT("a host that is given stands for the trace's", decoded_at(&d, 0, "host")->text, "h");
    CHECK("a version that is not given is null", !decoded_at(&d, 0, "version")->is_there);
    CHECK_TEXT("the CPU's model is without their number", decoded_at(&d, 0, "cpu_model")->text, "AMD EPYC");
    CHECK_TEXT("threads tell the collector", decoded_at(&d, 0, "gc")->text, "G1");
    CHECK("without counters nothing counted", !decoded_at(&d, 0, "counted_by")->is_there);
    CHECK_TEXT("nor are there events", shown(&d, "a.Sort.run()", 0), "- 1 96 26 4 100 - - -");
    CHECK_NUMBER("a minute begins at a whole one, of which a part was recorded",
                 decoded_at(&d, 0, "recorded_ns")->number, 100000);
    CHECK("two traces are one after the other", d.n_rows % 2 == 0 && d.n_rows > 0);
    CHECK_TEXT("the footer tells the schema", decoded_metadata(&d, "mmprof.schema"), "mmprof.fleet");
    CHECK_TEXT("and its version", decoded_metadata(&d, "mmprof.schema_version"), "1");
    parquet_decoded_free(&d);
}

static void test_refusals(void)
{
    struct maker m;
    struct parquet_writer *writer;
    FILE *out = tmpfile();
    struct fleet_options options = { .bucket_ns = 0.01 };
    make_program(&m, false);
    fleet_rows_open(&writer, out, &options, &err);
    CHECK("buckets that are too many are refused", fleet_rows_add(writer, m.path, &options, &err) < 0 &&
                                                       strstr(err.text, "too short") != NULL &&
                                                       strstr(err.text, "--bucket") != NULL);
    options.bucket_ns = 1e9;
    CHECK("and so is a trace that is not there", fleet_rows_add(writer, "/nowhere.dat", &options, &err) < 0);
    parquet_abandon(writer);
    fclose(out);
}

int main(void)
{
    test_buckets();
    test_small_methods();
    test_run();
    test_file_of_recording();
    test_refusals();
    return tap_done();
}
