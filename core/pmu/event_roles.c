#include "core/pmu/event_roles.h"

#include "core/pmu/events.h"

#include <ctype.h>

#define NAME_BYTES 128

/* Names as libpfm4, perf and the vendors' manuals have them, in lower case with '-' for '_'.  A star ends a prefix. */
static const struct {
    const char *name;
    enum event_role role;
    const char *heading;
} aliases[] = {
    { "cycles", EVENT_CYCLES, "cycles" },
    { "cpu-cycles", EVENT_CYCLES, "cycles" },
    { "unhalted-core-cycles", EVENT_CYCLES, "cycles" },
    { "cpu-clk-unhalted*", EVENT_CYCLES, "cycles" },
    { "cycles-not-in-halt", EVENT_CYCLES, "cycles" },
    { "instructions", EVENT_INSTRUCTIONS, "instructions" },
    { "instruction-retired", EVENT_INSTRUCTIONS, "instructions" },
    { "instructions-retired", EVENT_INSTRUCTIONS, "instructions" },
    { "retired-instructions", EVENT_INSTRUCTIONS, "instructions" },
    { "inst-retired*", EVENT_INSTRUCTIONS, "instructions" },
    { "page-faults", EVENT_FAULTS, "page faults" },
    { "faults", EVENT_FAULTS, "page faults" },
    { "context-switches", EVENT_SWITCHES, "switches" },
    { "cs", EVENT_SWITCHES, "switches" },
    { "migrations", EVENT_COUNT, "cpu-migrations" },
    { "task-clock", EVENT_CPU_TIME, "CPU time" },
    { "cpu-clock", EVENT_CPU_TIME, "CPU time" },
    { "l1-dcache-load-misses", EVENT_MISSES, "L1-D" },
    { "l1-dcache-misses", EVENT_MISSES, "L1-D" },
    { "cache-l1d:read:miss", EVENT_MISSES, "L1-D" },
    { "cache-l1d:miss:read", EVENT_MISSES, "L1-D" },
    { "l1d-cache-refill", EVENT_MISSES, "L1-D" },
    { "l1d:replacement", EVENT_MISSES, "L1-D" },
    { "l1-icache-load-misses", EVENT_MISSES, "L1-I" },
    { "l1-icache-misses", EVENT_MISSES, "L1-I" },
    { "cache-l1i:read:miss", EVENT_MISSES, "L1-I" },
    { "cache-l1i:miss:read", EVENT_MISSES, "L1-I" },
    { "l1i-cache-refill", EVENT_MISSES, "L1-I" },
    { "icache-64b:iftag-miss", EVENT_MISSES, "L1-I" },
    { "ic-tag-hit-miss:ic-miss", EVENT_MISSES, "L1-I" },
    { "32-byte-instruction-cache-misses", EVENT_MISSES, "L1-I" },
    { "requests-to-l2-group1:rd-blk-l:ls-rd-blk-c-s", EVENT_MISSES, "L1 loads" },
    { "mem-load-retired:l1-miss", EVENT_MISSES, "L1 loads" },
    { "mem-load-uops-retired:l1-miss", EVENT_MISSES, "L1 loads" },
    { "l1d-cache-refill-rd", EVENT_MISSES, "L1 loads" },
    { "requests-to-l2-group1:rd-blk-x", EVENT_MISSES, "L1 stores" },
    { "l2-rqsts:all-rfo", EVENT_MISSES, "L1 stores" },
    { "l1d-cache-refill-wr", EVENT_MISSES, "L1 stores" },
    { "l1-dcache-store-misses", EVENT_MISSES, "L1 stores" },
    { "l2-rqsts:demand-data-rd-miss", EVENT_MISSES, "L2 loads" },
    { "l2d-cache-refill-rd", EVENT_MISSES, "L2 loads" },
    { "l2-rqsts:rfo-miss", EVENT_MISSES, "L2 stores" },
    { "l2d-cache-refill-wr", EVENT_MISSES, "L2 stores" },
    { "core-to-l2-cacheable-request-access-status:ls-rd-blk-c", EVENT_MISSES, "L2-D" },
    { "l2d-cache-refill", EVENT_MISSES, "L2-D" },
    { "l2-rqsts:code-rd-miss", EVENT_MISSES, "L2-I" },
    { "core-to-l2-cacheable-request-access-status:ic-fill-miss", EVENT_MISSES, "L2-I" },
    { "l1-load-misses", EVENT_MISSES, "L1 loads" }, /* from here on names of simulated events */
    { "l1-store-misses", EVENT_MISSES, "L1 stores" },
    { "l2-data-misses", EVENT_MISSES, "L2-D" },
    { "l2-code-misses", EVENT_MISSES, "L2-I" },
    { "l2-load-misses", EVENT_MISSES, "L2 loads" },
    { "l2-store-misses", EVENT_MISSES, "L2 stores" },
    { "llc-load-misses", EVENT_MISSES, "LLC" },
    { "cache-ll:read:miss", EVENT_MISSES, "LLC" },
    { "cache-misses", EVENT_MISSES, "LLC" },
    { "ll-cache-miss-rd", EVENT_MISSES, "LLC" },
    { "mem-load-retired:l3-miss", EVENT_MISSES, "LLC" },
    { "mem-load-uops-retired:l3-miss", EVENT_MISSES, "LLC" },
    { "data-cache-refills-from-system:ls-mabresp-lcl-dram:ls-mabresp-rmt-dram", EVENT_MISSES, "LLC" },
    { "demand-data-cache-fills-from-system:mem-io-lcl:mem-io-rmt", EVENT_MISSES, "LLC" },
    { "demand-data-cache-fills-from-system:dram-io-near:dram-io-far", EVENT_MISSES, "LLC" },
    { "dtlb-load-misses", EVENT_MISSES, "D-TLB" },
    { "dtlb-misses", EVENT_MISSES, "D-TLB" },
    { "cache-dtlb:read:miss", EVENT_MISSES, "D-TLB" },
    { "dtlb-walk", EVENT_MISSES, "D-TLB" },
    { "l1d-tlb-refill", EVENT_MISSES, "D-TLB" },
    { "dtlb-load-misses:walk-completed", EVENT_MISSES, "D-TLB" },
    { "itlb-load-misses", EVENT_MISSES, "I-TLB" },
    { "itlb-misses", EVENT_MISSES, "I-TLB" },
    { "cache-itlb:read:miss", EVENT_MISSES, "I-TLB" },
    { "itlb-walk", EVENT_MISSES, "I-TLB" },
    { "l1i-tlb-refill", EVENT_MISSES, "I-TLB" },
    { "itlb-misses:walk-completed", EVENT_MISSES, "I-TLB" },
    { "branch-misses", EVENT_MISSES, "Branches mispredicted" },
    { "branch-mispredicts", EVENT_MISSES, "Branches mispredicted" },
    { "br-misp-retired:all-branches", EVENT_MISSES, "Branches mispredicted" },
    { "br-mis-pred-retired", EVENT_MISSES, "Branches mispredicted" },
    { "br-mis-pred", EVENT_MISSES, "Branches mispredicted" },
    { "branch-mispred", EVENT_MISSES, "Branches mispredicted" },
    { "mispredicted-branch-retired", EVENT_MISSES, "Branches mispredicted" },
    { "retired-branch-instructions-mispredicted", EVENT_MISSES, "Branches mispredicted" },
};

