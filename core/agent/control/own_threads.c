#include "core/agent/control/own_threads.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_name(const char *tid, const char *name)
{
    char path[64], comm[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.16s/comm", tid);
    FILE *file = fopen(path, "re");
    bool same = file != NULL && fgets(comm, sizeof comm, file) != NULL;
    if (file != NULL)
        fclose(file);
    comm[strcspn(comm, "\n")] = '\0';
    return same && strncmp(comm, name, strlen(name)) == 0;
}

size_t own_threads_find(const char *name, pid_t *tids, size_t room)
{
    DIR *tasks = opendir("/proc/self/task");
    size_t n = 0;
    for (const struct dirent *entry; tasks != NULL && n < room && (entry = readdir(tasks)) != NULL;)
        if (has_name(entry->d_name, name))
            tids[n++] = (pid_t)atoi(entry->d_name);
    if (tasks != NULL)
        closedir(tasks);
    return n;
}
