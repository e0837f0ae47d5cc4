#include "core/recorder/launch.h"

#include "core/base/privileges.h"
#include "core/base/xalloc.h"
#include "core/wire/protocol.h"
#include "core/jvm/flags.h"
#include "core/jvm/cgroup.h"
#include "core/jvm/process.h"
#include "core/jvm/started.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define ORPHANS_MAX 256
#define LOOK_MS     100

bool launch_find(const char *name, char *path, size_t n)
{
    const char *part = privileges_path();
    if (strchr(name, '/') != NULL)
        return (size_t)snprintf(path, n, "%s", name) < n && access(path, X_OK) == 0;
    while (*part != '\0') {
        size_t length = strcspn(part, ":");
        if ((size_t)snprintf(path, n, "%.*s/%s", (int)length, part, name) < n && access(path, X_OK) == 0)
            return true;
        part += length + (part[length] == ':');
    }
    return false;
}

static bool is_elf(const char *path)
{
    char magic[4] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_it = fd >= 0 && read(fd, magic, sizeof magic) == sizeof magic && memcmp(magic, "\177ELF", 4) == 0;
    if (fd >= 0)
        close(fd);
    return is_it;
}

bool launch_is_java(const char *command, char *path)
{
    char found[PATH_MAX], real[PATH_MAX];
    if (!launch_find(command, found, sizeof found) || realpath(found, real) == NULL ||
        strcmp(strrchr(real, '/'), "/java") != 0 || !is_elf(real))
        return false;
    if (path != NULL)
        memcpy(path, found, strlen(found) + 1);
    return true;
}

/* ---- what the command's processes are told ---- */

static int name_library(const char *agent, char *path, size_t n, struct err *err)
{
    const char *slash = strrchr(agent, '/');
    int length = slash == NULL ? 0 : (int)(slash + 1 - agent);
    if ((size_t)snprintf(path, n, "%.*s" START_JAVA_LIBRARY, length, agent) >= n || access(path, R_OK) < 0) {
        err_set(err, "cannot find '" START_JAVA_LIBRARY "' beside '%s'", agent);
        return err_next(err, "run 'make' or 'make install' again");
    }
    if (strpbrk(path, " :") == NULL)
        return 0;
    err_set(err, "'%s' has a space or a colon, which LD_PRELOAD takes for the end of a name", path);
    return err_next(err, "install mmprof elsewhere; or give java itself as the command");
}

static void put_variable(const char *name, const char *value)
{
    if (setenv(name, value, 1) < 0)
        out_of_memory();
}

/* The library is the last one of LD_PRELOAD. */
static void put_into_environment(const char *library, char *const *words, size_t n, const char *name)
{
    const char *before = getenv(START_JAVA_PRELOAD);
    char *all = xstrdup("");
    for (size_t i = 0; i < n; i++) {
        char *one = all;
        all = xasprintf("%s%s%s", one, *one == '\0' ? "" : "\n", words[i]);
        free(one);
    }
    if (name != NULL)
        put_variable(START_JAVA_NAME, name);
    put_variable(START_JAVA_OPTIONS, all);
    put_variable(START_JAVA_PRELOAD, before == NULL ? library : xasprintf("%s:%s", before, library));
    free(all);
}

/* Its words; with a library, options for its JVMs are in the environment, else behind the program's name. */
static char **command_words(const struct launch_plan *plan, const char *library)
{
    char *const *argv = plan->argv;
    const char *const *flags = plan->agent == NULL ? NULL : plan->flags;
    size_t n = 0, at = 1;
    while (argv[n] != NULL)
        n++;
    char **words = xcalloc(n + LAUNCH_FLAGS_MAX + 2, sizeof *words);
    if (plan->agent != NULL)
        words[at++] = xasprintf("-agentpath:%s=%s", plan->agent, plan->options);
    for (; flags != NULL && *flags != NULL && at < LAUNCH_FLAGS_MAX + 2; flags++)
        words[at++] = xstrdup(*flags);
    words[0] = argv[0];
    if (library != NULL) {
        put_into_environment(library, words + 1, at - 1, plan->name);
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
    char **all = xcalloc(n_first + n, sizeof *all);
    for (size_t i = 0; i < n_first; i++)
        all[i] = xstrdup(first[i]);
    memcpy(all + n_first, words + 1, (n - 1) * sizeof *all);
    personality(ADDR_NO_RANDOMIZE);
    return all;
}

/* For core/agent/lab/emulate.c.  The pipe is the recorder's, and gone with it. */
static void show_the_way_in(const struct launch_emulator *emulator, pid_t recorder, int turn)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)recorder, turn);
    put_variable(PROTOCOL_EMULATOR, emulator->path);
    put_variable(PROTOCOL_PLUGIN, emulator->plugin);
    put_variable(PROTOCOL_TURN, path);
}

