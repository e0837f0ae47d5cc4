/*
 * Any bytes as a trace, with checksums put right, for what the report makes of it besides phases: where threads were,
 * pauses, what the recording cost, what samples saw, and the page.
 */
#include "core/trace/reader.h"
#include "report/view/cost.h"
#include "report/html/html.h"
#include "report/view/pauses_table.h"
#include "report/sampled_tree.h"
#include "report/view/where.h"
#include "test/fuzz/repair.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define N_THREADS 4096 /* a trace may name a million, which takes a second under a sanitizer */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void print(const struct table *table, FILE *out)
{
    struct err err;
    table_print_text(table, out, &err);
    table_print_csv(table, out, &err);
    table_print_json(table, out, &err);
}

static void make_page(const struct report_trace *trace, const struct report_source *source, FILE *out)
{
    const struct report_wish wish = { .sort = "time", .min_share = 0.01, .top = 20 };
    struct where where;
    struct table phases, places, hot, pauses;
    struct html_page page = {
        .traces = trace, .n_traces = 1, .whole = trace->source, .phases = &phases, .no_where = "", .no_pauses = ""
    };
    struct err err;
    if (report_make(trace->source, trace->totals, trace->n_totals, &wish, &phases, &err) < 0)
        return;
    if (where_read(source, true, &where, &err) == 0 && where_table(source, &where, &places, &err) == 0 &&
        where_hot_table(source, &where, 20, &hot, &err) == 0) {
        print(&places, out);
        print(&hot, out);
        page.where = &places;
        page.hot = &hot;
    }
    if (pauses_table(source, &pauses, &err) == 0) {
        print(&pauses, out);
        page.pauses = &pauses;
    }
    html_write(&page, out, &err);
    where_free(&where);
}

static void make_others(const struct report_trace *trace, const struct report_source *source, FILE *out)
{
    struct recovery recovery;
    struct table table;
    struct err err;
    if (report_make(trace->source, trace->totals, trace->n_totals, &(struct report_wish){ .sort = "self", .all = true },
                    &table, &err) == 0)
        print(&table, out);
    if (recovery_measure(source, true, &recovery, &err) == 0 && cost_make(source, &recovery, &table, &err) == 0)
        print(&table, out);
}

static void hear(void *context, const struct trace_sample *sample)
{
    trace_samples_add(context, sample);
}

static void report(const char *path, FILE *out)
{
    struct arena arena = { NULL, 0 };
    struct trace_reader *reader;
    struct calltree tree = { .n_nodes = 0 };
    struct calltree_total *totals;
    struct report_trace trace;
    struct trace_samples samples;
    struct report_source whole;
    struct err err;
    if (trace_open(&reader, path, true, &err) < 0)
        return;
    if (trace_samples_open(&samples, reader, &err) < 0)
        abort();
    trace_listen(reader, &(struct trace_listener){ .context = &samples, .sample = hear });
    if (calltree_build(reader, &(struct calltree_options){ .max_nodes = 1000 }, &tree, &err) == 0 &&
        tree.n_threads <= N_THREADS &&
        calltree_totals(&tree, VM_PART_APPLICATION, &arena, &totals, &trace.n_totals, &err) == 0) {
        const struct report_source source = {
            .path = path, .reader = reader, .tree = &tree, .clock = report_clock(&tree, PHASES_CPU), .arena = &arena
        };
        trace.source = sampled_tree(&source, &samples, false, &whole, &err) < 0 ? &source : &whole;
        trace.totals = totals;
        make_page(&trace, &source, out);
        make_others(&trace, &source, out);
    }
    trace_samples_close(&samples);
    calltree_free(&tree);
    trace_close(reader);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static FILE *out;
    char path[64];
    uint8_t *copy = malloc(n + 1);
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (out == NULL)
        out = fopen("/dev/null", "w");
    if (copy == NULL || fd < 0 || out == NULL)
        abort();
    memcpy(copy, bytes, n);
    repair(copy, n);
    if (write(fd, copy, n) != (ssize_t)n)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    report(path, out);
    close(fd);
    free(copy);
    return 0;
}
