#include "symbolize/hit_places.h"

#include "core/base/map.h"
#include "core/base/text.h"
#include "core/base/vec.h"
#include "symbolize/native_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGENT_LIBRARY "libmmprof-agent.so"

struct symbol {
    uint64_t offset, n_bytes;
    const char *name;
};

struct file {
    const char *path, *build_id, *from; /* the arena's */
    struct symbol *symbols;             /* owned */
    uint32_t n_symbols, symbols_room;
    bool is_sorted;
};

struct method {
    const char *class_name, *name, *descriptor, *source; /* the arena's */
};

/* What the trace says of a place. */
struct described {
    bool in_file;
    uint32_t file, tier, n_frames;
    uint64_t offset;
    enum place_code code;
    const char *name;
    const struct place_frame *frames; /* the arena's */
};

struct hit_places {
    struct arena arena;
    struct map places, methods, functions, file_numbers;
    struct described *all; /* owned, as the others */
    struct method *all_methods;
    struct hit_function *all_functions;
    struct file *files;
    uint32_t n, room, n_methods, methods_room, n_functions, functions_room, n_files, files_room;
    bool is_broken; /* no memory */
};

int hit_places_open(struct hit_places **result, struct err *err)
{
    struct hit_places *places = *result = calloc(1, sizeof *places);
    if (places == NULL)
        return err_set(err, "out of memory for places");
    places->places.arena = places->methods.arena = places->functions.arena = places->file_numbers.arena =
        &places->arena;
    return 0;
}

void hit_places_close(struct hit_places *places)
{
    if (places == NULL)
        return;
    for (uint32_t i = 0; i < places->n_files; i++)
        free(places->files[i].symbols);
    map_free(&places->places);
    map_free(&places->methods);
    map_free(&places->functions);
    map_free(&places->file_numbers);
    free(places->all);
    free(places->all_methods);
    free(places->all_functions);
    free(places->files);
    arena_free(&places->arena);
    free(places);
}

/* ---- hearing ---- */

/* Room for one more, zeroed; NULL: no memory. */
#define grow(array, n, room) (vec_reserve_zeroed(array, room, (size_t)(n) + 1) < 0 ? NULL : &(array)[n])

static const char *copy(struct hit_places *places, struct wire_text text)
{
    const char *kept = text_utf8(&places->arena, text.at, text.n);
    places->is_broken |= kept == NULL;
    return kept == NULL ? "" : kept;
}

/* The index under a number, which is new if *n is it; UINT32_MAX: no memory. */
static uint32_t index_of(struct map *map, uint32_t number, uint32_t n)
{
    const uint32_t *known = map_get(map, &number, sizeof number);
    if (known != NULL)
        return *known;
    return map_put(map, &number, sizeof number, n) < 0 ? UINT32_MAX : n;
}

static struct file *file_of(struct hit_places *places, uint32_t number)
{
    uint32_t i = index_of(&places->file_numbers, number, places->n_files);
    if (i == places->n_files) {
        struct file *file = grow(places->files, i, places->files_room);
        if (file == NULL)
            return NULL;
        file->path = file->build_id = file->from = "";
        places->n_files++;
    }
    return i == UINT32_MAX ? NULL : &places->files[i];
}

static void hear_file(struct hit_places *places, const struct place_entry *entry)
{
    struct file *file = file_of(places, entry->number);
    if (file == NULL) {
        places->is_broken = true;
        return;
    }
    file->path = copy(places, entry->path);
    file->build_id = copy(places, entry->build_id);
    file->from = copy(places, entry->symbols);
}

/* Returns -1: no memory. */
static int add_symbol(struct file *file, uint64_t offset, uint64_t n_bytes, const char *name)
{
    struct symbol *symbol = grow(file->symbols, file->n_symbols, file->symbols_room);
    if (symbol == NULL || name == NULL)
        return -1;
    *symbol = (struct symbol){ offset, n_bytes, name };
    file->n_symbols++;
    return 0;
}

static void hear_symbol(struct hit_places *places, const struct place_entry *entry)
{
    struct file *file = file_of(places, entry->number);
    if (file == NULL || add_symbol(file, entry->offset, entry->n_bytes, copy(places, entry->name)) < 0)
        places->is_broken = true;
}

static void hear_method(struct hit_places *places, const struct place_entry *entry)
{
    uint32_t i = index_of(&places->methods, entry->number, places->n_methods);
    if (i == places->n_methods) {
        if (grow(places->all_methods, i, places->methods_room) == NULL)
            i = UINT32_MAX;
        else
            places->n_methods++;
    }
    places->is_broken |= i == UINT32_MAX;
    if (i != UINT32_MAX)
        places->all_methods[i] = (struct method){ copy(places, entry->class_name), copy(places, entry->name),
                                                  copy(places, entry->descriptor), copy(places, entry->source) };
}