/* In the child: wait, then become the command.  Tells errno through the pipe when that fails. */
static _Noreturn void become(int wait_fd, int failed_fd, char **words, const struct launch_emulator *emulator)
{
    char go = 0;
    sigset_t none;
    sigemptyset(&none);
    if (read(wait_fd, &go, 1) != 1)
        _exit(127);
    if (emulator != NULL && emulator->program != NULL)
        words = emulator_words(words, emulator);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    memory_room_restore();
    execvp(words[0], words);
    int why = errno;
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
static int check_archive(char *const *argv, bool is_java, struct err *err)
{
    struct jvm_flags flags;
    jvm_flags_launch(&flags, argv, is_java);
    if (!flags.archive_bars_agents && !flags.may_archive)
        return 0;
    err_set(err, "a JVM that writes a class archive (%s) does not start with an agent",
            flags.archive_bars_agents ? flags.archive : "-XX:+AutoCreateSharedArchive");
    return err_next(err, "remove that option; or start the program without mmprof and take samples only: mmprof "
                         "record --live -p PID");
}

/* In the child. */
static _Noreturn void run(const struct launch *launch, const struct launch_plan *plan, const char *library,
                          pid_t recorder, int wait_fd, int failed_fd)
{
    char **words = command_words(plan, library);
    if (launch->turn >= 0)
        show_the_way_in(plan->emulator, recorder, launch->turn);
    become(wait_fd, failed_fd, words, plan->emulator);
}

int launch_fork(struct launch *launch, const struct launch_plan *plan, struct err *err)
{
    int go[2], failed[2];
    char library[PATH_MAX];
    pid_t recorder = getpid();
    bool is_later = plan->emulator != NULL && plan->emulator->program == NULL;
    bool is_java = launch_is_java(plan->argv[0], NULL), is_told = plan->agent != NULL && !is_java;
    *launch = (struct launch)LAUNCH_NONE;
    if ((plan->agent != NULL && check_archive(plan->argv, is_java, err) < 0) ||
        (is_told && name_library(plan->agent, library, sizeof library, err) < 0))
        return -1;
    if (pipe2(go, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0 || (is_later && make_turn(&launch->turn) < 0))
        return err_set(err, "cannot make a pipe: %s", strerror(errno));
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    launch->pid = fork();
    if (launch->pid < 0)
        return err_set(err, "cannot start a process: %s", strerror(errno));
    if (launch->pid == 0) {
        close(go[1]);
        run(launch, plan, is_told ? library : NULL, recorder, go[0], failed[1]);
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

/* ---- what is left of it ---- */

static void take_usage(struct launch *launch, pid_t pid, const struct rusage *usage)
{
    if (pid != (launch->watched == 0 ? launch->pid : launch->watched))
        return;
    launch->usage = *usage;
    launch->has_usage = true;
}

/* A child of ours that runs our own program is no process of the command: core/jvm/guest.c forks one. */
static bool is_our_program(pid_t pid)
{
    char path[64];
    struct stat theirs, ours;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    return stat(path, &theirs) == 0 && stat("/proc/self/exe", &ours) == 0 && theirs.st_dev == ours.st_dev &&
           theirs.st_ino == ours.st_ino;
}

/* Those whose parent has ended.  Returns whether there are some. */
static bool take_orphans(struct launch *launch)
{
    pid_t children[ORPHANS_MAX];
    struct rusage usage;
    bool is_left = false;
    int n = jvm_process_children(getpid(), children, ORPHANS_MAX);
    for (int i = 0; i < n; i++) {
        if (is_our_program(children[i]))
            continue;
        if (wait4(children[i], NULL, WNOHANG, &usage) == 0)
            is_left = true;
        else
            take_usage(launch, children[i], &usage);
    }
    return is_left || n == ORPHANS_MAX;
}

bool launch_look(struct launch *launch)
{
    struct rusage usage;
    if (launch->pid > 0 && !launch->is_over && wait4(launch->pid, &launch->wait_status, WNOHANG, &usage) > 0) {
        launch->is_over = true;
        take_usage(launch, launch->pid, &usage);
    }
    return !launch->is_over || take_orphans(launch);
}

void launch_wait_for_jvm(struct launch *launch, int *status)
{
    const struct timespec rest = { 0, LOOK_MS * 1000000 };
    bool has_jvm = false;
    while (!launch_wait(launch->pid, LOOK_MS, status))
        has_jvm = has_jvm || jvm_started(getpid(), NULL) != 0;
    launch->is_over = true;
    while (launch_look(launch) && (jvm_started(getpid(), NULL) != 0 || !has_jvm))
        nanosleep(&rest, NULL);
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
