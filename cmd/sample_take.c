/* A sample goes into the table, and into the trace. */
#include "cmd/sample_run.h"
#include "core/base/xalloc.h"

#include <fnmatch.h>

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

static void count_sample(struct sample_run *run, const struct stack_sample *sample)
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

/* What the options leave of a sample; false: nothing, it is another thread's. */
static bool choose(struct sample_run *run, struct stack_sample *sample)
{
    const struct sample_options *o = run->options;
    const char *name = sample->java_name[0] != '\0' ? sample->java_name : sample->thread_name;
    if (o->thread != NULL && fnmatch(o->thread, name, 0) != 0) {
        snprintf(run->other, sizeof run->other, "%s", name);
        run->n_others++;
        return false;
    }
    uint32_t most = (uint32_t)o->depth, cut = sample->n > most ? sample->n - most : 0;
    struct stack_change *change = &sample->change;
    /* The thread's last stack may have been left out, or cut elsewhere. */
    if (o->thread != NULL || most < STACK_FRAMES_MAX)
        change->n_same = 0;
    sample->n -= cut;
    change->new_first -= change->new_first < cut ? change->new_first : cut;
    change->new_after -= change->new_after < cut ? change->new_after : cut;
    return true;
}

int sample_run_take(const struct stack_sample *sample, void *context, struct err *err)
{
    struct sample_run *run = context;
    struct stack_sample chosen = *sample;
    if (!choose(run, &chosen))
        return 0;
    count_sample(run, &chosen);
    return sample_trace_add(&run->trace, &chosen, err);
}

int sample_run_visit(const struct stack_wait *wait, void *context, struct err *err)
{
    struct sample_run *run = context;
    struct stack_wait chosen = *wait;
    if (!choose(run, &chosen.sample))
        return 0;
    if (chosen.sample.is_waiting)
        count_sample(run, &chosen.sample);
    return sample_trace_add_wait(&run->trace, &chosen, err);
}

/* Threads that are chosen by name leave them out: most have none. */
int sample_run_virtual(const struct stack_virtual *threads, void *context, struct err *err)
{
    struct sample_run *run = context;
    const struct stack_sample *sample = &threads->sample;
    struct wait_search search = { .is_idle = false };
    if (run->options->thread != NULL)
        return 0;
    keep_names(run, sample);
    for (uint32_t i = 0; i < sample->n; i++)
        if (sample->methods[i] != SAMPLED_UNKNOWN)
            wait_search_see(&search, &run->names[sample->methods[i]],
                            wait_method_kinds(&run->names[sample->methods[i]]));
    const struct wait_site site = wait_search_end(&search);
    const struct trace_virtual_wait wait = { .ticks = sample->time_ns,
                                             .cause = threads->cause,
                                             .n = threads->n,
                                             .weight_ns = sample->weight,
                                             .lock_class = arena_text(&run->arena, threads->lock_class,
                                                                      strlen(threads->lock_class)) };
    virtual_waits_hear(&run->virtuals, sample->n == 0 ? NULL : &site, &wait);
    return sample_trace_add_virtual(&run->trace, threads, err);
}

bool sample_run_is_narrow(struct sample_run *run)
{
    const struct sample_options *o = run->options;
    double widest = run->profile.n_samples > 0 ? 0 : NAN;
    for (uint32_t i = 0; o->until > 0 && i < run->n_names; i++) {
        struct sample_share total = sample_profile_total(&run->profile, i);
        if (total.n_samples > 0 && total.share >= o->min_share)
            widest += fmax(0, fmax(total.error, sample_profile_self(&run->profile, i).error) - widest);
        if (total.share >= o->min_share && isnan(total.error))
            widest = NAN;
    }
    run->widest = widest;
    return o->until > 0 && widest <= o->until;
}

/* Not while one is waited for, which is looked for more often. */
void sample_run_count_jvms(struct sample_run *run, bool is_due)
{
    if (is_due && run->command != 0 && !launch_is_java(run->options->command[0], NULL))
        jvm_started_add(&run->jvms, getpid());
}
