#include "core/pmu/events.h"

#include <ctype.h>
#include <perfmon/pfmlib_perf_event.h>

#define NAME_MAX_BYTES 256

/*
 * perf writes ":ukpp" where libpfm4 wants ":u:k:precise=2".  out has room for twice the longest name; more levels than
 * the three that there are stay as they are, and are refused.
 */
static void split_modifiers(const char *name, char *out)
{
    const char *colon = strrchr(name, ':');
    size_t n_modifiers = colon == NULL ? 0 : strspn(colon + 1, "ukhp"), n_precise = 0;
    for (size_t i = 0; i < n_modifiers; i++)
        n_precise += colon[1 + i] == 'p';
    if (n_modifiers == 0 || (n_modifiers == 1 && n_precise == 0) || n_precise > 3 || colon[1 + n_modifiers] != '\0') {
        memcpy(out, name, strlen(name) + 1);
        return;
    }
    size_t used = (size_t)(colon - name);
    memcpy(out, name, used);
    for (size_t i = 0; i < n_modifiers; i++)
        if (colon[1 + i] != 'p') {
            out[used++] = ':';
            out[used++] = colon[1 + i];
        }
    if (n_precise > 0) {
        static const char precise[] = ":precise=";
        memcpy(out + used, precise, sizeof precise - 1);
        used += sizeof precise - 1;
        out[used++] = (char)('0' + n_precise); /* one digit: 3 at most */
    }
    out[used] = '\0';
}

/* Cuts ':h' out of split modifiers, which libpfm4 knows for some PMUs only.  Returns whether it was there. */
static bool take_hypervisor(char *split)
{
    bool taken = false;
    for (char *at = split; (at = strstr(at, ":h")) != NULL;) {
        if (at[2] == ':' || at[2] == '\0') {
            memmove(at, at + 2, strlen(at + 2) + 1);
            taken = true;
        } else {
            at += 2;
        }
    }
    return taken;
}

static int refuse(const char *name, int pfm_error, struct err *err)
{
    if (pfm_error == PFM_ERR_ATTR || pfm_error == PFM_ERR_ATTR_VAL || pfm_error == PFM_ERR_ATTR_SET)
        return err_set(err, "event '%s' has an unknown modifier or unit mask", name),
               err_next(err, "modifiers are ':u' (user space, the default) and ':k' (kernel); "
                             "'mmprof list --all' shows the unit masks");
    if (pfm_error == PFM_ERR_UMASK)
        return err_set(err, "event '%s' needs a unit mask", name),
               err_next(err, "run 'mmprof list --all %.*s' for its unit masks", (int)strcspn(name, ":"), name);
    if (pfm_error != PFM_ERR_NOTFOUND)
        return err_set(err, "event '%s' cannot be encoded: %s", name, pfm_strerror(pfm_error)),
               err_next(err, "run 'mmprof list' for the events that count here");
    err_set(err, "unknown event '%s'", name);
    return events_suggest(name, err);
}

static int set_kind(struct counter_spec *spec, struct err *err)
{
    spec->kind = COUNTER_HARDWARE;
    spec->unit = "events";
    if (spec->code.type == PERF_TYPE_TRACEPOINT || spec->code.type == PERF_TYPE_BREAKPOINT)
        return err_set(err, "event '%s' is a tracepoint or breakpoint, which user space cannot read", spec->name),
               err_next(err, "run 'mmprof list' for the events that count here");
    if (spec->code.type != PERF_TYPE_SOFTWARE)
        return 0;
    switch (spec->code.config) {
    case PERF_COUNT_SW_CPU_CLOCK:
    case PERF_COUNT_SW_TASK_CLOCK:
        spec->kind = COUNTER_TIME;
        spec->unit = "ns";
        return 0;
    case PERF_COUNT_SW_PAGE_FAULTS:
        spec->kind = COUNTER_PAGE_FAULTS;
        return 0;
    case PERF_COUNT_SW_CONTEXT_SWITCHES:
        spec->kind = COUNTER_SWITCHES;
        return 0;
    case PERF_COUNT_SW_DUMMY:
        return err_set(err, "event '%s' never happens", spec->name),
               err_next(err, "run 'mmprof list' for the events that count here");
    default: /* most happen in the kernel: in user space alone there would be none */
        spec->kind = COUNTER_SOFTWARE;
        if (strchr(spec->name, ':') == NULL)
            spec->code.exclude &= ~(uint32_t)COUNTER_NO_KERNEL;
        return 0;
    }
}

static uint32_t exclude_of(const struct perf_event_attr *attr, bool with_hypervisor)
{
    return (attr->exclude_user ? (uint32_t)COUNTER_NO_USER : 0) |
           (attr->exclude_kernel ? (uint32_t)COUNTER_NO_KERNEL : 0) |
           (with_hypervisor ? 0 : (uint32_t)COUNTER_NO_HYPERVISOR);
}

static void describe(int index, struct counter_spec *spec)
{
    pfm_event_info_t event = { .size = sizeof event };
    pfm_pmu_info_t pmu = { .size = sizeof pmu };
    spec->pmu = spec->description = "";
    if (pfm_get_event_info(index, PFM_OS_NONE, &event) == PFM_SUCCESS) {
        spec->description = event.desc != NULL ? event.desc : "";
        if (pfm_get_pmu_info(event.pmu, &pmu) == PFM_SUCCESS)
            spec->pmu = pmu.name;
    }
    const struct events_generic *generic = events_generic_find(spec->name, strcspn(spec->name, ":"));
    if (generic != NULL)
        spec->description = generic->description;
}

