#include "cmd/display.h"

#include "cmd/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#define COLUMNS_USUAL 80
#define COLUMNS_LEAST 40
#define COLUMNS_MOST  1000
#define NOT_FOUND     127 /* of a shell that has no such command */

/* ---- what it is ---- */

static size_t columns_of_output(void)
{
    const char *told = getenv("COLUMNS");
    struct winsize size = { 0, 0, 0, 0 };
    size_t n = told == NULL ? 0 : strtoul(told, NULL, 10);
    if (n == 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        n = size.ws_col;
    n = n == 0 ? COLUMNS_USUAL : n;
    return n < COLUMNS_LEAST ? COLUMNS_LEAST : n > COLUMNS_MOST ? COLUMNS_MOST : n;
}

static int choose_colours(struct display *display, struct err *err)
{
    const char *no_color = getenv("NO_COLOR");
    if (strcmp(display->color, "always") == 0)
        display->look.has_colours = true;
    else if (strcmp(display->color, "auto") == 0)
        display->look.has_colours = terminal_is_one(stdout) && (no_color == NULL || no_color[0] == '\0');
    else if (strcmp(display->color, "never") != 0) {
        err_set(err, "bad value '%s' of option --color", display->color);
        return err_next(err, "give auto, always or never");
    }
    return 0;
}

/* ---- the pager ---- */

/* NULL: none is wanted. */
static const char *pager_command(void)
{
    const char *command = secure_getenv("MMPROF_PAGER");
    if (command == NULL)
        command = secure_getenv("PAGER");
    if (command == NULL)
        return "command -v less > /dev/null && exec less || exec cat";
    return command[0] == '\0' || strcmp(command, "cat") == 0 ? NULL : command;
}

static void run_pager(const char *command, int input)
{
    dup2(input, STDIN_FILENO);
    setenv("LESS", "FRSX", 0);
    setenv("LESSCHARSET", "utf-8", 0);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(NOT_FOUND);
}

/* What cannot be had is done without. */
static void start_pager(struct display *display)
{
    const char *command = pager_command();
    int ends[2];
    if (command == NULL || pipe2(ends, O_CLOEXEC) < 0)
        return;
    fflush(stdout);
    display->before = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    display->pager = display->before < 0 ? -1 : fork();
    if (display->pager == 0)
        run_pager(command, ends[0]);
    if (display->pager > 0) {
        dup2(ends[1], STDOUT_FILENO);
        signal(SIGPIPE, SIG_IGN); /* the user may leave before the end */
        signal(SIGINT, SIG_IGN);  /* a Ctrl-C is the pager's */
    }
    display->pager = display->pager < 0 ? 0 : display->pager;
    close(ends[0]);
    close(ends[1]);
}

int display_open(struct display *display, struct err *err)
{
    if (display->is_open)
        return 0;
    if (choose_colours(display, err) < 0)
        return -1;
    display->is_open = true;
    if (!terminal_is_one(stdout))
        return 0;
    display->look.columns = columns_of_output();
    if (display->pages && !display->no_pager)
        start_pager(display);
    return 0;
}

int display_close(struct display *display, int rc, struct err *err)
{
    int status = 0;
    if (display->pager == 0)
        return rc;
    fflush(stdout);
    clearerr(stdout); /* what a user did not want to see is no error */
    dup2(display->before, STDOUT_FILENO);
    close(display->before);
    while (waitpid(display->pager, &status, 0) < 0 && errno == EINTR)
        continue;
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    display->pager = 0;
    if (rc < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != NOT_FOUND)
        return rc;
    err_set(err, "the pager could not be run: '%s'", pager_command());
    return err_next(err, "set MMPROF_PAGER or PAGER to a program, or to '' for none");
}
