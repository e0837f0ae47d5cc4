#include "core/agent/codecache/code_out.h"

#include "core/base/hash.h"
#include "core/base/vec.h"
#include "core/agent/codecache/own_vm.h"
#include "core/hotspot/nmethod.h"
#include "core/hotspot/vm.h"
#include "core/hotspot/vm_methods.h"

#include <pthread.h>

#define CLASSES_AT_ONCE 128u
#define LISTS_MAX       ((size_t)1024 * 1024) /* bytes of a group's lists; the code of a longer one is left out */

static struct code_dependents_state *const state = &codecache.dependents;

/* ---- classes ---- */

/* Its number plus 1; 0: there is no room. */
static uint32_t number_of_class(const char *name, size_t n)
{
    struct hash_slot *slot = hash_put(&state->classes, hash_text(HASH_START, name, n));
    if (slot == NULL || (slot->value == 0 && state->n_classes + 1 >= CODE_NUMBERS_MAX))
        return 0;
    if (slot->value == 0) {
        slot->value = ++state->n_classes;
        code_out_tell(&(struct code_entry){ .kind = CODE_CLASS, .method = slot->value - 1, .class_name = { name, n } });
    }
    return slot->value;
}

static uint32_t class_of_name(uint64_t symbol)
{
    char name[WIRE_TEXT_SHORT_BYTES];
    size_t n;
    return vm_methods_class(own_vm(), symbol, name, &n) ? number_of_class(name, n) : 0;
}

/* Those of the pools that this walk has not met yet. */
static void find_names(const uint64_t *pools, size_t n)
{
    uint64_t new[CLASSES_AT_ONCE] = { 0 }, symbols[CLASSES_AT_ONCE] = { 0 };
    size_t n_new = 0;
    for (size_t i = 0; i < n; i++) {
        struct hash_slot *slot = pools[i] == 0 ? NULL : hash_put(&state->pools, hash_address(pools[i]));
        if (slot != NULL && slot->flags == 0) {
            slot->flags = 1;
            new[n_new++] = pools[i];
        }
    }
    memcpy(symbols, new, sizeof symbols);
    vm_methods_names(own_vm(), symbols, n_new);
    for (size_t i = 0; i < n_new; i++)
        hash_get(&state->pools, hash_address(new[i]))->value = class_of_name(symbols[i]);
}

/* Those of the methods that this walk has not met yet. */
static void find_classes_of(const uint64_t *methods, size_t n)
{
    uint64_t pools[CLASSES_AT_ONCE] = { 0 };
    vm_methods_pools(own_vm(), methods, n, pools);
    find_names(pools, n);
    for (size_t i = 0; i < n; i++) {
        const struct hash_slot *slot = pools[i] == 0 ? NULL : hash_get(&state->pools, hash_address(pools[i]));
        hash_get(&state->methods, hash_address(methods[i]))->value = slot == NULL ? 0 : slot->value;
    }
}

/* A class is not unloaded, nor a method's address another one's, while code that has the method is there. */
static bool is_known(struct hash_slot *method)
{
    struct nmethod now = { 0 };
    const struct told_code *told = method->second == 0 ? NULL : &state->told[method->second - 1];
    if (method->flags == state->walk)
        return true;
    if (told == NULL || told->walk == 0 || !nmethod_find_at(own_vm(), &now, told->header) || now.number != told->number)
        return false;
    method->flags = state->walk;
    return true;
}

static void find_classes(const uint64_t *addresses, size_t n)
{
    uint64_t wanted[CLASSES_AT_ONCE] = { 0 };
    size_t n_wanted = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_address = addresses[i] != 0 && addresses[i] % sizeof *addresses == 0;
        struct hash_slot *slot = is_address ? hash_put(&state->methods, hash_address(addresses[i])) : NULL;
        if (slot != NULL && !is_known(slot)) {
            slot->flags = state->walk;
            wanted[n_wanted++] = addresses[i];
        }
        if (n_wanted < CLASSES_AT_ONCE && i + 1 < n)
            continue;
        find_classes_of(wanted, n_wanted);
        n_wanted = 0;
    }
}

/* ---- a group ---- */

/* What was told last of code that begins there, or NULL. */
static struct told_code *find_told(uint64_t start)
{
    const struct hash_slot *slot = hash_get(&state->starts, hash_address(start));
    return slot == NULL || slot->value == 0 ? NULL : &state->told[slot->value - 1];
}

/* What was there before, and what it said of methods, is gone.  Returns the index, plus 1; 0: there is no memory. */
static uint32_t add_told(const struct nmethod *nmethod)
{
    struct hash_slot *slot = hash_put(&state->starts, hash_address(nmethod->start));
    if (slot == NULL)
        return 0;
    if (vec_reserve(state->told, state->room, state->n_told + 1) < 0)
        return 0;
    if (slot->value != 0)
        state->told[slot->value - 1].walk = 0;
    state->told[state->n_told] = (struct told_code){ nmethod->address, nmethod->start, nmethod->number, state->walk };
    return slot->value = (uint32_t)++state->n_told;
}

/* Those that were told already are still there; the others stay in the group. */
static void skip_known(struct dependents_group *group)
{
    size_t n = 0;
    for (size_t i = 0; i < group->n; i++) {
        struct told_code *told = find_told(group->all[i].start);
        if (told != NULL && told->walk != 0 && told->number == group->all[i].number)
            told->walk = state->walk;
        else
            group->all[n++] = group->all[i];
    }
    group->n = n;
}

