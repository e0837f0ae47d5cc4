/* What mmprof record is made of: what it does at the end, the files that it writes, programs that come again. */
#ifndef CMD_RECORD_PARTS_H
#define CMD_RECORD_PARTS_H

#include "cmd/metrics_file.h"
#include "cmd/recording.h"
#include "core/jvm/running.h"

#include <pthread.h>
#include <regex.h>

/*
 * What is done with a file of a recording when it is closed: it is brought to the disk, gets its name, and its totals
 * go to Prometheus.  A thread of its own does it, one file after the other, as a disk may take seconds, and the rings
 * are to be emptied meanwhile.
 */

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

/* A recording that goes on in a file after the other: what they are called, and how many stay. */

struct record_files {
    double every_s;                      /* 0: one file */
    const char *output, *keep, *metrics; /* as the user said; NULL: not given; output: DIR, or DIR/PATTERN */
    struct options_list labels;          /* of the metrics */
    const char *pattern;                 /* of names: cmd/output_file.h */
    char directory[PATH_MAX];
    double keep_s; /* of --keep one of these, or none; 0: not it */
    uint64_t keep_n, keep_bytes;
    bool is_open, quiet;
    regex_t ours; /* the names of all files that this pattern makes on this machine */
    struct record_finish finish;
    struct recorder_files files; /* for the recorder */
};

#define RECORD_FILES_PATTERN "%h-%p-%t.dat"

/*
 * Check the options, and make the directory.  Returns 0, or -1 with *err set; record_files_close is needed then, too,
 * which waits until what is closed has its name.
 */
int record_files_open(struct record_files *files, struct err *err);
void record_files_close(struct record_files *files);

/* A recording that outlives the JVM: it waits for the next one of the same name. */

struct record_follow {
    const char *name; /* as jvm_target_choose takes it; borrowed */
    void *context;    /* borrowed; the first argument of record */
    /* Record a JVM.  *is_over: nothing more is to be recorded.  Returns 0, or -1 with *err set. */
    int (*record)(void *context, const struct jvm_running *jvm, bool *is_over, struct err *err);
};

/*
 * Record a JVM of that name after the other, until a signal comes.  What fails with one is told, and it is tried again;
 * but a first one that has run for a while is to be recorded, or it is an error.  Returns 0, or -1 with *err set.
 */
int record_follow(const struct record_follow *follow, struct err *err);

#endif
