/*
 * Whether all that mmprof says of a trace agrees with itself, in every table and in each of its forms:
 *
 *     consistent MMPROF TRACE [OPTION...]
 *
 * The options (such as '--clock wall') go to each report.  What does not agree is printed, a line each: no part above
 * its whole, no share below 0 or above 100 %, the rows' own times are the whole, and text, CSV, JSON and the page have
 * the same numbers.  The status is 1 if there is such a line, 2 if a report could not be had.
 */
#include "test/tools/consistent_diff.h"
#include "test/tools/consistent_groups.h"
#include "test/tools/consistent_sampled.h"

/* ---- the report's table ---- */

/* Where samples tell of the time without probes, too. */
static bool has_samples(const cJSON *report)
{
    return cJSON_HasObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(report, "rows"), 0), "known_by");
}

/* A share with callees is of what ran while the row was recorded, or with samples of all; one without is of all. */
static void check_row(const cJSON *report, const cJSON *row)
{
    const char *label = text_in(row, "label");
    double time = number_in(row, "time_share"), self = number_in(row, "self_share");
    double part = has_samples(report) ? 1 : number_in(row, "recorded_share");
    double all_ns = number_in(row_of_kind(report, "total"), "self_ns");
    check_share("report", row, "time_share");
    check_share("report", row, "self_share");
    check_share("report", row, "recorded_share");
    if (self > time + EPSILON)
        wrong("report: '%s' has more time of its own than in all: %g of %g", label, self, time);
    if (number_in(row, "recorded_ns") > number_in(cJSON_GetObjectItem(report, "about"), "duration_ns") * (1 + EPSILON))
        wrong("report: '%s' was recorded for longer than the recording took", label);
    if (!is_same(self * all_ns, number_in(row, "self_ns"), EPSILON) ||
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
        shares += number_in(row, "self_share");
    }
    if (!is_same(ns, number_in(total, "self_ns"), EPSILON) || !is_same(shares, 1, EPSILON))
        wrong("report: the rows' own times are %.9g of %.9g ns", ns, number_in(total, "self_ns"));
}

