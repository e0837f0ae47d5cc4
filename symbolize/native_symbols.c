#include "symbolize/native_symbols.h"

#include "core/jvm/elf_file.h"

#include <fcntl.h>

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <zlib.h>

#define PIECES_MAX      64
#define SYMBOLS_AT_ONCE 1024
#define NAME_BYTES      8192 /* a longer name counts as none */

/* The best so far of the functions that begin between an offset that is asked for, inclusive, and the one before. */
struct nearest {
    uint64_t asked;
    struct native_symbol symbol; /* name: the arena's; NULL: there is none, or not read yet */
    uint32_t name_at;            /* where it is among the table's names; 0: it was read, or there is none */
};

/* Names of a table: few of them are read. */
struct symbol_names {
    int fd;
    uint64_t offset, n_bytes;
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

/* Returns "" where there is none. */
static const char *read_name(const struct symbol_names *names, uint32_t at, char name[NAME_BYTES])
{
    uint64_t most = names->n_bytes - at;
    ssize_t n = pread(names->fd, name, most < NAME_BYTES ? most : NAME_BYTES, (off_t)(names->offset + at));
    if (n <= 0 || memchr(name, '\0', (size_t)n) == NULL)
        name[0] = '\0';
    return name;
}

/* Of two names for the same code the longer function counts, then the first name. */
static bool is_better(const struct native_symbol *new, uint32_t name_at, const struct nearest *nearest,
                      const struct symbol_names *names)
{
    const struct native_symbol *old = &nearest->symbol;
    char name[NAME_BYTES], old_name[NAME_BYTES];
    if ((old->name == NULL && nearest->name_at == 0) || new->offset != old->offset)
        return (old->name == NULL && nearest->name_at == 0) || new->offset > old->offset;
    if (new->n_bytes != old->n_bytes)
        return new->n_bytes > old->n_bytes;
    return read_name(names, name_at, name)[0] != '\0' &&
           strcmp(name, nearest->name_at == 0 ? old->name : read_name(names, nearest->name_at, old_name)) < 0;
}

static void take_symbol(struct symbol_search *search, const Elf64_Sym *symbol, const struct symbol_names *names)
{
    struct native_symbol new = { .n_bytes = symbol->st_size };
    int type = ELF64_ST_TYPE(symbol->st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF || symbol->st_name == 0 ||
        symbol->st_name >= names->n_bytes || !to_offset(search, symbol->st_value, &new.offset))
        return;
    size_t at = first_from(search, new.offset);
    search->n_functions++;
    if (at == search->n || !is_better(&new, symbol->st_name, &search->all[at], names))
        return;
    search->all[at].symbol = new;
    search->all[at].name_at = symbol->st_name;
}

/* The best of this table get their names. */
static void take_names(struct symbol_search *search, const struct symbol_names *names)
{
    char name[NAME_BYTES];
    for (size_t i = 0; i < search->n; i++) {
        struct nearest *nearest = &search->all[i];
        if (nearest->name_at != 0 && read_name(names, nearest->name_at, name)[0] != '\0')
            nearest->symbol.name = arena_text(search->arena, name, strlen(name));
        nearest->name_at = 0;
    }
}

/* In pieces, and without libelf: of the 57,000 functions of a JVM some hundred are asked for. */
static void take_table(struct symbol_search *search, const struct elf_file *file, const GElf_Shdr *header)
{
    Elf64_Sym symbols[SYMBOLS_AT_ONCE];
    GElf_Shdr text;
    Elf_Scn *section = elf_getscn(file->elf, header->sh_link);
    if (section == NULL || gelf_getshdr(section, &text) == NULL)
        return;
    const struct symbol_names names = { file->fd, text.sh_offset, text.sh_size };
    for (uint64_t done = 0; done + sizeof *symbols <= header->sh_size;) {
        uint64_t left = header->sh_size - done;
        ssize_t n =
            pread(file->fd, symbols, left < sizeof symbols ? left : sizeof symbols, (off_t)(header->sh_offset + done));
        if (n < (ssize_t)sizeof *symbols)
            break;
        size_t n_symbols = (size_t)n / sizeof *symbols;
        for (size_t i = 0; i < n_symbols; i++)
            take_symbol(search, &symbols[i], &names);
        done += n_symbols * sizeof *symbols;
    }
    take_names(search, &names);
}

/* The table of a type (SHT_SYMTAB, SHT_DYNSYM). */
static void take_tables(struct symbol_search *search, const struct elf_file *file, uint32_t type)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_file_next(file, section, type, &header)) != NULL)
        take_table(search, file, &header);
}

