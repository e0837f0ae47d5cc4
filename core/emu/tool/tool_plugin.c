/*
 * libmmprof-tool.so: a plugin for QEMU's user mode that lets a tool (mmprof_tool.h) see the loads and stores of the
 * program that QEMU runs, and what the agent in its JVM tells of objects and code.  Nothing is simulated.
 *
 *     qemu-x86_64 -plugin libmmprof-tool.so,tool=my.so,argument=TEXT,out=FILE java -agentpath:...=track_objects:0 ...
 *
 * mmprof memtrace starts it so.
 */
#include "core/emu/plugin/qemu_api.h"
#include "core/emu/model/sim_foreseen.h"
#include "core/emu/model/sim_slots.h"
#include "core/emu/tool/tool_host.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define VCPUS_MAX 65536

/* QEMU finds it by this name and asks what the plugin was made for. */
__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_VERSION;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info,
                                                               int argc, char **argv);

static struct {
    struct tool_thread *threads[VCPUS_MAX]; /* by QEMU's number; NULL: not known yet, or gone */
    void *states[VCPUS_MAX];                /* the processors', likewise: see qemu_api.h */
    bool is_arm64;
} plugin;

/* ---- threads ---- */

/* At the first access, for QEMU tells of a new thread in the one that makes it.  NULL: it is not followed. */
static __attribute__((noinline)) struct tool_thread *make_thread(unsigned vcpu)
{
    if (vcpu >= VCPUS_MAX)
        return NULL;
    /* cppcheck-suppress invalidFunctionArg */
    void *at = mmap(NULL, sizeof(struct tool_thread), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    if (tool_host_begin(at) < 0) {
        munmap(at, sizeof(struct tool_thread));
        return NULL;
    }
    plugin.threads[vcpu] = at;
    return at;
}

static inline struct tool_thread *thread_of(unsigned vcpu)
{
    return __builtin_expect(vcpu < VCPUS_MAX, 1) ? plugin.threads[vcpu] : NULL;
}

static void on_thread_end(qemu_plugin_id_t id, unsigned vcpu)
{
    (void)id;
    struct tool_thread *thread = thread_of(vcpu);
    if (vcpu < VCPUS_MAX)
        plugin.states[vcpu] = NULL;
    if (thread == NULL)
        return;
    plugin.threads[vcpu] = NULL;
    tool_host_end(thread);
    munmap(thread, sizeof *thread);
}

/* A new thread gets the number of one that has ended. */
static void on_thread_begin(qemu_plugin_id_t id, unsigned vcpu)
{
    on_thread_end(id, vcpu);
}

static void in_child(void)
{
    tool_host_in_child();
    memset(plugin.threads, 0, sizeof plugin.threads);
}

/* ---- execution ---- */

static void on_access(unsigned vcpu, uint32_t info, uint64_t address, void *instruction)
{
    if (vcpu < VCPUS_MAX)
        qemu_stale_look(plugin.states[vcpu]);
    uint64_t n_java = atomic_load_explicit(&tool_wanted.java_bytes, memory_order_relaxed);
    if (n_java == 0)
        return;
    struct tool_thread *thread = thread_of(vcpu);
    if (__builtin_expect(thread == NULL, 0) && (thread = make_thread(vcpu)) == NULL)
        return;
    if (atomic_load_explicit(&thread->is_paused, memory_order_relaxed) != 0)
        return;
    uint64_t at = (uint64_t)(uintptr_t)instruction;
    enum tool_code code = tool_code_of(at, n_java);
    if (__builtin_expect(!thread->thread->is_java, 0) && !(code == TOOL_JAVA && tool_host_runs_java(thread, at))) {
        if (!tool_wanted.vm_threads)
            return;
        code = code == TOOL_JAVA ? TOOL_VM : code;
    }
    if (__builtin_expect(thread->left_out > 0, 0)) {
        thread->left_out = tool_is_library(code) ? thread->left_out - 1 : 0;
        if (tool_is_library(code))
            return;
    }
    if (!tool_wanted.accesses && address - tool_wanted.heap >= tool_wanted.heap_bytes) {
        thread->time += code == TOOL_JAVA;
        return;
    }
    const struct tool_kept kept = {
        .instruction = at,
        .address = address,
        .bytecode = thread->bytecode,
        .info = info,
        .code = (uint8_t)code,
        .is_collecting = atomic_load_explicit(&tool_wanted.is_collecting, memory_order_relaxed),
    };
    if (tool_host_keep(thread, &kept))
        tool_host_flush(thread);
}

/* The interpreter fetches a bytecode, or its operand: see sim_decode_is_dispatch. */
static void on_bytecode(unsigned vcpu, uint32_t info, uint64_t address, void *instruction)
{
    struct tool_thread *thread = thread_of(vcpu);
    if (thread != NULL)
        thread->bytecode = address;
    on_access(vcpu, info, address, instruction);
}

static void on_call(unsigned vcpu, uint32_t info, uint64_t address, void *instruction)
{
    struct tool_thread *thread = thread_of(vcpu);
    if (thread != NULL && qemu_plugin_mem_is_store(info))
        tool_host_call(thread, (uint64_t)(uintptr_t)instruction, address);
    on_access(vcpu, info, address, instruction);
}

/* ret, pop and leave, as the interpreter and compiled code take a frame off the stack. */
static void on_pop(unsigned vcpu, uint32_t info, uint64_t address, void *instruction)
{
    on_access(vcpu, info, address, instruction);
    struct tool_thread *thread = thread_of(vcpu);
    if (thread != NULL && !qemu_plugin_mem_is_store(info))
        tool_host_pop(thread, address);
}

/* Each block: nothing but where the thread's state is. */
QEMU_FLAGS_CALLBACK(tool_block, tool_block_begins);

QEMU_FLAGS_HANDLER(tool_block_begins)
{
    (void)context, (void)returns_to;
    if (vcpu < VCPUS_MAX)
        plugin.states[vcpu] = state;
}

static void on_flush(qemu_plugin_id_t id)
{
    (void)id;
    for (unsigned vcpu = 0; vcpu < VCPUS_MAX; vcpu++)
        qemu_stale_clear(plugin.states[vcpu]);
}

static void on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    if (number != SIM_SYSCALL)
        return;
    struct tool_thread *thread = thread_of(vcpu);
    if (thread != NULL || (thread = make_thread(vcpu)) != NULL)
        tool_host_hear(thread, a1, a2);
}

