/*
 * Part of consistent.c: a trace compared with itself says of each method what its report says.
 */
#ifndef TEST_TOOLS_CONSISTENT_DIFF_H
#define TEST_TOOLS_CONSISTENT_DIFF_H

#include "test/tools/consistent_tree.h"

/* Hidden classes have another name in each run, and classes of two loaders the same one: their rows are added up. */
static bool is_one_of_its_kind(const cJSON *report, const cJSON *of)
{
    const cJSON *row;
    int n = 0;
    EACH(row, report) n += is_method(row, of);
    return n == 1 && strstr(text_in(of, "class"), "0x") == NULL;
}

static void check_diff_value(const cJSON *diff, const cJSON *of, const char *metric, const char *key)
{
    const cJSON *row;
    double expected = number_in(of, key);
    EACH(row, diff)
    {
        bool is_it = is_kind(of, "total") ? is_kind(row, "total") : is_method(row, of);
        if (!is_it || strcmp(text_in(row, "metric"), metric) != 0)
            continue;
        if (!is_same(number_in(row, "before"), expected, EPSILON) ||
            !is_same(number_in(row, "after"), expected, EPSILON))
            wrong("diff: the %s of '%s' is %g and %g, in the report %g", metric, text_in(of, "label"),
                  number_in(row, "before"), number_in(row, "after"), expected);
        if (strcmp(text_in(row, "verdict"), "not shown") != 0 && strcmp(text_in(row, "verdict"), "small") != 0 &&
            strcmp(text_in(row, "verdict"), "-") != 0)
            wrong("diff: the %s of '%s' is '%s' against itself", metric, text_in(of, "label"), text_in(row, "verdict"));
        return;
    }
    wrong("diff: '%s' has no %s", text_in(of, "label"), metric);
}

static void check_diff(const cJSON *report)
{
    char words[4096];
    snprintf(words, sizeof words, "diff --all --min-share 0 --json '%s'", trace);
    cJSON *diff = must_have(words);
    const cJSON *row;
    EACH(row, report)
    {
        if (is_kind(row, "total"))
            check_diff_value(diff, row, "time", "self_ns");
        if ((is_kind(row, "phase") || is_kind(row, "sampled")) && is_one_of_its_kind(report, row))
            check_diff_value(diff, row, "share", "time_share");
    }
    cJSON_Delete(diff);
}

#endif
