#include "core/hotspot/vm_objects.h"

#include "core/hotspot/vm_fields.h"
#include "core/hotspot/vm_flags.h"
#include "core/hotspot/vm_streams.h"

#include <string.h>

#define SUPERS_MAX   64
#define FIELDS_BYTES 8192u /* of a class' fields: those behind are not found */
#define FIELD_STATIC 0x0008u
#define FIELD_MORE   (1u << 0 | 1u << 2 | 1u << 4) /* flags of a field that announce another number each */

/* Where fields are, and what is in them for good. */
static struct {
    uint64_t klass_name, klass_super, constants, fields, n_fields, field_stream, symbol_length, symbol_body, pool_bytes;
    uint64_t klass_base, oop_base;
    uint32_t klass_shift, oop_shift, mark_shift;
    bool has_narrow_klass, has_narrow_oop, has_compact_headers, is_known;
} at;

static void find_fields(uint64_t values[4])
{
    struct vm_field fields[] = {
        { "CompressedKlassPointers", "_narrow_klass._base", &values[0], true }, /* JDK 17 */
        { "CompressedKlassPointers", "_narrow_klass._shift", &values[1], true },
        { "CompressedKlassPointers", "_base", &values[0], true },
        { "CompressedKlassPointers", "_shift", &values[1], true },
        { "CompressedOops", "_narrow_oop._base", &values[2], true },
        { "CompressedOops", "_narrow_oop._shift", &values[3], true },
        { "CompressedOops", "_base", &values[2], true },
        { "CompressedOops", "_shift", &values[3], true },
        { "Klass", "_name", &at.klass_name, false },
        { "Klass", "_super", &at.klass_super, false },
        { "InstanceKlass", "_constants", &at.constants, false },
        { "InstanceKlass", "_fields", &at.fields, false },
        { "InstanceKlass", "_java_fields_count", &at.n_fields, false },
        { "InstanceKlass", "_fieldinfo_stream", &at.field_stream, false }, /* JDK 21 and later */
        { "Symbol", "_length", &at.symbol_length, false },
        { "Symbol", "_body[0]", &at.symbol_body, false },
    };
    struct vm_field body = { "Symbol", "_body", &at.symbol_body, false };
    vm_fields_find(fields, sizeof fields / sizeof *fields);
    if (at.symbol_body == VM_NONE)
        vm_fields_find(&body, 1);
    at.pool_bytes = vm_type_bytes("ConstantPool");
}

void vm_objects_open(void)
{
    static const char *const names[] = { "UseCompressedClassPointers", "UseCompressedOops", "UseCompactObjectHeaders" };
    uint64_t values[4];
    bool are_set[3];
    int32_t shift = 0;
    memset(&at, 0, sizeof at);
    find_fields(values);
    if (!vm_flags_are_set(names, 3, are_set) || at.klass_name == VM_NONE || at.symbol_body == VM_NONE)
        return;
    at.has_compact_headers = are_set[2];
    at.has_narrow_klass = are_set[0] || are_set[2];
    at.has_narrow_oop = are_set[1];
    at.is_known = (!at.has_narrow_klass || (values[0] != VM_NONE && vm_read_u64(values[0], &at.klass_base) &&
                                            vm_read(values[1], &at.klass_shift, sizeof at.klass_shift))) &&
                  (!at.has_narrow_oop || (values[2] != VM_NONE && vm_read_u64(values[2], &at.oop_base) &&
                                          vm_read(values[3], &at.oop_shift, sizeof at.oop_shift))) &&
                  (!at.has_compact_headers || vm_constant("markWord::klass_shift", &shift));
    at.mark_shift = (uint32_t)shift;
}

uint64_t vm_handle_object(uint64_t handle)
{
    uint64_t slot, object;
    return at.is_known && vm_read_u64(handle, &slot) && slot != 0 && vm_read_u64(slot, &object) && object % 8 == 0
               ? object
               : 0;
}

uint64_t vm_object_class(uint64_t object)
{
    uint64_t header[2];
    if (!at.is_known || object == 0 || !vm_read(object, header, sizeof header))
        return 0;
    if (!at.has_narrow_klass)
        return header[1] % 8 == 0 ? header[1] : 0;
    uint64_t narrow = at.has_compact_headers ? header[0] >> at.mark_shift : header[1] & UINT32_MAX;
    return narrow == 0 ? 0 : at.klass_base + (narrow << at.klass_shift);
}

/* ---- names ---- */

static bool read_symbol(uint64_t symbol, char *text, size_t n)
{
    uint16_t length;
    if (symbol == 0 || !vm_read(symbol + at.symbol_length, &length, sizeof length) || length == 0 || length >= n ||
        !vm_read(symbol + at.symbol_body, text, length) || memchr(text, '\0', length) != NULL)
        return false;
    text[length] = '\0';
    return true;
}