static qemu_plugin_memory_fn *callback_of(struct qemu_plugin_insn *insn)
{
    const uint8_t *bytes = qemu_plugin_insn_data(insn);
    size_t n = qemu_plugin_insn_size(insn);
    if (plugin.is_arm64)
        return on_access;
    if (sim_decode_is_dispatch(bytes, n))
        return on_bytecode;
    if (!tool_wanted.callers)
        return on_access;
    enum sim_branch_kind kind = sim_decode_x86(bytes, n);
    return kind == SIM_CALL || kind == SIM_INDIRECT_CALL           ? on_call
           : kind == SIM_RETURN || sim_decode_is_pop_x86(bytes, n) ? on_pop
                                                                   : on_access;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t n = qemu_plugin_tb_n_insns(tb);
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, tool_block, QEMU_PLUGIN_CB_NO_REGS, NULL);
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        qemu_plugin_register_vcpu_mem_cb(insn, callback_of(insn), QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                         (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
    }
}

static void on_end(qemu_plugin_id_t id, void *context)
{
    (void)id;
    (void)context;
    tool_host_finish();
}

/* ---- the beginning ---- */

static int refuse(const char *why)
{
    fprintf(stderr, "mmprof: %s\n", why);
    return -1;
}

/* What stands behind KEY= among the arguments; NULL: nothing. */
static const char *argument(int argc, char **argv, const char *key)
{
    size_t n = strlen(key);
    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], key, n) == 0 && argv[i][n] == '=')
            return argv[i] + n + 1;
    return NULL;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info, int argc, char **argv)
{
    const char *tool = argument(argc, argv, "tool"), *text = argument(argc, argv, "argument");
    plugin.is_arm64 = strcmp(info->target_name, "aarch64") == 0;
    if (info->system_emulation || (!plugin.is_arm64 && strcmp(info->target_name, "x86_64") != 0))
        return refuse("tools are for programs of x86_64 and aarch64 (qemu-x86_64), not for whole machines");
    if (tool == NULL)
        return refuse("no tool= is given");
    const char *interval = argument(argc, argv, "interval");
    const char *why = tool_host_open(tool, text == NULL ? "" : text, argument(argc, argv, "out"),
                                     interval == NULL ? 0 : strtoull(interval, NULL, 10));
    if (why != NULL)
        return refuse(why);
    if (plugin.is_arm64 && tool_wanted.callers)
        return refuse("who uses an object last is known on x86-64 only");
    pthread_atfork(tool_host_before_fork, tool_host_in_parent, in_child);
    qemu_stale_begin((const void *)(uintptr_t)on_access, (const void *)(uintptr_t)on_bytecode);
    qemu_plugin_register_flush_cb(id, on_flush);
    qemu_plugin_register_vcpu_init_cb(id, on_thread_begin);
    qemu_plugin_register_vcpu_exit_cb(id, on_thread_end);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
