#include "core/hotspot/vm_flags.h"

#include "core/hotspot/vm_fields.h"

#include <pthread.h>
#include <string.h>

#define FLAGS_MAX   5000
#define FLAG_ORIGIN 15 /* of a flag's bits: from where it has its value; 0: nobody gave it one */

static struct {
    bool are_known;
    uint64_t all, n, name, address, bits, bytes; /* pointers to the array and its length; of one: offsets, its size */
} flags_at;

static void find_flags(void)
{
    struct vm_field fields[] = { { "JVMFlag", "flags", &flags_at.all, true },
                                 { "JVMFlag", "numFlags", &flags_at.n, true },
                                 { "JVMFlag", "_name", &flags_at.name, false },
                                 { "JVMFlag", "_addr", &flags_at.address, false },
                                 { "JVMFlag", "_flags", &flags_at.bits, false } };
    flags_at.bytes = vm_type_bytes("JVMFlag");
    flags_at.are_known = vm_fields_find(fields, sizeof fields / sizeof *fields) && flags_at.bytes != VM_NONE;
}

/* The JVM itself may have switched it on later: it does not note from where it has the value then. */
static bool is_asked_for(uint64_t flag)
{
    uint64_t address;
    uint32_t bits;
    uint8_t value;
    return vm_read_u64(flag + flags_at.address, &address) && vm_read(address, &value, sizeof value) && value != 0 &&
           vm_read(flag + flags_at.bits, &bits, sizeof bits) && (bits & FLAG_ORIGIN) != 0;
}

/* The flag of a name; false: this JVM has none, or does not tell. */
static bool find_flag(const char *name, uint64_t *flag)
{
    static pthread_once_t found = PTHREAD_ONCE_INIT;
    uint64_t all, n;
    char text[64];
    pthread_once(&found, find_flags);
    if (!flags_at.are_known || !vm_read_u64(flags_at.all, &all) || !vm_read_u64(flags_at.n, &n))
        return false;
    for (uint64_t i = 0; i < n && i < FLAGS_MAX; i++) {
        *flag = all + i * flags_at.bytes;
        if (vm_read_text(*flag + flags_at.name, text, sizeof text) && strcmp(text, name) == 0)
            return true;
    }
    return false;
}

bool vm_flag_is_asked_for(const char *flag)
{
    uint64_t found;
    return find_flag(flag, &found) && is_asked_for(found);
}

bool vm_flag_text(const char *flag, char *text, size_t n)
{
    uint64_t found, address;
    text[0] = '\0';
    if (find_flag(flag, &found) && vm_read_u64(found + flags_at.address, &address))
        vm_read_text(address, text, n);
    return text[0] != '\0';
}
