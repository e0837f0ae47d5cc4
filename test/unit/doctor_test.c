/*
 * What 'mmprof doctor' says about made-up machines: a folder plays /proc and /sys, a function plays the kernel.
 */
#include "cmd/doctor.h"

#include "core/pmu/perf_open.h"
#include "test/unit/tap.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define KB  UINT64_C(1)
#define ALL UINT64_MAX

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define YAMA     "/proc/sys/kernel/yama/ptrace_scope"
#define RDPMC    "/sys/bus/event_source/devices/cpu/rdpmc"
#define ACCESS   "/proc/sys/kernel/perf_user_access"
#define WATCHDOG "/proc/sys/kernel/nmi_watchdog"
#define MLOCK    "/proc/sys/kernel/perf_event_mlock_kb"
#define CPUINFO  "/proc/cpuinfo"
#define SOURCE   "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define MEMINFO  "/proc/meminfo"
#define CGROUP   "/proc/self/cgroup"
#define MOUNTS   "/proc/self/mountinfo"
#define MOUNT_V2 "1 2 0:3 / /sys/fs/cgroup rw - cgroup2 x rw\n"
#define STATUS   "/proc/self/status"
#define PID_NS   "/proc/self/ns/pid" /* a link */

struct file {
    const char *path, *text;
};

