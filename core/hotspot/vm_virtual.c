#include "core/hotspot/vm_virtual_internal.h"

#include "core/base/hash.h"
#include "core/base/xalloc.h"
#include "core/hotspot/stack_walk.h"
#include "core/hotspot/vm.h"

#define BINS_AT_ONCE  256u
#define NODES_MAX     1024u /* of so many bins: what is behind them in their chains is left out */
#define NODE_BYTES    48u
#define OBJECT_BYTES  256u /* of a thread; of a chunk in front of its frames */
#define STACK_MAX     32768u
#define CHUNKS_MAX    16u
#define TRIES         12
#define LOOK_BINS     (UINT64_C(1) << 24) /* that are looked at, whatever the JVM says */
#define SUSPENDED     0x100u              /* in a thread's state, with what it is */
#define STATES        32u
#define IS_TREE       UINT32_C(0xfffffffe) /* as a node's hash: it has the bin's first node */
#define IS_FORWARDING UINT32_MAX           /* the bin is in the next table already */

static const char *const losses[VM_VIRTUAL_LOSSES] = {
    [VM_VIRTUAL_MOVED] = "a collector moved them",
    [VM_VIRTUAL_CHANGED] = "they went on meanwhile",
    [VM_VIRTUAL_BROKEN] = "the heap had no virtual thread there",
};

const char *vm_virtual_loss_name(enum vm_virtual_loss loss)
{
    return losses[loss];
}

/* Where things are in objects of these classes, in bytes; 0: not known. */
struct virtual_layout {
    uint32_t cont, state, carrier, tail;    /* of a thread, of its continuation */
    uint32_t parent, size, sp, bottom, end; /* of a chunk; end: of its fields, where its frames begin */
    uint32_t key, next, hash;               /* of a node of a set */
    uint32_t object_bytes;
    uint8_t kinds[STATES]; /* of a thread's state: 1 + enum vm_virtual_state; 0: it has ended, or not begun */
};

/* A thread on its way through a batch. */
struct virtual_one {
    uint64_t object, cont, chunk, sp;
    uint32_t state_word;
    enum vm_virtual_state state;
    enum vm_virtual_loss loss;
    bool is_lost, is_left_out;
    size_t stack_at, n_stack;
    uint64_t bottom, parent;
};

struct vm_virtuals {
    struct vm *vm; /* borrowed, as the next one is */
    struct stack_walker *walker;
    struct virtual_sets sets;
    struct virtual_layout at;
    struct vm_collections collections;
    struct vm_object_field blocker;
    const char *why_not;
    bool is_known;
    struct virtual_one ones[NODES_MAX];
    uint32_t n;
    bool has_grown;
    uint64_t pass; /* its number: which bins are looked at differs */
    struct vm_piece pieces[2 * NODES_MAX];
    uint8_t bytes[NODES_MAX * OBJECT_BYTES];
    uint8_t *stacks; /* owned */
    size_t stacks_room;
    struct java_stack stack;
};

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

/* Fields of classes that an object tells: of a node, of a continuation. */
static bool find_node(struct vm_virtuals *v, uint64_t node)
{
    struct virtual_layout *at = &v->at;
    at->key = vm_object_field_at(v->vm, node, &v->sets.key);
    at->next = vm_object_field_at(v->vm, node, &v->sets.next);
    struct vm_object_field hash = { .class_name = v->sets.key.class_name, .name = "hash" };
    at->hash = vm_object_field_at(v->vm, node, &hash);
    return at->key != 0 && at->next != 0 && at->hash != 0 && at->key + 8 <= NODE_BYTES && at->next + 8 <= NODE_BYTES;
}

static bool find_continuation(struct vm_virtuals *v, uint64_t cont)
{
    struct vm_object_field tail = { .class_name = "jdk/internal/vm/Continuation", .name = "tail" };
    v->at.tail = vm_object_field_at(v->vm, cont, &tail);
    return v->at.tail != 0;
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

/* ---- a batch ---- */

static uint64_t reference_in(struct vm_virtuals *v, const uint8_t *object, uint32_t field)
{
    return vm_reference_of(v->vm, object + field);
}

static void read_objects(struct vm_virtuals *v, uint32_t n)
{
    vm_read_each(v->vm, v->pieces, n, v->bytes);
}

/*
 * One of each step bins from the first-th on, which one by chance: tasks that take turns come in the order of their
 * threads' numbers, as bins do.  The nodes that they have, into 'ones'.  Returns how many.
 */
static uint32_t read_bins(struct vm_virtuals *v, const struct virtual_table *table, uint64_t first, uint64_t step)
{
    uint32_t n_bytes = vm_reference_bytes(v->vm), n = 0, n_nodes = 0;
    for (uint64_t i = 0; i < BINS_AT_ONCE; i++) {
        uint64_t bin = first + i * step;
        bin += step == 1 ? 0 : hash_address(v->pass ^ hash_address(bin + 1)) % step;
        if (bin < table->n_bins)
            v->pieces[n++] = (struct vm_piece){ table->data + bin * n_bytes, n_bytes };
    }
    if (step == 1 && n > 0) {
        v->pieces[0].n_bytes = (size_t)n * n_bytes;
        read_objects(v, 1);
    } else
        read_objects(v, n);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t node = vm_reference_of(v->vm, v->bytes + (size_t)i * n_bytes);
        if (node != 0)
            v->ones[n_nodes++].cont = node;
    }
    return n_nodes;
}

