#include "symbolize/native_symbols.h"

#include "core/jvm/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <zlib.h>

#define PIECES_MAX 64

/* A file that is open, or has fd -1. */
struct elf_file {
    int fd;
    Elf *elf;
    char path[4096];
};

/* The best so far of the functions that begin between an offset that is asked for, inclusive, and the one before. */
struct nearest {
    uint64_t asked;
    struct native_symbol symbol; /* name: the file's; NULL: there is none */
};

struct symbol_search {
    struct arena *arena;
    struct nearest *all; /* the arena's; by what was asked, one for each */
    size_t n;
    uint64_t n_functions; /* of the table */
    /* From addresses to offsets in the file: what is loaded. */
    struct {
        uint64_t address, n_bytes, offset;
    } pieces[PIECES_MAX];
    size_t n_pieces;
};

static void close_file(struct elf_file *file)
{
    if (file->elf != NULL)
        elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
    file->elf = NULL;
    file->fd = -1;
}

/* Returns 0, or -1: there is none, or it is no ELF file. */
static int open_file(struct elf_file *file, const char *path)
{
    snprintf(file->path, sizeof file->path, "%s", path);
    file->elf = NULL;
    file->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0 || elf_version(EV_CURRENT) == EV_NONE)
        return -1;
    file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
    if (file->elf != NULL && elf_kind(file->elf) == ELF_K_ELF)
        return 0;
    errno = ENOEXEC;
    close_file(file);
    return -1;
}

/* ---- one table ---- */

static void find_pieces(struct symbol_search *search, Elf *elf)
{
    size_t n = 0;
    GElf_Phdr header;
    if (elf_getphdrnum(elf, &n) < 0)
        return;
    for (size_t i = 0; i < n && search->n_pieces < PIECES_MAX; i++) {
        if (gelf_getphdr(elf, (int)i, &header) == NULL || header.p_type != PT_LOAD || !(header.p_flags & PF_X))
            continue;
        search->pieces[search->n_pieces].address = header.p_vaddr;
        search->pieces[search->n_pieces].n_bytes = header.p_filesz;
        search->pieces[search->n_pieces++].offset = header.p_offset;
    }
}

/* Returns whether it is loaded. */
static bool to_offset(const struct symbol_search *search, uint64_t address, uint64_t *offset)
{
    for (size_t i = 0; i < search->n_pieces; i++) {
        uint64_t at = address - search->pieces[i].address;
        *offset = search->pieces[i].offset + at;
        if (address >= search->pieces[i].address && at < search->pieces[i].n_bytes)
            return true;
    }
    return false;
}

/* The first that was asked for from here on; n: there is none. */
static size_t first_from(const struct symbol_search *search, uint64_t offset)
{
    size_t low = 0, high = search->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (search->all[middle].asked < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of two names for the same code the longer function counts, then the first name. */
static bool is_better(const struct native_symbol *new, const struct native_symbol *old)
{
    if (old->name == NULL || new->offset != old->offset)
        return old->name == NULL || new->offset > old->offset;
    if (new->n_bytes != old->n_bytes)
        return new->n_bytes > old->n_bytes;
    return strcmp(new->name, old->name) < 0;
}

static void take_symbol(struct symbol_search *search, const GElf_Sym *symbol, const char *name)
{
    struct native_symbol new = { .n_bytes = symbol->st_size, .name = name };
    if (!to_offset(search, symbol->st_value, &new.offset))
        return;
    size_t at = first_from(search, new.offset);
    search->n_functions++;
    if (at < search->n && is_better(&new, &search->all[at].symbol))
        search->all[at].symbol = new;
}

static void take_table(struct symbol_search *search, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = data == NULL || header->sh_entsize == 0 ? 0 : header->sh_size / header->sh_entsize;
    for (size_t i = 0; i < n && i <= INT32_MAX; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) == NULL)
            break;
        int type = GELF_ST_TYPE(symbol.st_info);
        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF)
            continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (name != NULL && name[0] != '\0')
            take_symbol(search, &symbol, name);
    }
}

/* The table of a type (SHT_SYMTAB, SHT_DYNSYM). */
static void take_tables(struct symbol_search *search, Elf *elf, uint32_t type)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) != NULL && header.sh_type == type)
            take_table(search, elf, section, &header);
}

/* ---- separate files ---- */

/* Is it the debug file of that build (by its id), or of that checksum? */
static bool is_the_one(const struct elf_file *file, const char *build_id, const uint32_t *crc)
{
    char id[JVM_BUILD_ID_BYTES];
    uint8_t piece[16384];
    ssize_t n;
    off_t at = 0;
    uLong sum = crc32(0, NULL, 0);
    if (crc == NULL)
        return jvm_build_id(file->path, id) == 0 && strcmp(id, build_id) == 0;
    for (; (n = pread(file->fd, piece, sizeof piece, at)) > 0; at += n)
        sum = crc32(sum, piece, (uInt)n);
    return n == 0 && (uint32_t)sum == *crc;
}

static bool try_debug(struct elf_file *file, const char *path, const char *build_id, const uint32_t *crc)
{
    if (open_file(file, path) < 0)
        return false;
    if (is_the_one(file, build_id, crc))
        return true;
    close_file(file);
    return false;
}

static bool find_by_id(struct elf_file *debug, const char *build_id, const char *root, size_t n_root)
{
    char path[4096];
    if (strlen(build_id) < 3)
        return false;
    snprintf(path, sizeof path, "%.*s/.build-id/%.2s/%s.debug", (int)n_root, root, build_id, build_id + 2);
    return try_debug(debug, path, build_id, NULL);
}

