/*
 * An ELF file that may be hostile, or be truncated while it is read: the parts that are asked for are read, none is
 * mapped.
 */
#ifndef CORE_JVM_ELF_FILE_H
#define CORE_JVM_ELF_FILE_H

#include "core/base/std.h"

#include <gelf.h>

struct elf_file {
    int fd;
    Elf *elf;
};

#define ELF_FILE_NONE \
    {                 \
        .fd = -1      \
    }

/*
 * Takes over the descriptor, also of one that was not opened (-1, with errno set).  elf_file_close may be called in
 * both cases.  Returns 0, or -1 with errno set: ENOEXEC, it is no ELF file.
 */
int elf_file_open(struct elf_file *file, int fd);
void elf_file_close(struct elf_file *file);

/* The bytes of a section; NULL: damaged, too large, or no memory.  The file's. */
Elf_Data *elf_file_data(Elf_Scn *section);

/* The next table of symbols (SHT_DYNSYM, SHT_SYMTAB) behind one (NULL: the first); NULL: there is none. */
Elf_Scn *elf_file_next(const struct elf_file *file, Elf_Scn *section, uint32_t type, GElf_Shdr *header);

/* Its build id, in hexadecimal; "": it has none. */
#define JVM_BUILD_ID_BYTES 81
void elf_file_build_id(const struct elf_file *file, char id[JVM_BUILD_ID_BYTES]);

#endif
