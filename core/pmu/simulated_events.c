#include "core/pmu/simulated.h"

#include "core/pmu/topdown.h"
#include "core/wire/sim_counts.h"

#define BIT(count) (UINT64_C(1) << (count))
#define DATA_MISSES                                                                                              \
    (BIT(SIM_L1D_LOAD_MISSES) | BIT(SIM_L1D_STORE_MISSES) | BIT(SIM_L2_LOAD_MISSES) | BIT(SIM_L2_STORE_MISSES) | \
     BIT(SIM_DTLB_MISSES) | BIT(SIM_TLB2_HITS))

/* The default ones: thesis Table 3.1. */
const struct simulated_event simulated_events[] = {
    { "cycles", "sum of all events' costs; not a prediction of a processor's time", SIMULATED_CYCLES, true },
    { "instructions", "instructions executed", BIT(SIM_INSTRUCTIONS), true },
    { "L1-dcache-misses", "loads and stores that missed L1D", BIT(SIM_L1D_LOAD_MISSES) | BIT(SIM_L1D_STORE_MISSES),
      true },
    { "L1-icache-misses", "fetches of lines that missed L1I", BIT(SIM_L1I_MISSES), true },
    { "L2-data-misses", "L1D misses that also missed L2", BIT(SIM_L2_LOAD_MISSES) | BIT(SIM_L2_STORE_MISSES), true },
    { "L2-code-misses", "L1I misses that also missed L2", BIT(SIM_L2_CODE_MISSES), true },
    { "dTLB-misses", "walks of the page table for loads and stores", BIT(SIM_DTLB_MISSES), true },
    { "iTLB-misses", "walks of the page table for fetches", BIT(SIM_ITLB_MISSES), true },
    { "branch-misses", "mispredicted branches", BIT(SIM_BRANCH_MISSES), true },
    { "L1-load-misses", "loads that missed L1D", BIT(SIM_L1D_LOAD_MISSES), false },
    { "L1-store-misses", "stores that missed L1D", BIT(SIM_L1D_STORE_MISSES), false },
    { "L2-load-misses", "loads that missed L1D and L2", BIT(SIM_L2_LOAD_MISSES), false },
    { "L2-store-misses", "stores that missed L1D and L2", BIT(SIM_L2_STORE_MISSES), false },
    { "L2-misses", "all misses of L2", BIT(SIM_L2_LOAD_MISSES) | BIT(SIM_L2_STORE_MISSES) | BIT(SIM_L2_CODE_MISSES),
      false },
    { "L1-loads", "loads; a load across two lines counts twice", BIT(SIM_L1D_LOADS), false },
    { "L1-stores", "stores; a store across two lines counts twice", BIT(SIM_L1D_STORES), false },
    { "L1-fetches", "lines of code fetched, by each block of instructions", BIT(SIM_L1I_FETCHES), false },
    { "L2-writes", "dirty lines that came from L1, or stores through it", BIT(SIM_L2_WRITES), false },
    { "memory-writes", "dirty lines that left L2", BIT(SIM_MEMORY_WRITES), false },
    { "TLB2-hits", "pages that the first TLB did not have and the second had", BIT(SIM_TLB2_HITS), false },
    { "branches", "branches: conditional, indirect, returns", BIT(SIM_BRANCHES), false },
    { "instruction-cycles", "of the costs, those of instructions without misses",
      SIMULATED_CYCLES | BIT(SIM_INSTRUCTIONS), false },
    { "mispredict-cycles", "of the costs, those of mispredicted branches", SIMULATED_CYCLES | BIT(SIM_BRANCH_MISSES),
      false },
    { "frontend-cycles", "of the costs, those of misses of code",
      SIMULATED_CYCLES | BIT(SIM_L1I_MISSES) | BIT(SIM_L2_CODE_MISSES) | BIT(SIM_ITLB_MISSES), false },
    { "memory-cycles", "of the costs, those of misses of data, and of TLB2-hits", SIMULATED_CYCLES | DATA_MISSES,
      false },
    { NULL, NULL, 0, false },
};

static const struct simulated_event *find_simulated(const char *name)
{
    const struct simulated_event *event = simulated_events;
    if (strncmp(name, SIMULATED_PREFIX, sizeof SIMULATED_PREFIX - 1) == 0)
        name += sizeof SIMULATED_PREFIX - 1;
    while (event->name != NULL && strcasecmp(event->name, name) != 0)
        event++;
    return event->name == NULL ? NULL : event;
}

