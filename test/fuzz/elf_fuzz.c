/* An ELF file is the target's: any bytes as one, for its build id and its functions. */
#include "core/jvm/maps.h"
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
    char path[64], id[JVM_BUILD_ID_BYTES];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (jvm_build_id(path, id) == 0 && strlen(id) >= sizeof id)
        abort();
    for (uint64_t offset = 0; offset < n + 64 && n_offsets < 128; offset += 1 + n / 64)
        offsets[n_offsets++] = offset;
    if (native_symbols_find(&arena, path, "", "/none", offsets, n_offsets, &symbols, &err) == 0)
        for (size_t i = 0; i < n_offsets; i++) {
            const struct native_symbol *symbol = native_symbols_at(&symbols, offsets[i]);
            if (symbol != NULL && (symbol->offset > offsets[i] || symbol->name == NULL || strlen(symbol->name) > n))
                abort();
        }
    arena_free(&arena);
    close(fd);
    return 0;
}
