#include "core/jvm/compilers.h"

#include "core/perf/perf_rings.h"
#include "core/jvm/flags.h"
#include "core/jvm/maps.h"
#include "core/jvm/process.h"
#include "core/wire/ring.h"

#define LOOK_PERIOD_NS UINT64_C(500000000)

/* "C1 CompilerThre", since JDK 26 "C1 Comp..hread0"; a JVM with Graal has "JVMCI ..." of the same kind. */
static bool is_compiler(const char *comm)
{
    return strstr(comm, " CompilerThre") != NULL || strstr(comm, " Comp..") != NULL ||
           strncmp(comm, "JVMCI C..", 9) == 0;
}

static bool is_known(const struct jvm_compilers *compilers, pid_t tid)
{
    for (int i = 0; i < compilers->n; i++)
        if (compilers->tids[i] == tid)
            return true;
    return false;
}

static int by_tid(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return (x > y) - (x < y);
}

static bool is_old(const struct jvm_compilers *compilers, pid_t tid)
{
    for (int k = 0; k < 2; k++)
        if (bsearch(&tid, compilers->seen[k].tids, (size_t)compilers->seen[k].n, sizeof tid, by_tid) == NULL)
            return false;
    return true;
}

static void look(struct jvm_compilers *compilers)
{
    pid_t tids[JVM_SEEN_MAX];
    char comm[16];
    int n = jvm_process_threads(compilers->pid, tids, JVM_SEEN_MAX);
    n = n < 0 ? 0 : n < JVM_SEEN_MAX ? n : JVM_SEEN_MAX;
    qsort(tids, (size_t)n, sizeof *tids, by_tid);
    for (int i = 0; i < n && compilers->n < JVM_COMPILERS_MAX; i++) {
        if (is_old(compilers, tids[i]) || is_known(compilers, tids[i]) ||
            jvm_thread_comm(compilers->pid, tids[i], comm) < 0 || !is_compiler(comm))
            continue;
        compilers->tids[compilers->n] = tids[i];
        compilers->cpu_ns[compilers->n++] = 0;
    }
    compilers->seen[1] = compilers->seen[0];
    memcpy(compilers->seen[0].tids, tids, (size_t)n * sizeof *tids);
    compilers->seen[0].n = n;
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
        if (kernel_thread_cpu_ns(compilers->pid, compilers->tids[i], &cpu_ns) == 0)
            compilers->cpu_ns[i] = cpu_ns;
        all_ns += compilers->cpu_ns[i];
    }
    return compilers->n == 0 ? JVM_CPU_UNKNOWN : all_ns;
}

bool jvm_forgets_code(pid_t pid)
{
    struct jvm_release release;
    struct jvm_flags flags;
    struct jvm_mapped mapped;
    return jvm_release_read(pid, &release) == 0 && !release.is_openj9 && release.major < JVM_KEEPS_CODE &&
           jvm_flags_read(pid, &flags) == 0 && flags.agent[0] == '\0' && flags.archive[0] == '\0' && !flags.debugger &&
           !flags.interprets && jvm_mapped_find(pid, RING_CHANGED, &mapped) == 0;
}
