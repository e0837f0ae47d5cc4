/*
 * Counts of objects, of receivers, and of calls, from bytes: as they are, and behind a right first line; what is taken
 * makes a table.
 */
#include "report/jit/call_counts.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void read_objects(struct arena *arena, char *text, size_t n)
{
    struct object_counts counts;
    struct table table;
    struct err err;
    object_counts_init(&counts, arena);
    if (object_counts_read(&counts, OBJECTS_ON_HEAP, text, n, "x", &err) == 0) {
        object_counts_table(&counts, "x", 5, &table);
        if (table.n_rows > 7)
            abort();
    }
    object_counts_free(&counts);
}

static void read_receivers(struct arena *arena, char *text, size_t n)
{
    struct receiver_counts counts;
    struct table table;
    struct err err;
    receiver_counts_init(&counts, arena, 1 + n % 2);
    if (receiver_counts_read(&counts, text, n, "x", &err) == 0) {
        receiver_counts_table(&counts, "x", 5, &table);
        if (table.n_rows > 7)
            abort();
    }
    receiver_counts_free(&counts);
}

static void read_calls(struct arena *arena, char *text, size_t n)
{
    struct call_counts counts;
    struct table table;
    struct err err;
    const struct jit_codes codes = { .n = 0 };
    call_counts_init(&counts, arena, 1 + n % 2);
    if (call_counts_read(&counts, text, n, "x", &err) == 0) {
        call_counts_judge(&counts, CALLS_AS_IT_RUNS, &codes, NULL, 0);
        call_counts_table(&counts, "x", 5, &table);
        if (table.n_rows > 6)
            abort();
    }
    call_counts_free(&counts);
}

static void read_all(const char *first, const uint8_t *data, size_t n,
                     void (*read)(struct arena *arena, char *text, size_t n))
{
    struct arena arena = { 0 };
    size_t n_first = strlen(first);
    char *text = calloc(1, n_first + n + 1);
    if (text == NULL)
        return;
    memcpy(text, first, n_first);
    if (n > 0)
        memcpy(text + n_first, data, n);
    read(&arena, text, n_first + n);
    arena_free(&arena);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    read_all("", data, n, read_objects);
    read_all("mmprof-objects 1\n", data, n, read_objects);
    read_all("mmprof-receivers 1\n", data, n, read_receivers);
    read_all("mmprof-calls 1\n", data, n, read_calls);
    return 0;
}
