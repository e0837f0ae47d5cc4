#include "core/jvm/attach.h"
#include "core/jvm/guest.h"

#include "test/unit/tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A short directory: a guest's own path has to fit into a socket's address. */
static char place[32] = "/tmp/mmprof-guest-XXXXXX";
static struct err err;

static const char *in_place(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", place, name);
    return path;
}

static bool is_there(const char *name)
{
    struct stat status;
    return lstat(in_place(name), &status) == 0;
}

static bool goes_away(const char *name)
{
    const struct timespec pause = { 0, 10000000 };
    for (int waited = 0; waited < 30000 && is_there(name); waited += 10)
        nanosleep(&pause, NULL);
    return !is_there(name);
}

static bool comes(const char *name)
{
    const struct timespec pause = { 0, 10000000 };
    for (int waited = 0; waited < 30000 && !is_there(name); waited += 10)
        nanosleep(&pause, NULL);
    return is_there(name);
}

static bool put(const struct guest *guest)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_bound = fd >= 0 && guest_bind(guest, fd, &err) == 0;
    if (fd >= 0)
        close(fd);
    return is_bound;
}

static void check_directory(void)
{
    struct guest guest, other;
    struct stat status;
    char theirs[GUEST_PATH_BYTES], name[GUEST_NAME_BYTES], expected[GUEST_PATH_BYTES * 2];
    CHECK("a place is opened", guest_open(&guest, NULL, place, &err) == 0);
    CHECK("and a directory made in it", guest_make_directory(&guest, &err) == 0);
    memcpy(name, guest.directory, sizeof name);
    CHECK("that is private", stat(in_place(name), &status) == 0 && (status.st_mode & 07777) == 0700);
    CHECK("its name is not that of another one", guest_open(&other, NULL, place, &err) == 0 &&
                                                     guest_make_directory(&other, &err) == 0 &&
                                                     strcmp(other.directory, name) != 0);
    CHECK("files can be made in it", put(&guest));
    guest_their_path(&guest, "agent", theirs);
    snprintf(expected, sizeof expected, "%s/%s/agent", place, name);
    CHECK_TEXT("the JVM's path leads to them", theirs, expected);
    guest_close(&guest);
    CHECK("it is removed with them at the end", !is_there(name));
    CHECK("and nobody else's", is_there(other.directory));
    memcpy(name, other.directory, sizeof name);
    guest_close(&other);
    CHECK("until that ends, too", !is_there(name));
}

/* In a child that is killed; says the directory's name through a pipe. */
static _Noreturn void be_killed(int out, const char *trigger)
{
    struct guest guest;
    if (guest_open(&guest, NULL, place, &err) < 0 || guest_make_directory(&guest, &err) < 0 || !put(&guest) ||
        (trigger != NULL && guest_make_trigger(&guest, trigger, "socket", &err) < 0) ||
        write(out, guest.directory, sizeof guest.directory) < 0)
        _exit(1);
    raise(SIGKILL);
    _exit(1);
}

/* Returns whether the child was killed; its directory's name is in name. */
static bool kill_one(const char *trigger, char name[GUEST_NAME_BYTES])
{
    int ends[2], status = 0;
    fflush(stdout);
    if (pipe(ends) < 0)
        return false;
    pid_t child = fork();
    if (child == 0)
        be_killed(ends[1], trigger);
    bool was_killed = waitpid(child, &status, 0) == child && WIFSIGNALED(status);
    bool was_told = was_killed && read(ends[0], name, GUEST_NAME_BYTES) == GUEST_NAME_BYTES;
    close(ends[0]);
    close(ends[1]);
    return was_told;
}

static void check_kill(void)
{
    char name[GUEST_NAME_BYTES];
    CHECK("a process that made a directory is killed", kill_one(NULL, name));
    CHECK("its directory is removed with what is in it", goes_away(name));
    CHECK("one is killed that also made a trigger", kill_one("trigger", name));
    CHECK("its directory is removed", goes_away(name));
    CHECK("the trigger stays until the JVM has seen it", is_there("trigger"));
    int fd = open(in_place("socket"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    close(fd);
    CHECK("which is when it has made its socket: then it is removed", goes_away("trigger"));
    unlink(in_place("socket"));
}

static void leave(const char *directory, const char *name, uid_t owner)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || fchown(fd, owner, (gid_t)owner) < 0)
        printf("# '%s' cannot be made\n", path);
    if (fd >= 0)
        close(fd);
}

