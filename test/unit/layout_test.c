/*
 * Events in groups that fit the counters; the kernel is played by a PMU with so many counters and rules.
 */
#include "core/pmu/layout.h"

#include "core/pmu/default_sets.h"
#include "core/pmu/selftest.h"
#include "test/unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define FILES_MAX 1024

static struct pmu {
    int n_counters;
    bool has_fixed;         /* cycles and instructions have counters of their own */
    int n_held;             /* counters that somebody else holds: groups open but never run */
    uint64_t apart;         /* a raw code that does not open next to cycles; 0: none */
    uint64_t refused;       /* a raw code that does not open, or -1: none does */
    int error;              /* with this */
    int needed[FILES_MAX];  /* counters of the group that a file leads */
    int size[FILES_MAX];    /* and its events */
    bool cycles[FILES_MAX]; /* is cycles among them? */
    int n_opened, n_pinned;
} pmu;

static bool is_fixed(const struct perf_event_attr *attr)
{
    return pmu.has_fixed && attr->type == PERF_TYPE_HARDWARE && attr->config <= PERF_COUNT_HW_INSTRUCTIONS;
}

static int pmu_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    bool is_raw = attr->type == PERF_TYPE_RAW, leads = group_fd < 0;
    (void)pid, (void)cpu, (void)flags;
    int needed = (leads ? 0 : pmu.needed[group_fd]) + !is_fixed(attr);
    if (pmu.refused == UINT64_MAX || (is_raw && pmu.refused != 0 && attr->config == pmu.refused)) {
        errno = pmu.error;
        return -1;
    }
    if (needed > pmu.n_counters || (is_raw && attr->config == pmu.apart && !leads && pmu.cycles[group_fd])) {
        errno = EINVAL;
        return -1;
    }
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int leader = leads ? fd : group_fd;
    pmu.needed[leader] = needed;
    pmu.size[leader] = leads ? 1 : pmu.size[leader] + 1;
    pmu.cycles[leader] = (!leads && pmu.cycles[leader]) || (!is_raw && attr->config == PERF_COUNT_HW_CPU_CYCLES);
    pmu.n_opened++;
    pmu.n_pinned += attr->pinned;
    return fd;
}

static bool pmu_read(int leader_fd, struct counters_reading *reading)
{
    uint64_t n = (uint64_t)pmu.size[leader_fd];
    uint64_t running_ns = pmu.needed[leader_fd] <= pmu.n_counters - pmu.n_held ? 1000 : 0;
    *reading = (struct counters_reading){ .n = n, .enabled_ns = 1000, .running_ns = running_ns };
    for (uint64_t i = 0; i < n; i++)
        reading->values[i] = running_ns;
    return true;
}

