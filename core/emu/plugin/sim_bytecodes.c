#include "core/emu/plugin/sim_misses.h"

#include <sys/mman.h>

#define KNOWN       (1u << 17)
#define KNOWN_BYTES (KNOWN * sizeof(struct sim_bytecode))
#define TRIES       64

void sim_bytecodes_open(struct sim_bytecodes *bytecodes, struct owners *owners)
{
    *bytecodes = (struct sim_bytecodes){ .owners = owners, .known = { sim_map(KNOWN_BYTES), KNOWN - 1, TRIES } };
}

void sim_bytecodes_look(struct sim_bytecodes *bytecodes)
{
    bytecodes->look++;
}

/* The bytecode of an address in the code that was found. */
static uint32_t number_of(struct sim_bytecodes *b, uint64_t address)
{
    struct vm_method_parts parts;
    uint64_t key;
    if (!nmethod_copy(vm_here(), &b->code) || !scopes_find(&b->walk, &b->code.scopes, address - b->code.start) ||
        b->walk.n_frames == 0 || b->walk.frames[0].index < 0)
        return OWNERS_NONE;
    vm_methods_keys(vm_here(), &b->walk.frames[0].method, 1, &key, &parts);
    return key == 0 ? OWNERS_NONE : owners_bytecode(b->owners, &parts, (uint32_t)b->walk.frames[0].index);
}

static void learn(struct sim_bytecodes *b, struct sim_bytecode *known, uint64_t address)
{
    bool is_code = nmethod_find(vm_here(), &b->code, address);
    *known = (struct sim_bytecode){ .address = address,
                                    .header = is_code ? b->code.address : 0,
                                    .compilation = is_code ? b->code.number : 0,
                                    .number = is_code ? number_of(b, address) : OWNERS_NONE,
                                    .look = b->look };
}

static bool is_same(struct sim_bytecodes *b, const struct sim_bytecode *known)
{
    return known->header != 0 && nmethod_find_at(vm_here(), &b->code, known->header) &&
           b->code.number == known->compilation;
}

uint32_t sim_bytecodes_find(struct sim_bytecodes *b, uint64_t address)
{
    struct sim_bytecode *known = vm_table_find(&b->known, sizeof *known, vm_hash(address), &address, sizeof address);
    if (known == NULL) { /* it is full there */
        /* cppcheck-suppress invalidFunctionArg */
        madvise(b->known.elements, KNOWN_BYTES, MADV_DONTNEED);
        known = vm_table_find(&b->known, sizeof *known, vm_hash(address), &address, sizeof address);
    }
    if (known->address != address || (known->look != b->look && !is_same(b, known)))
        learn(b, known, address);
    known->look = b->look;
    return known->number;
}
