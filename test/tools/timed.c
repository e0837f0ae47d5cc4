/*
 * Run a command and append what it took to a file:
 *
 *     timed FILE COMMAND [ARGUMENT...]
 *     SECONDS wall 1.203 user 1.101 system 0.090 PEAK_KB 20480
 *
 * The status is the command's, or 127 when it could not be started.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: timed FILE COMMAND [ARGUMENT...]\n", stderr);
        return 127;
    }
    double start = now_seconds();
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status;
    struct rusage used;
    if (child < 0 || wait4(child, &status, 0, &used) < 0) {
        perror("timed");
        return 127;
    }
    FILE *out = fopen(argv[1], "a");
    if (out == NULL) {
        perror(argv[1]);
        return 127;
    }
    fprintf(out, "SECONDS wall %.3f user %.3f system %.3f PEAK_KB %ld\n", now_seconds() - start,
            seconds_of(used.ru_utime), seconds_of(used.ru_stime), used.ru_maxrss);
    fclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
