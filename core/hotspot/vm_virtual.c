#include "core/hotspot/vm_virtual_internal.h"

#include "core/base/hash.h"
#include "core/base/xalloc.h"
#include "core/hotspot/vm.h"

#define CHUNKS_MAX 16u
#define TRIES      12
#define LOOK_BINS  (UINT64_C(1) << 24) /* that are looked at, whatever the JVM says */

static const char *const losses[VM_VIRTUAL_LOSSES] = {
    [VM_VIRTUAL_MOVED] = "a collector moved them",
    [VM_VIRTUAL_CHANGED] = "they went on meanwhile",
    [VM_VIRTUAL_BROKEN] = "the heap had no virtual thread there",
};

const char *vm_virtual_loss_name(enum vm_virtual_loss loss)
{
    return losses[loss];
}

struct vm_virtuals *vm_virtuals_open(struct vm *vm, struct stack_walker *walker)
{
    struct vm_virtuals *v = xcalloc(1, sizeof *v);
    v->vm = vm;
    v->walker = walker;
    v->blocker = (struct vm_object_field){ .class_name = "java/lang/Thread", .name = "parkBlocker" };
    virtual_sets_open(&v->sets, vm);
    vm_collections_open(vm, &v->collections);
    return v;
}

void vm_virtuals_close(struct vm_virtuals *virtuals)
{
    if (virtuals == NULL)
        return;
    free(virtuals->stacks);
    free(virtuals);
}

const char *vm_virtuals_why_not(const struct vm_virtuals *virtuals)
{
    return virtuals->why_not;
}

/* ---- the layout ---- */

/* The class' own names for the numbers of a thread's states: they differ between releases. */
static bool find_states(struct vm_virtuals *v)
{
    static const struct {
        const char *name;
        enum vm_virtual_state state;
    } states[] = {
        { "RUNNING", VM_VIRTUAL_MOUNTED },       { "PARKING", VM_VIRTUAL_MOUNTED },
        { "PINNED", VM_VIRTUAL_MOUNTED },        { "TIMED_PARKING", VM_VIRTUAL_MOUNTED },
        { "TIMED_PINNED", VM_VIRTUAL_MOUNTED },  { "YIELDING", VM_VIRTUAL_MOUNTED },
        { "BLOCKING", VM_VIRTUAL_MOUNTED },      { "WAITING", VM_VIRTUAL_MOUNTED },
        { "TIMED_WAITING", VM_VIRTUAL_MOUNTED }, { "STARTED", VM_VIRTUAL_READY },
        { "RUNNABLE", VM_VIRTUAL_READY },        { "UNPARKED", VM_VIRTUAL_READY },
        { "YIELDED", VM_VIRTUAL_READY },         { "UNBLOCKED", VM_VIRTUAL_READY },
        { "PARKED", VM_VIRTUAL_PARKED },         { "TIMED_PARKED", VM_VIRTUAL_PARKED },
        { "BLOCKED", VM_VIRTUAL_BLOCKED },       { "WAIT", VM_VIRTUAL_WAITING },
        { "TIMED_WAIT", VM_VIRTUAL_WAITING },
    };
    uint64_t class = v->sets.classes[VIRTUAL_THREAD], mirror = vm_class_mirror(v->vm, class);
    bool has_parked = false;
    for (size_t i = 0; mirror != 0 && i < sizeof states / sizeof *states; i++) {
        uint32_t number, field = vm_class_field_at(v->vm, class, states[i].name, true);
        if (field == 0 || !vm_read(v->vm, mirror + field, &number, sizeof number) || number == 0 || number >= STATES)
            continue;
        v->at.kinds[number] = (uint8_t)(1 + states[i].state);
        has_parked = has_parked || states[i].state == VM_VIRTUAL_PARKED;
    }
    return has_parked;
}

/* The bytes of a class' instances without what follows its fields; 0: not known. */
static uint32_t instance_bytes(struct vm *vm, uint64_t class)
{
    uint64_t at;
    uint32_t helper;
    struct vm_field field = { "Klass", "_layout_helper", &at, false };
    return vm_fields_find(vm, &field, 1) && vm_read(vm, class + at, &helper, sizeof helper) && helper < INT32_MAX
               ? helper & ~7u
               : 0;
}

/* Is a field's offset known, and in what is read of an object? */
static bool is_inside(uint32_t field)
{
    return field != 0 && field <= OBJECT_BYTES - sizeof(uint64_t);
}

