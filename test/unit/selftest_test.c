/*
 * Which events are usable; the kernel is played by a function with so many counters.
 */
#include "core/pmu/default_sets.h"
#include "core/pmu/selftest.h"

#include "core/pmu/perf_open.h"
#include "test/unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define FILES_MAX 1024

static struct {
    int n_counters;             /* hardware events in one group; more: EINVAL */
    int error;                  /* of any hardware event, or 0 */
    int error_of_others;        /* of events for another process, or 0 */
    uint64_t value, running_ns; /* what read(2) gives */
    uint64_t silent_config;     /* hardware events from this config on stay 0 */
    int sizes[FILES_MAX];       /* of the group that a file leads */
    uint64_t values[FILES_MAX];
    struct perf_event_attr attrs[FILES_MAX];
    int n_opened;
} machine;

/* A group's leader is read. */
static bool machine_read(int leader_fd, struct counters_reading *reading)
{
    *reading = (struct counters_reading){ .n = (uint64_t)machine.sizes[leader_fd],
                                          .enabled_ns = 1000,
                                          .running_ns = machine.running_ns };
    for (uint64_t i = 0; i < reading->n; i++)
        reading->values[i] = machine.values[leader_fd];
    return true;
}

static int machine_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    (void)cpu, (void)flags;
    bool hardware = attr->type != PERF_TYPE_SOFTWARE;
    if (machine.n_opened < FILES_MAX)
        machine.attrs[machine.n_opened++] = *attr;
    errno = hardware ? machine.error : 0;
    if (errno == 0 && pid != 0)
        errno = machine.error_of_others;
    int size = group_fd < 0 ? 1 : machine.sizes[group_fd] + 1;
    if (errno == 0 && hardware && size > machine.n_counters)
        errno = EINVAL;
    if (errno != 0)
        return -1;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fd >= FILES_MAX)
        return -1;
    machine.sizes[group_fd < 0 ? fd : group_fd] = size;
    machine.values[fd] = attr->config >= machine.silent_config ? 0 : machine.value;
    return fd;
}

static void reset(int n_counters)
{
    memset(&machine, 0, sizeof machine);
    machine.n_counters = n_counters;
    machine.value = 123;
    machine.running_ns = 1000;
    machine.silent_config = UINT64_MAX;
    counters_perf_open_replace(machine_open);
    counters_perf_read_replace(machine_read);
}

static enum selftest_result test_named(const char *name, pid_t pid, struct arena *arena, struct err *err)
{
    struct counter_spec spec;
    err->text[0] = '\0';
    if (events_encode(name, arena, &spec, err) < 0)
        return SELFTEST_REFUSED;
    return selftest_event(&spec, pid, err);
}

static const struct {
    const char *claim;
    int error;
    const char *text, *next;
} refusals[] = {
    { "ENOENT is a machine without counters", ENOENT, "event 'cycles': this machine has no hardware counters (virtual",
      "\n  next: use bare metal" },
    { "EACCES names perf_event_paranoid", EACCES, "event 'cycles': Permission denied (perf_event_paranoid is ",
      "\n  next: " },
    { "EPERM too", EPERM, "event 'cycles': Operation not permitted (perf_event_paranoid is ", "\n  next: " },
    { "EMFILE names the limit", EMFILE, "event 'cycles': Too many open files (the limit is ", "'ulimit -n'" },
    { "ENOSPC: the counters are taken", ENOSPC, "event 'cycles': all counters that could count it are taken",
      "stop other profilers" },
    { "EINVAL", EINVAL, "event 'cycles': Invalid argument", "\n  next: leave its modifiers out" },
    { "ENOSYS", ENOSYS, "event 'cycles': this kernel has no perf events", "\n  next: use a kernel" },
    { "ENOMEM", ENOMEM, "event 'cycles': Cannot allocate memory", "\n  next: " },
};

static void test_refusals(struct arena *arena)
{
    struct err err;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        reset(4);
        machine.error = refusals[i].error;
        bool refused = test_named("cycles", 0, arena, &err) == SELFTEST_REFUSED;
        if (!CHECK(refusals[i].claim, refused && strncmp(err.text, refusals[i].text, strlen(refusals[i].text)) == 0 &&
                                          strstr(err.text, refusals[i].next) != NULL))
            printf("# is '%s'\n", err.text);
    }
    reset(4);
    machine.value = 0;
    CHECK("an event that opens and stays 0 is noticed",
          test_named("r8", 0, arena, &err) == SELFTEST_SILENT &&
              strncmp(err.text, "event 'r8': it can be opened, but was 0", 38) == 0);
    reset(4);
    machine.running_ns = 0;
    CHECK("an event that gets no counter is refused",
          test_named("r8", 0, arena, &err) == SELFTEST_REFUSED && strstr(err.text, "are taken\n  next: stop") != NULL);
    reset(4);
    CHECK("an event without reads in user space is not usable",
          test_named("r8", 0, arena, &err) == SELFTEST_NO_READS && strstr(err.text, "\n  next: ") != NULL);
    reset(4);
    machine.error_of_others = EACCES;
    bool refused = test_named("task-clock", 4711, arena, &err) == SELFTEST_REFUSED;
    CHECK("another user's process is named", refused && strstr(err.text, "Permission denied (") != NULL &&
                                                 (perf_paranoid() > 2 || strstr(err.text, "as that user") != NULL));
    CHECK("derived events work without a PMU",
          (machine.error = ENOENT, test_named("task-clock", 0, arena, &err) == SELFTEST_USABLE) &&
              test_named("page-faults", 0, arena, &err) == SELFTEST_USABLE && err.text[0] == '\0');
}

