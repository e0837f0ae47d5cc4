/* Tables of several versions: rows, verdicts, what is not known. */
#include "report/diff/versions.h"

#include "test/unit/table_printed.h"
#include "test/unit/tap.h"

#include <math.h>

static struct arena arena;
static struct err err;

static const double a[] = { 100, 102, 98, 101, 99 }, b[] = { 120, 123, 118, 121, 119 }, c[] = { 101, 99, 100, 102, 98 };
static const double zeros[] = { 0, 0, 0, 0, 0 }, few[] = { 7, NAN, NAN, NAN, NAN };

static const char *text_of(const struct versions_series *series, size_t n, size_t n_versions, double least)
{
    struct versions v = { .arena = &arena,
                          .names = { "a", "b", "c" },
                          .what = { "old", "new", "other" },
                          .n_versions = n_versions,
                          .n_runs = { 5, 5, 5 },
                          .series = series,
                          .n_series = n,
                          .least = least };
    static struct table table;
    versions_table(&v, true, &table);
    return printed(&table, TEXT, &arena);
}

static void has(const char *claim, const char *text, const char *part)
{
    if (!CHECK(claim, strstr(text, part) != NULL))
        printf("# no '%s' in:\n# %s\n", part, text);
}

/* What a gate says of versions a and b, or a and c. */
static void limits(const struct versions_series *series)
{
    static const struct {
        const char *text, *said;
        size_t n_broken;
    } rows[] = {
        { "time>5%", "mmprof: time>5%: all: time of 'b' rose by 20.2 % (p < 0.0001)\n", 1 },
        { "TIME>25%", "", 0 },
        { "time<5%", "", 0 },
        { "time>20%", "mmprof: time>20%: all: time of 'b' rose by 20.2 % (p < 0.0001)\n", 1 },
        { "time>20.5%",
          "mmprof: time>20.5%: all: 'b' may exceed the limit: its interval ends at +23.5 %\n"
          "  next: measure more runs of each version, or on a quieter machine\n",
          0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct diff_limit limit;
        struct versions_gate gate = { .limits = &limit, .n_limits = 1 };
        struct table table;
        struct versions v = { .arena = &arena,
                              .names = { "a", "b", "c" },
                              .what = { "old", "new", "other" },
                              .n_versions = 3,
                              .n_runs = { 5, 5, 5 },
                              .series = series,
                              .n_series = 1,
                              .gate = &gate };
        CHECK_NUMBER("a limit is read", diff_limit_read(&arena, rows[i].text, &limit, &err), 0);
        CHECK_NUMBER("what it is on is known", versions_check_gate(&v, &err), 0);
        versions_table(&v, true, &table);
        CHECK_NUMBER(rows[i].text, gate.n_broken, rows[i].n_broken);
        CHECK_TEXT(rows[i].text, gate.said == NULL ? "" : gate.said, rows[i].said);
        limit.name = "speed";
        CHECK_NUMBER("another is not", versions_check_gate(&v, &err), -1);
    }
}

int main(void)
{
    const struct versions_series time = { "total", "all", "time", TABLE_NS, true, { a, b, c }, { NULL, NULL, NULL } };
    const char *text = text_of(&time, 1, 3, 0.01);
    limits(&time);
    has("three versions: analysis of variance and Tukey's HSD", text, "analysis of variance of logarithms, Tukey's");
    has("the analysis' F is told", text,
        "note: time: versions differ more from each other than the runs of one version: F(2, 12) =");
    has("one that takes a fifth more is found", text, "all    time    a     b   100 ns  120 ns       +20.2");
    has("two that do not differ are not", text, "not shown");
    has("each pair has a row", text, "all    time    b     c");
    has("what takes less is lower", text, "lower");
    text = text_of(&time, 1, 2, 0.01);
    has("two: Welch's t", text, "Welch's t");
    has("two: found", text, "higher");
    CHECK("two: without an analysis of variance", strstr(text, "F(") == NULL);
    has("a change of less than the least of interest is small", text_of(&time, 1, 2, 0.5), "small");
    const struct versions_series calls = {
        "total", "all", "calls", TABLE_COUNT, true, { zeros, a, b }, { NULL, NULL, NULL }
    };
    has("from nothing to something there is no percentage", text_of(&calls, 1, 3, 0.01),
        "all    calls   a     b        0    100           -               -");
    const struct versions_series once = { "total", "all", "time", TABLE_NS, true, { a, few, c }, { NULL, NULL, NULL } };
    CHECK("a version with one value has no verdict", strstr(text_of(&once, 1, 3, 0.01), "shown") == NULL);
    const struct versions_series both[] = {
        time, { "phase", "x", "CPI", TABLE_RATIO, false, { a, c, c }, { NULL, NULL, NULL } }
    };
    CHECK("text leaves out what does not differ, unless it is the time",
          strstr(text_of(both, 2, 3, 0.01), "CPI") == NULL);
    arena_free(&arena);
    return tap_done();
}
