/*
 * Where the time goes: made-up IP samples, whose shares are known.
 */
#include "report/view/view_pass.h"

#include "core/jvm/elf_file.h"
#include "core/jvm/maps.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

static struct arena arena;

struct made {
    struct maker maker;
    struct view_pass pass;
};

static void ip_sample(struct maker *m, enum trace_kind kind, uint32_t thread, uint64_t ticks, uint32_t location,
                      unsigned n)
{
    const struct trace_event event = { .kind = kind, .thread = thread, .ticks = ticks, .count = location };
    for (unsigned i = 0; i < n; i++)
        maker_must(m, trace_write_ip_samples(m->writer, &event, 1, &m->err));
}

static void describe(struct maker *m)
{
    const struct location_entry entries[] = {
        { .kind = LOCATION_FILE, .number = 0, .path = wire_text("/jdk/libjvm.so"), .symbols = wire_text(".symtab") },
        { .kind = LOCATION_FILE, .number = 1, .path = wire_text("/lib/libq.so"), .symbols = wire_text("none") },
        { .kind = LOCATION_SYMBOL,
          .number = 0,
          .offset = 0,
          .n_bytes = 100,
          .name = wire_text("_ZN15G1CollectedHeap7collectEv") },
        { .kind = LOCATION_METHOD,
          .number = 0,
          .class_name = wire_text("a/Main"),
          .name = wire_text("work"),
          .descriptor = wire_text("()V"),
          .source = wire_text("Main.java") },
        { .kind = LOCATION_IN_FILE, .number = 0, .file = 0, .offset = 10 },
        { .kind = LOCATION_IN_FILE, .number = 1, .file = 1, .offset = 10 },
        { .kind = LOCATION_IN_CODE,
          .number = 2,
          .code = LOCATION_COMPILED,
          .tier = 4,
          .n_frames = 1,
          .frames = { { 0, 7 } } },
        { .kind = LOCATION_IN_CODE,
          .number = 3,
          .code = LOCATION_COMPILED,
          .tier = 4,
          .n_frames = 1,
          .frames = { { 0, 9 } } },
        { .kind = LOCATION_IN_CODE, .number = 4, .code = LOCATION_UNKNOWN },
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        maker_must(m, trace_write_location(m->writer, &entries[i], &m->err));
}

/* 1 tick is 1 us.  main has a CPU for 800 us, a collector's thread for 200. */
/* simulated: the model's name, or NULL. */
static void make_simulated(struct made *made, const char *kernel, bool with_ip_samples, const char *simulated)
{
    struct maker *m = &made->maker;
    maker_open_scaled(m, "where.dat", 1000);
    if (simulated != NULL)
        maker_info(m, "simulated", simulated);
    maker_info(m, "offcpu", "perf");
    maker_info(m, "hits.hz", "100000"); /* each 10 us */
    maker_info(m, "hits.kernel", kernel);
    maker_thread(m, 0, "main", true);
    maker_thread(m, 1, "GC Thread#0", false);
    maker_method(m, 0, "a/Main", "run", "()V");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_IN, 1, 100), AT(TRACE_CPU_OUT, 1, 300), AT(TRACE_CPU_OUT, 0, 800));
    STEPS(m, 0, ENTER(0, 200), EXIT(0, 700));
    if (with_ip_samples) {
        describe(m);
        ip_sample(m, TRACE_IP_SAMPLE, 0, 10, 2, 30);
        ip_sample(m, TRACE_IP_SAMPLE, 0, 20, 3, 10);
        ip_sample(m, TRACE_IP_SAMPLE, 0, 30, 1, 8);
        ip_sample(m, TRACE_IP_SAMPLE, 0, 40, 4, 8);
        ip_sample(m, TRACE_KERNEL_IP_SAMPLE, 0, 50, 2, 8);
        ip_sample(m, TRACE_IP_SAMPLE, 1, 110, 0, 10);
    }
    maker_close(m, 1000);
    const struct view_pass_options options = { .path = m->path, .parts = VIEW_PASS_WHERE };
    maker_must(m, view_pass_read(&options, &arena, &made->pass, &m->err));
}

static void make(struct made *made, const char *kernel, bool with_ip_samples)
{
    make_simulated(made, kernel, with_ip_samples, NULL);
}

