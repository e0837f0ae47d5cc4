#include "core/emu/run/simulated_read.h"

#include "core/pmu/event_roles.h"
#include "core/pmu/outside.h"
#include "core/pmu/simulated.h"
#include "test/unit/tap.h"

#include <errno.h>
#include <stdlib.h>

static struct arena arena;
static struct err err;

static void test_choice(void)
{
    struct counter_set set;
    struct counter_layout layout;
    CHECK("the default events", simulated_choose(NULL, &arena, &set, &layout, &err) == 0 && set.n == 9);
    CHECK_NUMBER("are one group", layout.n_groups, 1);
    CHECK("of more than hardware could count at once", layout.n_slots == 9 && counter_layout_valid(&layout));
    CHECK("which is simulated", counter_layout_is_simulated(&layout));
    CHECK_TEXT("their names say so", set.specs[0].name, "simulated::cycles");
    CHECK("events by name, with the prefix or without it, in any case, and derived ones",
          simulated_choose("instructions,simulated::L1-Load-Misses,page-faults", &arena, &set, &layout, &err) == 0 &&
              set.n == 3 && layout.n_slots == 2 && set.specs[2].kind == COUNTER_PAGE_FAULTS);
    CHECK("an event that is not simulated is refused",
          simulated_choose("cycles,stalled-cycles-frontend", &arena, &set, &layout, &err) < 0);
    CHECK_TEXT("with a next step", err.text,
               "'stalled-cycles-frontend' is not a simulated event\n"
               "  next: choose from 'mmprof list --models'");
    CHECK("one named twice is refused", simulated_choose("cycles,simulated::cycles", &arena, &set, &layout, &err) < 0);
    CHECK("an empty list is refused", simulated_choose(",", &arena, &set, &layout, &err) < 0);
}

static void test_headings(void)
{
    bool is_distinct = true, has_roles = true;
    for (const struct simulated_event *a = simulated_events; a->name != NULL; a++) {
        const char *heading, *other;
        char name[64];
        snprintf(name, sizeof name, SIMULATED_PREFIX "%s", a->name);
        enum event_role role = event_role_of(name, &heading);
        has_roles = has_roles && (!a->is_default || heading != name);
        is_distinct = is_distinct && ((strcmp(a->name, "cycles") == 0) == (role == EVENT_CYCLES));
        for (const struct simulated_event *b = simulated_events; b < a; b++) {
            char before[64];
            snprintf(before, sizeof before, SIMULATED_PREFIX "%s", b->name);
            event_role_of(before, &other);
            is_distinct = is_distinct && strcmp(heading, other) != 0;
        }
    }
    CHECK("the default events have headings of their own in tables", has_roles);
    CHECK("no two events have the same one", is_distinct);
}

static void test_windows(void)
{
    struct counter_set set;
    struct counter_layout layout;
    struct sim_slots *slots = calloc(1, sim_slots_bytes(1));
    struct simulated_thread thread;
    uint64_t columns[COUNTERS_COLUMNS_MAX];
    if (slots == NULL)
        exit(1);
    slots->n_slots = 1;
    atomic_store(&slots->n_used, 1);
    slots->slots[0] =
        (struct sim_slot){ .tid = 17,
                           .counts = { [SIM_INSTRUCTIONS] = 30, [SIM_EXECUTED] = 200, [SIM_L1D_LOAD_MISSES] = 7 } };
    CHECK("in windows, events are two groups", simulated_choose("L1-load-misses", &arena, &set, &layout, &err) == 0 &&
                                                   simulated_choose_windows(&arena, &set, &layout, &err) == 0 &&
                                                   layout.n_groups == 2 && counter_layout_valid(&layout));
    CHECK("instructions join them, and are in both",
          set.n == 2 && layout.n_slots == 3 && layout.event[0] == 1 && layout.event[1] == 0 && layout.event[2] == 1);
    if (!simulated_find(slots, 17, &thread))
        exit(1);
    thread.read(&thread, &layout, columns);
    CHECK_NUMBER("all instructions", columns[0], 200);
    CHECK_NUMBER("what the windows had of an event", columns[1], 7);
    CHECK_NUMBER("and of instructions", columns[2], 30);
    CHECK_NUMBER("stand for the time in which the first group counts", columns[3], 200);
    CHECK_NUMBER("the second one", columns[4], 30);
    CHECK_NUMBER("and could", columns[5], 200);
    CHECK("instructions that were named stay one event",
          simulated_choose(NULL, &arena, &set, &layout, &err) == 0 &&
              simulated_choose_windows(&arena, &set, &layout, &err) == 0 && set.n == 9 && layout.n_slots == 10);
    free(slots);
}

static void test_reading(void)
{
    struct sim_slots *slots = calloc(1, sim_slots_bytes(4));
    struct counter_set set;
    struct counter_layout layout;
    struct simulated_thread thread;
    struct counters_outside outside;
    uint64_t columns[COUNTERS_COLUMNS_MAX];
    if (slots == NULL || simulated_choose("topdown,L1-dcache-misses", &arena, &set, &layout, &err) < 0)
        exit(1);
    slots->n_slots = 4;
    slots->model.cost = (struct sim_costs){ 50, 1000, 0, 0, 0, 0 };
    atomic_store(&slots->n_used, 2);
    atomic_store(&slots->slots[0].tid, 17);
    atomic_store(&slots->slots[1].tid, 17);
    slots->slots[1].counts[SIM_INSTRUCTIONS] = 200;
    slots->slots[1].counts[SIM_L1D_LOAD_MISSES] = 3;
    slots->slots[1].counts[SIM_L1D_STORE_MISSES] = 4;
    CHECK("a thread that the simulator has not seen is not found", !simulated_find(slots, 18, &thread));
    CHECK("of two with one id it is the later", simulated_find(slots, 17, &thread) && thread.slot == &slots->slots[1]);
    thread.read(&thread, &layout, columns);
    CHECK_TEXT("they are chosen for top-down formulas", set.topdown, "the simulated processor");
    CHECK_NUMBER("an event is a sum of counts", columns[6], 7);
    CHECK_NUMBER("a count", columns[1], 200);
    CHECK_NUMBER("or the sum of all costs", columns[0], 100 + 70);
    CHECK("or of some of them, which together are all: instructions, mispredicted branches, code, data",
          columns[2] == 100 && columns[3] == 0 && columns[4] == 0 && columns[5] == 70);
    atomic_store(&slots->n_used, UINT32_MAX);
    CHECK("more used slots than there are, which somebody wrote there, are not looked at",
          !simulated_find(slots, 18, &thread) && simulated_find(slots, 17, &thread));
    thread.slot->base[SIM_INSTRUCTIONS] = 150;
    counters_outside_simulated(&outside, &layout, &thread, true);
    CHECK("read as the probes read them", counters_outside_read(&outside, &layout, columns));
    CHECK_NUMBER("they begin with the base", columns[1], 50);
    counters_outside_close(&outside);
    CHECK("closed, they are not read", !counters_outside_read(&outside, &layout, columns));
    CHECK_NUMBER("without a simulator none open", simulated_open(&thread, false), ENOSYS);
    free(slots);
}

int main(void)
{
    test_choice();
    test_headings();
    test_windows();
    test_reading();
    arena_free(&arena);
    return tap_done();
}
