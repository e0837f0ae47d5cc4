#include "core/hotspot/known_methods.h"

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/xalloc.h"

struct known_methods {
    struct vm *vm; /* borrowed */
    struct arena arena;
    struct hash_set by_address;   /* of a Method: its index, plus 1 */
    struct known_method **all;    /* owned; they are the arena's */
    struct known_method **recent; /* owned */
    size_t n, room, n_recent, recent_room;
    uint64_t round;
};

struct known_methods *known_methods_open(struct vm *vm)
{
    struct known_methods *methods = xcalloc(1, sizeof *methods);
    methods->vm = vm;
    methods->round = RECENT_ROUNDS + 1;
    return methods;
}

void known_methods_close(struct known_methods *methods)
{
    if (methods == NULL)
        return;
    hash_free(&methods->by_address);
    arena_free(&methods->arena);
    free(methods->all);
    free(methods->recent);
    free(methods);
}

static struct known_method *find_known(const struct known_methods *methods, uint64_t address)
{
    const struct hash_slot *slot = hash_get(&methods->by_address, hash_address(address));
    return slot == NULL || slot->value == 0 ? NULL : methods->all[slot->value - 1];
}

static struct known_method *add_known(struct known_methods *methods, uint64_t address)
{
    struct known_method *method = arena_alloc(&methods->arena, sizeof *method);
    *xpush(methods->all, methods->room, methods->n) = method;
    xhash_put(&methods->by_address, hash_address(address))->value = (uint32_t)methods->n;
    method->address = address;
    return method;
}

/* ---- comparing ---- */

static void take_parts(struct known_method *method, uint64_t key, const struct vm_method_parts *parts, uint64_t round)
{
    if (method->key != key)
        *method =
            (struct known_method){ .address = method->address, .asked = method->asked, .is_recent = method->is_recent };
    method->key = key;
    method->parts = *parts;
    method->compared = round;
}

/* New ones are added. */
void known_methods_compare(struct known_methods *methods, const uint64_t *addresses, size_t n)
{
    uint64_t keys[KNOWN_AT_ONCE];
    struct vm_method_parts parts[KNOWN_AT_ONCE];
    vm_methods_keys(methods->vm, addresses, n, keys, parts);
    for (size_t i = 0; i < n; i++) {
        struct known_method *method = find_known(methods, addresses[i]);
        if (method == NULL && keys[i] != 0)
            method = add_known(methods, addresses[i]);
        if (method != NULL)
            take_parts(method, keys[i], &parts[i], methods->round);
    }
}

void known_methods_round(struct known_methods *methods)
{
    uint64_t addresses[KNOWN_AT_ONCE];
    size_t n = 0, n_addresses = 0;
    methods->round++;
    for (size_t i = 0; i < methods->n_recent; i++) {
        struct known_method *method = methods->recent[i];
        method->is_recent = methods->round - method->asked <= RECENT_ROUNDS;
        if (!method->is_recent)
            continue;
        methods->recent[n++] = method;
        addresses[n_addresses++] = method->address;
        if (n_addresses == KNOWN_AT_ONCE) {
            known_methods_compare(methods, addresses, n_addresses);
            n_addresses = 0;
        }
    }
    methods->n_recent = n;
    known_methods_compare(methods, addresses, n_addresses);
}

void known_methods_let_go(struct known_methods *methods)
{
    for (size_t i = 0; i < methods->n; i++)
        methods->all[i]->holder = NULL;
}

/* ---- asking ---- */

/* What is asked for once is not likely to be asked for again soon. */
static void note(struct known_methods *methods, struct known_method *method)
{
    bool is_again = method->asked != methods->round && methods->round - method->asked <= RECENT_ROUNDS;
    if (is_again && !method->is_recent) {
        *xpush(methods->recent, methods->recent_room, methods->n_recent) = method;
        method->is_recent = true;
    }
    method->asked = methods->round;
}

struct known_method *known_methods_last(const struct known_methods *methods, uint64_t address)
{
    struct known_method *method = find_known(methods, address);
    return method == NULL || method->key == 0 ? NULL : method;
}

struct known_method *known_methods_get(struct known_methods *methods, uint64_t address)
{
    if (address == 0 || address % 8 != 0)
        return NULL;
    struct known_method *method = find_known(methods, address);
    if (method == NULL || method->compared != methods->round)
        known_methods_compare(methods, &address, 1);
    if (method == NULL && (method = find_known(methods, address)) == NULL)
        return NULL;
    note(methods, method);
    return method->key == 0 ? NULL : method;
}
