/*
 * native_functions FILE OFFSET...: where the names of a file's functions are from, then the name at each offset.
 * MMPROF_DEBUG names another directory of separate debug files than /usr/lib/debug.
 */
#include "symbolize/native_symbols.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct native_symbols *symbols;
    struct arena arena = { NULL, 0 };
    struct err err;
    const char *debug = getenv("MMPROF_DEBUG");
    if (argc < 2 ||
        native_symbols_open(&symbols, argv[1], "", debug == NULL ? NATIVE_SYMBOLS_DEBUG : debug, &err) < 0) {
        fprintf(stderr, "%s\n", argc < 2 ? "usage: native_functions FILE OFFSET..." : err.text);
        return 1;
    }
    puts(native_symbols_from(symbols));
    for (int i = 2; i < argc; i++) {
        const struct native_symbol *symbol = native_symbols_find(symbols, strtoull(argv[i], NULL, 0));
        puts(symbol == NULL ? "-" : native_symbols_display(&arena, symbol->name));
    }
    native_symbols_close(symbols);
    arena_free(&arena);
    return 0;
}
