/*
 * Whether all that mmprof says of a trace agrees with itself, in every table and in each of its forms:
 *
 *     consistent MMPROF TRACE [OPTION...]
 *
 * The options (such as '--clock wall') go to each report.  What does not agree is printed, a line each: no part above
 * its whole, no share below 0 or above 100 %, the rows' own times are the whole, and text, CSV, JSON and the page have
 * the same numbers.  The status is 1 if there is such a line, 2 if a report could not be had.
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EPSILON       1e-6
#define SWITCHES_MOST 0.02 /* of all time, in one part of the JVM */
#define PAGE_SAME     6e-6 /* the page has six digits */

static const char *mmprof, *trace, *options = "";
static int n_wrong;

static __attribute__((format(printf, 1, 2))) void wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    n_wrong++;
}

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "consistent: cannot read '%s'\n", what);
    exit(2);
}

/* ---- reports ---- */

/* Reports that have no options of the kind that is tried. */
static bool is_beside(const char *words)
{
    static const char *const names[] = { "--sampled", "--pruned", "--cost", "--vm", "--hot", "--timeline" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(words, names[i]) != NULL)
            return true;
    return false;
}

/* What 'mmprof WORDS' prints, for free(); NULL: it failed. */
static char *output_of(const char *words)
{
    char command[4096], *text = NULL;
    size_t n = 0, got;
    snprintf(command, sizeof command, "'%s' %s %s '%s' 2> /dev/null", mmprof, words, is_beside(words) ? "" : options,
             trace);
    FILE *in = popen(command, "r");
    do {
        char *more = in == NULL ? NULL : realloc(text, n + 65537);
        if (more == NULL)
            give_up(command);
        text = more;
        got = fread(text + n, 1, 65536, in);
        n += got;
    } while (got > 0);
    text[n] = '\0';
    if (pclose(in) == 0)
        return text;
    free(text);
    return NULL;
}

static cJSON *table_of(const char *words)
{
    char *text = output_of(words);
    cJSON *json = text == NULL ? NULL : cJSON_Parse(text);
    free(text);
    return json;
}

static cJSON *must_have(const char *words)
{
    cJSON *json = table_of(words);
    if (json == NULL)
        give_up(words);
    return json;
}

#define EACH(row, table) cJSON_ArrayForEach(row, cJSON_GetObjectItem(table, "rows"))

static const char *text_in(const cJSON *row, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(row, key));
    return text == NULL ? "" : text;
}

/* NAN: there is none. */
static double number_in(const cJSON *row, const char *key)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItem(row, key));
}

static bool is_kind(const cJSON *row, const char *kind)
{
    return strcmp(text_in(row, "kind"), kind) == 0;
}

static bool is_same(double a, double b, double relative)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= relative * fmax(fabs(a), fabs(b)) + 1e-12;
}

/* Without the mark of calls that had not returned. */
static bool is_label(const char *label, const char *name)
{
    size_t n = strlen(name);
    return strncmp(label, name, n) == 0 && (label[n] == '\0' || strcmp(label + n, " +") == 0);
}

static const cJSON *row_of(const cJSON *table, const char *name)
{
    const cJSON *row;
    EACH(row, table)
    if (is_label(text_in(row, "label"), name))
        return row;
    return NULL;
}

static const cJSON *row_of_kind(const cJSON *table, const char *kind)
{
    const cJSON *row;
    EACH(row, table)
    if (is_kind(row, kind))
        return row;
    return NULL;
}

/* ---- the report's table ---- */

static void check_share(const char *what, const cJSON *row, const char *key)
{
    double share = number_in(row, key);
    if (share < 0 || share > 1 + EPSILON)
        wrong("%s: '%s' has a %s of %g", what, text_in(row, "label"), key, share);
}

