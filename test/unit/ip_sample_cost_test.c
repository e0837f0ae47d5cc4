/*
 * What an IP sample of the CPU clock costs: from rounds of which some were disturbed.
 */
#include "core/perf/perf_rings.h"
#include "test/unit/tap.h"

static struct ip_sample_cost_round round_of(uint64_t plain_us, uint64_t ip_samples_us, uint64_t n)
{
    return (struct ip_sample_cost_round){ plain_us * 1000, ip_samples_us * 1000, n };
}

int main(void)
{
    bool is_measured;
    const struct ip_sample_cost_round quiet[] = { round_of(1000, 1160, 20), round_of(1000, 1160, 20),
                                                  round_of(1000, 1160, 20) };
    CHECK_NUMBER("three rounds alike: what the IP samples took more, by their number", ip_sample_cost_of(quiet, 3),
                 8000);
    CHECK_NUMBER("two are too few", ip_sample_cost_of(quiet, 2), 0);
    const struct ip_sample_cost_round loaded[] = { round_of(1000, 1160, 20), round_of(1400, 1002, 20),
                                                   round_of(1300, 1180, 20), round_of(1100, 990, 20),
                                                   round_of(1000, 1220, 20) };
    CHECK_NUMBER("the loop without IP samples is that of the quickest round, and 95 ns an IP sample are none",
                 ip_sample_cost_of(loaded, 5), 9000);
    const struct ip_sample_cost_round useless[] = { round_of(1000, 1001, 20), round_of(1000, 990, 20),
                                                    round_of(1000, 1160, 0), round_of(1000, 9000, 20) };
    CHECK_NUMBER("less than an interrupt takes, no IP samples, or more than the period: it is not known",
                 ip_sample_cost_of(useless, 4), 0);
    uint64_t ns = kernel_sample_cost_ns(0, &is_measured);
    CHECK("here it is between half a microsecond and 125, or the usual one",
          is_measured ? ns >= 500 && ns < 125000 : ns == IP_SAMPLE_COST_USUAL_NS);
    return tap_done();
}
