#include "core/recorder/code_map.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "core/recorder/read_log.h"

#define PIECE_BYTES (2 * CODE_LOG_ENTRY_BYTES)
#define PAGE_BITS   12
#define NONE        UINT32_MAX

/* The JVM makes no larger piece, and leaves no more numbers of methods out. */
#define CODE_BYTES_MAX (UINT64_C(64) << 20)
#define GAP_MAX        65536u

void code_map_init(struct code_map *map, int fd)
{
    memset(map, 0, sizeof *map);
    map->fd = fd;
}

void code_map_free(struct code_map *map)
{
    free(map->bytes);
    free(map->pieces);
    free(map->methods);
    free(map->dependents);
    free(map->classes);
    free(map->links);
    hash_free(&map->pages);
    hash_free(&map->starts);
    arena_free(&map->arena);
    code_map_init(map, -1);
}

/* ---- taking up ---- */

/* The newest link of a page, plus 1; 0: none. */
static uint32_t newest_of(const struct code_map *map, uint64_t page)
{
    const struct hash_slot *slot = hash_get(&map->pages, hash_address(page));
    return slot == NULL ? 0 : slot->value;
}

static void link_pages(struct code_map *map, uint32_t piece)
{
    uint64_t first = map->pieces[piece].start >> PAGE_BITS, last = (map->pieces[piece].end - 1) >> PAGE_BITS;
    for (uint64_t page = first; page <= last; page++) {
        struct hash_slot *slot = xhash_put(&map->pages, hash_address(page));
        *xpush(map->links, map->links_room, map->n_links) = (struct code_link){ piece, slot->value };
        slot->value = map->n_links;
    }
}

/* What is newly at these addresses takes the place of what was. */
static void end_others(struct code_map *map, uint64_t start, uint64_t end, uint64_t ticks)
{
    for (uint64_t page = start >> PAGE_BITS; page <= (end - 1) >> PAGE_BITS; page++)
        for (uint32_t i = newest_of(map, page); i != 0; i = map->links[i - 1].next) {
            struct code_piece *piece = &map->pieces[map->links[i - 1].piece];
            if (piece->start < end && piece->end > start && piece->to_ticks == UINT64_MAX)
                piece->to_ticks = ticks;
        }
}

static const void *keep(struct code_map *map, const void *bytes, size_t n)
{
    return memcpy(arena_alloc(&map->arena, n + 1), bytes, n);
}

static void add_piece(struct code_map *map, const struct code_entry *entry)
{
    struct code_piece piece = {
        .start = entry->address,
        .end = entry->address + entry->n_bytes,
        .from_ticks = entry->ticks,
        .to_ticks = UINT64_MAX,
        .kind = entry->kind,
        .method = entry->method,
        .tier = entry->tier,
        .name = text_utf8(&map->arena, entry->name.at == NULL ? "" : entry->name.at, entry->name.n),
        .is_coarse = entry->is_coarse,
        .points = keep(map, entry->points == NULL ? (const uint8_t *)"" : entry->points, entry->n_points_bytes),
        .n_points_bytes = entry->n_points_bytes
    };
    map->spent_ns += entry->spent_ns;
    if (piece.end <= piece.start || entry->n_bytes > CODE_BYTES_MAX || map->n_pieces == NONE - 1)
        return;
    end_others(map, piece.start, piece.end, piece.from_ticks);
    *xpush(map->pieces, map->pieces_room, map->n_pieces) = piece;
    link_pages(map, map->n_pieces - 1);
}

static void add_method(struct code_map *map, const struct code_entry *entry)
{
    if (entry->method > map->n_methods + GAP_MAX)
        return;
    xgrow_zeroed(map->methods, map->methods_room, (size_t)entry->method + 1);
    if (entry->method >= map->n_methods)
        map->n_methods = entry->method + 1;
    map->methods[entry->method] = (struct code_method){
        .names.class_name = text_utf8(&map->arena, entry->class_name.at, entry->class_name.n),
        .names.method = text_utf8(&map->arena, entry->name.at, entry->name.n),
        .names.descriptor = text_utf8(&map->arena, entry->descriptor.at, entry->descriptor.n),
        .source = text_utf8(&map->arena, entry->source.at, entry->source.n),
        .line_bytes = keep(map, entry->line_bytes, entry->n_line_bytes),
        .n_line_bytes = entry->n_line_bytes,
    };
}