static int encode_pfm(const char *name, struct counter_spec *spec, struct err *err)
{
    char split[2 * NAME_MAX_BYTES];
    struct perf_event_attr attr = { .size = sizeof attr };
    pfm_perf_encode_arg_t encoding = { .attr = &attr, .size = sizeof encoding };
    split_modifiers(name, split);
    bool with_hypervisor = take_hypervisor(split);
    int rc = pfm_initialize();
    /* What counts where no modifier says it: user space, or, after ':h' alone, neither that nor the kernel. */
    if (rc == PFM_SUCCESS)
        rc = pfm_get_os_event_encoding(split, with_hypervisor ? 0 : PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &encoding);
    if (rc != PFM_SUCCESS)
        return refuse(name, rc, err);
    if (attr.freq || attr.sample_period != 0)
        return err_set(err, "event '%s' has a period or a frequency of its own", name),
               err_next(err, "leave that modifier out; mmprof sample takes them as -c and -F");
    spec->precise = attr.precise_ip;
    spec->code = (struct counter_code){ .type = attr.type,
                                        .exclude = exclude_of(&attr, with_hypervisor),
                                        .config = attr.config,
                                        .config1 = attr.config1,
                                        .config2 = attr.config2 };
    describe(encoding.idx, spec);
    return 0;
}

/* ":u", ":uk", ":u:k" and the like.  Returns whether they are nothing else; *exclude is what does not count. */
static bool read_modifiers(const char *modifiers, uint32_t *exclude)
{
    *exclude = COUNTER_NO_USER | COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR;
    for (const char *at = modifiers; *at != '\0'; at++)
        if (*at == 'u')
            *exclude &= ~(uint32_t)COUNTER_NO_USER;
        else if (*at == 'k')
            *exclude &= ~(uint32_t)COUNTER_NO_KERNEL;
        else if (*at != ':')
            return false;
    return modifiers[0] != '\0' && modifiers[1] != '\0';
}

/*
 * A row's name, and of a software event, some of which libpfm4 does not know, the modifiers.  What counts where none
 * says it: user space.  Returns whether it is one.
 */
static bool encode_generic(const char *name, struct counter_spec *spec)
{
    size_t n = strcspn(name, ":");
    const struct events_generic *generic = events_generic_find(name, n);
    uint32_t exclude = COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR;
    if (generic == NULL ||
        (name[n] != '\0' && (generic->type != PERF_TYPE_SOFTWARE || !read_modifiers(name + n, &exclude))))
        return false;
    spec->pmu = "perf";
    spec->description = generic->description;
    spec->code = (struct counter_code){ .type = generic->type, .exclude = exclude, .config = generic->config };
    return true;
}

static int encode(const char *name, struct arena *arena, struct counter_spec *spec, struct err *err)
{
    if (name[0] == '\0' || strlen(name) >= NAME_MAX_BYTES)
        return err_set(err, name[0] == '\0' ? "an event's name is empty" : "an event's name is too long"),
               err_next(err, "run 'mmprof list' for the events that count here");
    *spec = (struct counter_spec){
        .name = arena_text(arena, name, strlen(name)), .pmu = "", .description = "", .unit = "events", .why = ""
    };
    int rc = 0;
    if (!encode_generic(name, spec))
        rc = strchr(name, '/') != NULL ? events_encode_sysfs(EVENTS_SYSFS_DEVICES, name, arena, spec, err)
                                       : encode_pfm(name, spec, err);
    return rc == 0 ? set_kind(spec, err) : -1;
}

int events_encode(const char *name, struct arena *arena, struct counter_spec *spec, struct err *err)
{
    if (encode(name, arena, spec, err) < 0)
        return -1;
    if (spec->precise == 0)
        return 0;
    err_set(err, "event '%s' has a modifier for sampling, but this command counts it", name);
    return err_next(err, "leave that modifier out, or take samples with 'mmprof sample -e %s'", name);
}

/* The length of the list's first event: up to a comma that is not between slashes. */
static size_t first_length(const char *list)
{
    bool inside = false;
    size_t n = 0;
    for (; list[n] != '\0' && (inside || list[n] != ','); n++)
        inside ^= list[n] == '/';
    return n;
}

static int check_new(const struct counter_set *set, const char *name, struct err *err)
{
    for (size_t i = 0; i < set->n; i++)
        if (strcasecmp(set->specs[i].name, name) == 0)
            return err_set(err, "event '%s' is named twice", name), err_next(err, "name it once");
    if (set->n == COUNTERS_EVENTS_MAX)
        return err_set(err, "more than %d events: '%s' is one too many", COUNTERS_EVENTS_MAX, name),
               err_next(err, "name fewer, and record again for the others");
    return 0;
}

typedef int encode_fn(const char *name, struct arena *arena, struct counter_spec *spec, struct err *err);

static int parse(const char *list, encode_fn *encode_one, struct arena *arena, struct counter_set *set, struct err *err)
{
    set->n = 0;
    set->topdown = NULL;
    for (const char *at = list;;) {
        size_t n = first_length(at), n_word = n, skip = 0;
        while (skip < n && isspace((unsigned char)at[skip]))
            skip++;
        while (n_word > skip && isspace((unsigned char)at[n_word - 1]))
            n_word--;
        char *word = arena_text(arena, at + skip, n_word - skip);
        if (check_new(set, word, err) < 0 || encode_one(word, arena, &set->specs[set->n], err) < 0)
            return -1;
        set->n++;
        if (at[n] == '\0')
            return 0;
        at += n + 1;
    }
}

int events_parse(const char *list, struct arena *arena, struct counter_set *set, struct err *err)
{
    return parse(list, events_encode, arena, set, err);
}

int events_parse_sampling(const char *list, struct arena *arena, struct counter_set *set, struct err *err)
{
    return parse(list, encode, arena, set, err);
}
