#include "core/hotspot/vm_objects.h"

#include "core/hotspot/vm_state.h"

#define SUPERS_MAX 64

/* Of narrow pointers to objects: the addresses of what they are made of. */
static void find_narrow(struct vm *vm, uint64_t *base, uint64_t *shift)
{
    struct vm_field fields[] = {
        { "CompressedOops", "_narrow_oop._base", base, true }, /* JDK 17 */
        { "CompressedOops", "_narrow_oop._shift", shift, true },
        { "CompressedOops", "_base", base, true },
        { "CompressedOops", "_shift", shift, true },
        { "Universe", "_narrow_oop._base", base, true }, /* JDK 8 and 11 */
        { "Universe", "_narrow_oop._shift", shift, true },
    };
    vm_fields_find(vm, fields, sizeof fields / sizeof *fields);
}

static bool read_narrow(struct vm *vm, uint64_t base_at, uint64_t shift_at, uint64_t *base, uint32_t *shift)
{
    return base_at != VM_NONE && shift_at != VM_NONE && vm_read_u64(vm, base_at, base) &&
           vm_read(vm, shift_at, shift, sizeof *shift);
}

/*
 * ZGC with generations (JDK 21 to 23 have the one without, too) has the collector's state in the low 16 bits of a
 * pointer.  One of the bits 12 to 15 is set; on x86-64 the address begins behind it, so that its own low bits, which
 * are 0, overlap.
 */
static bool has_colors(struct vm *vm)
{
    static const char *const names[] = { "UseZGC", "ZGenerational" };
    bool are_set[2];
    uint64_t mask, other;
    struct vm_field colored = { "ZGlobalsForVMStructs", "_ZPointerLoadGoodMask", &mask, false },
                    without = { "XGlobalsForVMStructs", "_XAddressGoodMask", &other, false };
    return vm_flags_are_set(vm, names, 2, are_set) && are_set[0] && vm_fields_find(vm, &colored, 1) &&
           (are_set[1] || !vm_fields_find(vm, &without, 1));
}

static uint64_t uncolored(struct vm *vm, uint64_t pointer)
{
    if (!vm->objects.has_colors)
        return pointer;
#ifdef __x86_64__
    uint64_t state = pointer >> 12 & 15;
    return state == 0 ? 0 : pointer >> (13 + __builtin_ctzll(state));
#else
    return pointer >> 16;
#endif
}

void vm_objects_open(struct vm *vm)
{
    struct vm_objects *at = &vm->objects;
    static const char *const names[] = { "UseCompressedClassPointers", "UseCompressedOops", "UseCompactObjectHeaders" };
    uint64_t oop_base, oop_shift, handle;
    struct vm_field in_handle = { "OopHandle", "_obj", &handle, false };
    bool are_set[3];
    int32_t shift = 0;
    memset(&vm->objects, 0, sizeof vm->objects);
    at->has_handles = vm_fields_find(vm, &in_handle, 1);
    class_layout_find(vm, &at->classes);
    find_narrow(vm, &oop_base, &oop_shift);
    if (!vm_flags_are_set(vm, names, 3, are_set) || at->classes.name == VM_NONE || at->classes.symbol_body == VM_NONE)
        return;
    at->has_compact_headers = are_set[2];
    at->has_narrow_klass = are_set[0] || are_set[2] || !vm_flag_is_there(vm, names[0]); /* JDK 28: always */
    at->has_narrow_oop = are_set[1];
    at->is_known = (!at->has_narrow_klass || read_narrow(vm, at->classes.narrow_base, at->classes.narrow_shift,
                                                         &at->klass_base, &at->klass_shift)) &&
                   (!at->has_narrow_oop || read_narrow(vm, oop_base, oop_shift, &at->oop_base, &at->oop_shift)) &&
                   (!at->has_compact_headers || vm_constant(vm, "markWord::klass_shift", &shift));
    at->mark_shift = (uint32_t)shift;
    at->has_colors = has_colors(vm);
}

uint64_t vm_handle_object(struct vm *vm, uint64_t handle)
{
    struct vm_objects *at = &vm->objects;
    uint64_t slot, object;
    if (!at->is_known || !vm_read_u64(vm, handle, &slot) || slot == 0)
        return 0;
    object = slot;
    if (at->has_handles && !vm_read_u64(vm, slot, &object))
        return 0;
    object = uncolored(vm, object);
    return object % 8 == 0 ? object : 0;
}

uint32_t vm_array_length_at(struct vm *vm)
{
    struct vm_objects *at = &vm->objects;
    return !at->is_known ? 0 : at->has_compact_headers ? 8 : at->has_narrow_klass ? 12 : 16;
}

