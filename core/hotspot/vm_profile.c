/*
 * A profile is a list of entries in the order of the method's bytecodes: a word (tag, flags, index of the bytecode,
 * traps), then cells of a word each, as many as its tag says.
 *
 * Source: HotSpot's methodData.hpp.
 */
#include "core/hotspot/vm_methods.h"

#include "core/hotspot/vm_objects.h"
#include "core/hotspot/vm_state.h"

#define CELL       8u
#define BYTES_MAX  ((size_t)1 << 20)
#define COUNTS_MAX 128u /* bytes of MethodData that have the counts */

enum profile_tag {
    TAG_NONE,
    TAG_BIT,
    TAG_COUNTER,
    TAG_JUMP,
    TAG_RECEIVER,
    TAG_VIRTUAL_CALL,
    TAG_RET,
    TAG_BRANCH,
    TAG_MULTI_BRANCH,
    TAG_ARGUMENTS,
    TAG_CALL_TYPE,
    TAG_VIRTUAL_CALL_TYPE
};

/* Deoptimization::Reason_*: their numbers differ by release; of two with one number the first counts. */
static const char *const reasons[] = {
    "null_check",
    "null_assert",
    "range_check",
    "class_check",
    "array_check",
    "intrinsic",
    "bimorphic",
    "profile_predicate",
    "unloaded",
    "uninitialized",
    "initialized",
    "unreached",
    "unhandled",
    "constraint",
    "div0_check",
    "age",
    "predicate",
    "loop_limit_check",
    "auto_vectorization_check",
    "short_running_long_loop",
    "speculate_class_check",
    "speculate_null_check",
    "speculate_null_assert",
    "rtm_state_change",
    "unstable_if",
    "unstable_fused_if",
    "receiver_constraint",
};

/* A byte for each reason, in front of the length of the profile. */
static void know_traps(struct vm *vm)
{
    struct vm_profiles *at = &vm->profiles;
    struct vm_field fields[] = {
        { "MethodData", "_compiler_counters._trap_hist._array[0]", &at->traps, false },
        { "MethodData", "_trap_hist._array[0]", &at->traps, false }, /* JDK 8 */
        { "MethodData", "_compiler_counters._nof_overflow_traps", &at->more_traps, false },
        { "MethodData", "_nof_overflow_traps", &at->more_traps, false },
    };
    int32_t n, number;
    bool is_known = at->are_known && vm_fields_find(vm, fields, sizeof fields / sizeof *fields) &&
                    (vm_constant(vm, "Deoptimization::Reason_TRAP_HISTORY_LENGTH", &n) ||
                     vm_constant(vm, "Deoptimization::Reason_LIMIT", &n));
    if (!is_known || n <= 0 || n > (int32_t)VM_TRAP_REASONS || at->traps + (uint64_t)n > at->bytes)
        return;
    at->n_traps = (uint32_t)n;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        char name[64];
        snprintf(name, sizeof name, "Deoptimization::Reason_%s", reasons[i]);
        if (vm_constant(vm, name, &number) && number > 0 && number < n && at->reasons[number] == NULL)
            at->reasons[number] = reasons[i];
    }
}

/* All counts are near each other: one read. */
static void know_counts(struct vm *vm)
{
    struct vm_profiles *at = &vm->profiles;
    struct vm_field discarded[] = {
        { "MethodData", "_compiler_counters._nof_decompiles", &at->discarded, false },
        { "MethodData", "_nof_decompiles", &at->discarded, false }, /* JDK 8 */
    };
    know_traps(vm);
    if (!vm_fields_find(vm, discarded, sizeof discarded / sizeof *discarded))
        return;
    const uint64_t all[3][2] = { { at->discarded, 4 }, { at->more_traps, 4 }, { at->traps, at->n_traps } };
    uint64_t end = at->discarded + 4;
    at->counts = at->discarded;
    for (size_t i = 1; i < 3 && at->n_traps > 0; i++) {
        at->counts = all[i][0] < at->counts ? all[i][0] : at->counts;
        end = all[i][0] + all[i][1] > end ? all[i][0] + all[i][1] : end;
    }
    at->n_counts = at->are_known && end - at->counts <= COUNTS_MAX ? (uint32_t)(end - at->counts) : 0;
}

static void know(struct vm *vm)
{
    struct vm_profiles *at = &vm->profiles;
    struct vm_field fields[] = {
        { "Method", "_method_data", &at->data, false },
        { "MethodData", "_data_size", &at->bytes, false },
        { "MethodData", "_data[0]", &at->list, false },
    };
    at->are_known = vm_fields_find(vm, fields, sizeof fields / sizeof *fields);
    know_counts(vm);
    class_layout_find(vm, &at->classes);
}

