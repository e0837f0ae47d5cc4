#include "core/recorder/sample_log.h"

#include "core/base/xalloc.h"

#define ENTRY_NS UINT64_C(1000000000)

static int write_wait(struct wait_log *log, struct trace_writer *writer, struct wait_pending *pending, struct err *err)
{
    struct trace_wait wait = pending->wait;
    pending->wait.n = 0;
    wait.lock_class = pending->class_name;
    log->n_written += wait.n > 0;
    return wait.n == 0 ? 0 : trace_write_wait(writer, &wait, err);
}

/* That it ran, and was ready to.  Visits tell that with an error, in which it may have been ready for longer. */
static int write_run(struct trace_writer *writer, struct wait_pending *pending, uint32_t thread, struct err *err)
{
    struct trace_wait run = { .ticks = pending->run_ticks,
                              .thread = thread,
                              .cause = TRACE_CAUSE_ON_CPU,
                              .index = -1,
                              .n = pending->n_run,
                              .weight_ns = (uint64_t)pending->run_ns,
                              .lock_class = "",
                              .owner = TRACE_NO_THREAD };
    pending->run_since_ns = 0;
    if (pending->run_ns > 0) {
        if (trace_write_wait(writer, &run, err) < 0)
            return -1;
        pending->run_ns = 0;
        pending->n_run = 0;
    }
    run.cause = TRACE_CAUSE_READY;
    run.n = pending->n_ready;
    run.weight_ns = pending->ready_ns;
    pending->ready_ns = pending->n_ready = 0;
    return run.weight_ns == 0 ? 0 : trace_write_wait(writer, &run, err);
}

/* ---- adding ---- */

static int add_run(struct trace_writer *writer, struct wait_pending *pending, const struct stack_wait *wait,
                   uint32_t thread, uint64_t ticks, struct err *err)
{
    bool runs = wait->cause == TRACE_CAUSE_ON_CPU;
    if (pending->run_since_ns == 0)
        pending->run_since_ns = wait->sample.time_ns;
    pending->run_ticks = ticks;
    pending->run_ns += (int64_t)(runs ? wait->sample.weight : 0) - (int64_t)wait->ready_ns;
    pending->n_run += runs;
    pending->ready_ns += wait->ready_ns;
    pending->n_ready += wait->ready_ns > 0;
    return wait->sample.time_ns - pending->run_since_ns >= ENTRY_NS ? write_run(writer, pending, thread, err) : 0;
}

/* Where it waits, and where the owner does. */
static int site(struct wait_pending *pending, struct sample_log *contexts, struct trace_writer *writer,
                const struct stack_wait *wait, struct err *err)
{
    struct trace_sample at = { .context = 0 };
    if (!wait->is_same || !pending->has_site) {
        if (sample_log_locate(contexts, writer, &wait->sample, &at, err) < 0)
            return -1;
        pending->has_site = true;
        pending->context = at.context;
        pending->index = at.index;
        pending->end = at.end;
        snprintf(pending->class_name, sizeof pending->class_name, "%s", wait->lock_class);
    }
    pending->owner_context = 0;
    if (wait->owner != NULL) {
        if (sample_log_locate(contexts, writer, wait->owner, &at, err) < 0)
            return -1;
        pending->owner_context = at.context;
    }
    return 0;
}

/* What others hold is told at each visit: they may change. */
static bool is_contended(enum trace_cause cause)
{
    return cause == TRACE_CAUSE_MONITOR || cause == TRACE_CAUSE_LOCK;
}

