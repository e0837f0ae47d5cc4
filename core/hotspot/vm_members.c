/*
 * JDK 17 to 21: entries of the constant pool's cache stand behind it, of fields and methods alike, and the low half of
 * an entry's first word is its constant.  JDK 22 and later: fields have an array of their own, and methods since 23.
 */
#include "core/hotspot/vm_methods.h"

#include "core/hotspot/vm_objects.h"
#include "core/hotspot/vm_state.h"

#define OPERAND_BYTES 3u
#define ARRAY_MAX     65536u
#define OFFSET_MAX    4096u

enum { CODE_NEW = 0xbb, CODE_NEWARRAY = 0xbc, CODE_ANEWARRAY = 0xbd, CODE_MULTIANEWARRAY = 0xc5 };
enum { CODE_WIDE = 0xc4, CODE_FAST_IACCESS_0 = 0xdd, CODE_FAST_FACCESS_0 = 0xdf, CODE_FAST_ICALOAD = 0xe2 };

static void know(struct vm *vm)
{
    struct vm_members *at = &vm->members;
    struct vm_field fields[] = {
        { "ConstantPool", "_cache", &at->cache, false },
        { "ConstantPoolCacheEntry", "_indices", &at->constant, false },
        { "ConstantPoolCacheEntry", "_f2", &at->offset, false },
        { "ConstantPoolCache", "_resolved_field_entries", &at->fields.array, false },
        { "Array<ResolvedFieldEntry>", "_data", &at->fields.data, false },
        { "ResolvedFieldEntry", "_cpool_index", &at->fields.constant, false },
        { "ConstantPoolCache", "_resolved_method_entries", &at->methods.array, false },
        { "Array<ResolvedMethodEntry>", "_data", &at->methods.data, false },
        { "ResolvedMethodEntry", "_cpool_index", &at->methods.constant, false },
    };
    vm_fields_find(vm, fields, sizeof fields / sizeof *fields);
    at->cache_bytes = vm_type_bytes(vm, "ConstantPoolCache");
    at->entry_bytes = vm_type_bytes(vm, "ConstantPoolCacheEntry");
    at->fields.entry_bytes = vm_type_bytes(vm, "ResolvedFieldEntry");
    at->methods.entry_bytes = vm_type_bytes(vm, "ResolvedMethodEntry");
    class_layout_find(vm, &at->classes);
    if (at->fields.array != VM_NONE) /* JDK 22 and later: the holder, the offset, two numbers of 16 bits */
        at->offset = at->fields.constant == 14 ? 8 : VM_NONE;
    at->is_known =
        at->cache < OFFSET_MAX && at->classes.pool_bytes < OFFSET_MAX && at->classes.symbol_body < OFFSET_MAX;
}

/* ---- operands ---- */

/* The constant of a resolved field or method; false: this JVM has no such entries, or it cannot be read. */
static bool find_resolved(struct vm *vm, const struct vm_resolved *resolved, uint64_t cache, uint32_t operand,
                          uint16_t *constant)
{
    uint64_t array;
    uint32_t n;
    return resolved->constant < OFFSET_MAX && resolved->entry_bytes < OFFSET_MAX && resolved->data < OFFSET_MAX &&
           vm_read_u64(vm, cache + resolved->array, &array) && array != 0 && vm_read(vm, array, &n, sizeof n) &&
           operand < n && n < ARRAY_MAX &&
           vm_read(vm, array + resolved->data + operand * resolved->entry_bytes + resolved->constant, constant,
                   sizeof *constant);
}

/* Where an entry of the fields is; 0: not known. */
static uint64_t field_entry(struct vm *vm, uint64_t pool, uint32_t operand)
{
    const struct vm_members *at = &vm->members;
    uint64_t cache, array;
    uint32_t n;
    if (at->offset >= OFFSET_MAX || !vm_read_u64(vm, pool + at->cache, &cache) || cache == 0)
        return 0;
    if (at->fields.array == VM_NONE)
        return at->cache_bytes < OFFSET_MAX && at->entry_bytes < OFFSET_MAX
                   ? cache + at->cache_bytes + operand * at->entry_bytes
                   : 0;
    return vm_read_u64(vm, cache + at->fields.array, &array) && array != 0 && vm_read(vm, array, &n, sizeof n) &&
                   operand < n && n < ARRAY_MAX
               ? array + at->fields.data + operand * at->fields.entry_bytes
               : 0;
}

uint32_t vm_instruction_offset(struct vm *vm, const struct vm_method_parts *parts, uint32_t index)
{
    uint8_t code[OPERAND_BYTES] = { 0 };
    uint16_t operand;
    uint32_t offset;
    vm_once(vm, &vm->members.once, know);
    if (index >= parts->n_code || vm_read_some(vm, parts->code + index, code, sizeof code) == 0)
        return 0;
    memcpy(&operand, code + 1, sizeof operand);
    uint64_t entry = vm->members.is_known ? field_entry(vm, parts->pool, operand) : 0;
    return entry != 0 && vm_read(vm, entry + vm->members.offset, &offset, sizeof offset) ? offset : 0;
}

