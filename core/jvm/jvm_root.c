#include "core/jvm/jvm_root.h"

#include "core/jvm/process.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- its user ---- */

#define OWN_GROUPS_MAX 1024

/* Who this thread was. */
struct who {
    bool is_changed;
    int is_dumpable;
    uid_t uid;
    gid_t gid, groups[OWN_GROUPS_MAX];
    int n_groups; /* -1: too many, they stay */
};

/* Of this thread only: setgroups(3) would change all.  Where it is not allowed, the groups stay. */
static void set_groups(const gid_t *groups, size_t n)
{
    syscall(SYS_setgroups, n, groups);
}

/*
 * From root to the process' user for what is opened next; the kernel takes the rights to override file modes away with
 * it.  Anybody else than root stays who he is.
 */
static void become(struct who *who, const struct jvm_root *root)
{
    who->is_changed = geteuid() == 0 && root->uid != 0;
    if (!who->is_changed)
        return;
    who->is_dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); /* lost with each change */
    who->n_groups = getgroups(OWN_GROUPS_MAX, who->groups);
    if (who->n_groups >= 0)
        set_groups(root->groups, root->n_groups);
    who->gid = (gid_t)setfsgid(root->gid);
    who->uid = (uid_t)setfsuid(root->uid);
}

static void go_back(const struct who *who)
{
    int error = errno;
    if (!who->is_changed)
        return;
    setfsuid(who->uid);
    setfsgid(who->gid);
    if (who->n_groups >= 0)
        set_groups(who->groups, (size_t)who->n_groups);
    prctl(PR_SET_DUMPABLE, who->is_dumpable, 0, 0, 0);
    errno = error;
}

/* The last of the four numbers of a line of /proc/PID/status is that for files. */
static unsigned long last_of_four(const char *at)
{
    char *rest = NULL;
    unsigned long number = 0;
    for (int i = 0; i < 4; i++, at = rest)
        number = strtoul(at, &rest, 10);
    return number;
}

static int read_user(struct jvm_root *root, pid_t pid)
{
    char path[40], status[8192];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    if (jvm_read_file(path, status, sizeof status) <= 0)
        return -1;
    const char *uid = strstr(status, "\nUid:"), *gid = strstr(status, "\nGid:"), *groups = strstr(status, "\nGroups:");
    if (uid == NULL || gid == NULL || groups == NULL) {
        errno = ESRCH;
        return -1;
    }
    root->uid = (uid_t)last_of_four(uid + 5);
    root->gid = (gid_t)last_of_four(gid + 5);
    for (const char *at = groups + 8; root->n_groups < JVM_GROUPS_MAX && (at += strspn(at, "\t "))[0] != '\n';) {
        char *rest;
        root->groups[root->n_groups++] = (gid_t)strtoul(at, &rest, 10);
        at = rest;
    }
    return 0;
}

/* ---- its root directory ---- */

int jvm_root_open(struct jvm_root *root, pid_t pid)
{
    char path[40];
    *root = (struct jvm_root)JVM_ROOT_NONE;
    if (read_user(root, pid) < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
    ssize_t n = readlink(path, root->prefix, sizeof root->prefix - 1);
    root->prefix[n > 1 ? n : 0] = '\0';
    root->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return root->fd < 0 ? -1 : 0;
}

int jvm_root_own(struct jvm_root *root)
{
    *root = (struct jvm_root){ .fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), .uid = geteuid() };
    return root->fd < 0 ? -1 : 0;
}

void jvm_root_close(struct jvm_root *root)
{
    if (root->fd >= 0)
        close(root->fd);
    root->fd = -1;
}

int jvm_root_find(const struct jvm_root *root, const char *path, int flags)
{
    struct who who;
    become(&who, root);
    int fd = plain_file_find(root->fd, path, flags);
    go_back(&who);
    return fd;
}

int jvm_root_file(const struct jvm_root *root, const char *path)
{
    struct who who;
    become(&who, root);
    int fd = plain_file_open(root->fd, path);
    go_back(&who);
    return fd;
}

const char *jvm_root_path(const struct jvm_root *root, const char *path)
{
    size_t n = strlen(root->prefix);
    return strncmp(path, root->prefix, n) == 0 && path[n] == '/' ? path + n : NULL;
}