static uint64_t cell_of(const struct vm_profile *profile, size_t entry, size_t cell)
{
    return vm_number(profile->bytes, profile->n_bytes, entry + (1 + cell) * CELL, CELL);
}

static uint8_t tag_of(const struct vm_profile *profile, size_t entry)
{
    return (uint8_t)vm_number(profile->bytes, profile->n_bytes, entry, 1);
}

static uint32_t index_of(const struct vm_profile *profile, size_t entry)
{
    return (uint32_t)vm_number(profile->bytes, profile->n_bytes, entry + 2, 2);
}

/* Cells of an entry; SIZE_MAX: there is no such tag. */
static size_t n_cells_of(const struct vm_profile *profile, size_t entry)
{
    const size_t receivers = 1 + profile->extra + 2 * (size_t)VM_RECEIVERS_MAX;
    switch (tag_of(profile, entry)) {
    case TAG_BIT:
        return 0;
    case TAG_COUNTER:
        return 1;
    case TAG_JUMP:
        return 2;
    case TAG_RECEIVER:
    case TAG_VIRTUAL_CALL:
        return receivers;
    case TAG_RET:
        return 7;
    case TAG_BRANCH:
        return 3;
    case TAG_MULTI_BRANCH:
        return 1 + (size_t)cell_of(profile, entry, 0);
    case TAG_CALL_TYPE:
        return 2 + (size_t)cell_of(profile, entry, 1);
    case TAG_VIRTUAL_CALL_TYPE:
        return receivers + 1 + (size_t)cell_of(profile, entry, receivers);
    default:
        return SIZE_MAX;
    }
}

/* The entry behind another one; n_bytes at the end; SIZE_MAX: it is damaged. */
static size_t behind(const struct vm_profile *profile, size_t entry)
{
    size_t n = n_cells_of(profile, entry), left = (profile->n_bytes - entry) / CELL;
    return n >= left ? SIZE_MAX : entry + (1 + n) * CELL;
}

static bool is_whole(const struct vm_profile *profile, uint32_t n_code)
{
    uint32_t last = 0;
    for (size_t entry = 0; entry < profile->n_bytes; entry = behind(profile, entry)) {
        uint32_t index = index_of(profile, entry);
        if (index < last || index >= n_code || behind(profile, entry) == SIZE_MAX)
            return false;
        last = index;
    }
    return true;
}

/* JDK 17 has a cell more in each entry of receivers, if it was built so. */
bool vm_profile_check(struct vm_profile *profile, uint32_t n_code)
{
    for (profile->extra = 0; profile->extra < 2; profile->extra++)
        if (is_whole(profile, n_code))
            return true;
    return false;
}

#define COUNTS_AT_ONCE 32u
#define TRAPS_MOST     UINT8_MAX /* of a reason; those above count as one, of any reason */

/*
 * From a copy of the counts.  Of no reason there are no traps: else it is another array.  Where two reasons have that
 * many nothing is known.
 */
static void take_counts(const struct vm_profiles *at, const uint8_t *bytes, struct vm_code_counts *counts)
{
    const uint8_t *counted = bytes + (at->traps - at->counts);
    uint32_t n_full = 0, n_more;
    counts->is_known = true;
    counts->n_discarded = (uint32_t)vm_number(bytes, at->n_counts, at->discarded - at->counts, 4);
    if (at->n_traps == 0 || counted[0] != 0)
        return;
    n_more = (uint32_t)vm_number(bytes, at->n_counts, at->more_traps - at->counts, 4);
    for (uint32_t i = 0; i < at->n_traps; i++)
        n_full += counted[i] == TRAPS_MOST;
    if (n_full > 1 || (n_more > 0 && n_full == 0))
        return;
    counts->traps.are_known = true;
    for (uint32_t i = 0; i < at->n_traps; i++)
        counts->traps.n[i] = (uint32_t)counted[i] + (counted[i] == TRAPS_MOST ? n_more : 0);
}

bool vm_code_counts_are_there(struct vm *vm)
{
    vm_once(vm, &vm->profiles.once, know);
    return vm->profiles.n_counts > 0;
}