/* A row's share is of what ran while it was recorded. */
static void check_row(const cJSON *report, const cJSON *row)
{
    const char *label = text_in(row, "label");
    double time = number_in(row, "time_share"), self = number_in(row, "self_share");
    double part = number_in(row, "recorded_share");
    double all_ns = number_in(row_of_kind(report, "total"), "self_ns");
    check_share("report", row, "time_share");
    check_share("report", row, "self_share");
    check_share("report", row, "recorded_share");
    if (self > time + EPSILON)
        wrong("report: '%s' has more time of its own than in all: %g of %g", label, self, time);
    if (number_in(row, "recorded_ns") > number_in(cJSON_GetObjectItem(report, "about"), "duration_ns") * (1 + EPSILON))
        wrong("report: '%s' was recorded for longer than the recording took", label);
    if (!is_same(self * part * all_ns, number_in(row, "self_ns"), EPSILON) ||
        (!isnan(time) && !is_same(time * part * all_ns, number_in(row, "total_ns"), EPSILON)))
        wrong("report: the shares of '%s' are not those of its time", label);
}

static void check_report(const cJSON *report)
{
    const cJSON *row, *total = row_of_kind(report, "total");
    double ns = 0, shares = 0;
    EACH(row, report)
    {
        check_row(report, row);
        if (is_kind(row, "total"))
            continue;
        ns += number_in(row, "self_ns");
        shares += number_in(row, "self_share") * number_in(row, "recorded_share");
    }
    if (!is_same(ns, number_in(total, "self_ns"), EPSILON) || !is_same(shares, 1, EPSILON))
        wrong("report: the rows' own times are %.9g of %.9g ns", ns, number_in(total, "self_ns"));
}

/* What samples saw is no part of the whole: phases have it, too.  It is judged, and taken out of the rows. */
static void take_sampled(cJSON *report)
{
    cJSON *rows = cJSON_GetObjectItem(report, "rows"), *row = rows->child, *next;
    for (; row != NULL; row = next) {
        next = row->next;
        if (!is_kind(row, "sampled"))
            continue;
        check_share("report", row, "time_share");
        check_share("report", row, "self_share");
        if (number_in(row, "self_share") > number_in(row, "time_share") + EPSILON)
            wrong("report: '%s' has more samples of its own than in all", text_in(row, "label"));
        cJSON_Delete(cJSON_DetachItemViaPointer(rows, row));
    }
}

/* The rows that --top leaves say what they say without it. */
static void check_top(const cJSON *report)
{
    cJSON *few = must_have("report --top 2 --json");
    take_sampled(few);
    const cJSON *row;
    EACH(row, few)
    {
        const cJSON *same = is_kind(row, "more") ? NULL : row_of(report, text_in(row, "label"));
        if (same != NULL && !is_same(number_in(row, "self_ns"), number_in(same, "self_ns"), EPSILON))
            wrong("report: the own time of '%s' depends on --top", text_in(row, "label"));
    }
    check_report(few);
    cJSON_Delete(few);
}

/* ---- the same in other forms ---- */

/* The next field of CSV, unquoted in place; *at moves on, to NULL at the end of the line. */
static char *next_field(char **at)
{
    char *field = *at, *to = field, *from = field;
    bool is_quoted = *from == '"';
    for (from += is_quoted; *from != '\0' && (is_quoted || (*from != ',' && *from != '\r')); from++) {
        if (is_quoted && *from == '"' && *++from != '"')
            break;
        *to++ = *from;
    }
    *at = *from == ',' ? from + 1 : NULL;
    *to = '\0';
    return field;
}

static void compare_cell(const char *what, const cJSON *row, const char *key, const char *field)
{
    const cJSON *cell = cJSON_GetObjectItem(row, key);
    bool is_count = strspn(field, "0123456789") == strlen(field); /* which is rounded: it may be an estimate */
    double off = cJSON_IsNumber(cell) && is_count ? 0.5 : 0;
    bool is_it = cJSON_IsNumber(cell) ? is_same(strtod(field, NULL), cell->valuedouble, 1e-12) ||
                                            fabs(strtod(field, NULL) - cell->valuedouble) <= off
                 : cJSON_IsString(cell) ? strcmp(field, cell->valuestring) == 0
                                        : field[0] == '\0';
    if (!is_it)
        wrong("%s: '%s' in '%s' is '%s' as CSV", what, key, text_in(row, "label"), field);
}

