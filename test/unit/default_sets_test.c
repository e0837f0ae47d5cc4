/*
 * The tables of default sets and of top-down formulas, against what libpfm4 knows of each PMU: it encodes events of
 * absent PMUs, too.
 */
#include "core/pmu/default_sets.h"

#include "core/pmu/selftest.h"
#include "core/pmu/event_roles.h"
#include "core/pmu/topdown.h"
#include "test/unit/tap.h"

#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>

#define OTHER_MACHINE "this libpfm4 does not know that PMU"

static const char *const headings[] = {
    "L1-D",     "L1-I",      "L2-D",     "L2-I",      "LLC", "D-TLB", "I-TLB", "Branches mispredicted",
    "L1 loads", "L1 stores", "L2 loads", "L2 stores", NULL,
};

static bool is_heading(const char *heading)
{
    for (size_t i = 0; headings[i] != NULL; i++)
        if (strcmp(headings[i], heading) == 0)
            return true;
    return false;
}

static bool pfm_knows(const char *pmu)
{
    pfm_pmu_t id;
    pfm_for_all_pmus(id)
    {
        pfm_pmu_info_t info = { .size = sizeof info };
        if (pfm_get_pmu_info(id, &info) == PFM_SUCCESS && strcmp(info.name, pmu) == 0)
            return true;
    }
    return false;
}

static bool is_generic(const char *name)
{
    for (const struct events_generic *g = events_generic; g->name != NULL; g++)
        if (strcmp(g->name, name) == 0)
            return true;
    return false;
}

/* Returns whether the event can be encoded for that PMU and is counted by the CPU. */
static bool encodes(const char *pmu, const char *name, struct arena *arena)
{
    char full[256];
    struct counter_spec spec;
    struct err err = { "" };
    snprintf(full, sizeof full, "%s%s%s", is_generic(name) ? "" : pmu, is_generic(name) ? "" : "::", name);
    bool ok = events_encode(full, arena, &spec, &err) == 0 && spec.kind == COUNTER_HARDWARE &&
              (is_generic(name) ? spec.code.type == PERF_TYPE_HARDWARE || spec.code.type == PERF_TYPE_HW_CACHE
                                : strcmp(spec.pmu, pmu) == 0);
    if (!ok)
        printf("# %s: %s\n", full, err.text);
    return ok;
}

/* All alternatives have one heading, and no other event of the set has it.  Returns it. */
static const char *heading_of(const char *event, bool *agree)
{
    char name[128];
    const char *first = NULL, *heading;
    for (const char *at = event; default_set_alternative(&at, name, sizeof name) > 0;) {
        enum event_role role = event_role_of(name, &heading);
        *agree &= role != EVENT_MISSES || is_heading(heading);
        *agree &= first == NULL || strcmp(first, heading) == 0;
        first = first == NULL && *agree ? heading : first;
    }
    return first == NULL ? "" : first;
}

/* The thesis' kinds of events (Table 3.1) and the last level cache, less what a set's PMUs cannot count. */
static const char *const kinds[] = {
    "cycles",
    "instructions",
    "L1-D",
    "L1-I",
    "L2-D",
    "L2-I",
    "L1 loads",
    "L1 stores",
    "L2 loads",
    "L2 stores",
    "D-TLB",
    "I-TLB",
    "Branches mispredicted",
    "LLC",
};
static const struct {
    const char *pmu, *missing; /* a set's first PMU */
} missing[] = {
    { "amd64_fam17h_zen1", "L2 loads,L2 stores,LLC" },
    { "amd64_fam17h_zen2", "L2 loads,L2 stores" },
    { "amd64_fam19h_zen3", "L2 loads,L2 stores" },
    { "amd64_fam19h_zen4", "L2 loads,L2 stores" },
    { "hsw", "L2-D" },
    { "skl", "L2-D" },
    { "arm_n1", "L2-I" },
    { "arm_ac57", "L2-I,L1 loads,L1 stores,L2 loads,L2 stores,LLC" },
};

static bool has_kind(const struct default_set *set, const char *kind)
{
    bool agree = true;
    for (size_t i = 0; set->events[i] != NULL; i++)
        if (strcmp(heading_of(set->events[i], &agree), kind) == 0)
            return true;
    return false;
}

static void test_kinds(void)
{
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
        char claim[160], found[256] = "";
        const struct default_set *set = default_set_for(missing[i].pmu);
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            if (!has_kind(set, kinds[k]))
                snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", found[0] == '\0' ? "" : ",",
                         kinds[k]);
        snprintf(claim, sizeof claim, "%s: of the thesis' events all are there but %s", missing[i].pmu,
                 missing[i].missing);
        CHECK_TEXT(claim, found, missing[i].missing);
    }
}

