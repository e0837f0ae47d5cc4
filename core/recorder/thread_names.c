#include "core/recorder/thread_names.h"

#include "core/base/xalloc.h"
#include "core/jvm/process.h"

void thread_names_init(struct thread_names *names)
{
    memset(names, 0, sizeof *names);
}

void thread_names_free(struct thread_names *names)
{
    hash_free(&names->by_tid);
    free(names->threads);
    free(names->changes);
    memset(names, 0, sizeof *names);
}

void thread_names_set(struct thread_names *names, int32_t tid, const char *name)
{
    const uint32_t *known = hash_find(&names->by_tid, (uint32_t)tid);
    if (known == NULL) {
        xhash_store(&names->by_tid, (uint32_t)tid, (uint32_t)names->n);
        *xpush(names->threads, names->room, names->n) = (struct thread_name){ .tid = tid };
        known = hash_find(&names->by_tid, (uint32_t)tid);
    }
    snprintf(names->threads[*known].name, KERNEL_NAME_BYTES, "%s", name);
}

/* The last one gets its place. */
void thread_names_forget(struct thread_names *names, int32_t tid)
{
    const uint32_t *known = hash_find(&names->by_tid, (uint32_t)tid);
    if (known == NULL)
        return;
    struct thread_name *place = &names->threads[*known], *last = &names->threads[--names->n];
    *hash_find(&names->by_tid, (uint32_t)last->tid) = *known;
    *place = *last;
    hash_remove(&names->by_tid, (uint32_t)tid);
}

const char *thread_names_get(struct thread_names *names, pid_t pid, int32_t tid)
{
    const uint32_t *known = hash_find(&names->by_tid, (uint32_t)tid);
    char name[KERNEL_NAME_BYTES] = "";
    if (known == NULL && jvm_thread_comm(pid, tid, name) == 0) {
        thread_names_set(names, tid, name);
        known = hash_find(&names->by_tid, (uint32_t)tid);
    }
    return known == NULL ? "" : names->threads[*known].name;
}

void thread_names_change(struct thread_names *names, int32_t tid, uint64_t time_ns, const char *name)
{
    struct thread_name_change *change = xpush(names->changes, names->changes_room, names->n_changes);
    *change = (struct thread_name_change){ .time_ns = time_ns, .is.tid = tid };
    snprintf(change->is.name, KERNEL_NAME_BYTES, "%s", name);
}

void thread_names_settle(struct thread_names *names)
{
    names->n_changes = 0;
}

const char *thread_names_at(struct thread_names *names, pid_t pid, int32_t tid, uint64_t time_ns, bool *is_latest)
{
    const struct thread_name_change *before = NULL, *after = NULL;
    for (size_t i = 0; i < names->n_changes; i++) {
        const struct thread_name_change *change = &names->changes[i];
        if (change->is.tid == tid && change->time_ns <= time_ns &&
            (before == NULL || change->time_ns >= before->time_ns))
            before = change;
        if (change->is.tid == tid && change->time_ns > time_ns && (after == NULL || change->time_ns < after->time_ns))
            after = change;
    }
    *is_latest = after == NULL;
    if (before != NULL)
        return before->is.name;
    return after != NULL && hash_find(&names->by_tid, (uint32_t)tid) == NULL ? after->is.name
                                                                             : thread_names_get(names, pid, tid);
}
