/*
 * mmprof diff: what differs between two versions of a program, where it is more than chance.
 */
#include "cmd/diff_page.h"
#include "cmd/trace_argument.h"
#include "core/base/text.h"
#include "report/diff/diff.h"
#include "report/source.h"

#include <string.h>

#define STATUS_BROKEN 2 /* a limit of --fail-on is broken */

struct diff_options {
    struct display *display;
    struct options_list sides[DIFF_SIDES], limits;
    const char *clock, *html;
    double min_share, least;
    bool all, csv, json, salvage;
};

/* The side whose option was given last among n words; DIFF_SIDES: neither was. */
static enum diff_side last_side(char **words, int n)
{
    for (int i = n - 1; i > 0; i--) {
        if (strncmp(words[i], "--before", 8) == 0)
            return DIFF_BEFORE;
        if (strncmp(words[i], "--after", 7) == 0)
            return DIFF_AFTER;
    }
    return DIFF_SIDES;
}

static int add_trace(struct diff_options *o, enum diff_side side, const char *path, struct err *err)
{
    struct options_list *list = &o->sides[side];
    if (list->n == OPTIONS_LIST_MAX)
        return err_set(err, "more than %d traces on one side", OPTIONS_LIST_MAX);
    list->items[list->n++] = path;
    return 0;
}

/* A word that is no option: a trace of the side named last; without such, the first is before, the second after. */
static int take_word(struct diff_options *o, enum diff_side side, const char *word, struct err *err)
{
    if (side < DIFF_SIDES)
        return add_trace(o, side, word, err);
    if (o->sides[DIFF_BEFORE].n == 0)
        return add_trace(o, DIFF_BEFORE, word, err);
    if (o->sides[DIFF_AFTER].n == 0)
        return add_trace(o, DIFF_AFTER, word, err);
    err_set(err, "which side is '%s' on?", word);
    return err_next(err, "name several traces as --before A B --after C D");
}

static int parse_words(const struct options_row *rows, int argc, char **argv, struct diff_options *o, bool *done,
                       struct err *err)
{
    enum diff_side side = DIFF_SIDES;
    for (;;) {
        int n;
        if (command_parse(
                "diff [OPTIONS] BEFORE AFTER | --before A B ... --after C D ...",
                "Compares two versions of a program, phase by phase: time, CPI and misses, with intervals of\n"
                "95 %. Several traces on each side tell how runs vary; one each, how calls do.",
                rows, argc, argv, &n, done, err) < 0)
            return -1;
        if (last_side(argv, n) != DIFF_SIDES)
            side = last_side(argv, n);
        if (*done || n >= argc)
            return 0;
        if (take_word(o, side, argv[n], err) < 0)
            return -1;
        /* The rest is parsed as if this word were the command's name. */
        argc -= n;
        argv += n;
    }
}

