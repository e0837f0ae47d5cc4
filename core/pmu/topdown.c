#include "core/pmu/topdown.h"

#include "core/pmu/events.h"

#include <ctype.h>
#include <math.h>

const char *const topdown_part_names[TOPDOWN_PARTS] = { "retiring",      "bad_speculation", "frontend_bound",
                                                        "backend_bound", "memory_bound",    "core_bound",
                                                        "smt_contention" };

/* ---- formulas ---- */

/* clang-format off */

/*
 * Arm's STALL_SLOT is the sum of its two parts, which stand here instead: with it the events need a counter more than
 * there are.  A mispredicted branch has so many cycles of stalls that are not the front end's or the back end's fault.
 */
#define ARM_SENT(FRONT) "(1 - (" FRONT " + STALL_SLOT_BACKEND) / (width * cycles))"
#define ARM_SLOTS(FRONT, OF_FRONT, OF_BACK) { \
    "OP_RETIRED / OP_SPEC * " ARM_SENT(FRONT), \
    "(1 - OP_RETIRED / OP_SPEC) * " ARM_SENT(FRONT) " + 4 * BR_MIS_PRED / cycles", \
    FRONT " / (width * cycles) - " OF_FRONT " * BR_MIS_PRED / cycles", \
    "STALL_SLOT_BACKEND / (width * cycles) - " OF_BACK " * BR_MIS_PRED / cycles" }
#define ARM_REST   "Arm publishes no formula that splits this processor's back-end bound", NULL
#define ARM_SOURCE "Arm Telemetry Solution, Topdown_L1"

#define INTEL_4_WIDE \
    "UOPS_RETIRED:RETIRE_SLOTS / (width * cycles)", \
    "(UOPS_ISSUED:ANY - UOPS_RETIRED:RETIRE_SLOTS + width * INT_MISC:RECOVERY_CYCLES) / (width * cycles)", \
    "IDQ_UOPS_NOT_DELIVERED:CORE / (width * cycles)", "1 - frontend_bound - bad_speculation - retiring"
#define INTEL_SLOTS \
    "UOPS_RETIRED:SLOTS / TOPDOWN:SLOTS", "1 - retiring - frontend_bound - backend_bound", \
    "(IDQ_UOPS_NOT_DELIVERED:CORE - INT_MISC:UOP_DROPPING) / TOPDOWN:SLOTS"
#define INTEL_MEMORY \
    "backend_bound * (CYCLE_ACTIVITY:STALLS_MEM_ANY + EXE_ACTIVITY:BOUND_ON_STORES) / " \
    "(CYCLE_ACTIVITY:STALLS_TOTAL + EXE_ACTIVITY:1_PORTS_UTIL + retiring * EXE_ACTIVITY:2_PORTS_UTIL + " \
    "EXE_ACTIVITY:BOUND_ON_STORES)"
#define CORE_REST     "backend_bound - memory_bound"
#define INTEL_THREADS "where both hyper-threads of a core run, the other one's slots count as back-end bound"
#define INTEL_SOURCE  "Intel TMA metrics"

/* Zen's events by libpfm4's names or by their codes. */
#define ZEN_SLOTS(FRONT, BACK, OTHER, RETIRED, DISPATCHED, LOADS, ALL) { \
    RETIRED " / (width * cycles)", "(" DISPATCHED " - " RETIRED ") / (width * cycles)", \
    FRONT " / (width * cycles)", BACK " / (width * cycles)", "backend_bound * " LOADS " / " ALL, CORE_REST, \
    OTHER " / (width * cycles)" }
#define AMD_SOURCE "AMD Processor Programming Reference, pipeline utilization"

#define OF_CYCLES(WHAT) "simulated::" WHAT "-cycles / simulated::cycles"

/*
 * Intel's PERF_METRICS register has these parts as shares, which a probe that reads counters cannot use: the counted
 * events are those of Intel's formulas for processors without it.  r02a4 and r10a4 are TOPDOWN.BACKEND_BOUND_SLOTS and
 * TOPDOWN.MEMORY_BOUND_SLOTS, for which libpfm4 4.13 has another event's code.  It does not know Zen 5.
 */