static void check_csv(const char *view, const cJSON *json)
{
    char words[256], *keys[256], *line, *rest = NULL;
    snprintf(words, sizeof words, "report %s --csv", view);
    char *csv = output_of(words);
    size_t n_keys = 0;
    if (csv == NULL || (line = strtok_r(csv, "\n", &rest)) == NULL)
        give_up(words);
    for (char *at = line; at != NULL && n_keys < sizeof keys / sizeof *keys;)
        keys[n_keys++] = next_field(&at);
    const cJSON *row;
    EACH(row, json)
    {
        char *at = strtok_r(NULL, "\n", &rest);
        for (size_t k = 0; at != NULL && k < n_keys; k++)
            compare_cell(words, row, keys[k], next_field(&at));
    }
    if (strtok_r(NULL, "\n", &rest) != NULL)
        wrong("%s: has more rows than JSON", words);
    free(csv);
}

/* A share as it stands in text. */
static void print_share(double share, char *text, size_t n)
{
    if (isnan(share))
        snprintf(text, n, "n/a");
    else if (share > 0 && share < 5e-5)
        snprintf(text, n, "< 0.01");
    else
        snprintf(text, n, "%.2f", share * 100);
}

/* Each row of text begins with its label, and the time and own time that JSON has of it. */
static void check_text(const cJSON *report)
{
    char *text = output_of("report --top 0"), time[32], self[32];
    if (text == NULL)
        give_up("report");
    const cJSON *row;
    EACH(row, report)
    {
        const char *label = text_in(row, "label");
        print_share(number_in(row, "time_share"), time, sizeof time);
        print_share(number_in(row, "self_share"), self, sizeof self);
        char *at = strstr(text, "\n\n");
        while (at != NULL && (strncmp(at + 1, label, strlen(label)) != 0 || at[1 + strlen(label)] != ' '))
            at = strchr(at + 1, '\n');
        char *line = at == NULL ? NULL : at + 1 + strlen(label);
        line = line == NULL ? NULL : line + strspn(line, " ");
        bool is_it = line != NULL && strncmp(line, time, strlen(time)) == 0;
        line = is_it ? line + strlen(time) + strspn(line + strlen(time), " ") : NULL;
        if (line == NULL || strncmp(line, self, strlen(self)) != 0)
            wrong("report: text has not '%s' with %s and %s", label, time, self);
    }
    free(text);
}

/* ---- the page ---- */

static size_t column_of(const cJSON *table, const char *key)
{
    const cJSON *column;
    size_t i = 0;
    cJSON_ArrayForEach(column, cJSON_GetObjectItem(table, "columns"))
    {
        if (strcmp(text_in(column, "key"), key) == 0)
            return i;
        i++;
    }
    return SIZE_MAX;
}

/* The page's row i and JSON's, in one column. */
static void compare_page_cell(const char *name, const cJSON *cells, const cJSON *row, const char *key, size_t column)
{
    const cJSON *cell = cJSON_GetArrayItem(cells, (int)column);
    double number = cJSON_IsArray(cell) ? cJSON_GetNumberValue(cJSON_GetArrayItem(cell, 1)) : NAN;
    if (!is_same(number, number_in(row, key), PAGE_SAME))
        wrong("page: %s: '%s' of '%s' is %g, and %g as JSON", name, key,
              cJSON_GetStringValue(cJSON_GetArrayItem(cells, 0)), number, number_in(row, key));
}

