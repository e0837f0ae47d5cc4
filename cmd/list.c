/*
 * mmprof list: the events that open and count on this machine, by trying each.
 *
 *     PMU: AMD64 Fam19h Zen4; 6 events fit into one group
 *       the default events (12) take turns in 3 groups
 *
 *     generic events
 *       cycles                        CPU cycles while not halted
 *       ...
 */
#include "cmd/commands.h"
#include "cmd/display.h"
#include "cmd/parts.h"
#include "cmd/program.h"

#include "core/pmu/layout.h"
#include "core/pmu/selftest.h"
#include "core/pmu/topdown.h"

#include <fnmatch.h>

#define NAME_COLUMNS 28

/* A pattern with *, ? or [ matches the whole name, another one any part of it; case makes no difference. */
static bool matches(const char *name, const char *pattern)
{
    if (pattern == NULL)
        return true;
    if (strpbrk(pattern, "*?[") != NULL)
        return fnmatch(pattern, name, FNM_CASEFOLD) == 0;
    return strcasestr(name, pattern) != NULL;
}

/* How the events of a session without -e share the counters. */
static void print_default(struct arena *arena)
{
    struct counter_set set;
    struct counter_layout layout;
    struct err err = { "" }, note;
    if (selftest_choose(NULL, 0, arena, &set, &note, &err) < 0 || layout_arrange(&set, &layout, &err) < 0) {
        printf("  the default events cannot be counted: %s\n", err.text);
        return;
    }
    if (layout.n_groups == 0)
        return;
    if (layout.n_groups == 1)
        printf("  the default events (%zu) are one group\n", set.n);
    else
        printf("  the default events (%zu) are multiplexed in %" PRIu32 " groups\n", set.n, layout.n_groups);
    err.text[0] = '\0';
    if (!selftest_user_reads(&layout, &err))
        printf("  probes cannot read them: %s\n", err.text);
}

static void print_topdown(struct arena *arena)
{
    const char *whose;
    struct err why = { "" };
    const char *events = topdown_expand(TOPDOWN_ALIAS, NULL, arena, &whose, &why);
    if (events == NULL)
        printf("  %.*s\n", (int)strcspn(why.text, "\n"), why.text);
    else
        printf("  '" TOPDOWN_ALIAS "' stands for the events of %s: %s\n", whose, events);
}

static void print_pmu(struct arena *arena)
{
    static const char *const names[] = { "cycles", "instructions" };
    struct counter_spec spec;
    struct err reason = { "" }, ignored = { "" };
    enum selftest_result result = SELFTEST_REFUSED;
    for (size_t i = 0; i < 2 && !selftest_counts(result); i++)
        if (events_encode(names[i], arena, &spec, &reason) == 0)
            result = selftest_event(&spec, 0, i == 0 ? &reason : &ignored);
    const char *pmu = events_pmu_description();
    if (!selftest_counts(result)) {
        const char *why = strstr(reason.text, "': ");
        printf("no hardware events: %s\n", why == NULL ? reason.text : why + 3);
        return;
    }
    uint32_t n = layout_group_size(&spec.code);
    printf("PMU: %s; %" PRIu32 "%s events fit into one group\n", pmu[0] != '\0' ? pmu : "unknown to libpfm4", n,
           n == COUNTERS_GROUP_MAX ? " or more" : "");
    print_default(arena);
    print_topdown(arena);
}

/* Test the events that match; the others' why becomes NULL. */
static void test_events(struct counter_spec *specs, size_t n, const char *pattern, struct arena *arena)
{
    for (size_t i = 0; i < n; i++) {
        struct err reason = { "" };
        if (!matches(specs[i].name, pattern)) {
            specs[i].why = NULL;
            continue;
        }
        if (selftest_counts(selftest_event(&specs[i], 0, &reason)))
            continue;
        /* Without the event's name and the next step: many events share a reason. */
        const char *why = strstr(reason.text, "': ");
        why = why == NULL ? reason.text : why + 3;
        specs[i].why = arena_text(arena, why, strcspn(why, "\n"));
    }
}

