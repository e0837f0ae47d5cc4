/*
 * Run a Java program, and write what CPU time it had used up whenever a line of it has said that an iteration is over
 * ('iteration K of'):
 *
 *     iteration_times FILE COMMAND [ARGUMENT...]
 *     12.034 10.871 0.902 0.310 0.004 0.000
 *
 * Seconds: since the machine's start, as /proc/uptime has it; of CPU time of the whole process; of it in the JIT
 * compilers' threads, the garbage collector's, and the agent's; and of the command that has started the process, where
 * that is mmprof.  Else the process is the command's own: it may be a shell that executes java.  Other lines are
 * passed on.  The status is the command's, or 127 when it could not be started.
 */
#include "test/tools/piped.h"
#include "test/tools/thread_kinds.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct thread_times times;

static double seconds_of(clockid_t clock)
{
    struct timespec t = { 0 };
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The process that mmprof has started; 0 if the process is no mmprof, or has started none yet. */
static pid_t started_by(pid_t pid)
{
    char name[64], child[64];
    read_of(pid, pid, "comm", name, sizeof name);
    if (strcmp(name, "mmprof\n") != 0)
        return 0;
    read_of(pid, pid, "children", child, sizeof child);
    return (pid_t)strtol(child, NULL, 10);
}

static double cpu_seconds(pid_t pid)
{
    clockid_t clock;
    return clock_getcpuclockid(pid, &clock) == 0 ? seconds_of(clock) : 0;
}

/* Until the program has closed its end. */
static void write_times(FILE *out, FILE *in, pid_t pid)
{
    for (char line[4096]; fgets(line, sizeof line, in) != NULL;) {
        if (!ends_iteration(line)) {
            fputs(line, stdout);
            continue;
        }
        pid_t child = started_by(pid), jvm = child != 0 ? child : pid;
        double now = seconds_of(CLOCK_BOOTTIME), all = cpu_seconds(jvm), of[N_KINDS];
        see_threads(&times, jvm, NULL);
        add_up(&times, of);
        fprintf(out, "%.3f %.4f %.4f %.4f %.4f %.4f\n", now, all, of[QUICK_COMPILER] + of[OPTIMIZING_COMPILER],
                of[COLLECTOR], of[AGENT], child != 0 ? cpu_seconds(pid) : 0);
        fflush(out);
    }
}

int main(int argc, char **argv)
{
    int output, status;
    if (argc < 3) {
        fputs("usage: iteration_times FILE COMMAND [ARGUMENT...]\n", stderr);
        return 127;
    }
    FILE *out = fopen(argv[1], "w");
    if (out == NULL)
        fail(argv[1]);
    pid_t child = start_piped(argv + 2, &output);
    FILE *in = fdopen(output, "r");
    if (in == NULL)
        fail("pipe");
    write_times(out, in, child);
    fclose(in);
    fclose(out);
    if (waitpid(child, &status, 0) < 0)
        fail("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