static int n_open_files(void)
{
    int n = 0;
    for (int fd = 0; fd < FILES_MAX; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* "cycles instructions r1 | ...": what a layout is, group by group. */
static const char *text_of(const struct counter_layout *layout, const struct counter_set *set)
{
    static char text[2048];
    text[0] = '\0';
    for (uint32_t g = 0; g < layout->n_groups; g++)
        for (uint32_t i = layout->first[g]; i < layout->first[g + 1]; i++) {
            size_t used = strlen(text);
            const char *between = i > layout->first[g] ? " " : g > 0 ? " | " : "";
            snprintf(text + used, sizeof text - used, "%s%s", between, set->specs[layout->event[i]].name);
        }
    return text;
}

#define ALL "r1,cycles,r2,r3,task-clock,instructions,r4,r5,r6"

static const struct {
    const char *claim;
    struct pmu pmu;
    const char *events, *layout;
} cases[] = {
    { "what fits is one group, cycles and instructions first",
      { .n_counters = 6 },
      "r1,cycles,instructions,r2",
      "cycles instructions r1 r2" },
    { "two counters: each event next to instructions",
      { .n_counters = 2 },
      ALL,
      "cycles instructions | instructions r1 | instructions r2 | instructions r3 | instructions r4 | instructions r5 | "
      "instructions r6" },
    { "four counters: two more events in a group",
      { .n_counters = 4 },
      ALL,
      "cycles instructions r1 r2 | cycles instructions r3 r4 | cycles instructions r5 r6" },
    { "six counters: four more",
      { .n_counters = 6 },
      ALL,
      "cycles instructions r1 r2 r3 r4 | cycles instructions r5 r6" },
    { "counters of their own for cycles and instructions",
      { .n_counters = 4, .has_fixed = true },
      ALL,
      "cycles instructions r1 r2 r3 r4 | cycles instructions r5 r6" },
    { "a group never has more than eight events",
      { .n_counters = 20 },
      ALL ",r7,r8,r9",
      "cycles instructions r1 r2 r3 r4 r5 r6 | cycles instructions r7 r8 r9" },
    { "a counter that the NMI watchdog holds is not counted on: larger groups open, but never run",
      { .n_counters = 4, .n_held = 1 },
      "cycles,instructions,r1,r2",
      "cycles instructions r1 | cycles instructions r2" },
    { "with two held, the same",
      { .n_counters = 4, .n_held = 2 },
      "cycles,instructions,r1",
      "cycles instructions | instructions r1" },
    { "one counter: each event alone", { .n_counters = 1 }, "cycles,instructions,r1", "cycles | instructions | r1" },
    { "an event that cannot be next to cycles is next to instructions",
      { .n_counters = 6, .apart = 2 },
      "cycles,instructions,r1,r2,r3",
      "cycles instructions r1 r3 | instructions r2" },
    { "and if there are none, alone", { .n_counters = 6, .apart = 2 }, "cycles,r1,r2,r3", "cycles r1 r3 | r2" },
    { "a group with room takes a later event",
      { .n_counters = 3, .apart = 1 },
      "cycles,instructions,r1,r2,r3,r4",
      "cycles instructions r2 | instructions r1 r3 | cycles instructions r4" },
    { "without cycles and instructions, groups of the others", { .n_counters = 2 }, "r1,r2,r3", "r1 r2 | r3" },
    { "the vendor's names of cycles and instructions lead, too",
      { .n_counters = 3 },
      "r1,perf::PERF_COUNT_HW_INSTRUCTIONS,r2,cpu-cycles:k",
      "cpu-cycles:k perf::PERF_COUNT_HW_INSTRUCTIONS r1 | cpu-cycles:k perf::PERF_COUNT_HW_INSTRUCTIONS r2" },
    { "without hardware events there is no group", { .n_counters = 4 }, "task-clock,page-faults", "" },
};

static void reset(const struct pmu *to)
{
    pmu = *to;
    counters_perf_open_replace(pmu_open);
    counters_perf_read_replace(pmu_read);
}

static void test_cases(struct arena *arena)
{
    int before = n_open_files();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct counter_set set;
        struct counter_layout layout;
        struct err err = { "" };
        reset(&cases[i].pmu);
        bool ok = events_parse(cases[i].events, arena, &set, &err) == 0 && layout_arrange(&set, &layout, &err) == 0 &&
                  counter_layout_valid(&layout);
        if (!CHECK(cases[i].claim, ok && strcmp(text_of(&layout, &set), cases[i].layout) == 0))
            printf("# is '%s' %s\n", ok ? text_of(&layout, &set) : "", err.text);
    }
    CHECK_NUMBER("no file stays open", n_open_files(), before);
}

static void test_codes(struct arena *arena)
{
    struct counter_set set;
    struct counter_layout layout;
    struct err err = { "" };
    reset(&(struct pmu){ .n_counters = 3 });
    events_parse("r5:k,cycles,r2,instructions", arena, &set, &err);
    set.specs[2].why = "it does not count here";
    CHECK("what is not usable is in no group", layout_arrange(&set, &layout, &err) == 0 && layout.n_slots == 3);
    CHECK("slots have their events' codes",
          layout.event[2] == 0 && layout.codes[2].config == 5 && layout.codes[2].exclude == set.specs[0].code.exclude);
    CHECK("each try is one pinned group: it counts at once or never", pmu.n_opened == 6 && pmu.n_pinned == 3);
    CHECK_NUMBER("one group has a column for each event", counter_layout_columns(&layout), 3);
    set.specs[2].why = "";
    layout_arrange(&set, &layout, &err);
    CHECK_NUMBER("several also one for each group's time, and one for the time of all", counter_layout_columns(&layout),
                 6 + 2 + 1);
}

/* ---- refusals ---- */

static const struct {
    const char *claim;
    struct pmu pmu;
    const char *text, *next;
} refusals[] = {
    { "EACCES is said", { .n_counters = 4, .refused = 2, .error = EACCES }, "event 'r2': Permission denied (", "" },
    { "ENOENT is said",
      { .n_counters = 4, .refused = 2, .error = ENOENT },
      "event 'r2': this CPU or kernel does not have it",
      "run 'mmprof list'" },
    { "ENOENT of all: there are no counters",
      { .n_counters = 4, .refused = UINT64_MAX, .error = ENOENT },
      "event 'cycles': this machine has no hardware counters",
      "use bare metal" },
    { "ENOSPC is said",
      { .n_counters = 4, .refused = 2, .error = ENOSPC },
      "event 'r2': all counters that could count it are taken",
      "stop other profilers" },
    { "counters that are all held are said",
      { .n_counters = 4, .n_held = 4 },
      "event 'cycles': all counters that could count it are taken",
      "nmi_watchdog=0" },
};

static void test_refusals(struct arena *arena)
{
    int before = n_open_files();
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct counter_set set;
        struct counter_layout layout;
        struct err err = { "" };
        events_parse("cycles,instructions,r1,r2", arena, &set, &err);
        reset(&refusals[i].pmu);
        const char *text = refusals[i].text, *next;
        int rc = layout_arrange(&set, &layout, &err);
        next = strstr(err.text, "\n  next: ");
        if (!CHECK(refusals[i].claim, rc == -1 && layout.n_groups == 0 && strncmp(err.text, text, strlen(text)) == 0 &&
                                          next != NULL && strstr(next, refusals[i].next) != NULL))
            printf("# is '%s'\n", err.text);
    }
    CHECK_NUMBER("no file stays open after a refusal", n_open_files(), before);
}

