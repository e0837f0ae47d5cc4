#include "core/recorder/recorder.h"

#include "core/base/own_files.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define AGENT_LIBRARY "libmmprof-agent.so"

static int find_library(const char *name, char *path, size_t n, struct err *err)
{
    static const char *const from_mmprof[] = { "", "../lib/mmprof/", "../lib64/mmprof/", NULL };
    static const char *const from_others[] = { "../../", "../../lib/mmprof/", "../../lib64/mmprof/", NULL };
    return own_file_find(&(struct own_places){ from_mmprof, from_others }, name, R_OK, path, n, err);
}

int recorder_find_agent(char *path, size_t n, struct err *err)
{
    return find_library(AGENT_LIBRARY, path, n, err);
}

int recorder_find_lab_agent(char *path, size_t n, struct err *err)
{
    return find_library("libmmprof-lab-agent.so", path, n, err);
}

void recorder_prepare_option(char *text, size_t n)
{
    char found[4096], whole[PATH_MAX];
    const char *path = "/usr/local/lib/mmprof/" AGENT_LIBRARY;
    struct err ignored; /* then it is where 'make install' puts it */
    if (recorder_find_agent(found, sizeof found, &ignored) == 0)
        path = realpath(found, whole) == NULL ? found : whole;
    snprintf(text, n, "-agentpath:%s=prepare", path);
}