/* What a node has: a thread; or the first node of a tree.  Returns the next one, 0: none. */
static uint64_t take_node(struct vm_virtuals *v, uint64_t node, const uint8_t *bytes)
{
    uint32_t hash = (uint32_t)vm_number(bytes, NODE_BYTES, v->at.hash, 4);
    uint64_t object = reference_in(v, bytes, v->at.key);
    v->has_grown = v->has_grown || hash == IS_FORWARDING;
    if (hash == IS_TREE)
        return vm_object_reference(v->vm, node, &v->sets.first);
    if (hash > INT32_MAX)
        return 0;
    if (object != 0)
        v->ones[v->n++] = (struct virtual_one){ .object = object };
    return reference_in(v, bytes, v->at.next);
}

/* From nodes to threads, chain by chain: the next ones of all at once. */
static bool read_nodes(struct vm_virtuals *v, uint32_t n)
{
    uint64_t nodes[NODES_MAX];
    for (uint32_t i = 0; i < n; i++)
        nodes[i] = v->ones[i].cont;
    v->n = 0;
    while (n > 0 && v->n + n <= NODES_MAX) {
        uint32_t n_next = 0;
        if (v->at.key == 0 && !find_node(v, nodes[0]))
            return false;
        for (uint32_t i = 0; i < n; i++)
            v->pieces[i] = (struct vm_piece){ nodes[i], NODE_BYTES };
        read_objects(v, n);
        for (uint32_t i = 0; i < n; i++) {
            uint64_t next = take_node(v, nodes[i], v->bytes + (size_t)i * NODE_BYTES);
            if (next != 0)
                nodes[n_next++] = next;
        }
        n = n_next;
    }
    return true;
}

static void lose(struct virtual_one *one, enum vm_virtual_loss loss)
{
    one->is_lost = true;
    one->loss = loss;
}

/* Where the JVM does not tell when it collects, what is no virtual thread has probably moved. */
static enum vm_virtual_loss broken(const struct vm_virtuals *v)
{
    return v->collections.counter == 0 ? VM_VIRTUAL_MOVED : VM_VIRTUAL_BROKEN;
}

static bool is_unmounted(const struct virtual_one *one)
{
    return !one->is_lost && !one->is_left_out && one->state >= VM_VIRTUAL_PARKED;
}

/* A thread of the JDK's own that is bound to one of the system's is no virtual one to it. */
static void take_thread(struct vm_virtuals *v, struct virtual_one *one, const uint8_t *bytes)
{
    one->state_word = (uint32_t)vm_number(bytes, OBJECT_BYTES, v->at.state, 4);
    uint32_t number = one->state_word & ~SUSPENDED;
    if (vm_class_of_header(v->vm, bytes) != v->sets.classes[VIRTUAL_THREAD]) {
        lose(one, broken(v));
        return;
    }
    one->is_left_out = number >= STATES || v->at.kinds[number] == 0;
    one->state = one->is_left_out ? VM_VIRTUAL_READY : (enum vm_virtual_state)(v->at.kinds[number] - 1);
    one->cont = reference_in(v, bytes, v->at.cont);
    if (is_unmounted(one) && reference_in(v, bytes, v->at.carrier) != 0)
        one->state = VM_VIRTUAL_MOUNTED;
    if (is_unmounted(one) && one->cont == 0)
        lose(one, broken(v));
}

static void read_threads(struct vm_virtuals *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        v->pieces[i] = (struct vm_piece){ v->ones[i].object, v->at.object_bytes };
    read_objects(v, v->n);
    for (uint32_t i = 0; i < v->n; i++) {
        uint8_t object[OBJECT_BYTES] = { 0 };
        memcpy(object, v->bytes + (size_t)i * v->at.object_bytes, v->at.object_bytes);
        take_thread(v, &v->ones[i], object);
    }
}

/* Of those without a carrier, the chunk that has their innermost frames. */
static bool read_tails(struct vm_virtuals *v)
{
    uint32_t n = 0, n_bytes = vm_reference_bytes(v->vm);
    for (uint32_t i = 0; i < v->n; i++) {
        if (!is_unmounted(&v->ones[i]))
            continue;
        if (v->at.tail == 0 && !find_continuation(v, v->ones[i].cont))
            return false;
        v->pieces[n++] = (struct vm_piece){ v->ones[i].cont + v->at.tail, n_bytes };
    }
    read_objects(v, n);
    for (uint32_t i = n = 0; i < v->n; i++)
        if (is_unmounted(&v->ones[i]))
            v->ones[i].chunk = vm_reference_of(v->vm, v->bytes + (size_t)n++ * n_bytes);
    return true;
}

