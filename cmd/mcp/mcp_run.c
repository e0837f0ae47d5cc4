/* A program that runs for a tool: without a shell, with no input, for a limited time; the first of its output is kept.
 */
#include "cmd/mcp/mcp.h"
#include "core/base/xalloc.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define KEPT_BYTES   65536
#define STOP_MOST_MS 15000 /* to end, with the JVM as it was */

int64_t mcp_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* In the child.  It ends with the server, however that ends. */
static void become(const char *path, char *const *argv, int out, int errors, pid_t server)
{
    sigset_t none;
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (getppid() == server && nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(errors, STDERR_FILENO) >= 0)
        execv(path, argv);
    _exit(127);
}

int mcp_run_start(struct mcp_run *run, const char *path, char *const *argv, int seconds, struct err *err)
{
    int out[2], errors[2];
    pid_t server = getpid();
    if (pipe2(out, O_CLOEXEC) < 0)
        return err_set(err, "cannot make a pipe: %s", strerror(errno));
    if (pipe2(errors, O_CLOEXEC) < 0) {
        close(out[0]);
        close(out[1]);
        return err_set(err, "cannot make a pipe: %s", strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0)
        become(path, argv, out[1], errors[1], server);
    close(out[1]);
    close(errors[1]);
    *run = (struct mcp_run){ .pid = pid < 0 ? 0 : pid,
                             .out = { .fd = out[0], .text = xcalloc(1, KEPT_BYTES + 1) },
                             .errors = { .fd = errors[0], .text = xcalloc(1, KEPT_BYTES + 1) },
                             .stop_ms = mcp_now_ms() + 1000 * (int64_t)seconds };
    if (pid > 0)
        return 0;
    mcp_run_free(run);
    return err_set(err, "cannot start a process: %s", strerror(errno));
}

void mcp_run_read(struct mcp_text *text)
{
    char more[8192];
    ssize_t n = read(text->fd, more, sizeof more);
    if (n <= 0) {
        close(text->fd);
        text->fd = -1;
        return;
    }
    size_t room = KEPT_BYTES - text->n, kept = (size_t)n < room ? (size_t)n : room;
    memcpy(text->text + text->n, more, kept);
    text->n += kept;
    for (size_t i = kept; i < (size_t)n; i++)
        text->n_more_lines += more[i] == '\n';
}

void mcp_run_stop(struct mcp_run *run)
{
    if (run->pid == 0 || run->is_stopped)
        return;
    run->is_stopped = true;
    run->stop_ms = mcp_now_ms() + STOP_MOST_MS;
    kill(run->pid, SIGTERM);
}

bool mcp_run_look(struct mcp_run *run)
{
    if (run->pid != 0 && mcp_now_ms() >= run->stop_ms) {
        if (run->is_stopped)
            kill(run->pid, SIGKILL);
        run->is_late = true;
        mcp_run_stop(run);
    }
    if (run->pid != 0 && waitpid(run->pid, &run->status, WNOHANG) == run->pid)
        run->pid = 0;
    return run->pid == 0 && run->out.fd < 0 && run->errors.fd < 0;
}

void mcp_run_free(struct mcp_run *run)
{
    struct mcp_text *texts[] = { &run->out, &run->errors };
    for (size_t i = 0; i < 2; i++) {
        if (texts[i]->text != NULL && texts[i]->fd >= 0)
            close(texts[i]->fd);
        free(texts[i]->text);
    }
    *run = (struct mcp_run){ .pid = 0, .out = { .fd = -1 }, .errors = { .fd = -1 } };
}
