#include "core/jvm/jvm_memory.h"

#include "core/jvm/attach.h"

#define KEPT_FREE_BYTES UINT64_C(512000)
#define KB_MOST         (UINT64_C(1) << 40)

/* "size=3072Kb", which stands in this line. */
static bool take_kb(const char *line, const char *name, uint64_t *bytes)
{
    const char *at = strstr(line, name), *end = line + strcspn(line, "\n");
    char *behind;
    if (at == NULL || at > end)
        return false;
    unsigned long long kb = strtoull(at + strlen(name), &behind, 10);
    *bytes = kb * 1024;
    return strncmp(behind, "Kb", 2) == 0 && kb < KB_MOST;
}

static bool is_fuller(const struct jvm_code_cache *a, const struct jvm_code_cache *b)
{
    return (double)a->most_bytes * (double)b->size_bytes > (double)b->most_bytes * (double)a->size_bytes;
}

int jvm_code_cache_parse(const char *report, struct jvm_code_cache *cache)
{
    const char *stopped = strstr(report, "stopped_count=");
    memset(cache, 0, sizeof *cache);
    for (const char *line = report; line != NULL; line = strchr(line, '\n')) {
        struct jvm_code_cache heap = { .n_stopped = 0 };
        line += *line == '\n';
        bool is_heap = strncmp(line, "CodeCache:", 10) == 0 || strncmp(line, "CodeHeap '", 10) == 0;
        if (is_heap && strncmp(line + 10, "non-nmethods", 12) != 0 && take_kb(line, "size=", &heap.size_bytes) &&
            take_kb(line, "max_used=", &heap.most_bytes) && heap.size_bytes > 0 &&
            (cache->size_bytes == 0 || is_fuller(&heap, cache)))
            *cache = heap;
    }
    if (stopped != NULL)
        cache->n_stopped = strtoull(stopped + strlen("stopped_count="), NULL, 10);
    return cache->size_bytes == 0 ? -1 : 0;
}

bool jvm_code_cache_is_full(const struct jvm_code_cache *cache)
{
    return cache->n_stopped > 0 || cache->most_bytes + KEPT_FREE_BYTES >= cache->size_bytes;
}

int jvm_code_cache_ask(const struct jvm_process *process, struct guest *guest, struct jvm_code_cache *cache,
                       struct err *err)
{
    char report[JVM_ANSWER_BYTES];
    if (jvm_attach_jcmd(process, guest, "Compiler.codecache", report, err) < 0)
        return -1;
    if (jvm_code_cache_parse(report, cache) < 0)
        return err_set(err, "JVM %d does not say how full its code cache is", (int)process->pid);
    return 0;
}
