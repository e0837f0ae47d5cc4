#include "report/recompilation.h"

#include "core/trace/recording_info.h"

#define MB 1048576.0

const char *report_full_code_cache(const struct report_source *source, bool *is_known)
{
    struct info_code_cache cache;
    *is_known = info_read(source->reader, INFO_CODE_CACHE, 0, source->arena, &cache) == 4;
    if (!*is_known || strcmp(cache.state, INFO_CODE_CACHE_FULL) != 0)
        return NULL;
    return arena_printf(source->arena, "the code cache is full (%.1f of %.1f MB): %s; raise -XX:ReservedCodeCacheSize",
                        (double)cache.most_bytes / MB, (double)cache.size_bytes / MB,
                        cache.n_stopped > 0 ? "compilation stopped" : "the JVM discards code and compiles it again");
}