/* ---- separate files ---- */

/* A file with debug information, and its path in the root directory that it is in. */
struct debug_file {
    struct elf_file file;
    char path[2 * PATH_MAX];
};

static bool has_checksum(const struct elf_file *file, uint32_t crc)
{
    uint8_t piece[16384];
    ssize_t n;
    off_t at = 0;
    uLong sum = crc32(0, NULL, 0);
    for (; (n = pread(file->fd, piece, sizeof piece, at)) > 0; at += n)
        sum = crc32(sum, piece, (uInt)n);
    return n == 0 && (uint32_t)sum == crc;
}

static bool has_build_id(const struct elf_file *file, const char *build_id)
{
    char id[JVM_BUILD_ID_BYTES];
    elf_file_build_id(file, id);
    return strcmp(id, build_id) == 0;
}

/* Is it the debug file of that build (by its id), or of that checksum? */
static bool try_debug(struct debug_file *debug, const struct jvm_root *root, const char *build_id, const uint32_t *crc)
{
    if (elf_file_open(&debug->file, jvm_root_file(root, debug->path)) < 0)
        return false;
    if (crc == NULL ? has_build_id(&debug->file, build_id) : has_checksum(&debug->file, *crc))
        return true;
    elf_file_close(&debug->file);
    return false;
}

static bool find_by_id(struct debug_file *debug, const struct jvm_root *root, const char *build_id, const char *place,
                       size_t n_place)
{
    if (strlen(build_id) < 3)
        return false;
    snprintf(debug->path, sizeof debug->path, "%.*s/.build-id/%.2s/%s.debug", (int)n_place, place, build_id,
             build_id + 2);
    return try_debug(debug, root, build_id, NULL);
}

/* Beside the file, below .debug there, and in the same directory below the place. */
static bool find_by_link(struct debug_file *debug, const struct jvm_file *file, Elf *elf, const char *place,
                         size_t n_place)
{
    GElf_Word crc = 0;
    const char *name = dwelf_elf_gnu_debuglink(elf, &crc),
               *slash = file->path == NULL ? NULL : strrchr(file->path, '/');
    int n = slash == NULL ? 0 : (int)(slash - file->path);
    const uint32_t sum = crc;
    if (name == NULL || slash == NULL || strchr(name, '/') != NULL)
        return false;
    snprintf(debug->path, sizeof debug->path, "%.*s/%s", n, file->path, name);
    if (strcmp(debug->path, file->path) != 0 && try_debug(debug, file->root, "", &sum))
        return true;
    snprintf(debug->path, sizeof debug->path, "%.*s/.debug/%s", n, file->path, name);
    if (try_debug(debug, file->root, "", &sum))
        return true;
    snprintf(debug->path, sizeof debug->path, "%.*s%.*s/%s", (int)n_place, place, n, file->path, name);
    return try_debug(debug, file->root, "", &sum);
}

/*
 * In the root directory of the file; by its build id, which is a number, on this machine, too.  No other path that the
 * file names is looked at here.
 */
