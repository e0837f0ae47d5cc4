/*
 * Which methods get probes, and their ids.
 *
 * A method's id depends on its class's name, its own name and descriptor only: the same class in a thousand loaders,
 * or retransformed again by somebody else, keeps its ids.
 */
#include "core/agent/instrument/instrument_state.h"

#include "core/agent/control/method_names.h"
#include "core/agent/instrument/classes.h"
#include "core/agent/probe/argument_ids.h"
#include "core/base/vec.h"

/* Flags of a method: what commands said of it last, in this session. */
enum { ADDED = 1, REMOVED = 2 };

static struct methods_state *const state = &instrumenting.methods;

void methods_begin(const struct agent_config *config, const struct control *control)
{
    pthread_mutex_lock(&state->lock);
    state->config = config;
    state->control = control;
    state->session++;
    state->next_id += state->next_id == 0; /* 0 is none */
    for (size_t i = 0; i < state->ids.n_slots; i++)
        state->ids.slots[i].flags = 0;
    atomic_store(&state->active, true);
    pthread_mutex_unlock(&state->lock);
}

void methods_end(void)
{
    pthread_mutex_lock(&state->lock);
    atomic_store(&state->active, false);
    hash_free(&state->named);
    hash_free(&state->changed);
    hash_free(&state->deferred);
    pthread_mutex_unlock(&state->lock);
}

void methods_forget_ids(void)
{
    pthread_mutex_lock(&state->lock);
    if (state->next_id > RING_METHOD_MAX / 2) {
        hash_free(&state->ids);
        state->next_id = 1;
    }
    pthread_mutex_unlock(&state->lock);
}

/* ---- what the session wants ---- */

bool methods_are_chosen_later(void)
{
    return state->config->is_live;
}

bool methods_want_any(void)
{
    return !state->config->is_live || state->config->n_arguments > 0;
}

bool methods_want_class(const char *name, size_t n)
{
    if (!atomic_load(&state->active) || !config_may_change_class(name, n))
        return false;
    if ((!state->config->is_live && config_wants_class(state->config, name, n)) ||
        config_may_tell_apart(state->config, name, n))
        return true;
    pthread_mutex_lock(&state->lock);
    bool wanted = hash_get(&state->named, hash_text(HASH_START, name, n)) != NULL;
    pthread_mutex_unlock(&state->lock);
    return wanted;
}

bool methods_changed_key(uint64_t class_key)
{
    pthread_mutex_lock(&state->lock);
    bool changed = hash_get(&state->changed, class_key) != NULL;
    pthread_mutex_unlock(&state->lock);
    return changed;
}

uint32_t methods_n_changed(void)
{
    pthread_mutex_lock(&state->lock);
    uint32_t n = (uint32_t)state->changed.n_used;
    pthread_mutex_unlock(&state->lock);
    return n;
}

bool methods_changed_class(const char *name, size_t n)
{
    return methods_changed_key(hash_text(HASH_START, name, n));
}

static struct method_keys keys_of(struct wire_text class_name, struct wire_text name, struct wire_text descriptor)
{
    return (struct method_keys){ method_names_key(class_name, name, descriptor), method_names_class_key(class_name) };
}

/* Called with the lock. */
static bool wants(const struct protocol_method *method, uint64_t key)
{
    const struct hash_slot *slot = hash_get(&state->ids, key);
    uint32_t flags = slot == NULL ? 0 : slot->flags;
    if (!atomic_load(&state->active) || flags != 0)
        return atomic_load(&state->active) && flags == ADDED;
    return (!state->config->is_live && config_wants_method(state->config, method)) ||
           config_argument(state->config, method) != NULL;
}

bool methods_want(const struct protocol_method *method)
{
    struct method_keys keys = keys_of(method->class_name, method->name, method->descriptor);
    pthread_mutex_lock(&state->lock);
    bool wanted = wants(method, keys.method);
    pthread_mutex_unlock(&state->lock);
    return wanted;
}

bool methods_may_want_class(const char *name, size_t n)
{
    return atomic_load(&state->active) && config_wants_class(state->config, name, n);
}

/* ---- ids ---- */

