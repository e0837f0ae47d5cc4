/* What mmprof's three plugins have in common: how QEMU loads one and calls it, and its arguments. */
#include "core/emu/plugin/qemu_api.h"

/* QEMU finds it by this name and asks what the plugin was made for. */
__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_VERSION;
void *qemu_states[QEMU_VCPUS_MAX];

static const struct qemu_calls *calls; /* the plugin's */

int qemu_refuse(const char *why)
{
    fprintf(stderr, "mmprof: %s%s\n", calls->refusal, why);
    return -1;
}

static int take_argument(const char *text, const struct qemu_argument *known, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(known[i].key);
        if (strncmp(text, known[i].key, length) != 0 || text[length] != '=')
            continue;
        if (known[i].take != NULL)
            return known[i].take(text + length + 1);
        *known[i].text = strdup(text + length + 1);
        return 0;
    }
    return -2;
}

int qemu_read_arguments(int argc, char **argv, const struct qemu_argument *known, size_t n, const char *usage)
{
    for (int i = 0; i < argc; i++) {
        int rc = take_argument(argv[i], known, n);
        if (rc < 0)
            return rc == -2 ? qemu_refuse(usage) : -1;
    }
    return 0;
}

/* ---- threads whose state is where a block's callback finds it ---- */

QEMU_FLAGS_CALLBACK(qemu_block, qemu_block_begins);

QEMU_FLAGS_HANDLER(qemu_block_begins)
{
    (void)context, (void)returns_to;
    if (vcpu < QEMU_VCPUS_MAX)
        qemu_states[vcpu] = state;
}

void qemu_watch_all(struct qemu_plugin_tb *tb, qemu_plugin_memory_fn *(*choose)(struct qemu_plugin_insn *insn))
{
    size_t n = qemu_plugin_tb_n_insns(tb);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, qemu_block, QEMU_PLUGIN_CB_NO_REGS, NULL);
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        qemu_plugin_register_vcpu_mem_cb(insn, choose(insn), QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                         (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
    }
}

/* ---- QEMU's callbacks ---- */

/* Or begins: a new thread gets the number of one that has ended. */
static void on_thread(qemu_plugin_id_t id, unsigned vcpu)
{
    (void)id;
    if (vcpu >= QEMU_VCPUS_MAX)
        return;
    qemu_states[vcpu] = NULL;
    calls->thread_ends(vcpu);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    calls->translate(tb);
}

static void on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)a7, (void)a8;
    calls->hear(vcpu, &(struct qemu_flags_call){ number, { a1, a2, a3, a4, a5, a6 } });
}

static void on_flush(qemu_plugin_id_t id)
{
    (void)id;
    for (unsigned vcpu = 0; vcpu < QEMU_VCPUS_MAX; vcpu++)
        qemu_stale_clear(qemu_states[vcpu]);
    if (calls->flush != NULL)
        calls->flush();
}

static void on_end(qemu_plugin_id_t id, void *context)
{
    (void)id, (void)context;
    calls->end();
}

int qemu_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info, int argc, char **argv,
                 const struct qemu_calls *its)
{
    bool is_arm64 = strcmp(info->target_name, "aarch64") == 0;
    calls = its;
    if (info->system_emulation || (!is_arm64 && strcmp(info->target_name, "x86_64") != 0))
        return qemu_refuse("it is for programs of x86_64 and aarch64 (qemu-x86_64), not for whole machines");
    if (calls->begin(is_arm64, argc, argv) < 0)
        return -1;
    qemu_plugin_register_vcpu_init_cb(id, on_thread);
    qemu_plugin_register_vcpu_exit_cb(id, on_thread);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_flush_cb(id, on_flush);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