bool vm_class_text(uint64_t class, char *name, size_t n)
{
    uint64_t symbol;
    return class != 0 && vm_read_u64(class + at.klass_name, &symbol) && read_symbol(symbol, name, n);
}

static bool is_called(uint64_t pool, uint32_t index, const char *name)
{
    char text[64];
    uint64_t symbol;
    return vm_read_u64(pool + at.pool_bytes + 8 * (uint64_t)index, &symbol) && read_symbol(symbol, text, sizeof text) &&
           strcmp(text, name) == 0;
}

/* ---- fields ---- */

/* JDK 17: six numbers of 16 bits for each field; the offset has two bits of a tag below it. */
static uint32_t find_in_array(uint64_t class, uint64_t pool, const char *name)
{
    uint8_t bytes[FIELDS_BYTES];
    uint64_t array;
    uint16_t n, field[6];
    if (at.n_fields == VM_NONE || !vm_read_u64(class + at.fields, &array) ||
        !vm_read(class + at.n_fields, &n, sizeof n) || n > sizeof bytes / sizeof field)
        return 0;
    if (!vm_read(array + 4, bytes, n * sizeof field))
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        memcpy(field, bytes + i * sizeof field, sizeof field);
        if ((field[0] & FIELD_STATIC) == 0 && is_called(pool, field[1], name))
            return ((uint32_t)field[5] << 16 | field[4]) >> 2;
    }
    return 0;
}

/* JDK 21 and later: the number of fields and of those that the JVM added, then for each some numbers. */
static uint32_t find_in_stream(uint64_t class, uint64_t pool, const char *name)
{
    uint8_t bytes[FIELDS_BYTES];
    uint64_t array;
    uint32_t n_bytes;
    if (!vm_read_u64(class + at.field_stream, &array) || !vm_read(array, &n_bytes, sizeof n_bytes))
        return 0;
    struct cursor c =
        cursor_over(bytes, vm_read_some(array + 4, bytes, n_bytes < sizeof bytes ? n_bytes : sizeof bytes));
    uint32_t n = vm_stream_number(&c, 1);
    vm_stream_number(&c, 1);
    for (uint32_t i = 0; i < n && !c.bad; i++) {
        uint32_t index = vm_stream_number(&c, 1);
        vm_stream_number(&c, 1); /* its signature */
        uint32_t offset = vm_stream_number(&c, 1), access = vm_stream_number(&c, 1), flags = vm_stream_number(&c, 1);
        for (uint32_t more = flags & FIELD_MORE; more != 0; more &= more - 1)
            vm_stream_number(&c, 1);
        if (!c.bad && (access & FIELD_STATIC) == 0 && is_called(pool, index, name))
            return offset;
    }
    return 0;
}

bool vm_object_has_field(uint64_t object, struct vm_object_field *field)
{
    char name[VM_CLASS_NAME_BYTES];
    uint64_t class = vm_object_class(object), own = class, pool;
    bool is_there = false;
    for (uint32_t i = 0; class != 0 && i < VM_KNOWN_CLASSES; i++)
        if (field->known[i] == class)
            return true;
    for (int i = 0; i < SUPERS_MAX && vm_class_text(class, name, sizeof name); i++) {
        is_there = strcmp(name, field->class_name) == 0;
        if (is_there || !vm_read_u64(class + at.klass_super, &class))
            break;
    }
    if (is_there && field->offset == 0 && vm_read_u64(class + at.constants, &pool))
        field->offset = at.fields != VM_NONE         ? find_in_array(class, pool, field->name)
                        : at.field_stream != VM_NONE ? find_in_stream(class, pool, field->name)
                                                     : 0;
    if (is_there && field->offset != 0)
        field->known[field->n_known++ % VM_KNOWN_CLASSES] = own;
    return is_there && field->offset != 0;
}

uint64_t vm_object_reference(uint64_t object, struct vm_object_field *field)
{
    uint64_t wide = 0;
    uint32_t narrow = 0;
    if (!vm_object_has_field(object, field))
        return 0;
    if (!at.has_narrow_oop)
        return vm_read_u64(object + field->offset, &wide) && wide % 8 == 0 ? wide : 0;
    return vm_read(object + field->offset, &narrow, sizeof narrow) && narrow != 0
               ? at.oop_base + ((uint64_t)narrow << at.oop_shift)
               : 0;
}

bool vm_object_long(uint64_t object, struct vm_object_field *field, uint64_t *value)
{
    return vm_object_has_field(object, field) && vm_read_u64(object + field->offset, value);
}