/* Tell the recorder of a method, before any record can name it. */
static int log_method(uint32_t id, const struct protocol_method *method)
{
    size_t n = 64 + method->class_name.n + method->name.n + method->descriptor.n + method->source.n;
    uint8_t *bytes = malloc(n);
    if (bytes == NULL)
        return -1;
    struct protocol_method entry = *method;
    entry.id = id;
    struct sink s = sink_into(bytes, n);
    protocol_put_method(&s, &entry);
    size_t length = (size_t)(s.at - bytes);
    bool whole = !s.full && write(state->control->methods_fd, bytes, length) == (ssize_t)length;
    free(bytes);
    return whole ? 0 : -1;
}

static int note_keys(uint32_t id, struct method_keys keys)
{
    if (vec_reserve(state->known, state->n_known, (size_t)id + 1) < 0)
        return -1;
    state->known[id] = keys;
    return 0;
}

/*
 * A method keeps its id in later sessions: HotSpot's constant pools only grow, and with other flags each session would
 * leave new constants in each class.
 */
static uint32_t id_of(const struct protocol_method *method, struct method_keys keys)
{
    struct hash_slot *slot = hash_put(&state->ids, keys.method);
    if (slot == NULL)
        return 0;
    uint32_t id = slot->value != 0 ? slot->value : state->next_id;
    if (slot->second == state->session)
        return id;
    if (id > RING_METHOD_MAX || note_keys(id, keys) < 0 || log_method(id, method) < 0)
        return 0;
    state->next_id += slot->value == 0;
    slot->value = id;
    slot->second = state->session;
    return id;
}

/* Ids for the values of an argument, which are no methods'.  Returns the first one, or 0. */
static uint32_t reserve_values(void)
{
    uint32_t first = state->next_id;
    if (first + ARGUMENT_IDS > RING_METHOD_MAX ||
        vec_reserve(state->known, state->n_known, (size_t)first + ARGUMENT_IDS) < 0)
        return 0;
    memset(&state->known[first], 0, ARGUMENT_IDS * sizeof *state->known);
    state->next_id += ARGUMENT_IDS;
    return first;
}

/* The argument by which the method's calls are told apart from now on, or REWRITE_NO_ARGUMENT. */
static int16_t argument_of(const struct protocol_method *method, uint32_t id)
{
    const struct agent_argument *argument = config_argument(state->config, method);
    char type = argument == NULL ? 0 : rewrite_argument_type(method, argument->number);
    if (type == 0 || (type != 'L' && argument->accessor != NULL))
        return REWRITE_NO_ARGUMENT;
    if (!argument_ids_has(id)) {
        uint32_t first = reserve_values();
        if (first == 0 || !argument_ids_add(id, first, type, argument->accessor))
            return REWRITE_NO_ARGUMENT;
    }
    return (int16_t)argument->number;
}

uint32_t methods_choose(const struct protocol_method *method, int16_t *argument)
{
    struct method_keys keys = keys_of(method->class_name, method->name, method->descriptor);
    pthread_mutex_lock(&state->lock);
    uint32_t id = wants(method, keys.method) ? id_of(method, keys) : 0;
    struct hash_slot *deferred = hash_get(&state->deferred, keys.method);
    if (deferred != NULL && deferred->second != 0 && id != 0)
        log_method(id, method); /* now with its code: it has its probes */
    if (deferred != NULL)
        deferred->second = 0;
    *argument = id == 0 ? REWRITE_NO_ARGUMENT : argument_of(method, id);
    pthread_mutex_unlock(&state->lock);
    return id;
}

/* The slot of an id that the recorder knows, or NULL.  Called with the lock. */
static struct hash_slot *slot_of(uint32_t id)
{
    struct hash_slot *slot = id == 0 || id >= state->next_id ? NULL : hash_get(&state->ids, state->known[id].method);
    return slot != NULL && slot->value == id && slot->second == state->session ? slot : NULL;
}

bool methods_has_id(uint32_t id)
{
    pthread_mutex_lock(&state->lock);
    bool known = slot_of(id) != NULL;
    pthread_mutex_unlock(&state->lock);
    return known;
}

/* Known in this session, not removed, and not deferred: it has its probes. */
static bool has_probes(const struct hash_slot *slot)
{
    const struct hash_slot *deferred = hash_get(&state->deferred, slot->key);
    return slot->second == state->session && slot->flags != REMOVED && (deferred == NULL || deferred->second == 0);
}

