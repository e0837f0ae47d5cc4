#include "core/jvm/obstacle.h"

#include "core/jvm/jvm_root.h"
#include "core/jvm/kind.h"
#include "core/jvm/maps.h"

#include <fcntl.h>
#include <sys/stat.h>

bool jvm_listens(const struct jvm_process *process)
{
    char path[40];
    struct stat status;
    struct jvm_root root;
    snprintf(path, sizeof path, "/tmp/.java_pid%d", (int)process->inner_pid);
    int found = jvm_root_open(&root, process->pid) < 0 ? -1 : jvm_root_find(&root, path, O_NOFOLLOW);
    bool is_socket = found >= 0 && fstat(found, &status) == 0 && S_ISSOCK(status.st_mode);
    if (found >= 0)
        close(found);
    jvm_root_close(&root);
    return is_socket;
}

bool jvm_is_on_musl(pid_t pid)
{
    struct jvm_mapped mapped;
    return jvm_mapped_find(pid, "/ld-musl-", &mapped) > 0;
}

static bool is_in_laboratory(pid_t pid)
{
    struct jvm_mapped mapped;
    return jvm_mapped_find(pid, "/libmmprof-lab-agent.so", &mapped) > 0;
}

enum jvm_obstacle jvm_obstacle_find(const struct jvm_process *process, const struct jvm_flags *flags,
                                    const struct jvm_release *release)
{
    struct jvm_kind kind = { .is_openj9 = false };
    if (process->user.uid != geteuid() && geteuid() != 0)
        return JVM_OBSTACLE_USER;
    if (jvm_kind_find(process->pid, &kind) == 0 && kind.is_openj9)
        return JVM_OBSTACLE_OPENJ9;
    if (release != NULL && release->is_openj9)
        return JVM_OBSTACLE_OPENJ9;
    if (release != NULL && release->major < JVM_RELEASE_MIN)
        return JVM_OBSTACLE_OLD;
    if (kind.is_musl)
        return JVM_OBSTACLE_MUSL;
    if (is_in_laboratory(process->pid))
        return JVM_OBSTACLE_LAB;
    if (flags->attach_disabled || process->attach_disabled)
        return JVM_OBSTACLE_DISABLED;
    if (flags->late_agents_disabled)
        return JVM_OBSTACLE_AGENTS;
    if (process->is_stopped)
        return JVM_OBSTACLE_STOPPED;
    return process->catches_quit || jvm_listens(process) ? JVM_OBSTACLE_NONE : JVM_OBSTACLE_SIGNAL;
}

int jvm_obstacle_refuse(enum jvm_obstacle obstacle, pid_t pid, struct err *err)
{
    if (obstacle == JVM_OBSTACLE_OPENJ9)
        return jvm_kind_check(&(struct jvm_kind){ .is_openj9 = true }, pid, "", err);
    if (obstacle == JVM_OBSTACLE_OLD) {
        err_set(err, "JVM %d is older than JDK %d, and mmprof does not know its structures", (int)pid, JVM_RELEASE_MIN);
        return err_next(err, "run the program on HotSpot %d or later", JVM_RELEASE_MIN);
    }
    if (obstacle == JVM_OBSTACLE_MUSL) {
        err_set(err, "JVM %d runs on musl libc, and mmprof's agent needs glibc", (int)pid);
        return err_next(err, "run the program in an image with glibc (Debian, Ubuntu, RHEL), not in one of Alpine");
    }
    if (obstacle == JVM_OBSTACLE_LAB) {
        err_set(err, "JVM %d was started by 'mmprof record --simulate', memtrace, placement or jit", (int)pid);
        return err_next(err, "start the program without it, and attach to that JVM");
    }
    return 0;
}

const char *jvm_obstacle_word(enum jvm_obstacle obstacle)
{
    static const char *const words[] = {
        [JVM_OBSTACLE_NONE] = "yes",          [JVM_OBSTACLE_USER] = "other-user",  [JVM_OBSTACLE_OPENJ9] = "openj9",
        [JVM_OBSTACLE_OLD] = "old-jdk",       [JVM_OBSTACLE_MUSL] = "musl",        [JVM_OBSTACLE_LAB] = "lab",
        [JVM_OBSTACLE_DISABLED] = "disabled", [JVM_OBSTACLE_AGENTS] = "no-agents", [JVM_OBSTACLE_STOPPED] = "stopped",
        [JVM_OBSTACLE_SIGNAL] = "no-signal",
    };
    return words[obstacle];
}
