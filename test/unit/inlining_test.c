/* The view 'inlining' of made traces: which calls are inlined by what frames samples had. */
#include "report/view/tables.h"

#include "test/unit/table_printed.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <unistd.h>

static struct arena arena;

static const struct code_line lines[] = { { 0, 30 }, { 8, 31 }, { 20, 1033 } };

static const struct trace_sampled_method methods[] = {
    { { "shop/Main", "run", "()V" }, "Main.java", 40, lines, 3, NULL },
    { { "shop/Price", "cents", "()J" }, "", 0, NULL, 0, NULL },
    { { "shop/Table", "find", "()J" }, "", 0, NULL, 0, NULL },
};

enum { RUN = 1, CENTS, FIND };

/* 60 us in what is inlined at one line, 30 in a call at another one, 10 of them interpreted; 10 in run itself. */
static const struct trace_sample samples[] = {
    { .context = CENTS, .frame = TRACE_FRAME_INLINED, .tier = 4, .n = 6, .weight_ns = 60000 },
    { .context = FIND, .frame = TRACE_FRAME_COMPILED, .tier = 4, .n = 2, .weight_ns = 20000 },
    { .context = FIND, .frame = TRACE_FRAME_INTERPRETED, .n = 1, .weight_ns = 10000 },
    { .context = RUN, .frame = TRACE_FRAME_COMPILED, .tier = 4, .n = 1, .weight_ns = 10000 },
    { .context = FIND, .frame = TRACE_FRAME_COMPILED, .n = 1, .weight_ns = 9000, .is_waiting = true },
};

static void write_trace(struct maker *m, bool knows_frames)
{
    static const struct {
        uint32_t parent, method;
        int32_t call_site;
    } nodes[] = { { 0, 0, -1 }, { RUN, 1, 10 }, { RUN, 2, 20 } };
    maker_open(m, "inlining");
    maker_info(m, "recording.mode", "samples");
    maker_thread(m, 0, "main", false);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        maker_stack(m, nodes[i].parent, nodes[i].call_site, nodes[i].method, &methods[nodes[i].method], 0, 0);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct trace_sample sample = samples[i];
        sample.index = -1;
        sample.ticks = 1000 * (i + 1);
        if (!knows_frames)
            sample.frame = TRACE_FRAME_UNKNOWN;
        maker_must(m, trace_write_sample(m->writer, &sample, &m->err));
    }
    maker_close(m, 100000);
}

/* The table, or the message. */
static const char *view(struct maker *m, const struct inlining_options *options)
{
    const struct view_pass_options pass_options = { .path = m->path, .parts = VIEW_PASS_SAMPLES };
    struct view_pass pass;
    struct table table;
    const char *text;
    maker_must(m, view_pass_read(&pass_options, &arena, &pass, &m->err));
    if (inlining_table(&pass, options, &table, &m->err) < 0)
        text = arena_printf(&arena, "%s", m->err.text);
    else
        text = printed(&table, TEXT, &arena);
    view_pass_close(&pass);
    return text;
}

int main(void)
{
    struct maker m;
    write_trace(&m, true);
    CHECK_TEXT("calls are inlined, or called, by their own time", view(&m, &(struct inlining_options){ 0, 0 }),
               "inlined  66.7 % of the time in called methods; 22.2 % in their own compiled code\n"
               "\n"
               "Method       Called in  Line  Self (%)  Inlined (%)  Called (%)  Interpreted (%)  Samples\n"
               "-----------------------------------------------------------------------------------------\n"
               "Price.cents  Main.run     31     60.00       100.00        0.00             0.00        6\n"
               "Table.find   Main.run   1033     30.00         0.00       66.67            33.33        3\n");
    const char *few = view(&m, &(struct inlining_options){ 0.5, 0 });
    CHECK("smaller rows are left out",
          strstr(few, "Table.find") == NULL && strstr(few, "not shown: 1 smaller row (--all)") != NULL);
    unlink(m.path);
    write_trace(&m, false);
    CHECK("samples that do not say it are refused",
          strstr(view(&m, &(struct inlining_options){ 0, 0 }), "do not say what is inlined") != NULL);
    unlink(m.path);
    arena_free(&arena);
    return tap_done();
}
