/*
 * What the running JVM's own numbers of bytecodes mean: the interpreter has a piece of code for each, which knows the
 * bytecode's number and name.  Releases number those otherwise that they write in place of a class file's: JDK 28 has
 * two more, in the middle.
 */
#include "core/hotspot/bytecodes.h"
#include "core/hotspot/nmethod.h"
#include "core/hotspot/vm_methods.h"
#include "core/hotspot/vm_state.h"

#define CODELETS_MAX 1024
#define NAME_BYTES   64u
#define N_CODES      256u
#define UNKNOWN      0xffu /* is no bytecode */

static uint8_t number_of(const char *name)
{
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (opcodes[i].name != NULL && strcmp(opcodes[i].name, name) == 0)
            return (uint8_t)i;
    return UNKNOWN;
}

/* A bytecode of a class file has the number that the specification gives it. */
static void know(struct vm *vm)
{
    uint8_t *ours = vm->bytecodes.ours;
    uint64_t low, high, size, description, bytecode;
    struct vm_field fields[] = { { "InterpreterCodelet", "_size", &size, false },
                                 { "InterpreterCodelet", "_description", &description, false },
                                 { "InterpreterCodelet", "_bytecode", &bytecode, false } };
    for (size_t i = 0; i < N_CODES; i++)
        ours[i] = (uint8_t)i;
    if (!vm_fields_find(vm, fields, sizeof fields / sizeof *fields) || !code_heaps_interpreter(vm, &low, &high))
        return;
    for (int i = 0; i < CODELETS_MAX && low < high; i++) {
        char name[NAME_BYTES];
        uint32_t n_bytes, code;
        if (!vm_read(vm, low + size, &n_bytes, sizeof n_bytes) || n_bytes == 0 ||
            !vm_read(vm, low + bytecode, &code, sizeof code))
            return;
        if (code < N_CODES && opcodes[code].java != code && vm_read_text(vm, low + description, name, sizeof name))
            ours[code] = number_of(name);
        low += n_bytes;
    }
}

uint8_t vm_bytecode(struct vm *vm, uint8_t number)
{
    vm_once(vm, &vm->bytecodes.once, know);
    return vm->bytecodes.ours[number];
}

void vm_bytecodes_renumber(struct vm *vm, uint8_t *code, size_t n)
{
    for (size_t at = 0, n_bytes = 1; at < n && n_bytes > 0; at += n_bytes) {
        code[at] = vm_bytecode(vm, code[at]);
        n_bytes = bytecodes_length(code, n, at);
    }
}
