#include "core/jvm/maps.h"

#include "core/base/xalloc.h"

#include <fcntl.h>
#include <sys/stat.h>

#define MAPS_BYTES_MAX ((size_t)64 << 20)

void jvm_maps_init(struct jvm_maps *maps)
{
    memset(maps, 0, sizeof *maps);
    maps->paths.arena = &maps->arena;
}

void jvm_maps_free(struct jvm_maps *maps)
{
    map_free(&maps->paths);
    arena_free(&maps->arena);
    free(maps->names);
    free(maps->all);
    jvm_maps_init(maps);
}

/* The same text for the same path, for as long as the maps live. */
static const char *keep_path(struct jvm_maps *maps, const char *path, size_t n)
{
    const uint32_t *known = map_get(&maps->paths, path, n);
    if (known != NULL)
        return maps->names[*known];
    xgrow(maps->names, maps->names_room, maps->n_names + 1);
    const char *name = arena_text(&maps->arena, path, n);
    map_put(&maps->paths, path, n, maps->n_names);
    return maps->names[maps->n_names++] = name;
}

#define DELETED " (deleted)" /* what the kernel appends to a path */

/*
 * "7f00-7f10 r-xp 00001000 fe:00 1234   /path": the mapping, whose path is in the line: *n_path bytes, or 0.  Returns
 * whether it is one.
 */
static bool read_line(const char *line, size_t n, struct jvm_mapping *mapping, char flags[5], size_t *n_path)
{
    const size_t n_deleted = sizeof DELETED - 1;
    int at = 0;
    *mapping = (struct jvm_mapping){ .start = 0 };
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 "%n", &mapping->start, &mapping->end, flags,
               &mapping->offset, &mapping->inode, &at) < 5 ||
        at == 0 || (size_t)at > n || mapping->end <= mapping->start)
        return false;
    mapping->path = line + at;
    *n_path = n - (size_t)at;
    for (; *n_path > 0 && *mapping->path == ' '; --*n_path)
        mapping->path++;
    mapping->is_deleted = *n_path > n_deleted && memcmp(mapping->path + *n_path - n_deleted, DELETED, n_deleted) == 0;
    *n_path -= mapping->is_deleted ? n_deleted : 0;
    return true;
}

/* Lines that are no mapping are passed over. */
static void parse_line(struct jvm_maps *maps, const char *line, size_t n)
{
    struct jvm_mapping read;
    char flags[5];
    size_t n_path;
    if (!read_line(line, n, &read, flags, &n_path))
        return;
    struct jvm_mapping *last = maps->n == 0 ? NULL : &maps->all[maps->n - 1];
    if (last != NULL && last->path == NULL && last->end == read.start && n_path == 0 && flags[0] == '-') {
        last->end = read.end; /* reserved behind code */
        return;
    }
    if ((flags[2] != 'x' && !maps->is_emulated) || (last != NULL && read.start < last->end))
        return;
    bool is_named = n_path > 0 && (*read.path == '/' || *read.path == '[');
    read.path = is_named ? keep_path(maps, read.path, n_path) : NULL;
    *xpush(maps->all, maps->room, maps->n) = read;
}

void jvm_maps_parse(struct jvm_maps *maps, const char *text)
{
    maps->n = 0;
    for (const char *line = text; *line != '\0';) {
        size_t n = strcspn(line, "\n");
        parse_line(maps, line, n);
        line += n + (line[n] == '\n');
    }
}

/* All of it, with a NUL; owned by the caller.  NULL: gone, too long, or empty as that of a process that is ending. */
static char *slurp(const char *path)
{
    char *text = NULL;
    size_t n = 0, room = 0;
    ssize_t got = 1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && got > 0 && room < MAPS_BYTES_MAX) {
        if (room - n < 2 * JVM_MAPS_BUFFER) {
            room = room == 0 ? 12 * JVM_MAPS_BUFFER : 2 * room;
            text = xrealloc(text, room);
        }
        got = read(fd, text + n, room - n - 1);
        n += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    if (got == 0 && n > 0) {
        text[n] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

int jvm_maps_read(struct jvm_maps *maps, pid_t pid)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    char *text = slurp(path);
    if (text == NULL)
        return -1;
    jvm_maps_parse(maps, text);
    free(text);
    return 0;
}

const struct jvm_mapping *jvm_maps_find(const struct jvm_maps *maps, uint64_t address)
{
    size_t low = 0, high = maps->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (maps->all[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < maps->n && maps->all[low].start <= address ? &maps->all[low] : NULL;
}

int jvm_mapped_find(pid_t pid, const char *part, struct jvm_mapped *mapped)
{
    return jvm_mapped_next(pid, part, 0, mapped);
}

int jvm_mapped_next(pid_t pid, const char *part, uint64_t from, struct jvm_mapped *mapped)
{
    char name[40], flags[5], *line = NULL, buffer[JVM_MAPS_BUFFER];
    size_t size = 0, n_path;
    ssize_t n;
    int found = 0;
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(name, "re");
    if (maps == NULL)
        return -1;
    setvbuf(maps, buffer, _IOFBF, sizeof buffer);
    while (found == 0 && (n = getline(&line, &size, maps)) > 0) {
        if (strstr(line, part) == NULL ||
            !read_line(line, (size_t)n - (line[n - 1] == '\n'), &mapped->mapping, flags, &n_path) ||
            mapped->mapping.start < from || mapped->mapping.path[0] != '/' || n_path >= sizeof mapped->path)
            continue;
        snprintf(mapped->path, sizeof mapped->path, "%.*s", (int)n_path, mapped->mapping.path);
        found = strstr(mapped->path, part) != NULL;
    }
    mapped->mapping.path = mapped->path;
    free(line);
    fclose(maps);
    return found;
}

/*
 * By the number, as far as file systems agree on it: the device, and what is above the lower 32 bits of the number, are
 * other ones in /proc/PID/maps than in stat(2) on btrfs and overlayfs.
 */
static bool is_of_file(const struct jvm_mapping *mapping, int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && (uint32_t)status.st_ino == (uint32_t)mapping->inode;
}

static int open_by_path(const struct jvm_mapping *mapping, const struct jvm_root *root)
{
    const char *path = mapping->is_deleted ? NULL : jvm_root_path(root, mapping->path);
    int fd = path == NULL ? -1 : jvm_root_file(root, path);
    if (path == NULL)
        errno = mapping->is_deleted ? ESTALE : ENOENT;
    if (fd < 0 || is_of_file(mapping, fd))
        return fd;
    close(fd);
    errno = ESTALE;
    return -1;
}

int jvm_mapping_open(const struct jvm_mapping *mapping, const struct jvm_root *root, pid_t pid)
{
    char name[80];
    snprintf(name, sizeof name, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, mapping->start, mapping->end);
    int found = open(name, O_PATH | O_CLOEXEC);
    int fd = found >= 0 && is_of_file(mapping, found) ? plain_file_reopen(found) : open_by_path(mapping, root);
    int error = errno;
    if (found >= 0)
        close(found);
    errno = error;
    return fd;
}
