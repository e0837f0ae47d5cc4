/* A JVM's file of counters is written by another process: any bytes. */
#include "core/jvm/perf_data.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct perf_data data = { .fd = -1, .bytes = malloc(n + 1), .n = n };
    char text[32];
    uint64_t value;
    if (data.bytes == NULL)
        return 0;
    memcpy(data.bytes, bytes, n);
    if (perf_data_text(&data, "a", text, sizeof text) && strlen(text) >= sizeof text)
        abort();
    perf_data_number(&data, "a", &value);
    perf_data_number(&data, "", &value);
    perf_data_close(&data);
    return 0;
}
