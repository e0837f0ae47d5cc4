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
    struct native_symbols *symbols = NULL;
    struct err err;
    char path[64], id[JVM_BUILD_ID_BYTES];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (jvm_build_id(path, id) == 0 && strlen(id) >= sizeof id)
        abort();
    if (native_symbols_open(&symbols, path, "", "/none", &err) == 0) {
        for (uint64_t offset = 0; offset < n + 64; offset += 1 + n / 64) {
            const struct native_symbol *symbol = native_symbols_find(symbols, offset);
            if (symbol != NULL && (symbol->offset > offset || symbol->name == NULL || strlen(symbol->name) > n))
                abort();
        }
        native_symbols_close(symbols);
    }
    close(fd);
    return 0;
}
