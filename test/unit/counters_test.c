/*
 * Event names, the self-test and what fits into a group; the kernel is played by a function.
 */
#include "core/pmu/events.h"

#include "test/unit/tap.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE(level, what) ((level) | PERF_COUNT_HW_CACHE_OP_READ << 8 | (uint64_t)(what) << 16)
#define MISS               PERF_COUNT_HW_CACHE_RESULT_MISS
#define USER_ONLY          (COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR)

struct name_case {
    const char *name;
    uint32_t type, exclude;
    uint64_t config;
    enum counter_kind kind;
};

static const struct name_case names[] = {
    { "cycles", PERF_TYPE_HARDWARE, USER_ONLY, PERF_COUNT_HW_CPU_CYCLES, COUNTER_HARDWARE },
    { "instructions", PERF_TYPE_HARDWARE, USER_ONLY, PERF_COUNT_HW_INSTRUCTIONS, COUNTER_HARDWARE },
    { "cache-misses", PERF_TYPE_HARDWARE, USER_ONLY, PERF_COUNT_HW_CACHE_MISSES, COUNTER_HARDWARE },
    { "branch-misses", PERF_TYPE_HARDWARE, USER_ONLY, PERF_COUNT_HW_BRANCH_MISSES, COUNTER_HARDWARE },
    { "L1-dcache-load-misses", PERF_TYPE_HW_CACHE, USER_ONLY, CACHE(PERF_COUNT_HW_CACHE_L1D, MISS), COUNTER_HARDWARE },
    { "L1-icache-load-misses", PERF_TYPE_HW_CACHE, USER_ONLY, CACHE(PERF_COUNT_HW_CACHE_L1I, MISS), COUNTER_HARDWARE },
    { "LLC-load-misses", PERF_TYPE_HW_CACHE, USER_ONLY, CACHE(PERF_COUNT_HW_CACHE_LL, MISS), COUNTER_HARDWARE },
    { "dTLB-load-misses", PERF_TYPE_HW_CACHE, USER_ONLY, CACHE(PERF_COUNT_HW_CACHE_DTLB, MISS), COUNTER_HARDWARE },
    { "iTLB-load-misses", PERF_TYPE_HW_CACHE, USER_ONLY, CACHE(PERF_COUNT_HW_CACHE_ITLB, MISS), COUNTER_HARDWARE },
    { "dtlb-LOAD-misses", PERF_TYPE_HW_CACHE, USER_ONLY, CACHE(PERF_COUNT_HW_CACHE_DTLB, MISS), COUNTER_HARDWARE },
    { "perf::PERF_COUNT_HW_CPU_CYCLES", PERF_TYPE_HARDWARE, USER_ONLY, 0, COUNTER_HARDWARE },
    { "cycles:u", PERF_TYPE_HARDWARE, USER_ONLY, 0, COUNTER_HARDWARE },
    { "cycles:k", PERF_TYPE_HARDWARE, COUNTER_NO_USER | COUNTER_NO_HYPERVISOR, 0, COUNTER_HARDWARE },
    { "cycles:u:k", PERF_TYPE_HARDWARE, COUNTER_NO_HYPERVISOR, 0, COUNTER_HARDWARE },
    { "cycles:uk", PERF_TYPE_HARDWARE, COUNTER_NO_HYPERVISOR, 0, COUNTER_HARDWARE },
    { "cycles:ukh", PERF_TYPE_HARDWARE, 0, 0, COUNTER_HARDWARE },
    { "cycles:h:u", PERF_TYPE_HARDWARE, COUNTER_NO_KERNEL, 0, COUNTER_HARDWARE },
    { "cycles:h", PERF_TYPE_HARDWARE, COUNTER_NO_USER | COUNTER_NO_KERNEL, 0, COUNTER_HARDWARE },
    { "r1234", PERF_TYPE_RAW, USER_ONLY, 0x1234, COUNTER_HARDWARE },
    { "r01c2:k", PERF_TYPE_RAW, COUNTER_NO_USER | COUNTER_NO_HYPERVISOR, 0x1c2, COUNTER_HARDWARE },
    { "task-clock", PERF_TYPE_SOFTWARE, USER_ONLY, PERF_COUNT_SW_TASK_CLOCK, COUNTER_TIME },
    { "cpu-clock", PERF_TYPE_SOFTWARE, USER_ONLY, PERF_COUNT_SW_CPU_CLOCK, COUNTER_TIME },
    { "page-faults", PERF_TYPE_SOFTWARE, USER_ONLY, PERF_COUNT_SW_PAGE_FAULTS, COUNTER_PAGE_FAULTS },
    { "faults", PERF_TYPE_SOFTWARE, USER_ONLY, PERF_COUNT_SW_PAGE_FAULTS, COUNTER_PAGE_FAULTS },
    { "cpu-migrations", PERF_TYPE_SOFTWARE, COUNTER_NO_HYPERVISOR, PERF_COUNT_SW_CPU_MIGRATIONS, COUNTER_SOFTWARE },
    { "alignment-faults:u:k", PERF_TYPE_SOFTWARE, COUNTER_NO_HYPERVISOR, PERF_COUNT_SW_ALIGNMENT_FAULTS,
      COUNTER_SOFTWARE },
    { "minor-faults:u", PERF_TYPE_SOFTWARE, USER_ONLY, PERF_COUNT_SW_PAGE_FAULTS_MIN, COUNTER_SOFTWARE },
    { "context-switches", PERF_TYPE_SOFTWARE, USER_ONLY, PERF_COUNT_SW_CONTEXT_SWITCHES, COUNTER_SWITCHES },
};