static void test_headings(const struct default_set *set)
{
    char claim[160];
    const char *seen[COUNTERS_EVENTS_MAX];
    size_t n = 0;
    bool agree = true, unique = true;
    for (; n < COUNTERS_EVENTS_MAX && set->events[n] != NULL; n++) {
        seen[n] = heading_of(set->events[n], &agree);
        for (size_t i = 0; i < n; i++)
            unique &= strcmp(seen[i], seen[n]) != 0;
    }
    const char *who = set->pmus == NULL ? "any other PMU" : set->pmus[0];
    snprintf(claim, sizeof claim, "%s: each event has one of the report's headings", who);
    CHECK(claim, agree);
    snprintf(claim, sizeof claim, "%s: no heading twice", who);
    CHECK(claim, unique && n >= 8);
    snprintf(claim, sizeof claim, "%s: CPI comes first", who);
    CHECK(claim, strcmp(set->events[0], "cycles") == 0 && strcmp(set->events[1], "instructions") == 0);
}

static void test_encoding(const struct default_set *set, const char *pmu, struct arena *arena)
{
    char claim[160], name[128];
    bool ok = true;
    snprintf(claim, sizeof claim, "%s: libpfm4 encodes each event of its default set", pmu);
    if (!pfm_knows(pmu)) {
        SKIP(claim, OTHER_MACHINE);
        return;
    }
    for (size_t i = 0; set->events[i] != NULL; i++)
        for (const char *at = set->events[i]; default_set_alternative(&at, name, sizeof name) > 0;)
            ok &= encodes(pmu, name, arena);
    CHECK(claim, ok);
}

/* libpfm4 does not name all of them: some are codes. */
static void test_topdown(const char *pmu, struct arena *arena)
{
    char claim[160];
    const char *used, *list;
    struct err err = { "" };
    bool ok = true;
    snprintf(claim, sizeof claim, "%s: libpfm4 encodes each event of its top-down formulas", pmu);
    if (!pfm_knows(pmu)) {
        SKIP(claim, OTHER_MACHINE);
        return;
    }
    if ((list = topdown_expand(TOPDOWN_ALIAS, pmu, arena, &used, &err)) == NULL)
        return;
    char *copy = arena_text(arena, list, strlen(list)), *rest = copy;
    for (char *name = strsep(&rest, ","); name != NULL; name = strsep(&rest, ",")) {
        struct counter_spec spec;
        ok &= name[0] == 'r' ? events_encode(name, arena, &spec, &err) == 0 : encodes(pmu, name, arena);
    }
    CHECK(claim, ok);
}

static void test_lookup(void)
{
    CHECK("an unknown PMU has the generic set", default_set_for("")->pmus == NULL);
    CHECK("so has one that begins like a known one", default_set_for("amd64_fam19h_zen44")->pmus == NULL);
    CHECK_TEXT("a set is found by any of its PMUs", default_set_for("icx")->pmus[0], "skl");
    char name[8];
    const char *at = "A|Bee|";
    size_t n[4];
    for (size_t i = 0; i < 4; i++) {
        n[i] = default_set_alternative(&at, name, sizeof name);
        if (i == 1)
            CHECK_TEXT("alternatives are split at bars", name, "Bee");
    }
    CHECK("and end", n[0] == 1 && n[1] == 3 && n[2] == 0 && n[3] == 0);
    at = "longer than that";
    CHECK("a long one is cut", default_set_alternative(&at, name, sizeof name) == 7 && *at == '\0');
}

int main(void)
{
    struct arena arena = { 0 };
    /* libpfm4 looks at it once, at its start. */
    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
    if (!CHECK("libpfm4 starts", pfm_initialize() == PFM_SUCCESS))
        return tap_done();
    size_t n = 0;
    for (const struct default_set *set = default_sets;; set++) {
        test_headings(set);
        for (size_t i = 0; set->pmus != NULL && set->pmus[i] != NULL; i++, n++)
            test_encoding(set, set->pmus[i], &arena);
        if (set->pmus == NULL)
            break;
    }
    printf("# %zu PMUs\n", n);
    for (const struct topdown_cpu *cpu = topdown_cpus; strcmp(cpu->pmus, "simulated") != 0; cpu++) {
        char *copy = arena_text(&arena, cpu->pmus, strlen(cpu->pmus)), *rest = copy;
        for (char *pmu = strsep(&rest, " "); pmu != NULL; pmu = strsep(&rest, " "))
            test_topdown(pmu, &arena);
    }
    struct arena generic = { 0 };
    for (size_t i = 0; default_set_for("")->events[i] != NULL; i++)
        CHECK(default_set_for("")->events[i], encodes("", default_set_for("")->events[i], &generic));
    test_kinds();
    test_lookup();
    arena_free(&generic);
    arena_free(&arena);
    return tap_done();
}
