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

/* What the page is made of; a trace that does not tell of places, pauses or time is no error. */
struct page_parts {
    struct table phases, cost, stats, where, hot, pauses;
    struct recovery recovery;
    struct recovery_reading *recovering;
    struct timeline_read line;
    struct where places;
    struct where_reading *finding;
    struct err no_line, no_where, no_pauses;
    bool has_line, has_where, line_is_asked;
};

/* All that needs the trace once more, in one pass. */
static int read_again(struct report_run *run, struct page_parts *parts, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_trace *first = &run->traces[0];
    const struct report_source *source = first->source;
    struct second_pass pass = { .n_observers = 0 };
    double step_ns = 0;
    if (report_step(o->argument, &step_ns, err) < 0 ||
        recovery_begin(source, &parts->recovery, &parts->recovering, &pass, err) < 0)
        return -1;
    parts->line_is_asked = step_ns > 0;
    parts->has_where = where_begin(source, &parts->places, &parts->finding, &pass, &parts->no_where) == 0;
    parts->has_line = timeline_begin(source, first->totals, first->n_totals, &o->wish, step_ns, HTML_STEPS_MAX,
                                     o->salvage, &parts->line, &pass, &parts->no_line) == 0;
    int rc = second_pass_run(&pass, source, o->salvage, err);
    recovery_end(parts->recovering);
    parts->recovering = NULL;
    if (parts->finding != NULL)
        parts->has_where = where_end(parts->finding, &parts->no_where) == 0 && parts->has_where;
    if (rc == 0 && parts->has_line)
        parts->has_line = timeline_end(source, &parts->line, &parts->no_line) == 0;
    return rc;
}

/* The time line; one that cannot be had is no error, unless the user asked for its steps. */
static int judge_line(struct page_parts *parts, struct html_page *page)
{
    if (parts->has_line && timeline_n_steps(parts->line.timeline) > HTML_STEPS_ASKED_MAX) {
        err_set(&parts->no_line, "a page of %u steps would be too large for a browser",
                timeline_n_steps(parts->line.timeline));
        err_next(&parts->no_line, "choose longer ones, --view timeline=STEP: %d are possible", HTML_STEPS_ASKED_MAX);
        parts->has_line = false;
    }
    page->line = parts->has_line ? &parts->line : NULL;
    page->no_line = parts->has_line ? NULL : parts->no_line.text;
    return parts->has_line || !parts->line_is_asked ? 0 : -1;
}

static void make_places(struct report_run *run, struct page_parts *parts, struct html_page *page)
{
    const struct report_source *source = run->traces[0].source;
    struct err *err = &parts->no_where;
    if (!parts->has_where || where_table(source, &parts->places, &parts->where, err) < 0 ||
        where_hot_table(source, &parts->places, run->options->wish.top, &parts->hot, err) < 0) {
        page->no_where = err->text;
    } else {
        page->where = &parts->where;
        page->hot = &parts->hot;
    }
    if (pauses_table(source, &parts->pauses, &parts->no_pauses) < 0)
        page->no_pauses = parts->no_pauses.text;
    else
        page->pauses = &parts->pauses;
}

static int print(struct report_run *run, struct page_parts *parts, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_trace *first = &run->traces[0];
    if (read_again(run, parts, err) < 0 || report_make_table(run, &parts->phases, err) < 0 ||
        cost_make(first->source, &parts->recovery, &parts->cost, err) < 0 ||
        stats_table(first->source, first->totals, first->n_totals, &o->wish, &run->metrics, run->statistics,
                    &parts->stats, err) < 0)
        return -1;
    struct html_page page = { .traces = run->traces,
                              .n_traces = o->n_paths,
                              .whole = run->whole[0].source,
                              .phases = &parts->phases,
                              .cost = &parts->cost,
                              .stats = &parts->stats };
    make_places(run, parts, &page);
    if (judge_line(parts, &page) < 0) {
        *err = parts->no_line;
        return -1;
    }
    return write_page(&page, o->html, err);
}

int report_page_print(struct report_run *run, struct err *err)
{
    struct page_parts *parts = arena_alloc(&run->arena, sizeof *parts);
    if (parts == NULL)
        return err_set(err, "out of memory for a page");
    int rc = print(run, parts, err);
    recovery_end(parts->recovering);
    timeline_close(parts->line.timeline);
    where_free(&parts->places);
    return rc;
}
