#include "core/jvm/obstacle.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

bool jvm_listens(const struct jvm_process *process)
{
    char path[96];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/root/tmp/.java_pid%d", (int)process->pid, (int)process->inner_pid);
    return stat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

bool jvm_is_on_musl(pid_t pid)
{
    char path[4096];
    return jvm_process_maps(pid, "/ld-musl-", path, sizeof path) > 0;
}

enum jvm_obstacle jvm_obstacle_find(const struct jvm_process *process, const struct jvm_flags *flags,
                                    const struct jvm_release *release)
{
    if (process->uid != geteuid() && geteuid() != 0)
        return JVM_OBSTACLE_USER;
    if (release != NULL && release->is_openj9)
        return JVM_OBSTACLE_OPENJ9;
    if (release != NULL && release->major < JVM_RELEASE_MIN)
        return JVM_OBSTACLE_OLD;
    if (jvm_is_on_musl(process->pid))
        return JVM_OBSTACLE_MUSL;
    if (flags->attach_disabled || process->attach_disabled)
        return JVM_OBSTACLE_DISABLED;
    if (flags->late_agents_disabled)
        return JVM_OBSTACLE_AGENTS;
    if (process->is_stopped)
        return JVM_OBSTACLE_STOPPED;
    return process->catches_quit || jvm_listens(process) ? JVM_OBSTACLE_NONE : JVM_OBSTACLE_SIGNAL;
}

const char *jvm_obstacle_word(enum jvm_obstacle obstacle)
{
    static const char *const words[] = {
        [JVM_OBSTACLE_NONE] = "yes",         [JVM_OBSTACLE_USER] = "other-user", [JVM_OBSTACLE_OPENJ9] = "openj9",
        [JVM_OBSTACLE_OLD] = "old-jdk",      [JVM_OBSTACLE_MUSL] = "musl",       [JVM_OBSTACLE_DISABLED] = "disabled",
        [JVM_OBSTACLE_AGENTS] = "no-agents", [JVM_OBSTACLE_STOPPED] = "stopped", [JVM_OBSTACLE_SIGNAL] = "no-signal",
    };
    return words[obstacle];
}