static void hear_place(struct hit_places *places, const struct place_entry *entry)
{
    struct described place = {
        .in_file = entry->kind == PLACE_IN_FILE, .file = entry->file, .offset = entry->offset, .name = ""
    };
    uint32_t i = index_of(&places->places, entry->number, places->n);
    if (i == places->n) {
        if (grow(places->all, i, places->room) == NULL)
            i = UINT32_MAX;
        else
            places->n++;
    }
    if (!place.in_file) {
        struct place_frame *frames = arena_alloc(&places->arena, (entry->n_frames + 1) * sizeof *frames);
        if (frames != NULL)
            memcpy(frames, entry->frames, entry->n_frames * sizeof *frames);
        place.code = entry->code;
        place.tier = entry->tier;
        place.name = copy(places, entry->name);
        place.n_frames = frames == NULL ? 0 : entry->n_frames;
        place.frames = frames;
        places->is_broken |= frames == NULL;
    }
    places->is_broken |= i == UINT32_MAX;
    if (i != UINT32_MAX)
        places->all[i] = place;
}

void hit_places_hear(void *context, const struct place_entry *entry)
{
    switch (entry->kind) {
    case PLACE_FILE:
        hear_file(context, entry);
        break;
    case PLACE_SYMBOL:
        hear_symbol(context, entry);
        break;
    case PLACE_METHOD:
        hear_method(context, entry);
        break;
    case PLACE_IN_FILE:
    case PLACE_IN_CODE:
        hear_place(context, entry);
        break;
    }
}

/* ---- symbols ---- */