const struct topdown_cpu topdown_cpus[] = {
    { "arm_n1", "Arm Neoverse N1", 4,
      { [TOPDOWN_FRONTEND] = "STALL_FRONTEND / cycles", [TOPDOWN_BACKEND] = "STALL_BACKEND / cycles" },
      "Neoverse N1 counts stalled cycles, not slots",
      "front-end and back-end bound are shares of cycles, not of slots, and do not add up to 100 %", ARM_SOURCE },
    { "arm_n2", "Arm Neoverse N2", 5, ARM_SLOTS("STALL_SLOT_FRONTEND", "1", "3"), ARM_REST, ARM_SOURCE },
    { "arm_n2", "Arm Neoverse N2 before r0p3", 5, ARM_SLOTS("(STALL_SLOT_FRONTEND - cycles)", "1", "3"), ARM_REST,
      ARM_SOURCE ", and the N2's errata" },
    { "arm_v1", "Arm Neoverse V1", 8, ARM_SLOTS("STALL_SLOT_FRONTEND", "4", "0"), ARM_REST, ARM_SOURCE },
    { "arm_v2", "Arm Neoverse V2", 8, ARM_SLOTS("STALL_SLOT_FRONTEND", "1", "3"), ARM_REST, ARM_SOURCE },
    { "snb snb_ep ivb ivb_ep hsw hsw_ep bdw bdw_ep", "Intel Sandy Bridge to Broadwell", 4, { INTEL_4_WIDE },
      "mmprof splits Intel's back-end bound from Skylake on", INTEL_THREADS, INTEL_SOURCE },
    { "skl skx clx", "Intel Skylake", 4, { INTEL_4_WIDE, INTEL_MEMORY, CORE_REST }, NULL, INTEL_THREADS, INTEL_SOURCE },
    { "icl icx", "Intel Ice Lake", 5,
      { INTEL_SLOTS, "(r02a4 + width * INT_MISC:CLEARS_COUNT) / TOPDOWN:SLOTS", INTEL_MEMORY, CORE_REST },
      NULL, NULL, INTEL_SOURCE },
    { "spr emr", "Intel Sapphire Rapids", 6,
      { INTEL_SLOTS, "r02a4 / TOPDOWN:SLOTS", "r10a4 / TOPDOWN:SLOTS", CORE_REST }, NULL, NULL, INTEL_SOURCE },
    { "amd64_fam19h_zen4", "AMD Zen 4", 6,
      ZEN_SLOTS("DISPATCH_STALLS_1:FE_NO_OPS", "DISPATCH_STALLS_1:BE_STALLS", "DISPATCH_STALLS_1:SMT_CONTENTION",
                "RETIRED_OPS", "OPS_SOURCE_DISPATCHED_FROM_DECODER:DECODER:OPCACHE:LOOP_BUFFER",
                "CYCLES_NO_RETIRE:NOT_COMPLETE_MISSING_LOAD", "CYCLES_NO_RETIRE:NOT_COMPLETE_LOAD_AND_ALU"),
      NULL, NULL, AMD_SOURCE },
    { "amd64_fam1ah_zen5", "AMD Zen 5", 8,
      ZEN_SLOTS("r1000001a0", "r100001ea0", "r1000060a0", "r00c1", "r07aa", "ra2d6", "r02d6"), NULL, NULL, AMD_SOURCE },
    { "amd64_fam17h amd64_fam17h_zen1 amd64_fam17h_zen2 amd64_fam19h_zen3", "AMD Zen 1 to 3", 6, { NULL },
      "AMD publishes such formulas from Zen 4 on", NULL, AMD_SOURCE },
    { "simulated", "the simulated processor", 1,
      { OF_CYCLES("instruction"), OF_CYCLES("mispredict"), OF_CYCLES("frontend"), OF_CYCLES("memory"),
        OF_CYCLES("memory") },
      "the simulated processor has no execution ports",
      "they are shares of the sum of costs; retiring is what instructions cost without misses", "mmprof's simulator" },
    { NULL, NULL, 0, { NULL }, NULL, NULL, NULL },
};
/* clang-format on */

/* Where a name is in a list with such separators, or NULL. */
static const char *find_word(const char *list, const char *separator, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; *at != '\0'; at += strspn(at, separator)) {
        size_t length = strcspn(at, separator);
        if (length == n && strncmp(at, name, n) == 0)
            return at;
        at += length;
    }
    return NULL;
}

const struct topdown_cpu *topdown_for(const char *pmu, bool is_early)
{
    const struct topdown_cpu *found = NULL;
    for (const struct topdown_cpu *cpu = topdown_cpus; cpu->pmus != NULL; cpu++)
        if (find_word(cpu->pmus, " ", pmu) != NULL && (found == NULL || is_early))
            found = cpu;
    return found;
}

const struct topdown_cpu *topdown_named(const char *name)
{
    for (const struct topdown_cpu *cpu = topdown_cpus; name != NULL && cpu->pmus != NULL; cpu++)
        if (strcmp(cpu->name, name) == 0)
            return cpu;
    return NULL;
}

/* ---- evaluation ---- */

struct formula {
    const struct topdown_cpu *cpu;
    const char *at;
    topdown_count_fn *count;
    void *context;
};

static double sum_of(struct formula *f);

static char next_of(struct formula *f)
{
    f->at += strspn(f->at, " ");
    return *f->at;
}

