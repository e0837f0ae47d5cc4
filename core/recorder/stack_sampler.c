#include "core/recorder/stack_sampler.h"

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/map.h"
#include "core/base/text.h"
#include "core/hotspot/frame_rules.h"
#include "core/hotspot/vm_fields.h"
#include "core/hotspot/vm_counts.h"
#include "core/hotspot/vm_methods.h"
#include "core/hotspot/vm_process.h"
#include "core/jvm/process.h"
#include "core/jvm/started.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SAMPLES_BETWEEN 100u /* of a thread on a CPU, changes of its period: a change costs half a period */

struct series_key {
    int32_t tid;
    uint32_t cpu;
};

/* A thread on a CPU: its events count by themselves. */
struct series {
    struct kernel_values last;
};

/* An event that takes samples. */
struct drawn {
    uint64_t event_id;
    uint64_t period; /* that it has been given since; 0: none */
    uint32_t n;      /* samples since */
    int32_t tid;     /* whose own it is */
};

struct sampled_thread {
    int32_t tid;
    char name[KERNEL_NAME_BYTES];
};

struct stack_sampler {
    pid_t pid;                   /* the JVM; while it is starting, the command */
    struct stack_walker *walker; /* NULL: it is starting */
    uint64_t always_there;       /* an address in it that can be read until it ends */
    bool has_ended;
    struct kernel_rings *rings;
    struct stack_sampler_state state;
    struct arena arena;
    struct map by_tid;
    struct sampled_thread *threads; /* owned */
    size_t n_threads, threads_room;
    struct hash_set by_address; /* of a Method: its number, and in which round its key was compared */
    struct stack_sampler_options options;
    uint64_t period; /* wanted; of a trigger that the kernel finds the period for, the frequency */
    struct drand48_data random;
    struct map by_series, by_event;
    struct series *series; /* owned */
    struct drawn *drawn;   /* owned */
    uint32_t n_cpus;       /* the highest number of one that had a sample, and 1 */
    size_t n_series, series_room, n_drawn, drawn_room;
    uint64_t counters[KERNEL_VALUES_MAX];
    struct sampled_method *methods; /* owned */
    uint64_t *keys;                 /* owned: vm_methods_keys */
    uint32_t n_methods, methods_room, round;
    /* where a drain hands out */
    stack_sample_fn *fn;
    void *context;
    struct err *err;
    struct last_stacks last;
    struct java_stack stack;
    uint32_t numbers[STACK_FRAMES_MAX];
    struct vm_method described;
    uint8_t bytecodes[BYTECODES_MAX];
};

/* ---- threads ---- */

static int name_thread(struct stack_sampler *sampler, int32_t tid, const char *name)
{
    const uint32_t *known = map_get(&sampler->by_tid, &tid, sizeof tid);
    if (known == NULL) {
        if (sampler->n_threads == sampler->threads_room) {
            size_t room = sampler->threads_room == 0 ? 64 : sampler->threads_room * 2;
            struct sampled_thread *threads = realloc(sampler->threads, room * sizeof *threads);
            if (threads == NULL)
                return -1;
            sampler->threads = threads;
            sampler->threads_room = room;
        }
        if (map_put(&sampler->by_tid, &tid, sizeof tid, (uint32_t)sampler->n_threads) < 0)
            return -1;
        sampler->threads[sampler->n_threads++] = (struct sampled_thread){ .tid = tid };
        known = map_get(&sampler->by_tid, &tid, sizeof tid);
    }
    memcpy(sampler->threads[*known].name, name, KERNEL_NAME_BYTES);
    return 0;
}

/* A number is given again to another thread, whose events count from 0. */
static void forget_counters(struct stack_sampler *sampler, int32_t tid)
{
    for (uint32_t cpu = 0; sampler->n_series > 0 && cpu < sampler->n_cpus; cpu++) {
        const struct series_key key = { tid, cpu };
        const uint32_t *known = map_get(&sampler->by_series, &key, sizeof key);
        if (known != NULL)
            sampler->series[*known].last = (struct kernel_values){ .n = 0 };
    }
}

