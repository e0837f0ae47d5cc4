#include "core/hotspot/vm_constants.h"

#include "core/hotspot/bytecodes.h"
#include "core/hotspot/class_layout.h"
#include "core/hotspot/vm_fields.h"

#include <pthread.h>
#include <stdio.h>

enum { CODE_NEWARRAY = 0xbc, CODE_NEW = 0xbb, CODE_ANEWARRAY = 0xbd, CODE_MULTIANEWARRAY = 0xc5 };

#define ARRAY_DATA 8u /* of an Array of words, behind its length */

static struct {
    uint64_t cache, pool_bytes;                   /* in a ConstantPool, and of it */
    uint64_t entries, entry_index, entry_bytes;   /* JDK 23 and later: in the cache, in an entry, of an entry */
    uint64_t cache_bytes, indices, indices_bytes; /* before: of the cache, in an entry behind it, of an entry */
    struct class_layout layout;
} at;

static void know(void)
{
    struct vm_field fields[] = {
        { "ConstantPool", "_cache", &at.cache, false },
        { "ConstantPoolCache", "_resolved_method_entries", &at.entries, false },
        { "ResolvedMethodEntry", "_cpool_index", &at.entry_index, false },
        { "ConstantPoolCacheEntry", "_indices", &at.indices, false },
    };
    vm_fields_find(fields, sizeof fields / sizeof *fields);
    at.pool_bytes = vm_type_bytes("ConstantPool");
    at.entry_bytes = vm_type_bytes("ResolvedMethodEntry");
    at.cache_bytes = vm_type_bytes("ConstantPoolCache");
    at.indices_bytes = vm_type_bytes("ConstantPoolCacheEntry");
    class_layout_find(&at.layout);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A constant is a word behind the header. */
static bool read_constant(uint64_t pool, uint32_t index, uint64_t *value)
{
    return index != 0 && vm_read_u64(pool + at.pool_bytes + 8 * (uint64_t)index, value);
}

static bool read_name(uint64_t pool, uint32_t index, char text[VM_NAME_BYTES])
{
    uint64_t symbol;
    return read_constant(pool, index, &symbol) && class_symbol_text(&at.layout, symbol, text, VM_NAME_BYTES) > 0;
}

/* Two indexes: that of a class among those that are resolved, and its name's. */
static bool read_class(uint64_t pool, uint32_t index, char text[VM_NAME_BYTES])
{
    uint64_t value;
    return read_constant(pool, index, &value) && read_name(pool, (uint32_t)(value >> 16 & 0xffff), text);
}

/* The index in the pool that the operand of a call stands for; 0: not known. */
static uint32_t index_of_call(uint64_t pool, uint32_t operand)
{
    uint64_t cache, list;
    uint8_t index[2] = { 0 };
    if (at.cache == VM_NONE || !vm_read_u64(pool + at.cache, &cache) || cache == 0)
        return 0;
    if (at.entries != VM_NONE && at.entry_index != VM_NONE && at.entry_bytes != VM_NONE) {
        if (vm_read_u64(cache + at.entries, &list) && list != 0)
            vm_read(list + ARRAY_DATA + operand * at.entry_bytes + at.entry_index, index, sizeof index);
    } else if (at.indices != VM_NONE && at.indices_bytes != VM_NONE && at.cache_bytes != VM_NONE) {
        vm_read(cache + at.cache_bytes + operand * at.indices_bytes + at.indices, index, sizeof index);
    }
    return (uint32_t)vm_number(index, sizeof index, 0, 2);
}

bool vm_constants_call(uint64_t pool, const uint8_t *code, size_t n, size_t index, struct vm_reference *named)
{
    const struct opcode *opcode = bytecodes_at(code, n, index);
    uint64_t method, name_and_type;
    pthread_once(&once, know);
    if (opcode == NULL || opcode->kind < OPCODE_CALL_VIRTUAL || opcode->kind > OPCODE_CALL_INTERFACE || index + 3 > n)
        return false;
    uint32_t its = index_of_call(pool, (uint32_t)vm_number(code + index, n - index, 1, 2)); /* in the JVM's own order */
    if (!read_constant(pool, its, &method) || !read_constant(pool, (uint32_t)(method >> 16 & 0xffff), &name_and_type))
        return false;
    return read_class(pool, (uint32_t)(method & 0xffff), named->class_name) &&
           read_name(pool, (uint32_t)(name_and_type & 0xffff), named->name) &&
           read_name(pool, (uint32_t)(name_and_type >> 16 & 0xffff), named->descriptor);
}

bool vm_constants_class(uint64_t pool, const uint8_t *code, size_t n, size_t index, struct vm_reference *named)
{
    static const char *const types[] = { "boolean", "char", "float", "double", "byte", "short", "int", "long" };
    uint8_t opcode = index < n ? code[index] : 0;
    pthread_once(&once, know);
    named->name[0] = named->descriptor[0] = '\0';
    if (opcode == CODE_NEWARRAY && index + 2 <= n && code[index + 1] >= 4 && code[index + 1] <= 11) {
        snprintf(named->class_name, sizeof named->class_name, "%s", types[code[index + 1] - 4]);
        return true;
    }
    if ((opcode != CODE_NEW && opcode != CODE_ANEWARRAY && opcode != CODE_MULTIANEWARRAY) || index + 3 > n)
        return false;
    return read_class(pool, (uint32_t)code[index + 1] << 8 | code[index + 2], named->class_name);
}