static void done(struct made *made)
{
    view_pass_close(&made->pass);
    unlink(made->maker.path);
    arena_free(&arena);
}

static bool is_near(double actual, double expected)
{
    if (fabs(actual - expected) < 0.0005 * (1 + expected))
        return true;
    printf("# is %.6f, expected %.6f\n", actual, expected);
    return false;
}

static const struct table_row *row_of(const struct table *table, const char *kind)
{
    for (size_t i = 0; i < table->n_rows; i++)
        if (strcmp(table->rows[i].kind, kind) == 0)
            return &table->rows[i];
    return NULL;
}

static void check_row(const struct table *table, const char *kind, double all, double application, double gc)
{
    const struct table_row *row = row_of(table, kind);
    CHECK(kind, row != NULL && is_near(row->cells[1].number, all) && is_near(row->cells[2].number, application) &&
                    is_near(row->cells[3].number, gc));
}

/* main's 64 IP samples stand for 800 us, the collector's 10 for 200: an IP sample of either weighs as much as it stands
 * for. */
static void test_shares(void)
{
    struct made made;
    const struct where *where = &made.pass.where;
    struct table table;
    make(&made, "included", true);
    CHECK("IP samples are read", made.pass.no_where.text[0] == '\0' && where->n_ip_samples == 74);
    where_table(&made.pass.source, where, &table);
    check_row(&table, "c2_code", 0.5, 0.5, 0);
    check_row(&table, "native", 0.1, 0.1, 0);
    check_row(&table, "unknown", 0.1, 0.1, 0);
    check_row(&table, "kernel", 0.1, 0.1, 0);
    check_row(&table, "vm_gc", 0.2, 0, 0.2);
    check_row(&table, "total", 1, 0.8, 0.2);
    CHECK_NUMBER("nothing else has a row", table.n_rows, 6);
    CHECK("a note says where names are from",
          table.n_notes >= 3 && strstr(table.notes[1], "libjvm.so are from: .symtab"));
    CHECK("and another of what there are none", strstr(table.notes[2], "without symbols: libq.so") != NULL);
    where_hot_table(&made.pass.source, where, 2, &table);
    CHECK_NUMBER("the functions", table.n_rows, 2);
    CHECK_TEXT("that with most time is first", table.rows[0].cells[0].words, "Main.work");
    CHECK("with its time, the kernel's too",
          is_near(table.rows[0].cells[2].number, 0.6) && is_near(table.rows[0].cells[3].number, 0.1));
    CHECK_TEXT("and the line that was IP sample most", table.rows[0].cells[6].words, "Main.java:7");
    CHECK_TEXT("then a function of the JVM", table.rows[1].cells[0].words, "G1CollectedHeap::collect");
    done(&made);
}

/* An IP sample stands for 10 us then: main's 56 outside the kernel for 560 of its 800. */
static void test_without_kernel(void)
{
    struct made made;
    struct table table;
    make(&made, "excluded", true);
    CHECK("IP samples are read where the kernel is closed", made.pass.no_where.text[0] == '\0');
    where_table(&made.pass.source, &made.pass.where, &table);
    check_row(&table, "c2_code", 0.4, 0.4, 0);
    check_row(&table, "kernel", 0.34, 0.24, 0.1);
    check_row(&table, "total", 1, 0.8, 0.2);
    done(&made);
}

static void test_none(void)
{
    struct made made;
    make(&made, "included", false);
    CHECK("of a trace without IP samples it is said what to do",
          strstr(made.pass.no_where.text, "has no IP samples\n  next: record with --frequency") != NULL);
    done(&made);
    make_simulated(&made, "included", false, "zen4");
    CHECK("of a simulated one, which can have none, something else",
          strstr(made.pass.no_where.text, "it was simulated\n  next: use --view misses=part") != NULL);
    done(&made);
}

