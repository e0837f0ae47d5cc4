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

/* Until the program has closed its end. */
static void write_times(FILE *out, FILE *in, pid_t pid)
{
    clockid_t cpu_clock;
    if (clock_getcpuclockid(pid, &cpu_clock) != 0)
        return; /* it has ended */
    for (char line[4096]; fgets(line, sizeof line, in) != NULL;) {
        if (!ends_iteration(line))
            continue;
        double now = seconds_of(CLOCK_BOOTTIME), all = seconds_of(cpu_clock), of[N_KINDS];
        see_threads(&times, pid, NULL);
        add_up(&times, of);
        fprintf(out, "%.3f %.4f %.4f %.4f %.4f\n", now, all, of[QUICK_COMPILER] + of[OPTIMIZING_COMPILER],
                of[COLLECTOR], of[AGENT]);
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
