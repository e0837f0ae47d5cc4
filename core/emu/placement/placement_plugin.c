/*
 * libmmprof-placement.so: a plugin for QEMU's user mode that simulates the data caches and the TLB of each Java thread
 * several times over: with the program's addresses, and with those that its objects would have under policies of
 * placement (placement_policy.h).
 *
 *     qemu-x86_64 -plugin libmmprof-placement.so,model=zen4,policies=hot-cold+children,out=FILE java -agentpath:...
 *
 *     event=l2, period=100   what is sampled for heat
 *     heat=FILE              a result of an earlier run: policies with a '!' behind their name are by its heat
 *
 * mmprof placement starts it so.  Simulated are threads from their first interpreted bytecode on, after the JVM has
 * called main: neither the collector's accesses nor the JIT compilers'.
 */
#include "core/emu/placement/placement_result.h"
#include "core/emu/plugin/qemu_api.h"
#include "core/hotspot/code_heaps.h"
#include "core/wire/tracked.h"
#include "core/emu/model/sim_slots.h"

#include <stdlib.h>

#define VCPUS_MAX      65536
#define PERIOD_DEFAULT 100

/* QEMU finds it by this name and asks what the plugin was made for. */
__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_VERSION;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info,
                                                               int argc, char **argv);

/* A thread of the program, by QEMU's number. */
struct vcpu {
    struct placement_thread *thread; /* NULL: not simulated yet */
    void *state;                     /* the processor's: see qemu_api.h */
    _Atomic uint32_t is_paused;      /* the agent works in it, not the program */
};

static struct {
    struct vcpu vcpus[VCPUS_MAX];
    pthread_mutex_t lock; /* for all below but what accesses read */
    struct placement_heap heap;
    struct placement_counts counts;
    struct sim_model model;
    uint64_t interpreter, interpreter_bytes, n_threads;
    _Atomic bool is_running; /* main has been called, and the program has not ended */
    bool is_arm64, has_heap, has_started, has_failed;
    const char *out, *why;
} plugin = { .lock = PTHREAD_MUTEX_INITIALIZER, .heap.lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- threads ---- */

/* It interprets a bytecode: it is a Java thread. */
static __attribute__((noinline)) void make_thread(struct vcpu *vcpu)
{
    pthread_mutex_lock(&plugin.lock);
    vcpu->thread = placement_thread_make(&plugin.heap.world, &plugin.counts, &plugin.model, plugin.n_threads++);
    plugin.has_failed |= vcpu->thread == NULL;
    pthread_mutex_unlock(&plugin.lock);
}

static void on_thread_end(qemu_plugin_id_t id, unsigned number)
{
    (void)id;
    if (number >= VCPUS_MAX)
        return;
    struct vcpu *vcpu = &plugin.vcpus[number];
    pthread_mutex_lock(&plugin.lock);
    if (vcpu->thread != NULL)
        placement_thread_free(vcpu->thread);
    vcpu->thread = NULL;
    vcpu->state = NULL;
    atomic_store(&vcpu->is_paused, 0);
    pthread_mutex_unlock(&plugin.lock);
}

/* A new thread gets the number of one that has ended. */
static void on_thread_begin(qemu_plugin_id_t id, unsigned number)
{
    on_thread_end(id, number);
}

/* ---- execution ---- */

static void on_access(unsigned number, uint32_t info, uint64_t address, void *instruction)
{
    struct vcpu *vcpu = &plugin.vcpus[number];
    if (number >= VCPUS_MAX)
        return;
    qemu_stale_look(vcpu->state);
    if (!atomic_load_explicit(&plugin.is_running, memory_order_relaxed) ||
        atomic_load_explicit(&vcpu->is_paused, memory_order_relaxed) != 0)
        return;
    if (__builtin_expect(vcpu->thread == NULL, 0)) {
        if ((uint64_t)(uintptr_t)instruction - plugin.interpreter >= plugin.interpreter_bytes || plugin.has_failed)
            return;
        make_thread(vcpu);
        if (vcpu->thread == NULL)
            return;
    }
    placement_thread_access(vcpu->thread, address, 1u << qemu_plugin_mem_size_shift(info),
                            qemu_plugin_mem_is_store(info));
}

/* Each block: nothing but where the thread's state is. */
QEMU_FLAGS_CALLBACK(placement_block, placement_block_begins);

QEMU_FLAGS_HANDLER(placement_block_begins)
{
    (void)context, (void)returns_to;
    if (vcpu < VCPUS_MAX)
        plugin.vcpus[vcpu].state = state;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t n = qemu_plugin_tb_n_insns(tb);
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, placement_block, QEMU_PLUGIN_CB_NO_REGS, NULL);
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                         (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
    }
}

