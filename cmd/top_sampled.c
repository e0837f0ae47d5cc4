#include "cmd/top_sampled.h"

#include "cmd/live_sampled.h"
#include "report/sampled.h"
#include "report/table.h"
#include "symbolize/java_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 12u

static void add_head(const struct live_session *session, struct table *table, struct arena *arena)
{
    const struct sample_totals *totals = candidates_totals(session->candidates);
    double seconds = (double)(session->looks_ns[1] - session->looks_ns[0]) / 1e9;
    table_fact_words(
        table, "sampled", "",
        arena_printf(arena, "without probes, by %" PRIu64 " samples in %.1f s:", totals->n_samples, seconds));
    table_column(table, "Time (%)", "share", TABLE_SHARE);
    table_column(table, "at least", "share_low", TABLE_SHARE);
    table_column(table, "at most", "share_high", TABLE_SHARE);
    table_column(table, "Own (%)", "self_share", TABLE_SHARE);
    table_column(table, "Method", "method", TABLE_TEXT);
    table_column(table, "No probes, because", "reason", TABLE_TEXT);
}

static int add_rows(const struct live_sampled *all, size_t n, struct table *table, struct arena *arena, struct err *err)
{
    struct java_name *names = arena_alloc(arena, n * sizeof *names);
    const char **labels = arena_alloc(arena, n * sizeof *labels);
    for (size_t i = 0; names != NULL && i < n; i++)
        names[i] = (struct java_name){ all[i].found->class_name, all[i].found->name, all[i].found->descriptor };
    if (names == NULL || labels == NULL || java_names_labels(arena, names, n, labels) < 0)
        return err_set(err, "out of memory");
    for (size_t i = 0; i < n; i++) {
        const struct candidate *found = all[i].found;
        struct table_cell *cells = table_row(table, "sampled");
        const char *why = sampled_why_text(all[i].why, all[i].price_ns, arena);
        if (cells == NULL || why == NULL)
            return err_set(err, "out of memory");
        const struct table_cell values[] = { table_number(found->share),      table_number(found->share_low),
                                             table_number(found->share_high), table_number(found->self_share),
                                             table_words(labels[i]),          table_words(why) };
        memcpy(cells, values, sizeof values);
    }
    return 0;
}

static char *empty_text(struct err *err)
{
    char *text = calloc(1, 1);
    if (text == NULL)
        err_set(err, "out of memory");
    return text;
}

static char *some_text(const struct live_session *session, const struct live_sampled *all, size_t n,
                       struct arena *arena, struct err *err)
{
    struct table table;
    table_begin(&table, arena);
    add_head(session, &table, arena);
    return add_rows(all, n < ROWS_MAX ? n : ROWS_MAX, &table, arena, err) < 0 ? NULL : table_text(&table, err);
}

char *top_sampled_text(struct live_session *session, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct live_sampled *all;
    char *text = NULL;
    size_t n;
    if (live_sampled_list(session, &arena, &all, &n, err) == 0)
        text = n == 0 ? empty_text(err) : some_text(session, all, n, &arena, err);
    arena_free(&arena);
    return text;
}
