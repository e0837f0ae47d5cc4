/* mmprof diff: what differs between two versions of a program, where it is more than chance. */
#include "cmd/diff_parts.h"
#include "cmd/tables_page.h"
#include "cmd/trace_argument.h"
#include "core/base/text.h"
#include "report/diff/diff.h"
#include "report/source.h"

#define STATUS_BROKEN 2 /* a limit of --fail-on is broken */

enum { NO_SIDE = VERSIONS_MAX, PROFILES }; /* behind the sides of struct diff_sides */

#define RUNS_DEFAULT   "5:30"
#define STEADY_DEFAULT "10:2%"

struct diff_options {
    struct display *display;
    struct diff_sides sides;
    struct options_list named, limits; /* named: of --side, before they are added to sides */
    struct diff_until until;
    struct diff_profiles profiles;
    const char *clock, *html;
    double min_share, least;
    bool all, csv, json, salvage;
};

/* The side whose option was given last among n words, or PROFILES, or NO_SIDE.  named: the one of the last --side. */
static size_t last_side(char **words, int n, size_t named)
{
    for (int i = n - 1; i > 0; i--) {
        if (strncmp(words[i], "--before", 8) == 0)
            return DIFF_BEFORE;
        if (strncmp(words[i], "--after", 7) == 0)
            return DIFF_AFTER;
        if (strncmp(words[i], "--side", 6) == 0)
            return named;
        if (strncmp(words[i], "--profiles", 10) == 0)
            return PROFILES;
    }
    return NO_SIDE;
}

/* A word that is no option: a trace of the side named last; without such, the first is before, the second after. */
static int take_word(struct diff_options *o, size_t side, const char *word, struct err *err)
{
    struct options_list *profiles = &o->profiles.words;
    if (side == PROFILES && profiles->n == OPTIONS_LIST_MAX)
        return err_set(err, "more than %u profiles", COMPARE_MAX);
    if (side == PROFILES) {
        profiles->items[profiles->n++] = word;
        return 0;
    }
    if (side < NO_SIDE)
        return diff_sides_word(&o->sides, side, word, err);
    if (o->sides.words[DIFF_BEFORE].n == 0)
        return diff_sides_word(&o->sides, DIFF_BEFORE, word, err);
    if (o->sides.words[DIFF_AFTER].n == 0)
        return diff_sides_word(&o->sides, DIFF_AFTER, word, err);
    err_set(err, "which side is '%s' on?", word);
    return err_next(err, "name several traces as --before A B --after C D");
}

static int take_named(struct diff_options *o, size_t *named, struct err *err)
{
    for (size_t i = 0; i < o->named.n; i++)
        if (diff_sides_add(&o->sides, o->named.items[i], named, err) < 0)
            return -1;
    o->named.n = 0;
    return 0;
}

/* side: of the first word. */
static int parse_words(const struct options_row *rows, int argc, char **argv, size_t side, struct diff_options *o,
                       bool *done, struct err *err)
{
    size_t named = NO_SIDE;
    for (;;) {
        int n;
        if (command_parse(
                "diff [OPTIONS] BEFORE AFTER | --before A B ... --after C D ... | --profiles A B ...",
                "Compares versions of a program, phase by phase: time, CPI and misses, with 95 %\n"
                "confidence intervals. Several traces per side show how runs vary, one how calls vary. With --until,\n"
                "BEFORE and AFTER are commands in quotes: they are run until the intervals are narrow. With\n"
                "--profiles, it measures how alike several profiles are.",
                rows, argc, argv, &n, done, err) < 0 ||
            take_named(o, &named, err) < 0)
            return -1;
        if (last_side(argv, n, named) != NO_SIDE)
            side = last_side(argv, n, named);
        if (*done || n >= argc)
            return 0;
        if (take_word(o, side, argv[n], err) < 0)
            return -1;
        /* The rest is parsed as if this word were the command's name. */
        argc -= n;
        argv += n;
    }
}

static bool is_of_versions(const struct diff_options *o)
{
    return (o->until.until > 0 && o->until.directory == NULL) || o->sides.n > DIFF_SIDES;
}

static int check_versions(const struct diff_options *o, struct err *err)
{
    bool runs = o->until.until > 0;
    if (!runs && o->until.directory != NULL) {
        err_set(err, "--output is for commands that are run");
        return err_next(err, "give --until 5%%, and the commands in quotes, or leave it out");
    }
    if (!runs && (o->until.iterations != NULL || strcmp(o->until.runs, RUNS_DEFAULT) != 0 ||
                  strcmp(o->until.steady, STEADY_DEFAULT) != 0)) {
        err_set(err, "--runs, --iterations and --steady are for commands that are run");
        return err_next(err, "give --until 5%%, and the commands in quotes, or leave them out");
    }
    return 0;
}