/* Returns false: it is no chunk, or has no frames. */
static bool take_chunk(struct vm_virtuals *v, struct virtual_one *one, const uint8_t *bytes)
{
    uint64_t size = vm_number(bytes, v->at.end, v->at.size, 4), sp = vm_number(bytes, v->at.end, v->at.sp, 4);
    uint64_t bottom = v->at.bottom == 0 ? size : vm_number(bytes, v->at.end, v->at.bottom, 4);
    uint64_t base = one->chunk + v->at.end;
    if (vm_class_of_header(v->vm, bytes) != v->sets.classes[VIRTUAL_CHUNK] || size > INT32_MAX || sp >= bottom ||
        bottom > size)
        return false;
    one->sp = base + 8 * sp;
    one->bottom = base + 8 * bottom;
    one->parent = reference_in(v, bytes, v->at.parent);
    one->n_stack = 8 * (size_t)(size - sp) + 16;
    one->n_stack = one->n_stack < STACK_MAX ? one->n_stack : STACK_MAX;
    return true;
}

static void read_chunks(struct vm_virtuals *v)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        if (is_unmounted(&v->ones[i]))
            v->pieces[n++] = (struct vm_piece){ v->ones[i].chunk, v->at.end };
    read_objects(v, n);
    for (uint32_t i = n = 0; i < v->n; i++)
        if (is_unmounted(&v->ones[i]) && !take_chunk(v, &v->ones[i], v->bytes + (size_t)n++ * v->at.end))
            lose(&v->ones[i], v->ones[i].chunk == 0 ? VM_VIRTUAL_CHANGED : broken(v));
}

static void read_stacks(struct vm_virtuals *v)
{
    size_t n_bytes = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        if (is_unmounted(&v->ones[i])) {
            v->ones[i].stack_at = n_bytes;
            v->pieces[n++] = (struct vm_piece){ v->ones[i].sp - 16, v->ones[i].n_stack };
            n_bytes += v->ones[i].n_stack;
        }
    xgrow(v->stacks, v->stacks_room, n_bytes + 1);
    vm_read_each(v->vm, v->pieces, n, v->stacks);
}

/* Has it gone on since its stack was read? */
static void read_again(struct vm_virtuals *v)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        if (is_unmounted(&v->ones[i])) {
            v->pieces[n++] = (struct vm_piece){ v->ones[i].object + v->at.state, 4 };
            v->pieces[n++] = (struct vm_piece){ v->ones[i].chunk + v->at.sp, 4 };
        }
    read_objects(v, n);
    for (uint32_t i = n = 0; i < v->n; i++) {
        struct virtual_one *one = &v->ones[i];
        if (!is_unmounted(one))
            continue;
        uint64_t state = vm_number(v->bytes + 8 * (size_t)n, 8, 0, 4),
                 sp = vm_number(v->bytes + 8 * (size_t)n, 8, 4, 4);
        n++;
        if (state != one->state_word || one->chunk + v->at.end + 8 * sp != one->sp)
            lose(one, VM_VIRTUAL_CHANGED);
    }
}

static bool is_known_then(const struct vm_virtuals *v, uint64_t n_collections)
{
    return v->collections.counter == 0 ||
           (n_collections != VM_COLLECTIONS_UNKNOWN && vm_collections_count(v->vm, &v->collections) == n_collections);
}

static void read_batch(struct vm_virtuals *v, const struct virtual_table *table, uint64_t first, uint64_t step)
{
    if (!read_nodes(v, read_bins(v, table, first, step))) {
        v->n = 0;
        return;
    }
    read_threads(v);
    if (!read_tails(v)) {
        v->n = 0;
        return;
    }
    read_chunks(v);
    read_stacks(v);
    read_again(v);
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
        if (!take_chunk(v, one, bytes)) { /* it is empty: its frames have gone on */
            one->parent = vm_class_of_header(v->vm, bytes) == v->sets.classes[VIRTUAL_CHUNK]
                              ? reference_in(v, bytes, v->at.parent)
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
        bool has_stack = is_unmounted(one);
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
            read_batch(v, &table, first, step);
        if (!is_known_then(v, n_collections)) {
            counts->n_collectors++;
            nanosleep(&(struct timespec){ 0, 500000 }, NULL);
            continue;
        }
        return is_there && table.n_bins == n_bins && !v->has_grown;
    }
    for (uint32_t i = 0; i < v->n; i++)
        lose(&v->ones[i], VM_VIRTUAL_MOVED);
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
        counts->n_lost[broken(v)] += n - counts->n_seen;
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
