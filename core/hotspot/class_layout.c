#include "core/hotspot/vm_objects.h"

#include "core/hotspot/vm.h"
#include "core/hotspot/nmethod.h"

#define FIELDS_BYTES 16384u /* of a class' fields: those behind are not found */
#define FIELD_STATIC 0x0008u

/* Flags of a field that announce another number each; not all releases have all. */
static uint32_t find_more(struct vm *vm)
{
    static const struct {
        const char *name;
        int32_t usual; /* -1: there is none */
    } flags[] = { { "FieldInfo::FieldFlags::_ff_initialized", 0 },
                  { "FieldInfo::FieldFlags::_ff_generic", 2 },
                  { "FieldInfo::FieldFlags::_ff_contended", 4 },
                  { "FieldInfo::FieldFlags::_ff_flat", -1 },
                  { "FieldInfo::FieldFlags::_ff_null_marker", -1 } };
    uint32_t more = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        int32_t bit = flags[i].usual;
        vm_constant(vm, flags[i].name, &bit);
        more |= bit >= 0 && bit < 32 ? UINT32_C(1) << bit : 0;
    }
    return more;
}

void class_layout_find(struct vm *vm, struct class_layout *layout)
{
    struct vm_field fields[] = {
        { "Klass", "_name", &layout->name, false },
        { "Klass", "_super", &layout->super, false },
        { "InstanceKlass", "_constants", &layout->constants, false },
        { "InstanceKlass", "_fields", &layout->fields, false },
        { "InstanceKlass", "_java_fields_count", &layout->n_fields, false },
        { "InstanceKlass", "_fieldinfo_stream", &layout->field_stream, false },
        { "Symbol", "_length", &layout->symbol_length, false },
        { "Symbol", "_body", &layout->symbol_body, false },
        { "CompressedKlassPointers", "_narrow_klass._base", &layout->narrow_base, true }, /* JDK 17 */
        { "CompressedKlassPointers", "_narrow_klass._shift", &layout->narrow_shift, true },
        { "CompressedKlassPointers", "_base", &layout->narrow_base, true },
        { "CompressedKlassPointers", "_shift", &layout->narrow_shift, true },
        { "Universe", "_narrow_klass._base", &layout->narrow_base, true }, /* JDK 8 and 11 */
        { "Universe", "_narrow_klass._shift", &layout->narrow_shift, true },
    };
    vm_fields_find(vm, fields, sizeof fields / sizeof *fields);
    layout->pool_bytes = vm_type_bytes(vm, "ConstantPool");
    layout->field_more = find_more(vm);
}

/* ---- names ---- */

size_t class_symbol_text(struct vm *vm, const struct class_layout *layout, uint64_t symbol, char *text, size_t n)
{
    uint16_t length;
    if (symbol == 0 || n == 0 || !vm_read(vm, symbol + layout->symbol_length, &length, sizeof length) || length == 0)
        return 0;
    size_t kept = length < n - 1 ? length : n - 1;
    if (!vm_read(vm, symbol + layout->symbol_body, text, kept) || memchr(text, '\0', kept) != NULL)
        return 0;
    text[kept] = '\0';
    return length;
}

size_t class_name_text(struct vm *vm, const struct class_layout *layout, uint64_t klass, char *text, size_t n)
{
    uint64_t symbol;
    return klass != 0 && vm_read_u64(vm, klass + layout->name, &symbol) ? class_symbol_text(vm, layout, symbol, text, n)
                                                                        : 0;
}

size_t class_field_text(struct vm *vm, const struct class_layout *layout, uint64_t klass, uint32_t name, char *text,
                        size_t n)
{
    uint64_t pool, symbol;
    if (layout->constants == VM_NONE || layout->pool_bytes == VM_NONE ||
        !vm_read_u64(vm, klass + layout->constants, &pool) || pool == 0 ||
        !vm_read_u64(vm, pool + layout->pool_bytes + 8 * (uint64_t)name, &symbol))
        return 0;
    return class_symbol_text(vm, layout, symbol, text, n);
}

/* ---- fields ---- */

/* JDK 17: six numbers of 16 bits for each field; the offset has two bits of a tag below it. */
static bool find_in_array(struct vm *vm, const struct class_layout *layout, uint64_t klass, class_field_check *is_it,
                          void *context, struct class_field *field)
{
    uint8_t bytes[FIELDS_BYTES];
    uint64_t array;
    uint16_t n, its[6];
    if (layout->n_fields == VM_NONE || !vm_read_u64(vm, klass + layout->fields, &array) || array == 0 ||
        !vm_read(vm, klass + layout->n_fields, &n, sizeof n))
        return false;
    size_t n_bytes = n * sizeof its < sizeof bytes ? n * sizeof its : sizeof bytes;
    n_bytes = vm_read_some(vm, array + 4, bytes, n_bytes);
    for (size_t at = 0; at + sizeof its <= n_bytes; at += sizeof its) {
        memcpy(its, bytes + at, sizeof its);
        *field = (struct class_field){ its[1], ((uint32_t)its[5] << 16 | its[4]) >> 2, (its[0] & FIELD_STATIC) != 0 };
        if (is_it(field, context))
            return true;
    }
    return false;
}

/*
 * JDK 21 and later: the number of fields and of those that the JVM added, then of each name, signature, offset, access,
 * flags, and what those announce: an initial value, a generic signature, a group of contended ones.
 */
static bool find_in_stream(struct vm *vm, const struct class_layout *layout, uint64_t klass, class_field_check *is_it,
                           void *context, struct class_field *field)
{
    uint8_t bytes[FIELDS_BYTES];
    uint64_t array;
    uint32_t n_bytes;
    if (!vm_read_u64(vm, klass + layout->field_stream, &array) || array == 0 ||
        !vm_read(vm, array, &n_bytes, sizeof n_bytes))
        return false;
    struct cursor c =
        cursor_over(bytes, vm_read_some(vm, array + 4, bytes, n_bytes < sizeof bytes ? n_bytes : sizeof bytes));
    uint32_t n = vm_stream_number(&c, 1);
    vm_stream_number(&c, 1);
    for (uint32_t i = 0; i < n && !c.bad; i++) {
        field->name = vm_stream_number(&c, 1);
        vm_stream_number(&c, 1); /* its signature */
        field->offset = vm_stream_number(&c, 1);
        field->is_static = (vm_stream_number(&c, 1) & FIELD_STATIC) != 0;
        for (uint32_t more = vm_stream_number(&c, 1) & layout->field_more; more != 0; more &= more - 1)
            vm_stream_number(&c, 1);
        if (!c.bad && is_it(field, context))
            return true;
    }
    return false;
}

bool class_field_find(struct vm *vm, const struct class_layout *layout, uint64_t klass, class_field_check *is_it,
                      void *context, struct class_field *field)
{
    if (layout->fields != VM_NONE)
        return find_in_array(vm, layout, klass, is_it, context, field);
    return layout->field_stream != VM_NONE && find_in_stream(vm, layout, klass, is_it, context, field);
}
