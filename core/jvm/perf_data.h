/*
 * What a HotSpot JVM counts by itself: /tmp/hsperfdata_USER/PID, a file that it keeps mapped and that others read
 * without disturbing it (garbage collections, safepoints, class loading; JDK 8 to 25).
 *
 * The file goes away with the JVM; one that is open can be read to the last.
 */
#ifndef CORE_JVM_PERF_DATA_H
#define CORE_JVM_PERF_DATA_H

#include "core/base/err.h"
#include "core/base/std.h"

#define PERF_DATA_BYTES_MAX ((size_t)1 << 20)

struct perf_data {
    int fd;         /* -1: closed */
    uint8_t *bytes; /* owned: the latest reading */
    size_t n;
};

void perf_data_init(struct perf_data *data);

/*
 * pid        as we see it
 * inner_pid  as the JVM sees itself
 *
 * Returns 0, or -1 with *err set: there is no such file (-XX:-UsePerfData, or another /tmp), or it may not be read.
 */
int perf_data_open(struct perf_data *data, pid_t pid, pid_t inner_pid, struct err *err);
void perf_data_close(struct perf_data *data);

/* Read it anew.  Returns 0, or -1 with *err set. */
int perf_data_read(struct perf_data *data, struct err *err);

/*
 * Read anew only the bytes from begin to end, offsets of the latest reading.  Returns 0, or -1 with *err set; the
 * reading is then as it was.
 */
int perf_data_read_part(struct perf_data *data, size_t begin, size_t end, struct err *err);

/* Of the latest reading: a number, a text (up to its NUL, at most n - 1 bytes).  Return false where there is none. */
bool perf_data_number(const struct perf_data *data, const char *name, uint64_t *value);
bool perf_data_text(const struct perf_data *data, const char *name, char *text, size_t n);

/*
 * Where a number stands in this and later readings; 0: there is none.  And the number at such a offset; false where the
 * reading is too short for it.
 */
size_t perf_data_offset(const struct perf_data *data, const char *name);
bool perf_data_at(const struct perf_data *data, size_t offset, uint64_t *value);

#endif
