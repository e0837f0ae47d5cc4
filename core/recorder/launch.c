#include "core/recorder/launch.h"

#include "core/wire/protocol.h"
#include "core/jvm/flags.h"
#include "core/jvm/memory_room.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

bool launch_is_java(const char *command)
{
    const char *slash = strrchr(command, '/');
    return strcmp(slash == NULL ? command : slash + 1, "java") == 0;
}

/* Behind what the environment has of them.  Returns 0, or -1: no memory. */
static int put_into_environment(char *const *words, size_t n)
{
    const char *before = getenv("JAVA_TOOL_OPTIONS");
    char *all = strdup(before == NULL ? "" : before);
    for (size_t i = 0; i < n && all != NULL; i++) {
        char *one = all;
        if (asprintf(&all, "%s%s%s", one, *one == '\0' ? "" : " ", words[i]) < 0)
            all = NULL;
        free(one);
    }
    int rc = all == NULL ? -1 : setenv("JAVA_TOOL_OPTIONS", all, 1);
    free(all);
    return rc;
}

/* argv with -agentpath and flags behind the program's name, or with them in the environment; or argv as it is. */
static char **command_words(char *const *argv, const char *agent, const char *options, const char *const *flags)
{
    size_t n = 0, at = 1;
    while (argv[n] != NULL)
        n++;
    char **words = calloc(n + LAUNCH_FLAGS_MAX + 2, sizeof *words);
    if (words == NULL || (agent != NULL && asprintf(&words[at++], "-agentpath:%s=%s", agent, options) < 0))
        return NULL;
    for (; flags != NULL && *flags != NULL && at < LAUNCH_FLAGS_MAX + 2; flags++)
        if ((words[at++] = strdup(*flags)) == NULL)
            return NULL;
    words[0] = argv[0];
    if (at > 1 && !launch_is_java(argv[0])) {
        if (put_into_environment(words + 1, at - 1) < 0)
            return NULL;
        at = 1;
    }
    for (size_t i = 1; i < n; i++)
        words[at++] = argv[i];
    words[at] = NULL;
    return words;
}

/*
 * The command's words behind the emulator's.  Addresses are not randomised then, so that the same program has the same
 * misses again (where the system forbids that, it has about the same).
 */
static char **emulator_words(char **words, const struct launch_emulator *emulator)
{
    const char *first[] = { emulator->path, "-plugin", emulator->plugin, emulator->program };
    size_t n_first = sizeof first / sizeof *first, n = 0;
    while (words[n] != NULL)
        n++;
    char **all = calloc(n_first + n, sizeof *all);
    if (all == NULL)
        return NULL;
    for (size_t i = 0; i < n_first; i++)
        all[i] = strdup(first[i]);
    memcpy(all + n_first, words + 1, (n - 1) * sizeof *all);
    personality(ADDR_NO_RANDOMIZE);
    return all;
}

/* For core/agent/lab/emulate.c.  The pipe is the recorder's, and gone with it.  Returns 0, or -1: no memory. */
static int show_the_way_in(const struct launch_emulator *emulator, pid_t recorder, int turn)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)recorder, turn);
    return setenv(PROTOCOL_EMULATOR, emulator->path, 1) == 0 && setenv(PROTOCOL_PLUGIN, emulator->plugin, 1) == 0 &&
                   setenv(PROTOCOL_TURN, path, 1) == 0
               ? 0
               : -1;
}

/* In the child: wait, then become the command.  Tells errno through the pipe when that fails. */
static _Noreturn void become(int wait_fd, int failed_fd, char **words, const struct launch_emulator *emulator)
{
    char go = 0;
    int why = ENOMEM;
    sigset_t none;
    sigemptyset(&none);
    if (read(wait_fd, &go, 1) != 1)
        _exit(127);
    if (words != NULL && emulator != NULL && emulator->program != NULL)
        words = emulator_words(words, emulator);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    memory_room_restore();
    if (words != NULL) {
        execvp(words[0], words);
        why = errno;
    }
    ssize_t ignored = write(failed_fd, &why, sizeof why);
    (void)ignored;
    _exit(127);
}

