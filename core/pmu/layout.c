#include "core/pmu/layout.h"

#include "core/pmu/event_roles.h"
#include "core/pmu/perf_open.h"

#define N_ANCHORS 2 /* cycles and instructions */

/* ---- trying ---- */

static bool counts(int leader, uint32_t n)
{
    struct counters_reading reading;
    for (volatile uint32_t i = 0; i < 100000; i++)
        continue;
    return counters_read_group(leader, n, &reading) && reading.running_ns > 0;
}

int layout_try(const struct counter_code *codes, uint32_t n)
{
    int fds[COUNTERS_GROUP_MAX], error = 0;
    uint32_t n_fds = 0;
    while (error == 0 && n_fds < n) {
        struct perf_event_attr attr;
        counters_attr(&codes[n_fds], &attr);
        /* Not in turns with other users of the counters: at once, or never. */
        attr.pinned = n_fds == 0;
        fds[n_fds] = counters_perf_open(&attr, 0, -1, n_fds == 0 ? -1 : fds[0], PERF_FLAG_FD_CLOEXEC);
        if (fds[n_fds] >= 0)
            n_fds++;
        else
            error = errno;
    }
    if (error == 0 && !counts(fds[0], n))
        error = EBUSY;
    while (n_fds > 0)
        close(fds[--n_fds]);
    return error;
}

uint32_t layout_group_size(const struct counter_code *code)
{
    struct counter_code codes[COUNTERS_GROUP_MAX];
    uint32_t n = 0;
    for (; n < COUNTERS_GROUP_MAX; n++) {
        codes[n] = *code;
        if (layout_try(codes, n + 1) != 0)
            break;
    }
    return n;
}

/* ---- arranging ---- */

struct layout_group {
    uint8_t events[COUNTERS_GROUP_MAX];
    uint32_t n;
};

struct arranging {
    const struct counter_set *set;
    struct layout_group groups[COUNTERS_GROUPS_MAX];
    uint32_t n_groups, n_slots;
    struct layout_group anchors; /* those of cycles and instructions that are placed */
};

/* Refused for the event's or the user's sake; else it is the counters that do not suffice. */
static bool is_final(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == EACCES || error == EPERM;
}

static int try_group(const struct arranging *a, const struct layout_group *group)
{
    struct counter_code codes[COUNTERS_GROUP_MAX];
    for (uint32_t i = 0; i < group->n; i++)
        codes[i] = a->set->specs[group->events[i]].code;
    return layout_try(codes, group->n);
}

/* Returns 0 when the event has joined a group, else the errno. */
static int join(struct arranging *a, uint8_t event)
{
    int error = EBUSY;
    for (uint32_t g = 0; g < a->n_groups && error != 0 && !is_final(error); g++) {
        struct layout_group wider = a->groups[g];
        if (wider.n == COUNTERS_GROUP_MAX)
            continue;
        wider.events[wider.n++] = event;
        error = try_group(a, &wider);
        if (error == 0)
            a->groups[g] = wider;
    }
    return error;
}

/* The event's own group: with both anchors, with the last one (instructions), with the first, with none. */
static int found(const struct arranging *a, uint8_t event, struct layout_group *group)
{
    int error = EBUSY;
    for (uint32_t anchors = (1u << a->anchors.n) - 1;; anchors--) {
        *group = (struct layout_group){ .n = 0 };
        for (uint32_t i = 0; i < a->anchors.n; i++)
            if ((anchors >> i & 1) != 0)
                group->events[group->n++] = a->anchors.events[i];
        group->events[group->n++] = event;
        error = try_group(a, group);
        if (error == 0 || is_final(error) || anchors == 0)
            return error;
    }
}

static int refuse(const struct counter_spec *spec, int error, struct err *err)
{
    err_set(err, "event '%s'", spec->name);
    return perf_why(error, &spec->code, 0, err);
}

static int place(struct arranging *a, uint8_t event, struct err *err)
{
    struct layout_group group;
    int error = join(a, event);
    if (error == 0) {
        a->n_slots++;
        return 0;
    }
    if (!is_final(error))
        error = found(a, event, &group);
    if (error != 0)
        return refuse(&a->set->specs[event], error, err);
    if (a->n_groups == COUNTERS_GROUPS_MAX || a->n_slots + group.n > COUNTERS_SLOTS_MAX) {
        err_set(err, "the events need more than %d groups of counters: '%s' is one too many", COUNTERS_GROUPS_MAX,
                a->set->specs[event].name);
        return err_next(err, "name fewer with -e, and record again for the others");
    }
    a->groups[a->n_groups++] = group;
    a->n_slots += group.n;
    return 0;
}

static enum event_role role_of(const struct counter_spec *spec)
{
    const char *heading;
    return event_role_of(spec->name, &heading);
}

static bool is_usable(const struct counter_spec *spec)
{
    return counter_is_read(spec) && spec->why[0] == '\0';
}

/* The first usable event that counts cycles, or instructions; -1: none. */
static int find_anchor(const struct counter_set *set, enum event_role role)
{
    for (size_t i = 0; i < set->n; i++)
        if (is_usable(&set->specs[i]) && role_of(&set->specs[i]) == role)
            return (int)i;
    return -1;
}

static int place_all(struct arranging *a, struct err *err)
{
    static const enum event_role roles[N_ANCHORS] = { EVENT_CYCLES, EVENT_INSTRUCTIONS };
    for (size_t i = 0; i < N_ANCHORS; i++) {
        int event = find_anchor(a->set, roles[i]);
        if (event < 0)
            continue;
        if (place(a, (uint8_t)event, err) < 0)
            return -1;
        a->anchors.events[a->anchors.n++] = (uint8_t)event;
    }
    for (uint8_t i = 0; i < a->set->n; i++) {
        bool is_anchor = memchr(a->anchors.events, i, a->anchors.n) != NULL;
        if (!is_anchor && is_usable(&a->set->specs[i]) && place(a, i, err) < 0)
            return -1;
    }
    return 0;
}

int layout_arrange(const struct counter_set *set, struct counter_layout *layout, struct err *err)
{
    struct arranging a = { .set = set };
    *layout = (struct counter_layout){ .n_groups = 0 };
    if (place_all(&a, err) < 0)
        return -1;
    for (uint32_t g = 0; g < a.n_groups; g++) {
        struct counter_code codes[COUNTERS_GROUP_MAX];
        for (uint32_t i = 0; i < a.groups[g].n; i++)
            codes[i] = set->specs[a.groups[g].events[i]].code;
        counter_layout_add(layout, codes, a.groups[g].events, a.groups[g].n);
    }
    return 0;
}
