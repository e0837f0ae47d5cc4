/* Objects that still live: what became of each goes through a trace, and the tables that are made of them. */
#include "report/view/live_objects.h"
#include "report/view/tables.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <math.h>

static struct err err;
static struct arena arena;
static struct view_pass pass;

static bool is_near(double value, double expected)
{
    return fabs(value - expected) <= 1e-6 * fabs(expected);
}

static const struct trace_sampled_method keep = { { "shop/Cache", "keep", "()V" }, "", 0, NULL, 0, NULL },
                                         copy = { { "java/util/Arrays", "copyOf", "([BI)[B" }, "", 0, NULL, 0, NULL };

/* One object of a MB, that stands for itself. */
static void allocate(struct maker *m, uint64_t ticks, uint32_t thread, uint32_t context, uint32_t class_number,
                     const char *name)
{
    const struct trace_allocation allocation = { ticks, thread, context, 7, class_number, name, 1000000, 1 };
    maker_must(m, trace_write_allocation(m->writer, &allocation, &m->err));
}

static void tell(struct maker *m, uint64_t ticks, enum trace_heap_kind kind, uint64_t number)
{
    const struct trace_heap_event event = { ticks, kind, number };
    maker_must(m, trace_write_heap_event(m->writer, &event, &m->err));
}

static void collect(struct maker *m, uint64_t ticks, const char *name)
{
    const struct trace_collection collection = { ticks, 1000, 0, name, "" };
    maker_must(m, trace_write_collection(m->writer, &collection, &m->err));
}

/*
 * A tick is a ms.  Six objects: 0 to 3 by keep (3 of another class and thread), 4 young, 5 not tracked; 1 is freed.
 * Collections at 2, 5 and 8 s, which 0 survives all of, and 2 and 3 the last.
 */
static void write_trace(struct maker *m, uint64_t shift, const char *file)
{
    maker_open_scaled(m, "live_objects.dat", 1000000);
    if (file != NULL)
        maker_info(m, "recording.file", file);
    maker_thread(m, 0, "main", false);
    maker_thread(m, 1, "worker", false);
    maker_stack(m, 0, -1, 0, &keep, 0, 0);
    maker_stack(m, 1, 3, 1, &copy, 0, 0);
    allocate(m, 1000, 0, 2, 0, "[B");
    allocate(m, 1000, 0, 2, 0, NULL);
    allocate(m, 6000, 0, 2, 0, NULL);
    allocate(m, 7000, 1, 1, 1, "java/lang/String");
    allocate(m, 9000, 0, 2, 0, NULL);
    allocate(m, 1000, 0, 2, 0, NULL);
    collect(m, 2000, "young collections");
    collect(m, 5000, "young collections");
    collect(m, 8000, "young collections");
    collect(m, 8500, "concurrent phases"); /* no collection of its own, where there are others */
    tell(m, 3000, TRACE_HEAP_CHECKED, 0);
    tell(m, 6000, TRACE_HEAP_FREED, 1);
    tell(m, 6500, TRACE_HEAP_DROPPED, 5);
    tell(m, 8000, TRACE_HEAP_BEFORE, 77);
    tell(m, 10000, TRACE_HEAP_CHECKED, shift);
    maker_must(m, trace_writer_close(m->writer, 10000, &m->err));
}

/* Returns 0, or -1 with err set; the pass stays open. */
static int find(const char *path, const char *threads, enum live_objects_by by, struct live_objects *found)
{
    const struct view_pass_options options = { .path = path,
                                               .parts = VIEW_PASS_SAMPLES | VIEW_PASS_LIVE,
                                               .per_thread = threads != NULL,
                                               .only_threads = threads };
    view_pass_close(&pass);
    if (view_pass_read(&options, &arena, &pass, &err) < 0)
        return -1;
    return live_objects_find(&pass, by, found, &err);
}

static void test_sites(void)
{
    struct maker m;
    struct live_objects found;
    write_trace(&m, 0, NULL);
    CHECK_NUMBER("live objects are found", find(m.path, NULL, LIVE_OBJECTS_BY_SITE, &found), 0);
    CHECK("those allocated before the last collection, and not freed",
          found.n_samples == 3 && is_near(found.bytes, 3e6) && is_near(found.seconds, 8));
    CHECK("what is younger counts apart", is_near(found.young_bytes, 1e6));
    CHECK("how many were tracked, freed and not tracked is known",
          found.n_tracked == 5 && found.n_freed == 1 && found.n_dropped == 1 && found.n_collections == 3);
    const struct allocation_row *row = &found.rows.all[0];
    CHECK("a row is a site: who has them made, where, and of which class",
          found.rows.n == 2 && strcmp(row->method.method, "keep") == 0 &&
              strcmp(row->allocator.method, "copyOf") == 0 && strcmp(row->class_name, "[B") == 0 &&
              row->n_samples == 2);
    CHECK("with the part of what it allocated that lives", is_near(row->bytes / row->allocated_bytes, 2.0 / 3));
    CHECK("its mean age, the oldest, and how many collections they survived",
          is_near(row->age_ns, 6.5e9) && is_near(row->oldest_ns, 9e9) && is_near(row->collections, 2));
    CHECK("who makes them itself has no other maker", found.rows.all[1].allocator.method == NULL);
    CHECK("the interval is that of 2 of 6 samples, of known sum", /* 1.96 * sqrt(2 - 4/3 + 6/9) */
          is_near(row->bytes_error, 1.96e6 * sqrt(2 - 2 * 2.0 / 6 * 2 + 4.0 / 36 * 6)));
    CHECK_NUMBER("of one thread", find(m.path, "worker", LIVE_OBJECTS_BY_SITE, &found), 0);
    CHECK("there are its own only", found.n_samples == 1 && found.rows.n == 1 && found.young_bytes == 0);
    unlink(m.path);
}