static const struct machine_case {
    const char *claim;
    doctor_check *check;
    struct file files[6];
    struct doctor doctor; /* what doctor_init would have found */
    enum doctor_level level;
    const char *finding, *next; /* parts of the text; NULL: no next step */
} cases[] = {
    { "no perf events in the kernel",
      doctor_paranoid,
      { { NULL, NULL } },
      { .n_cpus = 2 },
      DOCTOR_LIMIT,
      "no perf events",
      "use a kernel" },
    { "paranoid 1 allows both",
      doctor_paranoid,
      { { PARANOID, "1\n" } },
      { .n_cpus = 2 },
      DOCTOR_OK,
      "and kernel",
      NULL },
    { "paranoid 2 allows user space",
      doctor_paranoid,
      { { PARANOID, "2\n" } },
      { .n_cpus = 2 },
      DOCTOR_OK,
      "the kernel may not",
      NULL },
    { "paranoid 3 allows nothing",
      doctor_paranoid,
      { { PARANOID, "3\n" } },
      { .n_cpus = 2 },
      DOCTOR_LIMIT,
      "perf_event_paranoid is 3: this user may not",
      "sysctl kernel.perf_event_paranoid=2" },
    { "paranoid 3 does not bind root",
      doctor_paranoid,
      { { PARANOID, "3\n" } },
      { .is_privileged = true },
      DOCTOR_OK,
      "but this user may count",
      NULL },

    { "where Yama is not, stacks can be sampled",
      doctor_stacks,
      { { NULL, NULL } },
      { .n_cpus = 2 },
      DOCTOR_OK,
      "from outside",
      NULL },
    { "where Yama leaves it to the users, too",
      doctor_stacks,
      { { YAMA, "0\n" } },
      { .n_cpus = 2 },
      DOCTOR_OK,
      "from outside",
      NULL },
    { "Ubuntu's default does not let users read memory",
      doctor_stacks,
      { { YAMA, "1\n" } },
      { .n_cpus = 2 },
      DOCTOR_LIMIT,
      "ptrace_scope is 1: this user may not",
      "sysctl kernel.yama.ptrace_scope=0" },
    { "but it lets those who may trace",
      doctor_stacks,
      { { YAMA, "2\n" } },
      { .may_trace = true },
      DOCTOR_OK,
      "from outside",
      NULL },
    { "3 lets nobody, until the next boot",
      doctor_stacks,
      { { YAMA, "3\n" } },
      { .may_trace = true },
      DOCTOR_LIMIT,
      "ptrace_scope is 3",
      "boot with another value" },

    { "without counters nobody asks about reads",
      doctor_reads,
      { { RDPMC, "0\n" } },
      { .is_x86 = true },
      DOCTOR_SILENT,
      "",
      NULL },
    { "x86: rdpmc 1",
      doctor_reads,
      { { RDPMC, "1\n" } },
      { .is_x86 = true, .n_counters = 6 },
      DOCTOR_OK,
      "rdpmc is 1",
      NULL },
    { "x86: what a reading costs",
      doctor_reads,
      { { RDPMC, "1\n" } },
      { .is_x86 = true, .n_counters = 6, .n_slots = 9, .user_ns = 81.4, .syscall_ns = 5400 },
      DOCTOR_OK,
      "; a counter read takes 81 ns, by system call 5400",
      NULL },
    { "x86: what one by system call costs, where there is no other",
      doctor_reads,
      { { RDPMC, "0\n" } },
      { .is_x86 = true, .n_counters = 6, .n_slots = 9, .user_ns = -1, .syscall_ns = 5400 },
      DOCTOR_LIMIT,
      "so probes cannot; a counter read by system call takes 5400 ns",
      "devices/cpu/rdpmc" },
    { "x86: rdpmc 0",
      doctor_reads,
      { { RDPMC, "0\n" } },
      { .is_x86 = true, .n_counters = 6 },
      DOCTOR_LIMIT,
      "may not read",
      "devices/cpu/rdpmc" },
    { "Neoverse: perf_user_access 0",
      doctor_reads,
      { { ACCESS, "0\n" } },
      { .n_counters = 6 },
      DOCTOR_LIMIT,
      "perf_user_access is 0",
      "sysctl kernel.perf_user_access=1" },
    { "Neoverse: perf_user_access 1",
      doctor_reads,
      { { ACCESS, "1\n" } },
      { .n_counters = 6 },
      DOCTOR_OK,
      "may read",
      NULL },
    { "aarch64 before 5.17",
      doctor_reads,
      { { NULL, NULL } },
      { .n_counters = 6 },
      DOCTOR_LIMIT,
      "since 5.17",
      "later kernel" },

    { "the watchdog takes a counter",
      doctor_watchdog,
      { { WATCHDOG, "1\n" } },
      { .n_counters = 5 },
      DOCTOR_LIMIT,
      "uses one counter",
      "sysctl kernel.nmi_watchdog=0" },
    { "the watchdog is off",
      doctor_watchdog,
      { { WATCHDOG, "0\n" } },
      { .n_counters = 6 },
      DOCTOR_OK,
      "no counter",
      NULL },
    { "without counters it takes none",
      doctor_watchdog,
      { { WATCHDOG, "1\n" } },
      { .n_cpus = 1 },
      DOCTOR_SILENT,
      "",
      NULL },

    { "perf's default suffices",
      doctor_pinned,
      { { MLOCK, "516\n" } },
      { .n_cpus = 4, .n_slots = 6, .is_jvm = true, .n_threads = 40 },
      DOCTOR_OK,
      "2064 KB (perf_event_mlock_kb is 516 for each CPU, 'ulimit -l' 0); rings and counters of 40 threads take 2000",
      NULL },
    { "one CPU and many threads need more",
      doctor_pinned,
      { { MLOCK, "516\n" } },
      { .n_cpus = 1, .n_slots = 6, .is_jvm = true, .n_threads = 100 },
      DOCTOR_LIMIT,
      "take 2660",
      "sysctl kernel.perf_event_mlock_kb=2661" },
    { "'ulimit -l' counts, too",
      doctor_pinned,
      { { MLOCK, "516\n" } },
      { .n_cpus = 1, .n_slots = 6, .is_jvm = true, .n_threads = 100, .pinned_limit_kb = 8192 * KB },
      DOCTOR_OK,
      "8708 KB",
      NULL },
    { "'ulimit -l' is unlimited",
      doctor_pinned,
      { { MLOCK, "1\n" } },
      { .n_cpus = 1, .pinned_limit_kb = ALL },
      DOCTOR_OK,
      "any amount",
      NULL },

    { "enough files",
      doctor_files,
      { { NULL, NULL } },
      { .n_cpus = 4, .n_files = 1024, .is_jvm = true, .n_threads = 40 },
      DOCTOR_OK,
      "1024 files may be open; this JVM's 40 threads take 224 (CPUs: 4)",
      NULL },
    { "groups that take turns, opened for each thread",
      doctor_files,
      { { NULL, NULL } },
      { .n_cpus = 4, .n_files = 1023, .is_jvm = true, .n_threads = 40, .n_slots = 20 },
      DOCTOR_LIMIT,
      "40 threads take 1024 (CPUs: 4)",
      "ulimit -Hn" },
    { "128 CPUs take many files",
      doctor_files,
      { { NULL, NULL } },
      { .n_cpus = 128, .n_files = 4096 },
      DOCTOR_LIMIT,
      "100 threads take 12864 (CPUs: 128)",
      "ulimit -Hn" },

    { "a good time stamp counter",
      doctor_clock,
      { { CPUINFO, "flags\t\t: fpu constant_tsc rep_good nonstop_tsc\n" }, { SOURCE, "tsc\n" } },
      { .is_x86 = true },
      DOCTOR_OK,
      "trusts it",
      NULL },
    { "KVM's clock is the time stamp counter",
      doctor_clock,
      { { CPUINFO, "flags : constant_tsc nonstop_tsc\n" }, { SOURCE, "kvm-clock\n" } },
      { .is_x86 = true },
      DOCTOR_OK,
      "'kvm-clock'",
      NULL },
    { "a counter that the kernel dropped",
      doctor_clock,
      { { CPUINFO, "flags : constant_tsc nonstop_tsc\n" }, { SOURCE, "hpet\n" } },
      { .is_x86 = true },
      DOCTOR_LIMIT,
      "clock is 'hpet': it does not trust",
      "before you trust times" },
    { "a counter that stops",
      doctor_clock,
      { { CPUINFO, "flags : constant_tsc nonstop_tsc_s3\n" }, { SOURCE, "tsc\n" } },
      { .is_x86 = true },
      DOCTOR_LIMIT,
      "or stops",
      "before you trust times" },
    { "aarch64 has one counter", doctor_clock, { { NULL, NULL } }, { .n_cpus = 1 }, DOCTOR_OK, "cntvct", NULL },

    { "enough memory",
      doctor_memory,
      { { MEMINFO, "MemTotal: 9 kB\nMemAvailable:    1048576 kB\n" } },
      { .n_cpus = 1 },
      DOCTOR_OK,
      "1024 MB are free; buffers of 32 threads take up to 288 MB",
      NULL },
    { "little memory",
      doctor_memory,
      { { MEMINFO, "MemAvailable: 102400 kB\n" } },
      { .n_cpus = 1 },
      DOCTOR_LIMIT,
      "100 MB are free; ",
      "with smaller buffers" },
    { "a control group's limit, version 2",
      doctor_memory,
      { { MEMINFO, "MemAvailable: 1048576 kB\n" },
        { CGROUP, "0::/a/b\n" },
        { MOUNTS, MOUNT_V2 },
        { "/sys/fs/cgroup/a/b/memory.max", "max\n" },
        { "/sys/fs/cgroup/a/memory.max", "209715200\n" },
        { "/sys/fs/cgroup/a/memory.current", "104857600\n" } },
      { .n_cpus = 1 },
      DOCTOR_LIMIT,
      "100 MB are free below the memory limit of the control group",
      "with smaller buffers" },
    { "a container's own group, version 2",
      doctor_memory,
      { { MEMINFO, "MemAvailable: 1048576 kB\n" },
        { CGROUP, "0::/\n" },
        { MOUNTS, MOUNT_V2 },
        { "/sys/fs/cgroup/memory.max", "104857600\n" },
        { "/sys/fs/cgroup/memory.current", "104857600\n" } },
      { .n_cpus = 1 },
      DOCTOR_LIMIT,
      "0 MB are free below",
      "with smaller buffers" },
    { "version 1",
      doctor_memory,
      { { MEMINFO, "MemAvailable: 1048576 kB\n" },
        { CGROUP, "5:cpu,cpuacct:/x\n4:hugetlb,memory_not:/y\n3:memory:/z\n0::/\n" },
        { MOUNTS, "1 2 0:3 / /sys/fs/cgroup/memory rw - cgroup x rw,memory\n" },
        { "/sys/fs/cgroup/memory/z/memory.limit_in_bytes", "52428800\n" },
        { "/sys/fs/cgroup/memory/z/memory.usage_in_bytes", "0\n" } },
      { .n_cpus = 1 },
      DOCTOR_LIMIT,
      "50 MB are free below",
      "with smaller buffers" },

    { "no container",
      doctor_container,
      { { PID_NS, "pid:[4026531836]" }, { STATUS, "Name:\tx\nSeccomp:\t0\n" } },
      { .n_cpus = 1 },
      DOCTOR_OK,
      "all processes of the machine are visible",
      NULL },
    { "a container with a filter",
      doctor_container,
      { { PID_NS, "pid:[4026532222]" }, { STATUS, "Name:\tx\nSeccomp:\t2\n" } },
      { .n_cpus = 1 },
      DOCTOR_LIMIT,
      "JVMs outside it are not visible; a seccomp filter",
      "on the host" },

    { "without -p no JVM is examined", doctor_jvm, { { NULL, NULL } }, { .n_cpus = 1 }, DOCTOR_SILENT, "", NULL },
    { "nor its attach mechanism", doctor_attach, { { NULL, NULL } }, { .n_cpus = 1 }, DOCTOR_SILENT, "", NULL },
    { "a JVM without special flags",
      doctor_flags,
      { { NULL, NULL } },
      { .is_jvm = true, .flags = { .tiered_stop = 4 } },
      DOCTOR_OK,
      "none",
      NULL },
    { "a JVM that interprets",
      doctor_flags,
      { { NULL, NULL } },
      { .is_jvm = true, .flags = { .tiered_stop = 4, .interprets = true } },
      DOCTOR_LIMIT,
      "-Xint",
      "without -Xint" },
    { "a JVM with C1 only",
      doctor_flags,
      { { NULL, NULL } },
      { .is_jvm = true, .flags = { .tiered_stop = 1 } },
      DOCTOR_LIMIT,
      "TieredStopAtLevel=1",
      "without that option" },
    { "a JVM under a debugger",
      doctor_flags,
      { { NULL, NULL } },
      { .is_jvm = true, .flags = { .tiered_stop = 4, .debugger = true } },
      DOCTOR_LIMIT,
      "jdwp",
      "without a debugger" },
    { "a JVM with another agent",
      doctor_flags,
      { { NULL, NULL } },
      { .is_jvm = true, .flags = { .tiered_stop = 4, .agent = "-javaagent:x.jar" } },
      DOCTOR_LIMIT,
      "(-javaagent:x.jar)",
      "without it" },
    { "a JVM that writes no archive", doctor_archive, { { NULL, NULL } }, { .is_jvm = true }, DOCTOR_SILENT, "", NULL },
    { "a JVM that writes one",
      doctor_archive,
      { { NULL, NULL } },
      { .is_jvm = true, .flags = { .archive = "-XX:AOTMode=record" } },
      DOCTOR_LIMIT,
      "(-XX:AOTMode=record): none of its classes",
      "record --live" },
    { "a JVM that may write one",
      doctor_archive,
      { { NULL, NULL } },
      { .is_jvm = true, .flags = { .may_archive = true } },
      DOCTOR_LIMIT,
      "may write",
      "record --live" },
    { "a JVM that handles SIGQUIT",
      doctor_attach,
      { { NULL, NULL } },
      { .is_jvm = true, .pid = -1, .process = { .catches_quit = true } },
      DOCTOR_OK,
      "handles SIGQUIT",
      NULL },
    { "a JVM that warns of late agents",
      doctor_attach,
      { { NULL, NULL } },
      { .is_jvm = true, .pid = -1, .java = 21, .process = { .catches_quit = true } },
      DOCTOR_OK,
      "prints a warning",
      NULL },
    { "a JVM with -Xrs whose socket is gone",
      doctor_attach,
      { { NULL, NULL } },
      { .is_jvm = true, .pid = -1, .flags = { .no_signals = true } },
      DOCTOR_FAIL,
      "does not handle SIGQUIT (-Xrs)",
      "mmprof record -- java" },
    { "a JVM that is starting",
      doctor_attach,
      { { NULL, NULL } },
      { .is_jvm = true, .pid = -1 },
      DOCTOR_FAIL,
      "does not handle SIGQUIT\n",
      "try again" },
    { "a JVM that takes no late agents",
      doctor_attach,
      { { NULL, NULL } },
      { .is_jvm = true, .pid = -1, .flags = { .late_agents_disabled = true }, .process = { .catches_quit = true } },
      DOCTOR_FAIL,
      "-XX:-EnableDynamicAgentLoading",
      "without that option" },
};

