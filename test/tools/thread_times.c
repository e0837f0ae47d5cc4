/*
 * Run a command, and write what CPU time the threads of it and of the processes that it started took, by kind:
 *
 *     thread_times FILE COMMAND [ARGUMENT...]
 *     0.912 4.107 0.377 0.168 0.071 5.520
 *
 * Seconds, of the JIT compilers C1 and C2, the garbage collector, mmprof's agent, mmprof's own process, and all other
 * threads.  They are looked at ten times a second, so that up to a tenth of a second of each thread is missing.  The
 * status is the command's, or 127 when it could not be started.
 */
#include "test/tools/thread_kinds.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PERIOD_MS 100

static struct thread_times times;

/* The processes that this thread started. */
static void see_children(pid_t pid, long tid)
{
    char line[4096], *at = line, *end;
    read_of(pid, tid, "children", line, sizeof line);
    for (long child; (child = strtol(at, &end, 10)) > 0 && end != at; at = end)
        see_threads(&times, (pid_t)child, see_children);
}

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(127);
}

int main(int argc, char **argv)
{
    int status;
    double seconds[N_KINDS];
    if (argc < 3) {
        fputs("usage: thread_times FILE COMMAND [ARGUMENT...]\n", stderr);
        return 127;
    }
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    struct pollfd ended = { .fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN };
    if (ended.fd < 0)
        fail("pidfd_open");
    while (poll(&ended, 1, PERIOD_MS) == 0)
        see_threads(&times, child, see_children);
    if (waitpid(child, &status, 0) < 0)
        fail("waitpid");
    FILE *out = fopen(argv[1], "w");
    if (out == NULL)
        fail(argv[1]);
    add_up(&times, seconds);
    fprintf(out, "%.3f %.3f %.3f %.3f %.3f %.3f\n", seconds[QUICK_COMPILER], seconds[OPTIMIZING_COMPILER],
            seconds[COLLECTOR], seconds[AGENT], seconds[RECORDER], seconds[OTHERS]);
    fclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