static void test_files(struct arena *arena)
{
    struct rlimit old, few;
    struct counter_set set;
    struct counter_layout layout;
    struct err err = { "" };
    char expected[128];
    reset(&(struct pmu){ .n_counters = 8 });
    events_parse("cycles,instructions,r1,r2,r3,r4", arena, &set, &err);
    getrlimit(RLIMIT_NOFILE, &old);
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(next);
    few = (struct rlimit){ .rlim_cur = (rlim_t)next + 3, .rlim_max = old.rlim_max };
    setrlimit(RLIMIT_NOFILE, &few);
    int rc = layout_arrange(&set, &layout, &err);
    setrlimit(RLIMIT_NOFILE, &old);
    snprintf(expected, sizeof expected, "event 'r2': Too many open files (the limit is %d)\n  next: raise", next + 3);
    CHECK("EMFILE names the limit, and is not taken for too few counters",
          rc == -1 && strncmp(err.text, expected, strlen(expected)) == 0);
    printf("# %s\n", err.text);
}

static void test_too_many(struct arena *arena)
{
    char list[256] = "cycles,instructions";
    struct counter_set set;
    struct counter_layout layout;
    struct err err = { "" };
    for (int i = 1; i <= 16; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), ",r%x", i);
    reset(&(struct pmu){ .n_counters = 2 });
    CHECK("an event beyond the sixteenth group is refused, by its name",
          events_parse(list, arena, &set, &err) == 0 && layout_arrange(&set, &layout, &err) == -1 &&
              strstr(err.text, "more than 16 groups of counters: 'r10' is one too many\n"
                               "  next: name") != NULL);
    reset(&(struct pmu){ .n_counters = 3 });
    CHECK("where each takes one event more, they fit",
          layout_arrange(&set, &layout, &err) == 0 && layout.n_groups == 16 && layout.n_slots == 48);
}

/* ---- validity, size, cost ---- */

static void test_validity(void)
{
    static const uint8_t events[COUNTERS_GROUP_MAX + 1];
    static const struct counter_code codes[COUNTERS_GROUP_MAX + 1];
    struct counter_layout layout = { .n_groups = 0 }, bad;
    CHECK("no group is a valid layout", counter_layout_valid(&layout) && counter_layout_columns(&layout) == 0);
    CHECK("an empty group, and one that is too large, are refused",
          counter_layout_add(&layout, codes, events, 0) == -1 &&
              counter_layout_add(&layout, codes, events, COUNTERS_GROUP_MAX + 1) == -1);
    for (int i = 0; i < 8; i++)
        counter_layout_add(&layout, codes, events, 8);
    CHECK("64 slots are the most", layout.n_slots == COUNTERS_SLOTS_MAX && counter_layout_valid(&layout) &&
                                       counter_layout_add(&layout, codes, events, 1) == -1);
    bad = layout, bad.first[3] = bad.first[2];
    CHECK("a group without events is not valid", !counter_layout_valid(&bad));
    bad = layout, bad.first[8] = 63;
    CHECK("nor slots in no group", !counter_layout_valid(&bad));
    bad = layout, bad.n_groups = COUNTERS_GROUPS_MAX + 1;
    CHECK("nor too many groups", !counter_layout_valid(&bad));
    bad = layout, bad.first[4] = UINT32_MAX;
    CHECK("nor groups that overlap", !counter_layout_valid(&bad));
    bad = layout, bad.n_slots = COUNTERS_SLOTS_MAX + 1, bad.first[8] = COUNTERS_SLOTS_MAX + 1;
    CHECK("nor too many slots", !counter_layout_valid(&bad));
    layout = (struct counter_layout){ .n_groups = 0 };
    for (int i = 0; i < COUNTERS_GROUPS_MAX; i++)
        counter_layout_add(&layout, codes, events, 1);
    CHECK("16 groups are the most", layout.n_groups == COUNTERS_GROUPS_MAX && counter_layout_valid(&layout) &&
                                        counter_layout_add(&layout, codes, events, 1) == -1);
    CHECK_NUMBER("they have 33 columns", counter_layout_columns(&layout), 33);
}

