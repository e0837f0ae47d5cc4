#include "core/emu/plugin/vm_memory.h"

#include "core/emu/model/sim_machine.h"
#include "core/hotspot/nmethod.h"

#include <fcntl.h>
#include <stdatomic.h>

#define MAPS_MAX    65536u
#define PATHS_BYTES ((size_t)1 << 20)
#define STACKS_MAX  65536u
#define TEXT_BYTES  ((size_t)8 << 20)

/* Of malloc's arenas for threads: glibc aligns them so. */
#define ARENA_BYTES        (UINT64_C(64) << 20)
#define ARENA_HEADER_BYTES 128u

static char *text; /* of the maps; the walk's lock guards it */

void vm_ranges_open(struct vm_ranges *ranges)
{
    size_t n_maps = MAPS_MAX * sizeof *ranges->maps, n_stacks = STACKS_MAX * sizeof *ranges->stacks;
    char *at = sim_map(n_maps + n_stacks + PATHS_BYTES + TEXT_BYTES);
    ranges->maps = (void *)at;
    ranges->stacks = (void *)(at + n_maps);
    ranges->paths = at + n_maps + n_stacks;
    text = at + n_maps + n_stacks + PATHS_BYTES;
}

void vm_ranges_add_stack(struct vm_ranges *ranges, uint64_t top)
{
    if (ranges->stacks != NULL && top != 0)
        ranges->stacks[atomic_fetch_add(&ranges->n_stacks, 1) % STACKS_MAX] = top;
}

/* ---- what is mapped ---- */

static size_t read_maps(void)
{
    size_t n = 0;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    for (ssize_t got = 1; fd >= 0 && got > 0 && n + 1 < TEXT_BYTES; n += got > 0 ? (size_t)got : 0)
        got = read(fd, text + n, TEXT_BYTES - 1 - n);
    if (fd >= 0)
        close(fd);
    text[n] = '\0';
    return n;
}

static uint32_t keep_path(struct vm_ranges *ranges, const char *path, size_t n)
{
    const struct vm_range *last = ranges->n_maps == 0 ? NULL : &ranges->maps[ranges->n_maps - 1];
    if (last != NULL && last->path != 0 && strncmp(ranges->paths + last->path, path, n) == 0 &&
        ranges->paths[last->path + n] == '\0')
        return last->path;
    if (ranges->n_paths_bytes + n + 1 > PATHS_BYTES)
        return 0;
    uint32_t at = ranges->n_paths_bytes;
    memcpy(ranges->paths + at, path, n);
    ranges->paths[at + n] = '\0';
    ranges->n_paths_bytes += (uint32_t)n + 1;
    return at;
}

static bool has_stack(const struct vm_ranges *ranges, uint64_t start, uint64_t end)
{
    uint32_t n = atomic_load(&ranges->n_stacks);
    for (uint32_t i = 0; i < n && i < STACKS_MAX; i++)
        if (ranges->stacks[i] > start && ranges->stacks[i] <= end)
            return true;
    return false;
}

/* Does one of malloc's arenas begin there?  Its first word is where the arena's description is: near its own begin. */
static bool is_arena(uint64_t start)
{
    uint64_t description = start % ARENA_BYTES == 0 ? vm_pointer(start) : 0;
    return description != 0 && description % ARENA_BYTES < ARENA_HEADER_BYTES;
}

static bool ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), n_end = strlen(end);
    return n >= n_end && strcmp(path + n - n_end, end) == 0;
}

/*
 * Memory without a name: a thread's stack if the program made a thread there; malloc's if it is in an arena, or where
 * the program's own data end (its break); a library's if its data end there (what has no bytes in the file).
 */
static void look_at_unnamed(struct vm_ranges *ranges, struct vm_range *range)
{
    const struct vm_range *last = ranges->n_maps == 0 ? NULL : &ranges->maps[ranges->n_maps - 1];
    bool is_behind = last != NULL && last->end == range->start;
    range->kind = MISS_OTHER;
    if (has_stack(ranges, range->start, range->end)) {
        range->kind = MISS_STACK;
    } else if (is_arena(range->start)) {
        range->kind = MISS_C_HEAP;
        ranges->arena_end = range->start + ARENA_BYTES;
    } else if (range->start < ranges->arena_end) {
        range->kind = MISS_C_HEAP;
    } else if (is_behind && last->is_program) {
        range->kind = MISS_C_HEAP;
        range->is_program = true;
    } else if (is_behind && last->is_data) {
        range->kind = MISS_FILE;
        range->path = last->path;
    }
}

static void take_line(struct vm_ranges *ranges, const char *line, const char *end)
{
    uint64_t start, stop;
    char rights[5];
    int path = 0;
    if (ranges->n_maps == MAPS_MAX ||
        sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*s %*u %n", &start, &stop, rights, &path) < 3 || path == 0)
        return;
    bool has_path = line + path < end && line[path] == '/';
    struct vm_range range = { .start = start, .end = stop, .kind = MISS_FILE };
    if (has_path) {
        range.path = keep_path(ranges, line + path, (size_t)(end - line - path));
        const char *name = ranges->paths + range.path;
        bool is_own = range.path != 0 && rights[1] == 'w' && rights[3] == 'p';
        range.is_data = is_own && strstr(name, ".so") != NULL;
        range.is_program = is_own && !range.is_data && !ends_with(name, ".jsa");
    } else {
        look_at_unnamed(ranges, &range);
    }
    ranges->maps[ranges->n_maps++] = range;
}

static void look_at_maps(struct vm_ranges *ranges)
{
    ranges->n_maps = 0;
    ranges->n_paths_bytes = 1;
    ranges->arena_end = 0;
    read_maps();
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        take_line(ranges, line, end);
    }
}

void vm_ranges_look(struct vm_ranges *ranges)
{
    const struct vm_tables *t = ranges->tables;
    look_at_maps(ranges);
    if (t == NULL)
        return;
    code_heaps_range(vm_here(), &ranges->code_low, &ranges->code_high);
    if (t->archive_base != VM_NONE && t->archive_top != VM_NONE) {
        ranges->archive = vm_pointer(t->archive_base);
        ranges->archive_end = vm_pointer(t->archive_top);
    }
    if (t->barriers != VM_NONE && t->card_table != VM_NONE && t->cards != VM_NONE && t->cards_bytes != VM_NONE) {
        uint64_t table = vm_pointer(vm_pointer(t->barriers) + t->card_table);
        ranges->cards = vm_pointer(table + t->cards);
        ranges->cards_end = ranges->cards + vm_pointer(table + t->cards_bytes);
    }
}

enum miss_owner vm_ranges_find(const struct vm_ranges *ranges, const struct vm_metadata *metadata, uint64_t address,
                               const char **path)
{
    if (address >= ranges->code_low && address < ranges->code_high)
        return MISS_CODE;
    if (address >= ranges->cards && address < ranges->cards_end)
        return MISS_CARDS;
    if (address >= ranges->archive && address < ranges->archive_end)
        return MISS_METASPACE;
    const struct vm_range *range = vm_last_before(ranges->maps, ranges->n_maps, sizeof *range, address);
    if (range == NULL || address >= range->end)
        return MISS_UNKNOWN;
    if (range->path != 0)
        *path = ranges->paths + range->path;
    if (range->path != 0 && ends_with(*path, ".jsa"))
        return MISS_METASPACE; /* the archive of classes, before the JVM tells where it is */
    /* Whatever is beside it: the kernel makes one of neighbours with the same rights. */
    if (range->path == 0 && vm_metadata_has(metadata, address))
        return MISS_METASPACE;
    return range->kind;
}
