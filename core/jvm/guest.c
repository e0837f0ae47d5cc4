#include "core/jvm/guest.h"

#include "core/jvm/jvm_root.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

/* For the JVM to see the trigger: one that is late, since it was stopped, would print a thread dump without it. */
#define TRIGGER_TIMEOUT_MS 600000
#define NAME_ROOM          128

/* ---- removing ---- */

/* Only what is in the directory itself: nobody's link leads anywhere else.  It takes no descriptor: there may be none.
 */
static void remove_files(int directory)
{
    unlinkat(directory, GUEST_SOCKET, 0);
    unlinkat(directory, GUEST_LIBRARY, 0);
}

static void remove_directory(int base, const char *name)
{
    int directory = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0)
        return;
    remove_files(directory);
    close(directory);
    unlinkat(base, name, AT_REMOVEDIR);
}

/* ---- the child that removes what a killed process left ---- */

/* One write(2) each. */
struct message {
    enum { LEFT_DIRECTORY, LEFT_TRIGGER, LEFT_NOTHING } what;
    char name[NAME_ROOM], socket[NAME_ROOM]; /* a trigger's socket */
};

struct left {
    char directory[NAME_ROOM], trigger[NAME_ROOM], socket[NAME_ROOM];
};

/*
 * Returns whether more may come.  Between fork and the end of a child that nobody needed, nothing may take a lock:
 * another thread may have had it.
 */
static bool take_message(struct message *message, struct left *left)
{
    message->name[NAME_ROOM - 1] = message->socket[NAME_ROOM - 1] = '\0';
    if (message->what == LEFT_NOTHING) {
        left->directory[0] = left->trigger[0] = '\0';
        return false;
    }
    bool is_directory = message->what == LEFT_DIRECTORY;
    memcpy(is_directory ? left->directory : left->trigger, message->name, NAME_ROOM);
    if (!is_directory)
        memcpy(left->socket, message->socket, NAME_ROOM);
    return true;
}

/* jvm: a descriptor of the process, or -1: none, or an old kernel's. */
static bool has_ended(pid_t pid, int jvm)
{
    struct pollfd end = { .fd = jvm, .events = POLLIN };
    return jvm >= 0 ? poll(&end, 1, 0) > 0 : pid != 0 && kill(pid, 0) != 0;
}

static void remove_trigger(const struct guest *guest, const struct left *left, int jvm)
{
    const struct timespec pause = { 0, 10000000 };
    for (int waited = 0;
         waited < TRIGGER_TIMEOUT_MS && faccessat(guest->base, left->socket, F_OK, AT_SYMLINK_NOFOLLOW) != 0 &&
         !has_ended(guest->pid, jvm);
         waited += 10)
        nanosleep(&pause, NULL);
    unlinkat(guest->base, left->trigger, 0);
}

/* All but two descriptors are closed: whoever waits for the end of our output must not wait for this child. */
static void keep_only(int a, int b)
{
    unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);
    if (low > 0)
        syscall(SYS_close_range, 0u, low - 1, 0u);
    if (high > low + 1)
        syscall(SYS_close_range, low + 1, high - 1, 0u);
    syscall(SYS_close_range, high + 1, ~0u, 0u);
}

static _Noreturn void guard(const struct guest *guest, int pipe_fd)
{
    struct jvm_user_before before;
    struct message message;
    struct left left = { "", "", "" };
    bool is_needed = true;
    setsid();                                        /* a Ctrl-C is not for us */
    syscall(SYS_prctl, PR_SET_NAME, "mmprof-guard"); /* ASan's prctl takes a lock */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    keep_only(guest->base, pipe_fd);
    int jvm = guest->pid == 0 ? -1 : (int)syscall(SYS_pidfd_open, guest->pid, 0);
    if (jvm_user_become(&before, &guest->user) < 0)
        _exit(1);
    while (is_needed && read(pipe_fd, &message, sizeof message) == (ssize_t)sizeof message)
        is_needed = take_message(&message, &left);
    if (left.directory[0] != '\0')
        remove_directory(guest->base, left.directory);
    if (left.trigger[0] != '\0')
        remove_trigger(guest, &left, jvm);
    _exit(0);
}

/* Without a child, only what is left after a kill stays. */
static void start_guard(struct guest *guest)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    guest->guard_pid = fork();
    if (guest->guard_pid == 0) {
        close(ends[1]);
        guard(guest, ends[0]);
    }
    close(ends[0]);
    guest->guard_fd = ends[1];
    if (guest->guard_pid > 0)
        return;
    close(ends[1]);
    guest->guard_fd = -1;
}

static void tell_guard(const struct guest *guest, const struct message *message)
{
    if (guest->guard_fd >= 0 && write(guest->guard_fd, message, sizeof *message) < 0)
        errno = 0; /* it was killed itself */
}

static void end_guard(struct guest *guest)
{
    if (guest->guard_fd < 0)
        return;
    if (!guest->has_trigger)
        tell_guard(guest, &(const struct message){ .what = LEFT_NOTHING });
    close(guest->guard_fd);
    guest->guard_fd = -1;
    if (!guest->has_trigger) /* else the child stays until the JVM has seen it */
        waitpid(guest->guard_pid, NULL, 0);
}