/* Beside the file, below .debug there, and in the same directory below the root. */
static bool find_by_link(struct elf_file *debug, const struct elf_file *file, const char *root, size_t n_root)
{
    char path[8300];
    GElf_Word crc = 0;
    const char *name = dwelf_elf_gnu_debuglink(file->elf, &crc), *slash = strrchr(file->path, '/');
    int n = slash == NULL ? 0 : (int)(slash - file->path);
    const uint32_t sum = crc;
    if (name == NULL || strchr(name, '/') != NULL)
        return false;
    snprintf(path, sizeof path, "%.*s/%s", n, file->path, name);
    if (strcmp(path, file->path) != 0 && try_debug(debug, path, "", &sum))
        return true;
    snprintf(path, sizeof path, "%.*s/.debug/%s", n, file->path, name);
    if (try_debug(debug, path, "", &sum))
        return true;
    snprintf(path, sizeof path, "%.*s%.*s/%s", (int)n_root, root, n, file->path, name);
    return try_debug(debug, path, "", &sum);
}

static bool find_debug(struct elf_file *debug, const struct elf_file *file, const char *build_id, const char *roots)
{
    for (const char *root = roots; *root != '\0';) {
        size_t n = strcspn(root, ":");
        if (find_by_id(debug, build_id, root, n) || find_by_link(debug, file, root, n))
            return true;
        root += n + (root[n] == ':');
    }
    return false;
}

/* ---- all tables ---- */

/*
 * A function that begins before two of the offsets is kept with the first only.  Returns 0, or -1: no memory.
 */
static int take_found(const struct symbol_search *search, struct native_symbols *symbols)
{
    struct native_symbol *all = arena_alloc(search->arena, (search->n + 1) * sizeof *all);
    const struct native_symbol *nearest = NULL;
    if (all == NULL)
        return -1;
    symbols->all = all;
    for (size_t i = 0; i < search->n; i++) {
        const struct nearest *asked = &search->all[i];
        nearest = asked->symbol.name == NULL ? nearest : &asked->symbol;
        if (nearest == NULL || asked->asked - nearest->offset >= nearest->n_bytes ||
            (symbols->n > 0 && all[symbols->n - 1].offset == nearest->offset))
            continue;
        struct native_symbol found = *nearest;
        found.name = arena_text(search->arena, nearest->name, strlen(nearest->name));
        if (found.name == NULL)
            return -1;
        all[symbols->n++] = found;
    }
    return 0;
}

/* Returns 0, or -1: no memory. */
static int find_all(struct symbol_search *search, const struct elf_file *file, const char *build_id, const char *roots,
                    struct native_symbols *symbols)
{
    struct elf_file debug = { .fd = -1 };
    find_pieces(search, file->elf);
    symbols->from = ".symtab";
    take_tables(search, file->elf, SHT_SYMTAB);
    if (search->n_functions == 0 && find_debug(&debug, file, build_id, roots)) {
        symbols->from = arena_printf(search->arena, ".symtab of %s", debug.path);
        take_tables(search, debug.elf, SHT_SYMTAB);
    }
    if (search->n_functions == 0) {
        symbols->from = ".dynsym (exported functions only)";
        take_tables(search, file->elf, SHT_DYNSYM);
    }
    if (search->n_functions == 0)
        symbols->from = "none";
    int rc = symbols->from == NULL ? -1 : take_found(search, symbols);
    if (debug.fd >= 0)
        close_file(&debug);
    return rc;
}

static int by_asked(const void *a, const void *b)
{
    const struct nearest *x = a, *y = b;
    return x->asked < y->asked ? -1 : x->asked > y->asked;
}

static bool prepare(struct symbol_search *search, const uint64_t *offsets, size_t n)
{
    search->all = arena_alloc(search->arena, (n + 1) * sizeof *search->all);
    if (search->all == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        search->all[i].asked = offsets[i];
    qsort(search->all, n, sizeof *search->all, by_asked);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || search->all[i].asked != search->all[search->n - 1].asked)
            search->all[search->n++].asked = search->all[i].asked;
    return true;
}

int native_symbols_find(struct arena *arena, const char *path, const char *build_id, const char *debug,
                        const uint64_t *offsets, size_t n, struct native_symbols *symbols, struct err *err)
{
    struct elf_file file = { .fd = -1 };
    struct symbol_search search = { .arena = arena };
    char id[JVM_BUILD_ID_BYTES];
    int rc = -1;
    memset(symbols, 0, sizeof *symbols);
    if (open_file(&file, path) < 0)
        err_set(err, "cannot read the symbols of '%s': %s", path,
                errno == ENOEXEC ? "it is no ELF file" : strerror(errno));
    else if (jvm_build_id(path, id) < 0 || (build_id[0] != '\0' && strcmp(id, build_id) != 0))
        err_set(err, "'%s' is another build than the one that ran", path);
    else if (!prepare(&search, offsets, n) || find_all(&search, &file, id, debug, symbols) < 0)
        err_set(err, "out of memory for the symbols of '%s'", path);
    else
        rc = 0;
    if (file.fd >= 0)
        close_file(&file);
    return rc;
}

const struct native_symbol *native_symbols_at(const struct native_symbols *symbols, uint64_t offset)
{
    size_t low = 0, high = symbols->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols->all[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || offset - symbols->all[low - 1].offset >= symbols->all[low - 1].n_bytes)
        return NULL;
    return &symbols->all[low - 1];
}