static int parse(int argc, char **argv, struct diff_options *o, bool *done, struct err *err)
{
    const struct options_row rows[] = {
        { 0, "before", "TRACE", OPTION_LIST, &o->sides[DIFF_BEFORE], "a trace before the change; more may follow it" },
        { 0, "after", "TRACE", OPTION_LIST, &o->sides[DIFF_AFTER], "a trace after the change; more may follow it" },
        { 0, "fail-on", "LIMIT", OPTION_LIST, &o->limits,
          "exit with status 2 if a difference is significant and exceeds LIMIT: 'time>5%'" },
        { 0, "clock", "CLOCK", OPTION_TEXT, &o->clock, "cpu, or wall: waiting counts too (cpu)" },
        { 0, "min-share", "SHARE", OPTION_FRACTION, &o->min_share, "leave out phases with less of the time (1%)" },
        { 0, "least", "SHARE", OPTION_FRACTION, &o->least, "ignore smaller changes (1%)" },
        { 0, "all", NULL, OPTION_FLAG, &o->all, "print all methods and metrics" },
        { 0, "html", "FILE", OPTION_TEXT, &o->html,
          "write a page for a browser: a differential flame graph, the table" },
        { 0, "csv", NULL, OPTION_FLAG, &o->csv, "print the table as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &o->json, "print the table as JSON" },
        DISPLAY_ROW(o->display),
        DISPLAY_PAGER_ROW(o->display),
        { 0, "salvage", NULL, OPTION_FLAG, &o->salvage, "skip damaged parts of the traces" },
        { 0 },
    };
    if (parse_words(rows, argc, argv, o, done, err) < 0)
        return -1;
    if (*done)
        return 0;
    if (o->html != NULL && (o->csv || o->json)) {
        err_set(err, "--html writes a page, and --%s a table", o->csv ? "csv" : "json");
        return err_next(err, "run 'mmprof diff' once for each");
    }
    if (o->sides[DIFF_BEFORE].n > 0 && o->sides[DIFF_AFTER].n > 0)
        return 0;
    err_set(err, "nothing to compare");
    return err_next(err, "name a trace before and one after a change: mmprof diff before.dat after.dat");
}

/* ---- limits ---- */

/* Say which rows break a limit.  Returns how many. */
static size_t print_broken(const struct diff *diff, const struct diff_limit *limit)
{
    size_t n = 0;
    for (size_t i = 0; i < diff->n_rows; i++) {
        const struct diff_row *row = &diff->rows[i];
        if (!diff_breaks(limit, row))
            continue;
        const char *words = diff_words(diff->arena, &row->results[limit->metric]);
        fprintf(stderr, "mmprof: %s: ", limit->text);
        text_print(stderr, row->label);
        fprintf(stderr, ": %s %s\n", diff->metrics[limit->metric].name, words == NULL ? "differs" : words);
        n++;
    }
    return n;
}

/* Say if it may have been broken without being seen. */
static void print_blind(const struct diff *diff, const struct diff_limit *limit)
{
    size_t n_tested, n = diff_blind(diff, limit, &n_tested);
    if (n_tested == 0)
        fprintf(stderr, "mmprof: %s: nothing to test: no row has an interval\n", limit->text);
    else if (n > 0)
        fprintf(stderr,
                "mmprof: %s: such a change would be missed in more than one of five comparisons in %zu of %zu rows\n",
                limit->text, n, n_tested);
    if (n_tested == 0 || n > 0)
        fprintf(stderr, "  next: record more runs of each side, in turns (A B A B ...); see column 'Detectable'\n");
}

static int parse_limits(struct diff *diff, const struct diff_options *o, struct diff_limit *limits, struct err *err)
{
    for (size_t i = 0; i < o->limits.n; i++) {
        if (diff_limit_parse(diff, o->limits.items[i], &limits[i], err) < 0)
            return -1;
        diff->metrics[limits[i].metric].is_asked = true;
    }
    return 0;
}

/* ---- the whole ---- */

static int run(struct diff_options *o, struct arena *arena, struct err *err)
{
    for (size_t side = 0; side < DIFF_SIDES; side++)
        if (trace_argument_find(arena, o->sides[side].items, OPTIONS_LIST_MAX, &o->sides[side].n, err) < 0)
            return -1;
    struct diff_row_options options = { .paths = { o->sides[DIFF_BEFORE].items, o->sides[DIFF_AFTER].items },
                                        .n_traces = { o->sides[DIFF_BEFORE].n, o->sides[DIFF_AFTER].n },
                                        .salvage = o->salvage,
                                        .all = o->all,
                                        .min_share = o->min_share,
                                        .least = o->least };
    struct diff diff;
    struct diff_limit limits[OPTIONS_LIST_MAX];
    struct table *table = arena_alloc(arena, sizeof *table);
    if (table == NULL)
        return err_set(err, "out of memory for a table");
    if (report_clock_parse(o->clock, &options.clock, err) < 0 || diff_read(&diff, &options, arena, err) < 0 ||
        parse_limits(&diff, o, limits, err) < 0 || diff_compare(&diff, err) < 0 ||
        diff_table(&diff, !o->csv && !o->json, table, err) < 0 ||
        (o->html != NULL
             ? diff_page_print(&diff, table, o->html, err)
             : display_close(o->display, command_print_table(table, o->csv, o->json, o->display, err), err)) < 0)
        return -1;
    size_t n_broken = 0;
    fflush(stdout);
    for (size_t i = 0; i < o->limits.n; i++)
        n_broken += print_broken(&diff, &limits[i]);
    for (size_t i = 0; i < o->limits.n; i++)
        print_blind(&diff, &limits[i]);
    return n_broken > 0 ? STATUS_BROKEN : 0;
}

int command_diff(int argc, char **argv, struct err *err)
{
    struct display display = DISPLAY_OF_PAGES;
    struct diff_options options = { .display = &display, .clock = "cpu", .min_share = 0.01, .least = 0.01 };
    struct arena arena = { NULL, 0 };
    bool done;
    if (parse(argc, argv, &options, &done, err) < 0)
        return -1;
    int rc = done ? 0 : run(&options, &arena, err);
    arena_free(&arena);
    return rc;
}