/* ---- the directory ---- */

/* In a container or chroot a link is not followed: its user may have put it there, and root writes into what is opened.
 */
static int open_base(const struct jvm_process *process, const char *path)
{
    struct jvm_root root;
    if (process == NULL || process->same_mounts)
        return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = jvm_root_open(&root, process->pid) < 0 ? -1 : jvm_root_find(&root, path, O_DIRECTORY | O_NOFOLLOW),
        error = errno;
    jvm_root_close(&root);
    errno = error;
    return fd;
}

static int check_user(const struct jvm_user *user, struct err *err)
{
    char name[JVM_USER_NAME_BYTES];
    struct jvm_user_before before;
    if (jvm_user_become(&before, user) == 0) {
        jvm_user_go_back(&before);
        return 0;
    }
    int why = errno;
    jvm_user_name(user->uid, name);
    err_set(err, "root cannot act as the JVM's user '%s': %s", name, strerror(why));
    return err_next(err, "run mmprof as that user, or with CAP_SETUID and CAP_SETGID");
}

int guest_open(struct guest *guest, const struct jvm_process *process, const char *path, struct err *err)
{
    const struct guest none = GUEST_NONE;
    *guest = none;
    snprintf(guest->path, sizeof guest->path, "%s", path);
    guest->pid = process == NULL ? 0 : process->pid;
    if (process == NULL)
        jvm_user_own(&guest->user);
    else
        guest->user = process->user;
    if (check_user(&guest->user, err) < 0)
        return -1;
    guest->base = open_base(process, path);
    if (guest->base < 0) {
        err_set(err, "cannot enter '%s' of the JVM: %s", path, strerror(errno));
        return err_next(err, "make it a directory that the JVM's user may write into");
    }
    start_guard(guest);
    return 0;
}

