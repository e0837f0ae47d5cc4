#include "core/jvm/attach.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define START_TIMEOUT_MS  10000 /* for the JVM's attach thread to come up: 4 to 39 ms, longer under load */
#define ANSWER_TIMEOUT_MS 30000 /* for the agent's entry point */
#define LOOK_MS           100   /* for a signal */

/*
 * As the JVM's user: HotSpot asks the kernel who connects, and in a user namespace the machine's root is nobody it
 * knows.  A link is not followed.  Returns 0, or -1 with errno set.
 */
static int connect_as_user(const struct guest *guest, int fd, const char *socket_name)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct jvm_user_before before;
    struct stat status;
    if (jvm_user_become(&before, &guest->user) < 0)
        return -1;
    int rc = fstatat(guest->base, socket_name, &status, AT_SYMLINK_NOFOLLOW);
    if (rc == 0 && !S_ISSOCK(status.st_mode)) {
        rc = -1;
        errno = ECONNREFUSED;
    }
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", guest->base, socket_name);
    if (rc == 0)
        rc = connect(fd, (const struct sockaddr *)&address, sizeof address);
    jvm_user_go_back(&before);
    return rc;
}

/* The descriptor, or -1 with errno set; EACCES: whoever else listens there is not talked to. */
static int connect_to(const struct jvm_process *process, const struct guest *guest, const char *socket_name)
{
    struct ucred who = { 0, 0, 0 };
    socklen_t n = sizeof who;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    int rc = connect_as_user(guest, fd, socket_name);
    if (rc == 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 && who.pid == process->pid)
        return fd;
    int error = rc == 0 ? EACCES : errno;
    close(fd);
    errno = error;
    return -1;
}

/*
 * Nobody listens: the socket is that of a JVM which was killed and had the same process id.  A JVM removes what its own
 * user left there when it starts, not what another user did.  Returns 0, or -1 with *err set.
 */
static int remove_stale(const struct jvm_process *process, const struct guest *guest, const char *socket_name,
                        struct err *err)
{
    if (unlinkat(guest->base, socket_name, 0) == 0 || errno == ENOENT)
        return 0;
    err_set(err, "'/tmp/.java_pid%d' is left from a JVM that was killed, and in the way: %s", (int)process->inner_pid,
            strerror(errno));
    return err_next(err, "remove that file as its owner or as root, then try again");
}

static int not_its_socket(const struct jvm_process *process, struct err *err)
{
    err_set(err, "'/tmp/.java_pid%d' is not the socket of JVM %d", (int)process->inner_pid, (int)process->pid);
    return err_next(err, "see who made that file ('ls -l'), and remove it");
}

/* It accepted the connection, looked who it is, and closed it. */
static int refused_user(const struct jvm_process *process, const struct guest *guest, struct err *err)
{
    if (jvm_process_signal(process, 0, err) < 0)
        return -1;
    err_set(err, "JVM %d lets only its own user attach, and rejects user %lu, group %lu", (int)process->pid,
            (unsigned long)guest->user.uid, (unsigned long)guest->user.gid);
    return err_next(err, "run mmprof as the JVM's user, in its container");
}

static int not_answering(const struct jvm_process *process, struct err *err)
{
    err_set(err, "JVM %d does not answer", (int)process->pid);
    return err_next(err, "see whether it is stopped or hangs ('ps -o stat,cmd %d'), then try again", (int)process->pid);
}

