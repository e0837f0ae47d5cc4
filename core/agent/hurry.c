#include "core/agent/agent.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_OF_ALL (-20)

enum { VM_THREAD, CALLER };

static _Thread_local struct hurry *mine; /* between begin and end */

static bool has_name(const char *tid, const char *name)
{
    char path[64], comm[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.16s/comm", tid);
    FILE *file = fopen(path, "re");
    bool same = file != NULL && fgets(comm, sizeof comm, file) != NULL && strcmp(comm, name) == 0;
    if (file != NULL)
        fclose(file);
    return same;
}

static pid_t find_vm_thread(void)
{
    DIR *tasks = opendir("/proc/self/task");
    pid_t found = 0;
    for (const struct dirent *entry; tasks != NULL && found == 0 && (entry = readdir(tasks)) != NULL;)
        if (has_name(entry->d_name, "VM Thread\n"))
            found = (pid_t)atoi(entry->d_name);
    if (tasks != NULL)
        closedir(tasks);
    return found;
}

static void raise_thread(struct hurry *hurry, size_t which, pid_t tid)
{
    errno = 0;
    int niceness = getpriority(PRIO_PROCESS, (id_t)tid);
    if (tid == 0 || errno != 0 || setpriority(PRIO_PROCESS, (id_t)tid, FIRST_OF_ALL) < 0)
        return;
    hurry->tids[which] = tid;
    hurry->niceness[which] = niceness;
}

void hurry_begin(struct hurry *hurry, uint32_t n_classes)
{
    *hurry = (struct hurry){ .n_left = n_classes };
    mine = hurry;
    raise_thread(hurry, VM_THREAD, find_vm_thread());
}

void hurry_class_shown(void)
{
    if (mine != NULL && mine->n_left > 0 && --mine->n_left == 0)
        raise_thread(mine, CALLER, (pid_t)syscall(SYS_gettid));
}

void hurry_end(struct hurry *hurry)
{
    for (size_t i = 0; i < 2; i++)
        if (hurry->tids[i] != 0)
            setpriority(PRIO_PROCESS, (id_t)hurry->tids[i], hurry->niceness[i]);
    mine = NULL;
}
