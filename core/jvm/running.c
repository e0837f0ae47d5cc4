#include "core/jvm/running.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "core/jvm/maps.h"
#include "core/jvm/perf_data.h"

#include <dirent.h>

#define FIRST_ROOM  16
#define WORDS_BYTES (64 * 1024)
#define NAME_BYTES  1024

/* ---- is it one? ---- */

static bool is_called_java(pid_t pid)
{
    char path[64], words[4096];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    return jvm_read_file(path, words, sizeof words) > 0 && strcmp(text_base_name(words), "java") == 0;
}

static bool is_jvm(pid_t pid)
{
    struct jvm_mapped mapped;
    int found = jvm_mapped_find(pid, "/libjvm.so", &mapped);
    return found > 0 || (found < 0 && errno == EACCES && is_called_java(pid));
}

/* ---- what it is ---- */

static const char *keep(struct arena *arena, const char *text)
{
    const char *kept = text_utf8(arena, text, strlen(text));
    return kept;
}

/* The JVM itself tells it; for one that shows nothing, or not to this user, the command line does. */
static const char *find_main(struct arena *arena, const struct jvm_process *process)
{
    struct perf_data data;
    struct err ignored;
    char path[64], told[NAME_BYTES] = "", *words = xmalloc(WORDS_BYTES);
    const char *main = told;
    if (perf_data_open(&data, process->pid, process->inner_pid, &ignored) == 0)
        perf_data_text(&data, "sun.rt.javaCommand", told, sizeof told);
    perf_data_close(&data);
    told[strcspn(told, " ")] = '\0';
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)process->pid);
    ssize_t n = told[0] != '\0' ? 0 : jvm_read_file(path, words, WORDS_BYTES);
    if (n > 0 && strcmp(text_base_name(words), "java") == 0)
        main = jvm_flags_main(words, (size_t)n + 1);
    const char *kept = keep(arena, main == NULL ? "" : main);
    free(words);
    return kept;
}

static double uptime_s(uint64_t start_ticks)
{
    struct timespec now;
    if (start_ticks == 0 || clock_gettime(CLOCK_BOOTTIME, &now) < 0)
        return -1;
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - (double)start_ticks / (double)sysconf(_SC_CLK_TCK);
}

/* Returns whether it is still there. */
static bool look_at(struct arena *arena, pid_t pid, struct jvm_running *jvm)
{
    struct jvm_process process;
    struct jvm_flags flags;
    struct jvm_release release = { .version = "" };
    struct err ignored;
    if (jvm_process_read(pid, &process, &ignored) < 0)
        return false;
    bool has_release = jvm_release_read(pid, &release) == 0;
    jvm_flags_read(pid, &flags);
    *jvm = (struct jvm_running){ .pid = pid,
                                 .start_ticks = process.start_ticks,
                                 .uid = process.user.uid,
                                 .obstacle = jvm_obstacle_find(&process, &flags, has_release ? &release : NULL),
                                 .version = keep(arena, release.version),
                                 .main = find_main(arena, &process),
                                 .command = keep(arena, process.command),
                                 .uptime_s = uptime_s(process.start_ticks) };
    return jvm_process_cpu_ns(pid, &jvm->cpu_ns) == 0;
}

/* ---- all of them ---- */

static void make_room(struct arena *arena, struct jvm_running **all, size_t n, size_t *room)
{
    if (n < *room)
        return;
    size_t more = *room == 0 ? FIRST_ROOM : *room * 2;
    struct jvm_running *grown = arena_alloc(arena, more * sizeof *grown);
    if (n > 0)
        memcpy(grown, *all, n * sizeof *grown);
    *all = grown;
    *room = more;
}

static int by_pid(const void *a, const void *b)
{
    const struct jvm_running *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

int jvm_running_list(struct arena *arena, struct jvm_running **all, size_t *n, struct err *err)
{
    size_t room = 0;
    DIR *processes = opendir("/proc");
    *all = NULL;
    *n = 0;
    if (processes == NULL)
        return err_set(err, "cannot list the processes: '/proc': %s", strerror(errno));
    /* cppcheck-suppress readdirCalled */
    for (const struct dirent *entry; (entry = readdir(processes)) != NULL;) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        if (pid <= 0 || !is_jvm(pid))
            continue;
        make_room(arena, all, *n, &room);
        *n += look_at(arena, pid, &(*all)[*n]);
    }
    closedir(processes);
    if (*n > 1)
        qsort(*all, *n, sizeof **all, by_pid);
    return 0;
}
