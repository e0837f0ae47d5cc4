/*
 * bench.Pair in C, for uftrace: compiled with -pg, each call of work() has a probe at its entry and its exit.
 *
 *     pair [stamped] [BURSTS [CALLS [MILLISECONDS]]]
 *     NS 2.713
 *
 * The median over the bursts of the thread's CPU time for a call; stamped: with two timestamps around it, which are
 * stored: the least that a pair of probes could take.
 */
#include "core/base/ticks.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SILENT   __attribute__((no_instrument_function))
#define N_STAMPS 1024

uint64_t stamps[N_STAMPS];

int main(int argc, char **argv);
uint32_t burst(uint32_t calls, uint32_t x);
uint32_t burst_stamped(uint32_t calls, uint32_t x);
uint32_t work(uint32_t x);

SILENT static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

SILENT static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

SILENT static uint32_t number(int argc, char **argv, int index, uint32_t otherwise)
{
    return argc > index ? (uint32_t)strtoul(argv[index], NULL, 10) : otherwise;
}

__attribute__((noinline)) uint32_t work(uint32_t x)
{
    x = x * 31 + (x >> 7);
    x = x * 17 + (x >> 5);
    x = x * 13 + (x >> 3);
    x = x * 11 + (x >> 9);
    return x ^ x >> 16;
}

SILENT __attribute__((noinline)) uint32_t burst(uint32_t calls, uint32_t x)
{
    for (uint32_t i = 0; i < calls; i++)
        x = work(x + i);
    return x;
}

SILENT __attribute__((noinline)) uint32_t burst_stamped(uint32_t calls, uint32_t x)
{
    for (uint32_t i = 0; i < calls; i++) {
        stamps[2 * i % N_STAMPS] = ticks_now();
        x = work(x + i);
        stamps[(2 * i + 1) % N_STAMPS] = ticks_now();
    }
    return x;
}

SILENT int main(int argc, char **argv)
{
    bool is_stamped = argc > 1 && strcmp(argv[1], "stamped") == 0;
    argc -= is_stamped, argv += is_stamped;
    uint32_t bursts = number(argc, argv, 1, 60), calls = number(argc, argv, 2, 100000);
    uint32_t pause_ms = number(argc, argv, 3, 15), x = 1;
    double *ns = calloc(bursts, sizeof *ns);
    if (ns == NULL || bursts == 0 || calls == 0)
        return 1;
    for (uint32_t i = 0; i < bursts; i++) {
        nanosleep(&(struct timespec){ .tv_sec = pause_ms / 1000, .tv_nsec = pause_ms % 1000 * 1000000L }, NULL);
        uint64_t start = now_ns();
        x = is_stamped ? burst_stamped(calls, x) : burst(calls, x);
        ns[i] = (double)(now_ns() - start) / calls;
    }
    qsort(ns, bursts, sizeof *ns, by_size);
    printf("NS %.3f\nRESULT %u\n", ns[bursts / 2], x);
    free(ns);
    return 0;
}
