#include "core/hotspot/stack_walk_internal.h"
#include "core/base/xalloc.h"
#include "core/hotspot/vm.h"
#include "core/jvm/elf_file.h"
#include "core/jvm/maps.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <sys/mman.h>

#define RULES       (1u << 15) /* when half of them are used all are forgotten */
#define LIBRARIES   64u
#define LOADS_MAX   8u /* segments of a library */
#define VDSO_BYTES  ((uint64_t)64 << 10)
#define FRAMES_MAX  ((uint64_t)64 << 20)
#define PAGE_BYTES  4096u
#define HEAD_BYTES  PAGE_BYTES
#define TABLE_AT    12u /* in .eh_frame_hdr as linkers write it: */
#define ENTRY_BYTES 8u
#define ENCODINGS   UINT32_C(0x3b031b01) /* version 1; offsets of 4 bytes: from here, none, from the section's begin */

/* The numbers of a processor's registers in call frame information. */
struct registers {
    int fp, sp;
};

/*
 * Of what a library tells of its frames, 1.8 MB of libjvm.so, a few pages are needed: those are read into an image of a
 * file that has nothing else, in which libdw looks them up.  From .eh_frame_hdr, a table of what .eh_frame has, on.
 */
struct frames_image {
    int fd;                   /* -1: all is there */
    uint64_t offset, address; /* in the file; in its own address space */
    uint64_t n;
    uint8_t *bytes;   /* owned, mapped: HEAD_BYTES, then n bytes, then room for as many */
    uint8_t *is_read; /* owned, of each page of the n bytes */
};

struct library {
    const char *path; /* the maps' */
    uint64_t inode;
    GElf_Phdr loads[LOADS_MAX];
    size_t n_loads;
    Elf *elf;       /* NULL: it cannot be read */
    Dwarf_CFI *cfi; /* NULL: it has none */
    struct registers registers;
    struct frames_image image;
    char *bytes; /* owned: of one that is no file */
};

struct native_frames {
    struct vm *vm; /* borrowed */
    struct jvm_root root;
    struct jvm_maps maps;
    bool is_read; /* the maps, in this round */
    struct library libraries[LIBRARIES];
    size_t n_libraries;
    struct hash_set by_pc;     /* indexes in 'rules', plus 1 */
    struct native_rule *rules; /* owned */
    uint32_t n_rules;
};

struct native_frames *native_frames_open(struct vm *vm)
{
    struct native_frames *native = xcalloc(1, sizeof *native);
    native->rules = xcalloc(RULES, sizeof *native->rules);
    elf_version(EV_CURRENT);
    native->vm = vm;
    jvm_root_open(&native->root, vm_pid(vm)); /* without it the kernel may still show what is mapped */
    jvm_maps_init(&native->maps);
    return native;
}

static void close_library(struct library *library)
{
    struct frames_image *image = &library->image;
    if (library->cfi != NULL)
        dwarf_cfi_end(library->cfi);
    if (library->elf != NULL)
        elf_end(library->elf);
    if (image->bytes != NULL)
        munmap(image->bytes, HEAD_BYTES + 2 * image->n);
    if (image->fd >= 0)
        close(image->fd);
    free(image->is_read);
    free(library->bytes);
}

void native_frames_close(struct native_frames *native)
{
    if (native == NULL)
        return;
    for (size_t i = 0; i < native->n_libraries; i++)
        close_library(&native->libraries[i]);
    jvm_root_close(&native->root);
    jvm_maps_free(&native->maps);
    hash_free(&native->by_pc);
    free(native->rules);
    free(native);
}

static void forget(struct native_frames *native)
{
    if (native->n_rules == 0)
        return;
    hash_clear(&native->by_pc);
    native->n_rules = 0;
}

void native_frames_round(struct native_frames *native)
{
    native->is_read = false;
    if (native->n_rules >= RULES / 2)
        forget(native);
}

/* ---- what a library tells ---- */

