/* Nothing is checked; what checks is linked in its place for tests (test/emu/sim_check.c). */
#include "core/emu/plugin/sim_core.h"

bool sim_check_is_there(void)
{
    return false;
}

void sim_check_watch(struct qemu_plugin_insn *insn, const struct sim_foresight *foresight, uint32_t n_members)
{
    (void)insn;
    (void)foresight;
    (void)n_members;
}

qemu_plugin_execute_fn *sim_check_choose(const struct sim_block *block)
{
    (void)block;
    return NULL;
}

void sim_check_print(FILE *out)
{
    (void)out;
}