/* Wake the attach thread up and wait for its socket. */
static int wake_up(const struct jvm_process *process, struct guest *guest, const char *socket_name, struct err *err)
{
    char trigger[32];
    const struct timespec pause = { 0, 5000000 };
    struct stat status;
    bool there = false;
    if (!process->catches_quit) {
        err_set(err, "JVM %d does not handle SIGQUIT", (int)process->pid);
        return err_next(err, "if it is just starting, try again; if it was started with -Xrs, start it under mmprof "
                             "instead: mmprof record -- java ...");
    }
    snprintf(trigger, sizeof trigger, ".attach_pid%d", (int)process->inner_pid);
    if (guest_make_trigger(guest, trigger, socket_name, err) < 0)
        return -1;
    if (jvm_process_signal(process, SIGQUIT, err) < 0) {
        guest_remove_trigger(guest, trigger);
        return -1;
    }
    for (int waited = 0; waited < START_TIMEOUT_MS && !there; waited += 5) {
        nanosleep(&pause, NULL);
        there = fstatat(guest->base, socket_name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    }
    if (!there) /* the guest's child removes the file when the JVM has seen it, however late */
        return not_answering(process, err);
    guest_remove_trigger(guest, trigger);
    return 0;
}

/* The recorder reads signals later: until then they are pending. */
static bool is_interrupted(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

static int send_words(int fd, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *at = words[i];
        for (size_t left = strlen(at) + 1; left > 0;) {
            ssize_t sent = send(fd, at, left, MSG_NOSIGNAL);
            if (sent <= 0)
                return -1;
            at += sent;
            left -= (size_t)sent;
        }
    }
    return 0;
}

/* The whole answer, with a closing NUL.  Returns 1, 0 when it is empty, or -1 when time is up. */
static int read_answer(int fd, char answer[JVM_ANSWER_BYTES])
{
    size_t n = 0;
    while (n < JVM_ANSWER_BYTES - 1) {
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        int waited = 0;
        while (poll(&wait, 1, LOOK_MS) <= 0)
            if ((waited += LOOK_MS) >= ANSWER_TIMEOUT_MS || is_interrupted())
                return -1;
        ssize_t got = recv(fd, answer + n, JVM_ANSWER_BYTES - 1 - n, 0);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    answer[n] = '\0';
    return n > 0;
}

/*
 * "0\nreturn code: 0\n", in JDK 8 "0\n0\n", when the library was called; else a text that says why it was not, or in
 * JDK 8 nothing but a status that is not 0.
 */
int jvm_attach_parse(const char *answer, const char *path, int *result, struct err *err)
{
    const char *text = strchr(answer, '\n'), *code = strstr(answer, "return code: ");
    text = text == NULL ? answer : text + 1;
    if (code != NULL || (strncmp(answer, "0\n", 2) == 0 && text[strspn(text, "-0123456789")] == '\n')) {
        *result = atoi(code != NULL ? code + strlen("return code: ") : text);
        return 0;
    }
    err_set(err, "the JVM cannot load '%s': %.*s", path, (int)strcspn(text, "\n"), text);
    if (strstr(text, "Dynamic agent loading") != NULL)
        return err_next(err, "start the JVM without -XX:-EnableDynamicAgentLoading, or under mmprof: "
                             "mmprof record -- java ...");
    return err_next(err, "see that the JVM's user may read that file, and that its libc is not older than mmprof's");
}

/* Send one request and get its answer.  Returns 0, or -1 with *err set. */
static int ask(const struct jvm_process *process, struct guest *guest, const char *const *words, size_t n,
               char answer[JVM_ANSWER_BYTES], struct err *err)
{
    char name[32];
    snprintf(name, sizeof name, ".java_pid%d", (int)process->inner_pid);
    int fd = connect_to(process, guest, name);
    if (fd < 0) {
        if (errno == ECONNREFUSED && remove_stale(process, guest, name, err) < 0)
            return -1;
        if (errno == EACCES)
            return not_its_socket(process, err);
        if (wake_up(process, guest, name, err) < 0)
            return -1;
        fd = connect_to(process, guest, name);
    }
    if (fd < 0)
        return not_answering(process, err);
    send_words(fd, words, n); /* a JVM that has closed it has not answered either */
    int rc = read_answer(fd, answer);
    close(fd);
    if (rc > 0)
        return 0;
    if (is_interrupted())
        return err_set(err, "stopped while JVM %d was attached to: nothing was recorded", (int)process->pid);
    return rc == 0 ? refused_user(process, guest, err) : not_answering(process, err);
}

int jvm_attach_load(const struct jvm_process *process, struct guest *guest, const char *path, const char *options,
                    int *result, struct err *err)
{
    const char *const words[] = { "1", "load", path, "true", options };
    const struct timespec pause = { 0, 50000000 };
    char answer[JVM_ANSWER_BYTES];
    for (int waited = 0;; waited += 50) {
        if (ask(process, guest, words, sizeof words / sizeof *words, answer, err) < 0)
            return -1;
        /* It listens before it has started up (seen with JDK 25). */
        if (strstr(answer, "only permitted in the live phase") == NULL || waited >= START_TIMEOUT_MS)
            return jvm_attach_parse(answer, path, result, err);
        nanosleep(&pause, NULL);
    }
}

int jvm_attach_jcmd(const struct jvm_process *process, struct guest *guest, const char *command,
                    char answer[JVM_ANSWER_BYTES], struct err *err)
{
    const char *const words[] = { "1", "jcmd", command, "", "" };
    return ask(process, guest, words, sizeof words / sizeof *words, answer, err);
}
