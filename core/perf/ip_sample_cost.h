/*
 * What it costs a thread to be found by the kernel's CPU clock.
 */
#ifndef CORE_PERF_IP_SAMPLE_COST_H
#define CORE_PERF_IP_SAMPLE_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where it cannot be measured: the middle of what was, 5.7 to 11.8 us in virtual machines. */
#define IP_SAMPLE_COST_USUAL_NS UINT64_C(8300)
/* Likewise with 32 KB of stack: 15 to 23 us. */
#define STACK_SAMPLE_COST_USUAL_NS UINT64_C(19000)

#define IP_SAMPLE_COST_ROUNDS 9

/* The same work without IP samples, and with: the thread's CPU time. */
struct ip_sample_cost_round {
    uint64_t plain_ns, ip_samples_ns;
    uint64_t n_ip_samples;
};

/*
 * Ns of CPU time per IP sample, from n rounds (IP_SAMPLE_COST_ROUNDS at most): the median of those that can be true. An
 * IP sample is an interrupt, which takes more than half a microsecond on any machine, and less than the clock's period.
 * 0: fewer than three rounds say such a thing.
 */
uint64_t ip_sample_cost_of(const struct ip_sample_cost_round *rounds, size_t n);

/*
 * Measure it on this thread, in 7 to 20 ms of its CPU time.
 *
 * stack_bytes  that are copied with each sample, of which 32 KB are tried at most; 0: it has an address and registers
 *
 * Returns the ns, and in *is_measured whether they are measured: else they are the usual ones, for the clock cannot be
 * had, or something disturbed each round.
 */
uint64_t kernel_sample_cost_ns(uint32_t stack_bytes, bool *is_measured);

#endif
