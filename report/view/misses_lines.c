#include "report/view/misses_report.h"

#include "core/base/plain_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_CHARS 60

static char *slurp(const char *folder, const char *path)
{
    int fd = plain_file_source(folder, path);
    char *text = fd < 0 ? NULL : malloc(PLAIN_FILE_SOURCE_MAX + 1);
    if (text != NULL && plain_file_text(fd, text, PLAIN_FILE_SOURCE_MAX + 1) < 0) {
        free(text);
        text = NULL;
    }
    if (fd >= 0)
        close(fd);
    char *fitting = text == NULL ? NULL : realloc(text, strlen(text) + 1);
    return fitting == NULL ? text : fitting;
}

/* The file of a path, read unless it is the one read last; NULL: there is none. */
static const char *text_of(struct misses_lines *lines, const char *path)
{
    if (lines->path != NULL && strcmp(lines->path, path) == 0)
        return lines->text;
    misses_lines_free(lines);
    lines->path = strdup(path);
    lines->text = lines->path == NULL ? NULL : slurp(lines->directory, path);
    return lines->text;
}

const char *misses_line(struct misses_lines *lines, const char *class_name, const char *file, uint32_t line)
{
    const char *slash = class_name == NULL ? NULL : strrchr(class_name, '/');
    if (class_name == NULL || file == NULL || file[0] == '\0' || line == 0)
        return NULL;
    const char *path =
        arena_printf(lines->arena, "%.*s%s", slash == NULL ? 0 : (int)(slash + 1 - class_name), class_name, file);
    const char *at = path == NULL ? NULL : text_of(lines, path);
    for (uint32_t i = 1; at != NULL && i < line; i++) {
        at = strchr(at, '\n');
        at = at == NULL ? NULL : at + 1;
    }
    if (at == NULL)
        return NULL;
    at += strspn(at, " \t");
    size_t n = strcspn(at, "\r\n");
    return n <= LINE_CHARS ? arena_text(lines->arena, at, n)
                           : arena_printf(lines->arena, "%.*s...", LINE_CHARS - 3, at);
}

void misses_lines_free(struct misses_lines *lines)
{
    free(lines->path);
    free(lines->text);
    lines->path = lines->text = NULL;
}
