/* SIGTERM ends a process that hangs with the signal blocked, and leaves one alone that reads it. */
#include "core/base/stop_signals.h"

#include "test/unit/tap.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A process that is sent a signal; returns its status.  One that reads the signals ends by itself, with 7. */
static int status_of(int sent, bool reads)
{
    int ready[2], status = 0;
    sigset_t signals;
    char byte = 0;
    if (pipe(ready) < 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        const struct timespec later = { 1, 0 }, long_time = { 300, 0 };
        struct signalfd_siginfo one;
        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGINT);
        sigprocmask(SIG_BLOCK, &signals, NULL);
        int fd = signalfd(-1, &signals, 0);
        stop_signals_watch(reads ? 60000 : 300);
        if (write(ready[1], &byte, 1) == 1 && reads && read(fd, &one, sizeof one) > 0) {
            nanosleep(&later, NULL);
            _exit(7);
        }
        nanosleep(&long_time, NULL);
        _exit(0);
    }
    if (read(ready[0], &byte, 1) == 1)
        kill(child, sent);
    waitpid(child, &status, 0);
    close(ready[0]);
    close(ready[1]);
    return status;
}

int main(void)
{
    int hung = status_of(SIGTERM, false), read_it = status_of(SIGTERM, true), interrupted = status_of(SIGINT, false);
    CHECK("SIGTERM ends a process that hangs", WIFSIGNALED(hung) && WTERMSIG(hung) == SIGTERM);
    CHECK("Ctrl-C does", WIFSIGNALED(interrupted) && WTERMSIG(interrupted) == SIGINT);
    CHECK("one that takes the signal goes on", WIFEXITED(read_it) && WEXITSTATUS(read_it) == 7);
    return tap_done();
}
