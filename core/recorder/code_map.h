/*
 * The code that the target's JVM made, as its agent tells: what is at an address at a moment.
 *
 * The JVM tells of code some ms after it has begun to use it, and takes addresses for other code when it has thrown
 * some away.
 */
#ifndef CORE_RECORDER_CODE_MAP_H
#define CORE_RECORDER_CODE_MAP_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/hash.h"
#include "core/base/method_name.h"
#include "core/wire/code_log.h"

struct code_piece {
    uint64_t start, end;
    uint64_t from_ticks, to_ticks; /* from when it was told; UINT64_MAX: it is there still */
    enum code_kind kind;           /* COMPILED or OTHER */
    uint32_t method, tier;
    bool is_coarse;        /* the code between its points may be from anywhere in the method */
    const char *name;      /* OTHER; the arena's */
    const uint8_t *points; /* the arena's */
    size_t n_points_bytes;
    uint32_t asked; /* the owner's: the last question about it */
};

struct code_method {
    struct method_name names; /* the arena's, as the others; NULL: not described */
    const char *source;
    const uint8_t *line_bytes;
    size_t n_line_bytes;
    bool is_written; /* to the trace */
};

/* Compiled code, and the classes whose methods it has: where the agent tells that of all code, but only of some what it
 * is. */
struct code_dependent {
    uint64_t n_bytes;
    uint32_t tier;
    bool is_gone;
    const uint8_t *classes; /* the arena's: numbers, n_classes_bytes of them */
    size_t n_classes_bytes;
};

/* An address may be in code of a page's pieces, the newest first. */
struct code_link {
    uint32_t piece, next; /* indexes; next: plus 1, 0 for none */
};

struct code_map {
    int fd; /* of the log; borrowed */
    struct arena arena;
    uint64_t read_bytes, spent_ns;
    uint8_t *bytes;            /* owned: a piece of the log */
    struct code_piece *pieces; /* owned, as the others */
    struct code_method *methods;
    struct code_dependent *dependents;
    const char **classes;   /* by number; the arena's names; NULL: not described */
    struct hash_set starts; /* of the dependents that are there, by the address: their numbers, plus 1 */
    struct code_link *links;
    struct hash_set pages; /* by page: the newest link, plus 1 */
    uint32_t n_pieces, n_methods, n_links, n_dependents, n_classes;
    size_t pieces_room, methods_room, links_room, dependents_room, classes_room;
    bool is_damaged;
};

void code_map_init(struct code_map *map, int fd);
void code_map_free(struct code_map *map);

/* Read what the agent has told by now.  A damaged log is read no further.
 */
void code_map_read(struct code_map *map);

/* The piece in which an address was at a moment, by its number; UINT32_MAX: none is known. */
uint32_t code_map_find(const struct code_map *map, uint64_t address, uint64_t ticks);

/* What the code at an offset in a piece was compiled from: as code_log_find; 0, too, where its points are coarse. */
uint32_t code_piece_frames(const struct code_piece *piece, uint64_t offset, struct code_frame *frames, uint32_t *point);

#endif
