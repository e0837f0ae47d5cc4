#include "core/emu/tool/tool_jvm.h"

#include "core/base/ticks.h"
#include "core/base/xalloc.h"
#include "core/emu/model/sim_machine.h"

#define KEPT    (1u << 16)
#define TIER_C2 4

void tool_jvm_init(struct tool_jvm *jvm)
{
    memset(jvm, 0, sizeof *jvm);
    tool_names_init(&jvm->names);
    jvm->why = "no JVM that the agent can follow has called main";
}

int tool_jvm_open(struct tool_jvm *jvm, const uint64_t *symbols)
{
    struct vm_tables *t = &jvm->tables;
    uint64_t words = 0, at;
    vm_memory_use(symbols);
    if (vm_tables_read(vm_here(), t, &jvm->why) < 0)
        return -1;
    jvm->why = "its tables lack where its heap and its code are";
    at = vm_pointer(t->heap) + t->heap_reserved;
    if (!code_heaps_range(vm_here(), &jvm->java, &jvm->java_end) || !vm_get_u64(at + t->region_start, &jvm->heap) ||
        !vm_get_u64(at + t->region_words, &words) || jvm->heap == 0 || words == 0 || words > HEAP_WORDS_MAX)
        return -1;
    jvm->heap_end = jvm->heap + 8 * words;
    jvm->kept = sim_map(KEPT * sizeof *jvm->kept);
    vm_classes_open(&jvm->classes, t);
    vm_classes_forget(&jvm->classes);
    vm_metadata_open(&jvm->metadata, t);
    code_heaps_interpreter(vm_here(), &jvm->interpreter, &jvm->interpreter_end);
    jvm->why = NULL;
    return 0;
}

/* ---- what the agent tells ---- */

void tool_jvm_site(struct tool_jvm *jvm, uint32_t number, const struct tool_method_text *text, uint32_t line)
{
    if (number != jvm->n_sites)
        return;
    *xpush(jvm->sites, jvm->sites_room, jvm->n_sites) =
        tool_names_location(&jvm->names, tool_names_method(&jvm->names, text), line);
}

void tool_jvm_log(struct tool_jvm *jvm, int fd)
{
    if (jvm->has_code)
        return;
    code_map_init(&jvm->code, fd);
    jvm->has_code = true;
}

void tool_jvm_read_code(struct tool_jvm *jvm)
{
    uint64_t before = jvm->code.read_bytes;
    if (!jvm->has_code)
        return;
    code_map_read(&jvm->code);
    if (jvm->code.read_bytes != before && jvm->kept != NULL)
        memset(jvm->kept, 0, KEPT * sizeof *jvm->kept);
}

void tool_jvm_forget(struct tool_jvm *jvm)
{
    vm_memory_forget();
    vm_classes_forget(&jvm->classes);
    memset(jvm->kept, 0, KEPT * sizeof *jvm->kept);
    jvm->metadata.n_codes = 0;
}

/* ---- objects ---- */

struct mmprof_class *tool_jvm_class(struct tool_jvm *jvm, uint64_t object, uint64_t *n_bytes)
{
    char name[VM_TEXT_BYTES];
    const struct vm_class *class = vm_class_of(&jvm->classes, object);
    *n_bytes = vm_object_bytes(&jvm->classes, class, object);
    if (*n_bytes < 8 || *n_bytes > jvm->heap_end - object ||
        !vm_class_name(&jvm->tables, class->klass, name, sizeof name))
        return NULL;
    return tool_names_class(&jvm->names, name);
}

/* ---- locations ---- */

struct mmprof_method *tool_jvm_code_method(struct tool_jvm *jvm, uint32_t number)
{
    static const char *const none = "";
    if (number >= jvm->code.n_methods)
        return NULL;
    const struct code_method *m = &jvm->code.methods[number];
    const struct tool_method_text text = { m->names.class_name, m->names.method, m->names.descriptor,
                                           m->source == NULL ? none : m->source };
    return m->names.class_name == NULL || m->names.method == NULL || m->names.descriptor == NULL
               ? NULL
               : tool_names_method(&jvm->names, &text);
}

/* Of a piece of code; NULL: not known. */
static struct mmprof_method *method_of_piece(struct tool_jvm *jvm, uint32_t piece)
{
    return jvm->code.pieces[piece].kind == CODE_COMPILED ? tool_jvm_code_method(jvm, jvm->code.pieces[piece].method)
                                                         : NULL;
}

static void tell_piece(struct tool_jvm *jvm, uint32_t number, uint64_t time,
                       void (*tell)(const struct mmprof_code *code))
{
    const struct code_piece *piece = &jvm->code.pieces[number];
    const struct mmprof_code code = { .start = piece->start,
                                      .bytes = piece->end - piece->start,
                                      .method = method_of_piece(jvm, number),
                                      .time = time,
                                      .is_by_c2 = piece->tier == TIER_C2 };
    if (code.method != NULL && tell != NULL)
        tell(&code);
}

