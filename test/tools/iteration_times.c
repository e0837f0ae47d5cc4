/*
 * Run a Java program, and write what CPU time it had used up whenever a line of it has said that an iteration is over
 * ('iteration K of'):
 *
 *     iteration_times FILE COMMAND [ARGUMENT...]
 *     12.034 10.871 0.902 0.310 0.004
 *
 * Seconds: since the machine's start, as /proc/uptime has it; of CPU time of the whole process; of it in the JIT
 * compilers' threads, the garbage collector's, and the agent's.  The process is the command's own: it may be a shell
 * that executes java.  The lines are not passed on.  The status is the command's, or 127 when it could not be started.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum kind { COMPILERS, COLLECTOR, AGENT, N_KINDS };

/* A thread of one of these kinds, which may have ended since. */
struct thread {
    long tid;
    enum kind kind;
    double seconds;
};

static struct thread threads[4096];
static size_t n_threads;

static double seconds_of(clockid_t clock)
{
    struct timespec t = { 0 };
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* By the name that it begins with; N_KINDS: none of them. */
static enum kind kind_of(const char *name)
{
    static const struct {
        const char *begins;
        enum kind kind;
    } names[] = { { "C1 Comp", COMPILERS },
                  { "C2 Comp", COMPILERS },
                  { "GC", COLLECTOR },
                  { "G1", COLLECTOR },
                  { "mmprof", AGENT } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i].begins, strlen(names[i].begins)) == 0)
            return names[i].kind;
    return N_KINDS;
}

/* The first line of a thread's file; "" if it has ended. */
static void read_of(pid_t pid, long tid, const char *file, char *line, int n_bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%ld/%s", (int)pid, tid, file);
    line[0] = '\0';
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return;
    if (fgets(line, n_bytes, in) == NULL)
        line[0] = '\0';
    fclose(in);
}

static void see_thread(pid_t pid, long tid)
{
    char line[128];
    read_of(pid, tid, "comm", line, sizeof line);
    enum kind kind = kind_of(line);
    if (kind == N_KINDS)
        return;
    read_of(pid, tid, "schedstat", line, sizeof line);
    size_t i = 0;
    while (i < n_threads && threads[i].tid != tid)
        i++;
    if (i == sizeof threads / sizeof *threads || line[0] == '\0')
        return;
    n_threads += i == n_threads;
    threads[i] = (struct thread){ tid, kind, strtod(line, NULL) / 1e9 };
}

static void see_threads(pid_t pid, double seconds[N_KINDS])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    if (tasks != NULL) {
        for (const struct dirent *task; (task = readdir(tasks)) != NULL;)
            if (task->d_name[0] != '.')
                see_thread(pid, strtol(task->d_name, NULL, 10));
        closedir(tasks);
    }
    memset(seconds, 0, N_KINDS * sizeof *seconds);
    for (size_t i = 0; i < n_threads; i++)
        seconds[threads[i].kind] += threads[i].seconds;
}

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(127);
}

/* Its standard output goes into the pipe. */
static pid_t start(char **command, const int ends[2])
{
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child > 0)
        return child;
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

/* Until the program has closed its end. */
static void write_times(FILE *out, FILE *in, pid_t pid)
{
    clockid_t cpu_clock;
    if (clock_getcpuclockid(pid, &cpu_clock) != 0)
        return; /* it has ended */
    for (char line[4096]; fgets(line, sizeof line, in) != NULL;) {
        if (strstr(line, "iteration ") == NULL || strstr(line, " of ") == NULL)
            continue;
        double now = seconds_of(CLOCK_BOOTTIME), all = seconds_of(cpu_clock), of[N_KINDS];
        see_threads(pid, of);
        fprintf(out, "%.3f %.4f %.4f %.4f %.4f\n", now, all, of[COMPILERS], of[COLLECTOR], of[AGENT]);
        fflush(out);
    }
}

int main(int argc, char **argv)
{
    int ends[2], status;
    if (argc < 3) {
        fputs("usage: iteration_times FILE COMMAND [ARGUMENT...]\n", stderr);
        return 127;
    }
    FILE *out = fopen(argv[1], "w");
    if (out == NULL)
        fail(argv[1]);
    if (pipe(ends) != 0)
        fail("pipe");
    pid_t child = start(argv + 2, ends);
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    if (in == NULL)
        fail("pipe");
    write_times(out, in, child);
    fclose(in);
    fclose(out);
    if (waitpid(child, &status, 0) < 0)
        fail("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