/* The rows that --top leaves say what they say without it. */
static void check_top(const cJSON *report)
{
    cJSON *few = must_have("report --top 2 --json");
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

/* Of all threads, by their names: each row has what it has without them. */
static void check_threads(const cJSON *report)
{
    cJSON *threads = must_have("report --json --thread '*'");
    const cJSON *row;
    EACH(row, threads)
    {
        const cJSON *same = is_kind(row, "phase") ? row_of(report, text_in(row, "label")) : NULL;
        if (same != NULL &&
            (!is_same(number_in(row, "calls"), number_in(same, "calls"), EPSILON) ||
             (!has_samples(report) && !is_same(number_in(row, "total_ns"), number_in(same, "total_ns"), EPSILON))))
            wrong("report: '%s' is another one with --thread '*'", text_in(row, "label"));
    }
    check_report(threads);
    cJSON_Delete(threads);
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

/* What follows "12.34 " or "12.34 \u00b15.67 ". */
static char *after_number(char *at)
{
    at += strncmp(at, "< ", 2) == 0 ? 2 : 0;
    at += strcspn(at, " ");
    at += strspn(at, " ");
    if (strncmp(at, "\u00b1", strlen("\u00b1")) != 0)
        return at;
    at += strcspn(at, " ");
    return at + strspn(at, " ");
}

/* Each row of text begins with its label, and the time and own time that JSON has of it. */
static void check_text(const cJSON *report)
{
    char *text = output_of("report --top 0 --no-fold"), time[32], self[32];
    if (text == NULL)
        give_up("report");
    const cJSON *row;
    EACH(row, report)
    {
        const char *label = label_in(row);
        print_share(number_in(row, time_key(row)), time, sizeof time);
        print_share(number_in(row, "self_share"), self, sizeof self);
        char *at = strstr(text, "\nPhase "); /* behind the table of requests */
        at = at == NULL ? strstr(text, "\n\n") : at;
        while (at != NULL && (strncmp(at + 1, label, strlen(label)) != 0 || at[1 + strlen(label)] != ' '))
            at = strchr(at + 1, '\n');
        char *line = at == NULL ? NULL : at + 1 + strlen(label);
        line = line == NULL ? NULL : line + strspn(line, " ");
        bool is_it = line != NULL && strncmp(line, time, strlen(time)) == 0;
        line = is_it ? after_number(line) : NULL;
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
    static const char *const keys[] = { "time_share", "self_share", "recorded_ns", "calls",
                                        "total_ns",   "self_ns",    "value",       "share" };
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
    if (!isnan(whole) && sum > whole * (1 + SWITCHES_MOST) + about_ns(report, "withheld_ns"))
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

static void check_page(const cJSON *report, const cJSON *cost)
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
    cJSON *folded = must_have("report --json --fold");
    check_page_table(page, "phases", folded);
    check_page_table(page, "cost", cost);
    check_page_roots(page, report);
    check_page_tree(page);
    cJSON_Delete(page);
    cJSON_Delete(folded);
    free(html);
}

/* ---- the tables beside it ---- */

static void check_cost(const cJSON *report, const cJSON *cost)
{
    static const char *const parts[] = { "probes_cpu",   "agent_cpu",       "allocations_cpu", "hits_cpu",
                                         "recorder_cpu", "recompiling_cpu", "changing_cpu" };
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
        {
            sum += is_kind(row, kinds[i]) ? number_in(row, "cpu_ns") : 0;
        }
        double off_ns = SWITCHES_MOST * all + about_ns(report, "switches_ns") + about_ns(report, "withheld_ns");
        if (whole != NULL && fabs(sum - number_in(whole, "self_ns")) > off_ns)
            wrong("timeline: %s has %g ns, in the report %g", kinds[i], sum, number_in(whole, "self_ns"));
    }
    EACH(row, line)
    {
        bool is_method_row = is_kind(row, "phase") || is_kind(row, "sampled");
        const cJSON *same = is_method_row ? row_of(report, text_in(row, "label")) : NULL;
        check_share("timeline", row, "time_share");
        if (is_cpu && same != NULL && !is_same(number_in(row, "cpu_ns"), number_in(same, "self_ns"), EPSILON))
            wrong("timeline: '%s' has %g ns of its own, in the report %g", text_in(row, "label"),
                  number_in(row, "cpu_ns"), number_in(same, "self_ns"));
    }
}

/* ---- a trace of samples alone ---- */

static void check_sampled(const cJSON *report)
{
    cJSON *all = must_have("report --all --json"), *tree = must_have("report --view tree --all --json"),
          *cost = must_have("report --view cost --json");
    const cJSON *row;
    double self = 0;
    check_sums("tree", tree);
    EACH(row, all)
    {
        check_share("report", row, time_key(row));
        check_share("report", row, "self_share");
        self += number_in(row, "self_share");
        if (is_kind(row, "method"))
            check_sampled_method(row, tree);
    }
    if (!is_same(self, 1, EPSILON))
        wrong("report: the rows' own shares are %.9g", self);
    check_sampled_methods(all);
    check_sampled_threads(all);
    check_csv("", report);
    check_csv("--all", all);
    check_csv("--view tree --all", tree);
    check_csv("--view cost", cost);
    check_groups(report);
    check_text(report);
    check_page(report, cost);
    cJSON_Delete(all);
    cJSON_Delete(tree);
    cJSON_Delete(cost);
}

/* ---- all of it ---- */

static void check_beside(const cJSON *report, bool is_cpu)
{
    cJSON *cost = must_have("report --view cost --json"), *where = table_of("report --view vm --json"),
          *hot = table_of("report --view hot --top 0 --json"), *line = table_of("report --view timeline --json"),
          *phases = table_of("phases -o /dev/null --all --json");
    check_cost(report, cost);
    if (where != NULL)
        check_where(where);
    if (hot != NULL)
        check_hot(hot);
    if (phases != NULL)
        check_phases(phases);
    if (line != NULL)
        check_timeline(report, line, is_cpu);
    check_csv("--view cost", cost);
    check_page(report, cost);
    cJSON *const all[] = { cost, where, hot, line, phases };
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
    check_exports();
    bool is_cpu = strcmp(text_in(cJSON_GetObjectItem(report, "about"), "clock"), "cpu") == 0;
    if (cJSON_HasObjectItem(cJSON_GetObjectItem(report, "about"), "samples") && row_of_kind(report, "total") == NULL) {
        check_sampled(report);
        cJSON_Delete(report);
        return n_wrong > 0;
    }
    if (!(number_in(row_of_kind(report, "total"), "self_ns") > 0)) /* nothing ran: there is nothing to divide */
        return 0;
    check_csv("", report);
    check_report(report);
    check_top(report);
    check_threads(report);
    check_text(report);
    check_tree(report);
    check_groups(report);
    check_diff(report);
    check_beside(report, is_cpu);
    cJSON_Delete(report);
    return n_wrong > 0;
}