/* One sample of a thread before its name in Java, and one after it. */
static void test_late_name(void)
{
    struct made made;
    struct maker *m = &made.maker;
    const struct trace_sampled_method run = { .names = { "a/Main", "run", "()V" } };
    maker_open_scaled(m, "late.dat", 1000);
    maker_info(m, "hits.hz", "100000");
    maker_info(m, "hits.kernel", "included");
    maker_thread(m, 0, "java", false);
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_OUT, 0, 800));
    describe(m);
    ip_sample(m, TRACE_IP_SAMPLE, 0, 10, 2, 3);
    maker_stack(m, 0, -1, 0, &run, 0, 0);
    struct trace_sample sample = { .ticks = 100, .context = 1, .index = -1, .n = 1, .weight_ns = 1000 };
    maker_must(m, trace_write_sample(m->writer, &sample, &m->err));
    maker_thread(m, 0, "worker-1", false);
    ip_sample(m, TRACE_IP_SAMPLE, 0, 20, 2, 4);
    sample.ticks = 300;
    maker_must(m, trace_write_sample(m->writer, &sample, &m->err));
    maker_close(m, 1000);
    const struct view_pass_options options = {
        .path = m->path, .parts = VIEW_PASS_WHERE | VIEW_PASS_SAMPLES, .per_thread = true, .only_threads = "worker-*"
    };
    maker_must(m, view_pass_read(&options, &arena, &made.pass, &m->err));
    CHECK_NUMBER("IP samples of a thread count from before its name was known", made.pass.where.n_ip_samples, 7);
    struct sample_share share = sample_profile_total(&made.pass.samples.profile, 0);
    CHECK_NUMBER("stack samples do, too", share.n_samples, 2);
    done(&made);
}

static void event_samples(struct maker *m, uint32_t event, uint32_t location, bool in_kernel, uint64_t weight,
                          unsigned n)
{
    const struct trace_event_sample sample = {
        .location = location, .in_kernel = in_kernel, .event = event, .weight = weight
    };
    for (unsigned i = 0; i < n; i++)
        maker_must(m, trace_write_event_sample(m->writer, &sample, &m->err));
}

static const struct table_cell *cell_of(const struct table *table, const char *kind, const char *key)
{
    const struct table_row *row = row_of(table, kind);
    for (size_t i = 0; row != NULL && i < table->n_columns; i++)
        if (strcmp(table->columns[i].key, key) == 0)
            return &row->cells[i];
    return NULL;
}

static void check_ratio(const char *name, const struct table *table, const char *kind, const char *key, double value)
{
    const struct table_cell *cell = cell_of(table, kind, key);
    CHECK(name, cell != NULL && (value < 0 ? cell->value == TABLE_UNMEASURED : is_near(cell->number, value)));
}

/*
 * The interpreter has 16 samples of 1,000 cycles and 25 of 400 instructions, code of C2 400 of 1,000 and of 2,000, and
 * 32 faults in the 400 us of CPU time for which its 40 IP samples stand.
 */
static void test_events(void)
{
    struct made made;
    struct table table;
    struct maker *m = &made.maker;
    const struct location_entry interpreter = { .kind = LOCATION_IN_CODE, .number = 5, .code = LOCATION_INTERPRETER };
    maker_open_scaled(m, "events.dat", 1000);
    maker_info(m, "hits.hz", "100000");
    maker_info(m, "hits.kernel", "excluded");
    maker_info(m, "hits.events", "cycles instructions LLC-load-misses page-faults");
    maker_thread(m, 0, "main", true);
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_OUT, 0, 800));
    describe(m);
    maker_must(m, trace_write_location(m->writer, &interpreter, &m->err));
    ip_sample(m, TRACE_IP_SAMPLE, 0, 10, 2, 40);
    ip_sample(m, TRACE_IP_SAMPLE, 0, 20, 5, 30);
    event_samples(m, 0, 5, false, 1000, 16);
    event_samples(m, 1, 5, false, 400, 25);
    event_samples(m, 0, 2, false, 1000, 400);
    event_samples(m, 1, 2, false, 2000, 400);
    event_samples(m, 2, 2, false, 40, 10);
    event_samples(m, 2, 5, false, 40, 9);
    event_samples(m, 3, 2, false, 1, 32);
    maker_close(m, 1000);
    const struct view_pass_options options = { .path = m->path, .parts = VIEW_PASS_WHERE };
    maker_must(m, view_pass_read(&options, &arena, &made.pass, &m->err));
    where_table(&made.pass.source, &made.pass.where, &table);
    check_ratio("CPI of the interpreter", &table, "interpreter", "cpi", 1.6);
    check_ratio("the interval is that of as many samples as there were", &table, "interpreter", "cpi_error",
                1.96 * 1.6 * sqrt(1.0 / 16 + 1.0 / 25));
    check_ratio("CPI of compiled code", &table, "c2_code", "cpi", 0.5);
    check_ratio("CPI of all", &table, "total", "cpi", 416.0 / 810);
    check_ratio("misses are per 1,000 instructions", &table, "c2_code", "llc_load_misses_per_1000_instructions", 0.5);
    check_ratio("of nine samples nothing is told", &table, "interpreter", "llc_load_misses_per_1000_instructions", -1);
    check_ratio("faults are per second", &table, "c2_code", "page_faults_per_second", 32 / 400e-6);
    check_ratio("code without any has none", &table, "interpreter", "page_faults_per_second", -1);
    done(&made);
}