static bool find_constant(struct vm *vm, uint64_t pool, const struct opcode *opcode, uint32_t operand,
                          uint16_t *constant)
{
    struct vm_members *at = &vm->members;
    bool is_call = opcode->kind >= OPCODE_CALL_VIRTUAL;
    const struct vm_resolved *resolved = is_call ? &at->methods : &at->fields;
    uint64_t cache;
    if (!vm_read_u64(vm, pool + at->cache, &cache) || cache == 0)
        return false;
    if (resolved->array != VM_NONE)
        return find_resolved(vm, resolved, cache, operand, constant);
    return at->constant < OFFSET_MAX && at->cache_bytes < OFFSET_MAX && at->entry_bytes < OFFSET_MAX &&
           vm_read(vm, cache + at->cache_bytes + operand * at->entry_bytes + at->constant, constant, sizeof *constant);
}

/* ---- names ---- */

/* The two numbers of a constant: the low half, and the high one. */
static bool read_constant(struct vm *vm, uint64_t pool, uint32_t index, uint16_t numbers[2])
{
    return index != 0 &&
           vm_read(vm, pool + vm->members.classes.pool_bytes + 8 * (uint64_t)index, numbers, 2 * sizeof *numbers);
}

static bool read_text(struct vm *vm, uint64_t pool, uint32_t index, char *text, size_t *n)
{
    struct vm_members *at = &vm->members;
    uint64_t symbol;
    *n = 0;
    if (index == 0 || !vm_read_u64(vm, pool + at->classes.pool_bytes + 8 * (uint64_t)index, &symbol))
        return false;
    *n = class_symbol_text(vm, &at->classes, symbol, text, WIRE_TEXT_SHORT_BYTES);
    *n = *n < WIRE_TEXT_SHORT_BYTES ? *n : WIRE_TEXT_SHORT_BYTES - 1;
    return *n > 0;
}

/* A member has its class and its name and type; a class (of 16 bits its place among the resolved ones) its name. */
static void read_member(struct vm *vm, struct vm_instruction *instruction, uint64_t pool, uint32_t constant)
{
    uint16_t member[2], class[2], type[2];
    if (!read_constant(vm, pool, constant, member) || !read_constant(vm, pool, member[0], class) ||
        !read_constant(vm, pool, member[1], type) ||
        !read_text(vm, pool, class[1], instruction -> class_name, &instruction -> n_class_name) ||
        !read_text(vm, pool, type[0], instruction->name, &instruction->n_name) ||
        !read_text(vm, pool, type[1], instruction->descriptor, &instruction->n_descriptor))
        instruction->n_class_name = instruction->n_name = instruction->n_descriptor = 0;
}

static bool take_text(struct vm_instruction *instruction, const char *text)
{
    instruction->n_class_name = strlen(text);
    memcpy(instruction->class_name, text, instruction->n_class_name);
    return true;
}

static bool names_member(const struct opcode *opcode)
{
    return (opcode->kind >= OPCODE_FIELD_READ && opcode->kind <= OPCODE_STATIC_WRITE) ||
           (opcode->kind >= OPCODE_CALL_VIRTUAL && opcode->kind <= OPCODE_CALL_INTERFACE);
}

bool vm_instruction_read(struct vm *vm, struct vm_instruction *instruction, const struct vm_method_parts *parts,
                         uint32_t index)
{
    uint8_t code[OPERAND_BYTES] = { 0 };
    uint16_t operand, constant;
    vm_once(vm, &vm->members.once, know);
    instruction->n_class_name = instruction->n_name = instruction->n_descriptor = 0;
    if (index >= parts->n_code || vm_read_some(vm, parts->code + index, code, sizeof code) == 0)
        return false;
    code[0] = vm_bytecode(vm, code[0]);
    const struct opcode *opcode = &opcodes[code[0] == CODE_WIDE ? code[1] : code[0]];
    if (opcode->name == NULL)
        return false;
    instruction->opcode = opcode->java;
    memcpy(&operand, code + 1, sizeof operand);
    if (vm->members.is_known && names_member(opcode) && find_constant(vm, parts->pool, opcode, operand, &constant))
        read_member(vm, instruction, parts->pool, constant);
    return true;
}

bool vm_instruction_read_made(struct vm *vm, struct vm_instruction *instruction, const struct vm_method_parts *parts,
                              uint32_t index)
{
    static const char *const types[] = { "boolean", "char", "float", "double", "byte", "short", "int", "long" };
    uint8_t code[OPERAND_BYTES] = { 0 };
    uint16_t class[2];
    vm_once(vm, &vm->members.once, know);
    instruction->n_class_name = instruction->n_name = instruction->n_descriptor = 0;
    if (index >= parts->n_code || vm_read_some(vm, parts->code + index, code, sizeof code) == 0 ||
        !vm->members.is_known)
        return false;
    instruction->opcode = code[0];
    if (code[0] == CODE_NEWARRAY && code[1] >= 4 && code[1] <= 11)
        return take_text(instruction, types[code[1] - 4]);
    return (code[0] == CODE_NEW || code[0] == CODE_ANEWARRAY || code[0] == CODE_MULTIANEWARRAY) &&
           read_constant(vm, parts->pool, (uint32_t)code[1] << 8 | code[2], class) &&
           read_text(vm, parts->pool, class[1], instruction -> class_name, &instruction -> n_class_name);
}

uint32_t vm_instruction_last(struct vm *vm, const struct vm_method_parts *parts, uint32_t index)
{
    uint8_t code;
    if (index >= parts->n_code || !vm_read(vm, parts->code + index, &code, 1))
        return index;
    code = vm_bytecode(vm, code);
    if ((code >= CODE_FAST_IACCESS_0 && code <= CODE_FAST_FACCESS_0) || code == CODE_FAST_ICALOAD)
        index += opcodes[code].n_bytes;
    return index;
}