int wait_log_add(struct wait_log *log, struct sample_log *contexts, struct trace_writer *writer,
                 const struct stack_wait *wait, uint32_t thread, uint32_t owner, uint64_t ticks, struct err *err)
{
    xgrow_zeroed(log->all, log->n, (size_t)thread + 1);
    struct wait_pending *pending = &log->all[thread];
    if (add_run(writer, pending, wait, thread, ticks, err) < 0)
        return -1;
    bool goes_on = wait->is_same && wait->cause != TRACE_CAUSE_ON_CPU;
    if (!goes_on && write_wait(log, writer, pending, err) < 0)
        return -1;
    pending->has_site = goes_on && pending->has_site;
    if (wait->cause == TRACE_CAUSE_ON_CPU)
        return 0;
    if (site(pending, contexts, writer, wait, err) < 0)
        return -1;
    uint64_t n = pending->wait.n, weight_ns = n == 0 ? 0 : pending->wait.weight_ns;
    bool is_same = n == 0 ? wait->is_same : pending->wait.is_same;
    pending->wait = (struct trace_wait){ .ticks = ticks,
                                         .thread = thread,
                                         .cause = wait->cause,
                                         .context = pending->context,
                                         .index = pending->index,
                                         .end = pending->end,
                                         .is_same = is_same,
                                         .n = n + 1,
                                         .weight_ns = weight_ns + wait->sample.weight,
                                         .owner = owner,
                                         .owner_context = pending->owner_context };
    return is_contended(wait->cause) || pending->wait.weight_ns >= ENTRY_NS ? write_wait(log, writer, pending, err) : 0;
}

int wait_log_add_virtual(struct sample_log *contexts, struct trace_writer *writer, const struct stack_virtual *threads,
                         uint64_t ticks, struct err *err)
{
    struct trace_sample at = { .context = 0, .index = -1 };
    if (threads->sample.n > 0 && sample_log_locate(contexts, writer, &threads->sample, &at, err) < 0)
        return -1;
    const struct trace_virtual_wait wait = { .ticks = ticks,
                                             .cause = threads->cause,
                                             .context = at.context,
                                             .index = at.index,
                                             .end = at.end,
                                             .n = threads->n,
                                             .weight_ns = threads->sample.weight,
                                             .lock_class = threads->lock_class };
    return trace_write_virtual_wait(writer, &wait, err);
}

/* "0.3 % of them: they went on meanwhile", by what was the reason for most. */
static int write_lost(struct trace_writer *writer, const struct stack_virtual_state *state, struct err *err)
{
    enum vm_virtual_loss most = 0;
    char text[128];
    for (enum vm_virtual_loss i = 0; i < VM_VIRTUAL_LOSSES; i++)
        most = state->n_by_loss[i] > state->n_by_loss[most] ? i : most;
    snprintf(text, sizeof text, "%.3g %%, most because %s", 100.0 * (double)state->n_lost / (double)state->n_found,
             vm_virtual_loss_name(most));
    return info_write_text(writer, INFO_VIRTUAL_LOST, text, err);
}

int sample_log_write_virtual_info(struct trace_writer *writer, const struct stack_virtual_state *state, struct err *err)
{
    if (state->why_not != NULL && info_write_text(writer, INFO_VIRTUAL_FAILED, state->why_not, err) < 0)
        return -1;
    if (state->n_visits == 0)
        return 0;
    return info_write_count(writer, INFO_VIRTUAL_LOOKS, state->n_visits, err) < 0 ||
                   info_write_count(writer, INFO_VIRTUAL_WHOLE, state->n_whole, err) < 0 ||
                   (state->n_lost > 0 && write_lost(writer, state, err) < 0)
               ? -1
               : 0;
}

int wait_log_flush(struct wait_log *log, struct trace_writer *writer, struct err *err)
{
    for (uint32_t i = 0; i < log->n; i++)
        if (write_wait(log, writer, &log->all[i], err) < 0 || write_run(writer, &log->all[i], i, err) < 0)
            return -1;
    return 0;
}

void wait_log_forget(struct wait_log *log, uint32_t thread)
{
    if (thread < log->n)
        log->all[thread] = (struct wait_pending){ .has_site = false };
}

void wait_log_free(struct wait_log *log)
{
    free(log->all);
    memset(log, 0, sizeof *log);
}
