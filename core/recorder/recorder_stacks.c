/*
 * Stack samples in a recording: each goes into the trace, and to the observer.
 *
 * They are taken from outside; where that cannot be, or is not wanted, the agent polls.  Where neither can be, the
 * recording goes on, and the trace says why.
 */
#include "core/recorder/recorder_parts.h"

#include "core/recorder/link_state.h"
#include "core/trace/recording_info.h"

#include <fnmatch.h>
#include <poll.h>

#define WAITS_MOST_NS  1e9 /* between two visits, whatever they cost */
#define VISITS_OF_LATE 8u
#define VIRTUAL_MOST   256u /* virtual threads that a look sees, about */
#define VIRTUAL_NS     UINT64_C(1000000000)

/*
 * What is known of the JVM's code and methods is compared again in each drain: when it took more, with one for each few
 * samples this program took 2.9 % of a javac's CPU time, with two a second 1.7 %.
 */
#define DRAIN_NS UINT64_C(500000000)

static void note_failure(struct recorder_stacks *s, const struct err *why)
{
    snprintf(s->why, sizeof s->why, "%.*s", (int)strcspn(why->text, "\n"), why->text);
    stack_sampler_close(s->sampler);
    s->sampler = NULL;
}

void recorder_open_stacks(struct recorder_stacks *s, pid_t command, bool with_children)
{
    const struct recorder_plan *plan = s->now->plan;
    const struct stack_sampler_options options = { .hz = plan->stacks_hz,
                                                   .stack_bytes = RECORDER_STACK_BYTES,
                                                   .is_wall = plan->waits_hz > 0,
                                                   .only_java = true,
                                                   .is_starting = plan->pid == 0,
                                                   .with_children = with_children,
                                                   .is_told = true };
    struct err why;
    if (plan->stacks_hz > 0 && !plan->polls_stacks &&
        stack_sampler_open(&s->sampler, plan->pid != 0 ? plan->pid : command, &options, &why) < 0)
        note_failure(s, &why);
}

/* The kernel is asked once for both. */
static bool ip_samples_come_from_stacks(const struct recorder_stacks *s)
{
    return s->now->plan->ip_samples_hz > 0 && s->now->plan->ip_samples_hz == s->now->plan->stacks_hz &&
           s->sampler != NULL;
}

uint32_t recorder_ring_ip_samples_hz(const struct recorder_stacks *s)
{
    return ip_samples_come_from_stacks(s) ? 0 : s->now->plan->ip_samples_hz;
}

/* Of one without a ring the name in Java comes from the samples. */
static void name_thread(struct recorder_stacks *s, struct recorder_thread *thread, const struct stack_sample *sample)
{
    if (sample->java_name[0] != '\0')
        threads_hear_name(s->now->threads, thread, sample->java_name, true);
    if (thread->comm[0] == '\0')
        threads_set_comm(thread, sample->thread_name);
    if (thread->ring < 0 && thread->name[0] == '\0')
        threads_set_name(thread, sample->java_name);
}

/* Whom to tell of a thread's samples; NULL: nobody, or the thread is none of those recorded. */
static const struct recorder_observer *observer_of(const struct recorder_stacks *s, const struct stack_sample *sample)
{
    const struct recorder_plan *plan = s->now->plan;
    const char *name = sample->java_name[0] == '\0' ? sample->thread_name : sample->java_name;
    return plan->threads == NULL || fnmatch(plan->threads, name, 0) == 0 ? plan->observer : NULL;
}

static int take_one(struct recorder_stacks *s, const struct stack_sample *sample, struct err *err)
{
    const struct recorder_observer *observer = observer_of(s, sample);
    uint64_t ticks = clock_ticks(sample->time_ns, &s->now->latest, &s->now->first, &s->now->latest);
    struct recorder_thread *thread = threads_get(s->now->threads, sample->tid, ticks);
    name_thread(s, thread, sample);
    s->sampled_ns += sample->weight;
    if (sample->time_ns < s->now->first.monotonic_ns)
        return 0;
    if (ip_samples_come_from_stacks(s) && sample->pc != KERNEL_UNKNOWN)
        ip_samples_add(s->ip_samples, thread->info.index, ticks, sample->pc, sample->in_kernel);
    if ((thread->changed && threads_write(s->now->threads, s->now->writer, err) < 0) ||
        sample_log_write(&s->log, s->now->writer, sample, thread->info.index, ticks, err) < 0)
        return -1;
    return observer == NULL || observer->stack == NULL
               ? 0
               : observer->stack(observer->context, sample, thread->info.index, err);
}

static int take_stack_sample(const struct stack_sample *sample, void *context, struct err *err)
{
    struct recorder_stacks *s = context;
    int rc = take_one(s, sample, err);
    s->is_ours = rc < 0;
    return rc;
}

static bool is_full(const struct recorder_stacks *s)
{
    return s->sampler != NULL && stack_sampler_is_full(s->sampler);
}

