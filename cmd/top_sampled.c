#include "cmd/top_table.h"

#include "core/base/xalloc.h"
#include "report/view/sampled.h"
#include "report/format/table.h"
#include "symbolize/java_names.h"

#define ROWS_MAX 12u

struct top_sampled_row {
    double share, low, high, self_share;
    const char *label, *why;
};

static const struct table_column columns[] = {
    { "share", "Time (%)", TABLE_SHARE, FROM(struct top_sampled_row, share) },
    { "share_low", "at least", TABLE_SHARE, FROM(struct top_sampled_row, low) },
    { "share_high", "at most", TABLE_SHARE, FROM(struct top_sampled_row, high) },
    { "self_share", "Own (%)", TABLE_SHARE, FROM(struct top_sampled_row, self_share) },
    { "method", "Method", TABLE_TEXT, FROM(struct top_sampled_row, label) },
    { "reason", "Not instrumented because", TABLE_TEXT, FROM(struct top_sampled_row, why) },
};

/* Returns the table for free(), or NULL with *err set. */
static char *text_of(const struct live_sampled *all, size_t n, struct arena *arena, struct err *err)
{
    struct table table;
    struct method_name *names = arena_alloc(arena, n * sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = all[i].found->names;
    const char **labels = java_names_labels(arena, names, n);
    table_begin(&table, arena);
    TABLE_COLUMNS(&table, columns, 0);
    for (size_t i = 0; i < n; i++) {
        const struct candidate *of = all[i].found;
        const char *why = sampled_why_text(all[i].why, all[i].recompilation_ns, arena);
        const struct top_sampled_row row = { of->share, of->share_low, of->share_high, of->self_share, labels[i], why };
        table_add(&table, "sampled", &row);
    }
    return table_text(&table, err);
}

/* Take what is known now.  Not while samples are taken. */
static int take_samples(struct top_sampled *sampled, struct live_session *session, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct live_sampled *all;
    char *text = NULL;
    size_t n = live_sampled_list(session, &arena, &all);
    int rc = n > 0 && (text = text_of(all, n < ROWS_MAX ? n : ROWS_MAX, &arena, err)) == NULL ? -1 : 0;
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
    if (phases != NULL) {
        const char *below = below_text(sampled, &arena);
        text = xasprintf("%s%s%s", phases, below[0] == '\0' ? "" : "\n", below);
    }
    free(phases);
    arena_free(&arena);
    return text;
}