static bool find_chunk(struct vm_virtuals *v, uint64_t class)
{
    struct virtual_layout *at = &v->at;
    at->parent = vm_class_field_at(v->vm, class, "parent", false);
    at->size = vm_class_field_at(v->vm, class, "size", false);
    at->sp = vm_class_field_at(v->vm, class, "sp", false);
    at->bottom = vm_class_field_at(v->vm, class, "bottom", false);
    at->end = instance_bytes(v->vm, class);
    return is_inside(at->parent) && at->size != 0 && at->sp != 0 && at->end > at->sp && at->end <= OBJECT_BYTES;
}

/* Returns false, with why_not set, where virtual threads are there and what they are made of is not known. */
static bool find_layout(struct vm_virtuals *v)
{
    uint64_t class = v->sets.classes[VIRTUAL_THREAD];
    if (v->is_known)
        return true;
    v->at.cont = vm_class_field_at(v->vm, class, "cont", false);
    v->at.state = vm_class_field_at(v->vm, class, "state", false);
    v->at.carrier = vm_class_field_at(v->vm, class, "carrierThread", false);
    v->at.object_bytes = instance_bytes(v->vm, class);
    v->is_known = is_inside(v->at.cont) && is_inside(v->at.state) && is_inside(v->at.carrier) &&
                  v->at.object_bytes >= 16 && v->at.object_bytes <= OBJECT_BYTES &&
                  find_chunk(v, v->sets.classes[VIRTUAL_CHUNK]) && find_states(v);
    v->why_not = v->is_known ? NULL : "this JVM's virtual threads do not have the fields that are known";
    return v->is_known;
}

/* ---- handing out ---- */

/* Frames that the JVM has put into an earlier chunk: read only now, when they are needed. */
static void walk_parents(struct vm_virtuals *v, struct virtual_one *one, struct java_stack *stack)
{
    uint8_t bytes[OBJECT_BYTES], words[STACK_MAX];
    for (uint32_t i = 0; i < CHUNKS_MAX && one->parent != 0 && stack->end == STACK_WHOLE; i++) {
        one->chunk = one->parent;
        if (!vm_read(v->vm, one->chunk, bytes, v->at.end))
            return;
        if (!virtual_take_chunk(v, one, bytes)) { /* it is empty: its frames have gone on */
            one->parent = vm_class_of_header(v->vm, bytes) == v->sets.classes[VIRTUAL_CHUNK]
                              ? virtual_reference(v, bytes, v->at.parent)
                              : 0;
            continue;
        }
        const struct thread_state state = { .sp = one->sp - 16,
                                            .stack = words,
                                            .n_bytes = vm_read_some(v->vm, one->sp - 16, words, one->n_stack),
                                            .bottom = one->bottom };
        stack_walk_heap(v->walker, &state, one->sp, stack);
    }
}

static const struct java_stack *walk(struct vm_virtuals *v, struct virtual_one *one)
{
    const struct thread_state state = {
        .sp = one->sp - 16, .stack = v->stacks + one->stack_at, .n_bytes = one->n_stack, .bottom = one->bottom
    };
    v->stack.n = 0;
    stack_walk_heap(v->walker, &state, one->sp, &v->stack);
    walk_parents(v, one, &v->stack);
    return &v->stack;
}

static void hand_out(struct vm_virtuals *v, uint64_t weight, vm_virtual_fn *fn, void *context,
                     struct vm_virtual_counts *counts)
{
    for (uint32_t i = 0; i < v->n; i++) {
        struct virtual_one *one = &v->ones[i];
        bool has_stack = virtual_is_unmounted(one);
        counts->n_seen += !one->is_left_out;
        if (one->is_lost)
            counts->n_lost[one->loss] += weight;
        if (one->is_lost || one->is_left_out)
            continue;
        counts->n_by_state[one->state] += weight;
        const struct vm_virtual thread = {
            .state = one->state, .weight = weight, .object = one->object, .stack = has_stack ? walk(v, one) : NULL
        };
        fn(&thread, context);
    }
}

/* ---- a pass ---- */

/* Each set's table now; the set may have moved. */
static bool find_table(struct vm_virtuals *v, uint32_t set, struct virtual_table *table)
{
    return virtual_sets_find(&v->sets) && set < v->sets.n && virtual_sets_table(&v->sets, v->sets.sets[set], table);
}