static void add_class(struct code_map *map, const struct code_entry *entry)
{
    if (entry->method > map->n_classes + GAP_MAX)
        return;
    xgrow_zeroed(map->classes, map->classes_room, (size_t)entry->method + 1);
    if (entry->method >= map->n_classes)
        map->n_classes = entry->method + 1;
    map->classes[entry->method] = text_utf8(&map->arena, entry->class_name.at, entry->class_name.n);
}

/* It takes the place of what began where it does; without bytes, nothing does. */
static void add_dependent(struct code_map *map, const struct code_entry *entry)
{
    struct hash_slot *start = xhash_put(&map->starts, hash_address(entry->address));
    if (start->value != 0)
        map->dependents[start->value - 1].is_gone = true;
    if (entry->n_bytes == 0 || entry->n_bytes > CODE_BYTES_MAX || map->n_dependents == NONE - 1)
        return;
    *xpush(map->dependents, map->dependents_room, map->n_dependents) =
        (struct code_dependent){ .n_bytes = entry->n_bytes,
                                 .tier = entry->tier,
                                 .classes = keep(map, entry->classes, entry->n_classes_bytes),
                                 .n_classes_bytes = entry->n_classes_bytes };
    start->value = map->n_dependents;
}

static void take_entry(struct code_map *map, const struct code_entry *entry)
{
    switch (entry->kind) {
    case CODE_METHOD:
        add_method(map, entry);
        break;
    case CODE_COMPILED:
    case CODE_OTHER:
        add_piece(map, entry);
        break;
    case CODE_CLASS:
        add_class(map, entry);
        break;
    case CODE_DEPENDENT:
        add_dependent(map, entry);
        break;
    case CODE_DISCARDED:
        end_others(map, entry->address, entry->address + 1, entry->ticks);
        break;
    }
}

/* ---- reading ---- */

void code_map_read(struct code_map *map)
{
    struct code_entry entry;
    ssize_t n;
    const uint64_t begin = map->read_bytes;
    if (map->fd < 0 || map->is_damaged)
        return;
    if (map->bytes == NULL)
        map->bytes = xmalloc(PIECE_BYTES);
    do {
        int rc = 0;
        n = pread(map->fd, map->bytes, PIECE_BYTES, (off_t)map->read_bytes);
        struct cursor c = cursor_over(map->bytes, n < 0 ? 0 : (size_t)n);
        while ((rc = code_log_get(&c, &entry)) > 0)
            take_entry(map, &entry);
        size_t n_used = (size_t)(c.at - map->bytes);
        read_log_forget(map->fd, map->read_bytes, map->read_bytes + n_used);
        map->read_bytes += n_used;
        map->is_damaged = rc < 0;
    } while (n == (ssize_t)PIECE_BYTES && !map->is_damaged && map->read_bytes - begin < READ_LOG_ROUND_BYTES);
}

uint32_t code_map_find(const struct code_map *map, uint64_t address, uint64_t ticks)
{
    uint32_t late = NONE;
    for (uint32_t i = newest_of(map, address >> PAGE_BITS); i != 0; i = map->links[i - 1].next) {
        const struct code_piece *piece = &map->pieces[map->links[i - 1].piece];
        if (address < piece->start || address >= piece->end)
            continue;
        if (piece->from_ticks <= ticks && ticks < piece->to_ticks)
            return map->links[i - 1].piece;
        /* The earliest of those that were told later, as long as nothing else was there. */
        if (piece->from_ticks > ticks)
            late = map->links[i - 1].piece;
        else
            break;
    }
    return late;
}

uint32_t code_piece_frames(const struct code_piece *piece, uint64_t offset, struct code_frame *frames, uint32_t *point)
{
    *point = 0;
    return piece->is_coarse ? 0 : code_log_find(piece->points, piece->n_points_bytes, offset, frames, point);
}