static void test_names(struct arena *arena)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct name_case *c = &names[i];
        struct counter_spec spec;
        struct err err = { "" };
        bool ok = events_encode(c->name, arena, &spec, &err) == 0 && strcmp(spec.name, c->name) == 0 &&
                  spec.code.type == c->type && spec.code.exclude == c->exclude && spec.code.config == c->config &&
                  spec.kind == c->kind && spec.description[0] != '\0' && spec.why[0] == '\0' &&
                  strcmp(spec.unit, c->kind == COUNTER_TIME ? "ns" : "events") == 0;
        if (!CHECK(c->name, ok))
            printf("# type %u config %#" PRIx64 " exclude %u: %s\n", spec.code.type, spec.code.config,
                   spec.code.exclude, err.text);
    }
}

/* Whoever adds ':u' to a hardware event asks libpfm4. */
static void test_generic(struct arena *arena)
{
    for (const struct events_generic *g = events_generic; g->name != NULL; g++) {
        struct counter_spec plain, by_libpfm;
        struct err err = { "" };
        char name[64], claim[96];
        snprintf(name, sizeof name, "%s:u", g->name);
        snprintf(claim, sizeof claim, "'%s' means what libpfm4 says", g->name);
        if (g->type == PERF_TYPE_SOFTWARE)
            continue;
        CHECK(claim,
              events_encode(g->name, arena, &plain, &err) == 0 && events_encode(name, arena, &by_libpfm, &err) == 0 &&
                  plain.kind == by_libpfm.kind && memcmp(&plain.code, &by_libpfm.code, sizeof plain.code) == 0 &&
                  strcmp(plain.pmu, by_libpfm.pmu) == 0 && strcmp(plain.description, by_libpfm.description) == 0);
    }
}

static const struct {
    const char *list, *text; /* the error's beginning */
} refusals[] = {
    { "cycels", "unknown event 'cycels'\n  next: did you mean 'cycles'" },
    { "cycles,L1-dcache-load-mises",
      "unknown event 'L1-dcache-load-mises'\n  next: did you mean 'L1-dcache-load-misses'" },
    { "LLC_LOAD_MISSES2", "unknown event 'LLC_LOAD_MISSES2'\n  next: did you mean 'LLC-load-misses'" },
    { "qqqqqqqqqqqqqqq", "unknown event 'qqqqqqqqqqqqqqq'\n  next: run 'mmprof list'" },
    { "", "an event's name is empty\n  next: " },
    { "cycles,", "an event's name is empty\n  next: " },
    { "cycles, ,instructions", "an event's name is empty\n  next: " },
    { "cycles,Cycles", "event 'Cycles' is named twice\n  next: " },
    { "cycles:q", "event 'cycles:q' has an unknown modifier or unit mask\n  next: " },
    { "cycles:precise=2", "event 'cycles:precise=2' has a modifier for sampling, but this command counts it\n"
                          "  next: " },
    { "cycles:freq=100", "event 'cycles:freq=100' has a period or a frequency of its own\n  next: " },
    { "r1,r2,r3,r4,r5,r6,r7,r8,r9,ra,rb,rc,rd,re,rf,r10,r11,r12,r13,r14,r15,r16,r17,r18,r19,r1a,r1b,r1c,r1d,r1e,r1f,"
      "r20,"
      "r21",
      "more than 32 events: 'r21' is one too many\n"
      "  next: " },
    { "nosuchpmu/event=1/", "event 'nosuchpmu/event=1/' cannot be encoded: this machine has no PMU 'nosuchpmu'\n" },
    { "cpu/event=1", "event 'cpu/event=1' cannot be encoded: it is not of the form PMU/term=value,.../modifiers\n" },
};

static void test_refusals(struct arena *arena)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct counter_set set;
        struct err err = { "" };
        bool refused = events_parse(refusals[i].list, arena, &set, &err) == -1;
        if (!CHECK(refusals[i].list[0] == 0 ? "(empty)" : refusals[i].list,
                   refused && strncmp(err.text, refusals[i].text, strlen(refusals[i].text)) == 0))
            printf("# is '%s'\n", err.text);
    }
}