/* ---- files that a trace names ---- */

/* The function at an offset in a file that a trace of a host names, without its symbols; "" for none. */
static const char *name_here(const char *host, const char *path, const char *build_id, uint64_t offset)
{
    static char name[256];
    struct made made;
    struct maker *m = &made.maker;
    struct code_location location;
    const struct location_entry file = { .kind = LOCATION_FILE,
                                         .path = wire_text(path),
                                         .build_id = wire_text(build_id),
                                         .symbols = wire_text("") },
                                in_file = { .kind = LOCATION_IN_FILE, .offset = offset };
    maker_open_scaled(m, "where.dat", 1000);
    maker_info(m, "host", host);
    maker_thread(m, 0, "main", true);
    maker_must(m, trace_write_location(m->writer, &file, &m->err));
    maker_must(m, trace_write_location(m->writer, &in_file, &m->err));
    ip_sample(m, TRACE_IP_SAMPLE, 0, 10, 0, 1);
    maker_close(m, 1000);
    const struct view_pass_options options = { .path = m->path, .parts = VIEW_PASS_WHERE };
    maker_must(m, view_pass_read(&options, &arena, &made.pass, &m->err));
    code_locations_find(made.pass.where.locations, 0, &location);
    snprintf(name, sizeof name, "%s", code_locations_function(made.pass.where.locations, location.function)->name);
    done(&made);
    return name;
}

static void test_files_here(void)
{
    const char *directory = getenv("SCRATCH");
    struct utsname here;
    struct jvm_mapped self;
    struct jvm_maps maps;
    struct elf_file elf;
    char id[JVM_BUILD_ID_BYTES] = "", fifo[256];
    jvm_maps_init(&maps);
    uint64_t address = (uint64_t)(uintptr_t)test_files_here + 4;
    bool is_known = uname(&here) == 0 && jvm_maps_read(&maps, getpid()) == 0;
    const struct jvm_mapping *mapping = is_known ? jvm_maps_find(&maps, address) : NULL;
    is_known = mapping != NULL && jvm_mapped_find(getpid(), mapping->path, &self) == 1 &&
               elf_file_open(&elf, open(self.path, O_RDONLY | O_CLOEXEC)) == 0;
    if (!CHECK("this program is a file", is_known))
        return;
    uint64_t offset = address - mapping->start + mapping->offset;
    elf_file_build_id(&elf, id);
    elf_file_close(&elf);
    jvm_maps_free(&maps);
    snprintf(fifo, sizeof fifo, "%s/where-fifo.%d", directory == NULL ? "/tmp" : directory, (int)getpid());
    CHECK_TEXT("a trace of this machine without names gets them from its files",
               name_here(here.nodename, self.path, id, offset), "test_files_here");
    CHECK_TEXT("one of another machine does not", name_here("another", self.path, id, offset), "");
    CHECK_TEXT("nor from another build", name_here(here.nodename, self.path, "0011", offset), "");
    CHECK("a FIFO is made", mkfifo(fifo, 0600) == 0);
    CHECK_TEXT("a FIFO that it names is not opened", name_here(here.nodename, fifo, id, offset), "");
    unlink(fifo);
}

int main(void)
{
    test_shares();
    test_without_kernel();
    test_none();
    test_late_name();
    test_events();
    test_files_here();
    return tap_done();
}
