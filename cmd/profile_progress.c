#include "cmd/profile_progress.h"

#include "cmd/report_run.h"
#include "cmd/terminal.h"
#include "core/base/xalloc.h"
#include "core/recorder/clock.h"

#define FIRST_NS   UINT64_C(5000000000)
#define AGAIN_NS   1e9 /* at least between two times */
#define READS_PART 0.5 /* of the budget, that reading may take; but the time is never more than doubled in between */

void profile_progress_begin(struct profile_progress *progress, const char *trace, FILE *out)
{
    memset(progress, 0, sizeof *progress);
    progress->trace = trace;
    progress->out = terminal_is_one(out) ? out : NULL;
}

static void wipe(struct profile_progress *progress)
{
    if (progress->out != NULL)
        terminal_draw_over(progress->out, "", &progress->n_lines);
}

/* Wait for the thread, and take its text. */
static char *join(struct profile_progress *progress)
{
    if (progress->is_reading)
        pthread_join(progress->reader, NULL);
    progress->is_reading = false;
    char *text = progress->text;
    progress->text = NULL;
    return text;
}

void profile_progress_end(struct profile_progress *progress)
{
    free(join(progress));
    wipe(progress);
}

static void *read_trace(void *context)
{
    struct profile_progress *progress = context;
    struct err ignored; /* there is a next time */
    const struct table_look look = { progress->columns, false };
    uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    progress->text = report_findings_of(progress->trace, &look, &ignored);
    progress->read_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
    atomic_store(&progress->is_read, true);
    return NULL;
}

static void start(struct profile_progress *progress)
{
    progress->columns = terminal_columns(progress->out);
    atomic_store(&progress->is_read, false);
    progress->is_reading = pthread_create(&progress->reader, NULL, read_trace, progress) == 0;
}

/* When to read again: the time has grown by so much, or what reading takes is a small part of what the program does. */
static uint64_t next_ns(const struct profile_progress *progress, const struct live_session *session)
{
    uint64_t now_ns = session->status.monotonic_ns;
    double elapsed_ns = (double)(now_ns - progress->begin_ns);
    double cpus = (double)session->status.process_cpu_ns / elapsed_ns;
    double wait_ns = cpus <= 0 ? elapsed_ns : (double)progress->read_ns / (READS_PART * session->options.budget * cpus);
    wait_ns = wait_ns > elapsed_ns ? elapsed_ns : wait_ns;
    return now_ns + (uint64_t)(wait_ns < AGAIN_NS ? AGAIN_NS : wait_ns);
}

static void draw(struct profile_progress *progress, const char *found, double elapsed_s)
{
    char *text = NULL;
    size_t n = 0;
    const struct table_look look = { progress->columns, false };
    FILE *out = xopen_memstream(&text, &n);
    char head[128];
    snprintf(head, sizeof head, "%s in the first %.0f s (Ctrl-C: end, and print the report)",
             found == NULL || found[0] == '\0' ? "Nothing that costs much was found" : "Found", elapsed_s);
    table_print_words("", head, 0, &look, out);
    fprintf(out, "\n%s", found == NULL ? "" : found);
    xclose_memstream(out);
    terminal_draw_over(progress->out, text, &progress->n_lines);
    free(text);
}

int profile_progress_round(void *context, struct live_session *session, struct recorder_link *link, struct err *err)
{
    struct profile_progress *progress = context;
    uint64_t now = session->status.monotonic_ns;
    (void)err;
    if (progress->out == NULL)
        return 0;
    if (link == NULL) {
        wipe(progress);
        return 0;
    }
    if (progress->begin_ns == 0) {
        progress->begin_ns = now;
        progress->next_ns = now + FIRST_NS;
    }
    if (!progress->is_reading && now >= progress->next_ns)
        start(progress);
    if (!progress->is_reading || !atomic_load(&progress->is_read))
        return 0;
    char *found = join(progress);
    progress->next_ns = next_ns(progress, session);
    draw(progress, found, (double)(now - progress->begin_ns) / 1e9);
    free(found);
    return 0;
}