static double name_value(struct formula *f)
{
    char name[96];
    size_t n = 0;
    for (; isalnum((unsigned char)*f->at) || (*f->at != '\0' && strchr("_:-", *f->at) != NULL); f->at++)
        if (n + 1 < sizeof name)
            name[n++] = *f->at;
    name[n] = '\0';
    for (enum topdown_part part = 0; part < TOPDOWN_PARTS; part++)
        if (strcmp(name, topdown_part_names[part]) == 0)
            return topdown_value(f->cpu, part, f->count, f->context);
    return strcmp(name, "width") == 0 ? f->cpu->width : f->count(name, f->context);
}

static double factor_of(struct formula *f)
{
    double value;
    if (next_of(f) == '(') {
        f->at++;
        value = sum_of(f);
        f->at += next_of(f) == ')';
        return value;
    }
    if (!isdigit((unsigned char)*f->at))
        return name_value(f);
    char *end;
    value = strtod(f->at, &end);
    f->at = end;
    return value;
}

static double product_of(struct formula *f)
{
    double value = factor_of(f);
    for (char c = next_of(f); c == '*' || c == '/'; c = next_of(f)) {
        f->at++;
        double other = factor_of(f);
        value = c == '*' ? value * other : value / other;
    }
    return value;
}

static double sum_of(struct formula *f)
{
    double value = product_of(f);
    for (char c = next_of(f); c == '+' || c == '-'; c = next_of(f)) {
        f->at++;
        double other = product_of(f);
        value += c == '+' ? other : -other;
    }
    return value;
}

double topdown_value(const struct topdown_cpu *cpu, enum topdown_part part, topdown_count_fn *count, void *context)
{
    struct formula f = { cpu, cpu->formulas[part], count, context };
    double value = f.at == NULL ? NAN : sum_of(&f);
    /* Where events are estimates, a small part may come out below 0. */
    return !isfinite(value) ? NAN : fmax(value, 0);
}

/* ---- events ---- */

static double compare(const char *event, void *context)
{
    const char **sought = context;
    if (*sought != NULL && strcasecmp(event, *sought) == 0)
        *sought = NULL;
    return 1;
}

bool topdown_uses(const struct topdown_cpu *cpu, enum topdown_part part, const char *event)
{
    const char *sought = event;
    topdown_value(cpu, part, compare, &sought);
    return sought == NULL;
}

/* A list that grows, in the arena, of what the user's list has not. */
struct event_list {
    struct arena *arena;
    const char *besides, *text; /* with commas */
};

static double append(const char *event, void *context)
{
    struct event_list *list = context;
    if (find_word(list->besides, ",", event) == NULL && find_word(list->text, ",", event) == NULL)
        list->text = arena_printf(list->arena, "%s%s%s", list->text, list->text[0] == '\0' ? "" : ",", event);
    return 1;
}

/* Arm's r0p0 to r0p2. */
static bool is_early_revision(void)
{
    FILE *in = fopen("/proc/cpuinfo", "re");
    unsigned long variant = 1, revision = 0;
    char line[256];
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon != NULL && strncmp(line, "CPU variant", 11) == 0)
            variant = strtoul(colon + 1, NULL, 0);
        if (colon != NULL && strncmp(line, "CPU revision", 12) == 0)
            revision = strtoul(colon + 1, NULL, 0);
    }
    if (in != NULL)
        fclose(in);
    return variant == 0 && revision < 3;
}

static const struct topdown_cpu *find_formulas(const char *pmu, struct err *err)
{
    const struct topdown_cpu *cpu = topdown_for(pmu, is_early_revision());
    if (cpu != NULL && cpu->formulas[TOPDOWN_FRONTEND] != NULL)
        return cpu;
    if (cpu != NULL)
        err_set(err, "'" TOPDOWN_ALIAS "' has no formulas for '%s': %s", pmu, cpu->why_none);
    else if (pmu[0] == '\0')
        err_set(err, "'" TOPDOWN_ALIAS "' has no formulas here: libpfm4 does not know this processor");
    else
        err_set(err, "'" TOPDOWN_ALIAS "' has no formulas for '%s'", pmu);
    err_next(err, "'mmprof list' shows the events that count here");
    return NULL;
}

const char *topdown_expand(const char *list, const char *pmu, struct arena *arena, const char **used, struct err *err)
{
    struct event_list events = { arena, list, "" };
    const char *at = find_word(list, ",", TOPDOWN_ALIAS);
    *used = NULL;
    if (at == NULL)
        return list;
    const struct topdown_cpu *cpu = find_formulas(pmu == NULL ? events_pmu_name() : pmu, err);
    if (cpu == NULL)
        return NULL;
    bool is_simulated = strcmp(cpu->pmus, "simulated") == 0;
    append(is_simulated ? "simulated::cycles" : "cycles", &events);
    append(is_simulated ? "simulated::instructions" : "instructions", &events);
    for (enum topdown_part part = 0; part < TOPDOWN_PARTS; part++)
        topdown_value(cpu, part, append, &events);
    *used = cpu->name;
    return arena_printf(arena, "%.*s%s%s", (int)(at - list), list, events.text, at + strlen(TOPDOWN_ALIAS));
}
