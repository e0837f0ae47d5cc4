#include "core/emu/tool/tool_jvm.h"

#include "core/base/ticks.h"
#include "core/base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEPT       (1u << 16)
#define LOOK_SHARE 8 /* so many times as long as going through all classes took, it is not done again */

void tool_jvm_init(struct tool_jvm *jvm)
{
    memset(jvm, 0, sizeof *jvm);
    tool_names_init(&jvm->names);
    jvm->why = "no JVM that the agent can follow has called main";
}

static void find_interpreter(struct tool_jvm *jvm)
{
    const struct vm_tables *t = &jvm->tables;
    uint64_t queue = t->interpreter == VM_NONE ? 0 : vm_pointer(t->interpreter);
    uint32_t limit = 0;
    if (queue == 0 || t->stub_buffer == VM_NONE || t->stub_limit == VM_NONE ||
        !vm_get_u32(queue + t->stub_limit, &limit))
        return;
    jvm->interpreter = vm_pointer(queue + t->stub_buffer);
    jvm->interpreter_end = jvm->interpreter + limit;
}

int tool_jvm_open(struct tool_jvm *jvm, const uint64_t *symbols)
{
    struct vm_tables *t = &jvm->tables;
    uint64_t words = 0, at;
    if (vm_tables_read(symbols, t, &jvm->why) < 0)
        return -1;
    jvm->why = "its tables lack where its heap and its code are";
    at = vm_pointer(t->heap) + t->heap_reserved;
    if (t->code_low == VM_NONE || t->code_high == VM_NONE || !vm_get_u64(at + t->region_start, &jvm->heap) ||
        !vm_get_u64(at + t->region_words, &words) || jvm->heap == 0 || words == 0)
        return -1;
    jvm->heap_end = jvm->heap + 8 * words;
    jvm->java = vm_pointer(t->code_low);
    jvm->java_end = vm_pointer(t->code_high);
    jvm->why = "out of memory";
    jvm->kept = vm_map(KEPT * sizeof *jvm->kept);
    if (jvm->kept == NULL || vm_classes_open(&jvm->classes, t) < 0)
        return -1;
    vm_classes_forget(&jvm->classes);
    jvm->has_metadata = vm_metadata_open(&jvm->metadata, t) == 0;
    find_interpreter(jvm);
    jvm->why = NULL;
    return 0;
}

/* ---- what the agent tells ---- */

void tool_jvm_site(struct tool_jvm *jvm, uint32_t number, const struct tool_method_text *text, uint32_t line)
{
    if (number != jvm->n_sites)
        return;
    if (vec_reserve(jvm->sites, jvm->sites_room, jvm->n_sites + 1) < 0)
        return;
    struct mmprof_method *method = tool_names_method(&jvm->names, text);
    jvm->sites[jvm->n_sites++] = method == NULL ? NULL : tool_names_place(&jvm->names, method, line);
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
    struct err ignored;
    uint64_t before = jvm->code.read_bytes;
    if (!jvm->has_code || code_map_read(&jvm->code, &ignored) < 0)
        return;
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

/* ---- places ---- */

static struct mmprof_method *method_of(struct tool_jvm *jvm, uint32_t number)
{
    static const char *const none = "";
    if (number >= jvm->code.n_methods)
        return NULL;
    const struct code_method *m = &jvm->code.methods[number];
    const struct tool_method_text text = { m->class_name, m->name, m->descriptor,
                                           m->source == NULL ? none : m->source };
    return m->class_name == NULL || m->name == NULL || m->descriptor == NULL ? NULL
                                                                             : tool_names_method(&jvm->names, &text);
}

struct mmprof_method *tool_jvm_method(struct tool_jvm *jvm, uint32_t piece)
{
    return jvm->code.pieces[piece].kind == CODE_COMPILED ? method_of(jvm, jvm->code.pieces[piece].method) : NULL;
}

bool tool_jvm_is_compiled(const struct tool_jvm *jvm, uint64_t instruction)
{
    uint32_t number = jvm->has_code ? code_map_find(&jvm->code, instruction, ticks_now()) : UINT32_MAX;
    return number != UINT32_MAX && jvm->code.pieces[number].kind == CODE_COMPILED;
}

/* The innermost frame that an instruction of compiled code is from. */
static struct mmprof_place *compiled_place(struct tool_jvm *jvm, uint64_t instruction)
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
    struct mmprof_method *method = method_of(jvm, inner);
    return method == NULL ? NULL : tool_names_place(&jvm->names, method, line);
}

static uint64_t own_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static const struct vm_bytecodes *bytecode_of(struct tool_jvm *jvm, uint64_t bytecode)
{
    const struct vm_bytecodes *code = vm_metadata_code(&jvm->metadata, bytecode);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t now_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    if (code != NULL || now_ns < jvm->next_look_ns)
        return code;
    uint64_t start = own_ns();
    vm_memory_forget();
    vm_metadata_look(&jvm->metadata);
    jvm->next_look_ns = now_ns + LOOK_SHARE * (own_ns() - start);
    return vm_metadata_code(&jvm->metadata, bytecode);
}

static struct mmprof_place *interpreted_place(struct tool_jvm *jvm, uint64_t bytecode)
{
    char class_name[VM_TEXT_BYTES], name[VM_TEXT_BYTES], descriptor[VM_TEXT_BYTES], source[VM_TEXT_BYTES] = "";
    const struct tool_method_text text = { class_name, name, descriptor, source };
    const struct vm_bytecodes *code = jvm->has_metadata ? bytecode_of(jvm, bytecode) : NULL;
    if (code == NULL || !vm_class_name(&jvm->tables, code->klass, class_name, sizeof class_name) ||
        !vm_code_text(&jvm->tables, code, VM_CODE_NAME, name, sizeof name) ||
        !vm_code_text(&jvm->tables, code, VM_CODE_DESCRIPTOR, descriptor, sizeof descriptor))
        return NULL;
    if (!vm_code_text(&jvm->tables, code, VM_CODE_SOURCE, source, sizeof source))
        source[0] = '\0';
    struct mmprof_method *method = tool_names_method(&jvm->names, &text);
    return method == NULL ? NULL : tool_names_place(&jvm->names, method, vm_code_line(&jvm->tables, code, bytecode));
}

struct mmprof_place *tool_jvm_place(struct tool_jvm *jvm, uint64_t instruction, uint64_t bytecode)
{
    bool is_interpreted = bytecode != 0 && instruction >= jvm->interpreter && instruction < jvm->interpreter_end;
    uint64_t where = is_interpreted ? bytecode : instruction;
    struct tool_place_kept *kept = &jvm->kept[(where * UINT64_C(0x9e3779b97f4a7c15)) >> 48];
    _Static_assert(KEPT == 1u << 16, "as many as the hash has");
    if (kept->where == where)
        return kept->place;
    struct mmprof_place *place = is_interpreted ? interpreted_place(jvm, bytecode) : compiled_place(jvm, instruction);
    if (place != NULL)
        *kept = (struct tool_place_kept){ where, place };
    return place;
}
