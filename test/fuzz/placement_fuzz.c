/*
 * Results of placement runs from bytes: as they are, and behind a right first line.
 */
#include "core/emu/placement/placement_result.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void take(void *context, const char *class_name, int64_t offset, double heat)
{
    (void)context;
    (void)offset;
    if (strlen(class_name) == 0 || !(heat >= 0))
        abort();
}

static void read_all(const char *text, size_t n)
{
    struct arena arena = { 0 };
    struct placement_result result;
    struct err err;
    if (placement_result_read(text, n, "x", &arena, &result, &err) == 0)
        for (uint32_t i = PLACEMENT_OWNERS + 1; i < result.n_classes; i++)
            if (result.classes[i].name == NULL || result.n_policies > PLACEMENT_MAX)
                abort();
    placement_heat_read(text, n, take, NULL);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char first[] = "mmprof-placement 1\n";
    char *text = malloc(n + sizeof first);
    if (text == NULL)
        return 0;
    read_all((const char *)data, n);
    memcpy(text, first, sizeof first - 1);
    memcpy(text + sizeof first - 1, data, n);
    read_all(text, n + sizeof first - 1);
    free(text);
    return 0;
}
