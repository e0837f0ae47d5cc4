#include "cmd/diff_parts.h"
#include "core/base/ticks.h"
#include "core/base/xalloc.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

static double ns_of(struct timeval t)
{
    return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

static int start(const char *command, int out, pid_t *pid, struct err *err)
{
    char *copy = xstrdup(command);
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        out_of_memory();
    char *const argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, copy, NULL };
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
    int why = posix_spawn(pid, "/bin/sh", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    free(copy);
    return why == 0 ? 0 : err_set(err, "cannot start a shell for '%s': %s", command, strerror(why));
}

/* ---- what it printed ---- */

static void add_iteration(struct measured_run *run, const char *line, const regmatch_t *match)
{
    char *end;
    double value = strtod(line + match->rm_so, &end);
    if (match->rm_so < 0 || end == line + match->rm_so || !isfinite(value))
        return;
    run->iterations = xreallocarray(run->iterations, run->n_iterations + 1, sizeof *run->iterations);
    run->iterations[run->n_iterations++] = value;
}

/* Read it all; *last is its last line that is not empty, or NULL; owned. */
static void read_output(FILE *out, const regex_t *iterations, struct measured_run *run, char **last)
{
    char *line = NULL;
    size_t room = 0;
    rewind(out);
    while (getline(&line, &room, out) > 0) {
        regmatch_t matches[2] = { { -1, -1 }, { -1, -1 } };
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0')
            continue;
        free(*last);
        *last = xstrdup(line);
        if (iterations != NULL && regexec(iterations, line, 2, matches, 0) == 0)
            add_iteration(run, line, &matches[1]);
    }
    free(line);
}

static int check_status(const char *command, int status, const char *last, struct err *err)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    err_set(err, "'%s' %s %d%s%.200s", command, WIFSIGNALED(status) ? "was ended by signal" : "failed with status",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), last == NULL ? "" : ": ",
            last == NULL ? "" : last);
    return err_next(err, "run it by itself; it has to succeed each time");
}

int measured_run(const char *command, const regex_t *iterations, struct measured_run *run, struct err *err)
{
    FILE *out = tmpfile();
    char *last = NULL;
    struct rusage usage;
    pid_t pid;
    int status, rc = -1;
    *run = (struct measured_run){ .iterations = NULL };
    if (out == NULL)
        return err_set(err, "cannot keep the output of '%s': %s", command, strerror(errno));
    fcntl(fileno(out), F_SETFD, FD_CLOEXEC);
    double start_ns = (double)clock_ns(CLOCK_MONOTONIC);
    if (start(command, fileno(out), &pid, err) < 0)
        goto out;
    while (wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR) {
            err_set(err, "cannot wait for '%s': %s", command, strerror(errno));
            goto out;
        }
    run->wall_ns = (double)clock_ns(CLOCK_MONOTONIC) - start_ns;
    run->cpu_ns = ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
    read_output(out, iterations, run, &last);
    rc = check_status(command, status, last, err);
out:
    free(last);
    fclose(out);
    if (rc < 0)
        measured_run_free(run);
    return rc;
}

void measured_run_free(struct measured_run *run)
{
    free(run->iterations);
    run->iterations = NULL;
    run->n_iterations = 0;
}
