/*
 * The page of 'mmprof report --html': all tables of a trace in one file.
 */
#include "cmd/output_file.h"
#include "cmd/report_run.h"
#include "report/view/cost.h"
#include "report/view/pauses_table.h"
#include "report/view/timeline_table.h"
#include "report/view/where.h"

static int write_page(const struct html_page *page, const char *path, struct err *err)
{
    struct output_file file;
    if (output_file_open(&file, path, "--html", err) < 0)
        return -1;
    return output_file_close(&file, html_write(page, file.out, err), err);
}

/* The page's time line; one that cannot be had is no error, unless the user asked for its steps. */
static int read_line(struct report_run *run, struct timeline_read *read, struct html_page *page, struct err *no_line)
{
    const struct report_options *o = run->options;
    const struct report_trace *first = &run->traces[0];
    double step_ns;
    if (report_step(o->argument, &step_ns, no_line) < 0)
        return -1;
    int rc = timeline_read(first->source, first->totals, first->n_totals, &o->wish, step_ns, HTML_STEPS_MAX, o->salvage,
                           read, no_line);
    if (rc == 0 && timeline_n_steps(read->timeline) > HTML_STEPS_ASKED_MAX) {
        err_set(no_line, "a page of %u steps would be too large for a browser", timeline_n_steps(read->timeline));
        rc = err_next(no_line, "choose longer ones, --view timeline=STEP: %d are possible", HTML_STEPS_ASKED_MAX);
    }
    page->line = rc < 0 ? NULL : read;
    page->no_line = rc < 0 ? no_line->text : NULL;
    return step_ns > 0 ? rc : 0;
}

/* Where threads were, for the page; a trace that does not tell is no error. */
struct page_places {
    struct table where, hot, pauses;
    struct where read;
    struct err no_where, no_pauses;
};

static void read_places(struct report_run *run, struct page_places *places, struct html_page *page)
{
    const struct report_options *o = run->options;
    const struct report_source *source = run->traces[0].source;
    struct err *err = &places->no_where;
    if (where_read(source, o->salvage, &places->read, err) < 0 ||
        where_table(source, &places->read, &places->where, err) < 0 ||
        where_hot_table(source, &places->read, o->wish.top, &places->hot, err) < 0) {
        page->no_where = err->text;
    } else {
        page->where = &places->where;
        page->hot = &places->hot;
    }
    if (pauses_table(source, &places->pauses, &places->no_pauses) < 0)
        page->no_pauses = places->no_pauses.text;
    else
        page->pauses = &places->pauses;
}

int report_page_print(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_trace *first = &run->traces[0];
    struct table table, cost, stats;
    struct recovery recovery;
    struct timeline_read read = { .timeline = NULL };
    struct page_places places = { .read = { .places = NULL } };
    struct err no_line;
    if (report_make_table(run, &table, err) < 0 || recovery_measure(first->source, o->salvage, &recovery, err) < 0 ||
        cost_make(first->source, &recovery, &cost, err) < 0 ||
        stats_table(first->source, first->totals, first->n_totals, &o->wish, &run->metrics, run->statistics, &stats,
                    err) < 0)
        return -1;
    struct html_page page = { .traces = run->traces,
                              .n_traces = o->n_paths,
                              .whole = run->whole[0].source,
                              .phases = &table,
                              .cost = &cost,
                              .stats = &stats };
    read_places(run, &places, &page);
    int rc = read_line(run, &read, &page, &no_line);
    if (rc < 0)
        *err = no_line;
    else
        rc = write_page(&page, o->html, err);
    timeline_close(read.timeline);
    where_free(&places.read);
    return rc;
}