/* A method that has no profile was never compiled by C2. */
static void read_counts(struct vm *vm, const uint64_t *methods, size_t n, struct vm_code_counts *counts)
{
    const struct vm_profiles *at = &vm->profiles;
    uint64_t where[COUNTS_AT_ONCE] = { 0 }, profiles[COUNTS_AT_ONCE];
    struct vm_piece pieces[COUNTS_AT_ONCE];
    uint8_t bytes[COUNTS_AT_ONCE * COUNTS_MAX];
    for (size_t i = 0; i < n; i++)
        where[i] = methods[i] + at->data;
    vm_read_words(vm, where, n, profiles);
    for (size_t i = 0; i < n; i++)
        pieces[i] = (struct vm_piece){ profiles[i] + at->counts, profiles[i] == 0 ? 0 : at->n_counts };
    vm_read_each(vm, pieces, n, bytes);
    const uint8_t *of = bytes;
    for (size_t i = 0; i < n; of += pieces[i++].n_bytes)
        if (profiles[i] == 0)
            counts[i].is_known = counts[i].traps.are_known = true;
        else
            take_counts(at, of, &counts[i]);
}

void vm_code_counts_read(struct vm *vm, const uint64_t *methods, size_t n, struct vm_code_counts *counts)
{
    memset(counts, 0, n * sizeof *counts);
    for (size_t i = 0; vm_code_counts_are_there(vm) && i < n; i += COUNTS_AT_ONCE)
        read_counts(vm, methods + i, n - i < COUNTS_AT_ONCE ? n - i : COUNTS_AT_ONCE, counts + i);
}

const char *vm_trap_reason(struct vm *vm, uint32_t number)
{
    vm_once(vm, &vm->profiles.once, know);
    return number < vm->profiles.n_traps ? vm->profiles.reasons[number] : NULL;
}

bool vm_profile_read(struct vm *vm, struct vm_profile *profile, uint64_t method, uint32_t n_code)
{
    struct vm_profiles *at = &vm->profiles;
    uint64_t data;
    uint32_t n = 0;
    vm_once(vm, &vm->profiles.once, know);
    profile->n_bytes = 0;
    vm_code_counts_read(vm, &method, 1, &profile->counts);
    if (!at->are_known || !vm_read_u64(vm, method + at->data, &data) || data == 0 ||
        !vm_read(vm, data + at->bytes, &n, sizeof n) || n > BYTES_MAX)
        return false;
    if (n > profile->room) {
        free(profile->bytes);
        profile->bytes = malloc(n);
        profile->room = profile->bytes == NULL ? 0 : n;
    }
    if (n > profile->room || (n > 0 && !vm_read(vm, data + at->list, profile->bytes, n)))
        return false;
    profile->n_bytes = n;
    return vm_profile_check(profile, n_code);
}

static void take_call(const struct vm_profile *profile, size_t entry, struct vm_call_profile *call)
{
    uint8_t tag = tag_of(profile, entry);
    call->index = index_of(profile, entry);
    call->n = call->n_others = cell_of(profile, entry, 0);
    call->is_virtual = tag == TAG_VIRTUAL_CALL || tag == TAG_VIRTUAL_CALL_TYPE;
    for (size_t i = 0; call->is_virtual && i < VM_RECEIVERS_MAX; i++) {
        size_t cell = 1 + profile->extra + 2 * i;
        const struct vm_receiver receiver = { cell_of(profile, entry, cell), cell_of(profile, entry, cell + 1) };
        if (receiver.klass == 0)
            continue;
        call->receivers[call->n_receivers++] = receiver;
        call->n += receiver.n;
    }
}

bool vm_profile_call(const struct vm_profile *profile, uint32_t index, struct vm_call_profile *call)
{
    memset(call, 0, sizeof *call);
    for (size_t entry = 0; entry < profile->n_bytes; entry = behind(profile, entry)) {
        uint8_t tag = tag_of(profile, entry);
        bool is_call =
            tag == TAG_COUNTER || tag == TAG_VIRTUAL_CALL || tag == TAG_CALL_TYPE || tag == TAG_VIRTUAL_CALL_TYPE;
        if (index_of(profile, entry) != index || !is_call)
            continue;
        take_call(profile, entry, call);
        return true;
    }
    return false;
}

bool vm_profile_class(struct vm *vm, const struct vm_receiver *receiver, char *text, size_t n)
{
    vm_once(vm, &vm->profiles.once, know);
    return class_name_text(vm, &vm->profiles.classes, receiver->klass, text, n) > 0;
}

void vm_profile_free(struct vm_profile *profile)
{
    free(profile->bytes);
    memset(profile, 0, sizeof *profile);
}