/* A piece that was asked about is one that the tool knows to be gone. */
static void tell_discarded(struct tool_jvm *jvm, const struct mmprof_tool *tool, uint64_t time)
{
    for (uint32_t i = 0; i < jvm->n_pieces_told; i++) {
        struct code_piece *piece = &jvm->code.pieces[i];
        if (piece->to_ticks == UINT64_MAX || piece->asked != 0)
            continue;
        piece->asked = 1;
        tell_piece(jvm, i, time, tool->code_discarded);
    }
}

bool tool_jvm_tell_code(struct tool_jvm *jvm, const struct mmprof_tool *tool, uint64_t (*time_now)(void))
{
    tool_jvm_read_code(jvm);
    if (!jvm->has_code || jvm->told_bytes == jvm->code.read_bytes)
        return false;
    jvm->told_bytes = jvm->code.read_bytes;
    uint32_t before = jvm->n_pieces_told;
    uint64_t time = time_now();
    if (tool->code_discarded != NULL)
        tell_discarded(jvm, tool, time);
    for (; jvm->n_pieces_told < jvm->code.n_pieces; jvm->n_pieces_told++)
        tell_piece(jvm, jvm->n_pieces_told, time, tool->method_compiled);
    return jvm->n_pieces_told > before;
}

bool tool_jvm_is_compiled(const struct tool_jvm *jvm, uint64_t instruction)
{
    uint32_t number = jvm->has_code ? code_map_find(&jvm->code, instruction, ticks_now()) : UINT32_MAX;
    return number != UINT32_MAX && jvm->code.pieces[number].kind == CODE_COMPILED;
}

/* The innermost frame that an instruction of compiled code is from. */
static struct mmprof_location *compiled_location(struct tool_jvm *jvm, uint64_t instruction)
{
    struct code_frame frames[CODE_FRAMES_MAX];
    uint32_t point, line = 0, number = jvm->has_code ? code_map_find(&jvm->code, instruction, ticks_now()) : UINT32_MAX;
    const struct code_piece *piece = number == UINT32_MAX ? NULL : &jvm->code.pieces[number];
    if (piece == NULL || piece->kind != CODE_COMPILED)
        return NULL;
    uint32_t n = code_piece_frames(piece, instruction - piece->start, frames, &point);
    uint32_t inner = n == 0 ? piece->method : frames[n - 1].method;
    if (n > 0 && inner < jvm->code.n_methods)
        line = code_log_line(jvm->code.methods[inner].line_bytes, jvm->code.methods[inner].n_line_bytes,
                             frames[n - 1].index < 0 ? 0 : frames[n - 1].index); /* a method's entry: its first line */
    struct mmprof_method *method = tool_jvm_code_method(jvm, inner);
    return method == NULL ? NULL : tool_names_location(&jvm->names, method, line);
}

static const char *terminated(char *text, size_t n)
{
    text[n < WIRE_TEXT_SHORT_BYTES ? n : WIRE_TEXT_SHORT_BYTES - 1] = '\0';
    return text;
}

static struct mmprof_location *interpreted_location(struct tool_jvm *jvm, uint64_t bytecode)
{
    static struct vm_method m; /* too large for a thread of QEMU's */
    const struct vm_bytecodes *code = vm_metadata_code(&jvm->metadata, bytecode);
    if (code == NULL || !vm_method_read_parts(vm_here(), &m, code->method, &code->parts, NULL))
        return NULL;
    const struct tool_method_text text = { terminated(m.class_name, m.n_class_name), terminated(m.name, m.n_name),
                                           terminated(m.descriptor, m.n_descriptor), terminated(m.source, m.n_source) };
    return tool_names_location(&jvm->names, tool_names_method(&jvm->names, &text),
                               vm_method_line(vm_here(), &code->parts, bytecode));
}

struct mmprof_location *tool_jvm_location(struct tool_jvm *jvm, uint64_t instruction, uint64_t bytecode)
{
    bool is_interpreted = bytecode != 0 && instruction >= jvm->interpreter && instruction < jvm->interpreter_end;
    uint64_t where = is_interpreted ? bytecode : instruction;
    struct tool_location_kept *kept = &jvm->kept[(where * UINT64_C(0x9e3779b97f4a7c15)) >> 48];
    _Static_assert(KEPT == 1u << 16, "as many as the hash has");
    if (kept->where == where)
        return kept->location;
    struct mmprof_location *location =
        is_interpreted ? interpreted_location(jvm, bytecode) : compiled_location(jvm, instruction);
    if (location != NULL)
        *kept = (struct tool_location_kept){ where, location };
    return location;
}
