#include "core/base/xalloc.h"

#include <malloc.h>
#include <stdarg.h>
#include <sys/mman.h>

#define LARGE_BYTES (128 * 1024) /* from here on memory is the kernel's, with zeros in it */
#define PIECE_BYTES ((size_t)104 * 1024)
#define PIECES_MAX  24u

static const char *next_step;

void out_of_memory_next(const char *next)
{
    next_step = next;
}

/* Not exit: another thread may hold a lock of stdio's, and what a recording wrote is in its file. */
void out_of_memory(void)
{
    char text[512];
    int n = snprintf(text, sizeof text, "mmprof: out of memory\n  next: %s\n",
                     next_step != NULL
                         ? next_step
                         : "free memory, or raise the memory limit of this process (ulimit -v, the container's limit)");
    if (write(STDERR_FILENO, text, (size_t)n < sizeof text ? (size_t)n : sizeof text) < 0)
        _exit(1);
    _exit(1);
}

static void *must(void *memory)
{
    if (memory == NULL)
        out_of_memory();
    return memory;
}

/*
 * In pieces with something in between: in one, what is large and zeroed would be there, too, and be zeroed once more.
 * Where the kernel is old (before 5.14), or another library allocates, nothing is gained and nothing lost.
 */
void xalloc_warm(size_t n_bytes)
{
#ifdef MADV_POPULATE_WRITE
    static void *between[PIECES_MAX];
    void *pieces[PIECES_MAX];
    size_t n = n_bytes / PIECE_BYTES < PIECES_MAX ? n_bytes / PIECE_BYTES : PIECES_MAX;
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    mallopt(M_TOP_PAD, (int)n_bytes);
    for (size_t i = 0; i < n; i++) {
        uintptr_t start = (uintptr_t)(pieces[i] = malloc(PIECE_BYTES)), page = (uintptr_t)sysconf(_SC_PAGESIZE);
        if (start != 0)
            madvise((void *)(start - start % page), PIECE_BYTES + start % page, MADV_POPULATE_WRITE);
        between[i] = between[i] == NULL ? malloc(1) : between[i];
    }
    for (size_t i = 0; i < n; i++)
        free(pieces[i]);
    mallopt(M_TOP_PAD, LARGE_BYTES);
#else
    (void)n_bytes;
#endif
}

void *xmalloc(size_t n_bytes)
{
    return must(malloc(n_bytes == 0 ? 1 : n_bytes));
}

void *xcalloc(size_t n, size_t n_bytes)
{
    return must(n == 0 || n_bytes == 0 ? calloc(1, 1) : calloc(n, n_bytes));
}

void *xrealloc(void *old, size_t n_bytes)
{
    return must(realloc(old, n_bytes == 0 ? 1 : n_bytes));
}

void *xreallocarray(void *old, size_t n, size_t n_bytes)
{
    if (n_bytes != 0 && n > SIZE_MAX / n_bytes)
        out_of_memory();
    return xrealloc(old, n * n_bytes);
}

char *xstrdup(const char *text)
{
    return must(strdup(text));
}

char *xstrndup(const char *text, size_t n)
{
    return must(strndup(text, n));
}

char *xasprintf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text;
    if (vasprintf(&text, format, arguments) < 0)
        out_of_memory();
    va_end(arguments);
    return text;
}

FILE *xopen_memstream(char **text, size_t *n)
{
    return must(open_memstream(text, n));
}

void xclose_memstream(FILE *out)
{
    if (fclose(out) != 0)
        out_of_memory();
}

void xgrow_room(void *array, size_t element_bytes, void *room, size_t room_bytes, size_t n, bool is_zeroed)
{
    if (vec_make_room(array, element_bytes, room, room_bytes, n, is_zeroed) < 0)
        out_of_memory();
}

struct hash_slot *xhash_put(struct hash_set *set, uint64_t key)
{
    return must(hash_put(set, key));
}

void xhash_store(struct hash_set *set, uint64_t number, uint32_t value)
{
    xhash_put(set, hash_address(number))->value = value;
}
