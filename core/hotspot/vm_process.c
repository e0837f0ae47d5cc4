/* Opening the JVM of another process: where its libjvm.so is, and what that exports. */
#include "core/hotspot/vm_state.h"
#include "core/base/xalloc.h"
#include "core/jvm/elf_file.h"
#include "core/jvm/maps.h"

#include <sys/uio.h>

#define MAPPED_MAX 32 /* mappings of libraries with its name that are looked at */

/* The library's file, and where in the process its first byte is. */
struct libjvm {
    struct elf_file file;
    Elf_Data *symbols;
    GElf_Shdr about;
    uint64_t base;
};

static bool find_dynamic_symbols(struct libjvm *libjvm)
{
    Elf_Scn *section = elf_file_next(&libjvm->file, NULL, SHT_DYNSYM, &libjvm->about);
    libjvm->symbols = section == NULL ? NULL : elf_file_data(section);
    return libjvm->symbols != NULL;
}

static uint64_t find_symbol(void *context, const char *name)
{
    const struct libjvm *libjvm = context;
    GElf_Sym symbol;
    for (size_t i = 0; i < libjvm->about.sh_size / libjvm->about.sh_entsize; i++) {
        if (gelf_getsym(libjvm->symbols, (int)i, &symbol) == NULL)
            break;
        const char *its = elf_strptr(libjvm->file.elf, libjvm->about.sh_link, symbol.st_name);
        if (its != NULL && symbol.st_value != 0 && strcmp(its, name) == 0)
            return libjvm->base + symbol.st_value;
    }
    return 0;
}

static void close_libjvm(void *context)
{
    struct libjvm *libjvm = context;
    elf_file_close(&libjvm->file);
    free(libjvm);
}

/* Reading its memory is asked for as a debugger does it. */
static int check_memory(pid_t pid, uint64_t base, struct err *err)
{
    uint8_t byte;
    struct iovec here = { &byte, 1 }, there = { (void *)(uintptr_t)base, 1 };
    if (process_vm_readv(pid, &here, 1, &there, 1, 0) == 1)
        return 0;
    if (errno == EPERM) {
        err_set(err, "the memory of process %d may not be read: %s", (int)pid, strerror(errno));
        return err_next(err, "run mmprof as root, or 'sysctl kernel.yama.ptrace_scope=0'; or use --mechanism polling, "
                             "which asks the JVM itself");
    }
    err_set(err, "the memory of process %d cannot be read: %s", (int)pid, strerror(errno));
    return err_next(err, "check that it is still running");
}

static int not_readable(pid_t pid, const char *path, int error, struct err *err)
{
    if (error == ESTALE) {
        err_set(err, "'%.1024s' of JVM %d was deleted or replaced (JDK updated?)", path, (int)pid);
        return err_next(err, "restart the program, run mmprof as root, or use --mechanism polling");
    }
    err_set(err, "cannot read '%.1024s' of JVM %d: %s", path, (int)pid, plain_file_why(error));
    return err_next(err, "make it a file that the JVM's user may read, or use --mechanism polling");
}

static int open_library(struct libjvm *libjvm, pid_t pid, const struct jvm_mapped *mapped, struct err *err)
{
    struct jvm_root root;
    if (check_memory(pid, libjvm->base, err) < 0)
        return -1;
    jvm_root_open(&root, pid);
    int rc = elf_file_open(&libjvm->file, jvm_mapping_open(&mapped->mapping, &root, pid)), error = errno;
    jvm_root_close(&root);
    if (rc < 0 || !find_dynamic_symbols(libjvm))
        return not_readable(pid, mapped->path, rc < 0 ? error : ENOEXEC, err);
    return 0;
}

static struct vm *open_mapped(pid_t pid, const struct jvm_mapped *mapped, struct err *err)
{
    struct libjvm *libjvm = xcalloc(1, sizeof *libjvm);
    struct vm *vm = xcalloc(1, sizeof *vm);
    libjvm->file = (struct elf_file)ELF_FILE_NONE;
    libjvm->base = mapped->mapping.start;
    vm_init(vm, &(struct vm_library){ .pid = pid, .symbol = find_symbol, .context = libjvm });
    vm->close = close_libjvm;
    if (open_library(libjvm, pid, mapped, err) == 0)
        return vm;
    vm_close(vm);
    return NULL;
}

/*
 * A profiler in the JVM may have mapped the file once more, or have loaded a copy: the one that runs knows its release.
 * NULL where none does.
 */
static struct vm *open_other(pid_t pid, struct jvm_mapped *mapped)
{
    for (int i = 0; i < MAPPED_MAX && jvm_mapped_next(pid, "/libjvm.so", mapped->mapping.end, mapped) > 0; i++) {
        struct err ignored;
        struct vm *vm = mapped->mapping.offset != 0 ? NULL : open_mapped(pid, mapped, &ignored);
        if (vm != NULL && vm_release(vm) != 0)
            return vm;
        vm_close(vm);
    }
    return NULL;
}

struct vm *vm_open(pid_t pid, struct err *err)
{
    struct jvm_mapped mapped; /* the first mapping is of the file's beginning */
    if (jvm_mapped_find(pid, "/libjvm.so", &mapped) <= 0) {
        err_set(err, "process %d has no libjvm.so: it is no HotSpot JVM, or belongs to another user", (int)pid);
        err_next(err, "find the JVM's process ID with 'mmprof ps'");
        return NULL;
    }
    struct vm *first = open_mapped(pid, &mapped, err), *other = NULL;
    if (first == NULL || vm_release(first) == 0)
        other = open_other(pid, &mapped);
    if (other == NULL)
        return first;
    vm_close(first);
    return other;
}
