#include "cmd/recording_symbols.h"

#include "symbolize/native_symbols.h"

#include <string.h>

const char *recording_name_functions(void *context, const char *path, const char *build_id, const uint64_t *offsets,
                                     size_t n, hits_found_fn *found, void *found_context)
{
    struct native_symbols *symbols;
    struct err ignored;
    const struct native_symbol *latest = NULL;
    if (native_symbols_open(&symbols, path, build_id, NATIVE_SYMBOLS_DEBUG, &ignored) < 0)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const struct native_symbol *symbol = native_symbols_find(symbols, offsets[i]);
        if (symbol == NULL || symbol == latest)
            continue;
        latest = symbol;
        if (found(found_context, symbol->offset, symbol->n_bytes, symbol->name) < 0)
            break;
    }
    const char *from = native_symbols_from(symbols), *copy = arena_text(context, from, strlen(from));
    native_symbols_close(symbols);
    return copy;
}
