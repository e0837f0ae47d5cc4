/*
 * What a hit of the CPU clock costs: from rounds of which some were disturbed.
 */
#include "core/perf/hit_cost.h"
#include "test/unit/tap.h"

static struct hit_cost_round round_of(uint64_t plain_us, uint64_t hits_us, uint64_t n)
{
    return (struct hit_cost_round){ plain_us * 1000, hits_us * 1000, n };
}

int main(void)
{
    bool is_measured;
    const struct hit_cost_round quiet[] = { round_of(1000, 1160, 20), round_of(1000, 1160, 20),
                                            round_of(1000, 1160, 20) };
    CHECK_NUMBER("three rounds alike: what the hits took more, by their number", hit_cost_of(quiet, 3), 8000);
    CHECK_NUMBER("two are too few", hit_cost_of(quiet, 2), 0);
    const struct hit_cost_round loaded[] = { round_of(1000, 1160, 20), round_of(1400, 1002, 20),
                                             round_of(1300, 1180, 20), round_of(1100, 990, 20),
                                             round_of(1000, 1220, 20) };
    CHECK_NUMBER("the loop without hits is that of the quickest round, and 95 ns a hit are none",
                 hit_cost_of(loaded, 5), 9000);
    const struct hit_cost_round useless[] = { round_of(1000, 1001, 20), round_of(1000, 990, 20),
                                              round_of(1000, 1160, 0), round_of(1000, 9000, 20) };
    CHECK_NUMBER("less than an interrupt takes, no hits, or more than the period: it is not known",
                 hit_cost_of(useless, 4), 0);
    uint64_t ns = kernel_hit_cost_ns(&is_measured);
    CHECK("here it is between half a microsecond and 50, or the usual one",
          is_measured ? ns >= 500 && ns < 50000 : ns == HIT_COST_USUAL_NS);
    return tap_done();
}
