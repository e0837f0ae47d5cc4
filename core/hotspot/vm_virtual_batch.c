#include "core/base/hash.h"
#include "core/base/xalloc.h"
#include "core/hotspot/vm_virtual_internal.h"
#include "core/hotspot/vm.h"

#define NODE_BYTES    48u
#define SUSPENDED     0x100u               /* in a thread's state, with what it is */
#define IS_TREE       UINT32_C(0xfffffffe) /* as a node's hash: it has the bin's first node */
#define IS_FORWARDING UINT32_MAX           /* the bin is in the next table already */
#define CHAIN_MOST    NODES_MAX            /* nodes of a bin, whatever they say that follows */

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

uint64_t virtual_reference(struct vm_virtuals *v, const uint8_t *object, uint32_t field)
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
    uint64_t object = virtual_reference(v, bytes, v->at.key);
    v->has_grown = v->has_grown || hash == IS_FORWARDING;
    if (hash == IS_TREE)
        return vm_object_reference(v->vm, node, &v->sets.first);
    if (hash > INT32_MAX)
        return 0;
    if (object != 0)
        v->ones[v->n++] = (struct virtual_one){ .object = object };
    return virtual_reference(v, bytes, v->at.next);
}

/* From nodes to threads, chain by chain: the next ones of all at once. */
static bool read_nodes(struct vm_virtuals *v, uint32_t n)
{
    uint64_t nodes[NODES_MAX];
    for (uint32_t i = 0; i < n; i++)
        nodes[i] = v->ones[i].cont;
    v->n = 0;
    for (uint32_t i = 0; n > 0 && v->n + n <= NODES_MAX && i < CHAIN_MOST; i++) {
        uint32_t n_next = 0;
        if (v->at.key == 0 && !find_node(v, nodes[0]))
            return false;
        for (uint32_t k = 0; k < n; k++)
            v->pieces[k] = (struct vm_piece){ nodes[k], NODE_BYTES };
        read_objects(v, n);
        for (uint32_t k = 0; k < n; k++) {
            uint64_t next = take_node(v, nodes[k], v->bytes + (size_t)k * NODE_BYTES);
            if (next != 0)
                nodes[n_next++] = next;
        }
        n = n_next;
    }
    return true;
}

void virtual_lose(struct virtual_one *one, enum vm_virtual_loss loss)
{
    one->is_lost = true;
    one->loss = loss;
}

/* Where the JVM does not tell when it collects, what is no virtual thread has probably moved. */
enum vm_virtual_loss virtual_broken(const struct vm_virtuals *v)
{
    return v->collections.counter == 0 ? VM_VIRTUAL_MOVED : VM_VIRTUAL_BROKEN;
}

bool virtual_is_unmounted(const struct virtual_one *one)
{
    return !one->is_lost && !one->is_left_out && one->state >= VM_VIRTUAL_PARKED;
}

/* A thread of the JDK's own that is bound to one of the system's is no virtual one to it. */
static void take_thread(struct vm_virtuals *v, struct virtual_one *one, const uint8_t *bytes)
{
    one->state_word = (uint32_t)vm_number(bytes, OBJECT_BYTES, v->at.state, 4);
    uint32_t number = one->state_word & ~SUSPENDED;
    if (vm_class_of_header(v->vm, bytes) != v->sets.classes[VIRTUAL_THREAD]) {
        virtual_lose(one, virtual_broken(v));
        return;
    }
    one->is_left_out = number >= STATES || v->at.kinds[number] == 0;
    one->state = one->is_left_out ? VM_VIRTUAL_READY : (enum vm_virtual_state)(v->at.kinds[number] - 1);
    one->cont = virtual_reference(v, bytes, v->at.cont);
    if (virtual_is_unmounted(one) && virtual_reference(v, bytes, v->at.carrier) != 0)
        one->state = VM_VIRTUAL_MOUNTED;
    if (virtual_is_unmounted(one) && one->cont == 0)
        virtual_lose(one, virtual_broken(v));
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
        if (!virtual_is_unmounted(&v->ones[i]))
            continue;
        if (v->at.tail == 0 && !find_continuation(v, v->ones[i].cont))
            return false;
        v->pieces[n++] = (struct vm_piece){ v->ones[i].cont + v->at.tail, n_bytes };
    }
    read_objects(v, n);
    for (uint32_t i = n = 0; i < v->n; i++)
        if (virtual_is_unmounted(&v->ones[i]))
            v->ones[i].chunk = vm_reference_of(v->vm, v->bytes + (size_t)n++ * n_bytes);
    return true;
}

/* Returns false: it is no chunk, or has no frames. */
bool virtual_take_chunk(struct vm_virtuals *v, struct virtual_one *one, const uint8_t *bytes)
{
    uint64_t size = vm_number(bytes, v->at.end, v->at.size, 4), sp = vm_number(bytes, v->at.end, v->at.sp, 4);
    uint64_t bottom = v->at.bottom == 0 ? size : vm_number(bytes, v->at.end, v->at.bottom, 4);
    uint64_t base = one->chunk + v->at.end;
    if (vm_class_of_header(v->vm, bytes) != v->sets.classes[VIRTUAL_CHUNK] || size > INT32_MAX || sp >= bottom ||
        bottom > size)
        return false;
    one->sp = base + 8 * sp;
    one->bottom = base + 8 * bottom;
    one->parent = virtual_reference(v, bytes, v->at.parent);
    one->n_stack = 8 * (size_t)(size - sp) + 16;
    one->n_stack = one->n_stack < STACK_MAX ? one->n_stack : STACK_MAX;
    return true;
}

static void read_chunks(struct vm_virtuals *v)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        if (virtual_is_unmounted(&v->ones[i]))
            v->pieces[n++] = (struct vm_piece){ v->ones[i].chunk, v->at.end };
    read_objects(v, n);
    for (uint32_t i = n = 0; i < v->n; i++)
        if (virtual_is_unmounted(&v->ones[i]) &&
            !virtual_take_chunk(v, &v->ones[i], v->bytes + (size_t)n++ * v->at.end))
            virtual_lose(&v->ones[i], v->ones[i].chunk == 0 ? VM_VIRTUAL_CHANGED : virtual_broken(v));
}

static void read_stacks(struct vm_virtuals *v)
{
    size_t n_bytes = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        if (virtual_is_unmounted(&v->ones[i])) {
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
        if (virtual_is_unmounted(&v->ones[i])) {
            v->pieces[n++] = (struct vm_piece){ v->ones[i].object + v->at.state, 4 };
            v->pieces[n++] = (struct vm_piece){ v->ones[i].chunk + v->at.sp, 4 };
        }
    read_objects(v, n);
    for (uint32_t i = n = 0; i < v->n; i++) {
        struct virtual_one *one = &v->ones[i];
        if (!virtual_is_unmounted(one))
            continue;
        uint64_t state = vm_number(v->bytes + 8 * (size_t)n, 8, 0, 4),
                 sp = vm_number(v->bytes + 8 * (size_t)n, 8, 4, 4);
        n++;
        if (state != one->state_word || one->chunk + v->at.end + 8 * sp != one->sp)
            virtual_lose(one, VM_VIRTUAL_CHANGED);
    }
}

void virtual_batch_read(struct vm_virtuals *v, const struct virtual_table *table, uint64_t first, uint64_t step)
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
