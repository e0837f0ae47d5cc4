#include "core/jvm/process.h"

#include "core/base/words.h"
#include "core/jvm/kind.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define START_FIELD    22 /* of /proc/PID/stat */
#define THREADS_MAX    1024
#define CHILDREN_BYTES 4096 /* of a thread */
#define FILES_MIN      20   /* a recording's, without its events */

ssize_t jvm_read_file(const char *path, char *text, size_t n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t done = 0;
    ssize_t got;
    while (done < n - 1 && (got = read(fd, text + done, n - 1 - done)) > 0)
        done += (size_t)got;
    close(fd);
    text[done] = '\0';
    return (ssize_t)done;
}

static ssize_t read_proc(pid_t pid, const char *name, char *text, size_t n)
{
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return jvm_read_file(path, text, n);
}

/* The text behind "KEY:" in /proc/PID/status, or "". */
static const char *field(const char *status, const char *key)
{
    const char *line = strstr(status, key);
    return line == NULL ? "" : line + strlen(key);
}

static int read_status(struct jvm_process *process, struct err *err)
{
    char status[8192];
    if (read_proc(process->pid, "status", status, sizeof status) <= 0) {
        err_set(err, "there is no process %d", (int)process->pid);
        return err_next(err, "list the JVMs with 'mmprof ps'");
    }
    long leader = strtol(field(status, "\nTgid:"), NULL, 10);
    if (leader != process->pid) {
        err_set(err, "%d is a thread of process %ld", (int)process->pid, leader);
        return err_next(err, "use -p %ld", leader);
    }
    const char *state = field(status, "\nState:");
    state += strspn(state, " \t");
    process->is_stopped = *state == 'T' || *state == 't';
    char *rest;
    jvm_user_parse(status, &process->user);
    unsigned long long caught = strtoull(field(status, "\nSigCgt:"), NULL, 16);
    process->catches_quit = (caught >> (SIGQUIT - 1) & 1) != 0;
    process->inner_pid = process->pid;
    for (const char *at = field(status, "\nNSpid:"); *at == '\t' || *at == ' '; at = rest)
        process->inner_pid = (pid_t)strtol(at, &rest, 10);
    return 0;
}

uint64_t jvm_process_start_ticks(pid_t pid)
{
    char text[2048];
    const char *at = read_proc(pid, "stat", text, sizeof text) <= 0 ? NULL : strrchr(text, ')');
    for (int number = 2; at != NULL && number < START_FIELD; number++)
        at = strchr(at + 1, ' ');
    return at == NULL ? 0 : strtoull(at, NULL, 10);
}

pid_t jvm_process_inner_pid(pid_t pid)
{
    struct jvm_process process = { .pid = pid };
    struct err ignored;
    return read_status(&process, &ignored) < 0 ? pid : process.inner_pid;
}

pid_t jvm_thread_outer_tid(pid_t pid, pid_t inner_pid, pid_t tid)
{
    char path[96], line[256];
    if (pid == inner_pid || tid == 0)
        return tid;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    pid_t found = tid;
    for (const struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof path, "/proc/%d/task/%.16s/status", (int)pid, entry->d_name);
        FILE *status = fopen(path, "re");
        while (status != NULL && fgets(line, sizeof line, status) != NULL) {
            const char *last = strrchr(line, '\t');
            if (strncmp(line, "NSpid:", 6) == 0 && last != NULL && atoi(last) == tid)
                found = atoi(entry->d_name);
        }
        if (status != NULL)
            fclose(status);
    }
    if (tasks != NULL)
        closedir(tasks);
    return found;
}

static void read_command(struct jvm_process *process)
{
    char words[2 * JVM_COMMAND_BYTES]; /* so that a line that is longer is cut where it is put together */
    ssize_t n = read_proc(process->pid, "cmdline", words, sizeof words);
    process->command[0] = '\0';
    for (ssize_t i = 0; i < n; i += (ssize_t)strlen(words + i) + 1)
        words_append_quoted(process->command, sizeof process->command, words + i);
    process->attach_disabled = strstr(process->command, "-XX:+DisableAttachMechanism") != NULL;
}

static bool is_same_file(pid_t pid, const char *name)
{
    char theirs[64], ours[64];
    struct stat a, b;
    snprintf(theirs, sizeof theirs, "/proc/%d/%s", (int)pid, name);
    snprintf(ours, sizeof ours, "/proc/self/%s", name);
    return stat(ours, &a) == 0 && stat(theirs, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* With the same root directory, a service may still have a /tmp of its own. */
static bool shares_mounts(pid_t pid)
{
    return is_same_file(pid, "root/") && is_same_file(pid, "ns/mnt");
}

int jvm_process_read(pid_t pid, struct jvm_process *process, struct err *err)
{
    memset(process, 0, sizeof *process);
    process->pid = pid;
    process->start_ticks = jvm_process_start_ticks(pid);
    if (read_status(process, err) < 0)
        return -1;
    read_command(process);
    return 0;
}

/* With fewer, the file that is opened last would be blamed. */
static int check_files(struct err *err)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= FILES_MIN)
        return 0;
    err_set(err, "the limit on open files is %llu, and mmprof needs %d", (unsigned long long)limit.rlim_cur, FILES_MIN);
    return err_next(err, "raise the limit with 'ulimit -n' (as root: 'ulimit -Hn' too)");
}

