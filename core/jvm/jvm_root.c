#include "core/jvm/jvm_root.h"

#include "core/jvm/process.h"

#include <fcntl.h>

static int read_user(struct jvm_root *root, pid_t pid)
{
    char path[40], status[8192];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    if (jvm_read_file(path, status, sizeof status) <= 0)
        return -1;
    errno = ESRCH;
    return jvm_user_parse(status, &root->user);
}

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
    *root = (struct jvm_root){ .fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) };
    jvm_user_own(&root->user);
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
    struct jvm_user_before before;
    if (jvm_user_become(&before, &root->user) < 0)
        return -1;
    int fd = plain_file_find(root->fd, path, flags);
    jvm_user_go_back(&before);
    return fd;
}

int jvm_root_file(const struct jvm_root *root, const char *path)
{
    struct jvm_user_before before;
    if (jvm_user_become(&before, &root->user) < 0)
        return -1;
    int fd = plain_file_open(root->fd, path);
    jvm_user_go_back(&before);
    return fd;
}

const char *jvm_root_path(const struct jvm_root *root, const char *path)
{
    size_t n = strlen(root->prefix);
    return strncmp(path, root->prefix, n) == 0 && path[n] == '/' ? path + n : NULL;
}