static void test_choice(struct arena *arena)
{
    struct counter_set set;
    struct err err = { "" }, note = { "" };
    reset(4);
    machine.error = ENOENT;
    int rc = selftest_choose(NULL, 0, arena, &set, &note, &err);
    CHECK("without a PMU: time, page faults and switches",
          rc == 0 && set.n == 5 && strcmp(set.specs[2].name, "task-clock") == 0 && set.specs[2].why[0] == '\0' &&
              strcmp(set.specs[3].name, "page-faults") == 0 && strcmp(set.specs[4].name, "context-switches") == 0);
    CHECK("cycles and instructions say why they are not counted",
          rc == 0 && strcmp(set.specs[0].name, "cycles") == 0 && set.specs[0].why[0] != '\0' &&
              strcmp(set.specs[1].name, "instructions") == 0 && set.specs[1].why[0] != '\0');
    CHECK("and the reason", strstr(note.text, "no hardware counters") != NULL && strstr(note.text, "next:") != NULL);

    rc = selftest_choose("cycles,task-clock", 0, arena, &set, &note, &err);
    CHECK("an event asked for stays, with the reason why it is not measured",
          rc == 0 && set.n == 2 && strstr(set.specs[0].why, "no hardware counters") != NULL &&
              set.specs[1].why[0] == '\0');
    reset(4);
    machine.silent_config = 0x1000;
    rc = selftest_choose("instructions,r1234", 0, arena, &set, &note, &err);
    CHECK("an event that stays 0 where others count may be a rare one: it is counted, and marked",
          rc == 0 && set.specs[1].why[0] == '\0' && set.specs[1].is_silent && !set.specs[0].is_silent);
    machine.silent_config = 0;
    rc = selftest_choose("instructions,r1234", 0, arena, &set, &note, &err);
    CHECK("where none counts, it is not", rc == 0 && set.specs[1].why[0] != '\0' && !set.specs[1].is_silent);
    CHECK("an unknown event is an error", selftest_choose("cycels", 0, arena, &set, &note, &err) == -1 &&
                                              strstr(err.text, "unknown event 'cycels'") == err.text);
}

/* The attributes that the default set opens, alternative by alternative. */
static void test_default_attributes(struct arena *arena)
{
    const struct default_set *defaults = default_set_for(events_pmu_name());
    struct counter_set set;
    struct err err = { "" }, note = { "" };
    char name[128];
    int n = 1; /* the first one asks whether there is a PMU */
    reset(8);
    machine.error = EINVAL;
    selftest_choose(NULL, 0, arena, &set, &note, &err);
    CHECK_TEXT("the default set begins with cycles", defaults->events[0], "cycles");
    for (size_t i = 0; defaults->events[i] != NULL; i++)
        for (const char *at = defaults->events[i]; default_set_alternative(&at, name, sizeof name) > 0; n++) {
            const struct perf_event_attr *attr = &machine.attrs[n];
            struct counter_spec spec;
            CHECK(name, events_encode(name, arena, &spec, &err) == 0 && attr->type == spec.code.type &&
                            attr->config == spec.code.config && attr->exclude_kernel == 1 && attr->exclude_user == 0 &&
                            attr->exclude_hv == 1 && attr->disabled == 0 && attr->inherit == 0 &&
                            attr->sample_period == 0 && attr->read_format == 11);
        }
}

static void test_here(struct arena *arena)
{
    struct err err = { "" }, note = { "" };
    struct counter_set set;
    counters_perf_open_replace(NULL);
    counters_perf_read_replace(NULL);
    CHECK("the loop runs", selftest_exercise() > 0);
    CHECK("the default set is usable on this machine, or says why it is not",
          selftest_choose(NULL, 0, arena, &set, &note, &err) == 0 && set.n > 0 &&
              (set.specs[0].why[0] == '\0' || strstr(set.specs[0].why, "\n  next: ") != NULL));
    for (size_t i = 0; i < set.n; i++)
        printf("# %s %s\n", set.specs[i].name, set.specs[i].why);
    if (test_named("cycles", 0, arena, &err) == SELFTEST_USABLE)
        CHECK("with a PMU the default set begins with cycles", strcmp(set.specs[0].name, "cycles") == 0);
    else
        SKIP("with a PMU the default set begins with cycles", "this machine has no usable PMU");
}

int main(void)
{
    struct arena arena = { 0 };
    test_refusals(&arena);
    test_choice(&arena);
    test_default_attributes(&arena);
    test_here(&arena);
    arena_free(&arena);
    return tap_done();
}
