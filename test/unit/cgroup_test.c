/*
 * Groups of made-up machines: a folder plays /proc and /sys.
 */
#include "core/recorder/pressure.h"

#include "test/unit/tap.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_FILES 9
#define NONE    "9223372036854771712\n"
#define V1      "/sys/fs/cgroup/memory"
#define V2      "/sys/fs/cgroup"
#define HYBRID                                                                             \
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"                                    \
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:3 - cgroup cgroup rw,cpu,cpuacct\n" \
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"                    \
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"

static char base[] = "/tmp/mmprof-cgroup-XXXXXX";

struct file {
    const char *path, *text;
};

static const struct row {
    const char *claim, *cgroup, *mounts;
    struct file files[N_FILES];
    uint64_t room, limit;
} rows[] = {
    { "version 2: the limit less what is used",
      "0::/a\n",
      "1 2 0:3 / /sys/fs/cgroup rw - cgroup2 x rw\n",
      { { V2 "/a/memory.max", "1000\n" }, { V2 "/a/memory.current", "300\n" } },
      700,
      1000 },
    { "version 2: a parent has less room",
      "0::/a/b/c\n",
      "1 2 0:3 / /sys/fs/cgroup rw - cgroup2 x rw\n",
      { { V2 "/a/b/c/memory.max", "max\n" },
        { V2 "/a/b/c/memory.current", "100\n" },
        { V2 "/a/b/memory.max", "5000\n" },
        { V2 "/a/b/memory.current", "200\n" },
        { V2 "/a/memory.max", "4000\n" },
        { V2 "/a/memory.current", "3900\n" } },
      100,
      4000 },
    { "version 2: memory.high slows the group down: it is a limit",
      "0::/a\n",
      "1 2 0:3 / /sys/fs/cgroup rw - cgroup2 x rw\n",
      { { V2 "/a/memory.max", "1000\n" }, { V2 "/a/memory.high", "500\n" }, { V2 "/a/memory.current", "300\n" } },
      200,
      500 },
    { "version 2: clean inactive page cache is room, and half of the active one",
      "0::/a\n",
      "1 2 0:3 / /sys/fs/cgroup rw - cgroup2 x rw\n",
      { { V2 "/a/memory.max", "1000\n" },
        { V2 "/a/memory.current", "900\n" },
        { V2 "/a/memory.stat",
          "anon 1\ninactive_file_x 7\nactive_file 20\ninactive_file 490\nfile_dirty 100\nfile_writeback 50\n" } },
      450,
      1000 },
    { "more used than allowed: no room",
      "0::/\n",
      "1 2 0:3 / /sys/fs/cgroup rw - cgroup2 x rw\n",
      { { V2 "/memory.max", "1000\n" }, { V2 "/memory.current", "1100\n" } },
      0,
      1000 },
    { "version 1 next to version 2: the hierarchy that has the controller counts",
      "5:cpu,cpuacct:/x\n4:hugetlb,memory_not:/y\n3:memory:/z\n0::/v2\n",
      HYBRID,
      { { V1 "/z/memory.limit_in_bytes", "1000\n" },
        { V1 "/z/memory.usage_in_bytes", "600\n" },
        { V1 "/z/memory.stat", "inactive_file 1\ntotal_inactive_file 100\n" },
        { V1 "/memory.limit_in_bytes", NONE },
        { V1 "/memory.usage_in_bytes", "600\n" },
        { "/sys/fs/cgroup/unified/v2/memory.max", "5\n" },
        { "/sys/fs/cgroup/unified/v2/memory.current", "0\n" } },
      500,
      1000 },
    { "version 1: memory and swap together are limited",
      "3:memory:/z\n",
      HYBRID,
      { { V1 "/z/memory.limit_in_bytes", "1000\n" },
        { V1 "/z/memory.usage_in_bytes", "600\n" },
        { V1 "/z/memory.memsw.limit_in_bytes", "1200\n" },
        { V1 "/z/memory.memsw.usage_in_bytes", "1100\n" } },
      100,
      1200 },
    { "hybrid: a controller that version 1 does not have",
      "1:name=systemd:/s\n0::/v2\n",
      HYBRID,
      { { "/sys/fs/cgroup/unified/v2/memory.max", "50\n" }, { "/sys/fs/cgroup/unified/v2/memory.current", "10\n" } },
      40,
      50 },
    { "a container that sees a part of the hierarchy",
      "3:memory:/docker/id/jvm\n",
      "5 1 0:9 /docker /sys/fs/cgroup/m\\040m rw - cgroup c rw,memory\n",
      { { "/sys/fs/cgroup/m m/id/jvm/memory.limit_in_bytes", NONE },
        { "/sys/fs/cgroup/m m/id/jvm/memory.usage_in_bytes", "5\n" },
        { "/sys/fs/cgroup/m m/memory.limit_in_bytes", "30\n" },
        { "/sys/fs/cgroup/m m/memory.usage_in_bytes", "10\n" },
        { "/sys/fs/cgroup/memory.limit_in_bytes", "5\n" }, /* outside of the mount */
        { "/sys/fs/cgroup/memory.usage_in_bytes", "5\n" } },
      20,
      30 },
    { "a group outside of our namespace is not known",
      "0::/../other\n",
      "1 2 0:3 / /sys/fs/cgroup rw - cgroup2 x rw\n",
      { { V2 "/memory.max", "1000\n" }, { V2 "/memory.current", "300\n" }, { "/sys/fs/other/memory.max", "3\n" } },
      MEMORY_ROOM_ANY,
      MEMORY_ROOM_ANY },
    { "another folder whose name begins the same is not the mount's root",
      "0::/docker2/a\n",
      "1 2 0:3 /docker /sys/fs/cgroup rw - cgroup2 x rw\n",
      { { V2 "/a/memory.max", "1000\n" }, { V2 "/a/memory.current", "300\n" } },
      MEMORY_ROOM_ANY,
      MEMORY_ROOM_ANY },
    { "the machine has less than the group",
      "0::/a\n",
      "1 2 0:3 / /sys/fs/cgroup rw - cgroup2 x rw\n",
      { { "/proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    2 kB\n" },
        { V2 "/a/memory.max", "10000\n" },
        { V2 "/a/memory.current", "300\n" } },
      2048,
      MEMORY_ROOM_ANY },
};

