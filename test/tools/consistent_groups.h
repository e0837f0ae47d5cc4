/*
 * Part of consistent.c: packages, threads and requests, whose own times, waits and bytes are all of the report's.
 */
#ifndef TEST_TOOLS_CONSISTENT_GROUPS_H
#define TEST_TOOLS_CONSISTENT_GROUPS_H

#include "test/tools/consistent_read.h"

/* What the rows have of their own is the last row's, and that is expected; NAN: nothing is. */
static void check_group_sums(const char *kind, const cJSON *groups, const char *key, double expected)
{
    const cJSON *row;
    double sum = 0, total = number_in(row_of_kind(groups, "total"), key);
    EACH(row, groups) sum += is_kind(row, "total") || isnan(number_in(row, key)) ? 0 : number_in(row, key);
    if (!isnan(total) && !is_same(sum, total, EPSILON))
        wrong("groups=%s: the rows' %s are %.9g of %.9g", kind, key, sum, total);
    if (!isnan(expected) && !is_same(total, expected, EPSILON))
        wrong("groups=%s: has %.9g %s, elsewhere %.9g", kind, total, key, expected);
}

static void check_groups_by(const cJSON *report, const char *kind)
{
    char words[64];
    snprintf(words, sizeof words, "report --view groups=%s --all --json", kind);
    cJSON *groups = must_have(words), *waits = NULL, *allocations = NULL;
    const cJSON *row, *total = row_of_kind(groups, "total");
    if (!isnan(number_in(total, "waited_ns")))
        waits = table_of("report --view waits --json");
    if (!isnan(number_in(total, "allocated_bytes")))
        allocations = table_of("report --view allocations --json");
    check_group_sums(kind, groups, "self_ns", number_in(row_of_kind(report, "total"), "self_ns"));
    check_group_sums(kind, groups, "self_waited_ns", number_in(cJSON_GetObjectItem(waits, "about"), "waited_ns"));
    check_group_sums(kind, groups, "self_allocated_bytes", number_in(row_of_kind(allocations, "total"), "bytes"));
    EACH(row, groups)
    {
        bool is_group = is_kind(row, "package") || is_kind(row, "thread") || is_kind(row, "request");
        const cJSON *same = is_group || is_kind(row, "application") ? NULL : row_of(report, text_in(row, "label"));
        check_share("groups", row, "time_share");
        check_share("groups", row, "self_share");
        if (is_group && number_in(row, "self_ns") > number_in(row, "total_ns") * (1 + EPSILON))
            wrong("groups=%s: '%s' has more time of its own than in all", kind, text_in(row, "label"));
        if (same != NULL && !is_same(number_in(row, "self_ns"), number_in(same, "self_ns"), EPSILON))
            wrong("groups=%s: '%s' is another one in the report", kind, text_in(row, "label"));
    }
    cJSON_Delete(groups);
    cJSON_Delete(waits);
    cJSON_Delete(allocations);
}

static void check_groups(const cJSON *report)
{
    check_groups_by(report, "package");
    check_groups_by(report, "thread");
    check_groups_by(report, "request");
}

#endif