/* A pipe with one byte in it.  Returns 0, or -1 with errno set. */
static int make_turn(int *turn)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    ssize_t n = write(ends[1], "t", 1);
    close(ends[1]);
    *turn = ends[0];
    return n == 1 ? 0 : -1;
}

/* HotSpot ends with "CDS dumping does not support native JVMTI agent". */
static int check_archive(char *const *argv, struct err *err)
{
    struct jvm_flags flags;
    jvm_flags_launch(&flags, argv, launch_is_java(argv[0]));
    if (!flags.archive_bars_agents && !flags.may_archive)
        return 0;
    err_set(err, "a JVM that writes a class archive (%s) does not start with an agent",
            flags.archive_bars_agents ? flags.archive : "-XX:+AutoCreateSharedArchive");
    return err_next(err, "remove that option; or start the program without mmprof and take samples only: mmprof "
                         "record --live -p PID");
}

int launch_fork(struct launch *launch, char *const *argv, const char *agent, const char *options,
                const char *const *flags, const struct launch_emulator *emulator, struct err *err)
{
    int go[2], failed[2];
    pid_t recorder = getpid();
    bool is_later = emulator != NULL && emulator->program == NULL;
    launch->go = launch->failed = launch->turn = -1;
    if (agent != NULL && check_archive(argv, err) < 0)
        return -1;
    if (pipe2(go, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0 || (is_later && make_turn(&launch->turn) < 0))
        return err_set(err, "cannot make a pipe: %s", strerror(errno));
    launch->pid = fork();
    if (launch->pid < 0)
        return err_set(err, "cannot start a process: %s", strerror(errno));
    if (launch->pid == 0) {
        close(go[1]);
        char **words = command_words(argv, agent, options, flags);
        if (is_later && show_the_way_in(emulator, recorder, launch->turn) < 0)
            words = NULL;
        become(go[0], failed[1], words, emulator);
    }
    close(go[0]);
    close(failed[1]);
    launch->go = go[1];
    launch->failed = failed[0];
    return 0;
}

int launch_go(struct launch *launch, const char *command, struct err *err)
{
    int why = 0;
    ssize_t n = write(launch->go, "g", 1);
    close(launch->go);
    launch->go = -1;
    if (n == 1)
        n = read(launch->failed, &why, sizeof why);
    close(launch->failed);
    launch->failed = -1;
    if (n == 0)
        return 0;
    waitpid(launch->pid, NULL, 0);
    err_set(err, "cannot run '%s': %s", command, strerror(why));
    return err_next(err, "give the command as you would type it, behind '--'");
}

bool launch_is_waiting(const struct launch *launch)
{
    int n = 0;
    return launch->turn >= 0 && ioctl(launch->turn, FIONREAD, &n) == 0 && n > 0;
}

int launch_status(int wait_status)
{
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

bool launch_wait(pid_t pid, int timeout_ms, int *status)
{
    struct pollfd end = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
    void (*interrupt)(int) = signal(SIGINT, SIG_IGN), (*quit)(int) = signal(SIGQUIT, SIG_IGN);
    bool is_over = end.fd < 0 || poll(&end, 1, timeout_ms) != 0;
    int wait_status = 0;
    while (is_over && waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
        continue;
    signal(SIGINT, interrupt);
    signal(SIGQUIT, quit);
    if (end.fd >= 0)
        close(end.fd);
    *status = launch_status(wait_status);
    return is_over;
}

void launch_end(struct launch *launch)
{
    if (launch->turn >= 0)
        close(launch->turn);
    launch->turn = -1;
    if (launch->go < 0)
        return;
    close(launch->go);
    close(launch->failed);
    launch->go = launch->failed = -1;
    waitpid(launch->pid, NULL, 0);
}

int launch_output_to_error(struct err *err)
{
    int saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    fflush(stdout);
    if (saved >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
        return saved;
    return err_set(err, "cannot direct the standard output: %s", strerror(errno));
}

void launch_output_back(int saved)
{
    dup2(saved, STDOUT_FILENO);
    close(saved);
}
