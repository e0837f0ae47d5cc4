#include "core/hotspot/vm_threads.h"

#include "core/base/text.h"
#include "core/hotspot/vm_state.h"
#include "core/hotspot/vm_objects.h"

#include <string.h>

#define UNITS_MAX 512u /* bytes of a name that are read */
#define LATIN1    0
#define UTF16     1

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
    at->bytes = at->length + 4;
    if (at->length == 16 && vm_release(vm) < 23)
        at->bytes = 24;
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

/* The JVM may move or change what is read meanwhile: the same string must still be the name at the end. */
bool vm_thread_name(struct vm *vm, uint64_t address, char *name, size_t n)
{
    struct vm_thread_names *at = &vm->thread_names;
    uint8_t units[UNITS_MAX], coder;
    char text[3 * UNITS_MAX], class_name[8];
    uint32_t n_bytes = 0;
    if (at->length == 0)
        return false;
    uint64_t thread = vm_handle_object(vm, address + at->java_thread),
             string = vm_object_reference(vm, thread, &at->name);
    uint64_t value = string == 0 ? 0 : vm_object_reference(vm, string, &at->value);
    if (value == 0 || !vm_object_byte(vm, string, &at->coder, &coder) || coder > UTF16 ||
        !vm_class_text(vm, vm_object_class(vm, value), class_name, sizeof class_name) ||
        strcmp(class_name, "[B") != 0 || !vm_read(vm, value + at->length, &n_bytes, sizeof n_bytes))
        return false;
    n_bytes = n_bytes < UNITS_MAX ? n_bytes : UNITS_MAX;
    if (n_bytes > 0 && !vm_read(vm, value + at->bytes, units, n_bytes))
        return false;
    size_t n_text = 0;
    for (uint32_t i = 0; i + coder < n_bytes; i += coder + 1u)
        n_text += put_unit(text + n_text, coder == LATIN1 ? units[i] : (uint32_t)(units[i] | units[i + 1] << 8));
    text_utf8_into(name, n, text, n_text);
    return vm_object_reference(vm, thread, &at->name) == string && vm_object_reference(vm, string, &at->value) == value;
}
