/*
 * The part of QEMU's interface for TCG plugins that libmmprof-sim.so uses, version 1 (QEMU 6.0 to 8.2), declared after
 * QEMU's documentation (docs/devel/tcg-plugins): Debian's packages have no header of it.  QEMU itself has the
 * functions.
 */
#ifndef CORE_EMU_PLUGIN_QEMU_API_H
#define CORE_EMU_PLUGIN_QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_VERSION 1

typedef uint64_t qemu_plugin_id_t;

struct qemu_plugin_info {
    const char *target_name; /* "x86_64" */
    struct {
        int min, cur;
    } version;
    bool system_emulation;
    struct {
        int smp_vcpus, max_vcpus;
    } system;
};

struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void qemu_plugin_vcpu_fn(qemu_plugin_id_t id, unsigned vcpu);
typedef void qemu_plugin_simple_fn(qemu_plugin_id_t id);
typedef void qemu_plugin_end_fn(qemu_plugin_id_t id, void *context);
typedef void qemu_plugin_translate_fn(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void qemu_plugin_execute_fn(unsigned vcpu, void *context);
typedef void qemu_plugin_memory_fn(unsigned vcpu, uint32_t info, uint64_t address, void *context);
typedef void qemu_plugin_syscall_fn(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
                                    uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_fn *fn);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_fn *fn);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_translate_fn *fn);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_plugin_syscall_fn *fn);
void qemu_plugin_register_flush_cb(qemu_plugin_id_t id, qemu_plugin_simple_fn *fn);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_end_fn *fn, void *context);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, qemu_plugin_execute_fn *fn,
                                          enum qemu_plugin_cb_flags flags, void *context);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_memory_fn *fn,
                                      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw, void *context);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);
void qemu_plugin_outs(const char *text);

#endif
