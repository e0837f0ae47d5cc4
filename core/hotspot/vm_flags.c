#include "core/hotspot/vm_state.h"

#include "core/base/hash.h"

#define FLAGS_MAX   5000
#define FLAG_ORIGIN 15 /* of a flag's bits: from where it has its value; 0: nobody gave it one */
#define NAME_BYTES  64u
#define AT_ONCE     64u

static void know(struct vm *vm)
{
    struct vm_flags *at = &vm->flags;
    struct vm_field fields[] = {
        { "JVMFlag", "flags", &at->all, true },    { "JVMFlag", "numFlags", &at->n, true },
        { "JVMFlag", "_name", &at->name, false },  { "JVMFlag", "_addr", &at->address, false },
        { "JVMFlag", "_flags", &at->bits, false }, { "Flag", "flags", &at->all, true }, /* JDK 8 */
        { "Flag", "numFlags", &at->n, true },      { "Flag", "_name", &at->name, false },
        { "Flag", "_addr", &at->address, false },  { "Flag", "_flags", &at->bits, false }
    };
    at->bytes = vm_type_bytes(vm, "JVMFlag");
    if (at->bytes == VM_NONE)
        at->bytes = vm_type_bytes(vm, "Flag");
    at->are_known = vm_fields_find(vm, fields, sizeof fields / sizeof *fields) && at->bytes != VM_NONE;
}

static bool read_value(struct vm *vm, uint64_t flag)
{
    uint64_t address;
    uint8_t value;
    return vm_read_u64(vm, flag + vm->flags.address, &address) && vm_read(vm, address, &value, sizeof value) &&
           value != 0;
}

/* The JVM itself may have switched it on later: it does not note from where it has the value then. */
static bool is_asked_for(struct vm *vm, uint64_t flag)
{
    uint32_t bits;
    return read_value(vm, flag) && vm_read(vm, flag + vm->flags.bits, &bits, sizeof bits) && (bits & FLAG_ORIGIN) != 0;
}

/* The names of n flags (AT_ONCE at most), by few system calls; of longer ones, the end is left out. */
static void read_names(struct vm *vm, uint64_t first, size_t n, char texts[AT_ONCE][NAME_BYTES])
{
    struct vm_flags *at = &vm->flags;
    uint64_t addresses[AT_ONCE] = { 0 }, names[AT_ONCE];
    struct vm_piece pieces[AT_ONCE];
    for (size_t i = 0; i < n; i++)
        addresses[i] = first + i * at->bytes + at->name;
    vm_read_words(vm, addresses, n, names);
    for (size_t i = 0; i < n; i++)
        pieces[i] = (struct vm_piece){ names[i], NAME_BYTES };
    vm_read_each(vm, pieces, n, texts);
}

static uint64_t key_of(const char *name)
{
    return hash_text(HASH_START, name, strnlen(name, NAME_BYTES));
}

static void index_flags(struct vm *vm)
{
    struct vm_flags *at = &vm->flags;
    char texts[AT_ONCE][NAME_BYTES];
    uint64_t n = 0;
    if (!at->are_known || !vm_read_u64(vm, at->all, &at->first) || !vm_read_u64(vm, at->n, &n) || n > FLAGS_MAX)
        return;
    for (uint64_t i = 0, now; i < n; i += now) {
        now = n - i < AT_ONCE ? n - i : AT_ONCE;
        read_names(vm, at->first + i * at->bytes, now, texts);
        for (uint64_t k = 0; k < now; k++) {
            struct hash_slot *slot = hash_put(&at->by_name, key_of(texts[k]));
            if (slot != NULL && slot->value == 0)
                slot->value = (uint32_t)(i + k) + 1;
        }
    }
}

/* The flag of a name, or 0: this JVM has none.  Returns whether it tells. */
static bool find_flag(struct vm *vm, const char *name, uint64_t *flag)
{
    struct vm_flags *at = &vm->flags;
    vm_once(vm, &vm->flags.once, know);
    pthread_mutex_lock(&vm->lock);
    if (at->by_name.n_used == 0)
        index_flags(vm);
    bool is_there = at->by_name.n_used > 0;
    const struct hash_slot *slot = is_there ? hash_get(&at->by_name, key_of(name)) : NULL;
    *flag = slot == NULL || slot->value == 0 ? 0 : at->first + (slot->value - 1) * at->bytes;
    pthread_mutex_unlock(&vm->lock);
    return is_there;
}

bool vm_flags_are_set(struct vm *vm, const char *const *names, size_t n_names, bool *are_set)
{
    bool is_read = true;
    for (size_t i = 0; i < n_names; i++) {
        uint64_t flag;
        is_read = find_flag(vm, names[i], &flag) && is_read;
        are_set[i] = flag != 0 && read_value(vm, flag);
    }
    return is_read;
}

bool vm_flag_is_there(struct vm *vm, const char *flag)
{
    uint64_t found;
    return find_flag(vm, flag, &found) && found != 0;
}

bool vm_flag_is_asked_for(struct vm *vm, const char *flag)
{
    uint64_t found;
    return find_flag(vm, flag, &found) && found != 0 && is_asked_for(vm, found);
}

bool vm_flag_text(struct vm *vm, const char *flag, char *text, size_t n)
{
    uint64_t found, address;
    text[0] = '\0';
    if (find_flag(vm, flag, &found) && found != 0 && vm_read_u64(vm, found + vm->flags.address, &address))
        vm_read_text(vm, address, text, n);
    return text[0] != '\0';
}
