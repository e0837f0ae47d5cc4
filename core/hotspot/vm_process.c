#include "core/hotspot/vm_process.h"
#include "core/hotspot/vm_fields.h"
#include "core/jvm/elf_file.h"
#include "core/jvm/maps.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

/* The library's file, and where in the process its first byte is. */
static struct {
    pid_t pid;
    struct elf_file file;
    Elf_Data *symbols;
    GElf_Shdr about;
    uint64_t base;
} library = { .file = ELF_FILE_NONE };

static bool find_dynamic_symbols(void)
{
    Elf_Scn *section = elf_file_next(&library.file, NULL, SHT_DYNSYM, &library.about);
    library.symbols = section == NULL ? NULL : elf_file_data(section);
    return library.symbols != NULL;
}

static uint64_t find_symbol(void *context, const char *name)
{
    GElf_Sym symbol;
    (void)context;
    for (size_t i = 0; i < library.about.sh_size / library.about.sh_entsize; i++) {
        if (gelf_getsym(library.symbols, (int)i, &symbol) == NULL)
            break;
        const char *its = elf_strptr(library.file.elf, library.about.sh_link, symbol.st_name);
        if (its != NULL && symbol.st_value != 0 && strcmp(its, name) == 0)
            return library.base + symbol.st_value;
    }
    return 0;
}

/* Reading its memory is asked for as a debugger does it. */
static int check_memory(pid_t pid, struct err *err)
{
    uint8_t byte;
    struct iovec here = { &byte, 1 }, there = { (void *)(uintptr_t)library.base, 1 };
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

int vm_process_open(pid_t pid, struct err *err)
{
    struct jvm_mapped libjvm; /* the first mapping is of the file's beginning */
    struct jvm_root root;
    if (jvm_mapped_find(pid, "/libjvm.so", &libjvm) <= 0) {
        err_set(err, "process %d has no libjvm.so: it is no HotSpot JVM, or belongs to another user", (int)pid);
        return err_next(err, "find the JVM's process ID with 'mmprof ps'");
    }
    library.base = libjvm.mapping.start;
    if (check_memory(pid, err) < 0)
        return -1;
    jvm_root_open(&root, pid);
    int rc = elf_file_open(&library.file, jvm_mapping_open(&libjvm.mapping, &root, pid)), error = errno;
    jvm_root_close(&root);
    if (rc < 0 || !find_dynamic_symbols()) {
        vm_process_close();
        return not_readable(pid, libjvm.path, rc < 0 ? error : ENOEXEC, err);
    }
    library.pid = pid;
    vm_fields_use(&(struct vm_library){ .pid = pid, .symbol = find_symbol });
    return 0;
}

pid_t vm_process_pid(void)
{
    return library.pid;
}

void vm_process_close(void)
{
    elf_file_close(&library.file);
    memset(&library, 0, sizeof library);
    library.file.fd = -1;
}
