/* report --for-agents: whatever the names are, the answer is UTF-8, JSON, and small; and nothing is cut within. */
#include "report/findings/findings.h"

#include "core/base/utf8.h"
#include "core/base/xalloc.h"
#include "test/unit/tap.h"

#include <cjson/cJSON.h>

#define N_FINDINGS 40
#define N_ROWS     300

static struct arena arena;

struct made_row {
    const char *label;
    double share;
};

static const struct table_column columns[] = {
    { "method", "Method", TABLE_TEXT, FROM(struct made_row, label) },
    { "time_share", "Time", TABLE_SHARE, FROM(struct made_row, share) },
};

static const char *repeated(const char *text, size_t n)
{
    char *all = arena_alloc(&arena, strlen(text) * n + 1);
    for (size_t i = 0; i < n; i++)
        memcpy(all + i * strlen(text), text, strlen(text));
    return all;
}

static void make_table(struct table *table, const char *name, size_t n)
{
    table_begin(table, &arena);
    TABLE_COLUMNS(table, columns, 0);
    table_metadata_words(table, "trace", name, NULL);
    table_metadata_number(table, "exact_phases", 3, name);
    for (size_t i = 0; i < n; i++)
        table_add(table, "phase", &(struct made_row){ name, 1.0 / (double)(i + 1) });
    table_add(table, "total", &(struct made_row){ "whole process", 1 })->after_rule = true;
    table_note(table, name);
    table_doubt(table, "a doubt");
}

static struct findings make_findings(const char *name, size_t n)
{
    struct finding *all = arena_alloc(&arena, (n + 1) * sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[i] = (struct finding){ .rule = "cpu",
                                   .subject = name,
                                   .text = name,
                                   .view = name,
                                   .size = "20 % of the CPU time",
                                   .cost_ns = 1e9 / (double)(i + 1),
                                   .share = 0.2,
                                   .low = 0.2 - 0.1 * (double)i / N_FINDINGS,
                                   .high = 0.2 + 0.1 * (double)i / N_FINDINGS,
                                   .is_condition = i == n - 1 };
    return (struct findings){ all, n };
}

/* Bytes, a quote and a backslash as two. */
static size_t size_of(const char *text)
{
    size_t n = strlen(text);
    for (; *text != '\0'; text++)
        n += *text == '"' || *text == '\\';
    return n;
}

static bool is_utf8(const char *text)
{
    char *copy = arena_alloc(&arena, UTF8_GROWTH * strlen(text) + 1), *to = copy;
    for (const char *at = text, *end = text + strlen(text); at < end;)
        to = utf8_put(to, utf8_take(&at, end));
    return strcmp(copy, text) == 0;
}

static cJSON *printed(const char *name, const char *trace, size_t n_findings, size_t n_rows, const char *what)
{
    struct table *table = arena_alloc(&arena, sizeof *table);
    const struct findings findings = make_findings(name, n_findings);
    char *text;
    size_t n;
    FILE *out = xopen_memstream(&text, &n);
    make_table(table, name, n_rows);
    findings_print_agents(&findings, table, trace, out);
    xclose_memstream(out);
    cJSON *json = cJSON_Parse(text);
    if (!CHECK(arena_printf(&arena, "%s: small, JSON, UTF-8", what),
               json != NULL && is_utf8(text) && size_of(text) <= FINDINGS_AGENTS_BYTES + 1))
        printf("# %zu bytes: %.300s\n", size_of(text), text);
    free(text);
    return json;
}

/* Items of a list, and of those that were dropped. */
static void count(const cJSON *json, const char *list, int *n, int *n_dropped)
{
    *n = cJSON_GetArraySize(cJSON_GetObjectItem(json, list));
    *n_dropped = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "dropped"), list)->valueint;
}

static const char *member(const cJSON *json, const char *list, int i, const char *key)
{
    const char *text =
        cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(json, list), i), key));
    return text == NULL ? "" : text;
}

static void test_usual(void)
{
    cJSON *json = printed("Shop.price", "/tmp/it's here/a.dat", 4, 5, "a few findings");
    int n, n_dropped;
    count(json, "findings", &n, &n_dropped);
    CHECK("all findings are there", n == 3 && n_dropped == 0);
    count(json, "conditions", &n, &n_dropped);
    CHECK("and the condition, apart", n == 1 && n_dropped == 0);
    CHECK("the next command is quoted for a shell",
          strcmp(member(json, "findings", 0, "next"),
                 "mmprof report --no-pager --view Shop.price '/tmp/it'\\''s here/a.dat'") == 0);
    CHECK("confidence follows the interval", strcmp(member(json, "findings", 0, "confidence"), "measured") == 0 &&
                                                 strcmp(member(json, "findings", 1, "confidence"), "high") == 0);
    CHECK("rows behind the rule are the process' parts",
          cJSON_GetArraySize(cJSON_GetObjectItem(json, "phases")) == 5 &&
              cJSON_GetArraySize(cJSON_GetObjectItem(json, "process_parts")) == 1);
    CHECK_TEXT("the first column is the label", member(json, "phases", 0, "label"), "Shop.price");
    CHECK("doubts come first",
          strcmp(cJSON_GetStringValue(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "notes"), 0)), "a doubt") == 0);
    cJSON_Delete(json);
}

static void test_many(void)
{
    cJSON *json = printed("org.shop.pricing.PriceService.quoteForAllCustomers", "a.dat", N_FINDINGS, N_ROWS, "many");
    int n, n_dropped, n_phases, n_dropped_phases;
    count(json, "findings", &n, &n_dropped);
    count(json, "phases", &n_phases, &n_dropped_phases);
    CHECK("findings that are left out are counted", n >= 8 && n + n_dropped == N_FINDINGS - 1);
    CHECK("and phases", n_phases >= 4 && n_phases + n_dropped_phases == N_ROWS);
    CHECK("a condition stays", strcmp(member(json, "conditions", 0, "confidence"), "low") == 0);
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "findings"), 0);
    CHECK("the costliest is the first one that stays", cJSON_GetObjectItem(first, "cost_ns")->valuedouble == 1e9);
    cJSON_Delete(json);
}

static void test_hostile(void)
{
    static const struct {
        const char *what, *name;
        size_t n;
    } rows[] = {
        { "control characters", "\x1b[2J\x01\x7f\xc2\x9b", 9 },
        { "quotes", "\"\\\"", 90 },
        { "bytes that are no UTF-8", "\xff\xc3(\xed\xa0\x80", 9 },
        { "names of 64 KB", "x", 65535 },
        { "names of 5 KB of quotes", "\"'\\", 1700 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = repeated(rows[i].name, rows[i].n);
        cJSON *json = printed(name, name, N_FINDINGS, N_ROWS, rows[i].what);
        int n, n_dropped;
        count(json, "findings", &n, &n_dropped);
        CHECK(arena_printf(&arena, "%s: each finding is there or counted", rows[i].what),
              n + n_dropped == N_FINDINGS - 1);
        cJSON_Delete(json);
    }
    cJSON *json = printed("a", "\xff.dat", 2, 1, "a trace whose name is no UTF-8");
    CHECK("there is no command for it",
          cJSON_IsNull(cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "findings"), 0), "next")));
    cJSON_Delete(json);
}

int main(void)
{
    test_usual();
    test_many();
    test_hostile();
    arena_free(&arena);
    return tap_done();
}
