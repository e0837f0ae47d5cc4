/*
 * A recording that goes on in a file after the other: what they are called, and how many stay.
 */
#ifndef CMD_RECORD_FILES_H
#define CMD_RECORD_FILES_H

#include "cmd/record_finish.h"
#include "cmd/recording.h"

#include <regex.h>

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

#endif
