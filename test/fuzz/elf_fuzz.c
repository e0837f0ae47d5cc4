/* An ELF file is the target's: any bytes as one, for its build id and its functions. */
#include "core/jvm/elf_file.h"
#include "symbolize/native_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct native_symbols symbols;
    struct arena arena = { NULL, 0 };
    struct err err;
    uint64_t offsets[128];
    size_t n_offsets = 0;
    char id[JVM_BUILD_ID_BYTES];
    struct elf_file elf;
    struct jvm_root own;
    const struct jvm_file file = { &own, "/fuzz/fuzz", memfd_create("fuzz", MFD_CLOEXEC) };
    if (jvm_root_own(&own) < 0 || file.fd < 0 || write(file.fd, bytes, n) != (ssize_t)n)
        abort();
    if (elf_file_open(&elf, dup(file.fd)) == 0) {
        elf_file_build_id(&elf, id);
        if (strlen(id) >= sizeof id)
            abort();
    }
    elf_file_close(&elf);
    for (uint64_t offset = 0; offset < n + 64 && n_offsets < 128; offset += 1 + n / 64)
        offsets[n_offsets++] = offset;
    if (native_symbols_find(&arena, &file, "", "/none", offsets, n_offsets, &symbols, &err) == 0)
        for (size_t i = 0; i < n_offsets; i++) {
            const struct native_symbol *symbol = native_symbols_at(&symbols, offsets[i]);
            if (symbol != NULL && (symbol->offset > offsets[i] || symbol->name == NULL || strlen(symbol->name) > n))
                abort();
        }
    arena_free(&arena);
    close(file.fd);
    jvm_root_close(&own);
    return 0;
}