static int by_offset(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void sort(struct file *file)
{
    if (!file->is_sorted && file->n_symbols > 0)
        qsort(file->symbols, file->n_symbols, sizeof *file->symbols, by_offset);
    file->is_sorted = true;
}

/* The recorder did not get to look for symbols: those of the same build, if it is here. */
static void take_symbols_here(struct hit_places *places, struct file *file)
{
    struct native_symbols symbols;
    struct err ignored;
    size_t n = 0;
    uint64_t *offsets = arena_alloc(&places->arena, (places->n + 1) * sizeof *offsets);
    file->from = "none";
    for (uint32_t i = 0; offsets != NULL && i < places->n; i++)
        if (places->all[i].in_file && file_of(places, places->all[i].file) == file)
            offsets[n++] = places->all[i].offset;
    if (offsets == NULL || file->build_id[0] == '\0' ||
        native_symbols_find(&places->arena, file->path, file->build_id, NATIVE_SYMBOLS_DEBUG, offsets, n, &symbols,
                            &ignored) < 0)
        return;
    for (size_t i = 0; i < symbols.n; i++)
        if (add_symbol(file, symbols.all[i].offset, symbols.all[i].n_bytes, symbols.all[i].name) < 0)
            places->is_broken = true;
    file->from = symbols.from;
}

/* The mangled name of the function at an offset, or NULL. */
static const char *symbol_at(struct hit_places *places, struct file *file, uint64_t offset)
{
    if (file->from[0] == '\0')
        take_symbols_here(places, file);
    sort(file);
    uint32_t low = 0, high = file->n_symbols;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (file->symbols[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || offset - file->symbols[low - 1].offset >= file->symbols[low - 1].n_bytes)
        return NULL;
    return file->symbols[low - 1].name;
}

/* ---- finding ---- */

/* The number of a function; the same for the same kind, name and file.  UINT32_MAX: no memory. */
static uint32_t function_number(struct hit_places *places, const struct hit_function *function)
{
    char *key = arena_printf(&places->arena, "%d %d %s\n%s\n%s", (int)function->kind, (int)function->subsystem,
                             function->file, function->name, function->descriptor == NULL ? "" : function->descriptor);
    if (key == NULL)
        return UINT32_MAX;
    const uint32_t *known = map_get(&places->functions, key, strlen(key));
    if (known != NULL)
        return *known;
    struct hit_function *slot = grow(places->all_functions, places->n_functions, places->functions_room);
    if (slot == NULL || map_put(&places->functions, key, strlen(key), places->n_functions) < 0)
        return UINT32_MAX;
    *slot = *function;
    return places->n_functions++;
}

static bool is_agent(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash == NULL ? path : slash + 1, AGENT_LIBRARY) == 0;
}

static int find_in_file(struct hit_places *places, const struct described *described, struct hit_function *function)
{
    struct file *file = file_of(places, described->file);
    if (file == NULL)
        return -1;
    const char *mangled = symbol_at(places, file, described->offset);
    function->name = mangled == NULL ? "" : native_symbols_display(&places->arena, mangled);
    function->file = file->path;
    function->kind = vm_is_library(file->path) ? HIT_VM : is_agent(file->path) ? HIT_AGENT : HIT_NATIVE;
    if (function->kind == HIT_VM)
        function->subsystem =
            mangled == NULL || function->name == NULL ? VM_UNKNOWN : vm_subsystem_of(function->name, mangled);
    return function->name == NULL ? -1 : 0;
}

static const struct method *method_of(const struct hit_places *places, uint32_t number)
{
    static const struct method nothing = { "", "", "", "" };
    const uint32_t *i = map_get(&places->methods, &number, sizeof number);
    return i == NULL ? &nothing : &places->all_methods[*i];
}

/* "java/util/HashMap" -> "HashMap" */
static const char *short_class(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash == NULL ? name : slash + 1;
}

static uint32_t line_of(const struct place_frame *frame)
{
    return frame->line < PLACE_BYTECODE ? frame->line : 0;
}

/* What it is inlined in, from the inside out. */
static const char *outer_of(struct hit_places *places, const struct described *described)
{
    const char *text = "";
    for (uint32_t i = 1; i < described->n_frames && text != NULL; i++) {
        const struct method *method = method_of(places, described->frames[i].method);
        text = arena_printf(&places->arena, "%s%s%s.%s", text, i > 1 ? " in " : "", short_class(method->class_name),
                            method->name);
        uint32_t line = line_of(&described->frames[i]);
        if (text != NULL && line != 0) /* code that the JVM generates has no lines */
            text = arena_printf(&places->arena, "%s:%u", text, line);
    }
    return text;
}

static int find_in_code(struct hit_places *places, const struct described *described, struct hit_function *function,
                        struct hit_place *place)
{
    function->name = described->name;
    switch (described->code) {
    case PLACE_INTERPRETER:
        function->kind = HIT_INTERPRETER;
        break;
    case PLACE_STUB:
        function->kind = HIT_STUB;
        break;
    case PLACE_COMPILED:
        function->kind = described->tier == 0 ? HIT_COMPILED : described->tier < 4 ? HIT_C1 : HIT_C2;
        break;
    case PLACE_VDSO:
        function->kind = HIT_NATIVE;
        function->name = "[vdso]";
        break;
    case PLACE_UNKNOWN:
    case PLACE_CODES:
        break;
    }
    if (described->n_frames == 0)
        return 0;
    const struct method *method = method_of(places, described->frames[0].method);
    function->name = arena_printf(&places->arena, "%s.%s", method->class_name, method->name);
    function->file = method->source;
    function->class_name = method->class_name;
    function->method = method->name;
    function->descriptor = method->descriptor;
    place->line = line_of(&described->frames[0]);
    place->bytecode = described->frames[0].line < PLACE_BYTECODE ? 0 : described->frames[0].line - PLACE_BYTECODE + 1;
    place->outer = outer_of(places, described);
    return function->name == NULL || place->outer == NULL ? -1 : 0;
}

int hit_places_find(struct hit_places *places, uint32_t number, struct hit_place *place, struct err *err)
{
    struct hit_function function = { .kind = HIT_UNKNOWN, .subsystem = VM_UNKNOWN, .name = "", .file = "" };
    const uint32_t *i = map_get(&places->places, &number, sizeof number);
    int rc = 0;
    *place = (struct hit_place){ .outer = "" };
    if (i != NULL) {
        const struct described *described = &places->all[*i];
        rc = described->in_file ? find_in_file(places, described, &function)
                                : find_in_code(places, described, &function, place);
    }
    place->function = rc < 0 ? UINT32_MAX : function_number(places, &function);
    if (places->is_broken || place->function == UINT32_MAX)
        return err_set(err, "out of memory for %u places", places->n);
    return 0;
}

const struct hit_function *hit_places_function(const struct hit_places *places, uint32_t number)
{
    return &places->all_functions[number];
}

uint32_t hit_places_n_files(const struct hit_places *places)
{
    return places->n_files;
}

const char *hit_places_file(const struct hit_places *places, uint32_t number, const char **symbols)
{
    *symbols = places->files[number].from;
    return places->files[number].path;
}

static const struct {
    const char *name, *key;
} kinds[HIT_KINDS] = {
    [HIT_INTERPRETER] = { "interpreter", "interpreter" },
    [HIT_C1] = { "compiled by C1", "c1_code" },
    [HIT_C2] = { "compiled by C2", "c2_code" },
    [HIT_COMPILED] = { "compiled", "compiled_code" },
    [HIT_STUB] = { "stubs", "stubs" },
    [HIT_VM] = { "JVM", "vm" },
    [HIT_NATIVE] = { "other native code", "native" },
    [HIT_AGENT] = { "mmprof's agent", "agent" },
    [HIT_UNKNOWN] = { "unknown", "unknown" },
};

const char *hit_kind_name(enum hit_kind kind)
{
    return kinds[kind].name;
}

const char *hit_kind_key(enum hit_kind kind)
{
    return kinds[kind].key;
}
