/*
 * Stack samples in the time line: a program whose steps are known.
 */
#include "report/view/view_pass.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

static struct arena arena;

enum { MAIN, READ = 0 };

static uint64_t ticks_in(const struct timeline_read *line, const char *label, uint32_t step)
{
    for (size_t i = 0; i < line->n_rows; i++)
        if (strcmp(line->rows[i].label, label) == 0)
            return timeline_row_ticks(line->timeline, (uint32_t)i, step);
    return UINT64_MAX;
}

/* main is in read for 50 us, of which a sample saw a half in hash, without probes; then in work, which has none, too.
 */
static void test_divided(void)
{
    static const struct trace_sampled_method methods[] = {
        { .names.class_name = "a/Parser", .names.method = "read", .names.descriptor = "()V", .source = "" },
        { .names.class_name = "a/Parser", .names.method = "hash", .names.descriptor = "()V", .source = "" },
        { .names.class_name = "a/Parser", .names.method = "work", .names.descriptor = "()V", .source = "" }
    };
    static const uint32_t parents[] = { 0, 1, 0 };
    static const uint64_t moments[] = { 10, 20, 70 };
    struct maker m;
    struct view_pass pass;
    struct report_source whole;
    maker_open_scaled(&m, "divided.dat", 1000);
    maker_info(&m, "offcpu", "perf");
    maker_thread(&m, MAIN, "main", true);
    maker_method(&m, READ, "a/Parser", "read", "()V");
    KERNEL(&m, AT(TRACE_CPU_IN, MAIN, 0));
    for (uint32_t i = 0; i < 3; i++)
        maker_stack(&m, parents[i], -1, i, &methods[i], 0, 0);
    for (uint32_t i = 0; i < 3; i++)
        maker_must(
            &m, trace_write_sample(m.writer,
                                   &(struct trace_sample){
                                       .ticks = moments[i], .context = i + 1, .index = -1, .n = 5, .weight_ns = 10000 },
                                   &m.err));
    STEPS(&m, MAIN, ENTER(READ, 0), EXIT(READ, 50));
    maker_close(&m, 100);
    const struct view_pass_options parts = { .path = m.path,
                                             .parts = VIEW_PASS_TIMELINE | VIEW_PASS_SAMPLES,
                                             .step_ns = 100e3 };
    const struct report_row_options options = { .sort = "time", .all = true };
    maker_must(&m, view_pass_read(&parts, &arena, &pass, &m.err));
    sampled_tree(&pass.source, &pass.samples, false, &whole);
    maker_must(&m, timeline_end(&whole, pass.totals, pass.n_totals, &options, &pass.line, &m.err));
    CHECK("methods without probes are rows", pass.line.n_rows == 3);
    CHECK_NUMBER("samples in a phase divide its time", ticks_in(&pass.line, "Parser.read", 0), 25);
    CHECK_NUMBER("with what it calls", ticks_in(&pass.line, "Parser.hash", 0), 25);
    CHECK_NUMBER("samples outside the time that is left", ticks_in(&pass.line, "Parser.work", 0), 50);
    CHECK_NUMBER("of which nothing remains", timeline_row_ticks(pass.line.timeline, 3, 0), 0);
    view_pass_close(&pass);
}

/*
 * read was under way when it got probes, and has no end before the recording's; samples saw it for 300 us of 1 ms, and
 * work, that has no probes, behind it.
 */
static void test_ended(void)
{
    static const struct trace_sampled_method methods[] = {
        { .names.class_name = "a/Parser", .names.method = "read", .names.descriptor = "()V", .source = "" },
        { .names.class_name = "a/Parser", .names.method = "work", .names.descriptor = "()V", .source = "" }
    };
    struct maker m;
    struct view_pass pass;
    struct report_source whole;
    maker_open_scaled(&m, "ended.dat", 1000);
    maker_info(&m, "offcpu", "perf");
    maker_thread(&m, MAIN, "main", true);
    maker_method(&m, READ, "a/Parser", "read", "()V");
    KERNEL(&m, AT(TRACE_CPU_IN, MAIN, 0));
    for (uint32_t i = 0; i < 2; i++)
        maker_stack(&m, 0, -1, i, &methods[i], 0, 0);
    for (uint64_t ticks = 5; ticks < 1000; ticks += 10)
        maker_must(&m,
                   trace_write_sample(
                       m.writer,
                       &(struct trace_sample){
                           .ticks = ticks, .context = ticks < 300 ? 1 : 2, .index = -1, .n = 1, .weight_ns = 10000 },
                       &m.err));
    STEPS(&m, MAIN, { RING_OPEN, READ, 0, { 0 } }, EXIT(READ, 1000));
    maker_close(&m, 1000);
    const struct view_pass_options parts = { .path = m.path,
                                             .parts = VIEW_PASS_TIMELINE | VIEW_PASS_SAMPLES | VIEW_PASS_STATISTICS,
                                             .step_ns = 100e3 };
    const struct report_row_options options = { .sort = "time", .all = true };
    maker_must(&m, view_pass_read(&parts, &arena, &pass, &m.err));
    sampled_tree(&pass.source, &pass.samples, false, &whole);
    maker_must(&m, timeline_end(&whole, pass.totals, pass.n_totals, &options, &pass.line, &m.err));
    CHECK_NUMBER("a call whose end no probe saw has the time before it", ticks_in(&pass.line, "Parser.read", 2), 100);
    CHECK_NUMBER("and none behind it", ticks_in(&pass.line, "Parser.read", 9), 0);
    CHECK_NUMBER("which is that of what ran then", ticks_in(&pass.line, "Parser.work", 9), 100);
    CHECK_NUMBER("its time is the report's", (uint64_t)(pass.line.rows[1].self_ticks + 0.5), 300);
    CHECK_NUMBER("how long such a call took is no statistic", statistics_moments(pass.statistics, READ, 0).n, 0);
    view_pass_close(&pass);
}

int main(void)
{
    test_divided();
    test_ended();
    arena_free(&arena);
    return tap_done();
}
