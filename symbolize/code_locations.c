#include "symbolize/code_locations.h"

#include "core/base/map.h"
#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "core/trace/recording_info.h"
#include "symbolize/native_symbols.h"

#include <sys/utsname.h>

#define AGENT_LIBRARY     "libmmprof-agent.so"
#define LAB_AGENT_LIBRARY "libmmprof-lab-agent.so"

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

struct location_method {
    struct method_name names; /* the arena's */
    const char *source;       /* the same */
};

/* What the trace says of a code location. */
struct described {
    bool in_file;
    uint32_t file, tier, n_frames;
    uint64_t offset;
    enum location_code code;
    const char *name;
    const struct location_frame *frames; /* the arena's */
};

struct code_locations {
    struct arena arena;
    struct hash_set locations, methods, file_numbers; /* indexes by number */
    struct map functions;
    struct described *all; /* owned, as the others */
    struct location_method *all_methods;
    struct code_function *all_functions;
    struct file *files;
    uint32_t n, room, n_methods, methods_room, n_functions, functions_room, n_files, files_room;
    bool is_own; /* of a recording of this machine */
};

struct code_locations *code_locations_open(void)
{
    struct code_locations *locations = xcalloc(1, sizeof *locations);
    locations->functions.arena = &locations->arena;
    return locations;
}

void code_locations_recorded(struct code_locations *locations, const struct trace_reader *reader)
{
    struct utsname here;
    const char *host = info_text(reader, INFO_HOST);
    locations->is_own = host != NULL && uname(&here) == 0 && strcmp(host, here.nodename) == 0;
}

void code_locations_close(struct code_locations *locations)
{
    if (locations == NULL)
        return;
    for (uint32_t i = 0; i < locations->n_files; i++)
        free(locations->files[i].symbols);
    hash_free(&locations->locations);
    hash_free(&locations->methods);
    map_free(&locations->functions);
    hash_free(&locations->file_numbers);
    free(locations->all);
    free(locations->all_methods);
    free(locations->all_functions);
    free(locations->files);
    arena_free(&locations->arena);
    free(locations);
}

/* ---- hearing ---- */

static const char *copy(struct code_locations *locations, struct wire_text text)
{
    return text_utf8(&locations->arena, text.at, text.n);
}

/* The index under a number; *n: how many there are, one more where it is new. */
static uint32_t index_of(struct hash_set *set, uint32_t number, uint32_t *n)
{
    const uint32_t *known = hash_find(set, number);
    if (known != NULL)
        return *known;
    xhash_store(set, number, *n);
    return (*n)++;
}

static struct file *file_of(struct code_locations *locations, uint32_t number)
{
    uint32_t i = index_of(&locations->file_numbers, number, &locations->n_files);
    xgrow_zeroed(locations->files, locations->files_room, locations->n_files);
    struct file *file = &locations->files[i];
    if (file->path == NULL)
        file->path = file->build_id = file->from = "";
    return file;
}

static void hear_file(struct code_locations *locations, const struct location_entry *entry)
{
    struct file *file = file_of(locations, entry->number);
    file->path = copy(locations, entry->path);
    file->build_id = copy(locations, entry->build_id);
    file->from = copy(locations, entry->symbols);
}

static void add_symbol(struct file *file, uint64_t offset, uint64_t n_bytes, const char *name)
{
    *xpush(file->symbols, file->symbols_room, file->n_symbols) = (struct symbol){ offset, n_bytes, name };
}

static void hear_method(struct code_locations *locations, const struct location_entry *entry)
{
    uint32_t i = index_of(&locations->methods, entry->number, &locations->n_methods);
    xgrow(locations->all_methods, locations->methods_room, locations->n_methods);
    locations->all_methods[i] =
        (struct location_method){ { copy(locations, entry->class_name), copy(locations, entry->name),
                                    copy(locations, entry->descriptor) },
                                  copy(locations, entry->source) };
}

