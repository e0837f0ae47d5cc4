#include "cmd/output_file.h"

#include "core/base/plain_file.h"

#include <sys/stat.h>

/* What stands for the letter behind a %; "" for one that has no meaning. */
static void expand(char letter, pid_t pid, char *text, size_t n)
{
    struct timespec now; /* time() is up to a few ms late */
    struct tm local;
    text[0] = '\0';
    if (letter == 'p')
        snprintf(text, n, "%d", (int)pid);
    else if (letter == 't' && clock_gettime(CLOCK_REALTIME, &now) == 0 && localtime_r(&now.tv_sec, &local) != NULL)
        strftime(text, n, "%Y%m%d-%H%M%S", &local);
    else if (letter == 'h' && gethostname(text, n) < 0)
        text[0] = '\0';
    else if (letter == '%')
        snprintf(text, n, "%%");
    text[n - 1] = '\0';
}

int output_file_name(const char *pattern, const char *option, pid_t pid, char name[PATH_MAX], struct err *err)
{
    char text[256];
    size_t used = 0;
    for (const char *at = pattern; *at != '\0'; at++) {
        snprintf(text, sizeof text, "%c", *at);
        if (at[0] == '%' && at[1] == 'p' && pid == 0) {
            err_set(err, "'%s' contains %%p, the process ID of one JVM, which is unknown here", pattern);
            return err_next(err, "use %%t, the time, in the name that %s gives", option);
        }
        if (at[0] == '%' && at[1] != '\0' && strchr("pth%", at[1]) != NULL)
            expand(*++at, pid, text, sizeof text);
        size_t n = strlen(text);
        if (used + n >= PATH_MAX)
            return err_set(err, "the name '%.60s...' is too long", pattern);
        memcpy(name + used, text, n);
        used += n;
    }
    name[used] = '\0';
    return 0;
}

static int cannot_write(const struct output_file *file, struct err *err)
{
    err_set(err, "cannot write '%s': %s", file->path, errno == 0 ? "a part was not taken" : plain_file_why(errno));
    return err_next(err, "choose another path with %s", file->option);
}

int output_file_open(struct output_file *file, const char *path, const char *option, struct err *err)
{
    *file = (struct output_file){ stdout, path, option };
    if (path == NULL || strcmp(path, "-") == 0)
        return 0;
    int fd = plain_file_create(path, 0);
    file->out = fd < 0 ? NULL : fdopen(fd, "w");
    return file->out == NULL ? cannot_write(file, err) : 0;
}

int output_file_close(struct output_file *file, int rc, struct err *err)
{
    struct stat about;
    if (file->out == stdout)
        return rc;
    bool is_plain = fstat(fileno(file->out), &about) == 0 && S_ISREG(about.st_mode);
    if (!ferror(file->out))
        errno = 0;
    bool has_failed = fflush(file->out) != 0 || ferror(file->out);
    if (has_failed)
        rc = cannot_write(file, err);
    if (fclose(file->out) != 0 && !has_failed)
        rc = cannot_write(file, err);
    if (rc < 0 && is_plain)
        remove(file->path);
    return rc;
}

/* A command that flushes ignores what that returns: the stream keeps the mark. */
int output_check(struct err *err)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    err_set(err, "cannot write to the standard output");
    return err_next(err, "check that there is free space; the recording itself is not lost");
}