/* What is not a sample: a thread was found, has a new name, or has ended. */
static int take_event(const struct kernel_event *event, void *context)
{
    struct stack_sampler *sampler = context;
    if (event->kind == KERNEL_LOST)
        sampler->state.n_lost += event->count;
    if (event->kind == KERNEL_THREAD_END)
        forget_counters(sampler, event->tid);
    if (event->kind != KERNEL_THREAD_FOUND && event->kind != KERNEL_COMM && event->kind != KERNEL_EXEC)
        return 0;
    return name_thread(sampler, event->tid, event->name) == 0 ? 0 : err_set(sampler->err, "no memory for threads");
}

/* The first samples come before the threads that were found. */
static const char *thread_name(struct stack_sampler *sampler, int32_t tid)
{
    const uint32_t *known = map_get(&sampler->by_tid, &tid, sizeof tid);
    char name[KERNEL_NAME_BYTES] = "";
    if (known == NULL && jvm_thread_comm(sampler->pid, tid, name) == 0 && name_thread(sampler, tid, name) == 0)
        known = map_get(&sampler->by_tid, &tid, sizeof tid);
    return known == NULL ? "" : sampler->threads[*known].name;
}

/* ---- methods ---- */

static bool grow(struct stack_sampler *sampler)
{
    if (sampler->n_methods < sampler->methods_room)
        return true;
    uint32_t room = sampler->methods_room == 0 ? 1024 : sampler->methods_room * 2;
    struct sampled_method *methods = realloc(sampler->methods, room * sizeof *methods);
    if (methods != NULL)
        sampler->methods = methods;
    uint64_t *keys = methods == NULL ? NULL : realloc(sampler->keys, room * sizeof *keys);
    if (keys == NULL)
        return false;
    sampler->keys = keys;
    sampler->methods_room = room;
    return true;
}

uint32_t sampled_method_calls(const struct sampled_method *method)
{
    return vm_method_calls(method->address);
}

uint32_t sampled_method_tier(const struct sampled_method *method)
{
    return vm_method_tier(method->address);
}