/* Make the folders of a path, and the file, or for a namespace the link. */
static bool put(const char *root, const struct file *file)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, file->path);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    if (strstr(file->path, "/ns/") != NULL)
        return symlink(file->text, path) == 0;
    FILE *out = fopen(path, "we");
    return out != NULL && fputs(file->text, out) >= 0 && fclose(out) == 0;
}

static void test_case(const struct machine_case *c, const char *base, size_t i)
{
    char root[128];
    struct doctor doctor = c->doctor;
    struct err said = { "" };
    snprintf(root, sizeof root, "%s/%zu", base, i);
    bool made = mkdir(root, 0755) == 0;
    for (size_t j = 0; j < 6 && c->files[j].path != NULL; j++)
        made &= put(root, &c->files[j]);
    doctor.root = root;
    enum doctor_level level = c->check(&doctor, &said);
    const char *next = strstr(said.text, "\n  next: ");
    bool ok = made && level == c->level && strstr(said.text, c->finding) != NULL &&
              (c->next == NULL ? next == NULL : next != NULL && strstr(next, c->next) != NULL);
    if (!CHECK(c->claim, ok))
        printf("# level %d (expected %d): '%s'\n", (int)level, (int)c->level, said.text);
}

static void test_machines(void)
{
    char base[] = "/tmp/mmprof-doctor-XXXXXX", command[64];
    if (mkdtemp(base) == NULL) {
        SKIP("made-up machines", "no temporary folder");
        return;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        test_case(&cases[i], base, i);
    snprintf(command, sizeof command, "rm -r %s", base);
    CHECK("the folder is removed", system(command) == 0);
}

/* ---- a kernel that refuses ---- */

static int refusal;

static int refuse(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    (void)attr, (void)pid, (void)cpu, (void)group_fd, (void)flags;
    errno = refusal;
    return -1;
}

/* A kernel with one counter that counts, but has no page to read it from. */
static int count_only(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    static const uint64_t reading[4] = { 1, 1000, 1000, 123 };
    int fds[2] = { -1, -1 };
    (void)pid, (void)cpu, (void)flags;
    errno =
        group_fd >= 0 || attr->type != PERF_TYPE_HARDWARE || attr->config != PERF_COUNT_HW_INSTRUCTIONS ? refusal : 0;
    if (errno != 0 || pipe(fds) < 0)
        return -1;
    bool written = write(fds[1], reading, sizeof reading) == (ssize_t)sizeof reading;
    close(fds[1]);
    return written ? fds[0] : -1;
}

static void test_counters(struct arena *arena)
{
    struct doctor doctor;
    struct err said = { "" };
    doctor_init(&doctor, arena, 0);
    counters_perf_open_replace(count_only);
    refusal = EINVAL;
    CHECK(
        "a PMU with instructions only, whose counter cannot be read",
        doctor_counters(&doctor, &said) == DOCTOR_LIMIT && doctor.n_counters == 1 && !doctor.probes_count &&
            strstr(
                said.text,
                "; 1 events fit at once; default events that count (instructions): one group; not counted: cycles, ") !=
                NULL &&
            strstr(said.text, "; probes cannot read them: ") != NULL && strstr(said.text, "\n  next: run '") != NULL);
    printf("# %s\n", said.text);
    counters_perf_open_replace(NULL);
}

static void test_refusals(struct arena *arena)
{
    struct doctor doctor;
    struct err said = { "" };
    doctor_init(&doctor, arena, 0);
    counters_perf_open_replace(refuse);
    refusal = ENOENT;
    CHECK("no PMU is a limit, with the next step",
          doctor_counters(&doctor, &said) == DOCTOR_LIMIT && doctor.n_counters == 0 &&
              strncmp(said.text, "no hardware counters: this machine has no", 41) == 0 &&
              strstr(said.text, "\n  next: use bare metal") != NULL);
    refusal = EACCES;
    CHECK("no context switches are wall-clock times",
          doctor_switches(&doctor, &said) == DOCTOR_LIMIT && !doctor.has_switches &&
              strncmp(said.text, "times are wall-clock times: ", 28) == 0 && strstr(said.text, "\n  next: ") != NULL);
    counters_perf_open_replace(NULL);
    CHECK("the limits of this process are known", doctor.n_cpus >= 1 && doctor.n_files > 0);
}

/* The other case is a row above. */
static void test_late_agents(void)
{
    struct doctor doctor = { .is_jvm = true, .pid = -1, .java = 21, .process = { .catches_quit = true } };
    struct err said = { "" };
    jvm_flags_told(&doctor.flags, "-XX:+EnableDynamicAgentLoading");
    CHECK("a JVM that was told not to warns of no late agents",
          doctor_attach(&doctor, &said) == DOCTOR_OK && strstr(said.text, "warning") == NULL);
}

int main(void)
{
    struct arena arena = { 0 };
    test_machines();
    test_refusals(&arena);
    test_counters(&arena);
    test_late_agents();
    arena_free(&arena);
    return tap_done();
}