/* Rows are in the same order. */
static void check_page_table(const cJSON *page, const char *name, const cJSON *json)
{
    const cJSON *table = cJSON_GetObjectItem(page, name), *row,
                *cells = cJSON_GetArrayItem(cJSON_GetObjectItem(table, "rows"), 0);
    static const char *const keys[] = { "time_share",    "self_share", "recorded_ns",    "calls",
                                        "total_ns",      "cpu_share",  "ancestor_share", "samples",
                                        "unrecorded_ns", "value",      "share" };
    if (table == NULL)
        return;
    EACH(row, json)
    {
        const cJSON *shown = cJSON_GetObjectItem(cells, "cells");
        for (size_t k = 0; cells != NULL && k < sizeof keys / sizeof *keys; k++)
            if (column_of(table, keys[k]) != SIZE_MAX && cJSON_HasObjectItem(row, keys[k]))
                compare_page_cell(name, shown, row, keys[k], column_of(table, keys[k]));
        cells = cells == NULL ? NULL : cells->next;
    }
}

/* All roots on the clock of the table are its whole, without what stands in no context: the probes, switches. */
static void check_page_roots(const cJSON *page, const cJSON *report)
{
    const cJSON *tree = cJSON_GetObjectItem(page, "tree"), *parent, *value, *all = NULL;
    cJSON_ArrayForEach(
        value, cJSON_GetObjectItem(tree, "values")) if (strcmp(text_in(value, "name"), text_in(tree, "clock")) == 0)
        all = cJSON_GetObjectItem(value, "all")->child;
    double sum = 0, whole = number_in(row_of_kind(report, "total"), "self_ns");
    cJSON_ArrayForEach(parent, cJSON_GetObjectItem(tree, "parent"))
    {
        sum += all != NULL && parent->valuedouble < 0 ? cJSON_GetNumberValue(all) : 0;
        all = all == NULL ? NULL : all->next;
    }
    if (sum > whole * (1 + SWITCHES_MOST))
        wrong("page: tree: the roots have %g ns of %g", sum, whole);
}

/* A context has no more than all that it calls and itself: its children's, with its own, are its own time in all. */
static void check_page_tree(const cJSON *page)
{
    const cJSON *tree = cJSON_GetObjectItem(page, "tree"), *parents = cJSON_GetObjectItem(tree, "parent"), *value;
    int n = cJSON_GetArraySize(parents);
    if (n == 0)
        return;
    cJSON_ArrayForEach(value, cJSON_GetObjectItem(tree, "values"))
    {
        if (strcmp(text_in(value, "unit"), "calls") == 0 || strcmp(text_in(value, "name"), "calls") == 0)
            continue;
        double *sums = calloc((size_t)n, sizeof *sums), *all = calloc((size_t)n, sizeof *all);
        if (sums == NULL || all == NULL)
            give_up("memory");
        const cJSON *item = cJSON_GetObjectItem(value, "all")->child, *own = cJSON_GetObjectItem(value, "own")->child,
                    *parent = parents->child;
        for (int i = 0; i < n; i++, item = item->next, own = own->next, parent = parent->next) {
            all[i] = cJSON_GetNumberValue(item);
            sums[i] += cJSON_GetNumberValue(own);
            if (parent->valuedouble >= 0)
                sums[(int)parent->valuedouble] += all[i];
        }
        for (int i = 0; i < n; i++)
            if (sums[i] > all[i] * (1 + 1e-4) + 10)
                wrong("page: tree: the %s of what context %d calls is %g, of its %g", text_in(value, "name"), i,
                      sums[i], all[i]);
        free(sums);
        free(all);
    }
}

static void check_page(const cJSON *report, const cJSON *sampled, const cJSON *pruned, const cJSON *cost)
{
    static const char begin[] = "<script type=\"application/json\" id=\"data\">";
    char *html = output_of("report --html - --top 0"), *data = html == NULL ? NULL : strstr(html, begin),
         *end = data == NULL ? NULL : strstr(data, "</script>");
    if (end == NULL)
        give_up("report --html -");
    *end = '\0';
    cJSON *page = cJSON_Parse(data + strlen(begin));
    if (page == NULL)
        give_up("the page's data");
    check_page_table(page, "phases", report);
    check_page_table(page, "sampled", sampled);
    check_page_table(page, "pruned", pruned);
    check_page_table(page, "cost", cost);
    check_page_roots(page, report);
    check_page_tree(page);
    cJSON_Delete(page);
    free(html);
}

