/*
 * Part of consistent.c: a trace of samples alone, in its views of methods and of threads.
 */
#ifndef TEST_TOOLS_CONSISTENT_SAMPLED_H
#define TEST_TOOLS_CONSISTENT_SAMPLED_H

#include "test/tools/consistent_tree.h"

#define THREADS_MOST 2 /* that are looked at one by one */

/* ---- methods ---- */

/* A method's contexts have its share together: its own, and of those that are in no other one of it all. */
static void check_sampled_method(const cJSON *of, const cJSON *tree)
{
    const cJSON *row;
    double time = 0, self = 0, inside = -1;
    EACH(row, tree)
    {
        double depth = number_in(row, "depth");
        inside = inside >= 0 && depth <= inside ? -1 : inside;
        if (strcmp(name_in(of), text_in(row, "method")) != 0 ||
            strcmp(text_in(of, "class"), text_in(row, "class")) != 0 ||
            strcmp(text_in(of, "descriptor"), text_in(row, "descriptor")) != 0)
            continue;
        self += number_in(row, "self_share");
        time += inside < 0 ? number_in(row, "time_share") : 0;
        inside = inside < 0 ? depth : inside;
    }
    if (fabs(time - number_in(of, time_key(of))) > SAMPLED_SAME ||
        fabs(self - number_in(of, "self_share")) > SAMPLED_SAME)
        wrong("tree: '%s' has %g of the time, %g its own, in the report %g and %g", label_in(of), time, self,
              number_in(of, time_key(of)), number_in(of, "self_share"));
}

/* What calls the methods with most time, and with most of their own, and what these call. */
static void check_sampled_methods(const cJSON *all)
{
    const cJSON *row, *of[2] = { NULL, NULL };
    EACH(row, all)
    {
        if (!is_kind(row, "method"))
            continue;
        of[0] = of[0] == NULL ? row : of[0];
        of[1] = of[1] == NULL || number_in(row, "self_share") > number_in(of[1], "self_share") ? row : of[1];
    }
    for (size_t i = 0; i < 2 && of[i] != NULL && (i == 0 || of[1] != of[0]); i++) {
        check_view("callers", of[i], "");
        check_view("callees", of[i], "");
    }
}

/* ---- threads ---- */

/* Part of the trace's samples: no method has more there than in all of it, and the rows are all of the time. */
static void check_part(const char *what, const cJSON *part, const cJSON *all, bool is_all)
{
    const cJSON *row;
    double self = 0;
    EACH(row, part)
    {
        const cJSON *same = is_kind(row, "method") ? row_of_method(all, row) : NULL;
        self += number_in(row, "self_share");
        check_share(what, row, time_key(row));
        if (is_kind(row, "method") && same == NULL)
            wrong("%s: '%s' is in no other report", what, label_in(row));
        double time = number_in(row, time_key(row)), whole = same == NULL ? time : number_in(same, time_key(same));
        if (time > whole + EPSILON || (is_all && time < whole - EPSILON))
            wrong("%s: '%s' has %g of the time, without --thread %g", what, label_in(row), time, whole);
    }
    if (!is_same(self, 1, EPSILON))
        wrong("%s: the rows' own shares are %.9g", what, self);
}

/* Of the threads that a row of groups=thread names as --thread does: their time is the row's. */
static void check_sampled_thread(const cJSON *of, const cJSON *all)
{
    char thread[512], words[1024];
    const cJSON *row, *method = NULL;
    snprintf(thread, sizeof thread, "--thread '%s'", text_in(of, "label"));
    snprintf(words, sizeof words, "report --view tree --all --json %s", thread);
    cJSON *tree = must_have(words);
    snprintf(words, sizeof words, "report --all --json %s", thread);
    cJSON *report = must_have(words);
    double ns = roots_ns(tree), expected = number_in(of, "total_ns");
    bool may_be_more = strchr(thread, '*') != NULL; /* others' names match, too */
    if (ns < expected * (1 - EPSILON) - ROUNDED_NS || (!may_be_more && ns > expected * (1 + EPSILON) + ROUNDED_NS))
        wrong("groups=thread: '%s' has %g ns, with --thread %g", text_in(of, "label"), expected, ns);
    check_sums("tree", tree);
    check_part(thread, report, all, false);
    EACH(row, report)
    {
        method = method == NULL && is_kind(row, "method") ? row : method;
        if (is_kind(row, "method"))
            check_sampled_method(row, tree);
    }
    if (method != NULL) {
        check_view("callers", method, thread);
        check_view("callees", method, thread);
    }
    cJSON_Delete(tree);
    cJSON_Delete(report);
}

static void check_sampled_threads(const cJSON *all)
{
    cJSON *every = must_have("report --all --json --thread '*'"),
          *groups = must_have("report --view groups=thread --all --json");
    const cJSON *row;
    int n = 0;
    check_part("--thread '*'", every, all, true);
    EACH(row, groups)
    {
        bool is_name = strpbrk(text_in(row, "label"), "'[?\\") == NULL;
        if (is_kind(row, "thread") && is_name && number_in(row, "total_ns") > 0 && n++ < THREADS_MOST)
            check_sampled_thread(row, all);
    }
    cJSON_Delete(every);
    cJSON_Delete(groups);
}

#endif
