/* The page of 'mmprof report --html': all tables of a trace in one file. */
#include "cmd/output_file.h"
#include "cmd/parts.h"
#include "cmd/program.h"
#include "cmd/report_run.h"
#include "core/trace/recording_info.h"
#include "report/view/compiled.h"
#include "report/view/cost.h"
#include "report/view/live_objects.h"
#include "report/view/tables.h"
#include "report/view/slow.h"
#include "report/view/values.h"

static int write_page(const struct html_page *page, const char *pattern, struct err *err)
{
    struct output_file file;
    char path[PATH_MAX];
    const char *pid = info_text(page->traces[0].source->reader, INFO_JVM_PID);
    if (output_file_name(pattern, "--html", pid == NULL ? 0 : (pid_t)atoi(pid), path, err) < 0 ||
        output_file_open(&file, path, "--html", err) < 0)
        return -1;
    return output_file_close(&file, html_write(page, file.out, err), err);
}

/* The page's tables. */
struct page_parts {
    struct table phases, cost, stats, slow, jit, where, hot, pauses, startup, virtuals, values, live_objects, fields;
    struct err no_pauses;
};

/*
 * The time line; one that cannot be had is no error, unless the user asked for its steps.  On the wall clock only
 * samples of threads that wait tell of single steps.
 */
static int make_line(struct report_run *run, struct html_page *page, struct err *err)
{
    struct report_trace first = run->whole[0];
    struct view_pass *pass = &run->passes[0];
    struct err *why = &pass->no_line;
    const struct report_row_options *options = &run->options->rows;
    bool tells_steps = first.source->sampled != NULL && first.source->sampled->kept_ticks != NULL;
    if (first.source->clock == PHASES_WALL && run->first_other.clock == PHASES_CPU && !tells_steps)
        first.source = &run->first_other;
    if (why->text[0] == '\0' &&
        timeline_end(first.source, first.totals, first.n_totals, options, &pass->line, why) == 0 &&
        timeline_n_steps(pass->line.timeline) > HTML_STEPS_ASKED_MAX) {
        err_set(why, "a page of %u steps would be too large for a browser", timeline_n_steps(pass->line.timeline));
        err_next(why, "choose longer steps, --view timeline=STEP: at most %d steps", HTML_STEPS_ASKED_MAX);
    }
    bool has_line = why->text[0] == '\0';
    page->line = has_line ? &pass->line : NULL;
    page->no_line = has_line ? NULL : why->text;
    if (has_line || !(pass->options.step_ns > 0))
        return 0;
    *err = *why;
    return -1;
}

/* A trace that does not tell of code or pauses is no error. */
static void make_ip_samples(struct report_run *run, struct page_parts *made, struct html_page *page)
{
    const struct report_source *source = run->traces[0].source;
    const struct where *where = &run->passes[0].where;
    const struct err *err = &run->passes[0].no_where;
    struct err ignored;
    if (err->text[0] != '\0') {
        page->no_where = err->text;
    } else {
        where_table(source, where, &made->where);
        where_hot_table(source, where, run->options->rows.top, &made->hot);
        page->where = &made->where;
        page->hot = &made->hot;
    }
    if (pauses_table(source, &made->pauses, &made->no_pauses) < 0)
        page->no_pauses = made->no_pauses.text;
    else
        page->pauses = &made->pauses;
    if (startup_table(&run->passes[0], 0, &made->startup, &ignored) == 0)
        page->startup = &made->startup;
    if (virtual_waits_table(&run->passes[0].waits.virtuals, 0, "them", &run->arena, &made->virtuals))
        page->virtuals = &made->virtuals;
}

/* What only some traces have. */
static void make_values(struct report_run *run, struct page_parts *made, struct html_page *page)
{
    const struct view_pass *pass = &run->passes[0];
    const struct report_row_options *rows = &run->options->rows;
    struct err none;
    if (live_objects_table(pass, LIVE_OBJECTS_BY_SITE, rows, &made->live_objects, &none) == 0)
        page->live_objects = &made->live_objects;
    if (slow_table(pass, &pass->source, rows, &made->slow, &none) == 0)
        page->slow = &made->slow;
    if (compiled_table(pass, rows, &made->jit, &none) == 0)
        page->jit = &made->jit;
    if (!values_has(pass, NULL))
        return;
    page->values = &made->values;
    values_table(pass, run->whole[0].source, NULL, rows, &made->values);
}

/* A simulated one has a table of fields, which mmprof-lab makes.  Returns 0, or -1 with *err set. */
static int make_fields(struct report_run *run, struct page_parts *made, struct html_page *page, struct err *err)
{
    if (info_text(run->traces[0].source->reader, INFO_SIMULATED) == NULL)
        return 0;
    if (parts.fields_of_page == NULL)
        return program_become("lab", run->argc, run->argv, err);
    if (parts.fields_of_page(run, &made->fields) == 0)
        page->fields = &made->fields;
    return 0;
}

static void make_other_clock(struct report_run *run, struct html_page *page)
{
    struct report_source other = *run->traces[0].source;
    if (trace_samples_are_all(other.reader))
        return;
    other.clock = other.clock == PHASES_CPU || other.tree->cpu_is_wall ? PHASES_WALL : PHASES_CPU;
    page->other = &run->first_other;
    sampled_tree(&other, view_pass_samples(&run->passes[0], &other), false, &run->first_other);
}

static void make_findings(struct report_run *run, struct html_page *page)
{
    const struct findings_input input = { .source = run->whole[0].source,
                                          .libraries = run->libraries,
                                          .pass = &run->passes[0] };
    const struct findings found = findings_find(&input);
    struct html_finding *findings = arena_alloc(&run->arena, (found.n + 1) * sizeof *findings);
    for (size_t i = 0; i < found.n; i++)
        findings[i] = (struct html_finding){ found.all[i].text, found.all[i].view };
    page->findings = findings;
    page->n_findings = found.n;
}

int report_page_print(struct report_run *run, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_trace *first = &run->traces[0], *whole = &run->whole[0];
    const struct view_pass *pass = &run->passes[0];
    struct page_parts *made = arena_alloc(&run->arena, sizeof *made);
    struct html_page page = { .traces = run->traces,
                              .n_traces = o->n_paths,
                              .whole = run->whole[0].source,
                              .phases = &made->phases,
                              .cost = &made->cost,
                              .stats = &made->stats,
                              .allocations = pass->allocations,
                              .n_allocations = pass->n_allocations,
                              .waits = pass->kept_waits,
                              .n_waits = pass->n_kept_waits,
                              .sites = pass->sites };
    make_other_clock(run, &page);
    if (report_make_table(run, &made->phases, err) < 0 ||
        stats_table(whole->source, whole->totals, whole->n_totals, &o->rows, &pass->metrics, pass->statistics,
                    &made->stats, err) < 0 ||
        make_line(run, &page, err) < 0 || make_fields(run, made, &page, err) < 0)
        return -1;
    make_findings(run, &page);
    make_values(run, made, &page);
    cost_make(first->source, &pass->recompilation, &made->cost);
    make_ip_samples(run, made, &page);
    return write_page(&page, o->html, err);
}