/* Some of it; what the file does not have is 0. */
static void read_image(struct frames_image *image, uint64_t at, uint64_t n)
{
    for (uint64_t page = at / PAGE_BYTES; image->fd >= 0 && page * PAGE_BYTES < at + n && page * PAGE_BYTES < image->n;
         page++) {
        uint64_t begin = page * PAGE_BYTES, left = image->n - begin;
        if (!image->is_read[page] && pread(image->fd, image->bytes + HEAD_BYTES + begin,
                                           left < PAGE_BYTES ? left : PAGE_BYTES, (off_t)(image->offset + begin)) >= 0)
            image->is_read[page] = 1;
    }
}

static uint32_t image_word(struct frames_image *image, uint64_t at)
{
    uint32_t word = 0;
    read_image(image, at, sizeof word);
    if (at < image->n && image->n - at >= sizeof word)
        memcpy(&word, image->bytes + HEAD_BYTES + at, sizeof word);
    return word;
}

/* An entry of .eh_frame: its length, then so many bytes. */
static void read_entry(struct frames_image *image, uint64_t at)
{
    read_image(image, at, 4 + (uint64_t)image_word(image, at));
}

/* What libdw is going to look at for an address: it halves the table, too. */
static void read_frame(struct frames_image *image, uint64_t address)
{
    uint64_t low = 0, n = image->fd < 0 ? 0 : image_word(image, 8), high = n, at = 0;
    while (at == 0 && low < high) {
        uint64_t middle = (low + high) / 2, entry = TABLE_AT + ENTRY_BYTES * middle;
        if (address < image->address + (uint64_t)(int32_t)image_word(image, entry)) {
            high = middle;
            continue;
        }
        low = middle + 1;
        if (low == n || address < image->address + (uint64_t)(int32_t)image_word(image, entry + ENTRY_BYTES))
            at = image_word(image, entry + 4);
    }
    if (at == 0)
        return;
    read_entry(image, at);
    read_entry(image, at + 4 - image_word(image, at + 4)); /* what several have in common */
}

/* A file of two segments, which are one. */
static Elf *make_image(struct frames_image *image, const GElf_Ehdr *of)
{
    Elf64_Ehdr header = *of;
    Elf64_Phdr parts[2] = { { .p_type = PT_LOAD, .p_flags = PF_R, .p_offset = HEAD_BYTES, .p_vaddr = image->address } };
    header.e_phoff = sizeof header;
    header.e_phnum = 2;
    header.e_shoff = 0;
    header.e_shnum = header.e_shstrndx = 0;
    parts[0].p_filesz = parts[0].p_memsz = image->n;
    parts[1] = parts[0];
    parts[1].p_type = PT_GNU_EH_FRAME;
    memcpy(image->bytes, &header, sizeof header);
    memcpy(image->bytes + sizeof header, parts, sizeof parts);
    read_image(image, 0, TABLE_AT);
    if (image_word(image, 0) != ENCODINGS) /* nobody knows where to look */
        read_image(image, 0, image->n);
    return elf_memory((char *)image->bytes, HEAD_BYTES + 2 * image->n);
}

/* The segments, and where .eh_frame_hdr begins in one of them: .eh_frame is behind it. */
static bool find_frames(struct library *library, Elf *elf)
{
    struct frames_image *image = &library->image;
    GElf_Phdr part, table = { .p_type = PT_NULL };
    size_t n = 0;
    if (elf_getphdrnum(elf, &n) < 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (gelf_getphdr(elf, (int)i, &part) == NULL)
            return false;
        if (part.p_type == PT_GNU_EH_FRAME)
            table = part;
        if (part.p_type == PT_LOAD && library->n_loads < LOADS_MAX)
            library->loads[library->n_loads++] = part;
    }
    for (size_t i = 0; table.p_type != PT_NULL && i < library->n_loads; i++) {
        const GElf_Phdr *load = &library->loads[i];
        uint64_t at = table.p_offset - load->p_offset;
        if (table.p_offset < load->p_offset || at >= load->p_filesz)
            continue;
        image->offset = table.p_offset;
        image->address = table.p_vaddr;
        image->n = load->p_filesz - at < FRAMES_MAX ? load->p_filesz - at : FRAMES_MAX;
    }
    return image->n > 0;
}

