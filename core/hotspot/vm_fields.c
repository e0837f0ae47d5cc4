#include "core/hotspot/vm_fields.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE_BYTES 4096u
#define SOME_MAX   (8 * PAGE_BYTES)

/* ---- reading ---- */

static struct {
    _Atomic uint64_t low, high;
} in_place[VM_RANGES];

void vm_read_in_place(size_t which, uint64_t low, uint64_t high)
{
    atomic_store(&in_place[which].low, UINT64_MAX); /* nothing, until both are there: readers take the end first */
    atomic_store(&in_place[which].high, high);
    atomic_store(&in_place[which].low, low);
}

static bool is_in_place(uint64_t address, size_t n)
{
    for (size_t i = 0; i < VM_RANGES; i++) {
        uint64_t high = atomic_load(&in_place[i].high), low = atomic_load(&in_place[i].low);
        if (address >= low && address < high && n <= high - address)
            return true;
    }
    return false;
}

/* Returns false, with nothing read, where one of them is to be asked of the kernel. */
static bool read_in_place(const struct vm_piece *pieces, size_t n_pieces, char *bytes)
{
    for (size_t i = 0; i < n_pieces; i++)
        if (!is_in_place(pieces[i].address, pieces[i].n_bytes))
            return false;
    for (size_t i = 0; i < n_pieces; bytes += pieces[i++].n_bytes)
        memcpy(bytes, (const void *)(uintptr_t)pieces[i].address, pieces[i].n_bytes);
    return true;
}

bool vm_read(uint64_t address, void *bytes, size_t n)
{
    return vm_read_pieces(&(struct vm_piece){ address, n }, 1, bytes);
}

/* The kernel leaves a piece out of which something is missing: pieces end where pages may. */
size_t vm_read_some(uint64_t address, void *bytes, size_t n)
{
    struct iovec here = { bytes, n }, there[SOME_MAX / PAGE_BYTES + 1];
    size_t n_pieces = 0;
    if (read_in_place(&(struct vm_piece){ address, n }, 1, bytes))
        return n;
    for (size_t done = 0; done < n && n_pieces < sizeof there / sizeof *there;) {
        size_t left = PAGE_BYTES - (address + done) % PAGE_BYTES, piece = left < n - done ? left : n - done;
        there[n_pieces++] = (struct iovec){ (void *)(uintptr_t)(address + done), piece };
        done += piece;
    }
    ssize_t got = process_vm_readv(getpid(), &here, 1, there, n_pieces, 0);
    return got < 0 ? 0 : (size_t)got;
}

bool vm_read_u64(uint64_t address, uint64_t *value)
{
    return vm_read(address, value, sizeof *value);
}

bool vm_read_pieces(const struct vm_piece *pieces, size_t n_pieces, void *bytes)
{
    struct iovec here = { bytes, 0 }, there[VM_PIECES_MAX];
    if (n_pieces > VM_PIECES_MAX)
        return false;
    if (read_in_place(pieces, n_pieces, bytes))
        return true;
    for (size_t i = 0; i < n_pieces; i++) {
        there[i] = (struct iovec){ (void *)(uintptr_t)pieces[i].address, pieces[i].n_bytes };
        here.iov_len += pieces[i].n_bytes;
    }
    return process_vm_readv(getpid(), &here, 1, there, n_pieces, 0) == (ssize_t)here.iov_len;
}

#define PIECES_AT_ONCE 128u

/* One that is not there ends the call: then each is read by itself.  Returns how many bytes they are. */
static size_t read_at_once(const struct vm_piece *pieces, size_t n, char *bytes)
{
    struct iovec here = { bytes, 0 }, there[PIECES_AT_ONCE];
    for (size_t i = 0; i < n; i++) {
        there[i] = (struct iovec){ (void *)(uintptr_t)pieces[i].address, pieces[i].n_bytes };
        here.iov_len += pieces[i].n_bytes;
    }
    if (read_in_place(pieces, n, bytes) || process_vm_readv(getpid(), &here, 1, there, n, 0) == (ssize_t)here.iov_len)
        return here.iov_len;
    for (size_t i = 0; i < n; i++) {
        if (!vm_read(pieces[i].address, bytes, pieces[i].n_bytes))
            memset(bytes, 0, pieces[i].n_bytes);
        bytes += pieces[i].n_bytes;
    }
    return here.iov_len;
}

void vm_read_each(const struct vm_piece *pieces, size_t n_pieces, void *bytes)
{
    char *to = bytes;
    for (size_t i = 0; i < n_pieces; i += PIECES_AT_ONCE)
        to += read_at_once(pieces + i, n_pieces - i < PIECES_AT_ONCE ? n_pieces - i : PIECES_AT_ONCE, to);
}

