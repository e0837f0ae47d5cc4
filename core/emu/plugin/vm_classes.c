#include "core/emu/plugin/vm_classes.h"

#include "core/hotspot/vm_streams.h"

#include <stdio.h>
#include <sys/mman.h>

#define ROOM       (1u << 17)
#define SUPERS_MAX 100

#define CLASSES_BYTES (ROOM * sizeof(struct vm_class))

int vm_classes_open(struct vm_classes *classes, const struct vm_tables *tables)
{
    *classes = (struct vm_classes){ .tables = tables, .table = { vm_map(CLASSES_BYTES), ROOM - 1, 64 } };
    return classes->table.elements == NULL ? -1 : 0;
}

void vm_classes_forget(struct vm_classes *classes)
{
    const struct vm_tables *t = classes->tables;
    /* cppcheck-suppress invalidFunctionArg */
    madvise(classes->table.elements, CLASSES_BYTES, MADV_DONTNEED);
    classes->none.klass = 0;
    /* Those are set when the JVM has begun: after its tables are there. */
    classes->narrow_base = vm_pointer(t->narrow_base);
    vm_get_u32(t->narrow_shift, &classes->narrow_shift);
    vm_get_u32(t->mirror_bytes, &classes->mirror_bytes);
    vm_get_u32(t->mirror_klass, &classes->mirror_klass);
}

/* ---- names ---- */

static bool symbol_text(const struct vm_tables *tables, uint64_t symbol, char *text, size_t n)
{
    uint16_t length;
    if (symbol == 0 || n == 0 || !vm_get_u16(symbol + tables->symbol_length, &length) || length == 0)
        return false;
    size_t kept = length < n - 1 ? length : n - 1;
    if (!vm_get(symbol + tables->symbol_body, text, kept) || memchr(text, '\0', kept) != NULL)
        return false;
    text[kept] = '\0';
    return true;
}

bool vm_class_name(const struct vm_tables *tables, uint64_t klass, char *text, size_t n)
{
    return symbol_text(tables, vm_pointer(klass + tables->klass_name), text, n);
}

static bool pool_text(const struct vm_tables *tables, uint64_t pool, uint32_t index, char *text, size_t n)
{
    if (tables->pool_bytes == VM_NONE || pool == 0)
        return false;
    return symbol_text(tables, vm_pointer(pool + tables->pool_bytes + 8 * (uint64_t)index), text, n);
}

/* ---- fields ---- */

#define FIELD_STATIC 0x0008

/* JDK 17: six numbers of 16 bits for each field; the offset has two bits of a tag below it. */
static bool find_in_array(const struct vm_tables *tables, uint64_t klass, uint32_t offset, bool is_static,
                          uint32_t *name)
{
    uint64_t array = vm_pointer(klass + tables->fields);
    uint16_t n = 0, field[6];
    if (array == 0 || tables->n_java_fields == VM_NONE || !vm_get_u16(klass + tables->n_java_fields, &n))
        return false;
    for (uint64_t i = 0; i < n; i++) {
        if (!vm_get(array + 4 + i * sizeof field, field, sizeof field))
            return false;
        uint32_t at = ((uint32_t)field[5] << 16 | field[4]) >> 2;
        *name = field[1];
        if (at == offset && ((field[0] & FIELD_STATIC) != 0) == is_static)
            return true;
    }
    return false;
}

#define NUMBERS_BYTES 16384u /* of a class' fields: what is behind has no names */

/*
 * JDK 21 and later: numbers of fields, then for each name, signature, offset, access, flags, and what those announce:
 * an initial value, a generic signature, a group of contended ones.
 */
static bool find_in_stream(const struct vm_tables *tables, uint64_t klass, uint32_t offset, bool is_static,
                           uint32_t *name)
{
    uint8_t bytes[NUMBERS_BYTES];
    uint64_t array = vm_pointer(klass + tables->field_stream);
    uint32_t n_bytes;
    if (array == 0 || !vm_get_u32(array, &n_bytes))
        return false;
    struct cursor c =
        cursor_over(bytes, vm_read_some(array + 4, bytes, n_bytes < sizeof bytes ? n_bytes : sizeof bytes));
    uint32_t n = vm_stream_number(&c, 1);
    vm_stream_number(&c, 1); /* of those that the JVM has added */
    for (uint32_t i = 0; i < n && !c.bad; i++) {
        *name = vm_stream_number(&c, 1);
        vm_stream_number(&c, 1); /* its signature */
        uint32_t place = vm_stream_number(&c, 1), access = vm_stream_number(&c, 1), flags = vm_stream_number(&c, 1);
        for (uint32_t announced = flags & (1u << 0 | 1u << 2 | 1u << 4); announced != 0; announced &= announced - 1)
            vm_stream_number(&c, 1);
        if (!c.bad && place == offset && ((access & FIELD_STATIC) != 0) == is_static)
            return true;
    }
    return false;
}

bool vm_field_name(const struct vm_tables *tables, uint64_t klass, uint32_t offset, bool is_static, char *text,
                   size_t n)
{
    uint32_t name = 0;
    if (tables->constants == VM_NONE || tables->klass_super == VM_NONE)
        return false;
    for (int i = 0; klass != 0 && i < SUPERS_MAX; i++) {
        bool found = false;
        if (tables->fields != VM_NONE)
            found = find_in_array(tables, klass, offset, is_static, &name);
        else if (tables->field_stream != VM_NONE)
            found = find_in_stream(tables, klass, offset, is_static, &name);
        if (found)
            return pool_text(tables, vm_pointer(klass + tables->constants), name, text, n);
        klass = is_static ? 0 : vm_pointer(klass + tables->klass_super);
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
    class->name = vm_pointer(klass + classes->tables->klass_name);
    if (klass % 8 != 0 || !symbol_text(classes->tables, class->name, name, sizeof name) ||
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
