/* Allocations: what a sample stands for, how it goes through a trace, and the tables that are made of samples. */
#include "core/recorder/sample_log.h"
#include "report/view/allocation_rows.h"
#include "report/view/allocations.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <math.h>

static struct err err;
static struct arena arena;

static bool is_near(double value, double expected, double part)
{
    return fabs(value - expected) <= part * fabs(expected);
}

/* ---- weights ---- */

static double objects_of(uint64_t size_bytes, uint64_t mean_bytes)
{
    return trace_allocation_objects(&(struct trace_allocation){ .size_bytes = size_bytes, .mean_bytes = mean_bytes });
}

static void test_weights(void)
{
    CHECK("a small object stands for as many as there are in the mean distance, and half of one",
          is_near(objects_of(32, 524288), 16384.5, 1e-6));
    CHECK("one of the mean distance for 1.58", is_near(objects_of(524288, 524288), 1 / (1 - exp(-1)), 1e-9));
    CHECK("a very large one for itself", objects_of(UINT64_C(1) << 40, 524288) == 1);
    CHECK("without a distance each object is sampled", objects_of(32, 0) == 1);
    CHECK("the distance is the interval after a small object",
          is_near((double)sample_log_mean_bytes(524288, 32), 524288, 1e-4));
    CHECK("after none", sample_log_mean_bytes(524288, 0) == 524288);
    CHECK("after a very large one", sample_log_mean_bytes(524288, UINT64_C(1) << 40) == 524288);
    CHECK("29 % less after one of the interval's size",
          is_near((double)sample_log_mean_bytes(524288, 524288), 524288 * (1 - 0.5 / (exp(1) - 1)), 1e-6));
}

/* A thread that allocates as HotSpot samples it: threadHeapSampler.cpp. */
struct sampled_thread {
    uint64_t random, interval, until, since, before;
    double real[2], estimated[2]; /* bytes of two kinds of objects */
};

static uint64_t draw(struct sampled_thread *thread)
{
    thread->random ^= thread->random << 13;
    thread->random ^= thread->random >> 7;
    thread->random ^= thread->random << 17;
    double uniform = ((double)(thread->random >> 11) + 0.5) / 9007199254740992.0;
    return (uint64_t)(-log(uniform) * (double)thread->interval) + 1;
}

static void allocate(struct sampled_thread *thread, int kind, uint64_t size)
{
    thread->real[kind] += (double)size;
    thread->since += size;
    if (thread->since < thread->until)
        return;
    uint64_t over = thread->since - thread->until, mean = sample_log_mean_bytes(thread->interval, thread->before);
    thread->estimated[kind] += objects_of(size, mean) * (double)size;
    thread->until = draw(thread);
    if (thread->until > over)
        thread->until -= over;
    thread->since = 0;
    thread->before = size;
}

/* 10 small objects, then one of this size, so many times: the sum, as a part of the real one. */
static double part_of(uint64_t small, uint64_t large, uint32_t n)
{
    struct sampled_thread thread = { .random = 88172645463325252u, .interval = 10000 };
    thread.until = draw(&thread);
    for (uint32_t i = 0; i < n; i++) {
        for (int k = 0; k < 10; k++)
            allocate(&thread, 0, small);
        allocate(&thread, 1, large);
    }
    return (thread.estimated[0] + thread.estimated[1]) / (thread.real[0] + thread.real[1]);
}

static void test_bias(void)
{
    CHECK("the sum over samples is that of all objects: small ones", is_near(part_of(16, 160, 300000), 1, 0.02));
    CHECK("large ones among small ones", is_near(part_of(100, 30000, 30000), 1, 0.02));
    CHECK("objects of the interval's size", is_near(part_of(10000, 10000, 10000), 1, 0.02));
    CHECK("of half of it", is_near(part_of(5000, 5000, 20000), 1, 0.02));
}

/* ---- in a trace ---- */

