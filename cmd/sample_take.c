/* A sample goes into the table, and into the trace. */
#include "cmd/sample_run.h"
#include "core/base/xalloc.h"

/* Threads with the process' name that wait outside Java: report/some_threads.h; VM threads that have no other yet. */
static enum vm_part part_of(struct sample_run *run, const struct stack_sample *sample)
{
    enum vm_part part = vm_part_of(sample->thread_name);
    if (part != VM_PART_APPLICATION || !sample->is_waiting || sample->n > 0)
        return part;
    if (sample->tid == stack_sampler_pid(run->sampler))
        snprintf(run->process_name, sizeof run->process_name, "%s", sample->thread_name);
    return strcmp(sample->thread_name, run->process_name) == 0 ? VM_PART_OTHER : part;
}

/* The sampler may be gone when the table is made. */
static void keep_names(struct sample_run *run, const struct stack_sample *sample)
{
    if (sample->n_known == run->n_names)
        return;
    run->names = xreallocarray(run->names, sample->n_known, sizeof *run->names);
    for (; run->n_names < sample->n_known; run->n_names++) {
        const struct method_name *from = &sample->known[run->n_names].names;
        run->names[run->n_names] =
            (struct method_name){ arena_text(&run->arena, from->class_name, strlen(from->class_name)),
                                  arena_text(&run->arena, from->method, strlen(from->method)),
                                  arena_text(&run->arena, from->descriptor, strlen(from->descriptor)) };
    }
}

void sample_run_add(struct sample_run *run, const struct stack_sample *sample)
{
    enum vm_part part = part_of(run, sample);
    for (uint32_t i = 0; i < sample->n; i++)
        run->bytecodes[i] = sample->frames[i].index;
    const struct profile_sample add = { .time_ns = sample->time_ns,
                                        .group = part,
                                        .tid = sample->is_compared ? sample->tid : 0,
                                        .ns = sample->weight,
                                        .is_waiting = sample->is_waiting,
                                        .n = sample->n,
                                        .methods = sample->methods,
                                        .bytecodes = run->bytecodes,
                                        .n_same = sample->change.n_same,
                                        .new_first = sample->change.new_first,
                                        .new_after = sample->change.new_after,
                                        .n_counters = sample->n_counters,
                                        .counters = sample->counters };
    keep_names(run, sample);
    run->profile.is_halved = run->kinds.profile.is_halved = sample->is_halved;
    sample_profile_add(&run->profile, &add);
    bytecode_kinds_add(&run->kinds, sample->known, sample, &add);
}

int sample_run_take(const struct stack_sample *sample, void *context, struct err *err)
{
    struct sample_run *run = context;
    sample_run_add(run, sample);
    return sample_trace_add(&run->trace, sample, err);
}

/* Not while one is waited for, which is looked for more often. */
void sample_run_count_jvms(struct sample_run *run, bool is_due)
{
    if (is_due && run->command != 0 && !launch_is_java(run->options->command[0], NULL))
        jvm_started_add(&run->jvms, getpid());
}
