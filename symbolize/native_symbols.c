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

struct native_symbols {
    struct arena arena;
    struct native_symbol *all; /* owned; sorted by offset, one for each */
    size_t n, room;
    const char *from;
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

static void find_pieces(struct native_symbols *symbols, Elf *elf)
{
    size_t n = 0;
    GElf_Phdr header;
    if (elf_getphdrnum(elf, &n) < 0)
        return;
    for (size_t i = 0; i < n && symbols->n_pieces < PIECES_MAX; i++) {
        if (gelf_getphdr(elf, (int)i, &header) == NULL || header.p_type != PT_LOAD || !(header.p_flags & PF_X))
            continue;
        symbols->pieces[symbols->n_pieces].address = header.p_vaddr;
        symbols->pieces[symbols->n_pieces].n_bytes = header.p_filesz;
        symbols->pieces[symbols->n_pieces++].offset = header.p_offset;
    }
}

/* Returns 0, or -1: no memory. */
static int add(struct native_symbols *symbols, const GElf_Sym *symbol, const char *name)
{
    if (symbols->n == symbols->room) {
        size_t room = symbols->room == 0 ? 1024 : symbols->room * 2;
        struct native_symbol *all = realloc(symbols->all, room * sizeof *all);
        if (all == NULL)
            return -1;
        symbols->all = all;
        symbols->room = room;
    }
    for (size_t i = 0; i < symbols->n_pieces; i++) {
        uint64_t at = symbol->st_value - symbols->pieces[i].address;
        if (symbol->st_value < symbols->pieces[i].address || at >= symbols->pieces[i].n_bytes)
            continue;
        char *copy = arena_text(&symbols->arena, name, strlen(name));
        if (copy == NULL)
            return -1;
        symbols->all[symbols->n++] = (struct native_symbol){ symbols->pieces[i].offset + at, symbol->st_size, copy };
        return 0;
    }
    return 0;
}

static int take_table(struct native_symbols *symbols, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = data == NULL || header->sh_entsize == 0 ? 0 : header->sh_size / header->sh_entsize;
    for (size_t i = 0; i < n && i <= INT32_MAX; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) == NULL)
            break;
        int type = GELF_ST_TYPE(symbol.st_info);
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF && name != NULL &&
            name[0] != '\0' && add(symbols, &symbol, name) < 0)
            return -1;
    }
    return 0;
}

/* The table of a type (SHT_SYMTAB, SHT_DYNSYM).  Returns 0, also without one, or -1: no memory. */
static int take_tables(struct native_symbols *symbols, Elf *elf, uint32_t type)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) != NULL && header.sh_type == type &&
            take_table(symbols, elf, section, &header) < 0)
            return -1;
    return 0;
}

/* Of two names for the same code the longer function counts, then the first name. */
static int by_offset(const void *a, const void *b)
{
    const struct native_symbol *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->n_bytes != y->n_bytes)
        return x->n_bytes > y->n_bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void sort(struct native_symbols *symbols)
{
    size_t n = 0;
    if (symbols->n > 0)
        qsort(symbols->all, symbols->n, sizeof *symbols->all, by_offset);
    for (size_t i = 0; i < symbols->n; i++)
        if (i == 0 || symbols->all[i].offset != symbols->all[n - 1].offset)
            symbols->all[n++] = symbols->all[i];
    symbols->n = n;
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

/* ---- opening ---- */

/* Returns 0, or -1: no memory. */
static int take_all(struct native_symbols *symbols, const struct elf_file *file, const char *build_id,
                    const char *roots)
{
    struct elf_file debug = { .fd = -1 };
    find_pieces(symbols, file->elf);
    symbols->from = ".symtab";
    if (take_tables(symbols, file->elf, SHT_SYMTAB) < 0)
        return -1;
    if (symbols->n == 0 && find_debug(&debug, file, build_id, roots)) {
        symbols->from = arena_printf(&symbols->arena, ".symtab of %s", debug.path);
        int rc = take_tables(symbols, debug.elf, SHT_SYMTAB);
        close_file(&debug);
        if (rc < 0 || symbols->from == NULL)
            return -1;
    }
    if (symbols->n == 0) {
        symbols->from = ".dynsym (exported functions only)";
        if (take_tables(symbols, file->elf, SHT_DYNSYM) < 0)
            return -1;
    }
    if (symbols->n == 0)
        symbols->from = "none";
    sort(symbols);
    return 0;
}

int native_symbols_open(struct native_symbols **result, const char *path, const char *build_id, const char *debug,
                        struct err *err)
{
    struct native_symbols *symbols = calloc(1, sizeof *symbols);
    struct elf_file file = { .fd = -1 };
    char id[JVM_BUILD_ID_BYTES];
    int rc = -1;
    *result = NULL;
    if (symbols == NULL)
        return err_set(err, "no memory for the symbols of '%s'", path);
    if (open_file(&file, path) < 0)
        err_set(err, "cannot read the symbols of '%s': %s", path,
                errno == ENOEXEC ? "it is no ELF file" : strerror(errno));
    else if (jvm_build_id(path, id) < 0 || (build_id[0] != '\0' && strcmp(id, build_id) != 0))
        err_set(err, "'%s' is another build than the one that ran", path);
    else if (take_all(symbols, &file, id, debug) < 0)
        err_set(err, "no memory for the symbols of '%s'", path);
    else
        rc = 0;
    if (file.fd >= 0)
        close_file(&file);
    if (rc == 0)
        *result = symbols;
    else
        native_symbols_close(symbols);
    return rc;
}

void native_symbols_close(struct native_symbols *symbols)
{
    if (symbols == NULL)
        return;
    arena_free(&symbols->arena);
    free(symbols->all);
    free(symbols);
}

const char *native_symbols_from(const struct native_symbols *symbols)
{
    return symbols->from;
}

size_t native_symbols_n(const struct native_symbols *symbols)
{
    return symbols->n;
}

const struct native_symbol *native_symbols_find(const struct native_symbols *symbols, uint64_t offset)
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
