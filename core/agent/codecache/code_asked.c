#include "core/agent/codecache/code_out.h"
#include "core/agent/codecache/own_vm.h"
#include "core/hotspot/vm.h"
#include "core/base/hash.h"
#include "core/base/ticks.h"
#include "core/hotspot/nmethod.h"
#include "core/hotspot/vm_methods.h"

#include <pthread.h>

#define NO_NUMBER       UINT32_MAX
#define METHODS_AT_ONCE 128u

static struct code_asked_state *const state = &codecache.asked;

const char *code_asked_why_not(void)
{
    return nmethod_why_not(own_vm()) != NULL ? nmethod_why_not(own_vm()) : vm_methods_why_not(own_vm());
}

static void forget(void)
{
    hash_free(&state->told);
    hash_free(&state->numbers);
    hash_free(&state->known);
    hash_free(&state->here);
    nmethod_free(&state->nmethod);
    state->n_numbers = 0;
    state->is_on = false;
}

void code_asked_start(void)
{
    bool has_all_points = vm_flag_is_asked_for(own_vm(), "DebugNonSafepoints");
    pthread_mutex_lock(&state->lock);
    forget();
    state->is_on = true;
    state->has_all_points = has_all_points;
    pthread_mutex_unlock(&state->lock);
}

void code_asked_stop(void)
{
    pthread_mutex_lock(&state->lock);
    forget();
    pthread_mutex_unlock(&state->lock);
}

/* ---- methods ---- */

static uint64_t hash_of(const struct code_entry *entry)
{
    uint64_t hash = hash_text(HASH_START, entry->class_name.at, entry->class_name.n);
    hash = hash_text(hash, entry->name.at, entry->name.n);
    hash = hash_text(hash, entry->descriptor.at, entry->descriptor.n);
    hash = hash_text(hash, entry->source.at, entry->source.n);
    return hash_text(hash, (const char *)entry->lines, entry->n_lines * sizeof *entry->lines);
}

/* Described when it is new.  0: there is no room, or none can be read. */
static uint32_t describe(uint64_t address)
{
    if (state->n_numbers + 1 >= CODE_NUMBERS_MAX || !vm_method_read(own_vm(), &state->method, address))
        return 0;
    struct code_entry entry = vm_method_entry(&state->method, state->n_numbers);
    struct hash_slot *slot = hash_put(&state->numbers, hash_of(&entry));
    if (slot == NULL)
        return 0;
    if (slot->value == 0) {
        slot->value = ++state->n_numbers;
        code_out_tell(&entry);
    }
    return slot->value;
}

/* Methods whose numbers are wanted. */
struct asked_methods {
    uint64_t all[METHODS_AT_ONCE];
    size_t n;
};

static void know(struct asked_methods *wanted)
{
    uint64_t keys[METHODS_AT_ONCE];
    vm_methods_keys(own_vm(), wanted->all, wanted->n, keys, NULL);
    for (size_t i = 0; i < wanted->n; i++) {
        struct hash_slot *known = keys[i] == 0 ? NULL : hash_put(&state->known, keys[i]);
        if (known == NULL)
            continue;
        if (known->value == 0)
            known->value = describe(wanted->all[i]);
        hash_get(&state->here, hash_address(wanted->all[i]))->value = known->value;
    }
    wanted->n = 0;
}

static void want(struct asked_methods *wanted, uint64_t address)
{
    struct hash_slot *slot = hash_put(&state->here, hash_address(address));
    if (slot == NULL || slot->flags != 0)
        return;
    slot->flags = 1;
    wanted->all[wanted->n++] = address;
    if (wanted->n == METHODS_AT_ONCE)
        know(wanted);
}

/*
 * The methods of a piece of code, many at once.  A method's address is another one's as soon as its class is unloaded:
 * what is at it is remembered for as long as one question takes.
 */