static void test_lists(struct arena *arena)
{
    struct counter_set set;
    struct err err = { "" };
    CHECK("a list is split at commas, blanks around names are dropped",
          events_parse(" cycles ,instructions:u, page-faults,r1c2", arena, &set, &err) == 0 && set.n == 4 &&
              strcmp(set.specs[0].name, "cycles") == 0 && strcmp(set.specs[2].name, "page-faults") == 0 &&
              set.specs[3].code.config == 0x1c2);
    CHECK("samples are taken by software events, too",
          events_parse_sampling("minor-faults,cpu-migrations", arena, &set, &err) == 0 && set.n == 2 &&
              set.specs[1].kind == COUNTER_SOFTWARE);
    char long_name[600];
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    CHECK("a name without end is refused", events_parse(long_name, arena, &set, &err) == -1);
}

/* ---- sysfs ---- */

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    if (out != NULL) {
        fputs(text, out);
        fclose(out);
    }
}

static void make_devices(const char *root)
{
    static const char *const folders[] = { "cpu", "cpu/format", "cpu/events" };
    char path[512];
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        mkdir(path, 0700);
    }
    write_file(root, "cpu/type", "4\n");
    write_file(root, "cpu/format/event", "config:0-7,32-35\n");
    write_file(root, "cpu/format/umask", "config:8-15\n");
    write_file(root, "cpu/format/inv", "config:23\n");
    write_file(root, "cpu/format/ldlat", "config1:0-15\n");
    write_file(root, "cpu/format/odd", "nowhere:0-3\n");
    write_file(root, "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
    write_file(root, "cpu/events/loop", "loop\n");
}

static const struct {
    const char *name;
    uint64_t config, config1;
    uint32_t exclude;
    const char *error; /* NULL: it can be encoded */
} sysfs_cases[] = {
    { "cpu/event=0xc2,umask=1/", 0x1c2, 0, USER_ONLY, NULL },
    { "cpu/event=0x1c2/k", 0x1000000c2, 0, COUNTER_NO_USER | COUNTER_NO_HYPERVISOR, NULL },
    { "cpu/event=1,inv/u", 0x800001, 0, USER_ONLY, NULL },
    { "cpu/mem-loads/:uk", 0x1cd, 3, COUNTER_NO_HYPERVISOR, NULL },
    { "cpu/mem-loads,ldlat=7/", 0x1cd, 7, USER_ONLY, NULL },
    { "cpu/config=0x12345,config1=9/", 0x12345, 9, USER_ONLY, NULL },
    { "cpu/umask=0x100/", 0, 0, 0, "term 'umask' of PMU 'cpu': its value does not fit 'config:8-15'" },
    { "cpu/nosuch=1/", 0, 0, 0, "PMU 'cpu' has no term 'nosuch'" },
    { "cpu/odd=1/", 0, 0, 0, "term 'odd' of PMU 'cpu': its value does not fit 'nowhere:0-3'" },
    { "cpu/loop/", 0, 0, 0, "PMU 'cpu' has no term 'loop'" },
    { "cpu/event=many/", 0, 0, 0, "term 'event' of PMU 'cpu' has no number as its value" },
    { "cpu/event=1/z", 0, 0, 0, "it is not of the form PMU/term=value,.../modifiers" },
    { "../cpu/event=1/", 0, 0, 0, "it is not of the form PMU/term=value,.../modifiers" },
};

static void test_sysfs(struct arena *arena)
{
    char root[] = "/tmp/mmprof-counters-XXXXXX", command[64];
    if (mkdtemp(root) == NULL) {
        SKIP("events in sysfs' spelling", "no temporary folder");
        return;
    }
    make_devices(root);
    for (size_t i = 0; i < sizeof sysfs_cases / sizeof sysfs_cases[0]; i++) {
        struct counter_spec spec = { .name = sysfs_cases[i].name };
        struct err err = { "" };
        int rc = events_encode_sysfs(root, sysfs_cases[i].name, arena, &spec, &err);
        bool ok = sysfs_cases[i].error == NULL
                      ? rc == 0 && spec.code.type == 4 && spec.code.config == sysfs_cases[i].config &&
                            spec.code.config1 == sysfs_cases[i].config1 && spec.code.exclude == sysfs_cases[i].exclude
                      : rc == -1 && strstr(err.text, sysfs_cases[i].error) != NULL;
        if (!CHECK(sysfs_cases[i].name, ok))
            printf("# config %#" PRIx64 " config1 %#" PRIx64 ": %s\n", spec.code.config, spec.code.config1, err.text);
    }
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK("the folder is removed", system(command) == 0);
}

static void test_known(struct arena *arena)
{
    struct counter_spec *specs;
    size_t n;
    events_known(arena, &specs, &n);
    CHECK("the known events are listed", n >= 20);
    bool cycles = false, time = false, described = true;
    for (size_t i = 0; i < n; i++) {
        cycles |= strcmp(specs[i].name, "cycles") == 0;
        time |= specs[i].kind == COUNTER_TIME;
        described &= specs[i].description[0] != '\0';
    }
    CHECK("with the generic and the derived ones, each with a description", cycles && time && described);
}

int main(void)
{
    struct arena arena = { 0 };
    test_generic(&arena);
    test_names(&arena);
    test_refusals(&arena);
    test_lists(&arena);
    test_sysfs(&arena);
    test_known(&arena);
    arena_free(&arena);
    return tap_done();
}