uint64_t vm_class_of_header(struct vm *vm, const uint8_t header[16])
{
    struct vm_objects *at = &vm->objects;
    uint64_t mark = vm_number(header, 16, 0, 8), class = vm_number(header, 16, 8, 8);
    if (!at->has_narrow_klass)
        return class % 8 == 0 ? class : 0;
    uint64_t narrow = at->has_compact_headers ? mark >> at->mark_shift : class & UINT32_MAX;
    return narrow == 0 ? 0 : at->klass_base + (narrow << at->klass_shift);
}

uint64_t vm_object_class(struct vm *vm, uint64_t object)
{
    uint8_t header[16];
    return vm->objects.is_known && object != 0 && vm_read(vm, object, header, sizeof header)
               ? vm_class_of_header(vm, header)
               : 0;
}

/* ---- names and fields ---- */

bool vm_class_text(struct vm *vm, uint64_t class, char *name, size_t n)
{
    size_t length = class_name_text(vm, &vm->objects.classes, class, name, n);
    return length > 0 && length < n;
}

struct wanted {
    struct vm *vm;
    uint64_t class;
    const char *name;
    bool is_static;
};

static bool is_wanted(const struct class_field *field, void *context)
{
    const struct wanted *wanted = context;
    char text[64];
    size_t n = field->is_static != wanted->is_static ? 0
                                                     : class_field_text(wanted->vm, &wanted->vm->objects.classes,
                                                                        wanted->class, field->name, text, sizeof text);
    return n > 0 && n < sizeof text && strcmp(text, wanted->name) == 0;
}

uint32_t vm_class_field_at(struct vm *vm, uint64_t class, const char *name, bool is_static)
{
    struct wanted wanted = { vm, class, name, is_static };
    struct class_field field;
    return class_field_find(vm, &vm->objects.classes, class, is_wanted, &wanted, &field) ? field.offset : 0;
}

/* Returns whether it has one: its offset is known from then on. */
static bool has_field(struct vm *vm, uint64_t object, struct vm_object_field *field)
{
    char name[VM_CLASS_NAME_BYTES];
    uint64_t class = vm_object_class(vm, object), own = class;
    bool is_there = false;
    for (uint32_t i = 0; class != 0 && i < VM_KNOWN_CLASSES; i++)
        if (field->known[i] == class)
            return true;
    for (int i = 0; i < SUPERS_MAX && vm_class_text(vm, class, name, sizeof name); i++) {
        is_there = strcmp(name, field->class_name) == 0;
        if (is_there || !vm_read_u64(vm, class + vm->objects.classes.super, &class))
            break;
    }
    if (is_there && field->offset == 0)
        field->offset = vm_class_field_at(vm, class, field->name, false);
    if (is_there && field->offset != 0)
        field->known[field->n_known++ % VM_KNOWN_CLASSES] = own;
    return is_there && field->offset != 0;
}

uint32_t vm_object_field_at(struct vm *vm, uint64_t object, struct vm_object_field *field)
{
    return has_field(vm, object, field) ? field->offset : 0;
}

uint64_t vm_class_mirror(struct vm *vm, uint64_t class)
{
    uint64_t at;
    struct vm_field field = { "Klass", "_java_mirror", &at, false };
    return vm_fields_find(vm, &field, 1) ? vm_handle_object(vm, class + at) : 0;
}

uint32_t vm_reference_bytes(struct vm *vm)
{
    return vm->objects.has_narrow_oop ? 4 : 8;
}

uint64_t vm_reference_of(struct vm *vm, const uint8_t *field)
{
    struct vm_objects *at = &vm->objects;
    uint32_t n = vm_reference_bytes(vm);
    uint64_t value = vm_number(field, n, 0, n);
    if (at->has_narrow_oop)
        return value == 0 ? 0 : at->oop_base + (value << at->oop_shift);
    value = uncolored(vm, value);
    return value % 8 == 0 ? value : 0;
}

uint64_t vm_object_reference(struct vm *vm, uint64_t object, struct vm_object_field *field)
{
    uint8_t bytes[8];
    return has_field(vm, object, field) && vm_read(vm, object + field->offset, bytes, vm_reference_bytes(vm))
               ? vm_reference_of(vm, bytes)
               : 0;
}

bool vm_object_long(struct vm *vm, uint64_t object, struct vm_object_field *field, uint64_t *value)
{
    return has_field(vm, object, field) && vm_read_u64(vm, object + field->offset, value);
}

bool vm_object_byte(struct vm *vm, uint64_t object, struct vm_object_field *field, uint8_t *value)
{
    return has_field(vm, object, field) && vm_read(vm, object + field->offset, value, sizeof *value);
}
