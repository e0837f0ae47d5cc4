/*
 * Stack samples in the time line: a program whose steps are known.
 */
#include "report/view/view_pass.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

static struct arena arena;
static struct err err;

enum { MAIN, READ = 0 };

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
    maker_must(&m, sampled_tree(&pass.source, &pass.samples, false, &whole, &m.err));
    maker_must(&m, timeline_end(&pass.source, pass.totals, pass.n_totals, &options, &pass.line, &m.err));
    CHECK("methods without probes become rows",
          timeline_divide(&whole, 0, &pass.line, &err) == 0 && pass.line.n_rows == 1 && pass.line.n_sampled == 2);
    bool is_hash_first = strcmp(pass.line.sampled_labels[0], "Parser.hash") == 0;
    CHECK_NUMBER("samples in a phase divide its time", timeline_ticks(&pass.line, 0, 0), 25);
    CHECK_NUMBER("with what it calls", timeline_ticks(&pass.line, is_hash_first ? 2 : 3, 0), 25);
    CHECK_NUMBER("samples outside the time that is left", timeline_ticks(&pass.line, is_hash_first ? 3 : 2, 0), 50);
    CHECK_NUMBER("of which nothing remains", timeline_ticks(&pass.line, 1, 0), 0);
    view_pass_close(&pass);
}

int main(void)
{
    test_divided();
    arena_free(&arena);
    return tap_done();
}
