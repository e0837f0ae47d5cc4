#include "core/jvm/cgroup.h"

#include "core/base/xalloc.h"
#include "core/jvm/process.h"

#define FILE_BYTES (64 << 10)

/* A line of mountinfo, cut into words. */
struct mount {
    char *root, *point, *type, *options;
};

/* Whether a list with commas has the word. */
static bool lists(const char *list, size_t n, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at < list + n; at += strcspn(at, ",:\n") + 1)
        if (strncmp(at, word, length) == 0 && (at + length == list + n || at[length] == ','))
            return true;
    return false;
}

/*
 * Find the path of the group in the text of /proc/PID/cgroup: of the version 1 hierarchy that has the controller, or of
 * version 2, "0::PATH".  Returns NULL when neither is there.
 */
static char *find_path(char *text, const char *controller, bool *is_v2)
{
    char *found = NULL, *rest;
    *is_v2 = false;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char *list = strchr(line, ':'), *path = list == NULL ? NULL : strchr(list + 1, ':');
        if (path == NULL)
            continue;
        if (lists(list + 1, (size_t)(path - list - 1), controller)) {
            *is_v2 = false;
            return path + 1;
        }
        if (strncmp(line, "0::", 3) == 0) {
            *is_v2 = true;
            found = path + 1;
        }
    }
    return found;
}

/* mountinfo writes a blank as \040. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0';) {
        if (at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' && at[2] <= '7' && at[3] >= '0' &&
            at[3] <= '7') {
            *to++ = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
            at += 4;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
}

/* "ID PARENT DEVICE ROOT POINT OPTIONS [TAGS...] - TYPE SOURCE OPTIONS" */
static bool split_mount(char *line, struct mount *mount)
{
    char *separator = strstr(line, " - "), *rest;
    if (separator == NULL)
        return false;
    *separator = '\0';
    for (int i = 0; i < 5; i++) {
        char *word = strtok_r(i == 0 ? line : NULL, " ", &rest);
        if (word == NULL)
            return false;
        *(i == 3 ? &mount->root : &mount->point) = word;
    }
    mount->type = strtok_r(separator + 3, " ", &rest);
    mount->options = strtok_r(NULL, " ", &rest) == NULL ? NULL : strtok_r(NULL, " ", &rest);
    unescape(mount->root);
    unescape(mount->point);
    return mount->options != NULL;
}

/* Where the group is below this mount.  Returns false when the mount does not show it. */
static bool place(const char *root, const struct mount *mount, const char *path, struct cgroup *group)
{
    size_t skip = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
    if (strncmp(path, mount->root, skip) != 0 || (path[skip] != '/' && path[skip] != '\0'))
        return false;
    path += skip;
    if (strncmp(path, "/..", 3) == 0) /* outside of our cgroup namespace */
        return false;
    if (strcmp(path, "/") == 0)
        path = "";
    int n = snprintf(group->path, sizeof group->path, "%s%s%s", root, mount->point, path);
    group->mount_length = strlen(root) + strlen(mount->point);
    return n > 0 && (size_t)n < sizeof group->path && access(group->path, X_OK) == 0;
}

static bool find_mount(const char *root, char *mounts, const char *controller, const char *path, struct cgroup *group)
{
    char *rest;
    for (char *line = strtok_r(mounts, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        struct mount mount;
        if (!split_mount(line, &mount))
            continue;
        bool is_it = group->is_v2
                         ? strcmp(mount.type, "cgroup2") == 0
                         : strcmp(mount.type, "cgroup") == 0 && lists(mount.options, strlen(mount.options), controller);
        if (is_it && place(root, &mount, path, group))
            return true;
    }
    return false;
}

bool cgroup_find(const char *root, pid_t pid, const char *controller, struct cgroup *group)
{
    char name[CGROUP_PATH_BYTES], cgroups[CGROUP_PATH_BYTES * 2], *path = NULL;
    char *mounts = xmalloc(FILE_BYTES);
    if (pid == 0)
        snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
    else
        snprintf(name, sizeof name, "%s/proc/%d/cgroup", root, (int)pid);
    if (jvm_read_file(name, cgroups, sizeof cgroups) > 0)
        path = find_path(cgroups, controller, &group->is_v2);
    snprintf(name, sizeof name, "%s/proc/self/mountinfo", root);
    bool found = path != NULL && jvm_read_file(name, mounts, FILE_BYTES) > 0 &&
                 find_mount(root, mounts, controller, path, group);
    free(mounts);
    return found;
}

bool cgroup_up(struct cgroup *group)
{
    char *slash = strrchr(group->path, '/');
    if (strlen(group->path) <= group->mount_length || slash == NULL)
        return false;
    *slash = '\0';
    return true;
}

static ssize_t read_file(const struct cgroup *group, const char *file, char *text, size_t n)
{
    char path[CGROUP_PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", group->path, file);
    return jvm_read_file(path, text, n);
}

bool cgroup_numbers(const struct cgroup *group, const char *file, uint64_t *numbers, size_t n)
{
    char text[64], *at = text, *end;
    if (read_file(group, file, text, sizeof text) <= 0)
        return false;
    for (size_t i = 0; i < n; i++, at = end) {
        at += strspn(at, " ");
        numbers[i] = strtoull(at, &end, 10);
        if (strncmp(at, "max", 3) == 0)
            end = at + 3;
        /* version 1: as many whole pages as fit into 63 bits, or -1 */
        if (strncmp(at, "max", 3) == 0 || numbers[i] >= UINT64_C(1) << 62)
            numbers[i] = CGROUP_MAX;
        if (end == at)
            return false;
    }
    return true;
}

bool cgroup_number(const struct cgroup *group, const char *file, uint64_t *number)
{
    return cgroup_numbers(group, file, number, 1);
}

size_t cgroup_keys_in(const char *text, const char *const *keys, uint64_t *numbers, size_t n)
{
    size_t n_found = 0;
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, " \n");
        for (size_t i = 0; i < n; i++)
            if (strlen(keys[i]) == length && strncmp(line, keys[i], length) == 0) {
                numbers[i] = strtoull(line + length, NULL, 10);
                n_found++;
            }
    }
    return n_found;
}

size_t cgroup_keys(const struct cgroup *group, const char *file, const char *const *keys, uint64_t *numbers, size_t n)
{
    char text[8192];
    return read_file(group, file, text, sizeof text) <= 0 ? 0 : cgroup_keys_in(text, keys, numbers, n);
}

bool cgroup_keyed(const struct cgroup *group, const char *file, const char *key, uint64_t *number)
{
    return cgroup_keys(group, file, &key, number, 1) == 1;
}
