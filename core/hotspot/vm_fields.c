#include "core/hotspot/vm_fields.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE_BYTES 4096u
#define SOME_MAX   (8 * PAGE_BYTES)

/* ---- whose ---- */

static struct vm_library other; /* pid 0: this process is the JVM */

void vm_fields_use(const struct vm_library *library)
{
    other = *library;
}

/* Some pieces, one behind the other, up to the first that is not there.  Returns how many bytes they are, or -1. */
static ssize_t read_all(const struct iovec *there, size_t n, void *bytes, size_t n_bytes)
{
    struct iovec here = { bytes, n_bytes };
    size_t done = 0;
    if (other.read == NULL)
        return process_vm_readv(other.pid != 0 ? other.pid : getpid(), &here, 1, there, n, 0);
    for (size_t i = 0; i < n && other.read((uintptr_t)there[i].iov_base, (char *)bytes + done, there[i].iov_len); i++)
        done += there[i].iov_len;
    return (ssize_t)done;
}

/* ---- reading ---- */

static struct {
    _Atomic uint64_t low, high;
} in_place[VM_RANGES];

void vm_read_in_place(size_t which, uint64_t low, uint64_t high)
{
    if (other.pid != 0)
        return;
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
    struct iovec there[SOME_MAX / PAGE_BYTES + 1];
    size_t n_pieces = 0;
    if (read_in_place(&(struct vm_piece){ address, n }, 1, bytes))
        return n;
    for (size_t done = 0; done < n && n_pieces < sizeof there / sizeof *there;) {
        size_t left = PAGE_BYTES - (address + done) % PAGE_BYTES, piece = left < n - done ? left : n - done;
        there[n_pieces++] = (struct iovec){ (void *)(uintptr_t)(address + done), piece };
        done += piece;
    }
    ssize_t got = read_all(there, n_pieces, bytes, n);
    return got < 0 ? 0 : (size_t)got;
}

bool vm_read_u64(uint64_t address, uint64_t *value)
{
    return vm_read(address, value, sizeof *value);
}

bool vm_read_pieces(const struct vm_piece *pieces, size_t n_pieces, void *bytes)
{
    struct iovec there[VM_PIECES_MAX];
    size_t n_bytes = 0;
    if (n_pieces > VM_PIECES_MAX)
        return false;
    if (read_in_place(pieces, n_pieces, bytes))
        return true;
    for (size_t i = 0; i < n_pieces; i++) {
        there[i] = (struct iovec){ (void *)(uintptr_t)pieces[i].address, pieces[i].n_bytes };
        n_bytes += pieces[i].n_bytes;
    }
    return read_all(there, n_pieces, bytes, n_bytes) == (ssize_t)n_bytes;
}

#define PIECES_AT_ONCE 128u

