/*
 * A plugin for QEMU's user mode: how many instructions each kind of a JVM's threads executed, by what the threads are
 * called last.  'executed.so,out=FILE': at the program's end it writes lines 'KIND NUMBER' to FILE.
 */
#include "core/emu/plugin/qemu_api.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define THREADS_MAX 4096 /* at once; later ones are counted as the last of them */
#define NAME_BYTES  16

__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_VERSION;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info,
                                                               int argc, char **argv);

enum kind { APPLICATION, C1, C2, COLLECTOR, OTHER, MMPROF, KINDS };

static const char *const kind_names[KINDS] = { "application", "c1", "c2", "collector", "other", "mmprof" };

/* By what a thread's name begins with. */
static const struct {
    const char *start;
    enum kind kind;
} names[] = {
    { "C1 Compiler", C1 }, { "C2 Compiler", C2 }, { "GC ", COLLECTOR },   { "G1 ", COLLECTOR },
    { "VM ", OTHER },      { "Sweeper", OTHER },  { "Service T", OTHER }, { "mmprof", MMPROF },
};

/* A cache line each: no thread waits for another's. */
struct thread {
    _Alignas(64) uint64_t n;
    char name[NAME_BYTES];
};

static struct thread threads[THREADS_MAX];
static uint64_t ended[KINDS]; /* of threads that have ended; changed atomically */
static const char *out;

static struct thread *thread_of(unsigned vcpu)
{
    return &threads[vcpu < THREADS_MAX ? vcpu : THREADS_MAX - 1];
}

static enum kind kind_of(const struct thread *thread)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(thread->name, names[i].start, strlen(names[i].start)) == 0)
            return names[i].kind;
    return APPLICATION;
}

static void on_execute(unsigned vcpu, void *context)
{
    thread_of(vcpu)->n += (uintptr_t)context;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    void *n = (void *)(uintptr_t)qemu_plugin_tb_n_insns(block);
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_execute, QEMU_PLUGIN_CB_NO_REGS, n);
}

/* Guest addresses are ours: 64 bits on 64 bits. */
static void on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    if (number == SYS_prctl && a1 == PR_SET_NAME)
        snprintf(thread_of(vcpu)->name, NAME_BYTES, "%s", (const char *)(uintptr_t)a2);
}

/* Its number is another thread's as soon as it has ended. */
static void on_thread_end(qemu_plugin_id_t id, unsigned vcpu)
{
    (void)id;
    struct thread *thread = thread_of(vcpu);
    __atomic_add_fetch(&ended[kind_of(thread)], thread->n, __ATOMIC_RELAXED);
    memset(thread, 0, sizeof *thread);
}

static void on_end(qemu_plugin_id_t id, void *context)
{
    (void)id, (void)context;
    FILE *file = fopen(out, "we");
    if (file == NULL)
        return;
    for (size_t i = 0; i < THREADS_MAX; i++)
        ended[kind_of(&threads[i])] += threads[i].n;
    for (size_t k = 0; k < KINDS; k++)
        fprintf(file, "%s %" PRIu64 "\n", kind_names[k], ended[k]);
    fclose(file);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info, int argc, char **argv)
{
    (void)info;
    if (argc != 1 || strncmp(argv[0], "out=", 4) != 0) {
        qemu_plugin_outs("executed.so: give it out=FILE\n");
        return -1;
    }
    out = argv[0] + 4;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_vcpu_exit_cb(id, on_thread_end);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
