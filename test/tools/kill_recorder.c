/*
 * Kills a recorder and watches what the JVM's probes do from then on, in the shared memory, until the JVM has let go
 * of it (or ended):
 *
 *     kill_recorder PID_OF_MMPROF PID_OF_JVM
 *     STAGE attaching|recording LAST_MS 3.1 AFTER 1042 GONE_MS 412.0
 *
 * LAST_MS: how long after the kill the last record was written, or the last call counted as lost; AFTER: how many of
 * both there were; GONE_MS: when the memory was let go, -1 if it was not within 60 s.
 */
#include "core/wire/ring.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MEMORY_NAME "memfd:mmprof-records"
#define WATCH_MS    60000.0

/* A descriptor for the recorder's shared memory, or -1: it has none yet. */
static int open_memory(const char *pid)
{
    char path[300], target[300];
    int fd = -1;
    snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
    DIR *files = opendir(path);
    for (const struct dirent *entry; files != NULL && fd < 0 && (entry = readdir(files)) != NULL;) {
        snprintf(path, sizeof path, "/proc/%.20s/fd/%.250s", pid, entry->d_name);
        ssize_t n = readlink(path, target, sizeof target - 1);
        target[n < 0 ? 0 : n] = '\0';
        if (strstr(target, MEMORY_NAME) != NULL)
            fd = open(path, O_RDWR | O_CLOEXEC);
    }
    if (files != NULL)
        closedir(files);
    return fd;
}

/* At *segment, for as long as this process lives.  Returns whether there is one. */
static bool map_memory(int fd, struct segment **segment)
{
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0 || status.st_size < (off_t)sizeof(struct segment))
        return false;
    void *at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
    *segment = at;
    return at != MAP_FAILED && (*segment)->magic == SEGMENT_MAGIC;
}

static bool jvm_has(const char *pid, int fd)
{
    struct stat status;
    char path[64], inode[32], *line = NULL;
    size_t size = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%.20s/maps", pid);
    FILE *maps = fopen(path, "re");
    if (maps == NULL || fstat(fd, &status) < 0)
        return false;
    snprintf(inode, sizeof inode, " %" PRIu64 " ", (uint64_t)status.st_ino);
    while (!found && getline(&line, &size, maps) > 0)
        found = strstr(line, MEMORY_NAME) != NULL && strstr(line, inode) != NULL;
    free(line);
    fclose(maps);
    return found;
}

/* The words written and the calls lost so far. */
static uint64_t written(struct segment *segment)
{
    uint64_t sum = atomic_load(&segment->n_lost_no_ring);
    for (uint32_t i = 0; i < segment->n_rings && i < atomic_load(&segment->n_rings_seen); i++)
        sum += atomic_load(&segment_ring(segment, i)->head) + atomic_load(&segment_ring(segment, i)->n_lost);
    return sum;
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    const struct timespec pause = { 0, 1000000 };
    struct segment *segment = NULL;
    if (argc != 3)
        return 2;
    int fd = open_memory(argv[1]);
    bool is_there = map_memory(fd, &segment) && jvm_has(argv[2], fd);
    if (kill((pid_t)atoi(argv[1]), SIGKILL) < 0)
        return 1;
    double start = now_ms(), last_ms = 0, gone_ms = is_there ? -1 : 0;
    uint64_t first = is_there ? written(segment) : 0, before = first;
    while (is_there && gone_ms < 0 && now_ms() - start < WATCH_MS) {
        nanosleep(&pause, NULL);
        uint64_t after = written(segment);
        double at_ms = now_ms() - start;
        last_ms = after != before ? at_ms : last_ms;
        before = after;
        gone_ms = jvm_has(argv[2], fd) ? -1 : at_ms;
    }
    printf("STAGE %s LAST_MS %.1f AFTER %" PRIu64 " GONE_MS %.1f\n", is_there ? "recording" : "attaching", last_ms,
           before - first, gone_ms);
    return 0;
}