static bool put(const char *root, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    FILE *out = fopen(path, "we");
    return out != NULL && fputs(text, out) >= 0 && fclose(out) == 0;
}

static void test_row(size_t i)
{
    char root[128];
    const struct row *row = &rows[i];
    snprintf(root, sizeof root, "%s/%zu", base, i);
    bool made = mkdir(root, 0755) == 0 && put(root, "/proc/42/cgroup", row->cgroup) &&
                put(root, "/proc/self/mountinfo", row->mounts);
    for (size_t j = 0; j < N_FILES && row->files[j].path != NULL; j++)
        made &= put(root, row->files[j].path, row->files[j].text);
    struct memory_room room = memory_room_read(root, 42);
    if (!CHECK(row->claim, made && room.bytes == row->room && room.limit_bytes == row->limit &&
                               room.knows_group == (row->room != MEMORY_ROOM_ANY)))
        printf("# %" PRIu64 " of %" PRIu64 "\n", room.bytes, room.limit_bytes);
}

static void test_cpu(void)
{
    char root[128];
    struct cgroup group;
    uint64_t n;
    snprintf(root, sizeof root, "%s/cpu", base);
    mkdir(root, 0755);
    put(root, "/proc/42/cgroup", "5:cpu,cpuacct:/x/y\n0::/v2\n");
    put(root, "/proc/self/mountinfo", HYBRID);
    put(root, "/sys/fs/cgroup/cpu,cpuacct/x/y/cpu.stat", "nr_periods 5\nnr_throttled 3\nthrottled_time 77\n");
    CHECK("a controller that is mounted with others", cgroup_find(root, 42, "cpu", &group) && !group.is_v2);
    CHECK("a keyed line", cgroup_keyed(&group, "cpu.stat", "nr_throttled", &n) && n == 3);
    CHECK("a key that is not there", !cgroup_keyed(&group, "cpu.stat", "nr", &n));
    CHECK("a file that is not there", !cgroup_number(&group, "cpu.max", &n));
    CHECK("two parents, and no more", cgroup_up(&group) && cgroup_up(&group) && !cgroup_up(&group));
    CHECK("no such process", !cgroup_find(root, 43, "cpu", &group));
}

