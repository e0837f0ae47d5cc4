/*
 * Root acts as the user of a JVM, so that the kernel refuses what that user may not do, and a JVM in a user namespace
 * sees one of its own users.
 */
#ifndef CORE_JVM_JVM_USER_H
#define CORE_JVM_JVM_USER_H

#include "core/base/std.h"

#define JVM_GROUPS_MAX 64 /* it is taken for a member of no more */

struct jvm_user {
    uid_t uid; /* effective */
    gid_t gid, groups[JVM_GROUPS_MAX];
    size_t n_groups;
};

/* From the text of /proc/PID/status.  Returns 0, or -1: it lacks them. */
int jvm_user_parse(const char *status, struct jvm_user *user);

#define JVM_USER_NAME_BYTES 64

/* A user's name, or number where he has none. */
void jvm_user_name(uid_t uid, char name[JVM_USER_NAME_BYTES]);

/* This process' own. */
void jvm_user_own(struct jvm_user *user);

#define JVM_USER_OWN_GROUPS_MAX 1024

/* Who this thread was before. */
struct jvm_user_before {
    bool is_changed;
    int is_dumpable;
    uid_t uid;
    gid_t gid, groups[JVM_USER_OWN_GROUPS_MAX];
    int n_groups;
};

/*
 * From root to the user, for this thread's next system calls.  Root remains the real user, so that nobody else can send
 * signals to this process.  Anybody else than root stays who he is.  It is safe after a fork.
 *
 * Returns 0, or -1 with errno set: root may not (CAP_SETUID, CAP_SETGID); then all is as before.
 */
int jvm_user_become(struct jvm_user_before *before, const struct jvm_user *user);

/* Back; errno stays. */
void jvm_user_go_back(const struct jvm_user_before *before);

#endif