/* Cut ":u", ":u:k", ":p" and the like off the end; unit masks are longer words. */
static void cut_modifiers(char *name)
{
    char *colon;
    while ((colon = strrchr(name, ':')) != NULL && colon > name && strspn(colon + 1, "ukhp") == strlen(colon + 1))
        *colon = '\0';
}

static void normalize(const char *name, char *plain)
{
    const char *prefix = strstr(name, "::");
    size_t n = 0;
    if (prefix != NULL)
        name = prefix + 2;
    for (; *name != '\0' && n + 1 < NAME_BYTES; name++)
        plain[n++] = *name == '_' || *name == '.' ? '-' : (char)tolower((unsigned char)*name);
    plain[n] = '\0';
    static const char generic[] = "perf-count-hw-";
    if (strncmp(plain, generic, sizeof generic - 1) == 0)
        memmove(plain, plain + sizeof generic - 1, n - (sizeof generic - 1) + 1);
    cut_modifiers(plain);
}

static bool matches(const char *pattern, const char *name)
{
    size_t n = strlen(pattern);
    return pattern[n - 1] == '*' ? strncmp(pattern, name, n - 1) == 0 : strcmp(pattern, name) == 0;
}

enum event_role event_role_of(const char *name, const char **heading)
{
    char plain[NAME_BYTES];
    normalize(name, plain);
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (!matches(aliases[i].name, plain))
            continue;
        *heading = aliases[i].heading;
        return aliases[i].role;
    }
    const struct events_generic *generic = events_generic_find(plain, strlen(plain));
    *heading = name;
    return generic != NULL && generic->type == PERF_TYPE_SOFTWARE ? EVENT_COUNT : EVENT_MISSES;
}
