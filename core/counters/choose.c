/*
 * Which events a session measures: those asked for or a default set, as far as they work here.
 */
#include "core/counters/default_sets.h"
#include "core/counters/selftest.h"

#include <stdio.h>
#include <string.h>

/* Without any hardware event: the first two stay as columns of '-' that say why. */
static const char default_derived[] = "cycles,instructions,task-clock,page-faults,context-switches";

size_t selftest_codes(const struct counter_set *set, struct counter_code *codes)
{
    size_t n = 0;
    for (size_t i = 0; i < set->n; i++)
        if (set->specs[i].kind == COUNTER_HARDWARE && set->specs[i].why[0] == '\0')
            codes[n++] = set->specs[i].code;
    return n;
}

/* An event that stays 0 may be a rare one, unless the PMU counts nothing at all. */
static bool pmu_counts(struct arena *arena)
{
    struct counter_spec instructions;
    struct err ignored;
    return events_encode("instructions", arena, &instructions, &ignored) == 0 &&
           selftest_event(&instructions, 0, &ignored) == SELFTEST_USABLE;
}

/* Set 'why' of each event.  Returns 0, or -1 when there is no memory. */
static int test_all(struct counter_set *set, pid_t pid, bool keep_silent, struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < set->n; i++) {
        struct err reason = { "" };
        enum selftest_result result = selftest_event(&set->specs[i], pid, &reason);
        if (result == SELFTEST_USABLE || (result == SELFTEST_SILENT && keep_silent && pmu_counts(arena)))
            continue;
        set->specs[i].why = arena_text(arena, reason.text, strlen(reason.text));
        if (set->specs[i].why == NULL)
            return err_set(err, "no memory for the events");
    }
    return 0;
}

/* fits[] speaks of the usable hardware events only: the index of each among them, or -1. */
static int hardware_index(const struct counter_set *set, size_t i)
{
    int index = -1;
    for (size_t j = 0; j <= i; j++)
        index += set->specs[j].kind == COUNTER_HARDWARE && set->specs[j].why[0] == '\0';
    return set->specs[i].kind == COUNTER_HARDWARE && set->specs[i].why[0] == '\0' ? index : -1;
}

static void join_names(const struct counter_set *set, const bool *fits, bool fitting, char *out, size_t n)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < set->n; i++) {
        int index = hardware_index(set, i);
        if (index < 0 || fits[index] != fitting || used >= n)
            continue;
        used += (size_t)snprintf(out + used, n - used, "%s'%s'", used > 0 ? ", " : "", set->specs[i].name);
    }
}

int selftest_fit(const struct counter_set *set, struct err *err)
{
    struct counter_code codes[COUNTERS_GROUP_MAX];
    bool fits[COUNTERS_GROUP_MAX];
    char fitting[512], others[512];
    size_t n = selftest_codes(set, codes);
    if (n == 0 || selftest_group(codes, n, fits) == n)
        return 0;
    join_names(set, fits, true, fitting, sizeof fitting);
    join_names(set, fits, false, others, sizeof others);
    err_set(err, "the CPU's counters hold %s at once; %s did not fit", fitting, others);
    return err_next(err, "name only those that fit with -e, and record again for the others");
}

static void drop(struct counter_set *set, size_t i)
{
    memmove(&set->specs[i], &set->specs[i + 1], (set->n - i - 1) * sizeof set->specs[0]);
    set->n--;
}

/* Of the default set only what fits stays. */
static void reduce(struct counter_set *set)
{
    struct counter_code codes[COUNTERS_GROUP_MAX];
    bool fits[COUNTERS_GROUP_MAX];
    size_t n = selftest_codes(set, codes);
    selftest_group(codes, n, fits);
    for (size_t i = n; i > 0; i--)
        if (!fits[i - 1])
            drop(set, i - 1);
}

/*
 * Add the first of an event's alternatives that is usable, if one is.  *why is then "", else the first one's reason.
 */
static void add_usable(const char *alternatives, pid_t pid, struct arena *arena, struct counter_set *set,
                       struct err *why)
{
    char name[128];
    why->text[0] = '\0';
    for (struct err reason = { "" }; default_set_alternative(&alternatives, name, sizeof name) > 0;) {
        struct counter_spec *spec = &set->specs[set->n];
        if (events_encode(name, arena, spec, &reason) == 0 && selftest_event(spec, pid, &reason) == SELFTEST_USABLE) {
            why->text[0] = '\0';
            set->n++;
            return;
        }
        if (why->text[0] == '\0')
            *why = reason;
    }
}

static int choose_default(pid_t pid, struct arena *arena, struct counter_set *set, struct err *note, struct err *err)
{
    const struct default_set *defaults = default_set_for(events_pmu_name());
    struct err ignored;
    set->n = 0;
    for (size_t i = 0; defaults->events[i] != NULL && set->n < COUNTERS_GROUP_MAX; i++)
        add_usable(defaults->events[i], pid, arena, set, i == 0 ? note : &ignored);
    reduce(set);
    if (set->n > 0) {
        note->text[0] = '\0';
        return 0;
    }
    return events_parse(default_derived, arena, set, err) < 0 ? -1 : test_all(set, pid, false, arena, err);
}

int selftest_choose(const char *list, pid_t pid, struct arena *arena, struct counter_set *set, struct err *note,
                    struct err *err)
{
    note->text[0] = '\0';
    if (list == NULL)
        return choose_default(pid, arena, set, note, err);
    if (events_parse(list, arena, set, err) < 0 || test_all(set, pid, true, arena, err) < 0)
        return -1;
    return selftest_fit(set, err);
}
