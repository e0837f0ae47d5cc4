/* Any bytes are instructions, one a length: what is foreseen stays in its bounds, and groups hold their members. */
#include "core/emu/model/sim_foreseen.h"
#include "core/hotspot/vm_methods.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_operands(const struct sim_operands *o)
{
    if (o->n_accesses > SIM_ACCESSES_MAX || o->to > SIM_NO_REGISTER || o->from > SIM_NO_REGISTER ||
        (o->to < SIM_NO_REGISTER && (o->written >> o->to & 1) == 0) || (!o->is_known && o->n_accesses > 0))
        abort();
    for (uint32_t i = 0; i < o->n_accesses; i++) {
        const struct sim_operand *one = &o->accesses[i];
        if (one->addressing.base > SIM_NO_REGISTER || one->addressing.index > SIM_NO_REGISTER ||
            one->addressing.shift > 3 || one->n_bytes == 0 || one->n_bytes > 8)
            abort();
    }
}

static void check_foreseen(const struct sim_foreseen *seen, const struct sim_group *groups, uint32_t n_members)
{
    uint64_t registers[SIM_N_REGISTERS];
    uint32_t n = 0;
    for (uint64_t i = 0; i < SIM_N_REGISTERS; i++)
        registers[i] = i * UINT64_C(0x123456789abcdef);
    for (uint32_t g = 0; g < (uint32_t)seen->n_simple + seen->n_general; g++) {
        const struct sim_group *group = &groups[g];
        const struct sim_group_rest *rest = &seen->rest[g];
        uint64_t first = sim_group_address(group, registers, g < seen->n_simple);
        if (rest->members != seen->members + n || group->span >= SIM_GROUP_BYTES)
            abort();
        n += group->n;
        for (uint32_t i = 0; i < group->n; i++) {
            const struct sim_operand *one = &rest->members[i].operand;
            uint64_t from = sim_effective_address(&one->addressing, registers) - first;
            if (from > group->span || from + one->n_bytes - 1 > group->span)
                abort();
        }
    }
    if (n != n_members || seen->n_loads + seen->n_stores != n)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static struct sim_foresight foresight;
    sim_foresight_begin(&foresight);
    for (size_t i = 0; i < n;) {
        size_t n_bytes = bytes[i++] % 16;
        n_bytes = n_bytes < n - i ? n_bytes : n - i;
        struct sim_operands operands;
        sim_operands_x86(bytes + i, n_bytes, 0x400000 + i, &operands);
        check_operands(&operands);
        struct memory_operand one;
        if (memory_operand_read(bytes + i, n_bytes, &one) && (one.offset < 0 || one.n_shift > 3))
            abort();
        sim_foresight_add(&foresight, &operands, 0x400000 + i, false);
        i += n_bytes;
    }
    struct sim_foresight_bytes room = sim_foresight_bytes(&foresight);
    struct sim_group *groups = room.groups == 0 ? NULL : malloc(room.groups);
    void *rest = room.rest == 0 ? NULL : malloc(room.rest);
    if (groups != NULL && rest != NULL) {
        struct sim_foreseen seen = sim_foresight_make(&foresight, groups, rest);
        check_foreseen(&seen, groups, foresight.n);
    }
    free(groups);
    free(rest);
    return 0;
}
