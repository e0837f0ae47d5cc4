/*
 * What an event is to the figures, from its name: cycles and instructions, which all others are set against; or one of
 * the thesis' misses, with its heading there.
 */
#ifndef CORE_PMU_EVENT_ROLES_H
#define CORE_PMU_EVENT_ROLES_H

enum event_role {
    EVENT_CYCLES,
    EVENT_INSTRUCTIONS,
    EVENT_MISSES, /* any other hardware event: a rate per 1,000 instructions */
    EVENT_SLOTS,  /* in a trace with top-down columns, an event of theirs: a total */
    EVENT_COUNT,  /* a software event of the kernel: a total */
    EVENT_FAULTS, /* derived from the kernel's events; so are the next two */
    EVENT_SWITCHES,
    EVENT_CPU_TIME
};

/* Role and heading of an event: aliases, upper and lower case, PMU prefixes and privilege modifiers aside. */
enum event_role event_role_of(const char *name, const char **heading);

#endif
