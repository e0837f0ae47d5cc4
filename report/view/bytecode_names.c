#include "report/view/bytecode_names.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "core/hotspot/vm.h"
#include "report/view/misses_report.h"

void bytecode_names_open(struct bytecode_names *names, bool by_class, struct arena *arena)
{
    memset(names, 0, sizeof *names);
    names->by_class = by_class;
    names->by_label.arena = arena;
}

void bytecode_names_free(struct bytecode_names *names)
{
    hash_free(&names->by_place);
    hash_free(&names->by_pc);
    map_free(&names->by_label);
    free(names->labels);
}

/* What is at the index now, if that is the instruction that the sampler has read. */
static bool read_there(struct bytecode_names *names, const struct sampled_method *method, uint32_t index)
{
    struct vm_method_parts parts;
    uint64_t key;
    vm_methods_keys(method->vm, &method->address, 1, &key, &parts);
    if (key == 0 || parts.n_code != method->code.n_bytes)
        return false;
    index = vm_instruction_last(method->vm, &parts, index);
    const struct opcode *opcode = bytecodes_at(method->bytes, method->code.n_bytes, index);
    return opcode != NULL && vm_instruction_read(method->vm, &names->read, &parts, index) &&
           names->read.opcode == opcode->java;
}

static const char *label_of(struct bytecode_names *names)
{
    struct arena *arena = names->by_label.arena;
    const struct vm_instruction *read = &names->read;
    const struct misses_bytecode bytecode = { text_utf8(arena, read->class_name, read->n_class_name),
                                              text_utf8(arena, read->name, read->n_name),
                                              text_utf8(arena, read->descriptor, read->n_descriptor), read->opcode };
    return names->by_class ? misses_named_class(arena, &bytecode) : misses_named_field(arena, &bytecode);
}

static uint32_t number_of(struct bytecode_names *names, const char *label)
{
    const uint32_t *known = map_get(&names->by_label, label, strlen(label));
    if (known != NULL)
        return *known;
    xgrow(names->labels, names->labels_room, (size_t)names->n_labels + 1);
    map_put(&names->by_label, label, strlen(label), BYTECODE_NAMES_FIRST + names->n_labels);
    names->labels[names->n_labels] = label;
    return BYTECODE_NAMES_FIRST + names->n_labels++;
}

void bytecode_names_find(struct bytecode_names *names, uint32_t number, const struct sampled_method *method,
                         int32_t index, uint32_t *name)
{
    uint64_t place = (uint64_t)number << 32 | (uint32_t)index;
    const uint32_t *known = hash_find(&names->by_place, place);
    *name = known != NULL ? *known : BYTECODE_NAMES_UNKNOWN;
    if (known != NULL || index < 0 || method->address == 0 || method->bytes == NULL ||
        !read_there(names, method, (uint32_t)index))
        return;
    const char *label = label_of(names);
    *name = label[0] == '\0' ? BYTECODE_NAMES_NOTHING : number_of(names, label);
    xhash_store(&names->by_place, place, *name);
}

/* ---- by the machine instruction ---- */

#define INSTRUCTION_BYTES 15
#define OF_HEADER         UINT32_MAX /* in by_pc: no memory, or an object's header, an array's length */
#define ARRAY_HEADER      12         /* or 16 bytes: elements are behind */

/* Does a bytecode handle what the operand is of? */
static bool is_candidate(const struct sampled_method *method, const struct vm_method_parts *parts,
                         const struct opcode *opcode, uint32_t index, const struct memory_operand *operand)
{
    bool is_array = opcode->kind == OPCODE_ARRAY_READ || opcode->kind == OPCODE_ARRAY_WRITE;
    if (operand->has_index)
        return is_array && operand->offset >= ARRAY_HEADER;
    return opcode->kind >= OPCODE_FIELD_READ && opcode->kind <= OPCODE_STATIC_WRITE && operand->offset > 0 &&
           vm_instruction_offset(method->vm, parts, index) == (uint32_t)operand->offset;
}

