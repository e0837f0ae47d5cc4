#include "core/recorder/pressure.h"

#include "core/trace/recording_info.h"

#include <fcntl.h>

#define FILE_BYTES 1024

/* Of version 2 and 1; PSI is in a group of version 2, or of the machine. */
static const struct {
    const char *v2, *v1, *controller;
} files[PRESSURE_FILES] = {
    [PRESSURE_CPU] = { "cpu.pressure", "/proc/pressure/cpu", NULL },
    [PRESSURE_MEMORY] = { "memory.pressure", "/proc/pressure/memory", NULL },
    [PRESSURE_IO] = { "io.pressure", "/proc/pressure/io", NULL },
    [PRESSURE_LIMIT] = { "memory.events", "memory.failcnt", "memory" },
    [PRESSURE_KILLS] = { "memory.events", "memory.oom_control", "memory" },
};

static int open_in(const struct cgroup *group, const char *file)
{
    char path[CGROUP_PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", group->path, file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool read_at(int fd, char text[FILE_BYTES])
{
    ssize_t n = fd < 0 ? -1 : pread(fd, text, FILE_BYTES - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* ---- which files ---- */

void pressure_init(struct pressure *pressure)
{
    memset(pressure, 0, sizeof *pressure);
    for (size_t i = 0; i < CPU_QUOTA_LEVELS; i++)
        pressure->stats[i] = -1;
    for (size_t i = 0; i < PRESSURE_FILES; i++)
        pressure->files[i] = -1;
}

/* The hierarchy of version 2 has PSI, also where it has no controllers; its topmost group has that of the machine. */
static void open_psi(struct pressure *pressure, const char *root, pid_t pid)
{
    struct cgroup group;
    char path[CGROUP_PATH_BYTES];
    bool has_group = cgroup_find(root, pid, "", &group) && group.is_v2 && strlen(group.path) > group.mount_length;
    for (int i = PRESSURE_CPU; i <= PRESSURE_IO; i++)
        pressure->files[i] = has_group ? open_in(&group, files[i].v2) : -1;
    pressure->is_machine = pressure->files[PRESSURE_CPU] < 0;
    for (int i = PRESSURE_CPU; pressure->is_machine && i <= PRESSURE_IO; i++) {
        snprintf(path, sizeof path, "%s%s", root, files[i].v1);
        pressure->files[i] = open(path, O_RDONLY | O_CLOEXEC);
    }
}

static void read_all(struct pressure *pressure, uint64_t values[TRACE_PRESSURES]);

void pressure_open(struct pressure *pressure, const char *root, pid_t pid, uint64_t now_ns, uint64_t ticks)
{
    struct cgroup group;
    pressure_close(pressure);
    cpu_quota_find(root, pid, &pressure->start);
    pressure->latest = pressure->start;
    group = pressure->start.group;
    for (uint32_t i = 0; i < pressure->start.n; i++) {
        pressure->stats[i] = open_in(&group, "cpu.stat");
        cgroup_up(&group);
    }
    open_psi(pressure, root, pid);
    if (cgroup_find(root, pid, "memory", &group))
        for (int i = PRESSURE_LIMIT; i <= PRESSURE_KILLS; i++)
            pressure->files[i] = open_in(&group, group.is_v2 ? files[i].v2 : files[i].v1);
    read_all(pressure, pressure->values);
    pressure->values[TRACE_PRESSURE_THROTTLED] = pressure->values[TRACE_PRESSURE_THROTTLED_NS] = 0;
    pressure->first_ns = pressure->read_ns = now_ns;
    pressure->read_ticks = ticks;
}

void pressure_close(struct pressure *pressure)
{
    for (size_t i = 0; i < CPU_QUOTA_LEVELS; i++)
        if (pressure->stats[i] >= 0)
            close(pressure->stats[i]);
    for (size_t i = 0; i < PRESSURE_FILES; i++)
        if (pressure->files[i] >= 0)
            close(pressure->files[i]);
    pressure_init(pressure);
}

/* ---- a reading ---- */

/* A group in a group is stopped with it: the one that was stopped longest says how much that was. */
static void read_quotas(struct pressure *pressure, uint64_t values[TRACE_PRESSURES])
{
    const char *keys[] = { "nr_throttled", pressure->latest.group.is_v2 ? "throttled_usec" : "throttled_time" };
    uint64_t n_most = 0, ns_most = 0;
    char text[FILE_BYTES];
    for (uint32_t i = 0; i < pressure->latest.n; i++) {
        struct cpu_quota_level *level = &pressure->latest.levels[i], before = *level;
        uint64_t numbers[2];
        if (!read_at(pressure->stats[i], text) || cgroup_keys_in(text, keys, numbers, 2) < 2)
            continue;
        level->n_stopped = numbers[0];
        level->stopped_ns = pressure->latest.group.is_v2 ? numbers[1] * 1000 : numbers[1];
        if (level->stopped_ns > before.stopped_ns && level->stopped_ns - before.stopped_ns > ns_most) {
            ns_most = level->stopped_ns - before.stopped_ns;
            n_most = level->n_stopped - before.n_stopped;
        }
    }
    values[TRACE_PRESSURE_THROTTLED] += n_most;
    values[TRACE_PRESSURE_THROTTLED_NS] += ns_most;
}

/* "some avg10=97.28 avg60=95.30 avg300=84.13 total=24465946883", in us. */
static void read_psi(int fd, uint64_t *ns)
{
    char text[FILE_BYTES];
    const char *total = read_at(fd, text) ? strstr(text, "total=") : NULL;
    if (total != NULL)
        *ns = strtoull(total + strlen("total="), NULL, 10) * 1000;
}

/* Of version 2 two keys, of version 1 a number; and a key of both. */
static void read_memory(const struct pressure *pressure, uint64_t values[TRACE_PRESSURES])
{
    static const char *const limits[] = { "high", "max" }, *const kills[] = { "oom_kill" };
    char text[FILE_BYTES];
    uint64_t numbers[2];
    if (read_at(pressure->files[PRESSURE_LIMIT], text))
        values[TRACE_PRESSURE_LIMIT] =
            cgroup_keys_in(text, limits, numbers, 2) == 2 ? numbers[0] + numbers[1] : strtoull(text, NULL, 10);
    if (read_at(pressure->files[PRESSURE_KILLS], text) && cgroup_keys_in(text, kills, numbers, 1) == 1)
        values[TRACE_PRESSURE_KILLED] = numbers[0];
}

static void read_all(struct pressure *pressure, uint64_t values[TRACE_PRESSURES])
{
    read_quotas(pressure, values);
    for (int i = PRESSURE_CPU; i <= PRESSURE_IO; i++)
        read_psi(pressure->files[i], &values[TRACE_PRESSURE_CPU_NS + i]);
    read_memory(pressure, values);
}

void pressure_look(struct pressure *pressure, uint64_t now_ns, uint64_t ticks, bool always)
{
    uint64_t values[TRACE_PRESSURES], apart_ns = (now_ns - pressure->first_ns) / PRESSURE_READINGS;
    struct trace_pressure *entry = &pressure->waiting[pressure->n_waiting];
    bool has_changed = false;
    if (pressure->first_ns == 0 || pressure->n_waiting == PRESSURE_WAITING ||
        (!always && now_ns - pressure->read_ns < (apart_ns > PRESSURE_PERIOD_NS ? apart_ns : PRESSURE_PERIOD_NS)))
        return;
    memcpy(values, pressure->values, sizeof values);
    read_all(pressure, values);
    *entry = (struct trace_pressure){ .start_ticks = pressure->read_ticks, .end_ticks = ticks };
    for (int i = 0; i < TRACE_PRESSURES; i++) {
        entry->values[i] = values[i] > pressure->values[i] ? values[i] - pressure->values[i] : 0;
        has_changed = has_changed || entry->values[i] > 0;
    }
    pressure->n_waiting += has_changed;
    memcpy(pressure->values, values, sizeof values);
    pressure->read_ns = now_ns;
    pressure->read_ticks = ticks;
}

int pressure_write(struct pressure *pressure, struct trace_writer *writer, struct err *err)
{
    bool has_psi = pressure->files[PRESSURE_CPU] >= 0, tells = pressure->n_waiting > 0 && !pressure->has_told;
    pressure->has_told = pressure->has_told || tells;
    if (tells && has_psi &&
        info_write_text(writer, INFO_PRESSURE_OF, pressure->is_machine ? "machine" : "group", err) < 0)
        return -1;
    for (uint32_t i = 0; i < pressure->n_waiting; i++)
        if (trace_write_pressure(writer, &pressure->waiting[i], err) < 0)
            return -1;
    pressure->n_waiting = 0;
    return 0;
}
