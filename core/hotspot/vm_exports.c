/*
 * The tables in which libjvm.so tells its debugger the layout of its structures: each is looked through once, for a
 * recording asks for some hundred of their 3,000 entries.
 */
#include "core/hotspot/vm_state.h"

#include <dlfcn.h>

/* ---- reading ---- */

static const uint8_t *page_of(struct vm *vm, uint64_t address)
{
    struct vm_pages *pages = &vm->pages;
    uint64_t start = address - address % VM_PAGE_BYTES, at = start / VM_PAGE_BYTES % VM_PAGES;
    if (pages->bytes[at] == NULL)
        pages->bytes[at] = malloc(VM_PAGE_BYTES);
    if (pages->bytes[at] == NULL)
        return NULL;
    if (pages->starts[at] != start + 1) {
        pages->starts[at] = 0;
        if (!vm_read(vm, start, pages->bytes[at], VM_PAGE_BYTES))
            return NULL;
        pages->starts[at] = start + 1;
    }
    return pages->bytes[at];
}

/* n bytes, or zeros where there are none. */
static void take_value(struct vm *vm, uint64_t address, void *bytes, size_t n)
{
    uint8_t *to = bytes;
    if (vm->library.pid == 0) {
        memcpy(bytes, (const void *)(uintptr_t)address, n);
        return;
    }
    memset(bytes, 0, n);
    for (size_t done = 0; done < n;) {
        const uint8_t *page = page_of(vm, address + done);
        size_t at = (address + done) % VM_PAGE_BYTES,
               piece = VM_PAGE_BYTES - at < n - done ? VM_PAGE_BYTES - at : n - done;
        if (page == NULL)
            return;
        memcpy(to + done, page + at, piece);
        done += piece;
    }
}

static uint64_t word(struct vm *vm, uint64_t address)
{
    uint64_t value;
    take_value(vm, address, &value, sizeof value);
    return value;
}

#define NAME_BYTES 128u /* of one that goes on in the next page; longer ones are cut: none that is asked for is */

/* A hash, with the text that a pointer at an address points to: 6,000 of them are read at once, in place. */
static uint64_t hash_at(struct vm *vm, uint64_t hash, uint64_t address)
{
    char bytes[NAME_BYTES];
    uint64_t start = word(vm, address);
    const char *text = (const char *)(uintptr_t)start;
    const uint8_t *page = vm->library.pid == 0 || start == 0 ? NULL : page_of(vm, start);
    size_t at = start % VM_PAGE_BYTES, left = VM_PAGE_BYTES - at;
    if (vm->library.pid == 0 && start != 0)
        return hash_text(hash, text, strlen(text));
    if (page != NULL && memchr(page + at, 0, left) != NULL)
        return hash_text(hash, (const char *)page + at, strlen((const char *)page + at));
    bytes[0] = '\0';
    if (page != NULL)
        take_value(vm, start, bytes, sizeof bytes);
    return hash_text(hash, bytes, strnlen(bytes, sizeof bytes - 1));
}

static bool get_symbol(struct vm *vm, void *library, const char *name, uint64_t *value)
{
    uint64_t symbol = vm->library.pid != 0 ? vm->library.symbol(vm->library.context, name)
                                           : (uint64_t)(uintptr_t)dlsym(library, name);
    *value = symbol == 0 ? 0 : word(vm, symbol);
    return symbol != 0;
}

/* ---- the tables ---- */

#define ENTRIES_MAX 65536u

enum vm_exports_table { VM_EXPORTS_FIELDS, VM_EXPORTS_TYPES, VM_EXPORTS_CONSTANTS, VM_EXPORTS_LONGS };

/* Of a field's columns. */
enum { VM_EXPORTS_OFFSET, VM_EXPORTS_ADDRESS };

/* As libjvm.so names what describes a table: what an entry is known by, and what it tells; NULL: there is no more. */
static const struct table_names {
    const char *start, *stride, *keys[2], *values[2];
} tables[] = {
    [VM_EXPORTS_FIELDS] = { "gHotSpotVMStructs",
                            "gHotSpotVMStructEntryArrayStride",
                            { "gHotSpotVMStructEntryTypeNameOffset", "gHotSpotVMStructEntryFieldNameOffset" },
                            { "gHotSpotVMStructEntryOffsetOffset", "gHotSpotVMStructEntryAddressOffset" } },
    [VM_EXPORTS_TYPES] = { "gHotSpotVMTypes",
                           "gHotSpotVMTypeEntryArrayStride",
                           { "gHotSpotVMTypeEntryTypeNameOffset", NULL },
                           { "gHotSpotVMTypeEntrySizeOffset", NULL } },
    [VM_EXPORTS_CONSTANTS] = { "gHotSpotVMIntConstants",
                               "gHotSpotVMIntConstantEntryArrayStride",
                               { "gHotSpotVMIntConstantEntryNameOffset", NULL },
                               { "gHotSpotVMIntConstantEntryValueOffset", NULL } },
    [VM_EXPORTS_LONGS] = { "gHotSpotVMLongConstants",
                           "gHotSpotVMLongConstantEntryArrayStride",
                           { "gHotSpotVMLongConstantEntryNameOffset", NULL },
                           { "gHotSpotVMLongConstantEntryValueOffset", NULL } },
};

#define N_TABLES (sizeof tables / sizeof *tables)

_Static_assert(N_TABLES == VM_EXPORTS, "a table each");

static uint64_t key_of(const char *type, const char *name)
{
    uint64_t hash = hash_text(HASH_START, type, strlen(type));
    return name == NULL ? hash : hash_text(hash, name, strlen(name));
}

