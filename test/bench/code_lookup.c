/*
 * From an address to the compiled method that it is in, three ways, and with a cache of addresses in front:
 *
 *     binary_search  sorted methods
 *     page_table     PEBSI §5.1.4: of each page the methods that touch it, looked through one by one
 *     segment_map    HotSpot's own: of each segment how far back its block begins, in steps of up to 253
 *     cache          a hash table of addresses that were asked for before, as core/hotspot/code_blobs.c has it
 *
 *     code_lookup [METHODS [ADDRESSES]]
 *
 * METHODS (20,000) of 0.3 to 20 KB; ADDRESSES (2,000) different ones, as often as a program's hot ones are: by Zipf's
 * law.  Prints ns for one look-up of any address of the code, and of those.
 */
#include "core/base/hash.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAGE        4096u
#define SEGMENT     128u
#define HOPS        253u
#define LOOKUPS     4000000u
#define CACHE_SLOTS (1u << 17)

struct piece {
    uint64_t begin, end;
};

struct page {
    uint32_t first, n; /* in 'touching' */
};

struct slot {
    uint64_t pc;
    uint32_t method;
};

static struct {
    struct piece *methods;
    uint32_t n;
    uint64_t low, n_bytes;
    struct page *pages;
    uint32_t *touching;
    uint8_t *segments;
    uint32_t *at_segment; /* the method that begins in a segment */
    struct slot *cache;
} code;

static uint64_t state = 42;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* ---- the code ---- */

static void make_methods(uint32_t n)
{
    code.n = n;
    code.low = UINT64_C(0x7f0000000000);
    code.methods = calloc(n, sizeof *code.methods);
    uint64_t at = code.low;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t n_bytes = UINT64_C(300) << next_random() % 7;
        code.methods[i] = (struct piece){ at, at + n_bytes - next_random() % 100 };
        at += (n_bytes + SEGMENT - 1) / SEGMENT * SEGMENT;
    }
    code.n_bytes = at - code.low;
}

static void make_pages(void)
{
    size_t n_pages = code.n_bytes / PAGE + 1, n = 0;
    code.pages = calloc(n_pages, sizeof *code.pages);
    code.touching = calloc(code.n + n_pages, sizeof *code.touching);
    for (uint32_t i = 0; i < code.n; i++)
        for (uint64_t p = (code.methods[i].begin - code.low) / PAGE; p <= (code.methods[i].end - 1 - code.low) / PAGE;
             p++) {
            if (code.pages[p].n++ == 0)
                code.pages[p].first = (uint32_t)n;
            code.touching[n++] = i; /* methods come in order: those of a page stand together */
        }
}

static void make_segments(void)
{
    size_t n = code.n_bytes / SEGMENT + 1;
    code.segments = calloc(n, 1);
    code.at_segment = calloc(n, sizeof *code.at_segment);
    for (uint32_t i = 0; i < code.n; i++) {
        uint64_t first = (code.methods[i].begin - code.low) / SEGMENT;
        uint64_t end = i + 1 < code.n ? (code.methods[i + 1].begin - code.low) / SEGMENT : n;
        code.at_segment[first] = i;
        for (uint64_t s = first; s < end; s++)
            code.segments[s] = (uint8_t)(s - first <= HOPS ? s - first : HOPS);
    }
}

/* ---- looking up: the method's number, or UINT32_MAX ---- */

static uint32_t if_in(uint32_t i, uint64_t pc)
{
    return pc >= code.methods[i].begin && pc < code.methods[i].end ? i : UINT32_MAX;
}

static uint32_t binary_search(uint64_t pc)
{
    uint32_t low = 0, high = code.n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (code.methods[middle].begin <= pc)
            low = middle;
        else
            high = middle;
    }
    return if_in(low, pc);
}

static uint32_t page_table(uint64_t pc)
{
    const struct page *page = &code.pages[(pc - code.low) / PAGE];
    for (uint32_t i = 0; i < page->n; i++)
        if (if_in(code.touching[page->first + i], pc) != UINT32_MAX)
            return code.touching[page->first + i];
    return UINT32_MAX;
}

static uint32_t segment_map(uint64_t pc)
{
    uint64_t s = (pc - code.low) / SEGMENT;
    while (code.segments[s] > 0)
        s -= code.segments[s];
    return if_in(code.at_segment[s], pc);
}

static uint32_t cache(uint64_t pc)
{
    size_t i = hash_address(pc) % CACHE_SLOTS;
    while (code.cache[i].pc != 0 && code.cache[i].pc != pc)
        i = (i + 1) % CACHE_SLOTS;
    if (code.cache[i].pc == 0)
        code.cache[i] = (struct slot){ pc, segment_map(pc) };
    return code.cache[i].method;
}

/* ---- measuring ---- */

static double measure(uint32_t (*look_up)(uint64_t), const uint64_t *pcs, uint64_t *sum)
{
    struct timespec from, to;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    for (uint32_t i = 0; i < LOOKUPS; i++)
        *sum += look_up(pcs[i]);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / LOOKUPS;
}

static uint64_t any_address(void)
{
    return code.low + next_random() % code.n_bytes;
}

/* The k-th of n has the weight 1 / k: by the logarithm of where it is. */
static void make_hot(uint64_t *pcs, uint32_t n)
{
    uint64_t *hot = calloc(n, sizeof *hot);
    for (uint32_t i = 0; i < n; i++)
        hot[i] = any_address();
    for (uint32_t i = 0; i < LOOKUPS; i++) {
        uint32_t bits = 0;
        while ((1u << (bits + 1)) < n)
            bits++;
        uint32_t octave = (uint32_t)(next_random() >> 20) % (bits + 1);
        uint32_t k = (1u << octave) + (uint32_t)(next_random() >> 20) % (1u << octave);
        pcs[i] = hot[k < n ? k : n - 1];
    }
    free(hot);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint32_t (*look_up)(uint64_t);
    } ways[] = { { "binary_search", binary_search },
                 { "page_table", page_table },
                 { "segment_map", segment_map },
                 { "cache", cache } };
    uint32_t n_methods = argc > 1 ? (uint32_t)atol(argv[1]) : 20000, n_hot = argc > 2 ? (uint32_t)atol(argv[2]) : 2000;
    uint64_t *any = calloc(LOOKUPS, sizeof *any), *hot = calloc(LOOKUPS, sizeof *hot), sums[4] = { 0 };
    make_methods(n_methods);
    make_pages();
    make_segments();
    code.cache = calloc(CACHE_SLOTS, sizeof *code.cache);
    for (uint32_t i = 0; i < LOOKUPS; i++)
        any[i] = any_address();
    make_hot(hot, n_hot);
    printf("%" PRIu32 " methods, %.1f MB; ns a look-up of any address, of %" PRIu32 " hot ones\n", n_methods,
           (double)code.n_bytes / 1e6, n_hot);
    for (size_t i = 0; i < 4; i++) {
        bool is_cache = ways[i].look_up == cache; /* which forgets all when it is full: not for any address */
        double cold = is_cache ? 0 : measure(ways[i].look_up, any, &sums[i]);
        double warm = measure(ways[i].look_up, hot, &sums[i]);
        printf("%-13s %8.1f %8.1f\n", ways[i].name, cold, warm);
    }
    return sums[0] != sums[1] || sums[1] != sums[2];
}
