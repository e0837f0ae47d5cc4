/* Which events a session measures: those asked for or a default set, as far as they work here. */
#include "core/pmu/default_sets.h"
#include "core/pmu/selftest.h"
#include "core/pmu/topdown.h"

/* Without any hardware event: the first two stay as columns of '-' that say why. */
static const char default_derived[] = "cycles,instructions,task-clock,page-faults,context-switches";

/* An event that stays 0 may be a rare one, unless the PMU counts nothing at all: what the program does will tell. */
static bool pmu_counts(struct arena *arena)
{
    struct counter_spec instructions;
    struct err ignored;
    return events_encode("instructions", arena, &instructions, &ignored) == 0 &&
           selftest_counts(selftest_event(&instructions, 0, &ignored));
}

/* Set 'why' of each event. */
static void test_all(struct counter_set *set, pid_t pid, bool keep_silent, struct arena *arena)
{
    for (size_t i = 0; i < set->n; i++) {
        struct err reason = { "" };
        enum selftest_result result = selftest_event(&set->specs[i], pid, &reason);
        if (selftest_counts(result))
            continue;
        set->specs[i].is_silent = result == SELFTEST_SILENT && keep_silent && pmu_counts(arena);
        if (set->specs[i].is_silent)
            continue;
        set->specs[i].why = arena_text(arena, reason.text, strlen(reason.text));
    }
}

/* Add the first of an event's alternatives that is usable, if one is.  *why is then "", else the first one's reason. */
static void add_usable(const char *alternatives, pid_t pid, struct arena *arena, struct counter_set *set,
                       struct err *why)
{
    char name[128];
    why->text[0] = '\0';
    for (struct err reason = { "" }; default_set_alternative(&alternatives, name, sizeof name) > 0;) {
        struct counter_spec *spec = &set->specs[set->n];
        if (events_encode(name, arena, spec, &reason) == 0 && selftest_counts(selftest_event(spec, pid, &reason))) {
            why->text[0] = '\0';
            set->n++;
            return;
        }
        if (why->text[0] == '\0')
            *why = reason;
    }
}

/* Is there a processor's PMU at all?  Else none of its events is worth a try, nor its name, which libpfm4 finds. */
static bool has_pmu(struct arena *arena)
{
    struct counter_spec cycles;
    struct perf_event_attr attr;
    struct err ignored;
    if (events_encode("cycles", arena, &cycles, &ignored) < 0)
        return true;
    counters_attr(&cycles.code, &attr);
    int fd = counters_perf_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    bool is_none = fd < 0 && errno == ENOENT;
    if (fd >= 0)
        close(fd);
    return !is_none;
}

static int choose_default(pid_t pid, struct arena *arena, struct counter_set *set, struct err *note, struct err *err)
{
    const struct default_set *defaults = default_set_for(has_pmu(arena) ? events_pmu_name() : "");
    struct err ignored;
    set->n = 0;
    set->topdown = NULL;
    for (size_t i = 0; defaults->events[i] != NULL && set->n < COUNTERS_EVENTS_MAX; i++)
        add_usable(defaults->events[i], pid, arena, set, i == 0 ? note : &ignored);
    if (set->n > 0) {
        note->text[0] = '\0';
        return 0;
    }
    if (events_parse(default_derived, arena, set, err) < 0)
        return -1;
    test_all(set, pid, false, arena);
    return 0;
}

int selftest_choose(const char *list, pid_t pid, struct arena *arena, struct counter_set *set, struct err *note,
                    struct err *err)
{
    note->text[0] = '\0';
    if (list == NULL)
        return choose_default(pid, arena, set, note, err);
    const char *topdown, *all = topdown_expand(list, NULL, arena, &topdown, err);
    if (all == NULL || events_parse(all, arena, set, err) < 0)
        return -1;
    set->topdown = topdown;
    test_all(set, pid, true, arena);
    return 0;
}