/* One that is not there ends a call: it is left out of the next one.  Returns how many bytes they are. */
static size_t read_at_once(const struct vm_piece *pieces, size_t n, char *bytes)
{
    struct iovec there[PIECES_AT_ONCE];
    size_t n_bytes = 0, done = 0;
    for (size_t i = 0; i < n; i++) {
        there[i] = (struct iovec){ (void *)(uintptr_t)pieces[i].address, pieces[i].n_bytes };
        n_bytes += pieces[i].n_bytes;
    }
    if (read_in_place(pieces, n, bytes))
        return n_bytes;
    for (size_t i = 0; i < n; i++) {
        ssize_t got = read_all(there + i, n - i, bytes + done, n_bytes - done);
        for (size_t end = done + (got < 0 ? 0 : (size_t)got); i < n && pieces[i].n_bytes <= end - done; i++)
            done += pieces[i].n_bytes;
        if (i == n)
            break;
        memset(bytes + done, 0, pieces[i].n_bytes);
        done += pieces[i].n_bytes;
    }
    return n_bytes;
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

/* Of another process, pages of its libjvm.so are kept: tables have thousands of entries. */
#define PAGES 1024u

/* Each is a page here, too: one page fault each. */
static const uint8_t *page_of(uint64_t address)
{
    static uint64_t starts[PAGES]; /* plus 1 */
    static uint8_t(*pages)[PAGE_BYTES];
    uint64_t start = address - address % PAGE_BYTES, at = start / PAGE_BYTES % PAGES;
    if (pages == NULL)
        pages = aligned_alloc(PAGE_BYTES, sizeof *pages * PAGES);
    if (pages == NULL)
        return NULL;
    if (starts[at] != start + 1) {
        starts[at] = 0;
        if (!vm_read(start, pages[at], PAGE_BYTES))
            return NULL;
        starts[at] = start + 1;
    }
    return pages[at];
}

/* n bytes, or zeros where there are none. */
static void take_value(uint64_t address, void *bytes, size_t n)
{
    uint8_t *to = bytes;
    if (other.pid == 0) {
        memcpy(bytes, (const void *)(uintptr_t)address, n);
        return;
    }
    memset(bytes, 0, n);
    for (size_t done = 0; done < n;) {
        const uint8_t *page = page_of(address + done);
        size_t at = (address + done) % PAGE_BYTES, piece = PAGE_BYTES - at < n - done ? PAGE_BYTES - at : n - done;
        if (page == NULL)
            return;
        memcpy(to + done, page + at, piece);
        done += piece;
    }
}

static uint64_t word(uint64_t address)
{
    uint64_t value;
    take_value(address, &value, sizeof value);
    return value;
}

#define NAME_BYTES 128u /* longer names are cut: none that is asked for is */

/* The text that a pointer at an address points to; of another process' in 'bytes'. */
static const char *text_of(uint64_t address, char bytes[NAME_BYTES])
{
    uint64_t start = word(address);
    bytes[0] = bytes[NAME_BYTES - 1] = '\0';
    if (start == 0)
        return bytes;
    if (other.pid == 0)
        return (const char *)(uintptr_t)start;
    take_value(start, bytes, NAME_BYTES - 1);
    return bytes;
}

static bool get_symbol(void *library, const char *name, uint64_t *value)
{
    uint64_t symbol = other.pid != 0 ? other.symbol(other.context, name) : (uint64_t)(uintptr_t)dlsym(library, name);
    *value = symbol == 0 ? 0 : word(symbol);
    return symbol != 0;
}

/* Returns what get_symbol needs in this process; *is_there: there is a libjvm.so. */
static void *open_library(bool *is_there)
{
    void *library = other.pid != 0 ? NULL : dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
    *is_there = other.pid != 0 || library != NULL;
    return library;
}

static void close_library(void *library)
{
    if (library != NULL)
        dlclose(library);
}

struct field_table {
    uint64_t start, stride, type, field, offset, address;
};

static bool open_table(void *library, struct field_table *table)
{
    return get_symbol(library, "gHotSpotVMStructs", &table->start) &&
           get_symbol(library, "gHotSpotVMStructEntryArrayStride", &table->stride) &&
           get_symbol(library, "gHotSpotVMStructEntryTypeNameOffset", &table->type) &&
           get_symbol(library, "gHotSpotVMStructEntryFieldNameOffset", &table->field) &&
           get_symbol(library, "gHotSpotVMStructEntryOffsetOffset", &table->offset) &&
           get_symbol(library, "gHotSpotVMStructEntryAddressOffset", &table->address);
}

static size_t take_entry(const struct field_table *table, uint64_t entry, struct vm_field *fields, size_t n)
{
    char bytes[2][NAME_BYTES];
    const char *type = text_of(entry + table->type, bytes[0]);
    size_t n_found = 0;
    for (size_t k = 0; k < n; k++)
        if (*fields[k].value == VM_NONE && strcmp(type, fields[k].type) == 0 &&
            strcmp(text_of(entry + table->field, bytes[1]), fields[k].field) == 0) {
            *fields[k].value = word(entry + (fields[k].is_static ? table->address : table->offset));
            n_found++;
        }
    return n_found;
}

bool vm_fields_find(struct vm_field *fields, size_t n)
{
    bool is_there;
    void *library = open_library(&is_there);
    struct field_table table;
    size_t n_found = 0;
    for (size_t k = 0; k < n; k++)
        *fields[k].value = VM_NONE;
    if (is_there && open_table(library, &table))
        for (uint64_t entry = table.start; word(entry + table.type) != 0 && n_found < n; entry += table.stride)
            n_found += take_entry(&table, entry, fields, n);
    close_library(library);
    return n_found == n;
}

/* A table with a name and a number in each entry; the address of the number, or 0: it has no such name. */
static uint64_t find_named(const char *start, const char *stride, const char *name_at, const char *value_at,
                           const char *name)
{
    uint64_t entry, step, at, value, found = 0;
    char bytes[NAME_BYTES];
    bool is_there;
    void *library = open_library(&is_there);
    if (is_there && get_symbol(library, start, &entry) && get_symbol(library, stride, &step) &&
        get_symbol(library, name_at, &at) && get_symbol(library, value_at, &value))
        for (; word(entry + at) != 0 && found == 0; entry += step)
            found = strcmp(text_of(entry + at, bytes), name) == 0 ? entry + value : 0;
    close_library(library);
    return found;
}

uint64_t vm_type_bytes(const char *name)
{
    uint64_t size = find_named("gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride", "gHotSpotVMTypeEntryTypeNameOffset",
                               "gHotSpotVMTypeEntrySizeOffset", name);
    return size == 0 ? VM_NONE : word(size);
}

bool vm_constant(const char *name, int32_t *value)
{
    uint64_t found = find_named("gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryArrayStride",
                                "gHotSpotVMIntConstantEntryNameOffset", "gHotSpotVMIntConstantEntryValueOffset", name);
    if (found != 0)
        take_value(found, value, sizeof *value);
    return found != 0;
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
