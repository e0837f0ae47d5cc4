/*
 * Top-down formulas: against counts worked out by hand, and against what perf printed on such processors.
 */
#include "core/pmu/topdown.h"

#include "test/unit/tap.h"

#include <math.h>
#include <stdlib.h>

/* Counts of events: "cycles=100 OP_SPEC=50". */
static double count_of(const char *event, void *context)
{
    size_t n = strlen(event);
    for (const char *at = context; *at != '\0'; at += strcspn(at, " "), at += strspn(at, " "))
        if (strncmp(at, event, n) == 0 && at[n] == '=')
            return strtod(at + n + 1, NULL);
    return NAN;
}

/*
 * A row's parts in per cent, by hand or as perf printed them; -1: '-'.  Recorded ones:
 * N2: the cover letter of "Add metrics for neoverse-n2", Linux kernel mailing list, 23 Dec 2022 (an early revision;
 *     its formulas had no mispredicted branches yet, so there are none).
 * Skylake: the commit message of "perf metricgroup: Order event groups by size", May 2020; it prints 0.38 and so on.
 * Zen 4: a published run of 'perf stat -M PipelineL1' (Ryzen, 5.2 GHz).
 */
static const struct {
    const char *cpu, *counts;
    double parts[TOPDOWN_PARTS], within;
} rows[] = {
    { "Arm Neoverse N1", "cycles=1000 STALL_FRONTEND=120 STALL_BACKEND=340", { -1, -1, 12, 34, -1, -1, -1 }, 1e-9 },
    /* 5 slots: 1,000 front, 2,000 back, 2,000 sent, of them 3/4 retired; 10 mispredicted: 1, 3, 4 % of the cycles */
    { "Arm Neoverse N2",
      "cycles=1000 OP_RETIRED=1500 OP_SPEC=2000 STALL_SLOT_FRONTEND=1000 STALL_SLOT_BACKEND=2000 BR_MIS_PRED=10",
      { 30, 14, 19, 37, -1, -1, -1 },
      1e-9 },
    /* The same, with the cycles that the erratum adds. */
    { "Arm Neoverse N2 before r0p3",
      "cycles=1000 OP_RETIRED=1500 OP_SPEC=2000 STALL_SLOT_FRONTEND=2000 STALL_SLOT_BACKEND=2000 BR_MIS_PRED=10",
      { 30, 14, 19, 37, -1, -1, -1 },
      1e-9 },
    { "Arm Neoverse N2 before r0p3",
      "cycles=4319265740 OP_RETIRED=854335288 OP_SPEC=855659327 STALL_SLOT_FRONTEND=10207186460 "
      "STALL_SLOT_BACKEND=14979136808 BR_MIS_PRED=0",
      { 4.0, 0.0, 27.1, 69.4, -1, -1, -1 },
      1 }, /* the four counts are of different times (66.9 % each), so perf's sum is 100.5 */
    { "Arm Neoverse V1",
      "cycles=1000 OP_RETIRED=3000 OP_SPEC=4000 STALL_SLOT_FRONTEND=1600 STALL_SLOT_BACKEND=2400 BR_MIS_PRED=10",
      { 37.5, 16.5, 16, 30, -1, -1, -1 },
      1e-9 },
    { "Arm Neoverse V2",
      "cycles=1000 OP_RETIRED=3000 OP_SPEC=4000 STALL_SLOT_FRONTEND=1600 STALL_SLOT_BACKEND=2400 BR_MIS_PRED=10",
      { 37.5, 16.5, 19, 27, -1, -1, -1 },
      1e-9 },
    { "Intel Sandy Bridge to Broadwell",
      "cycles=1087548633 UOPS_ISSUED:ANY=769694676 IDQ_UOPS_NOT_DELIVERED:CORE=1642085777 "
      "UOPS_RETIRED:RETIRE_SLOTS=603112590 INT_MISC:RECOVERY_CYCLES=43787854",
      { 14, 8, 38, 41, -1, -1, -1 },
      0.6 },
    /* Half of the back end's 50 %: (30 + 10) / (50 + 10 + 0.25 * 40 + 10) */
    { "Intel Skylake",
      "cycles=100 UOPS_ISSUED:ANY=120 IDQ_UOPS_NOT_DELIVERED:CORE=60 UOPS_RETIRED:RETIRE_SLOTS=100 "
      "INT_MISC:RECOVERY_CYCLES=5 CYCLE_ACTIVITY:STALLS_MEM_ANY=30 CYCLE_ACTIVITY:STALLS_TOTAL=50 "
      "EXE_ACTIVITY:BOUND_ON_STORES=10 EXE_ACTIVITY:1_PORTS_UTIL=10 EXE_ACTIVITY:2_PORTS_UTIL=40",
      { 25, 10, 15, 50, 25, 25, -1 },
      1e-9 },
    { "Intel Ice Lake",
      "TOPDOWN:SLOTS=1000 UOPS_RETIRED:SLOTS=400 IDQ_UOPS_NOT_DELIVERED:CORE=220 INT_MISC:UOP_DROPPING=20 r02a4=250 "
      "INT_MISC:CLEARS_COUNT=10 CYCLE_ACTIVITY:STALLS_MEM_ANY=15 CYCLE_ACTIVITY:STALLS_TOTAL=50 "
      "EXE_ACTIVITY:BOUND_ON_STORES=5 EXE_ACTIVITY:1_PORTS_UTIL=5 EXE_ACTIVITY:2_PORTS_UTIL=50",
      { 40, 10, 20, 30, 7.5, 22.5, -1 },
      1e-9 },
    { "Intel Sapphire Rapids",
      "TOPDOWN:SLOTS=1000 UOPS_RETIRED:SLOTS=400 IDQ_UOPS_NOT_DELIVERED:CORE=220 INT_MISC:UOP_DROPPING=20 r02a4=300 "
      "r10a4=200",
      { 40, 10, 20, 30, 20, 10, -1 },
      1e-9 },
    { "AMD Zen 4",
      "cycles=44116386583 RETIRED_OPS=214351198437 DISPATCH_STALLS_1:FE_NO_OPS=5543991665 "
      "DISPATCH_STALLS_1:BE_STALLS=39403115284 DISPATCH_STALLS_1:SMT_CONTENTION=0 "
      "OPS_SOURCE_DISPATCHED_FROM_DECODER:DECODER:OPCACHE:LOOP_BUFFER=219730483625 "
      "CYCLES_NO_RETIRE:NOT_COMPLETE_MISSING_LOAD=1 CYCLES_NO_RETIRE:NOT_COMPLETE_LOAD_AND_ALU=4",
      { 81.0, 2.0, 2.1, 14.9, 14.9 / 4, 14.9 * 3 / 4, 0 },
      0.06 },
    { "AMD Zen 5",
      "cycles=1000 r1000001a0=800 r100001ea0=2400 r1000060a0=400 r00c1=4000 r07aa=4400 ra2d6=300 r02d6=400",
      { 50, 5, 10, 30, 22.5, 7.5, 5 },
      1e-9 },
    { "the simulated processor",
      "simulated::cycles=200 simulated::instruction-cycles=80 simulated::mispredict-cycles=20 "
      "simulated::frontend-cycles=40 simulated::memory-cycles=60",
      { 40, 10, 20, 30, 30, -1, -1 },
      1e-9 },
};

