/*
 * The CPU time of a process' threads, by what they are for: by their names (Linux cuts them to 15 characters).
 */
#ifndef TEST_TOOLS_THREAD_KINDS_H
#define TEST_TOOLS_THREAD_KINDS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum kind { OTHERS, QUICK_COMPILER, OPTIMIZING_COMPILER, COLLECTOR, AGENT, RECORDER, N_KINDS };

/* A thread, which may have ended since. */
struct thread {
    long tid;
    enum kind kind;
    double seconds;
};

struct thread_times {
    struct thread all[8192];
    size_t n;
};

/* The first line of a thread's file; "" if it has ended. */
static void read_of(pid_t pid, long tid, const char *file, char *line, int n_bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%ld/%s", (int)pid, tid, file);
    line[0] = '\0';
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return;
    if (fgets(line, n_bytes, in) == NULL)
        line[0] = '\0';
    fclose(in);
}

static enum kind kind_of(const char *name)
{
    static const struct {
        const char *begins;
        enum kind kind;
    } names[] = { { "C1 Comp", QUICK_COMPILER }, { "C2 Comp", OPTIMIZING_COMPILER }, { "GC", COLLECTOR },
                  { "G1", COLLECTOR },           { "mmprof agent", AGENT },          { "mmprof\n", RECORDER } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i].begins, strlen(names[i].begins)) == 0)
            return names[i].kind;
    return OTHERS;
}

/* A thread's name may have changed since the last look: the one that runs java was a shell's, say. */
static void see_thread(struct thread_times *times, pid_t pid, long tid)
{
    char name[128], used[128];
    read_of(pid, tid, "comm", name, sizeof name);
    read_of(pid, tid, "schedstat", used, sizeof used);
    size_t i = 0;
    while (i < times->n && times->all[i].tid != tid)
        i++;
    if (i == sizeof times->all / sizeof *times->all || name[0] == '\0' || used[0] == '\0')
        return;
    times->n += i == times->n;
    times->all[i] = (struct thread){ tid, kind_of(name), strtod(used, NULL) / 1e9 };
}

/* All threads of a process: calls 'each' for them, too, if it is not NULL. */
static void see_threads(struct thread_times *times, pid_t pid, void (*each)(pid_t pid, long tid))
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    if (tasks == NULL)
        return;
    for (const struct dirent *task; (task = readdir(tasks)) != NULL;) {
        long tid = strtol(task->d_name, NULL, 10);
        if (task->d_name[0] == '.')
            continue;
        see_thread(times, pid, tid);
        if (each != NULL)
            each(pid, tid);
    }
    closedir(tasks);
}

/* The seconds of all that were seen, as they were last. */
static void add_up(const struct thread_times *times, double seconds[N_KINDS])
{
    memset(seconds, 0, N_KINDS * sizeof *seconds);
    for (size_t i = 0; i < times->n; i++)
        seconds[times->all[i].kind] += times->all[i].seconds;
}

#endif
