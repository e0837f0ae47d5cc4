#include "core/hotspot/vm_threads.h"

#include "core/base/text.h"
#include "core/hotspot/vm_state.h"
#include "core/hotspot/vm_objects.h"

#define UNITS_MAX   512u /* bytes of a name that are read */
#define THREADS_MAX 4096 /* that the one of a known name is looked for among */
#define LATIN1      0
#define UTF16       1

void vm_thread_names_open(struct vm *vm)
{
    struct vm_thread_names *at = &vm->thread_names;
    struct vm_field field = { "JavaThread", "_threadObj", &at->java_thread, false };
    memset(&vm->thread_names, 0, sizeof vm->thread_names);
    at->name = (struct vm_object_field){ .class_name = "java/lang/Thread", .name = "name" };
    at->value = (struct vm_object_field){ .class_name = "java/lang/String", .name = "value" };
    at->coder = (struct vm_object_field){ .class_name = "java/lang/String", .name = "coder" };
    if (!vm_fields_find(vm, &field, 1))
        return;
    at->length = vm_array_length_at(vm);
    if (at->length != 16) /* elements follow, or are aligned to 8 bytes, which does not say whether they follow at 20 */
        at->units = at->length + 4;
}

/* A unit of UTF-16 as modified UTF-8: halves of a pair are three bytes each, which text_utf8_into puts together. */
static size_t put_unit(char *to, uint32_t unit)
{
    if (unit > 0 && unit < 0x80) {
        to[0] = (char)unit;
        return 1;
    }
    if (unit < 0x800) {
        to[0] = (char)(0xc0 | unit >> 6);
        to[1] = (char)(0x80 | (unit & 0x3f));
        return 2;
    }
    to[0] = (char)(0xe0 | unit >> 12);
    to[1] = (char)(0x80 | (unit >> 6 & 0x3f));
    to[2] = (char)(0x80 | (unit & 0x3f));
    return 3;
}

/* A name as the heap has it. */
struct name {
    uint64_t thread, string, value; /* objects */
    uint32_t n_bytes;
    uint8_t coder;
    uint8_t units[UNITS_MAX];
};

/* JDK 8 has arrays of char; later ones bytes, and a coder that says of what. */
static bool find_name(struct vm *vm, uint64_t address, struct name *name)
{
    struct vm_thread_names *at = &vm->thread_names;
    char class_name[8];
    if (at->length == 0)
        return false;
    name->thread = vm_handle_object(vm, address + at->java_thread);
    name->string = vm_object_reference(vm, name->thread, &at->name);
    name->value = name->string == 0 ? 0 : vm_object_reference(vm, name->string, &at->value);
    name->coder = UTF16;
    if (name->value == 0 || !vm_class_text(vm, vm_object_class(vm, name->value), class_name, sizeof class_name) ||
        !vm_read(vm, name->value + at->length, &name->n_bytes, sizeof name->n_bytes))
        return false;
    bool is_chars = strcmp(class_name, "[C") == 0;
    if (!is_chars && (strcmp(class_name, "[B") != 0 || !vm_object_byte(vm, name->string, &at->coder, &name->coder) ||
                      name->coder > UTF16))
        return false;
    uint32_t n_most = is_chars ? UNITS_MAX / 2 : UNITS_MAX;
    name->n_bytes = (name->n_bytes < n_most ? name->n_bytes : n_most) << is_chars;
    return true;
}

static size_t read_name(struct vm *vm, struct name *name, uint32_t units_at, char *text)
{
    size_t n = 0;
    if (name->n_bytes > 0 && !vm_read(vm, name->value + units_at, name->units, name->n_bytes))
        return 0;
    for (uint32_t i = 0; i + name->coder < name->n_bytes; i += name->coder + 1u)
        n += put_unit(text + n,
                      name->coder == LATIN1 ? name->units[i] : (uint32_t)(name->units[i] | name->units[i + 1] << 8));
    return n;
}

/* Where elements of an array begin is not exported: where the name that a thread has in each JVM can be read. */
static uint32_t find_units(struct vm *vm)
{
    static const char known[] = "Reference Handler";
    struct vm_thread_list list;
    struct name name;
    char text[3 * UNITS_MAX];
    uint64_t threads[THREADS_MAX];
    int64_t n = vm_thread_list_find(vm, &list) ? vm_thread_list_read(vm, &list, threads, THREADS_MAX) : 0;
    for (int64_t i = 0; i < n && i < THREADS_MAX; i++)
        for (uint32_t at = 20; at <= 24 && find_name(vm, threads[i], &name); at += 4)
            if (read_name(vm, &name, at, text) == sizeof known - 1 && memcmp(text, known, sizeof known - 1) == 0)
                return at;
    return 0;
}

/* The JVM may move or change what is read meanwhile: the same string must still be the name at the end. */
bool vm_thread_name(struct vm *vm, uint64_t address, char *to, size_t n)
{
    struct vm_thread_names *at = &vm->thread_names;
    struct name name;
    char text[3 * UNITS_MAX];
    if (!find_name(vm, address, &name))
        return false;
    if (at->units == 0 && (at->units = find_units(vm)) == 0)
        at->length = 0;
    if (at->length == 0)
        return false;
    text_utf8_into(to, n, text, read_name(vm, &name, at->units, text));
    return vm_object_reference(vm, name.thread, &at->name) == name.string &&
           vm_object_reference(vm, name.string, &at->value) == name.value;
}