/* *found: what a method names with the operand's offset; UNKNOWN: nothing yet.  Returns false: several things. */
static bool find_in_method(struct bytecode_names *names, uint32_t number, const struct sampled_method *method,
                           const struct memory_operand *operand, uint32_t *found)
{
    struct vm_method_parts parts;
    uint64_t key;
    if (method->address == 0 || method->bytes == NULL)
        return true;
    vm_methods_keys(method->vm, &method->address, 1, &key, &parts);
    size_t n = method->code.n_bytes;
    for (size_t at = 0, n_bytes = 1; key != 0 && at < n && n_bytes > 0; at += n_bytes) {
        const struct opcode *opcode = bytecodes_at(method->bytes, n, at);
        uint32_t name;
        n_bytes = bytecodes_length(method->bytes, n, at);
        if (opcode == NULL || !is_candidate(method, &parts, opcode, (uint32_t)at, operand))
            continue;
        bytecode_names_find(names, number, method, (int32_t)at, &name);
        if (name < BYTECODE_NAMES_FIRST)
            continue;
        if (*found != BYTECODE_NAMES_UNKNOWN && *found != name)
            return false;
        *found = name;
    }
    return true;
}

/* In the innermost method, or those that it is inlined in, that name it. */
static uint32_t find_operand(struct bytecode_names *names, const struct stack_sample *sample, uint32_t innermost,
                             const struct memory_operand *operand)
{
    uint32_t found = BYTECODE_NAMES_UNKNOWN;
    for (uint32_t i = innermost; i < sample->n && found == BYTECODE_NAMES_UNKNOWN; i++) {
        if (sample->methods[i] == SAMPLED_UNKNOWN || sample->frames[i].sp != sample->frames[innermost].sp)
            break;
        if (!find_in_method(names, sample->methods[i], &sample->known[sample->methods[i]], operand, &found))
            return BYTECODE_NAMES_UNKNOWN;
    }
    return found;
}

void bytecode_names_operand(struct bytecode_names *names, const struct stack_sample *sample, uint32_t innermost,
                            uint32_t *name)
{
    const struct java_frame *frame = &sample->frames[innermost];
    const struct sampled_method *method = &sample->known[sample->methods[innermost]];
    uint64_t place = sample->pc ^ (uint64_t)sample->methods[innermost] << 48;
    if (sample->in_native || sample->in_kernel || method->address == 0 ||
        (frame->kind != FRAME_COMPILED && frame->kind != FRAME_INLINED))
        return;
    const uint32_t *known = hash_find(&names->by_pc, place);
    uint32_t found = known != NULL ? *known : BYTECODE_NAMES_UNKNOWN;
    if (known == NULL) {
        uint8_t bytes[INSTRUCTION_BYTES];
        struct memory_operand operand;
        size_t n = vm_read_some(method->vm, sample->pc, bytes, sizeof bytes);
        bool is_there = memory_operand_read(bytes, n, &operand);
        found = is_there ? find_operand(names, sample, innermost, &operand) : OF_HEADER;
        if (found == BYTECODE_NAMES_UNKNOWN && operand.offset <= ARRAY_HEADER)
            found = OF_HEADER;
        xhash_store(&names->by_pc, place, found);
    }
    bool is_named = found != OF_HEADER && found != BYTECODE_NAMES_UNKNOWN;
    *name = is_named ? found : *name;
    names->n_compiled++;
    names->n_operands += found != OF_HEADER;
    names->n_named += is_named;
}

const char *bytecode_names_label(const struct bytecode_names *names, uint32_t number)
{
    return names->labels[number - BYTECODE_NAMES_FIRST];
}

int fields_way(const char *text, const char *option, bool *by_class, struct err *err)
{
    *by_class = strcmp(text, "class") == 0;
    if (*by_class || text[0] == '\0' || strcmp(text, "field") == 0)
        return 0;
    err_set(err, "fields cannot be grouped by '%s'", text);
    return err_next(err, "use %s, or %s=class", option, option);
}
