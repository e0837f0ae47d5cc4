#include "core/recorder/recorder.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AGENT_LIBRARY "libmmprof-agent.so"

#define OTHERS "/libexec/mmprof/" /* where the programs are that mmprof starts */

/* From mmprof's folder, and from that of the programs that it starts. */
static const char *const from_mmprof[] = { "", "../lib/mmprof/", "../lib64/mmprof/", NULL };
static const char *const from_others[] = { "../../", "../../lib/mmprof/", "../../lib64/mmprof/", NULL };

static int find_library(const char *name, char *path, size_t n, struct err *err)
{
    char self[3072];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return err_set(err, "cannot find this program's own file");
    self[length] = '\0';
    char *end = strrchr(self, '/') + 1;
    *end = '\0';
    const size_t n_others = strlen(OTHERS);
    bool is_other = (size_t)(end - self) > n_others && strcmp(end - n_others, OTHERS) == 0;
    for (const char *const *place = is_other ? from_others : from_mmprof; *place != NULL; place++) {
        int wrote = snprintf(path, n, "%s%s%s", self, *place, name);
        if (wrote > 0 && (size_t)wrote < n && access(path, R_OK) == 0)
            return 0;
    }
    err_set(err, "cannot find '%s' beside '%smmprof' or in '%s../lib/mmprof'", name, self, self);
    return err_next(err, "run 'make' or 'make install' again");
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
