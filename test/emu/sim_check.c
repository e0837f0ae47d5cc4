#include "core/emu/plugin/sim_core.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 16

/* An instruction; it stays allocated. */
struct checked {
    uint64_t instruction;
    uint8_t bytes[16];
    uint32_t n_bytes, n;
    struct sim_member members[SIM_ACCESSES_MAX];
};

/* Where this thread is. */
static _Thread_local struct {
    uint64_t registers[SIM_N_REGISTERS]; /* at its block's begin */
    const struct checked *at;            /* the instruction of the last access */
    uint32_t n_made;                     /* by it */
    uint32_t n_missing;                  /* of those that are foreseen of the block */
} now;

static struct {
    _Atomic uint64_t n_compared, n_different, n_left;
    pthread_mutex_t lock; /* for what follows */
    const struct checked *shown[SHOWN_MAX];
    uint32_t n_shown;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool sim_check_is_there(void)
{
    return true;
}

static void note_different(const struct checked *checked)
{
    all.n_different++;
    pthread_mutex_lock(&all.lock);
    uint32_t i = 0;
    while (i < all.n_shown && all.shown[i]->instruction != checked->instruction)
        i++;
    if (i == all.n_shown && i < SHOWN_MAX)
        all.shown[all.n_shown++] = checked;
    pthread_mutex_unlock(&all.lock);
}

static void on_access(unsigned vcpu, uint32_t info, uint64_t address, void *context)
{
    const struct checked *checked = context;
    (void)vcpu;
    now.n_made = now.at == checked ? now.n_made + 1 : 1;
    now.at = checked;
    all.n_compared++;
    if (now.n_made > checked->n) {
        note_different(checked);
        return;
    }
    const struct sim_operand *one = &checked->members[now.n_made - 1].operand;
    now.n_missing--;
    if (sim_effective_address(&one->addressing, now.registers) != address ||
        one->n_bytes != 1u << qemu_plugin_mem_size_shift(info) || one->is_store != qemu_plugin_mem_is_store(info))
        note_different(checked);
}

void sim_check_watch(struct qemu_plugin_insn *insn, const struct sim_foresight *foresight, uint32_t n_members)
{
    struct checked *checked = calloc(1, sizeof *checked);
    size_t n_bytes = qemu_plugin_insn_size(insn);
    if (checked == NULL)
        return;
    checked->instruction = qemu_plugin_insn_vaddr(insn);
    checked->n_bytes = (uint32_t)(n_bytes < sizeof checked->bytes ? n_bytes : sizeof checked->bytes);
    memcpy(checked->bytes, qemu_plugin_insn_data(insn), checked->n_bytes);
    checked->n = n_members;
    memcpy(checked->members, &foresight->members[foresight->n - n_members], n_members * sizeof *checked->members);
    qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, checked);
}

/* As qemu_api.h calls it. */
QEMU_FLAGS_CALLBACK(sim_check_block, sim_check_begins);

QEMU_FLAGS_HANDLER(sim_check_begins)
{
    const struct sim_block *block = context;
    all.n_left += now.n_missing;
    now.at = NULL;
    now.n_missing = (uint32_t)block->n_loads + block->n_stores;
    if (now.n_missing > 0)
        memcpy(now.registers, state, sizeof now.registers);
    sim_enter_any(vcpu, block, state, returns_to);
}

qemu_plugin_execute_fn *sim_check_choose(const struct sim_block *block)
{
    (void)block;
    return sim_check_block;
}

void sim_check_print(FILE *out)
{
    fprintf(out, "foreseen compared %" PRIu64 " different %" PRIu64 " left %" PRIu64 "\n", all.n_compared,
            all.n_different, all.n_left);
    for (uint32_t i = 0; i < all.n_shown; i++) {
        fprintf(out, "different at %#" PRIx64 ":", all.shown[i]->instruction);
        for (uint32_t k = 0; k < all.shown[i]->n_bytes; k++)
            fprintf(out, " %02x", all.shown[i]->bytes[k]);
        fprintf(out, "\n");
    }
}
