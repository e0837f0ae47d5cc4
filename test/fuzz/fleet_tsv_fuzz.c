/* A server's answer, whatever it says, becomes fields of the answer's own bytes. */
#include "report/fleet/fleet_engine.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char answer[ANSWER_MAX];
    struct arena arena = { NULL, 0 };
    struct fleet_result result;
    size_t n_bytes = 0;
    n = n < sizeof answer ? n : sizeof answer - 1;
    memcpy(answer, data, n);
    answer[n] = '\0';
    fleet_tsv_read(answer, &arena, &result);
    for (size_t c = 0; c < result.n_columns; c++)
        n_bytes += result.names[c] == NULL ? 0 : strlen(result.names[c]);
    for (size_t i = 0; i < result.n_rows * result.n_columns; i++)
        n_bytes += result.values[i] == NULL ? 0 : strlen(result.values[i]);
    if (n_bytes > n)
        abort();
    arena_free(&arena);
    return 0;
}