/* Once, where the agent is there and nothing was sampled from outside: the two do not count together. */
static int begin_polling(struct recorder_stacks *s, struct err *err)
{
    const struct recorder_plan *plan = s->now->plan;
    uint32_t part_ppm = (uint32_t)(plan->polling_part * 1e6);
    if (plan->stacks_hz == 0 || !s->link->ready || s->log.n_written > 0)
        return 0;
    if (poll_sampler_open(&s->polled, s->now->target, err) < 0)
        return -1;
    s->cpu_ns = s->now->cpu_ns;
    return link_poll(s->link, 1000000u / plan->stacks_hz, part_ppm, poll_sampler_fd(s->polled), err);
}

static int drain_outside(struct recorder_stacks *s, bool is_last, struct err *err)
{
    if (stack_sampler_drain(s->sampler, take_stack_sample, s, err) == 0)
        return sample_log_write_code(&s->log, s->now->writer, s->sampler, ticks_now(), is_last, err);
    if (s->is_ours)
        return -1;
    note_failure(s, err);
    return 0;
}

int recorder_write_stacks(struct recorder_stacks *s, bool all, struct err *err)
{
    uint64_t now_ns = s->now->latest.monotonic_ns;
    if (s->sampler == NULL && s->polled == NULL)
        return begin_polling(s, err);
    uint64_t more_ns = hash_address(s->drained_ns) % (DRAIN_NS * 2 / 5); /* not in step with the program */
    uint64_t least_ns = (uint64_t)((double)(DRAIN_NS * 4 / 5 + more_ns) * s->now->stretch);
    if (now_ns - s->drained_ns < least_ns && !all && !is_full(s))
        return 0;
    s->drained_ns = now_ns;
    return s->polled != NULL ? poll_sampler_drain(s->polled, take_stack_sample, s, err) : drain_outside(s, all, err);
}

/* ---- threads that wait ---- */

static int take_one_wait(struct recorder_stacks *s, const struct stack_wait *wait, struct err *err)
{
    const struct stack_sample *sample = &wait->sample;
    const struct recorder_observer *observer = observer_of(s, sample);
    uint64_t ticks = clock_ticks(sample->time_ns, &s->now->latest, &s->now->first, &s->now->latest);
    struct recorder_thread *thread = threads_get(s->now->threads, sample->tid, ticks);
    name_thread(s, thread, sample);
    if (sample->time_ns < s->now->first.monotonic_ns)
        return 0;
    if (thread->changed && threads_write(s->now->threads, s->now->writer, err) < 0)
        return -1;
    const struct recorder_thread *owner = wait->owner_tid == 0 ? NULL : threads_find(s->now->threads, wait->owner_tid);
    if (wait_log_add(&s->waits, &s->log, s->now->writer, wait, thread->info.index,
                     owner == NULL ? TRACE_NO_THREAD : owner->info.index, ticks, err) < 0)
        return -1;
    if (observer != NULL && observer->wait != NULL)
        observer->wait(observer->context, wait, thread->info.index);
    return 0;
}

static int take_wait(const struct stack_wait *wait, void *context, struct err *err)
{
    struct recorder_stacks *s = context;
    int rc = take_one_wait(s, wait, err);
    s->is_ours = rc < 0;
    return rc;
}

static int take_virtual(const struct stack_virtual *threads, void *context, struct err *err)
{
    struct recorder_stacks *s = context;
    const struct recorder_now *now = s->now;
    if (threads->sample.time_ns < now->first.monotonic_ns || now->plan->threads != NULL)
        return 0;
    uint64_t ticks = clock_ticks(threads->sample.time_ns, &now->latest, &now->first, &now->latest);
    int rc = wait_log_add_virtual(&s->log, now->writer, threads, ticks, err);
    s->is_ours = rc < 0;
    return rc;
}

/* Not in step with the program, and so that they take no more than they may. */
static void plan_visit(struct recorder_stacks *s, uint64_t now_ns)
{
    double least_ns = 1e9 / s->now->plan->waits_hz;
    double wall_ns = (double)(s->now->latest.monotonic_ns - s->now->first.monotonic_ns) + 1;
    double may_part = s->now->plan->waits_part * (double)(s->now->cpu_ns - s->now->cpu_start_ns) / wall_ns;
    double ns = may_part > 0 ? s->visit_cost_ns / may_part : WAITS_MOST_NS;
    ns = ns < least_ns ? least_ns : ns > WAITS_MOST_NS ? WAITS_MOST_NS : ns;
    s->random = s->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    s->visit_ns = now_ns + (uint64_t)(ns * (0.75 + (double)(s->random >> 33) / (double)(1u << 31) / 2));
}

