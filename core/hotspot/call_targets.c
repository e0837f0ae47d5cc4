#include "core/base/xalloc.h"
#include "core/hotspot/jit_code.h"

#include "core/hotspot/nmethod.h"
#include "core/hotspot/known_methods.h"
#include "core/hotspot/vm.h"

#define NAME_BYTES 64u
#define CODE_MAX   ((size_t)64 << 20)

/* aarch64: a call may go by way of 'ldr x8, .+8; br x8', behind which is the address, in the caller's own blob. */
#define TRAMPOLINE_LOAD UINT32_C(0x58000048)

/*
 * Parts of names, JDK 17 to 25: "_new_instance_Java", "C2 Runtime new_instance", "fast_new_instance Runtime1 stub";
 * "resolve_opt_virtual_call", "Shared Runtime resolve_static_call_blob"; "UncommonTrapBlob".
 */
static const struct {
    const char *part;
    enum call_target target;
} parts[] = {
    { "ncommon", CALL_OF_TRAP },
    { "new_instance", CALL_OF_ALLOCATION },
    { "new_array", CALL_OF_ARRAY },
    { "new_type_array", CALL_OF_ARRAY },
    { "new_object_array", CALL_OF_ARRAY },
    { "multi_array", CALL_OF_ARRAY },
    { "multianewarray", CALL_OF_ARRAY },
    { "nmethod", CALL_OF_JAVA },
    { "I2C/C2I", CALL_OF_JAVA },
    { "vtable", CALL_OF_JAVA },
    { "itable", CALL_OF_JAVA },
    { "MethodHandle", CALL_OF_JAVA },
    { "Interpreter", CALL_OF_JAVA },
    { "resolve_", CALL_OF_JAVA },
    { "wrong_method", CALL_OF_JAVA },
    { "ic_miss", CALL_OF_JAVA },
};

enum call_target call_target_named(const char *name)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i].part) != NULL)
            return parts[i].target;
    return CALL_OF_OTHER;
}

void call_targets_open(struct vm *vm, struct call_targets *targets)
{
    struct vm_field name = { "CodeBlob", "_name", &targets->blob_name, false };
    memset(targets, 0, sizeof *targets);
    targets->vm = vm;
    vm_fields_find(vm, &name, 1);
}

bool call_targets_take(struct call_targets *targets, const struct nmethod *nmethod)
{
    targets->nmethod = nmethod;
    if (nmethod->n_bytes > CODE_MAX)
        return false;
    if (nmethod->n_bytes > targets->room) {
        free(targets->code);
        targets->code = malloc((size_t)nmethod->n_bytes);
        targets->room = targets->code == NULL ? 0 : (size_t)nmethod->n_bytes;
    }
    return nmethod->n_bytes <= targets->room &&
           vm_read(targets->vm, nmethod->start, targets->code, (size_t)nmethod->n_bytes);
}

static enum call_target target_of_blob(struct call_targets *targets, uint64_t address)
{
    uint64_t blob = code_heaps_find(targets->vm, address);
    struct hash_slot *slot = blob == 0 ? NULL : xhash_put(&targets->known, hash_address(blob));
    char name[NAME_BYTES] = "";
    if (slot == NULL || targets->blob_name == VM_NONE)
        return CALL_OF_OTHER;
    if (slot->value == 0) {
        vm_read_text(targets->vm, blob + targets->blob_name, name, sizeof name);
        slot->value = 1 + (uint32_t)call_target_named(name);
    }
    return (enum call_target)(slot->value - 1);
}

/* In its own blob: itself, the stub of a call of a method that is interpreted, or on aarch64 a trampoline. */
static enum call_target target_of_own(struct call_targets *targets, uint64_t offset)
{
    const uint8_t *at = targets->code + offset;
    uint64_t left = targets->nmethod->n_bytes - offset;
    if (frame_rules_here()->has_link && left >= 16 && vm_number(at, 4, 0, 4) == TRAMPOLINE_LOAD)
        return target_of_blob(targets, vm_number(at, 16, 8, 8));
    return CALL_OF_JAVA;
}

enum call_target call_targets_at(struct call_targets *targets, uint64_t offset)
{
    const struct nmethod *nmethod = targets->nmethod;
    int64_t distance = 0;
    if (offset < FRAME_CALL_BYTES || offset > nmethod->n_bytes)
        return CALL_OF_NONE;
    switch (frame_rules_here()->call(targets->code + offset - FRAME_CALL_BYTES, &distance)) {
    case FRAME_CALL_NONE:
        return CALL_OF_NONE;
    case FRAME_CALL_INDIRECT: /* of native code: Java code and stubs are called directly */
        return CALL_OF_OTHER;
    case FRAME_CALL_DIRECT:
        break;
    }
    uint64_t target = offset + (uint64_t)distance;
    return target < nmethod->n_bytes ? target_of_own(targets, target)
                                     : target_of_blob(targets, nmethod->start + target);
}

void call_targets_forget(struct call_targets *targets)
{
    hash_clear(&targets->known);
}

void call_targets_free(struct call_targets *targets)
{
    hash_free(&targets->known);
    free(targets->code);
    memset(targets, 0, sizeof *targets);
}