static const char *heading_of(const struct counter_spec *spec)
{
    if (spec->kind == COUNTER_SOFTWARE)
        return "software events, read by system call";
    if (spec->kind != COUNTER_HARDWARE)
        return "software events, from the kernel's records";
    return strcmp(spec->pmu, "perf") == 0 ? "generic hardware events" : spec->pmu;
}

static void print_event(const struct counter_spec *spec)
{
    int n_line = (int)strcspn(spec->description, "\n");
    printf("  %-*s  %.*s\n", NAME_COLUMNS, spec->name, n_line, spec->description);
}

/* The events of one heading that are usable, or those that are not. */
static size_t print_section(const struct counter_spec *specs, size_t n, const char *heading, bool usable)
{
    size_t n_printed = 0;
    const char *reason = "";
    for (size_t i = 0; i < n; i++) {
        const struct counter_spec *spec = &specs[i];
        if (spec->why == NULL || (spec->why[0] == '\0') != usable || strcmp(heading_of(spec), heading) != 0)
            continue;
        if (n_printed++ == 0 && usable)
            printf("\n%s\n", heading);
        if (strcmp(reason, spec->why) != 0)
            printf("\n%s, not usable: %s\n", heading, spec->why);
        reason = spec->why;
        print_event(spec);
    }
    return n_printed;
}

static bool is_first_of_heading(const struct counter_spec *specs, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(heading_of(&specs[j]), heading_of(&specs[i])) == 0)
            return false;
    return true;
}

static size_t print_all(const struct counter_spec *specs, size_t n, bool all)
{
    size_t n_printed = 0;
    for (size_t i = 0; i < n; i++)
        if (is_first_of_heading(specs, i))
            n_printed += print_section(specs, n, heading_of(&specs[i]), true);
    for (size_t i = 0; all && i < n; i++)
        if (is_first_of_heading(specs, i))
            n_printed += print_section(specs, n, heading_of(&specs[i]), false);
    return n_printed;
}

static void list(const char *pattern, bool all, struct arena *arena)
{
    struct counter_spec *specs;
    size_t n;
    events_known(arena, &specs, &n);
    print_pmu(arena);
    fflush(stdout);
    test_events(specs, n, pattern, arena);
    if (print_all(specs, n, all) == 0 && pattern != NULL)
        printf("\nno event matches '%s'%s\n", pattern,
               all ? "" : " and counts here; 'mmprof list --all' also shows those that do not");
}

int command_list(int argc, char **argv, struct err *err)
{
    bool all = false, models = false, done;
    struct display display = DISPLAY_OF_PAGES;
    const char *model = NULL;
    const struct options_row rows[] = {
        { 'a', "all", NULL, OPTION_FLAG, &all, "also show the events that do not work here, and why" },
        { 0, "models", NULL, OPTION_FLAG, &models, "list the processors that can be simulated instead" },
        { 0, "model", "MODEL", OPTION_TEXT, &model,
          "print the sizes and costs of MODEL, in the format of a model file" },
        DISPLAY_PAGER_ROW(&display),
        { 0, NULL, NULL, OPTION_FLAG, NULL, NULL },
    };
    int i;
    if (command_parse("list [--all] [PATTERN] | --models | --model MODEL",
                      "List the events that open and count on this machine; each is tried.\n"
                      "PATTERN is a part of the name, or a pattern with * and ? for the whole name.",
                      rows, argc, argv, &i, &done, err) < 0)
        return -1;
    if (done)
        return 0;
    if (models || model != NULL)
        return parts.models == NULL ? program_become("lab", argc, argv, err) : parts.models(models, model, err);
    if (argc - i > 1) {
        err_set(err, "one pattern at a time, not '%s' and '%s'", argv[i], argv[i + 1]);
        return err_next(err, "run 'mmprof list PATTERN'");
    }
    struct arena arena = { 0 };
    int rc = display_open(&display, err);
    if (rc == 0) {
        list(i < argc ? argv[i] : NULL, all, &arena);
        rc = display_close(&display, 0, err);
    }
    arena_free(&arena);
    return rc;
}