static void test_row(size_t row)
{
    char claim[160];
    const struct topdown_cpu *cpu = topdown_named(rows[row].cpu);
    char counts[800];
    bool agree = cpu != NULL;
    double all = 0;
    snprintf(counts, sizeof counts, "%s", rows[row].counts);
    for (enum topdown_part part = 0; cpu != NULL && part < TOPDOWN_PARTS; part++) {
        double value = 100 * topdown_value(cpu, part, count_of, counts), expected = rows[row].parts[part];
        bool is_level_2 = part == TOPDOWN_MEMORY || part == TOPDOWN_CORE;
        all += isnan(value) || is_level_2 ? 0 : value;
        if (expected < 0 ? isnan(value) : fabs(value - expected) <= rows[row].within)
            continue;
        printf("# %s: %.3f, not %.3f\n", topdown_part_names[part], value, expected);
        agree = false;
    }
    snprintf(claim, sizeof claim, "%s: each part is as worked out, or as perf printed it", rows[row].cpu);
    CHECK(claim, agree);
    snprintf(claim, sizeof claim, "%s: the parts of level 1 add up to 100 %%", rows[row].cpu);
    if (rows[row].parts[TOPDOWN_RETIRING] >= 0)
        CHECK(claim, fabs(all - 100) < (rows[row].within > 0.1 ? rows[row].within : 0.06));
}

static double one(const char *event, void *context)
{
    (void)event;
    (void)context;
    return 1;
}

/* Every row has a case above, says why parts are missing, and where it is from. */
static void test_table(void)
{
    bool complete = true;
    for (const struct topdown_cpu *cpu = topdown_cpus; cpu->pmus != NULL; cpu++) {
        size_t n_parts = 0, n_cases = 0;
        for (enum topdown_part part = 0; part < TOPDOWN_OTHER_THREAD; part++)
            n_parts += cpu->formulas[part] != NULL && !isnan(topdown_value(cpu, part, one, NULL));
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            n_cases += topdown_named(rows[i].cpu) == cpu;
        bool ok = (n_parts == 0 || n_cases > 0) && (n_parts == TOPDOWN_OTHER_THREAD) == (cpu->why_none == NULL) &&
                  cpu->source != NULL;
        if (!ok)
            printf("# %s: %zu parts, %zu cases\n", cpu->name, n_parts, n_cases);
        complete = complete && ok;
    }
    CHECK("each row has a case, a source, and a reason if parts are missing", complete);
}

static void test_expand(struct arena *arena)
{
    const char *used;
    struct err err = { "" };
    CHECK_TEXT("the alias stands for what the formulas need, after cycles and instructions",
               topdown_expand("branch-misses,topdown,cycles", "arm_n1", arena, &used, &err),
               "branch-misses,instructions,STALL_FRONTEND,STALL_BACKEND,cycles");
    CHECK_TEXT("which says whose they are", used, "Arm Neoverse N1");
    CHECK_TEXT("other lists stay", topdown_expand("r0topdown,cpu/topdown/", "arm_n1", arena, &used, &err),
               "r0topdown,cpu/topdown/");
    CHECK("and are nobody's", used == NULL);
    CHECK("a PMU whose vendor has no formulas is refused, and why",
          topdown_expand("topdown", "amd64_fam19h_zen3", arena, &used, &err) == NULL &&
              strstr(err.text, "AMD publishes such formulas from Zen 4 on") != NULL);
    CHECK("one that nobody knows, too", topdown_expand("topdown", "", arena, &used, &err) == NULL &&
                                            topdown_expand("topdown", "arm_n11", arena, &used, &err) == NULL);
    CHECK_TEXT("the erratum is of early revisions of the N2", topdown_for("arm_n2", true)->name,
               "Arm Neoverse N2 before r0p3");
    CHECK_TEXT("not of later ones", topdown_for("arm_n2", false)->name, "Arm Neoverse N2");
}

int main(void)
{
    struct arena arena = { 0 };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        test_row(i);
    test_table();
    test_expand(&arena);
    arena_free(&arena);
    return tap_done();
}