/* What the CPU quotas of a row's groups are at first, and what has changed of them later. */
static const struct quota_row {
    const char *claim, *cgroup, *mounts;
    struct file files[N_FILES], later[2];
    bool has_quota;
    struct cpu_quota_level most;
} quotas[] = {
    { "version 2: a quota, and how long it stopped the group since",
      "0::/a\n",
      "1 2 0:3 / /sys/fs/cgroup rw - cgroup2 x rw\n",
      { { V2 "/a/cpu.max", "20000 100000\n" }, { V2 "/a/cpu.stat", "nr_throttled 5\nthrottled_usec 700\n" } },
      { { V2 "/a/cpu.stat", "nr_throttled 109\nthrottled_usec 7100700\n" } },
      true,
      { 0.2, 104, 7100000000 } },
    { "version 2: no quota",
      "0::/a\n",
      "1 2 0:3 / /sys/fs/cgroup rw - cgroup2 x rw\n",
      { { V2 "/a/cpu.max", "max 100000\n" }, { V2 "/a/cpu.stat", "nr_throttled 0\nthrottled_usec 0\n" } },
      { { V2 "/a/cpu.stat", "nr_throttled 0\nthrottled_usec 0\n" } },
      false,
      { 0, 0, 0 } },
    { "version 2: of a group and its parent the one that was stopped longer",
      "0::/a/b\n",
      "1 2 0:3 / /sys/fs/cgroup rw - cgroup2 x rw\n",
      { { V2 "/a/b/cpu.max", "400000 100000\n" },
        { V2 "/a/b/cpu.stat", "nr_throttled 9\nthrottled_usec 90\n" },
        { V2 "/a/cpu.max", "150000 100000\n" },
        { V2 "/a/cpu.stat", "nr_throttled 1\nthrottled_usec 10\n" } },
      { { V2 "/a/b/cpu.stat", "nr_throttled 10\nthrottled_usec 100\n" },
        { V2 "/a/cpu.stat", "nr_throttled 3\nthrottled_usec 30\n" } },
      true,
      { 1.5, 2, 20000 } },
    { "version 1: a quota",
      "5:cpu,cpuacct:/x\n0::/v2\n",
      HYBRID,
      { { "/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "50000\n" },
        { "/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n" },
        { "/sys/fs/cgroup/cpu,cpuacct/x/cpu.stat", "nr_periods 9\nnr_throttled 3\nthrottled_time 77\n" } },
      { { "/sys/fs/cgroup/cpu,cpuacct/x/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 177\n" } },
      true,
      { 0.5, 1, 100 } },
    { "version 1: -1 is no quota",
      "5:cpu,cpuacct:/x\n0::/v2\n",
      HYBRID,
      { { "/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n" },
        { "/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n" },
        { "/sys/fs/cgroup/cpu,cpuacct/x/cpu.stat", "nr_periods 9\nnr_throttled 3\nthrottled_time 77\n" } },
      { { NULL, NULL } },
      false,
      { 0, 0, 0 } },
};

static void test_quota(size_t i)
{
    char root[128];
    const struct quota_row *row = &quotas[i];
    struct cpu_quota start, end;
    struct cpu_quota_level most = { 0, 0, 0 };
    snprintf(root, sizeof root, "%s/quota%zu", base, i);
    bool made = mkdir(root, 0755) == 0 && put(root, "/proc/42/cgroup", row->cgroup) &&
                put(root, "/proc/self/mountinfo", row->mounts);
    for (size_t j = 0; j < N_FILES && row->files[j].path != NULL; j++)
        made &= put(root, row->files[j].path, row->files[j].text);
    bool has_quota = cpu_quota_find(root, 42, &start);
    for (size_t j = 0; j < 2 && row->later[j].path != NULL; j++)
        made &= put(root, row->later[j].path, row->later[j].text);
    end = start;
    cpu_quota_read(&end);
    bool is_known = cpu_quota_since(&start, &end, &most);
    CHECK(row->claim, made && has_quota == row->has_quota && is_known == has_quota && most.cpus == row->most.cpus &&
                          most.n_stopped == row->most.n_stopped && most.stopped_ns == row->most.stopped_ns);
}

static void test_quota_gone(void)
{
    char root[128], path[256];
    struct cpu_quota start, end;
    struct cpu_quota_level most;
    snprintf(root, sizeof root, "%s/quota0", base);
    snprintf(path, sizeof path, "%s" V2 "/a/cpu.stat", root);
    CHECK("a group with a quota", cpu_quota_find(root, 42, &start));
    end = start;
    unlink(path);
    cpu_quota_read(&end);
    CHECK("is as it was read last when it is gone",
          cpu_quota_since(&start, &end, &most) && most.cpus == 0.2 && most.n_stopped == 0);
}

/* What a reading of a row's groups finds that has risen. */
static const struct pressure_row {
    const char *claim, *cgroup, *mounts;
    struct file files[N_FILES], later[N_FILES];
    bool is_machine;
    uint64_t values[TRACE_PRESSURES];
} pressures[] = {
    { "version 2: stops, PSI, memory limits and OOM kills of the group",
      "0::/a\n",
      "1 2 0:3 / /sys/fs/cgroup rw - cgroup2 x rw\n",
      { { V2 "/a/cpu.stat", "usage_usec 9\nnr_throttled 5\nthrottled_usec 700\n" },
        { V2 "/a/cpu.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=10\nfull avg10=0.00 total=99\n" },
        { V2 "/a/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=20\n" },
        { V2 "/a/io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=30\n" },
        { V2 "/a/memory.events", "low 0\nhigh 1\nmax 2\noom 0\noom_kill 0\n" } },
      { { V2 "/a/cpu.stat", "usage_usec 9\nnr_throttled 7\nthrottled_usec 900\n" },
        { V2 "/a/cpu.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=11\nfull avg10=0.00 total=199\n" },
        { V2 "/a/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=22\n" },
        { V2 "/a/io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=33\n" },
        { V2 "/a/memory.events", "low 0\nhigh 2\nmax 5\noom 0\noom_kill 1\n" } },
      false,
      { 2, 200000, 1000, 2000, 3000, 4, 1 } },
    { "version 1: stops and memory limits of the group, PSI of the machine",
      "5:cpu,cpuacct:/x\n4:memory:/x\n0::/\n",
      HYBRID,
      { { "/sys/fs/cgroup/cpu,cpuacct/x/cpu.stat", "nr_periods 9\nnr_throttled 3\nthrottled_time 77\n" },
        { V1 "/x/memory.failcnt", "8\n" },
        { V1 "/x/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n" },
        { "/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=10\n" } },
      { { "/sys/fs/cgroup/cpu,cpuacct/x/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 177\n" },
        { V1 "/x/memory.failcnt", "10\n" },
        { "/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=15\n" } },
      true,
      { 1, 100, 5000, 0, 0, 2, 0 } },
};

static void test_pressure(size_t i)
{
    char root[128];
    const struct pressure_row *row = &pressures[i];
    struct pressure pressure;
    snprintf(root, sizeof root, "%s/pressure%zu", base, i);
    bool made = mkdir(root, 0755) == 0 && put(root, "/proc/42/cgroup", row->cgroup) &&
                put(root, "/proc/self/mountinfo", row->mounts);
    for (size_t j = 0; j < N_FILES && row->files[j].path != NULL; j++)
        made &= put(root, row->files[j].path, row->files[j].text);
    pressure_init(&pressure);
    pressure_open(&pressure, root, 42, 1, 1000);
    pressure_look(&pressure, 2, 1500, true);
    bool is_silent = pressure.n_waiting == 0;
    for (size_t j = 0; j < N_FILES && row->later[j].path != NULL; j++)
        made &= put(root, row->later[j].path, row->later[j].text);
    pressure_look(&pressure, 3, 1600, false); /* too early */
    is_silent = is_silent && pressure.n_waiting == 0;
    pressure_look(&pressure, 2 + PRESSURE_PERIOD_NS, 2000, false);
    const struct trace_pressure *found = &pressure.waiting[0];
    CHECK(row->claim, made && is_silent && pressure.n_waiting == 1 && pressure.is_machine == row->is_machine &&
                          found->start_ticks == 1500 && found->end_ticks == 2000 &&
                          memcmp(found->values, row->values, sizeof row->values) == 0);
    pressure_close(&pressure);
}

int main(void)
{
    char command[64];
    if (mkdtemp(base) == NULL) {
        SKIP("made-up groups", "no temporary folder");
        return tap_done();
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        test_row(i);
    test_cpu();
    for (size_t i = 0; i < sizeof quotas / sizeof *quotas; i++)
        test_quota(i);
    test_quota_gone();
    for (size_t i = 0; i < sizeof pressures / sizeof *pressures; i++)
        test_pressure(i);
    snprintf(command, sizeof command, "rm -r %s", base);
    CHECK("the folder is removed", system(command) == 0);
    return tap_done();
}
