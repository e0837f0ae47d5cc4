/*
 * What CPU time a JVM's own threads had used, ten times a second and whenever its program announced a phase:
 *
 *     phase_times PID < LINES
 *     26459.238739 2.104311 -
 *     26459.241013 2.106112 start
 *
 * The second line is of a line that began with 'PHASE NUMBER NAME'.  Seconds of CLOCK_MONOTONIC_RAW, as in traces, of
 * CPU time, and the name.  It is what the process took but for the JVM's threads and the agent's, so that threads that
 * have ended count, too.  A program that reads both itself ('PHASE NUMBER NAME NS CPU_NS', of CLOCK_MONOTONIC) is right
 * however late this one is: only its own readings are printed then.
 */
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 8192
#define PERIOD_MS   100

/* A thread of the JVM's, which may have ended since. */
struct vm_thread {
    long tid;
    double seconds;
};

static struct vm_thread threads[THREADS_MAX];
static size_t n_threads;
static int reads_itself; /* the program, and says so with each phase */

/* By their names, of which Linux keeps 15 characters. */
static int is_vm(const char *name)
{
    static const char *const begins[] = { "C1 ",          "C2 ",        "GC ",          "G1 ",         "VM ",
                                          "ZGC",          "ZDirector",  "ZDriver",      "ZStat",       "ZWorker",
                                          "XWorker",      "XDriver",    "Shenandoah",   "Sweeper",     "Signal Disp",
                                          "Service Thre", "Monitor De", "Notification", "Attach List", "mmprof" };
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return 1;
    return 0;
}

/* The first line of a thread's file; "" if it has ended. */
static void read_of(const char *pid, const char *tid, const char *file, char *line, int n_bytes)
{
    char path[128];
    snprintf(path, sizeof path, "/proc/%s/task/%s/%s", pid, tid, file);
    line[0] = '\0';
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return;
    if (fgets(line, n_bytes, in) == NULL)
        line[0] = '\0';
    fclose(in);
}

static void see(const char *pid, const char *tid)
{
    char name[64], used[128];
    read_of(pid, tid, "comm", name, sizeof name);
    if (!is_vm(name))
        return;
    read_of(pid, tid, "schedstat", used, sizeof used);
    size_t i = 0;
    while (i < n_threads && threads[i].tid != strtol(tid, NULL, 10))
        i++;
    if (i == THREADS_MAX || used[0] == '\0')
        return;
    n_threads += i == n_threads;
    threads[i] = (struct vm_thread){ strtol(tid, NULL, 10), strtod(used, NULL) / 1e9 };
}

static double program_seconds(const char *pid)
{
    char path[64];
    clockid_t clock;
    struct timespec used;
    snprintf(path, sizeof path, "/proc/%s/task", pid);
    DIR *tasks = opendir(path);
    if (tasks == NULL)
        return -1;
    for (const struct dirent *task; (task = readdir(tasks)) != NULL;)
        if (task->d_name[0] != '.')
            see(pid, task->d_name);
    closedir(tasks);
    if (clock_getcpuclockid((pid_t)strtol(pid, NULL, 10), &clock) != 0 || clock_gettime(clock, &used) != 0)
        return -1;
    double seconds = (double)used.tv_sec + (double)used.tv_nsec / 1e9;
    for (size_t i = 0; i < n_threads; i++)
        seconds -= threads[i].seconds;
    return seconds;
}

static double now(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void print(const char *pid, const char *name)
{
    double seconds = program_seconds(pid);
    if (seconds >= 0)
        printf("%.6f %.6f %s\n", now(CLOCK_MONOTONIC_RAW), seconds, name);
    fflush(stdout);
}

/* A whole line, or the beginning of a long one. */
static void take_line(const char *pid, const char *line)
{
    char name[128];
    double ns, used_ns;
    int n = sscanf(line, "PHASE %*s %127s %lf %lf", name, &ns, &used_ns);
    if (n == 3) {
        reads_itself = 1;
        printf("%.6f %.6f %s\n", ns / 1e9 + now(CLOCK_MONOTONIC_RAW) - now(CLOCK_MONOTONIC), used_ns / 1e9, name);
        fflush(stdout);
    } else if (n >= 1) {
        print(pid, name);
    }
}

/* What has come.  Returns 0 at the end. */
static int take(const char *pid)
{
    static char line[512];
    static size_t n;
    char bytes[4096];
    ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
    for (ssize_t i = 0; i < got; i++) {
        if (n + 1 < sizeof line && bytes[i] != '\n')
            line[n++] = bytes[i];
        if (bytes[i] != '\n')
            continue;
        line[n] = '\0';
        n = 0;
        take_line(pid, line);
    }
    return got > 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: phase_times PID < LINES\n", stderr);
        return 1;
    }
    struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
    for (;;) {
        int n = poll(&input, 1, PERIOD_MS);
        if (n == 0 && !reads_itself)
            print(argv[1], "-");
        else if (n != 0 && !take(argv[1]))
            return 0;
    }
}