static void test_size(void)
{
    static const struct counter_code code = { .type = PERF_TYPE_RAW, .config = 1 };
    static const int n_counters[] = { 2, 4, 6 };
    for (size_t i = 0; i < 3; i++) {
        reset(&(struct pmu){ .n_counters = n_counters[i] });
        CHECK_NUMBER("as many events fit as there are counters", layout_group_size(&code), n_counters[i]);
    }
    reset(&(struct pmu){ .n_counters = 4, .n_held = 1 });
    CHECK_NUMBER("less one that is held", layout_group_size(&code), 3);
    reset(&(struct pmu){ .refused = UINT64_MAX, .error = ENOENT });
    CHECK_NUMBER("without a PMU none fits", layout_group_size(&code), 0);
}

static void test_cost(void)
{
    static const uint8_t events[2] = { 0, 1 };
    static const struct counter_code codes[2] = { { .config = 0 }, { .config = 1 } };
    struct counter_layout layout = { .n_groups = 0 };
    double user_ns, syscall_ns;
    counter_layout_add(&layout, codes, events, 2);
    counter_layout_add(&layout, codes, events, 2);
    reset(&(struct pmu){ .n_counters = 2 });
    int before = n_open_files();
    CHECK("what a reading by system call costs is measured",
          selftest_read_ns(&layout, &user_ns, &syscall_ns) == 0 && syscall_ns > 0);
    CHECK("where pages cannot be mapped, there is no cost of reading them", user_ns < 0);
    reset(&(struct pmu){ .refused = UINT64_MAX, .error = ENOENT });
    CHECK("without a PMU there is neither",
          selftest_read_ns(&layout, &user_ns, &syscall_ns) == -1 && user_ns < 0 && syscall_ns < 0);
    CHECK_NUMBER("no file stays open afterwards", n_open_files(), before);
}

/* ---- this machine ---- */

static void test_here(struct arena *arena)
{
    static const char claim[] = "the default set is arranged on this machine, and each group counts";
    struct counter_set set;
    struct counter_layout layout;
    struct err err = { "" }, note = { "" };
    double user_ns, syscall_ns;
    counters_perf_open_replace(NULL);
    counters_perf_read_replace(NULL);
    bool ok = selftest_choose(NULL, 0, arena, &set, &note, &err) == 0 && layout_arrange(&set, &layout, &err) == 0;
    if (ok && layout.n_groups == 0) {
        SKIP(claim, "this machine has no usable PMU");
        return;
    }
    for (uint32_t g = 0; ok && g < layout.n_groups; g++)
        ok = layout_try(&layout.codes[layout.first[g]], layout.first[g + 1] - layout.first[g]) == 0;
    CHECK(claim, ok);
    ok = selftest_read_ns(&layout, &user_ns, &syscall_ns) == 0;
    CHECK("and its reading has a cost", ok && syscall_ns > 0);
    printf("# %s: %.0f ns in user space, %.0f by system call; %s\n", text_of(&layout, &set), user_ns, syscall_ns,
           err.text);
}

int main(void)
{
    struct arena arena = { 0 };
    test_cases(&arena);
    test_codes(&arena);
    test_refusals(&arena);
    test_files(&arena);
    test_too_many(&arena);
    test_validity();
    test_size();
    test_cost();
    test_here(&arena);
    arena_free(&arena);
    return tap_done();
}
