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
    if (versions_table(&v, true, &table, &err) < 0)
        return err.text;
    return printed(&table, TEXT, &arena);
}

static void has(const char *claim, const char *text, const char *part)
{
    if (!CHECK(claim, strstr(text, part) != NULL))
        printf("# no '%s' in:\n# %s\n", part, text);
}

int main(void)
{
    const struct versions_series time = { "total", "all", "time", TABLE_NS, true, { a, b, c }, { NULL, NULL, NULL } };
    const char *text = text_of(&time, 1, 3, 0.01);
    has("three versions: analysis of variance and Tukey's HSD", text,
        "analysis of variance of logarithms, and Tukey's");
    has("one that takes a fifth more is found", text, "all    time    a     b   100 ns  120 ns       +20.2");
    has("two that do not differ are not", text, "not shown");
    has("each pair has a row", text, "all    time    b     c");
    has("what takes less is lower", text, "lower");
    text = text_of(&time, 1, 2, 0.01);
    has("two: Welch's t", text, "Welch's t");
    has("two: found", text, "higher");
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