/* Somebody else's trigger file, for which the JVM would print a thread dump. */
static void check_others_trigger(void)
{
    struct jvm_process process = { .pid = getpid(),
                                   .user = { .uid = geteuid(), .gid = getegid() },
                                   .same_mounts = true };
    struct guest guest;
    struct stat status;
    char before[200], name[] = ".attach_pid1";
    if (geteuid() != 0) {
        SKIP("another user's trigger file", "it takes root to be two users");
        return;
    }
    CHECK("the JVM has a working directory", getcwd(before, sizeof before) != NULL && chdir(place) == 0);
    leave(place, name, 65534);
    CHECK("another user's trigger file there is replaced by ours",
          guest_open(&guest, &process, place, &err) == 0 && guest_make_trigger(&guest, name, "socket", &err) == 0 &&
              stat(in_place(name), &status) == 0 && status.st_uid == geteuid());
    guest_remove_trigger(&guest, name);
    CHECK("which is removed", !is_there(name));
    CHECK("a directory of that name cannot be", mkdir(in_place(name), 0700) == 0 &&
                                                    chown(in_place(name), 65534, 65534) == 0 &&
                                                    guest_make_trigger(&guest, name, "socket", &err) < 0);
    CHECK("then the error names it and its owner",
          strstr(err.text, "/.attach_pid1' is in the way: it belongs to user '") != NULL);
    CHECK("and the next step",
          strstr(err.text, "\n  next: remove that file as its owner or as root, then try again") != NULL);
    rmdir(in_place(name));
    guest_close(&guest);
    CHECK("back", chdir(before) == 0);
}

/* In a child: a JVM that looks who connects, and closes the connection. */
static _Noreturn void refuse_all(int listener)
{
    for (;;)
        close(accept(listener, NULL, NULL));
}

static void check_refusal(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct guest guest;
    char answer[JVM_ANSWER_BYTES];
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pid_t child = fork();
    if (child == 0) {
        char name[64];
        snprintf(name, sizeof name, ".java_pid%d", (int)getpid());
        snprintf(address.sun_path, sizeof address.sun_path, "%s/made", place);
        if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 4) < 0 ||
            rename(address.sun_path, in_place(name)) < 0)
            _exit(1);
        refuse_all(listener);
    }
    struct jvm_process process = { .pid = child,
                                   .inner_pid = child,
                                   .start_ticks = jvm_process_start_ticks(child),
                                   .user = { .uid = geteuid(), .gid = getegid() },
                                   .same_mounts = true };
    snprintf(address.sun_path, sizeof address.sun_path, ".java_pid%d", (int)child);
    CHECK("a JVM listens", comes(address.sun_path) && guest_open(&guest, &process, place, &err) == 0);
    CHECK("that it refuses this user is an error", jvm_attach_jcmd(&process, &guest, "VM.version", answer, &err) < 0);
    CHECK("with that reason", strstr(err.text, "lets only its own user attach, and rejects user ") != NULL);
    guest_close(&guest);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(listener);
    unlink(in_place(address.sun_path));
}

#define OTHER 65534

static bool is_of(uid_t uid, int directory, const char *name)
{
    struct stat status;
    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_uid == uid;
}

/* The user exchanges the directory for a link to one of root's. */
static void check_exchange(struct guest *guest)
{
    char name[GUEST_NAME_BYTES];
    memcpy(name, guest->directory, sizeof name);
    CHECK("a directory of root's", mkdir(in_place("roots"), 0755) == 0);
    leave(in_place("roots"), GUEST_SOCKET, 0);
    CHECK("is what a link leads to",
          renameat(guest->base, name, guest->base, "away") == 0 && symlinkat("roots", guest->base, name) == 0);
    guest_close(guest);
    CHECK("root removes nothing behind it", is_there("roots/" GUEST_SOCKET) && !is_there("away/" GUEST_SOCKET));
    unlink(in_place("roots/" GUEST_SOCKET));
    rmdir(in_place("roots"));
    rmdir(in_place("away"));
    unlink(in_place(name));
}

