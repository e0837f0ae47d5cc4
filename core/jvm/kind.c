#include "core/jvm/kind.h"

#include "core/jvm/elf_file.h"
#include "core/jvm/maps.h"

#include <fcntl.h>

#define HEAP_SECTION ".svm_heap" /* GraalVM 19 to 25 */

void jvm_kind_read(FILE *maps, struct jvm_kind *kind)
{
    char *line = NULL;
    size_t size = 0;
    memset(kind, 0, sizeof *kind);
    while (getline(&line, &size, maps) > 0) {
        const char *path = strchr(line, '/');
        if (path == NULL)
            continue;
        kind->has_libjvm = kind->has_libjvm || strstr(path, "/libjvm.so") != NULL;
        kind->is_openj9 = kind->is_openj9 || strstr(path, "/libj9vm") != NULL;
        kind->is_native_image = kind->is_native_image || strstr(path, "/libsubstratevm") != NULL;
        kind->is_musl = kind->is_musl || strstr(path, "/ld-musl-") != NULL;
    }
    free(line);
}

bool jvm_kind_is_image(const char *path)
{
    size_t names;
    bool found = false;
    struct elf_file file;
    if (elf_file_open(&file, open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) < 0)
        return false;
    Elf_Scn *section = NULL, *texts;
    GElf_Shdr header;
    if (elf_getshdrstrndx(file.elf, &names) == 0 && (texts = elf_getscn(file.elf, names)) != NULL &&
        elf_file_data(texts) != NULL)
        while (!found && (section = elf_nextscn(file.elf, section)) != NULL) {
            const char *name =
                gelf_getshdr(section, &header) == NULL ? NULL : elf_strptr(file.elf, names, header.sh_name);
            found = name != NULL && strcmp(name, HEAP_SECTION) == 0;
        }
    elf_file_close(&file);
    return found;
}

int jvm_kind_find(pid_t pid, struct jvm_kind *kind)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    char buffer[JVM_MAPS_BUFFER];
    FILE *maps = fopen(path, "re");
    if (maps == NULL)
        return -1;
    setvbuf(maps, buffer, _IOFBF, sizeof buffer);
    jvm_kind_read(maps, kind);
    fclose(maps);
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    kind->is_native_image = kind->is_native_image || (!kind->has_libjvm && jvm_kind_is_image(path));
    return 0;
}

int jvm_kind_check(const struct jvm_kind *kind, pid_t pid, const char *command, struct err *err)
{
    if (kind->is_openj9) {
        err_set(err, "process %d is an OpenJ9 JVM, and mmprof supports HotSpot only", (int)pid);
        return err_next(err, "run the program on HotSpot, such as OpenJDK of Debian or Temurin");
    }
    if (kind->is_native_image) {
        err_set(err, "process %d is a GraalVM native image: there is no JVM in it, and no bytecode", (int)pid);
        return err_next(err, "run the program on HotSpot to profile it with mmprof, or sample the image with perf");
    }
    if (kind->has_libjvm)
        return 0;
    err_set(err, "process %d ('%.60s') is not a HotSpot JVM", (int)pid, command);
    return err_next(err, "list the JVMs with 'mmprof ps'; a JVM that just started may need another second");
}
