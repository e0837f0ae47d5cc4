/*
 * What is done with a file of a recording when it is closed: it is brought to the disk, gets its name, and its totals
 * go to Prometheus.  A thread of its own does it, one file after the other, as a disk may take seconds, and the rings
 * are to be emptied meanwhile.
 */
#ifndef CMD_RECORD_FINISH_H
#define CMD_RECORD_FINISH_H

#include "cmd/metrics_file.h"

#include <pthread.h>

struct finish_job; /* a file */

struct record_finish {
    const char *metrics;        /* a file for Prometheus; NULL: none; borrowed */
    struct metrics_file totals; /* the thread's, once it is there */
    void *context;              /* borrowed; of this: it has its name now; on the thread */
    void (*finished)(void *context);
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct finish_job *first, **last; /* owned */
    uint64_t n_lost;                  /* files that could not be written */
    bool is_open, has_thread, is_over;
};

/* labels: of the metrics; borrowed.  Returns 0, or -1 with *err set; record_finish_close is needed then, too. */
int record_finish_open(struct record_finish *finish, const struct options_list *labels, struct err *err);

/* A file is closed: part is to become path.  What goes wrong is said on stderr. */
void record_finish_file(struct record_finish *finish, const char *part, const char *path);
void record_finish_lost(struct record_finish *finish);

/* Waits until all is done. */
void record_finish_close(struct record_finish *finish);

#endif
