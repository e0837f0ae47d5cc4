/* phases.json is written by whoever gives it to 'mmprof record': any bytes, no surprise. */
#include "phases/select/phases_file.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = { NULL, 0 };
    struct phases_file phases, again;
    struct err err;
    if (phases_file_parse((const char *)data, size, "fuzz", &arena, &phases, &err) == 0) {
        /* What is accepted can be written, and what is written is accepted. */
        char *text = phases_file_text(&phases);
        size_t n = 0;
        while (text != NULL && text[n] != '\0')
            n++;
        if (text != NULL && phases_file_parse(text, n, "again", &arena, &again, &err) < 0)
            abort();
        free(text);
    }
    arena_free(&arena);
    return 0;
}
