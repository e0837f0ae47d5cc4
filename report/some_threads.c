#include "report/some_threads.h"

#include <fnmatch.h>

#define NAMES_MAX 5 /* that an error tells */

bool threads_match(const struct trace_thread *thread, const char *pattern)
{
    static const struct trace_thread nobody = { .name = "", .comm = "" };
    thread = thread == NULL ? &nobody : thread;
    return pattern == NULL || fnmatch(pattern, thread->name, 0) == 0;
}

bool threads_are_named(const struct trace_reader *reader, uint32_t index)
{
    const struct trace_thread *thread = trace_thread(reader, index), *first = trace_thread(reader, 0);
    if (thread == NULL || first == NULL)
        return false;
    bool has_java_name = strcmp(thread->name, thread->comm) != 0;
    return strcmp(thread->comm, first->comm) != 0 || (has_java_name && vm_part_of(thread->name) == VM_PART_APPLICATION);
}

enum vm_part threads_part(const struct trace_reader *reader, uint32_t index)
{
    const struct trace_thread *thread = trace_thread(reader, index);
    return thread == NULL ? VM_PART_APPLICATION : vm_part_of(thread->comm);
}

bool threads_wait_for_end(const struct trace_reader *reader, uint32_t index, uint32_t context)
{
    const struct trace_thread *thread = trace_thread(reader, index), *first = trace_thread(reader, 0);
    return context == 0 && thread != NULL && first != NULL && strcmp(thread->comm, first->comm) == 0;
}

bool threads_count_wait(const struct trace_reader *reader, const struct trace_wait *wait)
{
    return threads_part(reader, wait->thread) == VM_PART_APPLICATION &&
           !(wait->cause == TRACE_CAUSE_UNKNOWN && threads_wait_for_end(reader, wait->thread, wait->context));
}

/* Some of the application's threads, for who mistyped one. */
static void tell_names(const struct trace_reader *reader, char *text, size_t n_bytes)
{
    size_t n = 0, n_told = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < trace_n_threads(reader) && n_told < NAMES_MAX && n + 80 < n_bytes; i++) {
        const struct trace_thread *thread = trace_thread(reader, i);
        if (thread == NULL || vm_part_of(thread->comm) != VM_PART_APPLICATION)
            continue;
        n += (size_t)snprintf(text + n, n_bytes - n, "%s'%.60s'", n_told == 0 ? "" : ", ", thread->name);
        n_told++;
    }
}

int threads_keep(const struct trace_reader *reader, const char *pattern, struct calltree *tree, struct err *err)
{
    bool any = false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < trace_n_threads(reader); i++)
        any = any || (trace_thread(reader, i) != NULL && threads_match(trace_thread(reader, i), pattern));
    if (!any) {
        char names[512];
        tell_names(reader, names, sizeof names);
        err_set(err, "the trace has no thread '%s'", pattern);
        return err_next(err, "'*' matches any characters; the application's threads are %s, ...", names);
    }
    for (uint32_t i = 0; i < tree->n_roots; i++) {
        struct calltree_root root = tree->roots[i];
        if (root.thread != CALLTREE_NONE && threads_match(trace_thread(reader, root.thread), pattern))
            tree->roots[n++] = root;
        else
            tree->nodes[root.node].method = CALLTREE_FOLDED;
    }
    tree->n_roots = n;
    /* Callers come before callees: what is below a root that is left out is of no method, too. */
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        const struct calltree_node *parent = &tree->nodes[tree->nodes[i].parent];
        bool is_left_out = parent->method == CALLTREE_FOLDED && tree->nodes[i].parent != i;
        tree->nodes[i].method = is_left_out ? CALLTREE_FOLDED : tree->nodes[i].method;
    }
    return 0;
}
