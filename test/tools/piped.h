/*
 * Run a command, with its standard output in a pipe.
 */
#ifndef TEST_TOOLS_PIPED_H
#define TEST_TOOLS_PIPED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(127);
}

/* Whether a line says that an iteration of a program is over: 'iteration K of N: S s'. */
static int ends_iteration(const char *line)
{
    const char *at = strstr(line, "iteration ");
    return at != NULL && strstr(at, " of ") != NULL;
}

/* Its output is to be read from *output. */
static pid_t start_piped(char **command, int *output)
{
    int ends[2];
    if (pipe(ends) != 0)
        fail("pipe");
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    close(ends[1]);
    *output = ends[0];
    return child;
}

#endif
