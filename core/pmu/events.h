/*
 * Event names: from what the user writes after -e to what the kernel understands.  The CLI only (libpfm4).
 *
 * An event without a privilege modifier counts user space only, on every machine: perf_event_paranoid 2 allows that,
 * and what the kernel does on a method's behalf is not booked to the method's own instructions.  ':u:k' counts both.
 */
#ifndef CORE_PMU_EVENTS_H
#define CORE_PMU_EVENTS_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/pmu/perf_open.h"

enum counter_kind {
    COUNTER_HARDWARE,    /* read by the probe */
    COUNTER_SOFTWARE,    /* counted by the kernel, read by system call */
    COUNTER_TIME,        /* these are derived from kernel events and never read in a probe: time on the CPU, in ns */
    COUNTER_PAGE_FAULTS, /* caused by user-space instructions */
    COUNTER_SWITCHES     /* times the thread left a CPU */
};

/* Strings are the arena's or constants. */
struct counter_spec {
    const char *name;        /* as the user wrote it */
    const char *pmu;         /* libpfm4's or sysfs' name of the PMU */
    const char *description; /* one line, or "" */
    const char *unit;        /* "events" or "ns" */
    const char *why;         /* "" while it is usable, else the reason why not */
    enum counter_kind kind;
    uint8_t precise; /* of an event that takes samples: how close to the instruction, as perf_event_attr.precise_ip */
    bool is_silent;  /* it stayed 0 in the self-test: what the loop there does not do, or what does not count at all */
    struct counter_code code;
};

/* It is a counter of each thread that is opened and read; the other kinds are derived. */
static inline bool counter_is_read(const struct counter_spec *spec)
{
    return spec->kind == COUNTER_HARDWARE || spec->kind == COUNTER_SOFTWARE;
}

struct counter_set {
    struct counter_spec specs[COUNTERS_EVENTS_MAX];
    size_t n;
    const char *topdown; /* the row of formulas (topdown.h) for which they were chosen, or NULL */
};

/*
 * Encode one event: "cycles", "L1-dcache-load-misses:u", "amd64_fam19h_zen4::RETIRED_INSTRUCTIONS", "r01c2",
 * "cpu/event=0xc2,umask=1/u", "page-faults".  Returns 0, or -1 with *err set: the name in quotes, and near names.
 */
int events_encode(const char *name, struct arena *arena, struct counter_spec *spec, struct err *err);

/*
 * Parse a list separated by commas (those between slashes belong to the event).  Whether the events open here is not
 * looked at.  Returns 0, or -1 with *err set: an unknown event, one named twice, none, more than COUNTERS_EVENTS_MAX.
 */
int events_parse(const char *list, struct arena *arena, struct counter_set *set, struct err *err);

/* The same for events that take samples: a precise level (':precise=2') is allowed. */
int events_parse_sampling(const char *list, struct arena *arena, struct counter_set *set, struct err *err);

/*
 * All events that are known by name on this machine: the generic ones in perf's spelling, those of the PMUs that
 * libpfm4 detects (one for each unit mask), and the derived ones.  *specs is the arena's.
 */
void events_known(struct arena *arena, struct counter_spec **specs, size_t *n);

/* The CPU's PMU as libpfm4 detects it, "AMD64 Fam19h Zen4", or "" when it knows none.  A constant. */
const char *events_pmu_description(void);

/* The same PMU's name in front of its events, "amd64_fam19h_zen4", or "".  A constant. */
const char *events_pmu_name(void);

/* Append up to three known names that look like the one given, as the error's next step.  Returns -1. */
int events_suggest(const char *name, struct err *err);

/* The same for an event in the kernel's own spelling, "PMU/term=value,.../modifiers"; devices is the folder of PMUs. */
int events_encode_sysfs(const char *devices, const char *name, struct arena *arena, struct counter_spec *spec,
                        struct err *err);

#define EVENTS_SYSFS_DEVICES "/sys/bus/event_source/devices"

/*
 * Names in perf's spelling that libpfm4 accepts, and what they mean to the kernel (perf_event_attr): one without
 * modifiers is encoded without libpfm4, which looks through all tracepoints first, 15 ms.  A software event of this
 * table is counted, listed, and a column of totals.  name NULL ends the table.
 */
struct events_generic {
    const char *name, *description;
    uint32_t type;
    uint64_t config;
};
extern const struct events_generic events_generic[];

/* The row of a name, of which the first n bytes count; NULL: there is none. */
const struct events_generic *events_generic_find(const char *name, size_t n);

#endif