static bool find_debug(struct debug_file *debug, const struct jvm_file *file, Elf *elf, const char *build_id,
                       const char *places)
{
    struct jvm_root own;
    bool is_found = false;
    if (jvm_root_own(&own) < 0)
        return false;
    for (const char *place = places; *place != '\0' && !is_found;) {
        size_t n = strcspn(place, ":");
        is_found = find_by_id(debug, file->root, build_id, place, n) || find_by_link(debug, file, elf, place, n) ||
                   find_by_id(debug, &own, build_id, place, n);
        place += n + (place[n] == ':');
    }
    jvm_root_close(&own);
    return is_found;
}

/* ---- all tables ---- */

/* A function that begins before two of the offsets is kept with the first only. */
static void take_found(const struct symbol_search *search, struct native_symbols *symbols)
{
    struct native_symbol *all = arena_alloc(search->arena, (search->n + 1) * sizeof *all);
    const struct native_symbol *nearest = NULL;
    symbols->all = all;
    for (size_t i = 0; i < search->n; i++) {
        const struct nearest *asked = &search->all[i];
        nearest = asked->symbol.name == NULL ? nearest : &asked->symbol;
        if (nearest == NULL || asked->asked - nearest->offset >= nearest->n_bytes ||
            (symbols->n > 0 && all[symbols->n - 1].offset == nearest->offset))
            continue;
        all[symbols->n++] = *nearest;
    }
}

static void find_all(struct symbol_search *search, const struct jvm_file *file, const struct elf_file *elf,
                     const char *build_id, const char *places, struct native_symbols *symbols)
{
    struct debug_file debug = { .file = ELF_FILE_NONE };
    find_pieces(search, elf->elf);
    symbols->from = ".symtab";
    take_tables(search, elf, SHT_SYMTAB);
    if (search->n_functions == 0 && find_debug(&debug, file, elf->elf, build_id, places)) {
        symbols->from = arena_printf(search->arena, ".symtab of %s", debug.path);
        take_tables(search, &debug.file, SHT_SYMTAB);
    }
    if (search->n_functions == 0) {
        symbols->from = ".dynsym (exported functions only)";
        take_tables(search, elf, SHT_DYNSYM);
    }
    if (search->n_functions == 0)
        symbols->from = "none";
    take_found(search, symbols);
    elf_file_close(&debug.file);
}

static int by_asked(const void *a, const void *b)
{
    const struct nearest *x = a, *y = b;
    return x->asked < y->asked ? -1 : x->asked > y->asked;
}

static void prepare(struct symbol_search *search, const uint64_t *offsets, size_t n)
{
    search->all = arena_alloc(search->arena, (n + 1) * sizeof *search->all);
    for (size_t i = 0; i < n; i++)
        search->all[i].asked = offsets[i];
    qsort(search->all, n, sizeof *search->all, by_asked);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || search->all[i].asked != search->all[search->n - 1].asked)
            search->all[search->n++].asked = search->all[i].asked;
}

int native_symbols_find(struct arena *arena, const struct jvm_file *file, const char *build_id, const char *debug,
                        const uint64_t *offsets, size_t n, struct native_symbols *symbols, struct err *err)
{
    struct elf_file elf;
    struct symbol_search search = { .arena = arena };
    const char *path = file->path == NULL ? "" : file->path;
    char id[JVM_BUILD_ID_BYTES];
    memset(symbols, 0, sizeof *symbols);
    if (elf_file_open(&elf, file->fd < 0 ? -1 : fcntl(file->fd, F_DUPFD_CLOEXEC, 0)) < 0)
        return err_set(err, "cannot read the symbols of '%s': %s", path, plain_file_why(errno));
    elf_file_build_id(&elf, id);
    bool is_other = build_id[0] != '\0' && strcmp(id, build_id) != 0;
    if (!is_other) {
        prepare(&search, offsets, n);
        find_all(&search, file, &elf, id, debug, symbols);
    }
    elf_file_close(&elf);
    return is_other ? err_set(err, "'%s' is another build than the one that ran", path) : 0;
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
