#include "core/hotspot/stack_walk_internal.h"
#include "core/base/xalloc.h"
#include "core/hotspot/vm.h"
#include "core/jvm/elf_file.h"
#include "core/jvm/maps.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#define RULES      (1u << 15) /* when half of them are used all are forgotten */
#define LIBRARIES  64u
#define VDSO_BYTES ((uint64_t)64 << 10)

/* The numbers of a processor's registers in call frame information. */
struct registers {
    int fp, sp;
};

struct library {
    const char *path; /* the maps' */
    uint64_t inode;
    struct elf_file file; /* one without an Elf cannot be read */
    Dwarf_CFI *cfi;       /* NULL: it has none */
    struct registers registers;
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
    if (library->cfi != NULL)
        dwarf_cfi_end(library->cfi);
    elf_file_close(&library->file);
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

/* ---- libraries ---- */

static void open_elf(struct native_frames *native, struct library *library, const struct jvm_mapping *mapping)
{
    uint64_t n = mapping->end - mapping->start;
    if (mapping->path[0] == '/')
        elf_file_open(&library->file, jvm_mapping_open(mapping, &native->root, vm_pid(native->vm)));
    else if (n <= VDSO_BYTES) {
        library->bytes = xmalloc(n);
        if (vm_read(native->vm, mapping->start, library->bytes, n))
            library->file.elf = elf_memory(library->bytes, n);
    }
}

static struct library *find_library(struct native_frames *native, const struct jvm_mapping *mapping)
{
    GElf_Ehdr header;
    for (size_t i = 0; i < native->n_libraries; i++)
        if (native->libraries[i].path == mapping->path && native->libraries[i].inode == mapping->inode)
            return &native->libraries[i];
    if (native->n_libraries == LIBRARIES)
        return NULL;
    struct library *library = &native->libraries[native->n_libraries++];
    *library = (struct library){ .path = mapping->path, .inode = mapping->inode, .file = ELF_FILE_NONE };
    open_elf(native, library, mapping);
    if (library->file.elf == NULL || gelf_getehdr(library->file.elf, &header) == NULL)
        return library;
    library->registers = header.e_machine == EM_AARCH64 ? (struct registers){ 29, 31 } : (struct registers){ 6, 7 };
    library->cfi = dwarf_getcfi_elf(library->file.elf);
    return library;
}

/* The address that the file has for one in a mapping of it. */
static bool find_address(Elf *elf, const struct jvm_mapping *mapping, uint64_t pc, uint64_t *address)
{
    uint64_t offset = pc - mapping->start + mapping->offset;
    size_t n;
    GElf_Phdr piece;
    if (elf_getphdrnum(elf, &n) < 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (gelf_getphdr(elf, (int)i, &piece) != NULL && piece.p_type == PT_LOAD && offset >= piece.p_offset &&
            offset - piece.p_offset < piece.p_filesz) {
            *address = offset - piece.p_offset + piece.p_vaddr;
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
    if (library == NULL || library->cfi == NULL || !find_address(library->file.elf, mapping, pc, &address) ||
        dwarf_cfi_addrframe(library->cfi, address, &frame) != 0)
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
