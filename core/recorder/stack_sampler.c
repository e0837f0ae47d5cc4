#include "core/recorder/stack_sampler.h"

#include "core/base/xalloc.h"
#include "core/base/text.h"
#include "core/hotspot/vm.h"
#include "core/hotspot/vm_threads.h"
#include "core/jvm/process.h"
#include "core/jvm/started.h"
#include "core/recorder/stack_sampler_state.h"

#include <poll.h>

/* What is not a sample: a thread was found, has a new name, or has ended. */
static int take_event(const struct kernel_event *event, void *context)
{
    struct stack_sampler *sampler = context;
    if (event->kind == KERNEL_LOST)
        sampler->state.n_lost += event->count;
    if (event->kind == KERNEL_THREAD_END) {
        sample_periods_forget(&sampler->periods, event->tid);
        last_stacks_forget(&sampler->last, event->tid);
        thread_names_forget(&sampler->names, event->tid);
    }
    if (event->kind == KERNEL_THREAD_START && sampler->waits != NULL)
        wait_sampler_add(sampler->waits, event->tid);
    if (event->kind != KERNEL_THREAD_FOUND && event->kind != KERNEL_COMM && event->kind != KERNEL_EXEC)
        return 0;
    thread_names_set(&sampler->names, event->tid, event->name);
    return 0;
}

/* Before the samples of the same drain. */
static int take_name(const struct kernel_event *event, void *context)
{
    struct stack_sampler *sampler = context;
    thread_names_change(&sampler->names, event->tid, event->time_ns, event->name);
    return 0;
}

#define LOADERS_MAX 8u /* of one class name, that are told apart */

/* ---- methods ---- */

uint32_t sampled_method_calls(const struct sampled_method *method)
{
    return method->address == 0 ? method->calls : vm_method_calls(method->vm, method->address);
}

uint32_t sampled_method_tier(const struct sampled_method *method)
{
    return method->address == 0 ? method->tier : vm_method_tier(method->vm, method->address);
}

