#include "core/base/near.h"
#include "core/pmu/events.h"

#include <ctype.h>
#include <perfmon/pfmlib_perf_event.h>

#define HARDWARE(what) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##what
#define SOFTWARE(what) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##what
#define CACHE(level, operation, result)                                                         \
    PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_##level | PERF_COUNT_HW_CACHE_OP_##operation << 8 | \
                            PERF_COUNT_HW_CACHE_RESULT_##result << 16

const struct events_generic events_generic[] = {
    { "cycles", "CPU cycles while not halted", HARDWARE(CPU_CYCLES) },
    { "instructions", "instructions retired", HARDWARE(INSTRUCTIONS) },
    { "ref-cycles", "cycles at the nominal frequency", HARDWARE(REF_CPU_CYCLES) },
    { "branches", "branch instructions retired", HARDWARE(BRANCH_INSTRUCTIONS) },
    { "branch-misses", "mispredicted branches", HARDWARE(BRANCH_MISSES) },
    { "cache-references", "accesses to the last level cache, as this CPU defines them", HARDWARE(CACHE_REFERENCES) },
    { "cache-misses", "misses of the last level cache, as this CPU defines them", HARDWARE(CACHE_MISSES) },
    { "L1-dcache-loads", "loads looked up in the level 1 data cache", CACHE(L1D, READ, ACCESS) },
    { "L1-dcache-load-misses", "loads that missed the level 1 data cache", CACHE(L1D, READ, MISS) },
    { "L1-dcache-stores", "stores looked up in the level 1 data cache", CACHE(L1D, WRITE, ACCESS) },
    { "L1-icache-loads", "fetches looked up in the level 1 instruction cache", CACHE(L1I, READ, ACCESS) },
    { "L1-icache-load-misses", "fetches that missed the level 1 instruction cache", CACHE(L1I, READ, MISS) },
    { "LLC-loads", "loads looked up in the last level cache", CACHE(LL, READ, ACCESS) },
    { "LLC-load-misses", "loads that missed the last level cache", CACHE(LL, READ, MISS) },
    { "dTLB-loads", "loads looked up in the data TLB", CACHE(DTLB, READ, ACCESS) },
    { "dTLB-load-misses", "loads that missed the data TLB", CACHE(DTLB, READ, MISS) },
    { "iTLB-loads", "fetches looked up in the instruction TLB", CACHE(ITLB, READ, ACCESS) },
    { "iTLB-load-misses", "fetches that missed the instruction TLB", CACHE(ITLB, READ, MISS) },
    { "stalled-cycles-frontend", "cycles in which no instruction came from the front end",
      HARDWARE(STALLED_CYCLES_FRONTEND) },
    { "stalled-cycles-backend", "cycles in which the back end could not take instructions",
      HARDWARE(STALLED_CYCLES_BACKEND) },
    { "bus-cycles", "cycles of the bus", HARDWARE(BUS_CYCLES) },
    { "cpu-migrations", "times the thread moved to another CPU", SOFTWARE(CPU_MIGRATIONS) },
    { "minor-faults", "page faults that needed no I/O", SOFTWARE(PAGE_FAULTS_MIN) },
    { "major-faults", "page faults that needed I/O", SOFTWARE(PAGE_FAULTS_MAJ) },
    { "alignment-faults", "unaligned accesses that the kernel handled", SOFTWARE(ALIGNMENT_FAULTS) },
    { "emulation-faults", "instructions that the kernel emulated", SOFTWARE(EMULATION_FAULTS) },
    /* the last N_DERIVED */
    { "task-clock", "time on the CPU in ns, from context-switch records", SOFTWARE(TASK_CLOCK) },
    { "page-faults", "page faults of user-space instructions, from the kernel's records", SOFTWARE(PAGE_FAULTS) },
    { "context-switches", "times the thread left a CPU, from context-switch records", SOFTWARE(CONTEXT_SWITCHES) },
    { NULL, NULL, 0, 0 },
};

#define N_DERIVED 3

const struct events_generic *events_generic_find(const char *name, size_t n)
{
    for (const struct events_generic *g = events_generic; g->name != NULL; g++)
        if (strlen(g->name) == n && strncasecmp(name, g->name, n) == 0)
            return g;
    return NULL;
}

typedef void visit_event(const pfm_pmu_info_t *pmu, const pfm_event_info_t *event, void *context);

static bool is_core_pmu(const pfm_pmu_info_t *pmu)
{
    return pmu->is_present && pmu->type == PFM_PMU_TYPE_CORE;
}

static void each_core_event(visit_event *visit, void *context)
{
    pfm_pmu_t id;
    if (pfm_initialize() != PFM_SUCCESS)
        return;
    pfm_for_all_pmus(id)
    {
        pfm_pmu_info_t pmu = { .size = sizeof pmu };
        if (pfm_get_pmu_info(id, &pmu) != PFM_SUCCESS || !is_core_pmu(&pmu))
            continue;
        for (int i = pmu.first_event; i != -1; i = pfm_get_event_next(i)) {
            pfm_event_info_t event = { .size = sizeof event };
            if (pfm_get_event_info(i, PFM_OS_PERF_EVENT, &event) == PFM_SUCCESS)
                visit(&pmu, &event, context);
        }
    }
}