static int by_index(const void *a, const void *b)
{
    const struct code_line *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* What its code is, and its lines. */
static bool describe_code(struct stack_sampler *sampler, uint64_t address, struct sampled_method *known)
{
    const struct vm_method *method = &sampler->described;
    struct code_line *lines = arena_alloc(&sampler->arena, (method->n_lines + 1) * sizeof *lines);
    known->address = address;
    known->source = text_utf8(&sampler->arena, method->source, method->n_source);
    if (lines == NULL || known->source == NULL)
        return false;
    memcpy(lines, method->lines, method->n_lines * sizeof *lines);
    qsort(lines, method->n_lines, sizeof *lines, by_index);
    known->lines = lines;
    known->n_lines = method->n_lines;
    if (!vm_method_code(address, sampler->bytecodes, sizeof sampler->bytecodes, &known->code))
        return true;
    bytecodes_scan(sampler->bytecodes, known->code.n_bytes, &known->bytecodes);
    uint8_t *bytes = known->code.n_bytes == 0 ? NULL : arena_alloc(&sampler->arena, known->code.n_bytes);
    if (bytes != NULL)
        memcpy(bytes, sampler->bytecodes, known->code.n_bytes);
    known->bytes = bytes;
    return true;
}

/* A new one; SAMPLED_UNKNOWN: there is no method there, or no memory. */
static uint32_t describe(struct stack_sampler *sampler, uint64_t address, uint64_t key)
{
    struct vm_method *method = &sampler->described;
    if (key == 0 || !grow(sampler) || !vm_method_read(method, address))
        return SAMPLED_UNKNOWN;
    struct sampled_method known = {
        .class_name = text_utf8(&sampler->arena, method->class_name, method->n_class_name),
        .name = text_utf8(&sampler->arena, method->name, method->n_name),
        .descriptor = text_utf8(&sampler->arena, method->descriptor, method->n_descriptor),
    };
    if (known.class_name == NULL || known.name == NULL || known.descriptor == NULL ||
        !describe_code(sampler, address, &known))
        return SAMPLED_UNKNOWN;
    known.is_continuation = strcmp(known.class_name, "jdk/internal/vm/Continuation") == 0;
    sampler->methods[sampler->n_methods] = known;
    sampler->keys[sampler->n_methods] = key;
    return sampler->n_methods++;
}

/* A class may have been unloaded since the last round, and another method be at the address. */
static uint32_t number_of(struct stack_sampler *sampler, uint64_t address)
{
    if (address == 0)
        return SAMPLED_UNKNOWN;
    struct hash_slot *slot = hash_get(&sampler->by_address, hash_address(address));
    if (slot != NULL && (slot->second == sampler->round || sampler->has_ended))
        return slot->value;
    uint64_t key = 0;
    vm_methods_keys(&address, 1, &key);
    if (slot == NULL || slot->value == SAMPLED_UNKNOWN || sampler->keys[slot->value] != key) {
        uint32_t number = describe(sampler, address, key);
        slot = hash_put(&sampler->by_address, hash_address(address));
        if (slot == NULL)
            return number;
        slot->value = number;
    }
    slot->second = sampler->round;
    return slot->value;
}

/* ---- samples ---- */

static uint64_t own_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Room for one more of the elements of a table that a map numbers.  Returns its number, or -1: no memory. */
static int64_t add_to(void **table, size_t *n, size_t *room, size_t bytes, struct map *map, const void *key,
                      size_t key_bytes)
{
    if (*n == *room) {
        size_t more = *room == 0 ? 64 : *room * 2;
        void *larger = realloc(*table, more * bytes);
        if (larger == NULL)
            return -1;
        *table = larger;
        *room = more;
    }
    memset((char *)*table + *n * bytes, 0, bytes);
    return map_put(map, key, key_bytes, (uint32_t)*n) < 0 ? -1 : (int64_t)(*n)++;
}

static struct series *series_of(struct stack_sampler *sampler, const struct kernel_event *event)
{
    const struct series_key key = { event->tid, event->cpu };
    const uint32_t *known = map_get(&sampler->by_series, &key, sizeof key);
    void *table = sampler->series;
    int64_t i = known != NULL ? *known
                              : add_to(&table, &sampler->n_series, &sampler->series_room, sizeof *sampler->series,
                                       &sampler->by_series, &key, sizeof key);
    sampler->series = table;
    sampler->n_cpus = event->cpu >= sampler->n_cpus ? event->cpu + 1 : sampler->n_cpus;
    return i < 0 ? NULL : &sampler->series[i];
}

/* What was counted since the sample before.  Returns how many events there are. */
static uint32_t take_counters(struct stack_sampler *sampler, const struct kernel_event *event)
{
    struct kernel_values now;
    if (!kernel_values(&event->stack, &now))
        return 0;
    struct series *series = series_of(sampler, event);
    if (series == NULL)
        return 0;
    if (series->last.running_ns > now.running_ns)
        series->last = (struct kernel_values){ .n = 0 };
    for (uint32_t i = 0; i < now.n; i++)
        sampler->counters[i] = now.values[i] - series->last.values[i];
    sampler->state.enabled_ns += now.enabled_ns - series->last.enabled_ns;
    sampler->state.running_ns += now.running_ns - series->last.running_ns;
    series->last = now;
    return now.n;
}

static struct drawn *drawn_of(struct stack_sampler *sampler, uint64_t event_id)
{
    const uint32_t *known = map_get(&sampler->by_event, &event_id, sizeof event_id);
    void *table = sampler->drawn;
    int64_t i = known != NULL ? *known
                              : add_to(&table, &sampler->n_drawn, &sampler->drawn_room, sizeof *sampler->drawn,
                                       &sampler->by_event, &event_id, sizeof event_id);
    sampler->drawn = table;
    if (i >= 0)
        sampler->drawn[i].event_id = event_id;
    return i < 0 ? NULL : &sampler->drawn[i];
}

/* The kernel tells a clock's period as it was when the event was opened. */
static uint64_t weight_of(struct stack_sampler *sampler, const struct kernel_event *event)
{
    struct drawn *drawn = drawn_of(sampler, event->event_id);
    if (drawn == NULL || (drawn->tid != 0 && drawn->tid != event->tid))
        return event->stack.period;
    drawn->n++;
    bool is_clock = sampler->options.trigger.n == 0 || sampler->options.trigger.is_clock;
    return is_clock && drawn->period != 0 ? drawn->period : event->stack.period;
}

/* Innermost frames of a virtual thread, which is moved to the thread's stack and away with its calls. */
static uint32_t count_movable(const struct stack_sampler *sampler)
{
    uint32_t i = sampler->stack.n;
    while (i > 0 &&
           (sampler->numbers[i - 1] == SAMPLED_UNKNOWN || !sampler->methods[sampler->numbers[i - 1]].is_continuation))
        i--;
    return i;
}

/* How it differs from the thread's last stack, if that is known. */
static struct stack_change compare(struct stack_sampler *sampler, const struct kernel_event *event, bool *is_compared)
{
    const struct java_stack *stack = &sampler->stack;
    const struct new_stack new = { .tid = event->tid,
                                   .time_ns = event->time_ns,
                                   .n = stack->n,
                                   .n_movable = count_movable(sampler),
                                   .is_in_java = stack->is_in_java,
                                   .frames = stack->frames,
                                   .methods = sampler->numbers };
    struct stack_change change = { 0, 0, 0 };
    *is_compared = stack->end == STACK_WHOLE && last_stacks_compare(&sampler->last, &new, &change) == 0;
    return change;
}

static int take_sample(const struct kernel_event *event, void *context)
{
    struct stack_sampler *sampler = context;
    struct java_stack *stack = &sampler->stack;
    uint64_t before_ns = own_cpu_ns();
    stack->n = 0;
    stack->end = STACK_NO_JAVA;
    stack->is_in_java = false;
    if (event->count != KERNEL_UNKNOWN && sampler->walker != NULL)
        stack_walk(sampler->walker,
                   &(struct thread_state){ .pc = event->count,
                                           .sp = event->stack.sp,
                                           .fp = event->stack.fp,
                                           .link = event->stack.link,
                                           .bytecode = event->stack.bytecode,
                                           .stack = event->stack.bytes,
                                           .n_bytes = event->stack.n_bytes },
                   stack);
    for (uint32_t i = 0; i < stack->n; i++)
        sampler->numbers[i] = number_of(sampler, stack->frames[i].method);
    bool is_compared;
    const struct stack_change change = compare(sampler, event, &is_compared);
    sampler->state.walk_ns += own_cpu_ns() - before_ns;
    sampler->state.n_samples++;
    sampler->state.n_by_end[stack->end]++;
    const struct stack_sample sample = { .time_ns = event->time_ns,
                                         .weight = weight_of(sampler, event),
                                         .tid = event->tid,
                                         .thread_name = thread_name(sampler, event->tid),
                                         .pc = event->count,
                                         .in_kernel = event->in_kernel,
                                         .in_native = !stack->is_in_java,
                                         .end = stack->end,
                                         .n = stack->n,
                                         .methods = sampler->numbers,
                                         .frames = stack->frames,
                                         .is_compared = is_compared,
                                         .change = change,
                                         .n_counters = take_counters(sampler, event),
                                         .counters = sampler->counters };
    return sampler->fn(&sample, sampler->context, sampler->err);
}

static void draw_periods(struct stack_sampler *sampler)
{
    for (size_t i = 0; i < sampler->n_drawn; i++) {
        struct drawn *drawn = &sampler->drawn[i];
        double random;
        if (drawn->n < SAMPLES_BETWEEN || sampler->period <= 8)
            continue;
        drand48_r(&sampler->random, &random);
        drawn->n = 0;
        drawn->period = (uint64_t)((double)sampler->period * (0.875 + random / 4));
        drawn->tid = kernel_rings_set_period(sampler->rings, drawn->event_id, drawn->period);
    }
}

/* ---- opening ---- */

static int open_walker(struct stack_sampler *sampler, struct err *err)
{
    struct vm_field field = { "StubRoutines", "_call_stub_return_address", &sampler->always_there, true };
    if (vm_process_open(sampler->pid, err) < 0)
        return -1;
    sampler->walker = stack_walker_open(frame_rules_here(), err);
    if (sampler->walker == NULL)
        return -1;
    vm_fields_find(&field, 1);
    if (vm_methods_why_not() == NULL)
        return 0;
    err_set(err, "the methods of this JVM cannot be named: %s", vm_methods_why_not());
    return err_next(err, "use 'mmprof record', which asks the JVM itself");
}

static int begin(struct stack_sampler *sampler, const struct stack_sampler_options *options, struct err *err)
{
    const struct kernel_rings_wish wish = { .hits_hz = options->hz,
                                            .trigger = options->trigger,
                                            .with_children = options->with_children,
                                            .no_switches = true,
                                            .stack_bytes = options->stack_bytes,
                                            .stack_fn = take_sample,
                                            .stack_context = sampler };
    if (!options->is_starting && open_walker(sampler, err) < 0)
        return -1;
    if (kernel_rings_open(&sampler->rings, sampler->pid, &wish, err) < 0)
        return -1;
    if (options->with_children)
        kernel_rings_choose(sampler->rings, 0); /* none, for now */
    return 0;
}

static uint64_t wanted_period(const struct stack_sampler_options *options)
{
    const struct kernel_trigger *trigger = &options->trigger;
    if (trigger->n > 0 && trigger->period != 0)
        return trigger->period;
    return trigger->n > 0 && !trigger->is_clock ? options->hz : UINT64_C(1000000000) / options->hz;
}

int stack_sampler_open(struct stack_sampler **out, pid_t pid, const struct stack_sampler_options *options,
                       struct err *err)
{
    struct stack_sampler *sampler = calloc(1, sizeof *sampler);
    *out = NULL;
    if (sampler == NULL)
        return err_set(err, "no memory for sampling");
    sampler->pid = pid;
    sampler->options = *options;
    sampler->period = wanted_period(options);
    sampler->by_series.arena = sampler->by_event.arena = &sampler->arena;
    srand48_r((long)kernel_now_ns(), &sampler->random);
    sampler->by_tid.arena = &sampler->arena;
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
    pid_t jvm = jvm_started(sampler->pid);
    if (jvm != 0) {
        sampler->pid = jvm;
        kernel_rings_choose(sampler->rings, jvm);
        return open_walker(sampler, err) < 0 ? -1 : 1;
    }
    struct pollfd half_full = { .fd = kernel_rings_fd(sampler->rings), .events = POLLIN };
    return poll(&half_full, 1, 0) > 0;
}

/* What is known of its code is right until it changes, and when the JVM has ended, for good. */
static void begin_round(struct stack_sampler *sampler)
{
    uint64_t value;
    sampler->has_ended = !vm_read_u64(sampler->always_there, &value);
    if (sampler->has_ended)
        return;
    sampler->round++;
    stack_walker_round(sampler->walker);
}

int stack_sampler_drain(struct stack_sampler *sampler, stack_sample_fn *fn, void *context, struct err *err)
{
    struct kernel_rings_state state;
    int rc = sampler->walker != NULL ? 1 : reach_jvm(sampler, err);
    if (rc <= 0)
        return rc;
    sampler->fn = fn;
    sampler->context = context;
    sampler->err = err;
    if (sampler->walker != NULL)
        begin_round(sampler);
    if (kernel_rings_drain(sampler->rings, KERNEL_UNKNOWN, take_event, sampler, err) < 0)
        return -1;
    draw_periods(sampler);
    kernel_rings_state(sampler->rings, &state);
    sampler->state.has_kernel = state.has_kernel_hits;
    if (state.has_hits)
        return 0;
    err_set(err, "no stacks can be sampled: %s", state.why_no_hits);
    return -1;
}

pid_t stack_sampler_pid(const struct stack_sampler *sampler)
{
    return sampler->walker == NULL ? 0 : sampler->pid;
}

int stack_sampler_fd(const struct stack_sampler *sampler)
{
    return kernel_rings_fd(sampler->rings);
}

const struct sampled_method *stack_sampler_methods(const struct stack_sampler *sampler, uint32_t *n)
{
    *n = sampler->n_methods;
    return sampler->methods;
}

void stack_sampler_rings(const struct stack_sampler *sampler, struct kernel_rings_state *state)
{
    kernel_rings_state(sampler->rings, state);
}

void stack_sampler_state(const struct stack_sampler *sampler, struct stack_sampler_state *state)
{
    *state = sampler->state;
}

void stack_sampler_close(struct stack_sampler *sampler)
{
    if (sampler == NULL)
        return;
    kernel_rings_close(sampler->rings);
    stack_walker_close(sampler->walker);
    vm_process_close();
    last_stacks_free(&sampler->last);
    map_free(&sampler->by_tid);
    map_free(&sampler->by_series);
    map_free(&sampler->by_event);
    free(sampler->series);
    free(sampler->drawn);
    hash_free(&sampler->by_address);
    arena_free(&sampler->arena);
    free(sampler->threads);
    free(sampler->methods);
    free(sampler->keys);
    free(sampler);
}
