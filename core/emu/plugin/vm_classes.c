#include "core/emu/plugin/vm_memory.h"

#include "core/emu/model/sim_machine.h"

#include <sys/mman.h>

#define ROOM       (1u << 17)
#define SUPERS_MAX 100

#define CLASSES_BYTES (ROOM * sizeof(struct vm_class))

void vm_classes_open(struct vm_classes *classes, const struct vm_tables *tables)
{
    *classes = (struct vm_classes){ .tables = tables, .table = { sim_map(CLASSES_BYTES), ROOM - 1, 64 } };
}

void vm_classes_forget(struct vm_classes *classes)
{
    const struct vm_tables *t = classes->tables;
    /* cppcheck-suppress invalidFunctionArg */
    madvise(classes->table.elements, CLASSES_BYTES, MADV_DONTNEED);
    classes->none.klass = 0;
    /* Those are set when the JVM has begun: after its tables are there. */
    classes->narrow_base = vm_pointer(t->classes.narrow_base);
    vm_get_u32(t->classes.narrow_shift, &classes->narrow_shift);
    vm_get_u32(t->mirror_bytes, &classes->mirror_bytes);
    vm_get_u32(t->mirror_klass, &classes->mirror_klass);
}

/* ---- names ---- */

bool vm_class_name(const struct vm_tables *tables, uint64_t klass, char *text, size_t n)
{
    return class_name_text(vm_here(), &tables->classes, klass, text, n) > 0;
}

static bool is_same_field(const struct class_field *field, void *context)
{
    const struct class_field *wanted = context;
    return field->offset == wanted->offset && field->is_static == wanted->is_static;
}

bool vm_field_name(const struct vm_tables *tables, uint64_t klass, uint32_t offset, bool is_static, char *text,
                   size_t n)
{
    const struct class_layout *layout = &tables->classes;
    struct class_field wanted = { .offset = offset, .is_static = is_static }, found;
    if (layout->super == VM_NONE)
        return false;
    for (int i = 0; klass != 0 && i < SUPERS_MAX; i++) {
        if (class_field_find(vm_here(), layout, klass, is_same_field, &wanted, &found))
            return class_field_text(vm_here(), layout, klass, found.name, text, n) > 0;
        klass = is_static ? 0 : vm_pointer(klass + layout->super);
    }
    return false;
}

/* ---- shapes ---- */

/* The offset of an instance's field by its name, in the class itself. */
static uint32_t offset_of(const struct vm_tables *tables, uint64_t klass, const char *name)
{
    char text[32];
    for (uint32_t offset = 8; offset < 256; offset += 4)
        if (vm_field_name(tables, klass, offset, false, text, sizeof text) && strcmp(text, name) == 0)
            return offset;
    return 0;
}

static void learn_instance(const struct vm_classes *classes, struct vm_class *class, int32_t helper)
{
    char name[32];
    class->shape = VM_INSTANCE;
    class->n_bytes = (uint32_t)helper & ~7u; /* the lowest bit: an allocation by call */
    if (!vm_class_name(classes->tables, class->klass, name, sizeof name))
        return;
    if (strcmp(name, "java/lang/Class") == 0) {
        class->shape = VM_MIRROR;
    } else if (strcmp(name, "jdk/internal/vm/StackChunk") == 0) {
        class->shape = VM_CHUNK;
        class->chunk_size = offset_of(classes->tables, class->klass, "size");
    }
}

static void learn(const struct vm_classes *classes, uint64_t klass, struct vm_class *class)
{
    uint32_t bits;
    char name[8];
    *class = (struct vm_class){ .klass = klass, .shape = VM_NO_CLASS };
    class->name = vm_pointer(klass + classes->tables->classes.name);
    if (klass % 8 != 0 ||
        class_symbol_text(vm_here(), &classes->tables->classes, class->name, name, sizeof name) == 0 ||
        !vm_get_u32(klass + classes->tables->layout_helper, &bits))
        return;
    int32_t helper = (int32_t)bits;
    if (helper > 0) {
        learn_instance(classes, class, helper);
    } else if (helper < 0 && name[0] != '\0') {
        class->shape = VM_ARRAY;
        class->n_bytes = bits >> 16 & 0xff;
        class->log2 = bits & 63;
        if (class->n_bytes < 12 || class->log2 > 3)
            class->shape = VM_NO_CLASS;
    }
}

static const struct vm_class *class_at(struct vm_classes *classes, uint64_t klass)
{
    struct vm_class *class = vm_table_find(&classes->table, sizeof *class, vm_hash(klass >> 3), &klass, sizeof klass);
    if (class == NULL)
        class = &classes->none;
    if (class->klass != klass)
        learn(classes, klass, class);
    return class;
}

const struct vm_class *vm_class_of(struct vm_classes *classes, uint64_t object)
{
    static const struct vm_class no_class = { .shape = VM_NO_CLASS };
    uint64_t klass;
    if (classes->tables->has_narrow_klass) {
        uint32_t narrow = vm_known_u32(object + 8);
        klass = narrow == 0 ? 0 : classes->narrow_base + ((uint64_t)narrow << classes->narrow_shift);
    } else {
        klass = vm_known_u64(object + 8);
    }
    return klass == 0 ? &no_class : class_at(classes, klass);
}

static uint64_t align8(uint64_t n)
{
    return (n + 7) & ~UINT64_C(7);
}

uint64_t vm_object_bytes(const struct vm_classes *classes, const struct vm_class *class, uint64_t object)
{
    switch (class->shape) {
    case VM_INSTANCE:
        return class->n_bytes;
    case VM_MIRROR:
        return 8 * (uint64_t)vm_known_u32(object + classes->mirror_bytes);
    case VM_ARRAY: {
        uint64_t n = vm_known_u32(object + (classes->tables->has_narrow_klass ? 12 : 16));
        return align8(class->n_bytes + (n << class->log2));
    }
    case VM_CHUNK: {
        /* Behind its stack is a map: a bit for each place where a pointer may be. */
        uint64_t words = class->chunk_size == 0 ? 0 : vm_known_u32(object + class->chunk_size);
        return class->chunk_size == 0 ? 0 : class->n_bytes + 8 * words + (2 * words + 63) / 64 * 8;
    }
    case VM_NO_CLASS:
        break;
    }
    return 0;
}

uint64_t vm_mirrored(const struct vm_classes *classes, uint64_t object)
{
    return classes->mirror_klass == 0 ? 0 : vm_known_u64(object + classes->mirror_klass);
}