/* What root makes for another user's JVM is made with that user's rights, so that nothing has to be given away. */
static void check_rights(void)
{
    struct jvm_process process = { .pid = getpid(), .user = { .uid = OTHER, .gid = OTHER }, .same_mounts = true };
    struct guest guest;
    if (geteuid() != 0) {
        SKIP("root acts as the JVM's user", "it takes root to be two users");
        return;
    }
    CHECK("where only root may write, root makes nothing for a user",
          guest_open(&guest, &process, place, &err) == 0 && guest_make_directory(&guest, &err) < 0 &&
              strstr(err.text, "as its user (65534): Permission denied\n  next: ") != NULL);
    guest_close(&guest);
    CHECK("where that user may write", chmod(place, 01777) == 0 && guest_open(&guest, &process, place, &err) == 0 &&
                                           guest_make_directory(&guest, &err) == 0 && put(&guest) &&
                                           guest_copy_library(&guest, "/proc/self/exe", &err) == 0 &&
                                           guest_make_trigger(&guest, "trigger", "socket", &err) == 0);
    CHECK("all is that user's from the beginning",
          is_of(OTHER, guest.base, guest.directory) && is_of(OTHER, guest.directory_fd, GUEST_SOCKET) &&
              is_of(OTHER, guest.directory_fd, GUEST_LIBRARY) && is_of(OTHER, guest.base, "trigger"));
    CHECK("root is root again", geteuid() == 0 && getegid() == 0 && access("/proc/1/environ", R_OK) == 0);
    guest_remove_trigger(&guest, "trigger");
    check_exchange(&guest);
    chmod(place, 0700);
}

static void check_container(void)
{
    struct jvm_process process = { .pid = getpid(), .same_mounts = false };
    struct guest guest;
    char link[64];
    snprintf(link, sizeof link, "%s/link", place);
    CHECK("a link is made", symlink("/", link) == 0);
    CHECK("a link in a container is not followed", guest_open(&guest, &process, link, &err) < 0);
    guest_close(&guest);
    CHECK("a directory in a container is opened", guest_open(&guest, &process, place, &err) == 0);
    guest_close(&guest);
    CHECK("our own links are followed", guest_open(&guest, NULL, link, &err) == 0);
    guest_close(&guest);
    CHECK("what is not there is an error", guest_open(&guest, NULL, "/no/such", &err) < 0);
    CHECK_TEXT("that says so", err.text,
               "cannot enter '/no/such' of the JVM: No such file or directory\n"
               "  next: make it a directory that the JVM's user may write into");
    guest_close(&guest);
    unlink(link);
}

static void check_library(void)
{
    struct guest guest;
    struct stat status;
    CHECK("a place for a library",
          guest_open(&guest, NULL, place, &err) == 0 && guest_make_directory(&guest, &err) == 0);
    CHECK("a file is copied", guest_copy_library(&guest, "/proc/self/exe", &err) == 0);
    CHECK("that nobody may write", fstatat(guest.directory_fd, GUEST_LIBRARY, &status, 0) == 0 &&
                                       (status.st_mode & 07777) == 0500 && status.st_size > 0);
    CHECK("not over another one", guest_copy_library(&guest, "/proc/self/exe", &err) < 0);
    CHECK("not from nowhere", guest_copy_library(&guest, "/no/such", &err) < 0);
    guest_close(&guest);
}

int main(void)
{
    if (mkdtemp(place) == NULL) {
        SKIP("what is put into a JVM's /tmp", "there is no directory to try it in");
        return tap_done();
    }
    check_directory();
    check_kill();
    check_others_trigger();
    check_refusal();
    check_rights();
    check_container();
    check_library();
    CHECK("nothing is left", rmdir(place) == 0);
    return tap_done();
}