static void hear_location(struct code_locations *locations, const struct location_entry *entry)
{
    struct described location = {
        .in_file = entry->kind == LOCATION_IN_FILE, .file = entry->file, .offset = entry->offset, .name = ""
    };
    if (!location.in_file) {
        struct location_frame *frames = arena_alloc(&locations->arena, (entry->n_frames + 1) * sizeof *frames);
        memcpy(frames, entry->frames, entry->n_frames * sizeof *frames);
        location.code = entry->code;
        location.tier = entry->tier;
        location.name = copy(locations, entry->name);
        location.n_frames = entry->n_frames;
        location.frames = frames;
    }
    uint32_t i = index_of(&locations->locations, entry->number, &locations->n);
    xgrow(locations->all, locations->room, locations->n);
    locations->all[i] = location;
}

void code_locations_hear(void *context, const struct location_entry *entry)
{
    switch (entry->kind) {
    case LOCATION_FILE:
        hear_file(context, entry);
        break;
    case LOCATION_SYMBOL:
        add_symbol(file_of(context, entry->number), entry->offset, entry->n_bytes, copy(context, entry->name));
        break;
    case LOCATION_METHOD:
        hear_method(context, entry);
        break;
    case LOCATION_IN_FILE:
    case LOCATION_IN_CODE:
        hear_location(context, entry);
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

/*
 * The recorder did not get to look for symbols: those of the same build, if it is here.  The trace may be anybody's:
 * what it names is opened only if it says that it is of this machine, and only a regular file.
 */
static void take_symbols_here(struct code_locations *locations, struct file *file)
{
    struct native_symbols symbols = { .n = 0 };
    struct jvm_root own = JVM_ROOT_NONE;
    struct err ignored;
    size_t n = 0;
    uint64_t *offsets = arena_alloc(&locations->arena, (locations->n + 1) * sizeof *offsets);
    file->from = "none";
    for (uint32_t i = 0; i < locations->n; i++)
        if (locations->all[i].in_file && file_of(locations, locations->all[i].file) == file)
            offsets[n++] = locations->all[i].offset;
    if (file->build_id[0] == '\0' || !locations->is_own || jvm_root_own(&own) < 0)
        return;
    const struct jvm_file open = { &own, file->path, jvm_root_file(&own, file->path) };
    if (native_symbols_find(&locations->arena, &open, file->build_id, NATIVE_SYMBOLS_DEBUG, offsets, n, &symbols,
                            &ignored) == 0)
        file->from = symbols.from;
    for (size_t i = 0; i < symbols.n; i++)
        add_symbol(file, symbols.all[i].offset, symbols.all[i].n_bytes, symbols.all[i].name);
    if (open.fd >= 0)
        close(open.fd);
    jvm_root_close(&own);
}

/* The mangled name of the function at an offset, or NULL. */
static const char *symbol_at(struct code_locations *locations, struct file *file, uint64_t offset)
{
    if (file->from[0] == '\0')
        take_symbols_here(locations, file);
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

/* The number of a function; the same for the same kind, name and file. */
static uint32_t function_number(struct code_locations *locations, const struct code_function *function)
{
    char *key = arena_printf(&locations->arena, "%d %d %s\n%s\n%s", (int)function->kind, (int)function->subsystem,
                             function->file, function->name,
                             function->names.descriptor == NULL ? "" : function->names.descriptor);
    const uint32_t *known = map_get(&locations->functions, key, strlen(key));
    if (known != NULL)
        return *known;
    map_put(&locations->functions, key, strlen(key), locations->n_functions);
    *xpush(locations->all_functions, locations->functions_room, locations->n_functions) = *function;
    return locations->n_functions - 1;
}

static bool is_agent(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    return strcmp(name, AGENT_LIBRARY) == 0 || strcmp(name, LAB_AGENT_LIBRARY) == 0;
}

static void find_in_file(struct code_locations *locations, const struct described *described,
                         struct code_function *function)
{
    struct file *file = file_of(locations, described->file);
    const char *mangled = symbol_at(locations, file, described->offset);
    function->name = mangled == NULL ? "" : native_symbols_display(&locations->arena, mangled);
    function->file = file->path;
    function->kind = vm_is_library(file->path) ? CODE_AT_VM : is_agent(file->path) ? CODE_AT_AGENT : CODE_AT_NATIVE;
    if (function->kind == CODE_AT_VM)
        function->subsystem = mangled == NULL ? VM_UNKNOWN : vm_subsystem_of(function->name, mangled);
}

static const struct location_method *method_of(const struct code_locations *locations, uint32_t number)
{
    static const struct location_method nothing = { { "", "", "" }, "" };
    const uint32_t *i = hash_find(&locations->methods, number);
    return i == NULL ? &nothing : &locations->all_methods[*i];
}

static uint32_t line_of(const struct location_frame *frame)
{
    return frame->line < LOCATION_BYTECODE ? frame->line : 0;
}

/* What it is inlined in, from the inside out. */
static const char *outer_of(struct code_locations *locations, const struct described *described)
{
    const char *text = "";
    for (uint32_t i = 1; i < described->n_frames; i++) {
        const struct location_method *method = method_of(locations, described->frames[i].method);
        text = arena_printf(&locations->arena, "%s%s%s.%s", text, i > 1 ? " in " : "",
                            text_base_name(method->names.class_name), method->names.method);
        uint32_t line = line_of(&described->frames[i]);
        if (line != 0) /* code that the JVM generates has no lines */
            text = arena_printf(&locations->arena, "%s:%u", text, line);
    }
    return text;
}

static void find_in_code(struct code_locations *locations, const struct described *described,
                         struct code_function *function, struct code_location *location)
{
    function->name = described->name;
    switch (described->code) {
    case LOCATION_INTERPRETER:
        function->kind = CODE_AT_INTERPRETER;
        break;
    case LOCATION_STUB:
        function->kind = CODE_AT_STUB;
        break;
    case LOCATION_COMPILED:
        function->kind = described->tier == 0 ? CODE_AT_COMPILED : described->tier < 4 ? CODE_AT_C1 : CODE_AT_C2;
        break;
    case LOCATION_VDSO:
        function->kind = CODE_AT_NATIVE;
        function->name = "[vdso]";
        break;
    case LOCATION_UNKNOWN:
    case LOCATION_CODES:
        break;
    }
    if (described->n_frames == 0)
        return;
    const struct location_method *method = method_of(locations, described->frames[0].method);
    function->name = arena_printf(&locations->arena, "%s.%s", method->names.class_name, method->names.method);
    function->file = method->source;
    function->names.class_name = method->names.class_name;
    function->names.method = method->names.method;
    function->names.descriptor = method->names.descriptor;
    location->line = line_of(&described->frames[0]);
    location->bytecode =
        described->frames[0].line < LOCATION_BYTECODE ? 0 : described->frames[0].line - LOCATION_BYTECODE + 1;
    location->outer = outer_of(locations, described);
}

void code_locations_find(struct code_locations *locations, uint32_t number, struct code_location *location)
{
    struct code_function function = { .kind = CODE_AT_UNKNOWN, .subsystem = VM_UNKNOWN, .name = "", .file = "" };
    const uint32_t *i = hash_find(&locations->locations, number);
    *location = (struct code_location){ .outer = "" };
    if (i != NULL && locations->all[*i].in_file)
        find_in_file(locations, &locations->all[*i], &function);
    else if (i != NULL)
        find_in_code(locations, &locations->all[*i], &function, location);
    location->function = function_number(locations, &function);
}

const struct code_function *code_locations_function(const struct code_locations *locations, uint32_t number)
{
    return &locations->all_functions[number];
}

uint32_t code_locations_n_files(const struct code_locations *locations)
{
    return locations->n_files;
}

const char *code_locations_file(const struct code_locations *locations, uint32_t number, const char **symbols)
{
    *symbols = locations->files[number].from;
    return locations->files[number].path;
}

static const struct {
    const char *name, *key;
} kinds[CODE_LOCATION_KINDS] = {
    [CODE_AT_INTERPRETER] = { "interpreter", "interpreter" },
    [CODE_AT_C1] = { "compiled by C1", "c1_code" },
    [CODE_AT_C2] = { "compiled by C2", "c2_code" },
    [CODE_AT_COMPILED] = { "compiled", "compiled_code" },
    [CODE_AT_STUB] = { "stubs", "stubs" },
    [CODE_AT_VM] = { "JVM", "vm" },
    [CODE_AT_NATIVE] = { "other native code", "native" },
    [CODE_AT_AGENT] = { "mmprof's agent", "agent" },
    [CODE_AT_UNKNOWN] = { "unknown", "unknown" },
};

const char *code_location_kind_name(enum code_location_kind kind)
{
    return kinds[kind].name;
}

const char *code_location_kind_key(enum code_location_kind kind)
{
    return kinds[kind].key;
}