static const struct trace_sampled_method export_all = { { "shop/Exporter", "export", "()V" }, "", 0, NULL, 0, NULL },
                                         copy = { { "java/util/Arrays", "copyOf", "([BI)[B" }, "", 0, NULL, 0, NULL },
                                         serve = { { "shop/Server", "serve", "()V" }, "", 0, NULL, 0, NULL };

static void allocate_in(struct maker *m, uint32_t thread, uint32_t context, uint32_t class_number, const char *name,
                        uint64_t size)
{
    const struct trace_allocation allocation = { 500, thread, context, 7, class_number, name, size, 1000 };
    maker_must(m, trace_write_allocation(m->writer, &allocation, &m->err));
}

/* serve, in it export, in it copyOf: 4 samples of one MB each; and one in no method. */
static void write_allocations(struct maker *m)
{
    maker_open(m, "allocations");
    maker_thread(m, 0, "main", false);
    maker_thread(m, 1, "worker", false);
    maker_stack(m, 0, -1, 0, &serve, 0, 0);
    maker_stack(m, 1, 3, 1, &export_all, 0, 0);
    maker_stack(m, 2, 9, 2, &copy, 0, 0);
    allocate_in(m, 0, 3, 0, "[B", 1000000);
    allocate_in(m, 0, 3, 0, NULL, 1000000);
    allocate_in(m, 0, 2, 1, "java/lang/String", 1000000);
    allocate_in(m, 1, 1, 1, NULL, 1000000);
    allocate_in(m, 1, 0, 1, NULL, 1000000);
    maker_info(m, "allocations.ns", "2000000000");
    maker_info(m, "allocations.jvm_bytes", "5100000");
    maker_must(m, trace_writer_close(m->writer, 1000, &m->err));
}

/* Returns 0, or -1 with err set. */
static int find(const char *path, const char *threads, enum allocations_by by, struct allocations *found)
{
    const struct view_pass_options options = { .path = path,
                                               .parts = VIEW_PASS_SAMPLES | VIEW_PASS_ALLOCATIONS,
                                               .per_thread = threads != NULL,
                                               .only_threads = threads };
    static struct view_pass pass;
    int rc = view_pass_read(&options, &arena, &pass, &err);
    if (rc == 0)
        rc = allocations_find(&pass, by, found, &err);
    for (size_t i = 0; rc == 0 && i < found->rows.n; i++) { /* names live as long as the pass */
        struct allocation_row *row = &found->rows.all[i];
        row->class_name = arena_printf(&arena, "%s", row->class_name);
        row->method.method = row->method.method == NULL ? NULL : arena_printf(&arena, "%s", row->method.method);
        row->allocator.method =
            row->allocator.method == NULL ? NULL : arena_printf(&arena, "%s", row->allocator.method);
    }
    view_pass_close(&pass);
    return rc;
}

static void test_rows(void)
{
    struct maker m;
    struct allocations found;
    write_allocations(&m);
    CHECK_NUMBER("allocations are found", find(m.path, NULL, ALLOCATIONS_BY_METHOD, &found), 0);
    CHECK("by method: the innermost that is not the JDK's",
          found.rows.n == 3 && strcmp(found.rows.all[0].method.method, "export") == 0 &&
              found.rows.all[0].n_samples == 3);
    CHECK("with where most of it is allocated, and of which class",
          strcmp(found.rows.all[0].allocator.method, "copyOf") == 0 && strcmp(found.rows.all[0].class_name, "[B") == 0);
    CHECK("its bytes, objects, share, and bytes per second",
          is_near(found.rows.all[0].bytes, 3.06e6, 1e-9) && is_near(found.rows.all[0].objects, 3.06, 1e-9) &&
              is_near(found.rows.all[0].share, 0.6, 1e-9) && is_near(found.rows.all[0].bytes_per_s, 1.53e6, 1e-9));
    CHECK("the interval is that of 3 of 5 samples",
          is_near(found.rows.all[0].share_error, 1.96 * sqrt(0.6 * 0.4 / 5), 1e-6));
    CHECK("rows are shares of what the JVM counted, and what samples alone say stands beside it",
          is_near(found.bytes, 5.1e6, 1e-9) && found.jvm_bytes == 5100000 && is_near(found.sampled_bytes, 5e6, 1e-9));
    CHECK_NUMBER("by class", find(m.path, NULL, ALLOCATIONS_BY_CLASS, &found), 0);
    CHECK("there are two, the one with more bytes first",
          found.rows.n == 2 && strcmp(found.rows.all[0].class_name, "java/lang/String") == 0 &&
              found.rows.all[0].n_samples == 3 && strcmp(found.rows.all[1].class_name, "[B") == 0);
    CHECK_NUMBER("by site", find(m.path, NULL, ALLOCATIONS_BY_SITE, &found), 0);
    CHECK_NUMBER("there is a row for each method, allocator and class", found.rows.n, 4);
    CHECK_NUMBER("of one thread", find(m.path, "worker", ALLOCATIONS_BY_METHOD, &found), 0);
    CHECK("there are its own only, by the same measure",
          found.n_samples == 2 && is_near(found.bytes, 2.04e6, 1e-9) && is_near(found.rows.all[0].share, 0.5, 1e-9));
    unlink(m.path);
}