/* What goes with traces of two versions does not go with profiles. */
static int check_profiles(const struct diff_options *o, struct err *err)
{
    const char *other = o->sides.words[DIFF_BEFORE].n > 0  ? "--before"
                        : o->sides.words[DIFF_AFTER].n > 0 ? "--after"
                        : o->sides.n > DIFF_SIDES          ? "--side"
                        : o->until.until > 0               ? "--until"
                        : o->limits.n > 0                  ? "--fail-on"
                        : o->html != NULL                  ? "--html"
                                                           : NULL;
    if (other == NULL)
        return 0;
    err_set(err, "--profiles does not go with %s", other);
    return err_next(err, "remove one of them");
}

static int parse(int argc, char **argv, struct diff_options *o, bool *done, struct err *err)
{
    bool is_compare = strcmp(argv[0], "compare") == 0; /* the command that --profiles was */
    const char *by = "method";
    const struct options_row of_compare[] = {
        { 0, "by", "WHAT", OPTION_TEXT, &by, NULL },
        { 0, "top", "SHARE", OPTION_FRACTION, &o->profiles.options.top_share, NULL },
        { 0, "first", "N", OPTION_NUMBER, &o->profiles.options.n_first, NULL },
        { 0 },
    };
    const struct options_row rows[] = {
        OPTIONS_ROWS((void *)&of_compare[is_compare ? 0 : 3]),
        { 0, "before", "TRACE", OPTION_LIST, &o->sides.words[DIFF_BEFORE],
          "a trace before the change; more may follow it" },
        { 0, "after", "TRACE", OPTION_LIST, &o->sides.words[DIFF_AFTER],
          "a trace after the change; more may follow it" },
        { 0, "side", "NAME=TRACE", OPTION_LIST, &o->named, "a trace of a further version; more may follow it" },
        { 0, "fail-on", "LIMIT", OPTION_LIST, &o->limits,
          "exit with status 2 if a difference is significant and exceeds LIMIT: 'time>5%'" },
        { 0, "clock", "CLOCK", OPTION_TEXT, &o->clock, "cpu, or wall, which includes waiting (cpu)" },
        { 0, "min-share", "SHARE", OPTION_FRACTION, &o->min_share, "leave out phases with less of the time (1%)" },
        { 0, "min-change", "SHARE", OPTION_FRACTION, &o->least, "ignore smaller changes (1%)" },
        OPTIONS_OLD("least", "min-change"),
        OPTIONS_OLD("record", "output"),
        OPTIONS_GROUP("Run the versions (commands instead of traces)"),
        { 0, "until", "SHARE", OPTION_FRACTION, &o->until.until,
          "run them in turns until each 95 % interval is within SHARE of the mean: 5%" },
        { 'o', "output", "DIR", OPTION_TEXT, &o->until.directory,
          "record each run to a trace in DIR, and compare phases, too" },
        { 0, "runs", "LEAST:MOST", OPTION_TEXT, &o->until.runs, "number of runs of each (" RUNS_DEFAULT ")" },
        { 0, "iterations", "REGEX", OPTION_TEXT, &o->until.iterations,
          "compare times of iterations that the program prints: 'in ([0-9.]+) msec'" },
        { 0, "steady", "N:COV", OPTION_TEXT, &o->until.steady,
          "use each run's first N iterations that vary by less than COV (" STEADY_DEFAULT ")" },
        DIFF_PROFILES_ROWS(&o->profiles),
        OPTIONS_GROUP("Output"),
        { 0, "all", NULL, OPTION_FLAG, &o->all, "print all methods and metrics" },
        { 0, "html", "FILE", OPTION_TEXT, &o->html,
          "write a page for a browser: the table, and a differential flame graph of two versions' traces" },
        { 0, "csv", NULL, OPTION_FLAG, &o->csv, "print the table as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &o->json, "print the table as JSON" },
        DISPLAY_ROW(o->display),
        DISPLAY_PAGER_ROW(o->display),
        { 0, "salvage", NULL, OPTION_FLAG, &o->salvage, "skip damaged parts of the traces" },
        { 0 },
    };
    if (parse_words(rows, argc, argv, is_compare ? PROFILES : NO_SIDE, o, done, err) < 0)
        return -1;
    if (*done)
        return 0;
    o->profiles.by_context = o->profiles.by_context || strcmp(by, "context") == 0;
    if (is_compare || o->profiles.words.n > 0)
        return check_profiles(o, err);
    if (check_versions(o, err) < 0)
        return -1;
    if (tables_page_check(o->html, o->csv, o->json, err) < 0)
        return -1;
    if (is_of_versions(o) || (o->sides.words[DIFF_BEFORE].n > 0 && o->sides.words[DIFF_AFTER].n > 0))
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
        fprintf(stderr, "mmprof: %s: more than one in five comparisons would miss such a change in %zu of %zu rows\n",
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

static int print_versions(struct diff_options *o, const struct table *table, struct arena *arena, struct err *err)
{
    const struct html_part part = { .id = "versions",
                                    .title = "What differs",
                                    .lead = "Each run is one observation; intervals and p-values come from these.",
                                    .why = "no interval, or not applicable",
                                    .table = table };
    const struct html_tables page = {
        .title = "What differs", .of = "mmprof diff", .parts = &part, .n = 1, .arena = arena
    };
    if (o->html != NULL)
        return tables_page_write(&page, o->html, err);
    return display_close(o->display, command_print_table(table, o->csv, o->json, o->display, err), err);
}

static int run_versions(struct diff_options *o, const struct diff_row_options *options, struct arena *arena,
                        struct table *table, struct err *err)
{
    bool is_text = !o->csv && !o->json, runs = o->until.until > 0 && o->until.directory == NULL;
    struct diff_limit limits[OPTIONS_LIST_MAX];
    struct versions_gate gate = { .limits = limits, .n_limits = o->limits.n };
    for (size_t i = 0; i < o->limits.n; i++)
        if (diff_limit_read(arena, o->limits.items[i], &limits[i], err) < 0)
            return -1;
    int rc = runs ? diff_versions_run(&o->sides, &o->until, o->least, &gate, is_text, arena, table, err)
                  : diff_versions_read(&o->sides, options, &gate, is_text, arena, table, err);
    if (rc < 0 || print_versions(o, table, arena, err) < 0)
        return -1;
    fflush(stdout);
    fputs(gate.said == NULL ? "" : gate.said, stderr);
    return gate.n_broken > 0 ? STATUS_BROKEN : 0;
}

/*
 * Run the commands and record each run, so that there are traces to compare; in text the runs' own table comes first,
 * but a page has it beside the others.
 */
static int record_runs(struct diff_options *o, struct arena *arena, struct table **runs, struct err *err)
{
    bool is_text = !o->csv && !o->json;
    *runs = arena_alloc(arena, sizeof **runs);
    if (diff_versions_run(&o->sides, &o->until, o->least, NULL, is_text, arena, *runs, err) < 0)
        return -1;
    if (!is_text || o->html != NULL)
        return 0;
    int rc = command_print_table(*runs, false, false, o->display, err);
    putchar('\n');
    return rc;
}

static int run(struct diff_options *o, struct arena *arena, struct err *err)
{
    struct table *runs = NULL;
    enum phases_clock clock;
    if (report_clock_parse(o->clock, &clock, err) < 0)
        return -1;
    o->until.by_wall = clock == PHASES_WALL;
    if (o->until.directory != NULL && record_runs(o, arena, &runs, err) < 0)
        return -1;
    for (size_t side = 0; side < o->sides.n && !(o->until.until > 0); side++)
        if (trace_argument_find(arena, o->sides.words[side].items, OPTIONS_LIST_MAX, &o->sides.words[side].n, err) < 0)
            return -1;
    const struct options_list *before = &o->sides.words[DIFF_BEFORE], *after = &o->sides.words[DIFF_AFTER];
    struct diff_row_options options = { .paths = { before->items, after->items },
                                        .n_traces = { before->n, after->n },
                                        .clock = clock,
                                        .salvage = o->salvage,
                                        .all = o->all,
                                        .min_share = o->min_share,
                                        .least = o->least };
    struct diff diff;
    struct diff_limit limits[OPTIONS_LIST_MAX];
    struct table *table = arena_alloc(arena, sizeof *table);
    if (is_of_versions(o))
        return run_versions(o, &options, arena, table, err);
    if (diff_read(&diff, &options, arena, err) < 0 || parse_limits(&diff, o, limits, err) < 0)
        return -1;
    diff_compare(&diff);
    diff_table(&diff, !o->csv && !o->json, table);
    if ((o->html != NULL
             ? diff_page_print(&diff, table, runs, o->html, err)
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

static bool is_of_profiles(const struct diff_options *o, char **argv)
{
    return o->profiles.words.n > 0 || strcmp(argv[0], "compare") == 0;
}

static int run_profiles(struct diff_options *o, struct arena *arena, struct err *err)
{
    return diff_profiles_print(&o->profiles, o->salvage, o->csv, o->json, o->display, arena, err);
}

int command_diff(int argc, char **argv, struct err *err)
{
    struct display display = DISPLAY_OF_PAGES;
    struct diff_options options = { .display = &display,
                                    .sides = diff_sides_begin(),
                                    .clock = "cpu",
                                    .min_share = 0.01,
                                    .least = 0.01,
                                    .profiles = DIFF_PROFILES_BEGIN,
                                    .until = { .runs = RUNS_DEFAULT, .steady = STEADY_DEFAULT } };
    struct arena arena = { NULL, 0 };
    bool done;
    if (parse(argc, argv, &options, &done, err) < 0)
        return -1;
    int rc = done ? 0 : (is_of_profiles(&options, argv) ? run_profiles : run)(&options, &arena, err);
    arena_free(&arena);
    return rc;
}

int command_compare(int argc, char **argv, struct err *err)
{
    fputs("mmprof: 'mmprof compare' is now 'mmprof diff --profiles'; the old name goes with the next version\n",
          stderr);
    return command_diff(argc, argv, err);
}
