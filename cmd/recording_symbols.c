#include "cmd/recording_symbols.h"

#include "symbolize/native_symbols.h"

const char *recording_name_functions(void *context, const char *path, const char *build_id, const uint64_t *offsets,
                                     size_t n, ip_samples_found_fn *found, void *found_context)
{
    struct native_symbols symbols;
    struct err ignored;
    if (native_symbols_find(context, path, build_id, NATIVE_SYMBOLS_DEBUG, offsets, n, &symbols, &ignored) < 0)
        return NULL;
    for (size_t i = 0; i < symbols.n; i++)
        if (found(found_context, symbols.all[i].offset, symbols.all[i].n_bytes, symbols.all[i].name) < 0)
            break;
    return symbols.from;
}