static void on_flush(qemu_plugin_id_t id)
{
    (void)id;
    for (unsigned i = 0; i < VCPUS_MAX; i++)
        qemu_stale_clear(plugin.vcpus[i].state);
}

static void sampled(uint64_t address)
{
    placement_heap_sample(&plugin.heap, address);
}

/* ---- what the agent tells; with the lock ---- */

static void hear_tables(uint64_t argument)
{
    uint64_t symbols[SIM_N_SYMBOLS], end;
    if (plugin.has_heap || !qemu_read(argument, symbols, sizeof symbols))
        return;
    uint64_t base = UINT64_C(1) << (plugin.is_arm64 ? 48 : 47);
    plugin.has_heap = placement_heap_open(&plugin.heap, symbols, base, &plugin.why) == 0;
    if (plugin.has_heap && code_heaps_interpreter(&plugin.interpreter, &end))
        plugin.interpreter_bytes = end - plugin.interpreter;
}

/* No object is followed: that of the few that the JVM tells of is to be deleted. */
static void hear_object(uint64_t argument)
{
    struct tracked_object told;
    if (!qemu_read(argument, &told, sizeof told) || told.reference == 0)
        return;
    told.n_gone = 1;
    told.gone[0] = told.reference;
    qemu_write(argument, &told, sizeof told);
}

static void write_result(void)
{
    const struct placement_heap *heap = &plugin.heap;
    struct placement_run run = { .n_accesses = atomic_load(&plugin.counts.n_accesses),
                                 .n_placed = atomic_load(&plugin.counts.n_placed),
                                 .n_collections = heap->n_collections,
                                 .n_full = heap->n_full_collections,
                                 .n_objects = heap->n_objects,
                                 .n_object_bytes = heap->n_object_bytes,
                                 .n_samples = heap->world.classes.n_samples,
                                 .event = plugin.counts.event,
                                 .period = plugin.counts.period };
    snprintf(run.model, sizeof run.model, "%s", plugin.model.name);
    FILE *out = plugin.out == NULL ? NULL : fopen(plugin.out, "we");
    if (out == NULL)
        return;
    placement_result_write(out, &run, &heap->world, &plugin.counts);
    fclose(out);
}

static void finish(void)
{
    if (!plugin.has_started)
        return;
    plugin.has_started = false;
    atomic_store(&plugin.is_running, false);
    placement_heap_finish(&plugin.heap);
    for (unsigned i = 0; i < VCPUS_MAX; i++)
        if (plugin.vcpus[i].thread != NULL)
            placement_thread_flush(plugin.vcpus[i].thread);
    if (!plugin.has_failed)
        write_result();
}

static void hear(struct vcpu *vcpu, uint64_t what, uint64_t argument)
{
    uint64_t value = (uint64_t)(uintptr_t)&vcpu->is_paused;
    switch (what) {
    case SIM_TELL_TABLES:
        hear_tables(argument);
        break;
    case SIM_TELL_MOVE:
        if (plugin.has_started)
            placement_heap_begin(&plugin.heap);
        break;
    case SIM_TELL_MOVED:
        if (plugin.has_started)
            placement_heap_end(&plugin.heap);
        break;
    case SIM_TELL_END:
        finish();
        break;
    case TRACKED_ASK_PAUSE:
        qemu_write(argument, &value, sizeof value);
        break;
    case TRACKED_TELL_OBJECT:
        hear_object(argument);
        break;
    case TRACKED_TELL_START:
        plugin.has_started = plugin.has_heap;
        atomic_store(&plugin.is_running, plugin.has_heap);
        break;
    }
}

static void on_syscall(qemu_plugin_id_t id, unsigned number, int64_t call, uint64_t a1, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    if (call != SIM_SYSCALL || number >= VCPUS_MAX)
        return;
    pthread_mutex_lock(&plugin.lock);
    hear(&plugin.vcpus[number], a1, a2);
    pthread_mutex_unlock(&plugin.lock);
}

