/* The times of a method by the clock that phases are selected by. */
#include "phases/select/select.h"

uint64_t phases_total_ticks(const struct calltree_total *total, enum phases_clock clock)
{
    return clock == PHASES_CPU ? total->total_cpu_ticks : total->total_wall_ticks;
}

uint64_t phases_self_ticks(const struct calltree_total *total, enum phases_clock clock)
{
    return clock == PHASES_CPU ? total->cpu_ticks : total->wall_ticks;
}
