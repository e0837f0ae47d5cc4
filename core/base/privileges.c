#include "core/base/privileges.h"

#include <linux/capability.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#define PERFMON 38 /* CAP_PERFMON: headers before Linux 5.8 have no name for it */

bool privileges_are_of_file(void)
{
    return getauxval(AT_SECURE) != 0;
}

const char *privileges_path(void)
{
    const char *path = secure_getenv("PATH");
    return path == NULL ? "/usr/local/bin:/usr/bin:/bin" : path;
}

/* Root's capabilities come back with each exec, and what they are for is root's own wish. */
static bool is_root(void)
{
    return getuid() == 0;
}

/* Of the permitted capabilities keep a set, one bit each, as effective ones; no command inherits any. */
static int keep(uint64_t kept, struct err *err)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3, .pid = 0 };
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    memset(sets, 0, sizeof sets);
    if (syscall(SYS_capget, &header, sets) < 0)
        return err_set(err, "cannot read the capabilities of this process: %s", strerror(errno));
    bool changes = false;
    for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        changes |= (sets[i].permitted & (uint32_t) ~(kept >> 32 * i)) != 0 || sets[i].inheritable != 0;
        sets[i].permitted &= (uint32_t)(kept >> 32 * i);
        sets[i].effective &= sets[i].permitted;
        sets[i].inheritable = 0;
    }
    /* Ambient capabilities are inheritable ones, and go with them. */
    if (changes && syscall(SYS_capset, &header, sets) < 0)
        return err_set(err, "cannot give up the capabilities of this process: %s", strerror(errno));
    return 0;
}

int privileges_confine(struct err *err)
{
    if (geteuid() != getuid() || getegid() != getgid()) {
        err_set(err, "this file is set-user-ID or set-group-ID: whoever runs it would write files as its owner");
        return err_next(err, "run 'chmod ug-s' on it; use 'sudo mmprof' to profile another user's JVM");
    }
    if (is_root())
        return 0;
    return keep(privileges_are_of_file() ? UINT64_C(1) << PERFMON : UINT64_MAX, err);
}

int privileges_drop(struct err *err)
{
    return is_root() ? 0 : keep(0, err);
}
