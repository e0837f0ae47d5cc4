#include "core/perf/perf_rings.h"

#include "core/pmu/events.h"
#include "core/pmu/layout.h"
#include "core/pmu/perf_open.h"

#define SELDOM (UINT64_C(1) << 30)

/* Those happen in the kernel, so counted in user space alone there would be none. */
static struct counter_code code_of(const struct counter_spec *spec)
{
    struct counter_code code = spec->code;
    bool is_kernels = spec->kind == COUNTER_TIME || spec->kind == COUNTER_SWITCHES;
    if (is_kernels && strchr(spec->name, ':') == NULL)
        code.exclude &= ~(uint32_t)COUNTER_NO_KERNEL;
    return code;
}

/* Does an event of the calling thread take samples?  Returns 0, or the errno. */
static int try_sampling(const struct counter_code *code, uint8_t precise)
{
    struct perf_event_attr attr;
    counters_attr(code, &attr);
    attr.sample_period = SELDOM;
    attr.precise_ip = precise & 3u;
    int fd = counters_perf_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC), error = fd < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return error;
}

/* The kernel takes a precise level of the aarch64 PMU's events without a word, and without effect. */
static bool has_precise_levels(void)
{
#if defined(__aarch64__)
    return false;
#else
    return true;
#endif
}

bool trigger_can_be_precise(const struct counter_spec *spec)
{
    const struct counter_code code = code_of(spec);
    return has_precise_levels() && try_sampling(&code, 2) == 0;
}

/* It counts. */
static int check_sampling(const struct counter_spec *spec, const struct counter_code *code, struct err *err)
{
    bool is_precise = spec->precise == 0 || has_precise_levels();
    int error = is_precise ? try_sampling(code, spec->precise) : EOPNOTSUPP;
    if (error == 0)
        return 0;
    if (spec->precise > 0 && try_sampling(code, 0) == 0) {
        err_set(err, "'%s' takes no samples: this PMU has no such precise level", spec->name);
        return err_next(err, "lower it, or leave the modifier out: samples are then some instructions late");
    }
    if (error == EOPNOTSUPP || error == EINVAL) {
        err_set(err, "'%s' counts, but takes no samples: the PMU gives no interrupts for it", spec->name);
        return err_next(err, "take samples by a clock (-e cpu-clock,%s), which reads it with each", spec->name);
    }
    err_set(err, "'%s' takes no samples", spec->name);
    return perf_why(error, code, 0, err);
}

/* The events before count together.  A clock goes on in user space alone, where it has to. */
static int check(struct kernel_trigger *trigger, const struct counter_spec *spec, struct err *err)
{
    struct counter_code *code = &trigger->codes[trigger->n - 1];
    int error = layout_try(trigger->codes, trigger->n);
    if ((error == EACCES || error == EPERM) && spec->kind == COUNTER_TIME) {
        code->exclude |= COUNTER_NO_KERNEL;
        error = layout_try(trigger->codes, trigger->n);
    }
    if (error == 0)
        return trigger->n > 1 ? 0 : check_sampling(spec, code, err);
    if (trigger->n > 1 && layout_try(code, 1) == 0) {
        err_set(err, "'%s' does not count next to the events before it: this CPU has too few counters", spec->name);
        return err_next(err, "name fewer events with -e, and sample again for the others");
    }
    err_set(err, trigger->n == 1 ? "'%s' takes no samples" : "'%s' does not count", spec->name);
    return perf_why(error, code, 0, err);
}

int trigger_choose(const char *list, uint64_t period, struct arena *arena, struct counter_set *set,
                   struct kernel_trigger *trigger, struct err *err)
{
    *trigger = (struct kernel_trigger){ .period = period };
    if (events_parse_sampling(list, arena, set, err) < 0)
        return -1;
    if (set->n > COUNTERS_GROUP_MAX) {
        err_set(err, "%zu events are too many to be read with each sample", set->n);
        return err_next(err, "name %d at most with -e, and sample again for the others", COUNTERS_GROUP_MAX);
    }
    for (size_t i = 0; i < set->n; i++) {
        if (i > 0 && set->specs[i].precise != 0) {
            err_set(err, "'%s' has a precise level, but only the first event takes samples", set->specs[i].name);
            return err_next(err, "remove its modifier, or name it first");
        }
        trigger->codes[trigger->n++] = code_of(&set->specs[i]);
        if (check(trigger, &set->specs[i], err) < 0)
            return -1;
    }
    trigger->precise = set->specs[0].precise;
    trigger->is_clock = set->specs[0].kind == COUNTER_TIME;
    return 0;
}

/* It takes samples, and not those that the clock takes anyway. */
static int check_each(const struct counter_spec *spec, const struct counter_code *code, struct err *err)
{
    if (spec->kind != COUNTER_TIME)
        return check_sampling(spec, code, err);
    err_set(err, "'%s' is a clock, and --frequency takes samples by a clock already", spec->name);
    return err_next(err, "leave it out of --ip-events");
}

int trigger_choose_each(const char *list, struct arena *arena, struct counter_set *set, struct counter_code *codes,
                        struct err *err)
{
    if (events_parse_sampling(list, arena, set, err) < 0)
        return -1;
    if (set->n > COUNTERS_GROUP_MAX) {
        err_set(err, "%zu events cannot take samples at the same time", set->n);
        return err_next(err, "name %d at most with --ip-events, and record again for the others", COUNTERS_GROUP_MAX);
    }
    for (size_t i = 0; i < set->n; i++) {
        codes[i] = code_of(&set->specs[i]);
        if (check_each(&set->specs[i], &codes[i], err) < 0)
            return -1;
    }
    return 0;
}
