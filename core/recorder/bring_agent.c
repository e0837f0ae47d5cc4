#include "core/recorder/bring_agent.h"

#include "core/jvm/maps.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where a container may be written to; /tmp is often a file system from which nothing can be loaded (noexec). */
static const char *const directories[] = { "/tmp", "/var/tmp", "/dev/shm", "/run", "/var/run" };

#define N_DIRECTORIES (sizeof directories / sizeof *directories)

/*
 * A second copy would be another library, and find the first one's classes in its way.  The first one's path will do
 * even when its file is gone: the dynamic linker knows what it loaded by name.
 */
static bool find_loaded(const struct jvm_process *process, char *path, size_t n)
{
    struct jvm_mapped mapped;
    struct jvm_root root;
    char made[GUEST_PATH_BYTES];
    if (jvm_mapped_find(process->pid, "/" GUEST_LIBRARY, &mapped) <= 0)
        return false;
    const char *at = jvm_root_open(&root, process->pid) < 0 ? NULL : jvm_root_path(&root, mapped.path);
    jvm_root_close(&root);
    at = at == NULL ? mapped.path : at;
    /* In front of ours there may be where the container's file system is mounted. */
    for (size_t i = 0; i < N_DIRECTORIES; i++) {
        snprintf(made, sizeof made, "%s/.mmprof-", directories[i]);
        const char *ours = strstr(mapped.path, made);
        at = ours != NULL ? ours : at;
    }
    int wrote = snprintf(path, n, "%s", at);
    return wrote > 0 && (size_t)wrote < n;
}

/* May it be loaded from where it is here? */
static bool sees(const struct jvm_process *process, const char *library)
{
    struct jvm_root root;
    int fd = jvm_root_open(&root, process->pid) < 0 ? -1 : jvm_root_file(&root, library);
    if (fd >= 0)
        close(fd);
    jvm_root_close(&root);
    return fd >= 0;
}

static int copy_into(const struct jvm_process *process, const char *directory, const char *library, struct guest *copy,
                     struct err *err)
{
    if (guest_open(copy, process, directory, err) < 0 || guest_make_directory(copy, err) < 0 ||
        guest_copy_library(copy, library, err) < 0) {
        guest_close(copy);
        return -1;
    }
    return 0;
}

static int refuse(const struct jvm_process *process, const struct err *why, struct err *err)
{
    err_set(err, "the agent's library cannot be brought to JVM %d in its container: %.*s", (int)process->pid,
            (int)strcspn(why->text, "\n"), why->text);
    return err_next(err,
                    "give it a directory to write into and load from, such as a tmpfs with the option exec at /tmp");
}

int bring_agent(const struct jvm_process *process, const char *library, struct guest *copy, char *path, size_t n,
                struct err *err)
{
    const struct guest none = GUEST_NONE;
    struct err first = { "" }, why;
    struct jvm_mapped musl;
    *copy = none;
    if (jvm_mapped_find(process->pid, "/ld-musl-", &musl) > 0) {
        err_set(err, "JVM %d runs on musl libc ('%.200s'), and the agent needs glibc", (int)process->pid, musl.path);
        return err_next(err, "run the program in an image with glibc (Debian, Ubuntu, RHEL), not in one of Alpine");
    }
    if (find_loaded(process, path, n))
        return 0;
    snprintf(path, n, "%s", library);
    if (process->same_mounts)
        return 0;
    for (size_t i = 0; i < N_DIRECTORIES; i++) {
        if (copy_into(process, directories[i], library, copy, &why) == 0) {
            char theirs[GUEST_PATH_BYTES];
            guest_their_path(copy, GUEST_LIBRARY, theirs);
            snprintf(path, n, "%s", theirs);
            return 0;
        }
        first = i == 0 ? why : first;
    }
    return sees(process, library) ? 0 : refuse(process, &first, err);
}
