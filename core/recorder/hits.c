#include "core/recorder/hits.h"

#include "core/base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAPS_PERIOD_NS UINT64_C(20000000)
#define CODE_PERIOD_NS UINT64_C(100000000)
#define PIECE          256 /* events that are written at once */

void hits_init(struct hits *hits)
{
    memset(hits, 0, sizeof *hits);
    hits->files.arena = hits->places.arena = &hits->arena;
    jvm_maps_init(&hits->maps);
    code_map_init(&hits->code, -1);
}

void hits_free(struct hits *hits)
{
    for (uint32_t i = 0; i < hits->n_files; i++)
        free(hits->all[i].offsets);
    free(hits->all);
    free(hits->waiting);
    map_free(&hits->files);
    map_free(&hits->places);
    jvm_maps_free(&hits->maps);
    code_map_free(&hits->code);
    arena_free(&hits->arena);
    hits_init(hits);
}

int hits_add(struct hits *hits, uint32_t thread, uint64_t ticks, uint64_t address, bool in_kernel)
{
    if (vec_reserve(hits->waiting, hits->waiting_room, hits->n_waiting + 1) < 0)
        return -1;
    hits->waiting[hits->n_waiting++] = (struct hit){ ticks, address, thread, HITS_NO_PLACE, in_kernel };
    hits->n++;
    return 0;
}

/* ---- files ---- */

/* Where we see what the process calls so: in its own mounts, as long as it is there.  n bytes. */
static void path_from_here(const struct hits *hits, const char *path, char *text, size_t n)
{
    snprintf(text, n, "/proc/%d/root%s", (int)hits->pid, path);
    if (access(text, R_OK) != 0)
        snprintf(text, n, "%s", path);
}

static int write_file(struct hits *hits, uint32_t number, const char *symbols, struct trace_writer *writer,
                      struct err *err)
{
    const struct hits_file *file = &hits->all[number];
    hits->entry = (struct place_entry){ .kind = PLACE_FILE, .number = number };
    hits->entry.path = wire_text(file->path);
    hits->entry.build_id = wire_text(file->build_id);
    hits->entry.symbols = wire_text(symbols);
    return trace_write_place(writer, &hits->entry, err);
}

/* The number of a mapping's file, described when it is new; HITS_NO_PLACE with *err set: no memory, or the trace. */
static uint32_t number_of_file(struct hits *hits, const char *path, struct trace_writer *writer, struct err *err)
{
    char seen[4200];
    const uint32_t *known = map_get(&hits->files, path, strlen(path));
    if (known != NULL)
        return *known;
    if (vec_reserve(hits->all, hits->files_room, (size_t)hits->n_files + 1) < 0 ||
        map_put(&hits->files, path, strlen(path), hits->n_files) < 0) {
        err_set(err, "out of memory for the program's files");
        return HITS_NO_PLACE;
    }
    hits->all[hits->n_files] = (struct hits_file){ .path = path };
    path_from_here(hits, path, seen, sizeof seen);
    jvm_build_id(seen, hits->all[hits->n_files].build_id);
    return write_file(hits, hits->n_files++, "", writer, err) < 0 ? HITS_NO_PLACE : hits->n_files - 1;
}

/* ---- places ---- */

/* The place that hits->entry describes (all but its number), known by a key; *place is its number. */
static int place_of(struct hits *hits, const void *key, size_t n_key, bool *is_new, uint32_t *place,
                    struct trace_writer *writer, struct err *err)
{
    const uint32_t *known = map_get(&hits->places, key, n_key);
    *is_new = known == NULL;
    *place = known != NULL ? *known : hits->n_places;
    if (known != NULL)
        return 0;
    if (hits->n_places + 1 == CODE_NUMBERS_MAX || map_put(&hits->places, key, n_key, hits->n_places) < 0)
        return err_set(err, "out of memory for %u places", hits->n_places);
    hits->entry.number = hits->n_places++;
    return trace_write_place(writer, &hits->entry, err);
}

static int find_in_file(struct hits *hits, const struct jvm_mapping *mapping, struct hit *hit,
                        struct trace_writer *writer, struct err *err)
{
    bool is_new;
    uint32_t number = number_of_file(hits, mapping->path, writer, err);
    if (number == HITS_NO_PLACE)
        return -1;
    struct hits_file *file = &hits->all[number];
    const uint64_t key[2] = { number, hit->address - mapping->start + mapping->offset };
    hits->entry = (struct place_entry){ .kind = PLACE_IN_FILE, .file = number, .offset = key[1] };
    if (place_of(hits, key, sizeof key, &is_new, &hit->place, writer, err) < 0)
        return -1;
    if (!is_new)
        return 0;
    if (vec_reserve(file->offsets, file->room, file->n + 1) < 0)
        return err_set(err, "out of memory for the places in '%s'", file->path);
    file->offsets[file->n++] = key[1];
    return 0;
}