static bool is_known_then(const struct vm_virtuals *v, uint64_t n_collections)
{
    return v->collections.counter == 0 ||
           (n_collections != VM_COLLECTIONS_UNKNOWN && vm_collections_count(v->vm, &v->collections) == n_collections);
}

/* Bins of a set from the first-th on.  Returns false: it is another table than before. */
static bool visit_bins(struct vm_virtuals *v, uint32_t set, uint32_t n_bins, uint64_t first, uint64_t step,
                       struct vm_virtual_counts *counts)
{
    for (int i = 0; i < TRIES; i++) {
        struct virtual_table table;
        uint64_t n_collections = vm_collections_count(v->vm, &v->collections);
        bool is_there = find_table(v, set, &table);
        v->n = 0;
        v->has_grown = false;
        if (is_there && table.n_bins == n_bins)
            virtual_batch_read(v, &table, first, step);
        if (!is_known_then(v, n_collections)) {
            counts->n_collectors++;
            nanosleep(&(struct timespec){ 0, 500000 }, NULL);
            continue;
        }
        return is_there && table.n_bins == n_bins && !v->has_grown;
    }
    for (uint32_t i = 0; i < v->n; i++)
        virtual_lose(&v->ones[i], VM_VIRTUAL_MOVED);
    return true;
}

/* All sets, at one of each step bins.  Returns false: it is to be done again. */
static bool visit_sets(struct vm_virtuals *v, uint64_t step, vm_virtual_fn *fn, void *context,
                       struct vm_virtual_counts *counts)
{
    v->pass = hash_address(v->pass + 1);
    for (uint32_t set = 0; set < v->sets.n; set++) {
        struct virtual_table table;
        if (!find_table(v, set, &table))
            return set >= v->sets.n;
        for (uint64_t first = 0; first < table.n_bins; first += BINS_AT_ONCE * step) {
            if (!visit_bins(v, set, table.n_bins, first, step, counts))
                return false;
            hand_out(v, step, fn, context, counts);
        }
    }
    return true;
}

static uint64_t count_bins(struct vm_virtuals *v)
{
    uint64_t n = 0;
    struct virtual_table table;
    for (uint32_t i = 0; i < v->sets.n; i++)
        n += virtual_sets_table(&v->sets, v->sets.sets[i], &table) ? table.n_bins : 0;
    return n;
}

/* Those that the sets count and that were not found; what came or went meanwhile is none of them. */
static void count_missing(struct vm_virtuals *v, uint64_t n_before, struct vm_virtual_counts *counts)
{
    uint64_t n_after = virtual_sets_count(&v->sets), n = n_before < n_after ? n_before : n_after;
    if (n > counts->n_seen) {
        counts->n_lost[virtual_broken(v)] += n - counts->n_seen;
        counts->n_seen = n;
    }
}

static const char *why_none(struct vm_virtuals *v)
{
    if (virtual_sets_untracked(&v->sets) > 0)
        return "the JVM does not keep track of them (-Djdk.trackAllThreads=false)";
    return v->sets.classes[VIRTUAL_ROOT] != 0 && v->sets.n == 0
               ? "a collector moves objects while the JVM runs (ZGC, Shenandoah), and has moved the set of them"
               : NULL;
}

bool vm_virtuals_visit(struct vm_virtuals *v, uint64_t most, vm_virtual_fn *fn, void *context,
                       struct vm_virtual_counts *counts)
{
    *counts = (struct vm_virtual_counts){ .is_whole = true };
    v->why_not = NULL;
    if (!virtual_sets_find(&v->sets) || !find_layout(v))
        return false;
    uint64_t n_before = virtual_sets_count(&v->sets), n_bins = count_bins(v), step;
    most = most == 0 || most > LOOK_BINS ? LOOK_BINS : most;
    step = (n_bins + most - 1) / most;
    step = step == 0 ? 1 : step;
    counts->is_torn = !visit_sets(v, step, fn, context, counts);
    counts->is_whole = step == 1 && (v->collections.counter != 0 || n_before > 0);
    if (counts->is_whole)
        count_missing(v, n_before, counts);
    if (counts->n_seen == 0)
        v->why_not = why_none(v);
    return counts->n_seen > 0;
}

bool vm_virtual_blocker(struct vm_virtuals *v, const struct vm_virtual *thread, char *class_name, size_t n)
{
    uint64_t blocker = vm_object_reference(v->vm, thread->object, &v->blocker);
    return vm_class_text(v->vm, vm_object_class(v->vm, blocker), class_name, n);
}