static bool find_core_pmu(pfm_pmu_info_t *pmu)
{
    pfm_pmu_t id;
    if (pfm_initialize() != PFM_SUCCESS)
        return false;
    pfm_for_all_pmus(id)
    {
        *pmu = (pfm_pmu_info_t){ .size = sizeof *pmu };
        if (pfm_get_pmu_info(id, pmu) == PFM_SUCCESS && is_core_pmu(pmu))
            return true;
    }
    return false;
}

const char *events_pmu_description(void)
{
    pfm_pmu_info_t pmu;
    return find_core_pmu(&pmu) ? pmu.desc : "";
}

const char *events_pmu_name(void)
{
    pfm_pmu_info_t pmu;
    return find_core_pmu(&pmu) ? pmu.name : "";
}

/* ---- all events ---- */

struct known_event {
    struct arena *arena;
    struct counter_spec *specs; /* the arena's */
    size_t n, capacity;
};

/* Events that cannot be encoded (their unit masks need company) are left out: nobody could ask for them like that. */
static void add_known(struct known_event *known, const char *name, const char *description)
{
    struct err ignored;
    if (name == NULL || known->n == known->capacity)
        return;
    struct counter_spec *spec = &known->specs[known->n];
    if (events_encode(name, known->arena, spec, &ignored) < 0)
        return;
    if (description != NULL)
        spec->description = description;
    known->n++;
}

static void add_event(const pfm_pmu_info_t *pmu, const pfm_event_info_t *event, void *context)
{
    struct known_event *known = context;
    bool has_masks = false;
    for (int i = 0; i < event->nattrs; i++) {
        pfm_event_attr_info_t mask = { .size = sizeof mask };
        if (pfm_get_event_attr_info(event->idx, i, PFM_OS_PERF_EVENT, &mask) != PFM_SUCCESS ||
            mask.type != PFM_ATTR_UMASK)
            continue;
        has_masks = true;
        add_known(known, arena_printf(known->arena, "%s::%s:%s", pmu->name, event->name, mask.name),
                  arena_printf(known->arena, "%s: %s", event->desc, mask.desc));
    }
    if (!has_masks)
        add_known(known, arena_printf(known->arena, "%s::%s", pmu->name, event->name), NULL);
}

static void count_event(const pfm_pmu_info_t *pmu, const pfm_event_info_t *event, void *context)
{
    (void)pmu;
    *(size_t *)context += 1 + (size_t)event->nattrs;
}

void events_known(struct arena *arena, struct counter_spec **specs, size_t *n)
{
    struct known_event known = { .arena = arena };
    size_t n_generic = 0;
    while (events_generic[n_generic].name != NULL)
        n_generic++;
    known.capacity = n_generic;
    each_core_event(count_event, &known.capacity);
    known.specs = arena_alloc(arena, known.capacity * sizeof *known.specs);
    for (size_t i = 0; i < n_generic - N_DERIVED; i++)
        add_known(&known, events_generic[i].name, NULL);
    each_core_event(add_event, &known);
    for (size_t i = n_generic - N_DERIVED; i < n_generic; i++)
        add_known(&known, events_generic[i].name, NULL);
    *specs = known.specs;
    *n = known.n;
}

/* ---- near names ---- */

/* Case, '-' and '_' make no difference; the PMU and the modifiers are left out. */
static void fold(const char *name, char *out)
{
    const char *pmu_end = strstr(name, "::");
    size_t n = 0;
    for (name = pmu_end != NULL ? pmu_end + 2 : name; *name != '\0' && *name != ':' && n + 1 < NEAR_BYTES; name++)
        out[n++] = *name == '_' || *name == '-' ? '.' : (char)tolower((unsigned char)*name);
    out[n] = '\0';
}

static void consider(struct near *near, const char *name)
{
    char folded[NEAR_BYTES];
    fold(name, folded);
    near_consider(near, folded, name);
}

static void consider_event(const pfm_pmu_info_t *pmu, const pfm_event_info_t *event, void *context)
{
    (void)pmu;
    consider(context, event->name);
}

int events_suggest(const char *name, struct err *err)
{
    struct near near;
    char folded[NEAR_BYTES];
    fold(name, folded);
    near_begin(&near, folded);
    for (const struct events_generic *g = events_generic; g->name != NULL; g++)
        consider(&near, g->name);
    each_core_event(consider_event, &near);
    return near_next(&near,
                     near.n == 0 ? "run 'mmprof list' for the events that count here"
                                 : "'mmprof list' shows the events that count here",
                     err);
}