/* All of the cost: who has a lock, threads' names, the trace.  At the first visit all is new. */
static int visit(struct recorder_stacks *s, struct err *err)
{
    uint64_t before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int rc = stack_sampler_visit(s->sampler, take_wait, s, err);
    if (rc == 0 && s->visit_ns >= s->virtual_ns) {
        s->virtual_ns = s->visit_ns + VIRTUAL_NS;
        rc = stack_sampler_visit_virtual(s->sampler, VIRTUAL_MOST, take_virtual, s, err);
    }
    double cost_ns = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns);
    s->visits_cpu_ns += (uint64_t)cost_ns;
    uint32_t n = s->n_visits++;
    if (n > 0)
        s->visit_cost_ns += (cost_ns - s->visit_cost_ns) / (n < VISITS_OF_LATE ? n : VISITS_OF_LATE);
    return rc;
}

int recorder_visit_waits(struct recorder_stacks *s)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    struct err why;
    if (s->now->plan->waits_hz == 0 || s->sampler == NULL || stack_sampler_pid(s->sampler) == 0)
        return INT_MAX;
    if (now_ns >= s->visit_ns) {
        if (visit(s, &why) < 0) {
            note_failure(s, &why);
            return INT_MAX;
        }
        plan_visit(s, now_ns);
    }
    return s->visit_ns > now_ns ? (int)((s->visit_ns - now_ns + 999999) / 1000000) : 1;
}

uint64_t recorder_polling_ns(const struct recorder_stacks *s)
{
    struct poll_state state = { 0 };
    if (s->polled != NULL)
        poll_sampler_state(s->polled, &state);
    return state.cost_ns;
}

/* Of a thread that the agent held, at most. */
static int write_polling(struct recorder_stacks *s, struct err *err)
{
    struct poll_state state;
    poll_sampler_state(s->polled, &state);
    if (s->link->polling_refused[0] != '\0')
        return info_write_text(s->now->writer, INFO_SAMPLE_FAILED, s->link->polling_refused, err);
    if (s->now->cpu_ns > s->cpu_ns &&
        (info_write_count(s->now->writer, INFO_SAMPLE_CPU_NS, s->now->cpu_ns - s->cpu_ns, err) < 0 ||
         info_write_count(s->now->writer, INFO_SAMPLE_SAMPLED_NS, s->sampled_ns, err) < 0))
        return -1;
    if (info_write_text(s->now->writer, INFO_SAMPLE_MECHANISM, "polling", err) < 0 ||
        info_write_count(s->now->writer, INFO_SAMPLE_LOST, state.n_put_off, err) < 0)
        return -1;
    return info_write_count(s->now->writer, INFO_SAMPLE_LONGEST_NS, state.longest_ns, err);
}

static int write_waits_info(struct recorder_stacks *s, const struct stack_sampler_state *state, struct err *err)
{
    if (s->now->plan->waits_hz == 0)
        return 0;
    if (state->why_no_waits[0] != '\0')
        return info_write_text(s->now->writer, INFO_WAIT_FAILED, state->why_no_waits, err);
    return wait_log_flush(&s->waits, s->now->writer, err) < 0 ||
                   sample_log_write_virtual_info(s->now->writer, &state->virtuals, err) < 0 ||
                   info_write_count(s->now->writer, INFO_WAIT_VISITS, state->waits.n_visits, err) < 0
               ? -1
               : info_write_real(s->now->writer, INFO_WAIT_CPU_MS, (double)s->visits_cpu_ns / 1e6, err);
}

int recorder_write_stacks_info(struct recorder_stacks *s, struct err *err)
{
    struct stack_sampler_state state = { 0 };
    if (s->now->threads->n_renamed > 0 &&
        info_write_count(s->now->writer, INFO_THREADS_RENAMED, s->now->threads->n_renamed, err) < 0)
        return -1;
    if (s->now->plan->stacks_hz == 0)
        return 0;
    if (s->why[0] != '\0' && info_write_text(s->now->writer, INFO_SAMPLE_FAILED, s->why, err) < 0)
        return -1;
    if (info_write_count(s->now->writer, INFO_SAMPLE_OUTSIDE, s->log.n_outside, err) < 0)
        return -1;
    if (s->polled != NULL)
        return write_polling(s, err);
    if (s->sampler == NULL)
        return 0;
    stack_sampler_state(s->sampler, &state);
    if (state.shared_name != NULL &&
        info_write_text(s->now->writer, INFO_SAMPLE_SHARED_NAME, state.shared_name, err) < 0)
        return -1;
    return info_write_count(s->now->writer, INFO_SAMPLE_LOST, state.n_lost, err) < 0 ||
                   info_write_count(s->now->writer, INFO_SAMPLE_CPU_NS, state.cpu_ns, err) < 0 ||
                   info_write_count(s->now->writer, INFO_SAMPLE_SAMPLED_NS, s->sampled_ns, err) < 0 ||
                   info_write_count(s->now->writer, INFO_SAMPLE_KERNEL, state.has_kernel, err) < 0
               ? -1
               : write_waits_info(s, &state, err);
}

void recorder_close_stacks(struct recorder_stacks *s)
{
    stack_sampler_close(s->sampler);
    poll_sampler_close(s->polled);
    sample_log_free(&s->log);
    wait_log_free(&s->waits);
    s->sampler = NULL;
    s->polled = NULL;
}
