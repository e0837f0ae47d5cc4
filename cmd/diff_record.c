#include "cmd/diff_parts.h"

#include "core/base/text.h"

#include <dirent.h>
#include <sys/stat.h>

/* Names that diff_record_path makes. */
static int is_trace(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 4 && strcmp(entry->d_name + n - 4, ".dat") == 0;
}

int diff_record_begin(const char *directory, struct err *err)
{
    struct dirent **found;
    if (mkdir(directory, 0777) == 0)
        return 0;
    int error = errno, n = error == EEXIST ? scandir(directory, &found, is_trace, alphasort) : -1;
    if (n < 0) {
        err_set(err, "cannot write traces to '%s': %s", directory, strerror(error == EEXIST ? errno : error));
        return err_next(err, "name a directory with --output; mmprof makes it if needed");
    }
    for (int i = 0; i < n; i++)
        free(found[i]);
    free(found);
    if (n == 0)
        return 0;
    err_set(err, "'%s' has %d trace%s already", directory, n, text_plural((uint64_t)n));
    return err_next(err, "name another directory with --output");
}

const char *diff_record_path(struct arena *arena, const char *directory, const char *version, size_t run)
{
    return arena_printf(arena, "%s/%s-%zu.dat", directory, version, run);
}

const char *diff_record_quoted(struct arena *arena, const char *text)
{
    const char *word = "'";
    while (text[0] != '\0') {
        size_t n = strcspn(text, "'");
        word = arena_printf(arena, "%s%.*s%s", word, (int)n, text, text[n] == '\'' ? "'\\''" : "");
        text += n + (text[n] == '\'');
    }
    return arena_printf(arena, "%s'", word);
}

const char *diff_record_command(struct arena *arena, const char *path, const char *command)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n < 0 ? 0 : n] = '\0';
    const char *words[] = { diff_record_quoted(arena, n < 0 ? "mmprof" : self), diff_record_quoted(arena, path),
                            diff_record_quoted(arena, command) };
    return arena_printf(arena, "exec %s record --live -q -o %s -- sh -c %s", words[0], words[1], words[2]);
}