/* Code of no file, of which nothing is known. */
static int find_unknown(struct hits *hits, enum place_code code, struct hit *hit, struct trace_writer *writer,
                        struct err *err)
{
    bool is_new;
    const uint32_t key = (uint32_t)code;
    hits->entry = (struct place_entry){ .kind = PLACE_IN_CODE, .code = code };
    return place_of(hits, &key, sizeof key, &is_new, &hit->place, writer, err);
}

/* A method that a place names.  Returns 0, or -1 with *err set. */
static int write_method(struct hits *hits, uint32_t number, struct trace_writer *writer, struct err *err)
{
    struct code_method *method = number < hits->code.n_methods ? &hits->code.methods[number] : NULL;
    if (method == NULL || method->class_name == NULL || method->is_written)
        return 0;
    method->is_written = true;
    const struct place_entry entry = { .kind = PLACE_METHOD,
                                       .number = number,
                                       .class_name = wire_text(method->class_name),
                                       .name = wire_text(method->name),
                                       .descriptor = wire_text(method->descriptor),
                                       .source = wire_text(method->source) };
    return trace_write_place(writer, &entry, err);
}

/* Or the bytecode's index, where there is none; 0: neither is known. */
static uint32_t line_of(const struct code_method *method, int32_t index)
{
    uint32_t line = method == NULL || method->line_bytes == NULL
                        ? 0
                        : code_log_line(method->line_bytes, method->n_line_bytes, index);
    return line != 0 || index < 0 ? line : PLACE_BYTECODE + (uint32_t)index;
}

/* The frames at an offset in compiled code, the innermost first; at least the method itself. */
static int fill_frames(struct hits *hits, const struct code_piece *piece, uint64_t offset, uint32_t *point,
                       struct trace_writer *writer, struct err *err)
{
    struct code_frame frames[CODE_FRAMES_MAX];
    struct place_entry *entry = &hits->entry;
    uint32_t n = code_piece_frames(piece, offset, frames, point);
    for (uint32_t i = 0; i < n; i++)
        if (frames[i].index < 0)
            frames[i].index = 0; /* a method's entry: HotSpot takes its first line */
    if (n == 0)
        frames[n++] = (struct code_frame){ piece->method, -1 };
    entry->n_frames = n;
    for (uint32_t i = 0; i < n; i++) {
        const struct code_frame *frame = &frames[n - 1 - i];
        const struct code_method *method =
            frame->method < hits->code.n_methods ? &hits->code.methods[frame->method] : NULL;
        entry->frames[i].method = frame->method;
        entry->frames[i].line = line_of(method, frame->index);
        if (write_method(hits, frame->method, writer, err) < 0)
            return -1;
    }
    return 0;
}

/* Code that the JVM made, as it was then; unknown if it did not tell. */
static int find_in_code(struct hits *hits, struct hit *hit, struct trace_writer *writer, struct err *err)
{
    uint32_t number = code_map_find(&hits->code, hit->address, hit->ticks), key[3] = { number, 0, 1 };
    bool is_new;
    if (number == UINT32_MAX) {
        hits->n_unknown++;
        return find_unknown(hits, PLACE_UNKNOWN, hit, writer, err);
    }
    const struct code_piece *piece = &hits->code.pieces[number];
    hits->entry = (struct place_entry){ .kind = PLACE_IN_CODE, .tier = piece->tier };
    hits->entry.code = piece->kind == CODE_COMPILED              ? PLACE_COMPILED
                       : strcmp(piece->name, "Interpreter") == 0 ? PLACE_INTERPRETER
                                                                 : PLACE_STUB;
    hits->entry.name = wire_text(piece->name);
    hits->n_coarse += piece->is_coarse;
    if (piece->kind == CODE_COMPILED && fill_frames(hits, piece, hit->address - piece->start, &key[1], writer, err) < 0)
        return -1;
    return place_of(hits, key, sizeof key, &is_new, &hit->place, writer, err);
}

