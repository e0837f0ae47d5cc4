/*
 * Run a command, and write what CPU time the threads of it and of the processes that it started took, by kind:
 *
 *     thread_times FILE COMMAND [ARGUMENT...]
 *     0.912 4.107 0.377 0.168 0.071 5.520
 *     2.104 3.377 4.630
 *
 * Seconds, of the JIT compilers C1 and C2, the garbage collector, mmprof's agent, mmprof's own process, and all other
 * threads.  They are looked at ten times a second, so that up to a tenth of a second of each thread is missing.  In the
 * second line: what all of them had used up whenever a line of output said that an iteration is over ('iteration K
 * of').  The output is passed on.  The status is the command's, or 127 when it could not be started.
 */
#include "test/tools/piped.h"
#include "test/tools/thread_kinds.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_MS      100
#define ITERATIONS_MAX 4096

static struct thread_times times;

/* The processes that this thread started. */
static void see_children(pid_t pid, long tid)
{
    char line[4096], *at = line, *end;
    read_of(pid, tid, "children", line, sizeof line);
    for (long child; (child = strtol(at, &end, 10)) > 0 && end != at; at = end)
        see_threads(&times, (pid_t)child, see_children);
}

static struct {
    double seconds[ITERATIONS_MAX];
    size_t n;
} iterations;

static double all_seconds(pid_t pid)
{
    double of[N_KINDS], sum = 0;
    see_threads(&times, pid, see_children);
    add_up(&times, of);
    for (int kind = 0; kind < N_KINDS; kind++)
        sum += of[kind];
    return sum;
}

/* A whole line, or the beginning of a long one. */
static void take_line(const char *line, pid_t pid)
{
    if (ends_iteration(line) && iterations.n < ITERATIONS_MAX)
        iterations.seconds[iterations.n++] = all_seconds(pid);
}

/* Pass on what is there.  Returns false at the end. */
static bool pass_on(int from, pid_t pid)
{
    static char line[4096];
    static size_t n;
    char bytes[4096];
    ssize_t got = read(from, bytes, sizeof bytes);
    if (got <= 0)
        return false;
    fwrite(bytes, 1, (size_t)got, stdout);
    for (ssize_t i = 0; i < got; i++) {
        if (n + 1 < sizeof line && bytes[i] != '\n')
            line[n++] = bytes[i];
        if (bytes[i] != '\n')
            continue;
        line[n] = '\0';
        n = 0;
        take_line(line, pid);
    }
    return true;
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Until the command has ended. */
static void watch(pid_t child, int output)
{
    struct pollfd events[2] = { { .fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN },
                                { .fd = output, .events = POLLIN } };
    if (events[0].fd < 0)
        fail("pidfd_open");
    for (uint64_t next_ms = 0; events[0].revents == 0 || events[1].revents != 0;) {
        uint64_t ms = now_ms();
        if (ms >= next_ms) {
            see_threads(&times, child, see_children);
            next_ms = ms + PERIOD_MS;
        }
        poll(events, 2, ms >= next_ms ? 0 : (int)(next_ms - ms));
        if (events[1].revents != 0 && !pass_on(output, child))
            events[1] = (struct pollfd){ .fd = -1 };
    }
}

int main(int argc, char **argv)
{
    int status, output;
    double seconds[N_KINDS];
    if (argc < 3) {
        fputs("usage: thread_times FILE COMMAND [ARGUMENT...]\n", stderr);
        return 127;
    }
    pid_t child = start_piped(argv + 2, &output);
    watch(child, output);
    if (waitpid(child, &status, 0) < 0)
        fail("waitpid");
    FILE *out = fopen(argv[1], "w");
    if (out == NULL)
        fail(argv[1]);
    add_up(&times, seconds);
    fprintf(out, "%.3f %.3f %.3f %.3f %.3f %.3f\n", seconds[QUICK_COMPILER], seconds[OPTIMIZING_COMPILER],
            seconds[COLLECTOR], seconds[AGENT], seconds[RECORDER], seconds[OTHERS]);
    for (size_t i = 0; i < iterations.n; i++)
        fprintf(out, i + 1 < iterations.n ? "%.3f " : "%.3f", iterations.seconds[i]);
    fputc('\n', out);
    fclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
