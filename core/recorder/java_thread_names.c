#include "core/recorder/thread_names.h"

#include "core/base/xalloc.h"
#include "core/jvm/process.h"

#define NAMES_MAX   8192u /* kept */
#define COMM_BYTES  15u   /* of the kernel's name */
#define ROUNDS      4u    /* until a name is read again: 17 reads of the JVM's memory, and few threads are renamed, */
#define ROUNDS_IDLE 64u   /* and of those that have not run since, only by others */

void java_thread_names_round(struct java_thread_names *names)
{
    names->round++;
    if (names->n < NAMES_MAX)
        return;
    hash_clear(&names->by_comm);
    names->n = 0;
}

void java_thread_names_free(struct java_thread_names *names)
{
    hash_free(&names->by_comm);
    free(names->all);
    memset(names, 0, sizeof *names);
}

/* HotSpot gives the kernel the first 15 bytes, or, since JDK 22, "%.7s..%.6s" of a longer name. */
static bool is_comm_of(const char *name, const char *comm)
{
    size_t n = strlen(name), n_comm = strlen(comm);
    if (n <= COMM_BYTES)
        return strcmp(name, comm) == 0;
    return strncmp(name, comm, COMM_BYTES) == 0 ||
           (n_comm == COMM_BYTES && strncmp(name, comm, 7) == 0 && strncmp(comm + 7, "..", 2) == 0 &&
            strcmp(name + n - 6, comm + 9) == 0);
}

/* The thread that has just been read as 'name' may have given itself that name since it was called 'comm'. */
static bool is_still(const struct vm_threads *threads, int32_t tid, const char *comm)
{
    char now[16];
    return jvm_thread_comm(threads->pid, tid, now) == 0 && strcmp(now, comm) == 0;
}

static struct java_thread_name *find_name(struct java_thread_names *names, int32_t tid, const char *comm)
{
    struct hash_slot *slot = xhash_put(&names->by_comm, hash_text(hash_address((uint32_t)tid), comm, strlen(comm)));
    if (slot->value > 0)
        return &names->all[slot->value - 1];
    *xpush(names->all, names->room, names->n) = (struct java_thread_name){ .round = 0 };
    slot->value = (uint32_t)names->n;
    return &names->all[names->n - 1];
}

const char *java_thread_names_get(struct java_thread_names *names, const struct vm_threads *threads, int32_t tid,
                                  const char *comm, bool is_latest, bool has_run)
{
    char name[JAVA_THREAD_NAME_BYTES];
    struct java_thread_name *known = find_name(names, tid, comm);
    uint64_t rounds = known->name[0] == '\0' ? 1 : has_run ? ROUNDS : ROUNDS_IDLE;
    if (!is_latest || names->round - known->round < rounds)
        return known->name;
    const struct vm_thread *thread = vm_threads_by_tid(threads, tid);
    known->round = names->round;
    if (thread != NULL && vm_thread_name(threads->vm, thread->address, name, sizeof name) &&
        (is_comm_of(name, comm) || is_still(threads, tid, comm)))
        memcpy(known->name, name, sizeof name);
    return known->name;
}
