#include "report/sample_cells.h"

#include "core/pmu/event_roles.h"

#include <ctype.h>

#define NONE UINT32_MAX

static enum event_role role_of(const char *event)
{
    const char *heading;
    return event_role_of(event, &heading);
}

static uint32_t find_role(const char *const *events, uint32_t n, enum event_role role)
{
    for (uint32_t i = 0; i < n; i++)
        if (role_of(events[i]) == role)
            return i;
    return NONE;
}

/* "L1-dcache-load-misses:u" and "per_1000_instructions" give "l1_dcache_load_misses_u_per_1000_instructions". */
static const char *key_of(struct arena *arena, const char *event, const char *per)
{
    char *key = arena_printf(arena, "%s_%s", event, per);
    for (char *at = key; *at != '\0'; at++)
        *at = isalnum((unsigned char)*at) ? (char)tolower((unsigned char)*at) : '_';
    return key;
}

static bool is_kernels(enum event_role role)
{
    return role == EVENT_FAULTS || role == EVENT_SWITCHES;
}

int sample_ratio_kinds(const char *const *events, uint32_t n, struct arena *arena, struct sample_ratio_kind *kinds)
{
    uint32_t instructions = find_role(events, n, EVENT_INSTRUCTIONS), clock = find_role(events, n, EVENT_CPU_TIME);
    int n_kinds = 0;
    for (uint32_t i = 0; i < n; i++) {
        enum event_role role = role_of(events[i]);
        struct sample_ratio_kind kind = { .numerator = i, .scale = 1 };
        if (role == EVENT_CPU_TIME || role == EVENT_INSTRUCTIONS)
            continue;
        if (role == EVENT_CYCLES && instructions != NONE) {
            kind = (struct sample_ratio_kind){ "CPI", "cpi", i, instructions, 1 };
        } else if (!is_kernels(role) && instructions != NONE) {
            kind.heading = arena_printf(arena, "%s/1k instr", events[i]);
            kind.key = key_of(arena, events[i], "per_1000_instructions");
            kind.denominator = instructions;
            kind.scale = 1000;
        } else if (clock != NONE) {
            kind.heading = arena_printf(arena, "%s/s", events[i]);
            kind.key = key_of(arena, events[i], "per_second");
            kind.denominator = clock;
            kind.scale = 1e9;
        } else if (i > 0) {
            kind.heading = arena_printf(arena, "%s/%s", events[i], events[0]);
            kind.key = key_of(arena, events[i], key_of(arena, "per", events[0]));
        } else {
            continue;
        }
        kinds[n_kinds++] = kind;
    }
    return n_kinds;
}
