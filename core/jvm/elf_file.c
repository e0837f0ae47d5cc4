#include "core/jvm/elf_file.h"

#include <elfutils/libdwelf.h>

#define NAMES_BYTES_MAX ((uint64_t)1 << 20)   /* of sections: 400 bytes are usual; libdw may leak them */
#define PART_BYTES_MAX  ((uint64_t)128 << 20) /* names of the functions of a large library: 40 MB */

/* A library has no use for as many sections or segments as take another header to count, and libelf would fill memory
 * for as many as the file says. */
static bool is_countable(int fd)
{
    Elf64_Ehdr header;
    return pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
           memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           (header.e_shnum != 0 || header.e_shoff == 0) && header.e_phnum != PN_XNUM;
}

static bool has_small_segments(Elf *elf)
{
    size_t n = 0;
    GElf_Phdr part;
    if (elf_getphdrnum(elf, &n) < 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (gelf_getphdr(elf, (int)i, &part) == NULL ||
            ((part.p_type == PT_NOTE || part.p_type == PT_GNU_EH_FRAME) && part.p_filesz > PART_BYTES_MAX))
            return false;
    return true;
}

static bool has_small_sections(Elf *elf)
{
    size_t names;
    GElf_Shdr header;
    if (elf_getshdrstrndx(elf, &names) < 0)
        return false;
    Elf_Scn *section = elf_getscn(elf, names);
    if (section != NULL && (gelf_getshdr(section, &header) == NULL || header.sh_size > NAMES_BYTES_MAX))
        return false;
    for (section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        const char *name = gelf_getshdr(section, &header) == NULL ? NULL : elf_strptr(elf, names, header.sh_name);
        if (name != NULL && strcmp(name, ".eh_frame") == 0 && header.sh_size > PART_BYTES_MAX)
            return false;
    }
    return true;
}

int elf_file_open(struct elf_file *file, int fd)
{
    *file = (struct elf_file){ .fd = fd };
    if (fd < 0)
        return -1;
    file->elf = elf_version(EV_CURRENT) == EV_NONE || !is_countable(fd) ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    if (file->elf != NULL && elf_kind(file->elf) == ELF_K_ELF && has_small_segments(file->elf) &&
        has_small_sections(file->elf)) /* libelf and libdw read these parts as a whole */
        return 0;
    elf_file_close(file);
    errno = ENOEXEC;
    return -1;
}

void elf_file_close(struct elf_file *file)
{
    if (file->elf != NULL)
        elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
    *file = (struct elf_file)ELF_FILE_NONE;
}

Elf_Data *elf_file_data(Elf_Scn *section)
{
    GElf_Shdr header;
    return gelf_getshdr(section, &header) == NULL || header.sh_size > PART_BYTES_MAX ? NULL
                                                                                     : elf_getdata(section, NULL);
}

/* libelf reads a table's names, as a whole, when the first is asked for. */
static bool has_names(const struct elf_file *file, const GElf_Shdr *table)
{
    Elf_Scn *names = elf_getscn(file->elf, table->sh_link);
    GElf_Shdr header;
    return table->sh_size <= PART_BYTES_MAX && names != NULL && gelf_getshdr(names, &header) != NULL &&
           header.sh_size <= PART_BYTES_MAX;
}

Elf_Scn *elf_file_next(const struct elf_file *file, Elf_Scn *section, uint32_t type, GElf_Shdr *header)
{
    while ((section = elf_nextscn(file->elf, section)) != NULL)
        if (gelf_getshdr(section, header) != NULL && header->sh_type == type &&
            header->sh_entsize == sizeof(Elf64_Sym) && has_names(file, header))
            return section;
    return NULL;
}

void elf_file_build_id(const struct elf_file *file, char id[JVM_BUILD_ID_BYTES])
{
    const void *bytes = NULL;
    ssize_t n = dwelf_elf_gnu_build_id(file->elf, &bytes);
    id[0] = '\0';
    for (ssize_t i = 0; i < n && i < (JVM_BUILD_ID_BYTES - 1) / 2; i++)
        snprintf(id + 2 * i, 3, "%02x", ((const uint8_t *)bytes)[i]);
}