bool simulated_is_of_sets(const char *name)
{
    const uint64_t misses = BIT(SIM_L1D_LOAD_MISSES) | BIT(SIM_L1D_STORE_MISSES) | BIT(SIM_L1I_MISSES) |
                            BIT(SIM_L2_LOAD_MISSES) | BIT(SIM_L2_STORE_MISSES) | BIT(SIM_L2_CODE_MISSES) |
                            BIT(SIM_L2_WRITES) | BIT(SIM_MEMORY_WRITES) | SIMULATED_CYCLES;
    const struct simulated_event *event =
        strncmp(name, SIMULATED_PREFIX, sizeof SIMULATED_PREFIX - 1) == 0 ? find_simulated(name) : NULL;
    return event != NULL && (event->set & misses) != 0;
}

static void fill(const struct simulated_event *event, struct arena *arena, struct counter_spec *spec)
{
    *spec = (struct counter_spec){ .name = arena_printf(arena, "%s%s", SIMULATED_PREFIX, event->name),
                                   .pmu = "simulated",
                                   .description = event->description,
                                   .unit = "events",
                                   .why = "",
                                   .kind = COUNTER_HARDWARE };
    spec->code =
        (struct counter_code){ .type = COUNTERS_SIMULATED, .config = event->set, .exclude = COUNTER_NO_KERNEL };
}

static int add_simulated(const char *name, struct arena *arena, struct counter_set *set, struct err *err)
{
    const struct simulated_event *event = find_simulated(name);
    struct counter_spec *spec = &set->specs[set->n];
    if (set->n == COUNTERS_EVENTS_MAX) {
        err_set(err, "more than %d events", COUNTERS_EVENTS_MAX);
        return err_next(err, "name fewer with -e");
    }
    if (event == NULL && (events_encode(name, arena, spec, err) < 0 || counter_is_read(spec))) {
        err_set(err, "'%s' is not a simulated event", name);
        return err_next(err, "choose from 'mmprof list --models'");
    }
    if (event != NULL)
        fill(event, arena, spec);
    for (size_t i = 0; i < set->n; i++)
        if (strcmp(set->specs[i].name, spec->name) == 0)
            return err_set(err, "the event '%s' is named twice", name);
    set->n++;
    return 0;
}

static int add_all(const char *list, struct arena *arena, struct counter_set *set, struct err *err)
{
    for (const struct simulated_event *event = simulated_events; list == NULL && event->name != NULL; event++)
        if (event->is_default && add_simulated(event->name, arena, set, err) < 0)
            return -1;
    if (list == NULL)
        return 0;
    char *copy = arena_text(arena, list, strlen(list)), *rest = NULL;
    for (char *name = strtok_r(copy, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
        if (add_simulated(name, arena, set, err) < 0)
            return -1;
    if (set->n > 0)
        return 0;
    err_set(err, "-e names no event");
    return err_next(err, "choose from 'mmprof list --models'");
}

/* One group of all. */
static int lay_out(const struct counter_set *set, struct counter_layout *layout, struct err *err)
{
    struct counter_code codes[COUNTERS_EVENTS_MAX];
    uint8_t events[COUNTERS_EVENTS_MAX];
    uint32_t n = 0;
    for (size_t i = 0; i < set->n; i++)
        if (set->specs[i].kind == COUNTER_HARDWARE) {
            codes[n] = set->specs[i].code;
            events[n++] = (uint8_t)i;
        }
    return n > 0 && counter_layout_add(layout, codes, events, n) < 0 ? err_set(err, "too many events") : 0;
}

int simulated_choose(const char *list, struct arena *arena, struct counter_set *set, struct counter_layout *layout,
                     struct err *err)
{
    set->n = 0;
    set->topdown = NULL;
    *layout = (struct counter_layout){ .n_groups = 0 };
    if (list != NULL)
        list = topdown_expand(list, "simulated", arena, &set->topdown, err);
    return add_all(list, arena, set, err) < 0 ? -1 : lay_out(set, layout, err);
}

static size_t find_instructions(const struct counter_set *set)
{
    size_t i = 0;
    while (i < set->n && strcmp(set->specs[i].name, SIMULATED_PREFIX "instructions") != 0)
        i++;
    return i;
}

int simulated_choose_windows(struct arena *arena, struct counter_set *set, struct counter_layout *layout,
                             struct err *err)
{
    if (find_instructions(set) == set->n && add_simulated("instructions", arena, set, err) < 0)
        return -1;
    uint8_t event = (uint8_t)find_instructions(set);
    struct counter_code all = set->specs[event].code;
    all.config = BIT(SIM_EXECUTED);
    *layout = (struct counter_layout){ .n_groups = 0 };
    return counter_layout_add(layout, &all, &event, 1) < 0 ? err_set(err, "too many events")
                                                           : lay_out(set, layout, err);
}