static void on_end(qemu_plugin_id_t id, void *context)
{
    (void)id, (void)context;
    pthread_mutex_lock(&plugin.lock);
    finish();
    if (plugin.why != NULL && !plugin.has_heap)
        fprintf(stderr, "mmprof: the heap of this JVM cannot be looked into: %s\n", plugin.why);
    pthread_mutex_unlock(&plugin.lock);
}

/* ---- forks: a child simulates nothing ---- */

static void before_fork(void)
{
    pthread_mutex_lock(&plugin.lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&plugin.lock);
}

static void in_child(void)
{
    plugin.has_started = false;
    plugin.out = NULL;
    atomic_store(&plugin.is_running, false);
    pthread_mutex_unlock(&plugin.lock);
}

/* ---- the beginning ---- */

static int refuse(const char *why)
{
    fprintf(stderr, "mmprof: %s\n", why);
    return -1;
}

/* "hot-cold+children!" */
static int read_policies(const char *text)
{
    struct placement_world *world = &plugin.heap.world;
    while (*text != '\0') {
        size_t n = strcspn(text, "+!");
        struct placement_policy *policy = &world->policies[world->n_policies];
        if (world->n_policies == PLACEMENT_MAX || !placement_kind_parse(text, n, &policy->kind))
            return refuse("policies= has one that is not known, or too many");
        world->n_policies++;
        text += n;
        if (*text == '!') {
            policy->heat = PLACEMENT_BY_HINDSIGHT;
            text++;
        }
        text += *text == '+';
    }
    return 0;
}

static int read_argument(const char *argument)
{
    struct err err;
    if (strncmp(argument, "model=", 6) == 0)
        return sim_model_load(argument + 6, &plugin.model, &err) < 0 ? refuse(err.text) : 0;
    if (strncmp(argument, "policies=", 9) == 0)
        return read_policies(argument + 9);
    if (strncmp(argument, "event=", 6) == 0)
        return placement_event_parse(argument + 6, &plugin.counts.event) ? 0 : refuse("event= is l1d, l2 or dtlb");
    if (strncmp(argument, "period=", 7) == 0)
        plugin.counts.period = strtoull(argument + 7, NULL, 10);
    else if (strncmp(argument, "heat=", 5) == 0)
        return placement_hindsight_read(&plugin.heap.hindsight, argument + 5) < 0 ? refuse("heat= cannot be read") : 0;
    else if (strncmp(argument, "out=", 4) == 0)
        plugin.out = strdup(argument + 4);
    else
        return refuse("it takes model=, policies=, event=, period=, heat= and out=");
    return 0;
}

static int prepare(int argc, char **argv)
{
    struct err err;
    plugin.counts = (struct placement_counts){ .event = PLACEMENT_L2, .period = PERIOD_DEFAULT, .sampled = sampled };
    if (sim_model_find(SIM_MODEL_DEFAULT, &plugin.model, &err) < 0)
        return refuse(err.text);
    for (int i = 0; i < argc; i++)
        if (read_argument(argv[i]) < 0)
            return -1;
    if (plugin.counts.period == 0)
        return refuse("period= is 1 or more");
    if (placement_classes_open(&plugin.heap.world.classes) < 0 ||
        placement_counts_open(&plugin.counts, plugin.heap.world.n_policies) < 0)
        return refuse("out of memory");
    return 0;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info, int argc, char **argv)
{
    plugin.is_arm64 = strcmp(info->target_name, "aarch64") == 0;
    if (info->system_emulation || (!plugin.is_arm64 && strcmp(info->target_name, "x86_64") != 0))
        return refuse("placement is for programs of x86_64 and aarch64 (qemu-x86_64), not for whole machines");
    if (prepare(argc, argv) < 0)
        return -1;
    pthread_atfork(before_fork, in_parent, in_child);
    qemu_stale_begin((const void *)(uintptr_t)on_access, (const void *)(uintptr_t)on_access);
    qemu_plugin_register_flush_cb(id, on_flush);
    qemu_plugin_register_vcpu_init_cb(id, on_thread_begin);
    qemu_plugin_register_vcpu_exit_cb(id, on_thread_end);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
