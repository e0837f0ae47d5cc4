#include "cmd/recording.h"

#include "core/base/text.h"
#include "core/pmu/layout.h"

#include <stdarg.h>

static const struct {
    const char *name;
    bool is_auto;
    enum recorder_read read;
} reads[] = {
    { "auto", true, RECORDER_READ_USER },
    { "user", false, RECORDER_READ_USER },
    { "syscall", false, RECORDER_READ_SYSCALL },
    { "none", false, RECORDER_READ_NONE },
};

#define N_READS (sizeof reads / sizeof *reads)

/* "event 'cycles': the reason": the reason. */
static const char *without_name(const char *why)
{
    const char *colon = strncmp(why, "event '", 7) == 0 ? strstr(why, "': ") : NULL;
    return colon == NULL ? why : colon + 3;
}

static void add_note(struct recording_counters *counters, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_note(struct recording_counters *counters, const char *format, ...)
{
    size_t used = strlen(counters->notes);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(counters->notes + used, sizeof counters->notes - used, format, arguments);
    va_end(arguments);
}

/*
 * What the user asked for and does not get is said once, with the reason, when the recording has ended.  What is
 * counted where nobody asked for events, the report says.
 */
static int choose_events(const char *list, pid_t pid, struct arena *arena, struct recording_counters *counters,
                         struct err *err)
{
    struct counter_set *set = &counters->events;
    struct err note = { "" };
    if (selftest_choose(list, pid, arena, set, &note, err) < 0)
        return -1;
    for (size_t i = 0; i < set->n && note.text[0] == '\0'; i++)
        if (set->specs[i].why[0] != '\0')
            err_set(&note, "'%s' is not counted: %s", set->specs[i].name, without_name(set->specs[i].why));
    if (list != NULL && note.text[0] != '\0')
        add_note(counters, "mmprof: %s\n", note.text);
    for (size_t i = 0; i < set->n; i++)
        if (set->specs[i].is_silent)
            add_note(counters,
                     "mmprof: '%s' was 0 in mmprof's test loop: if it is 0 in the program, too, this machine cannot "
                     "count it\n",
                     set->specs[i].name);
    return 0;
}

static void tell_syscall_cost(const struct counter_layout *layout)
{
    double user_ns, syscall_ns;
    if (selftest_read_ns(layout, &user_ns, &syscall_ns) < 0 || syscall_ns < 0)
        return;
    fprintf(stderr,
            "mmprof: reading %" PRIu32 " group%s of counters by system call costs %.1f us per recorded call:\n"
            "  10000 calls per second take %.0f %% of a CPU\n",
            layout->n_groups, text_plural(layout->n_groups), 2 * syscall_ns / 1e3, 2 * syscall_ns * 10000 / 1e7);
}

/* In user space, if that works. */
static int choose_read(size_t how, bool tells, struct recording_counters *counters, struct err *err)
{
    struct err why = { "" };
    counters->read = reads[how].read;
    if (counters->read == RECORDER_READ_SYSCALL && tells)
        tell_syscall_cost(&counters->layout);
    if (counters->read != RECORDER_READ_USER)
        return 0;
    err_set(&why, "probes cannot read the counters");
    if (selftest_user_reads(&counters->layout, &why))
        return 0;
    if (!reads[how].is_auto) {
        *err = why;
        return -1;
    }
    const char *reason = why.text + strlen("probes cannot read the counters");
    reason += strspn(reason, ": ");
    counters->read = RECORDER_READ_NONE;
    snprintf(counters->read_reason, sizeof counters->read_reason, "%.*s", (int)strcspn(reason, "\n"), reason);
    add_note(counters,
             "mmprof: %s\n"
             "mmprof: so mmprof reads them remotely, at thread switches and every 10 ms: short calls get no counts\n"
             "  next: --read syscall counts them, at a higher cost\n",
             why.text);
    return 0;
}

static int find_read(const char *how, size_t *index, struct err *err)
{
    for (size_t i = 0; i < N_READS; i++)
        if (strcmp(how, reads[i].name) == 0) {
            *index = i;
            return 0;
        }
    err_set(err, "bad value '%s' of option --read", how);
    return err_next(err, "give auto, user, syscall or none");
}

int recording_choose(const char *list, bool counts, const char *how, pid_t pid, bool tells, struct arena *arena,
                     struct recording_counters *counters, struct err *err)
{
    size_t index = 0;
    memset(counters, 0, sizeof *counters);
    if (find_read(how, &index, err) < 0)
        return -1;
    if (list == NULL && !counts)
        return 0;
    if (choose_events(list, pid, arena, counters, err) < 0 ||
        layout_arrange(&counters->events, &counters->layout, err) < 0)
        return -1;
    return counters->layout.n_groups == 0 ? 0 : choose_read(index, tells, counters, err);
}

double recording_read_cost(const struct recording_counters *counters)
{
    double user_ns, syscall_ns;
    if (counters->layout.n_groups == 0 || counters->read == RECORDER_READ_NONE ||
        selftest_read_ns(&counters->layout, &user_ns, &syscall_ns) < 0)
        return 0;
    double each = counters->read == RECORDER_READ_USER ? user_ns : syscall_ns;
    return each < 0 ? 0 : 2 * each;
}

void recording_one_group(const struct recording_counters *all, uint32_t g, struct recording_counters *one)
{
    const struct counter_layout *layout = &all->layout;
    struct counter_code codes[COUNTERS_GROUP_MAX];
    uint8_t events[COUNTERS_GROUP_MAX];
    uint32_t n = 0;
    snprintf(one->notes, sizeof one->notes, "%s", g == 0 ? all->notes : "");
    one->events.n = 0;
    one->layout = (struct counter_layout){ .n_groups = 0 };
    one->read = all->read;
    memcpy(one->read_reason, all->read_reason, sizeof one->read_reason);
    for (uint32_t slot = layout->first[g]; slot < layout->first[g + 1]; slot++) {
        codes[n] = layout->codes[slot];
        events[n++] = (uint8_t)one->events.n;
        one->events.specs[one->events.n++] = all->events.specs[layout->event[slot]];
    }
    counter_layout_add(&one->layout, codes, events, n);
    for (size_t i = 0; g == 0 && i < all->events.n; i++) {
        const struct counter_spec *spec = &all->events.specs[i];
        if ((!counter_is_read(spec) || spec->why[0] != '\0') && one->events.n < COUNTERS_EVENTS_MAX)
            one->events.specs[one->events.n++] = *spec;
    }
}
