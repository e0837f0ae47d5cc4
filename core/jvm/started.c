#include "core/jvm/started.h"

#include "core/base/text.h"
#include "core/jvm/flags.h"
#include "core/jvm/maps.h"
#include "core/jvm/process.h"

#include <sys/stat.h>

#define DEPTH_MAX    8    /* of processes: a shell's script that runs a script that runs java */
#define THREADS_MAX  1024 /* in front of it there may be a collector's, as many as CPUs */
#define CHILDREN_MAX 256
#define WORDS_BYTES  (64 * 1024)

/* HotSpot starts it behind what it makes of code (Threads::create_vm), in front of the first Java method. */
#define LAST_STARTED "VM Thread"

bool jvm_has_started(pid_t pid)
{
    pid_t tids[THREADS_MAX];
    char comm[16];
    int n = jvm_process_threads(pid, tids, THREADS_MAX);
    for (int i = 0; i < n && i < THREADS_MAX; i++)
        if (jvm_thread_comm(pid, tids[i], comm) == 0 && strcmp(comm, LAST_STARTED) == 0)
            return true;
    return false;
}

static bool is_launcher(const char *words)
{
    return strcmp(text_base_name(words), "java") == 0;
}

/*
 * A tool of the JDK that looks at other JVMs (jcmd) or at files (keytool), as start scripts do: it is beside java,
 * which other programs with a launcher in them are not.
 */
static bool is_tool(pid_t pid)
{
    char link[64], program[PATH_MAX + 64];
    struct stat java;
    struct jvm_mapped library;
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    int root = snprintf(program, sizeof program, "/proc/%d/root", (int)pid);
    ssize_t n = readlink(link, program + root, PATH_MAX - 1);
    if (n <= 0)
        return false;
    program[root + n] = '\0';
    char *slash = strrchr(program, '/');
    if (jvm_flags_prefix(program + root) != NULL)
        return false;
    memcpy(slash + 1, "java", sizeof "java");
    return lstat(program, &java) == 0 && S_ISREG(java.st_mode) && jvm_mapped_find(pid, "/libjli.so", &library) == 1;
}

/* A program that contains a JVM, and one in an emulator, run something by themselves. */
static bool runs_program(pid_t pid, const char *name)
{
    char path[64], words[WORDS_BYTES];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    ssize_t n = jvm_read_file(path, words, sizeof words - 1);
    if (n <= 0 || is_tool(pid) || (is_launcher(words) && !jvm_flags_runs(words, (size_t)n + 1)))
        return false;
    for (ssize_t i = 0; i + 1 < n; i++)
        words[i] = words[i] == '\0' ? ' ' : words[i];
    return name == NULL || strstr(words, name) != NULL;
}

static pid_t find_started(pid_t pid, const char *name, int depth)
{
    pid_t children[CHILDREN_MAX], found = 0;
    if (jvm_has_started(pid) && runs_program(pid, name))
        return pid;
    int n = depth == DEPTH_MAX ? 0 : jvm_process_children(pid, children, CHILDREN_MAX);
    for (int i = 0; i < n && found == 0; i++)
        found = find_started(children[i], name, depth + 1);
    return found;
}

pid_t jvm_started(pid_t pid, const char *name)
{
    return find_started(pid, name, 0);
}

static bool is_known(const struct jvm_started_all *all, pid_t pid)
{
    for (uint32_t i = 0; i < all->n; i++)
        if (all->pids[i] == pid)
            return true;
    return false;
}

void jvm_started_put(struct jvm_started_all *all, pid_t pid)
{
    if (all->n < JVM_STARTED_MAX && !is_known(all, pid))
        all->pids[all->n++] = pid;
}

static void add_started(struct jvm_started_all *all, pid_t pid, int depth)
{
    pid_t children[CHILDREN_MAX];
    if (is_known(all, pid))
        return;
    if (jvm_has_started(pid)) {
        if (runs_program(pid, NULL))
            jvm_started_put(all, pid);
        return;
    }
    int n = depth == DEPTH_MAX ? 0 : jvm_process_children(pid, children, CHILDREN_MAX);
    for (int i = 0; i < n; i++)
        add_started(all, children[i], depth + 1);
}

void jvm_started_add(struct jvm_started_all *all, pid_t pid)
{
    add_started(all, pid, 0);
}
