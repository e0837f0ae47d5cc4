/* Which ratios events make that are read with samples. */
#include "report/sample_cells.h"

#include "test/unit/tap.h"

static const struct {
    const char *claim, *events[4];
    const char *said; /* "HEADING KEY NUMERATOR/DENOMINATOR SCALE; ..." */
} rows[] = {
    { "cycles are per instruction, other hardware events per 1,000",
      { "cycles:u", "instructions:u", "LLC-load-misses" },
      "CPI cpi 0/1 1; LLC-load-misses/1k instr llc_load_misses_per_1000_instructions 2/1 1000; " },
    { "the order does not matter",
      { "instructions", "page-faults", "cycles", "task-clock" },
      "page-faults/s page_faults_per_second 1/3 1e+09; CPI cpi 2/0 1; " },
    { "where there is a clock they are per second",
      { "cpu-clock", "context-switches", "cache-misses" },
      "context-switches/s context_switches_per_second 1/0 1e+09; cache-misses/s cache_misses_per_second 2/0 1e+09; " },
    { "else per event that takes the samples",
      { "page-faults", "context-switches" },
      "context-switches/page-faults context_switches_per_page_faults 1/0 1; " },
    { "one event makes none", { "cycles" }, "" },
};

int main(void)
{
    struct arena arena = { 0 };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sample_ratio_kind kinds[4];
        char said[512] = "";
        uint32_t n = 0;
        size_t used = 0;
        while (n < 4 && rows[i].events[n] != NULL)
            n++;
        int n_kinds = sample_ratio_kinds(rows[i].events, n, &arena, kinds);
        for (int k = 0; k < n_kinds; k++)
            used += (size_t)snprintf(said + used, sizeof said - used, "%s %s %u/%u %g; ", kinds[k].heading,
                                     kinds[k].key, kinds[k].numerator, kinds[k].denominator, kinds[k].scale);
        if (!CHECK(rows[i].claim, strcmp(said, rows[i].said) == 0))
            printf("# is '%s'\n", said);
    }
    arena_free(&arena);
    return tap_done();
}