/* Returns 0 (hit->place may still be none), 1: it is in nothing that is mapped, or -1 with *err set. */
static int look_up(struct hits *hits, struct hit *hit, struct trace_writer *writer, struct err *err)
{
    const struct jvm_mapping *mapping = jvm_maps_find(&hits->maps, hit->address);
    if (hit->place != HITS_NO_PLACE)
        return 0;
    if (mapping == NULL)
        return 1;
    if (mapping->path == NULL)
        return 0;
    return mapping->path[0] == '[' ? find_unknown(hits, PLACE_VDSO, hit, writer, err)
                                   : find_in_file(hits, mapping, hit, writer, err);
}

/*
 * Those that were not looked up before.  One in nothing that is mapped is unknown if the maps are fresh; else it and
 * those after it are to be looked up again.  Returns whether there was one, or -1 with *err set.
 */
static int look_up_new(struct hits *hits, bool is_fresh, struct trace_writer *writer, struct err *err)
{
    size_t first_missing = hits->n_waiting;
    for (size_t i = hits->n_looked; i < hits->n_waiting; i++) {
        struct hit *hit = &hits->waiting[i];
        int rc = look_up(hits, hit, writer, err);
        if (rc < 0 || (rc > 0 && is_fresh && find_unknown(hits, PLACE_UNKNOWN, hit, writer, err) < 0))
            return -1;
        hits->n_unknown += rc > 0 && is_fresh;
        first_missing = rc > 0 && !is_fresh && i < first_missing ? i : first_missing;
    }
    hits->n_looked = first_missing;
    return first_missing < hits->n_waiting;
}

/* What is mapped changes: it is read again when an address is in nothing that was. */
static int look_up_all(struct hits *hits, uint64_t now_ns, bool is_last, struct trace_writer *writer, struct err *err)
{
    int is_missing = look_up_new(hits, false, writer, err);
    if (is_missing <= 0 || (!is_last && now_ns - hits->maps_read_ns < MAPS_PERIOD_NS))
        return is_missing < 0 ? -1 : 0;
    hits->maps_read_ns = now_ns;
    jvm_maps_read(&hits->maps, hits->pid);
    return look_up_new(hits, true, writer, err);
}

/* ---- writing ---- */

static int write_piece(const struct hits *hits, size_t first, size_t n, struct trace_writer *writer, struct err *err)
{
    struct trace_event events[PIECE];
    for (size_t i = 0; i < n; i++) {
        const struct hit *hit = &hits->waiting[first + i];
        events[i] = (struct trace_event){ .kind = hit->in_kernel ? TRACE_KERNEL_HIT : TRACE_HIT,
                                          .thread = hit->thread,
                                          .ticks = hit->ticks,
                                          .count = hit->place };
    }
    return trace_write_hits(writer, events, n, err);
}

/* Now and then: what it tells is needed a second later. */
static int read_code(struct hits *hits, uint64_t now_ns, bool is_last, struct err *err)
{
    if (!is_last && now_ns - hits->code_read_ns < CODE_PERIOD_NS)
        return 0;
    hits->code_read_ns = now_ns;
    return code_map_read(&hits->code, err);
}

int hits_write(struct hits *hits, struct trace_writer *writer, uint64_t now_ns, uint64_t until_ticks, bool is_last,
               struct err *err)
{
    size_t n = 0;
    if (hits->n_waiting == 0)
        return 0;
    if (look_up_all(hits, now_ns, is_last, writer, err) < 0 || read_code(hits, now_ns, is_last, err) < 0)
        return -1;
    for (; n < hits->n_waiting && (is_last || hits->waiting[n].ticks <= until_ticks); n++) {
        struct hit *hit = &hits->waiting[n];
        if (hit->place == HITS_NO_PLACE && find_in_code(hits, hit, writer, err) < 0)
            return -1;
    }
    for (size_t at = 0; at < n; at += PIECE)
        if (write_piece(hits, at, n - at < PIECE ? n - at : PIECE, writer, err) < 0)
            return -1;
    hits->n_waiting -= n;
    hits->n_looked -= n < hits->n_looked ? n : hits->n_looked;
    hits->n_asked -= n < hits->n_asked ? n : hits->n_asked;
    memmove(hits->waiting, hits->waiting + n, hits->n_waiting * sizeof *hits->waiting);
    return 0;
}

/* ---- asking ---- */

static bool is_among(const uint64_t *addresses, size_t n, uint64_t address)
{
    for (size_t i = 0; i < n; i++)
        if (addresses[i] == address)
            return true;
    return false;
}

