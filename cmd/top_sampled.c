#include "cmd/top_sampled.h"

#include "phases/live/live_session.h"
#include "report/view/sampled.h"
#include "report/format/table.h"
#include "symbolize/java_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 12u

static void add_columns(struct table *table)
{
    table_column(table, "Time (%)", "share", TABLE_SHARE);
    table_column(table, "at least", "share_low", TABLE_SHARE);
    table_column(table, "at most", "share_high", TABLE_SHARE);
    table_column(table, "Own (%)", "self_share", TABLE_SHARE);
    table_column(table, "Method", "method", TABLE_TEXT);
    table_column(table, "Not instrumented because", "reason", TABLE_TEXT);
}

static void add_rows(const struct live_sampled *all, size_t n, struct table *table, struct arena *arena)
{
    struct method_name *names = arena_alloc(arena, n * sizeof *names);
    const char **labels = arena_alloc(arena, n * sizeof *labels);
    for (size_t i = 0; i < n; i++)
        names[i] = all[i].found->names;
    java_names_labels(arena, names, n, labels);
    for (size_t i = 0; i < n; i++) {
        const struct candidate *found = all[i].found;
        struct table_cell *cells = table_row(table, "sampled");
        const char *why = sampled_why_text(all[i].why, all[i].recompilation_ns, arena);
        const struct table_cell values[] = { table_number(found->share),      table_number(found->share_low),
                                             table_number(found->share_high), table_number(found->self_share),
                                             table_words(labels[i]),          table_words(why) };
        memcpy(cells, values, sizeof values);
    }
}

/* Returns the table for free(), or NULL with *err set: no memory. */
static char *text_of(const struct live_sampled *all, size_t n, struct arena *arena, struct err *err)
{
    struct table table;
    table_begin(&table, arena);
    add_columns(&table);
    add_rows(all, n < ROWS_MAX ? n : ROWS_MAX, &table, arena);
    return table_text(&table, err);
}

/* Take what is known now.  Not while samples are taken. */
static int take_samples(struct top_sampled *sampled, struct live_session *session, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct live_sampled *all;
    char *text = NULL;
    size_t n = live_sampled_list(session, &arena, &all);
    int rc = n > 0 && (text = text_of(all, n, &arena, err)) == NULL ? -1 : 0;
    arena_free(&arena);
    if (rc < 0)
        return -1;
    free(sampled->text);
    *sampled = (struct top_sampled){ text, n == 0 ? 0 : candidates_n_samples(session->candidates),
                                     session->status.monotonic_ns - session->sampled_since_ns };
    return 0;
}

/* The table below a line that says how many samples it is by, and in how much time; "": there is nothing to show. */
static const char *below_text(const struct top_sampled *sampled, struct arena *arena)
{
    if (sampled->text == NULL)
        return "";
    return arena_printf(arena,
                        "methods without probes, from %" PRIu64 " samples in %.1f s:\n"
                        "\n"
                        "%s",
                        sampled->n_samples, (double)sampled->ns / 1e9, sampled->text);
}

/* While samples are taken they stay as they were. */
static int sample_anew(struct top_sampled *sampled, struct live_session *session, struct err *err)
{
    return session->live->stage == LIVE_CHOOSING ? 0 : take_samples(sampled, session, err);
}

char *top_text(struct top_table *table, struct top_sampled *sampled, struct live_session *session, struct err *err)
{
    struct arena arena = { NULL, 0 };
    char *phases = sample_anew(sampled, session, err) < 0 ? NULL : top_table_text(table, session, err), *text = NULL;
    const char *below = phases == NULL ? NULL : below_text(sampled, &arena);
    if (phases != NULL &&
        (below == NULL || asprintf(&text, "%s%s%s", phases, below[0] == '\0' ? "" : "\n", below) < 0)) {
        err_set(err, "out of memory");
        text = NULL;
    }
    free(phases);
    arena_free(&arena);
    return text;
}