static int by_index(const void *a, const void *b)
{
    const struct code_line *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* What its code is, and its lines. */
static void describe_code(struct stack_sampler *sampler, struct sampled_method *known)
{
    const struct vm_method *method = &sampler->described;
    struct code_line *lines = arena_alloc(&sampler->arena, (method->n_lines + 1) * sizeof *lines);
    known->code = method->code;
    known->source = text_utf8(&sampler->arena, method->source, method->n_source);
    memcpy(lines, method->lines, method->n_lines * sizeof *lines);
    qsort(lines, method->n_lines, sizeof *lines, by_index);
    known->lines = lines;
    known->n_lines = method->n_lines;
    bytecodes_scan(sampler->bytecodes, known->code.n_bytes, &known->bytecodes);
    if (known->code.n_bytes > 0)
        known->bytes =
            memcpy(arena_alloc(&sampler->arena, known->code.n_bytes), sampler->bytecodes, known->code.n_bytes);
}

/* Which of the loaders of classes with this name it is, from 1 on; 0: not known. */
static uint32_t loader_number(struct stack_sampler *sampler, const struct vm_method *method)
{
    uint64_t name = hash_text(HASH_START, method->class_name, method->n_class_name);
    uint64_t both = hash_text(name, (const char *)&method->loader, sizeof method->loader);
    const uint32_t *known = hash_find(&sampler->loaders, both);
    if (method->loader == 0 || known != NULL)
        return known == NULL ? 0 : *known;
    const uint32_t *before = hash_find(&sampler->loaders, name);
    uint32_t number = before == NULL ? 1 : *before + 1;
    xhash_store(&sampler->loaders, name, number);
    xhash_store(&sampler->loaders, both, number);
    return number;
}

/* Its name; with that of a class that other loaders have, too, the loader's number, where that is wanted: no class has
 * a '[' in its name.  Loaders without end are not told apart: somebody may make one for each script. */
static const char *class_name_of(struct stack_sampler *sampler, const struct vm_method *method)
{
    const char *name = text_utf8(&sampler->arena, method->class_name, method->n_class_name);
    uint32_t number = loader_number(sampler, method);
    if (number <= 1)
        return name;
    sampler->state.shared_name = sampler->state.shared_name == NULL ? name : sampler->state.shared_name;
    if (!sampler->options.tells_loaders)
        return name;
    return number <= LOADERS_MAX ? arena_printf(&sampler->arena, "%s[%u]", name, number)
                                 : arena_printf(&sampler->arena, "%s[others]", name);
}

/* A new one; SAMPLED_UNKNOWN: there is no method there. */
static uint32_t describe(struct stack_sampler *sampler, const struct known_method *at)
{
    struct vm_method *method = &sampler->described;
    if (!vm_method_read_parts(sampler->vm, method, at->address, &at->parts, sampler->bytecodes))
        return SAMPLED_UNKNOWN;
    struct sampled_method known = {
        .vm = sampler->vm,
        .address = at->address,
        .key = at->key,
        .names.class_name = class_name_of(sampler, method),
        .names.method = text_utf8(&sampler->arena, method->name, method->n_name),
        .names.descriptor = text_utf8(&sampler->arena, method->descriptor, method->n_descriptor),
    };
    describe_code(sampler, &known);
    known.traits = frame_traits_of(known.names.class_name, known.names.descriptor);
    *xpush(sampler->methods, sampler->methods_room, sampler->n_methods) = known;
    return sampler->n_methods - 1;
}

uint32_t stack_sampler_number(struct stack_sampler *sampler, struct known_method *method)
{
    if (method == NULL)
        return SAMPLED_UNKNOWN;
    if (!method->is_numbered) {
        method->number = describe(sampler, method);
        method->is_numbered = method->number != SAMPLED_UNKNOWN;
    }
    return method->number;
}

/* ---- samples ---- */

/*
 * What is walked was taken before, so all code that it has was there before.  What was known in the last round of a JVM
 * that has ended is right for good.
 */
void stack_sampler_begin_round(struct stack_sampler *sampler)
{
    if (sampler->has_round)
        return;
    uint64_t value;
    sampler->has_round = true;
    sampler->n_collections[2] = vm_collections_count(sampler->vm, &sampler->collections);
    if (!vm_read_u64(sampler->vm, sampler->always_there, &value))
        return;
    stack_walker_round(sampler->walker);
    vm_monitors_round(&sampler->monitors);
    java_thread_names_round(&sampler->java_names);
}

void stack_sampler_walk(struct stack_sampler *sampler, int32_t tid, const struct thread_state *thread)
{
    struct java_stack *stack = &sampler->stack;
    stack->n = 0;
    stack->end = STACK_NO_JAVA;
    stack->is_in_java = false;
    if (thread != NULL && sampler->walker != NULL)
        stack_sampler_begin_round(sampler);
    if (thread != NULL && sampler->walker != NULL)
        stack_walk(sampler->walker, thread, stack);
    stack_sampler_walked(sampler, tid, thread);
}

void stack_sampler_walked(struct stack_sampler *sampler, int32_t tid, const struct thread_state *thread)
{
    struct java_stack *stack = &sampler->stack;
    for (uint32_t i = 0; i < stack->n; i++)
        sampler->numbers[i] = stack_sampler_number(sampler, stack->frames[i].method);
    const struct cut_stack cut = { tid, thread, stack, sampler->numbers, sampler->vm, vm_read_u64 };
    stack->end = last_stacks_complete(&sampler->last, &cut);
    for (uint32_t i = 0; i < stack->n; i++)
        sampler->traits[i] = sampler->numbers[i] == SAMPLED_UNKNOWN ? (struct frame_traits){ 0, false }
                                                                    : sampler->methods[sampler->numbers[i]].traits;
}

/* Returns whether it is known how the stack differs from the thread's last one. */
static bool compare(struct stack_sampler *sampler, const struct kernel_event *event, const struct thread_state *thread,
                    struct stack_change *change)
{
    const struct new_stack next = { .tid = event->tid,
                                    .time_ns = event->time_ns,
                                    .stack = &sampler->stack,
                                    .methods = sampler->numbers,
                                    .traits = sampler->traits,
                                    .thread = thread,
                                    .collections_before = sampler->n_collections[0],
                                    .collections_after = sampler->n_collections[2] };
    return last_stacks_compare(&sampler->last, &next, change) == 0;
}

bool stack_sampler_has_no_java(const char *thread_name)
{
    static const char *const names[] = { "C1 Comp", "C2 Comp", "GC Thread#" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(thread_name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static int take_sample(const struct kernel_event *event, void *context)
{
    struct stack_sampler *sampler = context;
    const struct java_stack *stack = &sampler->stack;
    bool is_latest;
    const char *name = thread_names_at(&sampler->names, sampler->pid, event->tid, event->time_ns, &is_latest);
    const struct thread_state thread = { .pc = event->count,
                                         .sp = event->stack.sp,
                                         .fp = event->stack.fp,
                                         .link = event->stack.link,
                                         .bytecode = event->stack.bytecode,
                                         .stack = event->stack.bytes,
                                         .n_bytes = event->stack.n_bytes };
    stack_sampler_walk(sampler, event->tid,
                       event->count == KERNEL_UNKNOWN || stack_sampler_has_no_java(name) ? NULL : &thread);
    struct stack_change change;
    bool is_compared = compare(sampler, event, &thread, &change);
    sampler->state.n_samples++;
    sampler->state.n_by_end[stack->end]++;
    const struct stack_sample sample = {
        .time_ns = event->time_ns,
        .weight = sample_periods_weight(&sampler->periods, event),
        .tid = event->tid,
        .thread_name = name,
        .java_name =
            java_thread_names_get(&sampler->java_names, &sampler->monitors.threads, event->tid, name, is_latest, true),
        .pc = event->count,
        .in_kernel = event->in_kernel,
        .in_native = !stack->is_in_java,
        .is_halved = sampler->state.has_cpus,
        .end = stack->end,
        .n = stack->n,
        .methods = sampler->numbers,
        .known = sampler->methods,
        .n_known = sampler->n_methods,
        .frames = stack->frames,
        .is_compared = is_compared,
        .change = change,
        .n_counters = sample_periods_counters(&sampler->periods, event, sampler->counters),
        .counters = sampler->counters
    };
    return sampler->fn(&sample, sampler->context, sampler->err);
}

/* What there are samples of.  Of one that has ended, as it was read last. */
static void read_cpu(struct stack_sampler *sampler)
{
    struct perf_rings_state state;
    uint64_t now_ns = 0;
    perf_rings_state(sampler->rings, &state);
    if ((state.has_kernel_ip_samples ? jvm_process_cpu_ns : jvm_process_user_ns)(sampler->pid, &now_ns) < 0)
        return;
    if (!sampler->is_paused && now_ns > sampler->cpu_ns)
        sampler->state.cpu_ns += now_ns - sampler->cpu_ns;
    sampler->cpu_ns = now_ns;
}

/* ---- opening ---- */

static int open_waits(struct stack_sampler *sampler, struct err *err)
{
    if (wait_sampler_open(&sampler->waits, sampler->vm, sampler->options.stack_bytes, err) == 0)
        return 0;
    snprintf(sampler->state.why_no_waits, sizeof sampler->state.why_no_waits, "%.*s", (int)strcspn(err->text, "\n"),
             err->text);
    return sampler->options.only_java ? 0 : -1;
}

/* A walker whose layout is true of the JVM. */
static int open_checked(struct stack_sampler *sampler, struct err *err)
{
    struct stack_walker *walker = stack_walker_open(sampler->vm, frame_rules_here(), err);
    if (walker != NULL && vm_check_stacks(walker, err) == 0 && vm_methods_why_not(sampler->vm) == NULL) {
        sampler->walker = walker;
        return 0;
    }
    if (walker != NULL && vm_methods_why_not(sampler->vm) != NULL) {
        err_set(err, "the methods of this JVM cannot be named: %s", vm_methods_why_not(sampler->vm));
        err_next(err, "use --mechanism polling, which asks the JVM itself");
    }
    stack_walker_close(walker);
    return -1;
}

static int open_walker(struct stack_sampler *sampler, struct err *err)
{
    struct vm_field field = { "StubRoutines", "_call_stub_return_address", &sampler->always_there, true };
    if ((sampler->vm = vm_open(sampler->pid, err)) == NULL)
        return -1;
    if (open_checked(sampler, err) < 0) {
        if (sampler->options.is_refused != NULL)
            *sampler->options.is_refused = true;
        return -1;
    }
    vm_fields_find(sampler->vm, &field, 1);
    vm_collections_open(sampler->vm, &sampler->collections);
    vm_monitors_open(sampler->vm, &sampler->monitors);
    sampler->has_anchors = stack_anchors_find(sampler->vm, &sampler->anchors);
    vm_thread_names_open(sampler->vm);
    sampler->n_collections[0] = sampler->n_collections[1] = sampler->n_collections[2] = VM_COLLECTIONS_UNKNOWN;
    return sampler->options.is_wall ? open_waits(sampler, err) : 0;
}

static int open_rings(struct stack_sampler *sampler, bool with_children, struct perf_rings **rings, struct err *err)
{
    const struct stack_sampler_options *from = &sampler->options;
    const struct perf_rings_options options = { .ip_samples_hz = from->hz,
                                                .trigger = from->trigger,
                                                .with_children = with_children,
                                                .no_switches = true,
                                                .prefers_cpus = !with_children && from->trigger.n <= 1 &&
                                                                (from->trigger.n == 0 || from->trigger.is_clock),
                                                .stack_bytes = from->stack_bytes,
                                                .stack_fn = take_sample,
                                                .name_fn = take_name,
                                                .stack_context = sampler };
    return perf_rings_open(rings, sampler->pid, &options, err);
}

static int begin(struct stack_sampler *sampler, const struct stack_sampler_options *options, struct err *err)
{
    /* One that has just been started has no interpreter yet, and its samples can wait until it has. */
    bool is_starting = options->is_starting || !jvm_has_started(sampler->pid);
    if (!is_starting && open_walker(sampler, err) < 0)
        return -1;
    if (open_rings(sampler, options->with_children, &sampler->rings, err) < 0)
        return -1;
    if (options->with_children)
        perf_rings_choose(sampler->rings, 0); /* none, for now */
    if (!options->is_starting) {
        read_cpu(sampler);
        sampler->state.cpu_ns = 0;
    }
    return 0;
}

int stack_sampler_open(struct stack_sampler **out, pid_t pid, const struct stack_sampler_options *options,
                       struct err *err)
{
    struct stack_sampler *sampler = xcalloc(1, sizeof *sampler);
    *out = NULL;
    sampler->pid = pid;
    sampler->options = *options;
    sample_periods_init(&sampler->periods, &options->trigger, options->hz);
    thread_names_init(&sampler->names);
    if (begin(sampler, options, err) < 0) {
        stack_sampler_close(sampler);
        return -1;
    }
    *out = sampler;
    return 0;
}

/* ---- draining ---- */

/* The JVM has come so far, or the rings have no more room.  Returns 1; 0: later; or -1 with *err set. */
static int reach_jvm(struct stack_sampler *sampler, struct err *err)
{
    const struct stack_sampler_options *options = &sampler->options;
    pid_t jvm = sampler->chosen;
    if (options->with_children && !options->is_told)
        jvm = jvm_started(getpid(), options->name); /* what a command has left behind is a child of this process */
    else if (!options->with_children)
        jvm = sampler->pid;
    if (jvm != 0 && jvm_has_started(jvm)) {
        sampler->pid = jvm;
        perf_rings_choose(sampler->rings, jvm);
        return open_walker(sampler, err) < 0 ? -1 : 1;
    }
    return stack_sampler_is_full(sampler);
}

void stack_sampler_choose(struct stack_sampler *sampler, pid_t jvm)
{
    sampler->chosen = jvm;
}

/*
 * Until it was known which of a command's processes is the JVM, threads were sampled; from then on, where that is
 * allowed, CPUs are.  What threads have sampled until the latter begin is still handed out.
 */
static void turn_to_cpus(struct stack_sampler *sampler)
{
    struct perf_rings *rings = NULL, *former = sampler->rings;
    struct perf_rings_state state = { .has_cpus = false };
    struct err ignored;
    sampler->has_turned = true;
    if (open_rings(sampler, false, &rings, &ignored) == 0)
        perf_rings_state(rings, &state);
    if (!state.has_cpus || sampler->is_paused) {
        perf_rings_close(rings);
        return;
    }
    perf_rings_drain(former, KERNEL_UNKNOWN, take_event, sampler);
    sampler->rings = rings;
    perf_rings_close(former);
}

int stack_sampler_drain(struct stack_sampler *sampler, stack_sample_fn *fn, void *context, struct err *err)
{
    struct perf_rings_state state;
    int rc = sampler->walker != NULL ? 1 : reach_jvm(sampler, err);
    if (rc <= 0)
        return rc;
    sampler->fn = fn;
    sampler->context = context;
    sampler->err = err;
    sampler->has_round = false;
    perf_rings_state(sampler->rings, &state);
    sampler->state.has_cpus = sampler->periods.has_cpus = state.has_cpus;
    sampler->n_collections[0] = sampler->n_collections[1];
    sampler->n_collections[1] = vm_collections_count(sampler->vm, &sampler->collections);
    perf_rings_drain(sampler->rings, KERNEL_UNKNOWN, take_event, sampler);
    if (sampler->options.with_children && sampler->walker != NULL && !sampler->has_turned)
        turn_to_cpus(sampler);
    thread_names_settle(&sampler->names);
    read_cpu(sampler);
    sample_periods_draw(&sampler->periods, sampler->rings);
    perf_rings_state(sampler->rings, &state);
    sampler->state.has_kernel = state.has_kernel_ip_samples;
    sampler->state.finds_threads_late = state.finds_threads_late;
    if (state.has_ip_samples)
        return 0;
    err_set(err, "no stacks can be sampled: %s", state.why_no_ip_samples);
    return -1;
}

const struct sampled_method *stack_sampler_methods(const struct stack_sampler *sampler, uint32_t *n, bool *from_start)
{
    *n = sampler->n_methods;
    *from_start = sampler->options.is_starting;
    return sampler->methods;
}

void stack_sampler_stretch(struct stack_sampler *sampler, double times)
{
    sample_periods_stretch(&sampler->periods, times);
}

void stack_sampler_pause(struct stack_sampler *sampler, bool is_paused)
{
    read_cpu(sampler);
    sampler->is_paused = is_paused;
    perf_rings_pause(sampler->rings, is_paused);
}

pid_t stack_sampler_pid(const struct stack_sampler *sampler)
{
    return sampler->walker == NULL ? 0 : sampler->pid;
}

bool stack_sampler_is_full(const struct stack_sampler *sampler)
{
    return perf_rings_are_full(sampler->rings);
}

int stack_sampler_fd(const struct stack_sampler *sampler)
{
    return perf_rings_fd(sampler->rings);
}

void stack_sampler_rings(const struct stack_sampler *sampler, struct perf_rings_state *state)
{
    perf_rings_state(sampler->rings, state);
}

void stack_sampler_state(const struct stack_sampler *sampler, struct stack_sampler_state *state)
{
    *state = sampler->state;
    if (sampler->waits != NULL)
        wait_sampler_state(sampler->waits, &state->waits);
}

void stack_sampler_close(struct stack_sampler *sampler)
{
    if (sampler == NULL)
        return;
    perf_rings_close(sampler->rings);
    stack_walker_close(sampler->walker);
    last_stacks_free(&sampler->last);
    thread_names_free(&sampler->names);
    java_thread_names_free(&sampler->java_names);
    wait_sampler_close(sampler->waits);
    if (sampler->virtuals != NULL)
        sampler->close_virtuals(sampler->virtuals);
    vm_monitors_close(&sampler->monitors);
    vm_close(sampler->vm);
    free(sampler->visited);
    sample_periods_free(&sampler->periods);
    arena_free(&sampler->arena);
    free(sampler->methods);
    hash_free(&sampler->loaders);
    free(sampler);
}
