#include "core/jvm/compilers.h"

#include "core/jvm/flags.h"
#include "core/jvm/process.h"
#include "core/trace/ring.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_PERIOD_NS UINT64_C(500000000)
#define THREADS_MAX    4096

/* "C1 CompilerThre", "C2 CompilerThre"; a JVM with Graal has "JVMCI ..." of the same kind. */
static bool is_compiler(const char *comm)
{
    return strstr(comm, " CompilerThre") != NULL;
}

static bool is_known(const struct jvm_compilers *compilers, pid_t tid)
{
    for (int i = 0; i < compilers->n; i++)
        if (compilers->tids[i] == tid)
            return true;
    return false;
}

static void look(struct jvm_compilers *compilers)
{
    pid_t tids[THREADS_MAX];
    char comm[16];
    int n = jvm_process_threads(compilers->pid, tids, THREADS_MAX);
    for (int i = 0; i < n && i < THREADS_MAX && compilers->n < JVM_COMPILERS_MAX; i++) {
        if (is_known(compilers, tids[i]) || jvm_thread_comm(compilers->pid, tids[i], comm) < 0 || !is_compiler(comm))
            continue;
        compilers->tids[compilers->n] = tids[i];
        compilers->cpu_ns[compilers->n++] = 0;
    }
}

/* The first number of schedstat is the time on a CPU. */
static bool thread_cpu_ns(pid_t pid, pid_t tid, uint64_t *cpu_ns)
{
    char path[64], text[96];
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
    if (jvm_read_file(path, text, sizeof text) <= 0)
        return false;
    *cpu_ns = strtoull(text, NULL, 10);
    return true;
}

uint64_t jvm_compilers_cpu_ns(struct jvm_compilers *compilers, uint64_t now_ns)
{
    uint64_t all_ns = 0;
    if (compilers->looked_ns == 0 || now_ns - compilers->looked_ns >= LOOK_PERIOD_NS) {
        compilers->looked_ns = now_ns;
        look(compilers);
    }
    for (int i = 0; i < compilers->n; i++) {
        uint64_t cpu_ns;
        if (thread_cpu_ns(compilers->pid, compilers->tids[i], &cpu_ns))
            compilers->cpu_ns[i] = cpu_ns;
        all_ns += compilers->cpu_ns[i];
    }
    return compilers->n == 0 ? JVM_CPU_UNKNOWN : all_ns;
}

bool jvm_forgets_code(pid_t pid)
{
    struct jvm_release release;
    struct jvm_flags flags;
    char path[4096];
    return jvm_release_read(pid, &release) == 0 && !release.is_openj9 && release.major < JVM_KEEPS_CODE &&
           jvm_flags_read(pid, &flags) == 0 && flags.agent[0] == '\0' && !flags.debugger && !flags.interprets &&
           jvm_process_maps(pid, RING_CHANGED, path, sizeof path) == 0;
}
