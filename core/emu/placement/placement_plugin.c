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
#include "core/hotspot/nmethod.h"
#include "core/wire/tracked.h"
#include "core/emu/model/sim_slots.h"

#define PERIOD_DEFAULT 100

/* A thread of the program, by QEMU's number. */
struct vcpu {
    struct placement_thread *thread; /* NULL: not simulated yet */
    _Atomic uint32_t is_paused;      /* the agent works in it, not the program */
};

static struct {
    struct vcpu vcpus[QEMU_VCPUS_MAX];
    pthread_mutex_t lock; /* for all below but what accesses read */
    struct placement_heap heap;
    struct placement_counts counts;
    struct sim_model model;
    uint64_t interpreter, interpreter_bytes, n_threads;
    _Atomic bool is_running; /* main has been called, and the program has not ended */
    bool is_arm64, has_heap, has_started;
    const char *out, *why;
} plugin = { .lock = PTHREAD_MUTEX_INITIALIZER, .heap.lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- threads ---- */

/* It interprets a bytecode: it is a Java thread. */
static __attribute__((noinline)) void make_thread(struct vcpu *vcpu)
{
    pthread_mutex_lock(&plugin.lock);
    vcpu->thread = placement_thread_make(&plugin.heap.world, &plugin.counts, &plugin.model, plugin.n_threads++);
    pthread_mutex_unlock(&plugin.lock);
}

static void end_thread(unsigned number)
{
    struct vcpu *vcpu = &plugin.vcpus[number];
    pthread_mutex_lock(&plugin.lock);
    if (vcpu->thread != NULL)
        placement_thread_free(vcpu->thread);
    vcpu->thread = NULL;
    atomic_store(&vcpu->is_paused, 0);
    pthread_mutex_unlock(&plugin.lock);
}

/* ---- execution ---- */

static void on_access(unsigned number, uint32_t info, uint64_t address, void *instruction)
{
    struct vcpu *vcpu = &plugin.vcpus[number];
    if (number >= QEMU_VCPUS_MAX)
        return;
    qemu_stale_look(qemu_states[number]);
    if (!atomic_load_explicit(&plugin.is_running, memory_order_relaxed) ||
        atomic_load_explicit(&vcpu->is_paused, memory_order_relaxed) != 0)
        return;
    if (__builtin_expect(vcpu->thread == NULL, 0)) {
        if ((uint64_t)(uintptr_t)instruction - plugin.interpreter >= plugin.interpreter_bytes)
            return;
        make_thread(vcpu);
    }
    placement_thread_access(vcpu->thread, address, 1u << qemu_plugin_mem_size_shift(info),
                            qemu_plugin_mem_is_store(info));
}

static qemu_plugin_memory_fn *callback_of(struct qemu_plugin_insn *insn)
{
    (void)insn;
    return on_access;
}

static void translate(struct qemu_plugin_tb *tb)
{
    qemu_watch_all(tb, callback_of);
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
    if (plugin.has_heap && code_heaps_interpreter(vm_here(), &plugin.interpreter, &end))
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
    for (unsigned i = 0; i < QEMU_VCPUS_MAX; i++)
        if (plugin.vcpus[i].thread != NULL)
            placement_thread_flush(plugin.vcpus[i].thread);
    write_result();
}

static void hear_with_lock(struct vcpu *vcpu, uint64_t what, uint64_t argument)
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

static void hear(unsigned number, const struct qemu_flags_call *call)
{
    if (call->number != SIM_SYSCALL || number >= QEMU_VCPUS_MAX)
        return;
    pthread_mutex_lock(&plugin.lock);
    hear_with_lock(&plugin.vcpus[number], call->arguments[0], call->arguments[1]);
    pthread_mutex_unlock(&plugin.lock);
}

static void end(void)
{
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

/* "hot-cold+children!" */
static int read_policies(const char *text)
{
    struct placement_world *world = &plugin.heap.world;
    while (*text != '\0') {
        size_t n = strcspn(text, "+!");
        struct placement_policy *policy = &world->policies[world->n_policies];
        if (world->n_policies == PLACEMENT_MAX || !placement_kind_parse(text, n, &policy->kind))
            return qemu_refuse("policies= has one that is not known, or too many");
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

static int read_model(const char *text)
{
    struct err err;
    return sim_model_load(text, &plugin.model, &err) < 0 ? qemu_refuse(err.text) : 0;
}

static int read_event(const char *text)
{
    return placement_event_parse(text, &plugin.counts.event) ? 0 : qemu_refuse("event= is l1d, l2 or dtlb");
}

static int read_period(const char *text)
{
    plugin.counts.period = strtoull(text, NULL, 10);
    return plugin.counts.period == 0 ? qemu_refuse("period= is 1 or more") : 0;
}

static int read_heat(const char *path)
{
    return placement_hindsight_read(&plugin.heap.hindsight, path) < 0 ? qemu_refuse("heat= cannot be read") : 0;
}

static int begin(bool is_arm64, int argc, char **argv)
{
    static const struct qemu_argument arguments[] = {
        { "model", read_model, NULL },   { "policies", read_policies, NULL }, { "event", read_event, NULL },
        { "period", read_period, NULL }, { "heat", read_heat, NULL },         { "out", NULL, &plugin.out }
    };
    plugin.is_arm64 = is_arm64;
    plugin.counts = (struct placement_counts){ .event = PLACEMENT_L2, .period = PERIOD_DEFAULT, .sampled = sampled };
    if (read_model(SIM_MODEL_DEFAULT) < 0 ||
        qemu_read_arguments(argc, argv, arguments, sizeof arguments / sizeof *arguments,
                            "it takes model=, policies=, event=, period=, heat= and out=") < 0)
        return -1;
    placement_classes_open(&plugin.heap.world.classes);
    placement_counts_open(&plugin.counts, plugin.heap.world.n_policies);
    pthread_atfork(before_fork, in_parent, in_child);
    qemu_stale_begin((const void *)(uintptr_t)on_access, (const void *)(uintptr_t)on_access);
    return 0;
}

static const struct qemu_calls calls = {
    .refusal = "", .begin = begin, .thread_ends = end_thread, .translate = translate, .hear = hear, .end = end
};

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info, int argc, char **argv)
{
    return qemu_install(id, info, argc, argv, &calls);
}