static void test_ranges(void)
{
    struct maker m;
    struct live_objects found;
    write_trace(&m, 0, NULL);
    CHECK_NUMBER("by age", find(m.path, NULL, LIVE_OBJECTS_BY_AGE, &found), 0);
    CHECK("the youngest come first", found.rows.n == 1 && strcmp(found.rows.all[0].range, "1 to 10 s") == 0);
    CHECK_NUMBER("by collections", find(m.path, NULL, LIVE_OBJECTS_BY_COLLECTIONS, &found), 0);
    CHECK("the same", found.rows.n == 2 && strcmp(found.rows.all[0].range, "1") == 0 &&
                          found.rows.all[0].n_samples == 2 && strcmp(found.rows.all[1].range, "2 to 3") == 0);
    CHECK_NUMBER("by class", find(m.path, NULL, LIVE_OBJECTS_BY_CLASS, &found), 0);
    CHECK("there are two", found.rows.n == 2 && strcmp(found.rows.all[1].class_name, "java/lang/String") == 0);
    unlink(m.path);
    write_trace(&m, 2, NULL);
    CHECK_NUMBER("where one of four is tracked", find(m.path, NULL, LIVE_OBJECTS_BY_CLASS, &found), 0);
    CHECK("it stands for four", found.rows.n == 2 && is_near(found.bytes, 12e6) && found.one_in == 4 &&
                                    is_near(found.rows.all[0].objects + found.rows.all[1].objects, 12));
    unlink(m.path);
}

/* Objects of the files before are not known. */
static void test_files(void)
{
    static const struct {
        const char *claim, *file;
        bool is_told;
    } rows[] = {
        { "of one file nothing is said of others", NULL, false },
        { "nor of the first of several", "1", false },
        { "that objects of the files before are not in it is said", "2", true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct report_row_options all = { .top = 0 };
        struct live_objects found;
        struct maker m;
        struct table table;
        bool is_told = false;
        write_trace(&m, 0, rows[i].file);
        CHECK_NUMBER("objects of a file are found", find(m.path, NULL, LIVE_OBJECTS_BY_SITE, &found), 0);
        CHECK_NUMBER("and printed", live_objects_table(&pass, LIVE_OBJECTS_BY_SITE, &all, &table, &err), 0);
        for (size_t k = 0; k < table.n_notes; k++)
            is_told = is_told || strstr(table.notes[k], "this is file 2 of a recording") != NULL;
        CHECK(rows[i].claim, is_told == rows[i].is_told);
        unlink(m.path);
    }
}

/* Two collections that follow each other closely, whose starts are not known as well as the uses; two of one stop. */
static void test_heap_before(void)
{
    struct maker m;
    struct table table;
    maker_open_scaled(&m, "before.dat", 1000000);
    collect(&m, 5000, "young collections");
    collect(&m, 5005, "full collections");
    collect(&m, 7000, "young collections");
    collect(&m, 7004, "full collections");
    tell(&m, 4990, TRACE_HEAP_BEFORE, 100);
    tell(&m, 5003, TRACE_HEAP_BEFORE, 200);
    tell(&m, 7001, TRACE_HEAP_BEFORE, 300);
    maker_must(&m, trace_writer_close(m.writer, 10000, &m.err));
    const struct view_pass_options options = { .path = m.path, .parts = VIEW_PASS_LIVE };
    view_pass_close(&pass);
    maker_must(&m, view_pass_read(&options, &arena, &pass, &m.err));
    CHECK_NUMBER("collections are a table", collections_table(&pass, &table, &err), 0);
    CHECK("each has the use before it once, in their order",
          table.rows[0].cells[5].number == 100 && table.rows[1].cells[5].number == 200);
    CHECK("where there is one for two, the first has it",
          table.rows[2].cells[5].number == 300 && table.rows[3].cells[5].value != TABLE_NUMBER);
    unlink(m.path);
}

static void test_refusals(void)
{
    struct maker m;
    struct live_objects found;
    enum live_objects_by by;
    const struct trace_heap_event unknown = { 1, TRACE_HEAP_FREED, 1 };
    maker_open(&m, "untracked.dat");
    maker_thread(&m, 0, "main", false);
    allocate(&m, 1, 0, 0, 0, "[B");
    CHECK_NUMBER("an object that is not in the trace is not written",
                 trace_write_heap_event(m.writer, &unknown, &m.err), -1);
    tell(&m, 500, TRACE_HEAP_BEFORE, 4096);
    maker_must(&m, trace_writer_close(m.writer, 1000, &m.err));
    CHECK_NUMBER("a trace that tracks none is refused", find(m.path, NULL, LIVE_OBJECTS_BY_SITE, &found), -1);
    CHECK("with what to do", strstr(err.text, "mmprof profile") != NULL);
    CHECK("a way that there is not, too", live_objects_by_name("color", &by, &err) < 0);
    unlink(m.path);
}

int main(void)
{
    test_sites();
    test_ranges();
    test_files();
    test_heap_before();
    test_refusals();
    view_pass_close(&pass);
    arena_free(&arena);
    return tap_done();
}