static void open_image(struct library *library, struct elf_file *file, const GElf_Ehdr *header)
{
    struct frames_image *image = &library->image;
    if (!find_frames(library, file->elf))
        return;
    size_t n = HEAD_BYTES + 2 * image->n;
    /* cppcheck-suppress invalidFunctionArg */
    void *bytes = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED)
        return;
    image->bytes = bytes;
    image->is_read = xcalloc(image->n / PAGE_BYTES + 1, 1);
    image->fd = file->fd;
    file->fd = -1;
    library->elf = make_image(image, header);
}

/* ---- libraries ---- */

/* The kernel's has no file. */
static void open_vdso(struct native_frames *native, struct library *library, const struct jvm_mapping *mapping)
{
    uint64_t n = mapping->end - mapping->start;
    if (n > VDSO_BYTES)
        return;
    library->bytes = xmalloc(n);
    if (vm_read(native->vm, mapping->start, library->bytes, n))
        library->elf = elf_memory(library->bytes, n);
    if (library->elf != NULL)
        find_frames(library, library->elf);
}

static void open_library(struct native_frames *native, struct library *library, const struct jvm_mapping *mapping)
{
    struct elf_file file = ELF_FILE_NONE;
    GElf_Ehdr header;
    if (mapping->path[0] != '/')
        open_vdso(native, library, mapping);
    else if (elf_file_open(&file, jvm_mapping_open(mapping, &native->root, vm_pid(native->vm))) == 0 &&
             gelf_getehdr(file.elf, &header) != NULL)
        open_image(library, &file, &header);
    elf_file_close(&file);
    if (library->elf == NULL || gelf_getehdr(library->elf, &header) == NULL)
        return;
    library->registers = header.e_machine == EM_AARCH64 ? (struct registers){ 29, 31 } : (struct registers){ 6, 7 };
    library->cfi = dwarf_getcfi_elf(library->elf);
}

static struct library *find_library(struct native_frames *native, const struct jvm_mapping *mapping)
{
    for (size_t i = 0; i < native->n_libraries; i++)
        if (native->libraries[i].path == mapping->path && native->libraries[i].inode == mapping->inode)
            return &native->libraries[i];
    if (native->n_libraries == LIBRARIES)
        return NULL;
    struct library *library = &native->libraries[native->n_libraries++];
    *library = (struct library){ .path = mapping->path, .inode = mapping->inode, .image = { .fd = -1 } };
    open_library(native, library, mapping);
    return library;
}

/* The address that the file has for one in a mapping of it. */
static bool find_address(const struct library *library, const struct jvm_mapping *mapping, uint64_t pc,
                         uint64_t *address)
{
    uint64_t offset = pc - mapping->start + mapping->offset;
    for (size_t i = 0; i < library->n_loads; i++)
        if (offset >= library->loads[i].p_offset && offset - library->loads[i].p_offset < library->loads[i].p_filesz) {
            *address = offset - library->loads[i].p_offset + library->loads[i].p_vaddr;
            return true;
        }
    return false;
}

/* Libraries that were loaded since are found at most once in a round. */
static const struct jvm_mapping *find_mapping(struct native_frames *native, uint64_t pc)
{
    const struct jvm_mapping *mapping = jvm_maps_find(&native->maps, pc);
    if (mapping != NULL || native->is_read)
        return mapping;
    native->is_read = true;
    if (jvm_maps_read(&native->maps, vm_pid(native->vm)) < 0)
        return NULL;
    forget(native);
    return jvm_maps_find(&native->maps, pc);
}

/* ---- rules ---- */

/*
 * "Register + offset", "the word there", "+ more": all that compilers and libc's frames of signals are made of.  A
 * register's expression begins with the CFA on its stack, which a register in front of all else covers.
 */
static bool take_location(const struct registers *registers, const Dwarf_Op *ops, size_t n,
                          struct native_location *location)
{
    bool is_first = true;
    *location = (struct native_location){ .base = NATIVE_CFA };
    for (size_t i = 0; i < n; i++) {
        const Dwarf_Op *op = &ops[i];
        int number = op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31 ? op->atom - DW_OP_breg0
                     : op->atom == DW_OP_bregx                           ? (int)op->number
                                                                         : -1;
        if (is_first && (number == registers->sp || number == registers->fp)) {
            location->base = number == registers->sp ? NATIVE_SP : NATIVE_FP;
            location->offset = (int64_t)(op->atom == DW_OP_bregx ? op->number2 : op->number);
        } else if (op->atom == DW_OP_plus_uconst) {
            location->offset += (int64_t)op->number;
        } else if (op->atom == DW_OP_deref && i == n - 1 && !location->is_behind_word) {
            location->is_behind_word = true;
        } else if (op->atom != DW_OP_call_frame_cfa || i != 0) {
            return false;
        }
        is_first = op->atom == DW_OP_call_frame_cfa;
    }
    return n > 0;
}

