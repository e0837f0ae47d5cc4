#include "cmd/profile_progress.h"

#include "cmd/terminal.h"
#include "core/recorder/clock.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_NS UINT64_C(5000000000)
#define AGAIN_NS UINT64_C(1000000000)

void profile_progress_begin(struct profile_progress *progress, FILE *out)
{
    memset(progress, 0, sizeof *progress);
    progress->out = terminal_is_one(out) ? out : NULL;
    progress->next_ns = clock_ns(CLOCK_MONOTONIC_RAW) + FIRST_NS;
    progress->table.is_total = true;
}

static void wipe(struct profile_progress *progress)
{
    if (progress->out != NULL)
        terminal_draw_over(progress->out, "", &progress->n_lines);
}

void profile_progress_end(struct profile_progress *progress)
{
    wipe(progress);
    top_table_free(&progress->table);
    free(progress->sampled.text);
    progress->sampled.text = NULL;
}

int profile_progress_round(void *context, struct live_session *session, struct recorder_link *link, struct err *err)
{
    struct profile_progress *progress = context;
    uint64_t now = session->status.monotonic_ns;
    if (progress->out == NULL)
        return 0;
    if (link == NULL) {
        wipe(progress);
        return 0;
    }
    if (!progress->has_begun) {
        progress->has_begun = true;
        return top_table_begin(&progress->table, session, err);
    }
    if (now < progress->next_ns)
        return 0;
    progress->next_ns = now + AGAIN_NS;
    char *text = top_text(&progress->table, &progress->sampled, session, err);
    if (text == NULL)
        return -1;
    terminal_draw_over(progress->out, text, &progress->n_lines);
    free(text);
    return 0;
}