static int make_name(char name[GUEST_NAME_BYTES])
{
    uint64_t random[2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return -1;
    snprintf(name, GUEST_NAME_BYTES, ".mmprof-%016llx%016llx", (unsigned long long)random[0],
             (unsigned long long)random[1]);
    return 0;
}

/* In a directory of the JVM's user anything may be exchanged at any time: by no more than that user's own rights. */
static int make_directory(struct guest *guest, const char *name)
{
    struct jvm_user_before before;
    if (jvm_user_become(&before, &guest->user) < 0)
        return -1;
    int rc = mkdirat(guest->base, name, 0700);
    if (rc == 0)
        guest->directory_fd = openat(guest->base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    jvm_user_go_back(&before);
    return rc < 0 || guest->directory_fd < 0 ? -1 : 0;
}

int guest_make_directory(struct guest *guest, struct err *err)
{
    if (make_name(guest->directory) < 0) {
        guest->directory[0] = '\0';
        return err_set(err, "cannot make a random name: %s", strerror(errno));
    }
    struct message message = { .what = LEFT_DIRECTORY };
    memcpy(message.name, guest->directory, sizeof guest->directory);
    tell_guard(guest, &message);
    if (make_directory(guest, guest->directory) == 0)
        return 0;
    err_set(err, "cannot make a directory in '%s' of the JVM as its user (%lu): %s", guest->path,
            (unsigned long)guest->user.uid, strerror(errno));
    return err_next(err, "make it writable for the JVM's user");
}

int guest_bind(const struct guest *guest, int socket, struct err *err)
{
    struct jvm_user_before before;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" GUEST_SOCKET, guest->directory_fd);
    int rc = jvm_user_become(&before, &guest->user);
    if (rc == 0) {
        rc = bind(socket, (struct sockaddr *)&address, sizeof address);
        jvm_user_go_back(&before);
    }
    return rc == 0 ? 0
                   : err_set(err, "cannot make a socket in '%s/%s' of the JVM: %s", guest->path, guest->directory,
                             strerror(errno));
}

void guest_their_path(const struct guest *guest, const char *name, char path[GUEST_PATH_BYTES])
{
    snprintf(path, GUEST_PATH_BYTES, "%.37s/%.44s/%.24s", guest->path, guest->directory, name);
}

/* A new file, as the JVM's user.  Returns a descriptor, or -1 with errno set. */
static int create(const struct guest *guest, int directory, const char *name, mode_t mode)
{
    struct jvm_user_before before;
    if (jvm_user_become(&before, &guest->user) < 0)
        return -1;
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    jvm_user_go_back(&before);
    return fd;
}

/* ---- a library ---- */

static int copy(int from, int to)
{
    char piece[65536];
    ssize_t n;
    while ((n = read(from, piece, sizeof piece)) > 0)
        for (ssize_t done = 0, wrote; done < n; done += wrote)
            if ((wrote = write(to, piece + done, (size_t)(n - done))) <= 0)
                return -1;
    return n < 0 ? -1 : 0;
}

int guest_copy_library(const struct guest *guest, const char *library, struct err *err)
{
    struct statvfs system;
    int rc = -1;
    int from = open(library, O_RDONLY | O_CLOEXEC);
    int to = create(guest, guest->directory_fd, GUEST_LIBRARY, 0500);
    if (from < 0)
        err_set(err, "cannot read '%s': %s", library, strerror(errno));
    else if (to < 0 || fstatvfs(to, &system) < 0 || copy(from, to) < 0)
        err_set(err, "cannot copy the agent's library into '%s' of the JVM: %s", guest->path, strerror(errno));
    else if ((system.f_flag & ST_NOEXEC) != 0)
        err_set(err, "'%s' of the JVM is mounted noexec: no library can be loaded from there", guest->path);
    else
        rc = 0;
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    return rc;
}

/* ---- the trigger, and the end ---- */

/* HotSpot takes a SIGQUIT for an attach only if the file is its own user's or root's; else it prints a thread dump. */
static bool is_accepted(const struct guest *guest, const struct stat *status)
{
    return S_ISREG(status->st_mode) && (status->st_uid == guest->user.uid || status->st_uid == 0);
}

static int in_the_way(const struct stat *status, const char *directory, const char *trigger, struct err *err)
{
    char owner[JVM_USER_NAME_BYTES];
    jvm_user_name(status->st_uid, owner);
    err_set(
        err,
        "'%s/%s' is in the way: it belongs to user '%s', and the JVM would print a thread dump instead of answering",
        directory, trigger, owner);
    return err_next(err, "remove that file as its owner or as root, then try again");
}

/* A file of another user's, left by whoever attached to a process of the same id, goes.  Returns 0, or -1: it does not.
 */
static int clear_way(const struct guest *guest, int at, const char *directory, const char *trigger, struct err *err)
{
    struct stat status;
    if (fstatat(at, trigger, &status, AT_SYMLINK_NOFOLLOW) < 0 || is_accepted(guest, &status) ||
        unlinkat(at, trigger, 0) == 0 || errno == ENOENT)
        return 0;
    return in_the_way(&status, directory, trigger, err);
}

/* HotSpot looks into its working directory before it looks into /tmp, and does not go on from a file that it finds. */
static int clear_working_directory(const struct guest *guest, const char *trigger, struct err *err)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/cwd", (int)guest->pid);
    ssize_t n = guest->pid == 0 ? -1 : readlink(link, path, sizeof path - 1);
    int directory = n <= 0 ? -1 : open(link, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return 0;
    path[n] = '\0';
    int rc = clear_way(guest, directory, path, trigger, err);
    close(directory);
    return rc;
}

/* Ours, or one that is there and does.  Returns 0, or -1 with *err set. */
static int create_trigger(const struct guest *guest, const char *trigger, struct err *err)
{
    struct stat status;
    int fd = create(guest, guest->base, trigger, 0660);
    if (fd < 0 && errno != EEXIST) {
        err_set(err, "cannot create '%s/%s' of the JVM: %s", guest->path, trigger, strerror(errno));
        return err_next(err, "make '%s' of the JVM writable for its user", guest->path);
    }
    if (fd >= 0)
        close(fd);
    if (fstatat(guest->base, trigger, &status, AT_SYMLINK_NOFOLLOW) == 0 && is_accepted(guest, &status))
        return 0;
    if (fd >= 0)
        unlinkat(guest->base, trigger, 0);
    return in_the_way(&status, guest->path, trigger, err);
}

int guest_make_trigger(struct guest *guest, const char *trigger, const char *socket, struct err *err)
{
    struct message message = { .what = LEFT_TRIGGER };
    if (clear_working_directory(guest, trigger, err) < 0 ||
        clear_way(guest, guest->base, guest->path, trigger, err) < 0)
        return -1;
    snprintf(message.name, sizeof message.name, "%s", trigger);
    snprintf(message.socket, sizeof message.socket, "%s", socket);
    tell_guard(guest, &message);
    guest->has_trigger = true;
    if (create_trigger(guest, trigger, err) == 0)
        return 0;
    guest->has_trigger = false;
    return -1;
}

void guest_remove_trigger(struct guest *guest, const char *trigger)
{
    unlinkat(guest->base, trigger, 0);
    guest->has_trigger = false;
}

static void remove_own(const struct guest *guest)
{
    struct jvm_user_before before;
    if (guest->directory[0] == '\0' || jvm_user_become(&before, &guest->user) < 0)
        return;
    if (guest->directory_fd >= 0)
        remove_files(guest->directory_fd);
    unlinkat(guest->base, guest->directory, AT_REMOVEDIR);
    jvm_user_go_back(&before);
}

void guest_remove(struct guest *guest)
{
    remove_own(guest);
    if (guest->directory_fd >= 0)
        close(guest->directory_fd);
    guest->directory_fd = -1;
    guest->directory[0] = '\0';
    end_guard(guest);
}

void guest_close(struct guest *guest)
{
    guest_remove(guest);
    if (guest->base >= 0)
        close(guest->base);
    guest->base = -1;
}