/* ---- the tables beside it ---- */

/* What samples found in a recorded method has no more time than that method's row. */
static void check_sampled(const cJSON *report, const cJSON *sampled, bool is_cpu)
{
    const cJSON *row;
    EACH(row, sampled)
    {
        const cJSON *whole = row_of(report, text_in(row, "ancestor"));
        double share = number_in(row, "cpu_share"), in_it = number_in(row, "ancestor_share");
        check_share("sampled", row, "cpu_share");
        check_share("sampled", row, "ancestor_share");
        if (is_cpu && whole != NULL && in_it == 1 && share > number_in(whole, "time_share") + EPSILON)
            wrong("sampled: '%s' has %g, in '%s' with %g", text_in(row, "method"), share, text_in(row, "ancestor"),
                  number_in(whole, "time_share"));
    }
}

static void check_pruned(const cJSON *report, const cJSON *pruned)
{
    const cJSON *row;
    EACH(row, pruned)
    {
        const cJSON *same = row_of(report, text_in(row, "method"));
        if (same != NULL && !is_same(number_in(row, "recorded_ns"), number_in(same, "recorded_ns"), 1e-3))
            wrong("pruned: '%s' was recorded for %g ns, in the report for %g", text_in(row, "method"),
                  number_in(row, "recorded_ns"), number_in(same, "recorded_ns"));
        if (number_in(row, "unrecorded_ns") < 0)
            wrong("pruned: '%s' has less than no time", text_in(row, "method"));
    }
}

static void check_cost(const cJSON *report, const cJSON *cost)
{
    static const char *const parts[] = { "probes_cpu", "agent_cpu", "hits_cpu", "recorder_cpu", "recompiling_cpu" };
    const cJSON *all = row_of_kind(cost, "cpu");
    double sum = 0, cpu_ns = number_in(cJSON_GetObjectItem(report, "about"), "process_cpu_ns");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const cJSON *row = row_of_kind(cost, parts[i]);
        double value = row == NULL ? 0 : number_in(row, "value");
        sum += isnan(value) ? 0 : value; /* where one is not known, the rest is said to be the least */
        if (cpu_ns > 0 && value > 0 && !is_same(value / cpu_ns, number_in(row, "share"), EPSILON))
            wrong("cost: %s is no share of the process' CPU time", parts[i]);
    }
    if (!isnan(number_in(all, "value")) && !is_same(sum, number_in(all, "value"), EPSILON))
        wrong("cost: the sum of %g ns is said to be %g", sum, number_in(all, "value"));
}

/* The methods as they were selected: no part above its whole, of the application's time while each was recorded. */
static void check_phases(const cJSON *phases)
{
    const cJSON *row;
    EACH(row, phases)
    {
        if (number_in(row, "share") > 1 + EPSILON || number_in(row, "share") < 0)
            wrong("phases: '%s' has a share of %g", text_in(row, "label"), number_in(row, "share"));
        if (number_in(row, "self_ns") > number_in(row, "total_ns") * (1 + EPSILON))
            wrong("phases: '%s' has more time of its own than in all", text_in(row, "label"));
    }
}

/* Where threads were: columns add up to the last row, rows to the first column. */
static void check_where(const cJSON *where)
{
    const cJSON *row, *cell;
    double sum = 0;
    EACH(row, where)
    {
        double all = number_in(row, "share"), parts = 0;
        cJSON_ArrayForEach(cell, row) parts +=
            cJSON_IsNumber(cell) && strcmp(cell->string, "share") != 0 ? cell->valuedouble : 0;
        sum += is_kind(row, "total") ? 0 : all;
        if (!is_same(parts, all, 1e-9))
            wrong("vm: '%s' is %g, and its parts %g", text_in(row, "where"), all, parts);
    }
    if (!is_same(sum, 1, 1e-9))
        wrong("vm: the rows are %g", sum);
}