/* What is to be asked for a hit in the JVM's code; 0: nothing. */
static uint64_t question(struct hits *hits, const struct hit *hit)
{
    uint32_t number = hit->place == HITS_NO_PLACE ? code_map_find(&hits->code, hit->address, hit->ticks) : UINT32_MAX;
    if (hit->place != HITS_NO_PLACE || number == UINT32_MAX)
        return hit->place == HITS_NO_PLACE ? hit->address : 0;
    struct code_piece *piece = &hits->code.pieces[number];
    if (piece->kind != CODE_COMPILED || piece->asked == hits->n_questions)
        return 0;
    piece->asked = hits->n_questions;
    return piece->start;
}

size_t hits_ask(struct hits *hits, uint64_t *addresses, size_t n)
{
    size_t n_addresses = 0;
    hits->n_questions++;
    for (; hits->n_asked < hits->n_looked && n_addresses < n; hits->n_asked++) {
        uint64_t address = question(hits, &hits->waiting[hits->n_asked]);
        if (address != 0 && !is_among(addresses, n_addresses, address))
            addresses[n_addresses++] = address;
    }
    return n_addresses;
}

/* ---- other places than those of hits ---- */

void hits_look_at_maps(struct hits *hits)
{
    if (hits->pid != 0)
        jvm_maps_read(&hits->maps, hits->pid);
}

int hits_place(struct hits *hits, uint64_t address, uint64_t ticks, uint32_t *place, struct trace_writer *writer,
               struct err *err)
{
    struct hit hit = { .ticks = ticks, .address = address, .place = HITS_NO_PLACE };
    int rc = code_map_read(&hits->code, err) < 0 ? -1 : look_up(hits, &hit, writer, err);
    if (rc == 0 && hit.place == HITS_NO_PLACE)
        rc = find_in_code(hits, &hit, writer, err);
    else if (rc > 0)
        rc = find_unknown(hits, PLACE_UNKNOWN, &hit, writer, err);
    *place = hit.place;
    return rc;
}

/* Numbers of methods that were interpreted are these behind those of methods that were compiled. */
#define INTERPRETED (CODE_NUMBERS_MAX / 2)

int hits_interpreted(struct hits *hits, uint32_t method, uint32_t line, uint32_t *place, struct trace_writer *writer,
                     struct err *err)
{
    const uint32_t key[4] = { method, line, 0, 2 };
    bool is_new;
    hits->entry = (struct place_entry){ .kind = PLACE_IN_CODE, .code = PLACE_INTERPRETER, .n_frames = 1 };
    hits->entry.frames[0] = (struct place_frame){ INTERPRETED + method % INTERPRETED, line };
    return place_of(hits, key, sizeof key, &is_new, place, writer, err);
}

int hits_interpreted_method(struct hits *hits, uint32_t method, struct wire_text class_name, struct wire_text name,
                            struct wire_text descriptor, struct wire_text source, struct trace_writer *writer,
                            struct err *err)
{
    hits->entry = (struct place_entry){ .kind = PLACE_METHOD,
                                        .number = INTERPRETED + method % INTERPRETED,
                                        .class_name = class_name,
                                        .name = name,
                                        .descriptor = descriptor,
                                        .source = source };
    return trace_write_place(writer, &hits->entry, err);
}

/* ---- symbols ---- */

struct naming {
    struct hits *hits;
    struct trace_writer *writer;
    struct err *err;
    uint32_t file;
    int rc;
};

static int write_symbol(void *context, uint64_t offset, uint64_t n_bytes, const char *name)
{
    struct naming *naming = context;
    struct place_entry *entry = &naming->hits->entry;
    *entry = (struct place_entry){
        .kind = PLACE_SYMBOL, .number = naming->file, .offset = offset, .n_bytes = n_bytes, .name = wire_text(name)
    };
    naming->rc = trace_write_place(naming->writer, entry, naming->err);
    return naming->rc;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

int hits_write_symbols(struct hits *hits, const struct recorder_symbols *symbols, struct trace_writer *writer,
                       struct err *err)
{
    char seen[4200];
    for (uint32_t i = 0; symbols != NULL && i < hits->n_files; i++) {
        struct hits_file *file = &hits->all[i];
        struct naming naming = { hits, writer, err, i, 0 };
        if (file->n == 0)
            continue;
        qsort(file->offsets, file->n, sizeof *file->offsets, by_number);
        path_from_here(hits, file->path, seen, sizeof seen);
        const char *from =
            symbols->name(symbols->context, seen, file->build_id, file->offsets, file->n, write_symbol, &naming);
        if (naming.rc < 0 || write_file(hits, i, from == NULL ? "none" : from, writer, err) < 0)
            return -1;
    }
    return 0;
}
