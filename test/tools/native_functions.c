/*
 * native_functions FILE OFFSET...: where the names of a file's functions are from, then the name at each offset.
 * MMPROF_DEBUG names another directory of separate debug files than /usr/lib/debug.
 */
#include "symbolize/native_symbols.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define OFFSETS_MAX 1024

int main(int argc, char **argv)
{
    struct native_symbols symbols;
    struct arena arena = { NULL, 0 };
    struct jvm_root own;
    struct err err;
    const char *debug = getenv("MMPROF_DEBUG");
    uint64_t offsets[OFFSETS_MAX];
    size_t n = argc < 2 ? 0 : (size_t)argc - 2;
    for (size_t i = 0; i < n && i < OFFSETS_MAX; i++)
        offsets[i] = strtoull(argv[i + 2], NULL, 0);
    jvm_root_own(&own);
    const struct jvm_file file = { &own, argv[1], argc < 2 ? -1 : open(argv[1], O_RDONLY | O_CLOEXEC) };
    if (argc < 2 || n > OFFSETS_MAX ||
        native_symbols_find(&arena, &file, "", debug == NULL ? NATIVE_SYMBOLS_DEBUG : debug, offsets, n, &symbols,
                            &err) < 0) {
        fprintf(stderr, "%s\n", argc < 2 || n > OFFSETS_MAX ? "usage: native_functions FILE OFFSET..." : err.text);
        return 1;
    }
    puts(symbols.from);
    for (size_t i = 0; i < n; i++) {
        const struct native_symbol *symbol = native_symbols_at(&symbols, offsets[i]);
        puts(symbol == NULL ? "-" : native_symbols_display(&arena, symbol->name));
    }
    arena_free(&arena);
    return 0;
}