static void check_hot(const cJSON *hot)
{
    const cJSON *row;
    double sum = 0;
    EACH(row, hot)
    {
        sum += number_in(row, "share");
        if (number_in(row, "kernel_share") > number_in(row, "share") + EPSILON)
            wrong("hot: '%s' is more in the kernel than at all", text_in(row, "code"));
    }
    if (sum > 1 + EPSILON)
        wrong("hot: the rows are %g", sum);
}

/*
 * The steps' time is the recording's, by part of the JVM, but for what is charged for switches, which has no moment;
 * and a phase has the same time of its own.
 */
static void check_timeline(const cJSON *report, const cJSON *line, bool is_cpu)
{
    static const char *const kinds[] = { "gc", "c1", "c2", "vm_thread", "other_vm" };
    const cJSON *row;
    double all = number_in(row_of_kind(report, "total"), "self_ns");
    for (size_t i = 0; is_cpu && i < sizeof kinds / sizeof *kinds; i++) {
        const cJSON *whole = row_of_kind(report, kinds[i]);
        double sum = 0;
        EACH(row, line)
        sum += is_kind(row, kinds[i]) ? number_in(row, "cpu_ns") : 0;
        if (whole != NULL && fabs(sum - number_in(whole, "self_ns")) > SWITCHES_MOST * all)
            wrong("timeline: %s has %g ns, in the report %g", kinds[i], sum, number_in(whole, "self_ns"));
    }
    EACH(row, line)
    {
        const cJSON *same = is_kind(row, "phase") ? row_of(report, text_in(row, "label")) : NULL;
        check_share("timeline", row, "time_share");
        if (is_cpu && same != NULL && !is_same(number_in(row, "cpu_ns"), number_in(same, "self_ns"), EPSILON))
            wrong("timeline: '%s' has %g ns of its own, in the report %g", text_in(row, "label"),
                  number_in(row, "cpu_ns"), number_in(same, "self_ns"));
    }
}

/* ---- all of it ---- */

static void check_beside(const cJSON *report, bool is_cpu)
{
    cJSON *sampled = must_have("report --sampled --all --top 0 --json"), *pruned = must_have("report --pruned --json"),
          *cost = must_have("report --cost --json"), *where = table_of("report --vm --json"),
          *hot = table_of("report --hot --top 0 --json"), *line = table_of("report --timeline --json"),
          *phases = table_of("phases -o /dev/null --all --json");
    cJSON *shown = must_have("report --sampled --top 0 --json");
    check_sampled(report, sampled, is_cpu);
    check_pruned(report, pruned);
    check_cost(report, cost);
    if (where != NULL)
        check_where(where);
    if (hot != NULL)
        check_hot(hot);
    if (phases != NULL)
        check_phases(phases);
    if (line != NULL)
        check_timeline(report, line, is_cpu);
    check_csv("--sampled --all --top 0", sampled);
    check_csv("--pruned", pruned);
    check_csv("--cost", cost);
    check_page(report, shown, pruned, cost);
    cJSON *const all[] = { sampled, pruned, cost, where, hot, line, phases, shown };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        cJSON_Delete(all[i]);
}

int main(int argc, char **argv)
{
    static char more[1024];
    if (argc < 3) {
        fprintf(stderr, "usage: consistent MMPROF TRACE [OPTION...]\n");
        return 2;
    }
    mmprof = argv[1];
    trace = argv[2];
    for (int i = 3; i < argc; i++)
        snprintf(more + strlen(more), sizeof more - strlen(more), "%s ", argv[i]);
    options = more;
    cJSON *report = must_have("report --json");
    bool is_cpu = strcmp(text_in(cJSON_GetObjectItem(report, "about"), "clock"), "cpu") == 0;
    if (!(number_in(row_of_kind(report, "total"), "self_ns") > 0)) /* nothing ran: there is nothing to divide */
        return 0;
    check_csv("", report);
    take_sampled(report);
    check_report(report);
    check_top(report);
    check_text(report);
    check_beside(report, is_cpu);
    cJSON_Delete(report);
    return n_wrong > 0;
}