static void know_methods(const struct nmethod *nmethod)
{
    struct asked_methods wanted = { .n = 0 };
    struct scopes_walk walk;
    want(&wanted, nmethod->method);
    if (state->has_all_points) {
        scopes_begin(&walk, &nmethod->scopes);
        while (scopes_next(&walk))
            for (uint32_t i = 0; i < walk.n_frames; i++)
                want(&wanted, walk.frames[i].method);
    }
    know(&wanted);
}

/* NO_NUMBER: there is none. */
static uint32_t number_of(uint64_t address)
{
    const struct hash_slot *slot = hash_get(&state->here, hash_address(address));
    return slot == NULL || slot->value == 0 ? NO_NUMBER : slot->value - 1;
}

/* ---- code ---- */

/* From the outermost frame on.  Returns whether all have numbers. */
static bool take_frames(const struct scopes_walk *walk, struct code_frame *frames)
{
    for (uint32_t i = 0; i < walk->n_frames; i++) {
        const struct scope_frame *frame = &walk->frames[walk->n_frames - 1 - i];
        frames[i] = (struct code_frame){ number_of(frame->method), frame->index };
        if (frames[i].method == NO_NUMBER)
            return false;
    }
    return true;
}

/* Returns how many bytes they take. */
static size_t take_points(const struct scopes *scopes)
{
    struct code_frame frames[2][CODE_FRAMES_MAX];
    struct sink s = sink_into(state->points, sizeof state->points - 256);
    struct scopes_walk walk;
    uint64_t before = 0;
    uint32_t n_before = 0;
    unsigned now = 0;
    scopes_begin(&walk, scopes);
    while (scopes_next(&walk)) {
        uint8_t *last = s.at;
        if (take_frames(&walk, frames[now]))
            code_log_put_point(&s, walk.end - before, frames[now], walk.n_frames, frames[1 - now], n_before);
        else
            s.full = true;
        if (s.full)
            return (size_t)(last - state->points);
        before = walk.end;
        n_before = walk.n_frames;
        now = 1 - now;
    }
    return (size_t)(s.at - state->points);
}

/*
 * What it says of methods is true if it is still there afterwards.  Points at calls and loops only tell nobody what the
 * code between them is from: then its method is all.
 */
static void tell(struct nmethod *nmethod)
{
    struct hash_slot *slot = hash_put(&state->told, hash_address(nmethod->start));
    if (slot == NULL || (slot->second == 1 && slot->value == nmethod->number) ||
        (state->has_all_points && !nmethod_copy(own_vm(), nmethod)))
        return;
    know_methods(nmethod);
    struct code_entry entry = { .kind = CODE_COMPILED,
                                .ticks = ticks_now(),
                                .address = nmethod->start,
                                .n_bytes = nmethod->n_bytes,
                                .method = number_of(nmethod->method),
                                .tier = nmethod->tier,
                                .is_coarse = !state->has_all_points,
                                .points = state->points };
    if (state->has_all_points)
        entry.n_points_bytes = take_points(&nmethod->scopes);
    if (entry.method == NO_NUMBER || !nmethod_is_there(own_vm(), nmethod))
        return;
    slot->value = nmethod->number;
    slot->second = 1;
    code_out_tell(&entry);
}

static void tell_gone(uint64_t start)
{
    struct hash_slot *slot = hash_get(&state->told, hash_address(start));
    if (slot == NULL || slot->second == 0)
        return;
    slot->second = 0;
    code_out_tell(&(struct code_entry){ .kind = CODE_DISCARDED, .ticks = ticks_now(), .address = start });
}

static bool is_on(void)
{
    return state->is_on && code_out_is_open();
}

static void end_question(void)
{
    code_out_end();
    hash_free(&state->here);
}

uint32_t code_asked_tell(const uint64_t *addresses, size_t n)
{
    uint32_t n_known = 0;
    pthread_mutex_lock(&state->lock);
    for (size_t i = 0; i < n && is_on(); i++) {
        bool is_there = nmethod_find(own_vm(), &state->nmethod, addresses[i]);
        if (is_there)
            tell(&state->nmethod);
        else
            tell_gone(addresses[i]);
        n_known += is_there;
    }
    end_question();
    pthread_mutex_unlock(&state->lock);
    return n_known;
}