int jvm_process_inspect(pid_t pid, struct jvm_process *process, struct err *err)
{
    if (check_files(err) < 0 || jvm_process_read(pid, process, err) < 0)
        return -1;
    if (process->user.uid != geteuid() && geteuid() != 0) {
        char owner[JVM_USER_NAME_BYTES];
        jvm_user_name(process->user.uid, owner);
        err_set(err, "process %d belongs to user '%s'", (int)pid, owner);
        return err_next(err, "run mmprof as that user or as root");
    }
    struct jvm_kind kind;
    if (jvm_kind_find(pid, &kind) < 0) {
        err_set(err, "cannot read process %d: %s", (int)pid, strerror(errno));
        return err_next(err, "run mmprof as the JVM's user or as root");
    }
    if (jvm_kind_check(&kind, pid, process->command, err) < 0)
        return -1;
    if (process->attach_disabled) {
        err_set(err, "JVM %d does not let anybody attach (-XX:+DisableAttachMechanism)", (int)pid);
        return err_next(err, "start it without that option, or under mmprof: mmprof record -- java ...");
    }
    if (process->is_stopped) {
        err_set(err, "JVM %d is stopped, so it cannot answer", (int)pid);
        return err_next(err, "let it go on ('kill -CONT %d', or detach the debugger), then try again", (int)pid);
    }
    process->same_mounts = shares_mounts(pid);
    return 0;
}

int jvm_process_check_start(const struct jvm_process *process, uint64_t start_ticks, struct err *err)
{
    if (start_ticks == 0 || process->start_ticks == start_ticks)
        return 0;
    err_set(err, "JVM %d has ended, and another process has its number", (int)process->pid);
    return err_next(err, "list the JVMs with 'mmprof ps'");
}

/* It is the process that was looked at, and still handles the signal: it has not become another program. */
static int check_same(const struct jvm_process *process, int signal, struct err *err)
{
    struct jvm_process now = { .pid = process->pid, .start_ticks = jvm_process_start_ticks(process->pid) };
    if (read_status(&now, err) < 0 || jvm_process_check_start(&now, process->start_ticks, err) < 0)
        return -1;
    if (signal != SIGQUIT || now.catches_quit)
        return 0;
    err_set(err, "process %d handles SIGQUIT no longer", (int)process->pid);
    return err_next(err, "see what it is now ('ps -o cmd %d')", (int)process->pid);
}

int jvm_process_signal(const struct jvm_process *process, int signal, struct err *err)
{
    /* What the descriptor is of cannot change after the look. */
    int fd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    if (fd < 0 && errno == ESRCH)
        return err_set(err, "JVM %d has ended", (int)process->pid);
    int rc = check_same(process, signal, err);
    if (rc == 0) {
        rc = fd >= 0 ? (int)syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) : kill(process->pid, signal);
        if (rc < 0)
            err_set(err, "cannot send a signal to JVM %d: %s", (int)process->pid, strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

int jvm_process_threads(pid_t pid, pid_t *tids, int n)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    if (tasks == NULL)
        return -1;
    int count = 0;
    for (const struct dirent *entry = readdir(tasks); entry != NULL; entry = readdir(tasks)) {
        int tid = atoi(entry->d_name);
        if (tid > 0 && count < n)
            tids[count] = tid;
        count += tid > 0;
    }
    closedir(tasks);
    return count;
}

int jvm_process_children(pid_t pid, pid_t *children, int n)
{
    pid_t tids[THREADS_MAX];
    int n_threads = jvm_process_threads(pid, tids, THREADS_MAX), count = 0;
    for (int i = 0; i < n_threads && i < THREADS_MAX; i++) {
        char path[64], text[CHILDREN_BYTES], *at = text, *end;
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)tids[i]);
        if (jvm_read_file(path, text, sizeof text) <= 0)
            continue;
        for (long child; count < n && (child = strtol(at, &end, 10)) > 0; at = end)
            children[count++] = (pid_t)child;
    }
    return count;
}

int jvm_thread_comm(pid_t pid, pid_t tid, char comm[16])
{
    char name[48], text[64];
    snprintf(name, sizeof name, "task/%d/comm", (int)tid);
    if (read_proc(pid, name, text, sizeof text) <= 0)
        return -1;
    text[strcspn(text, "\n")] = '\0';
    snprintf(comm, 16, "%.15s", text);
    return 0;
}

int jvm_process_cpu_ns(pid_t pid, uint64_t *cpu_ns)
{
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) < 0)
        return -1;
    *cpu_ns = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    return 0;
}

int jvm_process_user_ns(pid_t pid, uint64_t *user_ns)
{
    char text[512];
    uint64_t steps;
    const char *end = read_proc(pid, "stat", text, sizeof text) <= 0 ? NULL : strrchr(text, ')');
    if (end == NULL || sscanf(end, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64, &steps) != 1)
        return -1;
    *user_ns = steps * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
    return 0;
}

int jvm_stolen_ns(uint64_t *stolen_ns)
{
    char text[256];
    uint64_t steps;
    if (jvm_read_file("/proc/stat", text, sizeof text) <= 0 ||
        sscanf(text, "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &steps) != 1)
        return -1;
    *stolen_ns = steps * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
    return 0;
}