void vm_read_words(const uint64_t *addresses, size_t n, uint64_t *words)
{
    struct vm_piece pieces[PIECES_AT_ONCE];
    for (size_t i = 0; i < n; i += PIECES_AT_ONCE) {
        size_t now = n - i < PIECES_AT_ONCE ? n - i : PIECES_AT_ONCE;
        for (size_t k = 0; k < now; k++)
            pieces[k] = (struct vm_piece){ addresses[i + k], sizeof *words };
        read_at_once(pieces, now, (char *)(words + i));
    }
}

bool vm_read_text(uint64_t address, char *text, size_t n)
{
    uint64_t start;
    text[0] = '\0';
    if (!vm_read_u64(address, &start) || start == 0)
        return false;
    size_t got = vm_read_some(start, text, n);
    bool is_whole = memchr(text, '\0', got) != NULL;
    text[got < n ? got : n - 1] = '\0';
    return is_whole;
}

/* ---- the tables ---- */

static uint64_t word(uint64_t address)
{
    uint64_t value;
    memcpy(&value, (const void *)(uintptr_t)address, sizeof value);
    return value;
}

/* NULL: there is none. */
static const char *text(uint64_t address)
{
    return (const char *)(uintptr_t)word(address);
}

static bool get_symbol(void *library, const char *name, uint64_t *value)
{
    const void *symbol = dlsym(library, name);
    *value = symbol == NULL ? 0 : word((uint64_t)(uintptr_t)symbol);
    return symbol != NULL;
}

struct table {
    uint64_t start, stride, type, field, offset, address;
};

static bool open_table(void *library, struct table *table)
{
    return get_symbol(library, "gHotSpotVMStructs", &table->start) &&
           get_symbol(library, "gHotSpotVMStructEntryArrayStride", &table->stride) &&
           get_symbol(library, "gHotSpotVMStructEntryTypeNameOffset", &table->type) &&
           get_symbol(library, "gHotSpotVMStructEntryFieldNameOffset", &table->field) &&
           get_symbol(library, "gHotSpotVMStructEntryOffsetOffset", &table->offset) &&
           get_symbol(library, "gHotSpotVMStructEntryAddressOffset", &table->address);
}

static size_t take_entry(const struct table *table, uint64_t entry, struct vm_field *fields, size_t n)
{
    const char *type = text(entry + table->type), *name = text(entry + table->field);
    size_t n_found = 0;
    for (size_t k = 0; k < n && name != NULL; k++)
        if (*fields[k].value == VM_NONE && strcmp(type, fields[k].type) == 0 && strcmp(name, fields[k].field) == 0) {
            *fields[k].value = word(entry + (fields[k].is_static ? table->address : table->offset));
            n_found++;
        }
    return n_found;
}

bool vm_fields_find(struct vm_field *fields, size_t n)
{
    void *library = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
    struct table table;
    size_t n_found = 0;
    for (size_t k = 0; k < n; k++)
        *fields[k].value = VM_NONE;
    if (library == NULL)
        return false;
    if (open_table(library, &table))
        for (uint64_t entry = table.start; text(entry + table.type) != NULL && n_found < n; entry += table.stride)
            n_found += take_entry(&table, entry, fields, n);
    dlclose(library);
    return n_found == n;
}

static uint64_t find_size(void *library, const char *name)
{
    uint64_t entry, stride, type, size;
    if (!get_symbol(library, "gHotSpotVMTypes", &entry) ||
        !get_symbol(library, "gHotSpotVMTypeEntryArrayStride", &stride) ||
        !get_symbol(library, "gHotSpotVMTypeEntryTypeNameOffset", &type) ||
        !get_symbol(library, "gHotSpotVMTypeEntrySizeOffset", &size))
        return VM_NONE;
    for (; text(entry + type) != NULL; entry += stride)
        if (strcmp(text(entry + type), name) == 0)
            return word(entry + size);
    return VM_NONE;
}

uint64_t vm_type_bytes(const char *name)
{
    void *library = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return VM_NONE;
    uint64_t size = find_size(library, name);
    dlclose(library);
    return size;
}

uint32_t vm_release(void)
{
    uint64_t address;
    uint32_t release;
    struct vm_field field = { "Abstract_VM_Version", "_vm_major_version", &address, true };
    return vm_fields_find(&field, 1) && vm_read(address, &release, sizeof release) ? release : 0;
}

uint32_t vm_excluded_digits(void)
{
    return vm_release() >= 20;
}
