#include "core/hotspot/vm_flags.h"

#include "core/base/hash.h"
#include "core/hotspot/vm_fields.h"

#include <pthread.h>
#include <string.h>

#define FLAGS_MAX   5000
#define FLAG_ORIGIN 15 /* of a flag's bits: from where it has its value; 0: nobody gave it one */
#define NAME_BYTES  64u
#define AT_ONCE     64u

static struct {
    bool are_known;
    uint64_t all, n, name, address, bits, bytes; /* pointers to the array and its length; of one: offsets, its size */
} flags_at;

static void know(void)
{
    struct vm_field fields[] = {
        { "JVMFlag", "flags", &flags_at.all, true },    { "JVMFlag", "numFlags", &flags_at.n, true },
        { "JVMFlag", "_name", &flags_at.name, false },  { "JVMFlag", "_addr", &flags_at.address, false },
        { "JVMFlag", "_flags", &flags_at.bits, false }, { "Flag", "flags", &flags_at.all, true }, /* JDK 8 */
        { "Flag", "numFlags", &flags_at.n, true },      { "Flag", "_name", &flags_at.name, false },
        { "Flag", "_addr", &flags_at.address, false },  { "Flag", "_flags", &flags_at.bits, false }
    };
    flags_at.bytes = vm_type_bytes("JVMFlag");
    if (flags_at.bytes == VM_NONE)
        flags_at.bytes = vm_type_bytes("Flag");
    flags_at.are_known = vm_fields_find(fields, sizeof fields / sizeof *fields) && flags_at.bytes != VM_NONE;
}

static bool read_value(uint64_t flag)
{
    uint64_t address;
    uint8_t value;
    return vm_read_u64(flag + flags_at.address, &address) && vm_read(address, &value, sizeof value) && value != 0;
}

/* The JVM itself may have switched it on later: it does not note from where it has the value then. */
static bool is_asked_for(uint64_t flag)
{
    uint32_t bits;
    return read_value(flag) && vm_read(flag + flags_at.bits, &bits, sizeof bits) && (bits & FLAG_ORIGIN) != 0;
}

/* The names of n flags (AT_ONCE at most), by few system calls; of longer ones, the end is left out. */
static void read_names(uint64_t first, size_t n, char texts[AT_ONCE][NAME_BYTES])
{
    uint64_t addresses[AT_ONCE] = { 0 }, names[AT_ONCE];
    struct vm_piece pieces[AT_ONCE];
    for (size_t i = 0; i < n; i++)
        addresses[i] = first + i * flags_at.bytes + flags_at.name;
    vm_read_words(addresses, n, names);
    for (size_t i = 0; i < n; i++)
        pieces[i] = (struct vm_piece){ names[i], NAME_BYTES };
    vm_read_each(pieces, n, texts);
}

/* All flags, looked through once: by the hash of a name its number, plus 1. */
static struct {
    pthread_mutex_t lock; /* guards it; no probe takes it */
    struct hash_set by_name;
    uint64_t all;
} index_of = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t key_of(const char *name)
{
    return hash_text(HASH_START, name, strnlen(name, NAME_BYTES));
}

static void index_flags(void)
{
    char texts[AT_ONCE][NAME_BYTES];
    uint64_t n = 0;
    if (!flags_at.are_known || !vm_read_u64(flags_at.all, &index_of.all) || !vm_read_u64(flags_at.n, &n) ||
        n > FLAGS_MAX)
        return;
    for (uint64_t i = 0, now; i < n; i += now) {
        now = n - i < AT_ONCE ? n - i : AT_ONCE;
        read_names(index_of.all + i * flags_at.bytes, now, texts);
        for (uint64_t k = 0; k < now; k++) {
            struct hash_slot *slot = hash_put(&index_of.by_name, key_of(texts[k]));
            if (slot != NULL && slot->value == 0)
                slot->value = (uint32_t)(i + k) + 1;
        }
    }
}

/* The flag of a name, or 0: this JVM has none.  Returns whether it tells. */
static bool find_flag(const char *name, uint64_t *flag)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, know);
    pthread_mutex_lock(&index_of.lock);
    if (index_of.by_name.n_used == 0)
        index_flags();
    bool is_there = index_of.by_name.n_used > 0;
    const struct hash_slot *slot = is_there ? hash_get(&index_of.by_name, key_of(name)) : NULL;
    *flag = slot == NULL || slot->value == 0 ? 0 : index_of.all + (slot->value - 1) * flags_at.bytes;
    pthread_mutex_unlock(&index_of.lock);
    return is_there;
}

bool vm_flags_are_set(const char *const *names, size_t n_names, bool *are_set)
{
    bool is_read = true;
    for (size_t i = 0; i < n_names; i++) {
        uint64_t flag;
        is_read = find_flag(names[i], &flag) && is_read;
        are_set[i] = flag != 0 && read_value(flag);
    }
    return is_read;
}

bool vm_flag_is_there(const char *flag)
{
    uint64_t found;
    return find_flag(flag, &found) && found != 0;
}

bool vm_flag_is_asked_for(const char *flag)
{
    uint64_t found;
    return find_flag(flag, &found) && found != 0 && is_asked_for(found);
}

bool vm_flag_text(const char *flag, char *text, size_t n)
{
    uint64_t found, address;
    text[0] = '\0';
    if (find_flag(flag, &found) && found != 0 && vm_read_u64(found + flags_at.address, &address))
        vm_read_text(address, text, n);
    return text[0] != '\0';
}
