/*
 * A plugin for QEMU's user mode whose callbacks do nothing: at each block and at each load and store, as a simulator
 * would have them.  What that takes is the least that one without tricks can take.
 */
#include "core/emu/plugin/qemu_api.h"

__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_VERSION;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info,
                                                               int argc, char **argv);

static void on_block(unsigned vcpu, void *context)
{
    (void)vcpu;
    (void)context;
}

static void on_access(unsigned vcpu, uint32_t info, uint64_t address, void *context)
{
    (void)vcpu;
    (void)info;
    (void)address;
    (void)context;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_PLUGIN_CB_NO_REGS, NULL);
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), on_access, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, NULL);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info, int argc, char **argv)
{
    (void)info;
    (void)argc;
    (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    return 0;
}
