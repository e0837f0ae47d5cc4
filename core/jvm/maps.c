#include "core/jvm/maps.h"

#include "core/base/vec.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <gelf.h>

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

/* The same text for the same path, for as long as the maps live; NULL: no memory. */
static const char *keep_path(struct jvm_maps *maps, const char *path, size_t n)
{
    const uint32_t *known = map_get(&maps->paths, path, n);
    if (known != NULL)
        return maps->names[*known];
    if (vec_reserve(maps->names, maps->names_room, maps->n_names + 1) < 0)
        return NULL;
    const char *name = arena_text(&maps->arena, path, n);
    if (name == NULL || map_put(&maps->paths, path, n, maps->n_names) < 0)
        return NULL;
    return maps->names[maps->n_names++] = name;
}

static struct jvm_mapping *add_mapping(struct jvm_maps *maps)
{
    if (vec_reserve(maps->all, maps->room, maps->n + 1) < 0)
        return NULL;
    return &maps->all[maps->n++];
}

/* "7f00-7f10 r-xp 00001000 fe:00 1234   /path": returns 0, or -1: no memory.  Other lines are passed over. */
static int parse_line(struct jvm_maps *maps, const char *line, size_t n)
{
    uint64_t start, end, offset;
    char flags[5];
    int at = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s%n", &start, &end, flags, &offset, &at) < 4 ||
        at == 0 || (size_t)at > n || end <= start)
        return 0;
    const char *path = line + at;
    size_t n_path = n - (size_t)at;
    for (; n_path > 0 && *path == ' '; n_path--)
        path++;
    struct jvm_mapping *last = maps->n == 0 ? NULL : &maps->all[maps->n - 1];
    if (last != NULL && last->path == NULL && last->end == start && n_path == 0 && flags[0] == '-') {
        last->end = end; /* reserved behind code */
        return 0;
    }
    if ((flags[2] != 'x' && !maps->is_emulated) || (last != NULL && start < last->end))
        return 0;
    struct jvm_mapping *mapping = add_mapping(maps);
    if (mapping == NULL)
        return -1;
    bool is_named = n_path > 0 && (*path == '/' || *path == '[');
    *mapping = (struct jvm_mapping){ start, end, offset, is_named ? keep_path(maps, path, n_path) : NULL };
    return is_named && mapping->path == NULL ? -1 : 0;
}

int jvm_maps_parse(struct jvm_maps *maps, const char *text)
{
    maps->n = 0;
    for (const char *line = text; *line != '\0';) {
        size_t n = strcspn(line, "\n");
        if (parse_line(maps, line, n) < 0)
            return -1;
        line += n + (line[n] == '\n');
    }
    return 0;
}

/* All of it, with a NUL; owned by the caller.  NULL: gone, too long, or empty as that of a process that is ending. */
static char *slurp(const char *path)
{
    char *text = NULL;
    size_t n = 0, room = 0;
    ssize_t got = 1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && got > 0 && room < MAPS_BYTES_MAX) {
        if (room - n < 65536) {
            char *more = realloc(text, room + 256 * 1024);
            if (more == NULL)
                break;
            text = more;
            room += (size_t)256 * 1024;
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
    int rc = text == NULL ? -1 : jvm_maps_parse(maps, text);
    free(text);
    return rc;
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

int jvm_build_id(const char *path, char id[JVM_BUILD_ID_BYTES])
{
    const void *bytes = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    id[0] = '\0';
    if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    int rc = elf != NULL && elf_kind(elf) == ELF_K_ELF ? 0 : -1;
    ssize_t n = rc < 0 ? 0 : dwelf_elf_gnu_build_id(elf, &bytes);
    for (ssize_t i = 0; i < n && i < (JVM_BUILD_ID_BYTES - 1) / 2; i++)
        snprintf(id + 2 * i, 3, "%02x", ((const uint8_t *)bytes)[i]);
    elf_end(elf);
    close(fd);
    return rc;
}
