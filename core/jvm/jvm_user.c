#include "core/jvm/jvm_user.h"

#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define SAME ((uid_t)-1)

int jvm_user_parse(const char *status, struct jvm_user *user)
{
    const char *uid = strstr(status, "\nUid:"), *gid = strstr(status, "\nGid:"), *groups = strstr(status, "\nGroups:");
    char *rest;
    if (uid == NULL || gid == NULL || groups == NULL)
        return -1;
    /* The real one, then the effective one. */
    strtoul(uid + strlen("\nUid:"), &rest, 10);
    user->uid = (uid_t)strtoul(rest, NULL, 10);
    strtoul(gid + strlen("\nGid:"), &rest, 10);
    user->gid = (gid_t)strtoul(rest, NULL, 10);
    user->n_groups = 0;
    for (const char *at = groups + strlen("\nGroups:");
         user->n_groups < JVM_GROUPS_MAX && (at += strspn(at, "\t "))[0] >= '0' && at[0] <= '9'; at = rest)
        user->groups[user->n_groups++] = (gid_t)strtoul(at, &rest, 10);
    return 0;
}

void jvm_user_name(uid_t uid, char name[JVM_USER_NAME_BYTES])
{
    const struct passwd *user = getpwuid(uid);
    snprintf(name, JVM_USER_NAME_BYTES, "%lu", (unsigned long)uid);
    if (user != NULL)
        snprintf(name, JVM_USER_NAME_BYTES, "%s", user->pw_name);
}

void jvm_user_own(struct jvm_user *user)
{
    user->uid = geteuid();
    user->gid = getegid();
    user->n_groups = 0;
}

/* The calls of libc would change all threads; those of ASan take a lock, which a child may find taken. */
static int set_user(uid_t uid)
{
    return (int)syscall(SYS_setresuid, SAME, uid, SAME);
}

static int set_group(gid_t gid)
{
    return (int)syscall(SYS_setresgid, SAME, gid, SAME);
}

int jvm_user_become(struct jvm_user_before *before, const struct jvm_user *user)
{
    before->uid = geteuid();
    before->is_changed = before->uid == 0 && user->uid != 0;
    if (!before->is_changed)
        return 0;
    before->is_dumpable = (int)syscall(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0); /* lost with each change */
    before->gid = getegid();
    before->n_groups = (int)syscall(SYS_getgroups, JVM_USER_OWN_GROUPS_MAX, before->groups);
    if (before->n_groups >= 0 && syscall(SYS_setgroups, user->n_groups, user->groups) == 0 &&
        set_group(user->gid) == 0 && set_user(user->uid) == 0)
        return 0;
    jvm_user_go_back(before);
    before->is_changed = false;
    return -1;
}

void jvm_user_go_back(const struct jvm_user_before *before)
{
    int error = errno;
    if (!before->is_changed)
        return;
    set_user(before->uid);
    set_group(before->gid);
    if (before->n_groups >= 0)
        syscall(SYS_setgroups, before->n_groups, before->groups);
    syscall(SYS_prctl, PR_SET_DUMPABLE, before->is_dumpable, 0, 0, 0);
    errno = error;
}