/* Behind them are the methods that were compiled. */
static void read_lists(struct dependents_group *group)
{
    struct vm_piece pieces[NMETHODS_MAX];
    size_t n = 0, n_read = 0;
    for (size_t i = 0; i < group->n; i++) {
        const struct nmethod_parts *parts = &group->all[i].parts;
        size_t n_words = (size_t)(parts->n_methods_bytes / sizeof *group->lists);
        if ((n + n_words + NMETHODS_MAX) * sizeof *group->lists > LISTS_MAX)
            continue;
        pieces[n_read] = (struct vm_piece){ parts->from[0] + parts->methods, n_words * sizeof *group->lists };
        group->all[n_read] = group->all[i];
        group->from[n_read++] = n;
        n += n_words;
    }
    vm_read_each(own_vm(), pieces, n_read, group->lists);
    group->from[n_read] = n;
    group->n = n_read;
    for (size_t i = 0; i < n_read; i++)
        group->lists[n + i] = group->all[i].method;
}

struct classes {
    struct sink s;
    uint32_t all[CODE_DEPENDENT_CLASSES_MAX], n;
};

/* That of the method at an address, if it is one, which code has that was told as this. */
static void add_class(struct classes *classes, uint64_t address, uint32_t told)
{
    struct hash_slot *slot = hash_get(&state->methods, hash_address(address));
    uint32_t number = slot == NULL ? 0 : slot->value, k = 0;
    if (slot != NULL)
        slot->second = told;
    while (k < classes->n && classes->all[k] != number)
        k++;
    if (number == 0 || k < classes->n || classes->n == CODE_DEPENDENT_CLASSES_MAX)
        return;
    classes->all[classes->n++] = number;
    sink_varint(&classes->s, number - 1);
}

static void tell(const struct dependents_group *group, size_t i)
{
    struct classes classes = { .s = sink_into(state->bytes, sizeof state->bytes) };
    const struct nmethod *nmethod = &group->all[i];
    uint32_t told = add_told(nmethod);
    if (told == 0)
        return;
    add_class(&classes, nmethod->method, told);
    for (size_t k = group->from[i]; k < group->from[i + 1]; k++)
        add_class(&classes, group->lists[k], told);
    code_out_tell(&(struct code_entry){ .kind = CODE_DEPENDENT,
                                        .address = nmethod->start,
                                        .n_bytes = nmethod->n_bytes,
                                        .tier = nmethod->tier,
                                        .classes = state->bytes,
                                        .n_classes_bytes = (size_t)(classes.s.at - state->bytes) });
}

/* Those that were compiled are Methods for sure: what others like them were taken for is forgotten. */
static void learn(const struct dependents_group *group)
{
    uint64_t methods[NMETHODS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < group->n; i++) {
        const struct hash_slot *slot = hash_get(&state->methods, hash_address(group->all[i].method));
        if (slot == NULL || slot->value == 0)
            methods[n++] = group->all[i].method;
    }
    if (vm_methods_learn(own_vm(), methods, n))
        hash_free(&state->methods);
}

/* What was read of one is true if it is still there afterwards. */
static void tell_group(void)
{
    struct dependents_group *group = &state->group;
    uint64_t headers[NMETHODS_MAX];
    group->n = nmethods_find_at(own_vm(), group->all, state->headers, state->n_headers);
    state->n_headers = 0;
    skip_known(group);
    learn(group);
    read_lists(group);
    find_classes(group->lists, group->from[group->n] + group->n);
    for (size_t i = 0; i < group->n; i++)
        headers[i] = group->all[i].address;
    size_t n_after = nmethods_find_at(own_vm(), state->after, headers, group->n);
    for (size_t i = 0, k = 0; i < group->n && k < n_after; i++) {
        if (state->after[k].address != group->all[i].address)
            continue;
        if (state->after[k].start == group->all[i].start && state->after[k].number == group->all[i].number)
            tell(group, i);
        k++;
    }
}

/* ---- a walk ---- */

static void take_block(void *context, uint64_t header)
{
    (void)context;
    state->headers[state->n_headers++] = header;
    if (state->n_headers == NMETHODS_MAX)
        tell_group();
}

static void tell_gone(void)
{
    for (size_t i = 0; i < state->n_told; i++) {
        struct told_code *told = &state->told[i];
        if (told->walk == 0 || told->walk == state->walk)
            continue;
        told->walk = 0;
        code_out_tell(&(struct code_entry){ .kind = CODE_DEPENDENT, .address = told->start });
    }
}

void code_dependents_tell(void)
{
    pthread_mutex_lock(&state->lock);
    if (state->is_on && code_out_is_open()) {
        state->walk++;
        code_heaps_walk(own_vm(), take_block, NULL);
        tell_group();
        tell_gone();
        code_out_end();
        hash_free(&state->pools);
    }
    pthread_mutex_unlock(&state->lock);
}

/* ---- the session ---- */

static void forget(void)
{
    free(state->told);
    free(state->group.lists);
    hash_free(&state->starts);
    hash_free(&state->classes);
    hash_free(&state->methods);
    state->told = NULL;
    state->group.lists = NULL;
    state->n_told = state->room = 0;
    state->n_classes = 0;
    state->is_on = false;
}

void code_dependents_start(void)
{
    pthread_mutex_lock(&state->lock);
    forget();
    state->walk = 0;
    state->group.lists = malloc(LISTS_MAX);
    state->is_on = state->group.lists != NULL;
    pthread_mutex_unlock(&state->lock);
}

void code_dependents_stop(void)
{
    pthread_mutex_lock(&state->lock);
    forget();
    pthread_mutex_unlock(&state->lock);
}
