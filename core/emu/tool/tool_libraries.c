#include "core/emu/tool/tool_host.h"

#include <inttypes.h>
#include <string.h>

#define PATH_BYTES 1024

/* The next mapping of a file.  Returns whether there is one. */
static bool next_map(FILE *maps, uint64_t *start, uint64_t *end, char path[PATH_BYTES])
{
    char line[PATH_BYTES + 128];
    while (fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %1023[^\n]", start, end, path) == 3)
            return true;
    return false;
}

void tool_libraries_find(struct tool_wanted *wanted, const char *suffix, enum tool_code code)
{
    char path[PATH_BYTES];
    size_t n = strlen(suffix);
    uint64_t start, end;
    struct tool_library *last = NULL;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && next_map(maps, &start, &end, path)) {
        if (strlen(path) < n || strcmp(path + strlen(path) - n, suffix) != 0)
            last = NULL;
        else if (last != NULL && last->end == start)
            last->end = end;
        else if (wanted->n_libraries < TOOL_LIBRARIES_MAX)
            *(last = &wanted->libraries[wanted->n_libraries++]) = (struct tool_library){ start, end, code };
    }
    if (maps != NULL)
        fclose(maps);
}
