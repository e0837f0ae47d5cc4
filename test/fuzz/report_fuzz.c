/*
 * Any bytes as a trace, with checksums put right, for what the report makes of it besides phases: where threads were,
 * pauses, what the recording cost, what samples saw, and the page.
 */
#include "core/trace/reader_internal.h"
#include "report/view/allocations.h"
#include "report/view/cost.h"
#include "report/view/live_objects.h"
#include "report/html/html.h"
#include "report/view/tables.h"
#include "report/view/view_pass.h"
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

static void make_page(const struct report_trace *trace, struct view_pass *pass, FILE *out)
{
    const struct report_row_options options = { .sort = "time", .min_share = 0.01, .top = 20 };
    const struct report_source *source = &pass->source;
    struct table phases, places, hot, pauses;
    struct html_page page = {
        .traces = trace, .n_traces = 1, .whole = trace->source, .phases = &phases, .no_where = "", .no_pauses = ""
    };
    struct err err;
    if (report_make(trace->source, trace->totals, trace->n_totals, &options, &phases, &err) < 0)
        return;
    if (pass->no_where.text[0] == '\0') {
        where_table(source, &pass->where, &places);
        where_hot_table(source, &pass->where, 20, &hot);
        print(&places, out);
        print(&hot, out);
        page.where = &places;
        page.hot = &hot;
    }
    if (pauses_table(source, &pauses, &err) == 0) {
        print(&pauses, out);
        page.pauses = &pauses;
    }
    if (pass->no_line.text[0] == '\0' &&
        timeline_end(source, trace->totals, trace->n_totals, &options, &pass->line, &err) == 0)
        page.line = &pass->line;
    html_write(&page, out, &err);
}

static void make_others(const struct report_trace *trace, const struct view_pass *pass, FILE *out)
{
    struct table table;
    struct err err;
    if (report_make(trace->source, trace->totals, trace->n_totals,
                    &(struct report_row_options){ .sort = "self", .all = true }, &table, &err) == 0)
        print(&table, out);
    if (allocations_table(pass, ALLOCATIONS_BY_SITE, &(struct report_row_options){ .all = true }, &table, &err) == 0)
        print(&table, out);
    if (live_objects_table(pass, LIVE_OBJECTS_BY_SITE, &(struct report_row_options){ .all = true }, &table, &err) == 0)
        print(&table, out);
    cost_make(&pass->source, &pass->recompilation, &table);
    print(&table, out);
}

static void report(const char *path, FILE *out)
{
    static const struct view_pass_options all = { .salvage = true,
                                                  .parts = VIEW_PASS_SAMPLES | VIEW_PASS_STATISTICS |
                                                           VIEW_PASS_RECOVERY | VIEW_PASS_WHERE | VIEW_PASS_TIMELINE |
                                                           VIEW_PASS_LIVE,
                                                  .steps_max = 50 };
    struct arena arena = { NULL, 0 };
    struct view_pass_options options = all;
    struct view_pass pass;
    struct report_source whole;
    struct err err;
    options.path = path;
    options.max_nodes = 1000;
    if (view_pass_read(&options, &arena, &pass, &err) == 0 && pass.tree.n_threads <= N_THREADS) {
        sampled_tree(&pass.source, &pass.samples, false, &whole);
        const struct report_trace trace = { &whole, pass.totals, pass.n_totals };
        make_page(&trace, &pass, out);
        make_others(&trace, &pass, out);
    }
    view_pass_close(&pass);
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
