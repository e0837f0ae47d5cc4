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
#include <sys/mman.h>

static struct {
    struct tool_thread *threads[QEMU_VCPUS_MAX]; /* by QEMU's number; NULL: not known yet, or gone */
    const char *tool, *argument, *out, *interval;
    bool is_arm64;
} plugin;

/* ---- threads ---- */

/* At the first access, for QEMU tells of a new thread in the one that makes it.  NULL: it is not followed. */
static __attribute__((noinline)) struct tool_thread *make_thread(unsigned vcpu)
{
    if (vcpu >= QEMU_VCPUS_MAX)
        return NULL;
    plugin.threads[vcpu] = sim_map(sizeof(struct tool_thread));
    tool_host_begin(plugin.threads[vcpu]);
    return plugin.threads[vcpu];
}

static inline struct tool_thread *thread_of(unsigned vcpu)
{
    return __builtin_expect(vcpu < QEMU_VCPUS_MAX, 1) ? plugin.threads[vcpu] : NULL;
}

static void end_thread(unsigned vcpu)
{
    struct tool_thread *thread = plugin.threads[vcpu];
    plugin.threads[vcpu] = NULL;
    if (thread == NULL)
        return;
    tool_host_end(thread);
    munmap(thread, sizeof *thread);
}

static void in_child(void)
{
    tool_host_in_child();
    memset(plugin.threads, 0, sizeof plugin.threads);
}

/* ---- execution ---- */

/* Behind the JVM's work for an object: does the interpreter still finish the bytecode that created it? */
static bool is_creating(const struct tool_thread *thread, uint64_t instruction)
{
    uint8_t code = 0;
    return instruction - tool_wanted.interpreter < tool_wanted.interpreter_bytes && thread->bytecode != 0 &&
           qemu_read(thread->bytecode, &code, 1) &&
           (code == 0xbb || code == 0xbc || code == 0xbd ||
            code == 0xc5); /* new, newarray, anewarray, multianewarray */
}

static void on_access(unsigned vcpu, uint32_t info, uint64_t address, void *instruction)
{
    if (vcpu < QEMU_VCPUS_MAX)
        qemu_stale_look(qemu_states[vcpu]);
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
        bool is_left_out = tool_is_library(code) || is_creating(thread, at);
        thread->left_out = is_left_out ? thread->left_out - 1 : 0;
        if (is_left_out)
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
    if (thread != NULL) {
        thread->bytecode = address;
        if ((uint64_t)(uintptr_t)instruction - tool_wanted.interpreter < tool_wanted.interpreter_bytes)
            thread->left_out = 0;
    }
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

static void hear(unsigned vcpu, const struct qemu_flags_call *call)
{
    if (call->number != SIM_SYSCALL)
        return;
    struct tool_thread *thread = thread_of(vcpu);
    if (thread != NULL || (thread = make_thread(vcpu)) != NULL)
        tool_host_hear(thread, call->arguments[0], call->arguments[1]);
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

static void translate(struct qemu_plugin_tb *tb)
{
    qemu_watch_all(tb, callback_of);
}

/* ---- the beginning ---- */

static int begin(bool is_arm64, int argc, char **argv)
{
    static const struct qemu_argument arguments[] = { { "tool", NULL, &plugin.tool },
                                                      { "argument", NULL, &plugin.argument },
                                                      { "out", NULL, &plugin.out },
                                                      { "interval", NULL, &plugin.interval } };
    plugin.is_arm64 = is_arm64;
    if (qemu_read_arguments(argc, argv, arguments, sizeof arguments / sizeof *arguments,
                            "it takes tool=, argument=, out= and interval=") < 0)
        return -1;
    if (plugin.tool == NULL)
        return qemu_refuse("no tool= is given");
    const char *why = tool_host_open(plugin.tool, plugin.argument == NULL ? "" : plugin.argument, plugin.out,
                                     plugin.interval == NULL ? 0 : strtoull(plugin.interval, NULL, 10));
    if (why != NULL)
        return qemu_refuse(why);
    if (is_arm64 && tool_wanted.callers)
        return qemu_refuse("who uses an object last is known on x86-64 only");
    pthread_atfork(tool_host_before_fork, tool_host_in_parent, in_child);
    qemu_stale_begin((const void *)(uintptr_t)on_access, (const void *)(uintptr_t)on_bytecode);
    return 0;
}

static const struct qemu_calls calls = { .refusal = "",
                                         .begin = begin,
                                         .thread_ends = end_thread,
                                         .translate = translate,
                                         .hear = hear,
                                         .end = tool_host_finish };

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info, int argc, char **argv)
{
    return qemu_install(id, info, argc, argv, &calls);
}
