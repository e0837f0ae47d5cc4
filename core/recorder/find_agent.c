#include "core/recorder/recorder.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AGENT_LIBRARY "libmmprof-agent.so"

int recorder_find_agent(char *path, size_t n, struct err *err)
{
    static const char *const directories[] = { "", "../lib/mmprof/", "../lib64/mmprof/" };
    char self[3072];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return err_set(err, "cannot find this program's own file");
    self[length] = '\0';
    *(strrchr(self, '/') + 1) = '\0';
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        int wrote = snprintf(path, n, "%s%s" AGENT_LIBRARY, self, directories[i]);
        if (wrote > 0 && (size_t)wrote < n && access(path, R_OK) == 0)
            return 0;
    }
    err_set(err, "cannot find '" AGENT_LIBRARY "' beside '%smmprof' or in '%s../lib/mmprof'", self, self);
    return err_next(err, "run 'make' or 'make install' again");
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
