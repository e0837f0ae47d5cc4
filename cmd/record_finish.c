#include "cmd/record_parts.h"

#include "core/base/plain_file.h"
#include "core/base/text.h"
#include "core/base/xalloc.h"

#include <signal.h>
#include <sys/resource.h>

#define NICE 10 /* the thread's */

struct finish_job {
    struct finish_job *next; /* owned */
    char part[PATH_MAX], path[PATH_MAX];
};

/* ---- a file ---- */

static void tell(const char *what, const char *path)
{
    const char *why = strerror(errno);
    fprintf(stderr, "mmprof: cannot %s '", what);
    text_print(stderr, path);
    fprintf(stderr, "': %s\n", why);
}

/* Its bytes come first, and then the name: after a power cut a whole name is a whole file. */
static bool give_name(const char *part, const char *path)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(directory, sizeof directory, "%.*s", slash == NULL ? 1 : (int)(slash - path), slash == NULL ? "." : path);
    if (file_sync(part) < 0) {
        tell("bring to the disk", part);
        return false;
    }
    if (rename(part, path) < 0) {
        tell("rename", part);
        return false;
    }
    if (file_sync(directory[0] == '\0' ? "/" : directory) < 0)
        tell("bring to the disk", directory);
    return true;
}

static void write_metrics(struct record_finish *finish, const char *path, uint64_t n_lost)
{
    struct err err = { "" };
    finish->totals.totals.n_lost = n_lost;
    if (finish->metrics == NULL || (metrics_file_add(&finish->totals, path, false, &err) == 0 &&
                                    metrics_file_write(&finish->totals, finish->metrics, true, &err) == 0))
        return;
    fprintf(stderr, "mmprof: %.*s: the metrics were not updated\n", (int)strcspn(err.text, "\n"), err.text);
}

/* ---- the thread ---- */

/* Returns the next file, which is the caller's, or NULL: there are no more. */
static struct finish_job *take_job(struct record_finish *finish, uint64_t *n_lost)
{
    pthread_mutex_lock(&finish->lock);
    while (finish->first == NULL && !finish->is_over)
        pthread_cond_wait(&finish->changed, &finish->lock);
    struct finish_job *job = finish->first;
    if (job != NULL && (finish->first = job->next) == NULL)
        finish->last = &finish->first;
    *n_lost = finish->n_lost;
    pthread_mutex_unlock(&finish->lock);
    return job;
}

static void *run(void *argument)
{
    struct record_finish *finish = argument;
    uint64_t n_lost;
    setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
    for (struct finish_job *job; (job = take_job(finish, &n_lost)) != NULL; free(job)) {
        if (!give_name(job->part, job->path))
            continue;
        write_metrics(finish, job->path, n_lost);
        finish->finished(finish->context);
    }
    return NULL;
}

/* Signals are the recorder's.  The first file makes it: what starts the JVM has ended its fork then. */
static bool start_thread(struct record_finish *finish)
{
    sigset_t all, before;
    if (finish->has_thread)
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    finish->has_thread = pthread_create(&finish->thread, NULL, run, finish) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return finish->has_thread;
}

/* A file that cannot be written is told before the recording begins; and counters begin at 0. */
static int write_first(struct record_finish *finish, struct err *err)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    finish->totals.totals.start_s = (double)now.tv_sec;
    gethostname(finish->totals.host, sizeof finish->totals.host - 1);
    if (finish->totals.options.host != NULL)
        snprintf(finish->totals.host, sizeof finish->totals.host, "%s", finish->totals.options.host);
    return metrics_file_write(&finish->totals, finish->metrics, true, err);
}

int record_finish_open(struct record_finish *finish, const struct options_list *labels, struct err *err)
{
    finish->last = &finish->first;
    pthread_mutex_init(&finish->lock, NULL);
    pthread_cond_init(&finish->changed, NULL);
    finish->is_open = true;
    if (metrics_file_open(&finish->totals, labels, err) < 0)
        return -1;
    return finish->metrics == NULL ? 0 : write_first(finish, err);
}

void record_finish_file(struct record_finish *finish, const char *part, const char *path)
{
    if (!start_thread(finish)) {
        give_name(part, path);
        return;
    }
    struct finish_job *job = xcalloc(1, sizeof *job);
    snprintf(job->part, sizeof job->part, "%s", part);
    snprintf(job->path, sizeof job->path, "%s", path);
    pthread_mutex_lock(&finish->lock);
    *finish->last = job;
    finish->last = &job->next;
    pthread_cond_signal(&finish->changed);
    pthread_mutex_unlock(&finish->lock);
}

void record_finish_lost(struct record_finish *finish)
{
    pthread_mutex_lock(&finish->lock);
    finish->n_lost++;
    pthread_mutex_unlock(&finish->lock);
}

void record_finish_close(struct record_finish *finish)
{
    if (!finish->is_open)
        return;
    pthread_mutex_lock(&finish->lock);
    finish->is_over = true;
    pthread_cond_signal(&finish->changed);
    pthread_mutex_unlock(&finish->lock);
    if (finish->has_thread)
        pthread_join(finish->thread, NULL);
    pthread_cond_destroy(&finish->changed);
    pthread_mutex_destroy(&finish->lock);
    metrics_file_close(&finish->totals);
    finish->is_open = false;
}