/*
 * An entry of a procedure linkage table on x86-64 pushes a word: "rsp + 8 + ((rip & 15) >= 11) * 8".  Its second
 * operation asks for the instruction pointer.
 */
static bool take_linkage(const struct registers *registers, const Dwarf_Op *ops, size_t n, uint64_t pc,
                         struct native_location *location)
{
    *location = (struct native_location){ .base = NATIVE_SP, .offset = (pc & 15) >= 11 ? 16 : 8 };
    return n == 8 && registers->sp == 7 && ops[0].atom == DW_OP_breg7 && ops[0].number == 8 &&
           ops[1].atom == DW_OP_breg16;
}

/* Where a register of the caller is; *is_same: in the register itself; *is_none: nowhere. */
static bool take_register(Dwarf_Frame *frame, const struct registers *registers, int number,
                          struct native_location *location, bool *is_same, bool *is_none)
{
    Dwarf_Op memory[3], *ops;
    size_t n;
    if (dwarf_frame_register(frame, number, memory, &ops, &n) != 0)
        return false;
    *is_same = n == 0 && ops == NULL;
    *is_none = n == 0 && ops != NULL;
    return n == 0 || take_location(registers, ops, n, location);
}

static struct native_rule take_rule(Dwarf_Frame *frame, const struct registers *registers, uint64_t pc)
{
    struct native_rule rule = { .kind = NATIVE_UNKNOWN };
    bool is_signal = false, is_same, is_none;
    Dwarf_Op *ops;
    size_t n;
    int link = dwarf_frame_info(frame, NULL, NULL, &is_signal);
    if (link < 0 || dwarf_frame_cfa(frame, &ops, &n) != 0 ||
        (!take_location(registers, ops, n, &rule.cfa) && !take_linkage(registers, ops, n, pc, &rule.cfa)) ||
        !take_register(frame, registers, link, &rule.return_to, &rule.is_linked, &is_none))
        return rule;
    if (is_none) {
        rule.kind = NATIVE_OUTERMOST;
        return rule;
    }
    if (!take_register(frame, registers, registers->fp, &rule.fp, &is_same, &is_none))
        return rule;
    rule.has_fp = !is_same && !is_none;
    rule.kind = is_signal ? NATIVE_SIGNAL : NATIVE_CALLED;
    return rule;
}

static struct native_rule look_up(struct native_frames *native, uint64_t pc)
{
    struct native_rule rule = { .kind = NATIVE_UNKNOWN };
    const struct jvm_mapping *mapping = find_mapping(native, pc);
    struct library *library = mapping == NULL || mapping->path == NULL ? NULL : find_library(native, mapping);
    uint64_t address;
    Dwarf_Frame *frame = NULL;
    if (library == NULL || library->cfi == NULL || !find_address(library, mapping, pc, &address))
        return rule;
    read_frame(&library->image, address);
    if (dwarf_cfi_addrframe(library->cfi, address, &frame) != 0)
        return rule;
    rule = take_rule(frame, &library->registers, pc);
    free(frame);
    return rule;
}

const struct native_rule *native_frames_at(struct native_frames *native, uint64_t pc)
{
    static const struct native_rule none;
    const struct hash_slot *known = hash_get(&native->by_pc, hash_address(pc));
    if (pc == 0 || known != NULL)
        return pc == 0 ? &none : &native->rules[known->value - 1];
    const struct native_rule rule = look_up(native, pc); /* all others may have been forgotten */
    struct hash_slot *slot = native->n_rules < RULES ? xhash_put(&native->by_pc, hash_address(pc)) : NULL;
    if (slot == NULL)
        return &none;
    native->rules[native->n_rules] = rule;
    slot->value = ++native->n_rules;
    return &native->rules[slot->value - 1];
}
