#include "core/hotspot/vm_process.h"
#include "core/hotspot/vm_fields.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define PATH_BYTES 4096

/* The library's file, and where in the process its first byte is. */
static struct {
    pid_t pid;
    int fd;
    Elf *elf;
    Elf_Data *symbols;
    GElf_Shdr about;
    uint64_t base;
} library = { .fd = -1 };

/* "7f..-7f.. r--p 00000000 fe:01 4711 /usr/lib/.../libjvm.so": the first mapping is of the file's beginning. */
static bool find_mapping(pid_t pid, char *path, size_t n)
{
    char name[64], line[PATH_BYTES + 128];
    bool is_found = false;
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    FILE *in = fopen(name, "re");
    while (in != NULL && !is_found && fgets(line, sizeof line, in) != NULL) {
        char *file = strchr(line, '/'), *end = strstr(line, "/libjvm.so\n");
        if (file == NULL || end == NULL)
            continue;
        end[sizeof "/libjvm.so" - 1] = '\0';
        library.base = strtoull(line, NULL, 16);
        is_found = snprintf(path, n, "/proc/%d/root%s", (int)pid, file) < (int)n;
    }
    if (in != NULL)
        fclose(in);
    return is_found;
}

static bool find_dynamic_symbols(void)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(library.elf, section)) != NULL)
        if (gelf_getshdr(section, &library.about) != NULL && library.about.sh_type == SHT_DYNSYM) {
            library.symbols = elf_getdata(section, NULL);
            return library.symbols != NULL && library.about.sh_entsize > 0;
        }
    return false;
}

static uint64_t find_symbol(void *context, const char *name)
{
    GElf_Sym symbol;
    (void)context;
    for (size_t i = 0; i < library.about.sh_size / library.about.sh_entsize; i++) {
        if (gelf_getsym(library.symbols, (int)i, &symbol) == NULL || symbol.st_value == 0)
            continue;
        const char *its = elf_strptr(library.elf, library.about.sh_link, symbol.st_name);
        if (its != NULL && strcmp(its, name) == 0)
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
        return err_next(err, "run this as root, or 'sysctl kernel.yama.ptrace_scope=0'; "
                             "or use --mechanism polling, by which the JVM itself is asked");
    }
    err_set(err, "the memory of process %d cannot be read: %s", (int)pid, strerror(errno));
    return err_next(err, "see whether it is still running");
}

int vm_process_open(pid_t pid, struct err *err)
{
    char path[PATH_BYTES + 64];
    if (!find_mapping(pid, path, sizeof path)) {
        err_set(err, "process %d has no libjvm.so: it is no HotSpot JVM, or belongs to another user", (int)pid);
        return err_next(err, "find the JVM's process ID with 'mmprof ps'");
    }
    if (check_memory(pid, err) < 0)
        return -1;
    elf_version(EV_CURRENT);
    library.fd = open(path, O_RDONLY | O_CLOEXEC);
    library.elf = library.fd < 0 ? NULL : elf_begin(library.fd, ELF_C_READ_MMAP, NULL);
    if (library.elf == NULL || !find_dynamic_symbols()) {
        err_set(err, "cannot read '%s': %s", path, library.fd < 0 ? strerror(errno) : "it is no library");
        vm_process_close();
        return err_next(err, "see whether the JDK was updated or removed while the program runs");
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
    if (library.elf != NULL)
        elf_end(library.elf);
    if (library.fd >= 0)
        close(library.fd);
    memset(&library, 0, sizeof library);
    library.fd = -1;
}