uint32_t methods_id(struct wire_text class_name, struct wire_text name, struct wire_text descriptor)
{
    struct method_keys keys = keys_of(class_name, name, descriptor);
    pthread_mutex_lock(&state->lock);
    const struct hash_slot *slot = hash_get(&state->ids, keys.method);
    uint32_t id = slot != NULL && has_probes(slot) ? slot->value : 0;
    pthread_mutex_unlock(&state->lock);
    return id;
}

/* ---- what commands change ---- */

static struct method_keys keys_of_phase(const struct agent_phase *phase)
{
    return keys_of(wire_text(phase->class_name), wire_text(phase->name), wire_text(phase->descriptor));
}

/* Returns the id whose flag is to be enabled, 0 if there is none yet, or -1 when there is no memory. */
static int64_t add_phase(const struct agent_phase *phase)
{
    struct method_keys keys = keys_of_phase(phase);
    struct hash_slot *slot = hash_put(&state->ids, keys.method);
    if (slot == NULL)
        return -1;
    bool has_them = has_probes(slot);
    slot->flags = ADDED;
    if (hash_put(&state->named, keys.class_key) == NULL ||
        (!has_them && hash_put(&state->changed, keys.class_key) == NULL))
        return -1;
    return slot->value;
}

/* Those that are deferred get their probes as soon as their classes may be changed.  Called with the lock. */
static void change_deferred(void)
{
    for (uint32_t id = 1; state->deferred.n_used > 0 && id < state->next_id; id++) {
        const struct hash_slot *deferred = hash_get(&state->deferred, state->known[id].method);
        if (deferred != NULL && deferred->second != 0)
            hash_put(&state->changed, state->known[id].class_key);
    }
}

int methods_add(JNIEnv *jni, const struct agent_config *phases, struct err *err)
{
    int64_t id = 0;
    pthread_mutex_lock(&state->lock);
    hash_free(&state->changed);
    pthread_mutex_unlock(&state->lock);
    for (size_t i = 0; i < phases->n_phases && id >= 0; i++) {
        pthread_mutex_lock(&state->lock);
        id = add_phase(&phases->phases[i]);
        pthread_mutex_unlock(&state->lock);
        if (id > 0)
            classes_enable(jni, (uint32_t)id, true);
    }
    pthread_mutex_lock(&state->lock);
    change_deferred();
    pthread_mutex_unlock(&state->lock);
    return id < 0 ? err_set(err, "out of memory in the target") : 0;
}

void methods_defer(const struct agent_phase *phase)
{
    const struct protocol_method method = { .class_name = wire_text(phase->class_name),
                                            .name = wire_text(phase->name),
                                            .descriptor = wire_text(phase->descriptor) };
    struct method_keys keys = keys_of_phase(phase);
    pthread_mutex_lock(&state->lock);
    const struct hash_slot *slot = hash_get(&state->ids, keys.method);
    struct hash_slot *deferred = slot == NULL || has_probes(slot) ? NULL : hash_put(&state->deferred, keys.method);
    if (deferred != NULL && id_of(&method, keys) != 0)
        deferred->second = 1;
    pthread_mutex_unlock(&state->lock);
}

uint32_t methods_count(const struct agent_config *phases)
{
    uint32_t n = 0;
    pthread_mutex_lock(&state->lock);
    for (size_t i = 0; i < phases->n_phases; i++) {
        const struct hash_slot *slot = hash_get(&state->ids, keys_of_phase(&phases->phases[i]).method);
        n += slot != NULL && has_probes(slot);
    }
    pthread_mutex_unlock(&state->lock);
    return n;
}

int methods_remove(const uint32_t *ids, size_t n, uint32_t *n_unknown, struct err *err)
{
    bool whole = true;
    *n_unknown = 0;
    pthread_mutex_lock(&state->lock);
    hash_free(&state->changed);
    for (size_t i = 0; i < n; i++) {
        struct hash_slot *slot = slot_of(ids[i]);
        *n_unknown += slot == NULL;
        if (slot == NULL)
            continue;
        slot->flags = REMOVED;
        whole = hash_put(&state->changed, state->known[ids[i]].class_key) != NULL && whole;
    }
    pthread_mutex_unlock(&state->lock);
    return whole ? 0 : err_set(err, "out of memory in the target");
}