static bool get_columns(struct vm *vm, void *library, const char *const names[2], uint64_t columns[2])
{
    return get_symbol(vm, library, names[0], &columns[0]) &&
           (names[1] == NULL || get_symbol(vm, library, names[1], &columns[1]));
}

/* Of two entries of one name the first counts. */
static void read_entries(struct vm *vm, struct vm_exported_table *table, bool has_two_keys)
{
    for (uint32_t i = 0; i < ENTRIES_MAX; i++) {
        uint64_t entry = table->start + i * table->stride;
        if (word(vm, entry + table->keys[0]) == 0)
            return;
        uint64_t key = hash_at(vm, HASH_START, entry + table->keys[0]);
        if (has_two_keys)
            key = hash_at(vm, key, entry + table->keys[1]);
        struct hash_slot *slot = hash_put(&table->entries, key);
        if (slot != NULL && slot->value == 0)
            slot->value = i + 1;
    }
}

/* One in which nothing is yet is looked at again the next time. */
static void read_table(struct vm *vm, struct vm_exported_table *table, const struct table_names *names)
{
    void *library = vm->library.pid != 0 ? NULL : dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
    if (vm->library.pid == 0 && library == NULL)
        return;
    if (get_symbol(vm, library, names->start, &table->start) &&
        get_symbol(vm, library, names->stride, &table->stride) && get_columns(vm, library, names->keys, table->keys) &&
        get_columns(vm, library, names->values, table->values))
        read_entries(vm, table, names->keys[1] != NULL);
    if (library != NULL)
        dlclose(library);
}

/* Where an entry's value is; 0: there is no such entry. */
static uint64_t find_value(struct vm *vm, enum vm_exports_table which, const char *type, const char *name,
                           size_t column)
{
    struct vm_exported_table *table = &vm->exported[which];
    if (table->entries.n_used == 0)
        read_table(vm, table, &tables[which]);
    const struct hash_slot *slot = table->entries.n_used == 0 ? NULL : hash_get(&table->entries, key_of(type, name));
    return slot == NULL || slot->value == 0 ? 0
                                            : table->start + (slot->value - 1) * table->stride + table->values[column];
}

struct vm_export {
    enum vm_exports_table table;
    const char *type, *name; /* name: of a field, else NULL */
    size_t column;
};

/* n bytes of what an entry tells.  Returns whether there is one. */
static bool get_value(struct vm *vm, const struct vm_export *named, void *value, size_t n)
{
    pthread_mutex_lock(&vm->lock);
    uint64_t at = find_value(vm, named->table, named->type, named->name, named->column);
    if (at != 0)
        take_value(vm, at, value, n);
    pthread_mutex_unlock(&vm->lock);
    return at != 0;
}

/* ---- the layout ---- */

bool vm_fields_find(struct vm *vm, struct vm_field *fields, size_t n)
{
    bool are_found = true;
    for (size_t k = 0; k < n; k++)
        *fields[k].value = VM_NONE;
    for (size_t k = 0; k < n; k++) {
        const struct vm_export named = { VM_EXPORTS_FIELDS, fields[k].type, fields[k].field,
                                         fields[k].is_static ? VM_EXPORTS_ADDRESS : VM_EXPORTS_OFFSET };
        if (*fields[k].value == VM_NONE)
            get_value(vm, &named, fields[k].value, sizeof *fields[k].value);
    }
    for (size_t k = 0; k < n; k++)
        are_found = are_found && *fields[k].value != VM_NONE;
    return are_found;
}

uint64_t vm_type_bytes(struct vm *vm, const char *name)
{
    uint64_t size = VM_NONE;
    get_value(vm, &(struct vm_export){ .table = VM_EXPORTS_TYPES, .type = name }, &size, sizeof size);
    return size;
}

bool vm_constant(struct vm *vm, const char *name, int32_t *value)
{
    uint64_t wide;
    if (get_value(vm, &(struct vm_export){ .table = VM_EXPORTS_CONSTANTS, .type = name }, value, sizeof *value))
        return true;
    if (!get_value(vm, &(struct vm_export){ .table = VM_EXPORTS_LONGS, .type = name }, &wide, sizeof wide))
        return false;
    *value = (int32_t)wide;
    return true;
}

uint32_t vm_release(struct vm *vm)
{
    uint64_t address, major;
    uint32_t release;
    uint8_t of_jdk;
    struct vm_field jdk[] = { { "JDK_Version", "_current", &address, true },
                              { "JDK_Version", "_major", &major, false } };
    if (vm_fields_find(vm, jdk, 2)) /* JDK 8 calls its VM 25 */
        return vm_read(vm, address + major, &of_jdk, sizeof of_jdk) ? of_jdk : 0;
    struct vm_field field = { "Abstract_VM_Version", "_vm_major_version", &address, true };
    return vm_fields_find(vm, &field, 1) && vm_read(vm, address, &release, sizeof release) ? release : 0;
}

uint32_t vm_excluded_digits(struct vm *vm)
{
    if (vm->digits == VM_DIGITS_GUESSED)
        vm->digits = vm_release(vm) >= 20 ? VM_DIGITS_FROM_1 : VM_DIGITS_FROM_0;
    return vm->digits == VM_DIGITS_FROM_1;
}

void vm_exclude_digits(struct vm *vm, uint32_t excluded)
{
    vm->digits = excluded == 0 ? VM_DIGITS_FROM_0 : VM_DIGITS_FROM_1;
}
