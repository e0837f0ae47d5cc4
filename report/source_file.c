#include "report/source_file.h"

#include "core/base/plain_file.h"
#include "core/base/text.h"
#include "core/base/xalloc.h"

#define LINES_MAX 200000u
#define TAB       8u

/* As an editor shows it: tabs are blanks up to the next stop. */
static const char *keep_line(struct arena *arena, const char *line, size_t n)
{
    char *wide = xmalloc(n * TAB + 1);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        size_t n_blanks = line[i] == '\t' ? TAB - at % TAB : 0;
        memset(wide + at, ' ', n_blanks);
        at += n_blanks;
        if (n_blanks == 0)
            wide[at++] = line[i];
    }
    const char *kept = text_utf8(arena, wide, at);
    free(wide);
    return kept;
}

static bool read_lines(struct source_file *file, FILE *in, struct arena *arena)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    uint32_t lines_room = 0;
    while (file->n_lines < LINES_MAX && (n = getline(&line, &room, in)) >= 0) {
        if (file->n_lines == lines_room) {
            uint32_t more = lines_room == 0 ? 1024 : lines_room * 2;
            const char **lines = arena_alloc(arena, more * sizeof *lines);
            if (file->n_lines > 0)
                memcpy(lines, file->lines, file->n_lines * sizeof *lines);
            file->lines = lines;
            lines_room = more;
        }
        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
            n--;
        file->lines[file->n_lines++] = keep_line(arena, line, (size_t)n);
    }
    free(line);
    return file->n_lines > 0;
}

static bool try(struct source_file *file, const char *folder, const char *path, struct arena *arena)
{
    int fd = path == NULL ? -1 : plain_file_source(folder, path);
    FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
    *file = (struct source_file){ .path = arena_printf(arena, "%s/%s", folder, path == NULL ? "" : path) };
    bool is_read = in != NULL && read_lines(file, in, arena);
    if (in != NULL)
        fclose(in);
    else if (fd >= 0)
        close(fd);
    return is_read;
}

bool source_file_find(struct source_file *file, const struct options_list *folders, const char *class_name,
                      const char *name, struct arena *arena)
{
    const char *end = strrchr(class_name, '/');
    int n_package = end == NULL ? 0 : (int)(end - class_name);
    const char *in_package = n_package > 0 ? arena_printf(arena, "%.*s/%s", n_package, class_name, name) : NULL;
    for (size_t i = 0; name[0] != '\0' && strchr(name, '/') == NULL && i < folders->n; i++)
        if ((n_package > 0 && try(file, folders->items[i], in_package, arena)) ||
            try(file, folders->items[i], name, arena))
            return true;
    return false;
}

const char *source_file_line(const struct source_file *file, uint32_t line)
{
    return line == 0 || line > file->n_lines ? "" : file->lines[line - 1];
}
