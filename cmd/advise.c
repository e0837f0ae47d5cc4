/*
 * mmprof advise: what to change, in the order of what it is expected to save.
 *
 *     1. start with an AOT cache, which has classes linked and profiles for the JIT compilers (JDK 25 and later)
 *        saves   about 2.01 s of CPU time, 31 % (19 .. 50 %)
 *        why     JIT compilers use 62 % of the CPU time, 4.02 s: the program is still warming up
 *        verify  java -XX:AOTCacheOutput=app.aot -jar app.jar; mmprof diff --until 5% --before 'java -jar app.jar' ...
 */
#include "cmd/parts.h"
#include "cmd/program.h"
#include "cmd/tables_page.h"
#include "cmd/trace_argument.h"
#include "report/findings/advice.h"

struct advise_arguments {
    struct display display;
    const char *path, *memtrace, *html;
    bool csv, json, salvage;
};

static int parse(int argc, char **argv, struct advise_arguments *a, bool *done, struct err *err)
{
    const struct options_row rows[] = {
        { 0, "memtrace", "FILE", OPTION_TEXT, &a->memtrace,
          "also use the program's objects, from a trace of 'memtrace --last-uses'" },
        { 0, "html", "FILE", OPTION_TEXT, &a->html, "write the hints as a page for a browser" },
        { 0, "csv", NULL, OPTION_FLAG, &a->csv, "print the hints as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &a->json, "print the hints as JSON" },
        DISPLAY_ROW(&a->display),
        DISPLAY_PAGER_ROW(&a->display),
        { 0, "salvage", NULL, OPTION_FLAG, &a->salvage, "skip damaged parts of the trace" },
        { 0 },
    };
    return command_parse_trace(
        "advise [OPTIONS] [TRACE]",
        "Prints what to change in a program, its JVM's options or its machine, largest\n"
        "expected saving first, with the evidence and a way to verify it. Leaves out hints that are\n"
        "not significant.",
        rows, argc, argv, &a->path, done, err);
}

static int print_page(const struct advise_arguments *a, const struct table *table, struct err *err)
{
    const struct html_part part = {
        HTML_PART_HINTS, "hints", "What to change", "Largest expected saving first, in time of threads.", "", table
    };
    return tables_page_write(&(struct html_tables){ "What to change", a->path, &part, 1, table->arena }, a->html, err);
}

static int print(const struct advise_arguments *a, const struct findings_input *input,
                 const struct advice_memory *memory, struct display *display, struct err *err)
{
    const struct advice advice = advice_find(input, memory);
    struct table table;
    advice_table(input, &advice, &table);
    if (a->html != NULL)
        return print_page(a, &table, err);
    if (a->csv || a->json)
        return command_print_table(&table, a->csv, a->json, display, err);
    if (display_open(display, err) < 0)
        return -1;
    advice_print(&advice, stdout);
    return 0;
}

struct advise_printing {
    const struct advise_arguments *arguments;
    const struct findings_input *input;
    struct display *display;
};

static int print_with(void *context, const struct advice_memory *memory, struct err *err)
{
    const struct advise_printing *p = context;
    return print(p->arguments, p->input, memory, p->display, err);
}

/* With what an emulated run says of objects, if there is one. */
static int print_with_memory(const struct advise_arguments *a, const struct findings_input *input,
                             struct display *display, struct err *err)
{
    struct advise_printing printing = { a, input, display };
    return a->memtrace == NULL ? print(a, input, NULL, display, err)
                               : parts.advise_memory(a->memtrace, input->libraries, print_with, &printing, err);
}

static int run(struct advise_arguments *a, struct arena *arena, struct err *err)
{
    struct view_pass pass;
    struct report_source whole;
    const struct view_pass_options options = { .path = a->path,
                                               .salvage = a->salvage,
                                               .parts = VIEW_PASS_SAMPLES | VIEW_PASS_FINDINGS,
                                               .clock = PHASES_CPU,
                                               .libraries = folding_read(NULL, arena, err) };
    if (options.libraries == NULL)
        return -1;
    int rc = view_pass_read(&options, arena, &pass, err);
    if (rc == 0) {
        sampled_tree(&pass.source, view_pass_samples(&pass, &pass.source), false, &whole);
        whole.throttled = throttled_find(&pass, &whole);
        const struct findings_input input = { .source = &whole, .libraries = options.libraries, .pass = &pass };
        rc = display_close(&a->display, print_with_memory(a, &input, &a->display, err), err);
    }
    view_pass_close(&pass);
    return rc;
}

int command_advise(int argc, char **argv, struct err *err)
{
    struct advise_arguments arguments = { .display = DISPLAY_OF_PAGES };
    struct arena arena = { NULL, 0 };
    bool done;
    if (parse(argc, argv, &arguments, &done, err) < 0)
        return -1;
    if (!done && arguments.memtrace != NULL && parts.advise_memory == NULL)
        return program_become("lab", argc, argv, err);
    int rc = done ? 0 : tables_page_check(arguments.html, arguments.csv, arguments.json, err);
    if (rc == 0 && !done)
        rc = trace_argument_one(&arena, &arguments.path, err);
    if (rc == 0 && !done)
        rc = run(&arguments, &arena, err);
    arena_free(&arena);
    return rc;
}