/* serve, in it export, which calls itself, and no samples of another method. */
static void test_callers(void)
{
    struct maker m;
    const struct method_name other = { "shop/Server", "stop", "()V" };
    static struct view_pass pass;
    maker_open(&m, "callers");
    maker_thread(&m, 0, "main", false);
    maker_stack(&m, 0, -1, 0, &serve, 0, 0);
    maker_stack(&m, 1, 3, 1, &export_all, 0, 0);
    maker_stack(&m, 2, 9, 1, &(struct trace_sampled_method){ .names.class_name = NULL }, 0, 0);
    allocate_in(&m, 0, 3, 0, "[B", 1000000);
    allocate_in(&m, 0, 1, 0, NULL, 1000000);
    maker_info(&m, "allocations.ns", "2000000000");
    maker_must(&m, trace_writer_close(m.writer, 1000, &m.err));
    const struct view_pass_options options = { .path = m.path, .parts = VIEW_PASS_SAMPLES | VIEW_PASS_ALLOCATIONS };
    CHECK_NUMBER("a trace is read for the table of phases", view_pass_read(&options, &arena, &pass, &err), 0);
    const struct allocated *allocated = pass.source.allocated;
    CHECK("a method allocates what those that it calls do, too",
          is_near(allocated_per_s(allocated, &serve.names), 1e6, 1e-9) && allocated_all_per_s(allocated) == 1e6);
    CHECK("one that calls itself does once", is_near(allocated_per_s(allocated, &export_all.names), 5e5, 1e-9));
    CHECK("one without samples nothing", allocated_per_s(allocated, &other) == 0);
    view_pass_close(&pass);
    unlink(m.path);
}

static void test_none(void)
{
    struct maker m;
    struct allocations found;
    enum allocations_by by;
    maker_open(&m, "no_allocations");
    maker_info(&m, "allocations.failed", "another agent samples them");
    maker_must(&m, trace_writer_close(m.writer, 1000, &m.err));
    CHECK_NUMBER("a trace without any is refused", find(m.path, NULL, ALLOCATIONS_BY_METHOD, &found), -1);
    CHECK("with the reason", strstr(err.text, "another agent samples them") != NULL);
    CHECK("a way that there is not, too", allocations_by_name("color", &by, &err) < 0);
    unlink(m.path);
}

static void test_refusals(void)
{
    struct maker m;
    const struct trace_allocation unnamed = { 500, 0, 0, -1, 0, NULL, 16, 1 };
    maker_open(&m, "refused_allocation");
    CHECK_NUMBER("a class without a name is not written", trace_write_allocation(m.writer, &unnamed, &m.err), -1);
    maker_must(&m, trace_writer_close(m.writer, 1000, &m.err));
    unlink(m.path);
}

int main(void)
{
    test_weights();
    test_bias();
    test_rows();
    test_callers();
    test_none();
    test_refusals();
    arena_free(&arena);
    return tap_done();
}
